"""Distances from all vertices, added up while 512 breadth-first searches at a time run side by side.

The bits of a vertex's words are sources: bit ``s`` of what it has *seen* says that source ``s`` has reached
it.  A level passes bits on to neighbours, and those that a vertex has not seen before are *new* to it: the
sources whose distance to it is the level.  No distance is stored.  The number of new bits, times the level,
is added to the vertex's sum of distances, which closeness needs in the direction of NetworkX: *to* the
vertex.  Divided by the level it is added to the vertex's harmonic centrality, and it is added to the number
of pairs at that many hops.  The last level in which a source's bit is new to any vertex is the source's
eccentricity, if no vertex lacks the bit in the end.

*Directions.*  Where the frontier has few entries, its vertices *push* what they have seen to their
neighbours: two reads and a write of 64 bytes for 512 searches, without a branch that depends on the data.
Where it has many, every vertex that lacks a bit *pulls* what its neighbours have seen, and stops when it
lacks none (Beamer, Asanovic and Patterson 2012).  What neighbours have seen long ago does no harm in either
direction, so that one array of what is seen and one of what is new are all the memory of a search.

*Gathering.*  In thin graphs the sources of a batch are near each other, and most vertices that are
next to a reached one and lack a bit find one in every level.  These *open* vertices all gather what their
neighbours have seen, into the second of two arrays that levels use in turn: nothing is pushed or settled, and
a vertex is queued once a batch.  A vertex leaves when it lacks no bit of a search that still finds something.
When the rows of those that found a bit are too small a part of theirs, the search goes on as above.

*Batches.*  Sources that are near each other reach a vertex in few different levels, and each of these levels
reads the vertex's row.  :mod:`~edgewise.paths.measures.numbering` numbers the vertices so that those of a
batch are near each other.  Each core takes batches of its own.

Then et al., "The more the merrier: efficient multi-source graph traversal" (VLDB 2014).
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, compiled, device, fetch_add
from edgewise.device.prefetch import prefetch
from edgewise.paths.csr import CSR, THIN
from edgewise.paths.measures.numbering import Numbering, numbered
from edgewise.paths.measures.sums import (
    DISTANCE,
    HIGH,
    LOW,
    PARTS,
    REACHED,
    Added,
    halves_of_inverse,
    report_nothing,
    until_last,
)
from edgewise.primitives.bits import lowest_bit
from edgewise.primitives.thread_pool import ThreadPool
from edgewise.primitives.vectors import any_bit, count_bits, item, of_bytes, union, without, write

#: Words of a vertex, and sources of a batch.
WORDS, SOURCES = 8, 512
#: Vertices pull where the rows of the frontier have one in so many of all entries, or more.
PULLED_PART = 2
#: Open vertices gather while the rows of those that find a bit have one in so many of their entries, or more.
GATHERED_PART = 2
#: Vertices of the queue, or neighbours, whose words are on their way from memory.
AHEAD = 8
#: Batches of a worker between two reports of progress.
REPORTED = 8
#: Places of a worker's masks: no bit, every bit, bits that are looked for, and bits without a source.
NOTHING, EVERYTHING, FOUND, UNUSED, MASKS = 0, WORDS, 2 * WORDS, 3 * WORDS, 4 * WORDS
#: What one in so many vertices, or fewer, have seen is cleared vertex by vertex.
CLEARED_PART = 8
#: Every bit of a word.
FULL = np.uint64(2**64 - 1)

read, _ = of_bytes(8 * WORDS)


class Batches(NamedTuple):
    """What all workers share.

    ``outgoing`` and ``incoming`` are rows; ``sources`` (k,) int64; ``next_source`` (1,) int64 the first of
    the next batch; ``farthest`` (n,) int32 the eccentricity of each source, or -1 if it does not reach all.
    """

    outgoing: CSR
    incoming: CSR
    sources: Any
    next_source: Any
    farthest: Any


class Searches(NamedTuple):
    """The state of one worker.

    ``seen`` and ``new`` (n WORDS,) uint64, the latter zero between searches; ``queue`` (2 n + 2,) has the
    current level in one half and the next one in the other; ``reached`` (n,) the vertices that any source of
    the batch reaches; ``masks`` (MASKS,) uint64; ``opened`` (n,) the batch that last opened a vertex.
    """

    seen: Any
    new: Any
    queue: Any
    reached: Any
    masks: Any
    opened: Any


class Sums(NamedTuple):
    """What one worker adds up.

    ``of_vertices`` (n PARTS,) int64 as :mod:`~edgewise.paths.measures.sums` has them; ``hops``
    (n + 1,) int64: pairs by their distance.
    """

    of_vertices: Any
    hops: Any


@device
def add_to_vertex(of_vertices, at, count, level, high, low):
    """Add the number of new bits of a vertex to its sums, with the level and the halves of its inverse."""
    of_vertices[np.uint64(at + REACHED)] += count
    of_vertices[np.uint64(at + DISTANCE)] += count * level
    of_vertices[np.uint64(at + HIGH)] += count * high
    of_vertices[np.uint64(at + LOW)] += count * low


@device
def settle(offsets, searches, sums, begin, end, level, n_reached):
    """Add up the new bits of the queued vertices; vertices to which nothing is new leave the queue.

    Returns the number of those that stay, that of their entries, and that of vertices reached so far.
    """
    seen, new, queue, reached, masks, _ = searches
    high, low = halves_of_inverse(level)
    nothing, unused, found, kept = read(masks, NOTHING), read(masks, UNUSED), read(masks, NOTHING), begin
    n_entries, n_pairs = np.int64(0), np.int64(0)
    for position in range(begin, end):
        vertex = np.int64(item(queue, position))
        ahead = np.int64(item(queue, min(position + AHEAD, end - 1)))
        prefetch(seen, ahead * WORDS)
        prefetch(new, ahead * WORDS)
        prefetch(sums.of_vertices, ahead * PARTS)
        before = read(seen, vertex * WORDS)
        bits = without(read(new, vertex * WORDS), before)
        write(new, vertex * WORDS, nothing)
        if any_bit(bits):
            write(seen, vertex * WORDS, union(before, bits))
            found, count = union(found, bits), count_bits(bits)
            add_to_vertex(sums.of_vertices, vertex * PARTS, count, level, high, low)
            n_pairs += count
            n_entries += item(offsets, vertex + 1) - item(offsets, vertex)
            queue[np.uint64(kept)] = vertex
            kept += 1
            if not any_bit(without(before, unused)):
                reached[np.uint64(n_reached)] = vertex
                n_reached += 1
    write(masks, FOUND, found)
    sums.hops[level] += n_pairs
    return kept - begin, n_entries, n_reached


@device
def push(rows, searches, begin, end, last):
    """Pass what the queued vertices have seen on to their neighbours; return the end of the next queue."""
    seen, new, queue = searches.seen, searches.new, searches.queue
    for position in range(begin, end):
        vertex = np.int64(item(queue, position))
        ahead = np.int64(item(queue, min(position + AHEAD, end - 1)))
        final = len(rows.neighbours) - 1
        prefetch(new, np.int64(item(rows.neighbours, min(item(rows.offsets, ahead), final))) * WORDS)
        bits = read(seen, vertex * WORDS)
        for entry in range(item(rows.offsets, vertex), item(rows.offsets, vertex + 1)):
            other = item(rows.neighbours, entry)
            at = np.int64(other) * WORDS
            before = read(new, at)
            write(new, at, union(before, bits))
            queue[np.uint64(last)] = other
            last += 0 if any_bit(before) else 1
    return last


@device
def pull(rows, searches, last):
    """Let every vertex collect what its neighbours have seen until it lacks nothing; return the end."""
    seen, new, queue, masks = searches.seen, searches.new, searches.queue, searches.masks
    everything, final = read(masks, EVERYTHING), len(rows.neighbours) - 1
    for vertex in range(len(rows.offsets) - 1):
        before = read(seen, vertex * WORDS)
        lacking = without(everything, before)
        if not any_bit(lacking):
            continue
        rest = lacking
        for entry in range(rows.offsets[vertex], rows.offsets[vertex + 1]):
            prefetch(seen, np.int64(item(rows.neighbours, min(entry + AHEAD, final))) * WORDS)
            rest = without(rest, read(seen, np.int64(item(rows.neighbours, entry)) * WORDS))
            if not any_bit(rest):
                break
        bits = without(lacking, rest)
        if any_bit(bits):
            write(new, vertex * WORDS, bits)
            queue[last] = vertex
            last += 1
    return last


class Open(NamedTuple):
    """Vertices that gather: the first ``size`` of the queue.

    ``n_entries``: of their rows; ``n_found``: of those that found a bit in the last level; ``n_reached``:
    vertices reached so far, the first ``expanded`` of which have opened their neighbours.
    """

    size: Any
    n_entries: Any
    n_found: Any
    n_reached: Any
    expanded: Any


@device
def expand(batches, searches, front, batch):
    """Open the neighbours of the vertices that are newly reached, or some, if that are too many to gather."""
    queue, opened, reached, outgoing = searches.queue, searches.opened, searches.reached, batches.outgoing
    size, n_entries, offsets, position = front.size, front.n_entries, batches.incoming.offsets, front.expanded
    while position < front.n_reached and is_worth(front, n_entries):
        vertex = np.int64(item(reached, position))
        for entry in range(item(outgoing.offsets, vertex), item(outgoing.offsets, vertex + 1)):
            other = np.int64(item(outgoing.neighbours, entry))
            if np.int64(item(opened, other)) != batch:
                opened[np.uint64(other)] = batch
                queue[np.uint64(size)] = other
                size += 1
                n_entries += item(offsets, other + 1) - item(offsets, other)
        position += 1
    return Open(size, n_entries, front.n_found, front.n_reached, position)


@device
def is_worth(front, n_entries):
    """Whether enough of so many entries are those of vertices that found a bit."""
    return front.n_found * GATHERED_PART >= n_entries


@device
def gather(batches, searches, of_vertices, here, there, front, level):
    """Let all open vertices gather what their neighbours have seen ``here``, and write ``there``."""
    queue, reached, masks, rows = searches.queue, searches.reached, searches.masks, batches.incoming
    (high, low), final = halves_of_inverse(level), len(rows.neighbours) - 1
    alive, found, unused = read(masks, FOUND), read(masks, NOTHING), read(masks, UNUSED)
    size, n_entries, n_found, n_pairs = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    n_reached = front.n_reached
    for position in range(front.size):
        vertex = np.int64(item(queue, position))
        ahead = np.int64(item(queue, min(position + AHEAD, front.size - 1)))
        prefetch(here, np.int64(item(rows.neighbours, min(item(rows.offsets, ahead), final))) * WORDS)
        before = read(here, vertex * WORDS)
        lacking = without(alive, before)
        if not any_bit(lacking):
            write(there, vertex * WORDS, before)
            continue
        queue[np.uint64(size)] = vertex
        rest, entry, last = lacking, item(rows.offsets, vertex), item(rows.offsets, vertex + 1) - 1
        degree = last + 1 - entry
        size, n_entries = size + 1, n_entries + degree
        while entry <= last and any_bit(rest):
            one = read(here, np.int64(item(rows.neighbours, entry)) * WORDS)
            two = read(here, np.int64(item(rows.neighbours, min(entry + 1, last))) * WORDS)
            three = read(here, np.int64(item(rows.neighbours, min(entry + 2, last))) * WORDS)
            four = read(here, np.int64(item(rows.neighbours, min(entry + 3, last))) * WORDS)
            rest = without(rest, union(union(one, two), union(three, four)))
            entry += 4
        bits = without(lacking, rest)
        write(there, vertex * WORDS, union(before, bits))
        if any_bit(bits):
            found, count = union(found, bits), count_bits(bits)
            add_to_vertex(of_vertices, vertex * PARTS, count, level, high, low)
            n_pairs, n_found = n_pairs + count, n_found + degree
            if not any_bit(without(before, unused)):
                reached[np.uint64(n_reached)] = vertex
                n_reached += 1
    write(masks, FOUND, found)
    return Open(size, n_entries, n_found, n_reached, front.n_reached), n_pairs


@device
def close(offsets, searches, size):
    """Leave those of the queued vertices in the queue to which something is new; return them and entries."""
    seen, new, queue, masks = searches.seen, searches.new, searches.queue, searches.masks
    kept, n_entries = np.int64(0), np.int64(0)
    for position in range(size):
        vertex = np.int64(item(queue, position))
        one, other = read(seen, vertex * WORDS), read(new, vertex * WORDS)
        if any_bit(union(without(one, other), without(other, one))):
            write(seen, vertex * WORDS, union(one, other))
            queue[np.uint64(kept)] = vertex
            kept, n_entries = kept + 1, n_entries + item(offsets, vertex + 1) - item(offsets, vertex)
    fill(new, read(masks, NOTHING))
    return kept, n_entries


@device
def fill(words, bits):
    """Write the same bits for every vertex."""
    for at in range(0, len(words), WORDS):
        write(words, at, bits)


@device
def gather_levels(batches, searches, sums, size, n_front, first):
    """Gather, level by level, from sources that are settled, while that is worth it.

    Returns the level, the queued vertices, which are settled, their entries, and the vertices reached.
    """
    seen, new, reached, level = searches.seen, searches.new, searches.reached, np.int64(0)
    for position in range(size):
        searches.opened[np.int64(reached[position])] = first + 1
    front = Open(size, n_front, n_front, size, np.int64(0))
    front = expand(batches, searches, front, first + 1)
    if not is_worth(front, front.n_entries):
        return level, size, n_front, size
    if any_bit(read(searches.masks, UNUSED)):
        fill(new, read(searches.masks, UNUSED))
    while front.n_found > 0 and is_worth(front, front.n_entries):
        level += 1
        here, there = (seen, new) if level % 2 == 1 else (new, seen)
        front, n_pairs = gather(batches, searches, sums.of_vertices, here, there, front, level)
        sums.hops[level] += n_pairs
        note_farthest(batches, searches.masks, first, level)
        front = expand(batches, searches, front, first + 1)
    size, n_front = close(batches.outgoing.offsets, searches, front.size)
    return level, size, n_front, front.n_reached


@device
def note_farthest(batches, masks, first, level):
    """Note a level for the sources of the batch whose bits are found."""
    for word in range(WORDS):
        bits = masks[FOUND + word]
        while bits != 0:
            batches.farthest[batches.sources[first + 64 * word + lowest_bit(bits)]] = level
            bits &= bits - np.uint64(1)


@device
def begin_batch(batches, searches, first, n_sources, n_reached):
    """Queue the sources of a batch; bits without a source count as seen everywhere.

    ``n_reached`` vertices have seen anything else, or all before the first batch.
    """
    seen, new, queue, reached, masks, _ = searches
    n, is_full = len(reached), n_sources == SOURCES
    for word in range(WORDS):
        used = min(max(n_sources - 64 * word, 0), 64)
        masks[UNUSED + word] = FULL << np.uint64(used) if used < 64 else np.uint64(0)
    unused = read(masks, UNUSED)
    if is_full and n_reached * CLEARED_PART < n:
        for position in range(n_reached):
            write(seen, np.int64(reached[position]) * WORDS, unused)
    else:
        for vertex in range(n):
            write(seen, vertex * WORDS, unused)
    for source in range(n_sources):
        vertex = batches.sources[first + source]
        queue[source] = vertex
        new[vertex * WORDS + source // 64] |= np.uint64(1) << np.uint64(source % 64)


@device
def finish_batch(batches, searches, first, n_reached):
    """Note the sources that do not reach all vertices: none does if a vertex is not reached at all."""
    masks, n = searches.masks, len(searches.reached)
    missing, everything = without(read(masks, EVERYTHING), read(masks, UNUSED)), read(masks, EVERYTHING)
    if n_reached == n:
        missing = read(masks, NOTHING)
        for vertex in range(n):
            missing = union(missing, without(everything, read(searches.seen, vertex * WORDS)))
    write(masks, FOUND, missing)
    note_farthest(batches, masks, first, -1)


@device
def search_from(batches, searches, sums, n_sources, first):
    """Search from a batch whose sources are queued, level by level; return the number of vertices reached."""
    offsets, n_entries = batches.outgoing.offsets, len(batches.outgoing.neighbours)
    begin, other, size, level = np.int64(0), np.int64(len(offsets)), np.int64(n_sources), np.int64(0)
    n_reached = np.int64(0)
    while size > 0:
        size, n_front, n_reached = settle(offsets, searches, sums, begin, begin + size, level, n_reached)
        note_farthest(batches, searches.masks, first, level)
        if level == 0 and n_entries <= THIN * (len(offsets) - 1):
            level, size, n_front, n_reached = gather_levels(batches, searches, sums, size, n_front, first)
        if n_front * PULLED_PART >= n_entries:
            last = pull(batches.incoming, searches, other)
        else:
            last = push(batches.outgoing, searches, begin, begin + size, other)
        begin, other, size, level = other, begin, last - other, level + 1
    return n_reached


@compiled
def search_batches(batches, stop, searches, sums):
    """Take batches of the sources before ``stop`` from the counter until none is left."""
    first, n_reached = np.int64(fetch_add(batches.next_source, 0, SOURCES)), np.int64(len(searches.reached))
    while first < stop:
        n_sources = min(np.int64(SOURCES), len(batches.sources) - first)
        begin_batch(batches, searches, first, n_sources, n_reached)
        n_reached = search_from(batches, searches, sums, n_sources, first)
        finish_batch(batches, searches, first, n_reached)
        first = np.int64(fetch_add(batches.next_source, 0, SOURCES))


def bit_parallel(adjacency, sources=None, progress=None) -> Added:
    """Add up the distances from some sources, or from all vertices, on the device of the rows.

    ``progress(done, of)`` is told how many sources are done.
    """
    if sources is None:
        graph = numbered(adjacency)
    else:
        graph = Numbering(None, adjacency.outgoing, adjacency.incoming, np.asarray(sources, np.int64))
    solve = on_cpu
    if arrays.device_of(adjacency.offsets) != "cpu":
        from edgewise.paths.measures import bit_parallel_gpu

        solve = bit_parallel_gpu.solve
    found = solve(graph, progress or report_nothing)
    return _with_isolated(graph, Added(*found), adjacency.n_vertices if sources is None else 0)


def on_cpu(graph, progress):
    """Sums, pairs by hops and eccentricities, by all cores."""
    n, kind, n_sources = graph.outgoing.n_vertices, graph.outgoing.neighbours.dtype, len(graph.sources)
    counters = np.zeros(1, np.int64), np.full(n, -1, np.int32)
    batches = Batches(graph.outgoing, graph.incoming, graph.sources, *counters)
    pool = ThreadPool(-(-n_sources // SOURCES), n * (16 * WORDS + 8 * PARTS + 4 * kind.itemsize + 8))
    own = []
    for _ in range(pool.n_workers):
        masks = np.zeros(MASKS, np.uint64)
        masks[EVERYTHING : EVERYTHING + WORDS] = FULL
        words = _in_lines(np.empty, n), _in_lines(np.zeros, n)
        sums = Sums(np.zeros(n * PARTS, np.int64), np.zeros(n + 1, np.int64))
        own.append(
            (Searches(*words, np.empty(2 * n + 2, kind), np.empty(n, kind), masks, np.zeros(n, kind)), sums)
        )
    step = SOURCES * REPORTED * pool.n_workers
    for first in range(0, n_sources, step):
        stop = min(first + step, n_sources)
        batches.next_source[0] = first
        cancel = partial(batches.next_source.fill, n_sources)
        pool.starmap(search_batches, [(batches, stop, *one) for one in own], cancel)
        progress(stop, n_sources)
    of_vertices = sum((sums.of_vertices for _, sums in own[1:]), own[0][1].of_vertices)
    hops = sum((sums.hops for _, sums in own[1:]), own[0][1].hops)
    return of_vertices.reshape(n, PARTS), hops, batches.farthest


def _in_lines(make, n_vertices):
    """Words of all vertices, each of which has a line of the cache for itself."""
    words = make((n_vertices + 1) * WORDS, np.uint64)
    first = -words.ctypes.data % (8 * WORDS) // 8
    return words[first : first + n_vertices * WORDS]


def _with_isolated(graph, added, n_vertices):
    """The sums by the numbers of the graph, with the sources that have no edge: those not searched from."""
    of_vertices, hops, farthest = added
    alone = n_vertices - len(graph.sources)
    if alone > 0:
        hops[0] += alone
        of_vertices[n_vertices - alone :, REACHED] += 1
        farthest[n_vertices - alone :] = 0 if n_vertices == 1 else -1
    if graph.order is not None:
        places = np.argsort(graph.order)
        of_vertices, farthest = of_vertices[places], farthest[places]
    return Added(of_vertices, until_last(hops), farthest)
