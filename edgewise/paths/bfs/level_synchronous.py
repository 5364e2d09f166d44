"""Level-synchronous search on the CPU's threads: one region for all levels, one barrier or two a level.

Every worker queues the vertices that it reaches in a queue of its own, and begins the next level with these.
Queues have room for a part of the vertices only, so that they stay in the cache; a vertex without room has
its distance all the same, and the next step takes all vertices at that distance.  All workers read the same
counts behind a barrier and make the same decisions.  A frontier with few entries is pushed by one worker
alone, for as many levels as it stays small; a larger one is divided into equal parts.  Of a large one workers
take chunks, first of their own parts and then of others, since rows are uneven; it may be pushed by bitmaps
or pulled.  Beamer, Asanovic & Patterson (2012) switch by two ratios, alpha and beta; here the costs of all
ways are estimated from the same counts and compared.  What a push costs depends on how many vertices it will
reach: as many for each entry as the step before.  On a 3-D stencil 25 of 26 entries lead back or to vertices
that are reached twice, and to push one takes a quarter of the time that it takes on a random graph.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import barrier_wait, device, fetch_add, parallel_region
from edgewise.device.shares import STRIDE, next_chunk
from edgewise.paths.bfs.steps import (
    BATCH,
    BITMAP_PUSH,
    BLOCK,
    BUFFER,
    COUNT,
    NONE,
    NUMBERS,
    PULL,
    PUSH,
    Output,
    pull,
    push,
    survey,
    tail_of,
    unsigned,
    write_block,
)
from edgewise.paths.csr import CSR, workers_for
from edgewise.paths.result import SparseDistances

#: Queues have room for one in so many of the vertices each.
QUEUE_PART = 16
#: Vertices for which a queue has room at least.
QUEUE_VERTICES = 4096
#: Entries of a frontier that one worker pushes by itself.
SINGLE_ENTRIES = 512
#: Entries of a frontier that is divided into equal parts; a larger one is handed out in chunks.
DIVIDED_ENTRIES = 1 << 17
#: Vertices of such a chunk.
QUEUE_CHUNK = 256
#: Workers that a search gets, if there are as many, whatever its levels are.
LEVEL_WORKERS = 8
#: ``w`` workers are worth their barriers if a level has so many times ``w * w`` entries: with more of them
#: each has less to do, and more others to wait for.
WORKER_ENTRIES = 100
#: Cost of an entry that is pushed, in nanoseconds, about.
PUSH_COST = 3
#: Cost of a vertex that a pushed entry reaches, in nanoseconds, about.
REACH_COST = 9
#: Cost of an entry that is pushed to a bitmap, in nanoseconds, about.
BIT_COST = 4
#: Cost of an entry that an unvisited vertex tests, in nanoseconds, about.
TEST_COST = 6
#: Cost of a vertex that is surveyed, in nanoseconds, about.
SURVEY_COST = 1
#: Cost of a vertex that is written from bitmaps, in nanoseconds, about.
WRITE_COST = 2
#: Words of a line of counters.
LINE = 16


class Lines(NamedTuple):
    """Lines of counters of a turn."""

    chunks: int
    blocks: int
    unvisited: int  # number of unvisited vertices
    workers: int  # the first of a line for each worker; see Counts


AT = Lines(0, 1, 2, 3)


class Search(NamedTuple):
    """State of a search that all workers share.

    The counters are of three turns that alternate, so that one barrier a turn is enough: while those of a
    turn are read and those of the next one written, the third are cleared.
    """

    rows: Any  # CSR, without weights
    incoming: Any  # CSR; empty where steps must not pull
    distances: Any  # (n,) int32 array
    counters: Any  # (3, AT.workers + n_workers, LINE) int64 array
    shares: Any  # (3, n_workers * STRIDE) int64 array: counters of chunks, see edgewise.device.shares
    seen: Any  # (8 * words,) uint8 array; see Output
    bitmaps: Any  # (2 + n_workers, words) uint64 array: vertices at even levels, at odd ones, the workers'
    lists: Any  # (blocks, 1 + BLOCK) index array: number of unvisited vertices in a block, and these
    queues: Any  # (2, n_workers, capacity) index array: for even levels, and for odd ones
    buffers: Any  # (n_workers, BUFFER) index array
    numbers: Any  # (n_workers, NUMBERS) uint64 array


class Frontier(NamedTuple):
    """What all workers know of the frontier; a vertex that two workers reached counts twice."""

    level: Any
    size: Any  # vertices in the workers' queues
    lost: Any  # vertices that had no room there
    entries: Any  # entries in the rows of all these


def new_memory(rows, n_workers):
    """The fields of a search from ``seen`` on, for so many workers or fewer, which clear them."""
    n, dtype = rows.n_vertices, rows.neighbours.dtype
    words, capacity = (n + 63) // 64, max(n // QUEUE_PART, QUEUE_VERTICES) + BATCH
    return (
        np.empty(8 * words, np.uint8),
        np.empty((2 + n_workers, words), np.uint64),
        np.empty((-(-n // BLOCK), 1 + BLOCK), dtype),
        np.empty((2, n_workers, capacity), dtype),
        np.empty((n_workers, BUFFER), dtype),
        np.empty((n_workers, NUMBERS), np.uint64),
    )


def bytes_of_search(size) -> float:
    """Bytes of the memory of a search and its distances, for a :class:`~edgewise.needs.Size`."""
    n, n_workers = size.vertices, size.threads
    queues = 2 * n_workers * size.width * max(n // QUEUE_PART, QUEUE_VERTICES)
    return (4 + size.width + (3 + n_workers) / 8) * n + queues


def new_search(rows, incoming, n_workers, memory):
    """The state of a search."""
    counters = np.zeros((3, AT.workers + n_workers, LINE), np.int64)
    shares = np.zeros((3, n_workers * STRIDE), np.int64)
    return Search(rows, incoming, np.empty(rows.n_vertices, np.int32), counters, shares, *memory)


@device
def new_output(worker, way, level, turn, search):
    """Return the empty output of a worker for the vertices at ``level``, the frontier of ``turn``."""
    counts = search.counters[turn % 3, AT.workers + worker.id]
    counts[COUNT.tail] = counts[COUNT.lost] = counts[COUNT.entries] = 0
    counts[COUNT.level] = level
    own = search.queues[level & 1, worker.id], counts, search.buffers[worker.id], search.numbers[worker.id]
    return Output(way, np.int32(level), search.seen, search.distances, *own, search.bitmaps[2 + worker.id])


@device
def part_of(worker, count):
    """Return where the worker's even part of a range begins and ends."""
    return count * worker.id // worker.count, count * (worker.id + 1) // worker.count


@device
def begin(worker, known, level, search):
    """Mark the known vertices as visited and no others; those at ``level`` are the frontier of turn 0."""
    seen, distances, bitmap = search.seen, search.distances, search.bitmaps[2 + worker.id]
    first, end = part_of(worker, len(distances))
    for vertex in range(unsigned(first), unsigned(end)):
        distances[vertex] = NONE
    first, end = part_of(worker, len(seen))
    for byte in range(unsigned(first), unsigned(end)):
        seen[byte] = 0
    for word in range(unsigned(len(bitmap))):
        bitmap[word] = unsigned(0)
    barrier_wait(worker)
    output = new_output(worker, PUSH, level, 0, search)
    if worker.id == 0:
        for item in range(len(known.vertices)):
            vertex = known.vertices[item]
            distances[vertex] = known.values[item]
            seen[vertex >> 3] |= np.uint8(1 << (vertex & 7))
            if known.values[item] == level:
                output.queue[tail_of(output, 1)] = vertex
                output.counts[COUNT.tail] += 1
                output.counts[COUNT.entries] += search.rows.offsets[vertex + 1] - search.rows.offsets[vertex]
    barrier_wait(worker)


@device
def frontier_at(counters):
    """The frontier of a turn by its counters."""
    size = lost = entries = np.int64(0)
    for line in range(AT.workers, len(counters)):
        size, lost = size + counters[line, COUNT.tail], lost + counters[line, COUNT.lost]
        entries += counters[line, COUNT.entries]
    return Frontier(counters[AT.workers, COUNT.level], size, lost, entries)


@device
def cheapest(frontier, reached, surveyed, n_unvisited, entries_left, search):
    """Return the cheapest way to take a step.

    ``reached`` are the vertices that an entry of the step before has reached; ``surveyed`` is whether the
    frontier's bitmap and the lists exist.
    """
    n, n_entries = len(search.distances), len(search.rows.neighbours)
    way, cost = PUSH, np.int64(frontier.entries * (PUSH_COST + REACH_COST * reached))
    if frontier.lost > 0:
        cost += n * SURVEY_COST
    by_bitmaps = frontier.entries * BIT_COST + n * WRITE_COST
    if by_bitmaps < cost:
        way, cost = BITMAP_PUSH, by_bitmaps
    # entries that an unvisited vertex tests until one is in the frontier, or its whole row
    tests = min(n_entries // n + 1, entries_left // max(frontier.entries, 1) + 1)
    by_pulling = n_unvisited * tests * TEST_COST
    if not surveyed:
        by_pulling += n * SURVEY_COST
    return PULL if len(search.incoming.offsets) > 0 and by_pulling < cost else way


@device
def push_queued(first, end, level, counters, search, output):
    """Push the vertices ``first`` to ``end`` of the frontier, counted through all workers' queues."""
    for worker_id in range(len(counters) - AT.workers):
        size = counters[AT.workers + worker_id, COUNT.tail]
        low, high = max(first, 0), min(end, size)
        if low < high:
            queue = search.queues[level & 1, worker_id]
            push(queue, unsigned(low), unsigned(high), search.rows, output)
        first, end = first - size, end - size


@device
def push_step(worker, frontier, turn, search, output):
    """Push this worker's part of the frontier; if there are many entries, by chunks, and then other parts."""
    counters, shares = search.counters[turn % 3], search.shares[turn % 3]
    if output.way == PUSH and frontier.entries <= DIVIDED_ENTRIES:
        first, end = part_of(worker, frontier.size)
        push_queued(first, end, frontier.level, counters, search, output)
        return
    share, first, end = next_chunk(0, shares, frontier.size, QUEUE_CHUNK, worker.id)
    while first < end:
        push_queued(first, end, frontier.level, counters, search, output)
        share, first, end = next_chunk(share, shares, frontier.size, QUEUE_CHUNK, worker.id)


@device
def push_alone(worker, cutoff, turn, search, output):
    """Push what one worker has queued, level after level, while it is little."""
    counts = output.counts
    while 0 < counts[COUNT.tail] and counts[COUNT.entries] <= SINGLE_ENTRIES and counts[COUNT.level] < cutoff:
        vertices, end = output.queue, unsigned(counts[COUNT.tail])
        output = new_output(worker, PUSH, counts[COUNT.level] + 1, turn, search)
        push(vertices, unsigned(0), end, search.rows, output)


@device
def step_by_blocks(which, worker, turn, search, output):
    """Take blocks from a counter: survey them and push what is at the level, or pull, or merge bitmaps."""
    counter, level, n_unvisited = search.counters[turn % 3, which], np.int32(output.distance - 1), np.int64(0)
    block = fetch_add(counter, 0, 1)
    while block < len(search.lists):
        vertices = search.lists[block]
        if which == AT.chunks:
            survey(block, level, NONE if output.way == PULL else level, search)
            if output.way != PULL:
                end = unsigned(1) + unsigned(vertices[0])
                push(vertices, unsigned(1), end, search.rows, output)
        elif output.way == PULL:
            pull(block, search, output)
        else:
            write_block(block, worker.count, search, output)
        n_unvisited += np.int64(vertices[0])
        block = fetch_add(counter, 0, 1)
    if which == AT.blocks:
        fetch_add(search.counters[(turn + 1) % 3, AT.unvisited], 0, n_unvisited)


@parallel_region
def run(worker, search, known, level, cutoff):
    """Run a whole search; see :func:`level_synchronous`."""
    begin(worker, known, level, search)
    turn, way, entries_before = 0, PUSH, np.int64(1)
    entries_left, n_unvisited = len(search.rows.neighbours), len(search.distances)
    while True:
        counters = search.counters[turn % 3]
        frontier = frontier_at(counters)
        if frontier.size + frontier.lost == 0 or frontier.level >= cutoff:
            break
        n_unvisited -= frontier.size + frontier.lost
        surveyed = way != PUSH
        waiting = counters[AT.unvisited, 0] if surveyed else n_unvisited
        reached = min((frontier.size + frontier.lost) / entries_before, 1.0)
        way = cheapest(frontier, reached, surveyed, waiting, entries_left, search)
        entries_left -= frontier.entries
        entries_before = max(frontier.entries, np.int64(1))
        if worker.id == 0:  # cleared two turns ahead: other workers may add to the next turn's already
            for line in range(AT.workers):
                search.counters[(turn + 2) % 3, line, 0] = 0
            for worker_id in range(worker.count):
                search.shares[(turn + 2) % 3, worker_id * STRIDE] = 0
        output = new_output(worker, way, frontier.level + 1, turn + 1, search)
        listing = frontier.lost > 0 if way != PULL else not surveyed
        if listing:
            step_by_blocks(AT.chunks, worker, turn, search, output)
        elif way == PUSH and frontier.entries <= SINGLE_ENTRIES:
            if worker.id == 0:
                push_queued(np.int64(0), frontier.size, frontier.level, counters, search, output)
                push_alone(worker, cutoff, turn + 1, search, output)
        elif way != PULL:
            push_step(worker, frontier, turn, search, output)
        if way != PUSH:
            if way == BITMAP_PUSH or listing:
                barrier_wait(worker)
            step_by_blocks(AT.blocks, worker, turn, search, output)
        barrier_wait(worker)
        turn += 1


def workers_worth(adjacency, most, known, level):
    """Workers of a search, ``most`` or fewer, as many as its levels are worth.

    A level costs every worker a barrier and a look at the counters of all others.  The known vertices tell
    how their number grows with the distance, and so how many levels there will be: hundreds in a mesh, where
    levels are small, and a few in a social network.  Thin graphs have a rule of their own.
    """
    half = int(np.searchsorted(known.values, level // 2, side="right"))
    if most <= LEVEL_WORKERS or level < 2 or adjacency.is_thin:
        return most
    dimension = max(math.log(len(known.values) / half) / math.log(level / (level // 2)), 1.0)
    n_levels = level * (adjacency.n_vertices / len(known.values)) ** (1 / dimension)
    worth = math.isqrt(int(len(adjacency.neighbours) / n_levels / WORKER_ENTRIES))
    return min(most, max(LEVEL_WORKERS, worth))


def level_synchronous(adjacency, incoming, known, level, cutoff):
    """Distances (n,) int32 of a search that knows all vertices up to ``level`` steps away.

    ``known`` are in ascending order of distance.  Steps may pull unless ``incoming`` is ``None``; vertices
    further away than ``cutoff`` are not reached.
    """
    rows, most = adjacency.outgoing, workers_for(adjacency)
    if incoming is None:
        incoming = CSR(rows.offsets[:0], rows.neighbours[:0], rows.weights)
    (memory,) = adjacency.borrow("level-synchronous", most) or (new_memory(rows, most),)
    n_workers = workers_worth(adjacency, most, known, level)
    search = new_search(rows, incoming, n_workers, memory)
    run.with_workers(n_workers, search, known, int(level), int(cutoff))
    adjacency.keep("level-synchronous", most, memory)
    return search.distances


def top_down(adjacency, sources, cutoff, incoming=None):
    """Distances from the nearest of ``sources``, by pushing only."""
    known = SparseDistances(sources, np.zeros(len(sources), np.int32))
    return level_synchronous(adjacency, incoming, known, 0, cutoff)


def direction_optimising(adjacency, sources, cutoff):
    """The same, with pulling where that is cheaper."""
    return top_down(adjacency, sources, cutoff, adjacency.incoming)
