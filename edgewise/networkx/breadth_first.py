"""Breadth-first search in NetworkX's order: of nodes, and of the edges that find them.

NetworkX's results show the order of the search: dicts are in order of discovery, and a path runs over the
edges that discovered its nodes.  A search by all cores has no such order, so these run on one.  They take
less time than the dicts that are made of them.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import compiled, device

#: Levels without a limit.
NO_LIMIT = 2**31 - 2


class Found(NamedTuple):
    """What a search finds.

    Attributes
    ----------
    order : (n,) int64 array
        Vertices in order of discovery; valid up to their number.
    levels : (n,) int32 array
        Distance of each vertex, -1 where it is not reached.
    parents : (n,) int64 array
        Vertex that discovered each one; -1 for sources.
    """

    order: Any
    levels: Any
    parents: Any


@compiled
def discover(offsets, neighbours, sources, limit, order, levels, parents):
    """Search up to ``limit`` levels in plain arrays; return the number of vertices found."""
    count = item = 0
    for source in sources:
        if levels[source] < 0:
            levels[source] = 0
            order[count] = source
            count += 1
    while item < count < len(order):
        vertex = order[item]
        item += 1
        level = levels[vertex] + 1
        if level > limit:
            break
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            other = neighbours[entry]
            if levels[other] < 0:
                levels[other] = level
                parents[other] = vertex
                order[count] = other
                count += 1
    return count


@device
def expand(rows, first, last, queue, before, behind):
    """Expand the level ``queue[first:last]``; return the new end of the queue, and where the searches meet.

    ``before`` (n,) has the vertex that found each one in this search, ``behind`` in the other, or -1.
    """
    offsets, neighbours = rows
    end = last
    for item in range(first, last):
        vertex = queue[item]
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            other = np.int64(neighbours[entry])
            if before[other] < 0:
                before[other] = vertex
                queue[end] = other
                end += 1
            if behind[other] >= 0:
                return end, other
    return end, np.int64(-1)


@compiled
def search_from_both(rows, back_rows, ends, forth, back):
    """Search from both ends, which differ; return where the searches meet, or -1, and the ends of the queues.

    ``forth`` and ``back`` hold a queue and the vertex that found each one: (n,) arrays, the latter of -1.
    """
    queue, before = forth
    back_queue, behind = back
    queue[0] = before[ends[0]] = ends[0]
    back_queue[0] = behind[ends[1]] = ends[1]
    first = back_first = np.int64(0)
    last, back_last, meeting = np.int64(1), np.int64(1), np.int64(-1)
    while meeting < 0 and first < last and back_first < back_last:
        if last - first <= back_last - back_first:
            end, meeting = expand(rows, first, last, queue, before, behind)
            first, last = last, end
        else:
            end, meeting = expand(back_rows, back_first, back_last, back_queue, behind, before)
            back_first, back_last = back_last, end
    return meeting, last, back_last


class Search:
    """Memory of searches of one graph; the arrays of a search are valid until the next one."""

    def __init__(self, rows):
        self.rows, n = rows, len(rows[0]) - 1
        self._found = Found(np.empty(n, np.int64), np.full(n, -1, np.int32), np.empty(n, np.int64))
        self._n_found = 0

    def run(self, sources, limit=None) -> Found:
        """Search from an array of sources, up to ``limit`` levels; ``order`` ends with the last vertex."""
        order, levels, parents = self._found
        levels[order[: self._n_found]] = -1
        parents[sources] = -1
        limit = NO_LIMIT if limit is None else limit
        self._n_found = discover(*self.rows, sources, limit, *self._found)
        return Found(order[: self._n_found], levels, parents)


class TwoSearches:
    """Memory of searches from both ends of a path, of which each clears only what it has reached."""

    def __init__(self, n):
        self._forth, self._back = (
            (np.empty(n, np.int64), np.full(n, -1)),
            (np.empty(n, np.int64), np.full(n, -1)),
        )

    def path(self, rows, back_rows, source, target) -> list[int]:
        """Vertices of a shortest path from ``source`` to ``target``; empty where there is none."""
        if source == target:
            return [source]
        (queue, before), (back_queue, behind) = self._forth, self._back
        ends = np.array([source, target])
        meeting, last, back_last = search_from_both(rows, back_rows, ends, self._forth, self._back)
        path = []
        if meeting >= 0:
            path = steps(before, meeting, source)[::-1] + steps(behind, meeting, target)[1:]
        before[queue[:last]] = behind[back_queue[:back_last]] = -1
        return path


def steps(links, vertex, end) -> list[int]:
    """Vertices from one to another along links."""
    path = [int(vertex)]
    while path[-1] != end:
        path.append(int(links[path[-1]]))
    return path
