"""Rem's algorithm by plain writes inside chunks of the vertices, then between the chunks.

Every core takes chunks of consecutive vertices and joins each vertex with its smaller neighbours.  Only the
core of a chunk writes the parents of its vertices.  It reads no others: a vertex of a lower chunk stands for
itself.  So no atomic operation and no initial pass over the parents is needed, a new vertex goes straight
below the parent of a neighbour, and the parents of a chunk stay in the cache of the core.  Two vertices of
lower chunks that turn out to be connected are a *pair between chunks*.  These are few where ids are local or
the graph is sparse.  They are joined once all chunks are done, with compare-and-swap, and being a list, they
can be fetched ahead.

A chunk that has more pairs between chunks than vertices stops, and the rest of its rows is joined with the
pairs.

In a dense graph only the first neighbours are joined so (*Afforest*, see :mod:`edgewise.components.sampling`).
Its pairs between chunks are joined by plain writes, some of which may be lost: the pass over the rows outside
the giant component restores these connections.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.components.rem import splice, union
from edgewise.components.sampling import finish_outside
from edgewise.components.symmetric_csr import SymmetricCSR
from edgewise.components.trees import compress, new_parents
from edgewise.device import arrays, device, each, threads
from edgewise.device.prefetch import prefetch

#: Entries per vertex up to which all neighbours are joined, and neighbours that are joined in denser graphs.
SPARSE, SAMPLED = 5, 2
#: Chunks per core, and the smallest chunk; one core has one chunk.
CHUNKS_PER_CORE, LEAST_CHUNK = 4, 1 << 12
#: How many rows and how many pairs ahead memory is fetched.
ROWS_AHEAD, PAIRS_AHEAD = 48, 16
ALL = 1 << 62


class Chunks(NamedTuple):
    """Chunks of ``size`` vertices, and what is left of each to be joined.

    Attributes
    ----------
    size : int
    resume : (chunks,) int64 array
        First vertex of each chunk whose row has not been read.
    counts : (chunks,) int64 array
        Number of pairs of each chunk.
    high, low : (n_vertices,) index arrays
        The pairs; those of a chunk begin at its first vertex.
    """

    size: int
    resume: Any
    counts: Any
    high: Any
    low: Any


@device
def join_inside(parent, high, low, start):
    """Join two vertices, the larger one first, as far as that is possible from ``start`` on.

    Returns the pair that is left: two vertices before ``start``, or twice the same one.
    """
    while high >= start and high != low:
        above = parent[high]
        if above > low:
            parent[high] = low
            high = low if above == high else above
        else:
            high, low = low, above
    return high, low


@partial(each, least_chunk=1)
def join_chunk(chunk, parent, offsets, neighbours, rounds, chunks):
    """Join the vertices of a chunk with ``rounds`` neighbours, as far as there is room for pairs."""
    start = chunk * chunks.size
    stop = min(start + chunks.size, len(parent))
    vertex, pair, fits = start, start, True
    while fits:
        first = offsets[vertex]
        end = min(offsets[vertex + 1], first + rounds)
        prefetch(neighbours, offsets[min(vertex + ROWS_AHEAD, len(parent))])
        fits = pair + end - first < stop
        if fits:
            itself = parent.dtype.type(vertex)
            lowest = itself
            for entry in range(first, end):
                other = neighbours[entry]
                if other < itself:
                    above = parent[other] if other >= start else other
                    if lowest == itself:
                        lowest = above
                    elif above != lowest:
                        high, low = join_inside(parent, max(above, lowest), min(above, lowest), start)
                        lowest = min(above, lowest)
                        if high != low:
                            chunks.high[pair], chunks.low[pair] = high, low
                            pair += 1
            parent[vertex] = lowest
            if lowest == itself and first < end and rounds < ALL:  # no smaller neighbour in the sample
                chunks.high[pair], chunks.low[pair] = neighbours[first], itself
                pair += 1
            vertex += 1
            fits = vertex < stop
    chunks.counts[chunk], chunks.resume[chunk] = pair - start, vertex
    for rest in range(vertex, stop):
        parent[rest] = rest


@device
def fetch_pair(parent, pair, chunks):
    """Start to read the parents of a pair that is soon to be joined."""
    soon = min(pair + PAIRS_AHEAD, len(parent) - 1)
    prefetch(parent, chunks.high[soon])
    prefetch(parent, chunks.low[soon])


@partial(each, least_chunk=1)
def join_between(chunk, parent, offsets, neighbours, chunks):
    """Join the pairs between chunks, and the rows that the chunk has not read."""
    start = chunk * chunks.size
    for pair in range(start, start + chunks.counts[chunk]):
        fetch_pair(parent, pair, chunks)
        union(parent, chunks.high[pair], chunks.low[pair])
    for vertex in range(chunks.resume[chunk], min(start + chunks.size, len(parent))):
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            other = neighbours[entry]
            if other < vertex:
                union(parent, vertex, other)


@partial(each, least_chunk=1)
def splice_between(chunk, parent, chunks):
    """Join the pairs between chunks by plain writes, some of which may be lost."""
    start = chunk * chunks.size
    for pair in range(start, start + chunks.counts[chunk]):
        fetch_pair(parent, pair, chunks)
        splice(parent, chunks.high[pair], chunks.low[pair])


def _new_chunks(vertices, like):
    workers = threads.count()
    wanted = workers * CHUNKS_PER_CORE if workers > 1 else 1
    size = max(-(-vertices // wanted), min(LEAST_CHUNK, vertices), 1)
    count = -(-vertices // size)
    resume, counts = (np.empty(count, np.int64) for _ in range(2))
    return Chunks(size, resume, counts, new_parents(vertices, like), new_parents(vertices, like))


def rem_chunks(vertices, csr, rounds=None):
    """Rem in chunks: of all rows, or of ``rounds`` neighbours of each vertex, by default by the density."""
    device = arrays.device_of(csr.offsets)
    offsets, neighbours = (arrays.move(array, "cpu") for array in csr[:2])
    if rounds is None:
        rounds = ALL if len(neighbours) < SPARSE * vertices else SAMPLED
    parent, chunks = new_parents(vertices, neighbours), _new_chunks(vertices, neighbours)
    join_chunk(len(chunks.counts), parent, offsets, neighbours, rounds, chunks)
    if rounds == ALL:
        join_between(len(chunks.counts), parent, offsets, neighbours, chunks)
        compress(vertices, parent)
    else:
        splice_between(len(chunks.counts), parent, chunks)
        compress(vertices, parent)
        finish_outside(vertices, parent, SymmetricCSR(offsets, neighbours, neighbours[:0], ALL))
    return arrays.move(parent, device)
