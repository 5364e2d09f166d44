"""Kruskal's algorithm: edges in order, each kept if its ends are in different trees; on one core.

The words of the edges (:mod:`~edgewise.forest.order`) are sorted by NumPy.  Where a graph has many more edges
than vertices, only the first ones are sorted and joined at first; of the others, those that then lead from
a tree to itself are dropped before the rest is sorted (Filter-Kruskal, with one step).  The filter runs on
all cores.

Keys of 64 bits leave no room for a position in a word.  Then the positions are put in the order of the keys
by a stable sort.

J. B. Kruskal, "On the shortest spanning subtree of a graph" (1956); Osipov, Sanders and Singler, "The
Filter-Kruskal Minimum Spanning Tree Algorithm" (ALENEX 2009).
"""

import numpy as np

from edgewise.device import arrays, compiled, device, each
from edgewise.forest.boruvka import threshold
from edgewise.forest.order import LARGEST, POSITION_BITS, words_of
from edgewise.forest.trees import compress, make_roots

#: The first of all numbers: no word is smaller.
LEAST = -LARGEST - 1


@device
def halve(parent, vertex):
    """The root above ``vertex``, whose path is halved; for one worker only."""
    while parent[vertex] != vertex:
        parent[vertex] = parent[parent[vertex]]
        vertex = parent[vertex]
    return vertex


@compiled
def join_in_order(positions, ends, parent, hooked_by):
    """Keep the edges at the ``positions`` that join two trees."""
    sources, targets = ends
    for position in positions:
        one, other = halve(parent, sources[position]), halve(parent, targets[position])
        if one < other:
            parent[other] = one
            hooked_by[other] = position
        elif other < one:
            parent[one] = other
            hooked_by[one] = position


@each
def leaves_tree(entry, ends, parent, is_wanted):
    """Whether an edge joins two trees; ``parent`` is compressed."""
    sources, targets = ends
    is_wanted[entry] = is_wanted[entry] and parent[sources[entry]] != parent[targets[entry]]


def kruskal(n_vertices, entries):
    """Kruskal's algorithm on host arrays or copies; see :class:`~edgewise.forest.ForestMethod`."""
    where = arrays.device_of(entries.targets)
    ends = tuple(arrays.move(column, "cpu") for column in (entries.sources, entries.targets))
    order = entries.order._replace(bits=arrays.move(entries.order.bits, "cpu"))
    parent, hooked_by = np.empty(n_vertices, ends[1].dtype), np.empty(n_vertices, np.int64)
    make_roots(n_vertices, parent, hooked_by)
    words = words_of(order)
    lightest = threshold(n_vertices, entries)
    is_edge = ends[0] < ends[1] if entries.both else ends[0] != ends[1]
    is_light = is_edge & (words <= lightest)
    join_in_order(sorted_positions(words, is_light, order.packed), ends, parent, hooked_by)
    if lightest < LARGEST:
        compress(n_vertices, parent)
        is_heavy = is_edge & ~is_light
        leaves_tree(len(words), ends, parent, is_heavy)
        join_in_order(sorted_positions(words, is_heavy, order.packed), ends, parent, hooked_by)
    compress(n_vertices, parent)
    return arrays.move(hooked_by, where), arrays.move(parent, where)


def sorted_positions(words, wanted, packed):
    """Positions of the ``wanted`` entries in the order of their words, then of their positions: int64."""
    if packed:
        return np.sort(words[wanted]) & (2**POSITION_BITS - 1)
    positions = np.flatnonzero(wanted)
    return positions[np.argsort(words[positions], kind="stable")]
