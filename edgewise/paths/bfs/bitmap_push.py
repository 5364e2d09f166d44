"""Push by bitmaps: every worker sets the bits of the vertices that it reaches in a bitmap of its own.

A large frontier in a graph without locality reaches vertices all over the memory, and a distance that is read
and written for each of them costs a wait.  A bitmap takes 1/32 of the memory of the distances and stays in a
core's own cache; only one worker writes to it, so it needs no atomics, and no vertex is tested for having
been visited before.  Then the workers take blocks of vertices in turn, merge the bitmaps and write the
distances in memory order.

On a uniform graph of 2^20 vertices a step of 1.5 M entries that reaches two thirds of them takes a third of
the time of a push step that settles every vertex by itself, or of a pull step.

Writing the distances is also a survey (see :mod:`~edgewise.paths.bfs.pull`): it sets the bits of the next
frontier, and lists the unvisited vertices.
"""

import numpy as np

from edgewise.device import device
from edgewise.paths.bfs.pull import BLOCK
from edgewise.paths.bfs.push import CHUNK, LONG, Progress, gather, read_spans, unsigned, with_room


@device
def set_bits(entries, first, end, bitmap):
    """Set the bits of some entries."""
    for entry in range(first, end):
        vertex = entries[entry]
        bitmap[vertex >> 6] |= unsigned(1) << unsigned(vertex & 63)


@device
def push_to_bitmap(vertices, first, end, rows, output):
    """Set the bits of the neighbours of ``vertices[first:end]`` in the worker's bitmap."""
    numbers, neighbours = output.numbers, rows.neighbours
    while first < end:
        count = min(unsigned(CHUNK), end - first)
        longest = read_spans(vertices, first, count, rows.offsets, numbers)
        set_bits(output.buffer, unsigned(0), gather(count, neighbours, output), output.bitmap)
        if longest > unsigned(LONG):
            for item in range(count):
                start, length = numbers[item], numbers[unsigned(CHUNK) + item]
                if length > unsigned(LONG):
                    set_bits(neighbours, start, start + length, output.bitmap)
        first += count


@device
def merge_bitmaps(bitmaps, word, n_workers):
    """Return one word of the union of the workers' bitmaps, and clear it there."""
    bits, words = unsigned(0), unsigned(len(bitmaps.frontier))
    for worker_id in range(n_workers):
        at = unsigned(worker_id) * words + word
        bits |= bitmaps.of_workers[at]
        bitmaps.of_workers[at] = unsigned(0)
    return bits


@device
def write_block(block, n_workers, search, bitmaps, output, progress):
    """Give the vertices of a block whose bits are set, and that are new, their distance."""
    seen, distances, none = search.visited
    offsets, unvisited, queue = search.rows.offsets, search.unvisited.vertices, output.queue
    n, first = unsigned(len(distances)), unsigned(block * BLOCK)
    rest, end = first, min(n, first + unsigned(BLOCK))
    while first < end:
        word, fresh = first >> unsigned(6), unsigned(0)
        bits = merge_bitmaps(bitmaps, word, n_workers)
        tail, lost, entries = with_room(progress, len(queue), 64)
        for position in range(min(unsigned(64), end - first)):
            vertex, held = first + position, distances[first + position]
            open_one = unsigned(held == none)
            new = (bits >> unsigned(position)) & open_one
            distances[vertex] = output.distance if new else held
            fresh |= new << unsigned(position)
            queue[tail] = vertex
            tail += new
            unvisited[rest] = vertex
            rest += open_one ^ new
            entries += (unsigned(offsets[vertex + unsigned(1)]) - unsigned(offsets[vertex])) * new
        progress = Progress(tail, lost, entries)
        bitmaps.frontier[word] = fresh
        for byte in range(unsigned(8)):
            seen[unsigned(8) * word + byte] |= np.uint8((fresh >> unsigned(8 * byte)) & unsigned(255))
        first += unsigned(64)
    search.unvisited.counts[block] = np.int64(rest) - block * BLOCK
    return progress
