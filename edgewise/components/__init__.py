"""Connected components: the sets of vertices that paths join.

Every method labels each vertex with the smallest vertex number of its component, so all methods, devices and
thread counts give identical labels.  Edges count in both directions, also in a directed graph (weakly
connected components).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, Never, Unpack, overload

from edgewise.components.result import Components
from edgewise.components.selection import reads_rows, select_method
from edgewise.components.symmetric_csr import MAX_ROW, symmetric_csr
from edgewise.device import arrays
from edgewise.errors import OptionError, OutOfMemoryError, argument
from edgewise.front import CallOptions, front
from edgewise.graph import Graph
from edgewise.method import (
    Driver,
    Method,
    Option,
    check_graph,
    check_method,
    check_one_or_several,
    is_of_rows,
    refuse_client,
    worker_names,
)
from edgewise.needs import Needs, Size, gpu_in, size_of
from edgewise.placement import ON_HOST, bytes_of, place, place_rows, with_rows_on
from edgewise.weights import with_weight
from edgewise.workers import SplitGraph, device_team

if TYPE_CHECKING:
    from edgewise.components.threshold_result import ThresholdComponents

__all__ = ["MERGES", "METHODS", "Components", "Merge", "connected_components"]


def __getattr__(name: str) -> Any:
    """The merges, which are loaded on first use, since a call on one device needs none."""
    if name not in ("MERGES", "Merge"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from edgewise.components import merge

    return getattr(merge, name)


@dataclass(frozen=True)
class ComponentsMethod(Method):
    """A method for connected components, which reads ``"edges"``, ``"rows"``, or ``"edges or rows"``.

    ``run(n_vertices, sources, targets, **options)``, where ``sources`` and ``targets`` are (m,) index arrays,
    or ``run(n_vertices, csr, **options)``, where ``csr`` is a
    :class:`~edgewise.components.symmetric_csr.SymmetricCSR`, returns the smallest vertex of each vertex's
    component: an (n_vertices,) index array on the device of its arguments.
    """

    reads: str = field(kw_only=True)

    def form_of(self, graph: Graph) -> tuple[Any, ...]:
        """What :attr:`run` takes of a graph; either form is read as the graph was made, edges before rows."""
        if self.reads == "rows" or (self.reads != "edges" and reads_rows(graph) and is_of_rows(graph)):
            return (symmetric_csr(graph),)
        return graph.sources, graph.targets


def _labels(size: Size) -> float:
    """The parents, which become the labels."""
    return size.width * size.vertices


read_edges, read_rows = (
    partial(ComponentsMethod, reads=reads, memory=_labels) for reads in ("edges", "rows")
)
COUNT = Option(0)
SAMPLE = {"rounds": COUNT}
#: What takes a row of :mod:`~edgewise.components.propagate`.
ROWS = ("auto", "thread", "warp", "block")

METHODS = {
    "rem": read_edges(
        Driver("edgewise.components.rem:rem"),
        "splicing union-find with compare-and-swap",
        "Hellås 2018, Alg. 2",
    ),
    "rem-sequential": ComponentsMethod(
        Driver("edgewise.components.rem:rem_sequential"),
        "the same on one core",
        "Hellås 2018, Alg. 1",
        reads="edges or rows",
        memory=_labels,
    ),
    "rem-ranges": read_edges(
        Driver("edgewise.components.rem_ranges:rem_ranges"),
        "Rem by plain writes inside ranges of vertices, then across",
        "Manne & Patwary 2009",
        memory=lambda size: _labels(size) + size.edges,  # a list of 8 bytes for one edge in eight
    ),
    "rem-edge-sample": read_edges(
        Driver("edgewise.components.sampling:rem_edge_sample"),
        "Rem by plain writes on a sample, then skip the giant",
        "after Sutton et al. 2018",
        memory=lambda size: _labels(size) + size.vertices,
    ),
    "edge-filter": read_edges(
        Driver("edgewise.components.edge_filter:edge_filter"),
        "join a sample of the edges, then filter those inside the giant",
        "after Sutton et al. 2018",
    ),
    "edge-reach": read_edges(
        Driver("edgewise.components.edge_reach:edge_reach"),
        "spread from a hub along the edges, and join the other edges by Rem's algorithm",
        "edgewise, after Slota, Rajamanickam & Madduri 2014",
    ),
    "hook": read_edges(
        Driver("edgewise.components.hook:hook"),
        "plain hooks, then atomic hooks, compressing, also in segments",
        "Hellås 2018, Alg. 3-7",
        options={"iterations": COUNT, "segments": COUNT},
        baseline=True,
    ),
    "hang-rem": read_edges(
        Driver("edgewise.components.edge_samples:hang_rem"),
        "hang below a smaller neighbour, then Rem",
        "after Groute, 2017",
    ),
    "hook-rem": read_edges(
        Driver("edgewise.components.hook:hook_rem"),
        "rounds of plain hooks, then Rem, also in segments",
        "Hellås 2018, 6.3.1",
        options={"iterations": COUNT, "segments": COUNT, "compress_between": COUNT},
        baseline=True,
    ),
    "afforest": read_rows(
        Driver("edgewise.components.sampling:afforest"),
        "join a few neighbours, then skip the giant",
        "Sutton et al. 2018",
        options=SAMPLE,
    ),
    "rem-sample": read_rows(
        Driver("edgewise.components.sampling:rem_sample"),
        "Rem by plain writes as the sample, then skip the giant",
        "after Alg. 1",
        options=SAMPLE,
    ),
    "ecl-cc": read_rows(
        Driver("edgewise.components.ecl_cc:ecl_cc"),
        "hang below a smaller neighbour, then every edge once",
        "ECL-CC, 2018",
    ),
    "propagate": read_rows(
        Driver("edgewise.components.propagate:propagate"),
        "take the least label of the neighbours until nothing changes",
        "Baltzakis, label propagation on GPU",
        options={"rows": Option(choices=ROWS)},
        baseline=True,
    ),
}


class ComponentsOptions(CallOptions, total=False):
    """Options of :func:`connected_components`: those of its methods, and of every public function."""

    iterations: int
    segments: int
    compress_between: int
    rounds: int
    rows: str
    client: Never


@overload
def connected_components(
    graph: Graph | SplitGraph,
    *,
    thresholds: None = None,
    weight: None = None,
    method: str = "auto",
    device: str | None = None,
    devices: str | Sequence[str] | None = None,
    merge: str = "auto",
    **options: Unpack[ComponentsOptions],
) -> Components: ...


@overload
def connected_components(
    graph: Graph,
    *,
    thresholds: Iterable[float],
    weight: Any = None,
    method: str = "auto",
    device: str | None = None,
    **options: Unpack[CallOptions],
) -> ThresholdComponents: ...


@front
def connected_components(
    graph: Graph | SplitGraph,
    *,
    thresholds: Iterable[float] | None = None,
    weight: Any = None,
    method: str = "auto",
    device: str | None = None,
    devices: str | Sequence[str] | None = None,
    merge: str = "auto",
    **options: Unpack[ComponentsOptions],
) -> Components | ThresholdComponents:
    """Find the (weakly) connected components of a graph.

    Parameters
    ----------
    graph : Graph or SplitGraph
        A split graph is solved by the devices that hold its parts.
    thresholds : sequence of numbers, optional
        Ascending.  The components are found for each of them in one pass: those of the edges of at least this
        weight.  For distances, which count up to a threshold, see :meth:`SpanningForest.components`.
    weight : str, bool or (n_edges,) array-like, optional
        The weights that the thresholds apply to; by default those of the graph.  An array replaces them, in
        the order of :attr:`Graph.sources`; a name says which ones are meant.
    method : str
        A name in ``METHODS``, or ``"auto"``: selected by the forms that the graph was made of (edge list,
        rows), its size, the order of a long list, and its device.
    device : str, optional
        ``"cpu"``, ``"gpu"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one); by default the graph's own
        device.  The graph is copied to another device at each call; use :meth:`Graph.to` to copy it once.
    devices : str or list of str, optional
        Several devices that share the edges: ``"all"`` (every GPU), ``"cpu+cuda"``, or devices such as
        ``["cuda:0", "cuda:1"]``; ``"cpu:0"``, ``"cpu:1"`` ... are workers on the CPU.
    merge : str
        How the labels of several devices are merged: a name in ``MERGES``, or ``"auto"``.
    rounds : int, optional
        Option of the methods that sample.
    iterations, segments, compress_between : int, optional
        Options of ``hook-rem``, the first two also of ``hook``.
    rows : str, optional
        Option of ``propagate``.

    Returns
    -------
    Components or ThresholdComponents
        Its ``labels`` are the smallest vertex number of each vertex's component; with ``thresholds`` they are
        a (thresholds, n_vertices) array.

    Raises
    ------
    OptionError
        An unknown method or option; thresholds that do not ascend; a ``client``, which
        :func:`edgewise.stream_components` takes.
    GraphError
        Thresholds without weights, or a weight that is NaN.
    DeviceError, OutOfMemoryError
        The device is not there, or too small.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.Graph.from_edges(["a", "b", "d"], ["b", "c", "e"])
    >>> result = ew.connected_components(graph)
    >>> result.count, result.labels.tolist()
    (2, [0, 0, 0, 3, 3])
    >>> scored = ew.Graph.from_edges(["a", "b", "d"], ["b", "c", "e"], weights=[0.9, 0.8, 0.7])
    >>> ew.connected_components(scored, thresholds=[0.75, 0.85]).counts.tolist()
    [3, 4]
    """
    refuse_client(options, "stream_components")
    check_graph(graph, (Graph, SplitGraph))
    check_method(method, METHODS, options)
    _check_devices(graph, device, devices, merge)
    if thresholds is not None:
        _check_one_run(method, devices, options)
        from edgewise.components.thresholds import components_at

        return components_at(with_weight(graph, weight), thresholds, device)
    if weight is not None:
        raise OptionError(f"{argument('weight')} is for {argument('thresholds')}; give them, or leave it out")
    if devices is None:
        if device is None:
            return _solve(graph, method, merge, options)
        devices = arrays.resolve(device)
    team = device_team(devices)
    may_stay = graph.device == "cpu" and method in ("auto", "rem") and not options
    try:
        if may_stay and len(team) == 1:
            graph = _placed(graph, method, team[0].device)
        return _solve(_spread(graph, team, merge), method, merge, options, team)
    except OutOfMemoryError:
        if not may_stay:
            raise
    return _solve_by_segments(graph, team, merge)


def _check_devices(graph, device, devices, merge):
    split = isinstance(graph, SplitGraph)
    if split and (device is not None or devices is not None):
        name = "device" if devices is None else "devices"
        raise OptionError(f"the graph is split over its devices already; leave out {argument(name)}")
    check_one_or_several(device, devices)
    if merge != "auto" and devices is None and not split:
        raise OptionError(f"{argument('merge', merge)} is for several devices; add {argument('devices')}")
    if merge != "auto":
        from edgewise.components.merge import check_merge

        check_merge(merge, graph.by if split else None)


def _check_one_run(method, devices, options):
    """Refuse what does not go with thresholds."""
    if method not in ("auto", "rem") or options:
        given = argument("method", method) if method not in ("auto", "rem") else argument(next(iter(options)))
        raise OptionError(f"{given} is for a run without {argument('thresholds')}; leave out one of the two")
    if devices is not None:
        remedy = f"use {argument('device')}"
        raise OptionError(f"{argument('thresholds')} are found on one device, not on several; {remedy}")


def _placed(graph, method, device):
    """The graph, on a device if it is one of rows; OutOfMemoryError if its edges do not fit there."""
    if device == "cpu":
        return graph
    if method == "auto" and _reads_rows(graph):
        return with_rows_on(graph, size_of(graph), _bytes_of_rows_on_gpu, device)
    placement = _place_edges(graph, size_of(graph), device)
    if placement.left_on_host:
        raise arrays.out_of_memory(bytes_of(graph), device)
    return graph


def _reads_rows(graph):
    return reads_rows(graph) and is_of_rows(graph)


def _bytes_of_rows_on_gpu(size):
    """Bytes of the method that reads rows on a GPU: labels, and a list of long rows."""
    return size.width * (size.vertices + size.entries // MAX_ROW)


def _place_edges(graph, size, device):
    """Where the edges of a graph of the host are for a GPU: there, or sent to it in segments."""
    from edgewise.components.segments import bytes_needed, segment_for

    segment = segment_for(size.vertices, device_team(device))
    return place(bytes_of(graph) + _labels(size), bytes_needed(size.vertices, segment), device)


def _spread(graph, team, merge):
    """``graph`` on its one device, or split over several as ``merge`` needs it."""
    if len(team) == 1:
        return graph.to(team[0].device)
    from edgewise.components.merge import MERGES

    return graph.split(team, by="auto" if merge == "auto" else MERGES[merge].by)


def _solve(graph, method, merge, options, team=None):
    """Solve a graph on the devices that hold it."""
    if isinstance(graph, SplitGraph):
        return _solve_split(graph, method, merge, options)
    device = graph.device
    with arrays.guard(device):
        name, run = _prepare(graph, method, options)
        arrays.synchronize(device)
        start = perf_counter()
        labels = run()
        arrays.synchronize(device)
    name += ON_HOST * (graph._of_host is not None)
    names = team.names if team else worker_names(device)
    return Components(graph, name, perf_counter() - start, labels, devices=names)


def _solve_split(split, method, merge, options):
    from edgewise.components.merge import label_split, merge_for

    merge, prepared = merge_for(split, merge), []
    for part in split.parts:
        with arrays.guard(part.worker.device):
            prepared.append(_prepare(part.graph, method, options))
    names, runs = zip(*prepared)
    split.team.synchronize()
    start = perf_counter()
    labels = label_split(split, runs, merge)
    split.team.synchronize()
    seconds, name = perf_counter() - start, " and ".join(sorted(set(names)))
    return Components(split, name, seconds, labels, devices=split.team.names, merge=merge)


def _solve_by_segments(graph, team, merge):
    """Solve a graph whose edges do not fit the devices: the host holds them and sends segments."""
    from edgewise.components.merge import LABEL_MERGES, choose_label_merge
    from edgewise.components.segments import solve_by_segments

    start = perf_counter()
    merge = merge if merge in LABEL_MERGES else choose_label_merge(team)
    labels, n_segments = solve_by_segments(graph, team, merge)
    team.synchronize()
    seconds, name = perf_counter() - start, f"rem, in {n_segments} segments"
    merge = merge if len(team) > 1 else None
    return Components(graph, name, seconds, labels, devices=team.names, merge=merge)


def needs(graph, *, method="auto", thresholds=None, device=None, **options) -> Needs:
    """How a call would solve a graph of the host, for :meth:`Graph.estimate`."""
    check_graph(graph)
    size, gpu = size_of(graph), gpu_in(device)
    if thresholds is not None:
        from edgewise.components.thresholds import bytes_needed, checked

        checked(thresholds)
        return Needs(("edges",), "rem", bytes_needed, size)
    check_method(method, METHODS, {})
    if gpu is not None and method in ("auto", "rem"):
        return _needs_on(gpu, graph, method, size)
    name = select_method(graph) if method == "auto" else method
    reads_edges = METHODS[name].reads == "edges" or not _reads_rows(graph)
    form = "rows" if METHODS[name].reads == "rows" else "edges" if reads_edges else "rows"
    return Needs((form,), name, METHODS[name].memory, size)


def _needs_on(gpu, graph, method, size):
    """The same on a GPU, by the methods that take graphs of any size."""
    if method == "auto" and _reads_rows(graph):
        placement = place_rows(graph, size, _bytes_of_rows_on_gpu(size), gpu)
        name = "afforest" + ON_HOST * placement.left_on_host
        return Needs(("rows",), name, _bytes_of_rows_on_gpu, size, placement)
    placement = _place_edges(graph, size, gpu)
    name = "rem, in segments" if placement.left_on_host else method
    return Needs(("edges",), name, _labels, size, placement)


def _prepare(graph, method, options):
    """The method's name, and a call that runs it on the form of the graph that it reads."""
    name = select_method(graph) if method == "auto" else method
    chosen = METHODS[name]
    return name, partial(chosen.run, graph.n_vertices, *chosen.form_of(graph), **options)
