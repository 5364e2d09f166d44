"""Methods that keep the whole matrix: it is made from rows, closed in place, and handed over by rows.

The matrix is square with sides padded to a multiple of a tile, row after row in one flat array, so that
kernels need not look out for its edges.  Pairs without an edge, and the padding, hold the ceiling
(:mod:`edgewise.paths.apsp.bounds`); the diagonal holds zeros, or less where a loop is negative.
"""

import numpy as np

from edgewise.device import arrays, each
from edgewise.paths.apsp.bounds import (
    always_fits,
    ceiling_of,
    end_of,
    heaviest_of,
    largest_of,
    least_of,
    limit_of,
)
from edgewise.paths.apsp.potentials import NegativeDiagonal
from edgewise.paths.result import unreached


@each
def enter_row(line, first, offsets, neighbours, weights, stride, ceiling, matrix):
    """Fill a line of the matrix, whose first one is row ``first``; of repeated edges the lightest counts."""
    at, row = line * stride, first + line
    for column in range(stride):
        matrix[at + column] = ceiling
    matrix[at + row] = 0
    if row < len(offsets) - 1:
        for entry in range(offsets[row], offsets[row + 1]):
            column = np.int64(neighbours[entry])
            weight = weights[entry] if len(weights) else matrix.dtype.type(1)
            if weight < matrix[at + column]:
                matrix[at + column] = weight


@each
def leave_row(row, lines, stride, limit, none, matrix, width, into):
    """Write a line of the matrix to the result, with the result's value for "no path"."""
    at, to = np.int64(lines[row]) * stride, row * width
    for column in range(width):
        value = matrix[at + column]
        into[to + column] = value if value < limit else none


def enter(rows, first, stride, matrix):
    """Fill the lines of a matrix, of which the first is row ``first``, with the lengths of edges."""
    ceiling = matrix.dtype.type(ceiling_of(matrix.dtype))
    weights = rows.weights.astype(matrix.dtype, copy=False)
    lines = len(matrix) // max(stride, 1)
    enter_row(lines, first, rows.offsets, rows.neighbours, weights, stride, ceiling, matrix)


def leave(matrix, stride, lines, width, signed, into):
    """Write some lines of a matrix to the flat array ``into``, one after the other."""
    limits = into.dtype.type(limit_of(into.dtype, signed)), into.dtype.type(unreached(into.dtype))
    there = arrays.move(np.asarray(lines), arrays.device_of(matrix))
    leave_row(len(lines), there, stride, *limits, matrix, width, into)


def by_matrix(rows, stride, close):
    """Make ready a method that closes the matrix of a graph.

    Parameters
    ----------
    rows : edgewise.paths.csr.Adjacency
    stride : int
        Sides of the matrix.
    close : callable
        ``close(matrix)`` turns the lengths of edges into distances, in place, and returns whether a vertex
        came to be nearer to itself than 0, with which the matrix is of no use.

    Returns
    -------
    solve : function
        ``solve(sources, into)`` writes the distances from each of the (k,) ``sources`` to the flat (k n,)
        array ``into``, source after source, and returns whether distances were too large for its type.  The
        matrix is closed when it is first called, in ``into`` itself if all fits there.
    """
    n, signed = rows.n_vertices, least_of(rows.weights) < 0
    kept = {}

    def closed(sources, into):
        there = n == stride == len(sources) and bool((sources == np.arange(n)).all())
        matrix = into
        if not there:
            matrix = arrays.empty(stride * stride, into.dtype, arrays.device_of(into))
        enter(rows, 0, stride, matrix)
        if close(matrix):
            raise NegativeDiagonal
        return matrix

    def solve(sources, into):
        dtype = into.dtype
        safe = always_fits(rows, dtype)
        if not safe and (signed or heaviest_of(rows.weights) >= end_of(dtype)):
            return True
        if dtype not in kept:
            kept[dtype] = closed(sources, into)
        matrix, limit = kept[dtype], limit_of(dtype, signed)
        if not safe and largest_of(matrix, limit) + heaviest_of(rows.weights) >= end_of(dtype):
            return True
        if matrix is into:
            del kept[dtype]
        leave(matrix, stride, sources, n, signed, into)
        return False

    return solve


def any_negative(matrix, stride, width):
    """Whether the distance of a vertex to itself is negative."""
    return bool(arrays.move((matrix[:: stride + 1][:width] < 0).any(), "cpu"))
