"""The nearest of a set of places to every vertex, or the nearest k of them, by one search from all places.

A vertex has up to k *labels*, each a place and its distance, in the order of distances and then of places; so
of two places that are equally near the smaller one is first.  An edge *offers* the labels of one end to the
other, longer by its weight: an offer that is better than the last label takes its place in the order, and the
label of the same place or else the last one is gone.  Every edge offers every label, so of the k nearest
places of a vertex each one is also among the k nearest of the next vertex on the way there, and no path needs
any other label.

The order of the offers does not change the labels, but how many are made in vain.  As in near-far on one core
(:mod:`edgewise.paths.sssp.sequential`) the vertices with labels that they have not offered yet wait in a
queue, if one of those is below a threshold, and otherwise in a pile, until the queue is empty and the
threshold rises.

Distances are the sums of weights from the place on, rounded after every edge.  Only where rounding makes two
distances equal that were not so before may the larger of the two places have the label.

Erwig, "The graph Voronoi diagram with applications" (Networks 2000).
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import compiled, device, each, fetch_max
from edgewise.device.prefetch import prefetch
from edgewise.device.wrapping import wrapping_add
from edgewise.paths.csr import unreached
from edgewise.paths.places.checks import check_room, may_overflow, rows_between
from edgewise.paths.sssp.sequential import REACH, WHOLE_PILE
from edgewise.paths.sssp.weights import limit_in, wider_than
from edgewise.primitives import filled

#: Vertices of the queue by which rows are prefetched.
AHEAD = np.uint64(2)
ONE = np.uint64(1)
#: Where a vertex waits: bits, since it may be in both.
IN_QUEUE, IN_PILE = 1, 2


class Labels(NamedTuple):
    """The ``k`` labels of each vertex, those of vertex ``v`` from ``k * v`` on.

    ``distances`` (n * k,) and ``places`` (n * k,) index array; where there is none, the distance is that of
    no path and the place n.  ``is_new`` (n * k,) uint8: whether a label has not been offered.
    """

    k: int
    distances: Any
    places: Any
    is_new: Any


class Waiting(NamedTuple):
    """The vertices with new labels.

    ``queue`` has a power of two items, more than n; ``pile`` n + 1.  ``bits`` (n,) uint8 say where each
    vertex is.  ``least`` (n,) is at most the least new distance of each vertex, or that of no path.
    """

    queue: Any
    pile: Any
    bits: Any
    least: Any


@device
def comes_before(distance, place, at, labels):
    """Whether a label is better than the one at a position."""
    held = labels.distances[at]
    return distance < held or (distance == held and place < labels.places[at])


@device
def accept(vertex, distance, place, labels):
    """Put a label in its place among those of a vertex; return whether it is better than what was there."""
    size, distances, places, is_new = labels
    k = np.uint64(size)
    first = vertex * k
    at = first + k - ONE
    if not comes_before(distance, place, at, labels):
        return False
    for other in range(first, at):
        if places[other] == place:
            if distances[other] <= distance:
                return False
            at = other
            break
    while at > first and comes_before(distance, place, at - ONE, labels):
        before = at - ONE
        distances[at], places[at], is_new[at] = distances[before], places[before], is_new[before]
        at = before
    distances[at], places[at], is_new[at] = distance, place, 1
    return True


@device
def next_threshold(waiting, size, none):
    """Leave out of the pile what has nothing new; return its size and the next threshold."""
    pile, bits, kept = waiting.pile, waiting.bits, np.uint64(0)
    least, largest, total = np.inf, 0.0, 0.0
    for item in range(size):
        vertex = np.uint64(pile[item])
        if waiting.least[vertex] == none:
            bits[vertex] &= ~np.uint8(IN_PILE)
            continue
        distance = np.float64(waiting.least[vertex])
        pile[kept] = vertex
        kept += ONE
        least, largest, total = min(least, distance), max(largest, distance), total + distance
    if kept <= WHOLE_PILE:
        return kept, largest
    return kept, max(least + (total / kept - least) * REACH, least)


@device
def queue_near(waiting, size, threshold, tail):
    """Move the near vertices of the pile to the empty queue; return the pile's size and the queue's end."""
    queue, pile, bits, least = waiting
    last, kept = np.uint64(len(queue) - 1), np.uint64(0)
    for item in range(size):
        vertex = np.uint64(pile[item])
        if np.float64(least[vertex]) <= threshold:
            queue[tail & last], bits[vertex] = vertex, IN_QUEUE
            tail += ONE
        else:
            pile[kept] = vertex
            kept += ONE
    return kept, tail


@device
def offer(vertex, slot, rows, limits, labels, waiting, ends):
    """Offer a label to all neighbours; return the size of the pile and the end of the queue."""
    (cutoff, threshold), (size, tail) = limits, ends
    last, distance, place = np.uint64(len(waiting.queue) - 1), labels.distances[slot], labels.places[slot]
    for entry in range(np.uint64(rows.offsets[vertex]), np.uint64(rows.offsets[vertex + ONE])):
        other = np.uint64(rows.neighbours[entry])
        weight = rows.weights[entry] if len(rows.weights) else labels.distances.dtype.type(1)
        longer = wrapping_add(distance, weight)
        if longer < distance or longer > cutoff or not accept(other, longer, place, labels):
            continue
        waiting.least[other] = min(waiting.least[other], longer)
        bits = waiting.bits[other]
        if np.float64(longer) <= threshold:
            if bits & IN_QUEUE == 0:
                waiting.queue[tail & last] = other
                waiting.bits[other] = bits | IN_QUEUE
                tail += ONE
        elif bits == 0:
            waiting.pile[size] = other
            waiting.bits[other] = IN_PILE
            size += ONE
    return size, tail


@compiled
def search(rows, sources, cutoff, none, labels, waiting):
    """Offer labels, at first those of the places to themselves, until none is new."""
    distances, is_new, queue, bits = labels.distances, labels.is_new, waiting.queue, waiting.bits
    head, tail, size = np.uint64(0), np.uint64(0), np.uint64(0)
    k, last = np.uint64(labels.k), np.uint64(len(queue) - 1)
    for source in sources:
        accept(np.uint64(source), distances.dtype.type(0), labels.places.dtype.type(source), labels)
        waiting.pile[size], bits[source], waiting.least[source] = source, IN_PILE, 0
        size += ONE
    while size > 0:
        size, threshold = next_threshold(waiting, size, none)
        size, tail = queue_near(waiting, size, threshold, tail)
        while head < tail:
            vertex = np.uint64(queue[head & last])
            head += ONE
            if head + AHEAD < tail:
                entry = rows.offsets[np.uint64(queue[(head + AHEAD) & last])]
                prefetch(rows.neighbours, entry)
                prefetch(rows.weights, entry)
            bits[vertex] &= ~np.uint8(IN_QUEUE)
            later = none
            for slot in range(vertex * k, vertex * k + k):
                if is_new[slot] == 0:
                    continue
                if np.float64(distances[slot]) > threshold:
                    later = min(later, distances[slot])
                    continue
                is_new[slot] = 0
                size, tail = offer(vertex, slot, rows, (cutoff, threshold), labels, waiting, (size, tail))
            waiting.least[vertex] = later
            if later != none and bits[vertex] == 0:
                waiting.pile[size], bits[vertex] = vertex, IN_PILE
                size += ONE


@each
def mark_missed(vertex, rows, labels, end, missed):
    """Record an offer that was refused since its distance passes the end of the type."""
    k = labels.k
    for slot in range(vertex * k, vertex * k + k):
        distance, place = labels.distances[slot], labels.places[slot]
        if place == len(rows.offsets) - 1:
            continue
        for entry in range(rows.offsets[vertex], rows.offsets[vertex + 1]):
            longer = wrapping_add(distance, rows.weights[entry])
            if longer < distance or longer > end:
                first, is_known = np.int64(rows.neighbours[entry]) * k, False
                for other in range(first, first + k):
                    is_known |= labels.places[other] == place
                if not is_known and labels.places[first + k - 1] == len(rows.offsets) - 1:
                    fetch_max(missed, 0, 1)


def find_nearest(graph, sources, k, cutoff, direction, name=None):
    """Name of the method, and the :class:`Labels`; ``sources`` are distinct vertices, at least ``k``."""
    rows = rows_between(graph, direction, name)
    csr, n = rows.csr, graph.n_vertices
    kind, dtype = csr.neighbours.dtype, csr.weights.dtype
    none, itemsize = dtype.type(unreached(dtype)), dtype.itemsize + kind.itemsize
    needed = n * (k * (2 * itemsize + 1) + dtype.itemsize + 3 * kind.itemsize + 1)
    check_room(needed, f"the {k:,} nearest of {n:,} vertices", "ask for fewer, or give a smaller k")
    labels = Labels(k, filled(n * k, none, dtype), filled(n * k, n, kind), np.zeros(n * k, np.uint8))
    waiting = Waiting(
        np.empty(1 << n.bit_length(), kind),
        np.empty(n + 1, kind),
        np.zeros(n, np.uint8),
        filled(n, none, dtype),
    )
    limit = limit_in(cutoff, dtype)
    search.with_steps(k * (n + len(csr.neighbours)), csr, sources, limit, none, labels, waiting)
    end = limit_in(None, dtype)
    if limit == end and may_overflow(rows, cutoff) and len(csr.weights):
        missed = np.zeros(1, np.int32)
        with np.errstate(over="ignore"):
            mark_missed(n, csr, labels, end, missed)
        if missed[0]:
            return find_nearest(graph, sources, k, cutoff, direction, wider_than(dtype.name))
    return "nearest-labels", labels
