"""Bottom-up: who is not reached looks for a neighbour in the frontier (Beamer, Asanovic & Patterson 2012).

Where the frontier is a large part of the graph, most entries of its rows lead back to what is reached, while
a vertex outside finds a neighbour in it after a few looks, and stops.  The frontier is a bitmap here.

The first step surveys all distances: it draws the bitmap and lists who is not reached, by blocks of
vertices.  Later steps read only these lists, which shrink.  A vertex without a row leaves them at once.  A
block is a multiple of 64 vertices, and one worker's at a time, so words of bitmaps need no atomics.

Like a top-down step (see :mod:`~edgewise.paths.bfs.expand`), a step is made of short loops over a batch: read
the ends of the rows, read the first neighbour of each, look it up.  Who was not lucky reads on, four entries
at a time.
"""

import numpy as np

from edgewise.device import device
from edgewise.paths.bfs.expand import CHUNK, MARGIN, spans, unsigned

#: Vertices of a block.
BLOCK = 1 << 13


@device
def survey(block, distances, level, none, front, waiting, counts):
    """Draw a block of the bitmap of those at ``level``, and list those not reached; how many these are."""
    first, end = block * BLOCK, min(len(distances), (block + 1) * BLOCK)
    tail, start = unsigned(first), unsigned(first)
    while start < unsigned(end):
        bits = unsigned(0)
        for position in range(min(unsigned(64), unsigned(end) - start)):
            distance = distances[start + position]
            bits |= unsigned(distance == level) << unsigned(position)
            waiting[tail] = start + position
            tail += unsigned(distance == none)
        front[start >> unsigned(6)] = bits
        start += unsigned(64)
    counts[block] = np.int64(tail) - first
    return counts[block]


@device
def is_set(front, vertex):
    """Whether the bit of a vertex is set, as a number."""
    return (front[vertex >> 6] >> unsigned(vertex & 63)) & unsigned(1)


@device
def look_first(waiting, first, count, neighbours, front, scratch, last):
    """Look up the first neighbour of each: where the list of the lucky ends, and that of the others.

    The buffer holds first neighbours, the lucky and the others, ``CHUNK`` devices each.  Those without a row
    are dropped.  The others' rows are noted anew, less the first entry.
    """
    buffer, base, numbers, own = scratch
    lengths = own + unsigned(CHUNK)
    for item in range(count):
        buffer[base + item] = neighbours[min(numbers[own + item], last)]
    found, others = base + unsigned(CHUNK), base + unsigned(2 * CHUNK)
    for item in range(count):
        start, length = numbers[own + item], numbers[lengths + item]
        hit, rowed = is_set(front, buffer[base + item]), unsigned(length > unsigned(0))
        vertex = waiting[first + item]
        buffer[found] = buffer[others] = vertex
        kept = others - base - unsigned(2 * CHUNK)
        numbers[own + kept] = start + unsigned(1)
        numbers[lengths + kept] = length - rowed
        found += hit & rowed
        others += (hit ^ unsigned(1)) & rowed
    return found, others


@device
def look_on(start, end, neighbours, front):
    """Whether an entry from ``start`` to ``end`` is in the frontier, as a number."""
    while start + unsigned(4) <= end:
        one, two = neighbours[start], neighbours[start + unsigned(1)]
        three, four = neighbours[start + unsigned(2)], neighbours[start + unsigned(3)]
        if is_set(front, one) | is_set(front, two) | is_set(front, three) | is_set(front, four):
            return unsigned(1)
        start += unsigned(4)
    while start < end:
        if is_set(front, neighbours[start]):
            return unsigned(1)
        start += unsigned(1)
    return unsigned(0)


@device
def step_up(
    block, incoming, front, after, waiting, counts, marks, distance, offsets, scratch, found, room, tail,
    lost, work,
):  # fmt: skip
    """Let the waiting vertices of a block look for the frontier.

    Returns what :func:`~edgewise.paths.bfs.expand.reach` does.
    """
    seen, distances, _ = marks
    buffer, base, numbers, own = scratch
    into, neighbours = incoming
    first, last = unsigned(block * BLOCK), unsigned(len(neighbours) - 1)
    for word in range(block * (BLOCK // 64), min(len(after), (block + 1) * (BLOCK // 64))):
        after[word] = unsigned(0)
    kept, end = first, first + unsigned(counts[block])
    while first < end:
        count = min(unsigned(CHUNK), end - first)
        spans(waiting, first, count, into, numbers, own)
        hits, others = look_first(waiting, first, count, neighbours, front, scratch, last)
        for item in range(others - base - unsigned(2 * CHUNK)):
            start, vertex = numbers[own + item], buffer[base + unsigned(2 * CHUNK) + item]
            hit = look_on(start, start + numbers[own + unsigned(CHUNK) + item], neighbours, front)
            buffer[hits] = waiting[kept] = vertex
            hits += hit
            kept += hit ^ unsigned(1)
        if tail + unsigned(MARGIN) > room[1]:
            lost += tail - room[0]
            tail = room[0]
        for item in range(base + unsigned(CHUNK), hits):
            vertex = buffer[item]
            distances[vertex] = distance
            seen[vertex >> 3] |= np.uint8(1 << (vertex & 7))
            after[vertex >> 6] |= unsigned(1) << unsigned(vertex & 63)
            found[tail] = vertex
            tail += unsigned(1)
            work += unsigned(offsets[vertex + 1]) - unsigned(offsets[vertex])
        first += count
    counts[block] = np.int64(kept) - block * BLOCK
    return tail, lost, work
