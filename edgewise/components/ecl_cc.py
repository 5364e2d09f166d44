"""First smaller neighbour, then every edge once: the scheme of ECL-CC (Jaiganesh & Burtscher, HPDC 2018).

Every vertex starts below a smaller neighbour, with one plain write and no conflict.  Then every edge is
read once, from its larger endpoint, and its endpoints are joined: here by Rem's algorithm, which was faster
than path halving and hooking on every graph measured.  Where rows are ascending, the first neighbour is the
smallest; in other orders fewer vertices are hooked at the start.

``ecl-pairs`` is the scheme on CPU cores, for very sparse rows.  Rows of no, one or two entries are read
without a branch, since the processor cannot predict their lengths, and the edges that are left are listed in
the same pass.  The list is short where components are small, and the parents of its edges are fetched ahead.
Each core takes chunks of vertices in ascending order.  A vertex whose smaller neighbour is in the same chunk
goes below the parent of that neighbour, which it may read because the same core has written it.  So the trees
of long paths are flat.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.components.rem import AHEAD, union
from edgewise.components.symmetric_csr import BLOCKS, list_row, new_list
from edgewise.components.trees import compress, new_parents, singletons
from edgewise.device import arrays, device, each, each_row, threads
from edgewise.device.prefetch import prefetch

#: Chunks per core of ``ecl-pairs``.
CHUNKS_PER_CORE = 4
#: Vertices of the smallest chunk.
CHUNK_ROWS = 1 << 10


@device
def see_first(vertex, parent, offsets, neighbours, entries):
    """Degree and first neighbour of a vertex; the neighbour is arbitrary if the degree is 0."""
    first, end = offsets[vertex], offsets[vertex + 1]
    return end - first, neighbours[min(first, entries - 1)]


@each.prefetch(see_first)
def hang_below_first(vertex, seen, parent, offsets, neighbours, entries):
    """Start ``vertex`` below its first neighbour if that is smaller, else as a root."""
    degree, first = seen
    parent[vertex] = first if degree > 0 and first < vertex else vertex


@each
def join_smaller(vertex, parent, offsets, neighbours, max_row, listed, count):
    """Join ``vertex`` with its smaller neighbours except the first, or list it if its row is too long."""
    first, end = offsets[vertex], offsets[vertex + 1]
    if end - first > max_row:
        list_row(vertex, listed, count, 0)
        return
    for entry in range(first + 1, end):
        other = neighbours[entry]
        if other < vertex:
            union(parent, vertex, other)


@each_row
def join_listed_smaller(block, lane, lanes, listed, count, parent, offsets, neighbours):
    """Join the vertices of long rows with their smaller neighbours, a row shared by the lanes of a block."""
    for item in range(block, count[0], BLOCKS):
        vertex = listed[item]
        for entry in range(offsets[vertex] + lane, offsets[vertex + 1], lanes):
            other = neighbours[entry]
            if other < vertex:
                union(parent, vertex, other)


def ecl_cc(vertices, csr):
    """Each vertex below its first smaller neighbour, then every edge once."""
    offsets, neighbours, max_row = csr
    if not len(neighbours):
        return singletons(vertices, neighbours)
    parent = new_parents(vertices, neighbours)
    hang_below_first(vertices, parent, offsets, neighbours, len(neighbours))
    listed, blocks = new_list(csr)
    count = (arrays.zeros if blocks else arrays.empty)(1, np.int32, arrays.device_of(parent))
    join_smaller(vertices, parent, offsets, neighbours, max_row, listed, count)
    join_listed_smaller(blocks, listed, count, parent, offsets, neighbours, width="block")
    compress(vertices, parent)
    return parent


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
    size = max(-(-vertices // (threads.count() * CHUNKS_PER_CORE)), CHUNK_ROWS)
    chunks, parent = -(-vertices // size), new_parents(vertices, neighbours)
    one, other = (new_parents(len(neighbours) + chunks, neighbours) for _ in range(2))
    pairs = Pairs(size, np.empty(chunks, np.int64), one, other)
    hang_chunk(chunks, parent, offsets, neighbours, pairs)
    join_pairs(chunks, parent, offsets, pairs)
    compress(vertices, parent)
    return arrays.move(parent, where)
