"""The tree of the merges of a forest, and the merge that joins two vertices.

When the edges of a forest come one by one, in order, each merges two trees.  Trees are joined by their sizes,
and paths are not compressed, so every path to a root has at most ``log2(n)`` steps.  The merges on it come in
order.  Hence the edge that joins two vertices at last, the one of largest weight on the path between them in
the forest, is found by going up from both ends, always from the one whose next merge is the earlier one.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import compiled, device, each

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
