"""What a stretch of the frontier leads to: the inner loops of a top-down step on the CPU.

A search waits for memory: for the ends of a row, for the row, for the marks of its neighbours.  Written as
one loop over vertices and a loop over each row, a core waits for these one after the other, and guesses
wrongly at every second neighbour whether it is new.  Here each of the three is a loop of its own over a
batch, short and without branches, so that a core has a dozen reads under way:

1. :func:`spans` reads where the rows begin and how long they are,
2. :func:`gather` copies the rows one behind the other, eight entries at a time,
3. :func:`sift` keeps the entries whose bit in ``seen`` is clear, and :func:`settle` gives those that are new
   their distance.

Where the next item goes in a list depends on what was read, and stores to such devices hold up the loads
behind them.  So no loop both reads from far away and lists what it finds: on a road network that alone made
gathering three times as fast.

``seen`` has a bit for each vertex, 1/32 of the distances' memory, so it mostly stays in a core's own cache.
Bits are set without atomics: a bit may get lost when two workers write to one byte, never set too early.  So
a set bit says that the vertex is reached, and a clear bit asks the distances.  Two workers may both find a
vertex in the same step: it then has the same distance from both, and stands in both their lists.
"""

import numpy as np

from edgewise.device import device

#: Vertices whose rows are gathered at once, and entries that are sifted at once.
CHUNK, BATCH = 64, 512
#: Rows longer than this are sifted where they lie; entries copied at a time.
LONG, WIDTH = 40, 8
#: Entries a worker's buffer holds, gathered ones and then a batch of vertices; its numbers, for spans and
#: for what is settled two lists each.
BUFFER, NUMBERS = CHUNK * LONG + WIDTH + BATCH, 2 * CHUNK + 2 * BATCH
#: Places in the own list a step writes to before it looks whether there is room.
MARGIN = BATCH

unsigned = np.uint64  # an index that needs no look whether it is negative


@device
def spans(vertices, first, count, offsets, numbers, own):
    """Note where the rows of ``count`` vertices begin, and behind those how long they are; the longest."""
    longest = unsigned(0)
    for item in range(count):
        vertex = vertices[first + item]
        start = unsigned(offsets[vertex])
        length = unsigned(offsets[vertex + 1]) - start
        numbers[own + item] = start
        numbers[own + unsigned(CHUNK) + item] = length
        longest = max(longest, length)
    return longest


@device
def gather(numbers, own, count, neighbours, buffer, base):
    """Copy the noted rows to ``buffer`` from ``base`` on, but for long ones; where they end there."""
    fill, most = base, unsigned(len(neighbours))
    for item in range(count):
        start, length = numbers[own + item], numbers[own + unsigned(CHUNK) + item]
        end = start + length
        if length > unsigned(LONG):
            continue
        if end + unsigned(WIDTH) <= most:
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
def sift(entries, first, end, seen, found, tail):
    """List the entries from ``first`` to ``end`` whose bit in ``seen`` is clear; the new end of the list."""
    for entry in range(first, end):
        vertex = entries[entry]
        found[tail] = vertex
        tail += unsigned(~(seen[vertex >> 3] >> (vertex & 7)) & 1)
    return tail


@device
def settle(found, first, end, seen, distances, none, distance, offsets, numbers, own):
    """Give those listed from ``first`` to ``end`` that are new their distance; only they stay in the list.

    Returns the new end of the list, and the entries in the rows of those that stay.
    """
    own += unsigned(2 * CHUNK)
    degrees = own + unsigned(BATCH)
    for item in range(end - first):
        vertex = found[first + item]
        numbers[own + item] = unsigned(distances[vertex])
        numbers[degrees + item] = unsigned(offsets[vertex + 1]) - unsigned(offsets[vertex])
    tail, entries = first, unsigned(0)
    for item in range(end - first):
        vertex, held = found[first + item], np.int32(numbers[own + item])
        byte, bit = seen[vertex >> 3], np.uint8(1 << (vertex & 7))
        new = (held == none) & (byte & bit == 0)  # an entry may stand in the batch twice
        seen[vertex >> 3] = byte | bit
        distances[vertex] = min(held, distance)
        found[tail] = vertex
        tail += unsigned(new)
        entries += numbers[degrees + item] * unsigned(new)
    return tail, entries


@device
def reach(entries, first, end, marks, distance, offsets, numbers, own, found, room, tail, lost, work):
    """Sift and settle any number of entries, a batch at a time.

    A list that is full begins anew, and ``lost`` says how many vertices it has held before; they have their
    distance.  Returns the end of the list, ``lost``, and the entries in the rows of all that were new.
    """
    seen, distances, none = marks
    while first < end:
        stop = min(first + unsigned(BATCH), end)
        if tail + unsigned(MARGIN) > room[1]:
            lost += tail - room[0]
            tail = room[0]
        last = sift(entries, first, stop, seen, found, tail)
        tail, more = settle(found, tail, last, seen, distances, none, distance, offsets, numbers, own)
        work, first = work + more, stop
    return tail, lost, work


@device
def expand(vertices, first, end, rows, marks, distance, scratch, found, room, tail, lost, work):
    """Reach what the vertices in ``vertices[first:end]`` lead to; returns what :func:`reach` does."""
    offsets, neighbours = rows
    buffer, base, numbers, own = scratch
    while first < end:
        count = min(unsigned(CHUNK), end - first)
        longest = spans(vertices, first, count, offsets, numbers, own)
        fill = gather(numbers, own, count, neighbours, buffer, base)
        tail, lost, work = reach(
            buffer, base, fill, marks, distance, offsets, numbers, own, found, room, tail, lost, work
        )
        if longest > unsigned(LONG):
            for item in range(count):
                start, length = numbers[own + item], numbers[own + unsigned(CHUNK) + item]
                if length > unsigned(LONG):
                    tail, lost, work = reach(
                        neighbours, start, start + length, marks, distance,
                        offsets, numbers, own, found, room, tail, lost, work,
                    )  # fmt: skip
        first += count
    return tail, lost, work
