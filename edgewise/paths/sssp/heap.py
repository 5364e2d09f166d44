"""A heap of distances and what lies at them, in two flat arrays; four children a node.

Items are never moved up when a shorter way to them is found: they are put in once more, and the one that
comes out later is known by its distance and passed over.
"""

from edgewise.device import device

WAYS = 4


@device
def put(keys, items, size, key, item):
    """Add an item; return the new size."""
    at = size
    while at > 0 and keys[(at - 1) // WAYS] > key:
        above = (at - 1) // WAYS
        keys[at], items[at] = keys[above], items[above]
        at = above
    keys[at], items[at] = key, item
    return size + 1


@device
def drop(keys, items, size):
    """Remove the nearest item, which stands first; return the new size."""
    size -= 1
    key, item = keys[size], items[size]
    at = 0
    while WAYS * at + 1 < size:
        first = WAYS * at + 1
        least = first
        for other in range(first + 1, min(first + WAYS, size)):
            if keys[other] < keys[least]:
                least = other
        if keys[least] >= key:
            break
        keys[at], items[at] = keys[least], items[least]
        at = least
    keys[at], items[at] = key, item
    return size
