"""Small graphs, on one core: to start all cores takes longer than the answers.

Components, spanning forests and triangles of a graph with few entries take a few microseconds here.  The
fronts of edgewise, which prepare a graph and start threads, take 100 microseconds to 10 milliseconds.
"""

from functools import cached_property

import numpy as np

from edgewise.device import compiled, device

#: Entries of the rows up to which a graph is small.  To count triangles takes the sum of the squares of the
#: degrees, which is tens of milliseconds at most.
MAX_ENTRIES = 1 << 13


@device
def root_of(vertex, parents):
    """The root of a vertex's tree; halves the path to it."""
    while parents[vertex] != vertex:
        parents[vertex] = parents[parents[vertex]]
        vertex = parents[vertex]
    return vertex


@compiled
def unite_rows(offsets, neighbours, parents):
    """Join the ends of all edges; the smallest vertex of a component becomes the parent of all."""
    for vertex in range(len(parents)):
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            one, other = root_of(vertex, parents), root_of(np.int64(neighbours[entry]), parents)
            parents[max(one, other)] = min(one, other)
    for vertex in range(len(parents)):
        parents[vertex] = root_of(vertex, parents)


@compiled
def join_in_order(order, sources, targets, parents):
    """Keep the edges that join two trees at the front of ``order``; return their number."""
    n_kept = 0
    for item in range(len(order)):
        edge = order[item]
        one, other = root_of(np.int64(sources[edge]), parents), root_of(np.int64(targets[edge]), parents)
        if one != other:
            parents[max(one, other)] = min(one, other)
            order[n_kept] = edge
            n_kept += 1
    return n_kept


@compiled
def count_triangles(offsets, neighbours, marks, triangles, through):
    """Count the triangles through every vertex and every entry; ``marks`` (n,) are -1."""
    for vertex in range(len(triangles)):
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            marks[neighbours[entry]] = vertex
        total, marks[vertex] = 0, -1
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            other, count = np.int64(neighbours[entry]), 0
            if other != vertex:
                for second in range(offsets[other], offsets[other + 1]):
                    third = neighbours[second]
                    if third != other and marks[third] == vertex:
                        count += 1
            through[entry] = count
            total += count
        triangles[vertex] = total // 2


@compiled
def count_squares(offsets, neighbours, wedges, squares):
    """Count the 4-cycles through every vertex; ``wedges`` (n,) are 0 before and after."""
    for vertex in range(len(squares)):
        total = 0
        for step in (1, -1):
            for entry in range(offsets[vertex], offsets[vertex + 1]):
                other = np.int64(neighbours[entry])
                if other == vertex:
                    continue
                for second in range(offsets[other], offsets[other + 1]):
                    opposite = np.int64(neighbours[second])
                    if opposite != vertex and opposite != other:
                        if step == 1:
                            total += wedges[opposite]
                        wedges[opposite] += step
        squares[vertex] = total


def is_small(G) -> bool:
    """Whether a graph of the backend has few entries, and no repeated ones."""
    return G.adjacency is not None and len(G.outgoing()[1]) <= MAX_ENTRIES


def components(G) -> np.ndarray:
    """Smallest vertex of each vertex's component: (n,) int64 array."""
    parents = np.arange(G.n)
    unite_rows(*G.outgoing(), parents)
    return parents


def spanning_edges(graph, maximum) -> np.ndarray:
    """Positions of the edges of the spanning forest of an :class:`edgewise.Graph`, in order of weight."""
    keys = graph.weights
    if maximum:
        keys = -keys if keys.dtype.kind == "f" else ~keys
    order = np.argsort(keys, kind="stable")
    n_kept = join_in_order(order, graph.sources, graph.targets, np.arange(graph.n_vertices))
    return order[:n_kept]


class SmallClustering:
    """What :class:`edgewise.cycles.clustering.Clustering` has, for a small graph."""

    def __init__(self, G):
        self._rows = offsets, neighbours = G.outgoing()
        n = G.n
        self._tails = np.repeat(np.arange(n), np.diff(offsets))
        self._is_edge = self._tails != neighbours
        self.triangles, self._through = np.empty(n, np.int64), np.empty(len(neighbours), np.int64)
        count_triangles(offsets, neighbours, np.full(n, -1, np.int64), self.triangles, self._through)
        self.degrees = np.bincount(self._tails[self._is_edge], minlength=n)
        self._pairs = self.degrees * (self.degrees - 1)

    @cached_property
    def coefficients(self):
        """Clustering coefficient of each vertex."""
        return 2 * self.triangles / np.maximum(self._pairs, 1)

    @cached_property
    def transitivity(self):
        """Share of paths of two edges whose ends are neighbours."""
        closed = 2 * int(self.triangles.sum())
        return closed / int(self._pairs.sum()) if closed else 0

    @cached_property
    def squares(self):
        """Square clustering coefficient of each vertex."""
        offsets, neighbours = self._rows
        n = len(self.degrees)
        squares = np.empty(n, np.int64)
        count_squares(offsets, neighbours, np.zeros(n, np.int64), squares)
        around = np.bincount(
            self._tails[self._is_edge], self.degrees[neighbours[self._is_edge]], minlength=n
        ).astype(np.int64)
        possible = (self.degrees - 1) * around - self._pairs - 2 * self.triangles - squares
        return np.where(possible > 0, squares / np.maximum(possible, 1), 0.0)

    def triangles_through_edges(self):
        """An end of each edge, once for each end, and the triangles through the edge."""
        return self._tails[self._is_edge], self._through[self._is_edge]
