"""Pull: unvisited vertices search for a neighbour in the frontier (Beamer, Asanovic & Patterson 2012).

Where the frontier is a large part of the graph, most entries of its rows lead back to visited vertices, while
an unvisited vertex finds a neighbour in the frontier after a few entries, and stops.  The frontier is a
bitmap here.

The first step surveys all distances: it sets the bits of the frontier and lists the unvisited vertices, by
blocks of vertices.  Later steps read only these lists, which shrink; a vertex without a row leaves them at
once.  A block is a multiple of 64 vertices and belongs to one worker at a time, so words of bitmaps need no
atomics.

As in :mod:`~edgewise.paths.bfs.push` a step consists of short loops over a batch: read the bounds of the
rows, read the first neighbour of each, look up its bit.  Vertices without luck read on, four entries at a
time.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import device
from edgewise.paths.bfs.push import BATCH, CHUNK, Progress, read_spans, unsigned, with_room

#: Vertices of a block.
BLOCK = 1 << 13


class Bitmaps(NamedTuple):
    """A bit for each vertex, in words of 64 bits: ``vertex & 63`` of word ``vertex >> 6``.

    Attributes
    ----------
    frontier, following : (words,) uint64 array
        The vertices of this level, and of the next one; exchanged after a pull step.
    of_workers : (n_workers * words,) uint64 array
        A bitmap of each worker; clear between steps.
    """

    frontier: Any
    following: Any
    of_workers: Any


class Unvisited(NamedTuple):
    """Unvisited vertices in blocks; filled by a survey.

    Attributes
    ----------
    vertices : (n,) index array
        Block ``b`` begins at ``b * BLOCK``.
    counts : (blocks,) int64 array
        Vertices of each block.
    """

    vertices: Any
    counts: Any


@device
def survey(block, level, visited, frontier, unvisited):
    """Set the bits of the vertices of a block that are at ``level``, and list those that are not visited."""
    distances, none = visited.distances, visited.none
    first, end = block * BLOCK, min(len(distances), (block + 1) * BLOCK)
    tail, start = unsigned(first), unsigned(first)
    while start < unsigned(end):
        bits = unsigned(0)
        for position in range(min(unsigned(64), unsigned(end) - start)):
            distance = distances[start + position]
            bits |= unsigned(distance == level) << unsigned(position)
            unvisited.vertices[tail] = start + position
            tail += unsigned(distance == none)
        frontier[start >> unsigned(6)] = bits
        start += unsigned(64)
    unvisited.counts[block] = np.int64(tail) - first


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
def pull(block, search, bitmaps, output, progress):
    """Let the unvisited vertices of a block search for a neighbour in the frontier."""
    seen, distances, _ = search.visited
    offsets, neighbours = search.rows.offsets, search.incoming.neighbours
    vertices, buffer, numbers = search.unvisited.vertices, output.buffer, output.numbers
    frontier, following, queue = bitmaps.frontier, bitmaps.following, output.queue
    for word in range(block * (BLOCK // 64), min(len(following), (block + 1) * (BLOCK // 64))):
        following[word] = unsigned(0)
    first = kept = unsigned(block * BLOCK)
    end = first + unsigned(search.unvisited.counts[block])
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
        tail, lost, entries = with_room(progress, len(queue), BATCH)
        for item in range(unsigned(CHUNK), hits):
            vertex = buffer[item]
            distances[vertex] = output.distance
            seen[vertex >> 3] |= np.uint8(1 << (vertex & 7))
            following[vertex >> 6] |= unsigned(1) << unsigned(vertex & 63)
            queue[tail] = vertex
            tail += unsigned(1)
            entries += unsigned(offsets[vertex + 1]) - unsigned(offsets[vertex])
        progress = Progress(tail, lost, entries)
        first += count
    search.unvisited.counts[block] = np.int64(kept) - block * BLOCK
    return progress
