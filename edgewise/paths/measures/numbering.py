"""Numbers of vertices by which those of a batch are near each other, and the rows in these numbers.

A batch of searches reads the row of a vertex once for each different distance from its sources.  These are
few where the sources are near each other.

*Thin graphs*, such as road networks, are bisected.  A breadth-first search begins at a vertex that is far
from others, which the last vertex of a search before is; the first half of its queue is one part, the second
half the other one, and both are bisected in turn, down to parts of one batch.  Neighbours in a part have
numbers near each other, too, so that their words are near each other in memory.  On a street-like grid of
40,000 vertices a vertex's row is read 35 times for a batch, and 50 times if batches are balls around the
vertices of one search.

*In other graphs* all vertices are a few steps apart, and sources cannot be near each other.  There the
vertices with most entries come first: their words stay in caches, they are the first in all rows, where a
vertex that pulls finds most bits, and rows that are read side by side have the same length.

Vertices that no edge leaves come last; nobody need search from them.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, compiled, device, each
from edgewise.ingest.csr import rows_from_edges
from edgewise.paths.csr import CSR
from edgewise.primitives.rows import row_numbers

#: Sources of the parts of a bisection; batches are multiples or fractions of it.
PART = 512
#: Searches for the vertex from which a part is halved.
SWEEPS = 3
#: Depth of the stack of parts: each of its parts is at most half as large as the one before.
DEPTH = 64


class Numbering(NamedTuple):
    """Rows in new numbers, and the sources in these.

    ``order`` (n,) is the old number of each new one, or ``None`` if they are the same.
    """

    order: Any
    outgoing: CSR
    incoming: CSR
    sources: Any


class Part(NamedTuple):
    """``order`` (n,) int64, the numbers of all parts one after the other; ``marks`` (n,) int64; ``queue``."""

    order: Any
    marks: Any
    queue: Any


@device
def search_part(rows, part, begin, end, root, mark):
    """Search a part whose vertices have the mark before ``mark``; return the end of the root's tree.

    ``queue`` has the vertices by their distance from the root, and then those of other roots.
    """
    order, marks, queue = part
    tail, first_end = np.int64(0), np.int64(0)
    for position in range(begin - 1, end):
        start = root if position < begin else order[position]
        if marks[start] != mark - 1:
            continue
        marks[start] = mark
        queue[tail] = start
        head, tail = tail, tail + 1
        while head < tail:
            vertex = queue[head]
            head += 1
            for entry in range(rows.offsets[vertex], rows.offsets[vertex + 1]):
                other = np.int64(rows.neighbours[entry])
                if marks[other] == mark - 1:
                    marks[other] = mark
                    queue[tail] = other
                    tail += 1
        if position < begin:
            first_end = tail
    return first_end


@compiled
def bisect(rows, part, size, stack):
    """Reorder the vertices so that each ``size`` of them, from the first on, are near each other."""
    order, marks, queue = part
    mark, depth = np.int64(1), 1
    stack[0], stack[1] = 0, len(order)
    while depth > 0:
        depth -= 1
        begin, end = stack[2 * depth], stack[2 * depth + 1]
        if end - begin <= size:
            continue
        mark += 1
        for position in range(begin, end):
            marks[order[position]] = mark
        root = order[begin]
        for _ in range(SWEEPS):
            mark += 1
            first_end = search_part(rows, part, begin, end, root, mark)
            root = queue[first_end - 1]
        for position in range(begin, end):
            order[position] = queue[position - begin]
        middle = begin + (end - begin + size - 1) // size // 2 * size
        stack[2 * depth], stack[2 * depth + 1] = middle, end
        stack[2 * depth + 2], stack[2 * depth + 3] = begin, middle
        depth += 2


def by_bisection(rows, vertices, size=PART):
    """The vertices (k,), in parts of ``size`` that are near each other; on the host."""
    n = rows.n_vertices
    part = Part(vertices.astype(np.int64), np.zeros(n, np.int64), np.empty(n, np.int64))
    bisect(rows, part, size, np.zeros(2 * DEPTH, np.int64))
    return part.order


@each
def take_ranks(entry, vertices, ranks, ends):
    """Take the new number of an entry's vertex."""
    ends[entry] = ranks[np.int64(vertices[entry])]


def numbered(adjacency) -> Numbering:
    """The rows of a graph, with its vertices in the order of their searches."""
    outgoing, where = adjacency.outgoing, arrays.device_of(adjacency.offsets)
    degrees = np.diff(arrays.move(outgoing.offsets, "cpu"))
    order = np.argsort(-degrees, kind="stable")
    n_sources = int(np.count_nonzero(degrees))
    if adjacency.is_thin:
        order[:n_sources] = by_bisection(outgoing.on_host(), np.flatnonzero(degrees))
    ranks = np.empty(len(order), outgoing.neighbours.dtype)
    ranks[order] = np.arange(len(order))
    ranks = arrays.move(ranks, where)
    sources = _taken(row_numbers(outgoing.offsets, outgoing.neighbours.dtype), ranks)
    targets = _taken(outgoing.neighbours, ranks)
    rows = _rows(len(order), sources, targets)
    incoming = rows if adjacency.symmetric else _rows(len(order), targets, sources)
    return Numbering(order, rows, incoming, np.arange(n_sources))


def _taken(vertices, ranks):
    ends = arrays.empty(len(vertices), ranks.dtype, arrays.device_of(ranks))
    take_ranks(len(vertices), vertices, ranks, ends)
    return ends


def _rows(n_vertices, sources, targets):
    """Rows of edges without weights."""
    offsets, neighbours, _ = rows_from_edges(n_vertices, sources, targets, False)
    return CSR(offsets, neighbours, arrays.empty(0, np.int32, arrays.device_of(offsets)))
