"""Contraction hierarchies: vertices of low degree are eliminated once, and every search skips them.

A search of a road network or of long paths has thousands of levels of a few vertices.  On a GPU each level
costs as much as a level of thousands, so that most of the time nothing is computed.  Elimination makes the
paths short: a vertex is taken out of the graph, and its neighbours are joined by *shortcuts* as long as the
paths through it, so that all distances between the vertices that remain are kept.  Neighbours are never
eliminated in the same round, so a round is parallel.  After some rounds the *core* is left.

The *rank* of a vertex is its place in the order of elimination, with the core at the end.  The row of a
vertex has the neighbours that it had when it was eliminated, all of which have a higher rank, and the lengths
of the edges or shortcuts.  Every shortest path can be taken as one that first ascends by rank, then crosses
the core, and descends.  A search therefore has two steps:

1. A search along these rows only: it ascends from the sources and ends with the distances in the core.
2. A sweep through the rounds from the last to the first.  A vertex takes the least distance that its row
   offers, whose vertices have theirs already.

This is the search from one to all of PHAST on the hierarchies of Geisberger et al., without their search for
shortcuts that are not needed, and with a core, since the last rounds would eliminate few vertices each.

The elimination takes as long as one to ten searches by levels, and each search by a hierarchy a tenth to nine
tenths of the time of one by levels on a GPU.  So ``auto`` searches by a hierarchy where the user has prepared
the graph for searches (:meth:`Graph.prepare`), and only then.  On a CPU hierarchies save no time.

R. Geisberger, P. Sanders, D. Schultes and D. Delling, "Contraction hierarchies: faster and simpler
hierarchical routing in road networks" (WEA 2008); D. Delling, A. Goldberg, A. Nowatzyk and R. Werneck,
"PHAST: hardware-accelerated shortest path trees" (IPDPS 2011).
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise import tuning
from edgewise.device import arrays, barrier_wait, device, load, parallel_region
from edgewise.device.wrapping import wrapping_add
from edgewise.paths.csr import Adjacency, adjacency_of
from edgewise.paths.sssp.elimination import fits, hierarchy_of
from edgewise.paths.sssp.near_far import fitting, search_by_thresholds
from edgewise.paths.sssp.sequential import search_all
from edgewise.paths.sssp.weights import past_the_end, rows_in

#: Threads per block of the sweep, one block for each multiprocessor.
THREADS = 1024


@device
def lower(rows, distances, rank, cutoff):
    """Give a vertex the least distance that its row offers."""
    least = distances[rank]
    for entry in range(rows.offsets[rank], rows.offsets[rank + 1]):
        distance = load(distances, rows.neighbours[entry])
        longer = wrapping_add(distance, rows.weights[entry])
        if distance <= longer <= cutoff and longer < least:
            least = longer
    distances[rank] = least


@parallel_region.by(threads=THREADS, max_blocks_per_sm=1, min_blocks_per_sm=1)
def descend(worker, hierarchy, by_rank, cutoff, distances):
    """Lower the distances of each round, the last one first; then put them in the order of vertices."""
    starts = hierarchy.starts
    for turn in range(len(starts) - 3, -1, -1):
        for rank in range(starts[turn] + worker.id, starts[turn + 1], worker.count):
            lower(hierarchy.rows, by_rank, rank, cutoff)
        barrier_wait(worker)
    for vertex in range(worker.id, len(distances), worker.count):
        distances[vertex] = load(by_rank, hierarchy.ranks[vertex])


class Prepared(NamedTuple):
    """A hierarchy, its rows as a search reads them, and the step of its threshold."""

    hierarchy: Any
    upward: Adjacency
    delta: float


def prepared(rows):
    """The hierarchy of rows, kept with them."""
    if rows.hierarchy is None:
        rows.hierarchy = _made(rows)
    return rows.hierarchy


def _made(rows):
    hierarchy = hierarchy_of(rows)
    upward = Adjacency(hierarchy.rows)
    return Prepared(hierarchy, upward, fitting(upward, hierarchy.mean))


def prepare_searches(graph):
    """Prepare a graph for many searches: breadth-first, and if it has weights, along these.

    This takes longer than one search, and saves time in each later one.  Of a directed graph it makes the
    rows of the edges that come in, by which a breadth-first search pulls, and of an undirected one on a GPU a
    contraction hierarchy, where vertices have few edges and the core is small.  Others need neither.
    """
    with arrays.guard(graph.device):
        rows = adjacency_of(graph)
        if graph.directed:
            rows.build_incoming()
            rows.prepared = "direction-optimising" if graph.device == "cpu" else None
        for one in (rows, rows_in(graph)) if graph.is_weighted else (rows,):
            if graph.device != "cpu":
                prepare(one)


def prepare(rows):
    """Make a hierarchy for later searches, if one saves time."""
    if may_save_time(rows):
        made = rows.hierarchy or _made(rows)
        if made.hierarchy.core_size <= tuning.GPU.paths_core * rows.n_vertices:
            rows.hierarchy, rows.prepared = made, "contraction-hierarchy"


def may_save_time(rows):
    """Whether a hierarchy may save time, by what is known without making it."""
    return (
        rows.symmetric
        and rows.is_thin
        and fits(rows.n_vertices, len(rows.neighbours))
        and rows.weights.dtype.kind != "f"
        and rows.spread.least >= 0
    )


def distances_by_hierarchy(rows, sources, cutoff):
    """Search with weights."""
    distances = search(prepared(rows), sources, cutoff)
    return distances, past_the_end(rows, distances, cutoff)


def levels_by_hierarchy(rows, sources, cutoff):
    """Search where every edge counts one."""
    return search(prepared(rows), sources, np.int32(cutoff))


def search(kept, sources, cutoff):
    """Distances from the nearest of the sources; one beyond the end of its type counts as unreached."""
    hierarchy, upward, delta = kept
    where = arrays.device_of(hierarchy.ranks)
    if where == "cpu":
        ranks = hierarchy.ranks[sources].astype(np.int64)
        by_rank, _ = search_all(upward, ranks, cutoff)
    else:
        by_rank = search_by_thresholds(upward, sources, cutoff, delta, hierarchy.ranks)
    distances = arrays.empty(len(by_rank), by_rank.dtype, where)
    descend(hierarchy, by_rank, int(cutoff), distances)
    return distances
