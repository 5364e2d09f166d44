"""Johnson's algorithm: potentials make negative weights non-negative, then every source is searched from.

With potentials such that ``potential[v] <= potential[u] + weight`` for every edge, the shifted weight
``weight + potential[u] - potential[v]`` is not negative, and all paths from ``s`` to ``t`` are shifted alike,
by ``potential[s] - potential[t]``.  So the repeated search finds the shortest paths, and their lengths are
shifted back.  See Johnson, "Efficient algorithms for shortest paths in sparse networks" (J. ACM 24, 1977).

Potentials are the distances from an imagined source with an edge of weight zero to every vertex.  They exist
if and only if no cycle is negative.  Bellman-Ford-Moore finds them on one core, or names a negative cycle
(:mod:`edgewise.paths.sssp.bellman_ford`).  Integers are shifted exactly, in 64 bits.  Shifting floats rounds,
in float64: a distance is then as exact as the largest distance in the graph allows, not as its own size.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, each, fetch_max
from edgewise.paths.apsp.many_sources import sssp
from edgewise.paths.apsp.search import always_fits, end_of, heaviest_of
from edgewise.paths.csr import CSR, Adjacency, unreached
from edgewise.paths.sssp.bellman_ford import finish

#: Bytes of shifted distances that are held at a time.
BLOCK_BYTES = 1 << 28
#: Edges that may be relaxed for the potentials, as many as the search needs.
ALL_EDGES = 2**62


class Shifted(NamedTuple):
    """Shifted distances: ``distances`` (k * n,), ``none`` where no path leads, ``potentials`` (n,)."""

    distances: Any
    none: Any
    potentials: Any


class Output(NamedTuple):
    """Where the distances go: rows of the flat array ``result`` from ``first`` on, ``none`` if no path leads.

    ``too_large`` (1,) int32 becomes 1 if a distance is not below ``limit``.
    """

    result: Any
    first: int
    none: Any
    limit: Any
    too_large: Any


@each
def shift_row(row, csr, potentials, shifted):
    """Shift the weights of a row by the potentials of both endpoints; rounding leaves nothing below zero."""
    for entry in range(csr.offsets[row], csr.offsets[row + 1]):
        weight = csr.weights[entry] + potentials[row] - potentials[np.int64(csr.neighbours[entry])]
        shifted[entry] = max(weight, shifted.dtype.type(0))


@each
def shift_back(row, sources, shifted, output):
    """Write a row of distances without the shift."""
    potentials, vertices = shifted.potentials, len(shifted.potentials)
    own = potentials[np.int64(sources[row])]
    for vertex in range(vertices):
        value, at = shifted.distances[row * vertices + vertex], (output.first + row) * vertices + vertex
        if value == shifted.none:
            output.result[at] = output.none
        else:
            distance = value - own + potentials[vertex]
            if distance >= output.limit:
                fetch_max(output.too_large, 0, 1)
            else:
                output.result[at] = distance


def potentials_of(csr):
    """Potentials of all vertices: (n,) int64 or float64 on the host, none of them above zero.

    ``None`` if one would pass the end of its type.  Raises
    :class:`~edgewise.paths.sssp.bellman_ford.NegativeCycle`.
    """
    kind, n = np.float64 if csr.weights.dtype.kind == "f" else np.int64, csr.n_vertices
    if not len(csr.weights):
        return np.zeros(n, kind)
    csr = csr.on_host()
    csr = csr._replace(weights=csr.weights.astype(kind, copy=False))
    return finish(csr, np.zeros(n, kind), np.arange(n), ALL_EDGES)


def johnson(adjacency):
    """Prepare the search; raises :class:`~edgewise.paths.sssp.bellman_ford.NegativeCycle`."""
    device, n = arrays.device_of(adjacency.offsets), adjacency.n_vertices
    signed, heaviest = adjacency.spread.least < 0, heaviest_of(adjacency)
    potentials = potentials_of(adjacency.outgoing)
    if potentials is None:
        return lambda sources, result: True
    potentials = arrays.move(potentials, device)
    kind = potentials.dtype
    outgoing, incoming = adjacency.outgoing, adjacency.incoming
    solve_shifted = sssp(Adjacency(_shifted(outgoing, potentials), _shifted(incoming, -potentials)))

    def solve(sources, result):
        if signed and not always_fits(adjacency, result.dtype):
            return True
        # As in every method: the largest distance and one more edge stay below the ceiling.
        limit, too_large = kind.type(end_of(result.dtype) - heaviest), arrays.zeros(1, np.int32, device)
        none, height = result.dtype.type(unreached(result.dtype)), max(1, BLOCK_BYTES // (8 * max(n, 1)))
        for first in range(0, len(sources), height):
            block = np.ascontiguousarray(sources[first : first + height])
            distances = arrays.empty(len(block) * n, kind, device)
            if solve_shifted(block, distances):
                return True
            shifted = Shifted(distances, kind.type(unreached(kind)), potentials)
            output = Output(result, first, none, limit, too_large)
            shift_back(len(block), arrays.move(block, device), shifted, output)
        return bool(arrays.move(too_large, "cpu")[0])

    return solve


def _shifted(csr, potentials):
    """Rows with shifted weights."""
    device, n_entries = arrays.device_of(potentials), len(csr.neighbours)
    if not len(csr.weights):
        csr = csr._replace(weights=arrays.full(n_entries, 1, np.int32, device))
    shifted = arrays.empty(n_entries, potentials.dtype, device)
    shift_row(csr.n_vertices, csr, potentials, shifted)
    return CSR(csr.offsets, csr.neighbours, shifted)
