"""Search from many sources at a time on the CPU: the lanes of a vector are sources, or the bits of a word.

Fusi finds all pairs by one search after another.  Here a batch of sources is searched from at once:
``distances[v]`` is a row with one distance from each, the *lanes* of a vector, and one edge is relaxed for
all of them by one load, one addition and one minimum.  The weight of an edge is read once for 64 sources
(int32, float32).  Without weights a batch has 64 sources in the bits of a word.

A vertex *pulls* the least of ``distances[u] + weight`` over the incoming edges.  If that lowered any lane, it
marks the targets of its outgoing edges, and sweeps over the marked vertices go on until none is marked: the
Bellman-Ford algorithm in Gauss-Seidel order.  Every eighth sweep is a descending one, so that long thin
graphs that are numbered along their length need few.  The result is the unique fixpoint, bit for bit that of
any other search, for floats too, since rounding is monotone.

Small weights allow narrow lanes: 128 of int16.  A distance too large for its lane is cut off at the ceiling,
which is noticed (:mod:`edgewise.paths.apsp.search`): the remaining batches are then searched in the type of
the result.

The sources of a batch are taken from *balls*: a ball begins at the first vertex that belongs to none and
holds as many of the nearest vertices as a batch has sources.  On a grid of 100 x 100 vertices a vertex is
then recomputed 16 times instead of 39; on random graphs it makes no difference (8 times).

Bits: bit ``s`` of ``seen[v]`` says that source ``s`` has reached ``v``, and bit ``s`` of ``visit[v]`` that it
did so in the last level: ``visit[u] & ~seen[v]`` are the sources that reach ``v`` from ``u``.  The vertices
whose words have bits are in queues.

Then et al., "The more the merrier: efficient multi-source graph traversal" (VLDB 2014).
"""

from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, compiled, device, fetch_add, load, store
from edgewise.paths.apsp.search import ceiling_of, heaviest_of
from edgewise.paths.csr import CSR, unreached
from edgewise.primitives.bits import lowest_bit
from edgewise.primitives.thread_pool import ThreadPool
from edgewise.primitives.vectors import any_less, lesser, of_bytes, wrapping_add, write

#: One sweep in this many is a descending one.
DESCENDING = 8
#: Vertices whose distances are transposed at a time: a cache line of int32.
STRIP = 16
#: Bits of a word.
SOURCES = 64
#: Value of distances where no path leads.
NONE = np.iinfo(np.int32).max

read, lanes_of = of_bytes(256)


class Batches(NamedTuple):
    """``sources`` (k,) int64 in the order of the batches, and where their distances go.

    ``lines`` (k,) int64 is the row of each in the flat array ``result``; ``none`` is its value for "no path".
    """

    sources: Any
    lines: Any
    result: Any
    none: Any


@device
def write_rows(batches, first, n_sources, distances, lanes, ceiling):
    """Write the lanes of the batch that begins at source ``first`` as rows; return the largest distance.

    ``distances`` holds ``lanes`` values for each vertex; ``ceiling`` is their value for "no path".
    """
    vertices, largest = len(distances) // lanes, distances.dtype.type(0)
    for begin in range(0, vertices, STRIP):
        end = min(begin + STRIP, vertices)
        for lane in range(n_sources):
            line = batches.lines[first + lane] * vertices
            for vertex in range(begin, end):
                value = distances[vertex * lanes + lane]
                if value < ceiling:
                    largest = max(largest, value)
                    batches.result[line + vertex] = value
                else:
                    batches.result[line + vertex] = batches.none
    return largest


@compiled
def gather_balls(offsets, neighbours, size, visited, order, rank):
    """Rank the vertices ball by ball: up to ``size`` vertices near the first one, in ``order[n:]``.

    Balls begin in the order of a breadth-first search, whose queue is ``order[:n]``.
    """
    vertices, tail, n_ranked = len(offsets) - 1, 0, 0
    for root in range(vertices):
        if visited[root] == 0:
            visited[root] = 1
            order[tail] = root
            tail += 1
        # All vertices before the last one of the queue have been expanded.
        head = tail - 1
        while head < tail:
            vertex = order[head]
            head += 1
            for entry in range(offsets[vertex], offsets[vertex + 1]):
                other = np.int64(neighbours[entry])
                if visited[other] == 0:
                    visited[other] = 1
                    order[tail] = other
                    tail += 1
    for position in range(vertices):
        if rank[order[position]] >= 0:
            continue
        head, tail, limit = n_ranked, n_ranked + 1, n_ranked + size
        order[vertices + head] = order[position]
        rank[order[position]] = head
        while head < tail and tail < limit:
            vertex = order[vertices + head]
            head += 1
            for entry in range(offsets[vertex], offsets[vertex + 1]):
                other = np.int64(neighbours[entry])
                if rank[other] < 0 and tail < limit:
                    rank[other] = tail
                    order[vertices + tail] = other
                    tail += 1
        n_ranked = tail


class BallOrder:
    """The order of the vertices of a graph by balls, made when there is more than one batch."""

    def __init__(self, csr):
        self.csr, self.rank = csr, None

    def order(self, sources, size):
        """Positions of the sources in the order of batches of ``size``."""
        if len(sources) <= size:
            return np.arange(len(sources))
        if self.rank is None:
            n, (offsets, neighbours, _) = self.csr.n_vertices, self.csr
            visited, order = np.zeros(n, np.uint8), np.empty(2 * n, np.int64)
            self.rank = np.full(n, -1)
            gather_balls(offsets, neighbours, size, visited, order, self.rank)
        return np.argsort(self.rank[sources], kind="stable")

    def batches(self, sources, result, size):
        """The sources in batches of ``size``: :class:`Batches`."""
        lines, none = self.order(sources, size), result.dtype.type(unreached(result.dtype))
        return Batches(np.ascontiguousarray(sources[lines]), lines, result, none)


class Lanes(NamedTuple):
    """A graph, and the ``count`` of lanes of a batch.

    ``offsets`` (n + 1,) and ``neighbours`` (m,) are those of the outgoing edges; ``incoming`` has weights in
    the type of the lanes.
    """

    offsets: Any
    neighbours: Any
    incoming: CSR
    count: int  # type: ignore[assignment]


class Progress(NamedTuple):
    """The state that all workers share; ``ceiling`` and ``heaviest`` weight are in the type of the lanes.

    ``next_batch`` (1,) int64 is a counter, ``too_narrow`` (1,) int64 becomes 1 if a distance comes too close
    to the ceiling, and ``done`` (batches,) uint8 is 1 for batches whose rows are written.
    """

    ceiling: Any
    heaviest: Any
    next_batch: Any
    too_narrow: Any
    done: Any


class Scratch(NamedTuple):
    """The memory of one worker: ``distances`` (n * lanes,) and ``marks`` (n,) uint8, all zero at first."""

    distances: Any
    marks: Any


@device
def mark_targets(vertex, offsets, neighbours, marks):
    """Mark the targets of the outgoing edges of a vertex."""
    for entry in range(offsets[vertex], offsets[vertex + 1]):
        marks[np.int64(neighbours[entry])] = 1


@device
def sweep(lanes, scratch, ascending):
    """Recompute the marked vertices in ascending or descending order; return whether any distance fell."""
    vertices, count, fell = len(lanes.offsets) - 1, lanes.count, False
    offsets, neighbours, weights = lanes.incoming
    distances, marks = scratch
    for step in range(vertices):
        vertex = step if ascending else vertices - 1 - step
        if marks[vertex] == 0:
            continue
        marks[vertex] = 0
        at = vertex * count
        before = read(distances, at)
        least = before
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            other = np.int64(neighbours[entry]) * count
            least = lesser(wrapping_add(read(distances, other), weights[entry]), least)
        if any_less(least, before):
            write(distances, at, least)
            mark_targets(vertex, lanes.offsets, lanes.neighbours, marks)
            fell = True
    return fell


@compiled
def search_batches(lanes, batches, progress, scratch):
    """Take batches of sources from the counter until none is left, or a lane was too narrow."""
    count, ceiling, (distances, marks) = lanes.count, progress.ceiling, scratch
    batch = fetch_add(progress.next_batch, 0, 1)
    while batch * count < len(batches.sources) and load(progress.too_narrow, 0) == 0:
        first = batch * count
        n_sources = min(count, len(batches.sources) - first)
        for at in range(len(distances)):
            distances[at] = ceiling
        for lane in range(n_sources):
            source = batches.sources[first + lane]
            distances[source * count + lane] = 0
            mark_targets(source, lanes.offsets, lanes.neighbours, marks)
        n_sweeps = 1
        while sweep(lanes, scratch, n_sweeps % DESCENDING != 0):
            n_sweeps += 1
        largest = write_rows(batches, first, n_sources, distances, count, ceiling)
        if largest + progress.heaviest >= ceiling:
            store(progress.too_narrow, 0, 1)
        else:
            progress.done[batch] = 1
        batch = fetch_add(progress.next_batch, 0, 1)


def sssp(adjacency):
    """Prepare the search from many sources, on the device of the rows; weights of zero or more, or none."""
    if arrays.device_of(adjacency.offsets) != "cpu":
        from edgewise.paths.apsp import warp_lanes

        return partial(warp_lanes.solve, adjacency)
    order, heaviest = BallOrder(adjacency.outgoing), heaviest_of(adjacency)

    @cache
    def incoming_in(kind):
        rows = adjacency.incoming
        weights = rows.weights if len(rows.weights) else np.ones(len(rows.neighbours), kind)
        return rows._replace(weights=weights.astype(kind, copy=False))

    def solve(sources, result):
        batches = order.batches(sources, result, lanes_of(result.dtype))
        narrow = result.dtype == np.int32 and heaviest < ceiling_of(np.int16) // 64
        for kind in (np.dtype(np.int16), result.dtype) if narrow else (result.dtype,):
            incoming = incoming_in(kind)
            undone = _solve_in(kind, adjacency.outgoing, incoming, heaviest, batches)
            if not len(undone):
                return False
            batches = batches._replace(sources=batches.sources[undone], lines=batches.lines[undone])
        return True

    return solve


def _solve_in(kind, outgoing, incoming, heaviest, batches):
    """Search in lanes of one type; return the positions of the sources that are not done."""
    count, n, ceiling = lanes_of(kind), outgoing.n_vertices, ceiling_of(kind)
    n_sources = len(batches.sources)
    if heaviest >= ceiling:
        return np.arange(n_sources)
    next_batch, too_narrow = np.zeros((2, 1), np.int64)
    done = np.zeros(-(-n_sources // count), np.uint8)
    progress = Progress(kind.type(ceiling), kind.type(heaviest), next_batch, too_narrow, done)
    pool = ThreadPool(len(done), n * count * kind.itemsize)
    scratch = [Scratch(np.empty(n * count, kind), np.zeros(n, np.uint8)) for _ in range(pool.n_workers)]
    lanes = Lanes(outgoing.offsets, outgoing.neighbours, incoming, count)
    pool.starmap(search_batches, [(lanes, batches, progress, own) for own in scratch])
    return np.flatnonzero(np.repeat(done, count)[:n_sources] == 0)


class Frontiers(NamedTuple):
    """The state of one worker: 64 searches.

    ``queue`` (2 n,) has the current level in one half and the next one in the other.  ``seen``, ``visit`` and
    ``visit_next`` (n,) uint64 have a bit for each source: reached so far, in the current level, in the next
    one (zero between searches).  ``distances`` (64 n,) int32 has those of vertex ``v`` from ``64 * v`` on.
    """

    queue: Any
    seen: Any
    visit: Any
    visit_next: Any
    distances: Any


@device
def push_words(csr, state, begin, end, last):
    """Pass the sources of the queued vertices on to their neighbours; return the end of the next queue."""
    queue, seen, visit_next = state.queue, state.seen, state.visit_next
    for position in range(begin, end):
        vertex = np.int64(queue[position])
        sources = state.visit[vertex]
        for entry in range(csr.offsets[vertex], csr.offsets[vertex + 1]):
            other = np.int64(csr.neighbours[entry])
            new = sources & ~seen[other]
            if new != 0:
                if visit_next[other] == 0:
                    queue[last] = csr.neighbours[entry]
                    last += 1
                visit_next[other] |= new
    return last


@device
def record_level(state, begin, end, level):
    """Make the next level of the queued vertices the current one; write it for every new source."""
    for position in range(begin, end):
        vertex = np.int64(state.queue[position])
        new = state.visit_next[vertex]
        state.visit_next[vertex] = 0
        state.visit[vertex] = new
        state.seen[vertex] |= new
        while new != 0:
            state.distances[vertex * SOURCES + lowest_bit(new)] = level
            new &= new - np.uint64(1)


@device
def search_from(csr, state, sources, first, n_sources):
    """Search from ``n_sources`` sources, beginning with ``sources[first]``."""
    vertices, size, level = len(csr.offsets) - 1, np.int64(0), 0
    begin, other = 0, vertices
    for lane in range(n_sources):
        vertex = sources[first + lane]
        if state.visit_next[vertex] == 0:
            state.queue[begin + size] = vertex
            size += 1
        state.visit_next[vertex] |= np.uint64(1) << np.uint64(lane)
    while size > 0:
        record_level(state, begin, begin + size, level)
        last = push_words(csr, state, begin, begin + size, other)
        begin, other, size, level = other, begin, last - other, level + 1


@compiled
def search_words(next_source, csr, batches, state):
    """Take 64 sources after the other from the counter until none is left."""
    first = fetch_add(next_source, 0, SOURCES)
    while first < len(batches.sources):
        n_sources = min(SOURCES, len(batches.sources) - first)
        for vertex in range(len(state.seen)):
            state.seen[vertex] = 0
        for position in range(len(state.distances)):
            state.distances[position] = NONE
        search_from(csr, state, batches.sources, first, n_sources)
        write_rows(batches, first, n_sources, state.distances, SOURCES, np.int32(NONE))
        first = fetch_add(next_source, 0, SOURCES)


def multi_source(adjacency):
    """Prepare the search from many sources, on the CPU; no distance is too large."""
    csr, n, order = adjacency.outgoing, adjacency.n_vertices, BallOrder(adjacency.outgoing)

    def new_state():
        queue, words = np.empty(2 * n, csr.neighbours.dtype), np.zeros((3, n), np.uint64)
        return Frontiers._make([queue, *words, np.empty(n * SOURCES, np.int32)])

    def solve(sources, result):
        batches = order.batches(sources, result, SOURCES)
        pool, next_source = ThreadPool(-(-len(sources) // SOURCES), n * SOURCES * 5), np.zeros(1, np.int64)
        pool.starmap(search_words, [(next_source, csr, batches, new_state()) for _ in range(pool.n_workers)])
        return False

    return solve
