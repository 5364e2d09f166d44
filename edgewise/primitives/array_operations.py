"""Fill, scan, pack, histogram, unique, by NumPy or CuPy: arrays on one device in, arrays on that device out.

At the first use of most reductions, CuPy compiles templates for three seconds or more.  Its scans, and sums
that keep the type, are compiled already: with them :func:`count` and :func:`mean` begin at once.
"""

import numpy as np

from edgewise.device import arrays, each

#: Items that a GPU converts at a time.
AT_ONCE = 2**24
#: Bytes from which on all threads fill an array.
SHARED_BYTES = 2**20


def filled(count, value, dtype):
    """Host array of ``count`` items equal to ``value``; a large one is filled by all threads."""
    array = np.empty(count, dtype)
    if array.nbytes < SHARED_BYTES:
        array.fill(value)
        return array
    words = np.dtype(f"i{array.itemsize}")  # one kernel for all types of a size
    fill_item(count, array.view(words), np.array(value, dtype).view(words)[()])
    return array


@each
def fill_item(at, array, value):
    """Set one item of an array."""
    array[at] = value


def exclusive_scan(counts):
    """Offsets (n + 1,) int64 of consecutive groups from their (n,) sizes; the last one is the total."""
    offsets = arrays.zeros(len(counts) + 1, np.int64, arrays.device_of(counts))
    arrays.namespace(counts).cumsum(counts, dtype=np.int64, out=offsets[1:])
    return offsets


def pack(marked, *columns):
    """Each column's items where ``marked`` is true, in order; ``None`` stays ``None``."""
    return tuple(None if column is None else column[marked] for column in columns)


def histogram(values, bins):
    """Count how often each integer below ``bins`` occurs in ``values``: (bins,) int64."""
    return arrays.namespace(values).bincount(values, minlength=bins).astype(np.int64, copy=False)


def unique(values):
    """Distinct values, ascending, and for each value its int64 position among them."""
    distinct, positions = arrays.namespace(values).unique(values, return_inverse=True)
    return distinct, positions.reshape(-1).astype(np.int64, copy=False)


def count(marked) -> int:
    """How many items of a boolean array are true."""
    if arrays.device_of(marked) == "cpu":
        return int(np.count_nonzero(marked))
    return sum(int(arrays.namespace(part).cumsum(part, dtype=np.int64)[-1]) for part in _parts(marked))


def mean(values) -> float:
    """Mean of an array that is not empty, computed in float64."""
    if arrays.device_of(values) == "cpu":
        return float(values.mean(dtype=np.float64))
    return sum(float(part.astype(np.float64).sum()) for part in _parts(values)) / len(values)


def _parts(values):
    return (values[first : first + AT_ONCE] for first in range(0, len(values), AT_ONCE))
