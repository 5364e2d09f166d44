"""Verification of what lies within distances of sources, without searching for it again.

A set is right if no edge leads from it to a vertex outside within the cutoff, or to a shorter distance, and
if edges that lead to exactly the distances of their ends connect the source with all of it.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import compiled
from edgewise.device.wrapping import wrapping_add
from edgewise.errors import VerificationError
from edgewise.paths.places.checks import rows_between
from edgewise.paths.sssp.weights import limit_in

#: Where a vertex is: outside of the set, inside, and inside and reached by shortest paths.
OUTSIDE, INSIDE, REACHED = range(3)


class Check(NamedTuple):
    """The memory of a check: ``distances`` (n,), ``states`` (n,) uint8 ``OUTSIDE``, and ``queue`` (n,)."""

    distances: Any
    states: Any
    queue: Any


@compiled
def wrong_area(rows, areas, sources, cutoff, check):
    """The number of the row, times n, plus a vertex whose distance in it is wrong; or -1."""
    distances, states, queue = check
    n = len(states)
    for row in range(len(sources)):
        first, end, source = areas.offsets[row], areas.offsets[row + 1], sources[row]
        for entry in range(first, end):
            vertex = areas.vertices[entry]
            if states[vertex] != OUTSIDE or not areas.distances[entry] <= cutoff:
                return row * n + vertex
            distances[vertex], states[vertex] = areas.distances[entry], INSIDE
        if states[source] == OUTSIDE or distances[source] != 0:
            return row * n + source
        head, tail, queue[0], states[source] = 0, 1, source, REACHED
        while head < tail:
            vertex = queue[head]
            head += 1
            for entry in range(rows.offsets[vertex], rows.offsets[vertex + 1]):
                other = np.int64(rows.neighbours[entry])
                weight = rows.weights[entry] if len(rows.weights) else distances.dtype.type(1)
                longer = wrapping_add(distances[vertex], weight)
                if longer < distances[vertex] or longer > cutoff:
                    continue
                if states[other] == OUTSIDE or longer < distances[other]:
                    return row * n + other
                if longer == distances[other] and states[other] == INSIDE:
                    states[other], queue[tail] = REACHED, other
                    tail += 1
        for entry in range(first, end):
            vertex = areas.vertices[entry]
            if states[vertex] == INSIDE:
                return row * n + vertex
            states[vertex] = OUTSIDE
    return np.int64(-1)


def verify_areas(graph, sources, areas, cutoff, direction):
    """Raise VerificationError unless sets and distances are those within a cutoff in a graph on the host.

    ``sources`` (k,) int64 are vertex numbers, and ``areas`` their
    :class:`~edgewise.paths.places.bounded_search.Areas`.
    """
    n, dtype = graph.n_vertices, areas.distances.dtype
    rows = rows_between(graph, direction, dtype.name if graph.is_weighted else None).csr
    vertices = np.ascontiguousarray(areas.vertices, np.int64)
    check = Check(np.empty(n, dtype), np.zeros(n, np.uint8), np.empty(n, np.int64))
    n_steps = len(vertices) + (rows.offsets[vertices + 1] - rows.offsets[vertices]).sum()
    areas = areas._replace(vertices=vertices)
    wrong = wrong_area.with_steps(n_steps, rows, areas, sources, limit_in(cutoff, dtype), check)
    if wrong >= 0:
        row, vertex = divmod(int(wrong), n)
        one, other = graph.ids_of(np.array([sources[row], vertex])).tolist()
        raise VerificationError(f"{other!r} has a wrong distance in the set of {one!r}, or is left out of it")
