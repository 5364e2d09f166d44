"""Centralities by shortest paths: betweenness of nodes and edges, closeness, harmonic centrality.

Where all nodes of a graph that is not small are wanted, edgewise searches from many nodes at a time.  Sums of
integers, and their quotients, are NetworkX's, bit for bit.  Where distances are floats, or only some nodes
are wanted, the searches are NetworkX's, one after the other, and so are the sums.
"""

from collections.abc import Hashable

import networkx as nx
import numpy as np

from edgewise.errors import GraphError
from edgewise.networkx.breadth_first import Search
from edgewise.networkx.components import labels_of
from edgewise.networkx.distances import measures_of, without_weights
from edgewise.networkx.nearest_first import NearestFirst
from edgewise.networkx.registry import implements, without_callable
from edgewise.networkx.small import is_small
from edgewise.networkx.unweighted import one
from edgewise.networkx.weighted import rows_by, vertex_of
from edgewise.paths.betweenness import Wanted, between
from edgewise.paths.measures import distance_measures

ROUNDED = "sums of floats may be rounded in another order"


def _between(G, wanted, weight):
    """The betweenness of a graph along an attribute, or along edges that count one."""
    if weight is None:
        return between(without_weights(G), wanted)
    weights = rows_by(G, weight).weights
    if len(weights) and not (weights.min() > 0 and np.isfinite(weights.max())):
        raise NotImplementedError("a weight is 0, negative or infinite")
    try:
        return between(G.weighted(weight), wanted)
    except GraphError as error:  # a weight is lost by rounding, or there are too many paths
        raise NotImplementedError(str(error)) from error


def _drawn(G, k, seed):
    """The nodes that NetworkX draws, as an array."""
    nodes = nx.utils.create_py_random_state(seed).sample(list(G), k)
    return np.array([G.find(node) for node in nodes], np.int64)


@implements(note=ROUNDED, why_not=without_callable("weight"))
def betweenness_centrality(G, k=None, normalized=True, weight=None, endpoints=False, seed=None):
    sources = None if k is None or k == G.n else _drawn(G, k, seed)
    wanted = Wanted(sources, bool(normalized), bool(endpoints), False)
    return G.by_node(_between(G, wanted, weight).scores)


def _no_parallel_edges(get):
    return "the graph is a multigraph" if get("G").is_multigraph() else without_callable("weight")(get)


@implements(note=ROUNDED, why_not=_no_parallel_edges)
def edge_betweenness_centrality(G, k=None, normalized=True, weight=None, seed=None):
    sources = None if k is None else _drawn(G, k, seed)
    found = _between(G, Wanted(sources, bool(normalized), False, True), weight)
    edges = zip(G.names(found.graph.sources), G.names(found.graph.targets))
    return dict(zip(edges, found.edge_scores.tolist()))


def _no_node(get):
    hashable = isinstance(get("u"), Hashable)
    return without_callable("distance")(get) if hashable else "u cannot be hashed"


@implements(why_not=_no_node, note="sums of integers beyond 2**53 are rounded")
def closeness_centrality(G, u=None, distance=None, wf_improved=True):
    if u is None:
        return dict(zip(G, _closeness(G, distance, wf_improved)))
    message = "Source {} is not in G" if distance is None else "Node {} not found in graph"
    total, reached = _searched_back(G, [vertex_of(G, u, message)], distance)[0]
    return _closeness_of(total, reached, G.n, wf_improved)


def _closeness(G, distance, wf_improved):
    """Closeness of all nodes."""
    weights = np.empty(0, np.int64) if distance is None else rows_by(G, distance).weights
    whole = not is_small(G) and weights.dtype.kind == "i" and weights.min(initial=0) >= 0
    reached = _numbers_of_nodes_before(G) if whole else None
    if reached is None:
        return [
            _closeness_of(total, reached, G.n, wf_improved)
            for total, reached in _searched_back(G, range(G.n), distance)
        ]

    def measure():
        graph = without_weights(G) if distance is None else G.weighted(distance)
        return distance_measures(graph, wf_improved=False).closeness

    closeness = G.cached(("closeness", distance), measure)
    return (closeness * ((reached - 1.0) / (G.n - 1)) if wf_improved and G.n > 1 else closeness).tolist()


def _numbers_of_nodes_before(G):
    """Number of nodes from which a path leads to each one; ``None`` where that takes searches."""
    if not G.is_directed():
        labels, _ = labels_of(G)
        return np.bincount(labels, minlength=G.n)[labels]
    from edgewise.networkx.strong import number_strongly_connected_components

    return np.full(G.n, G.n) if G.n and number_strongly_connected_components(G) == 1 else None


def _searched_back(G, vertices, distance):
    """Sum of the distances to each of some vertices, and the number of vertices that they are from."""
    search = _distances_by(G, distance, True)
    runs = (search(vertex) for vertex in vertices)
    return [(sum(values.tolist()), len(order)) for order, values in runs]


def _distances_by(G, distance, reverse):
    """A function that returns the vertices that one reaches, in order, and their distances."""
    if distance is None:
        search = Search(G.incoming() if reverse else G.outgoing())

        def levels_from(vertex):
            run = search.run(one(vertex))
            return run.order, run.levels[run.order]

        return levels_from
    weighted = NearestFirst(rows_by(G, distance, reverse=reverse))

    def distances_from(vertex):
        run = weighted.run(one(vertex))
        return run.order, run.distances[run.order]

    return distances_from


def _closeness_of(total, reached, n, wf_improved):
    """Closeness of a node, as NetworkX computes it."""
    if not (total > 0.0 and n > 1):
        return 0.0
    closeness = (reached - 1.0) / total
    return closeness * ((reached - 1.0) / (n - 1)) if wf_improved else closeness


def _some(G, nodes):
    """The set of those of some nodes that are in the graph; of all for ``None``."""
    vertices, _ = G.wanted(nodes)
    return set(G) if vertices is None else set(map(G.name, vertices))


@implements(why_not=without_callable("distance"), note=ROUNDED)
def harmonic_centrality(G, nbunch=None, distance=None, sources=None):
    wanted, origins = _some(G, nbunch), _some(G, sources)
    if len(wanted) == len(origins) == G.n and not is_small(G):
        found = measures_of(G, distance).harmonic
        return {node: found[G.find(node)].item() or 0 for node in wanted}
    if len(wanted) < len(origins):
        return {node: _inverse_sum(*run) for node, run in _runs(G, wanted, origins, distance, reverse=True)}
    sums = np.zeros(G.n)
    for _, (ends, values) in _runs(G, origins, wanted, distance):
        sums[ends] += 1 / values
    return {node: sums[G.find(node)].item() or 0 for node in wanted}


def _inverse_sum(_, values):
    """Sum of 1 / distance, added up one after the other."""
    return np.cumsum(1 / values)[-1].item() if len(values) else 0


def _runs(G, nodes, others, distance, reverse=False):
    """Yield each of some nodes with the others that it reaches, and their distances, which are not 0."""
    is_other = np.zeros(G.n, bool)
    is_other[[G.find(node) for node in others]] = True
    search = _distances_by(G, distance, reverse)
    for node in nodes:
        order, values = search(G.find(node))
        kept = is_other[order] & (values != 0)
        yield node, (order[kept], values[kept])
