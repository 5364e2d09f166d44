"""Ratings of many rows on a GPU: by lanes of a warp, by a thread, or by a thread for each entry.

Some lanes of a warp rate a short row, without a table.  Each lane has one entry of the row.  It receives the
labels and the weights of the other entries from their lanes, and adds up those with its own label.  Nothing
is written to memory but the result, where a table of the row would be cleared, filled and read.  Several
short rows share a warp.

A thread rates a longer row in a table, and each entry of a long row is added to the table by a thread of its
own.
"""

import numpy as np

from edgewise.device import device, each, fetch_add, parallel_region
from edgewise.device.target import SIMULATED
from edgewise.device.warps import ballot, inclusive_scan, match, popcount, shuffle, warp_size
from edgewise.partitions.facts import note_rating
from edgewise.partitions.levels import mix, weight_at
from edgewise.partitions.ratings import (
    NO_LABEL,
    SHORT_ROW,
    add_to_table,
    rate_row,
    row_of,
    strongest_in_table,
)

#: Numbers of lanes for a row, and how many there should be for each entry of an average row.
WIDTHS, SPARE = (8, 16, 32), 1.3


def width_for(level):
    """Number of lanes for a row of a level; the simulator's warps have one."""
    wanted = SPARE * len(level.neighbours) / max(len(level.sizes), 1)
    return 1 if SIMULATED else next((width for width in WIDTHS if width >= wanted), WIDTHS[-1])


@device
def _longest(entries, width, lane):
    """The largest number of entries of the rows of a warp; each has ``width`` lanes."""
    distance = np.int64(width)
    while distance < warp_size():
        entries = max(entries, shuffle(entries, lane ^ distance))
        distance *= 2
    return entries


@parallel_region
def rate_in_warps(worker, rows, level, state, facts, width, growth_of_own):
    """Rate those rows that have at most as many entries as the lanes for each.

    ``rows`` are their number and the array of the chosen ones, as for
    :func:`~edgewise.partitions.ratings.row_of`.
    """
    (count, chosen), lanes = rows, warp_size()
    lane, growth = worker.id % lanes, np.int64(0)
    place, rows_each = lane % width, lanes // width
    base, warps = lane - place, worker.count // lanes
    mask = ((np.int64(1) << width) - 1) << base
    for first in range(worker.id // lanes * rows_each, count, warps * rows_each):
        item = first + lane // width
        row = row_of(min(item, count - 1), chosen)
        start, end = level.offsets[row], level.offsets[row + 1]
        is_rated = item < count and end - start <= width
        mine, label = np.int64(state.labels[row]), np.int64(NO_LABEL)
        weight = level.weights.dtype.type(0)
        if is_rated and start + place < end:
            neighbour = level.neighbours[start + place]
            if len(state.groups) == 0 or state.groups[neighbour] == state.groups[row]:
                label = np.int64(state.labels[neighbour])
                weight = level.weights.dtype.type(weight_at(level, start + place))
        code = np.int32(label)  # labels differ in their lower 32 bits
        total = np.int64(0)
        if len(level.weights) == 0:
            total += popcount(match(code) & mask)
        else:
            for other in range(_longest(end - start if is_rated else np.int64(0), width, lane)):
                its_weight = shuffle(weight, base + other)
                total += its_weight if shuffle(code, base + other) == code else 0
        own, word = (total if label == mine else np.int64(0)), np.int64(-1)
        if label != NO_LABEL and label != mine and state.room[label] >= level.sizes[row]:
            word = ((total >> state.shift) << 32) | mix(label, state.salt)
        most, distance = word, np.int64(width // 2)
        while distance > 0:
            own = max(own, shuffle(own, lane ^ distance))
            most = max(most, shuffle(most, lane ^ distance))
            distance //= 2
        holders = ballot(word >= 0 and word == most) & mask
        holder = popcount((holders & -holders) - 1) if holders != 0 else base
        best, link = shuffle(label, holder), shuffle(total, holder)
        if is_rated and place == 0:
            best = best if most >= 0 else np.int64(NO_LABEL)
            link = link if most >= 0 else np.int64(0)
            growth += note_rating(facts, row, own, best, link)
    growth = inclusive_scan(growth, lane)
    if lane == lanes - 1 and growth != 0:
        fetch_add(growth_of_own, 0, growth)


@each
def _rate_short(item, chosen, level, state, memory, width, growth_of_own):
    """Rate a short row on a GPU that has more than ``width`` entries; ``memory`` are the tables and facts."""
    (tables, facts), row = memory, row_of(item, chosen)
    entries = level.offsets[row + 1] - level.offsets[row]
    if entries <= width or entries > SHORT_ROW:
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
    (count, chosen), width = rows, width_for(level)
    rate_in_warps(rows, level, state, facts, width, growth)
    if tables.longest > width:
        _rate_short(count, chosen, level, state, (tables, facts), width, growth)
    if tables.longest > SHORT_ROW:
        _mark(count, chosen, level, tables)
        _clear_entry(len(level.neighbours), level, tables)
        _add_entry(len(level.neighbours), level, state, tables)
        _read_row(count, chosen, level, state, tables, facts, growth)
