"""Bins of pending vertices by distance, and the offers by which workers share a bin.

Each worker has bins of its own.  Bin ``b`` holds vertices with distances from ``b * delta`` to below ``(b +
1) * delta``.  A worker keeps a ring of :data:`RING` bins, the current one and those after it, and an overflow
bin for all later ones.  When the nearest vertices of the overflow bin become current, it is distributed to
the ring.  As long as no weight is longer than the ring, the overflow bin stays empty.

A bin is a linked list of chunks of :data:`CHUNK` vertices, and only its first chunk may be partly filled.
Chunks that are used up return to a free list of their worker, so that they are reused while they are still in
its cache.  A vertex whose distance is lowered again is put into a nearer bin as well, and its old entry is
skipped later.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import device

#: Vertices per chunk; workers take work from each other by chunks.
CHUNK = 64
#: Bins of the ring (a power of two); the overflow bin comes after them.
RING = 256
OVERFLOW = RING
#: Larger than the number of any bin, and the largest number of one.
NO_BIN, LAST_BIN = 2**62, 2.0**61
#: Words of a worker's state: first chunk of the free list, first chunk that was never used, end of the
#: worker's chunks, smallest bin number in the overflow bin, and whether there were too few chunks.
FREE, UNUSED, END, OVERFLOW_MIN, EXHAUSTED = range(5)
#: Words of an offer: the bin, its number of chunks, the vertices in the first one, and the chunks taken.
BIN, N_CHUNKS, COUNT, TAKEN = range(4)
#: Words between the data of two workers, so that they do not share a cache line.
WORDS = 16
NO_CHUNK = -1
#: Bin of an offer whose worker had too few chunks.
OUT_OF_CHUNKS = -1


class Bins(NamedTuple):
    """The bins of one worker.

    Attributes
    ----------
    pool : (chunks * CHUNK,) index array
        Vertices of all chunks.  It is shared, but each chunk belongs to one worker; chunk 0 of a worker is
        not used, so that no bin ends at 0.
    next_chunk : (chunks,) int64 array
        The chunk after each chunk in its list, shared in the same way.
    heads : (RING + 1,) int64 array
        End of each bin's first chunk in ``pool``; 0 if the bin is empty.
    state : (WORDS,) int64 array
    """

    pool: Any
    next_chunk: Any
    heads: Any
    state: Any


class Offers(NamedTuple):
    """What all workers offer in one round.

    Attributes
    ----------
    headers : (workers * WORDS,) int64 array
    chunks : (workers * k,) int64 array
        Numbers of the offered chunks; worker ``w`` writes from ``w * k`` on.
    """

    headers: Any
    chunks: Any


@device
def bin_of(distance, scale):
    """Number of the bin of a distance; ``scale`` is one over delta.  Never falls while distances rise."""
    return np.int64(min(np.float64(distance) * scale, LAST_BIN))


@device
def clear(bins, first, end):
    """Set up empty bins whose chunks are ``first`` to ``end - 1``."""
    for position in range(RING + 1):
        bins.heads[position] = 0
    bins.state[FREE], bins.state[UNUSED], bins.state[END] = NO_CHUNK, first + 1, end
    bins.state[OVERFLOW_MIN], bins.state[EXHAUSTED] = NO_BIN, 0


@device
def push(bins, position, vertex):
    """Add a vertex to a bin of the ring, or to the overflow bin."""
    at = bins.heads[position]
    if at & (CHUNK - 1) == 0:
        chunk = bins.state[FREE]
        if chunk != NO_CHUNK:
            bins.state[FREE] = bins.next_chunk[chunk]
        else:
            chunk = bins.state[UNUSED]
            if chunk == bins.state[END]:
                bins.state[EXHAUSTED] = 1
                return
            bins.state[UNUSED] = chunk + 1
        bins.next_chunk[chunk] = at // CHUNK - 1
        at = chunk * CHUNK
    bins.pool[np.uint64(at)] = vertex
    bins.heads[position] = at + 1


@device
def push_to_bin(bins, current, number, vertex):
    """Add a vertex to bin ``number``, which is the current one or a later one."""
    if number - current < RING:
        push(bins, number & (RING - 1), vertex)
    else:
        push(bins, OVERFLOW, vertex)
        bins.state[OVERFLOW_MIN] = min(bins.state[OVERFLOW_MIN], number)


@device
def first_bin(bins, current):
    """Number of the first bin that is not empty."""
    for number in range(current, current + RING):
        if bins.heads[number & (RING - 1)]:
            return min(np.int64(number), bins.state[OVERFLOW_MIN])
    return bins.state[OVERFLOW_MIN]


@device
def pop_all(bins, position):
    """Empty a bin; return its first chunk and the number of vertices in that chunk."""
    at = bins.heads[position]
    bins.heads[position] = 0
    chunk = (at - 1) // CHUNK
    return chunk, at - chunk * CHUNK


@device
def release(bins, first, last):
    """Return the chunks of a list, from ``first`` to ``last``, to the free list."""
    bins.next_chunk[last] = bins.state[FREE]
    bins.state[FREE] = first


@device
def is_short(bins, position, max_chunks):
    """Whether a bin has at least one chunk and at most ``max_chunks``."""
    chunk = (bins.heads[position] - 1) // CHUNK
    count = 0
    while chunk != NO_CHUNK and count <= max_chunks:
        count += 1
        chunk = bins.next_chunk[chunk]
    return 0 < count <= max_chunks


@device
def distribute_overflow(bins, current, distances, scale):
    """Move what the ring now covers from the overflow bin into the ring."""
    if bins.heads[OVERFLOW] == 0:
        return
    bins.state[OVERFLOW_MIN] = NO_BIN
    chunk, count = pop_all(bins, OVERFLOW)
    while chunk != NO_CHUNK:
        for at in range(chunk * CHUNK, chunk * CHUNK + count):
            vertex = np.int64(bins.pool[at])
            number = bin_of(distances[vertex], scale)
            if number >= current:
                push_to_bin(bins, current, number, vertex)
        following = bins.next_chunk[chunk]
        release(bins, chunk, chunk)
        chunk, count = following, CHUNK


@device
def publish(bins, current, offers, worker):
    """Offer the first non-empty bin of this worker; return its number and its last chunk.

    The offer does not empty the bin: that happens once all workers have chosen the bin of the round.
    """
    header = offers.headers[worker.id * WORDS : (worker.id + 1) * WORDS]
    first = worker.id * (len(offers.chunks) // worker.count)
    number, count, last = first_bin(bins, current), 0, np.int64(NO_CHUNK)
    header[COUNT] = 0
    position = number & (RING - 1)
    if number - current < RING and bins.heads[position]:
        last = (bins.heads[position] - 1) // CHUNK
        header[COUNT] = bins.heads[position] - last * CHUNK
        chunk = last
        while chunk != NO_CHUNK:
            offers.chunks[first + count] = last = chunk
            count += 1
            chunk = bins.next_chunk[chunk]
    header[BIN] = OUT_OF_CHUNKS if bins.state[EXHAUSTED] else number
    header[N_CHUNKS], header[TAKEN] = count, 0
    return number, last


@device
def first_offered_bin(offers, n_workers):
    """The smallest bin number among all offers."""
    number = offers.headers[BIN]
    for owner in range(1, n_workers):
        number = min(number, offers.headers[owner * WORDS + BIN])
    return number
