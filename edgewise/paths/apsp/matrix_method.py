"""Matrices of weights that become matrices of distances, in place.

The matrix is flat, and its sides are padded to a multiple of a tile.  Pairs without an edge, and the padding,
hold the ceiling (:mod:`edgewise.paths.apsp.limits`); the diagonal holds zeros, or less where a self-loop is
negative.  A vertex whose distance to itself falls below zero is on a negative cycle; that is noticed before
it is a pivot, so nothing exceeds the longest simple path.
"""

import numpy as np

from edgewise.device import arrays, each
from edgewise.paths.apsp import limits
from edgewise.paths.unreached import unreached


class NegativeDiagonal(Exception):
    """The distance of a vertex to itself became negative: it is on a negative cycle."""


@each
def fill_row(line, first, csr, stride, ceiling, matrix):
    """Fill a line of the matrix, whose first one is row ``first``; of repeated edges the lightest counts."""
    at, row = line * stride, first + line
    for column in range(stride):
        matrix[at + column] = ceiling
    matrix[at + row] = 0
    if row < len(csr.offsets) - 1:
        for entry in range(csr.offsets[row], csr.offsets[row + 1]):
            other = np.int64(csr.neighbours[entry])
            weight = csr.weights[entry] if len(csr.weights) else matrix.dtype.type(1)
            if weight < matrix[at + other]:
                matrix[at + other] = weight


@each
def copy_row(row, lines, stride, matrix, bounds, width, result):
    """Write a line of the matrix to the result; ``bounds``: its end of distances, the result's "no path"."""
    at, to, (limit, none) = np.int64(lines[row]) * stride, row * width, bounds
    for column in range(width):
        value = matrix[at + column]
        result[to + column] = value if value < limit else none


def fill(csr, first, stride, matrix):
    """Fill the lines of a matrix, of which the first is row ``first``, with the lengths of edges."""
    ceiling = matrix.dtype.type(limits.ceiling_of(matrix.dtype))
    csr = csr._replace(weights=csr.weights.astype(matrix.dtype, copy=False))
    fill_row(len(matrix) // max(stride, 1), first, csr, stride, ceiling, matrix)


def copy_rows(matrix, stride, lines, width, signed, result):
    """Write some lines of a matrix to the flat array ``result``, one after the other."""
    kind = result.dtype
    bounds = kind.type(limits.limit_of(kind, signed)), kind.type(unreached(kind))
    there = arrays.move(np.asarray(lines), arrays.device_of(matrix))
    copy_row(len(lines), there, stride, matrix, bounds, width, result)


class MatrixMethod:
    """A method that keeps the full matrix, whose sides are ``stride``, prepared for a graph.

    ``close(matrix)`` turns the lengths of edges into distances, in place, and returns whether the distance of
    a vertex to itself became negative, after which the matrix is of no use.
    """

    def __init__(self, adjacency, stride, close):
        self.adjacency, self.stride, self.close = adjacency, stride, close
        self.heaviest, self.signed = limits.heaviest_of(adjacency), adjacency.spread.least < 0
        self.matrices = {}

    def __call__(self, sources, result):
        """Write the distances from ``sources`` to ``result``; return whether one was too large for its type.

        The matrix is solved at the first call, in ``result`` itself if all of it fits there.
        """
        kind, safe = result.dtype, limits.always_fits(self.adjacency, result.dtype)
        if not safe and (self.signed or self.heaviest >= limits.end_of(kind)):
            return True
        matrix = self.matrices[kind] if kind in self.matrices else self._solved(sources, result)
        if matrix is not result:
            self.matrices[kind] = matrix
        if not safe:
            largest = self._largest(matrix, limits.limit_of(kind, self.signed))
            if largest + self.heaviest >= limits.end_of(kind):
                return True
        self._copy(matrix, sources, result)
        return False

    def _solved(self, sources, result):
        n, matrix = self.adjacency.n_vertices, result
        if not (n == self.stride == len(sources) and bool((sources == np.arange(n)).all())):
            matrix = arrays.empty(self.stride**2, result.dtype, arrays.device_of(result))
        fill(self.adjacency.outgoing, 0, self.stride, matrix)
        if self.close(matrix):
            raise NegativeDiagonal
        return matrix

    def _largest(self, matrix, limit):
        return limits.largest_of(matrix, limit)

    def _copy(self, matrix, sources, result):
        copy_rows(matrix, self.stride, sources, self.adjacency.n_vertices, self.signed, result)
