"""Potentials for Johnson's method, or the negative cycle that keeps a graph from having any.

A potential of every vertex with ``potential[v] <= potential[u] + weight`` for all edges is what Bellman and
Ford's search finds from an imagined source with an edge of weight zero to every vertex.  It goes on for ever
where a cycle is negative.  The parents of the vertices then come to form a cycle, which is looked for after
1, 2, 4, 8 ... sweeps, so that looking costs no more than sweeping.
"""

import numpy as np

from edgewise.device import alone, arrays

#: Sweeps before the first look for a cycle.
FIRST_LOOK = 2


class NegativeCycle(Exception):
    """A method came upon a cycle of negative length, through ``vertex``."""

    def __init__(self, vertex):
        super().__init__(vertex)
        self.vertex = vertex


@alone
def sweep(offsets, neighbours, weights, potentials, parents, slack):
    """Relax all edges once, in order; return how many lowered a potential (by more than ``slack`` of it)."""
    lowered = 0
    for vertex in range(len(offsets) - 1):
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            other = np.int64(neighbours[entry])
            through = potentials[vertex] + weights[entry]
            if through < potentials[other] - slack * abs(potentials[other]):
                potentials[other] = through
                parents[other] = vertex
                lowered += 1
    return lowered


@alone
def on_cycle(parents, walked):
    """A vertex on a cycle of parents, or -1; ``walked`` holds zeros."""
    for first in range(len(parents)):
        vertex, walk = first, first + 1
        while vertex >= 0 and walked[vertex] == 0:
            walked[vertex] = walk
            vertex = parents[vertex]
        if vertex >= 0 and walked[vertex] == walk:
            return vertex
    return -1


def potentials_of(rows):
    """Potentials of all vertices, or the vertices of a negative cycle.

    Parameters
    ----------
    rows : edgewise.paths.rows.Rows
        In any place.

    Returns
    -------
    potentials : (n,) int64 or float64 array, on the host
        None is above zero.
    cycle : list of int
        Empty where no cycle is negative; else its vertices in the order of its edges, and the potentials are
        of no use.  Rounding aside: a cycle of floats whose length is below zero by less than the weights can
        tell is none.
    """
    offsets, neighbours, weights = (
        arrays.move(a, "cpu") for a in (rows.offsets, rows.neighbours, rows.weights)
    )
    kind = np.float64 if weights.dtype.kind == "f" else np.int64
    if not len(weights):
        weights = np.ones(len(neighbours), kind)
    weights = weights.astype(kind, copy=False)
    n = rows.n_vertices
    potentials, parents = np.zeros(n, kind), np.full(n, -1)
    slack = kind(np.finfo(np.float64).eps if kind is np.float64 else 0)
    done, look = 0, FIRST_LOOK
    while sweep(offsets, neighbours, weights, potentials, parents, slack):
        done += 1
        if done >= look:
            look *= 2
            vertex = on_cycle(parents, np.zeros(n, np.int64))
            if vertex >= 0:
                return potentials, _walk(parents, vertex)
    return potentials, []


def _walk(parents, first):
    """Vertices of the cycle of parents through ``first``, along its edges."""
    cycle, vertex = [int(first)], int(parents[first])
    while vertex != first:
        cycle.append(vertex)
        vertex = int(parents[vertex])
    return cycle[::-1]
