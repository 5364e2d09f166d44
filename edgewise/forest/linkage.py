"""What the order of the forest's edges tells: single-linkage hierarchies, and paths between two vertices.

Single-linkage clusters at a height are the components of all edges up to it, hence of the forest's edges up
to it (Gower and Ross, "Minimum spanning trees and single linkage cluster analysis", 1969).
"""

import numpy as np

from edgewise.device import compiled
from edgewise.forest.trees import halve
from edgewise.ingest.arrow import arrow_array


@compiled
def join_clusters(ends, parent, clusters, joined):
    """Join the clusters of the ends of edges in order; write the two numbers and the size of each row."""
    sources, targets = ends
    n, sizes = len(parent), joined[2]
    for row in range(len(sources)):
        one, other = halve(parent, np.int64(sources[row])), halve(parent, np.int64(targets[row]))
        first, second = clusters[one], clusters[other]
        joined[0][row], joined[1][row] = min(first, second), max(first, second)
        size = np.int64(0)
        for number in (first, second):
            size += sizes[number - n] if number >= n else 1
        sizes[row] = size
        parent[other] = one
        clusters[one] = n + row


def linkage(forest):
    """The rows of SciPy's linkage matrix of a forest on the host."""
    n, ranked = forest.graph.n_vertices, forest.ranked
    roots = np.flatnonzero(forest.labels == np.arange(n))
    sources = np.concatenate([forest.sources[ranked].astype(np.int64), roots[:-1]])
    targets = np.concatenate([forest.targets[ranked].astype(np.int64), roots[1:]])
    joined = tuple(np.empty(n - 1, np.int64) for _ in range(3))
    join_clusters((sources, targets), np.arange(n), np.arange(n), joined)
    rows = np.empty((n - 1, 4))
    rows[:, 0], rows[:, 1], rows[:, 3] = joined
    rows[: len(ranked), 2], rows[len(ranked) :, 2] = forest.weights[ranked], np.inf
    return rows


@compiled
def walk(offsets, neighbours, edges, source, target, steps):
    """Find the only path in a forest: the vertices before ``target``, and the edges, from the target back.

    ``steps`` are three (n,) int64 arrays.  Returns the length of the path.
    """
    before, by, queue = steps
    before[:] = -1
    before[source], queue[0], first, last = source, source, 0, 1
    while first < last and before[target] < 0:
        vertex = queue[first]
        first += 1
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            other = np.int64(neighbours[entry])
            if before[other] < 0:
                before[other], by[other], queue[last] = vertex, edges[entry], other
                last += 1
    length, vertex = 0, target
    while vertex != source:
        vertex, length = before[vertex], length + 1
    return length


def edges_between(forest, source, target):
    """The table of the edges of the path between two vertices of a tree, on the host."""
    import pyarrow as pa

    from edgewise.ingest.csr import rows_from_edges

    graph, n = forest.graph, forest.graph.n_vertices
    offsets, neighbours, edges = rows_from_edges(n, forest.sources, forest.targets, True, True)
    before, by, queue = (np.empty(n, np.int64) for _ in range(3))
    length = walk(offsets, neighbours, edges, source, target, (before, by, queue))
    vertices, taken = [target], []
    for _ in range(length):
        taken.append(by[vertices[-1]])
        vertices.append(before[vertices[-1]])
    vertices, taken = np.array(vertices[::-1]), np.array(taken[::-1], np.int64)
    ends = {"source": vertices[:-1], "target": vertices[1:]}
    columns = {name: arrow_array(graph.ids_of(column)) for name, column in ends.items()}
    return pa.table({**columns, "weight": arrow_array(forest.weights[taken])})
