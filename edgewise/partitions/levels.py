"""Levels: the graphs of a multilevel hierarchy, their cuts, the weights of their parts, and random numbers.

A level is a graph in compressed sparse rows with weights of its edges and of its vertices, all integers, so
that sums are the same in any order.  Nothing here depends on the order of the entries of a row.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise import tuning
from edgewise.device import arrays, device, each, each_row, fetch_add
from edgewise.primitives.counting_sort import n_blocks_of
from edgewise.primitives.mixing import MASK, mix

#: Largest sum of weights that are stored in 32 bits.
NARROW = np.iinfo(np.int32).max
#: Sums of each part that threads of a GPU add to.
COPIES = 1024
#: Rows whose lengths are looked at in one step.
STEP_ROWS = 1 << 20
#: Room for the sums of all parts.
SUMS = 1 << 20


class Level(NamedTuple):
    """A graph of the hierarchy; every edge is in the rows of both its ends, and there are no self-loops.

    Attributes
    ----------
    offsets : (n + 1,) int64 array
    neighbours : (entries,) index array
    weights : (entries,) int32 or int64 array
        Of the edges, 1 or more; empty if all are 1.  The type also fits their total.
    sizes : (n,) int64 array
        Weights of the vertices, 1 or more; empty if all are 1.
    rows : (entries,) index array
        The row of each entry on a GPU; empty on the CPU.
    """

    offsets: Any
    neighbours: Any
    weights: Any
    sizes: Any
    rows: Any


@device
def weight_at(level, entry):
    """Weight of the edge of an entry."""
    if len(level.weights):
        return np.int64(level.weights[entry])
    return np.int64(1)


@device
def size_at(sizes, vertex):
    """Weight of a vertex, of those of a level."""
    if len(sizes):
        return sizes[vertex]
    return np.int64(1)


def total_size(level):
    """Total weight of the vertices of a level."""
    return int(level.sizes.sum()) if len(level.sizes) else len(level.offsets) - 1


def room_type(most, where):
    """Type of the room for weights of up to ``most``; a GPU has one type, since its kernels are many."""
    return np.int32 if where == "cpu" and most <= NARROW else np.int64


def sizes_of(level, vertices):
    """Weights of some vertices of a level, an int64 array on its device."""
    if len(level.sizes):
        return level.sizes[vertices]
    return arrays.full(len(vertices), 1, np.int64, arrays.device_of(level.offsets))


def longest_row(offsets):
    """Number of the entries of the longest row, for offsets on the host.

    Examples
    --------
    >>> longest_row(np.array([0, 2, 7, 7]))
    5
    """
    steps = range(0, len(offsets) - 1, STEP_ROWS)
    return max((int(np.diff(offsets[first : first + STEP_ROWS + 1]).max()) for first in steps), default=0)


def are_few(offsets, neighbours):
    """Whether NumPy looks at all rows, on the host: in a millisecond, where a loop is compiled for 0.1 s."""
    is_small = len(offsets) - 1 <= tuning.CPU.primitives_few and len(neighbours) <= tuning.CPU.partitions_few
    return is_small and arrays.device_of(offsets) == "cpu"


@each_row
def write_rows(row, lane, lanes, offsets, rows):
    """Write the number of a row at each of its entries."""
    for entry in range(offsets[row] + lane, offsets[row + 1], lanes):
        rows[entry] = row


def with_rows(level):
    """The level with the row of each entry, if it is on a GPU."""
    where = arrays.device_of(level.offsets)
    if where == "cpu" or len(level.rows):
        return level
    rows = arrays.empty(len(level.neighbours), level.neighbours.dtype, where)
    write_rows(len(level.offsets) - 1, level.offsets, rows, width="warp")
    return level._replace(rows=rows)


def moved(level, where):
    """The level on another device, without the rows of the entries."""
    forms = (level.offsets, level.neighbours, level.weights, level.sizes)
    rows = arrays.empty(0, level.neighbours.dtype, where)
    return Level._make([*(arrays.move(one, where) for one in forms), rows])


def seed_salt(seed):
    """A number of 32 bits that depends on all bits of a seed."""
    return int(mix(seed & MASK, (seed >> 32) & MASK))


def salt_of(seed, step):
    """A number of 32 bits that a step of a seeded call adds to what it permutes."""
    return int(mix(seed_salt(seed), step & MASK))


@each_row
def _add_cut(row, lane, lanes, level, part, sums):
    total = np.int64(0)
    for entry in range(level.offsets[row] + lane, level.offsets[row + 1], lanes):
        if part[level.neighbours[entry]] != part[row]:
            total += weight_at(level, entry)
    if total > 0:
        fetch_add(sums, 0, total)


def cut_of(level, part):
    """Sum of the weights of the edges between parts."""
    if are_few(level.offsets, level.neighbours):
        is_cut = part[level.neighbours] != np.repeat(part, np.diff(level.offsets))
        both = level.weights[is_cut].sum(dtype=np.int64) if len(level.weights) else np.count_nonzero(is_cut)
        return int(both) // 2
    sums = arrays.zeros(1, np.int64, arrays.device_of(level.offsets))
    _add_cut(len(level.offsets) - 1, level, part, sums, width="warp")
    return int(sums[0]) // 2


@partial(each, least_chunk=1)
def _add_block(block, items, k, part, sizes, sums):
    """Add up the weights of the parts of a block of vertices."""
    for vertex in range(block * items, min((block + 1) * items, len(part))):
        sums[block * k + np.int64(part[vertex])] += size_at(sizes, vertex)


@each
def _add_vertex(vertex, copies, k, part, sizes, sums):
    fetch_add(sums, vertex % copies * k + np.int64(part[vertex]), size_at(sizes, vertex))


def _sums_of(sizes, part, k):
    """Sums of the weights of ``k`` parts, which add up to them: (copies, k) int64."""
    where, count = arrays.device_of(part), len(part)
    if where == "cpu" and count <= tuning.CPU.primitives_few:
        return np.bincount(part, sizes if len(sizes) else None, k).astype(np.int64).reshape(1, k)
    if where == "cpu":
        blocks = n_blocks_of(count)
        sums = np.zeros(blocks * k, np.int64)
        _add_block(blocks, -(-count // blocks), k, part, sizes, sums)
    else:
        blocks = max(1, min(COPIES, SUMS // k))
        sums = arrays.zeros(blocks * k, np.int64, where)
        _add_vertex(count, blocks, k, part, sizes, sums)
    return sums.reshape(blocks, k)


def part_weights(sizes, part, k):
    """The weights of ``k`` parts, (k,) int64, on the device of the vertices' parts.

    ``sizes`` are those of a level.
    """
    return _sums_of(sizes, part, k).sum(axis=0)


def loads_of(sizes, part, k):
    """The weights of ``k`` parts, (k,) int64 on the host, where CuPy need not compile the sum."""
    return arrays.move(_sums_of(sizes, part, k).ravel(), "cpu").reshape(-1, k).sum(axis=0)


def least_of(limits, total):
    """Weights that are as far below even shares as the limits of the parts are above them, (k,) int64.

    They are on the device of the limits, and negative if parts may weigh more than two shares.

    Examples
    --------
    >>> least_of(np.array([103, 103]), 200).tolist(), least_of(np.array([20, 40]), 20).tolist()
    ([97, 97], [-6, -13])
    """
    return (limits * (2 * total / sum(limits.tolist()) - 1)).astype(np.int64)


def imbalance_of(weights):
    """Largest weight of a part over that of an even share, less 1; 0 if there is no weight.

    The share is rounded up, as no partition of integers is more even, except where there is less than 1 for
    each part, so that parts are empty.

    Examples
    --------
    >>> imbalance_of(np.array([2, 3])), imbalance_of(np.array([1, 1, 0, 0, 0]))
    (0.0, 1.5)
    """
    total, k = int(weights.sum()), len(weights)
    if not total:
        return 0.0
    return int(weights.max()) / (-(-total // k) if total >= k else total / k) - 1
