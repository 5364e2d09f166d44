"""Near-far: shortest paths by thresholds, in one cooperative region.

Vertices whose distance was lowered are *pending*.  Those nearer than a threshold are *near* and are expanded,
round after round, until none is left; then the threshold rises by ``delta`` (Davidson, Baxter, Garland and
Owens 2014).  As in :mod:`edgewise.paths.bfs.cooperative`, the whole search is one launch, and the number of
near vertices decides between two kinds of rounds:

*Dense.*  Pending vertices are flags, one byte each.  A warp scans its part of the flags, expands the near
vertices and carries the far ones over to the flags of the next round; no counter is contended for.  The
entries of a warp's rows are divided evenly among its lanes, and rows longer than a piece among all warps.

*Sparse.*  Near vertices are in a queue.  Each block takes a part of it and follows it for several steps in
its own shared memory.  Far vertices are flags here too; a *listing* round queues those that a new threshold
makes near.

A distance is lowered by an atomic minimum; a vertex is expanded again only for a distance smaller than in
``expanded``, that of its last expansion.  At the end all have been expanded with their final distances, so
the result is the same on every device.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, barrier_wait, device, fetch_min, load, parallel_region
from edgewise.device.warps import block_barrier, block_size, find_segment, inclusive_scan, shuffle, warp_size
from edgewise.device.wrapping import wrapping_add
from edgewise.paths.block_queues import (
    WORDS,
    add_block_sum,
    append,
    append_local,
    append_long_rows,
    clear,
    clear_local,
    clear_next_local,
    local_at,
    local_size,
    piece_at,
    room_for_pieces,
)
from edgewise.paths.csr import CSR, unreached
from edgewise.paths.sssp.weights import past_the_end
from edgewise.primitives.rounds import APART, Rounds, places, set_of, words

#: Threads of a block, of which a multiprocessor has one.
THREADS = 768
#: Near vertices that are queued; rounds of more are dense.
QUEUED_VERTICES = 16384
#: Kinds of rounds.
LISTED, QUEUED, FLAGGED, DONE = 0, 1, 2, 3
#: Step of the threshold, in mean weights per neighbour.
REACH = 32
#: Turns that a block makes by itself, at most.
TURNS = 32
#: Vertices that a block takes in such a turn, at most.
BLOCK_VERTICES = 512
#: Entries of a row that the sparse phase takes; longer ones are left to the dense phase.
ROW_ENTRIES = 2048
#: Queues in one array, each with a counter.
QUEUES = 3
#: Flags per word.
FLAGS = 4


class Counters(NamedTuple):
    """Counters of a round."""

    near: int  # near vertices
    far: int  # far vertices
    pieces: int  # pieces of rows
    dense: int  # whether a row or a queue is too long for the sparse phase


AT = places(Counters)
SETS = Rounds(QUEUES * APART, words(Counters))


class Search(NamedTuple):
    """The state of a search.

    ``distances`` (n,), and ``expanded`` (n,): the distance with which each vertex was expanded last.
    ``flags`` (2 * FLAGS * w,) uint8 is whether each vertex is pending, in two halves of FLAGS * w >= n flags,
    this round's and the next one's; ``words`` (2 * w,) uint32 is the same memory.  ``queue`` (QUEUES *
    capacity,) index array: queue ``q`` begins at ``q * capacity``, and pieces of rows are listed from the
    beginning. ``counts`` (SETS.end,) int32.
    """

    graph: CSR
    distances: Any
    expanded: Any
    flags: Any
    words: Any
    queue: Any
    counts: Any


class Round(NamedTuple):
    """What one round reads and writes.

    It reads queue ``near`` and fills queue ``spill``; ``counters`` is the first counter of its set,
    ``pending`` the first flag of its half and ``next_pending`` that of the other one.  Vertices nearer than
    ``threshold`` are expanded, and paths longer than ``cutoff`` do not count.
    """

    near: int
    spill: int
    counters: int
    pending: int
    next_pending: int
    threshold: Any
    cutoff: Any


@device
def relax(distances, other, distance, weight, cutoff):
    """Offer ``other`` a path that is longer by an edge: whether it is the shortest so far, and its length."""
    longer = wrapping_add(distance, weight)
    shorter = (  # and the sum has not wrapped round
        distance <= longer <= cutoff
        and longer < load(distances, other)
        and fetch_min(distances, other, longer) > longer
    )
    return shorter, longer


@device
def relax_to_flags(search, turn, other, distance, weight):
    """Relax an edge and flag ``other`` if its distance falls: whether it then is near, and far."""
    lowered, longer = relax(search.distances, other, distance, weight, turn.cutoff)
    if lowered:
        search.flags[turn.next_pending + other] = 1
    near = longer < turn.threshold
    return np.int64(lowered and near), np.int64(lowered and not near)


@device
def take_flagged(search, turn, vertex):
    """Entries of a flagged vertex to be expanded now, if it is near; whether it is far and stays pending."""
    offsets, first, degree = search.graph.offsets, np.int64(0), np.int64(0)
    distance = load(search.distances, vertex)
    if distance >= turn.threshold:
        search.flags[turn.next_pending + vertex] = 1
        return first, degree, 1
    if distance < search.expanded[vertex]:
        search.expanded[vertex] = distance
        first = offsets[vertex]
        degree = offsets[vertex + 1] - first
    return first, degree, 0


@device
def expand_dense(worker, search, turn):
    """Expand the near vertices among those flagged and keep the others pending.

    Returns the number of vertices that this made near, and far.  The entries of the rows of a warp are shared
    out evenly among its lanes; long rows are cut into pieces and left to :func:`expand_pieces`.
    """
    neighbours, weights, words = search.graph.neighbours, search.graph.weights, search.words
    lanes, half, now = warp_size(), len(words) // 2, turn.pending // FLAGS
    lane, near, far = worker.id % lanes, 0, 0
    for base in range(worker.id - lane, half, worker.count):
        word = np.int64(0)
        if base + lane < half:
            word = np.int64(words[now + base + lane])
            if word != 0:
                words[now + base + lane] = 0
        if shuffle(inclusive_scan(np.int64(word != 0), lane), lanes - 1) == 0:
            continue
        for part in range(FLAGS):
            first, degree = np.int64(0), np.int64(0)
            if (word >> (8 * part)) & 255:
                first, degree, is_far = take_flagged(search, turn, (base + lane) * FLAGS + part)
                far += is_far
            vertex = (base + lane) * FLAGS + part
            degree = append_long_rows(
                worker, search.queue, search.counts, turn.counters + AT.pieces, vertex, degree
            )
            prefix = inclusive_scan(degree, lane)
            total, start = shuffle(prefix, lanes - 1), first - prefix + degree
            for item in range(lane, total + lane, lanes):
                owner = find_segment(item, prefix, lanes)
                entry = item + shuffle(start, owner)
                if item < total:
                    other = np.int64(neighbours[entry])
                    distance = load(search.distances, (base + owner) * FLAGS + part)
                    nearer, further = relax_to_flags(search, turn, other, distance, weights[entry])
                    near, far = near + nearer, far + further
    return near, far


@device
def expand_pieces(worker, search, turn, n_pieces):
    """Expand the long rows, one piece per warp: the number of vertices that this made near, and far."""
    offsets, neighbours, weights = search.graph
    lanes, near, far = warp_size(), 0, 0
    for item in range(worker.id // lanes, n_pieces, worker.count // lanes):
        vertex, first, end = piece_at(search.queue, item, offsets)
        distance = load(search.distances, vertex)
        for entry in range(first + worker.id % lanes, end, lanes):
            other = np.int64(neighbours[entry])
            nearer, further = relax_to_flags(search, turn, other, distance, weights[entry])
            near, far = near + nearer, far + further
    return near, far


@device
def list_near(worker, search, turn):
    """Queue the flagged vertices that are near, which stay flagged: the number of far ones."""
    words, capacity, far = search.words, len(search.queue) // QUEUES, 0
    for position in range(worker.id, len(words) // 2, worker.count):
        word = np.int64(words[turn.pending // FLAGS + position])
        if word != 0:
            for part in range(FLAGS):
                if (word >> (8 * part)) & 255:
                    vertex = position * FLAGS + part
                    distance = search.distances[vertex]
                    if distance >= turn.threshold:
                        far += 1
                    elif search.expanded[vertex] <= distance:
                        search.flags[turn.pending + vertex] = 0
                    else:
                        append(search.queue, search.counts, turn.spill, capacity, vertex)
    return far


@device
def leave_to_dense(search, turn, vertex):
    """Flag a near vertex, and make the next round a dense one."""
    search.flags[turn.pending + vertex] = 1
    search.counts[turn.counters + AT.dense] = 1


@device
def queue_for_next_round(search, turn, vertex):
    """Queue a near vertex; without room in the queue, leave it to the dense phase."""
    if not append(search.queue, search.counts, turn.spill, len(search.queue) // QUEUES, vertex):
        leave_to_dense(search, turn, vertex)


@device
def relax_to_queue(worker, search, turn, step, other, distance, weight):
    """Relax an edge; a vertex that it lowers is queued, in the block if there is room, or flagged if far."""
    lowered, longer = relax(search.distances, other, distance, weight, turn.cutoff)
    if not lowered:
        return
    if longer >= turn.threshold:
        search.flags[turn.pending + other] = 1
    elif not append_local(worker.shared, step, other):
        queue_for_next_round(search, turn, other)


@device
def take_queued(search, turn, vertex):
    """First entry, degree and distance of a queued vertex; degree 0 if it need not be expanded here."""
    offsets, degree = search.graph.offsets, np.int64(0)
    first, end, before = offsets[vertex], offsets[vertex + 1], search.expanded[vertex]
    distance = load(search.distances, vertex)
    if end - first > ROW_ENTRIES:
        leave_to_dense(search, turn, vertex)
    elif distance < before:
        search.expanded[vertex] = distance  # race: whichever remains, it was expanded with that
        degree = end - first
    return first, degree, distance


@device
def expand_sparse(worker, search, turn, size):
    """Expand a part of the queue, and for some steps what this makes near, within each block."""
    neighbours, weights = search.graph.neighbours, search.graph.weights
    capacity, lanes, threads = len(search.queue) // QUEUES, warp_size(), block_size()
    thread, block, blocks = worker.id % threads, worker.id // threads, worker.count // threads
    lane, warp, warps = thread % lanes, thread // lanes, threads // lanes
    first_item, last_item = block * size // blocks, (block + 1) * size // blocks
    clear_local(worker.shared, thread)
    block_barrier()
    step, count = 0, last_item - first_item
    while count > 0 and (step == 0 or (count <= BLOCK_VERTICES and step < TURNS)):
        clear_next_local(worker.shared, thread, step)
        base = 0
        while base < count:
            item, first, degree = base + warp + warps * lane, np.int64(0), np.int64(0)
            distance = search.distances[0]
            if item < count:
                if step == 0:
                    vertex = np.int64(search.queue[turn.near * capacity + first_item + item])
                else:
                    vertex = local_at(worker.shared, step, item)
                first, degree, distance = take_queued(search, turn, vertex)
            prefix = inclusive_scan(degree, lane)
            total, start = shuffle(prefix, lanes - 1), first - prefix + degree
            item = lane
            while item - lane < total:
                owner = find_segment(item, prefix, lanes)
                entry, from_owner = item + shuffle(start, owner), shuffle(distance, owner)
                if item < total:
                    other = np.int64(neighbours[entry])
                    relax_to_queue(worker, search, turn, step, other, from_owner, weights[entry])
                item += lanes
            base += threads
        block_barrier()
        count = local_size(worker.shared, step)
        step += 1
    for item in range(thread, count, threads):
        queue_for_next_round(search, turn, local_at(worker.shared, step, item))


class Limits(NamedTuple):
    """What is searched for.

    The sources ``first``, int, and ``others`` (k - 1,) int64; ``ranks`` (n,), the rows of vertices, or empty
    where row ``v`` is that of vertex ``v``; the number of near vertices from which on rounds are dense; and
    lengths: step of the threshold, cutoff, distance of unreached vertices.
    """

    first: int
    others: Any
    ranks: Any
    dense_from: int
    delta: Any
    cutoff: Any
    none: Any


@device
def start_at(vertex, search, ranks):
    """Reach a source, which is pending."""
    row = np.int64(ranks[vertex]) if len(ranks) else np.int64(vertex)
    search.distances[row] = 0
    search.flags[row] = 1


@device
def start(worker, search, limits):
    """Reach nothing but the sources."""
    for vertex in range(worker.id, len(search.distances), worker.count):
        search.distances[vertex] = limits.none
        search.expanded[vertex] = limits.none
    for position in range(worker.id, len(search.words), worker.count):
        search.words[position] = 0
    barrier_wait(worker)
    for item in range(worker.id, len(limits.others), worker.count):
        start_at(limits.others[item], search, limits.ranks)
    if worker.id == 0:
        start_at(limits.first, search, limits.ranks)
    barrier_wait(worker)


@device
def raised(threshold, step, none):
    """The next threshold; at most ``none``."""
    return threshold + step if threshold < none - step else none


@device
def after_listing(n_near, n_far, threshold, step, limits):
    """Kind of the next round, its threshold and the next step; steps grow as long as they find nothing."""
    if n_near > 0:
        return QUEUED if n_near < limits.dense_from else FLAGGED, threshold, limits.delta
    return LISTED if n_far > 0 else DONE, raised(threshold, step, limits.none), step + step


@device
def after_dense(n_near, n_far, threshold, step, limits):
    """Kind of the round after a dense one, and its threshold."""
    if n_near > 0:
        return LISTED if n_near < limits.dense_from // 4 else FLAGGED, threshold
    return LISTED if n_far > 0 else DONE, raised(threshold, step, limits.none)


@device
def list_round(worker, search, turn):
    """Queue all near vertices; the numbers of near and of far ones."""
    counts, far = search.counts, list_near(worker, search, turn)
    add_block_sum(worker, counts, turn.counters + AT.far, far)
    barrier_wait(worker)
    return np.int64(load(counts, turn.spill * APART)), load(counts, turn.counters + AT.far)


@device
def sparse_round(worker, search, turn, size, dense_from):
    """Expand the queue; return the size of the next queue, and whether the next round must be dense."""
    expand_sparse(worker, search, turn, size)
    barrier_wait(worker)
    counts, queue, capacity = search.counts, search.queue, len(search.queue) // QUEUES
    size = min(np.int64(load(counts, turn.spill * APART)), capacity)
    dense = load(counts, turn.counters + AT.dense) > 0 or size >= dense_from
    if dense:
        for item in range(worker.id, size, worker.count):
            search.flags[turn.pending + np.int64(queue[turn.spill * capacity + item])] = 1
        barrier_wait(worker)
    return size, dense


@device
def dense_round(worker, search, turn):
    """Expand all near vertices; the numbers of near and of far vertices of the next round."""
    counts, counters = search.counts, turn.counters
    near, far = expand_dense(worker, search, turn)
    barrier_wait(worker)
    n_pieces = np.int64(load(counts, counters + AT.pieces))
    more_near, more_far = expand_pieces(worker, search, turn, n_pieces)
    add_block_sum(worker, counts, counters + AT.near, near + more_near)
    add_block_sum(worker, counts, counters + AT.far, far + more_far)
    barrier_wait(worker)
    return load(counts, counters + AT.near), load(counts, counters + AT.far)


@parallel_region.by(
    threads=THREADS,
    max_blocks_per_sm=1,
    min_blocks_per_sm=1,
    shared_words=WORDS,
)
def search_near_far(worker, search, limits):
    """Run a whole search; all workers make the same decisions from the same counters.

    A counter that decides is not written before the next barrier, since other workers may still have to read
    it: the three queues, and the three sets of other counters, are used in turn.
    """
    start(worker, search, limits)
    near, spill, free, half, rounds = 0, 1, 2, 0, 0
    kind, step, threshold, size = LISTED, limits.delta, limits.delta, 0
    n_flags = len(search.flags) // 2
    while kind != DONE:
        counters = set_of(SETS, rounds)
        if worker.id == 0:
            clear(search.counts, free, SETS, set_of(SETS, rounds + 1))
        rounds += 1
        turn = Round(near, spill, counters, half * n_flags, (1 - half) * n_flags, threshold, limits.cutoff)
        if kind == FLAGGED:
            n_near, n_far = dense_round(worker, search, turn)
            half = 1 - half
            kind, threshold = after_dense(n_near, n_far, threshold, step, limits)
            continue
        if kind == LISTED:
            size, n_far = list_round(worker, search, turn)
            kind, threshold, step = after_listing(size, n_far, threshold, step, limits)
        else:
            size, dense = sparse_round(worker, search, turn, size, limits.dense_from)
            if dense:
                kind = FLAGGED
            elif size == 0:
                kind, threshold = LISTED, raised(threshold, step, limits.none)
        near, spill, free = spill, free, near


def near_far(rows, sources, cutoff, delta=0, dense_from=QUEUED_VERTICES):
    """Search by steps of ``delta`` (0: one that fits the weights), dense from ``dense_from`` vertices on."""
    delta = delta or fitting(rows, rows.spread.mean)
    distances = search_by_thresholds(rows, sources, cutoff, delta, dense_from=dense_from)
    return distances, past_the_end(rows, distances, cutoff)


def search_by_thresholds(rows, sources, cutoff, delta, ranks=None, dense_from=QUEUED_VERTICES):
    """Distances by row; ``ranks``, if given, are the rows of vertices.

    Distances beyond the end of their type count as unreached.
    """
    device, n, dtype = arrays.device_of(rows.offsets), rows.n_vertices, rows.weights.dtype
    dense_from, index_type = max(1, min(dense_from, n)), rows.neighbours.dtype
    ranks = arrays.empty(0, index_type, device) if ranks is None else ranks
    distances, expanded = (arrays.empty(n, dtype, device) for _ in range(2))
    words = arrays.empty(2 * -(-n // FLAGS), np.uint32, device)
    capacity = 2 * dense_from + -(-room_for_pieces(len(rows.neighbours)) // QUEUES)
    queue = arrays.empty(QUEUES * capacity, index_type, device)
    counts = arrays.zeros(SETS.end, np.int32, device)
    search = Search(rows.outgoing, distances, expanded, words.view(np.uint8), words, queue, counts)
    others = arrays.move(sources[1:], device) if len(sources) > 1 else arrays.empty(0, np.int64, device)
    number = float if dtype.kind == "f" else int
    lengths = step_of(delta, dtype), number(cutoff), number(unreached(dtype))
    search_near_far(search, Limits(int(sources[0]), others, ranks, dense_from, *lengths))
    return distances


def step_of(delta, dtype):
    """``delta`` as a number of the distances' type that is larger than zero."""
    if dtype.kind == "f":
        return float(delta)
    none = int(unreached(dtype))
    return none if delta >= none else max(1, math.ceil(delta))


def fitting(rows, mean):
    """A step of the threshold: by the ``mean`` weight, and the larger the fewer edges a vertex has."""
    return REACH * mean * rows.n_vertices / max(len(rows.neighbours), 1) or 1
