"""Harish and Narayanan (2007): two kernels over all vertices, round after round.  A baseline.

``mask`` marks the vertices whose distance was lowered.  The first kernel relaxes their edges into a second
array of distances, ``updating``, by atomic minima; the second copies what was lowered and marks it for the
next round.  The second array only separates the rounds.  A search costs the vertices times the edges of its
longest path.

Harish and Narayanan, "Accelerating large graph algorithms on the GPU using CUDA" (HiPC 2007), as in Fusi's
thesis.
"""

import numpy as np

from edgewise.device import arrays, each, fetch_min
from edgewise.device.wrapping import wrapping_add
from edgewise.paths.sssp.weights import past_the_end
from edgewise.paths.unreached import unreached


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


def harish(rows, sources, cutoff):
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
