"""Level-synchronous search on the CPU's threads: one region for all levels, one barrier or two a level.

Every worker queues the vertices that it reaches in a queue of its own, and begins the next level with these,
whose rows and marks are in its cache; it takes from other workers' queues only what evens out the sizes.  Two
such queues alternate and stay small, so they stay in the cache too.  All workers read the same counts behind
a barrier and make the same decisions:

* A frontier with few entries is pushed by one worker alone, for as many levels as it stays small, while the
  others wait: thin graphs need no barriers.
* A larger one is divided into equal parts; a large one is handed out in chunks by an atomic counter, since
  rows are uneven.
* A frontier that leads to a good part of the graph is pushed by bitmaps, or pulled if the incoming rows are
  there, whichever :mod:`~edgewise.paths.bfs.direction` estimates to be the cheapest.
* A queue has room for a part of the vertices only.  A vertex without room has its distance all the same, and
  the next step takes all vertices at that distance.

Pushing reads every entry of every row that is reached, once.  That is the least for graphs of large diameter,
and all there is to do in a directed graph without its incoming rows.  Social networks have a level or two
that hold nearly everything; pulled, most of their vertices stop at the first entry.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import barrier_wait, device, fetch_add, parallel_region
from edgewise.device.regions import workers
from edgewise.paths.bfs.bitmap_push import push_to_bitmap, write_block
from edgewise.paths.bfs.direction import BITMAP_PUSH, PULL, PUSH, Frontier, cheapest
from edgewise.paths.bfs.pull import BLOCK, Bitmaps, Unvisited, pull, survey
from edgewise.paths.bfs.push import (
    BATCH,
    BUFFER,
    CHUNK,
    LONG,
    NUMBERS,
    WIDTH,
    Output,
    Progress,
    Visited,
    push,
    unsigned,
    with_room,
)
from edgewise.paths.csr import CSR
from edgewise.paths.result import SparseDistances, unreached

NONE = unreached(np.int32)
#: Queues have room for this part of the vertices each, and for at least so many.
QUEUED_PART, LEAST_QUEUED = 16, 4096
#: Entries of a frontier up to which one worker continues alone, and from which it is handed out in chunks.
FEW_ENTRIES, MANY_ENTRIES = 512, 1 << 17
#: Vertices of such a chunk.
QUEUE_CHUNK = 256
#: The counters of a turn are lines of so many words: one of each worker (queued, lost, entries), then these.
LINE, LEVEL, CHUNKS, BLOCKS, N_UNVISITED, SHARED_LINES = 16, 0, 1, 2, 3, 4


class Memory(NamedTuple):
    """What the host allocates for ``n`` vertices; few arrays, since each costs a microsecond in a call.

    Attributes
    ----------
    distances : (n,) int32 array
    seen : (8 * words,) uint8 array
    bits : ((2 + n_workers) * words + n_workers * NUMBERS,) uint64 array of zeros
    vertices : (n + n_workers * (2 * capacity + BUFFER),) index array
    counters : (blocks + 3 * (n_workers + SHARED_LINES) * LINE,) int64 array of zeros
    """

    distances: Any
    seen: Any
    bits: Any
    vertices: Any
    counters: Any


class Search(NamedTuple):
    """State of a search that all workers share: views of the memory.

    Attributes
    ----------
    rows, incoming : CSR
        Without weights; ``incoming`` is empty where steps must not pull.
    visited : Visited
    bitmaps : Bitmaps
    unvisited : Unvisited
    queues : (2 * n_workers * capacity,) index array
        The workers' queues for even levels, then for odd ones.
    buffers : (n_workers * BUFFER,) index array
    numbers : (n_workers * NUMBERS,) uint64 array
    counters : (3 * (n_workers + SHARED_LINES) * LINE,) int64 array
        Of three turns that alternate, so that one barrier a turn is enough: while the counters of a turn are
        read and those of the next one written, the third are cleared.
    """

    rows: Any
    incoming: Any
    visited: Any
    bitmaps: Any
    unvisited: Any
    queues: Any
    buffers: Any
    numbers: Any
    counters: Any


@device
def search_in(memory, rows, incoming, n_workers):
    """The state of a search in its memory."""
    n, words = len(memory.distances), len(memory.seen) // 8
    own_bits, numbers = 2 * words, (2 + n_workers) * words
    buffers, blocks = len(memory.vertices) - n_workers * BUFFER, (n + BLOCK - 1) // BLOCK
    return Search(
        rows,
        incoming,
        Visited(memory.seen, memory.distances, np.int32(NONE)),
        Bitmaps(memory.bits[:words], memory.bits[words:own_bits], memory.bits[own_bits:numbers]),
        Unvisited(memory.vertices[:n], memory.counters[:blocks]),
        memory.vertices[n:buffers],
        memory.vertices[buffers:],
        memory.bits[numbers:],
        memory.counters[blocks:],
    )


@device
def line(turn, n_workers, which):
    """Index of the first word of a line of counters; ``which`` is a worker, or ``n_workers + CHUNKS`` ..."""
    return (turn % 3 * (n_workers + SHARED_LINES) + which) * LINE


@device
def part_of(worker, count):
    """The worker's even part of a range: where it begins and ends."""
    return count * worker.id // worker.count, count * (worker.id + 1) // worker.count


@device
def queue_start(worker_id, n_workers, level, queues):
    """Where a worker's queue for the vertices at ``level`` begins."""
    return ((level & 1) * n_workers + worker_id) * (len(queues) // (2 * n_workers))


@device
def output_of(worker, level, search):
    """What the worker writes in a step that reaches ``level``."""
    words, queues = len(search.bitmaps.frontier), search.queues
    start = queue_start(worker.id, worker.count, level, queues)
    return Output(
        np.int32(level),
        queues[start : start + len(queues) // (2 * worker.count)],
        search.buffers[worker.id * BUFFER : (worker.id + 1) * BUFFER],
        search.numbers[worker.id * NUMBERS : (worker.id + 1) * NUMBERS],
        search.bitmaps.of_workers[worker.id * words : (worker.id + 1) * words],
    )


@device
def publish(worker, turn, level, progress, counters):
    """Tell all workers what this one has reached, as the frontier of a turn."""
    at = line(turn, worker.count, worker.id)
    counters[at], counters[at + 1] = np.int64(progress.tail), np.int64(progress.lost)
    counters[at + 2] = np.int64(progress.entries)
    if worker.id == 0:
        counters[line(turn, worker.count, worker.count + LEVEL)] = level


@device
def frontier_at(turn, n_workers, counters):
    """The frontier that the workers have published."""
    size = lost = entries = np.int64(0)
    for worker_id in range(n_workers):
        at = line(turn, n_workers, worker_id)
        size, lost, entries = size + counters[at], lost + counters[at + 1], entries + counters[at + 2]
    return Frontier(turn, counters[line(turn, n_workers, n_workers + LEVEL)], size, lost, entries)


@device
def begin(worker, known, level, search):
    """Mark the known vertices as visited and no others; those at ``level`` are the frontier of turn 0."""
    seen, distances, none = search.visited
    first, end = part_of(worker, len(distances))
    for vertex in range(unsigned(first), unsigned(end)):
        distances[vertex] = none
    first, end = part_of(worker, len(seen))
    for byte in range(unsigned(first), unsigned(end)):
        seen[byte] = 0
    barrier_wait(worker)
    queue = output_of(worker, level, search).queue
    progress = Progress(unsigned(0), unsigned(0), unsigned(0))
    if worker.id == 0:
        for item in range(len(known.vertices)):
            vertex = known.vertices[item]
            distances[vertex] = known.values[item]
            seen[vertex >> 3] |= np.uint8(1 << (vertex & 7))
            if known.values[item] == level:
                tail, lost, entries = with_room(progress, len(queue), 1)
                queue[tail] = vertex
                degree = unsigned(search.rows.offsets[vertex + 1]) - unsigned(search.rows.offsets[vertex])
                progress = Progress(tail + unsigned(1), lost, entries + degree)
    publish(worker, 0, level, progress, search.counters)
    barrier_wait(worker)


@device
def push_either(way, vertices, first, end, search, output, progress):
    """Push ``vertices[first:end]``, by bitmaps or not."""
    if way == BITMAP_PUSH:
        push_to_bitmap(vertices, first, end, search.rows, output)
        return progress
    return push(vertices, first, end, search.rows, search.visited, output, progress)


@device
def push_queued(way, part, n_workers, frontier, search, output, progress):
    """Push the vertices ``part[0]`` to ``part[1]`` of the frontier, counted through all workers' queues."""
    before = np.int64(0)
    for worker_id in range(n_workers):
        size = search.counters[line(frontier.turn, n_workers, worker_id)]
        low, high = max(part[0], before) - before, min(part[1], before + size) - before
        if low < high:
            start = queue_start(worker_id, n_workers, frontier.level, search.queues)
            low, high = unsigned(start + low), unsigned(start + high)
            progress = push_either(way, search.queues, low, high, search, output, progress)
        before += size
    return progress


@device
def push_lost(way, counter, level, search, output, progress):
    """Push all vertices at ``level``, which are looked for in the distances, batch by batch."""
    counters, distances, batch = search.counters, search.visited.distances, output.buffer
    n, begin_of_batch = len(distances), unsigned(CHUNK * LONG + WIDTH)
    first = fetch_add(counters, counter, BATCH)
    while first < n:
        end = begin_of_batch
        for vertex in range(unsigned(first), min(unsigned(first + BATCH), unsigned(n))):
            batch[end] = vertex
            end += unsigned(distances[vertex] == level)
        progress = push_either(way, batch, begin_of_batch, end, search, output, progress)
        first = fetch_add(counters, counter, BATCH)
    return progress


@device
def push_step(way, alone, worker, frontier, search, output):
    """Push this worker's share of the frontier: an even part, chunks from a counter, or all or nothing."""
    progress = Progress(unsigned(0), unsigned(0), unsigned(0))
    counter = line(frontier.turn, worker.count, worker.count + CHUNKS)
    if frontier.lost > 0:
        return push_lost(way, counter, frontier.level, search, output, progress)
    part = part_of(worker, frontier.size)
    if alone:
        part = np.int64(0), frontier.size if worker.id == 0 else np.int64(0)
    in_chunks = way == BITMAP_PUSH or frontier.entries > MANY_ENTRIES
    while True:
        if in_chunks:
            first = fetch_add(search.counters, counter, QUEUE_CHUNK)
            part = first, min(first + QUEUE_CHUNK, frontier.size)
        if part[0] < part[1]:
            progress = push_queued(way, part, worker.count, frontier, search, output, progress)
        if not in_chunks or part[0] >= frontier.size:
            return progress


@device
def push_on(worker, level, cutoff, search, output, progress):
    """Push the queued vertices at ``level`` while they are few; return what is queued, and its level."""
    while 0 < progress.tail and progress.entries <= unsigned(FEW_ENTRIES) and level < cutoff:
        vertices, end, level = output.queue, progress.tail, level + 1
        output = output_of(worker, level, search)
        progress = Progress(unsigned(0), unsigned(0), unsigned(0))
        progress = push(vertices, unsigned(0), end, search.rows, search.visited, output, progress)
    return progress, level


@device
def step_by_blocks(way, worker, turn, search, bitmaps, output):
    """Take blocks of vertices from a counter: pull, or write what the bitmaps hold."""
    counters, unvisited = search.counters, np.int64(0)
    progress = Progress(unsigned(0), unsigned(0), unsigned(0))
    counter = line(turn, worker.count, worker.count + BLOCKS)
    block = fetch_add(counters, counter, 1)
    while block < len(search.unvisited.counts):
        if way == PULL:
            progress = pull(block, search, bitmaps, output, progress)
        else:
            progress = write_block(block, worker.count, search, bitmaps, output, progress)
        unvisited += search.unvisited.counts[block]
        block = fetch_add(counters, counter, 1)
    fetch_add(counters, line(turn + 1, worker.count, worker.count + N_UNVISITED), unvisited)
    return progress


@device
def survey_all(worker, frontier, search, bitmaps):
    """Take blocks of vertices from a counter and survey them."""
    counter = line(frontier.turn, worker.count, worker.count + CHUNKS)
    block = fetch_add(search.counters, counter, 1)
    while block < len(search.unvisited.counts):
        survey(block, frontier.level, search.visited, bitmaps.frontier, search.unvisited)
        block = fetch_add(search.counters, counter, 1)


@parallel_region
def run(worker, memory, rows, incoming, known, level, cutoff):
    """Run a whole search; see :func:`level_synchronous`."""
    search = search_in(memory, rows, incoming, worker.count)
    begin(worker, known, level, search)
    counters, bitmaps = search.counters, search.bitmaps
    turn, way = 0, PUSH
    entries_left, n_unvisited = len(search.rows.neighbours), len(search.visited.distances)
    while True:
        frontier = frontier_at(turn, worker.count, counters)
        if frontier.size + frontier.lost == 0 or frontier.level >= cutoff:
            break
        n_unvisited -= frontier.size + frontier.lost
        surveyed, waiting = way != PUSH, n_unvisited
        if surveyed:
            waiting = counters[line(turn, worker.count, worker.count + N_UNVISITED)]
        way = cheapest(frontier, surveyed, waiting, entries_left, search)
        entries_left -= frontier.entries
        if worker.id == 0:  # cleared two turns ahead: other workers may add to the next turn's already
            for which in range(CHUNKS, SHARED_LINES):
                counters[line(turn + 2, worker.count, worker.count + which)] = 0
        level = frontier.level + 1
        output = output_of(worker, level, search)
        progress = Progress(unsigned(0), unsigned(0), unsigned(0))
        if way != PULL:
            alone = way == PUSH and frontier.entries <= FEW_ENTRIES and frontier.lost == 0
            progress = push_step(way, alone, worker, frontier, search, output)
            if alone and worker.id == 0:
                progress, level = push_on(worker, level, cutoff, search, output, progress)
        elif not surveyed:
            survey_all(worker, frontier, search, bitmaps)
        if way != PUSH:
            if way == BITMAP_PUSH or not surveyed:
                barrier_wait(worker)
            progress = step_by_blocks(way, worker, turn, search, bitmaps, output)
            if way == PULL:
                bitmaps = Bitmaps(bitmaps.following, bitmaps.frontier, bitmaps.of_workers)
        publish(worker, turn + 1, level, progress, counters)
        barrier_wait(worker)
        turn += 1


def level_synchronous(rows, incoming, known, level, cutoff):
    """Distances from the sources that all ``known`` distances come from.

    Parameters
    ----------
    rows : CSR
        On the host.
    incoming : CSR or None
        Given: steps may pull.
    known : SparseDistances
        All vertices up to ``level`` steps away.
    level : int
        The largest of these distances.
    cutoff : int
        Vertices further away are not reached.

    Returns
    -------
    (n,) int32 array
    """
    n, n_workers, dtype = rows.n_vertices, workers(), rows.neighbours.dtype
    words, capacity = (n + 63) // 64, max(n // QUEUED_PART, LEAST_QUEUED) + BATCH
    memory = Memory(
        np.empty(n, np.int32),
        np.empty(8 * words, np.uint8),
        np.zeros((2 + n_workers) * words + n_workers * NUMBERS, np.uint64),
        np.empty(n + n_workers * (2 * capacity + BUFFER), dtype),
        np.zeros(-(-n // BLOCK) + 3 * (n_workers + SHARED_LINES) * LINE, np.int64),
    )
    if incoming is None:
        incoming = CSR(rows.offsets[:0], rows.neighbours[:0], rows.weights)
    known = SparseDistances(known.vertices.astype(dtype, copy=False), known.values)
    run(memory, rows, incoming, known, int(level), int(cutoff))
    return memory.distances


def _from_sources(rows, incoming, sources, cutoff):
    known = SparseDistances(sources, np.zeros(len(sources), np.int32))
    return level_synchronous(rows, incoming, known, 0, cutoff)


def top_down(adjacency, sources, cutoff):
    """Distances from the nearest of ``sources``, by pushing only; as all methods of this folder."""
    return _from_sources(adjacency.outgoing, None, sources, cutoff)


def direction_optimising(adjacency, sources, cutoff):
    """The same, with pulling where that is cheaper."""
    return _from_sources(adjacency.outgoing, adjacency.incoming, sources, cutoff)
