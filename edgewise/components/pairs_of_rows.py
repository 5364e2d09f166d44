"""The scheme of ECL-CC on CPU cores, with the edges that are left as a list: for very sparse graphs.

As in :mod:`edgewise.components.ecl_cc` every vertex starts below its first neighbour, if that is smaller, and
every further smaller neighbour is joined with compare-and-swap.  Rows of no, one or two entries are read
without a branch, since the processor cannot predict their lengths.  The edges that are left are listed in the
same pass.  The list is short where components are small, and the parents of its edges are fetched ahead.

Each core takes chunks of vertices in ascending order.  A vertex whose smaller neighbour is in the same chunk
goes below the parent of that neighbour, which it may read because it has been written by the same core.  So
the trees of long paths are flat.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.components.rem import union
from edgewise.components.trees import compress, new_parents, singletons
from edgewise.device import arrays, each, threads
from edgewise.device.prefetch import prefetch

#: Chunks per core, and the smallest chunk.
CHUNKS_PER_CORE, LEAST_CHUNK = 4, 1 << 10
#: How many edges ahead the parents of the endpoints are fetched.
AHEAD = 16


class Pairs(NamedTuple):
    """Edges of chunks of ``size`` vertices that are left to be joined.

    The pairs of a chunk begin at its first entry, one place later for each chunk before, so that one more
    can be written behind them.

    Attributes
    ----------
    size : int
    counts : (chunks,) int64 array
        Number of pairs of each chunk.
    one, other : (entries + chunks,) index arrays
        The endpoints.
    """

    size: int
    counts: Any
    one: Any
    other: Any


@partial(each, least_chunk=1)
def hang_chunk(chunk, parent, offsets, neighbours, pairs):
    """Put the vertices of a chunk below a smaller neighbour, and list the edges to the other ones."""
    start, last = chunk * pairs.size, len(neighbours) - 1
    end = begin = offsets[start] + chunk
    for vertex in range(start, min(start + pairs.size, len(parent))):
        first, stop = offsets[vertex], offsets[vertex + 1]
        itself = parent.dtype.type(vertex)
        one, two = neighbours[min(first, last)], neighbours[min(first + 1, last)]
        below = one if (first < stop) & (one < itself) else itself
        is_written = (below >= start) & (below < itself)
        above = parent[below if is_written else itself]
        below = above if is_written else below
        parent[vertex] = below
        pairs.one[end], pairs.other[end] = below, two
        end += np.int64((first + 1 < stop) & (two < itself))
        for entry in range(first + 2, stop):
            other = neighbours[entry]
            pairs.one[end], pairs.other[end] = below, other
            end += np.int64(other < itself)
    pairs.counts[chunk] = end - begin


@partial(each, least_chunk=1, ascending=True)
def join_pairs(chunk, parent, offsets, pairs):
    """Join the pairs of a chunk."""
    begin = offsets[chunk * pairs.size] + chunk
    end = begin + pairs.counts[chunk]
    for pair in range(begin, end):
        soon = min(pair + AHEAD, end - 1)
        prefetch(parent, pairs.one[soon])
        prefetch(parent, pairs.other[soon])
        union(parent, pairs.one[pair], pairs.other[pair])


def ecl_pairs(vertices, csr):
    """Each vertex below its first smaller neighbour, then the other edges from a list."""
    where = arrays.device_of(csr.offsets)
    offsets, neighbours = arrays.move(csr.offsets, "cpu"), arrays.move(csr.neighbours, "cpu")
    if not len(neighbours):
        return arrays.move(singletons(vertices, neighbours), where)
    size = max(-(-vertices // (threads.count() * CHUNKS_PER_CORE)), LEAST_CHUNK)
    chunks, parent = -(-vertices // size), new_parents(vertices, neighbours)
    one, other = (new_parents(len(neighbours) + chunks, neighbours) for _ in range(2))
    pairs = Pairs(size, np.empty(chunks, np.int64), one, other)
    hang_chunk(chunks, parent, offsets, neighbours, pairs)
    join_pairs(chunks, parent, offsets, pairs)
    compress(vertices, parent)
    return arrays.move(parent, where)
