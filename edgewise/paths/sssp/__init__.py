"""Shortest paths along weighted edges, from one source or from the nearest of several.

Every method finds the same distances, bit for bit, on every device and with any number of threads; parents
and paths are read off the distances (:class:`~edgewise.paths.result.Distances`).

A method is ``run(rows, sources, cutoff, **options) -> (distances, overflowed)``.  ``rows`` are in the type of
the distances, ``sources`` (k,) int64 distinct vertices on the host, ``cutoff`` the largest distance that
counts, in that type.  ``distances`` are (n,) in the place of the rows; ``overflowed`` says whether one passed
the end of the type.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from edgewise.device import arrays
from edgewise.errors import OptionError
from edgewise.graph import Graph
from edgewise.method import POSITIVE, check_device, check_graph, check_method, on_device
from edgewise.paths.method import PathMethod, check_cutoff, sources_in, vertices_in
from edgewise.paths.result import Distances, SparseDistances, unreached
from edgewise.paths.sssp.bellman_ford import bellman_ford
from edgewise.paths.sssp.delta_stepping import delta_stepping
from edgewise.paths.sssp.dijkstra import dijkstra
from edgewise.paths.sssp.harish import harish
from edgewise.paths.sssp.near_far import near_far
from edgewise.paths.sssp.nearby import nearby
from edgewise.paths.sssp.negative_cycle import NegativeCycle
from edgewise.paths.sssp.weights import (
    edge_at,
    limit_in,
    rows_in,
    spread_in,
    type_named,
    wider_than,
)

__all__ = ["METHODS", "shortest_paths"]

METHODS = {
    "harish": PathMethod(
        harish,
        "two kernels over all vertices, round after round",
        "Harish and Narayanan 2007; Fusi",
        weights="not negative",
        baseline=True,
    ),
    "bellman-ford": PathMethod(
        bellman_ford, "relax what was lowered in the round before", "Bellman 1958, Moore 1959", weights="any"
    ),
    "delta-stepping": PathMethod(
        delta_stepping,
        "bins by distance, one after the other",
        "Meyer and Sanders 2003; Zhang et al. 2020",
        weights="not negative",
        options={"delta": POSITIVE},
        devices=("cpu",),
        stops_at_targets=True,
    ),
    "near-far": PathMethod(
        near_far,
        "a threshold moves on; the whole search in one launch",
        "after Davidson et al. 2014",
        weights="not negative",
        options={"delta": POSITIVE},
    ),
    "dijkstra": PathMethod(
        dijkstra,
        "the nearest vertex first, on one core",
        "Dijkstra 1959",
        weights="not negative",
        devices=("cpu",),
        stops_at_targets=True,
    ),
}


def shortest_paths(
    graph: Graph,
    source: Any,
    *,
    targets: Any = None,
    cutoff: float | None = None,
    method: str = "auto",
    device: str | None = None,
    dtype: Any = None,
    **options: float,
) -> Distances:
    """Find the lengths of shortest paths along weighted edges, from a source or the nearest of several.

    Parameters
    ----------
    graph : Graph
        With weights, which may be zero; negative ones only where they close no negative cycle.  (Rounding
        can make one of floats that sum up to zero.)  Edges of a directed graph are followed from source to
        target.
    source : id or (k,) array-like of ids
        As they came in: vertex numbers where the graph has no ids.
    targets : id or array-like of ids, optional
        Vertices that matter: the search may end with the furthest of them, and vertices further away count
        as not reached.  Not where a weight is negative.
    cutoff : number, optional
        Largest distance that counts; vertices further away count as not reached.  Infinity is none, too.
        Not where a weight is negative.
    method : str
        A name in ``METHODS``, or ``"auto"``: chosen by weights and device.
    device : str, optional
        ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one); by default where the
        graph lies.
    dtype : {'int32', 'int64', 'float32', 'float64'}, optional
        Type of the distances.  By default that of the graph's weights, or int64 and float64 where a distance
        passes the end of int32 and float32.
    **options : float
        Options of the method, numbers larger than 0: ``delta`` of ``delta-stepping``, the width of a bin,
        and of ``near-far``, the step of its threshold.

    Returns
    -------
    Distances
        Its ``distances`` are those of all vertices.

    Raises
    ------
    GraphError
        An unknown vertex, a graph without weights, a weight that is not finite, a negative cycle (the message
        names its vertices), or a distance beyond the largest number of its type.
    OptionError
        No source or a table of them, an unknown method or option, a method that cannot do with negative
        weights, or a cutoff or targets beside them.
    DeviceError, OutOfMemoryError
        The device is not there, or too small.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.Graph.from_edges(["a", "a", "b"], ["b", "c", "c"], weights=[2, 9, 3])
    >>> result = shortest_paths(graph, "a")
    >>> result.distances.tolist(), result.path_to("c")
    ([0, 2, 5], ['a', 'b', 'c'])
    """
    check_graph(graph)
    check_method(method, METHODS, options)
    cutoff = check_cutoff(cutoff, whole=False)
    graph = on_device(graph, device)
    check_device(method, graph.device, METHODS)
    sources = sources_in(graph, source)
    ends = None if targets is None else vertices_in(graph, targets, "targets", "leave it out")
    name = _type_name(graph, dtype)
    with arrays.guard(graph.device), np.errstate(over="ignore"):
        rows = rows_in(graph, name)
        if rows.spread.least < 0:
            _check_negative(graph, method, rows.spread.least, cutoff, ends)
        if method == "auto" and graph.device == "cpu" and rows.spread.least >= 0:
            start = perf_counter()
            found = nearby(rows, sources, limit_in(cutoff, name), ends)
            if found is not None:
                seconds, facts = perf_counter() - start, (cutoff, ends is not None)
                return Distances(
                    graph, "dijkstra", seconds, sources, True, rows, SparseDistances(*found), *facts
                )
        if method == "auto":
            near = "delta-stepping" if graph.device == "cpu" else "near-far"
            method = near if rows.spread.least >= 0 else "bellman-ford"
        return _searched(graph, method, rows, sources, ends, cutoff, dtype, options)


def _searched(graph, method, rows, sources, ends, cutoff, dtype, options):
    """Search everything; once more in a wider type where a distance passes the end of its type."""
    overflowed = True
    while overflowed:
        name = rows.weights.dtype.name
        arrays.synchronize(graph.device)
        start = perf_counter()
        try:
            distances, overflowed = _run(method, rows, sources, limit_in(cutoff, name), ends, options)
        except NegativeCycle as cycle:
            raise cycle.named(graph) from None
        arrays.synchronize(graph.device)
        seconds = perf_counter() - start
        if overflowed:
            rows = rows_in(graph, wider_than(name, asked=dtype is not None))
    return Distances(graph, method, seconds, sources, True, rows, distances, cutoff, partial=ends is not None)


def _run(method, rows, sources, limit, ends, options):
    """Run a method; where there are targets, forget what lies beyond the furthest of them."""
    found = METHODS[method]
    if found.stops_at_targets and ends is not None:
        options = {**options, "targets": ends}
    distances, overflowed = found.run(rows, sources, limit, **options)
    if ends is None:
        return distances, overflowed
    none, reached = unreached(distances.dtype), distances[arrays.move(ends, arrays.device_of(distances))]
    if bool((reached != none).all()):
        overflowed = False  # only vertices that do not matter are further away than the type reaches
        distances[distances > reached.max()] = none
    return distances, overflowed


def _type_name(graph, dtype):
    if dtype is None:
        spread_in(graph)
        return graph.csr_weights.dtype.name
    return type_named(dtype)


def _check_negative(graph, method, least, cutoff, ends):
    """Refuse what cannot be done where a weight is negative."""
    edge = f"the edge {edge_at(graph, int(graph.csr_weights.argmin()))} weighs {least}"
    if method != "auto" and METHODS[method].weights != "any":
        raise OptionError(f"{edge}, and {method} needs weights of 0 or more; use method='bellman-ford'")
    if cutoff is not None or ends is not None:
        what = "cutoff" if cutoff is not None else "targets"
        raise OptionError(
            f"{edge}, so paths may go on beyond any distance and come back; leave {what} out, and choose "
            "among all distances"
        )
