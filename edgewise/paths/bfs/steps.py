"""Steps of a breadth-first search on the CPU: push, pull, and merging the bitmaps of a push.

*Push* (top-down): the vertices of the frontier reach their neighbours.  A search waits for memory: for the
bounds of a row, for the row, for the marks of its neighbours.  Therefore each of the three is a short loop
without branches over a batch, so that a core has a dozen reads under way.  No loop both reads from distant
memory and appends to a list, since a store to a position that depends on what was read holds up the loads
behind it: on a road network this alone makes gathering three times as fast.

*Push to bitmaps*: a large frontier in a graph without locality.  Bitmaps take 1/32 of the memory of distances
and stay in a core's own cache: each worker sets the bits of all neighbours in a bitmap of its own, without
atomics and without a test, and :func:`write_block` merges the bitmaps.  On a uniform graph of 2^20 vertices a
step of 1.5 M entries that reaches two thirds of them takes a third of the time of a push step that settles
every vertex by itself, or of a pull step.

*Pull* (bottom-up): where the frontier is a large part of the graph, most entries of its rows lead back to
visited vertices, while an unvisited vertex finds a neighbour in the frontier after a few entries, and stops
(Beamer, Asanovic & Patterson 2012).  The frontier is a bitmap here.  The first such step surveys all
distances: it sets the bits of the frontier and lists the unvisited vertices.  Later steps read only these
lists, which shrink.  A block is a multiple of 64 vertices and belongs to one worker at a time, so words of
bitmaps need no atomics.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import device
from edgewise.paths.csr import unreached

#: Ways to take a step.
PUSH, BITMAP_PUSH, PULL = 0, 1, 2
#: Vertices whose rows are gathered at once.
CHUNK = 64
#: Entries that are sifted at once.
BATCH = 512
#: Entries of the longest row that is gathered; longer ones are sifted in place.
GATHERED = 40
#: Entries that are copied at a time.
WIDTH = 8
#: Entries of a worker's buffer.
BUFFER = CHUNK * GATHERED + WIDTH
#: Entries of a worker's numbers: two lists for spans and two for what is settled.
NUMBERS = 2 * CHUNK + 2 * BATCH
#: Vertices of a block that one worker surveys, pulls or merges.
BLOCK = 1 << 13
#: The distance of vertices that are not reached.
NONE = np.int32(unreached(np.int32))

unsigned = np.uint64  # an index of this type is not tested for being negative


class Counts(NamedTuple):
    """Counts of a worker."""

    tail: int  # vertices in its queue
    lost: int  # vertices that were in it before it began anew
    entries: int  # entries in the rows of all these
    level: int  # their level


COUNT = Counts(0, 1, 2, 3)


class Output(NamedTuple):
    """What one worker writes in one step; all workers share ``seen`` and ``distances``.

    A set bit of ``seen`` says that the vertex is reached; for a clear bit the distance decides.  The bits are
    set without atomics: when two workers write to one byte a bit may get lost, but none is ever set too
    early.  When two workers reach a vertex in one step, they write the same distance, and both queue it.  A
    queue that is full begins anew: its vertices have their distances, so the next step can find them there.
    """

    way: int  # PUSH, BITMAP_PUSH or PULL
    distance: Any  # int32, of the vertices that the step reaches
    seen: Any  # (8 * words,) uint8 array, a bit for each vertex
    distances: Any  # (n,) int32 array
    queue: Any  # (capacity,) index array of the vertices that are reached
    counts: Any  # (LINE,) int64 array: see Counts
    buffer: Any  # (BUFFER,) index array
    numbers: Any  # (NUMBERS,) uint64 array
    bitmap: Any  # (words,) uint64 array, a bit for each vertex; clear between steps


@device
def tail_of(output, margin):
    """Return the length of the queue, which has room for ``margin`` more vertices."""
    counts = output.counts
    if counts[COUNT.tail] + margin > len(output.queue):
        counts[COUNT.lost], counts[COUNT.tail] = counts[COUNT.lost] + counts[COUNT.tail], 0
    return unsigned(counts[COUNT.tail])


@device
def read_spans(vertices, first, count, offsets, numbers):
    """List where the rows of ``count`` vertices begin, then how long they are; return the largest length."""
    longest = unsigned(0)
    for item in range(count):
        vertex = vertices[first + item]
        start = unsigned(offsets[vertex])
        length = unsigned(offsets[vertex + 1]) - start
        numbers[item] = start
        numbers[unsigned(CHUNK) + item] = length
        longest = max(longest, length)
    return longest


@device
def gather(count, neighbours, output):
    """Copy the listed rows to the buffer, except for long ones; return how many entries these are."""
    buffer, numbers = output.buffer, output.numbers
    fill, n_entries = unsigned(0), unsigned(len(neighbours))
    for item in range(count):
        start, length = numbers[item], numbers[unsigned(CHUNK) + item]
        end = start + length
        if length > unsigned(GATHERED):
            continue
        if end + unsigned(WIDTH) <= n_entries:
            at = fill
            while True:
                one, two = neighbours[start], neighbours[start + unsigned(1)]
                three, four = neighbours[start + unsigned(2)], neighbours[start + unsigned(3)]
                five, six = neighbours[start + unsigned(4)], neighbours[start + unsigned(5)]
                seven, eight = neighbours[start + unsigned(6)], neighbours[start + unsigned(7)]
                buffer[at], buffer[at + unsigned(1)] = one, two
                buffer[at + unsigned(2)], buffer[at + unsigned(3)] = three, four
                buffer[at + unsigned(4)], buffer[at + unsigned(5)] = five, six
                buffer[at + unsigned(6)], buffer[at + unsigned(7)] = seven, eight
                start, at = start + unsigned(WIDTH), at + unsigned(WIDTH)
                if start >= end:
                    break
        else:
            for entry in range(length):
                buffer[fill + entry] = neighbours[start + entry]
        fill += length
    return fill


@device
def sift(entries, first, end, seen, queue, tail):
    """Append the entries ``first`` to ``end`` whose bit in ``seen`` is clear; return the new length."""
    for entry in range(first, end):
        vertex = entries[entry]
        queue[tail] = vertex
        tail += unsigned(~(seen[vertex >> 3] >> (vertex & 7)) & 1)
    return tail


@device
def settle(first, end, offsets, output):
    """Give those queued from ``first`` to ``end`` that are new their distance; the others leave the queue."""
    seen, distances, queue, numbers = output.seen, output.distances, output.queue, output.numbers
    held_distances, degrees = unsigned(2 * CHUNK), unsigned(2 * CHUNK + BATCH)
    for item in range(end - first):
        vertex = queue[first + item]
        numbers[held_distances + item] = unsigned(distances[vertex])
        numbers[degrees + item] = unsigned(offsets[vertex + 1]) - unsigned(offsets[vertex])
    tail, entries = first, unsigned(0)
    for item in range(end - first):
        vertex, held = queue[first + item], np.int32(numbers[held_distances + item])
        byte, bit = seen[vertex >> 3], np.uint8(1 << (vertex & 7))
        new = (held == NONE) & (byte & bit == 0)  # a vertex may occur twice in the batch
        seen[vertex >> 3] = byte | bit  # race: a bit lost to another write lets its vertex be looked at again
        distances[vertex] = min(held, output.distance)  # race: all that reach it in a round write the same
        queue[tail] = vertex
        tail += unsigned(new)
        entries += numbers[degrees + item] * unsigned(new)
    output.counts[COUNT.tail] = np.int64(tail)
    output.counts[COUNT.entries] += np.int64(entries)


@device
def reach(entries, first, end, offsets, output):
    """Sift and settle ``entries[first:end]``, a batch at a time, or set their bits in the bitmap."""
    if output.way == BITMAP_PUSH:
        bitmap = output.bitmap
        for entry in range(first, end):
            vertex = entries[entry]
            bitmap[vertex >> 6] |= unsigned(1) << unsigned(vertex & 63)
        return
    while first < end:
        stop = min(first + unsigned(BATCH), end)
        tail = tail_of(output, BATCH)
        settle(tail, sift(entries, first, stop, output.seen, output.queue, tail), offsets, output)
        first = stop


@device
def push(vertices, first, end, rows, output):
    """Reach the neighbours of ``vertices[first:end]``."""
    numbers, neighbours = output.numbers, rows.neighbours
    while first < end:
        count = min(unsigned(CHUNK), end - first)
        longest = read_spans(vertices, first, count, rows.offsets, numbers)
        fill = gather(count, neighbours, output)
        reach(output.buffer, unsigned(0), fill, rows.offsets, output)
        if longest > unsigned(GATHERED):
            for item in range(count):
                start, length = numbers[item], numbers[unsigned(CHUNK) + item]
                if length > unsigned(GATHERED):
                    reach(neighbours, start, start + length, rows.offsets, output)
        first += count


@device
def survey(block, level, listed, search):
    """Set the bits of a block's vertices at ``level``, and list those at the distance ``listed``."""
    distances, vertices, frontier = search.distances, search.lists[block], search.bitmaps[level & 1]
    start, tail = unsigned(block * BLOCK), unsigned(1)
    end = min(unsigned(len(distances)), start + unsigned(BLOCK))
    while start < end:
        bits = unsigned(0)
        for position in range(min(unsigned(64), end - start)):
            distance = distances[start + position]
            bits |= unsigned(distance == level) << unsigned(position)
            vertices[tail] = start + position
            tail += unsigned(distance == listed)
        frontier[start >> unsigned(6)] = bits
        start += unsigned(64)
    vertices[0] = tail - unsigned(1)


@device
def is_set(bitmap, vertex):
    """Whether the bit of a vertex is set, as a number."""
    return (bitmap[vertex >> 6] >> unsigned(vertex & 63)) & unsigned(1)


@device
def test_first(vertices, first, count, neighbours, frontier, output):
    """Look up the first neighbour of each vertex: return the ends of the lists of hits and of misses.

    The buffer holds first neighbours, hits and misses, ``CHUNK`` entries each.  Vertices without a row are
    dropped.  The rows of the misses are listed anew, without their first entry.
    """
    buffer, numbers, last = output.buffer, output.numbers, unsigned(len(neighbours) - 1)
    lengths = unsigned(CHUNK)
    for item in range(count):
        buffer[item] = neighbours[min(numbers[item], last)]
    hits, misses = unsigned(CHUNK), unsigned(2 * CHUNK)
    for item in range(count):
        start, length = numbers[item], numbers[lengths + item]
        hit, has_row = is_set(frontier, buffer[item]), unsigned(length > unsigned(0))
        vertex = vertices[first + item]
        buffer[hits] = buffer[misses] = vertex
        miss = misses - unsigned(2 * CHUNK)
        numbers[miss] = start + unsigned(1)
        numbers[lengths + miss] = length - has_row
        hits += hit & has_row
        misses += (hit ^ unsigned(1)) & has_row
    return hits, misses


@device
def test_rest(start, end, neighbours, frontier):
    """Whether an entry from ``start`` to ``end`` is in the frontier, as a number."""
    while start + unsigned(4) <= end:
        one, two = neighbours[start], neighbours[start + unsigned(1)]
        three, four = neighbours[start + unsigned(2)], neighbours[start + unsigned(3)]
        if is_set(frontier, one) | is_set(frontier, two) | is_set(frontier, three) | is_set(frontier, four):
            return unsigned(1)
        start += unsigned(4)
    while start < end:
        if is_set(frontier, neighbours[start]):
            return unsigned(1)
        start += unsigned(1)
    return unsigned(0)


@device
def pull(block, search, output):
    """Let the unvisited vertices of a block search for a neighbour in the frontier."""
    seen, distances = search.seen, search.distances
    offsets, neighbours, vertices = search.rows.offsets, search.incoming.neighbours, search.lists[block]
    buffer, numbers, queue = output.buffer, output.numbers, output.queue
    following, frontier = search.bitmaps[output.distance & 1], search.bitmaps[(output.distance + 1) & 1]
    for word in range(block * (BLOCK // 64), min(len(following), (block + 1) * (BLOCK // 64))):
        following[word] = unsigned(0)
    first = kept = unsigned(1)
    end = first + unsigned(vertices[0])
    while first < end:
        count = min(unsigned(CHUNK), end - first)
        read_spans(vertices, first, count, search.incoming.offsets, numbers)
        hits, misses = test_first(vertices, first, count, neighbours, frontier, output)
        for item in range(misses - unsigned(2 * CHUNK)):
            start, vertex = numbers[item], buffer[unsigned(2 * CHUNK) + item]
            hit = test_rest(start, start + numbers[unsigned(CHUNK) + item], neighbours, frontier)
            buffer[hits] = vertices[kept] = vertex
            hits += hit
            kept += hit ^ unsigned(1)
        tail, entries = tail_of(output, CHUNK), unsigned(0)
        for item in range(unsigned(CHUNK), hits):
            vertex = buffer[item]
            distances[vertex] = output.distance
            seen[vertex >> 3] |= np.uint8(1 << (vertex & 7))
            following[vertex >> 6] |= unsigned(1) << unsigned(vertex & 63)
            queue[tail] = vertex
            tail += unsigned(1)
            entries += unsigned(offsets[vertex + 1]) - unsigned(offsets[vertex])
        output.counts[COUNT.tail] = np.int64(tail)
        output.counts[COUNT.entries] += np.int64(entries)
        first += count
    vertices[0] = kept - unsigned(1)


@device
def write_block(block, n_workers, search, output):
    """Merge the workers' bitmaps: set bits of a block reach new vertices; surveys it for the next step."""
    seen, distances = search.seen, search.distances
    offsets, unvisited, queue = search.rows.offsets, search.lists[block], output.queue
    following = search.bitmaps[output.distance & 1]
    first, rest = unsigned(block * BLOCK), unsigned(1)
    end = min(unsigned(len(distances)), first + unsigned(BLOCK))
    while first < end:
        word, bits, fresh = first >> unsigned(6), unsigned(0), unsigned(0)
        for worker_id in range(n_workers):
            bits |= search.bitmaps[2 + worker_id, word]
            search.bitmaps[2 + worker_id, word] = unsigned(0)
        tail, entries = tail_of(output, 64), unsigned(0)
        for position in range(min(unsigned(64), end - first)):
            vertex, held = first + position, distances[first + position]
            is_open = unsigned(held == NONE)
            new = (bits >> unsigned(position)) & is_open
            distances[vertex] = output.distance if new else held
            fresh |= new << unsigned(position)
            queue[tail] = vertex
            tail += new
            unvisited[rest] = vertex
            rest += is_open ^ new
            entries += (unsigned(offsets[vertex + unsigned(1)]) - unsigned(offsets[vertex])) * new
        output.counts[COUNT.tail] = np.int64(tail)
        output.counts[COUNT.entries] += np.int64(entries)
        following[word] = fresh
        for byte in range(unsigned(8)):
            seen[unsigned(8) * word + byte] |= np.uint8((fresh >> unsigned(8 * byte)) & unsigned(255))
        first += unsigned(64)
    unvisited[0] = rest - unsigned(1)
