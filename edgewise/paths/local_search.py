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
from edgewise.paths.csr import CSR
from edgewise.paths.result import SparseDistances, unreached
from edgewise.primitives.hash_table import EMPTY, WHOLE_WORD, HashTable, home_slot, insert
from edgewise.primitives.heap import Heap, pop, push

#: What results report as their method.
LOCAL_SEARCH = "local-search"
#: Slots of the table; vertices and entries of a search by levels, and of one by distance, whose steps cost
#: more.
SLOTS, MAX_VERTICES, MAX_ENTRIES = 1 << 13, 2048, 8192
MAX_NEAREST_ENTRIES = 8192
#: A search by distance ends when it has met one vertex of so many, and so many at least: to meet a vertex
#: takes 20 ns, as long as to initialise 500 to 700, and a queue needs a third of that.  With targets, for
#: which no queue searches, it may go on.
VERTICES_PER_MET, WITH_TARGETS, MIN_VERTICES = 2048, 256, 256
#: Sources of a search by distance, and targets that it looks for one by one.
MAX_SOURCES, MAX_TARGETS = 256, 16
NO_TARGETS = np.empty(0, np.int64)
#: How a search by distance ends: nothing else is within reach, it needs more memory, or a wider type.
COMPLETE, OUTGROWN, OVERFLOWED = range(3)
#: Room of its heap, and where parts of its numbers begin: slots, vertices, items, and the way it ended.
ROOM = MAX_NEAREST_ENTRIES + MAX_SOURCES
ITEMS_AT = 2 * MAX_VERTICES
ENDING_AT = ITEMS_AT + ROOM

_thread = local()


class Scratch(NamedTuple):
    """Memory that a thread keeps; every search removes from the table what it has entered."""

    words: Any  # (SLOTS,) uint64 array of a hash table, whose keys are vertices
    slots: Any  # (MAX_VERTICES + 2,) uint64 array: slots in order; the last complete level; whether it is all


class Found(NamedTuple):
    """What a search by distance has met: a table of vertices, and their distances by slot.

    ``words`` (SLOTS,) uint64, ``tentative`` (SLOTS,), ``slots`` and ``vertices`` (MAX_VERTICES,) int64.
    """

    words: Any
    tentative: Any
    slots: Any
    vertices: Any


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
def settle_nearest(rows, sources, targets, limits, heap, found):
    """Dijkstra's search; return the number of vertices met, the distance it came to, and how it ended.

    The nearest vertex that was lowered last is kept out of the heap, so that a path needs no heap.
    """
    cutoff, none, enough = limits
    tentative = found.tentative
    size = count = n_entries = 0
    for source in sources:
        slot, count = enter(source, count, found.vertices, found.words, found.slots)
        tentative[slot] = 0
        size = push(heap, size, tentative[slot], np.int64(slot))
    distance, kept, kept_slot, targets_left = heap.keys[0], none, np.int64(0), len(targets)
    while size > 0 or kept != none:
        if size > 0 and heap.keys[0] < kept:
            distance, slot = heap.keys[0], np.uint64(heap.items[0])
            size = pop(heap, size)
        else:
            distance, slot, kept = kept, np.uint64(kept_slot), none
        if distance > cutoff:
            break
        if distance > tentative[slot]:
            continue
        vertex = np.int64(found.words[slot])
        for target in targets:
            if target == vertex:
                targets_left -= 1
                if targets_left == 0:
                    cutoff = distance
        degree = rows.offsets[vertex + 1] - rows.offsets[vertex]
        n_entries += degree
        if count > enough or n_entries > MAX_NEAREST_ENTRIES or count + degree > MAX_VERTICES:
            return count, distance, OUTGROWN
        for entry in range(rows.offsets[vertex], rows.offsets[vertex + 1]):
            longer = wrapping_add(distance, rows.weights[entry])
            if longer < distance or longer == none:
                return count, distance, OVERFLOWED
            if longer <= cutoff:
                before = count
                slot, count = enter(
                    np.int64(rows.neighbours[entry]), count, found.vertices, found.words, found.slots
                )
                if count > before:
                    tentative[slot] = none
                if longer < tentative[slot]:
                    tentative[slot] = longer
                    if longer < kept:
                        further, further_slot, kept, kept_slot = kept, kept_slot, longer, np.int64(slot)
                    else:
                        further, further_slot = longer, np.int64(slot)
                    if further != none:
                        size = push(heap, size, further, further_slot)
    return count, distance, COMPLETE


@compiled
def by_distance(offsets, neighbours, weights, ends, limits, memory):
    """Run Dijkstra's search in plain tuples: sources and targets; cutoff, none, and enough; the memory.

    The distances of the vertices met, whose number is returned, replace the keys of the heap; the distance
    that the search came to is behind them, and the way it ended is the last of the numbers.
    """
    (sources, targets), (words, numbers, values) = ends, memory
    heap = Heap(values[SLOTS : SLOTS + ROOM], numbers[ITEMS_AT : ITEMS_AT + ROOM])
    slots, vertices = numbers[:MAX_VERTICES], numbers[MAX_VERTICES:ITEMS_AT]
    found = Found(words, values[:SLOTS], slots, vertices)
    rows = CSR(offsets, neighbours, weights)
    count, distance, ending = settle_nearest(rows, sources, targets, limits, heap, found)
    for item in range(count):
        heap.keys[item] = found.tentative[slots[item]]
        words[slots[item]] = EMPTY
    values[SLOTS + ROOM], numbers[ENDING_AT] = distance, ending
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
    """Dijkstra's search on the host as far as the table holds; weights are not negative, vertices distinct.

    Returns the vertices met, the distance that the search came to, and whether no other vertex is within
    reach.  If one is, all those nearer than that distance have their final distance and no unknown
    neighbours.  With targets, vertices further away than the furthest of these are left out.
    """
    targets = NO_TARGETS if targets is None else targets
    dtype = rows.weights.dtype
    if len(sources) > MAX_SOURCES or len(targets) > MAX_TARGETS:
        return _start(sources, dtype)
    per_met = WITH_TARGETS if len(targets) else VERTICES_PER_MET
    limits = cutoff, dtype.type(unreached(dtype)), max(len(rows.offsets) // per_met, MIN_VERTICES)
    memory = _, numbers, values = _memory(dtype)
    count = by_distance(*rows, (sources, targets), limits, memory)
    ending = int(numbers[ENDING_AT])
    if ending == OVERFLOWED:
        return _start(sources, dtype)
    vertices, distances = numbers[MAX_VERTICES : MAX_VERTICES + count], values[SLOTS : SLOTS + count]
    if len(targets) and ending == COMPLETE:
        is_target = np.isin(vertices, targets)
        if is_target.sum() == len(targets):
            near = distances <= distances[is_target].max()
            vertices, distances = vertices[near], distances[near]
    return SparseDistances(vertices.copy(), distances.copy()), values[SLOTS + ROOM], ending == COMPLETE


def _start(sources, dtype):
    return SparseDistances(sources, np.zeros(len(sources), dtype)), dtype.type(0), False


def _memory(dtype):
    """The table and the memory of a search by distance, kept for each thread and type."""
    kept = _thread.__dict__.setdefault("memory", {})
    if dtype not in kept:
        words, _ = _scratch()
        kept[dtype] = words, np.empty(ENDING_AT + 1, np.int64), np.empty(SLOTS + ROOM + 1, dtype)
    return kept[dtype]


def _scratch():
    if not hasattr(_thread, "scratch"):
        words, slots = np.full(SLOTS, EMPTY, np.uint64), np.zeros(MAX_VERTICES + 2, np.uint64)
        _thread.scratch = Scratch(words, slots)
    return _thread.scratch
