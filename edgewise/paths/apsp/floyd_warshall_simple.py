"""Floyd and Warshall's method as in the document: n * n threads for every pivot.

For each pivot ``k`` one loop over all pairs lets a thread compare the distance of its pair with the way by
``k``.  No pair's row ``k`` or column ``k`` changes meanwhile, since the distance of ``k`` to itself is zero,
so the threads need not wait for each other.  Each reads three entries and may write one: it is memory that
counts, and the blocked method (:mod:`edgewise.paths.apsp.floyd_warshall`) exists for that.

A pivot whose distance to itself is negative lies on a negative cycle and is left out, so that nothing grows
without bound until the diagonal is looked at.  See Fusi, section on all pairs, and Harish and Narayanan,
"Accelerating large graph algorithms on the GPU using CUDA" (HiPC 2007), algorithm 8.
"""

from edgewise.device import each
from edgewise.paths.apsp.dense import any_negative, by_matrix


@each
def relax_pair(pair, pivot, vertices, matrix):
    """Take the way through the pivot if it is shorter."""
    row = pair // vertices
    column = pair - row * vertices
    if matrix[pivot * vertices + pivot] >= 0:
        through = matrix[row * vertices + pivot] + matrix[pivot * vertices + column]
        if through < matrix[pair]:
            matrix[pair] = through


def floyd_warshall_simple(rows):
    """Make the method ready for a graph, in the place of its rows; see :func:`~.dense.by_matrix`."""
    n = rows.n_vertices

    def close(matrix):
        for pivot in range(n):
            relax_pair(n * n, pivot, n, matrix)
        return any_negative(matrix, n, n)

    return by_matrix(rows, n, close)
