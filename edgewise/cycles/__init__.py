"""Simple cycles of a given length through every vertex of an undirected graph.

A method counts by *tasks*: each vertex stands for a share of the cycles.  Tasks are dealt to CPU cores and
GPUs by a schedule (:mod:`~edgewise.cycles.planning.schedules`), and what the devices find is added up, so all
methods, devices and schedules give the same counts bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from edgewise.cycles.counting.ranked import ranked_of
from edgewise.cycles.method import Method
from edgewise.cycles.methods import METHODS
from edgewise.cycles.planning.bounds import check_fits
from edgewise.cycles.planning.choose import choose, kind_of
from edgewise.cycles.planning.cost_model import check_effort, seconds_of
from edgewise.cycles.planning.schedules import SCHEDULES, Plan, joining, parse
from edgewise.cycles.planning.several import Job, count
from edgewise.cycles.planning.tasks import tasks_of
from edgewise.cycles.result import CONVENTIONS, Cycles
from edgewise.device import arrays, each
from edgewise.errors import GraphError, OptionError
from edgewise.graph import Graph
from edgewise.timer import timer
from edgewise.workers.device_team import DeviceTeam, device_team

#: Seconds, estimated, from which on a count lasts long enough to be interrupted.
LONG = 1.0

__all__ = ["METHODS", "SCHEDULES", "Cycles", "Method", "cycle_counts"]


def cycle_counts(
    graph: Graph,
    length: int,
    *,
    method: str = "auto",
    convention: str = "cycles",
    undirected: bool = False,
    device: str | None = None,
    devices: str | Sequence[str] | None = None,
    schedule: str = "auto",
    force: bool = False,
    progress: Callable[[float, float], Any] | None = None,
    **options: int,
) -> Cycles:
    """Count the simple cycles of one length through every vertex.

    A simple cycle visits no vertex twice.  Self-loops and repeated edges are part of none: they are ignored,
    and the result tells how many there were.

    Parameters
    ----------
    graph : Graph
        An undirected one; weights do not matter.
    length : int
        Vertices of a cycle, 3 or more: 3 counts triangles.
    method : str
        A name in ``METHODS``, or ``"auto"``.
    convention : {'cycles', 'closed-walks'}
        Count every cycle once, or once in each direction: twice as many, as the CS406 project did.
    undirected : bool
        Take the edges of a directed graph in both directions.
    device : str, optional
        ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one); by default where the
        graph lies.
    devices : str or list of str, optional
        Several devices that share the vertices: ``"all"`` (every GPU), ``"cpu+cuda"``, or devices such as
        ``["cuda:0", "cuda:1"]``; each has all of the graph.
    schedule : str
        How vertices are dealt to them: a name in ``SCHEDULES``; ``"static-weighted:10"`` and ``"queue:64"``
        take a number.  ``"auto"`` leaves the CPU out beside GPUs where it would not help.
    force : bool
        Go on where the work should take days, and let no method give up by itself.
    progress : callable, optional
        Called with the estimated work that is done, and all of it.
    **options : int
        Options of the method.

    Returns
    -------
    Cycles
        Its ``counts`` are an (n_vertices,) int64 array.

    Raises
    ------
    GraphError
        The graph is directed, or a count may pass 2**63.
    OptionError
        An unknown method, convention, schedule or option; a length below 3, or one that the method cannot do;
        work for days.
    DeviceError, OutOfMemoryError
        The device is not there, or too small.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.Graph.from_edges(["a", "b", "c", "d", "a"], ["b", "c", "d", "a", "c"])
    >>> found = ew.cycle_counts(graph, 3)
    >>> found.counts.tolist(), found.total
    ([2, 1, 2, 1], 2)
    >>> ew.cycle_counts(graph, 4).counts.tolist()
    [1, 1, 1, 1]
    """
    length = _checked_length(length)
    _check_asked(graph, length, method, convention, undirected, options)
    parse(schedule)
    team = _team(graph, device, devices)
    graph = graph.to(team[0].device)
    with arrays.guard(graph.device):
        found = _at_once(graph, length, method, team, schedule)
        if found is None:
            found = _by_tasks(graph, length, method, convention, team, schedule, force, progress, options)
        name, seconds, counts, loops, repeats, taking_part = found
        if convention == "closed-walks":
            counts += counts
    return Cycles(graph, length, name, seconds, counts, loops, repeats, convention, schedule, taking_part)


def _at_once(graph, length, method, team, schedule):
    """What a method finds in the whole graph at once, if it has a way to do so and that is worth while."""
    name = choose(METHODS, length, team.devices)[kind_of(graph.device)] if method == "auto" else method
    if METHODS[name].whole is None or len(team) > 1 or schedule != "auto" or graph.device != "cpu":
        return None
    if not graph.has_rows or graph.directed:
        with timer("rank"):
            ranked_of(graph)
    with timer("count"):
        start = perf_counter()
        counts, loops, repeats = METHODS[name].whole(graph)
        seconds = perf_counter() - start
    return None if counts is None else (name, seconds, counts, loops, repeats, team.names)


def _by_tasks(graph, length, method, convention, team, schedule, force, progress, options):
    """Rank the graph, deal its vertices to the team, and put together what is found."""
    dealing, number = parse(schedule)
    with timer("rank"):
        ranked = ranked_of(graph)
        arrays.synchronize(graph.device)
    with timer("plan"):
        names = _names(method, length, team.devices)
        if not all(METHODS[name].one_by_one for name in names.values()):
            check_fits(ranked, length, convention)
        how, name = SCHEDULES[dealing], names[kind_of(graph.device)]
        tasks = tasks_of(graph, ranked, name, METHODS[name], length, how.by_work)
        check_effort(tasks.total, team.devices, name, length, force)
        team = _taking_part(team, dealing, tasks.total)
        seconds = seconds_of(tasks.total, team.devices)
        plan = Plan(len(tasks), lambda: tasks.loads, seconds, team.devices, number)
    with timer("count"):
        start = perf_counter()
        run = _starter(names, length, options, force)
        dealer, told = how.deal(plan), _teller(progress, tasks)
        job = Job(run, ranked, len(tasks), tasks.order, dealer, told, plan.seconds > LONG)
        counts = _in_order(arrays.move(count(job, team.devices), graph.device), ranked)
        arrays.synchronize(graph.device)
        seconds = perf_counter() - start
    name = " and ".join(dict.fromkeys(names[kind_of(device)] for device in team.devices))
    return name, seconds, counts, ranked.loops, ranked.repeats, team.names


@each
def take_by_rank(vertex, counts, rank, into):
    """The count of a vertex stands at its rank."""
    into[vertex] = counts[rank[vertex]]


def _in_order(counts, ranked):
    """Counts by vertex, out of those by rank."""
    into = arrays.empty(len(counts), np.int64, ranked.device)
    take_by_rank(len(counts), counts, ranked.rank, into)
    return into


def _checked_length(length):
    if not isinstance(length, (int, np.integer)) or isinstance(length, bool) or length < 3:
        raise OptionError(f"length={length!r} must be a whole number, 3 or more: a cycle has three vertices")
    return int(length)


def _check_asked(graph, length, method, convention, undirected, options):
    if not isinstance(graph, Graph):
        raise OptionError(
            f"a Graph is needed, not {type(graph).__name__}; see Graph.from_edges and from_frame"
        )
    if graph.directed and not undirected:
        raise GraphError(
            "the graph is directed, and cycles are counted in undirected graphs; use undirected=True to take "
            "its edges in both directions"
        )
    if convention not in CONVENTIONS:
        raise OptionError(f"convention={convention!r} is unknown; use one of {', '.join(CONVENTIONS)}")
    if method == "auto":
        if options:
            raise OptionError(f"auto has no option {next(iter(options))!r}; name the method it belongs to")
        return
    if method not in METHODS:
        raise OptionError(f"method {method!r} is unknown; use auto or one of {', '.join(METHODS)}")
    if not METHODS[method].can(length):
        fitting = ", ".join(name for name, other in METHODS.items() if other.can(length))
        raise OptionError(f"method {method} does not count cycles of length {length}; use auto or {fitting}")
    for option, value in options.items():
        known = ", ".join(METHODS[method].options) or "none"
        if option not in METHODS[method].options:
            raise OptionError(f"method {method} has no option {option!r} (it has: {known})")
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not 0 < value < 2**63:
            raise OptionError(f"{option}={value!r} must be a whole number larger than 0")


def _team(graph, device, devices):
    if device is not None and devices is not None:
        raise OptionError("device= is for one device and devices= for several; use one of the two")
    if devices is not None:
        return device_team(devices)
    return device_team(graph.device if device is None else arrays.resolve(device))


def _names(method, length, devices):
    """Names of the methods by kind of place."""
    if method == "auto":
        return choose(METHODS, length, devices)
    for device in devices:
        if kind_of(device) not in METHODS[method].devices:
            where = {"cpu": "the CPU", "cuda": "a GPU"}[METHODS[method].devices[0]]
            raise OptionError(
                f"method {method} runs on {where} only, not on {device}; use another method or device"
            )
    return {kind_of(device): method for device in devices}


def _starter(names, length, options, force):
    """What makes a solver in the place of the ranked graph."""

    def start(ranked, order):
        method = METHODS[names[kind_of(ranked.device)]]
        endless = {"cap": 2**63 - 1} if force and "cap" in method.options else {}
        return method.start(ranked, order, length=length, **endless | options)

    return start


def _taking_part(team, dealing, work):
    """The devices that take part; all of them unless ``auto`` knows better."""
    if dealing != "auto":
        return team
    return DeviceTeam(team[i] for i in joining(team.devices, seconds_of(work, team.devices)))


def _teller(progress, tasks):
    """What hears of every run that is done."""
    if progress is None:
        return lambda run: None
    done = [0.0]

    def told(run):
        done[0] += float(tasks.loads[slice(*run)].sum())
        progress(done[0], tasks.total)

    return told
