"""The searches of Harish and Narayanan (2007), as in Fusi's document: two kernels over all vertices a round.

Flags mark the vertices that a round expands.  The first kernel offers their neighbours a distance, the second
makes those that were lowered the next frontier.  Every round reads all flags, so a search costs the vertices
times the levels, or times the edges of its longest path.  Baselines.

Breadth first, the document writes to one array of marks: a vertex marked early in a round could then be
expanded in the same round, and reach its neighbours before a nearer one does.  With two arrays all distances
are right.  With weights the first kernel relaxes edges into a second array of distances, ``updating``, by
atomic minima, which only separates the rounds.

Harish and Narayanan, "Accelerating large graph algorithms on the GPU using CUDA" (HiPC 2007).
"""

import numpy as np

from edgewise.device import arrays, each, fetch_min
from edgewise.device.wrapping import wrapping_add
from edgewise.paths.csr import unreached
from edgewise.paths.sssp.weights import past_the_end


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


def breadth_first(rows, sources, cutoff):
    """Distances in edges from the nearest of ``sources``, on the device of the rows."""
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


@each
def relax(vertex, offsets, neighbours, weights, mask, distances, updating, cutoff):
    """First kernel: relax the edges of a marked vertex."""
    if mask[vertex]:
        mask[vertex] = 0
        distance = distances[vertex]
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            other = neighbours[entry]
            longer = wrapping_add(distance, weights[entry])
            if longer < updating[other] and distance <= longer <= cutoff:
                fetch_min(updating, other, longer)


@each
def update(vertex, mask, distances, updating, lowered):
    """Second kernel: copy a lowered distance, and mark its vertex."""
    if updating[vertex] < distances[vertex]:
        distances[vertex] = updating[vertex]
        mask[vertex] = 1
        lowered[0] = 1


def weighted(rows, sources, cutoff):
    """Run rounds of both kernels until no distance falls."""
    device, dtype, n = arrays.device_of(rows.offsets), rows.weights.dtype, rows.n_vertices
    distances = arrays.full(n, unreached(dtype), dtype, device)
    mask = arrays.zeros(n, np.uint8, device)
    first = arrays.move(sources, device)
    distances[first], mask[first] = 0, 1
    updating = distances.copy()
    lowered = arrays.full(1, 1, np.int32, device)
    while int(lowered[0]):
        lowered.fill(0)
        relax(n, rows.offsets, rows.neighbours, rows.weights, mask, distances, updating, cutoff)
        update(n, mask, distances, updating, lowered)
    return distances, past_the_end(rows, distances, cutoff)
