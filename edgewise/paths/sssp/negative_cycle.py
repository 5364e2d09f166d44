"""Negative cycles: found on one core, by the parents that a search leaves.

Bellman-Ford-Moore with a queue: whatever lowers a vertex becomes its parent.  Where parents form a cycle its
weights sum up to less than zero, and if a source leads to a negative cycle then, from some time on, there
always is one among the parents (Cherkassky and Goldberg, "Negative-cycle detection algorithms", 1999).  So it
is enough to follow the parents now and then: whenever as many edges were relaxed as there are vertices.

The search continues from distances that others have reached; these count as given, like edges from a
vertex that leads everywhere.
"""

import numpy as np

from edgewise.device import arrays, compiled, device
from edgewise.device.wrapping import wrapping_add
from edgewise.errors import GraphError
from edgewise.paths.sssp.weights import least_in

NOBODY = -1
#: Vertices of a negative cycle that an error names.
MOST_NAMED = 20
#: How a search ended.
DONE, SPENT, TOO_LOW = -1, -2, -3


class NegativeCycle(Exception):
    """A cycle whose weights sum up to less than zero: its vertices in order, and the sum."""

    def __init__(self, vertices, weight):
        super().__init__(f"a negative cycle of {len(vertices)} vertices")
        self.vertices, self.weight = vertices, weight

    def named(self, graph):
        """The error for a user of ``graph``, which names the vertices by their ids."""
        ids = [repr(id) for id in graph.ids_of(np.array(self.vertices)).tolist()]
        shown = ids if len(ids) <= MOST_NAMED else [*ids[:MOST_NAMED], f"({len(ids) - MOST_NAMED} more)"]
        return GraphError(
            f"no shortest paths: the cycle {' -> '.join([*shown, ids[0]])} weighs {self.weight}; "
            "leave out an edge of it, or raise its weight"
        )


@device
def on_a_cycle(parents, walk):
    """A vertex on a cycle of parents, or nobody; ``walk`` notes in whose walk a vertex was first met."""
    for vertex in range(len(parents)):
        walk[vertex] = NOBODY
    for start in range(len(parents)):
        vertex = start
        while vertex != NOBODY and walk[vertex] == NOBODY:
            walk[vertex] = start
            vertex = parents[vertex]
        if vertex != NOBODY and walk[vertex] == start:
            return vertex
    return NOBODY


@compiled
def search(
    offsets, neighbours, weights, distances, queue, count, parents, through, waiting, walk, budget, lowest
):
    """Go on until nothing can be lowered; return a vertex of a negative cycle, or how it ended."""
    n, head, since = len(distances), 0, 0
    while count > 0:
        vertex = queue[head]
        head = head + 1 if head + 1 < n else 0
        count -= 1
        waiting[vertex] = 0
        distance = distances[vertex]
        scanned = offsets[vertex + 1] - offsets[vertex]
        since, budget = since + scanned + 1, budget - scanned - 1
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            other, weight = np.int64(neighbours[entry]), weights[entry]
            longer = wrapping_add(distance, weight)
            if weight < 0 and (longer > distance or longer < lowest):
                return TOO_LOW
            if longer < distances[other] and (weight < 0 or longer >= distance):
                distances[other], parents[other], through[other] = longer, vertex, entry
                if waiting[other] == 0:
                    waiting[other] = 1
                    tail = head + count
                    queue[tail if tail < n else tail - n] = other
                    count += 1
        if since > n or (count == 0 and since > 0):
            since = 0
            found = on_a_cycle(parents, walk)
            if found != NOBODY:
                return found
        if budget < 0 and count > 0:
            return SPENT
    return DONE


def finish(rows, distances, pending, budget):
    """Go on from ``distances``, whose ``pending`` vertices were lowered last, for about ``budget`` edges.

    Returns
    -------
    (n,) array or None
        The final distances, in the place of the given; ``None`` if the budget is spent, or if a distance
        would pass the end of its type.

    Raises
    ------
    NegativeCycle
    """
    device, n = arrays.device_of(distances), len(distances)
    offsets, neighbours, weights = (
        arrays.move(a, "cpu") for a in (rows.offsets, rows.neighbours, rows.weights)
    )
    lowered = np.array(arrays.move(distances, "cpu"))
    pending = arrays.move(pending, "cpu")
    queue, waiting = np.empty(n, np.int64), np.zeros(n, np.uint8)
    queue[: len(pending)], waiting[pending] = pending, 1
    parents, through, walk = (np.full(n, NOBODY, np.int64) for _ in range(3))
    with np.errstate(over="ignore"):
        ended = search(
            *(offsets, neighbours, weights, lowered, queue, len(pending)),
            *(parents, through, waiting, walk, budget + n, least_in(lowered.dtype)),
        )
    if ended >= 0:
        raise NegativeCycle(*_around(ended, parents, through, weights))
    return arrays.move(lowered, device) if ended == DONE else None


def _around(start, parents, through, weights):
    """The vertices of the cycle of parents through ``start``, in the order of its edges, and its weight."""
    vertices, vertex, weight = [], int(start), 0
    while vertex != start or not vertices:
        vertices.append(vertex)
        weight += weights[through[vertex]].item()
        vertex = int(parents[vertex])
    return vertices[::-1], weight
