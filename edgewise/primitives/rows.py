"""Rows of a CSR form in kernels that divide the entries, rather than the rows, among threads."""

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
