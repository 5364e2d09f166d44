"""Breadth-first search on one core, for small graphs: it is over before other cores would have joined in.

Vertices wait in one queue in the order of their distances (Moore 1959).  Whether a neighbour is new is as
good as random, and a branch that is predicted wrongly takes longer than an entry.  So every neighbour is
written to the end of the queue, and the end moves on only behind a new one.

Moore, "The shortest path through a maze" (1959).
"""

import numpy as np

from edgewise.device import compiled
from edgewise.paths.result import unreached
from edgewise.primitives import filled


@compiled
def search(offsets, neighbours, distances, none, cutoff, queue, sources):
    """Enter the distances, which are ``none``, up to the cutoff; ``queue`` has an item more than vertices."""
    head = tail = 0
    for source in sources:
        distances[source], queue[tail] = 0, source
        tail += 1
    while head < tail:
        vertex = np.int64(queue[head])
        head += 1
        distance = distances[vertex]
        if distance >= cutoff:
            break
        for entry in range(np.uint64(offsets[vertex]), np.uint64(offsets[vertex + 1])):
            other = neighbours[entry]
            held = distances[np.int64(other)]
            is_new = held == none
            distances[np.int64(other)] = distance + 1 if is_new else held
            queue[tail] = other
            tail += is_new


def top_down_sequential(rows, sources, cutoff):
    """Search on one core."""
    none = unreached(np.int32)
    distances = filled(rows.n_vertices, none, np.int32)
    queue = np.empty(rows.n_vertices + 1, rows.neighbours.dtype)
    n_steps = rows.n_vertices + len(rows.neighbours)
    search.with_steps(n_steps, rows.offsets, rows.neighbours, distances, none, cutoff, queue, sources)
    return distances
