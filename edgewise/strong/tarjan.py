"""Tarjan's algorithm on one core: one depth-first search, without recursion.

A vertex gets its rank when the search reaches it.  Its low link is the least rank that it reaches through the
vertices below it and one edge more, as far as these are not in a finished component (Tarjan 1972).  As in
Pearce (2016), the rank is not kept beside the low link: a vertex whose low link is its own rank at the end is
the first of its component, and all that have been reached since, and are not finished, belong to it.

A vertex without outgoing edges is finished where it is found.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import compiled
from edgewise.index_type import index_type
from edgewise.primitives import filled


class Rows(NamedTuple):
    """Rows of the outgoing edges: ``offsets`` (n + 1,) int64, ``neighbours`` (entries,) index array."""

    offsets: Any
    neighbours: Any


class DepthFirst(NamedTuple):
    """Memory of the search; (n,) arrays.

    ``low`` (index array) is 0 for a vertex that is not reached, and larger than all ranks for one that is
    finished.  The path from the root of the search has ``path`` (index array), and of each of its vertices
    the ``ranks`` (index array) and ``entries`` (int64), which is how far its row has been read.  ``open``
    (index array) lists the vertices whose components are not finished, in the order of their ranks, except
    those on the path; and from its end backwards the smallest vertex of each finished component, for which
    there is always room.
    """

    low: Any
    path: Any
    ranks: Any
    entries: Any
    open: Any


@compiled
def search(rows, state, finished, labels, roots):
    """Write the smallest vertex of each vertex's component to ``labels``; return the number of components.

    The search begins at the ``roots``, one after the other, which all vertices that it reaches are among.
    """
    offsets, neighbours, low = rows.offsets, rows.neighbours, state.low
    path, ranks, entries, waiting = state.path, state.ranks, state.entries, state.open
    rank, n_waiting, last_free = np.int64(0), np.int64(0), np.int64(len(labels) - 1)
    for item in range(len(roots)):
        root = np.int64(roots[item])
        if low[root] != 0:
            continue
        rank += 1
        depth, vertex, least = np.int64(0), root, rank
        ranks[0] = rank
        low[root] = rank
        entry = offsets[vertex]
        while depth >= 0:
            end, child = offsets[vertex + 1], np.int64(-1)
            while entry < end:
                other = np.int64(neighbours[entry])
                entry += 1
                held = np.int64(low[other])
                if held == 0:
                    if offsets[other] < offsets[other + 1]:
                        child = other
                        break
                    labels[other] = waiting[last_free] = other
                    low[other] = finished
                    last_free -= 1
                elif held < least:
                    least = held
            if child >= 0:
                path[depth], entries[depth] = vertex, entry
                low[vertex] = least
                depth += 1
                rank += 1
                ranks[depth] = rank
                vertex, least, entry = child, rank, offsets[child]
                low[vertex] = rank
                continue
            if least == ranks[depth]:
                first, smallest = n_waiting, vertex
                while first > 0 and low[waiting[first - 1]] >= least:
                    first -= 1
                    smallest = min(smallest, np.int64(waiting[first]))
                for item in range(first, n_waiting):
                    labels[waiting[item]] = smallest
                    low[waiting[item]] = finished
                labels[vertex] = smallest
                low[vertex] = finished
                n_waiting = first
                waiting[last_free] = smallest
                last_free -= 1
                least = np.int64(finished)
            else:
                low[vertex] = least
                waiting[n_waiting] = vertex
                n_waiting += 1
            depth -= 1
            if depth >= 0:
                vertex, entry = np.int64(path[depth]), entries[depth]
                least = min(least, np.int64(low[vertex]))
    return len(labels) - 1 - last_free


def tarjan(n_vertices, offsets, neighbours):
    """Smallest vertex of each vertex's strongly connected component: (n,) index array."""
    return components_in_order(n_vertices, offsets, neighbours)[0]


def components_in_order(n_vertices, offsets, neighbours):
    """Labels as of :func:`tarjan`, and the label of each component in the order in which it is finished.

    No edge leads from a component to one that is finished after it.
    """
    kind = index_type(n_vertices)
    labels, roots = np.empty(n_vertices, kind), np.arange(n_vertices, dtype=kind)
    waiting, count = _search(Rows(offsets, neighbours), np.zeros(n_vertices, kind), labels, roots)
    return labels, waiting[n_vertices - count :][::-1]


def label_among(rows, vertices, labels):
    """Label vertices that share no component with others."""
    n, kind = len(labels), labels.dtype
    low = filled(n, np.iinfo(kind).max, kind)
    low[vertices] = 0
    _search(Rows(rows.offsets, rows.neighbours), low, labels, vertices)


def _search(rows, low, labels, roots):
    n, kind = len(labels), labels.dtype
    path, ranks, waiting = (np.empty(n, kind) for _ in range(3))
    state = DepthFirst(low, path, ranks, np.empty(n, np.int64), waiting)
    n_steps, finished = n + len(rows.neighbours), np.iinfo(kind).max
    return waiting, search.with_steps(n_steps, rows, state, finished, labels, roots)
