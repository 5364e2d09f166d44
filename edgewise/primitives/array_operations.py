"""Fill, copy, scan, pack, histogram, unique, by NumPy or CuPy: arrays in, arrays on the same device out.

At the first use of most reductions, CuPy compiles templates for three seconds or more, and ``bincount`` needs
one.  Its scans, and sums that keep the type, are compiled already: with them :func:`count` and :func:`mean`
begin at once.
"""

from functools import partial

import numpy as np

from edgewise.device import arrays, compiled, device, each, fetch_add, threads
from edgewise.device.target import cpu_compiler_is_loaded

#: Items that a GPU converts at a time.
BLOCK_ITEMS = 2**24
#: Bytes of an array from which on a compiled loop fills it, in half the time of NumPy, if Numba is imported.
COMPILED_BYTES = 2**14
#: Bytes of an array from which on all threads fill it: less work is done before a sleeping thread is awake.
SHARED_BYTES = 2**22
#: Bytes of the parts in which all threads fill or copy an array.
PART_BYTES = 2**18
#: Bytes of a line of the cache.
LINE = 64
ONE = np.uint64(1)


def filled(count, value, dtype):
    """Host array of ``count`` items equal to ``value``; a large one is filled by all threads."""
    array = np.empty(count, dtype)
    if array.nbytes < (COMPILED_BYTES if cpu_compiler_is_loaded() else SHARED_BYTES):
        array.fill(value)
        return array
    items, value = array, array.dtype.type(value)
    if array.dtype.kind == "f":  # one kernel for all types of a size
        items, value = (one.view(f"i{array.itemsize}") for one in (array, value))
    if array.nbytes < SHARED_BYTES or threads.count() == 1:
        fill(items, value)
    else:
        fill_part(-(-array.nbytes // PART_BYTES), items, value)
    return array


@device
def fill_from(first, end, array, value):
    """Set the items from ``first`` to below ``end``, a whole line of the cache at a time.

    Memory of the C library begins 16 bytes behind a line, and stores of 64 bytes that cross two lines take
    half as long again.
    """
    size = array.itemsize
    ahead = (LINE - (np.int64(array.ctypes.data) + first * size) % LINE) % LINE // size
    middle = min(first + ahead, end)
    for at in range(np.uint64(first), np.uint64(middle)):
        array[at] = value
    for at in range(np.uint64(middle), np.uint64(end)):
        array[at] = value


@compiled
def fill(array, value):
    """Set all items."""
    fill_from(np.int64(0), np.int64(len(array)), array, value)


@partial(each, least_chunk=1)
def fill_part(part, array, value):
    """Set the items of one part."""
    items = PART_BYTES // array.itemsize
    fill_from(part * items, min((part + 1) * items, len(array)), array, value)


def copy_into(array, values):
    """``array[:] = values`` on the host; many items of one type are copied by all threads.

    They share the work of the system, too, which gives an array its memory when it is first written.
    """
    if array.nbytes < SHARED_BYTES or array.dtype != values.dtype or threads.count() == 1:
        array[:] = values
        return
    items, values = (one.view(f"u{array.itemsize}") for one in (array, np.ascontiguousarray(values)))
    values.flags.writeable = False  # of a view: one type for the loop
    copy_part(-(-array.nbytes // PART_BYTES), items, values)


@partial(each, least_chunk=1)
def copy_part(part, array, values):
    """Copy the items of one part."""
    items = PART_BYTES // array.itemsize
    for at in range(np.uint64(part * items), np.uint64(min((part + 1) * items, len(array)))):
        array[at] = values[at]


def exclusive_scan(counts, dtype=np.int64):
    """Offsets (n + 1,) of consecutive groups from their (n,) sizes; the last one is the total."""
    where, counts = arrays.device_of(counts), arrays.on_host_if_small(counts)
    offsets = arrays.zeros(len(counts) + 1, dtype, arrays.device_of(counts))
    arrays.namespace(counts).cumsum(counts, dtype=dtype, out=offsets[1:])
    return arrays.move(offsets, where)


@each
def take_item(item, values, places, taken):
    """Take the value of a place."""
    taken[item] = values[places[item]]


def take(values, places):
    """``values[places]``; on a GPU by a loop, since CuPy compiles a kernel for each type."""
    where = arrays.device_of(values)
    if where == "cpu":
        return values[places]
    taken = arrays.empty(len(places), values.dtype, where)
    take_item(len(places), values, places, taken)
    return taken


def ascending(values):
    """``values`` in ascending order, where they are if they are many.

    CuPy takes a tenth of a second to load its sort, so few items are sorted on the host.
    """
    where, values = arrays.device_of(values), arrays.on_host_if_small(values)
    values.sort()
    return arrays.move(values, where)


def pack(marked, *columns):
    """Each column's items where ``marked`` is true, in order; ``None`` stays ``None``."""
    return tuple(None if column is None else column[marked] for column in columns)


@each
def count_value(item, values, counts):
    """Count an item of a histogram."""
    fetch_add(counts, values[item], 1)


def histogram(values, bins):
    """Count how often each integer occurs in ``values``: (bins,) int64; values are not checked."""
    where = arrays.device_of(values)
    if where == "cpu":
        return np.bincount(values, minlength=bins).astype(np.int64, copy=False)
    counts = arrays.zeros(bins, np.int64, where)
    count_value(len(values), values, counts)
    return counts


def unique(values):
    """Distinct values, ascending, and for each value its int64 position among them."""
    distinct, positions = arrays.namespace(values).unique(values, return_inverse=True)
    return distinct, positions.reshape(-1).astype(np.int64, copy=False)


def tree_of(splitters):
    """A power of two less one of splitters as a search tree: those below node *k* are *2 k* and *2 k + 1*."""
    tree, n_nodes = np.zeros(len(splitters) + 1, splitters.dtype), 1
    while n_nodes < len(tree):
        apart = len(tree) // n_nodes
        tree[n_nodes : 2 * n_nodes] = splitters[apart // 2 - 1 :: apart]
        n_nodes *= 2
    return tree


@device
def part_of(key, tree):
    """How many of the splitters in a tree are not above a key."""
    node, n_parts = ONE, np.uint64(len(tree))
    while node < n_parts:  # a comparison is added, so there is no branch, which could not be foreseen
        node = (node << ONE) + np.uint64(tree[node] <= key)
    return node - n_parts


def count(marked) -> int:
    """How many items of a boolean array are true."""
    marked = arrays.on_host_if_small(marked)
    if arrays.device_of(marked) == "cpu":
        return int(np.count_nonzero(marked))
    return sum(int(arrays.namespace(part).cumsum(part, dtype=np.int64)[-1]) for part in _parts(marked))


def mean(values) -> float:
    """Mean of an array that is not empty, computed in float64."""
    values = arrays.on_host_if_small(values)
    if arrays.device_of(values) == "cpu":
        return float(values.mean(dtype=np.float64))
    return sum(float(part.astype(np.float64).sum()) for part in _parts(values)) / len(values)


def _parts(values):
    return (values[first : first + BLOCK_ITEMS] for first in range(0, len(values), BLOCK_ITEMS))
