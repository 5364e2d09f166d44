"""Repeated single-source search on the CPU: the lanes of a SIMD vector are sources, 256 bytes at a time.

Fusi finds all pairs by one search after another.  Here a batch of sources is searched from at once:
``distances[v]`` is a row with one distance from each, the *lanes* of a vector, and one edge is relaxed for
all of them by one load, one addition and one minimum.  The weight of an edge is read once for 64 sources
(int32, float32).  Then et al., "The more the merrier: efficient multi-source graph traversal" (VLDB 2014)
have the idea with one bit a source.

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
"""

from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, compiled, device, fetch_add, load, store
from edgewise.paths.apsp.search import ceiling_of, heaviest_of
from edgewise.paths.csr import CSR, unreached
from edgewise.primitives.thread_pool import ThreadPool
from edgewise.primitives.vectors import any_less, lesser, of_bytes, wrapping_add, write

#: One sweep in this many is a descending one.
DESCENDING = 8
#: Vertices whose distances are transposed at a time: a cache line of int32.
STRIP = 16

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

    def batches(self, sources, result, size):
        """The sources in batches of ``size``: :class:`Batches`."""
        lines = np.arange(len(sources))
        if len(sources) > size:
            if self.rank is None:
                n, (offsets, neighbours, _) = self.csr.n_vertices, self.csr
                visited, order = np.zeros(n, np.uint8), np.empty(2 * n, np.int64)
                self.rank = np.full(n, -1)
                gather_balls(offsets, neighbours, size, visited, order, self.rank)
            lines = np.argsort(self.rank[sources], kind="stable")
        none = result.dtype.type(unreached(result.dtype))
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
