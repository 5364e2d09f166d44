"""Searches by a contraction hierarchy: up to the core, and down through all rounds.

The elimination takes as long as one to ten searches by levels, and each search by a hierarchy a tenth to nine
tenths of the time of one by levels on a GPU.  So ``auto`` searches by a hierarchy where the user has prepared
the graph for searches (:meth:`Graph.prepare`), and only then.  On a CPU hierarchies save no time.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise import tuning
from edgewise.device import arrays, barrier_wait, device, load, parallel_region
from edgewise.device.wrapping import wrapping_add
from edgewise.paths.csr import Adjacency
from edgewise.paths.sssp.hierarchy.elimination import fits, hierarchy_of
from edgewise.paths.sssp.near_far import fitting, search_by_thresholds
from edgewise.paths.sssp.sequential import search_all
from edgewise.paths.sssp.weights import past_the_end

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
