"""Rows of a CSR form: the row of an entry, for kernels that divide the entries; whether rows are simple."""

import numpy as np

from edgewise.device import arrays, device, each, each_row, store

#: Entries that a warp numbers.
TILE = 1024


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


@each_row
def number_tile(tile, lane, lanes, offsets, numbers):
    """Write the rows of the entries of a tile, of which each lane searches on from its last one."""
    first = tile * TILE + lane
    end = min((tile + 1) * TILE, len(numbers))
    row = np.int64(0)
    if first < end:
        row = np.int64(row_of(first, offsets))
    for entry in range(first, end, lanes):
        row = row_from(row, entry, offsets)
        numbers[entry] = row


def row_numbers(offsets, kind):
    """Row of every entry."""
    where = arrays.device_of(offsets)
    if where == "cpu":
        return np.repeat(np.arange(len(offsets) - 1, dtype=kind), np.diff(offsets))
    numbers = arrays.empty(int(offsets[-1]), kind, where)
    number_tile(-(-len(numbers) // TILE), offsets, numbers, width="warp")
    return numbers


@each
def check_row(vertex, offsets, neighbours, flag):
    """Set the flag if a row does not ascend strictly, or has the vertex itself."""
    last = np.int64(-1)
    for entry in range(offsets[vertex], offsets[vertex + 1]):
        other = np.int64(neighbours[entry])
        if other <= last or other == vertex:
            store(flag, 0, 1)
        last = other


def are_simple(offsets, neighbours) -> bool:
    """Whether every row ascends without repeated entries and self-loops."""
    flag = arrays.zeros(1, np.int32, arrays.device_of(offsets))
    check_row(len(offsets) - 1, offsets, neighbours, flag)
    return not int(flag[0])
