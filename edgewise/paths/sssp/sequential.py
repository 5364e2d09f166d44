"""Near-far on one core, for small graphs: the search is over before other cores would have joined in.

Vertices whose distance was lowered are *pending*.  Those up to a threshold, the near ones, wait in a queue,
and their edges are relaxed in turn.  The others are in a pile.  When the queue is empty, the threshold rises,
and what is near now moves from the pile to the queue.  The new threshold is one and a half times as far above
the least distance of the pile as its mean, so it depends on no mean weight or degree.  A pile of a few
vertices, as on a path, moves as a whole.

A vertex is in the queue at most once, and in the pile at most once.  One that is lowered below the threshold
joins the queue, and its place in the pile counts no more.  On grids, roads and trees a vertex is expanded 1.0
to 1.1 times, as if by a heap, but without one; where degrees are uneven or high, up to 1.8 times.

After Davidson, Baxter, Garland and Owens, "Work-efficient parallel GPU methods for single-source shortest
paths" (IPDPS 2014), whose threshold rises by a constant.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import compiled, device
from edgewise.device.wrapping import wrapping_add
from edgewise.paths.result import unreached
from edgewise.paths.sssp.weights import just_beyond, past_the_end
from edgewise.primitives import filled

#: The threshold is so many times as far above the least distance of the pile as its mean is.
REACH = 1.5
#: Vertices of a pile that moves to the queue as a whole.
FEW = 16
#: Where a vertex is.
NOWHERE, IN_QUEUE, IN_PILE = range(3)


class Pending(NamedTuple):
    """The pending vertices.

    ``queue`` has a power of two items, ``pile`` (n,), and ``places`` (n,) uint8 says where each vertex is,
    nowhere before a search and after it.
    """

    queue: Any
    pile: Any
    places: Any


@device
def threshold_of(distances, pending, size):
    """Leave out of a pile what is no longer in it; return its size and the next threshold."""
    pile, places, kept = pending.pile, pending.places, 0
    least, largest, total = np.inf, 0.0, 0.0
    for item in range(size):
        vertex = pile[item]
        if places[vertex] == IN_PILE:
            pile[kept] = vertex
            kept += 1
            distance = np.float64(distances[vertex])
            least, largest = min(least, distance), max(largest, distance)
            total += distance
    if kept <= FEW:
        return kept, largest
    return kept, max(least + (total / kept - least) * REACH, least)


@device
def move_near(distances, pending, size, threshold, tail):
    """Move the near vertices of a pile to the queue; return the size of the pile, and the queue's end."""
    pile, queue, kept = pending.pile, pending.queue, 0
    for item in range(size):
        vertex = pile[item]
        if np.float64(distances[vertex]) <= threshold:
            pending.places[vertex] = IN_QUEUE
            queue[tail & (len(queue) - 1)] = vertex
            tail += 1
        else:
            pile[kept] = vertex
            kept += 1
    return kept, tail


@compiled
def search(graph, distances, pending, sources):
    """Lower the distances, which are those of no path, until no edge lowers any; the sources are distinct."""
    offsets, neighbours, weights = graph
    queue, pile, places = pending
    head = tail = size = 0
    for source in sources:
        distances[source], places[source], pile[size] = 0, IN_PILE, source
        size += 1
    while size > 0:
        size, threshold = threshold_of(distances, pending, size)
        size, tail = move_near(distances, pending, size, threshold, tail)
        while head < tail:
            vertex = np.int64(queue[head & (len(queue) - 1)])
            head += 1
            places[vertex] = NOWHERE
            distance = distances[vertex]
            for entry in range(np.uint64(offsets[vertex]), np.uint64(offsets[vertex + 1])):
                other = np.int64(neighbours[entry])
                longer = wrapping_add(distance, weights[entry])
                if longer < distances[other] and longer >= distance:
                    distances[other] = longer
                    if np.float64(longer) <= threshold:
                        if places[other] != IN_QUEUE:
                            places[other] = IN_QUEUE
                            queue[tail & (len(queue) - 1)] = other
                            tail += 1
                    elif places[other] == NOWHERE:
                        places[other] = IN_PILE
                        pile[size] = other
                        size += 1


def near_far_sequential(rows, sources, cutoff):
    """Search on one core."""
    n, dtype, none = rows.n_vertices, rows.weights.dtype, just_beyond(cutoff)
    (pending,) = rows.borrow("sequential", 1) or (_memory(n, rows.neighbours.dtype),)
    distances = filled(n, none, dtype)
    search(rows.outgoing, distances, pending, sources)
    rows.keep("sequential", 1, pending)
    overflowed = past_the_end(rows, distances, cutoff)
    if none != unreached(dtype):
        distances[distances == none] = unreached(dtype)
    return distances, overflowed


def _memory(n, index_type):
    room = 1 << max(n - 1, 0).bit_length()
    return Pending(np.empty(room, index_type), np.empty(n, index_type), np.zeros(n, np.uint8))
