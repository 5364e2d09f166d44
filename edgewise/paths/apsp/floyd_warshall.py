"""Floyd and Warshall's method in blocks: min-plus products of tiles that stay in the caches.

With pivots ``k`` taken in blocks ``K`` of 256, every block takes three steps:

1. *close* the block on the diagonal, ``D[K, K]``, by the same method with blocks of 64;
2. bring in the paths through it of the block's rows and columns, ``D[K, :] = D[K, K] * D[K, :]`` and
   ``D[:, K] = D[:, K] * D[K, K]``, where ``*`` is the min-plus product;
3. and of all others: ``D[I, J] = min(D[I, J], D[I, K] * D[K, J])``.

Every step is a product, and one body does them all.  A worker copies 64 columns of the right factor, all
``K`` rows, into memory of its own: 64 kB that would otherwise lie in as many pages, all of whose rows
compete for the same few lines of the cache where the stride is a power of two.  Then four rows of the result
at a time stay in registers while ``k`` runs over the block; each entry of the left factor is added to a
vector of the right one, and the lesser kept.  Blocks of 256 rather than 64 read and write the whole matrix n
/ 256 times, which memory can follow.

In step 2 the factor ``D[:, K]`` is lowered while it is read.  That does no harm: an entry is the length of
some path at any time, and only falls.  See Venkataraman et al., "A blocked all-pairs shortest-paths
algorithm" (JEA 8, 2003) and Katz and Kider, "All-pairs shortest-paths for large graphs on the GPU" (2008).

A vertex whose distance to itself falls below zero lies on a negative cycle.  It is noticed before it is used
as a pivot, so that nothing grows beyond the longest simple path.
"""

import numpy as np

from edgewise.device import arrays, compiled, device, fetch_add, threads
from edgewise.paths.apsp import team
from edgewise.paths.apsp.bounds import least_of
from edgewise.paths.apsp.dense import by_matrix
from edgewise.primitives.vectors import REGISTERS, item, lesser, of_bytes, wrapping_add, write

#: Sides of a tile, pivots a block, rows of the result a worker takes at a time.
TILE, PIVOTS, MOST_ROWS = 64, 256, 256
#: Pieces for which a second worker is called.
FEWEST_PIECES = 4

read, items_of = of_bytes(REGISTERS // 8)


@device
def lower_four_rows(matrix, at, stride, left, pivots, lanes, packed, strip):
    """Lower four rows of 64 columns by the products of four rows of the left factor with the packed one."""
    second, third, fourth = stride, 2 * stride, 3 * stride
    for column in range(0, TILE, lanes):
        here = at + column
        one, two = read(matrix, here), read(matrix, here + second)
        three, four = read(matrix, here + third), read(matrix, here + fourth)
        for pivot in range(pivots):
            through = read(packed, strip + pivot * TILE + column)
            one = lesser(wrapping_add(through, item(matrix, left + pivot)), one)
            two = lesser(wrapping_add(through, item(matrix, left + pivot + second)), two)
            three = lesser(wrapping_add(through, item(matrix, left + pivot + third)), three)
            four = lesser(wrapping_add(through, item(matrix, left + pivot + fourth)), four)
        write(matrix, here, one)
        write(matrix, here + second, two)
        write(matrix, here + third, three)
        write(matrix, here + fourth, four)


@compiled
def multiply(me, counter, matrix, stride, pivot, pivots, first_rows, row_counts, columns, lanes, packed):
    """One worker lowers pieces of the result, some rows of 64 columns each, until none is left."""
    strip = me * PIVOTS * TILE
    pieces = len(first_rows) * len(columns)
    piece = fetch_add(counter, 0, 1)
    while piece < pieces:
        chunk, column = piece // len(columns), columns[piece % len(columns)]
        for k in range(pivots):
            for j in range(TILE):
                packed[strip + k * TILE + j] = matrix[(pivot + k) * stride + column + j]
        for row in range(first_rows[chunk], first_rows[chunk] + row_counts[chunk], 4):
            at = row * stride
            lower_four_rows(matrix, at + column, stride, at + pivot, pivots, lanes, packed, strip)
        piece = fetch_add(counter, 0, 1)


@compiled
def close_tile(matrix, stride, pivot, lanes):
    """Floyd and Warshall's loops on a tile of the diagonal; return whether a pivot was negative."""
    corner = pivot * stride + pivot
    for k in range(TILE):
        through = corner + k * stride
        if matrix[through + k] < 0:
            return True
        for i in range(TILE):
            at = corner + i * stride
            step = matrix[at + k]
            for j in range(0, TILE, lanes):
                write(
                    matrix,
                    at + j,
                    lesser(wrapping_add(read(matrix, through + j), step), read(matrix, at + j)),
                )
    return False


class _Blocks:
    """Blocks of pivots on a matrix."""

    def __init__(self, matrix, stride):
        self.matrix, self.stride = matrix, stride
        self.lanes = items_of(matrix.dtype)
        self.packed = np.empty(threads.count() * PIVOTS * TILE, matrix.dtype)

    def close(self, begin, end, pivots):
        """Bring in the paths between ``begin`` and ``end`` through all vertices there; return as below."""
        for pivot in range(begin, end, pivots):
            block = pivot, min(pivot + pivots, end)
            if pivots == TILE:
                negative = close_tile(self.matrix, self.stride, pivot, self.lanes)
            else:
                negative = self.close(*block, TILE)
            if negative:
                return True
            others = [(begin, block[0]), (block[1], end)]
            self.lower([block], others, block)
            self.lower(others, [block], block)
            self.lower(others, others, block)
        return False

    def lower(self, rows, columns, block):
        """Lower rectangles of the matrix, all ``rows`` by all ``columns``, by the paths through ``block``."""
        chunks = [
            (first, min(MOST_ROWS, end - first))
            for begin, end in rows
            for first in range(begin, end, MOST_ROWS)
        ]
        strips = [first for begin, end in columns for first in range(begin, end, TILE)]
        if chunks and strips:
            firsts, counts = np.array(chunks).T.copy()
            extent = self.stride, block[0], block[1] - block[0]
            pieces = firsts, counts, np.array(strips), self.lanes, self.packed
            workers = team.size_for(len(chunks) * len(strips) // FEWEST_PIECES)
            team.run(multiply, workers, self.matrix, *extent, *pieces)


def close_matrix(matrix, stride):
    """Turn the lengths of edges into distances, in place.

    Parameters
    ----------
    matrix : (stride * stride,) array
        See :mod:`edgewise.paths.apsp.dense`.
    stride : int
        A multiple of ``TILE``.

    Returns
    -------
    bool
        Whether a pivot lies on a negative cycle, with which the matrix is left unfinished.
    """
    return _Blocks(matrix, stride).close(0, stride, PIVOTS)


def floyd_warshall(rows):
    """Make the method ready for a graph, in the place of its rows; see :func:`~.dense.by_matrix`."""
    n = rows.n_vertices
    if arrays.device_of(rows.offsets) != "cpu":
        return _on_gpu(rows, n)
    stride = -(-n // TILE) * TILE
    return by_matrix(rows, stride, lambda matrix: close_matrix(matrix, stride))


def _on_gpu(rows, n):
    """The same on a GPU, whose tiles are others."""
    from edgewise.paths.apsp import floyd_tiles
    from edgewise.primitives.min_plus import padded

    stride, signed = padded(n), least_of(rows.weights) < 0
    symmetric = rows.symmetric and not signed

    def close(matrix):
        return floyd_tiles.solve(matrix, n, stride, symmetric=symmetric, signed=signed)

    return by_matrix(rows, stride, close)
