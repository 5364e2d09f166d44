"""The graphs of a multilevel hierarchy, and what their vertices draw at random.

A level is a graph in compressed sparse rows with weights of its edges and of its vertices, all integers, so
that sums are the same in any order.  Nothing here depends on the order of the entries of a row.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, device, each_row
from edgewise.primitives.mixing import MASK, mix

#: Widest integer that a weight of an edge is stored in, if all of them together fit.
NARROW = 2**31 - 1


class Level(NamedTuple):
    """A graph of the hierarchy; every edge is in the rows of both its ends, and there are no self-loops.

    Attributes
    ----------
    offsets : (n + 1,) int64 array
    neighbours : (entries,) index array
    weights : (entries,) int32 or int64 array
        Of the edges, 1 or more; empty if all are 1.  The type also fits their total.
    sizes : (n,) int64 array
        Weights of the vertices, 1 or more.
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
    write_rows(len(level.sizes), level.offsets, rows, width="warp")
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
