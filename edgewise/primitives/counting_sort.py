"""Counting sort, scan, gather, scatter, marked and zeros on all CPU threads; no serial part reads all items.

Every block of items has a counter for each key.  The prefix sums of these, by key and then by block, are the
positions at which the blocks place their items, so that items with equal keys keep their order, and the
result is the same for any number of blocks.  Keys are few, so that a block's counters stay in the cache.
"""

from functools import partial

import numpy as np

from edgewise import tuning
from edgewise.device import arrays, each, threads
from edgewise.primitives.array_operations import exclusive_scan, filled, take_item

#: Items of the smallest block.
BLOCK_ITEMS = 1 << 12
#: Bytes of an array from which on the C library takes new memory, which is zero.
NEW_BYTES = 1 << 25


def n_blocks_of(count):
    """Number of blocks into which so many items are divided."""
    return max(1, min(threads.count(), count // BLOCK_ITEMS))


def bounds_of(count, blocks):
    """Bounds of equal blocks: (blocks + 1,) int64 array."""
    return np.arange(blocks + 1, dtype=np.int64) * count // blocks


def is_few(count, where):
    """Whether NumPy gathers, scatters, marks, packs or scans so many items.

    Up to the limit that takes 0.04 to 0.14 ms, and a loop that does the same is compiled for 0.1 s.
    """
    return where == "cpu" and (count <= tuning.CPU.primitives_few or threads.count() == 1)


@partial(each, least_chunk=1)
def _count_keys(block, bounds, keys, n_keys, starts):
    for item in range(bounds[block], bounds[block + 1]):
        starts[block * n_keys + min(keys[item], n_keys - 1)] += 1


@partial(each, least_chunk=1)
def _place_items(block, bounds, keys, n_keys, starts, order):
    for item in range(bounds[block], bounds[block + 1]):
        place = block * n_keys + min(keys[item], n_keys - 1)
        order[starts[place]] = item
        starts[place] += 1


def starts_by_key(counts, blocks):
    """Where blocks place their items by key, and where each key begins, from (blocks * keys,) int64 counts.

    These are (blocks * keys,) and (keys + 1,) int64: by key, and of equal keys by block.
    """
    by_key = counts.reshape(blocks, -1).T
    ends = np.cumsum(by_key).reshape(by_key.shape)
    return np.ascontiguousarray((ends - by_key).T).reshape(-1), np.append(0, ends[:, -1])


def counting_order(keys, n_keys):
    """Items in ascending order of their keys, equal ones by number: (n,) int64 array on the host.

    ``keys`` are (n,) int64; those from ``n_keys - 1`` on count as equal.
    """
    return grouped(keys, n_keys, np.int64)[0]


def grouped(keys, n_keys, dtype):
    """The same in a type, of (n,) integers, and where each key begins in it: (keys + 1,) int64 array."""
    blocks = n_blocks_of(len(keys))
    bounds, starts = bounds_of(len(keys), blocks), np.zeros(blocks * n_keys, np.int64)
    _count_keys(blocks, bounds, keys, n_keys, starts)
    starts, begins = starts_by_key(starts, blocks)
    order = np.empty(len(keys), dtype)
    _place_items(blocks, bounds, keys, n_keys, starts, order)
    return order, begins


@partial(each, least_chunk=1)
def _sum_gathered(block, bounds, sizes, order, sums):
    total = np.int64(0)
    for item in range(bounds[block], bounds[block + 1]):
        total += np.int64(sizes[order[item]])
    sums[block] = total


@partial(each, least_chunk=1)
def _scan_gathered(block, bounds, sizes, order, sums, target):
    offsets, rank = target
    end = sums[block]
    for item in range(bounds[block], bounds[block + 1]):
        end += np.int64(sizes[order[item]])
        offsets[item + 1] = end
        rank[order[item]] = item


def offsets_in_order(sizes, order, kind):
    """Offsets of consecutive groups, the sizes of items in their order, and the position of each item.

    These are (n + 1,) int64, and (n,) of ``kind``.
    """
    n, blocks = len(order), n_blocks_of(len(order))
    bounds, sums = bounds_of(n, blocks), np.empty(blocks, np.int64)
    _sum_gathered(blocks, bounds, sizes, order, sums)
    offsets, rank = np.empty(n + 1, np.int64), np.empty(n, kind)
    offsets[0] = 0
    _scan_gathered(blocks, bounds, sizes, order, np.cumsum(sums) - sums, (offsets, rank))
    return offsets, rank


@partial(each, least_chunk=1)
def _sum_block(block, bounds, values, sums):
    total = np.int64(0)
    for item in range(bounds[block], bounds[block + 1]):
        total += np.int64(values[item])
    sums[block] = total


@partial(each, least_chunk=1)
def _scan_block(block, bounds, values, sums, offsets):
    end = sums[block]
    for item in range(bounds[block], bounds[block + 1]):
        end += np.int64(values[item])
        offsets[item + 1] = end


def scan(values):
    """As :func:`~edgewise.primitives.exclusive_scan` on the host, with all threads where that pays."""
    if is_few(len(values), "cpu"):
        return exclusive_scan(values)
    blocks = n_blocks_of(len(values))
    bounds, sums = bounds_of(len(values), blocks), np.empty(blocks, np.int64)
    _sum_block(blocks, bounds, values, sums)
    offsets = np.empty(len(values) + 1, np.int64)
    offsets[0] = 0
    _scan_block(blocks, bounds, values, np.cumsum(sums) - sums, offsets)
    return offsets


def gather(values, places, dtype=None):
    """``values[places]``, of another type if one is given, with all threads where that pays."""
    where, dtype = arrays.device_of(values), dtype or values.dtype
    if is_few(len(places), where):
        return values[places].astype(dtype, copy=False)
    target = arrays.empty(len(places), dtype, where)
    take_item(len(places), values, places, target)
    return target


@each
def _scatter(item, places, values, target):
    target[places[item]] = values[item]


def scatter(target, places, values):
    """``target[places] = values``, by all threads where that pays; equal places get one value."""
    if is_few(len(places), arrays.device_of(target)):
        target[places] = values
    else:
        _scatter(len(places), places, values, target)


@each
def _mark(item, places, marks):
    marks[places[item]] = 1


def mark(marks, places):
    """``marks[places] = 1``, by all threads where that pays."""
    if is_few(len(places), arrays.device_of(marks)):
        marks[places] = 1
    else:
        _mark(len(places), places, marks)


@partial(each, least_chunk=1)
def _count_marks(block, bounds, marks, counts):
    count = np.int64(0)
    for item in range(np.uint64(bounds[block]), np.uint64(bounds[block + 1])):
        count += np.int64(marks[item])
    counts[block] = count


@partial(each, least_chunk=1)
def _write_marked(block, bounds, marks, starts, positions):
    place, end = np.uint64(starts[block]), np.uint64(starts[block + 1])
    for item in range(np.uint64(bounds[block]), np.uint64(bounds[block + 1])):
        if place < end:  # which is foreseen, unlike marks
            positions[place] = item
            place += np.uint64(marks[item])


def marked(marks):
    """``numpy.flatnonzero(marks)`` of bools on the host, with all threads where that pays."""
    if is_few(len(marks), "cpu"):
        return np.flatnonzero(marks)
    blocks = n_blocks_of(len(marks))
    bounds, counts = bounds_of(len(marks), blocks), np.empty(blocks, np.int64)
    _count_marks(blocks, bounds, marks, counts)
    starts = exclusive_scan(counts)
    positions = np.empty(starts[-1], np.int64)
    _write_marked(blocks, bounds, marks, starts, positions)
    return positions


def zeros(count, kind):
    """Zeros on the host, (count,), set by all threads.

    ``np.zeros`` is free for new memory.  Memory of middling size was often used before, and is cleared by the
    calling thread: 8 MB take as long as sixteen threads need for the triangles of a road network.
    """
    if count * np.dtype(kind).itemsize < NEW_BYTES:
        return filled(count, 0, kind)
    return np.zeros(count, kind)
