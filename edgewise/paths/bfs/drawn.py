"""Top-down by drawing: every worker draws what it reaches into a bitmap of its own.

A wide frontier in a graph without order reaches vertices all over the memory, and a distance read and written
for each of them costs a wait.  A bitmap is 1/32 of the distances and lies in a core's own cache; drawn by one
worker alone it needs no atomics, and nobody asks whether a vertex was reached before.  Then the workers
take blocks of vertices in turn, lay the bitmaps on one another and write the distances in memory order.

On a uniform graph of 2^20 vertices a step of 1.5 M entries that reaches two thirds of them takes a third of
the time of one that settles every vertex by itself, or of a bottom-up step.

Writing the distances is also a survey (see :mod:`~edgewise.paths.bfs.bottom_up`): it leaves the bitmap of
the next frontier, and lists who waits.
"""

import numpy as np

from edgewise.device import device
from edgewise.paths.bfs.bottom_up import BLOCK
from edgewise.paths.bfs.expand import CHUNK, LONG, gather, spans, unsigned


@device
def draw(entries, first, end, drawn, sheet):
    """Set the bits of some entries in the bitmap that begins at ``sheet``."""
    for entry in range(first, end):
        vertex = entries[entry]
        drawn[sheet + unsigned(vertex >> 6)] |= unsigned(1) << unsigned(vertex & 63)


@device
def draw_rows(vertices, first, end, rows, scratch, drawn, sheet):
    """Draw what the vertices in ``vertices[first:end]`` lead to."""
    offsets, neighbours = rows
    buffer, base, numbers, own = scratch
    while first < end:
        count = min(unsigned(CHUNK), end - first)
        longest = spans(vertices, first, count, offsets, numbers, own)
        draw(buffer, base, gather(numbers, own, count, neighbours, buffer, base), drawn, sheet)
        if longest > unsigned(LONG):
            for item in range(count):
                start, length = numbers[own + item], numbers[own + unsigned(CHUNK) + item]
                if length > unsigned(LONG):
                    draw(neighbours, start, start + length, drawn, sheet)
        first += count


@device
def lift(drawn, word, words, everyone):
    """One word of all workers' bitmaps laid on one another; they are clean there afterwards."""
    bits = unsigned(0)
    for worker in range(everyone):
        at = unsigned(worker) * words + word
        bits |= drawn[at]
        drawn[at] = unsigned(0)
    return bits


@device
def write_block(
    block, everyone, drawn, marks, distance, offsets, front, waiting, counts, found, room, tail, lost, work
):  # fmt: skip
    """Give the drawn vertices of a block that are new their distance.

    Returns what :func:`~edgewise.paths.bfs.expand.reach` does.
    """
    seen, distances, none = marks
    words, n = unsigned(len(front)), unsigned(len(distances))
    first = unsigned(block * BLOCK)
    waits, end = first, min(n, first + unsigned(BLOCK))
    while first < end:
        word, fresh = first >> unsigned(6), unsigned(0)
        bits = lift(drawn, word, words, everyone)
        if tail + unsigned(64) > room[1]:
            lost += tail - room[0]
            tail = room[0]
        for position in range(min(unsigned(64), end - first)):
            vertex, held = first + position, distances[first + position]
            open_one = unsigned(held == none)
            new = (bits >> unsigned(position)) & open_one
            distances[vertex] = distance if new else held
            fresh |= new << unsigned(position)
            found[tail] = vertex
            tail += new
            waiting[waits] = vertex
            waits += open_one ^ new
            work += (unsigned(offsets[vertex + unsigned(1)]) - unsigned(offsets[vertex])) * new
        front[word] = fresh
        for byte in range(unsigned(8)):
            seen[unsigned(8) * word + byte] |= np.uint8((fresh >> unsigned(8 * byte)) & unsigned(255))
        first += unsigned(64)
    counts[block] = np.int64(waits) - block * BLOCK
    return tail, lost, work
