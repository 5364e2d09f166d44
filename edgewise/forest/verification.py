"""A verifier of spanning forests, which does not solve again.

A set of edges is the forest if and only if it has no cycle, joins what the graph joins, and every other edge
comes after all edges of the path between its ends in the forest (the cycle property).  The last edge of a
path is read off the tree of merges (:mod:`~edgewise.forest.union_tree`).
"""

import numpy as np

from edgewise.device import arrays
from edgewise.errors import VerificationError
from edgewise.forest.order import order_of, words_of
from edgewise.forest.union_tree import NEVER, find_joining_merges, union_tree


def verify(graph, forest):
    """Raise :class:`~edgewise.errors.VerificationError` unless it is the forest of ``graph``."""
    host = graph.to("cpu")
    sources, targets, weights, n = host.sources, host.targets, host.weights, graph.n_vertices
    edges = arrays.move(forest.edges, "cpu")
    labels = arrays.move(forest.labels, "cpu").astype(np.int64)
    if len(edges) and (edges[0] < 0 or edges[-1] >= len(sources) or (np.diff(edges) <= 0).any()):
        raise VerificationError("the edges of the forest are no ascending positions in the edge list")
    words = words_of(order_of(weights, forest.maximum)._replace(packed=0))
    ranked = edges[np.lexsort((edges, words[edges]))]
    tree = union_tree(n, sources[ranked], targets[ranked])
    if (tree.merges != NEVER).sum() != len(edges):
        raise VerificationError("the edges of the forest have a cycle")
    merges = np.empty(len(sources), np.int64)
    find_joining_merges(len(sources), sources, targets, tree, merges)
    apart = merges == NEVER
    if apart.any():
        raise VerificationError(f"edge {apart.argmax()} joins two trees of the forest")
    inside = np.flatnonzero(merges >= 0)
    last = ranked[merges[inside]]
    earlier = (words[inside] < words[last]) | ((words[inside] == words[last]) & (inside < last))
    if earlier.any():
        edge = inside[earlier.argmax()]
        raise VerificationError(
            f"edge {edge} should be in the forest instead of edge {last[earlier.argmax()]}"
        )
    _check_labels(labels, sources[edges], targets[edges])


def _check_labels(labels, sources, targets):
    n = len(labels)
    if (labels > np.arange(n)).any() or (labels[labels] != labels).any():
        raise VerificationError("a label is not the smallest vertex of a tree")
    if (labels[sources] != labels[targets]).any():
        raise VerificationError("an edge of the forest joins vertices of different labels")
    if (labels == np.arange(n)).sum() != n - len(sources):
        raise VerificationError("the labels tell another number of trees than the edges")
