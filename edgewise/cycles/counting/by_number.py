"""Triangles in rows as they are, where no vertex needs a rank: one pass over the graph, on all threads.

A triangle is found at its highest vertex ``u`` by number: its others are the lower neighbours of ``u``, which
come first in a sorted row, so that nothing has to be prepared.  The steps are ``sum lower(y) higher(y)`` over
all middles ``y``.  Where that is small, as on meshes, roads and all graphs without hubs, ranking would take
longer than counting and move neighbours apart in memory (:mod:`~edgewise.cycles.selection` decides).

Up to three lower neighbours are merged with the rows of all but the first of them.  More are entered into a
hash table of the thread, which has eight slots for each and so stays in the first-level cache, however large
the graph is.  The rows of the middles look their entries up: the one word of a slot has its vertex and the
triangles that ``u`` and the vertex are on so far, and a hit is added without a branch.

Threads take stretches of vertices.  Most credits of a stretch go to the vertices just before it, on graphs
whose neighbours are close.  A thread keeps these apart and adds each sum once; all others are atomic
additions.  No thread has an array over all vertices: with sixteen threads, clearing and adding up such arrays
took longer than counting.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from edgewise.cycles.counting.ranked import CSR, MAX_MERGED
from edgewise.device import barrier_wait, device, fetch_add, parallel_region
from edgewise.device.prefetch import prefetch
from edgewise.device.regions import workers
from edgewise.primitives.counting_sort import NEW_BYTES
from edgewise.primitives.hash_table import HashTable, probe

#: Most vertices of a stretch.
STRETCH = 2048
#: Stretches for each worker that even out the work.
STRETCHES_PER_WORKER = 16
#: Vertices, up to the last of a stretch, whose credits a thread keeps apart.
WINDOW = 4096
#: Slots of the smallest table.
SLOTS = 256
#: Bits of 32 that are not in the number of a slot there.
OTHER_BITS = np.uint64(24)
#: Slots for each vertex in a table.
SPACE = 16
#: Slots up to which a table has so many for each vertex; a larger one has two.
SPACIOUS = 1 << 16
#: Marks of a thread for lower neighbours that are near, a power of two.
NEAR = 1 << 15
#: A word of a table has a vertex, plus one, above so many bits of its triangles.
COUNT_BITS = np.uint64(24)
COUNT_MASK = np.uint64((1 << 24) - 1)
#: Bits of a word that hold the vertex, plus one.
KEY_BITS = ~COUNT_MASK
#: Odd number of 32 bits; the upper bits of its products spread neighbouring numbers over a table.
SPREAD = np.uint64(0x9E3779B1)
#: Mask of 32 bits.
LOWER_HALF = np.uint64(0xFFFFFFFF)
#: The number 1 as uint64.
ONE = np.uint64(1)
#: Vertices at the start of a stretch, and entries of each, that tell whether neighbours are far apart in
#: memory.
SAMPLE = 32
#: Distance between neighbours, in vertices, above which they are far apart in memory.
FAR = 8192
#: How many vertices ahead the offsets of neighbours are prefetched.
AHEAD_OFFSETS = 8
#: How many vertices ahead the rows of neighbours are prefetched.
AHEAD_ROWS = 4
#: Entry that is in the second cache line of a row, if what is read of the row is in two.
SECOND = 12


class Table(NamedTuple):
    """The lower neighbours of one vertex: ``words`` and ``marks``, zeros between vertices.

    ``slots`` are the slots of the entries; ``marks``, (NEAR,) uint32, are by number modulo ``NEAR``.
    ``listed``, (STRETCH,) int64, are the vertices of a stretch that have a table; ``repeats`` is that of the
    :class:`Plan`.
    """

    words: Any
    slots: Any
    marks: Any
    listed: Any
    repeats: bool


class Credits(NamedTuple):
    """Where triangles are credited.

    ``near``, (WINDOW,) int64, is for vertices from ``base`` on, and belongs to the thread; ``counts``, (n,)
    int64, to all threads.
    """

    near: Any
    base: int
    counts: Any


class Scratch(NamedTuple):
    """Arrays that all workers divide evenly: those of their tables, and near credits.

    They are not cleared, except that the ``words`` may be.
    """

    words: Any
    slots: Any
    marks: Any
    near: Any
    listed: Any


class Plan(NamedTuple):
    """How vertices are counted.

    Attributes
    ----------
    size : int
        Vertices of a stretch.
    dirty : bool
        Whether ``counts`` and the words of tables have to be cleared.
    repeats : bool
        Whether a row may have an entry twice.
    """

    size: int
    dirty: bool
    repeats: bool


@device
def credit(vertex, triangles, credits):
    """Credit triangles to a vertex."""
    if vertex >= credits.base:
        credits.near[vertex - credits.base] += triangles
    else:
        fetch_add(credits.counts, vertex, triangles)


@device
def merge_rows(high, end, csr, credits):
    """Credit the triangles of a vertex with few lower neighbours to those, entries up to ``end``.

    Returns the number of triangles, as the next two functions do.
    """
    offsets, neighbours = csr
    first, triangles, previous = offsets[high], np.int64(0), np.int64(neighbours[offsets[high]])
    for entry in range(first + 1, end):
        middle = np.int64(neighbours[entry])
        if middle == previous:
            continue
        previous = middle
        other, of_edge, before = np.uint64(offsets[middle]), np.int64(0), middle
        for position in range(first, entry):
            low = np.int64(neighbours[position])
            while np.int64(neighbours[other]) < low:  # the row of the middle ends above it, at ``high``
                other += ONE
            if np.int64(neighbours[other]) == low and low != before:
                credit(low, 1, credits)
                of_edge += 1
            before = low
        if of_edge > 0:
            credit(middle, of_edge, credits)
            triangles += of_edge
    return triangles


@device
def mark_rows(high, end, csr, table, credits):
    """Credit the triangles of a vertex with near lower neighbours to those, entries up to ``end``.

    The neighbours are marked by one more than the triangles found so far, at their numbers modulo the size of
    ``marks``.
    """
    offsets, neighbours = csr
    marks, repeats = table.marks, table.repeats
    first, lowest = offsets[high], np.int64(neighbours[offsets[high]])
    for entry in range(first, end):
        marks[np.int64(neighbours[entry]) & (NEAR - 1)] = 1
    triangles, previous = np.int64(0), lowest
    for entry in range(first + 1, end):
        middle = np.int64(neighbours[entry])
        if middle == previous:
            continue
        previous = middle
        other, of_edge, before = np.uint64(offsets[middle]), np.int64(0), middle
        low = np.int64(neighbours[other])
        while low < middle:
            mark = np.int64(marks[low & (NEAR - 1)])
            hit = np.int64((mark > 0) & (low >= lowest))
            if repeats:
                hit &= np.int64(low != before)
                before = low
            marks[low & (NEAR - 1)] = mark + hit
            of_edge += hit
            other += ONE
            low = np.int64(neighbours[other])
        marks[middle & (NEAR - 1)] += of_edge
        triangles += of_edge
    for entry in range(first, end):
        vertex = np.int64(neighbours[entry])
        of_vertex = np.int64(marks[vertex & (NEAR - 1)]) - 1
        marks[vertex & (NEAR - 1)] = 0
        if of_vertex > 0:
            credit(vertex, of_vertex, credits)
    return triangles


@device
def home_of(key, other_bits):
    """Slot of a vertex, unless another one has it: one product, since each step of a count takes one slot."""
    return ((key & LOWER_HALF) * SPREAD & LOWER_HALF) >> other_bits


@device
def look_up_rows(high, end, csr, table, credits):
    """Credit the triangles of a vertex with many lower neighbours to those, entries up to ``end``."""
    offsets, neighbours = csr
    first, n_slots, other_bits, slots = offsets[high], SLOTS, OTHER_BITS, table.slots
    while n_slots < SPACE * (end - first) and n_slots < len(table.words):
        n_slots, other_bits = 2 * n_slots, other_bits - ONE
    words = table.words[:n_slots]
    hashed, collided = HashTable(words, np.uint64(0), KEY_BITS), np.uint64(0)
    for entry in range(first, end):
        key = np.uint64(neighbours[entry]) + ONE
        home = home_of(key, other_bits)
        slot, _ = probe(hashed, home, key << COUNT_BITS)
        collided |= slot ^ home
        words[slot] = key << COUNT_BITS
        slots[entry - first] = slot
    triangles, previous = np.int64(0), np.int64(neighbours[first])
    for entry in range(first + 1, end):
        middle = np.int64(neighbours[entry])
        if middle == previous:
            continue
        previous = middle
        other, of_edge, before = np.uint64(offsets[middle]), np.int64(0), middle
        low = np.int64(neighbours[other])
        while low < middle:
            key = np.uint64(low) + ONE
            slot = home_of(key, other_bits)
            word = words[slot]
            if collided != 0:  # in most tables every vertex has its own slot, and there is nothing to search
                slot, word = probe(hashed, slot, key << COUNT_BITS)
            hit = np.int64(((word ^ key << COUNT_BITS) & KEY_BITS == 0) & (low != before))
            words[slot] = word + np.uint64(hit)
            of_edge += hit
            before = low
            other += ONE
            low = np.int64(neighbours[other])
        words[slots[entry - first]] += np.uint64(of_edge)
        triangles += of_edge
    for entry in range(first, end):
        slot = slots[entry - first]
        of_vertex = np.int64(words[slot] & COUNT_MASK)
        words[slot] = 0
        if of_vertex > 0:
            credit(np.int64(neighbours[entry]), of_vertex, credits)
    return triangles


@device
def are_far(first, end, csr):
    """Whether most lower neighbours of the first vertices of a stretch are far from them in memory."""
    offsets, neighbours = csr
    far, lower = np.int64(0), np.int64(0)
    for vertex in range(first, min(end, first + SAMPLE)):
        for entry in range(offsets[vertex], min(offsets[vertex + 1], offsets[vertex] + SAMPLE)):
            neighbour = np.int64(neighbours[entry])
            lower += neighbour < vertex
            far += neighbour < vertex - FAR
    return 2 * far > lower


@device
def list_vertices(first, end, csr, listed):
    """List the vertices of a stretch that begin with two lower neighbours, which alone matter.

    Returns how many there are, and the self-loops of the others.
    """
    offsets, neighbours = csr
    count, self_loops, last = np.int64(0), np.int64(0), np.int64(len(neighbours) - 1)
    for vertex in range(first, end):
        start, stop = offsets[vertex], offsets[vertex + 1]
        least = np.int64(neighbours[np.uint64(min(start, last))])
        second = np.int64(neighbours[np.uint64(min(start + 1, last))])
        listed[count] = vertex
        count += (start + 1 < stop) & (second < vertex)
        self_loops += ((start < stop) & (least == vertex)) | ((start + 1 < stop) & (second == vertex))
    return count, self_loops


@device
def prefetch_rows(item, count, listed, csr, counts):
    """Prefetch the rows and the counts of the lower neighbours of the next listed vertices."""
    offsets, neighbours = csr
    if item + AHEAD_OFFSETS < count:
        later = listed[item + AHEAD_OFFSETS]
        for entry in range(offsets[later], offsets[later + 1]):
            neighbour = np.int64(neighbours[entry])
            if neighbour >= later:
                break
            prefetch(offsets, neighbour)
    if item + AHEAD_ROWS < count:
        later = listed[item + AHEAD_ROWS]
        for entry in range(offsets[later], offsets[later + 1]):
            neighbour = np.int64(neighbours[entry])
            if neighbour >= later:
                break
            prefetch(neighbours, offsets[neighbour])
            prefetch(neighbours, offsets[neighbour] + SECOND)
            prefetch(counts, neighbour)


@device
def count_stretch(first, end, csr, table, credits):
    """Count the triangles whose highest vertices are ``first`` to ``end - 1``.

    Returns their number, and that of the vertices with a self-loop, if no row has an entry twice.
    """
    offsets, neighbours = csr
    triangles, last = np.int64(0), np.uint64(len(neighbours) - 1)
    far = are_far(first, end, csr)
    count, self_loops = list_vertices(first, end, csr, table.listed)
    for item in range(count):
        if far:
            prefetch_rows(item, count, table.listed, csr, credits.counts)
        vertex = table.listed[item]
        start, stop = np.uint64(offsets[vertex]), np.uint64(offsets[vertex + 1])
        entry = start + np.uint64(2)
        while (entry < stop) & (np.int64(neighbours[min(entry, last)]) < vertex):  # one branch, not two
            entry += ONE
        n_lower = np.int64(entry - start)
        self_loops += (entry < stop) & (np.int64(neighbours[min(entry, last)]) == vertex)
        if n_lower == 2:  # as below, compiled without the loops
            own = merge_rows(vertex, np.int64(start) + 2, csr, credits)
        elif n_lower <= MAX_MERGED:
            own = merge_rows(vertex, np.int64(entry), csr, credits)
        elif vertex - np.int64(neighbours[start]) < NEAR:
            own = mark_rows(vertex, np.int64(entry), csr, table, credits)
        else:
            own = look_up_rows(vertex, np.int64(entry), csr, table, credits)
        if own > 0:
            credit(vertex, own, credits)
            triangles += own
    return triangles, self_loops


@device
def add_near(credits, size):
    """Add the credits that a thread has kept apart to those of all threads."""
    for offset in range(size):
        triangles = credits.near[offset]
        if triangles > 0:
            fetch_add(credits.counts, credits.base + offset, triangles)
            credits.near[offset] = 0


@device
def clear(first, end, array):
    """Set a range of elements to zero."""
    for index in range(first, end):
        array[index] = 0


@parallel_region
def count_rows(worker, plan, next_stretch, csr, scratch, counts, self_loops):
    """Count the triangles of all stretches, with all workers, and the self-loops."""
    size, dirty, repeats = plan
    n = len(csr.offsets) - 1
    n_words, n_slots = len(scratch.words) // worker.count, len(scratch.slots) // worker.count
    words = scratch.words[worker.id * n_words : (worker.id + 1) * n_words]
    slots = scratch.slots[worker.id * n_slots : (worker.id + 1) * n_slots]
    marks = scratch.marks[worker.id * NEAR : (worker.id + 1) * NEAR]
    table = Table(words, slots, marks, scratch.listed[worker.id * size : (worker.id + 1) * size], repeats)
    near = scratch.near[worker.id * WINDOW : (worker.id + 1) * WINDOW]
    clear(0, len(table.marks), table.marks)
    clear(0, len(near), near)
    if dirty:
        clear(0, len(words), words)
        clear(worker.id * n // worker.count, (worker.id + 1) * n // worker.count, counts)
        barrier_wait(worker)
    first = np.int64(fetch_add(next_stretch, 0, 1)) * size
    while first < n:
        end = min(first + size, n)
        base = max(end - WINDOW, 0)
        credits = Credits(near, base, counts) if worker.count > 1 else Credits(counts, 0, counts)
        triangles, own_loops = count_stretch(first, end, csr, table, credits)
        if triangles > 0 and worker.count > 1:
            add_near(credits, end - base)
        if own_loops > 0:
            fetch_add(self_loops, 0, own_loops)
        first = np.int64(fetch_add(next_stretch, 0, 1)) * size


def count_by_number(rows: CSR, longest: int, repeats: bool):
    """Count the triangles of sorted symmetric rows of at most ``longest`` entries: (n,) int64 array.

    ``repeats`` says whether a row may have an entry twice; if not, the self-loops are counted as well.
    """
    n, count, n_slots = len(rows.offsets) - 1, workers(), SLOTS
    if not len(rows.neighbours):
        return np.zeros(n, np.int64), 0
    while n_slots < min(SPACE * longest, max(SPACIOUS, 2 * longest)):
        n_slots *= 2
    dirty = 8 * max(n, count * n_slots) < NEW_BYTES
    allocate = np.empty if dirty else np.zeros
    sizes = (longest + 1, np.int64), (NEAR, np.uint32), (WINDOW, np.int64), (STRETCH, np.int64)
    words, counts = allocate(count * n_slots, np.uint64), allocate(n, np.int64)
    scratch = Scratch(words, *(np.empty(count * one, kind) for one, kind in sizes))
    plan = Plan(min(STRETCH, max(1, n // (count * STRETCHES_PER_WORKER))), dirty, repeats)
    next_stretch, self_loops = np.zeros(1, np.int64), np.zeros(1, np.int64)
    count_rows(plan, next_stretch, rows, scratch, counts, self_loops)
    return counts, int(self_loops[0])
