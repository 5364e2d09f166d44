"""Near-far on one core, for small graphs: the search is over before other cores would have joined in.

In a larger graph all pending vertices are near at first, and the search keeps what it meets in a sparse set
(:mod:`edgewise.paths.local_search`).  If it does not end soon, it begins again.

Vertices whose distance was lowered are *pending*.  Those up to a threshold, the near ones, wait in a queue,
and their edges are relaxed in turn.  The others are in a pile.  When the queue is empty, the threshold rises,
and what is near now moves from the pile to the queue.  The new threshold is one and a half times as far above
the least distance of the pile as its mean, so it depends on no mean weight or degree.  A pile of a few
vertices, as on a path, moves as a whole.

A vertex is in the queue at most once, and in the pile at most once.  One that is lowered below the threshold
joins the queue, and its place in the pile counts no more.  Whether an edge lowers a distance is the one
branch for every entry that a processor cannot predict; without it, by stores for all entries, a search takes
up to 1.7 times as long.  On grids, roads and trees a vertex is expanded 1.0 to 1.1 times, as if by a heap,
but without one; where degrees are uneven or high, up to 1.9 times.

After Davidson, Baxter, Garland and Owens, "Work-efficient parallel GPU methods for single-source shortest
paths" (IPDPS 2014), whose threshold rises by a constant.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import compiled, device
from edgewise.device.prefetch import prefetch
from edgewise.device.wrapping import wrapping_add
from edgewise.paths.csr import unreached
from edgewise.paths.local_search import search_nearby
from edgewise.paths.sssp.weights import just_beyond, past_the_end
from edgewise.primitives import filled

#: The threshold is so many times as far above the least distance of the pile as its mean is.
REACH = 1.5
#: Vertices of a pile that moves to the queue as a whole.
WHOLE_PILE = 16
#: Vertices of the queue by which rows are prefetched.
AHEAD = 2
#: Where a vertex is.
NOWHERE, IN_QUEUE, IN_PILE = range(3)


class Pending(NamedTuple):
    """The pending vertices.

    ``queue`` has a power of two items, more than there are vertices, and ``pile`` n + 1, so that a vertex can
    be written to the end of both before it is known where it belongs.  ``places`` (n,) uint8 says where each
    vertex is: nowhere before a search and after it.
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
        distance, is_there = np.float64(distances[vertex]), places[vertex] == IN_PILE
        pile[kept] = vertex
        kept += is_there
        least = min(least, distance if is_there else least)
        largest = max(largest, distance if is_there else largest)
        total += distance if is_there else 0.0
    if kept <= WHOLE_PILE:
        return kept, largest
    return kept, max(least + (total / kept - least) * REACH, least)


@device
def move_near(distances, pending, size, threshold, tail):
    """Move the near vertices of a pile to the queue; return the size of the pile, and the queue's end."""
    pile, queue, kept = pending.pile, pending.queue, 0
    for item in range(size):
        vertex = pile[item]
        near = np.float64(distances[vertex]) <= threshold
        queue[tail & (len(queue) - 1)] = pile[kept] = vertex
        pending.places[vertex] = IN_QUEUE if near else IN_PILE
        tail += near
        kept += not near
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
            if head + AHEAD < tail:
                entry = offsets[np.int64(queue[(head + AHEAD) & (len(queue) - 1)])]
                prefetch(neighbours, entry)
                prefetch(weights, entry)
            places[vertex] = NOWHERE
            distance = distances[vertex]
            for entry in range(np.uint64(offsets[vertex]), np.uint64(offsets[vertex + 1])):
                other = np.int64(neighbours[entry])
                longer = wrapping_add(distance, weights[entry])
                if longer < distances[other] and longer >= distance:
                    distances[other] = longer
                    near, place = np.float64(longer) <= threshold, places[other]
                    queue[tail & (len(queue) - 1)] = pile[size] = other
                    tail += near & (place != IN_QUEUE)
                    size += (not near) & (place == NOWHERE)
                    places[other] = IN_QUEUE if near else IN_PILE


def near_far_sequential(rows, sources, cutoff, targets=None):
    """Search on one core, up to the furthest of the ``targets``, (t,) int64, if that is near."""
    if not rows.is_small:
        found, given_up = search_nearby(rows, sources, cutoff, targets)
        if given_up is None:
            return found, False
    return search_all(rows, sources, cutoff)


def search_all(rows, sources, cutoff):
    """Search all vertices."""
    n, dtype, none = rows.n_vertices, rows.weights.dtype, just_beyond(cutoff)
    (pending,) = rows.borrow("sequential", 1) or (_memory(n, rows.neighbours.dtype),)
    distances = filled(n, none, dtype)
    search.with_steps(n + len(rows.weights), rows.outgoing, distances, pending, sources)
    rows.keep("sequential", 1, pending)
    overflowed = past_the_end(rows, distances, cutoff)
    if none != unreached(dtype):
        distances[distances == none] = unreached(dtype)
    return distances, overflowed


def bytes_of_sequential(size) -> float:
    """Bytes of a search of all vertices, for a :class:`~edgewise.needs.Size`."""
    n = size.vertices
    return size.width * ((1 << n.bit_length()) + n) + (size.weight + 1) * n


def _memory(n, index_type):
    room = 1 << n.bit_length()
    return Pending(np.empty(room, index_type), np.empty(n + 1, index_type), np.zeros(n, np.uint8))
