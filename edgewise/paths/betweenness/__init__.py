"""Betweenness: how many shortest paths lead over each vertex, and over each edge.

The betweenness of a vertex is the sum, over all ordered pairs of two other vertices, of the share of their
shortest paths that lead over it.  All methods follow Brandes' algorithm: a search from every source, and a
pass back.  They are searches of their own, since paths are counted on the way.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any, NamedTuple, Unpack

import numpy as np

from edgewise.device import arrays
from edgewise.errors import GraphError, OptionError, argument
from edgewise.graph import Graph
from edgewise.method import (
    Driver,
    Method,
    check_device,
    check_graph,
    check_method,
    check_whole,
    on_device,
    worker_names,
)
from edgewise.needs import Needs, size_of
from edgewise.paths.betweenness.lanes import bytes_of_lanes
from edgewise.paths.betweenness.result import Betweenness
from edgewise.paths.betweenness.scaling import error_of, scaled
from edgewise.paths.betweenness.sums import Dependencies
from edgewise.paths.betweenness.trees import without_trees
from edgewise.paths.csr import CSR, Adjacency, adjacency_of
from edgewise.paths.sssp.weights import edge_at, passable, spread_in
from edgewise.primitives.rows import are_simple
from edgewise.weights import MAX_SUM, WeightOptions, weighted_front

__all__ = ["METHODS", "Betweenness", "betweenness"]


def _bytes_to_simplify(size):
    """Bytes of the simple rows, and of the trees that are folded, beside those to sort the edges."""
    rows = 8 * size.vertices + (size.width + size.weight) * size.entries
    return 2 * rows + max((16 + size.weight) * size.edges, 56 * size.vertices)


def _bytes_of_brandes(size):
    """Bytes of the method for weights and edges."""
    from edgewise.paths.betweenness.brandes import bytes_of_brandes

    return bytes_of_brandes(size)


#: ``run(rows, sources, weights, endpoints)`` returns :class:`~edgewise.paths.betweenness.sums.Dependencies`.
#: The rows, an :class:`~edgewise.paths.csr.Adjacency`, have no self-loops and no repeated entries; (k,) int64
#: sources, and (n,) float64 weights of the vertices, by which they count, are on the host.
METHODS = {
    "lanes": Method(
        Driver("edgewise.paths.betweenness.lanes:lanes"),
        "16 sources at once, one in each lane of a vector",
        "Brandes 2001; Then et al. 2014",
        devices=("cpu",),
        memory=lambda size: _bytes_to_simplify(size) + bytes_of_lanes(size),
    ),
    "brandes": Method(
        Driver("edgewise.paths.betweenness.brandes:brandes"),
        "source by source; along weights, and of edges",
        "Brandes 2001",
        devices=("cpu",),
        memory=lambda size: _bytes_to_simplify(size) + _bytes_of_brandes(size),
    ),
    "warps": Method(
        Driver("edgewise.paths.betweenness.warps:warps"),
        "32 sources at once, one in each lane of a warp",
        "after Brandes 2001 and Then et al. 2014",
        devices=("cuda",),
    ),
}


class Wanted(NamedTuple):
    """What a call is about; ``sources`` (k,) int64 are a sample, or ``None`` for all vertices."""

    sources: Any
    normalized: bool
    endpoints: bool
    edges: bool


@weighted_front
def betweenness(
    graph: Graph,
    *,
    normalized: bool = True,
    endpoints: bool = False,
    samples: int | None = None,
    seed: int = 0,
    edges: bool = False,
    method: str = "auto",
    device: str | None = None,
    **options: Unpack[WeightOptions],
) -> Betweenness:
    """Find the betweenness centrality of every vertex: the share of shortest paths that lead over it.

    Definitions and scales are NetworkX's.  Self-loops do not count, and repeated edges count as the lightest
    of them, once.

    Parameters
    ----------
    graph : Graph
        Edges of a directed graph are followed forwards.  Weights are larger than zero: along edges of weight
        zero there may be any number of shortest paths.  Infinite weights are no edges.
    normalized : bool
        Divide the sum over pairs by the number of pairs.  Otherwise every pair of vertices counts once in an
        undirected graph, and once for each direction in a directed one.
    endpoints : bool
        Count the ends of a path, too.
    samples : int, optional
        Follow the paths from so many sources only, which are drawn without replacement; from all, if
        there are no more.  The
        :attr:`~edgewise.paths.betweenness.result.Betweenness.error` of the result says how far the scores
        may be off.
    seed : int
        Of the draw.
    edges : bool
        Find the betweenness of edges as well.
    method : str
        A name in ``METHODS``, or ``"auto"``: ``warps`` on a GPU, ``lanes`` on the CPU, and for weights and
        edges ``brandes``, on the CPU.
    device : str, optional
        ``"cpu"``, ``"gpu"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one); by default that of the
        graph.

    Returns
    -------
    Betweenness
        Its ``scores`` are float64, and the same for any number of threads.

    Raises
    ------
    GraphError
        Weights that are zero, negative, NaN or too large, a weight that is lost when it is added to a
        distance, more shortest paths between two vertices than a float64 can count.
    OptionError
        An unknown method or option, a method that takes no weights or edges, or numbers that are no whole
        ones or too small.
    DeviceError, OutOfMemoryError
        The device is not there, or too small.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.Graph.from_edges(["a", "b", "c", "c"], ["b", "c", "d", "e"])
    >>> result = ew.betweenness(graph, normalized=False)
    >>> result.scores.tolist(), result.most_central.tolist()[:2]
    ([0.0, 3.0, 5.0, 0.0, 0.0], ['c', 'b'])
    """
    check_graph(graph)
    check_method(method, METHODS, {})
    check_whole("seed", seed, 0)
    n, sources = graph.n_vertices, None
    if samples is not None:
        check_whole("samples", samples, 1)
        if samples < n:
            sources = np.sort(np.random.default_rng(seed).choice(n, samples, replace=False))
    if device is not None:
        device = arrays.resolve(device)
    wanted = Wanted(sources, bool(normalized), bool(endpoints), bool(edges))
    return between(graph, wanted, method, device)


def between(graph, wanted, method="auto", device=None) -> Betweenness:
    """The betweenness by all sources or by some, with arguments that are checked."""
    weighted = graph.is_weighted
    only_brandes = weighted or wanted.edges
    name = _chosen(method, only_brandes, (device or graph.device) != "cpu")
    check_device(name, device or graph.device, METHODS) if method != "auto" else None
    graph = on_device(graph, device)
    place = graph.device if "cuda" in METHODS[name].devices else "cpu"
    with arrays.guard(place), np.errstate(invalid="ignore", over="ignore"):
        here = graph.to(place)
        rows = here.cached(("betweenness", weighted), lambda: _simple_rows(here))
        arrays.synchronize(place)
        start = perf_counter()
        found = _dependencies(METHODS[name].run, here, rows, wanted)
        arrays.synchronize(place)
        seconds = perf_counter() - start
    _check(found, graph)
    scales = graph, wanted.sources, wanted.normalized
    edge_scores = _of_edges(here, rows, found.edge_scores) if wanted.edges else None
    if edge_scores is not None:
        edge_scores = scaled(edge_scores, *scales, True)
    scores = scaled(arrays.move(found.scores, "cpu"), *scales, wanted.endpoints)
    facts = weighted, wanted.normalized, wanted.endpoints, wanted.sources
    error = error_of(graph, wanted.sources, wanted.normalized, wanted.endpoints)
    return Betweenness(graph, name, seconds, scores, edge_scores, *facts, error, devices=worker_names(place))


def needs(graph, *, method="auto", edges=False, **options) -> Needs:
    """How a call would search a graph of the host from all vertices, for :meth:`Graph.estimate`."""
    check_graph(graph)
    check_method(method, METHODS, {})
    name = _chosen(method, graph.is_weighted or edges, False)
    return Needs(("rows",), name, METHODS[name].memory, size_of(graph))


def _chosen(method, only_brandes, on_gpu):
    """The method that runs."""
    if method == "auto":
        return "brandes" if only_brandes else "warps" if on_gpu else "lanes"
    if method != "brandes" and only_brandes:
        remedy = f"use {argument('method', 'brandes')}, or {argument('weight', False)} and no edges"
        raise OptionError(f"method {method} counts every edge as one, and finds scores of vertices; {remedy}")
    return method


def _dependencies(run, graph, rows, wanted):
    """What a method returns for a graph, or for its core where all vertices are sources.

    Every vertex of an undirected component of ``c`` vertices is an end of ``2 (c - 1)`` ordered pairs.
    """
    n, options = rows.n_vertices, {"edges": True} if wanted.edges else {}
    if not n:
        return Dependencies(np.zeros(0), np.zeros(0))
    if wanted.sources is not None or not rows.symmetric or wanted.edges:
        sources = np.arange(n) if wanted.sources is None else wanted.sources
        return run(rows, sources, np.ones(n), wanted.endpoints, **options)
    core = graph.cached(("core of betweenness", len(rows.weights) > 0), lambda: without_trees(rows))
    scores = core.pairs + 2.0 * (core.sizes - 1) if wanted.endpoints else core.pairs.copy()
    if not len(core.vertices):
        return Dependencies(scores)
    found = run(core.rows, np.arange(len(core.vertices)), core.weights, False)
    scores[core.vertices] += arrays.move(found.scores, "cpu")
    return found._replace(scores=scores)


def _simple_rows(graph):
    """The rows without self-loops, and with the lightest of repeated edges; weights are checked."""
    if graph.is_weighted:
        spread_in(graph)
        graph = passable(graph)
    if not are_simple(graph.offsets, graph.neighbours):
        graph = graph.simplified(repeated="min")
    if not graph.is_weighted:
        return adjacency_of(graph)
    weights = graph.csr_weights
    if len(weights) and weights.min() <= 0:
        edge = f"the edge {edge_at(graph, int(weights.argmin()))} weighs {weights.min()}"
        problem = f"{edge}; shortest paths are counted along weights larger than 0"
        raise GraphError(f"{problem}: merge the ends of such edges, or use {argument('weight', False)}")
    kind = np.int64 if weights.dtype.kind == "i" else np.float64
    if kind == np.int64 and len(weights) and int(weights.max()) * graph.n_vertices > MAX_SUM:
        raise GraphError("a distance may pass 2**62; use smaller weights, or floats")
    rows = CSR(graph.offsets, graph.neighbours, weights.astype(kind, copy=False))
    return Adjacency(rows, None if graph.directed else rows)


def _check(found, graph):
    """Refuse scores that mean nothing."""
    if found.rounded:
        raise GraphError(
            "a weight is so small that adding it to a distance does not change that; "
            "use integers, or weights of similar sizes"
        )
    wrong = ~arrays.namespace(found.scores).isfinite(found.scores)
    if bool(wrong.any()):
        vertex = graph.ids_of(np.array([int(wrong.argmax())]))[0]
        raise GraphError(
            f"more shortest paths lead over vertex {vertex} than a float64 can count (1.8e308); "
            f"use the components of the graph, or a part of it"
        )


def _of_edges(graph, rows, entry_scores):
    """Scores of the edges of a graph by those of its simple rows; edges of one pair share them.

    Only the lightest edges of a pair get a share, and self-loops have 0.
    """
    sources, targets, n = graph.sources.astype(np.int64), graph.targets.astype(np.int64), graph.n_vertices
    csr = rows.outgoing
    tails = np.repeat(np.arange(n), np.diff(csr.offsets))
    keys = tails * n + csr.neighbours
    if not len(keys):
        return np.zeros(len(sources))
    if not graph.directed:
        ends = np.searchsorted(keys, csr.neighbours * np.int64(n) + tails)
        entry_scores = entry_scores + entry_scores[ends]
        sources, targets = np.minimum(sources, targets), np.maximum(sources, targets)
    at = np.searchsorted(keys, sources * n + targets).clip(max=len(keys) - 1)
    counts = keys[at] == sources * n + targets
    if len(csr.weights):
        counts &= graph.weights == csr.weights[at]
    shares = np.bincount(at[counts], minlength=len(keys))
    return np.where(counts, entry_scores[at] / np.maximum(shares[at], 1), 0.0)
