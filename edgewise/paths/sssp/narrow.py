"""A search on one core for as long as few vertices wait: along paths, and in small components.

The vertices whose distances were lowered wait in a queue, and their edges are relaxed in turn (Moore 1959).
Without any order by distance some vertices wait more than once, but every step is the same few instructions,
whose branches the processor predicts: on a path they take half the time of a heap or of bins.  Where many
vertices wait, order matters and there is work for all cores, so the search ends and leaves the distances that
it has found, and the vertices that wait, to :mod:`~edgewise.paths.sssp.delta_stepping`.

Moore, "The shortest path through a maze" (1959).
"""

from typing import NamedTuple

import numpy as np

from edgewise.device import compiled
from edgewise.device.wrapping import wrapping_add
from edgewise.paths.result import SparseDistances
from edgewise.primitives import filled

#: Room of the queue (a power of two), and vertices that leave it at most, before the search ends.
ROOM, MAX_STEPS = 128, 1 << 15


class Known(NamedTuple):
    """What a search has found so far.

    ``met`` are vertices and their distances, of which those below ``reached`` are final and lead to known
    vertices only.  ``distances`` (n,) is ``None``, or has the distances of all other known vertices as well,
    ``furthest`` at most, whose edges are relaxed.
    """

    met: SparseDistances
    reached: np.generic
    distances: np.ndarray | None
    furthest: np.generic


@compiled
def relax_in_turn(offsets, neighbours, weights, distances, met, values, reached, queue):
    """Enter the vertices met, relax the edges of those that are not nearer than ``reached``, and so on.

    Returns which vertices are left, the items from the first number to below the second one, each in the
    queue at its last bits; and the largest distance that was found.
    """
    head, tail, furthest = 0, 0, reached
    for item in range(len(met)):
        distances[met[item]] = values[item]
        furthest = max(furthest, values[item])
        if values[item] >= reached:
            queue[tail] = met[item]
            tail += 1
    while head < tail and head < MAX_STEPS:
        vertex = queue[head & (ROOM - 1)]
        first, end = np.uint64(offsets[vertex]), np.uint64(offsets[vertex + 1])
        if tail - head + np.int64(end - first) > ROOM:
            break
        head += 1
        distance = distances[vertex]
        for entry in range(first, end):
            other = np.int64(neighbours[entry])
            longer = wrapping_add(distance, weights[entry])
            if longer < distances[other] and longer >= distance:
                distances[other] = longer
                furthest = max(furthest, longer)
                queue[tail & (ROOM - 1)] = other
                tail += 1
    return head, tail, furthest


def search_narrow(rows, met, reached, none):
    """Search from vertices that have been met; at most :data:`ROOM` are not nearer than ``reached``.

    ``none`` is the least distance that does not count.  Returns the distances of all vertices, ``none`` where
    no path was found, and what is :class:`Known`, or ``None`` if the search is complete.
    """
    distances, queue = filled(rows.n_vertices, none, rows.weights.dtype), np.empty(ROOM, np.int64)
    head, tail, furthest = relax_in_turn(*rows.outgoing, distances, *met, reached, queue)
    if head == tail:
        return distances, None
    left = queue[np.arange(head, tail) & (ROOM - 1)]  # some of them twice
    met = SparseDistances(left, distances[left])
    return distances, Known(met, met.values.min(), distances, distances.dtype.type(furthest))
