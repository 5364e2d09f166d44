"""Ratings of many rows on a GPU: by a thread, or by a thread for each entry.

A thread rates a short row.  It lists the labels of the row and the total to each in the shared memory of its
block, where it has a column of its own, so that the threads of a warp use different banks.  A table in the
memory of the GPU would be cleared, filled and read in many small accesses, and takes several times as long.
Rows that are longer than a column have such a table, and each entry of a long row is added to it by a thread
of its own.
"""

import numpy as np

from edgewise.device import each, fetch_add, parallel_region
from edgewise.device.warps import block_size, inclusive_scan, warp_size
from edgewise.partitions.facts import note_rating
from edgewise.partitions.levels import weight_at
from edgewise.partitions.ratings import (
    NO_LABEL,
    SHORT_ROW,
    add_to_table,
    rate_row,
    row_of,
    strongest_in_table,
)
from edgewise.primitives.mixing import mix

#: Threads of a block, and entries of a row for whose labels and totals a column has room.
THREADS, IN_COLUMN = 128, 32
#: The label of an entry that does not count, in a column.
NO_ENTRY = 0xFFFFFFFF


@parallel_region.by(threads=THREADS, shared_words=2 * IN_COLUMN * THREADS, shared_type=np.uint32)
def rate_in_columns(worker, rows, level, state, facts, growth_of_own):
    """Rate those rows that fit into a column; weights have 32 bits.

    ``rows`` are their number and the array of the chosen ones, as for
    :func:`~edgewise.partitions.ratings.row_of`.
    """
    (count, chosen), size, column = rows, block_size(), worker.shared
    thread, lane, growth = worker.id % size, worker.id % warp_size(), np.int64(0)
    totals = IN_COLUMN * size
    for item in range(worker.id, count, worker.count):
        row = row_of(item, chosen)
        start, entries = level.offsets[row], level.offsets[row + 1] - level.offsets[row]
        if entries > IN_COLUMN:
            continue
        for place in range(entries):
            neighbour, label = level.neighbours[start + place], np.int64(NO_ENTRY)
            if len(state.groups) == 0 or state.groups[neighbour] == state.groups[row]:
                label = np.int64(state.labels[neighbour])
            column[place * size + thread] = label
        mine, own, end = np.int64(state.labels[row]), np.int64(0), thread
        for place in range(entries):
            label = np.int64(column[place * size + thread])
            weight = weight_at(level, start + place)
            if label == mine:
                own += weight
            elif label != NO_ENTRY:
                at = thread
                while at < end and np.int64(column[at]) != label:
                    at += size
                if at == end:
                    column[at], column[totals + at] = label, 0
                    end += size
                column[totals + at] += weight
        best, link, word, room = np.int64(NO_LABEL), np.int64(0), np.int64(-1), level.sizes[row]
        for at in range(thread, end, size):
            label, total = np.int64(column[at]), np.int64(column[totals + at])
            if state.room[label] >= room:
                offered = ((total >> state.shift) << 32) | mix(label, state.salt)
                if offered > word:
                    best, link, word = label, total, offered
        growth += note_rating(facts, row, own, best, link)
    growth = inclusive_scan(growth, lane)
    if lane == warp_size() - 1 and growth != 0:
        fetch_add(growth_of_own, 0, growth)


@each
def _rate_in_table(item, chosen, level, state, memory, least, growth_of_own):
    """Rate a row of more than ``least`` entries in its table; ``memory`` are the tables and the facts."""
    (tables, facts), row = memory, row_of(item, chosen)
    entries = level.offsets[row + 1] - level.offsets[row]
    if entries <= least or entries > SHORT_ROW:
        return
    own, best, link = rate_row(row, level, state, tables, 2 * level.offsets[row])
    growth = note_rating(facts, row, own, best, link)
    if growth != 0:
        fetch_add(growth_of_own, 0, growth)


@each
def _mark(item, chosen, level, tables):
    row = row_of(item, chosen)
    tables.marks[row] = level.offsets[row + 1] - level.offsets[row] > SHORT_ROW
    tables.offers[row] = -1


@each
def _clear_entry(entry, level, tables):
    if tables.marks[level.rows[entry]] != 0:
        tables.keys[2 * entry] = tables.keys[2 * entry + 1] = NO_LABEL
        tables.sums[2 * entry] = tables.sums[2 * entry + 1] = 0


@each
def _add_entry(entry, level, state, tables):
    row = np.int64(level.rows[entry])
    if tables.marks[row] != 0:
        add_to_table(row, entry, level, state, tables)


@each
def _read_row(item, chosen, level, state, tables, facts, growth_of_own):
    row = row_of(item, chosen)
    if tables.marks[row] == 0:
        return
    own, best, link = strongest_in_table(row, level, state, tables)
    growth = note_rating(facts, row, own, best, link)
    if growth != 0:
        fetch_add(growth_of_own, 0, growth)
    tables.marks[row] = 0


def rate_rows(rows, level, state, tables, facts, growth):
    """Rate rows on a GPU; ``rows`` are their number and the array of the chosen ones."""
    (count, chosen), least = rows, -1
    if level.weights.dtype == np.int32:
        rate_in_columns(rows, level, state, facts, growth)
        least = IN_COLUMN
    if tables.longest > least:
        _rate_in_table(count, chosen, level, state, (tables, facts), least, growth)
    if tables.longest > SHORT_ROW:
        _mark(count, chosen, level, tables)
        _clear_entry(len(level.neighbours), level, tables)
        _add_entry(len(level.neighbours), level, state, tables)
        _read_row(count, chosen, level, state, tables, facts, growth)
