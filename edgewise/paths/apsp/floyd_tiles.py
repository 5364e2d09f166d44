"""Floyd and Warshall's algorithm in tiles, on a GPU.

The vertices are taken a tile at a time.  For each tile of pivots there are three phases, which are those of
Katz and Kider ("All-pairs shortest-paths for large graphs on the GPU", 2008):

1. the distances among the pivots, over pivots alone (one block);
2. the pivots' rows and columns: since the first phase is closed, one min-plus product with it does;
3. everything else: ``D[i, j] = min(D[i, j], min over pivots k of D[i, k] + D[k, j])``, a min-plus product.

The second phase works on copies, the *panels*, whose rows are the pivots: the columns of the matrix are
transposed on the way.  So the third reads what nobody writes, and as it covers the whole matrix it brings
the panels back too.

An undirected graph has a symmetric matrix: its two panels are one, and the third phase leaves out the tiles
below the diagonal, half of the work.

The matrix is flat, its rows ``stride`` entries apart, and stays where it is; all of its ``stride * stride``
entries must be set: 0 on the diagonal, the ceiling (see :mod:`~edgewise.paths.apsp.bounds`) or infinity where
there is no edge, also in the rows and columns beyond the last vertex.
"""

import numpy as np

from edgewise.device import arrays, streams
from edgewise.primitives.min_plus import Panel, min_plus

#: Tiles of pivots after which the host asks for negative cycles.
TURNS_A_LOOK = 32


def solve(matrix, n, stride, *, symmetric=False, signed=False):
    """Turn the edges' weights into distances, in place.

    Parameters
    ----------
    matrix : (stride * stride,) int32, int64, float32 or float64 array
        On a GPU.
    n : int
        Vertices.
    stride : int
        ``min_plus.padded(n)``.
    symmetric : bool
        The matrix is symmetric and no weight is negative.
    signed : bool
        Weights may be negative.  Integer distances must then lie below half of the ceiling, and what lies
        above it is no path.  A float -0.0 counts as negative.

    Returns
    -------
    bool
        Whether there is a cycle of negative length.  The matrix holds nothing of use then, but for its
        diagonal: -1 for a vertex on such a cycle, and zeros.
    """
    device = arrays.device_of(matrix)
    tiles = min_plus(matrix.dtype, signed)
    with arrays.on(device):
        panels = arrays.empty((1 if symmetric else 2) * tiles.tile * stride, matrix.dtype, device)
        closed = arrays.empty(2 * tiles.tile**2, matrix.dtype, device)
        negative = arrays.zeros(1, np.int64, device)
        run = _over_half if symmetric else _over_all
        for turn, first in enumerate(range(0, n, tiles.tile)):
            run(tiles, Panel(matrix, 0, stride), panels, closed, negative, first)
            if signed and (turn + 1) % TURNS_A_LOOK == 0 and value_of(negative):
                break
        if symmetric:
            _mirror(tiles, Panel(matrix, 0, stride), stride)
        found = value_of(negative) if signed else 0
        if found:
            matrix[:: stride + 1] = 0
            matrix[(found - 1) * (stride + 1)] = -1
        return found > 0


def value_of(array):
    """The one value of an array, as a Python number."""
    return arrays.move(array, "cpu")[0].item()


def _over_all(tiles, matrix, panels, closed, negative, first):
    """Take paths over a tile of pivots into a matrix."""
    stride, size = matrix.pitch, tiles.tile * matrix.pitch
    wide = stride // tiles.tile
    columns, rows = Panel(panels, 0, stride), Panel(panels, size, stride)
    tiles.turn(Panel(matrix.array, first, stride), columns, stride)
    streams.copy(panels[size:], matrix.array[first * stride :][:size])
    tiles.close(Panel(panels, size + first, stride), closed, negative, first)
    # The panels below one another are a target of two rows of tiles: (closed^T)^T columns, closed rows.
    tiles.relax(columns, Panel(closed, 0, 2 * tiles.tile), columns, 2, wide, apart=size)
    tiles.relax(matrix, columns, rows, wide, wide)


def _over_half(tiles, matrix, panel, closed, negative, first):
    """The same where only the tiles from the diagonal upwards are kept up to date."""
    stride, size = matrix.pitch, tiles.tile * matrix.pitch
    wide = stride // tiles.tile
    rows = Panel(panel, 0, stride)
    streams.copy(panel, matrix.array[first * stride :][:size])
    if first:
        tiles.turn(Panel(matrix.array, first, stride), rows, first)
    tiles.close(Panel(panel, first, stride), closed, negative, first)
    tiles.relax(rows, Panel(closed, 0, 2 * tiles.tile), rows, 1, wide)
    tiles.relax(matrix, rows, rows, wide, wide, upper=True)


def _mirror(tiles, matrix, stride):
    """Fill in the tiles below the diagonal."""
    for first in range(tiles.tile, stride, tiles.tile):
        below = Panel(matrix.array, first * stride, stride)
        tiles.turn(Panel(matrix.array, first, stride), below, first)
