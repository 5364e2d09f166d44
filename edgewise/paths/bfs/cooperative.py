"""Breadth-first search in one cooperative region: all levels in one launch, with sparse and dense rounds.

A search on a road network has thousands of levels of a few thousand vertices; one on a social network has
seven, of which two hold nearly everything.  A launch and a round trip to the host for each level are too slow
for both.  The size of the frontier decides between two kinds of rounds:

*Sparse.*  The frontier is a queue, of which every block takes a part; a group of threads reads each row.
After the first rounds a block goes on for several levels by itself, with queues in its own shared memory.
Blocks overtake each other then, so distances are lowered by an atomic minimum, and the thread that lowers one
passes it on (label correcting inside a window of levels, as in delta-stepping; Meyer and Sanders 2003).  At
the end of a window all distances inside it are final.

*Dense.*  Every warp reads the distances of its part of the vertices and takes those at this level.  Top-down
it divides the entries of its 32 rows evenly among its lanes (Merrill, Garland and Grimshaw 2012); longer rows
are cut into pieces, for all warps.  Bottom-up, where the frontier is a large part of the graph, unvisited
vertices search for a neighbour in it and stop at the first (Beamer, Asanovic and Patterson 2012).  All writes
to a distance write the same value, so there are no atomics.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, barrier_wait, device, fetch_max, fetch_min, load, parallel_region
from edgewise.device.warps import block_barrier, block_size, find_segment, inclusive_scan, shuffle, warp_size
from edgewise.paths.block_queues import (
    APART,
    PIECE,
    WORDS,
    add_block_sum,
    append,
    append_local,
    append_pieces,
    clear_local,
    clear_next_local,
    local_at,
    local_size,
    piece_at,
)
from edgewise.paths.csr import CSR
from edgewise.paths.result import unreached

#: Threads per block and blocks per multiprocessor.
THREADS, MAX_BLOCKS_PER_SM = 512, 2
#: Rounds before a sparse window spans several levels, and how many then.
PATIENCE, WINDOW = 48, 32
#: Default size of a frontier from which rounds are dense.
DENSE_FROM = 16384
#: Part of the vertices from which dense rounds are bottom-up.
BOTTOM_UP = 64
#: Rows longer than this times a group's threads are left to dense rounds.
LONG = 64
#: Queues in one array.
QUEUES = 5


class Search(NamedTuple):
    """State of a search; pieces of rows are listed from the beginning of the queues."""

    rows: CSR  # without weights
    incoming: CSR  # empty where the incoming rows are not there
    distances: Any  # (n,) int32 array
    queue: Any  # (QUEUES * capacity,) index array; queue q begins at q * capacity
    counts: Any  # ((QUEUES + 6) * APART,) int32 array: sizes of the queues; of 3 rounds: reached, pieces


class Limits(NamedTuple):
    """Parameters of a search."""

    source: int
    others: Any  # (k,) int64 array of further sources
    group: int  # threads that read one row in a sparse round, a power of two
    dense_from: int  # size of a frontier from which rounds are dense
    cutoff: int  # vertices further away are not reached
    none: int  # distance of vertices that are not reached


class Window(NamedTuple):
    """A sparse round: the numbers of its queues, its number of vertices, and its last level.

    Vertices of the frontier are in ``near``; those reached at a level before ``last`` that a block has no
    room for go to ``spill``, those at ``last`` to ``far``.
    """

    near: int
    spill: int
    far: int
    size: int
    last: int


@device
def begin(worker, search, limits):
    """Reach only the sources, which the first queue lists as far as there is room; return their number."""
    distances, capacity = search.distances, len(search.queue) // QUEUES
    for vertex in range(worker.id, len(distances), worker.count):
        distances[vertex] = limits.none
    barrier_wait(worker)
    for item in range(worker.id, len(limits.others), worker.count):
        distances[limits.others[item]] = 0
        if item + 1 < capacity:
            search.queue[item + 1] = limits.others[item]
    if worker.id == 0:
        distances[limits.source] = 0
        search.queue[0] = limits.source
    barrier_wait(worker)
    return len(limits.others) + 1


@device
def pass_on(shared, step, vertex, distance, search, window):
    """Offer a distance; a vertex that takes it is queued: in the block, in ``spill`` or in ``far``."""
    if fetch_min(search.distances, vertex, distance) <= distance:
        return
    capacity = len(search.queue) // QUEUES
    if distance >= window.last:
        append(search.queue, search.counts, window.far, capacity, vertex)
    elif not append_local(shared, step, vertex):
        append(search.queue, search.counts, window.spill, capacity, vertex)


@device
def sparse_round(worker, group, search, window):
    """Follow the block's part of the queue through the levels up to the window's last."""
    offsets, capacity = search.rows.offsets, len(search.queue) // QUEUES
    size, block, blocks = block_size(), worker.id // block_size(), worker.count // block_size()
    thread, width = worker.id % size, min(group, size)
    first, end = block * window.size // blocks, (block + 1) * window.size // blocks
    clear_local(worker.shared, thread)
    block_barrier()
    step, count = 0, end - first
    while count > 0:
        clear_next_local(worker.shared, thread, step)
        item = thread // width
        while item < count:
            if step == 0:
                vertex = np.int64(search.queue[window.near * capacity + first + item])
            else:
                vertex = local_at(worker.shared, step, item)
            entry, row_end = offsets[vertex], offsets[vertex + 1]
            distance = np.int64(load(search.distances, vertex))
            if row_end - entry > LONG * group:
                fetch_max(search.counts, window.spill * APART, capacity + 1)  # the window is repeated densely
                entry = row_end
            entry += thread % width
            while entry < row_end:
                other = np.int64(search.rows.neighbours[entry])
                pass_on(worker.shared, step, other, distance + 1, search, window)
                entry += width
            item += size // width
        block_barrier()
        count = local_size(worker.shared, step)
        step += 1


@device
def reach(distances, vertex, distance):
    """Give a vertex that is not reached its distance; return the number of vertices reached."""
    if distances[vertex] > distance:
        distances[vertex] = distance
        return 1
    return 0


@device
def top_down(worker, level, search, pieces):
    """Expand all vertices at ``level``, a warp's rows at a time; pieces of long rows are queued."""
    distances, offsets, n = search.distances, search.rows.offsets, len(search.distances)
    lanes, n_reached = warp_size(), 0
    lane = worker.id % lanes
    for base in range(worker.id - lane, n, worker.count):
        vertex = base + lane
        first, degree = np.int64(0), np.int64(0)
        if vertex < n and distances[vertex] == level:
            first = offsets[vertex]
            degree = offsets[vertex + 1] - first
            if degree > PIECE:
                append_pieces(search.queue, search.counts, pieces, vertex, degree)
                degree = np.int64(0)
        prefix = inclusive_scan(degree, lane)
        total, start = shuffle(prefix, lanes - 1), first - prefix + degree
        for share in range(0, total, lanes):
            owner = find_segment(share + lane, prefix, lanes)
            entry = share + lane + shuffle(start, owner)
            if share + lane < total:
                n_reached += reach(distances, search.rows.neighbours[entry], level + 1)
    return n_reached


@device
def top_down_pieces(worker, level, search, n_pieces):
    """Expand the queued pieces of long rows, one per warp."""
    lanes, n_reached = warp_size(), 0
    for item in range(worker.id // lanes, n_pieces, worker.count // lanes):
        _, first, end = piece_at(search.queue, item, search.rows.offsets)
        for entry in range(first + worker.id % lanes, end, lanes):
            n_reached += reach(search.distances, search.rows.neighbours[entry], level + 1)
    return n_reached


@device
def bottom_up(worker, level, search):
    """Let every unvisited vertex search for a neighbour at ``level``."""
    distances, offsets, n_reached = search.distances, search.incoming.offsets, 0
    for vertex in range(worker.id, len(distances), worker.count):
        if distances[vertex] > level + 1:
            for entry in range(offsets[vertex], offsets[vertex + 1]):
                if distances[search.incoming.neighbours[entry]] == level:
                    distances[vertex] = level + 1
                    n_reached += 1
                    break
    return n_reached


@device
def dense_round(worker, level, size, search, counters):
    """Take a level densely; return the number of vertices reached, which the first of two counters holds."""
    if len(search.incoming.offsets) > 0 and size >= len(search.distances) // BOTTOM_UP:
        n_reached = bottom_up(worker, level, search)
    else:
        n_reached = top_down(worker, level, search, counters + 1)
        barrier_wait(worker)
        n_pieces = np.int64(load(search.counts, (counters + 1) * APART))
        n_reached += top_down_pieces(worker, level, search, n_pieces)
    add_block_sum(worker, search.counts, counters, n_reached)
    barrier_wait(worker)
    return np.int64(load(search.counts, counters * APART))


@device
def list_level(worker, level, search, which):
    """Queue the vertices at ``level``."""
    capacity = len(search.queue) // QUEUES
    for vertex in range(worker.id, len(search.distances), worker.count):
        if search.distances[vertex] == level:
            append(search.queue, search.counts, which, capacity, vertex)


@parallel_region.by(threads=THREADS, max_blocks_per_sm=MAX_BLOCKS_PER_SM, shared_words=WORDS)
def run(worker, search, limits):
    """Run a whole search; all workers make the same decisions from the same counters.

    No such counter is written before the next barrier, since others may have to read it: the queues, and
    three sets of other counters, alternate.
    """
    counts, capacity = search.counts, len(search.queue) // QUEUES
    size = begin(worker, search, limits)
    near, spill, far, free, spare = 0, 1, 2, 3, 4
    level, rounds, dense_until = 0, 0, 0
    while size > 0 and level < limits.cutoff:
        if worker.id == 0:
            counts[free * APART] = 0
            counts[(QUEUES + 2 * ((rounds + 1) % 3)) * APART] = 0
            counts[(QUEUES + 2 * ((rounds + 1) % 3) + 1) * APART] = 0
        if size < limits.dense_from and level >= dense_until:
            last = min(level + (1 if rounds < PATIENCE else WINDOW), limits.cutoff)
            sparse_round(worker, limits.group, search, Window(near, spill, far, size, last))
            barrier_wait(worker)
            size = np.int64(load(counts, spill * APART))
            if 0 < size <= capacity:
                near, spill, free = spill, free, near
            elif size > capacity:
                dense_until, size = last, limits.dense_from
                barrier_wait(worker)
                if worker.id == 0:
                    counts[spill * APART] = counts[far * APART] = 0
            else:
                level, size = last, np.int64(load(counts, far * APART))
                near, spill, far, free, spare = far, spare, free, near, spill
        else:
            size = dense_round(worker, level, size, search, QUEUES + 2 * (rounds % 3))
            level += 1
            if level < dense_until:
                size = max(size, limits.dense_from)
            elif level == dense_until or 0 < size < limits.dense_from:  # the window has reached some before
                list_level(worker, level, search, free)
                near, free = free, near
                barrier_wait(worker)
                size = np.int64(load(counts, near * APART))
        rounds += 1


def cooperative(adjacency, sources, cutoff, dense_from=DENSE_FROM):
    """Distances from the nearest of ``sources`` in one launch; bottom-up if the incoming rows are there."""
    rows, device = adjacency.outgoing, arrays.device_of(adjacency.offsets)
    n, m = rows.n_vertices, len(rows.neighbours)
    dense_from = max(1, min(dense_from, n))
    nothing = arrays.empty(0, np.int64, device)
    search = Search(
        rows,
        adjacency.incoming if adjacency.has_incoming else CSR(nothing, rows.neighbours[:0], rows.weights),
        arrays.empty(n, np.int32, device),
        arrays.empty(QUEUES * (2 * dense_from + m // PIECE), rows.neighbours.dtype, device),
        arrays.zeros((QUEUES + 6) * APART, np.int32, device),
    )
    others = nothing if len(sources) == 1 else arrays.move(sources[1:], device)
    group = 1 << max(0, min(5, round(np.log2(max(m / max(n, 1), 1)))))
    run(search, Limits(int(sources[0]), others, group, dense_from, int(cutoff), int(unreached(np.int32))))
    return search.distances
