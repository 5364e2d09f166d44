"""A heap of keys and items in two flat arrays, with four children per node, for one thread.

Items are never moved up when they get a smaller key: they are added once more, and the user recognises the
older item by its key and skips it.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import device

#: Children of a node of the heap.
ARITY = 4
#: The same, and one, as numbers that are never negative, whose accesses need no test for that.
CHILDREN, ONE = np.uint64(ARITY), np.uint64(1)


class Heap(NamedTuple):
    """Distances ``keys`` and ``items`` at them, in heap order: two arrays of the same length."""

    keys: Any
    items: Any


@device
def push(heap, size, key, item):
    """Add an item; return the new size."""
    keys, items = heap
    at = np.uint64(size)
    while at > 0:
        above = (at - ONE) // CHILDREN
        if keys[above] <= key:
            break
        keys[at], items[at] = keys[above], items[above]
        at = above
    keys[at], items[at] = key, item
    return size + 1


@device
def pop(heap, size):
    """Remove the nearest item, which is the first; return the new size."""
    keys, items = heap
    size -= 1
    last, at, first = np.uint64(size), np.uint64(0), ONE
    key, item = keys[last], items[last]
    while first < last:
        least = first
        for other in range(first + ONE, min(first + CHILDREN, last)):
            least = np.uint64(other if keys[other] < keys[least] else least)
        if keys[least] >= key:
            break
        keys[at], items[at] = keys[least], items[least]
        at, first = least, CHILDREN * least + ONE
    keys[at], items[at] = key, item
    return size
