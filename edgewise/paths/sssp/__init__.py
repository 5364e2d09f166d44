"""Shortest paths along weighted edges, from one source or from the nearest of several.

Every method finds the same distances, bit for bit, on every device and with any number of threads; parents
and paths are read off the distances (:class:`~edgewise.paths.result.Distances`).

A method is ``run(rows, sources, cutoff, **options) -> (distances, overflowed)``.  ``rows`` is an
:class:`~edgewise.paths.csr.Adjacency` with weights in the type of the distances, ``sources`` (k,) int64
distinct vertices on the host, and ``cutoff`` the largest distance that counts, in that type.  ``distances``
is an (n,) array on the device of the rows; ``overflowed`` is whether a distance is too large for the type.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np

from edgewise.device import arrays
from edgewise.errors import OptionError, argument
from edgewise.graph import Graph
from edgewise.method import POSITIVE, Driver, check_device, check_graph, check_method, on_device, worker_names
from edgewise.needs import Needs, size_of
from edgewise.paths.csr import takes_one_core
from edgewise.paths.local_search import search_nearby
from edgewise.paths.method import PathMethod, check_cutoff, check_kind, sources_in, vertices_in
from edgewise.paths.result import Distances, up_to
from edgewise.paths.sssp.bellman_ford import NegativeCycle
from edgewise.paths.sssp.delta_stepping import bytes_of_bins
from edgewise.paths.sssp.sequential import bytes_of_sequential
from edgewise.paths.sssp.weights import (
    edge_at,
    limit_in,
    rows_in,
    type_named,
    wider_than,
)
from edgewise.weights import WeightOptions, weighted_front

__all__ = ["METHODS", "shortest_paths"]

METHODS = {
    "harish": PathMethod(
        Driver("edgewise.paths.harish:weighted"),
        "two kernels over all vertices, round after round",
        "Harish and Narayanan 2007; Fusi",
        weights="not negative",
        baseline=True,
    ),
    "bellman-ford": PathMethod(
        Driver("edgewise.paths.sssp.bellman_ford:bellman_ford"),
        "relax the edges of vertices lowered in the round before",
        "Bellman 1958, Moore 1959",
        weights="any",
        memory=lambda size: (size.weight + 24) * size.vertices,
    ),
    "delta-stepping": PathMethod(
        Driver("edgewise.paths.sssp.delta_stepping:delta_stepping"),
        "bins of vertices by distance, processed in order",
        "Meyer and Sanders 2003; Zhang et al. 2020",
        weights="not negative",
        options={"delta": POSITIVE},
        devices=("cpu",),
        memory=bytes_of_bins,
        stops_at_targets=True,
    ),
    "near-far": PathMethod(
        Driver("edgewise.paths.sssp.near_far:near_far"),
        "expand what is nearer than a rising threshold; one launch",
        "after Davidson et al. 2014",
        weights="not negative",
        options={"delta": POSITIVE},
    ),
    "near-far-sequential": PathMethod(
        Driver("edgewise.paths.sssp.sequential:near_far_sequential"),
        "the same on one core, by a threshold that fits what is waiting",
        "Moore 1959; after Davidson et al. 2014",
        weights="not negative",
        devices=("cpu",),
        memory=bytes_of_sequential,
        stops_at_targets=True,
    ),
    "dijkstra": PathMethod(
        Driver("edgewise.paths.sssp.dijkstra:dijkstra"),
        "settle the nearest vertex first, on one core",
        "Dijkstra 1959",
        weights="not negative",
        devices=("cpu",),
        memory=lambda size: size.weight * size.vertices + (size.weight + 8) * size.entries,
        stops_at_targets=True,
    ),
    "contraction-hierarchy": PathMethod(
        Driver("edgewise.paths.sssp.contraction_hierarchy:distances_by_hierarchy"),
        "vertices of low degree are eliminated once; up to a core and down again",
        "Geisberger et al. 2008; Delling et al. 2011",
        weights="whole, not negative",
        directed=False,
    ),
    "phast": PathMethod(
        Driver("edgewise.paths.hierarchy.phast:distances"),
        "up a contraction hierarchy and down all of it, level by level",
        "Delling et al. 2011",
        weights="whole, not negative",
        memory=lambda size: (size.weight + 8) * size.vertices,
    ),
}


class SSSPOptions(WeightOptions, total=False):
    """Options of :func:`shortest_paths`: those of its methods, and of every function that uses weights."""

    delta: float


@weighted_front
def shortest_paths(
    graph: Graph,
    source: Any,
    *,
    targets: Any = None,
    cutoff: float | None = None,
    method: str = "auto",
    device: str | None = None,
    dtype: Literal["int32", "int64", "float32", "float64"] | None = None,
    **options: Unpack[SSSPOptions],
) -> Distances:
    """Find the lengths of shortest paths along weighted edges, from a source or the nearest of several.

    Parameters
    ----------
    graph : Graph
        With weights.  They may be zero, and negative if no cycle is negative.  (Rounding can make a cycle of
        floats that sum up to zero negative.)  No path leads over an edge of infinite weight.  Edges of a
        directed graph are followed from source to target.
    source : id or (k,) array-like of ids
        Ids of the graph; vertex numbers where it has no ids.
    targets : id or array-like of ids, optional
        The search may end with the furthest of these vertices, and vertices further away count as not
        reached.  Not with negative weights.
    cutoff : number, optional
        Largest distance that counts; vertices further away count as not reached.  Infinity means no cutoff.
        Not with negative weights.
    method : str
        A name in ``METHODS``, or ``"auto"``: chosen by the weights, the device, the size of the graph, and
        by what :meth:`Graph.prepare` has prepared.
    device : str, optional
        ``"cpu"``, ``"gpu"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one); by default that of the
        graph.
    dtype : {'int32', 'int64', 'float32', 'float64'}, optional
        Type of the distances.  By default that of the graph's weights, or int64 and float64 where a distance
        is too large for int32 and float32.
    delta : float, optional
        Width of a bin of ``delta-stepping``, and step of the threshold of ``near-far``; larger than 0.

    Returns
    -------
    Distances
        Its ``method`` is the one that ran.

    Raises
    ------
    GraphError
        An unknown vertex, a graph without weights, a weight that is NaN or minus infinity, a negative cycle
        (the message names its vertices), or a distance beyond the largest number of its type.
    OptionError
        No source or a table of them, an unknown method or option, a method that does not take negative
        weights, floats or directed graphs, or a cutoff or targets with negative weights.
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
    device = graph.device
    check_device(method, device, METHODS)
    sources = sources_in(graph, source)
    if targets is not None:
        targets = vertices_in(graph, targets, "targets", "leave it out")
    with arrays.guard(device):
        rows = rows_in(graph, None if dtype is None else type_named(dtype))
        search = _Search(sources, targets, cutoff, dtype is not None, options, device)
        if rows.spread.least < 0:
            _check_negative(graph, method, rows.spread.least, search)
        check_kind(method, METHODS, rows)
        name, seconds, rows, distances = _run(graph, rows, method, search)
    facts = sources, True, rows, distances, cutoff, targets is not None
    return Distances(graph, name, seconds, *facts, devices=worker_names(device))


class _Search(NamedTuple):
    """What was given: vertex numbers, the cutoff, whether a type, the method's options, and the device."""

    sources: np.ndarray
    targets: np.ndarray | None
    cutoff: float | None
    has_dtype: bool
    options: SSSPOptions
    device: str


def _run(graph, rows, method, search):
    """Search with a method, or the best one; return its name, its seconds, its rows and the distances."""
    arrays.synchronize(search.device)
    start, name, found = perf_counter(), method, None
    if method == "auto":
        name, found = _auto(rows, search)
    try:
        distances, overflowed = found or _distances(METHODS[name], rows, search)
    except NegativeCycle as cycle:
        raise cycle.named(graph) from None
    if search.targets is not None:
        distances, met = up_to(search.targets, distances)
        overflowed = overflowed and not met  # only vertices beyond the targets have too large distances
    if overflowed:
        rows = rows_in(graph, wider_than(rows.weights.dtype.name, requested=search.has_dtype))
        return _run(graph, rows, method, search)
    arrays.synchronize(search.device)
    return name, perf_counter() - start, rows, distances


def _auto(rows, search):
    """Name of the method that ``auto`` takes, and what that has found if it has searched already.

    ``phast`` searches for all distances, which are whole numbers, of a graph that is prepared for routes.
    ``bellman-ford`` takes negative weights.  On a GPU others are left to ``near-far``, or without a cutoff to
    the method for which the graph is prepared.  On the CPU ``near-far-sequential`` searches a small graph,
    and a larger one if that ends soon: where few vertices are within reach, or few wait at a time, or targets
    are near.  ``delta-stepping`` searches the others.
    """
    if rows.spread.least < 0:
        return "bellman-ford", None
    everything = search.cutoff is None and search.targets is None
    if rows.routes is not None and everything and METHODS["phast"].takes_weights(rows.weights.dtype):
        return "phast", None
    if search.device != "cpu":
        return rows.prepared if rows.prepared and search.cutoff is None else "near-far", None
    found = None
    if not rows.is_small:
        limit = limit_in(search.cutoff, rows.weights.dtype)
        nearby, given_up = search_nearby(rows, search.sources, limit, search.targets)
        found = (nearby, False) if given_up is None else None
    return "near-far-sequential" if rows.is_small or found else "delta-stepping", found


def needs(graph, *, source=None, method="auto", **options) -> Needs:
    """How a call would search a graph on the host, for :meth:`Graph.estimate`.

    Weights are not read, so none counts as negative, and no distance as too large for its type.
    """
    check_graph(graph)
    check_method(method, METHODS, {})
    size = size_of(graph)
    if method == "auto":
        is_small = takes_one_core(size.vertices, size.entries)
        method = "near-far-sequential" if is_small else "delta-stepping"
    return Needs(("rows",), method, METHODS[method].memory, size)


def _distances(method, rows, search):
    """Distances, at least up to the furthest target; whether one passed the end of its type."""
    options = search.options
    if method.stops_at_targets and search.targets is not None:
        options = {**options, "targets": search.targets}
    limit = limit_in(search.cutoff, rows.weights.dtype)
    with np.errstate(over="ignore"):
        return method.run(rows, search.sources, limit, **options)


def _check_negative(graph, method, least, search):
    """Refuse what is not possible with negative weights."""
    edge = f"the edge {edge_at(graph, int(graph.csr_weights.argmin()))} weighs {least}"
    if method != "auto" and METHODS[method].weights != "any":
        remedy = argument("method", "bellman-ford")
        raise OptionError(f"{edge}, and {method} needs weights of 0 or more; use {remedy}")
    if search.cutoff is not None or search.targets is not None:
        what = argument("cutoff" if search.cutoff is not None else "targets")
        raise OptionError(
            f"{edge}, so paths may become shorter again beyond any distance; leave out {what} and "
            "select from all distances"
        )
