"""Edge lists on CPU cores: three ways to join few edges with compare-and-swap.

*Own ranges* (:func:`rem_ranges`).  Where the edges are ordered by their smaller endpoint and ids are local,
equal parts of the list belong to consecutive ranges of vertices.  Each core joins the edges inside the range
of a part by plain writes, since no other core writes there, and keeps those that leave the range; they are
joined once all parts are done, with compare-and-swap.  A part with too many of them stops, and its other edges
are joined then as well, so that any list is solved correctly.

*A sample* (:func:`rem_edge_sample`).  In a dense graph with scattered ids a few edges per vertex join nearly
all of the giant component (*Afforest*, Sutton et al. 2018, on edges rather than rows).  They are joined by
plain writes, and may be lost.  A byte for every vertex says whether it is in the giant: those of a million
vertices fit into the second cache of a core, so that testing all edges is hardly more than reading them.  Only edges with an endpoint outside are joined with compare-and-swap, which restores lost
connections.

Other lists are joined edge by edge (:func:`~edgewise.components.rem.rem`).
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.components.rem import splice, union
from edgewise.components.sampling import LABEL, VOTERS, vote
from edgewise.components.trees import compress, new_parents, singletons
from edgewise.device import arrays, device, each, threads
from edgewise.device.prefetch import prefetch

#: Parts of the list per core, and the smallest part.
PARTS_PER_CORE, LEAST_PART = 4, 1 << 12
#: A part keeps one edge that leaves its range for so many edges.
EDGES_PER_KEPT = 4
#: Edges of a sample for each vertex, and consecutive edges that are taken together.
SAMPLED, RUN = 2, 16
#: How many edges ahead the parents of their endpoints are fetched.
AHEAD = 16


class Parts(NamedTuple):
    """Parts of an edge list, the vertices that they own, and the edges that are left of them.

    Attributes
    ----------
    first : (parts + 1,) int64 array
        First edge of each part.
    start : (parts + 1,) int64 array
        First vertex of the range of each part.
    resume, counts : (parts,) int64 arrays
        First edge of each part that has not been read, and number of edges that are kept.
    sources, targets : (kept,) index arrays
        The edges that are kept; those of a part begin at ``first[part] // EDGES_PER_KEPT``.
    """

    first: Any
    start: Any
    resume: Any
    counts: Any
    sources: Any
    targets: Any


@partial(each, least_chunk=1)
def join_part(part, parent, sources, targets, parts):
    """Join the edges of a part inside its range of vertices, as far as there is room for the others."""
    start, stop = parts.start[part], parts.start[part + 1]
    for vertex in range(start, stop):
        parent[vertex] = vertex
    kept, room = parts.first[part] // EDGES_PER_KEPT, parts.first[part + 1] // EDGES_PER_KEPT
    edge, end = parts.first[part], parts.first[part + 1]
    while edge < end and kept < room:
        source, target = sources[edge], targets[edge]
        if min(source, target) >= start and max(source, target) < stop:
            splice(parent, source, target)
        else:
            parts.sources[kept], parts.targets[kept] = source, target
            kept += 1
        edge += 1
    parts.resume[part] = edge
    parts.counts[part] = kept - parts.first[part] // EDGES_PER_KEPT


@device
def unite_from(parent, sources, targets, first, end):
    """Join edges of a list with compare-and-swap; their parents are fetched ahead."""
    for edge in range(first, end):
        soon = min(edge + AHEAD, end - 1)
        prefetch(parent, sources[soon])
        prefetch(parent, targets[soon])
        union(parent, sources[edge], targets[edge])


@partial(each, least_chunk=1)
def join_rest(part, parent, sources, targets, parts):
    """Join the edges that a part has kept or not read."""
    kept = parts.first[part] // EDGES_PER_KEPT
    unite_from(parent, parts.sources, parts.targets, kept, kept + parts.counts[part])
    unite_from(parent, sources, targets, parts.resume[part], parts.first[part + 1])


def _new_parts(vertices, sources, targets):
    """Parts of a list whose ranges follow the smaller endpoints of the first edges, if these ascend."""
    workers, edges = threads.count(), len(sources)
    count = max(min(workers * PARTS_PER_CORE if workers > 1 else 1, edges // LEAST_PART), 1)
    first = np.arange(count + 1, dtype=np.int64) * edges // count
    start = np.zeros(count + 1, np.int64)
    inner = first[1:-1]
    start[1:-1] = np.minimum(sources[inner], targets[inner])
    start[-1] = vertices
    start = np.maximum.accumulate(start)
    resume, counts = (np.empty(count, np.int64) for _ in range(2))
    kept = edges // EDGES_PER_KEPT + 1
    return Parts(first, start, resume, counts, new_parents(kept, sources), new_parents(kept, sources))


def rem_ranges(vertices, sources, targets):
    """Rem by plain writes in ranges of the vertices, then on the edges between the ranges."""
    where = arrays.device_of(sources)
    sources, targets = arrays.move(sources, "cpu"), arrays.move(targets, "cpu")
    parent, parts = new_parents(vertices, sources), _new_parts(vertices, sources, targets)
    join_part(len(parts.counts), parent, sources, targets, parts)
    join_rest(len(parts.counts), parent, sources, targets, parts)
    compress(vertices, parent)
    return arrays.move(parent, where)


@each
def hook_run(run, parent, sources, targets, stride):
    """Put the larger endpoints of a run of edges below the smaller ones; some writes may be lost."""
    first = run * stride
    prefetch(sources, first + AHEAD * stride)
    prefetch(targets, first + AHEAD * stride)
    for edge in range(first, min(first + RUN, len(sources))):
        high = max(sources[edge], targets[edge])
        parent[high] = min(parent[high], sources[edge], targets[edge])


@each
def splice_run(run, parent, sources, targets, stride):
    """Join a run of edges by plain writes, some of which may be lost, and fetch a later one."""
    first = run * stride
    later = first + stride
    for edge in range(later, min(later + RUN, len(sources))):
        prefetch(parent, parent[sources[edge]])
        prefetch(parent, parent[targets[edge]])
    later += stride
    for edge in range(later, min(later + RUN, len(sources))):
        prefetch(parent, sources[edge])
        prefetch(parent, targets[edge])
    prefetch(sources, later + AHEAD * stride)
    prefetch(targets, later + AHEAD * stride)
    for edge in range(first, min(first + RUN, len(sources))):
        splice(parent, sources[edge], targets[edge])


@each
def mark_giant(vertex, parent, winner, inside):
    """Mark a vertex that is in the giant component."""
    inside[vertex] = np.int64(parent[vertex]) == winner[0] & LABEL


@each
def unite_outside(edge, parent, sources, targets, inside):
    """Join the endpoints of an edge unless both are in the giant component; then so are both."""
    source, target = sources[edge], targets[edge]
    if inside[source] & inside[target] == 0:
        union(parent, source, target)
        if inside[source] | inside[target] != 0:
            inside[source] = inside[target] = 1


def rem_edge_sample(vertices, sources, targets):
    """Rem by plain writes on a sample of the edges, then on those outside the giant component."""
    where = arrays.device_of(sources)
    sources, targets = arrays.move(sources, "cpu"), arrays.move(targets, "cpu")
    parent, edges = singletons(vertices, sources), len(sources)
    stride = RUN * max(edges // max(SAMPLED * vertices, 1), 1)
    for join_run in (hook_run, splice_run):
        join_run(-(-edges // stride), parent, sources, targets, stride)
        compress(vertices, parent)
    winner, inside = np.zeros(1, np.int64), np.empty(vertices, np.uint8)
    vote(VOTERS if vertices else 0, parent, vertices, winner)
    mark_giant(vertices, parent, winner, inside)
    unite_outside(edges, parent, sources, targets, inside)
    compress(vertices, parent)
    return arrays.move(parent, where)
