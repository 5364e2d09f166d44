"""Dijkstra's search: one vertex after the other, the nearest first, on one core.

The oracle of the other methods.  It is also a fair choice where a search is cut short by targets nearby.
"""

import numpy as np

from edgewise.device import compiled
from edgewise.device.wrapping import wrapping_add
from edgewise.paths.result import unreached
from edgewise.paths.sssp.heap import drop, put
from edgewise.paths.sssp.weights import past_the_end


@compiled
def search(offsets, neighbours, weights, distances, sources, targets, wanted, cutoff, keys, vertices):
    """Settle vertices until no one is left, or until nothing as near as the furthest target is left."""
    size, left = 0, len(targets)
    for source in sources:
        distances[source] = 0
        size = put(keys, vertices, size, distances[source], source)
    while size > 0:
        distance, vertex = keys[0], vertices[0]
        size = drop(keys, vertices, size)
        if distance > cutoff:
            break
        if distance > distances[vertex]:
            continue
        if len(wanted) > 0 and wanted[vertex]:
            wanted[vertex] = False
            left -= 1
            if left == 0:
                cutoff = distance
        for entry in range(np.uint64(offsets[vertex]), np.uint64(offsets[vertex + 1])):
            other = np.int64(neighbours[entry])
            longer = wrapping_add(distance, weights[entry])
            if longer < distances[other] and distance <= longer <= cutoff:
                distances[other] = longer
                size = put(keys, vertices, size, longer, other)


def dijkstra(rows, sources, cutoff, targets=None):
    """Distances from the nearest of ``sources``, on the CPU.

    Parameters
    ----------
    rows : Rows
        No weight is negative.
    sources : (k,) int64 array
    cutoff : number
        Largest distance that counts, in the type of the weights.
    targets : (t,) int64 array of distinct vertices, optional
        The search ends with the furthest of these; vertices further away have any upper bound.

    Returns
    -------
    (n,) array
        Distances in the type of the weights.
    bool
        Whether a distance passed the end of the type.
    """
    dtype, n = rows.weights.dtype, rows.n_vertices
    distances = np.full(n, unreached(dtype), dtype)
    room = len(rows.weights) + len(sources)
    wanted = np.zeros(0 if targets is None else n, bool)
    targets = np.empty(0, np.int64) if targets is None else targets
    wanted[targets] = True
    search(
        *(rows.offsets, rows.neighbours, rows.weights, distances, sources, targets, wanted, cutoff),
        *(np.empty(room, dtype), np.empty(room, np.int64)),
    )
    if len(targets) and (distances[targets] != unreached(dtype)).all():
        return distances, False
    return distances, past_the_end(rows, distances, cutoff)
