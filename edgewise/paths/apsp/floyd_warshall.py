"""The Floyd-Warshall algorithm in blocks on the CPU, and its plain form; both turn a matrix into distances.

The blocked method takes pivots ``k`` in blocks ``K`` of 256, with three steps for each block:

1. *close* the block on the diagonal, ``D[K, K]``, by the same method with blocks of 64;
2. take the paths through it into the block's rows and columns, ``D[K, :] = D[K, K] * D[K, :]`` and
   ``D[:, K] = D[:, K] * D[K, K]``, where ``*`` is the min-plus product;
3. and into all others: ``D[I, J] = min(D[I, J], D[I, K] * D[K, J])``.

A worker copies 64 columns of the right factor, all ``K`` rows, into 64 kB of its own: the rows compete for
the same few cache lines where the stride is a power of two.  Four rows of the result stay in registers while
``k`` runs over the block.  Blocks of 256 rather than 64 read and write the whole matrix n / 256 times, which
memory can follow.  In step 2 the factor ``D[:, K]`` is lowered while it is read, which does no harm: an entry
is always the length of some path.  See Venkataraman et al., "A blocked all-pairs shortest-paths algorithm"
(JEA 8, 2003) and Katz and Kider, "All-pairs shortest-paths for large graphs on the GPU" (2008).

The plain form, of Fusi and of Harish and Narayanan, "Accelerating large graph algorithms on the GPU using
CUDA" (HiPC 2007), algorithm 8, is a loop over all pairs for each pivot ``k``.  Row and column ``k`` do not
change meanwhile, since the distance of ``k`` to itself is zero, so threads need no barrier.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, compiled, device, each, fetch_add
from edgewise.paths.apsp.search import MatrixMethod
from edgewise.primitives.thread_pool import ThreadPool
from edgewise.primitives.vectors import item, lesser, of_bytes, registers, wrapping_add, write

#: Rows and columns of a tile.
TILE = 64
#: Pivots of a block.
PIVOTS = 256
#: Rows of the product that a worker takes at a time.
ROWS = 256
#: Pieces of a product for each worker, at least.
WORKER_PIECES = 4

read, items_of = of_bytes(lambda: registers() // 8)


class Block(NamedTuple):
    """A block of pivots in a (stride * stride,) matrix: the first, their number, the items of a vector."""

    matrix: Any
    stride: int
    pivot: int
    n_pivots: int
    lanes: int


class Pieces(NamedTuple):
    """The pieces of a product: chunks of rows by strips of 64 columns; int64 arrays.

    ``first_rows`` and ``row_counts`` (chunks,), ``columns`` (strips,), and the counter ``next_piece`` (1,).
    """

    first_rows: Any
    row_counts: Any
    columns: Any
    next_piece: Any


@device
def lower_four_rows(block, at, left, packed):
    """Lower four rows of 64 columns by the products of four rows of the left factor with the packed one."""
    matrix, lanes = block.matrix, block.lanes
    second, third, fourth = block.stride, 2 * block.stride, 3 * block.stride
    for column in range(0, TILE, lanes):
        here = at + column
        one, two = read(matrix, here), read(matrix, here + second)
        three, four = read(matrix, here + third), read(matrix, here + fourth)
        for pivot in range(block.n_pivots):
            through = read(packed, pivot * TILE + column)
            one = lesser(wrapping_add(through, item(matrix, left + pivot)), one)
            two = lesser(wrapping_add(through, item(matrix, left + pivot + second)), two)
            three = lesser(wrapping_add(through, item(matrix, left + pivot + third)), three)
            four = lesser(wrapping_add(through, item(matrix, left + pivot + fourth)), four)
        write(matrix, here, one)
        write(matrix, here + second, two)
        write(matrix, here + third, three)
        write(matrix, here + fourth, four)


@compiled
def multiply(block, pieces, packed):
    """Lower pieces of the result from the counter; ``packed`` is (PIVOTS * TILE,) scratch memory."""
    matrix, stride, columns = block.matrix, block.stride, pieces.columns
    n_pieces = len(pieces.first_rows) * len(columns)
    piece = fetch_add(pieces.next_piece, 0, 1)
    while piece < n_pieces:
        chunk, column = piece // len(columns), columns[piece % len(columns)]
        for k in range(block.n_pivots):
            for j in range(TILE):
                packed[k * TILE + j] = matrix[(block.pivot + k) * stride + column + j]
        first = pieces.first_rows[chunk]
        for row in range(first, first + pieces.row_counts[chunk], 4):
            at = row * stride
            lower_four_rows(block, at + column, at + block.pivot, packed)
        piece = fetch_add(pieces.next_piece, 0, 1)


@compiled
def close_tile(matrix, stride, pivot, lanes):
    """Run the loops of the algorithm on a tile of the diagonal; return whether a pivot was negative."""
    corner = pivot * stride + pivot
    for k in range(TILE):
        through = corner + k * stride
        if matrix[through + k] < 0:
            return True
        for i in range(TILE):
            at = corner + i * stride
            step = matrix[at + k]
            for j in range(0, TILE, lanes):
                longer = wrapping_add(read(matrix, through + j), step)
                write(matrix, at + j, lesser(longer, read(matrix, at + j)))
    return False


class _Blocks:
    """The blocked algorithm on one matrix."""

    def __init__(self, matrix, stride):
        self.matrix, self.stride, self.lanes = matrix, stride, items_of(matrix.dtype)
        self.pool = ThreadPool((stride // TILE) ** 2 // WORKER_PIECES, PIVOTS * TILE * matrix.itemsize)
        self.packed = [np.empty(PIVOTS * TILE, matrix.dtype) for _ in range(self.pool.n_workers)]

    def close(self, begin, end, n_pivots):
        """Take in the paths between two vertices; return whether a pivot is on a negative cycle."""
        for pivot in range(begin, end, n_pivots):
            block = pivot, min(pivot + n_pivots, end)
            if n_pivots == TILE:
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
        chunks = [(first, min(ROWS, end - first)) for begin, end in rows for first in range(begin, end, ROWS)]
        strips = [first for begin, end in columns for first in range(begin, end, TILE)]
        if chunks and strips:
            starts, ends = np.array(chunks).T.copy()
            pieces = Pieces(starts, ends, np.array(strips), np.zeros(1, np.int64))
            block = Block(self.matrix, self.stride, block[0], block[1] - block[0], self.lanes)
            n_workers = max(1, len(chunks) * len(strips) // WORKER_PIECES)
            self.pool.starmap(multiply, [(block, pieces, own) for own in self.packed[:n_workers]])


def floyd_warshall(adjacency):
    """Prepare the blocked method for a graph, on the device of its rows: :class:`MatrixMethod`."""
    n = adjacency.n_vertices
    if arrays.device_of(adjacency.offsets) != "cpu":
        from edgewise.paths.apsp import floyd_warshall_gpu

        return floyd_warshall_gpu.floyd_warshall(adjacency)
    stride = -(-n // TILE) * TILE
    return MatrixMethod(adjacency, stride, lambda matrix: _Blocks(matrix, stride).close(0, stride, PIVOTS))


@each
def relax_pair(pair, pivot, vertices, matrix):
    """Take the path through the pivot if it is shorter; a pivot on a negative cycle is skipped."""
    row = pair // vertices
    column = pair - row * vertices
    if matrix[pivot * vertices + pivot] >= 0:
        through = matrix[row * vertices + pivot] + matrix[pivot * vertices + column]
        if through < matrix[pair]:
            matrix[pair] = through


@each
def relax_row(row, pivot, vertices, matrix):
    """Take all paths of a row through the pivot that are shorter; a pivot on a negative cycle is skipped."""
    if matrix[pivot * vertices + pivot] >= 0:
        left = matrix[row * vertices + pivot]
        for column in range(vertices):
            through = left + matrix[pivot * vertices + column]
            if through < matrix[row * vertices + column]:
                matrix[row * vertices + column] = through


def floyd_warshall_simple(adjacency, loop=relax_pair):
    """Prepare the plain form for a graph, on the device of its rows: :class:`MatrixMethod`."""
    n = adjacency.n_vertices
    count = n * n if loop is relax_pair else n

    def close(matrix):
        for pivot in range(n):
            loop(count, pivot, n, matrix)
        return bool(arrays.move((matrix[:: n + 1][:n] < 0).any(), "cpu"))

    return MatrixMethod(adjacency, n, close)


def floyd_warshall_rows(adjacency):
    """Prepare the form with a thread for every row, which Harish and Narayanan found to be slower."""
    return floyd_warshall_simple(adjacency, relax_row)
