"""Triangles through every vertex, by intersecting rows of higher neighbours.

A triangle is found once, at its lowest vertex ``x`` and the edge to its middle ``y``: its highest vertices
``z`` are those in both the row of higher neighbours of ``x`` and that of ``y``.  Higher is by rank, that is
by degree, so that a vertex has at most ``sqrt(2 m)`` higher neighbours, and the whole count takes
``O(m**1.5)`` steps on any graph (Chiba and Nishizeki 1985; Latapy 2008).  Graphs without hubs are counted in
their rows as they are (:mod:`~edgewise.cycles.counting.by_number`).

On the CPU, rows of up to three higher neighbours are merged with those of their neighbours.  For longer ones
the higher neighbours of ``x`` are *marked* by one more than the triangles found so far.  The rows of the
middles increment the marks that they find, without a branch; then the marks are credited and reset.

On a GPU a warp takes as many edges as it has lanes.  What follows ``y`` among the higher neighbours of ``x``
is looked up among those of ``y``, or the other way round, whichever is shorter.  The lanes take even shares
of all entries to be looked up, so that none is idle where rows are short or long (Merrill, Garland and
Grimshaw 2012).  A hit is credited to ``z`` at once, and to ``x`` and ``y`` by the ballot of the lanes.  Where
there are hubs, nearly all triangles have their highest vertices among a few, whose counts would be a queue of
atomic additions; these vertices then have several counts, each for some of the warps.

If all vertices are counted, a block takes a vertex ``x`` with many higher neighbours, and enters them into a
table in shared memory.  Its warps read the rows of the middles one after the other, entries side by side, and
look them up there: one or two words of shared memory in place of a bisection of eight or nine steps.  Hits
are added beside the entries of the table, and credited when ``x`` is done.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise import tuning
from edgewise.cycles.counting.by_number import count_by_number
from edgewise.cycles.counting.on_edges import at_vertices, edge_triangles, row_merger
from edgewise.cycles.counting.ranked import (
    MAX_MERGED,
    Ranked,
    Rows,
    Whole,
    by_vertex,
    even_pieces,
    first_from,
)
from edgewise.cycles.counting.ranking import ranked_of, row_facts, sorted_rows
from edgewise.cycles.counting.vertex_queue import Field, VertexCounter, task_prefetcher, vertex_of
from edgewise.cycles.planning import whole_by_rank
from edgewise.cycles.selection import has_hubs
from edgewise.device import (
    arrays,
    barrier_wait,
    cas,
    compiled,
    device,
    each,
    each_row,
    fetch_add,
    parallel_region,
)
from edgewise.device.warps import (
    ballot,
    block_barrier,
    block_size,
    find_segment,
    inclusive_scan,
    popcount,
    shuffle,
    warp_aggregated_add,
    warp_size,
)
from edgewise.ingest.row_buckets import bytes_to_reverse_rows
from edgewise.primitives import exclusive_scan, histogram
from edgewise.primitives.thread_pool import next_chunk

#: Operations up to which a bound of them need not be close.
CHEAP = 2e9
#: Operations of a step, in the unit of :mod:`~edgewise.cycles.planning`.
COST = 0.2
NO_ORDER = np.empty(0, np.int64)
#: Threads of a block.
THREADS = 256
#: Highest vertices, which have several counts on a GPU.
TOP = 256
#: Number of counts of each of these vertices.
COPIES = 16
#: Several counts pay if these vertices have at least one in so many of the entries.
HUBS_PART = 32
#: Entries of a graph from which on several counts pay.
MANY_ENTRIES = 1 << 18

#: Slots of the largest table of a marked row, twice as many as the longest row that is marked has entries.
SLOTS = 4096
#: Vertices of a graph up to which their numbers fit into a slot.
RANKS = 2**31 - 2

prefetch_higher = task_prefetcher(2, offsets=0, row=12, bounds=8, near_rows=4, near=8)


class Scratch(NamedTuple):
    """Arrays of a CPU thread: ``marks``, (n,) uint32, zeros between two vertices; ``counts``, (n,) int64."""

    marks: Any
    counts: Any


@device
def credit_corner(corners, entries, counts):
    """Credit a triangle to its highest vertex."""
    counts[corners[2]] += 1


@device
def credit_middle(middle, entry, triangles, counts):
    """Credit the triangles of an edge to its middle."""
    counts[middle] += triangles


merge_rows = row_merger(credit_corner, credit_middle)


@device
def mark_row(low, rows, marks, counts):
    """Credit the triangles whose lowest vertex is ``low``; all marks are zero before and after."""
    starts, ends, neighbours = rows
    first, end = starts[low], ends[low]
    for entry in range(first, end):
        marks[neighbours[entry]] = 1
    triangles = np.int64(0)
    for entry in range(first, end):
        middle = np.int64(neighbours[entry])
        of_edge = np.int64(0)
        for position in range(np.uint64(starts[middle]), np.uint64(ends[middle])):
            high = neighbours[position]
            mark = np.int64(marks[high])
            hit = np.int64(mark > 0)
            marks[high] = mark + hit
            of_edge += hit
        marks[middle] += of_edge
        triangles += of_edge
    for entry in range(first, end):
        vertex = neighbours[entry]
        credit = np.int64(marks[vertex]) - 1
        marks[vertex] = 0
        if credit > 0:
            counts[vertex] += credit
    counts[low] += triangles


@compiled
def count_triangles(queue, order, rows, scratch):
    """Count the triangles above the lowest vertices that one thread takes from the queue."""
    start, stop = next_chunk(queue)
    while start < stop:
        for task in range(start, stop):
            prefetch_higher(task, stop, order, rows, rows.ends)
            low = vertex_of(task, order)
            n_higher = rows.ends[low] - rows.starts[low]
            if n_higher > MAX_MERGED:
                mark_row(low, rows, scratch.marks, scratch.counts)
            elif n_higher > 1:
                scratch.counts[low] += merge_rows(low, rows, scratch.counts)
        start, stop = next_chunk(queue)


def on_threads(rows: Rows, order=NO_ORDER) -> VertexCounter:
    """Prepare a count on the threads of the CPU; without an order, tasks are all vertices."""
    n = len(rows.starts)
    marks = Field(n, np.uint32, clear=True)
    return VertexCounter(count_triangles, (order, rows), len(order) or n, n, Scratch, [marks])


@partial(each, least_chunk=1)
def count_steps(piece, pieces, csr, work):
    """Sum up the lengths of the rows that the lowest vertices of a piece read."""
    offsets, neighbours, split = csr
    for vertex in range(pieces[piece], pieces[piece + 1]):
        total = np.int64(0)
        if offsets[vertex + 1] - split[vertex] > 1:
            for entry in range(split[vertex], offsets[vertex + 1]):
                middle = np.int64(neighbours[entry])
                total += offsets[middle + 1] - split[middle]
        work[vertex] = total * COST


def triangle_counts(ranked: Ranked):
    """Triangles through every vertex: (n,) int64 array by rank, on the device of ``ranked``."""
    if ranked.device == "cpu":
        solver = on_threads(ranked.higher)
        solver.count(0, ranked.n_vertices)
        return solver.counts
    return at_vertices(ranked, edge_triangles(ranked))


def _has_hubs(graph):
    """Whether the triangles of a graph on the host are counted by rank."""
    if graph.has_rows:
        return has_hubs(row_facts(graph).pairs, len(graph.neighbours))
    degrees = histogram(graph.sources, graph.n_vertices) + histogram(graph.targets, graph.n_vertices)
    return has_hubs(float((degrees // 2).astype(float) @ (degrees - degrees // 2)), 2 * len(graph.sources))


def counts_by_rank(graph) -> bool:
    """Whether the triangles of a graph on the host are counted by rank; cached with the graph."""
    return graph.cached("has hubs", lambda: _has_hubs(graph))


def bytes_by_number(descends, size) -> float:
    """Bytes of a count in rows as they are, or that are sorted before, since one ``descends``."""
    if not descends:
        return 12 * size.vertices
    return max(bytes_to_reverse_rows(size), 20 * size.vertices + size.width * size.entries)


def whole(graph, most: float) -> Callable[[], Whole] | None:
    """Count the triangles of a graph at once, unless there are more than the ``most`` operations.

    On the host the rows of a graph without hubs are read as they are, and made if it is an edge list.
    """
    if graph.device != "cpu":
        return whole_by_rank(graph, 3, most, WarpTriangles)
    if not counts_by_rank(graph):
        return partial(_by_number, sorted_rows(graph), row_facts(graph).longest)
    ranked = ranked_of(graph)
    n_lower, n_higher = ranked.split - ranked.offsets[:-1], ranked.offsets[1:] - ranked.split
    if COST * int(n_lower @ n_higher) > most:
        return None
    return lambda: Whole(by_vertex(triangle_counts(ranked), ranked), ranked.n_self_loops, ranked.n_duplicates)


def _by_number(given, longest):
    """Count the triangles of sorted rows in these."""
    counts, n_self_loops = count_by_number(given.rows, longest, given.repeated > 0)
    n_self_loops = n_self_loops if given.self_loops is None else given.self_loops
    return Whole(counts, n_self_loops, given.repeated // 2)


class Marked(NamedTuple):
    """Lengths of the rows of higher neighbours that blocks of a GPU mark: ``least`` to ``most``."""

    least: int
    most: int


class Edges(NamedTuple):
    """Edges in an order of tasks: the lower vertex of each, and the entry of the higher one in its row.

    Without ``entries``, edges are all entries in their order, also those that lead down, and ``lows`` are
    their rows.
    """

    lows: Any
    entries: Any


class Lookup(NamedTuple):
    """Entries of one row that a lane looks up in another: ``start`` on, and between ``other`` and ``end``."""

    start: Any
    length: Any
    other: Any
    end: Any


@device
def lookup_of(low, entry, csr):
    """What to look up for an edge: the shorter of two rows in the longer one."""
    middle = np.int64(csr.neighbours[entry])
    start, length = entry + 1, csr.offsets[low + 1] - entry - 1
    other, end = csr.split[middle], csr.offsets[middle + 1]
    if end - other < length:
        return Lookup(other, end - other, start, start + length)
    return Lookup(start, length, other, end)


@device
def credit(counts, copies, warp, vertex, triangles):
    """Credit triangles to a vertex, or to the warp's copy of the count of one of the highest."""
    from_top = len(counts) - 1 - vertex
    if from_top < len(copies) // COPIES:
        fetch_add(copies, warp % COPIES * (len(copies) // COPIES) + from_top, triangles)
    else:
        fetch_add(counts, vertex, triangles)


@device
def add_copies(worker, counts, copies):
    """Add the copies to the counts, and set them to zero."""
    top = len(copies) // COPIES
    for from_top in range(worker.id, top, worker.count):
        total = np.int64(0)
        for position in range(from_top, len(copies), top):
            total += copies[position]
            copies[position] = 0
        counts[len(counts) - 1 - from_top] += total


@parallel_region.by(threads=THREADS, max_blocks_per_sm=8)
def find_triangles(worker, first, end, edges, csr, marked, counts, copies):
    """Find the triangles of the edges ``first`` to ``end - 1``; ``copies`` are zeros before and after.

    Those whose lowest vertex has a :class:`Marked` row are left out.
    """
    lanes = warp_size()
    lane, warp = worker.id % lanes, worker.id // lanes
    for base in range(first + worker.id - lane, end, worker.count):
        low = middle = np.int64(0)
        edge = Lookup(low, low, low, low)
        if base + lane < end:
            low, entry = np.int64(edges.lows[base + lane]), np.int64(base + lane)
            if len(edges.entries) > 0:
                entry = np.int64(edges.entries[entry])
            middle = np.int64(csr.neighbours[entry])
            if low < middle and not is_marked(low, csr, marked):
                edge = lookup_of(low, entry, csr)
        last = inclusive_scan(edge.length, lane)
        total, shift, triangles = shuffle(last, lanes - 1), edge.start + edge.length - last, 0
        share = np.int64(lane)
        while share - lane < total:
            owner = find_segment(share, last, lanes)
            position = share + shuffle(shift, owner)
            other, other_end = shuffle(edge.other, owner), shuffle(edge.end, owner)
            closes = False
            if share < total:
                high = np.int64(csr.neighbours[position])
                there = first_from(high, other, other_end, csr.neighbours)
                closes = there < other_end and np.int64(csr.neighbours[there]) == high
                if closes:
                    credit(counts, copies, warp, high, 1)
            hits, done = ballot(closes), share - lane
            first_bit, end_bit = max(last - edge.length - done, 0), min(last - done, np.int64(lanes))
            if first_bit < end_bit:
                triangles += popcount(hits >> first_bit & ((1 << (end_bit - first_bit)) - 1))
            share += lanes
        if triangles > 0:
            credit(counts, copies, warp, low, triangles)
            credit(counts, copies, warp, middle, triangles)
    if len(copies) > 0:
        barrier_wait(worker)
        add_copies(worker, counts, copies)


@device
def is_marked(low, csr, marked):
    """Whether a block marks the row of a vertex."""
    length = csr.offsets[low + 1] - csr.split[low]
    return marked.least <= length <= marked.most


@each
def list_marked(index, order, csr, marked, lows, n_lows):
    """List the vertices of an order whose rows are marked; without an order, of all, the highest first."""
    low = np.int64(order[index]) if len(order) > 0 else len(lows) - 1 - index
    if is_marked(low, csr, marked):
        lows[warp_aggregated_add(n_lows, 0)] = low


@device
def slots_for(length):
    """Slots of a table of so many vertices, a power of two: four for each, in the largest two or more."""
    slots = np.int64(32)
    while slots < 4 * length and slots < SLOTS:
        slots *= 2
    return slots


@device
def enter(words, n_slots, vertex):
    """Enter a vertex into a table, which has a vertex plus one in a slot, while other threads do the same."""
    slot, key = vertex * 0x9E3779B1 >> 12 & (n_slots - 1), np.int32(vertex + 1)
    while words[slot] != 0 or cas(words, slot, np.int32(0), key) != 0:
        slot = (slot + 1) & (n_slots - 1)


@device
def slot_of(words, n_slots, vertex):
    """Slot of a vertex in a table, or -1."""
    slot, key = vertex * 0x9E3779B1 >> 12 & (n_slots - 1), np.int32(vertex + 1)
    held = words[slot]
    while held != 0 and held != key:
        slot = (slot + 1) & (n_slots - 1)
        held = words[slot]
    return slot if held != 0 else np.int64(-1)


@device
def count_marked(low, worker, csr, counts):
    """Find the triangles whose lowest vertex is ``low`` by a table of its higher neighbours, with a block.

    The words of the table are followed by the triangles of each vertex in it.
    """
    words, size, lanes = worker.shared, block_size(), warp_size()
    thread, lane, triangles = worker.id % size, worker.id % lanes, np.int64(0)
    first, end = csr.split[low], csr.offsets[low + 1]
    n_slots = slots_for(end - first)
    for slot in range(thread, 2 * n_slots, size):
        words[slot] = 0
    block_barrier()
    for entry in range(first + thread, end, size):
        enter(words, n_slots, np.int64(csr.neighbours[entry]))
    block_barrier()
    for entry in range(first + thread // lanes, end, size // lanes):
        middle, found = np.int64(csr.neighbours[entry]), np.int64(0)
        for position in range(csr.split[middle] + lane, csr.offsets[middle + 1], lanes):
            slot = slot_of(words, n_slots, np.int64(csr.neighbours[position]))
            if slot >= 0:
                fetch_add(words, n_slots + slot, 1)
                found += 1
        found = inclusive_scan(found, lane)
        if lane == lanes - 1 and found > 0:
            fetch_add(words, n_slots + slot_of(words, n_slots, middle), found)
            triangles += found
    if triangles > 0:
        fetch_add(counts, low, triangles)
    block_barrier()
    for slot in range(thread, n_slots, size):
        if words[n_slots + slot] > 0:
            fetch_add(counts, words[slot] - 1, words[n_slots + slot])


@parallel_region.by(threads=THREADS, max_blocks_per_sm=6, shared_words=2 * SLOTS + 1, shared_type=np.int32)
def find_marked(worker, lows, n_lows, taken, csr, counts):
    """Find the triangles whose lowest vertices are the first ``n_lows[0]`` of ``lows``, by blocks."""
    task = np.int64(0)
    while task < n_lows[0]:
        block_barrier()  # until then other threads may read the last task
        if worker.id % block_size() == 0:
            worker.shared[2 * SLOTS] = fetch_add(taken, 0, 1)
        block_barrier()
        task = np.int64(worker.shared[2 * SLOTS])
        if task < n_lows[0]:
            count_marked(np.int64(lows[task]), worker, csr, counts)


@each_row
def list_upward(task, lane, n_lanes, order, starts, csr, edges):
    """List the upward entries of the rows of an order."""
    low = np.int64(order[task])
    first = csr.split[low]
    for entry in range(first + lane, csr.offsets[low + 1], n_lanes):
        edges.lows[starts[task] + entry - first] = low
        edges.entries[starts[task] + entry - first] = entry


class WarpTriangles:
    """A solver on a GPU; see :class:`edgewise.cycles.methods.CycleMethod`.

    Without an order, tasks are all vertices, which are counted at once; :meth:`begin` is then left to the
    caller.
    """

    def __init__(self, ranked: Ranked, order=None):
        device, self.ranked = ranked.device, ranked
        self.n_vertices, self.csr, self.copies = ranked.n_vertices, ranked.csr, copies_for(ranked)
        least = tuning.GPU.cycles_marked
        is_short = ranked.max_degree is not None and ranked.max_degree < least
        self.marked = Marked(1, 0) if is_short or self.n_vertices > RANKS else Marked(least, SLOTS // 2)
        self.order = arrays.empty(0, np.int64, device) if order is None else order
        if order is None:
            self.edges = Edges(ranked.row_of_entries(), arrays.empty(0, np.int64, device))
            return
        starts = exclusive_scan(arrays.move((ranked.offsets[1:] - ranked.split)[order], device))
        self.starts = arrays.move(starts, "cpu")
        n_edges = int(self.starts[-1])
        lows = arrays.empty(n_edges, ranked.neighbours.dtype, device)
        self.edges = Edges(lows, arrays.empty(n_edges, np.int64, device))
        list_upward(len(order), order, starts, self.csr, self.edges, width="warp")
        self.begin()

    def begin(self) -> None:
        """Begin with no triangles."""
        self.counts = arrays.zeros(self.n_vertices, np.int64, arrays.device_of(self.csr.offsets))

    def count(self, first: int, end: int) -> None:
        """Count the triangles whose lowest vertices are ``order[first:end]``."""
        low, high = int(self.starts[first]), int(self.starts[end])
        if low < high:
            find_triangles(low, high, self.edges, self.csr, self.marked, self.counts, self.copies)
            self._count_marked(self.order[first:end], end - first)

    def _count_marked(self, order, count):
        """Count the triangles whose lowest vertices have marked rows, of an order or of all."""
        if self.marked.most > 0:
            lows = arrays.empty(count, np.uint32, arrays.device_of(self.counts))
            n_lows, taken = (arrays.zeros(1, np.int64, arrays.device_of(self.counts)) for _ in range(2))
            list_marked(count, order, self.csr, self.marked, lows, n_lows)
            find_marked(lows, n_lows, taken, self.csr, self.counts)

    @property
    def total(self) -> float:
        """An upper bound of the operations, closer where it is large."""
        ranked = self.ranked
        bound = len(ranked.neighbours) // 2 * (math.inf if ranked.max_degree is None else ranked.max_degree)
        return bound if bound <= CHEAP else float(work(ranked, 3).sum())

    def count_all(self):
        """Count all triangles: (n,) int64 array by rank."""
        if len(self.edges.lows):
            whole = 0, len(self.edges.lows), self.edges
            find_triangles(*whole, self.csr, self.marked, self.counts, self.copies)
            self._count_marked(self.order, self.n_vertices)
        return self.counts


def copies_for(ranked: Ranked):
    """Zeros for several counts of the highest vertices, if the graph has hubs; else an empty array."""
    n, entries = ranked.n_vertices, len(ranked.neighbours)
    top = min(TOP, n) if entries >= MANY_ENTRIES else 0
    if top and HUBS_PART * int(ranked.offsets[n] - ranked.offsets[n - top]) < entries:
        top = 0
    return arrays.zeros(top * COPIES, np.int64, ranked.device)


def start(ranked: Ranked, order, length: int):
    """Prepare a count of the triangles above the vertices of ``order``, on the device of ``ranked``."""
    return on_threads(ranked.higher, order) if ranked.device == "cpu" else WarpTriangles(ranked, order)


def work(ranked: Ranked, length: int):
    """Operations of each lowest vertex: (n,) float64 array on the device of ``ranked``."""
    if ranked.device == "cpu":
        work, pieces = np.empty(ranked.n_vertices, np.float64), even_pieces(ranked.offsets)
        count_steps(len(pieces) - 1, pieces, ranked.csr, work)
        return work
    n_higher = ranked.offsets[1:] - ranked.split
    return (n_higher * (n_higher - 1)).astype(np.float64)
