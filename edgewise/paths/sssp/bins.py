"""Bins of vertices by distance, one set for each worker of delta-stepping.

Bin ``b`` of a worker holds vertices with distances from ``b * delta`` to below ``(b + 1) * delta``.  The
current bin and those after it are a ring of :data:`RING` bins; an overflow bin takes all later ones, and is
distributed to the ring when its nearest vertices become current.  It stays empty if no weight is longer than
the ring.  A bin is a linked list of chunks of :data:`CHUNK` vertices, of which only the first may be partly
filled; used chunks return to a free list of their worker.  A vertex whose distance is lowered again is put
into a nearer bin as well, and its old entry is skipped later.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import device

#: Vertices per chunk; workers take work from each other by chunks.
CHUNK = 64
#: Bins of the ring (a power of two); the overflow bin comes after them.
RING = 256
OVERFLOW = RING
#: Larger than the number of any bin.
NO_BIN = 2**62
#: Largest number of a bin.
LAST_BIN = 2.0**61
#: Words between the data of two workers, so that they do not share a cache line.
WORDS = 16
NO_CHUNK = -1


class State(NamedTuple):
    """Words of a worker's state."""

    free: int  # first chunk of the free list
    unused: int  # first chunk that was never used
    end: int  # end of the worker's chunks
    overflow_min: int  # smallest bin number in the overflow bin
    exhausted: int  # whether there were too few chunks
    last: int  # no vertex is in a bin beyond, at the end


STATE = State(0, 1, 2, 3, 4, 5)


class Bins(NamedTuple):
    """The bins of one worker, or of all: worker ``w`` of ``k`` has the ``w``-th of ``k`` parts of each array.

    ``pool`` (chunks * CHUNK,) holds the vertices of all chunks and ``next_chunk`` (chunks,) int64 the chunk
    after each in its list.  Workers share these arrays whole, but each chunk belongs to one worker, and the
    first one of each is not used, so that no bin ends at 0.  ``heads`` (RING + WORDS,) int64 is the end of
    each bin's first chunk in ``pool``, 0 if the bin is empty; ``state`` (WORDS,) int64 has
    those of :class:`State`.
    """

    pool: Any
    next_chunk: Any
    heads: Any
    state: Any


@device
def bins_of(worker, bins):
    """The bins of a worker among those of all, cleared."""
    stride, share = RING + WORDS, len(bins.next_chunk) // worker.count
    first, heads = worker.id * share, bins.heads[worker.id * stride : (worker.id + 1) * stride]
    state = bins.state[worker.id * WORDS : (worker.id + 1) * WORDS]
    own = Bins(bins.pool, bins.next_chunk, heads, state)
    for position in range(RING + 1):
        own.heads[position] = 0
    own.state[STATE.free], own.state[STATE.unused], own.state[STATE.end] = NO_CHUNK, first + 1, first + share
    own.state[STATE.overflow_min], own.state[STATE.exhausted] = NO_BIN, 0
    return own


@device
def bin_of(distance, scale):
    """Number of the bin of a distance; ``scale`` is one over delta.  Never falls while distances rise."""
    return np.int64(min(np.float64(distance) * scale, LAST_BIN))


@device
def push(bins, position, vertex):
    """Add a vertex to a bin of the ring, or to the overflow bin."""
    at = bins.heads[position]
    if at & (CHUNK - 1) == 0:
        chunk = bins.state[STATE.free]
        if chunk != NO_CHUNK:
            bins.state[STATE.free] = bins.next_chunk[chunk]
        else:
            chunk = bins.state[STATE.unused]
            if chunk == bins.state[STATE.end]:
                bins.state[STATE.exhausted] = 1
                return
            bins.state[STATE.unused] = chunk + 1
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
        bins.state[STATE.overflow_min] = min(bins.state[STATE.overflow_min], number)


@device
def first_bin(bins, current):
    """Number of the first bin that is not empty."""
    for number in range(current, current + RING):
        if bins.heads[number & (RING - 1)]:
            return min(np.int64(number), bins.state[STATE.overflow_min])
    return bins.state[STATE.overflow_min]


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
    bins.next_chunk[last] = bins.state[STATE.free]
    bins.state[STATE.free] = first


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
    bins.state[STATE.overflow_min] = NO_BIN
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
