"""Triangles, clustering coefficients and generalized degrees of undirected graphs."""

from collections import Counter

import networkx as nx
import numpy as np

import edgewise
from edgewise.networkx.registry import implements
from edgewise.networkx.small import SmallClustering, is_small


def _directed_or_weighted(get):
    return "weights count" if get("weight") is not None else _is_directed(get)


def _is_directed(get):
    return "the graph is directed" if get("G").is_directed() else None


def clustering_of(G):
    """Triangles and coefficients of all nodes, computed once."""
    make = SmallClustering if is_small(G) else _clustering
    return G.cached("clustering", lambda: make(G))


def _clustering(G):
    return edgewise.clustering(G.graph)


def _values(G, nodes, values):
    """Values of the wanted nodes: a dict, or one number."""
    vertices, single = G.wanted(nodes)
    if vertices is None:
        return G.by_node(values)
    if single:
        return values[vertices[0]].item()
    return dict(zip((G.name(vertex) for vertex in vertices), values[vertices].tolist()))


def _simple(G):
    """Refuse parallel edges where NetworkX does."""
    if G.is_multigraph():
        raise nx.NetworkXNotImplemented("not implemented for multigraph type")


@implements()
def triangles(G, nodes=None):
    if nodes is not None:
        _simple(G)
    return _values(G, nodes, clustering_of(G).triangles)


def _coefficients(G, nodes):
    """Coefficients of the wanted nodes; 0, the integer, where there is no triangle."""
    _simple(G)
    found = clustering_of(G)
    values = _values(G, nodes, found.coefficients)
    if not isinstance(values, dict):
        return values or 0
    return {node: value or 0 for node, value in values.items()}


@implements(why_not=_directed_or_weighted)
def clustering(G, nodes=None, weight=None):
    return _coefficients(G, nodes)


@implements(why_not=_directed_or_weighted)
def average_clustering(G, nodes=None, weight=None, count_zeros=True):
    found = _coefficients(G, nodes)
    values = [value for value in found.values() if count_zeros or value]
    return sum(values) / len(values)


@implements(why_not=_is_directed)
def transitivity(G):
    _simple(G)
    return clustering_of(G).transitivity or 0


@implements(why_not=_is_directed, note="zeros are floats")
def square_clustering(G, nodes=None):
    return _values(G, nodes, clustering_of(G).squares)


def _edge_triangles(G):
    """An end of each edge, once for each end, and the triangles through the edge."""

    def count():
        if is_small(G):
            return clustering_of(G).triangles_through_edges()
        table = clustering_of(G).edge_triangles()
        source, target = (table[name].to_numpy().astype(np.int64) for name in ("source", "target"))
        through = table["triangles"].to_numpy().astype(np.int64)
        return np.concatenate([source, target]), np.concatenate([through, through])

    return G.cached("edge triangles", count)


@implements(note="the entries of a counter are in ascending order")
def generalized_degree(G, nodes=None):
    _simple(G)
    rows, through = _edge_triangles(G)
    vertices, single = G.wanted(nodes)
    found: dict[int, Counter] = {
        vertex: Counter() for vertex in (range(G.n) if vertices is None else vertices)
    }
    if vertices is not None:
        kept = np.isin(rows, np.array(vertices, np.int64))
        rows, through = rows[kept], through[kept]
    span = int(through.max(initial=0)) + 1
    keys, counts = np.unique(rows * span + through, return_counts=True)
    for vertex, multiplicity, count in zip((keys // span).tolist(), (keys % span).tolist(), counts.tolist()):
        found[vertex][multiplicity] = count
    if single:
        return found[vertices[0]]
    return {G.name(vertex): degrees for vertex, degrees in found.items()}
