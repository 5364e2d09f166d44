"""Triangles in rows as they are, where no vertex needs a rank: one pass over the graph, on all threads.

A triangle is found at its highest vertex ``u`` by number: its others are the lower neighbours of ``u``, which
come first in a sorted row, so that nothing has to be prepared.  The steps are ``sum lower(y) higher(y)`` over
all middles ``y``.  Where that is small, as on meshes, roads and all graphs without hubs, ranking would take
longer than counting and move neighbours apart in memory (:func:`measure` decides).

Up to three lower neighbours are merged with the rows of all but the first of them.  More are entered into a
hash table of the thread, which has eight slots for each and so stays in the first-level cache, however large
the graph is.  The rows of the middles look their entries up: the one word of a slot has its vertex and the
triangles that ``u`` and the vertex are on so far, and a hit is added without a branch.

Threads take stretches of vertices.  Most credits of a stretch go to the vertices just before it, on graphs
whose neighbours are close.  A thread keeps these apart and adds each sum once; all others are atomic
additions.  No thread has an array over all vertices: with sixteen threads, clearing and adding up such arrays
took longer than counting.

The first pass over a graph also finds whether the rows are sorted.  Only if they are not, its counts are
discarded.  Later passes know what it has found.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import barrier_wait, device, each, fetch_add, parallel_region
from edgewise.device.prefetch import prefetch
from edgewise.device.regions import workers
from edgewise.primitives.counting_sort import NEW_BYTES

#: Lower neighbours up to which rows are merged.
MAX_MERGED = 3
#: Steps for each entry up to which ranking takes longer than it saves.
MAX_STEPS = 8
#: Most vertices of a stretch, and stretches for each worker that even out the work.
STRETCH, STRETCHES_PER_WORKER = 2048, 16
#: Vertices, up to the last of a stretch, whose credits a thread keeps apart.
WINDOW = 4096
#: Slots of the smallest table, their binary logarithm, and slots for each vertex in a table.
LEAST_SLOTS, LEAST_BITS, SPACE = 256, 8, 16
#: Slots up to which a table has so many for each vertex; a larger one has two.
MAX_SPACIOUS = 1 << 16
#: Marks of a thread for lower neighbours that are near, a power of two, and up to how many there may be.
NEAR, MAX_MARKED = 1 << 15, 1 << 14
#: A slot holds a vertex, plus one, above so many bits of its triangles; longer rows are ranked.
COUNT_BITS = 24
COUNT_MASK, MAX_ROW = (1 << COUNT_BITS) - 1, 1 << (COUNT_BITS - 2)
#: An odd number whose products with 32 bits spread neighbouring vertices over the table, below 2**31.
SPREAD, HALF = 0x61C88647, 0xFFFFFFFF
ONE = np.uint64(1)
#: Vertices at the start of a stretch that tell whether neighbours are far apart in memory, and from which
#: distance on they are.
SAMPLE, FAR = 32, 8192
#: How many vertices ahead the offsets of neighbours are prefetched, and their rows; and an entry that is in
#: the second cache line of a row, if what is read of the row is in two.
AHEAD_OFFSETS, AHEAD_ROWS, SECOND = 8, 4, 12


class CSR(NamedTuple):
    """Symmetric rows: ``offsets``, (n + 1,) int64, and ``neighbours``, (entries,)."""

    offsets: Any
    neighbours: Any


class Measures(NamedTuple):
    """Of each stretch, int64: a bound of its steps, and its longest row."""

    steps: Any
    longest: Any


class Found(NamedTuple):
    """What the pass adds up besides counts, (1,) int64.

    These are self-loops; entries that are equal to the one before in their row, and no self-loop; and
    entries that are lower.
    """

    self_loops: Any
    duplicates: Any
    descents: Any


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
    unknown : bool
        Whether the rows have to be checked.
    repeats : bool
        Whether a row may have an entry twice.
    """

    size: int
    dirty: bool
    unknown: bool
    repeats: bool


class Ignored(NamedTuple):
    """Edges that are ignored: self-loops, and those that repeat another."""

    n_self_loops: int
    n_duplicates: int


class Triangles(NamedTuple):
    """Counts by vertex, (n,) int64, and the edges that were ignored."""

    counts: Any
    ignored: Ignored


@partial(each, least_chunk=1)
def bound_stretch(stretch, size, csr, measures):
    """Bound the steps of a stretch by its degrees, and find its longest row."""
    steps, longest = np.int64(0), np.int64(0)
    for vertex in range(stretch * size, min((stretch + 1) * size, len(csr.offsets) - 1)):
        degree = csr.offsets[vertex + 1] - csr.offsets[vertex]
        steps += (degree // 2) * (degree - degree // 2)
        longest = max(longest, degree)
    measures.steps[stretch], measures.longest[stretch] = steps, longest


@partial(each, least_chunk=1)
def count_steps(stretch, size, csr, measures):
    """Count the steps of a stretch by the numbers of lower and higher neighbours."""
    offsets, neighbours = csr
    steps = np.int64(0)
    for vertex in range(stretch * size, min((stretch + 1) * size, len(offsets) - 1)):
        lower = np.int64(0)
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            lower += np.int64(neighbours[entry]) < vertex
        steps += lower * (offsets[vertex + 1] - offsets[vertex] - lower)
    measures.steps[stretch] = steps


def measure(offsets, neighbours) -> int | None:
    """Length of the longest row of a graph whose triangles are better counted by number, else ``None``."""
    n, csr = len(offsets) - 1, CSR(offsets, neighbours)
    stretches = -(-n // STRETCH)
    measures = Measures(*np.empty((2, stretches), np.int64))
    bound_stretch(stretches, STRETCH, csr, measures)
    longest, most = int(measures.longest.max(initial=0)), MAX_STEPS * len(neighbours)
    if longest >= MAX_ROW:
        return None
    if float(measures.steps.sum(dtype=np.float64)) > most:
        count_steps(stretches, STRETCH, csr, measures)
        if float(measures.steps.sum(dtype=np.float64)) > most:
            return None
    return longest


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
def slot_of(vertex, mask, shift, words):
    """Slot of a vertex in a table, or the empty one at which a search for it ends."""
    slot = ((vertex * SPREAD) & HALF) >> shift
    while words[slot] != 0 and words[slot] >> COUNT_BITS != vertex + 1:
        slot = (slot + 1) & mask
    return slot


@device
def look_up_rows(high, end, csr, table, credits):
    """Credit the triangles of a vertex with many lower neighbours to those, entries up to ``end``."""
    offsets, neighbours = csr
    words, slots = table.words, table.slots
    first, n_slots, shift = offsets[high], LEAST_SLOTS, 32 - LEAST_BITS
    while n_slots < SPACE * (end - first) and n_slots < len(words):
        n_slots, shift = 2 * n_slots, shift - 1
    mask, collided = n_slots - 1, np.int64(0)
    for entry in range(first, end):
        vertex = np.int64(neighbours[entry])
        slot = slot_of(vertex, mask, shift, words)
        collided |= slot ^ (((vertex * SPREAD) & HALF) >> shift)
        words[slot] = (vertex + 1) << COUNT_BITS
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
            slot = ((low * SPREAD) & HALF) >> shift
            if collided != 0:
                slot = slot_of(low, mask, shift, words)
            word = words[slot]
            hit = np.int64((word >> COUNT_BITS == low + 1) & (low != before))
            words[slot] = word + hit
            of_edge += hit
            before = low
            other += ONE
            low = np.int64(neighbours[other])
        words[slots[entry - first]] += of_edge
        triangles += of_edge
    for entry in range(first, end):
        slot = slots[entry - first]
        of_vertex = words[slot] & COUNT_MASK
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

    Returns how many there are.  In rows that are not sorted the first may be higher than the second.
    """
    offsets, neighbours = csr
    count, last = np.int64(0), np.int64(len(neighbours) - 1)
    for vertex in range(first, end):
        start = offsets[vertex]
        one, two = neighbours[min(start, last)], neighbours[min(start + 1, last)]
        listed[count] = vertex
        count += (start + 1 < offsets[vertex + 1]) & (max(np.int64(one), np.int64(two)) < vertex)
    return count


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
def may_repeat(first, end, csr):
    """Whether a stretch of rows descends, repeats an entry, or has a self-loop among two entries of a row.

    An entry that is not above the one before is no descent if it is the first of its row.
    """
    offsets, neighbours = csr
    begin, last = offsets[first], np.int64(len(neighbours) - 1)
    falls, loops = np.int64(0), np.int64(0)
    for entry in range(np.uint64(begin + 1), np.uint64(max(offsets[end], begin + 1))):
        falls += neighbours[entry] <= neighbours[entry - ONE]
    for vertex in range(first, end):
        start, stop = offsets[vertex], offsets[vertex + 1]
        one, two = neighbours[min(start, last)], neighbours[min(start + 1, last)]
        falls -= (begin < start) & (start < stop) & (one <= neighbours[max(start - 1, 0)])
        loops += (start < stop) & (np.int64(one) == vertex)
        loops += (start + 1 < stop) & (np.int64(two) == vertex)
    return falls + loops > 0


@device
def check_rows(first, end, csr):
    """Check a stretch of rows.

    Returns the number of self-loops, of entries that are equal to the one before in their row and no
    self-loops, and of entries that are lower.
    """
    offsets, neighbours = csr
    self_loops, equal, lower = np.int64(0), np.int64(0), np.int64(0)
    for vertex in range(first, end):
        before = np.int64(-1)
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            neighbour = np.int64(neighbours[entry])
            self_loops += neighbour == vertex
            equal += (neighbour == before) & (neighbour != vertex)
            lower += neighbour < before
            before = neighbour
    return self_loops, equal, lower


@device
def count_stretch(first, end, csr, table, credits):
    """Count the triangles whose highest vertices are ``first`` to ``end - 1``.

    Returns their number, and whether a vertex with two lower neighbours has a self-loop.
    """
    offsets, neighbours = csr
    triangles, has_loop = np.int64(0), False
    far, count = are_far(first, end, csr), list_vertices(first, end, csr, table.listed)
    for item in range(count):
        if far:
            prefetch_rows(item, count, table.listed, csr, credits.counts)
        vertex = table.listed[item]
        start, stop = np.uint64(offsets[vertex]), np.uint64(offsets[vertex + 1])
        entry = start + np.uint64(2)
        while entry < stop and np.int64(neighbours[entry]) < vertex:
            entry += ONE
        if entry < stop and np.int64(neighbours[entry]) == vertex:
            has_loop = True
        n_lower = np.int64(entry - start)
        if n_lower <= MAX_MERGED:
            own = merge_rows(vertex, np.int64(entry), csr, credits)
        elif vertex - np.int64(neighbours[start]) < NEAR and n_lower < MAX_MARKED:
            own = mark_rows(vertex, np.int64(entry), csr, table, credits)
        else:
            own = look_up_rows(vertex, np.int64(entry), csr, table, credits)
        if own > 0:
            credit(vertex, own, credits)
            triangles += own
    return triangles, has_loop


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
def count_rows(worker, plan, next_stretch, csr, scratch, counts, found):
    """Count the triangles of all stretches, with all workers."""
    size, dirty, unknown, repeats = plan
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
    self_loops, duplicates, descents = np.int64(0), np.int64(0), np.int64(0)
    first = np.int64(fetch_add(next_stretch, 0, 1)) * size
    while first < n:
        end = min(first + size, n)
        base = max(end - WINDOW, 0)
        credits = Credits(near, base, counts) if worker.count > 1 else Credits(counts, 0, counts)
        triangles, has_loop = count_stretch(first, end, csr, table, credits)
        if triangles > 0 and worker.count > 1:
            add_near(credits, end - base)
        if unknown and (has_loop or may_repeat(first, end, csr)):
            loops, equal, lower = check_rows(first, end, csr)
            self_loops, duplicates, descents = self_loops + loops, duplicates + equal, descents + lower
        first = np.int64(fetch_add(next_stretch, 0, 1)) * size
    fetch_add(found.self_loops, 0, self_loops)
    fetch_add(found.duplicates, 0, duplicates)
    fetch_add(found.descents, 0, descents)


def count_by_number(offsets, neighbours, longest: int, known: Ignored | None = None) -> Triangles | None:
    """Count the triangles of symmetric rows with at most ``longest`` entries; ``None`` if one is unsorted.

    Rows whose ignored edges are ``known`` are sorted, and not checked again.
    """
    n, count, n_slots = len(offsets) - 1, workers(), LEAST_SLOTS
    if not len(neighbours):
        return Triangles(np.zeros(n, np.int64), Ignored(0, 0))
    while n_slots < min(SPACE * longest, max(MAX_SPACIOUS, 2 * longest)):
        n_slots *= 2
    dirty = 8 * max(n, count * n_slots) < NEW_BYTES
    allocate = np.empty if dirty else np.zeros
    sizes = (longest + 1, np.int64), (NEAR, np.uint32), (WINDOW, np.int64), (STRETCH, np.int64)
    words, counts = (allocate(length, np.int64) for length in (count * n_slots, n))
    scratch = Scratch(words, *(np.empty(count * one, kind) for one, kind in sizes))
    repeats = known is None or known.n_duplicates > 0
    plan = Plan(min(STRETCH, max(1, n // (count * STRETCHES_PER_WORKER))), dirty, known is None, repeats)
    found = Found(*np.zeros((3, 1), np.int64))
    count_rows(plan, np.zeros(1, np.int64), CSR(offsets, neighbours), scratch, counts, found)
    if found.descents[0]:
        return None
    return Triangles(counts, known or Ignored(int(found.self_loops[0]), int(found.duplicates[0]) // 2))
