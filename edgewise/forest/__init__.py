"""Minimum and maximum spanning forests: the lightest, or heaviest, edges that hold every component together.

Edges are compared by their weights, then by their positions in the edge list of the graph, so there is one
forest, and every method, device and number of threads finds it (:mod:`~edgewise.forest.order`).
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from edgewise.device import arrays
from edgewise.errors import GraphError, argument
from edgewise.forest.boruvka import Entries, boruvka
from edgewise.forest.kruskal import kruskal
from edgewise.forest.order import check_weights, is_of_rows, order_of
from edgewise.forest.result import SpanningForest
from edgewise.graph import Graph
from edgewise.method import Method, check_device, check_graph, check_method, on_device, worker_names
from edgewise.paths.sssp.weights import SIMILARITY

__all__ = ["METHODS", "SpanningForest", "minimum_spanning_forest"]


@dataclass(frozen=True)
class ForestMethod(Method):
    """A method for spanning forests.

    ``run(n_vertices, entries)``, where ``entries`` are :class:`~edgewise.forest.boruvka.Entries`, returns two
    arrays on the device of its arguments: for each vertex the entry that hooked it below a smaller one, or
    -1: (n_vertices,) int64; and the smallest vertex of each vertex's tree: (n_vertices,) of the index type.
    """


METHODS = {
    "boruvka": ForestMethod(
        boruvka,
        "every tree takes its first edge; the heavy edges are filtered",
        "Boruvka 1926; ECL-MST, 2023",
    ),
    "kruskal": ForestMethod(
        kruskal,
        "edges in order; the heavy edges are filtered before they are sorted",
        "Kruskal 1956; Osipov et al. 2009",
        devices=("cpu",),
    ),
}


def minimum_spanning_forest(
    graph: Graph,
    *,
    maximum: bool = False,
    method: str = "auto",
    device: str | None = None,
) -> SpanningForest:
    """Find the minimum spanning forest of a graph: a spanning tree of least weight for each component.

    Parameters
    ----------
    graph : Graph
        Undirected, with weights, which may be negative, zero or infinite.  Self-loops are never in a forest.
    maximum : bool
        Find the forest of largest weight instead, as for scores, where more is nearer.
    method : str
        A name in ``METHODS``, or ``"auto"``: selected by the number of edges and the device.
    device : str, optional
        ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one); by default that of the
        graph.

    Returns
    -------
    SpanningForest
        Of edges of equal weight those come first that are earlier in the edge list of the graph, also with
        ``maximum=True``, so there is one answer only.

    Raises
    ------
    GraphError
        A directed graph, a graph without weights, or a weight that is NaN; weights that were taken by default
        from a column that sounds like a score, without ``maximum=True``.
    OptionError
        An unknown method.
    DeviceError, OutOfMemoryError
        The device is not there, or too small.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.Graph.from_edges(["a", "b", "a", "d"], ["b", "c", "c", "e"], weights=[0.9, 0.4, 0.8, 0.7])
    >>> forest = ew.minimum_spanning_forest(graph, maximum=True)
    >>> forest.edges.tolist(), round(forest.weight, 1)
    ([0, 2, 3], 2.4)
    """
    check_graph(graph)
    check_method(method, METHODS, {})
    if graph.directed:
        raise GraphError("a spanning forest needs an undirected graph; use Graph.undirected()")
    graph = on_device(graph, device)
    check_device(method, graph.device, METHODS)
    if (graph.csr_weights if graph.has_rows else graph.weights) is None:
        given = argument("weights")
        raise GraphError(
            f"the graph has no weights, so no spanning forest is better than another; give {given}"
        )
    if not maximum and (name := graph.assumed_weights) and SIMILARITY.search(name):
        problem = f"the weights are the column {name!r}, which sounds like a score, where more is nearer"
        raise GraphError(
            f"{problem}; use {argument('maximum', True)}, or read the file with {argument('weight', name)}"
        )
    with arrays.guard(graph.device):
        name = _choose(graph) if method == "auto" else method
        entries = _entries(graph, maximum)
        arrays.synchronize(graph.device)
        start = perf_counter()
        hooked_by, labels = METHODS[name].run(graph.n_vertices, entries)
        arrays.synchronize(graph.device)
        seconds = perf_counter() - start
    found = hooked_by, labels, maximum, bool(entries.both)
    return SpanningForest(graph, name, seconds, *found, devices=worker_names(graph.device))


def _choose(graph):
    """Kruskal's algorithm on the CPU, Boruvka's on GPUs."""
    return "kruskal" if graph.device == "cpu" else "boruvka"


def _entries(graph, maximum):
    """The edge list of the graph, or else its rows, each edge of which is listed twice."""
    from_rows = is_of_rows(graph)
    if from_rows:
        targets, weights, offsets = graph.neighbours, graph.csr_weights, graph.offsets
        sources = arrays.empty(0, targets.dtype, graph.device)
    else:
        sources, targets, weights = graph.sources, graph.targets, graph.weights
        offsets = arrays.empty(0, np.int64, graph.device)
    graph.cached("forest weights", lambda: check_weights(graph, weights))
    return Entries(sources, targets, offsets, int(from_rows), order_of(weights, maximum))
