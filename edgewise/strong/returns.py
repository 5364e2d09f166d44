"""Edges with a return, which join the two ends without a search: in rows that lead back, one look finds them.

Of street networks and of friendships most edges have one.  Rows must ascend, as those that edgewise makes do:
a return that is not found costs time only.
"""

import numpy as np

from edgewise.device import compiled, device
from edgewise.paths.csr import SAMPLED
from edgewise.primitives.rows import row_of

#: Returns are many if one edge of so many has one (H200, dc838b26, 2026-11-30; no other was measured).
FEW_RETURNING = 8
ONE = np.uint64(1)


@device
def is_in_row(vertex, row, rows):
    """Whether a vertex is in a row, as far as a search by halves tells, which an ascending row needs."""
    first = np.uint64(rows.offsets[row])
    size = np.uint64(rows.offsets[row + 1]) - first
    while size > ONE:
        half = size >> ONE
        first = first + half if rows.neighbours[first + half] <= vertex else first
        size -= half
    return size == ONE and rows.neighbours[first] == vertex


@compiled
def count_returns(rows, samples):
    """Number of entries with a return, of so many that are evenly spaced."""
    offsets, neighbours = rows.offsets, rows.neighbours
    count, found = len(neighbours), 0
    for item in range(samples):
        entry = count * item // samples
        row = row_of(entry, offsets)
        if is_in_row(row, np.int64(neighbours[entry]), rows):
            found += 1
    return found


def return_often(rows):
    """Whether many edges of rows on the host have a return, by a sample."""
    samples = min(SAMPLED, len(rows.neighbours))
    return FEW_RETURNING * count_returns.with_steps(20 * samples, rows, samples) > samples
