"""The phases of a near-far search; :mod:`edgewise.paths.sssp.near_far` runs them in turn."""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import device, fetch_min, load
from edgewise.device.warps import block_barrier, block_size, find_segment, inclusive_scan, shuffle, warp_size
from edgewise.device.wrapping import wrapping_add
from edgewise.paths.block_queues import (
    append,
    append_local,
    append_long_rows,
    clear_local,
    clear_next_local,
    local_at,
    local_size,
    piece_at,
)
from edgewise.paths.csr import CSR
from edgewise.primitives.rounds import APART, Rounds, places, words

#: Turns that a block makes by itself, and vertices that it takes in one.
TURNS, BLOCK_VERTICES = 32, 512
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
        search.expanded[vertex] = distance
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
