"""The search of Harish and Narayanan (HiPC 2007), as in Fusi's document: flags mark the frontier.

The first kernel gives the neighbours of the frontier their cost and marks them in ``coming``; the second
makes these the next frontier.  The document writes to one array of marks: a vertex marked early in a round
could then be expanded in the same round, and reach its neighbours before a nearer one does.  With two arrays
all costs are right.  Every round reads all flags, so a search costs the vertices times the levels.

"Accelerating large graph algorithms on the GPU using CUDA".
"""

import numpy as np

from edgewise.device import arrays, each
from edgewise.paths.unreached import unreached


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
    """Second kernel: make the vertices that were reached the next frontier."""
    if coming[vertex]:
        coming[vertex] = 0
        frontier[vertex] = visited[vertex] = 1
        more[0] = 1


def harish(rows, sources, cutoff):
    """Distances from the nearest of ``sources``, on the device of the rows."""
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
