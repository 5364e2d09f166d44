"""Triangles below an edge: what a count of pentagons takes off for them.

An edge from ``v`` to a corner ``z`` of a triangle whose vertices are all lower than ``v`` is among the
pairs of wedges that :mod:`edgewise.cycles.pentagons_tables` counts, once in each of its vertices for every
corner. With ``g(z)`` higher neighbours of ``z`` above the triangle's top ``M``, and ``G`` their sum over
the corners, a corner loses ``G + g(z)``; and ``v`` loses the triangles below it at each of its lower
neighbours.  For those each triangle is entered in its corners' rows where the neighbours above ``M`` begin;
sums along a row then say how many lie below each neighbour.
"""

import numpy as np

from edgewise.cycles.triangles_warps import find_triangles, upward
from edgewise.device import arrays
from edgewise.primitives import exclusive_scan


def corners(ranked):
    """What corners lose, and sums over entries.

    Parameters
    ----------
    ranked : edgewise.cycles.ranked.Ranked

    Returns
    -------
    losses : (n,) int64 array
    ladder : (2 m + 1,) int64 array
        ``ladder[e + 1] - ladder[offsets[z]]`` triangles at ``z`` lie below the neighbour in entry ``e`` of
        its row.
    """
    place, n = ranked.place, ranked.n_vertices
    losses = arrays.zeros(n, np.int64, place)
    entered = arrays.zeros(max(1, len(ranked.neighbours)), np.int64, place)
    order = arrays.move(arrays.namespace(place).arange(n), place)
    _, *edges = upward(ranked, order)
    if len(edges[0]):
        find_triangles(
            0, len(edges[0]), *edges, ranked.offsets, ranked.neighbours, ranked.split, losses, entered
        )
    return losses, exclusive_scan(entered)
