"""The min-plus product on a GPU: ``target[i, j]`` is lowered to the least ``left[k, i] + right[k, j]``.

A block of threads has a tile of the target, a thread 8 x 8 of its values in registers.  Slices of both
factors go through shared memory, the next one being copied (``cp.async``) while one is used: for 16 values
read from shared memory a thread computes 64 sums and minima.  Both factors are *panels*: k is the row, so
that neighbouring threads read neighbouring entries.

On Hopper (sm_90) ``min(least, a + b)`` of int32 is one instruction, VIADDMNMX, of which a multiprocessor
finishes 64 a cycle: 16.7 T updates a second on an H200, of which 14 T remain.  Floats would take an FADD and
an FMNMX each (10 T).  But non-negative floats are ordered like the integers with the same bits, so two FADD
and one VIMNMX3, the least of three, serve two updates (14 T).

The factors may be parts of the target's own matrix as long as no block reads what another writes.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, launch
from edgewise.device.target import SIMULATED

#: Rows and columns of matrices are a multiple of this (the simulator's are small).
TILE = 8 if SIMULATED else 128


class Panel(NamedTuple):
    """Rows of a flat array: row ``r`` begins at entry ``at + r * pitch``."""

    array: Any
    at: int
    pitch: int


class Shape(NamedTuple):
    """How the values of a type are distributed over threads.

    ``tile``: rows and columns of a tile, and the common dimension of a product.  ``side``: rows and columns
    of a thread's part of the tile, 4 or 8.  ``depth``: steps of the common dimension in shared memory at
    once, twice. ``blocks_per_sm``: blocks that a multiprocessor runs at once.
    """

    tile: int
    side: int
    depth: int
    blocks_per_sm: int


class MinPlus:
    """The kernels for one type of distances, negative ones if ``signed``; ``tile`` divides :data:`TILE`."""

    def __init__(self, dtype, signed):
        self.kind = np.dtype(dtype).type
        shape = _shape(self.kind)
        self.tile = shape.tile
        self.by_bits = self.kind is np.float32 and not signed
        square, high = (8, 8) if SIMULATED else (32, 8)
        self.square = square
        name = f"{__name__}.%s-{self.kind.__name__}{'-signed' if signed else ''}"
        threads, corners = (shape.tile // shape.side) ** 2, (shape.tile // 4) ** 2
        self._relax = _kernel(name % "relax", lambda: self._relaxing(shape), threads, shape.blocks_per_sm)
        self._close = _kernel(name % "close", lambda: _tiles().closing(self.kind, shape.tile), corners)
        self._transpose = _kernel(
            name % "transpose", lambda: _tiles().transposing(self.kind, square, high), square * high
        )

    def _relaxing(self, shape):
        tiles = _tiles()
        if self.by_bits:
            return tiles.relaxing(np.int32, shape, tiles.ordered())
        return tiles.relaxing(self.kind, shape, tiles.plain(self.kind))

    def relax(self, target, left, right, high, wide, *, apart=0, upper=False):
        """Lower a target of ``high`` by ``wide`` tiles to ``left^T (min,+) right``, a tile deep.

        ``apart``: entries from the right factor of a row of tiles to that of the next.  ``upper``: leave out
        the tiles below the diagonal.
        """
        if self.by_bits:
            target, left, right = (
                panel._replace(array=panel.array.view(np.int32)) for panel in (target, left, right)
            )
        device = arrays.device_of(target.array)
        self._relax(high * wide, (target, left, right, apart, wide, int(upper)), device)

    def close(self, panel, closed, negative, first):
        """Distances within the tile at ``panel``, whose first vertex is ``first``, over its vertices.

        ``closed`` (2 * tile * tile,) takes the rows of the distances, each followed by the same row of their
        transpose.  ``negative`` (1,) int64, if it is 0, becomes 1 + the first vertex of the tile found on a
        cycle of negative length, which is before any sum wraps.
        """
        self._close(1, (panel, closed, negative, first), arrays.device_of(panel.array))

    def transpose(self, source, target, high):
        """Let the panel ``target`` be the transpose of ``high`` rows, a tile wide."""
        squares = high // self.square * (self.tile // self.square)
        self._transpose(squares, (source, target, self.tile), arrays.device_of(target.array))


@cache
def min_plus(dtype, signed=False) -> MinPlus:
    """The kernels for one type; see :class:`MinPlus`."""
    return MinPlus(dtype, signed)


def padded(n) -> int:
    """Rows of a matrix for ``n`` vertices that tiles divide."""
    return max(-(-n // TILE), 1) * TILE


def _shape(kind):
    if SIMULATED:
        return Shape(TILE, 4, 4, 1)
    return Shape(64, 4, 16, 2) if np.dtype(kind).itemsize == 8 else Shape(128, 8, 16, 2)


def _kernel(name, source, threads, blocks_per_sm=1):
    """A kernel whose items are blocks of threads."""
    return launch.Kernel(
        name, source, launch.Grid(lanes=threads, threads=threads, min_blocks_per_sm=blocks_per_sm)
    )


def _tiles():
    from edgewise.primitives import min_plus_tiles

    return min_plus_tiles
