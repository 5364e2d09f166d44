"""Measures of a graph that need all its distances: eccentricities, closeness, averages.

Without weights, searches run side by side and nothing is stored (:mod:`.bit_parallel`).  With weights, rows
of distances are computed block by block, by any method of :mod:`edgewise.paths.apsp`, and not kept
(:mod:`.rows`).
"""

from __future__ import annotations

from time import perf_counter
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np

from edgewise.device import arrays
from edgewise.errors import GraphError, OptionError, argument
from edgewise.front import reporter
from edgewise.graph import Graph
from edgewise.method import Driver, check_graph, check_method, on_device, worker_names
from edgewise.paths.apsp import METHODS as OF_ALL_PAIRS
from edgewise.paths.apsp.search import BLOCK_BYTES, Search
from edgewise.paths.csr import adjacency_of, unreached
from edgewise.paths.measures.result import DistanceMeasures
from edgewise.paths.measures.sums import DISTANCE, REACHED, report_nothing
from edgewise.paths.method import PathMethod, check_hops
from edgewise.paths.sssp.weights import type_named
from edgewise.weights import WeightOptions, weighted_front

__all__ = ["METHODS", "DistanceMeasures", "distance_measures"]

#: The method that adds up distances while it searches.  All others are those of all pairs, whose rows of
#: distances are added up.
BITS = "bit-parallel"
METHODS = {
    BITS: PathMethod(
        Driver("edgewise.paths.measures.bit_parallel:bit_parallel"),
        "512 breadth-first searches at a time, whose distances are added up and not stored",
        "after Then et al. 2014 and Beamer 2012",
        memory=lambda size: (200 * size.threads + 40) * size.vertices,
    ),
    **OF_ALL_PAIRS,
}


class Measured(NamedTuple):
    """Measures by vertex number on the host, as :class:`DistanceMeasures` has them, and the method."""

    method: str
    weighted: bool
    eccentricities: np.ndarray
    closeness: np.ndarray
    harmonic: np.ndarray
    average_distance: float
    hop_histogram: np.ndarray | None


@weighted_front
def distance_measures(
    graph: Graph,
    *,
    method: str = "auto",
    device: str | None = None,
    dtype: Literal["int32", "int64", "float32", "float64"] | None = None,
    wf_improved: bool = True,
    client: Any = None,
    **options: Unpack[WeightOptions],
) -> DistanceMeasures:
    """Find eccentricities, diameter, radius, center, periphery, closeness and the average distance.

    Definitions are NetworkX's, but the eccentricity of a vertex that does not reach all others is infinite,
    and then so are the diameter and the average distance, where NetworkX raises an error.

    Parameters
    ----------
    graph : Graph
        With or without weights; without them every edge counts one, and infinite weights are no edges.  In a
        directed graph eccentricities look along the edges, closeness and harmonic centrality at the paths
        that come in.
    method : str
        A name in ``METHODS``, or ``"auto"``: ``bit-parallel`` without weights and without ``client``, else
        chosen as by :func:`all_pairs_shortest_paths`: ``phast`` for a graph that is prepared for routes.
    device : str, optional
        ``"cpu"``, ``"gpu"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one); by default that of
        the graph.
    dtype : {'int32', 'int64', 'float32', 'float64'}, optional
        Type of the distances; by default that of the weights, or a wider one where a distance needs it.
        ``bit-parallel`` stores none.
    wf_improved : bool
        Scale closeness by the share of vertices from which a path comes (Wasserman and Faust).
    client : distributed.Client or concurrent.futures.Executor, optional
        Its workers share the searches, each with its own copy of the graph; the distances come back to the
        caller, who adds them up.

    Returns
    -------
    DistanceMeasures

    Raises
    ------
    GraphError
        Weights that are NaN or minus infinity, a negative cycle, distances too large for any type,
        eccentricities that are integers beyond 2**53 and would be rounded.
    OptionError
        An unknown method or option, a method that does not take weights, or not ``client``.
    DeviceError, OutOfMemoryError
        The device is not there, or too small.
    WorkerError
        The workers of ``client`` cannot take part, have another version of edgewise, or were lost.

    Examples
    --------
    >>> import edgewise as ew
    >>> from edgewise.paths.measures import distance_measures
    >>> measures = distance_measures(ew.Graph.from_edges(["a", "b", "c"], ["b", "c", "d"]))
    >>> measures.diameter, measures.radius, measures.center.tolist()
    (3.0, 2.0, ['b', 'c'])
    >>> measures.hop_histogram.tolist()
    [4, 6, 4, 2]
    """
    check_graph(graph)
    check_method(method, METHODS, {})
    if dtype is not None:
        type_named(dtype)
    weighted = graph.csr_weights is not None
    if method == BITS:
        _check_bits(graph, client)
    if method == "auto" and not weighted and client is None:
        method = BITS
    if client is not None:
        from edgewise.paths.apsp.by_workers import check_places

        check_places(device, None)
        device = "cpu"
    graph = on_device(graph, device)
    start, names = perf_counter(), worker_names(graph.device)
    with arrays.guard(graph.device), np.errstate(over="ignore"):
        if method == BITS:
            added = METHODS[BITS].run(adjacency_of(graph), None, reporter())
            measured = _of_hops(BITS, added, wf_improved)
        else:
            search, workers = _searches(graph, method, dtype if weighted else None, client)
            names = names if workers is None else workers.names
            measured = _by_rows(search, workers, wf_improved)
    name, *measures = measured
    return DistanceMeasures(graph, name, perf_counter() - start, *measures, devices=names)


def _check_bits(graph, client):
    check_hops(graph, f"method {BITS}")
    if client is not None:
        raise OptionError(f"method {BITS} adds up in one process; leave out {argument('client')}")


def _searches(graph, method, dtype, client):
    """The search for rows of distances, and the workers that take part, if any."""
    whole = 8 * graph.n_vertices**2 <= BLOCK_BYTES  # a matrix as large as a block
    if client is None:
        return Search(OF_ALL_PAIRS, graph, method, dtype, all_sources=whole), None
    from edgewise.paths.apsp.by_workers import WorkerRows, without_hierarchy

    search = Search(without_hierarchy(OF_ALL_PAIRS, method), graph, method, dtype, all_sources=False)
    return search, WorkerRows(search, client, "repeat the call")


def _by_rows(search, workers, wf_improved):
    """Measures of a graph by rows of distances."""
    from edgewise.paths.measures.rows import by_rows, hops_by_rows

    progress = reporter() or report_nothing
    if not search.weighted:
        return _of_hops(search.name, hops_by_rows(search, progress, workers), wf_improved)
    farthest, reached, total, inverse = by_rows(search, progress, workers)
    eccentricities = np.where(farthest == unreached(search.dtype), np.inf, farthest.astype(np.float64))
    _check_exact(search.graph, farthest, eccentricities)
    closeness = _closeness(reached, total.astype(np.float64), wf_improved)
    average = _average(total.sum(dtype=np.float64), eccentricities)
    return Measured(search.name, True, eccentricities, closeness, inverse, average, None)


def _of_hops(name, added, wf_improved):
    """Measures of a graph whose edges count one."""
    eccentricities = np.where(added.farthest < 0, np.inf, added.farthest.astype(np.float64))
    reached, total = added.of_vertices[:, REACHED], added.of_vertices[:, DISTANCE].astype(np.float64)
    closeness, average = _closeness(reached, total, wf_improved), _average(total.sum(), eccentricities)
    return Measured(name, False, eccentricities, closeness, added.harmonic, average, added.hops)


def _average(total, eccentricities):
    """Mean distance over all ordered pairs; infinite where a pair has no path."""
    n = len(eccentricities)
    if not np.isfinite(eccentricities).all():
        return np.inf
    return float(total) / (n * (n - 1)) if n > 1 else 0.0


def _check_exact(graph, farthest, eccentricities):
    """Refuse eccentricities that are integers and no float64."""
    if farthest.dtype != np.int64:
        return
    with np.errstate(invalid="ignore"):
        rounded = np.isfinite(eccentricities) & (eccentricities.astype(np.int64) != farthest)
    if rounded.any():
        vertex = int(rounded.argmax())
        raise GraphError(
            f"the eccentricity of vertex {graph.ids_of([vertex])[0]} is {farthest[vertex]}, which a float64 "
            f"does not hold exactly; use {argument('dtype', 'float64')} for rounded distances"
        )


def _closeness(reached, total, wf_improved):
    """Closeness: number of other vertices from which a path comes, divided by the sum of their distances."""
    vertices = len(reached)
    counted = (total > 0) & (vertices > 1)
    closeness = np.divide(reached - 1.0, total, out=np.zeros(vertices), where=counted)
    return closeness * (reached - 1.0) / (vertices - 1) if wf_improved and vertices > 1 else closeness
