"""Trees that hang on a graph are folded into the vertices that they hang on, where all vertices are sources.

A vertex with one neighbour is on no path between two others, and all of its paths lead over its neighbour.
It is folded into that: the *weight* of the neighbour, at first 1, grows by its own.  This goes on until every
vertex that is left has two neighbours, or none.  What is left is the *core*.  In it, a vertex counts as many
times as its weight says, as a source and as a target.

All paths between two branches at a vertex lead over it.  So a vertex of weight ``w`` in a component of ``c``
vertices, into which branches of the sizes ``s`` were folded, has ``(c - 1)**2 - sum(s**2) - (c - w)**2``
ordered pairs, beside those of the core that its own branches are no part of.

A. E. Sarıyüce, E. Saule, K. Kaya and Ü. V. Çatalyürek, "Shattering and compressing networks for betweenness
centrality" (SDM 2013); M. Baglioni, F. Geraci, M. Pellegrini and E. Lastres, "Fast exact computation of
betweenness centrality in social networks" (ASONAM 2012).
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, compiled
from edgewise.paths.csr import CSR, Adjacency
from edgewise.primitives.rows import row_numbers


class Core(NamedTuple):
    """A graph without its trees.

    Attributes
    ----------
    rows : Adjacency
        Those of the core, on the device of the graph.
    vertices : (k,) int64 array
        Its vertices in the graph; on the host, as the others.
    weights : (k,) float64 array
        How many vertices each of them stands for.
    pairs : (n,) float64 array
        Ordered pairs whose paths lead over each vertex of the graph by the trees alone.
    sizes : (n,) int64 array
        Vertices of each vertex's component.
    """

    rows: Adjacency
    vertices: Any
    weights: Any
    pairs: Any
    sizes: Any


@compiled
def fold(rows, degrees, weights, squares, queue):
    """Fold the trees; what is left has ``degrees`` above zero.

    ``weights`` (n,) int64 are ones and ``squares`` (n,) int64 zeros, which become the sums of the squares of
    the branches.  A vertex that was folded has the degree -1.
    """
    offsets, neighbours = rows
    last = 0
    for vertex in range(len(degrees)):
        degrees[vertex] = offsets[vertex + 1] - offsets[vertex]
        if degrees[vertex] == 1:
            queue[last] = vertex
            last += 1
    position = 0
    while position < last:
        vertex = queue[position]
        position += 1
        if degrees[vertex] != 1:  # the last one of a tree
            continue
        degrees[vertex] = -1
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            other = np.int64(neighbours[entry])
            if degrees[other] > 0:
                weights[other] += weights[vertex]
                squares[other] += weights[vertex] * weights[vertex]
                degrees[other] -= 1
                if degrees[other] == 1:
                    queue[last] = other
                    last += 1


@compiled
def measure_components(rows, queue, sizes):
    """Write the size of its component for every vertex; ``sizes`` (n,) int64 are zeros."""
    offsets, neighbours = rows
    for root in range(len(sizes)):
        if sizes[root] != 0:
            continue
        queue[0], sizes[root], position, last = root, 1, 0, 1
        while position < last:
            vertex = queue[position]
            position += 1
            for entry in range(offsets[vertex], offsets[vertex + 1]):
                other = np.int64(neighbours[entry])
                if sizes[other] == 0:
                    queue[last], sizes[other] = other, 1
                    last += 1
        for position in range(last):
            sizes[queue[position]] = last


def without_trees(rows) -> Core:
    """The core of an undirected graph without self-loops and repeated edges."""
    where, csr, n = arrays.device_of(rows.offsets), rows.outgoing.on_host(), rows.n_vertices
    both = csr.offsets, csr.neighbours
    degrees, squares, queue, sizes = (np.zeros(n, np.int64) for _ in range(4))
    weights = np.ones(n, np.int64)
    fold(both, degrees, weights, squares, queue)
    measure_components(both, queue, sizes)
    pairs = ((sizes - 1) ** 2 - squares - (sizes - weights) ** 2).astype(np.float64)
    is_left = degrees > 0
    if not is_left.all():
        tails = row_numbers(csr.offsets, np.int64)
        kept = is_left[tails] & is_left[csr.neighbours]
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(degrees[is_left])])
        numbers = (np.cumsum(is_left) - 1).astype(csr.neighbours.dtype)
        lengths = csr.weights[kept] if len(csr.weights) else csr.weights
        left = CSR(offsets, numbers[csr.neighbours[kept]], lengths)
        moved = CSR(*(arrays.move(array, where) for array in left))
        rows = Adjacency(moved, moved)
    vertices = np.flatnonzero(is_left)
    return Core(rows, vertices, weights[vertices].astype(np.float64), pairs, sizes)
