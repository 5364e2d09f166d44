"""Searches from many sources that end at a cutoff: each costs what it reaches, whatever the graph holds.

Every worker takes one source after the other.  Its search is near-far on one core
(:mod:`edgewise.paths.sssp.sequential`), with two differences.  What it has reached is in a list, by which the
worker's memory is put in order for the next source; and where a vertex is tells whether it has a distance, so
the distances are never initialised.  Memory that no search touches is not even given by the system.

Each set is listed by vertex.  It is marked in the bits of words, and the words in the bits of a summary; the
summary of two million vertices has 512 words.  That is faster than sorting, and leaves all bits zero.

Starting other threads takes as long as reaching thousands of vertices, and longer where other programs
compute.  So one worker begins alone, and only when it has reached :data:`ALONE` vertices, in a search that it
then drops or in several, all begin.

The sets are written to chunks, since their sizes are known when they are found.  A worker whose chunk is too
full for a set asks for the next one, and begins there.

After Davidson, Baxter, Garland and Owens, "Work-efficient parallel GPU methods for single-source shortest
paths" (IPDPS 2014).
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, compiled, device, each, fetch_add
from edgewise.device.prefetch import prefetch
from edgewise.device.threads import few_steps
from edgewise.device.wrapping import wrapping_add
from edgewise.paths.places.checks import check_room
from edgewise.paths.sssp.sequential import IN_PILE, IN_QUEUE, Pending, move_near, threshold_of
from edgewise.primitives.bits import lowest_bit
from edgewise.primitives.thread_pool import ThreadPool

#: Where a vertex is that is not reached, and one that was expanded; others as of a sequential search.
UNSEEN, EXPANDED = 0, 3
#: Entries of a chunk, or of one set if that has more.
CHUNK = 1 << 20
#: Vertices that are reached before other workers begin.
ALONE = 1 << 15
#: More vertices than there are.
ENDLESS = 1 << 62
#: Bits of the number of a worker in that of a chunk.
WORKERS = 16
#: What is too large, and what to do.
WITHOUT_ROOM = (
    "the vertices within the cutoff of all sources",
    "ask for fewer sources, or for smaller cutoffs",
)
#: Bits of a word, as a shift.
WORD = 6
ONE = np.uint64(1)
#: Vertices of the queue by which rows are prefetched.
AHEAD = np.uint64(2)


class Areas(NamedTuple):
    """Sets of vertices, one for each source, with their distances; on the host.

    ``offsets`` (sources + 1,) int64, ``vertices`` (entries,) index array, ascending in each set, and
    ``distances`` (entries,) in the type of the weights.
    """

    offsets: Any
    vertices: Any
    distances: Any


class Reach(NamedTuple):
    """The memory of a worker.

    ``distances`` (n,) count where ``places`` is not ``UNSEEN``; ``queue``, ``pile`` and ``places`` are those
    of a :class:`~edgewise.paths.sssp.sequential.Pending`; ``met`` (n + 1,) are the vertices that are reached.
    ``words`` and ``summary`` are uint64 with a bit for each vertex and each word.  All places and bits are
    zero between searches.
    """

    distances: Any
    queue: Any
    pile: Any
    places: Any
    met: Any
    words: Any
    summary: Any


class Sources(NamedTuple):
    """What is searched for, by all workers.

    ``vertices`` (k,) int64; ``next_one`` (1,) int64 is a counter; ``sizes`` and ``starts`` (k,) int64 get the
    size of each set and its place in a chunk, and ``chunks`` (k,) int64 the number of the chunk.  ``cutoff``
    is the largest distance that counts.  A worker ends when it has reached ``enough`` vertices.
    """

    vertices: Any
    next_one: Any
    sizes: Any
    starts: Any
    chunks: Any
    cutoff: Any
    enough: int


class Chunk(NamedTuple):
    """Where a worker writes sets: ``vertices`` and ``distances``, of which ``used`` (1,) int64 are written.

    ``found`` (1,) int64 is the source whose set is found but not written, or -1.
    """

    number: int
    vertices: Any
    distances: Any
    used: Any
    found: Any


@device
def reach(rows, source, cutoff, enough, own):
    """Find what is within the cutoff of a source; return the number of vertices, which ``own.met`` lists.

    The search ends when that number is larger than ``enough``.
    """
    offsets, neighbours, weights = rows
    distances, queue, pile, places, met = own.distances, own.queue, own.pile, own.places, own.met
    pending, last = Pending(queue, pile, places), np.uint64(len(queue) - 1)
    n_met, head, tail, size = np.uint64(1), np.uint64(0), np.uint64(0), np.int64(1)
    distances[source], places[source], pile[0], met[0] = 0, IN_PILE, source, source
    while size > 0:
        size, threshold = threshold_of(distances, pending, size)
        if len(weights) == 0:  # in a queue all vertices are in the order of their distances
            threshold = np.inf
        size, end = move_near(distances, pending, size, threshold, np.int64(tail))
        tail = np.uint64(end)
        if n_met > enough:
            break
        while head < tail and n_met <= enough:
            vertex = np.uint64(queue[head & last])
            head += ONE
            if head + AHEAD < tail:
                first = offsets[np.uint64(queue[(head + AHEAD) & last])]
                prefetch(neighbours, first)
                prefetch(weights, first)
            places[vertex] = EXPANDED
            distance = distances[vertex]
            for entry in range(np.uint64(offsets[vertex]), np.uint64(offsets[vertex + ONE])):
                other = np.uint64(neighbours[entry])
                weight = weights[entry] if len(weights) else distances.dtype.type(1)
                longer, place = wrapping_add(distance, weight), places[other]
                if longer <= cutoff and (place == UNSEEN or longer < distances[other]):
                    near = np.float64(longer) <= threshold
                    distances[other] = longer
                    met[n_met] = queue[tail & last] = pile[np.uint64(size)] = other
                    n_met += np.uint64(place == UNSEEN)
                    tail += np.uint64(near & (place != IN_QUEUE))
                    size += (not near) & (place == UNSEEN)
                    places[other] = IN_QUEUE if near else IN_PILE
    return np.int64(n_met)


@device
def write_set(n_met, own, chunk):
    """Write what was met to the chunk, by vertex, and put the memory in order."""
    words, summary, at = own.words, own.summary, chunk.used[0]
    low, high = np.int64(len(summary)), np.int64(0)
    for item in range(n_met):
        vertex = np.int64(own.met[item])
        word = vertex >> WORD
        words[word] |= ONE << np.uint64(vertex & 63)
        summary[word >> WORD] |= ONE << np.uint64(word & 63)
        low, high = min(low, word >> WORD), max(high, word >> WORD)
        own.places[vertex] = UNSEEN
    for group in range(low, high + 1):
        marked = summary[group]
        summary[group] = 0
        while marked != 0:
            place = (group << WORD) + lowest_bit(marked)
            marked &= marked - ONE
            bits = words[place]
            words[place] = 0
            while bits != 0:
                member = (place << WORD) + lowest_bit(bits)
                bits &= bits - ONE
                chunk.vertices[at], chunk.distances[at] = member, own.distances[member]
                at += 1
    chunk.used[0] = at


@compiled
def search_sources(rows, sources, own, chunk):
    """Take sources until none is left, or until a set does not fit the chunk; return the size of that set."""
    while True:
        source = chunk.found[0]
        if source < 0:
            source = fetch_add(sources.next_one, 0, 1)
            if source >= len(sources.vertices):
                return 0
            enough = sources.enough - chunk.used[0]
            size = reach(rows, sources.vertices[source], sources.cutoff, np.uint64(max(enough, 0)), own)
            if size > enough:  # the worker is alone, and another search begins with this source
                sources.next_one[0] = source
                for item in range(size):
                    own.places[own.met[item]] = UNSEEN
                return 0
            sources.sizes[source] = size
        size = sources.sizes[source]
        if chunk.used[0] + size > len(chunk.vertices):
            chunk.found[0] = source
            return size
        chunk.found[0], sources.starts[source], sources.chunks[source] = -1, chunk.used[0], chunk.number
        write_set(size, own, chunk)


@each
def copy_set(item, some, sources, chunk, areas):
    """Copy the set of one of some sources from its chunk."""
    source = some[item]
    to, start = areas.offsets[source], sources.starts[source]
    for step in range(sources.sizes[source]):
        areas.vertices[to + step] = chunk.vertices[start + step]
        areas.distances[to + step] = chunk.distances[start + step]


def areas_within(adjacency, rows, sources, cutoff) -> Areas:
    """Find what is within a distance of each source, on all cores of the CPU.

    ``rows`` are those of an :class:`~edgewise.paths.csr.Adjacency` in one of its directions, without negative
    weights; ``sources`` (k,) int64.  No sum of ``cutoff`` and a weight passes the end of the type.
    """
    n, dtype, kind = rows.n_vertices, rows.weights.dtype, rows.neighbours.dtype
    sizes, starts, numbers = (np.zeros(len(sources), np.int64) for _ in range(3))
    wanted = Sources(sources, np.zeros(1, np.int64), sizes, starts, numbers, cutoff, ALONE)
    with few_steps(len(sources) * (n + len(rows.neighbours))):
        memory = [*(adjacency.borrow("areas", 0) or [_memory(n, dtype, kind)])]
        chunks = _chunks_of(rows, wanted, memory[0], 0, [])
        left = len(sources) - int(wanted.next_one[0])
        if left > 0:
            pool = ThreadPool(left, n * (dtype.itemsize + 3 * kind.itemsize + 1))
            memory += [_memory(n, dtype, kind) for _ in range(pool.n_workers - len(memory))]
            wanted = wanted._replace(enough=ENDLESS)
            lists = [chunks, *([] for _ in memory[1:])]
            calls = [(rows, wanted, *own) for own in zip(memory, range(pool.n_workers), lists)]
            chunks = [chunk for own in pool.starmap(_chunks_of, calls) for chunk in own]
        adjacency.keep("areas", 0, *memory)
        return _put_together(wanted, chunks, kind, dtype)


def _put_together(wanted, chunks, kind, dtype):
    """The sets of all chunks, by their sources."""
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(wanted.sizes)])
    if len(chunks) == 1:  # whose sets are in order
        return Areas(offsets, *(one[: offsets[-1]].copy() for one in chunks[0][1:3]))
    check_room(int(offsets[-1]) * (dtype.itemsize + kind.itemsize), *WITHOUT_ROOM)
    areas = Areas(offsets, *(arrays.empty(int(offsets[-1]), one, "cpu") for one in (kind, dtype)))
    for chunk in chunks:
        some = np.flatnonzero(wanted.chunks == chunk.number)
        copy_set(len(some), some, wanted, chunk, areas)
    return areas


def _memory(n, dtype, kind):
    """The memory of a worker."""
    room, n_words = 1 << n.bit_length(), (n >> WORD) + 1
    pending = np.empty(room, kind), np.empty(n + 1, kind), np.zeros(n, np.uint8)
    words, summary = np.zeros(n_words, np.uint64), np.zeros((n_words >> WORD) + 1, np.uint64)
    return Reach(np.empty(n, dtype), *pending, np.empty(n + 1, kind), words, summary)


def _chunks_of(rows, sources, own, worker, chunks):
    """The chunks of one worker, beside those that it has, after searches as long as there are sources."""
    dtype, kind = rows.weights.dtype, rows.neighbours.dtype
    found, size = np.full(1, -1, np.int64), 0
    while True:
        if size or not chunks:
            n_bytes = max(size, CHUNK) * (dtype.itemsize + kind.itemsize)
            if chunks:
                check_room(n_bytes, *WITHOUT_ROOM)
            parts = [arrays.empty(max(size, CHUNK), one, "cpu") for one in (kind, dtype)]
            number = len(chunks) << WORKERS | worker
            chunks.append(Chunk(number, parts[0], parts[1], np.zeros(1, np.int64), found))
        size = search_sources(rows, sources, own, chunks[-1]._replace(found=found))
        if not size:
            return chunks
