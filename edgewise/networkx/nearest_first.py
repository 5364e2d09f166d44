"""Dijkstra's search in NetworkX's order, from one end or from both.

Vertices at equal distances are settled in the order in which they were added to the heap, as NetworkX's are,
so the same of several shortest paths is found, and dicts have the same order.  Sums are those of NetworkX bit
for bit, because they are added up in the same order.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import compiled, device
from edgewise.primitives.heap import ARITY

#: States of a vertex: not met, in the heap, its distance is final.
UNMET, MET, SETTLED = range(3)
#: What a search returns instead of a number of vertices if weights are negative.
CONTRADICTION = -1


class OrderedHeap(NamedTuple):
    """Items in order of ``keys``, and of ``numbers`` where these are equal; three arrays of one length."""

    keys: Any
    numbers: Any
    items: Any


@device
def is_before(heap, one, key, number):
    """Whether an item is before a key and number."""
    return heap.keys[one] < key or (heap.keys[one] == key and heap.numbers[one] < number)


@device
def add(heap, size, key, number, item):
    """Add an item; return the new size."""
    keys, numbers, items = heap
    at = size
    while at > 0:
        above = (at - 1) // ARITY
        if is_before(heap, above, key, number):
            break
        keys[at], numbers[at], items[at] = keys[above], numbers[above], items[above]
        at = above
    keys[at], numbers[at], items[at] = key, number, item
    return size + 1


@device
def remove_first(heap, size):
    """Remove the first item; return the new size."""
    keys, numbers, items = heap
    size -= 1
    key, number, item = keys[size], numbers[size], items[size]
    at = 0
    while ARITY * at + 1 < size:
        first = ARITY * at + 1
        least = first
        for other in range(first + 1, min(first + ARITY, size)):
            if is_before(heap, other, keys[least], numbers[least]):
                least = other
        if not is_before(heap, least, key, number):
            break
        keys[at], numbers[at], items[at] = keys[least], numbers[least], items[least]
        at = least
    keys[at], numbers[at], items[at] = key, number, item
    return size


class Reached(NamedTuple):
    """What a search finds.

    Attributes
    ----------
    order : (n,) int64 array
        Vertices in the order in which they were settled; valid up to their number.
    distances : (n,) int64 or float64 array
        Distance of each vertex that is met.
    parents : (n,) int64 array
        Vertex before each one; -1 for sources.
    states : (n,) int8 array
        ``UNMET``, ``MET`` or ``SETTLED``.
    """

    order: Any
    distances: Any
    parents: Any
    states: Any


class WeightedRows(NamedTuple):
    """Rows with a weight for each entry, int64 or float64."""

    offsets: Any
    neighbours: Any
    weights: Any


@compiled
def settle(rows, sources, target, cutoff, reached, heap):
    """Settle vertices up to a target (-1 for none) and a cutoff; return their number or CONTRADICTION."""
    offsets, neighbours, weights = rows
    order, distances, parents, states = reached
    size = n_added = n_settled = 0
    for source in sources:
        distances[source], states[source], parents[source] = 0, MET, -1
        size = add(heap, size, distances[source], n_added, source)
        n_added += 1
    while size > 0:
        distance, vertex = heap.keys[0], heap.items[0]
        size = remove_first(heap, size)
        if states[vertex] == SETTLED:
            continue
        states[vertex] = SETTLED
        order[n_settled] = vertex
        n_settled += 1
        if vertex == target:
            break
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            other, longer = np.int64(neighbours[entry]), distance + weights[entry]
            if longer > cutoff:
                continue
            if states[other] == SETTLED:
                if longer < distances[other]:
                    return CONTRADICTION
            elif states[other] == UNMET or longer < distances[other]:
                distances[other], states[other], parents[other] = longer, MET, vertex
                size = add(heap, size, longer, n_added, other)
                n_added += 1
    return n_settled


@device
def expand(rows, size, n_added, reached, other_side, best, heap):
    """Settle the first vertex of a side; return the sizes, whether the search ends, and where paths meet."""
    offsets, neighbours, weights = rows
    distance, vertex, meeting = heap.keys[0], heap.items[0], best[1]
    size = remove_first(heap, size)
    if reached.states[vertex] == SETTLED:
        return size, n_added, 0, best[0], meeting
    reached.states[vertex] = SETTLED
    if other_side.states[vertex] == SETTLED:
        return size, n_added, 1, best[0], meeting
    length = best[0]
    for entry in range(offsets[vertex], offsets[vertex + 1]):
        other, longer = np.int64(neighbours[entry]), distance + weights[entry]
        if reached.states[other] == SETTLED:
            if longer < reached.distances[other]:
                return size, n_added, CONTRADICTION, length, meeting
        elif reached.states[other] == UNMET or longer < reached.distances[other]:
            reached.distances[other], reached.states[other], reached.parents[other] = longer, MET, vertex
            size = add(heap, size, longer, n_added, other)
            n_added += 1
            if other_side.states[other] != UNMET:
                whole = longer + other_side.distances[other]
                if meeting < 0 or whole < length:
                    length, meeting = whole, other
    return size, n_added, 0, length, meeting


@compiled
def settle_from_both(rows, back_rows, ends, sides, heaps, length):
    """Search from both ends in turns; return where the shortest path meets, -1 for none, or -2.

    ``ends`` are the two vertices, ``length`` (1,) gets the length; -2 says that weights are negative.
    """
    forth, back = sides
    heap, back_heap = heaps
    for side, end in ((forth, ends[0]), (back, ends[1])):
        side.distances[end], side.states[end], side.parents[end] = 0, MET, -1
    size = add(heap, 0, forth.distances[ends[0]], 0, ends[0])
    back_size = add(back_heap, 0, back.distances[ends[1]], 0, ends[1])
    n_added, meeting, forwards = 1, np.int64(-1), True
    while size > 0 and back_size > 0:
        best = length[0], meeting
        if forwards:
            size, n_added, ending, length[0], meeting = expand(rows, size, n_added, forth, back, best, heap)
        else:
            back_size, n_added, ending, length[0], meeting = expand(
                back_rows, back_size, n_added, back, forth, best, back_heap
            )
        if ending == CONTRADICTION:
            return np.int64(-2)
        if ending == 1:
            return meeting
        forwards = not forwards
    return np.int64(-1)


def new_reached(n, dtype):
    """Memory of a search."""
    empty = np.empty(n, np.int64)
    return Reached(empty, np.empty(n, dtype), np.empty(n, np.int64), np.zeros(n, np.int8))


def new_heap(capacity, dtype):
    """A heap without items."""
    return OrderedHeap(*(np.empty(capacity, kind) for kind in (dtype, np.int64, np.int64)))


class NearestFirst:
    """Memory of searches of one graph; the arrays of a search are valid until the next one."""

    def __init__(self, rows: WeightedRows):
        self.rows = rows
        self.dtype, n = rows.weights.dtype, len(rows.offsets) - 1
        self._reached = new_reached(n, self.dtype)
        self._heap = new_heap(len(rows.neighbours) + n + 1, self.dtype)

    def run(self, sources, target=-1, cutoff=None) -> Reached:
        """Search from an array of sources, up to a target and to a cutoff; ``order`` ends with the last."""
        self._reached.states.fill(UNMET)
        limit = self._limit(cutoff)
        n_settled = settle(self.rows, sources, np.int64(target), limit, self._reached, self._heap)
        if n_settled == CONTRADICTION:
            raise ValueError("Contradictory paths found:", "negative weights?")
        return self._reached._replace(order=self._reached.order[:n_settled])

    def _limit(self, cutoff):
        """The largest distance that counts, in the type of the distances."""
        if self.dtype.kind == "f":
            return np.float64(np.inf if cutoff is None else cutoff)
        largest = np.iinfo(np.int64).max
        if cutoff is None or cutoff >= largest:
            return np.int64(largest)
        return np.int64(max(np.floor(cutoff), -1))


def path_from_both(rows, back_rows, source, target):
    """Length of a shortest path and its vertices, an empty list if there is none."""
    dtype, n = rows.weights.dtype, len(rows.offsets) - 1
    sides = new_reached(n, dtype), new_reached(n, dtype)
    heaps = tuple(new_heap(len(one.neighbours) + 1, dtype) for one in (rows, back_rows))
    length = np.zeros(1, dtype)
    meeting = int(settle_from_both(rows, back_rows, np.array([source, target]), sides, heaps, length))
    if meeting == -2:
        raise ValueError("Contradictory paths found: negative weights?")
    if meeting < 0:
        return 0, []
    halves = []
    for side, end in zip(sides, (source, target)):
        half = [meeting]
        while half[-1] != end:
            half.append(int(side.parents[half[-1]]))
        halves.append(half)
    return length[0].item(), halves[0][::-1] + halves[1][1:]
