"""Random points of the unit square, numbered cell by cell: ids tell where a point lies.

Coordinates are 31-bit fixed-point numbers, so that squared distances fit an int64 exactly and two devices
can never disagree about a pair of points.
"""

import numpy as np

from edgewise.device import arrays, device, each
from edgewise.generators.limits import room
from edgewise.generators.random import MASK, ONE, POINTS, WORD, words

#: Bits of a coordinate.
BITS = 31
UNIT = 2**BITS
SHIFT = np.uint64(BITS)


@device
def _point(seed, number):
    w0, w1, _, _ = words(seed, number, 0, POINTS)
    return w0 >> ONE, w1 >> ONE


@each
def _file(point, seed, side, keys):
    """Key of a point: its cell, counted along rows of ``side``, and its number."""
    at, cells = np.uint64(point), np.uint64(side)
    x, y = _point(seed, at)
    cell = ((y * cells) >> SHIFT) * cells + ((x * cells) >> SHIFT)
    keys[at] = (cell << WORD) | at


@each
def _locate(vertex, seed, keys, xs, ys):
    x, y = _point(seed, keys[vertex] & MASK)
    xs[vertex], ys[vertex] = x, y


def in_cells(n, side, seed, device):
    """Make ``n`` points and sort them into ``side`` times ``side`` cells.

    Returns
    -------
    xs, ys : (n,) uint32 arrays
        Coordinates, in units of ``1 / UNIT``.
    starts : (side * side + 1,) int64 array
        First vertex of each cell.
    """
    room(32 * n + 16 * side * side, device)
    keys = arrays.empty(n, np.uint64, device)
    _file(n, seed, side, keys)
    keys.sort()
    xs, ys = arrays.empty(n, np.uint32, device), arrays.empty(n, np.uint32, device)
    _locate(n, seed, keys, xs, ys)
    xp = arrays.namespace(device)
    cells = xp.arange(side * side + 1, dtype=np.uint64) << WORD
    return xs, ys, arrays.move(xp.searchsorted(keys, cells).astype(np.int64, copy=False), device)
