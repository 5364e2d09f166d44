"""Dijkstra's search on one core: vertices are settled in order of their distances.

The oracle of the other methods, and a fair choice where targets nearby end a search early.
"""

import numpy as np

from edgewise.device import compiled
from edgewise.device.wrapping import wrapping_add
from edgewise.paths.csr import unreached
from edgewise.paths.sssp.weights import past_the_end
from edgewise.primitives.heap import Heap, pop, push


@compiled
def settle(graph, distances, sources, targets, is_target, cutoff, heap):
    """Settle vertices until none is left, or none that is as near as the furthest target."""
    offsets, neighbours, weights = graph
    keys, items = heap
    size, n_targets = 0, len(targets)
    for source in sources:
        distances[source] = 0
        size = push(heap, size, distances[source], source)
    while size > 0:
        distance, vertex = keys[0], items[0]
        size = pop(heap, size)
        if distance > cutoff:
            break
        if distance > distances[vertex]:
            continue
        if len(is_target) > 0 and is_target[vertex]:
            is_target[vertex] = False
            n_targets -= 1
            if n_targets == 0:
                cutoff = distance
        for entry in range(np.uint64(offsets[vertex]), np.uint64(offsets[vertex + 1])):
            other = np.int64(neighbours[entry])
            longer = wrapping_add(distance, weights[entry])
            if longer < distances[other] and distance <= longer <= cutoff:
                distances[other] = longer
                size = push(heap, size, longer, other)


def dijkstra(rows, sources, cutoff, targets=None):
    """Search up to the furthest of the ``targets``, (t,) int64, if given."""
    dtype, n = rows.weights.dtype, rows.n_vertices
    distances = np.full(n, unreached(dtype), dtype)
    is_target = np.zeros(0 if targets is None else n, bool)
    targets = np.empty(0, np.int64) if targets is None else targets
    is_target[targets] = True
    capacity = len(rows.weights) + len(sources)
    heap = Heap(np.empty(capacity, dtype), np.empty(capacity, np.int64))
    settle(rows.outgoing, distances, sources, targets, is_target, cutoff, heap)
    return distances, past_the_end(rows, distances, cutoff)
