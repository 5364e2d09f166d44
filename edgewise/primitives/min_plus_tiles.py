"""CUDA kernels of the min-plus product: tiles in shared memory, sums in registers.

Imported only when a CUDA kernel is wanted.  ``cuda`` must be a global of this module, because the
simulator swaps it there.
"""

import numpy as np
from numba import cuda

from edgewise.device.target import SIMULATED
from edgewise.primitives.quads import fetch_quad, load_quad, store_quad, wait_for_quads

#: Bytes at whose multiples shared arrays begin, so that quads can be read; the simulator knows of no such thing.
ALIGNED = None if SIMULATED else 16
U = np.uint64  # an unsigned index needs no test for one below zero


def fused(kind):
    """``least = min(least, a + b)`` of two steps, one instruction each where the GPU has it (int32, sm_90)."""

    def add(least, a, b, c, d, place, one):
        return min(min(least, kind(a + b)), kind(c + d))

    return add


def mixed(kind, share):
    """Some sums by multiply-add, which another pipe does; then the least of three in one instruction."""

    def add(least, a, b, c, d, place, one):
        if place % 8 < share:
            return min(min(kind(a * one + b), kind(c * one + d)), least)
        return min(min(least, kind(a + b)), kind(c + d))

    return add


def ordered(kind):
    """Non-negative floats order like their bits: the least of three in one instruction."""

    def add(least, a, b, c, d, place, one):
        x = np.float32(a.view(np.float32) + b.view(np.float32)).view(np.int32)
        y = np.float32(c.view(np.float32) + d.view(np.float32)).view(np.int32)
        return min(min(x, y), least)

    return add


def relaxing(kind, tile, side, depth, add, group):
    """Kernel: ``target = min(target, left^T (min,+) right)``, a tile of it a block.

    Parameters
    ----------
    kind : NumPy type
    tile : int
        Rows and columns of a tile, and the common dimension.
    side : int
        Rows and columns of a thread's part of the tile; 4 or 8.
    depth : int
        Steps of the common dimension in shared memory at once; there are two such slices, one of them on
        its way.
    add : function
    group : int
        Tiles below one another that are worked on at the same time.
    """
    add = cuda.jit(device=True, inline="always")(add)
    across, halves, slice_size = tile // side, side // 4, depth * tile
    threads, apart = across * across, tile // halves
    quads = slice_size // 4 // threads  # that each thread brings
    both, cells = 2 * slice_size, side * side

    def loop(count, arguments):
        target, left, right, stride, left_at, left_pitch, right_at, right_pitch, right_apart, one = arguments
        left_slices = cuda.shared.array(both, kind, ALIGNED)
        right_slices = cuda.shared.array(both, kind, ALIGNED)
        least = cuda.local.array(cells, kind)
        a = cuda.local.array(side, kind)
        b = cuda.local.array(side, kind)
        c = cuda.local.array(side, kind)
        d = cuda.local.array(side, kind)
        thread = cuda.threadIdx.x
        wide = stride // tile
        high = count // wide
        start = cuda.blockIdx.x // (group * wide) * group
        rows = min(group, high - start)
        rest = cuda.blockIdx.x - start * wide
        tile_row, tile_column = start + rest % rows, rest // rows
        row, column = thread // across * 4, thread % across * 4
        corner = (tile_row * tile + row) * stride + tile_column * tile + column
        left_from, right_from = left_at + tile_row * tile, right_at + tile_row * right_apart + tile_column * tile
        for piece in range(quads):
            at = (piece * threads + thread) * 4
            step, place = at // tile, at % tile
            fetch_quad(left_slices, U(at), left, U(left_from + step * left_pitch + place))
            fetch_quad(right_slices, U(at), right, U(right_from + step * right_pitch + place))
        for i in range(side):
            for h in range(halves):
                at = i * side + 4 * h
                least[at], least[at + 1], least[at + 2], least[at + 3] = load_quad(
                    target, U(corner + (i // 4 * apart + i % 4) * stride + h * apart)
                )
        for first in range(0, tile, depth):
            here = first // depth % 2 * slice_size
            wait_for_quads()
            cuda.syncthreads()
            if first + depth < tile:
                for piece in range(quads):
                    at = (piece * threads + thread) * 4
                    step, place = first + depth + at // tile, at % tile
                    there = slice_size - here + at
                    fetch_quad(left_slices, U(there), left, U(left_from + step * left_pitch + place))
                    fetch_quad(right_slices, U(there), right, U(right_from + step * right_pitch + place))
            for k in range(0, depth, 2):
                for h in range(halves):
                    at, i = here + k * tile + h * apart, 4 * h
                    a[i], a[i + 1], a[i + 2], a[i + 3] = load_quad(left_slices, U(at + row))
                    b[i], b[i + 1], b[i + 2], b[i + 3] = load_quad(right_slices, U(at + column))
                    c[i], c[i + 1], c[i + 2], c[i + 3] = load_quad(left_slices, U(at + row + tile))
                    d[i], d[i + 1], d[i + 2], d[i + 3] = load_quad(right_slices, U(at + column + tile))
                for i in range(side):
                    for j in range(side):
                        at = i * side + j
                        least[at] = add(least[at], a[i], b[j], c[i], d[j], i + j, one)
        cuda.syncthreads()
        for i in range(side):
            for h in range(halves):
                at = i * side + 4 * h
                store_quad(
                    target,
                    U(corner + (i // 4 * apart + i % 4) * stride + h * apart),
                    least[at],
                    least[at + 1],
                    least[at + 2],
                    least[at + 3],
                )

    return loop


def closing(kind, tile, side):
    """Kernel of one block: the distances within a tile over vertices of the tile alone.

    Every thread keeps its part of the tile in registers.  The row and the column of the next vertex go
    through shared memory, turn by turn in two places, so that one barrier a vertex does.  Vertices come in
    the order of the threads that own them, which is as good as any.
    """
    across, halves, cells, both = tile // side, side // 4, side * side, 2 * tile
    apart = tile // halves

    def loop(count, arguments):
        panel, closed, at, pitch = arguments
        rows = cuda.shared.array(both, kind, ALIGNED)
        columns = cuda.shared.array(both, kind, ALIGNED)
        least = cuda.local.array(cells, kind)
        thread = cuda.threadIdx.x
        row, column = thread // across * 4, thread % across * 4
        for i in range(side):
            for j in range(side):
                least[i * side + j] = panel[
                    U(at + (row + i // 4 * apart + i % 4) * pitch + column + j // 4 * apart + j % 4)
                ]
        for owner in range(0, 4 * across, 4):
            for own in range(side):
                here = own % 2 * tile
                if row == owner:
                    for j in range(side):
                        rows[U(here + column + j // 4 * apart + j % 4)] = least[own * side + j]
                if column == owner:
                    for i in range(side):
                        columns[U(here + row + i // 4 * apart + i % 4)] = least[i * side + own]
                cuda.syncthreads()
                for i in range(side):
                    to = columns[U(here + row + i // 4 * apart + i % 4)]
                    for j in range(side):
                        on = rows[U(here + column + j // 4 * apart + j % 4)]
                        least[i * side + j] = min(least[i * side + j], kind(to + on))
        for i in range(side):
            for j in range(side):
                r, c = row + i // 4 * apart + i % 4, column + j // 4 * apart + j % 4
                closed[U(r * both + c)] = least[i * side + j]
                closed[U(c * both + tile + r)] = least[i * side + j]

    return loop


def turning(kind, square, high):
    """Kernel: ``panel`` becomes the transpose of a strip of the matrix; a square of it a block."""
    pitch, cells = square + 1, square * (square + 1)

    def loop(count, arguments):
        matrix, panel, at, stride, panel_at, panel_pitch, wide = arguments
        squares = cuda.shared.array(cells, kind)
        across = wide // square
        top, left = cuda.blockIdx.x // across * square, cuda.blockIdx.x % across * square
        row, column = cuda.threadIdx.x // square, cuda.threadIdx.x % square
        for down in range(row, square, high):
            squares[U(down * pitch + column)] = matrix[U(at + (top + down) * stride + left + column)]
        cuda.syncthreads()
        for down in range(row, square, high):
            panel[U(panel_at + (left + down) * panel_pitch + top + column)] = squares[U(column * pitch + down)]

    return loop
