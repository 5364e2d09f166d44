"""The document's search: every vertex asks in every round whether it is in the frontier.

``frontier`` marks the vertices reached in the round before, ``visited`` all up to them.  The first kernel
gives the neighbours of the frontier their cost and marks them in ``coming``; the second makes these the next
frontier.  The document writes to one array of marks: a vertex marked early in a round could then be served
in the same round, and reach its neighbours before a nearer one does.  With two arrays all costs are right.

Every round looks at every vertex, so a search costs the vertices times the levels.

Harish and Narayanan, "Accelerating large graph algorithms on the GPU using CUDA" (HiPC 2007), as in Fusi's
document.
"""

import numpy as np

from edgewise.device import arrays, each
from edgewise.paths.result import unreached


@each
def reach_neighbours(vertex, offsets, neighbours, frontier, visited, coming, distances):
    """First kernel: give the neighbours of a vertex of the frontier their cost."""
    if frontier[vertex]:
        frontier[vertex] = 0
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            other = neighbours[entry]
            if not visited[other]:
                distances[other] = distances[vertex] + 1
                coming[other] = 1


@each
def advance(vertex, frontier, visited, coming, more):
    """Second kernel: who was reached is visited, and the next frontier."""
    if coming[vertex]:
        coming[vertex] = 0
        frontier[vertex] = visited[vertex] = 1
        more[0] = 1


def harish(rows, sources, cutoff):
    """Distances from the nearest of ``sources``, in the place of the rows.

    Parameters
    ----------
    rows : edgewise.paths.csr.Adjacency
    sources : (k,) int64 array on the host
    cutoff : int
        Vertices further away are not reached.

    Returns
    -------
    (n,) int32 array
    """
    device, n = arrays.device_of(rows.offsets), rows.n_vertices
    distances = arrays.full(n, unreached(np.int32), np.int32, device)
    frontier, visited, coming = (arrays.zeros(n, np.uint8, device) for _ in range(3))
    first = arrays.move(sources, device)
    distances[first], frontier[first], visited[first] = 0, 1, 1
    more, level = arrays.full(1, 1, np.int32, device), 0
    while int(more[0]) and level < cutoff:
        more.fill(0)
        reach_neighbours(n, rows.offsets, rows.neighbours, frontier, visited, coming, distances)
        advance(n, frontier, visited, coming, more)
        level += 1
    return distances
