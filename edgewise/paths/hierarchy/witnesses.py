"""Witness searches: which shortcuts the contraction of a vertex needs.

A path ``u, v, w`` needs a shortcut when ``v`` is contracted unless there is a *witness*: a path from ``u`` to
``w`` that is not longer and does not lead through ``v``.  A search by Dijkstra from ``u`` finds it.  It
settles vertices as far as the longest of these paths without the shortest edge into its ``w``, which is the
least that the last edge of a witness can be, and ends when every ``w`` has one.  Its effort is bounded: it
settles a given number of vertices at most.  What it has not found by then counts as not there, which costs a
shortcut that is not needed and never an answer.

The search keeps what it meets in a small hash table instead of arrays of all vertices, so a thread needs
little memory, which stays in its cache.  A vertex that has been met has a *label*, the length of some path to
it, which is a witness even before the vertex is settled.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import device
from edgewise.device.target import inlined
from edgewise.device.wrapping import wrapping_add
from edgewise.primitives.heap import Heap, pop, push

#: Slots of a worker's hash table, a power of two.
SLOTS = 4096
#: Labels that a search gives at most, so that the table stays half empty.
LABELS = SLOTS // 2
#: Entries of a worker's heap.
WAITING = 2 * SLOTS
#: Mask of the numbers of slots, and one, for places that are not negative.
MASK, ONE = np.uint64(SLOTS - 1), np.uint64(1)
#: What a slot without a vertex holds.
EMPTY = -1


class Entries(NamedTuple):
    """Rows of the vertices that remain, and of those that were contracted, in one pool.

    ``others`` (room,) index array: the vertices at the other ends; ``out`` (room,) in the type of the
    distances: length of the edge or shortcut to that vertex; ``into``: of the one from it, the same array
    for an undirected graph; either is the largest value of its type where no edge leads that way.
    ``out_middles``, ``into_middles`` (room,) index arrays: the vertex that a shortcut leads through, or the
    largest value of the type for an edge.  ``hops`` (room,) int32: how many edges a shortcut stands for.
    """

    others: Any
    out: Any
    into: Any
    out_middles: Any
    into_middles: Any
    hops: Any


class Vertices(NamedTuple):
    """What is known of each vertex, (n,) arrays.

    ``starts`` int64, ``sizes`` int32: where its row begins, and how many entries it has; ``levels`` int32;
    ``keys`` int64: its priority, and a random number where priorities are equal, and once it is contracted
    the first pair of its neighbours; ``states`` uint8: what is done with it in this round, 0 if nothing is.
    """

    starts: Any
    sizes: Any
    levels: Any
    keys: Any
    states: Any


class Table(NamedTuple):
    """What a search has met, in (SLOTS,) slots.

    ``vertices`` int64; ``labels``; ``marks`` uint8: whether a vertex is a target that has no witness yet;
    ``lengths``: the longest witness of a target.  ``used`` (LABELS,) int64: the slots that are not empty;
    ``nearest`` (LABELS,): the length of the shortest edge into each neighbour of a vertex.
    """

    vertices: Any
    labels: Any
    marks: Any
    lengths: Any
    used: Any
    nearest: Any


class Limits(NamedTuple):
    """Limits of searches.

    ``none``: the length where no path leads; ``settled``: vertices that a search settles at most;
    ``symmetric``: 1 if every edge leads both ways, else 0.
    """

    none: Any
    settled: int
    symmetric: int


def new_memory(n_workers, dtype):
    """Tables and heaps of so many workers, in parts of equal size."""
    n_slots, waiting = n_workers * SLOTS, n_workers * WAITING
    table = Table(
        np.full(n_slots, EMPTY, np.int64),
        np.empty(n_slots, dtype),
        np.empty(n_slots, np.uint8),
        np.empty(n_slots, dtype),
        np.empty(n_workers * LABELS, np.int64),
        np.empty(n_workers * LABELS, dtype),
    )
    return table, Heap(np.empty(waiting, dtype), np.empty(waiting, np.int64))


@device
def table_of(tables, number):
    """The hash table of a worker."""
    first, end = number * SLOTS, (number + 1) * SLOTS
    used = tables.used[number * LABELS : (number + 1) * LABELS]
    nearest = tables.nearest[number * LABELS : (number + 1) * LABELS]
    columns = tables.vertices[first:end], tables.labels[first:end], tables.marks[first:end]
    return Table(columns[0], columns[1], columns[2], tables.lengths[first:end], used, nearest)


@device
def heap_of(heaps, number):
    """The heap of a worker."""
    first, end = number * WAITING, (number + 1) * WAITING
    return Heap(heaps.keys[first:end], heaps.items[first:end])


@inlined
def slot_of(table, vertex):
    """The slot of a vertex, or the empty one where it belongs."""
    slot = np.uint64(vertex ^ (vertex >> 11)) & MASK
    while table.vertices[slot] != vertex and table.vertices[slot] != EMPTY:
        slot = (slot + ONE) & MASK
    return slot


@inlined
def enter(table, slot, vertex, label, count):
    """Enter a vertex in an empty slot."""
    table.vertices[slot], table.labels[slot], table.marks[slot], table.used[count] = vertex, label, 0, slot


@device
def forget(table, count):
    """Empty the slots that were used."""
    for place in range(count):
        table.vertices[table.used[place]] = EMPTY


@device
def find_nearest(own, graph, table, none):
    """Find the shortest edge into each neighbour of ``own`` that is not from ``own``."""
    vertices, entries = graph
    first = vertices.starts[own]
    for place in range(vertices.sizes[own]):
        vertex, least = np.int64(entries.others[first + place]), none
        start = vertices.starts[vertex]
        for entry in range(start, start + vertices.sizes[vertex]):
            if np.int64(entries.others[entry]) != own:
                least = min(least, entries.into[entry])
        table.nearest[place] = least


@inlined
def search_from(own, ends, n_targets, graph, memory, limits):
    """Search from the source, which alone is in the heap, for witnesses around ``own``.

    ``ends``: the longest witness, and the largest distance of a vertex that is settled.  The table has the
    source and the targets.  Returns the number of labels.  Of the vertices that are contracted in this round,
    those with a lower number than ``own`` count as contracted before it.
    """
    vertices, entries = graph
    table, heap = memory
    n_labels, size = n_targets + 1, 1
    longest, furthest = ends
    for _ in range(limits.settled):
        if size == 0 or n_targets == 0:
            break
        distance, vertex = heap.keys[0], np.int64(heap.items[0])
        size = pop(heap, size)
        if distance > furthest:
            break
        if distance > table.labels[slot_of(table, vertex)]:
            continue
        first = vertices.starts[vertex]
        end = first + vertices.sizes[vertex]
        if n_labels + end - first > LABELS or size + end - first > WAITING:
            break
        for entry in range(np.uint64(first), np.uint64(end)):
            other, length = np.int64(entries.others[entry]), entries.out[entry]
            longer = wrapping_add(distance, length)
            if length == limits.none or longer < distance or longer > longest or other == own:
                continue
            if other < own and vertices.states[other]:
                continue
            slot = slot_of(table, other)
            if table.vertices[slot] == EMPTY:
                if longer > furthest:
                    continue
                enter(table, slot, other, longer, n_labels)
                n_labels += 1
            elif table.labels[slot] <= longer:
                continue
            table.labels[slot] = longer
            if table.marks[slot] and longer <= table.lengths[slot]:
                table.marks[slot] = 0
                n_targets -= 1
            if longer <= furthest:
                size = push(heap, size, longer, other)
    return n_labels
