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
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

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
    compiled,
    device,
    each,
    each_row,
    fetch_add,
    parallel_region,
)
from edgewise.device.warps import ballot, find_segment, inclusive_scan, popcount, shuffle, warp_size
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
        for position in range(starts[middle], ends[middle]):
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


def whole(graph, most: float) -> Callable[[], Whole] | None:
    """Count the triangles of a graph at once, unless there are more than the ``most`` operations.

    On the host the rows of a graph without hubs are read as they are, and made if it is an edge list.
    """
    if graph.device != "cpu":
        return whole_by_rank(graph, 3, most, WarpTriangles)
    if not graph.cached("has hubs", lambda: _has_hubs(graph)):
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
def find_triangles(worker, first, end, edges, csr, counts, copies):
    """Find the triangles of the edges ``first`` to ``end - 1``; ``copies`` are zeros before and after."""
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
            if low < middle:
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
            find_triangles(low, high, self.edges, self.csr, self.counts, self.copies)

    @property
    def total(self) -> float:
        """An upper bound of the operations, closer where it is large."""
        ranked = self.ranked
        bound = len(ranked.neighbours) // 2 * (math.inf if ranked.max_degree is None else ranked.max_degree)
        return bound if bound <= CHEAP else float(work(ranked, 3).sum())

    def count_all(self):
        """Count all triangles: (n,) int64 array by rank."""
        if len(self.edges.lows):
            find_triangles(0, len(self.edges.lows), self.edges, self.csr, self.counts, self.copies)
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
