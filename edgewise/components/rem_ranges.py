"""Sparse edge lists on CPU cores: plain writes inside ranges of vertices, then the edges that cross them.

Manne & Patwary, "A scalable parallel union-find algorithm for distributed memory computers" (PPAM 2009): each
process joins the edges among its own vertices first, and then all of them join the edges that are left.  Here
the list is cut into equal parts, and the vertices are cut where these begin: in the order in which meshes,
street networks and geometric graphs come, nearly every edge of a part has both endpoints in its range.

Within a range one thread alone splices (:func:`~edgewise.components.rem.splice`): a parent is in the range as
well, because only edges inside it have been joined, so two threads never touch the same parent, and no
compare-and-swap keeps a core from executing ahead.  Edges that cross are listed and joined by
compare-and-swap.

In a list in any other order nearly every edge crosses.  A part therefore ends where its list is full, after
an eighth of its edges, and Rem's algorithm with compare-and-swap reads the whole list.  So nothing has to be
known of the order before.  What plain writes gain is most where nearly every edge joins something: in small
components and paths, which have few edges for each vertex.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.components.rem import splice, union, unite_all
from edgewise.components.trees import compress, new_parents
from edgewise.device import arrays, device, each, threads

#: Parts for each thread.
PARTS_PER_THREAD = 2
#: Edges of a part for each that may be listed.
EDGES_PER_LISTED = 8


class Ranges(NamedTuple):
    """Parts of the edges and ranges of the vertices that have the same numbers.

    ``edges`` and ``vertices`` (parts + 1,) int64 say where each begins.  ``listed`` (parts * room,) int64
    holds how many edges of each part cross its range, and then their numbers; ``room`` if there are as many
    or more.
    """

    edges: Any
    vertices: Any
    listed: Any
    room: int


@device
def crosses(source, target, first, end):
    """Whether an edge has an endpoint outside a range; four tests that a processor predicts."""
    return source < first or target < first or source >= end or target >= end


@partial(each, least_chunk=1, ascending=True)
def splice_inside(part, parent, sources, targets, ranges):
    """Make the vertices of a range singletons, join the edges inside it by plain writes, and list others.

    The edges inside have a loop of their own, which needs few registers.  A part ends where its list is full.
    """
    first, end = np.uint64(ranges.vertices[part]), np.uint64(ranges.vertices[part + 1])
    base, room, n_crossing = np.uint64(part * ranges.room), np.uint64(ranges.room), np.uint64(0)
    edge, stop = np.uint64(ranges.edges[part]), np.uint64(ranges.edges[part + 1])
    for vertex in range(first, end):
        parent[vertex] = vertex
    while edge < stop:
        while edge < stop:
            source, target = sources[edge], targets[edge]
            if crosses(np.uint64(source), np.uint64(target), first, end):
                break
            splice(parent, source, target)
            edge += np.uint64(1)
        if edge < stop:
            n_crossing += np.uint64(1)
            if n_crossing == room:
                break
            ranges.listed[base + n_crossing] = np.int64(edge)
            edge += np.uint64(1)
    ranges.listed[base] = np.int64(n_crossing)


@partial(each, least_chunk=1, ascending=True)
def unite_crossing(part, parent, sources, targets, ranges):
    """Join the listed edges of a part, which cross its range."""
    base = np.uint64(part * ranges.room)
    for item in range(base + np.uint64(1), base + np.uint64(1) + np.uint64(ranges.listed[base])):
        crossing = np.uint64(ranges.listed[item])
        union(parent, sources[crossing], targets[crossing])


def ranges_of(vertices, sources, parts):
    """Equal parts of the edges, and the ranges of vertices that begin with their first sources."""
    edges = np.arange(parts + 1, dtype=np.int64) * len(sources) // parts
    bounds = np.full(parts + 1, vertices, np.int64)
    bounds[0] = 0
    if len(sources):
        bounds[1:-1] = np.maximum.accumulate(sources[edges[1:-1]])
    room = 2 + len(sources) // (parts * EDGES_PER_LISTED)
    return Ranges(edges, bounds, np.empty(parts * room, np.int64), room)


def rem_ranges(vertices, sources, targets):
    """Rem by plain writes inside ranges of vertices, then by compare-and-swap on edges that cross them."""
    where = arrays.device_of(sources)
    sources, targets = arrays.move(sources, "cpu"), arrays.move(targets, "cpu")
    parts = PARTS_PER_THREAD * threads.count()
    parent, ranges = new_parents(vertices, sources), ranges_of(vertices, sources, parts)
    splice_inside(parts, parent, sources, targets, ranges)
    if ranges.listed[:: ranges.room].max() < ranges.room:
        unite_crossing(parts, parent, sources, targets, ranges)
    else:
        unite_all(parent, sources, targets)
    compress(vertices, parent)
    return arrays.move(parent, where)
