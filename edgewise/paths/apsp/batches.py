"""Batches of sources on the CPU: which sources form a batch, and how its distances become rows of the result.

The sources of a batch should see the graph alike, so they are taken from *balls*: a ball begins at the first
vertex that belongs to none and holds as many of the nearest vertices as a batch has sources.  On a grid of
100 x 100 vertices the search of :mod:`edgewise.paths.apsp.vector_lanes` then recomputes a vertex 16 times
instead of 39; on random graphs it makes no difference (8 times).

During the search the distances of one vertex from all sources of the batch are neighbours in memory, the
*lanes* of a vector.  At the end the lanes are transposed into rows, one for each source.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import compiled, device
from edgewise.paths.result import unreached

#: Vertices whose distances are transposed at a time: a cache line of int32.
STRIP = 16


class Batches(NamedTuple):
    """Sources in the order of the batches, and where their distances go.

    ``sources`` (k,) int64 are vertices, ``lines`` (k,) int64 the row of each in the flat array ``result``,
    whose value is ``none`` where no path leads.
    """

    sources: Any
    lines: Any
    result: Any
    none: Any


@device
def write_rows(batches, first, n_sources, distances, lanes, ceiling):
    """Write the lanes of the batch that begins at source ``first`` as rows; return the largest distance.

    ``distances`` holds ``lanes`` values for each vertex; ``ceiling`` is their value for "no path".
    """
    vertices, largest = len(distances) // lanes, distances.dtype.type(0)
    for begin in range(0, vertices, STRIP):
        end = min(begin + STRIP, vertices)
        for lane in range(n_sources):
            line = batches.lines[first + lane] * vertices
            for vertex in range(begin, end):
                value = distances[vertex * lanes + lane]
                if value < ceiling:
                    largest = max(largest, value)
                    batches.result[line + vertex] = value
                else:
                    batches.result[line + vertex] = batches.none
    return largest


@compiled
def gather_balls(offsets, neighbours, size, visited, order, rank):
    """Rank the vertices ball by ball; a ball has up to ``size`` vertices near its first one.

    Balls begin in the order of a breadth-first search, whose queue is ``order[:n]``; ``order[n:]`` are the
    vertices ball by ball.
    """
    vertices, tail, n_ranked = len(offsets) - 1, 0, 0
    for root in range(vertices):
        if visited[root] == 0:
            visited[root] = 1
            order[tail] = root
            tail += 1
        # All vertices before the last one of the queue have been expanded.
        head = tail - 1
        while head < tail:
            vertex = order[head]
            head += 1
            for entry in range(offsets[vertex], offsets[vertex + 1]):
                other = np.int64(neighbours[entry])
                if visited[other] == 0:
                    visited[other] = 1
                    order[tail] = other
                    tail += 1
    for position in range(vertices):
        if rank[order[position]] >= 0:
            continue
        head, tail, limit = n_ranked, n_ranked + 1, n_ranked + size
        order[vertices + head] = order[position]
        rank[order[position]] = head
        while head < tail and tail < limit:
            vertex = order[vertices + head]
            head += 1
            for entry in range(offsets[vertex], offsets[vertex + 1]):
                other = np.int64(neighbours[entry])
                if rank[other] < 0 and tail < limit:
                    rank[other] = tail
                    order[vertices + tail] = other
                    tail += 1
        n_ranked = tail


class BallOrder:
    """The order of the vertices of a graph by balls, made when there is more than one batch."""

    def __init__(self, csr):
        self.csr, self.rank = csr, None

    def batches(self, sources, result, size):
        """The sources in batches of ``size``: :class:`Batches`."""
        lines = np.arange(len(sources))
        if len(sources) > size:
            if self.rank is None:
                n, (offsets, neighbours, _) = self.csr.n_vertices, self.csr
                visited, order = np.zeros(n, np.uint8), np.empty(2 * n, np.int64)
                self.rank = np.full(n, -1)
                gather_balls(offsets, neighbours, size, visited, order, self.rank)
            lines = np.argsort(self.rank[sources], kind="stable")
        none = result.dtype.type(unreached(result.dtype))
        return Batches(np.ascontiguousarray(sources[lines]), lines, result, none)
