"""CUDA kernels of the min-plus product: tiles in shared memory, sums in registers.

``cuda`` must be a global of this module, because the explorer replaces it there.
"""

import numpy as np

from edgewise.device.target import SIMULATED, inlined_on_cuda
from edgewise.primitives.quads import fetch_quad, load_quad, store_quad, wait_for_quads

if not SIMULATED:
    from edgewise.device.gpu_compiler import cuda

#: Bytes at whose multiples shared arrays begin, so that quads can be read.
ALIGNED = 16
#: Tiles below one another that are worked on at the same time, so that the panels stay in the cache.
GROUP = 8
U = np.uint64  # an unsigned index needs no test for one below zero


def plain(kind):
    """Two sums, each compared: one instruction a sum for int32 on Hopper, two for floats."""

    def add(least, a, b, c, d):
        return min(min(least, kind(a + b)), kind(c + d))

    return add


def ordered():
    """Bits of non-negative float32 as int32, which have the same order: the least of three."""

    def add(least, a, b, c, d):
        first = np.float32(a.view(np.float32) + b.view(np.float32)).view(np.int32)
        second = np.float32(c.view(np.float32) + d.view(np.float32)).view(np.int32)
        return min(min(first, second), least)

    return add


def _tile_of():
    """Function for the tile of a block: columns of ``GROUP`` tiles."""

    def tile_of(block, high, wide):
        start = block // (GROUP * wide) * GROUP
        rows, rest = min(GROUP, high - start), block - start * wide
        return start + rest % rows, rest // rows

    return tile_of


def _fetching(tile, depth, threads):
    """Function by which the threads of a block start to copy a slice of a panel, each its quads."""

    def fetch(slices, there, panel, begin, pitch):
        for piece in range(depth * tile // 4 // threads):
            at = (piece * threads + cuda.threadIdx.x) * 4
            fetch_quad(slices, U(there + at), panel, U(begin + at // tile * pitch + at % tile))

    return fetch


def relaxing(kind, shape, add):
    """Kernel: ``target = min(target, left^T (min,+) right)``, a tile of it per block.

    ``shape`` is a :class:`~edgewise.primitives.min_plus.Shape`, and ``add(least, a, b, c, d)`` the least of
    ``least``, ``a + b`` and ``c + d``.
    """
    tile, side, depth, _ = shape
    add = inlined_on_cuda(add)
    tile_of = inlined_on_cuda(_tile_of())
    fetch = inlined_on_cuda(_fetching(tile, depth, (tile // side) ** 2))
    across, halves, slice_size = tile // side, side // 4, depth * tile
    apart, both, cells = tile // halves, 2 * slice_size, side * side

    def loop(count, arguments):
        target, left, right, right_apart, wide, upper = arguments
        left_slices = cuda.shared.array(both, kind, ALIGNED)
        right_slices = cuda.shared.array(both, kind, ALIGNED)
        least = cuda.local.array(cells, kind)
        a = cuda.local.array(side, kind)
        b = cuda.local.array(side, kind)
        c = cuda.local.array(side, kind)
        d = cuda.local.array(side, kind)
        thread, stride = cuda.threadIdx.x, target.pitch
        tile_row, tile_column = tile_of(cuda.blockIdx.x, count // wide, wide)
        if upper and tile_column < tile_row:
            return
        row, column = thread // across * 4, thread % across * 4
        corner = target.at + (tile_row * tile + row) * stride + tile_column * tile + column
        left_from = left.at + tile_row * tile
        right_from = right.at + tile_row * right_apart + tile_column * tile
        fetch(left_slices, 0, left.array, left_from, left.pitch)
        fetch(right_slices, 0, right.array, right_from, right.pitch)
        for i in range(side):
            for h in range(halves):
                q, to = i * side + 4 * h, corner + (i // 4 * apart + i % 4) * stride + h * apart
                least[q], least[q + 1], least[q + 2], least[q + 3] = load_quad(target.array, U(to))
        for first in range(0, tile, depth):
            here = first // depth % 2 * slice_size
            wait_for_quads()
            cuda.syncthreads()
            if first + depth < tile:
                after, there = first + depth, slice_size - here
                fetch(left_slices, there, left.array, left_from + after * left.pitch, left.pitch)
                fetch(right_slices, there, right.array, right_from + after * right.pitch, right.pitch)
            for k in range(0, depth, 2):
                for h in range(halves):
                    at, i = here + k * tile + h * apart, 4 * h
                    a[i], a[i + 1], a[i + 2], a[i + 3] = load_quad(left_slices, U(at + row))
                    b[i], b[i + 1], b[i + 2], b[i + 3] = load_quad(right_slices, U(at + column))
                    c[i], c[i + 1], c[i + 2], c[i + 3] = load_quad(left_slices, U(at + row + tile))
                    d[i], d[i + 1], d[i + 2], d[i + 3] = load_quad(right_slices, U(at + column + tile))
                for i in range(side):
                    for j in range(side):
                        q = i * side + j
                        least[q] = add(least[q], a[i], b[j], c[i], d[j])
        cuda.syncthreads()
        for i in range(side):
            for h in range(halves):
                q, to = i * side + 4 * h, corner + (i // 4 * apart + i % 4) * stride + h * apart
                store_quad(target.array, U(to), (least[q], least[q + 1], least[q + 2], least[q + 3]))

    return loop


def closing(kind, tile):
    """Kernel of one block: the distances within a tile over vertices of the tile alone.

    Every thread keeps 4 x 4 values in registers.  The row and the column of the next vertex go through shared
    memory, alternately in two places, so that one barrier per vertex is enough.
    """
    side, across, both = 4, tile // 4, 2 * tile

    def loop(count, arguments):
        panel, closed, negative, first = arguments
        rows = cuda.shared.array(both, kind, ALIGNED)
        columns = cuda.shared.array(both, kind, ALIGNED)
        least = cuda.local.array(16, kind)
        thread = cuda.threadIdx.x
        row, column = thread // across * 4, thread % across * 4
        for i in range(side):
            for j in range(side):
                least[i * side + j] = panel.array[U(panel.at + (row + i) * panel.pitch + column + j)]
        for owner in range(0, tile, side):
            for own in range(side):
                here = own % 2 * tile
                if row == owner:
                    if column == owner and least[own * side + own] < 0 and negative[0] == 0:
                        negative[0] = first + owner + own + 1
                    for j in range(side):
                        rows[U(here + column + j)] = least[own * side + j]
                if column == owner:
                    for i in range(side):
                        columns[U(here + row + i)] = least[i * side + own]
                cuda.syncthreads()
                for i in range(side):
                    to = columns[U(here + row + i)]
                    for j in range(side):
                        onward = rows[U(here + column + j)]
                        least[i * side + j] = min(least[i * side + j], kind(to + onward))
        for i in range(side):
            for j in range(side):
                closed[U((row + i) * both + column + j)] = least[i * side + j]
                closed[U((column + j) * both + tile + row + i)] = least[i * side + j]

    return loop


def transposing(kind, square, high):
    """Kernel: ``target`` becomes the transpose of a strip of the matrix; a square of it per block."""
    pitch, cells = square + 1, square * (square + 1)

    def loop(count, arguments):
        source, target, wide = arguments
        squares = cuda.shared.array(cells, kind)
        across = wide // square
        top, left = cuda.blockIdx.x // across * square, cuda.blockIdx.x % across * square
        row, column = cuda.threadIdx.x // square, cuda.threadIdx.x % square
        for down in range(row, square, high):
            at = source.at + (top + down) * source.pitch + left + column
            squares[U(down * pitch + column)] = source.array[U(at)]
        cuda.syncthreads()
        for down in range(row, square, high):
            at = target.at + (left + down) * target.pitch + top + column
            target.array[U(at)] = squares[U(column * pitch + down)]

    return loop
