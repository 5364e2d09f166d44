"""``shortest_path`` and its like, which select a function by the weight and the ends that are given."""

import networkx as nx
import numpy as np

from edgewise.networkx import bellman_ford, unweighted, weighted
from edgewise.networkx.breadth_first import Search
from edgewise.networkx.components import labels_of
from edgewise.networkx.nearest_first import NearestFirst
from edgewise.networkx.registry import MANY_NODES, implements, without_callable
from edgewise.networkx.unweighted import lengths_in_order, paths_in_order

METHODS = ("dijkstra", "bellman-ford")

no_callable = without_callable("weight")


def _method(weight, method):
    if method not in METHODS:
        raise ValueError(f"method not supported: {method}")
    return "unweighted" if weight is None else method


@implements(
    nodes=MANY_NODES, why_not=no_callable, note="`shortest_path(G)` returns an iterator, as NetworkX does"
)
def shortest_path(G, source=None, target=None, weight=None, method="dijkstra"):
    method = _method(weight, method)
    if source is None and target is None:
        return {
            "unweighted": lambda: unweighted.all_pairs_shortest_path(G),
            "dijkstra": lambda: weighted.all_pairs_dijkstra_path(G, None, weight),
            "bellman-ford": lambda: bellman_ford.all_pairs_bellman_ford_path(G, weight),
        }[method]()
    if target is None:
        return {
            "unweighted": lambda: unweighted.single_source_shortest_path(G, source),
            "dijkstra": lambda: weighted.single_source_dijkstra_path(G, source, None, weight),
            "bellman-ford": lambda: bellman_ford.single_source_bellman_ford_path(G, source, weight),
        }[method]()
    if source is None:
        paths = _paths_to(G, target, weight, method)
        return {node: path[::-1] for node, path in paths.items()}
    return {
        "unweighted": lambda: unweighted.bidirectional_shortest_path(G, source, target),
        "dijkstra": lambda: weighted.bidirectional_dijkstra(G, source, target, weight)[1],
        "bellman-ford": lambda: bellman_ford.bellman_ford_path(G, source, target, weight),
    }[method]()


def _paths_to(G, target, weight, method):
    """Paths from a target along reversed edges."""
    if method == "bellman-ford":
        return bellman_ford.paths_from(G, target, weight, reverse=True)
    return paths_in_order(G, _search_back(G, target, weight, method, "Source {} not in G"))


def _search_back(G, target, weight, method, message):
    """A search from a target along reversed edges; ``message`` is that of one without weights."""
    if method == "unweighted":
        vertex = weighted.vertex_of(G, target, message)
        return Search(G.incoming()).run(weighted.one(vertex))
    vertex = weighted.vertex_of(G, target, "Node {} not found in graph")
    return NearestFirst(weighted.rows_by(G, weight, reverse=True)).run(weighted.one(vertex))


@implements(
    nodes=MANY_NODES,
    why_not=no_callable,
    note="`shortest_path_length(G)` returns an iterator, as NetworkX does",
)
def shortest_path_length(G, source=None, target=None, weight=None, method="dijkstra"):
    method = _method(weight, method)
    if source is None and target is None:
        return {
            "unweighted": lambda: unweighted.all_pairs_shortest_path_length(G),
            "dijkstra": lambda: weighted.all_pairs_dijkstra_path_length(G, None, weight),
            "bellman-ford": lambda: bellman_ford.all_pairs_bellman_ford_path_length(G, weight),
        }[method]()
    if target is None:
        return {
            "unweighted": lambda: unweighted.single_source_shortest_path_length(G, source),
            "dijkstra": lambda: weighted.single_source_dijkstra_path_length(G, source, None, weight),
            "bellman-ford": lambda: bellman_ford.single_source_bellman_ford_path_length(G, source, weight),
        }[method]()
    if source is None:
        return _lengths_to(G, target, weight, method)
    return {
        "unweighted": lambda: len(unweighted.bidirectional_shortest_path(G, source, target)) - 1,
        "dijkstra": lambda: weighted.dijkstra_path_length(G, source, target, weight),
        "bellman-ford": lambda: bellman_ford.bellman_ford_path_length(G, source, target, weight),
    }[method]()


def _lengths_to(G, target, weight, method):
    """Lengths of the paths to a target."""
    if method == "bellman-ford":
        return bellman_ford.lengths_from(G, target, weight, reverse=True)
    found = _search_back(G, target, weight, method, "Source {} is not in G")
    return (lengths_in_order if method == "unweighted" else weighted.lengths_in_order)(G, found)


def _not_exact(get):
    if get("method") not in (None, "unweighted", "dijkstra"):
        return "NetworkX's other methods round sums of floats in another order"
    return without_callable("weight")(get)


@implements(why_not=_not_exact, note="sums of floats may be rounded in another order")
def average_shortest_path_length(G, weight=None, method=None):
    from edgewise.networkx.distances import measures_of

    n = G.n
    if n == 0:
        message = "the null graph has no paths, thus there is no average shortest path length"
        raise nx.NetworkXPointlessConcept(message)
    if n == 1:
        return 0
    if not G.is_directed() and labels_of(G)[1] > 1:
        raise nx.NetworkXError("Graph is not connected.")
    measures = measures_of(G, None if method == "unweighted" else weight)
    if measures.average_distance == float("inf"):
        raise nx.NetworkXError("Graph is not strongly connected.")
    return measures.average_distance


class Nearer(dict):
    """The neighbours of each node that are one level nearer to a source, found when they are asked for."""

    def __init__(self, G, source):
        vertex = unweighted.vertex_of(G, source, "Source {} not in G")
        self._order, self._levels, _ = Search(G.outgoing()).run(weighted.one(vertex))
        self._G, self._rows, self._ranks = G, G.turned(), np.empty(G.n, np.int64)
        self._ranks[self._order] = np.arange(len(self._order))

    def __contains__(self, node):
        vertex = self._G.find(node)
        return vertex is not None and self._levels[vertex] >= 0

    def __missing__(self, node):
        (offsets, neighbours), vertex = self._rows, self._G.find(node)
        others = neighbours[offsets[vertex] : offsets[vertex + 1]].astype(np.int64)
        nearer = self._levels[others] == self._levels[vertex] - 1
        ranks = np.unique(self._ranks[others[nearer & (self._levels[others] >= 0)]])
        self[node] = self._G.names(self._order[ranks])
        return self[node]


def _predecessors(G, source, weight, method):
    """Dict of the nodes before each one on all shortest paths from a source."""
    method = "unweighted" if weight is None else method
    if method == "unweighted":
        return Nearer(G, source)
    if method in METHODS and (weighted.rows_by(G, weight).weights <= 0).any():
        raise NotImplementedError("a cycle may have the length 0, and NetworkX repeats paths along it")
    if method == "dijkstra":
        return weighted.dijkstra_predecessor_and_distance(G, source, None, weight)[0]
    if method == "bellman-ford":
        return bellman_ford.bellman_ford_predecessor_and_distance(G, source, None, weight)[0]
    raise ValueError(f"method not supported: {method}")


def _paths_over(before, source, target):
    """All paths over predecessors on which no node is twice; an iterator."""
    if target not in before:
        raise nx.NetworkXNoPath(f"Target {target} cannot be reached from given sources")
    path, waiting = {target: None}, [iter(before[target])]
    while path:
        last = next(reversed(path))
        if last == source:
            yield list(reversed(path))
        found = next((node for node in waiting[-1] if node not in path), None)
        if found is None:
            waiting.pop()
            path.popitem()
        else:
            path[found] = None
            waiting.append(iter(before[found]))


@implements(nodes=MANY_NODES, why_not=no_callable)
def all_shortest_paths(G, source, target, weight=None, method="dijkstra"):
    return _paths_over(_predecessors(G, source, weight, method), source, target)
