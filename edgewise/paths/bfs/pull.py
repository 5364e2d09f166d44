"""Steps by blocks of vertices: survey, pull, and merging the bitmaps of a push.

Where the frontier is a large part of the graph, most entries of its rows lead back to visited vertices, while
an unvisited vertex finds a neighbour in the frontier after a few entries, and stops (Beamer, Asanovic &
Patterson 2012).  The frontier is a bitmap here.  The first such step surveys all distances: it sets the bits
of the frontier and lists the unvisited vertices.  Later steps read only these lists, which shrink.

A block is a multiple of 64 vertices and belongs to one worker at a time, so words of bitmaps need no atomics.
"""

import numpy as np

from edgewise.device import device
from edgewise.paths.bfs.push import CHUNK, ENTRIES, NONE, TAIL, read_spans, tail_of, unsigned

#: Vertices of a block.
BLOCK = 1 << 13


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
        output.counts[TAIL] = np.int64(tail)
        output.counts[ENTRIES] += np.int64(entries)
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
        output.counts[TAIL] = np.int64(tail)
        output.counts[ENTRIES] += np.int64(entries)
        following[word] = fresh
        for byte in range(unsigned(8)):
            seen[unsigned(8) * word + byte] |= np.uint8((fresh >> unsigned(8 * byte)) & unsigned(255))
        first += unsigned(64)
    unvisited[0] = rest - unsigned(1)
