"""The first round of Boruvka's algorithm, in which every vertex is a tree and takes its first edge.

It finds about half of the edges of the forest.  Vertices are hooked one after the other, rather than edge by
edge, so that a GPU writes parents in the order of its memory: scattered writes take it several times as long.

In a list of edges (:mod:`~edgewise.forest.filter`), the smallest word that was offered to a vertex is that of
its first edge.

Where the rows of a sparse graph are ascending, no list and no offers are needed: a row holds all edges of a
vertex, and its first entry of least weight is the first edge in the order (:mod:`~edgewise.forest.order`),
because the entries of smaller neighbours come first, and are those of edges that are listed earlier.  A
thread, or a warp where rows are long on the average, reads a row; blocks read the longest ones.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, device, each, each_row, fetch_add, fetch_min, warp_min
from edgewise.forest.filter import mirror_of
from edgewise.forest.order import LARGEST, POSITION_BITS, word_of
from edgewise.forest.trees import NO_EDGE
from edgewise.primitives.rows import row_from

#: Mean entries of a row from which on rows are read by warps.
LONG_ON_AVERAGE = 12
#: Entries of the longest rows that threads and warps read.
LONGEST = {"thread": 64, "warp": 4096}
#: Blocks that read the longest rows.
BLOCKS = 1024


class LongRows(NamedTuple):
    """Rows of more than ``longest`` entries: an index array, and their number, (1,) int32."""

    longest: int
    rows: Any
    count: Any


@device
def least_word(row, lane, lanes, entries):
    """The smallest word of the edges in a lane's share of a row."""
    least = np.int64(LARGEST)
    for entry in range(np.int64(entries.offsets[row]) + lane, np.int64(entries.offsets[row + 1]), lanes):
        if np.int64(entries.targets[entry]) != row:
            least = min(least, word_of(entries.order, entry))
    return least


@each_row
def find_first(row, lane, lanes, entries, first, long_rows):
    """Find the smallest word of a row, or list the row if it is long."""
    if np.int64(entries.offsets[row + 1]) - np.int64(entries.offsets[row]) > long_rows.longest:
        if lane == 0:
            long_rows.rows[fetch_add(long_rows.count, 0, 1)] = row
        return
    least = warp_min(least_word(np.int64(row), lane, lanes, entries), lanes, lane, np.int64(LARGEST))
    if lanes == 1:
        first[row] = least
    elif least < first[row]:
        fetch_min(first, row, least)


@each_row
def find_first_of_long(block, lane, lanes, entries, first, long_rows):
    """Find the smallest words of some of the long rows."""
    for item in range(block, long_rows.count[0], BLOCKS):
        row = np.int64(long_rows.rows[item])
        least = warp_min(least_word(row, lane, lanes, entries), lanes, lane, np.int64(LARGEST))
        if least < first[row]:
            fetch_min(first, row, least)


@device
def entry_of(word, entries):
    """The entry of a word; of none a valid one."""
    return min(word & np.int64((1 << POSITION_BITS) - 1), np.int64(len(entries.targets) - 1))


@each
def hook_by_offer(vertex, entries, lists, trees):
    """Hook a vertex below the other end of the edge that was offered; of two with the same one the larger.

    In a list every edge has one word, which holds its position.
    """
    word, parent, edge = trees.offers[vertex], np.int64(vertex), np.int64(NO_EDGE)
    if word != LARGEST:
        entry = entry_of(word, entries)
        other = np.int64(entries.targets[entry])
        if other == vertex:
            if len(entries.offsets):
                other = row_from(lists.first_rows[entry // lists.tile], entry, entries.offsets)
            else:
                other = np.int64(entries.sources[entry])
        if trees.offers[other] != word or other < vertex:
            parent, edge = other, entry
    trees.parent[vertex] = parent
    trees.hooked_by[vertex] = edge


@each
def hook_by_first(vertex, entries, trees):
    """Hook a vertex below the other end of its first edge; of two with the same first edge the larger one."""
    word, parent, edge = trees.offers[vertex], np.int64(vertex), np.int64(NO_EDGE)
    if word != LARGEST:
        entry = entry_of(word, entries)
        other = np.int64(entries.targets[entry])
        back = trees.offers[other]
        is_mutual = word >> np.int64(POSITION_BITS) == back >> np.int64(POSITION_BITS)
        if is_mutual:
            is_mutual = np.int64(entries.targets[entry_of(back, entries)]) == vertex
        if not is_mutual or other < vertex:
            parent = other
            edge = entry if vertex < other else mirror_of(entry, other, vertex, entries)
    trees.parent[vertex] = parent
    trees.hooked_by[vertex] = edge


def hook_all_by_first(n_vertices, entries, trees):
    """Let every vertex take its first edge; ``entries`` are ascending rows, and words hold positions."""
    where, n_entries = arrays.device_of(entries.targets), len(entries.targets)
    width = "thread" if n_entries < LONG_ON_AVERAGE * n_vertices else "warp"
    most = n_entries // LONGEST[width]
    rows = arrays.empty(most, entries.targets.dtype, where)
    long_rows = LongRows(LONGEST[width], rows, arrays.zeros(1, np.int32, where))
    find_first(n_vertices, entries, trees.offers, long_rows, width=width)
    find_first_of_long(min(BLOCKS, most), entries, trees.offers, long_rows, width="block")
    hook_by_first(n_vertices, entries, trees)
