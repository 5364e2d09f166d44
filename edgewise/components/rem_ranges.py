"""Edge lists whose ids are local, on CPU cores: plain writes inside ranges of vertices, then what crosses.

Manne & Patwary, "A scalable parallel union-find algorithm for distributed memory computers" (PPAM 2009): each
process joins the edges among its own vertices first, and then all of them join the edges that are left.  Here
the list is cut into equal parts, and the vertices are cut where these begin: in the order in which meshes,
street networks and geometric graphs come, nearly every edge of a part has both endpoints in its range.

Within a range one thread alone splices (:func:`~edgewise.components.rem.splice`): a parent is in the range as
well, because only edges inside it have been joined, so two threads never touch the same parent, and no
compare-and-swap keeps a core from executing ahead.  Edges that cross are listed and joined by
compare-and-swap.  A part with too many of them is read again instead; a list in any other order costs one
more pass.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.components.edge_order import PROBES
from edgewise.components.rem import splice, union
from edgewise.components.trees import compress, new_parents
from edgewise.device import arrays, device, each, threads

#: Parts for each thread, and edges of a part for each that may be listed.
PARTS_PER_THREAD, EDGES_PER_LISTED = 2, 8


class Ranges(NamedTuple):
    """Parts of the edges and ranges of the vertices that have the same numbers.

    ``edges`` and ``vertices`` (parts + 1,) int64 say where each begins.  ``listed`` (parts * room,) int64
    holds how many edges of each part cross its range, and then their numbers, as far as there is room.
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

    The edges inside have a loop of their own, which needs few registers.
    """
    first, end = np.uint64(ranges.vertices[part]), np.uint64(ranges.vertices[part + 1])
    base, n_crossing = np.uint64(part * ranges.room), np.uint64(0)
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
            ranges.listed[base + min(n_crossing, np.uint64(ranges.room - 1))] = np.int64(edge)
            edge += np.uint64(1)
    ranges.listed[base] = np.int64(n_crossing)


@partial(each, least_chunk=1, ascending=True)
def unite_crossing(part, parent, sources, targets, ranges):
    """Join the edges of a part that cross its range; all of its edges if they were too many to be listed."""
    base = np.uint64(part * ranges.room)
    n_crossing = np.uint64(ranges.listed[base])
    if n_crossing < np.uint64(ranges.room):
        for item in range(base + np.uint64(1), base + n_crossing + np.uint64(1)):
            crossing = np.uint64(ranges.listed[item])
            union(parent, sources[crossing], targets[crossing])
    else:
        for edge in range(np.uint64(ranges.edges[part]), np.uint64(ranges.edges[part + 1])):
            union(parent, sources[edge], targets[edge])


def ranges_of(vertices, sources, parts):
    """Equal parts of the edges, and the ranges of vertices that begin with their first sources."""
    edges = np.arange(parts + 1, dtype=np.int64) * len(sources) // parts
    bounds = np.full(parts + 1, vertices, np.int64)
    bounds[0] = 0
    if len(sources):
        bounds[1:-1] = np.maximum.accumulate(sources[edges[1:-1]])
    room = 2 + len(sources) // (parts * EDGES_PER_LISTED)
    return Ranges(edges, bounds, np.empty(parts * room, np.int64), room)


def lie_in_ranges(vertices, sources, targets):
    """Whether nearly all edges lie inside the ranges of :func:`rem_ranges`, by a few edges."""
    parts = PARTS_PER_THREAD * threads.count()
    if len(sources) < max(PROBES, parts):
        return False
    ranges = ranges_of(vertices, sources, parts)
    probes = np.arange(PROBES, dtype=np.int64) * len(sources) // PROBES
    part = np.searchsorted(ranges.edges, probes, side="right") - 1
    low, high = ranges.vertices[part], ranges.vertices[part + 1]
    inside = [(ends[probes] >= low) & (ends[probes] < high) for ends in (sources, targets)]
    return EDGES_PER_LISTED * np.count_nonzero(~(inside[0] & inside[1])) < PROBES


def rem_ranges(vertices, sources, targets):
    """Rem by plain writes inside ranges of vertices, then by compare-and-swap across them."""
    where = arrays.device_of(sources)
    sources, targets = arrays.move(sources, "cpu"), arrays.move(targets, "cpu")
    parts = PARTS_PER_THREAD * threads.count()
    parent, ranges = new_parents(vertices, sources), ranges_of(vertices, sources, parts)
    splice_inside(parts, parent, sources, targets, ranges)
    unite_crossing(parts, parent, sources, targets, ranges)
    compress(vertices, parent)
    return arrays.move(parent, where)
