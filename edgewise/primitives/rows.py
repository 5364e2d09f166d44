"""Rows of a CSR form: the row of an entry, for kernels that divide the entries; rows that are simple."""

import numpy as np

from edgewise.device import arrays, device, each, each_row, store
from edgewise.device.warps import inclusive_scan, shuffle
from edgewise.primitives.array_operations import exclusive_scan

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
def check_row(vertex, offsets, neighbours, flags):
    """Set the first flag if a row has the vertex itself, or a neighbour twice; the second if it descends."""
    last = np.int64(-1)
    for entry in range(offsets[vertex], offsets[vertex + 1]):
        other = np.int64(neighbours[entry])
        if other <= last or other == vertex:
            store(flags, 0, 1)
        if other < last:
            store(flags, 1, 1)
        last = other


def flags_of(offsets, neighbours):
    """Whether a row is not simple, and whether one is not in ascending order."""
    flags = arrays.zeros(2, np.int32, arrays.device_of(offsets))
    check_row(len(offsets) - 1, offsets, neighbours, flags)
    return arrays.move(flags, "cpu").tolist()


def are_simple(offsets, neighbours) -> bool:
    """Whether every row ascends without repeated entries and self-loops."""
    return not flags_of(offsets, neighbours)[0]


@device
def is_kept(entry, first, row, neighbours):
    """1 for an entry of an ascending row that is no self-loop and repeats none; else 0."""
    other = np.int64(neighbours[entry])
    return np.int64(other != row and (entry == first or np.int64(neighbours[entry - 1]) != other))


@each_row
def count_kept(row, lane, lanes, offsets, neighbours, counts):
    """Count what is kept of an ascending row."""
    first, end, count = np.int64(offsets[row]), np.int64(offsets[row + 1]), np.int64(0)
    for base in range(first, end, lanes):
        if base + lane < end:
            count += is_kept(base + lane, first, row, neighbours)
    count = inclusive_scan(count, lane)
    if lane == lanes - 1:
        counts[row] = count


@each_row
def write_kept(row, lane, lanes, offsets, neighbours, starts, kept):
    """Write what is kept of an ascending row from its start on."""
    first, end, slot = np.int64(offsets[row]), np.int64(offsets[row + 1]), np.int64(starts[row])
    for base in range(first, end, lanes):
        entry, is_one = base + lane, np.int64(0)
        if entry < end:
            is_one = is_kept(entry, first, row, neighbours)
        last = inclusive_scan(is_one, lane)
        if is_one:
            kept[slot + last - 1] = neighbours[entry]
        slot += shuffle(last, lanes - 1)


def simplified(offsets, neighbours):
    """Offsets and neighbours of ascending rows without repeated entries and self-loops."""
    counts = arrays.empty(len(offsets) - 1, np.int64, arrays.device_of(offsets))
    count_kept(len(counts), offsets, neighbours, counts, width="warp")
    starts = exclusive_scan(counts)
    kept = arrays.empty(int(starts[-1]), neighbours.dtype, arrays.device_of(offsets))
    write_kept(len(counts), offsets, neighbours, starts, kept, width="warp")
    return starts, kept
