"""Shortest paths along weighted edges by Dijkstra's algorithm."""

import networkx as nx
import numpy as np

from edgewise.networkx.nearest_first import NearestFirst, WeightedRows, path_from_both
from edgewise.networkx.registry import LESS, MANY_NODES, SOME_NODES, implements, without_callable
from edgewise.networkx.unweighted import entries_of_rows, lists_by_vertex, paths_in_order
from edgewise.weights import MAX_SUM

no_callable = without_callable("weight")


def rows_by(G, weight, *, reverse=False):
    """The rows with the weights of an attribute, which are exact and have an order."""
    weights = G.weights(weight, reverse=reverse)
    G.cached(("checked", weight), lambda: check_weights(weights, G.n))
    return WeightedRows._make([*(G.incoming() if reverse else G.outgoing()), weights])


def check_weights(weights, n):
    """Leave weights to NetworkX that are NaN or minus infinity, or whose sums may be too large for int64."""
    if weights.dtype.kind == "f":
        if not (weights > -np.inf).all():
            raise NotImplementedError("a weight is NaN or minus infinity")
    elif len(weights) and max(int(weights.max()), -int(weights.min())) * (n + 1) > MAX_SUM:
        raise NotImplementedError("a distance may pass 2**62")


def cutoff_of(cutoff):
    """A cutoff that is a number, or ``None``."""
    if cutoff is None or (isinstance(cutoff, (int, float, np.integer)) and cutoff == cutoff):
        return cutoff
    raise NotImplementedError("the cutoff is no number")


def vertex_of(G, node, message):
    """Position of a node that must be in the graph."""
    vertex = G.find(node)
    if vertex is None:
        raise nx.NodeNotFound(message.format(node))
    return vertex


def vertices_of(G, sources):
    """Positions of the sources of a search, each once: (k,) int64 array."""
    if not sources:
        raise ValueError("sources must not be empty")
    vertices = [vertex_of(G, source, "Node {} not found in graph") for source in sources]
    return np.array(list(dict.fromkeys(vertices)), np.int64)


def lengths_in_order(G, found):
    """Dict of the distances that a search found; those of sources are integers, as in NetworkX."""
    values = found.distances[found.order].tolist()
    if found.distances.dtype.kind == "f":
        values = [0 if vertex < 0 else value for vertex, value in zip(found.parents[found.order], values)]
    return dict(zip(G.names(found.order), values))


def one(vertex):
    return np.array([vertex], np.int64)


def _search(G, sources, weight, cutoff, target=-1):
    sources, cutoff, rows = vertices_of(G, sources), cutoff_of(cutoff), rows_by(G, weight)
    if len(sources) > 1 and len(rows.weights) and rows.weights.min() < 0:
        raise NotImplementedError("there are several sources, and one may have a path to another below 0")
    return NearestFirst(rows).run(sources, target, cutoff)


def _path(G, found, vertex):
    """Names of the path that a search found to a vertex."""
    path = [vertex]
    while found.parents[path[-1]] >= 0:
        path.append(found.parents[path[-1]])
    return [G.name(one) for one in reversed(path)]


def _path_to(G, sources, target, cutoff, weight):
    """Length and names of the shortest path to a target."""
    given = list(sources)
    for source in given:
        vertex_of(G, source, "Node {} not found in graph")
    if target in given:
        return 0, [target]
    vertex = G.find(target)
    found = _search(G, given, weight, cutoff, -1 if vertex is None else vertex)
    if vertex is None or not len(found.order) or found.order[-1] != vertex:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return found.distances[vertex].item(), _path(G, found, vertex)


def _no_sources(get):
    return "sources is a string" if isinstance(get("sources"), str) else no_callable(get)


@implements(nodes=SOME_NODES, why_not=_no_sources)
def multi_source_dijkstra_path_length(G, sources, cutoff=None, weight="weight"):
    return lengths_in_order(G, _search(G, sources, weight, cutoff))


@implements(nodes=SOME_NODES, why_not=no_callable)
def single_source_dijkstra_path_length(G, source, cutoff=None, weight="weight"):
    return multi_source_dijkstra_path_length(G, [source], cutoff, weight)


@implements(nodes=SOME_NODES, why_not=_no_sources)
def multi_source_dijkstra(G, sources, target=None, cutoff=None, weight="weight"):
    if target is not None and sources:
        return _path_to(G, sources, target, cutoff, weight)
    found = _search(G, sources, weight, cutoff)
    return lengths_in_order(G, found), paths_in_order(G, found)


@implements(nodes=SOME_NODES, why_not=no_callable)
def single_source_dijkstra(G, source, target=None, cutoff=None, weight="weight"):
    return multi_source_dijkstra(G, [source], target, cutoff, weight)


@implements(nodes=SOME_NODES, why_not=_no_sources)
def multi_source_dijkstra_path(G, sources, cutoff=None, weight="weight"):
    return paths_in_order(G, _search(G, sources, weight, cutoff))


@implements(nodes=SOME_NODES, why_not=no_callable)
def single_source_dijkstra_path(G, source, cutoff=None, weight="weight"):
    return multi_source_dijkstra_path(G, [source], cutoff, weight)


@implements(nodes=SOME_NODES, why_not=no_callable)
def dijkstra_path(G, source, target, weight="weight"):
    return single_source_dijkstra(G, source, target, None, weight)[1]


@implements(nodes=SOME_NODES, why_not=no_callable)
def dijkstra_path_length(G, source, target, weight="weight"):
    vertex_of(G, source, "Node {} not found in graph")
    if source == target:
        return 0
    try:
        return _path_to(G, [source], target, None, weight)[0]
    except nx.NetworkXNoPath as error:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}") from error


@implements(nodes=MANY_NODES, why_not=no_callable)
def dijkstra_predecessor_and_distance(G, source, cutoff=None, weight="weight"):
    vertex, cutoff = vertex_of(G, source, "Node {} is not found in the graph"), cutoff_of(cutoff)
    found = NearestFirst(rows_by(G, weight)).run(one(vertex), -1, cutoff)
    return _predecessors(G, found, weight, cutoff), lengths_in_order(G, found)


def _predecessors(G, found, weight, cutoff):
    """Dict of all vertices before each one on shortest paths, in the order in which they were met."""
    offsets, neighbours, weights = rows_by(G, weight)
    order = found.order
    entries = entries_of_rows(offsets, order)
    rows = np.repeat(order, offsets[order + 1] - offsets[order])
    others, lengths = neighbours[entries].astype(np.int64), found.distances[rows] + weights[entries]
    if cutoff is not None:
        rows, others, lengths = (array[lengths <= cutoff] for array in (rows, others, lengths))
    met, first = np.unique(others, return_index=True)
    met = met[np.argsort(first, kind="stable")]
    met = np.concatenate([order[:1], met[met != order[0]]])
    tight = lengths == found.distances[others]
    return lists_by_vertex(G, met, others[tight], rows[tight])


def _runs(G, cutoff, weight):
    """A search from every node; each is valid until the next one."""
    search, cutoff = NearestFirst(rows_by(G, weight)), cutoff_of(cutoff)
    return ((node, search.run(one(vertex), -1, cutoff)) for vertex, node in enumerate(G))


@implements(why_not=no_callable)
def all_pairs_dijkstra(G, cutoff=None, weight="weight"):
    runs = _runs(G, cutoff, weight)
    return ((node, (lengths_in_order(G, found), paths_in_order(G, found))) for node, found in runs)


@implements(why_not=no_callable)
def all_pairs_dijkstra_path_length(G, cutoff=None, weight="weight"):
    return ((node, lengths_in_order(G, found)) for node, found in _runs(G, cutoff, weight))


@implements(why_not=no_callable)
def all_pairs_dijkstra_path(G, cutoff=None, weight="weight"):
    return ((node, paths_in_order(G, found)) for node, found in _runs(G, cutoff, weight))


@implements(cost=LESS, why_not=no_callable)
def bidirectional_dijkstra(G, source, target, weight="weight"):
    ends = [
        vertex_of(G, end, f"{name} {{}} is not in G")
        for name, end in (("Source", source), ("Target", target))
    ]
    if source == target:
        return 0, [source]
    length, path = path_from_both(rows_by(G, weight), rows_by(G, weight, reverse=True), *ends)
    if not path:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return length, [G.name(vertex) for vertex in path]
