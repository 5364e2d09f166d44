"""Breadth-first search: distances in edges from a source to every vertex, and whether there is a path.

Distances are unique, so all methods, devices and numbers of threads return the same, bit for bit.
"""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import Any, Unpack

import numpy as np

from edgewise.device import arrays
from edgewise.errors import OptionError
from edgewise.front import CallOptions, front, named
from edgewise.graph import Graph
from edgewise.method import Driver, Option, check_device, check_graph, check_method, worker_names
from edgewise.needs import Needs, gpu_in, size_of
from edgewise.paths.bfs.level_synchronous import bytes_of_search, level_synchronous
from edgewise.paths.bfs.sequential import top_down_sequential
from edgewise.paths.csr import adjacency_of, bytes_with_incoming, takes_one_core, unreached
from edgewise.paths.local_search import search_nearby
from edgewise.paths.method import PathMethod, check_cutoff, check_kind, sources_in, vertices_in
from edgewise.paths.result import Distances, up_to
from edgewise.placement import ON_HOST, place_rows, with_rows_on

__all__ = ["METHODS", "bfs", "has_path"]

#: A cutoff beyond all distances.
NO_CUTOFF = int(unreached(np.int32)) - 1


def _bytes_on_gpu(size):
    """Bytes of the method for GPUs."""
    from edgewise.paths.bfs.cooperative import bytes_on_gpu

    return bytes_on_gpu(size)


METHODS = {
    "harish": PathMethod(
        Driver("edgewise.paths.harish:breadth_first"),
        "flags: every vertex is read in every round",
        "Harish & Narayanan 2007; Fusi",
        memory=lambda size: 7 * size.vertices,
        baseline=True,
    ),
    "top-down-sequential": PathMethod(
        Driver("edgewise.paths.bfs.sequential:top_down_sequential"),
        "one queue on one core",
        "Moore 1959",
        devices=("cpu",),
        memory=lambda size: (4 + size.width) * size.vertices,
    ),
    "top-down": PathMethod(
        Driver("edgewise.paths.bfs.level_synchronous:top_down"),
        "each worker queues what it reaches, one barrier a level",
        "after GAP, 2015",
        devices=("cpu",),
        memory=bytes_of_search,
    ),
    "direction-optimising": PathMethod(
        Driver("edgewise.paths.bfs.level_synchronous:direction_optimising"),
        "the same, and bottom-up while the frontier is large",
        "Beamer, Asanovic & Patterson 2012",
        devices=("cpu",),
        memory=bytes_of_search,
        needs_incoming=True,
    ),
    "cooperative": PathMethod(
        Driver("edgewise.paths.bfs.cooperative:cooperative"),
        "all levels in one launch, sparse or dense, top-down or bottom-up",
        "after Merrill 2012 and Beamer 2012",
        options={"dense_from": Option()},
        devices=("cuda",),
        memory=_bytes_on_gpu,
    ),
    "contraction-hierarchy": PathMethod(
        Driver("edgewise.paths.sssp.contraction_hierarchy:levels_by_hierarchy"),
        "vertices of low degree are eliminated once; up to a core and down again",
        "Geisberger et al. 2008; Delling et al. 2011",
        directed=False,
    ),
}


class BFSOptions(CallOptions, total=False):
    """Options of :func:`bfs`: those of its methods, and of every public function."""

    dense_from: int


@front
def bfs(
    graph: Graph,
    source: Any,
    *,
    targets: Any = None,
    cutoff: int | None = None,
    method: str = "auto",
    device: str | None = None,
    **options: Unpack[BFSOptions],
) -> Distances:
    """Find the distance in edges from a source to every vertex.

    Parameters
    ----------
    graph : Graph
        Edges of a directed graph are followed forwards.  Weights do not count.
    source : id or array-like of ids
        Ids of the graph; of several: distances from the nearest.
    targets : id or array-like of ids, optional
        The search may end with the furthest of these vertices, and vertices further away count as not
        reached.
    cutoff : int, optional
        Vertices further away than this count as not reached.  Infinity means no cutoff.
    method : str
        A name in ``METHODS``, or ``"auto"``: chosen by the device, the size and the direction of the graph,
        and by what :meth:`Graph.prepare` has prepared.
    device : str, optional
        ``"cpu"``, ``"gpu"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one); by default that of
        the graph.
    dense_from : int, optional
        Option of ``cooperative``: size of a frontier from which it is not listed.

    Returns
    -------
    Distances
        Its ``distances`` are int32; a vertex that no path reaches has the type's largest value.

    Raises
    ------
    GraphError
        A source or a target is not in the graph.
    OptionError
        No source or target, or a table of them, an unknown method or option, a method that does not take
        directed graphs, a cutoff that is no whole number or negative.
    DeviceError, OutOfMemoryError
        The device is not there, or too small.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.Graph.from_edges(["a", "b", "d"], ["b", "c", "e"])
    >>> result = ew.bfs(graph, "a")
    >>> result.distances.tolist()
    [0, 1, 2, 2147483647, 2147483647]
    >>> result.path_to("c")
    ['a', 'b', 'c']
    """
    check_graph(graph)
    check_method(method, METHODS, options)
    cutoff = check_cutoff(cutoff, whole=True)
    furthest = NO_CUTOFF if cutoff is None else min(int(cutoff), NO_CUTOFF)
    graph = _on_device(graph, device, method)
    device = graph.device
    check_device(method, device, METHODS)
    sources = sources_in(graph, source)
    if targets is not None:
        targets = vertices_in(graph, targets, "targets", "leave it out")
    with arrays.guard(device):
        rows = adjacency_of(graph)
        check_kind(method, METHODS, rows)
        if method == "auto":
            name, seconds, distances = _auto(rows, (sources, targets), furthest, device)
        else:
            if METHODS[method].needs_incoming:
                rows.build_incoming()
            name = method
            seconds, distances = _timed(METHODS[method].run, rows, sources, furthest, device, options)
    if targets is not None:
        distances, _ = up_to(targets, distances)
    facts = sources, False, rows, distances, cutoff, targets is not None
    return Distances(
        graph, name + ON_HOST * (graph._of_host is not None), seconds, *facts, devices=worker_names(device)
    )


def _on_device(graph, device, method):
    """The graph on the device that is asked for; rows that do not fit a GPU remain on the host."""
    if device is None:
        return graph
    device = arrays.resolve(device)
    if method not in ("auto", "cooperative"):
        return graph.to(device)
    return with_rows_on(graph, size_of(graph), _bytes_on_gpu, device)


def needs(graph, *, source=None, method="auto", device=None, **options) -> Needs:
    """How a call would search a graph of the host, for :meth:`Graph.estimate`."""
    check_graph(graph)
    check_method(method, METHODS, {})
    size, gpu = size_of(graph), gpu_in(device)
    if gpu is not None:
        placement = place_rows(graph, size, _bytes_on_gpu(size), gpu)
        name = "cooperative" + ON_HOST * placement.left_on_host
        return Needs(("rows",), name, _bytes_on_gpu, size, placement)
    if method == "auto":
        is_small = takes_one_core(size.vertices, size.entries)
        far = "top-down" if graph.directed and "searches" not in graph.prepared else "direction-optimising"
        method = "top-down-sequential" if is_small else far
    term = METHODS[method].memory
    if METHODS[method].needs_incoming and graph.directed and "searches" not in graph.prepared:
        term = partial(bytes_with_incoming, term)
    return Needs(("rows",), method, term, size)


def _auto(rows, ends, cutoff, device):
    """Name of the method that searched, its seconds, and distances of all vertices or of those found.

    ``ends`` are the sources, and the targets or ``None``.  On a GPU ``cooperative`` searches, or without a
    cutoff the method for which the graph is prepared.  On the CPU ``top-down-sequential`` searches a small
    graph, and begins to search a larger one; if that comes to no end soon, ``direction-optimising`` continues
    after the last complete level where the rows of incoming edges are there, and ``top-down`` where not.
    """
    sources, targets = ends
    if device != "cpu":
        name = rows.prepared if rows.prepared and cutoff == NO_CUTOFF else "cooperative"
        return name, *_timed(METHODS[name].run, rows, sources, cutoff, device, {})
    if rows.is_small:
        return "top-down-sequential", *_timed(top_down_sequential, rows, sources, cutoff, device, {})
    start = perf_counter()
    known, level = search_nearby(rows, sources, cutoff)
    if level is None or (targets is not None and np.isin(targets, known.vertices).all()):
        return "top-down-sequential", perf_counter() - start, known
    pulls = rows.symmetric or rows.prepared
    name, incoming = ("direction-optimising", rows.incoming) if pulls else ("top-down", None)
    dense = level_synchronous(rows, incoming, known, level, cutoff)
    return name, perf_counter() - start, dense


def _timed(run, rows, sources, cutoff, device, options):
    arrays.synchronize(device)
    start = perf_counter()
    dense = run(rows, sources, cutoff, **options)
    arrays.synchronize(device)
    return perf_counter() - start, dense


@named
def has_path(graph: Graph, source: Any, target: Any, *, device: str | None = None) -> bool:
    """Return whether there is a path from one vertex to another.

    It takes microseconds if one of the two is near the other or has few vertices within reach, and a
    breadth-first search otherwise.  For many pairs of an undirected graph, compare the labels of
    :func:`connected_components`.

    Parameters
    ----------
    graph : Graph
        Edges of a directed graph are followed forwards.
    source, target : id
        Ids of the graph.
    device : str, optional
        ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one); by default that of the
        graph.

    Returns
    -------
    bool
        ``True`` also if the two are the same vertex.

    Raises
    ------
    GraphError
        An id is not in the graph.
    OptionError
        Several ids are given for one of the two.
    DeviceError, OutOfMemoryError
        The device is not there, or too small.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.Graph.from_edges(["a", "b", "d"], ["b", "c", "e"], directed=True)
    >>> ew.has_path(graph, "a", "c"), ew.has_path(graph, "c", "a"), ew.has_path(graph, "a", "e")
    (True, False, False)
    """
    check_graph(graph)
    ends = sources_in(graph, source), sources_in(graph, target)
    for name, vertices in zip(("source", "target"), ends):
        if len(vertices) > 1:
            raise OptionError(f"{name} has {len(vertices)} ids; has_path is about one, bfs finds several")
    graph = _on_device(graph, device, "auto")
    if graph.device == "cpu":
        found = _near(graph, *ends)
        if found is not None:
            return found
    with arrays.guard(graph.device):
        reached = bfs(graph, source).distances[int(ends[1][0])]
    return int(reached) <= NO_CUTOFF


def _near(graph, source, target):
    """Whether there is a path, as far as small searches from the ends can tell; else ``None``."""
    rows = adjacency_of(graph)
    for start, goal in ((source, target), (target, source)) if not graph.directed else ((source, target),):
        found, level = search_nearby(rows, start.astype(np.int64), NO_CUTOFF)
        is_met = bool(np.isin(goal, found.vertices).any())
        if is_met or level is None:
            return is_met
    return None
