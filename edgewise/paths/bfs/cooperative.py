"""Breadth-first search in one cooperative region: all levels in one launch, with sparse and dense rounds.

A search on a road network has thousands of levels of a few thousand vertices; one on a social network has
seven, of which two hold nearly everything.  A launch and a round trip to the host for each level are too slow
for both.  The size of the frontier decides between two kinds of rounds:

*Sparse.*  The frontier is a queue, of which every block takes a part; a group of threads reads each row, and
long rows are cut into pieces, which all warps of the grid take in a second step.  After the first rounds a
block goes on for several levels by itself, with queues in its own shared memory.  Blocks overtake each other
then, so distances are lowered by an atomic minimum, and the thread that lowers one passes it on (label
correcting inside a window of levels, as in delta-stepping; Meyer and Sanders 2003).  At the end of a window
all distances inside it are final.

*Dense.*  Every warp reads the distances of its part of the vertices and takes those at this level.  Top-down
it divides the entries of its 32 rows evenly among its lanes (Merrill, Garland and Grimshaw 2012); longer rows
are cut into pieces.  Bottom-up unvisited vertices search for a neighbour in the frontier and stop at the
first (Beamer, Asanovic and Patterson 2012): a thread reads the beginning of a row, its warp goes on, and what
is still left is cut into pieces.  All writes to a distance write the same value, so that plain ones do.
Rows on the host are read in the order of memory instead (:mod:`~edgewise.paths.bfs.tiles`).

*Entries decide.* Top-down a dense round reads the ``f`` entries of the frontier.  Of all ``m`` entries a
share ``f / m`` leads there, so that bottom-up each of the ``u`` unvisited vertices finds a neighbour after
``m / f`` entries, or none at the end of its row: ``min(u m / f, entries of unvisited vertices)``.  The
smaller of the two is taken.  Numbers of vertices would not do: the first levels of a social network are few
vertices with most entries, and the fronts of a mesh are many vertices with few.  A queue with many entries is
taken densely, too.  Counting entries takes a few microseconds, which roads with their thousands of rounds
must not spend: it is done in the first rounds, for long queues, and where a dense round has many vertices.
The fronts of meshes grow slowly, over many rounds, and a dense round reads all distances for each.  After the
first rounds a larger part of the vertices or entries is therefore needed for one.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, barrier_wait, by_class, device, fetch_min, load, parallel_region
from edgewise.device.warps import (
    ballot,
    block_barrier,
    block_size,
    find_segment,
    inclusive_scan,
    shuffle,
    warp_size,
)
from edgewise.paths.bfs.tiles import TiledRows, bytes_of_tiles, expand_tiles, reach, tiled
from edgewise.paths.block_queues import (
    PIECE,
    WORDS,
    add_block_sum,
    append,
    append_local,
    append_long_rows,
    append_pieces,
    clear,
    clear_local,
    clear_next_local,
    local_at,
    local_size,
    piece_at,
    room_for_pieces,
)
from edgewise.paths.csr import CSR, unreached
from edgewise.primitives.rounds import APART, Rounds, places, set_of, words

#: Threads of a block, of which a multiprocessor has one.
THREADS = 768
#: First rounds, whose sparse windows are one level.
LEVEL_ROUNDS = 48
#: Levels of a sparse window after these rounds.
WINDOW = 64
#: Vertices of a frontier that is queued, by default; larger ones are taken densely.
QUEUED_VERTICES = 16384
#: Entries of a frontier that is queued; larger ones are taken densely.
QUEUED_ENTRIES = 1 << 19
#: First rounds, in which the entries of every queue are counted.
COUNTED_ROUNDS = 8
#: Vertices of a queue from which its entries are counted in later rounds.
COUNTED_VERTICES = 4096
#: After these rounds, a round is dense from one in so many of the vertices or entries on.
LATER_PART = 16
#: After these rounds, a round is dense from so many times as many vertices at the latest.
LATER_TIMES = 16
#: Part of the vertices from which the entries of a dense round's frontier are counted.
COUNTED_PART = 64
#: Entries for each thread of a group in a sparse round; longer rows are cut into pieces.
GROUP_ENTRIES = 16
#: Entries of a row that a thread reads bottom-up before its warp goes on.
THREAD_ENTRIES = 64
#: Queues in one array, each with a counter.
QUEUES = 5


class Counters(NamedTuple):
    """Counters of a round."""

    reached: int  # vertices reached
    entries: int  # their entries
    pieces: int  # pieces of rows
    frontier: int  # entries of the frontier


AT = places(Counters)
SETS = Rounds(QUEUES * APART, words(Counters))


class Search(NamedTuple):
    """State of a search; dense rounds list pieces of rows from the beginning of the queues."""

    rows: CSR | TiledRows  # without weights
    incoming: CSR  # empty where the incoming rows are not there
    distances: Any  # (n,) int32 array
    queue: Any  # (QUEUES * capacity,) index array, capacity even; queue q begins at q * capacity
    counts: Any  # (SETS.end,) int64 array


class Limits(NamedTuple):
    """Parameters of a search."""

    source: int
    others: Any  # (k,) int64 array of further sources
    group: int  # threads that read one row in a sparse round, a power of two
    dense_from: int  # size of a frontier from which the first rounds are dense
    dense_later: int  # the same after these
    cutoff: int  # vertices further away are not reached
    none: int  # distance of vertices that are not reached


class Window(NamedTuple):
    """A sparse round: the numbers of its queues, its set of counters, its number of vertices and last level.

    Vertices of the frontier are in ``near``; those reached at a level before ``last`` that a block has no
    room for go to ``spill``, those at ``last`` to ``far``.  Pieces of rows are in the memory of ``spare``.
    """

    near: int
    spill: int
    far: int
    spare: int
    counters: int
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
    capacity = len(search.queue) // QUEUES
    if fetch_min(search.distances, vertex, distance) <= distance:
        return
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
            if row_end - entry > GROUP_ENTRIES * group:
                if thread % width == 0:
                    list_pieces(search, window, vertex)
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
def list_pieces(search, window, vertex):
    """List the pieces of a long row of a sparse round."""
    degree = search.rows.offsets[vertex + 1] - search.rows.offsets[vertex]
    half = len(search.queue) // QUEUES // 2
    first, end = window.spare * half, (window.spare + 1) * half
    append_pieces(search.queue, search.counts, window.counters + AT.pieces, first, end, vertex, degree)


@device
def sparse_pieces(worker, search, window, n_pieces):
    """Follow the listed pieces of long rows, one per warp."""
    lanes, capacity, queue, counts = warp_size(), len(search.queue) // QUEUES, search.queue, search.counts
    listed = window.spare * (capacity // 2)
    for item in range(worker.id // lanes, n_pieces, worker.count // lanes):
        vertex, first, end = piece_at(queue, listed + item, search.rows.offsets)
        distance = np.int64(load(search.distances, vertex)) + 1
        for entry in range(first + worker.id % lanes, end, lanes):
            other = np.int64(search.rows.neighbours[entry])
            if fetch_min(search.distances, other, distance) > distance:
                if distance >= window.last:
                    append(queue, counts, window.far, capacity, other)
                else:
                    append(queue, counts, window.spill, capacity, other)


@device
def sparse_window(worker, group, search, window):
    """Take the queue through a window; return the size of ``spill``, too large if there was no room."""
    sparse_round(worker, group, search, window)
    barrier_wait(worker)
    capacity = len(search.queue) // QUEUES
    n_pieces = load(search.counts, window.counters + AT.pieces)
    if n_pieces > 0:
        if n_pieces > capacity // 2:
            return capacity + 1
        sparse_pieces(worker, search, window, n_pieces)
        barrier_wait(worker)
    return load(search.counts, window.spill * APART)


@device
def top_down(worker, level, search, pieces):
    """Expand all vertices at ``level``, a warp's rows at a time; pieces of long rows are listed."""
    distances, offsets, n = search.distances, search.rows.offsets, len(search.distances)
    lanes, n_reached = warp_size(), 0
    lane = worker.id % lanes
    for base in range(worker.id - lane, n, worker.count):
        vertex = base + lane
        first, degree = np.int64(0), np.int64(0)
        if vertex < n and distances[vertex] == level:
            first = offsets[vertex]
            degree = offsets[vertex + 1] - first
        if ballot(degree > 0) == 0:
            continue
        degree = append_long_rows(worker, search.queue, search.counts, pieces, vertex, degree)
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
    """Expand the listed pieces of long rows, one per warp."""
    lanes, n_reached = warp_size(), 0
    for item in range(worker.id // lanes, n_pieces, worker.count // lanes):
        _, first, end = piece_at(search.queue, item, search.rows.offsets)
        for entry in range(first + worker.id % lanes, end, lanes):
            n_reached += reach(search.distances, search.rows.neighbours[entry], level + 1)
    return n_reached


@by_class
def expand(rows, worker, level, search, pieces):
    """Expand all vertices at ``level`` over rows of this kind; return the number of vertices reached."""


@expand.of(CSR)
def expand_on_gpu(rows, worker, level, search, pieces):
    """Expand the vertices over rows in the memory of the GPU."""
    n_reached = top_down(worker, level, search, pieces)
    barrier_wait(worker)
    return n_reached + top_down_pieces(worker, level, search, load(search.counts, pieces))


@expand.of(TiledRows)
def expand_on_host(rows, worker, level, search, pieces):
    """Expand the vertices over rows on the host."""
    return expand_tiles(rows, worker, level, search.distances)


@device
def has_parent(search, level, entry):
    """Whether an incoming entry is of a vertex at ``level``."""
    return search.distances[search.incoming.neighbours[entry]] == level


@device
def bottom_up(worker, level, search, pieces):
    """Let every unvisited vertex search for a neighbour at ``level``; pieces of long rows are listed."""
    distances, offsets, n = search.distances, search.incoming.offsets, len(search.distances)
    lanes, n_reached, n_entries = warp_size(), 0, np.int64(0)
    lane, room = worker.id % lanes, len(search.queue) // 2
    for base in range(worker.id - lane, n, worker.count):
        vertex = base + lane
        first, end, degree = np.int64(0), np.int64(0), np.int64(0)
        if vertex < n and distances[vertex] > level + 1:
            first, end = offsets[vertex], offsets[vertex + 1]
            degree = end - first
        stop, found = min(end, first + THREAD_ENTRIES), False
        while first < stop and not found:
            found = has_parent(search, level, first)
            first += 1
        if found:
            # race: who reads it as unreached or so is right: it is not at this level
            distances[vertex] = level + 1
            n_reached, n_entries = n_reached + 1, n_entries + degree
        waiting = ballot(first < end and not found)
        for owner in range(lanes if waiting != 0 else 0):
            if (waiting >> owner) & 1:
                entry, last, found = shuffle(first, owner), shuffle(end, owner), False
                last = min(last, entry + PIECE)
                while entry < last and not found:
                    found = ballot(entry + lane < last and has_parent(search, level, entry + lane)) != 0
                    entry += lanes
                if lane == owner and found:
                    # race: who reads it as unreached or so is right: it is not at this level
                    distances[vertex] = level + 1
                    n_reached, n_entries = n_reached + 1, n_entries + degree
                elif lane == owner and first + PIECE < end:
                    append_pieces(search.queue, search.counts, pieces, 0, room, vertex, degree)
    return n_reached, n_entries


@device
def bottom_up_pieces(worker, level, search, n_pieces):
    """Search the listed pieces of long rows for a neighbour at ``level``, one per warp."""
    distances, offsets = search.distances, search.incoming.offsets
    lanes, n_reached, n_entries = warp_size(), 0, np.int64(0)
    for item in range(worker.id // lanes, n_pieces, worker.count // lanes):
        vertex, first, end = piece_at(search.queue, item, offsets)
        entry = first + worker.id % lanes
        while entry < end and load(distances, vertex) > level + 1:
            if has_parent(search, level, entry) and fetch_min(distances, vertex, level + 1) > level + 1:
                n_reached, n_entries = n_reached + 1, n_entries + offsets[vertex + 1] - offsets[vertex]
            entry += lanes
    return n_reached, n_entries


@device
def count_queued(worker, search, which, size, counter):
    """Number of the entries of the vertices in a queue."""
    offsets, n_entries, first = search.rows.offsets, np.int64(0), which * (len(search.queue) // QUEUES)
    for item in range(first + worker.id, first + size, worker.count):
        vertex = np.int64(search.queue[item])
        n_entries += offsets[vertex + 1] - offsets[vertex]
    add_block_sum(worker, search.counts, counter, n_entries)
    barrier_wait(worker)
    return load(search.counts, counter)


@device
def count_level(worker, level, search, counter):
    """Number of the entries of the vertices at ``level``."""
    offsets, n_entries = search.rows.offsets, np.int64(0)
    for vertex in range(worker.id, len(search.distances), worker.count):
        if search.distances[vertex] == level:
            n_entries += offsets[vertex + 1] - offsets[vertex]
    add_block_sum(worker, search.counts, counter, n_entries)
    barrier_wait(worker)
    return load(search.counts, counter)


@device
def upwards(search, frontier, unvisited, unread):
    """Whether a round reads less bottom-up: from the entries of the frontier, and what is not visited yet."""
    if frontier < 0 or len(search.incoming.offsets) == 0:
        return False
    reads = float(max(unvisited, 1)) * len(search.rows.neighbours) / max(frontier, 1)
    return min(reads, float(unread)) < frontier


@device
def dense_round(worker, level, search, counters, upward):
    """Take a level densely; return the number of vertices reached, and of their entries, -1 if not known."""
    counts, pieces = search.counts, counters + AT.pieces
    if upward:
        n_reached, n_entries = bottom_up(worker, level, search, pieces)
        barrier_wait(worker)
        more, more_entries = bottom_up_pieces(worker, level, search, load(counts, pieces))
        n_reached, n_entries = n_reached + more, n_entries + more_entries
        add_block_sum(worker, counts, counters + AT.entries, n_entries)
    else:
        n_reached = expand(search.rows, worker, level, search, pieces)
    add_block_sum(worker, counts, counters + AT.reached, n_reached)
    barrier_wait(worker)
    n_entries = load(counts, counters + AT.entries)
    return load(counts, counters + AT.reached), n_entries if upward else np.int64(-1)


@device
def list_level(worker, level, search, which):
    """Queue the vertices at ``level``."""
    capacity = len(search.queue) // QUEUES
    for vertex in range(worker.id, len(search.distances), worker.count):
        if search.distances[vertex] == level:
            append(search.queue, search.counts, which, capacity, vertex)


@device
def dense_size(limits, rounds):
    """Size of a frontier from which a round is dense."""
    return limits.dense_from if rounds < COUNTED_ROUNDS else limits.dense_later


@device
def dense_entries(search, rounds):
    """Number of its entries from which a round is dense."""
    return max(QUEUED_ENTRIES, len(search.rows.neighbours) // LATER_PART if rounds >= COUNTED_ROUNDS else 0)


@parallel_region.by(
    threads=THREADS,
    max_blocks_per_sm=1,
    min_blocks_per_sm=1,
    shared_words=WORDS,
)
def run(worker, search, limits):
    """Run a whole search; all workers make the same decisions from the same counters.

    No such counter is written before the next barrier, since others may have to read it: the queues, and
    three sets of other counters, alternate.
    """
    counts, capacity = search.counts, len(search.queue) // QUEUES
    size = begin(worker, search, limits)
    near, spill, far, free, spare = 0, 1, 2, 3, 4
    level, rounds, dense_until, inside = 0, 0, 0, False
    n, m = len(search.distances), len(search.rows.neighbours)
    frontier, unvisited, unread = np.int64(-1), n - size, np.int64(m)
    while size > 0 and level < limits.cutoff:
        counters = set_of(SETS, rounds)
        if worker.id == 0:
            clear(counts, free, SETS, set_of(SETS, rounds + 1))
        dense = level < dense_until or (size >= dense_size(limits, rounds) and not inside)
        counted = rounds < COUNTED_ROUNDS or (size >= COUNTED_VERTICES and rounds < LEVEL_ROUNDS)
        if counted and not (dense or inside):
            frontier = count_queued(worker, search, near, size, counters + AT.frontier)
            dense = frontier >= dense_entries(search, rounds)
        if not dense:
            last = min(level + (1 if rounds < LEVEL_ROUNDS else WINDOW), limits.cutoff)
            window = Window(near, spill, far, spare, counters, size, last)
            left = sparse_window(worker, limits.group, search, window)
            inside = 0 < left <= capacity
            if left > capacity:
                dense_until = last
                barrier_wait(worker)
                if worker.id == 0:
                    counts[spill * APART] = counts[far * APART] = 0
            elif inside:
                near, spill, free, size = spill, free, near, left
            else:
                level, size = last, load(counts, far * APART)
                near, spill, far, free, spare = far, spare, free, near, spill
                unread -= max(frontier, np.int64(0))
                frontier, unvisited = np.int64(-1), unvisited - size
        else:
            if frontier < 0 and size >= n // COUNTED_PART and len(search.incoming.offsets) > 0:
                frontier = count_level(worker, level, search, counters + AT.frontier)
            unread -= frontier if frontier >= 0 else size * m // n
            upward = upwards(search, frontier, unvisited, unread)
            size, frontier = dense_round(worker, level, search, counters, upward)
            level, unvisited = level + 1, unvisited - size
            if level < dense_until:
                size, frontier = max(size, 1), np.int64(-1)  # the window has reached some before
            elif level == dense_until or 0 < size < dense_size(limits, rounds + 1):
                list_level(worker, level, search, free)
                near, free = free, near
                barrier_wait(worker)
                size, frontier = load(counts, near * APART), np.int64(-1)
        rounds += 1


def dense_sizes(n_vertices, dense_from):
    """Sizes of a frontier from which rounds are dense: first ones, and later ones."""
    first = max(1, min(dense_from, n_vertices))
    return first, max(first, min(n_vertices // LATER_PART, LATER_TIMES * first))


def room_of_queues(n_entries, dense_later):
    """Words of the queues of a search."""
    return (
        QUEUES * 2 * (dense_later + max(n_entries // PIECE, -(-room_for_pieces(n_entries) // (2 * QUEUES))))
    )


def bytes_on_gpu(size):
    """Bytes that a search takes on its GPU beside the rows."""
    words = room_of_queues(size.entries, dense_sizes(size.vertices, QUEUED_VERTICES)[1])
    return 4 * size.vertices + size.width * words + bytes_of_tiles(size) + 8 * SETS.end


def cooperative(adjacency, sources, cutoff, dense_from=QUEUED_VERTICES):
    """Distances from the nearest of ``sources`` in one launch; bottom-up if the incoming rows are there."""
    rows, device = adjacency.outgoing, arrays.device_of(adjacency.offsets)
    n, m = rows.n_vertices, len(rows.neighbours)
    dense_from, dense_later = dense_sizes(n, dense_from)
    nothing = arrays.empty(0, np.int64, device)
    no_rows = CSR(nothing, rows.neighbours[:0], rows.weights)
    incoming = adjacency.incoming if adjacency.has_incoming else no_rows
    distances, counts = arrays.empty(n, np.int32, device), arrays.zeros(SETS.end, np.int64, device)
    queue = arrays.empty(room_of_queues(m, dense_later), rows.neighbours.dtype, device)
    others = nothing if len(sources) == 1 else arrays.move(sources[1:], device)
    group = 1 << max(0, min(5, round(np.log2(max(m / max(n, 1), 1)))))
    limits = group, dense_from, dense_later, int(cutoff), int(unreached(np.int32))
    search = Search(tiled(rows) if adjacency.left_on_host else rows, incoming, distances, queue, counts)
    run(search, Limits(int(sources[0]), others, *limits))
    return distances
