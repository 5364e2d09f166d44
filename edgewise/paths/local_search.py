"""Local search: where few vertices are within reach, the cost does not depend on the size of the graph.

Distances of all vertices cost a millisecond to set up in a graph of millions.  So a search begins on one core
with a small set of what it meets: 19 of two million vertices take a microsecond.

*By levels* a search that outgrows the set hands over the levels that it has completed.

*By distance* the vertices whose distances were lowered wait in a queue, and their edges are relaxed in turn
(Moore 1959).  Without any order some vertices wait more than once, but every step is the same few
instructions, whose branches the processor predicts.  Where many vertices wait, order matters and there is
work for all cores, so that the search is given up: after a small part of the entries, unless few wait, as on
a long path.  What it has found is dropped; it has taken two per cent of the time of the next search at most.

Moore, "The shortest path through a maze" (1959).
"""

from threading import local
from typing import Any, NamedTuple

import numpy as np

from edgewise import tuning
from edgewise.device import compiled, device
from edgewise.device.wrapping import wrapping_add
from edgewise.paths.csr import CSR, unreached
from edgewise.paths.result import SparseDistances
from edgewise.primitives.hash_table import EMPTY, WHOLE_WORD, HashTable, home_slot, insert

#: Slots of the table of a search by levels, and vertices and entries that it may meet.
SLOTS, MAX_VERTICES, MAX_ENTRIES = 1 << 13, 2048, 8192
#: Vertices and entries that a search by distance may meet, and room of its queue (a power of two).
NEAR_VERTICES, NEAR_ENTRIES, NEAR_ROOM = 1 << 15, 1 << 17, 1 << 13
#: Numbers of vertices that a thread keeps; those of a larger graph are kept with it.
MAX_NUMBERS = 1 << 21
#: Sources of a search by distance, and targets that it looks for one by one.
MAX_SOURCES, MAX_TARGETS = 256, 16
NO_TARGETS, NO_NUMBERS = np.empty(0, np.int64), np.empty(0, np.uint32)
#: What a search by distance returns that has not come to its end.
UNFINISHED = -1
ONE = np.uint64(1)

_thread = local()


class Scratch(NamedTuple):
    """Memory that a thread keeps; every search removes from the table what it has entered."""

    words: Any  # (SLOTS,) uint64 array of a hash table, whose keys are vertices
    slots: Any  # (MAX_VERTICES + 2,) uint64 array: slots in order; the last complete level; whether it is all


class Found(NamedTuple):
    """What a search by distance has met: a sparse set of vertices, and their distances.

    ``numbers`` (n,) uint32 are the places of vertices in ``vertices`` (NEAR_VERTICES,) uint64.  They are not
    initialised: a vertex has been met if it is in its place (Briggs and Torczon, "An efficient representation
    for sparse sets", 1993).  ``tentative`` (NEAR_VERTICES,) has their distances.
    """

    numbers: Any
    vertices: Any
    tentative: Any


class Limits(NamedTuple):
    """How far a search by distance goes: the largest distance, and that of vertices that are not reached.

    It goes on while at most ``few`` vertices wait, and otherwise until it has read ``enough`` entries.
    """

    cutoff: Any
    none: Any
    few: int
    enough: int


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
def number_of(vertex, count, none, found):
    """Return the number of a vertex, and how many have been met; ``none`` is the distance of a new one."""
    number = np.uint64(found.numbers[vertex])
    if number < count and found.vertices[number] == vertex:
        return number, count
    found.numbers[vertex], found.vertices[count], found.tentative[count] = count, vertex, none
    return count, count + ONE


@device
def furthest_of(targets, count, none, found):
    """The largest distance of the targets; ``none`` if one has not been met."""
    furthest = found.tentative[0]
    for target in targets:
        number = np.uint64(found.numbers[target])
        if number >= count or found.vertices[number] != np.uint64(target):
            return none
        furthest = max(furthest, found.tentative[number])
    return furthest


@device
def relax_in_turn(rows, sources, targets, limits, queue, found):
    """Relax the edges of the vertices that were lowered, in turn; return how many were met, or UNFINISHED."""
    cutoff, none, few, enough = limits
    tentative, vertices, last = found.tentative, found.vertices, np.int64(len(queue) - 1)
    count, head, tail, n_entries = np.uint64(0), np.int64(0), np.int64(0), np.int64(0)
    for source in sources:
        number, count = number_of(np.uint64(source), count, none, found)
        tentative[number], queue[tail] = 0, number
        tail += 1
    while head < tail:
        number = queue[np.uint64(head & last)]
        head += 1
        vertex, distance = vertices[number], tentative[number]
        if distance > cutoff:  # all targets are nearer
            continue
        first, end = np.uint64(rows.offsets[vertex]), np.uint64(rows.offsets[vertex + ONE])
        degree = np.int64(end - first)
        n_entries += degree
        if n_entries > enough and (tail - head > few or n_entries > NEAR_ENTRIES):
            return UNFINISHED
        if np.int64(count) + degree > NEAR_VERTICES or tail - head + degree > last:
            return UNFINISHED
        for entry in range(first, end):
            longer = wrapping_add(distance, rows.weights[entry])
            if longer < distance or longer == none:
                return UNFINISHED
            if longer <= cutoff:
                other = np.uint64(rows.neighbours[entry])
                number, count = number_of(other, count, none, found)
                if longer < tentative[number]:
                    tentative[number], queue[np.uint64(tail & last)] = longer, number
                    tail += 1
                    for target in targets:
                        if np.uint64(target) == other:
                            cutoff = min(cutoff, furthest_of(targets, count, none, found))
    return np.int64(count)


@compiled
def by_distance(offsets, neighbours, weights, ends, limits, memory):
    """Search in plain tuples: sources and targets; limits; and numbers, vertices, distances and the queue."""
    (sources, targets), (numbers, vertices, distances, queue), (cutoff, none, few, enough) = (
        ends,
        memory,
        limits,
    )
    rows, limit = CSR(offsets, neighbours, weights), Limits(cutoff, none, few, enough)
    return relax_in_turn(rows, sources, targets, limit, queue, Found(numbers, vertices, distances))


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
    """Search on the host, if it ends soon; weights are not negative, vertices distinct.

    Returns the vertices within reach, or ``None``.  With targets, vertices further away than the furthest of
    these are left out.
    """
    targets = NO_TARGETS if targets is None else targets
    dtype = rows.weights.dtype
    if len(sources) > MAX_SOURCES or len(targets) > MAX_TARGETS:
        return None
    enough = min(len(rows.weights) // tuning.CPU.paths_nearby, MAX_ENTRIES)
    limits = cutoff, dtype.type(unreached(dtype)), tuning.CPU.paths_narrow, enough
    vertices, distances, queue = _memory(dtype)
    numbers = _numbers(rows)
    count = by_distance(*rows.outgoing, (sources, targets), limits, (numbers, vertices, distances, queue))
    if rows.n_vertices > MAX_NUMBERS:
        rows.keep("numbers", 1, (numbers,), most=numbers.nbytes)
    if count == UNFINISHED:
        return None
    vertices, distances = vertices[:count], distances[:count]
    if len(targets):
        is_target = np.isin(vertices, targets)
        if is_target.sum() == len(targets):
            near = distances <= distances[is_target].max()
            vertices, distances = vertices[near], distances[near]
    return SparseDistances(vertices.astype(np.int64), distances.copy())


def _numbers(rows):
    """Numbers of vertices, whose contents do not matter; kept by the thread, or with a large graph."""
    n = rows.n_vertices
    if n > MAX_NUMBERS:
        ((numbers,),) = rows.borrow("numbers", 1) or ((np.empty(n, np.uint32),),)
        return numbers
    numbers = _thread.__dict__.get("numbers", NO_NUMBERS)
    if len(numbers) < n:
        _thread.numbers = numbers = np.empty(n, np.uint32)
    return numbers


def _memory(dtype):
    """Vertices, distances and the queue of a search by distance, kept for each thread and type."""
    kept = _thread.__dict__.setdefault("memory", {})
    if dtype not in kept:
        kinds = (np.uint64, NEAR_VERTICES), (dtype, NEAR_VERTICES), (np.uint64, NEAR_ROOM)
        kept[dtype] = tuple(np.empty(size, kind) for kind, size in kinds)
    return kept[dtype]


def _scratch():
    if not hasattr(_thread, "scratch"):
        words, slots = np.full(SLOTS, EMPTY, np.uint64), np.zeros(MAX_VERTICES + 2, np.uint64)
        _thread.scratch = Scratch(words, slots)
    return _thread.scratch
