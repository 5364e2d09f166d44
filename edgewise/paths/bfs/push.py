"""Push: the vertices of the frontier reach their neighbours (a top-down step on the CPU).

A search waits for memory: for the bounds of a row, for the row, for the marks of its neighbours.  One loop
over vertices with a loop over each row inside lets a core wait for these one after the other, and mispredicts
at every second neighbour whether it is new.  Therefore each of the three is a loop of its own over a batch,
short and without branches, so that a core has a dozen reads under way:

1. :func:`read_spans` reads where the rows begin and how long they are,
2. :func:`gather` copies the rows one behind the other, eight entries at a time,
3. :func:`sift` keeps the entries whose bit in ``seen`` is clear, and :func:`settle` gives those that are new
   their distance.

The position of the next item of a list depends on what was read, and a store to such a position holds up the
loads behind it.  Hence no loop both reads from distant memory and appends to a list: on a road network this
alone makes gathering three times as fast.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import device

#: Vertices whose rows are gathered at once, and entries that are sifted at once.
CHUNK, BATCH = 64, 512
#: Rows longer than this are sifted in place; entries copied at a time.
LONG, WIDTH = 40, 8
#: Entries of a worker's buffer, for gathered entries and then a batch of vertices; and of its numbers, two
#: lists for spans and two for what is settled.
BUFFER, NUMBERS = CHUNK * LONG + WIDTH + BATCH, 2 * CHUNK + 2 * BATCH

unsigned = np.uint64  # an index of this type is not tested for being negative


class Visited(NamedTuple):
    """What the search has reached.

    A set bit of ``seen`` says that the vertex is reached; for a clear bit the distance decides.  ``seen``
    takes 1/32 of the memory of the distances, so it mostly stays in a core's own cache.  Its bits are set
    without atomics: when two workers write to one byte a bit may get lost, but none is ever set too early.
    Two workers may both reach a vertex in one step: its distance is then the same from both, and both queues
    hold it.

    Attributes
    ----------
    seen : (8 * words,) uint8 array
        A bit for each vertex.
    distances : (n,) int32 array
    none : int32
        The distance of vertices that are not reached.
    """

    seen: Any
    distances: Any
    none: Any


class Output(NamedTuple):
    """What one worker writes in one step; all arrays are its own.

    Attributes
    ----------
    distance : int32
        Distance of the vertices that the step reaches.
    queue : (capacity,) index array
        Takes the vertices that are reached.  A queue that is full begins anew: the vertices have their
        distances, so the next step can find them there.
    buffer : (BUFFER,) index array
    numbers : (NUMBERS,) uint64 array
    bitmap : (words,) uint64 array
        A bit for each vertex; clear between steps.
    """

    distance: Any
    queue: Any
    buffer: Any
    numbers: Any
    bitmap: Any


class Progress(NamedTuple):
    """What one worker has reached so far in a step; all uint64.

    Attributes
    ----------
    tail : int
        Length of its queue.
    lost : int
        Vertices that its queue held before it began anew.
    entries : int
        Entries in the rows of all vertices that it reached.
    """

    tail: int
    lost: int
    entries: int


@device
def with_room(progress, capacity, margin):
    """Return the progress with room for ``margin`` more vertices in the queue."""
    tail, lost, entries = progress
    if tail + unsigned(margin) > unsigned(capacity):
        return Progress(unsigned(0), lost + tail, entries)
    return progress


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
        if length > unsigned(LONG):
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
def settle(first, end, offsets, visited, output):
    """Give those queued from ``first`` to ``end`` that are new their distance; the others leave the queue.

    Returns the queue's new length, and the number of entries in the rows of those that stay.
    """
    seen, distances, none = visited
    queue, numbers = output.queue, output.numbers
    held_distances, degrees = unsigned(2 * CHUNK), unsigned(2 * CHUNK + BATCH)
    for item in range(end - first):
        vertex = queue[first + item]
        numbers[held_distances + item] = unsigned(distances[vertex])
        numbers[degrees + item] = unsigned(offsets[vertex + 1]) - unsigned(offsets[vertex])
    tail, entries = first, unsigned(0)
    for item in range(end - first):
        vertex, held = queue[first + item], np.int32(numbers[held_distances + item])
        byte, bit = seen[vertex >> 3], np.uint8(1 << (vertex & 7))
        new = (held == none) & (byte & bit == 0)  # a vertex may occur twice in the batch
        seen[vertex >> 3] = byte | bit
        distances[vertex] = min(held, output.distance)
        queue[tail] = vertex
        tail += unsigned(new)
        entries += numbers[degrees + item] * unsigned(new)
    return tail, entries


@device
def reach(entries, first, end, offsets, visited, output, progress):
    """Sift and settle ``entries[first:end]``, a batch at a time."""
    while first < end:
        stop = min(first + unsigned(BATCH), end)
        tail, lost, work = with_room(progress, len(output.queue), BATCH)
        last = sift(entries, first, stop, visited.seen, output.queue, tail)
        tail, more = settle(tail, last, offsets, visited, output)
        progress = Progress(tail, lost, work + more)
        first = stop
    return progress


@device
def push(vertices, first, end, rows, visited, output, progress):
    """Reach the neighbours of ``vertices[first:end]``."""
    numbers, neighbours = output.numbers, rows.neighbours
    while first < end:
        count = min(unsigned(CHUNK), end - first)
        longest = read_spans(vertices, first, count, rows.offsets, numbers)
        fill = gather(count, neighbours, output)
        progress = reach(output.buffer, unsigned(0), fill, rows.offsets, visited, output, progress)
        if longest > unsigned(LONG):
            for item in range(count):
                start, length = numbers[item], numbers[unsigned(CHUNK) + item]
                if length > unsigned(LONG):
                    end_of_row = start + length
                    progress = reach(neighbours, start, end_of_row, rows.offsets, visited, output, progress)
        first += count
    return progress
