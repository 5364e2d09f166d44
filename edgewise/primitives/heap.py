"""A heap of keys and items in two flat arrays, with four children per node, for one thread.

Items are never moved up when they get a smaller key: they are added once more, and the user recognises the
older item by its key and skips it.
"""

from typing import Any, NamedTuple

from edgewise.device import device

#: Children of a node of the heap.
ARITY = 4


class Heap(NamedTuple):
    """Distances ``keys`` and ``items`` at them, in heap order: two arrays of the same length."""

    keys: Any
    items: Any


@device
def push(heap, size, key, item):
    """Add an item; return the new size."""
    keys, items = heap
    at = size
    while at > 0 and keys[(at - 1) // ARITY] > key:
        above = (at - 1) // ARITY
        keys[at], items[at] = keys[above], items[above]
        at = above
    keys[at], items[at] = key, item
    return size + 1


@device
def pop(heap, size):
    """Remove the nearest item, which is the first; return the new size."""
    keys, items = heap
    size -= 1
    key, item = keys[size], items[size]
    at = 0
    while ARITY * at + 1 < size:
        first = ARITY * at + 1
        least = first
        for other in range(first + 1, min(first + ARITY, size)):
            if keys[other] < keys[least]:
                least = other
        if keys[least] >= key:
            break
        keys[at], items[at] = keys[least], items[least]
        at = least
    keys[at], items[at] = key, item
    return size
