"""Strings of some rows of a large Arrow array, such as the names of the clusters of many records.

Where the rows are scattered, Arrow waits for the memory of each string.  The loops here fetch those of later
rows ahead, and take a third of the time; several threads may run them at once.  Few rows, and rows of fewer
strings than are numbered by loops, are left to Arrow, since the loops would have to be loaded.
"""

import numpy as np

from edgewise import tuning
from edgewise.device import compiled
from edgewise.device.prefetch import prefetch
from edgewise.ingest.arrow import arrow_array
from edgewise.ingest.string_words import Strings, copy_bytes, strings_of

#: How many rows ahead strings are fetched.
AHEAD = np.uint64(16)
ONE = np.uint64(1)


@compiled
def find_rows(strings, rows, begins, starts):
    """Find where the strings of rows begin, and where their copies will; returns where the last one ends."""
    place = np.int64(0)
    for item in range(np.uint64(len(rows))):
        row = np.uint64(rows[item])
        begins[item], starts[item] = strings.starts[row], place
        place += np.int64(strings.starts[row + ONE]) - begins[item]
    starts[len(rows)] = place
    return place


@compiled
def copy_rows(strings, begins, copies):
    """Copy strings one behind the other."""
    last = np.uint64(len(begins) - 1)
    for item in range(np.uint64(len(begins))):
        prefetch(strings.text, begins[min(item + AHEAD, last)])
        start = np.int64(copies.starts[item])
        length = np.int64(copies.starts[item + ONE]) - start
        copy_bytes(strings.text, begins[item], copies.text, start, length)
    return 0


def take(column, rows):
    """Values of an Arrow array in some rows, which are an array of integers.

    >>> import pyarrow as pa
    >>> take(pa.array(["b", "", "ab"]), np.array([2, 0])).to_pylist()
    ['ab', 'b']
    """
    import pyarrow as pa

    kinds = pa.string(), pa.binary(), pa.large_string(), pa.large_binary()
    is_large = len(rows) >= tuning.CPU.ingest_first and len(column) > tuning.CPU.ingest_strings
    if is_large and column.type in kinds and not column.null_count and _are_within(rows, len(column)):
        strings, begins = strings_of(column), np.empty(len(rows), np.int64)
        starts = np.empty(len(rows) + 1, strings.starts.dtype)
        size = find_rows(strings, rows, begins, starts)
        if size <= np.iinfo(starts.dtype).max:
            text = pa.allocate_buffer(max(size, 1))  # of Arrow's pool, which has it from the blocks before
            copy_rows(strings, begins, Strings(starts, np.frombuffer(text, np.uint8)))
            buffers = [None, pa.py_buffer(starts), text]
            return pa.Array.from_buffers(column.type, len(rows), buffers)
    return column.take(arrow_array(rows))


def _are_within(rows, count):
    """Whether rows are numbers from 0 to ``count - 1``; Arrow says which is not."""
    return rows.dtype.kind in "iu" and 0 <= int(rows.min()) and int(rows.max()) < count
