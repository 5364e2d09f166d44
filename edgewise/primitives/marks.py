"""Marks, a byte for each item, and the positions of the items that are marked, in ascending order.

A GPU reads eight marks at a time.  Each warp counts the marks of a row of them; after a scan of the counts,
the warps write positions.  This reads the marks twice and writes nothing else, while the function of CuPy
writes a sum of eight bytes for each mark.
"""

import numpy as np

from edgewise.device import arrays, device, each_row
from edgewise.device.warps import inclusive_scan, shuffle
from edgewise.primitives import counting_sort
from edgewise.primitives.array_operations import exclusive_scan

#: Marks of a word.
WORD = 8
#: Words of a row.
ROW = 512


def new_marks(count, where):
    """Marks for ``count`` items, not filled, and a few that are false, up to a whole word: bool array."""
    marks = arrays.empty(-(-count // WORD) * WORD, np.bool_, where)
    marks[count:] = False
    return marks


@device
def count_in(word):
    """Number of marks in a word."""
    word = word + (word >> np.uint64(32))
    word = word + (word >> np.uint64(16))
    word = word + (word >> np.uint64(8))
    return np.int64(word & np.uint64(255))


@each_row
def count_marks(row, lane, lanes, words, counts):
    """Count the marks of a row."""
    first, count = row * ROW, np.int64(0)
    for base in range(first, min(first + ROW, len(words)), lanes):
        if base + lane < len(words):
            count += count_in(words[base + lane])
    count = inclusive_scan(count, lane)
    if lane == lanes - 1:
        counts[row] = count


@each_row
def write_marked(row, lane, lanes, words, starts, positions):
    """Write the positions of the marks of a row from its start on."""
    first, start = row * ROW, starts[row]
    for base in range(first, min(first + ROW, len(words)), lanes):
        word, at = np.uint64(0), base + lane
        if at < len(words):
            word = words[at]
        count = count_in(word)
        last = inclusive_scan(count, lane)
        slot = start + last - count
        for mark in range(WORD):
            if (word >> np.uint64(8 * mark)) & np.uint64(1):
                positions[slot] = at * WORD + mark
                slot += 1
        start += shuffle(last, lanes - 1)


def marked(marks):
    """Positions of the items that are marked, ascending: (k,) int64 array.

    The marks are those of :func:`new_marks`.
    """
    where = arrays.device_of(marks)
    if where == "cpu":
        return counting_sort.marked(marks)
    words = marks.view(np.uint64)
    counts = arrays.empty(-(-len(words) // ROW), np.int64, where)
    count_marks(len(counts), words, counts, width="warp")
    starts = exclusive_scan(counts)
    positions = arrays.empty(int(starts[-1]), np.int64, where)
    write_marked(len(counts), words, starts, positions, width="warp")
    return positions
