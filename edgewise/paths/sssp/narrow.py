"""A search on one core for as long as few vertices wait: along paths, and in small components.

The vertices whose distances were lowered wait in a queue, and their edges are relaxed in turn (Moore 1959).
Without any order by distance some vertices wait more than once, but every step is the same few instructions,
whose branches the processor predicts: on a path they take half the time of those of a heap, and a third of
those of bins.  Where many vertices wait, order matters and there is work for all cores, so the search ends
and leaves the distances that it has found, and the vertices that wait, to
:mod:`~edgewise.paths.sssp.delta_stepping`.

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
def relax_in_turn(offsets, neighbours, weights, distances, queue, waiting):
    """Relax the edges of ``waiting`` vertices, and of those that follow.

    Returns which are left, the items from the first number to below the second one, each in the queue at its
    last bits; and the largest distance that was found.
    """
    head, tail, furthest = 0, waiting, distances[queue[0]]
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


def search_narrow(rows, met, waiting, none):
    """Search from vertices that have been met, those of them that are ``waiting``, (1 to ROOM,) int64.

    ``none`` is the least distance that does not count.  Returns the distances of all vertices, ``none`` where
    no path was found, and what is :class:`Known`, or ``None`` if the search is complete.
    """
    distances = filled(rows.n_vertices, none, rows.weights.dtype)
    distances[met.vertices] = met.values
    queue = np.empty(ROOM, np.int64)
    queue[: len(waiting)] = waiting
    head, tail, furthest = relax_in_turn(*rows.outgoing, distances, queue, len(waiting))
    if head == tail:
        return distances, None
    left = np.unique(queue[np.arange(head, tail) & (ROOM - 1)])
    values = distances[left]
    furthest = max(furthest, met.values.max())
    return distances, Known(SparseDistances(left, values), values.min(), distances, furthest)
