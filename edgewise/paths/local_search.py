"""Local search: where few vertices are within reach, the cost does not depend on the size of the graph.

Distances of all vertices cost a millisecond to set up in a graph of millions.  So a search begins on one core
with a small hash table: 19 of two million vertices take a microsecond.  A search that outgrows the table has
lost tens of microseconds; a breadth-first search hands over all the levels that it has completed.
"""

from threading import local
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import compiled, device
from edgewise.device.wrapping import wrapping_add
from edgewise.paths.result import SparseDistances, unreached
from edgewise.primitives.hash_table import EMPTY, WHOLE_WORD, HashTable, home_slot, insert
from edgewise.primitives.heap import Heap, pop, push

#: What results report as their method.
LOCAL_SEARCH = "local-search"
#: Slots of the table; vertices and entries of a search by levels, and of one by distance, whose steps cost
#: more.
SLOTS, MAX_VERTICES, MAX_ENTRIES = 1 << 13, 2048, 8192
MAX_NEAREST, MAX_NEAREST_ENTRIES = 512, 4096
#: Targets that a search by distance looks for one by one.
MAX_TARGETS = 16

_thread = local()


class Scratch(NamedTuple):
    """Memory that a thread keeps; every search removes from the table what it has entered."""

    words: Any  # (SLOTS,) uint64 array of a hash table, whose keys are vertices
    slots: Any  # (MAX_VERTICES + 2,) uint64 array: slots in order; the last complete level; whether it is all


@device
def enter(vertex, count, vertices, words, slots):
    """Enter a vertex into the table and, if it is new, the list; return its slot and the list's length."""
    table = HashTable(words, EMPTY, WHOLE_WORD)
    slot, is_new = insert(table, home_slot(vertex, table), np.uint64(vertex))
    if is_new:
        vertices[count], slots[count] = vertex, slot
        count += 1
    return slot, count


@compiled
def by_levels(offsets, neighbours, sources, cutoff, words, slots, vertices, distances):
    """Breadth-first search in plain arrays, since a call with records costs as much as twenty vertices."""
    count = n_entries = level = first = 0
    for source in sources:
        _, count = enter(source, count, vertices, words, slots)
        distances[count - 1] = 0
    last, fits = count, True
    while first < last and level < cutoff and fits:
        for item in range(first, last):
            vertex = vertices[item]
            for entry in range(offsets[vertex], offsets[vertex + 1]):
                _, count = enter(neighbours[entry], count, vertices, words, slots)
                n_entries += 1
                if count >= MAX_VERTICES or n_entries >= MAX_ENTRIES:
                    fits = False
                    break
            if not fits:
                break
        if fits:
            first, last, level = last, count, level + 1
            for item in range(first, last):
                distances[item] = level
    for item in range(count):
        words[slots[item]] = EMPTY
    slots[MAX_VERTICES], slots[MAX_VERTICES + 1] = level, fits
    return last


@device
def settle_nearest(rows, sources, targets, limits, heap, scratch, reached):
    """Dijkstra's search; return the number of vertices met, and whether they are all within the cutoff."""
    vertices, tentative = reached
    cutoff, none = limits
    size = count = n_entries = 0
    for source in sources:
        slot, count = enter(source, count, vertices, scratch.words, scratch.slots)
        tentative[slot] = 0
        size = push(heap, size, tentative[slot], np.int64(slot))
    targets_left = len(targets)
    while size > 0:
        distance, slot = heap.keys[0], np.uint64(heap.items[0])
        size = pop(heap, size)
        if distance > cutoff:
            break
        if distance > tentative[slot]:
            continue
        vertex = np.int64(scratch.words[slot])
        for target in targets:
            if target == vertex:
                targets_left -= 1
                if targets_left == 0:
                    cutoff = distance
        n_entries += rows.offsets[vertex + 1] - rows.offsets[vertex]
        if n_entries > MAX_NEAREST_ENTRIES:
            return count, False
        for entry in range(rows.offsets[vertex], rows.offsets[vertex + 1]):
            longer = wrapping_add(distance, rows.weights[entry])
            if longer < distance or longer == none:
                return count, False
            if longer <= cutoff:
                before = count
                other = np.int64(rows.neighbours[entry])
                slot, count = enter(other, count, vertices, scratch.words, scratch.slots)
                if count > before:
                    if count > MAX_NEAREST:
                        return count, False
                    tentative[slot] = none
                if longer < tentative[slot]:
                    tentative[slot] = longer
                    size = push(heap, size, longer, np.int64(slot))
    return count, True


@compiled
def by_distance(rows, sources, targets, limits, heap, scratch, reached):
    """Run Dijkstra's search; the distances of the vertices, whose number is returned, replace the keys."""
    count, complete = settle_nearest(rows, sources, targets, limits, heap, scratch, reached)
    for item in range(count):
        heap.keys[item] = reached.values[scratch.slots[item]]
        scratch.words[scratch.slots[item]] = EMPTY
    scratch.slots[MAX_VERTICES + 1] = complete
    return count


def search_by_levels(rows, sources, cutoff):
    """Breadth-first search on the host as far as the table holds.

    Returns the vertices up to a level, in ascending order of distance; the level; and whether no other vertex
    is within reach.
    """
    if len(sources) >= MAX_VERTICES:
        return SparseDistances(sources, np.zeros(len(sources), np.int32)), 0, False
    scratch = _scratch()
    vertices, distances = np.empty(MAX_VERTICES, rows.neighbours.dtype), np.empty(MAX_VERTICES, np.int32)
    count = by_levels(rows.offsets, rows.neighbours, sources, cutoff, *scratch, vertices, distances)
    level, complete = scratch.slots[MAX_VERTICES:].tolist()
    return SparseDistances(vertices[:count].copy(), distances[:count].copy()), level, bool(complete)


def search_by_distance(rows, sources, cutoff, targets=None):
    """Dijkstra's search on the host: distances, or ``None`` if more is within reach than the table holds.

    Weights are not negative, ``sources`` and ``targets`` distinct vertices.  With targets, vertices further
    away than the furthest of these are left out.
    """
    targets = np.empty(0, np.int64) if targets is None else targets
    if len(sources) > MAX_NEAREST // 2 or len(targets) > MAX_TARGETS:
        return None
    scratch, dtype = _scratch(), rows.weights.dtype
    limits, room = (cutoff, dtype.type(unreached(dtype))), MAX_NEAREST_ENTRIES + MAX_NEAREST
    heap = Heap(np.empty(room, dtype), np.empty(room, np.int64))
    reached = SparseDistances(np.empty(MAX_NEAREST + 1, np.int64), np.empty(SLOTS, dtype))
    with np.errstate(over="ignore"):
        count = by_distance(rows, sources, targets, limits, heap, scratch, reached)
    if not scratch.slots[MAX_VERTICES + 1]:
        return None
    vertices, values = reached.vertices[:count], heap.keys[:count]
    if len(targets):
        is_target = np.isin(vertices, targets)
        if is_target.sum() == len(targets):
            near = values <= values[is_target].max()
            vertices, values = vertices[near], values[near]
    return SparseDistances(vertices.copy(), values.copy())


def _scratch():
    if not hasattr(_thread, "scratch"):
        words, slots = np.full(SLOTS, EMPTY, np.uint64), np.zeros(MAX_VERTICES + 2, np.uint64)
        _thread.scratch = Scratch(words, slots)
    return _thread.scratch
