"""Bins of pending vertices by distance: each worker has its own, in chunks from one flat array.

Bin ``b`` holds vertices with distances from ``b * delta`` to below ``(b + 1) * delta``.  A worker keeps a
ring of :data:`RING` bins, the current one and those after it, and one more for everything beyond, which is
sorted into the ring when its nearest bin becomes the current one.  As long as no weight is longer than the
ring, nothing gets there.

A bin is a list of chunks of :data:`CHUNK` vertices: only the chunk in front may be partly filled,
``tops[bin]`` says up to where in ``pool`` (0: the bin is empty), and ``below[chunk]`` is the chunk behind it.
Chunks that are used up go back to their owner and are taken again while they are still in its cache.

A vertex whose distance is lowered again goes into a nearer bin, too, and its old entry is passed over
when its turn comes.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import device

#: Vertices a chunk; workers take each other's work by chunks.
CHUNK = 64
#: Bins of the ring (a power of two); the one for everything beyond comes after them.
RING = 256
BEYOND = RING
#: Larger than the number of any bin, and the largest number of one.
NOTHING, FURTHEST = 2**62, 2.0**61
#: A worker's own words: first chunk to take again, first chunk that was never taken, end of its chunks,
#: nearest bin beyond the ring, and whether chunks were wanting.
FREE, UNUSED, END, NEAREST_BEYOND, WANTING = range(5)
#: Words a worker has, so that two do not share a cache line.
WORDS = 16
NOBODY = -1


class Bins(NamedTuple):
    """What a worker's bins are made of; ``pool`` and ``below`` are shared, the chunks in them are not."""

    pool: Any
    below: Any
    tops: Any
    words: Any


@device
def bin_of(distance, scale):
    """Number of the bin of a distance; ``scale`` is one over delta.  Never falls while distances rise."""
    return np.int64(min(np.float64(distance) * scale, FURTHEST))


@device
def clear(bins, first, end):
    """Set up empty bins whose chunks are ``first`` to ``end - 1``; number 0 of the pool is never used."""
    for ring in range(RING + 1):
        bins.tops[ring] = 0
    bins.words[FREE], bins.words[UNUSED], bins.words[END] = NOBODY, first + 1, end
    bins.words[NEAREST_BEYOND], bins.words[WANTING] = NOTHING, 0


@device
def put(bins, position, vertex):
    """Put a vertex into a place of the ring, or beyond it."""
    at = bins.tops[position]
    if at & (CHUNK - 1) == 0:
        chunk = bins.words[FREE]
        if chunk != NOBODY:
            bins.words[FREE] = bins.below[chunk]
        else:
            chunk = bins.words[UNUSED]
            if chunk == bins.words[END]:
                bins.words[WANTING] = 1
                return
            bins.words[UNUSED] = chunk + 1
        bins.below[chunk] = at // CHUNK - 1
        at = chunk * CHUNK
    bins.pool[np.uint64(at)] = vertex
    bins.tops[position] = at + 1


@device
def put_by_distance(bins, current, number, vertex):
    """Put a vertex into bin ``number``, which is the current one or comes after it."""
    if number - current < RING:
        put(bins, number & (RING - 1), vertex)
    else:
        put(bins, BEYOND, vertex)
        bins.words[NEAREST_BEYOND] = min(bins.words[NEAREST_BEYOND], number)


@device
def nearest(bins, current):
    """Number of the first bin that is not empty."""
    for number in range(current, current + RING):
        if bins.tops[number & (RING - 1)]:
            return min(np.int64(number), bins.words[NEAREST_BEYOND])
    return bins.words[NEAREST_BEYOND]


@device
def take_all(bins, position):
    """Empty a place; return its first chunk and the vertices in that."""
    at = bins.tops[position]
    bins.tops[position] = 0
    chunk = (at - 1) // CHUNK
    return chunk, at - chunk * CHUNK


@device
def give_back(bins, first, last):
    """Let the chunks of a list be taken again."""
    bins.below[last] = bins.words[FREE]
    bins.words[FREE] = first


@device
def is_short(bins, position, chunks):
    """Whether a place holds so few chunks, but not none."""
    chunk = (bins.tops[position] - 1) // CHUNK
    count = 0
    while chunk != NOBODY and count <= chunks:
        count += 1
        chunk = bins.below[chunk]
    return 0 < count <= chunks


@device
def sort_beyond(bins, current, distances, scale):
    """Move what the ring now reaches from beyond it into the ring; ``current`` is the nearest of those."""
    if bins.tops[BEYOND] == 0:
        return
    bins.words[NEAREST_BEYOND] = NOTHING
    chunk, count = take_all(bins, BEYOND)
    while chunk != NOBODY:
        for at in range(chunk * CHUNK, chunk * CHUNK + count):
            vertex = np.int64(bins.pool[at])
            number = bin_of(distances[vertex], scale)
            if number >= current:
                put_by_distance(bins, current, number, vertex)
        after = bins.below[chunk]
        give_back(bins, chunk, chunk)
        chunk, count = after, CHUNK
