"""Positions in the edge list of a graph that is held as rows, without the list.

The list has the entries whose neighbour is not smaller than their row, in the order of the rows.  So the
position of an edge is that of its entry less the entries of smaller neighbours up to there.  In ascending
rows these come first, and a bisection of each row counts them; other rows are read as a whole.
"""

import numpy as np

from edgewise.device import arrays, each
from edgewise.forest.filter import are_ascending
from edgewise.primitives.counting_sort import gather, scan
from edgewise.primitives.rows import row_from, row_numbers, row_of

#: Entries whose rows are found one after the other, on the CPU.
BLOCK_ENTRIES = 64


@each
def count_smaller(row, offsets, neighbours, smaller):
    """Count the neighbours of an ascending row that are smaller than the row."""
    first = np.int64(offsets[row])
    low, high = first, np.int64(offsets[row + 1])
    while low < high:
        middle = (low + high) >> np.int64(1)
        if np.int64(neighbours[middle]) < row:
            low = middle + 1
        else:
            high = middle
    smaller[row] = low - first


@each
def find_rows(part, entries, offsets, size, rows):
    """Find the rows of the entries of a part, which ascend."""
    first, end = part * size, min(part * size + size, len(entries))
    row = np.int64(row_of(entries[first], offsets))
    for item in range(first, end):
        row = row_from(row, entries[item], offsets)
        rows[item] = row


def rows_of(entries, graph):
    """The row of each of some entries, which ascend: (k,) index array."""
    where, count = arrays.device_of(entries), len(entries)
    rows, size = arrays.empty(count, graph.neighbours.dtype, where), BLOCK_ENTRIES if where == "cpu" else 1
    find_rows(-(-count // size), entries, graph.offsets, size, rows)
    return rows


def positions_of(entries, rows, graph):
    """Positions in the edge list of entries that it has, which ascend, in some rows: (k,) int64 array."""
    offsets, neighbours = graph.offsets, graph.neighbours
    xp = arrays.namespace(neighbours)
    if not graph.cached("ascending rows", lambda: are_ascending(offsets, neighbours)):
        is_listed = row_numbers(offsets, neighbours.dtype) <= neighbours
        return xp.cumsum(is_listed)[entries] - 1
    where = arrays.device_of(neighbours)
    smaller = arrays.empty(graph.n_vertices, np.int64, where)
    count_smaller(graph.n_vertices, offsets, neighbours, smaller)
    if where == "cpu":
        before = gather(scan(smaller)[1:], rows)
        return np.subtract(entries, before, out=before)
    return entries - xp.cumsum(smaller)[rows]
