"""Rows of a CSR form in kernels that divide the entries, rather than the rows, among threads."""

import numpy as np

from edgewise.device import device


@device
def row_of(entry, offsets):
    """Row that contains an entry, by bisection of the (n + 1,) offsets."""
    first, end = 0, len(offsets) - 1
    while first < end:
        middle = (first + end) // 2
        if offsets[middle + 1] <= entry:
            first = middle + 1
        else:
            end = middle
    return first


@device
def row_from(row, entry, offsets):
    """Row that contains an entry and is ``row`` or a later one, by an exponential search."""
    low, high, step, n = np.int64(row), np.int64(row) + 1, np.int64(1), np.int64(len(offsets) - 1)
    while offsets[high] <= entry:
        low, high = high, min(high + step, n)
        step *= 2
    while high - low > 1:
        middle = (low + high) // 2
        if offsets[middle] <= entry:
            low = middle
        else:
            high = middle
    return low
