"""Potentials of the vertices, which exist if and only if no cycle is negative.

Of an imagined source with an edge of weight zero to every vertex, the distances are potentials:
``potential[v] <= potential[u] + weight`` for all edges.  Bellman-Ford-Moore finds them on one core, or names
a negative cycle (:mod:`edgewise.paths.sssp.bellman_ford`).
"""

import numpy as np

from edgewise.paths.csr import CSR, Adjacency
from edgewise.paths.sssp.bellman_ford import finish

#: Edges that may be relaxed: all that a search needs.
NO_END = 2**62


class NegativeDiagonal(Exception):
    """A vertex came to be nearer to itself than 0; :func:`potentials_of` tells of which cycle."""


def potentials_of(rows):
    """Potentials of all vertices.

    Parameters
    ----------
    rows : edgewise.paths.csr.Adjacency
        In any place.

    Returns
    -------
    (n,) int64 or float64 array, on the host
        None is above zero.  ``None`` if one would pass the end of its type.

    Raises
    ------
    edgewise.paths.sssp.bellman_ford.NegativeCycle
    """
    kind, n = np.float64 if rows.weights.dtype.kind == "f" else np.int64, rows.n_vertices
    if not len(rows.weights):
        return np.zeros(n, kind)
    offsets, neighbours, weights = CSR(rows.offsets, rows.neighbours, rows.weights).on_host()
    wide = Adjacency(CSR(offsets, neighbours, weights.astype(kind, copy=False)))
    return finish(wide, np.zeros(n, kind), np.arange(n), NO_END)
