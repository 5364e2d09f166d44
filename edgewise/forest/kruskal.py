"""Kruskal's algorithm: edges in order, each kept if its ends are in different trees.

The edges are sorted on all cores (:mod:`~edgewise.forest.buckets`) and joined on one.  Where a graph has many
more edges than vertices, only the first ones in the order are sorted and joined at first, about three for
each vertex.  Of the others, those that then lead from a tree to itself are dropped when they are first read
(Filter-Kruskal, with one step).

J. B. Kruskal, "On the shortest spanning subtree of a graph" (1956); Osipov, Sanders and Singler, "The
Filter-Kruskal Minimum Spanning Tree Algorithm" (ALENEX 2009).
"""

import numpy as np

from edgewise.components.trees import compress
from edgewise.device import compiled
from edgewise.device.prefetch import prefetch
from edgewise.forest.boruvka import limits_of, sample_words, write_rows
from edgewise.forest.buckets import Range, sorted_positions
from edgewise.forest.order import LARGEST
from edgewise.forest.trees import halve, make_roots

#: No word is smaller; a word of a key of 64 bits may be as small.
LEAST = -LARGEST - 1
#: Edges that are read ahead, and vertices whose parents are read ahead.
FAR, NEAR = 16, 8


@compiled
def join_in_order(positions, ends, parent, hooked_by):
    """Keep the edges at the ``positions`` that join two trees."""
    sources, targets = ends
    count = len(positions)
    for item in range(count):
        ahead = positions[min(item + FAR, count - 1)]
        prefetch(sources, ahead)
        prefetch(targets, ahead)
        ahead = positions[min(item + NEAR, count - 1)]
        prefetch(parent, sources[ahead])
        prefetch(parent, targets[ahead])
        position = positions[item]
        one, other = halve(parent, sources[position]), halve(parent, targets[position])
        if one < other:
            parent[other] = one
            hooked_by[other] = position
        elif other < one:
            parent[one] = other
            hooked_by[one] = position


def kruskal(n_vertices, entries):
    """Kruskal's algorithm on the host; see :class:`~edgewise.forest.ForestMethod`."""
    kind = entries.targets.dtype
    if len(entries.offsets):
        rows = np.empty(len(entries.targets), kind)
        write_rows(n_vertices, entries.offsets, rows)
        entries = entries._replace(sources=rows, offsets=entries.offsets[:0])
    ends = entries.sources, entries.targets
    parent, hooked_by = np.empty(n_vertices, kind), np.empty(n_vertices, np.int64)
    make_roots(n_vertices, parent, hooked_by)
    sample, none = sample_words(entries), np.empty(0, np.int64)
    lightest = int(limits_of(n_vertices, entries, sample)[-1])
    light = Range(LEAST, lightest, np.empty(0, kind), none)
    join_in_order(sorted_positions(entries, light, sample), ends, parent, hooked_by)
    compress(n_vertices, parent)
    if lightest < LARGEST:
        heavy = Range(lightest, LARGEST, parent, none)
        join_in_order(sorted_positions(entries, heavy, sample), ends, parent, hooked_by)
        compress(n_vertices, parent)
    return hooked_by, parent
