"""Minimum and maximum spanning edges and trees.

Edges of equal weight come in the order of NetworkX's ``edges``, so the forest is the one that NetworkX's
Kruskal finds, whichever algorithm is asked for: there is one answer, and it is found on all cores.
"""

import networkx as nx
import numpy as np

import edgewise
from edgewise.networkx.registry import IS_3_7, implements
from edgewise.networkx.small import is_small, spanning_edges

ALGORITHMS = ("boruvka", "borůvka", "kruskal", "prim")
NOTE = "the edges are those of Kruskal's algorithm, in its order"


def _no_callable(get):
    return "weight is a callable" if callable(get("weight")) else None


def _undirected(get):
    return "the graph is directed" if get("G").is_directed() else _no_callable(get)


def _undirected_without_partition(get):
    return "there is a partition" if get("partition") is not None else _undirected(get)


class _Request:
    """What is asked of spanning edges."""

    def __init__(self, weight, maximum, keys, data, ignore_nan):
        self.weight, self.maximum, self.ignore_nan = weight, maximum, ignore_nan
        self.keys, self.data = keys, data


def _edges(G, asked):
    """Spanning edges in order of weight, as NetworkX returns them."""
    graph = G.parallel(asked.weight)
    weights = graph.weights
    is_nan = np.isnan(weights) if weights.dtype.kind == "f" else np.zeros(0, bool)
    if is_nan.any() and not asked.ignore_nan:
        at = int(is_nan.argmax())
        return _raised(G, graph, at, _Request(asked.weight, False, True, True, False))
    positions = None
    if is_nan.any():
        positions = np.flatnonzero(~is_nan)
        kept = graph.sources[positions], graph.targets[positions], weights[positions]
        graph = edgewise.Graph(graph.n_vertices, edges=kept)
    found = _forest(G, graph, asked.maximum)
    ends = G.names(graph.sources[found]), G.names(graph.targets[found])
    return _described(G, ends, found if positions is None else positions[found], asked)


def _forest(G, graph, maximum):
    """Positions of the spanning edges in order of weight."""
    if is_small(G):
        return spanning_edges(graph, maximum)
    found = edgewise.minimum_spanning_forest(graph, maximum=maximum).edges
    weights = graph.weights[found]
    return found[np.argsort(_negated(weights) if maximum else weights, kind="stable")]


def _negated(weights):
    """Keys that reverse the order of weights; the least integer has no negative."""
    return -weights if weights.dtype.kind == "f" else ~weights


def _described(G, ends, found, asked):
    """The ends of edges, with keys and data as they are asked for."""
    if G.adjacency is None:
        values = G.parallel(asked.weight).weights[found].tolist()
        return zip(*ends, ({asked.weight: value} for value in values)) if asked.data else zip(*ends)
    adjacency = G.adjacency
    if not G.is_multigraph():
        return ((u, v, adjacency[u][v]) for u, v in zip(*ends)) if asked.data else zip(*ends)
    return _keyed(adjacency, ends, _keys_of(G, found), asked)


def _keyed(adjacency, ends, keys, asked):
    for u, v, key in zip(*ends, keys):
        yield (u, v) + (key,) * bool(asked.keys) + (adjacency[u][v][key],) * bool(asked.data)


def _keys_of(G, found):
    """Keys of edges at positions in the list of all edges of a multigraph."""

    def listed():
        pairs = ((u, v, keyed) for u, row in G.adjacency.items() for v, keyed in row.items())
        return [key for u, v, keyed in pairs if G.find(u) <= G.find(v) for key in keyed]

    keys = G.cached("keys", listed)
    return [keys[at] for at in found.tolist()]


def _raised(G, graph, at, asked):
    """An iterator that raises, as NetworkX's does, when the first edge is taken."""
    u, v = G.name(int(graph.sources[at])), G.name(int(graph.targets[at]))
    edge = u, v
    if G.adjacency is not None:
        v = next(other for other in G.adjacency[u] if other is v or other == v)  # 1 may be True there
        (edge,) = _described(G, ([u], [v]), np.array([at]), asked)
    raise ValueError(f"NaN found as an edge weight. Edge {edge}")
    yield


def _edges_of_others(G, asked):
    """Spanning edges where NetworkX's algorithm is not Kruskal's; each names another NaN, or none."""
    weights = G.parallel(asked.weight).weights
    if weights.dtype.kind == "f" and not np.isfinite(weights).all():
        raise NotImplementedError("a weight is NaN or infinite")
    return _edges(G, asked)


def _spanning_edges(G, algorithm, asked):
    if algorithm not in ALGORITHMS:
        raise ValueError(f"{algorithm} is not a valid choice for an algorithm.")
    if algorithm in ALGORITHMS[:2] and G.is_multigraph():
        raise nx.NetworkXNotImplemented("not implemented for multigraph type")
    return (_edges if algorithm == "kruskal" else _edges_of_others)(G, asked)


@implements(note=NOTE, why_not=_no_callable)
def minimum_spanning_edges(G, algorithm="kruskal", weight="weight", keys=True, data=True, ignore_nan=False):
    return _spanning_edges(G, algorithm, _Request(weight, False, keys, data, ignore_nan))


@implements(note=NOTE, why_not=_no_callable)
def maximum_spanning_edges(G, algorithm="kruskal", weight="weight", keys=True, data=True, ignore_nan=False):
    return _spanning_edges(G, algorithm, _Request(weight, True, keys, data, ignore_nan))


def _tree(G, edges):
    """The NetworkX graph of all nodes and some edges."""
    tree = (nx.MultiGraph if G.is_multigraph() else nx.Graph)()
    tree.graph.update(G.attributes[1])
    tree.add_nodes_from(G.attributes[0].items() or G.nodes)
    tree.add_edges_from(edges)
    return tree


@implements(note=NOTE, why_not=_undirected)
def minimum_spanning_tree(G, weight="weight", algorithm="kruskal", ignore_nan=False):
    return _tree(G, minimum_spanning_edges(G, algorithm, weight, True, True, ignore_nan))


@implements(note=NOTE, why_not=_undirected)
def maximum_spanning_tree(G, weight="weight", algorithm="kruskal", ignore_nan=False):
    return _tree(G, maximum_spanning_edges(G, algorithm, weight, True, True, ignore_nan))


@implements(note=NOTE, why_not=_undirected)
def boruvka_mst_edges(G, minimum=True, weight="weight", keys=IS_3_7, data=True, ignore_nan=False):
    return _edges_of_others(G, _Request(weight, not minimum, keys, data, ignore_nan))


@implements(note=NOTE, why_not=_undirected_without_partition)
def kruskal_mst_edges(G, minimum, weight="weight", keys=True, data=True, ignore_nan=False, partition=None):
    return _edges(G, _Request(weight, not minimum, keys, data, ignore_nan))


@implements(note=NOTE, why_not=_undirected)
def prim_mst_edges(G, minimum, weight="weight", keys=True, data=True, ignore_nan=False):
    return _edges_of_others(G, _Request(weight, not minimum, keys, data, ignore_nan))
