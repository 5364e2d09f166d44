"""Reading ahead: what later items of a list need is fetched while the earlier ones are looked at.

Refinement looks at vertices here and there in a large graph.  A thread of the CPU would wait for the memory
at each of them: for the facts of a vertex, then for its row, then for what is known of its neighbours.
"""

import numpy as np

from edgewise.device.prefetch import prefetch
from edgewise.device.target import inlined
from edgewise.partitions.facts import WORDS
from edgewise.partitions.ratings import IN_A_LINE

#: Entries of a row whose neighbours are fetched ahead.
FETCHED = 32
#: How many items ahead the facts of a vertex, its row, and what its row leads to, are fetched.
VERTEX_AHEAD, ROW_AHEAD, NEIGHBOURS_AHEAD = 8, 4, 2


@inlined
def _fetch_vertex(vertex, level, facts):
    """Start to read what is known of a vertex, and where its row is."""
    prefetch(facts, vertex * WORDS)
    prefetch(level.sizes, vertex)
    prefetch(level.offsets, vertex)


@inlined
def _fetch_row(vertex, level, values, stride):
    """Start to read what a row leads to: ``stride`` values for each vertex."""
    first = level.offsets[vertex]
    for entry in range(first, min(first + FETCHED, level.offsets[vertex + 1])):
        prefetch(values, np.int64(level.neighbours[entry]) * stride)


@inlined
def fetch_later(listed, item, last, level, facts, values, stride):
    """Start to read what later items of a list need: the vertices, their rows, and what these lead to."""
    _fetch_vertex(np.int64(listed[min(item + VERTEX_AHEAD, last)]), level, facts)
    prefetch(level.neighbours, level.offsets[np.int64(listed[min(item + ROW_AHEAD, last)])])
    _fetch_row(np.int64(listed[min(item + NEIGHBOURS_AHEAD, last)]), level, values, stride)


@inlined
def fetch_totals(listed, item, last, level, facts, connections):
    """Start to read the totals of a later item of a list."""
    vertex, k = np.int64(listed[min(item + ROW_AHEAD, last)]), len(connections.ranks)
    _fetch_vertex(vertex, level, facts)
    for label in range(0, min(k, 4 * IN_A_LINE), IN_A_LINE):
        prefetch(connections.totals, vertex * k + label)
