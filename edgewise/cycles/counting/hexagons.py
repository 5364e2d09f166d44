"""Cycles of six edges as closed walks of six, less those that meet themselves.

A closed walk that meets itself is a walk round one of 17 smaller graphs, which contain smaller ones again.
Moebius inversion over all of them leaves one coefficient for each.  With

* ``p(u)`` and ``q(u)`` walks of two and of three edges from ``v`` to ``u``,
* ``w`` closed walks of four edges, ``d`` the degree, ``s`` the sum of the neighbours' degrees,
* ``t`` the triangles through a vertex, ``t(uv)`` those through an edge,
* ``z`` the sum of ``t(uw)`` over the triangles ``v u w``,

twice the cycles of six edges through ``v`` are

    sum q(u)^2 - sum p(u)^2 d(u)                                 over all vertices u
    - sum 2 q(u) d(u)                                            over the neighbours u, as in the next line
    - sum (w(u) + 4 t(uv) t(u) - 6 t(uv)^2 - 2 d(u)^2 - s(u))
    - 4 t^2 - 2 d w + 6 z + 6 w + 2 d^3 + 2 d s - 8 t - 6 d^2 - 6 s + 4 d

where ``w = 2 c + d^2 + s - d`` comes from the squares ``c``.  Such formulas are found in Movarraei and
Boxwala, "On the number of cycles in a graph" (Open Journal of Discrete Mathematics 6:41, 2016).  All but
the first two lines are known before the walks are counted, so that every vertex can halve its own sum.  The
terms may exceed 64 bits; the result does not (see :mod:`~edgewise.cycles.planning`).

A *group*, a thread of the CPU or a block of a GPU, takes one start vertex after the other.  It counts walks
by endpoint in arrays over all vertices, which are zero between two starts, and lists the endpoints, so that
only these are read and reset.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from edgewise.cycles.counting import squares
from edgewise.cycles.counting.apex import block_group
from edgewise.cycles.counting.on_edges import at_vertices, edge_triangles, row_merger
from edgewise.cycles.counting.ranked import Ranked
from edgewise.device import arrays, device, each, fetch_add, parallel_region
from edgewise.device.launch import processors
from edgewise.device.prefetch import prefetch
from edgewise.device.regions import workers
from edgewise.device.warps import block_add, block_barrier, block_size, inclusive_scan, warp_size
from edgewise.primitives.thread_pool import WorkQueue

#: Threads of a block.
THREADS = 256
#: Blocks of a multiprocessor.
BLOCKS_PER_SM = 4
#: Words of a group: its start, the lengths of its lists of endpoints of two and three edges, and a sum.
START, TWICE, THRICE, SUM = 0, 1, 2, 3
#: Number of words of a group.
WORDS = 4
#: How many rows ahead one is prefetched.
AHEAD = 2
#: Part of the free memory that scratch arrays may take.
PART = 4
#: Operations of a step, in the unit of :mod:`~edgewise.cycles.planning`.
COST = 0.4


class Walks(NamedTuple):
    """Walks of one length by endpoint: arrays of ``n + 1`` elements for each group.

    ``counts``, uint32 or int64, is the number of walks that end in each vertex; ``endpoints`` lists these.
    """

    counts: Any
    endpoints: Any


class Graph(NamedTuple):
    """The rows of all vertices, and ``known``, (n,) int64: their parts of the formula but for two lines."""

    offsets: Any
    neighbours: Any
    known: Any


@device
def next_start(worker, queue, order):
    """Take the group's next start, and empty its lists; -1 if there are none left."""
    shared = worker.shared
    block_barrier()  # until then other threads may read what the last start left
    if worker.id % block_size() == 0:
        task = np.int64(fetch_add(queue.counter, 0, 1))
        shared[START] = np.int64(order[task]) if task < queue.end else np.int64(-1)
        shared[TWICE], shared[THRICE], shared[SUM] = 0, 0, 0
    block_barrier()
    return shared[START]


@device
def extend_walks(vertex, n_walks, group, at, graph, base, walks):
    """Extend ``n_walks`` walks to each neighbour of a vertex; list the neighbours that had none.

    ``shared[at]`` is the length of the list.  Where the group is one thread it writes every neighbour to the
    list, and advances its end if that was new, since the branch could not be predicted.
    """
    shared = group.worker.shared
    alone, count = block_size() == 1, shared[at]
    for entry in range(graph.offsets[vertex] + group.lane, graph.offsets[vertex + 1], warp_size()):
        endpoint = np.int64(graph.neighbours[entry])
        new = block_add(walks.counts, base + endpoint, n_walks) == 0
        if alone:
            walks.endpoints[base + count] = endpoint
            count += new
        elif new:
            walks.endpoints[base + block_add(shared, at, 1)] = endpoint
    if alone:
        shared[at] = count


@device
def walk_twice(start, group, graph, base, near):
    """Count the walks of two edges from ``start`` by endpoint."""
    last = graph.offsets[start + 1]
    for entry in range(graph.offsets[start] + group.warp, last, group.n_warps):
        if entry + AHEAD < last:
            prefetch(graph.neighbours, graph.offsets[graph.neighbours[entry + AHEAD]])
        extend_walks(np.int64(graph.neighbours[entry]), 1, group, TWICE, graph, base, near)


@device
def walk_on(group, graph, base, near, far):
    """Extend the walks of two edges by one; count these by endpoint."""
    n_listed = group.worker.shared[TWICE]
    for slot in range(group.warp, n_listed, group.n_warps):
        if slot + AHEAD < n_listed:
            prefetch(graph.neighbours, graph.offsets[near.endpoints[base + slot + AHEAD]])
        vertex = np.int64(near.endpoints[base + slot])
        extend_walks(vertex, near.counts[base + vertex], group, THRICE, graph, base, far)


@device
def close(start, worker, graph, base, near, far):
    """Return this thread's share of the first two lines of the formula; reset the walks."""
    own, size, total = worker.id % block_size(), block_size(), np.int64(0)
    offsets, neighbours = graph.offsets, graph.neighbours
    for entry in range(offsets[start] + own, offsets[start + 1], size):
        other = np.int64(neighbours[entry])
        total -= 2 * np.int64(far.counts[base + other]) * (offsets[other + 1] - offsets[other])
    for slot in range(own, worker.shared[TWICE], size):
        vertex = np.int64(near.endpoints[base + slot])
        walks = np.int64(near.counts[base + vertex])
        near.counts[base + vertex] = 0
        total -= walks * walks * (offsets[vertex + 1] - offsets[vertex])
    block_barrier()
    for slot in range(own, worker.shared[THRICE], size):
        index = base + np.int64(far.endpoints[base + slot])
        walks = np.int64(far.counts[index])
        far.counts[index] = 0
        total += walks * walks
    return total


@parallel_region.by(threads=THREADS, max_blocks_per_sm=BLOCKS_PER_SM, shared_words=WORDS)
def count_hexagons(worker, queue, order, graph, near, far, counts):
    """Count cycles of six edges through the vertices of an order."""
    group, number = block_group(worker), worker.id // block_size()
    base, shared = number * len(graph.offsets), worker.shared
    start = next_start(worker, queue, order) if number < queue.n_workers else np.int64(-1)
    while start >= 0:
        walk_twice(start, group, graph, base, near)
        block_barrier()
        walk_on(group, graph, base, near, far)
        block_barrier()
        total = inclusive_scan(np.int64(close(start, worker, graph, base, near, far)), group.lane)
        if group.lane == group.n_lanes - 1:
            block_add(shared, SUM, total)
        block_barrier()
        if worker.id % block_size() == 0:
            counts[start] += (shared[SUM] + graph.known[start]) >> 1
        start = next_start(worker, queue, order)


class Terms(NamedTuple):
    """Terms of the formula: triangles through the edge of each entry, (2 m,) int32, and (n,) int64 arrays.

    These are triangles and squares through each vertex, ``s`` (``sums``) and ``z`` (``opposite``).
    """

    on_edges: Any
    triangles: Any
    squares: Any
    sums: Any
    opposite: Any


@device
def credit_opposite(corners, entries, state):
    """Give each corner of a triangle the triangles through the edge opposite to it."""
    on_edges, opposite = state
    for corner in range(3):
        fetch_add(opposite, corners[corner], np.int64(on_edges[entries[2 - corner]]))


@device
def ignore_edge(middle, entry, triangles, state):
    """Nothing is credited by edges."""


merge_rows = row_merger(credit_opposite, ignore_edge)


@each
def sum_opposite(low, rows, on_edges, opposite):
    """Do so for the triangles above ``low``."""
    merge_rows(low, rows, (on_edges, opposite))


@device
def closed_by_four(vertex, offsets, terms):
    """Closed walks of four edges."""
    degree = offsets[vertex + 1] - offsets[vertex]
    return 2 * terms.squares[vertex] + degree * degree + terms.sums[vertex] - degree


@each
def add_known(vertex, csr, terms, known):
    """Add up what needs no walks of three edges."""
    offsets, neighbours, _ = csr
    d, s, t = offsets[vertex + 1] - offsets[vertex], terms.sums[vertex], terms.triangles[vertex]
    w = closed_by_four(vertex, offsets, terms)
    total = 6 * (terms.opposite[vertex] + w - s) - 4 * t * t - 8 * t + 2 * d * (d * d + s - w - 3 * d + 2)
    for entry in range(offsets[vertex], offsets[vertex + 1]):
        other, both = np.int64(neighbours[entry]), np.int64(terms.on_edges[entry])
        degree = offsets[other + 1] - offsets[other]
        total += 6 * both * both - 4 * both * terms.triangles[other] + 2 * degree * degree
        total += terms.sums[other] - closed_by_four(other, offsets, terms)
    known[vertex] = total


@each
def sum_rows(vertex, offsets, neighbours, values, sums):
    """Sum up a value of every neighbour."""
    total = np.int64(0)
    for entry in range(offsets[vertex], offsets[vertex + 1]):
        total += values[np.int64(neighbours[entry])]
    sums[vertex] = total


def beside(ranked: Ranked, values):
    """Sums of ``values`` over the neighbours of each vertex: (n,) int64 array."""
    sums = arrays.empty(ranked.n_vertices, np.int64, ranked.device)
    sum_rows(ranked.n_vertices, ranked.offsets, ranked.neighbours, values, sums)
    return sums


def known_of(ranked: Ranked):
    """All but the first two lines of the formula: (n,) int64 array, modulo 2**64."""
    n, device = ranked.n_vertices, ranked.device
    solver = squares.start(ranked, arrays.move(arrays.namespace(device).arange(n), device), 4)
    solver.count(0, n)
    on_edges = edge_triangles(ranked)
    opposite, known = arrays.zeros(n, np.int64, device), arrays.empty(n, np.int64, device)
    sum_opposite(n, ranked.higher, on_edges, opposite)
    sums = beside(ranked, ranked.offsets[1:] - ranked.offsets[:-1])
    terms = Terms(on_edges, at_vertices(ranked, on_edges), solver.counts, sums, opposite)
    add_known(n, ranked.csr, terms, known)
    return known


class Hexagons:
    """A solver on any device; see :class:`edgewise.cycles.methods.CycleMethod`."""

    def __init__(self, ranked: Ranked, order, length: int):
        n, kind, self.device = ranked.n_vertices, ranked.neighbours.dtype, ranked.device
        self.order, self.graph = order, Graph(ranked.offsets, ranked.neighbours, known_of(ranked))
        self.counts = arrays.zeros(n, np.int64, self.device)
        far = np.dtype(np.uint32 if len(ranked.neighbours) < 2**32 else np.int64)
        size = (n + 1) * (4 + far.itemsize + 2 * kind.itemsize)
        n_groups = workers() if self.device == "cpu" else BLOCKS_PER_SM * processors(self.device)
        if n_groups * size > 1 << 28:
            n_groups = min(n_groups, arrays.free_memory(self.device) // (PART * size))
        self.n_groups = max(1, n_groups)
        self.near, self.far = (
            Walks(*(arrays.zeros(self.n_groups * (n + 1), one, self.device) for one in (count, kind)))
            for count in (np.uint32, far)
        )

    def count(self, first: int, end: int) -> None:
        """Count the hexagons through ``order[first:end]``."""
        with arrays.on(self.device):
            counter = arrays.full(1, first, np.int64, self.device)
            queue = WorkQueue(counter, first, end, self.n_groups)
            count_hexagons(queue, self.order, self.graph, self.near, self.far, self.counts)


def work(ranked: Ranked, length: int):
    """Walks of two edges and entries read beside their endpoints, at most: (n,) float64 array."""
    degrees = ranked.offsets[1:] - ranked.offsets[:-1]
    walks = beside(ranked, degrees)
    further = beside(ranked, beside(ranked, degrees))
    return (walks + arrays.namespace(ranked.device).minimum(further, len(ranked.neighbours))) * COST
