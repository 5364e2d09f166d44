"""How many wedges are below each vertex of a ranked graph, and the vertices in the order of that.

The entries, rather than the rows, are divided among the threads of a GPU, since a few rows are long and most
are shorter than a warp.  The lanes of a warp whose entries are in the same row add up before they write.  The
vertices are sorted as keys that have what a vertex lacks of the most wedges in the upper half.
"""

from typing import NamedTuple

import numpy as np

from edgewise.cycles.counting.ranked import first_from
from edgewise.device import device, each, fetch_add, parallel_region
from edgewise.device.warps import inclusive_scan, shuffle, warp_size

#: Bits of half a key, and a mask of the lower half.
HALF = 32
LOWER = (1 << HALF) - 1
#: Wedges that a key tells apart; with more, the order of the vertices no longer matters.
WEDGES = 2**31 - 1
#: Blocks of a multiprocessor.
BLOCKS = 8


class Limits(NamedTuple):
    """Wedges above which the grid counts a vertex, a block outside shared memory, a block, and a warp."""

    grid: int
    outside: int
    block: int
    none: int = 0


@each
def key_of_wedges(apex, wedges, keys):
    """Join what an apex lacks of the most wedges and its number."""
    keys[apex] = (WEDGES - min(wedges[apex], WEDGES)) << HALF | apex


@each
def place_apex(position, keys, order, limits, facts):
    """Read the apex from a sorted key; count those above each limit by the last one that is."""
    wedges, following = WEDGES - (keys[position] >> HALF), np.int64(-1)
    order[position] = keys[position] & LOWER
    if position + 1 < len(keys):
        following = WEDGES - (keys[position + 1] >> HALF)
    if position == 0:
        facts[1] = wedges
    if wedges > limits.grid >= following:
        facts[2] = position + 1
    if wedges > limits.outside >= following:
        facts[3] = position + 1
    if wedges > limits.block >= following:
        facts[4] = position + 1
    if wedges > limits.none >= following:
        facts[5] = position + 1


@device
def add_to_rows(row, value, lane, sums):
    """Add the values of a warp's lanes, whose rows ascend, to the sums of their rows; none for row -1.

    The last lane of a row adds the scan over the warp, and the first one takes back what was before it.
    """
    lanes, last, credit = warp_size(), inclusive_scan(value, lane), np.int64(0)
    before, after = shuffle(row, max(lane - 1, 0)), shuffle(row, min(lane + 1, lanes - 1))
    if lane == lanes - 1 or after != row:
        credit += last
    if lane > 0 and before != row:
        credit -= last - value
    if row >= 0 and credit != 0:
        fetch_add(sums, row, credit)


@parallel_region.by(max_blocks_per_sm=BLOCKS)
def measure_wedges(worker, rows, csr, lengths, wedges, total):
    """Count the wedges of every middle, of every apex, and all: ``rows`` are those of the entries.

    Of each lower neighbour's row these are the entries below the apex.
    """
    lanes, entries, sums = warp_size(), len(lengths), np.int64(0)
    lane = worker.id % lanes
    for base in range(worker.id - lane, entries, worker.count):
        entry, apex, length = base + lane, np.int64(-1), np.int64(0)
        if entry < entries:
            apex, middle = np.int64(rows[entry]), np.int64(csr.neighbours[entry])
            if middle < apex:
                start, end = csr.offsets[middle], csr.offsets[middle + 1]
                length = first_from(apex, csr.split[middle], end, csr.neighbours) - start
                lengths[entry] = length
        add_to_rows(apex, length, lane, wedges)
        sums += length
    sums = inclusive_scan(sums, lane)
    if lane == lanes - 1 and sums > 0:
        fetch_add(total, 0, sums)


@each
def measure_row(apex, csr, lengths, wedges):
    """Count the wedges of an apex on the host, which divides rows."""
    total = np.int64(0)
    for entry in range(csr.offsets[apex], csr.split[apex]):
        middle = np.int64(csr.neighbours[entry])
        start = csr.offsets[middle]
        length = first_from(apex, csr.split[middle], csr.offsets[middle + 1], csr.neighbours) - start
        lengths[entry] = length
        total += length
    wedges[apex] = total
