"""Single-linkage hierarchies, from the order of the forest's edges.

Single-linkage clusters at a height are the components of all edges up to it, hence of the forest's edges up
to it (Gower and Ross, "Minimum spanning trees and single linkage cluster analysis", 1969).
"""

from __future__ import annotations

import numpy as np

from edgewise.device import compiled
from edgewise.errors import GraphError, argument
from edgewise.forest.trees import halve


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


def sizes_of_merges(n_vertices, sources, targets):
    """Number of vertices of the cluster that each edge of a forest makes; the edges are in order: int64."""
    joined = tuple(np.empty(len(sources), np.int64) for _ in range(3))
    join_clusters((sources, targets), np.arange(n_vertices), np.arange(n_vertices), joined)
    return joined[2]


def hierarchy_of(forest):
    """The linkage matrix of a forest whose weights are distances; see :func:`edgewise.single_linkage`."""
    if forest.maximum:
        given = argument("maximum", False)
        raise GraphError(f"single linkage joins the nearest first; use distances and {given}")
    if not forest.graph.n_vertices:
        raise GraphError("there is nothing to link: the graph is empty")
    return linkage(forest.on_host())


def linkage(forest):
    """The rows of SciPy's linkage matrix of a forest on the host, whatever the order of its weights."""
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
