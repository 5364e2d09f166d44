"""A verifier of spanning forests, which does not solve again.

A set of edges is the forest if and only if it has no cycle, joins what the graph joins, and every other edge
comes after all edges of the path between its ends in the forest (the cycle property).  The last edge of a
path is read off a tree of the merges of the forest, that is, which trees are joined when its edges come one
by one, in order.  Trees are joined by their sizes, and paths are not compressed, so every path to a root has
at most ``log2(n)`` steps.  The merges on it come in order.  Hence the edge that joins two vertices at last,
the one of largest weight on the path between them in the forest, is found by going up from both ends, always
from the one whose next merge is the earlier one.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, compiled, device, each
from edgewise.errors import VerificationError
from edgewise.forest.order import order_of, words_of

#: After all merges.
NEVER = 2**62


class UnionTree(NamedTuple):
    """The merges of a forest, on the host.

    Attributes
    ----------
    parent : (n,) int64 array
        The vertex that a vertex was hooked below; itself for a root.
    merges : (n,) int64 array
        The number of the merge that hooked it: the position of its edge in the order; ``NEVER`` for a root.
    """

    parent: Any
    merges: Any


@compiled
def merge_in_order(sources, targets, parent, merges, sizes):
    """Join the ends of the edges of a forest, which are in order."""
    for merge in range(len(sources)):
        one, other = np.int64(sources[merge]), np.int64(targets[merge])
        while parent[one] != one:
            one = parent[one]
        while parent[other] != other:
            other = parent[other]
        if one == other:  # a cycle, which a forest does not have
            continue
        if sizes[one] < sizes[other]:
            one, other = other, one
        parent[other] = one
        merges[other] = merge
        sizes[one] += sizes[other]


def union_tree(n_vertices, sources, targets):
    """The tree of the merges by the edges of a forest, which are in order."""
    parent, merges = np.arange(n_vertices), np.full(n_vertices, NEVER)
    merge_in_order(sources, targets, parent, merges, np.ones(n_vertices, np.int64))
    return UnionTree(parent, merges)


@device
def joining_merge(tree, one, other):
    """The number of the merge that joins two vertices; ``NEVER`` if they stay apart, -1 if they are equal."""
    parent, merges = tree
    last = np.int64(-1)
    while one != other:
        if merges[one] > merges[other]:
            one, other = other, one
        last = merges[one]
        if last == np.int64(NEVER):
            break
        one = parent[one]
    return last


@each
def find_joining_merges(item, ones, others, tree, found):
    """The merge that joins each of some pairs of vertices."""
    found[item] = joining_merge(tree, np.int64(ones[item]), np.int64(others[item]))


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
