"""Johnson's method: negative weights are shifted away by potentials, then every source is searched from.

With potentials of the vertices such that ``potential[v] <= potential[u] + weight`` for every edge, the
shifted weight ``weight + potential[u] - potential[v]`` is not negative, and all paths from ``s`` to ``t``
are shifted alike, by ``potential[s] - potential[t]``.  So shortest paths stay shortest, the repeated search
of :mod:`edgewise.paths.apsp.batches` finds them, and their lengths are shifted back.  See Johnson,
"Efficient algorithms for shortest paths in sparse networks" (J. ACM 24, 1977).

Whole numbers are shifted exactly, in 64 bits.  Shifting floats rounds, in float64: a distance is then as
exact as the largest distance in the graph allows, not as its own size.
"""

import numpy as np

from edgewise.device import arrays, each, fetch_max
from edgewise.paths.apsp.bounds import always_fits, end_of, heaviest_of, least_of
from edgewise.paths.apsp.potentials import potentials_of
from edgewise.paths.csr import CSR, Adjacency
from edgewise.paths.result import unreached

#: Bytes of shifted distances that are held at a time.
MOST_BYTES = 1 << 28


@each
def shift_row(row, offsets, neighbours, weights, potentials, shifted):
    """Shift the weights of a row by the potentials of the ends; rounding leaves nothing below zero."""
    for entry in range(offsets[row], offsets[row + 1]):
        step = weights[entry] + potentials[row] - potentials[np.int64(neighbours[entry])]
        shifted[entry] = max(step, shifted.dtype.type(0))


@each
def shift_back(row, sources, potentials, shifted, vertices, none, none_there, most, first, into, too_large):
    """Write a row of distances as they are without the shift."""
    own = potentials[np.int64(sources[row])]
    for vertex in range(vertices):
        value = shifted[row * vertices + vertex]
        at = (first + row) * vertices + vertex
        if value == none:
            into[at] = none_there
        else:
            distance = value - own + potentials[vertex]
            if distance >= most:
                fetch_max(too_large, 0, 1)
            else:
                into[at] = distance


def johnson(rows, search):
    """Make ready to search from many sources in a graph with negative weights.

    Parameters
    ----------
    rows : edgewise.paths.csr.Adjacency
        With ``incoming``.
    search : callable
        The method for weights that are not negative, such as :func:`~edgewise.paths.apsp.batches.sssp`.

    Returns
    -------
    solve : function
        ``solve(sources, into)`` writes the distances from each of the (k,) ``sources`` to the flat (k n,)
        array ``into``, source after source, and returns whether distances were too large for its type.

    Raises
    ------
    edgewise.paths.sssp.bellman_ford.NegativeCycle
    """
    device, n, signed = arrays.device_of(rows.offsets), rows.n_vertices, least_of(rows.weights) < 0
    potentials = potentials_of(rows)
    if potentials is None:
        return lambda sources, into: True
    potentials = arrays.move(potentials, device)
    solve_shifted, kind = search(_shifted(rows, potentials, device)), potentials.dtype

    def solve(sources, into):
        too_large = arrays.zeros(1, np.int32, device)
        if signed and not always_fits(rows, into.dtype):
            return True
        # As of every method: the largest distance and one more edge stay below the ceiling.
        most = end_of(into.dtype) - heaviest_of(rows.weights)
        limits = kind.type(unreached(kind)), into.dtype.type(unreached(into.dtype)), kind.type(most)
        count = max(1, MOST_BYTES // (8 * max(n, 1)))
        for first in range(0, len(sources), count):
            some = np.ascontiguousarray(sources[first : first + count])
            block = arrays.empty(len(some) * n, kind, device)
            if solve_shifted(some, block):
                return True
            there = arrays.move(some, device)
            shift_back(len(some), there, potentials, block, n, *limits, first, into, too_large)
        return bool(arrays.move(too_large, "cpu")[0])

    return solve


def _shifted(rows, potentials, device):
    """Rows with shifted weights, and those of the edges that come in."""
    shifted = arrays.empty(len(rows.neighbours), potentials.dtype, device)
    weights = rows.weights
    if not len(weights):
        weights = arrays.full(len(rows.neighbours), 1, np.int32, device)
    shift_row(rows.n_vertices, rows.offsets, rows.neighbours, weights, potentials, shifted)
    back = arrays.empty(len(rows.incoming.neighbours), potentials.dtype, device)
    weights = rows.incoming.weights
    if not len(weights):
        weights = arrays.full(len(back), 1, np.int32, device)
    incoming = rows.incoming
    shift_row(rows.n_vertices, incoming.offsets, incoming.neighbours, weights, -potentials, back)
    outgoing = CSR(rows.offsets, rows.neighbours, shifted)
    return Adjacency(outgoing, CSR(incoming.offsets, incoming.neighbours, back))
