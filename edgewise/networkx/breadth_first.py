"""Breadth-first search in NetworkX's order: of nodes, and of the edges that find them.

NetworkX's results show the order of the search: dicts are in order of discovery, and a path runs over the
edges that discovered its nodes.  A search by all cores has no such order, so these run on one.  They take
less time than the dicts that are made of them.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import compiled

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
    while item < count:
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


@compiled
def search_from_both(offsets, neighbours, back_offsets, back_neighbours, ends, forth, back):
    """Search from both ends; return the vertex where the searches meet, or -1.

    ``ends`` are the source and the target, which differ.  ``forth`` and ``back`` (2, n) hold queues, and the
    vertices before and behind each on its path, -1 where it is not reached, and itself at the ends.
    """
    n = len(offsets) - 1
    queue, before = forth[:n], forth[n:]
    back_queue, behind = back[:n], back[n:]
    queue[0] = before[ends[0]] = ends[0]
    back_queue[0] = behind[ends[1]] = ends[1]
    first = back_first = 0
    last = back_last = 1
    while first < last and back_first < back_last:
        if last - first <= back_last - back_first:
            end = last
            for item in range(first, end):
                vertex = queue[item]
                for entry in range(offsets[vertex], offsets[vertex + 1]):
                    other = neighbours[entry]
                    if before[other] < 0:
                        before[other] = vertex
                        queue[last] = other
                        last += 1
                    if behind[other] >= 0:
                        return np.int64(other)
            first = end
        else:
            end = back_last
            for item in range(back_first, end):
                vertex = back_queue[item]
                for entry in range(back_offsets[vertex], back_offsets[vertex + 1]):
                    other = back_neighbours[entry]
                    if behind[other] < 0:
                        behind[other] = vertex
                        back_queue[back_last] = other
                        back_last += 1
                    if before[other] >= 0:
                        return np.int64(other)
            back_first = end
    return np.int64(-1)


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


def meeting_path(rows, back_rows, source, target) -> list[int]:
    """Vertices of a shortest path from ``source`` to ``target``; empty where there is none."""
    if source == target:
        return [source]
    n = len(rows[0]) - 1
    forth, back = np.full(2 * n, -1, np.int64), np.full(2 * n, -1, np.int64)
    vertex = search_from_both(*rows, *back_rows, np.array([source, target]), forth, back)
    if vertex < 0:
        return []
    path = [int(vertex)]
    while path[-1] != source:
        path.append(int(forth[n + path[-1]]))
    path.reverse()
    while path[-1] != target:
        path.append(int(back[n + path[-1]]))
    return path
