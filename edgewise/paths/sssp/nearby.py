"""A search that stays small, at a cost that knows nothing of the size of the graph.

Distances of all vertices cost a millisecond to set up in a graph of millions.  So a search begins as
Dijkstra's over the vertices it meets, which are kept in a hash table with linear probing, and gives up when
it has met :data:`MOST_VERTICES` vertices or :data:`MOST_ENTRIES` edges; a search of everything follows.
What that loses is tens of microseconds.
"""

import numpy as np

from edgewise.device import compiled, device
from edgewise.device.wrapping import wrapping_add
from edgewise.paths.result import unreached
from edgewise.paths.sssp.heap import drop, put

MOST_VERTICES, MOST_ENTRIES = 512, 4096
#: Slots of the hash table, a power of two; at most a quarter of them is taken.
SLOTS = 4 * MOST_VERTICES
#: Targets that are looked for one by one.
MOST_TARGETS = 16
NOBODY, GAVE_UP = -1, -1


@device
def slot_of(table, vertices, vertex):
    """The slot of the hash table in which the vertex stands, or would stand."""
    slot = (vertex ^ (vertex >> 11)) & (SLOTS - 1)
    while table[slot] != NOBODY and vertices[table[slot]] != vertex:
        slot = (slot + 1) & (SLOTS - 1)
    return slot


@compiled
def search(
    offsets, neighbours, weights, sources, targets, cutoff, none, table, vertices, values, keys, items
):
    """Return the number of vertices met, or that the search gave up."""
    size = count = seen = 0
    for source in sources:
        table[slot_of(table, vertices, source)] = count
        vertices[count], values[count] = source, 0
        size = put(keys, items, size, values[count], count)
        count += 1
    left = len(targets)
    while size > 0:
        distance, item = keys[0], items[0]
        size = drop(keys, items, size)
        if distance > cutoff:
            break
        if distance > values[item]:
            continue
        vertex = vertices[item]
        for target in targets:
            if target == vertex:
                left -= 1
                if left == 0:
                    cutoff = distance
        seen += offsets[vertex + 1] - offsets[vertex]
        if seen > MOST_ENTRIES:
            return GAVE_UP
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            longer = wrapping_add(distance, weights[entry])
            if longer < distance or longer == none:
                return GAVE_UP
            if longer > cutoff:
                continue
            other = np.int64(neighbours[entry])
            slot = slot_of(table, vertices, other)
            if table[slot] == NOBODY:
                if count == MOST_VERTICES:
                    return GAVE_UP
                table[slot], vertices[count], values[count] = count, other, none
                count += 1
            if longer < values[table[slot]]:
                values[table[slot]] = longer
                size = put(keys, items, size, longer, table[slot])
    return count


def nearby(rows, sources, cutoff, targets=None):
    """The vertices within ``cutoff`` and their distances, or ``None`` if they are many.

    Parameters
    ----------
    rows : Adjacency
        On the CPU; no weight is negative.
    sources : (k,) int64 array of distinct vertices
    cutoff : number
        In the type of the weights.
    targets : (t,) int64 array of distinct vertices, optional
        Vertices further away than the furthest of these are left out.

    Returns
    -------
    tuple of (reached,) int64 array, (reached,) array, or None
    """
    targets = np.empty(0, np.int64) if targets is None else targets
    if len(sources) > MOST_VERTICES // 2 or len(targets) > MOST_TARGETS:
        return None
    dtype, room = rows.weights.dtype, MOST_ENTRIES + MOST_VERTICES
    vertices, values = np.empty(MOST_VERTICES, np.int64), np.empty(MOST_VERTICES, dtype)
    with np.errstate(over="ignore"):
        count = search(
            *(rows.offsets, rows.neighbours, rows.weights, sources, targets, cutoff),
            *(dtype.type(unreached(dtype)), np.full(SLOTS, NOBODY, np.int64), vertices, values),
            *(np.empty(room, dtype), np.empty(room, np.int64)),
        )
    if count == GAVE_UP:
        return None
    vertices, values = vertices[:count], values[:count]
    if len(targets):
        near = _within_targets(vertices, values, targets)
        vertices, values = vertices[near], values[near]
    return vertices, values


def _within_targets(vertices, values, targets):
    """Which vertices are no further away than the furthest target; all, if a target was not reached."""
    found = np.isin(vertices, targets)
    if found.sum() < len(targets):
        return slice(None)
    return values <= values[found].max()
