"""Simple cycles of a given length through every vertex of an undirected graph.

A method divides the count into *tasks*, one per vertex.  A schedule deals tasks to CPU cores and GPUs
(:mod:`~edgewise.cycles.schedules`), and the counts of the devices are added, so that all methods,
devices and schedules give the same counts bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple, Unpack

import numpy as np

from edgewise.cycles import planning
from edgewise.cycles.counting.ranked import by_vertex, check_undirected
from edgewise.cycles.counting.ranking import ranked_of
from edgewise.cycles.methods import METHODS, CycleMethod
from edgewise.cycles.result import Cycles
from edgewise.cycles.schedules import (
    SCHEDULES,
    Job,
    Plan,
    count_by_workers,
    count_tasks,
    device_of_workers,
    parse,
)
from edgewise.cycles.selection import select_devices, select_method
from edgewise.device import arrays
from edgewise.device.target import cpu_compiler_is_loaded
from edgewise.device.threads import FEW_STEPS, few_steps
from edgewise.errors import OptionError, argument
from edgewise.front import CallOptions, Progress, front, reporter
from edgewise.graph import Graph
from edgewise.method import (
    check_device,
    check_method,
    check_one_or_several,
    is_number,
    kind_of,
    worker_names,
)
from edgewise.needs import Needs, size_of
from edgewise.timer import timer
from edgewise.workers import DeviceTeam, Worker, device_team
from edgewise.workers.executors import Executor, executor_of

__all__ = ["METHODS", "SCHEDULES", "CycleMethod", "Cycles", "check_length", "cycle_counts"]


class CycleOptions(CallOptions, total=False):
    """Options of :func:`cycle_counts`: those of its methods, and of every public function."""

    schedule: str
    force: bool
    cap: int
    marked: bool
    client: Any


@front
def cycle_counts(
    graph: Graph,
    length: int,
    *,
    method: str = "auto",
    count_directions: bool = False,
    device: str | None = None,
    devices: str | Sequence[str] | None = None,
    **options: Unpack[CycleOptions],
) -> Cycles:
    """Count the simple cycles of one length through every vertex.

    A simple cycle visits no vertex twice.  Self-loops and repeated edges are part of none: they are ignored,
    and the result has their number.

    Parameters
    ----------
    graph : Graph
        An undirected one; weights do not matter.  :meth:`Graph.undirected` takes the edges of a directed one
        in both directions.
    length : int
        Vertices of a cycle, 3 or more: 3 counts triangles.
    method : str
        A name in ``METHODS``, or ``"auto"``.
    count_directions : bool
        Count every cycle once in each direction: twice as many, as the CS406 project did.
    device : str, optional
        ``"cpu"``, ``"gpu"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one); by default the device of
        the graph.  The graph is copied there for this call.
    devices : str or list of str, optional
        Several devices that share the vertices: ``"all"`` (every GPU), ``"cpu+cuda"``, or devices such as
        ``["cuda:0", "cuda:1"]``; each has all of the graph.
    schedule : str, optional
        How vertices are dealt to the devices: a name in ``SCHEDULES``; ``"static-weighted:10"`` and
        ``"queue:64"`` take a number.  ``"auto"``, the default, leaves the CPU out beside GPUs where it would
        not help.
    force : bool, optional
        Go on where the work should take days, and let no method give up by itself.
    client : distributed.Client or concurrent.futures.Executor, optional
        Its workers share the vertices, each with its own copy of the graph, on the CPU or on the GPUs that
        ``device`` names; ``devices`` and ``schedule`` are for one process.
    cap : int, optional
        Option of ``"enumerate"``: steps after which it gives up.
    marked : bool, optional
        Option of ``"dfs"``: the vertices of a path are marked in an array instead of being compared.

    Returns
    -------
    Cycles
        Its ``counts`` are an (n_vertices,) int64 array.

    Raises
    ------
    GraphError
        The graph is directed, or a count may pass 2**63.
    OptionError
        An unknown method, schedule or option; a length below 3, or one that the method cannot do; work for
        days.
    DeviceError, OutOfMemoryError
        The device is not there, or too small.
    WorkerError
        The workers of ``client`` cannot take part, have another version of edgewise, or were lost.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.Graph.from_edges(["a", "b", "c", "d", "a"], ["b", "c", "d", "a", "c"])
    >>> triangles = ew.cycle_counts(graph, 3)
    >>> triangles.counts.tolist(), triangles.total
    ([2, 1, 2, 1], 2)
    >>> ew.cycle_counts(graph, 4).counts.tolist()
    [1, 1, 1, 1]
    """
    schedule, force = options.pop("schedule", "auto"), options.pop("force", False)
    client = options.pop("client", None)
    check_undirected(graph)
    check_length(length, method)
    check_method(method, METHODS, options)
    check_one_or_several(device, devices)
    if client is not None:
        where = device_of_workers(device, devices, schedule)
        client = executor_of(client, where)
        team = DeviceTeam(Worker(f"{kind_of(where)}:{slot}", where) for slot in range(client.slots))
    elif devices is not None:
        team = device_team(devices)
    else:
        where = graph.device if device is None else arrays.resolve(device)
        team = DeviceTeam([Worker(worker_names(where)[0], where)])
    for worker in team:
        check_device(method, worker.device, METHODS)
    request = _Request(int(length), options, team, schedule, bool(force), reporter(), client)
    device = team[0].device if client is None else "cpu"
    graph = graph.to(device)
    with arrays.guard(device), _few_steps(graph, request.length):
        name = select_method(int(length)) if method == "auto" else method
        counted = _count_at_once(graph, request, name) or _count_by_tasks(graph, request, name)
        if count_directions:
            counted = counted._replace(counts=2 * counted.counts)
    name, seconds, counts, n_self_loops, n_duplicates, names = counted
    numbers = int(length), counts, n_self_loops, n_duplicates
    return Cycles(graph, name, seconds, *numbers, bool(count_directions), schedule, devices=names)


def needs(graph, *, length, method="auto", **options) -> Needs:
    """How a call would count on the host, for :meth:`Graph.estimate`."""
    check_undirected(graph)
    check_length(length, method)
    check_method(method, METHODS, {})
    name = select_method(int(length)) if method == "auto" else method
    size, term = size_of(graph), METHODS[name].memory
    if term is None:
        return Needs((), name, None, size)
    from edgewise.cycles.counting.ranking import have_descents

    if name == "triangles":
        from edgewise.cycles.counting.triangles import bytes_by_number, counts_by_rank

        if not counts_by_rank(graph):
            return Needs(("rows",), name, partial(bytes_by_number, have_descents(graph)), size)
    of_rows = "rows" in graph.made_of
    descends = of_rows and have_descents(graph)
    return Needs((), name, partial(term, of_rows=of_rows, descends=descends), size)


def _few_steps(graph, length):
    """Context with an estimate of the paths that are followed: few are in the interpreter.

    Paths turn to vertices of smaller degree, so an edge begins as many as the smaller degree of its two ends
    allows.
    """
    if graph.device != "cpu" or size_of(graph).edges > FEW_STEPS or cpu_compiler_is_loaded():
        return nullcontext()
    with np.errstate(over="ignore"):
        degrees = np.diff(graph.offsets).astype(float)
        smaller = np.minimum(np.repeat(degrees, np.diff(graph.offsets)), degrees[graph.neighbours])
        return few_steps((smaller ** (length - 3)).sum() / 2)


def check_length(length: Any, method: str = "auto") -> None:
    """Refuse a length below 3, and one that the method cannot do."""
    if not is_number(length, whole=True) or length < 3:
        raise OptionError(
            f"{argument('length', length)} must be a whole number, 3 or more: a cycle has three vertices"
        )
    if method in METHODS and not METHODS[method].can(length):
        fitting = ", ".join(name for name, other in METHODS.items() if other.can(length))
        raise OptionError(f"method {method} does not count cycles of length {length}; use auto or {fitting}")


class _Request(NamedTuple):
    """What is to be counted, how, and by which devices, or those of the workers of the ``executor``."""

    length: int
    options: CycleOptions
    team: DeviceTeam
    schedule: str
    force: bool
    progress: Progress | None
    executor: Executor | None


class _Counted(NamedTuple):
    """Counts by vertex, and how they were found."""

    method: str
    seconds: float
    counts: Any
    n_self_loops: int
    n_duplicates: int
    devices: tuple[str, ...]


def _count_at_once(graph, request, name):
    """Count all vertices in one call on one device; ``None`` where work is to be divided into tasks."""
    whole, (worker, *others) = METHODS[name].whole, request.team
    if whole is None or others or request.executor or request.options or request.schedule != "auto":
        return None
    with timer("rank"):
        prepared = whole(graph, planning.LONG * planning.speed_of(graph.device))
    if prepared is None:
        return None
    with timer("count"):
        start = perf_counter()
        counts, n_self_loops, n_duplicates = prepared()
        arrays.synchronize(graph.device)
        seconds = perf_counter() - start
    if request.progress is not None:
        request.progress(1.0, 1.0)
    return _Counted(name, seconds, counts, n_self_loops, n_duplicates, (worker.name,))


def _count_by_tasks(graph, request, name):
    """Rank the graph, deal its vertices to the devices, and add what they count."""
    team, length = request.team, request.length
    schedule, number = parse(request.schedule)
    how = SCHEDULES[schedule]
    with timer("rank"):
        ranked = ranked_of(graph)
        arrays.synchronize(graph.device)
    with timer("plan"):
        if not METHODS[name].enumerates:
            planning.check_fits(ranked, length)
        tasks = planning.tasks_of(graph, name, METHODS[name], length, how.by_work)
        if not request.force:
            planning.check_seconds(tasks.total, team.devices, name, length)
        if schedule == "auto":
            seconds = planning.seconds_of(tasks.total, team.devices)
            speeds = [planning.speed_of(device) for device in team.devices]
            team = DeviceTeam(team[i] for i in select_devices(team.devices, speeds, seconds))
        seconds = planning.seconds_of(tasks.total, team.devices)
        dealer = how.deal(Plan(tasks, seconds, team.devices, number))
    with timer("count"):
        start = perf_counter()
        job = Job(_starter(METHODS[name], request), ranked, tasks, dealer, seconds, request.progress)
        if request.executor is None:
            counts = arrays.move(count_tasks(job, team.devices), graph.device)
        else:
            counts = count_by_workers(job, request.executor, team[0].device)
        counts = by_vertex(counts, ranked)
        arrays.synchronize(graph.device)
        seconds = perf_counter() - start
    return _Counted(name, seconds, counts, ranked.n_self_loops, ranked.n_duplicates, team.names)


def _starter(method, request):
    """Function that starts a solver on the device of a ranked graph."""
    endless = {"cap": 2**63 - 1} if request.force and "cap" in method.options else {}
    return partial(method.run, length=request.length, **endless | request.options)
