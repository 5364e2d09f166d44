"""Batagelj and Zaveršnik's peeling on one core (2003): vertices stay sorted by their degrees.

Vertices are sorted by degree once.  The first that is left is removed, and each neighbour of larger degree is
swapped with the first vertex of its own degree and then counts to the group before.  Every edge costs a
constant number of steps, but each of these reads and writes four arrays.
"""

import numpy as np

from edgewise.cores.peel import MAX_INT32
from edgewise.device import arrays, compiled


@compiled
def remove_in_order(rows, degrees, order, places, begins):
    """Turn ``degrees`` into core numbers.

    ``order`` holds the vertices by ascending degree and ``places`` where each is in it; vertices of degree
    ``d`` begin at ``begins[d]``.
    """
    for item in range(len(order)):
        vertex = np.int64(order[item])
        for entry in range(rows.offsets[vertex], rows.offsets[vertex + 1]):
            other = np.int64(rows.neighbours[entry])
            degree = degrees[other]
            if degree > degrees[vertex]:
                place, begin = np.int64(places[other]), begins[degree]
                first = np.int64(order[begin])
                order[place], places[first] = first, place
                order[begin], places[other] = other, begin
                begins[degree] = begin + 1
                degrees[other] = degree - 1


def buckets(rows):
    """Core number of each vertex: (n,) int32 array, or int64 beyond 2**31 - 1 vertices."""
    n = len(rows.offsets) - 1
    degrees = np.diff(rows.offsets).astype(np.int32 if n <= MAX_INT32 else np.int64)
    order = np.argsort(degrees, kind="stable").astype(rows.neighbours.dtype)
    places = np.empty_like(order)
    places[order] = np.arange(n, dtype=order.dtype)
    counts = np.bincount(degrees) if n else np.zeros(0, np.int64)
    begins = arrays.contiguous(np.cumsum(counts) - counts)
    remove_in_order(rows, degrees, order, places, begins)
    return degrees
