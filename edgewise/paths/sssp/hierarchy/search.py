"""Searches by a contraction hierarchy: up to the core, and down through all rounds.

On a GPU ``auto`` takes them for graphs of long chains: paths, road networks that have a vertex at every bend,
rivers, k-mers of genomes.  Three fifths of their vertices have degree 2.  The number of rounds is about the
logarithm of the length of chains, and tells them from graphs of small components.  The elimination takes
about as long as one search by levels.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, barrier_wait, device, each, fetch_add, load, parallel_region
from edgewise.device.wrapping import wrapping_add
from edgewise.paths.csr import Adjacency
from edgewise.paths.sssp.hierarchy.elimination import fits, hierarchy_of
from edgewise.paths.sssp.near_far import fitting, search_by_thresholds
from edgewise.paths.sssp.sequential import near_far_sequential
from edgewise.paths.sssp.weights import past_the_end

#: Threads per block of the sweep, one block for each multiprocessor.
THREADS = 1024
#: Graphs for which ``auto`` takes a hierarchy have so many vertices, entries per vertex, and vertices of
#: degree 2 among those that are looked at; the elimination has so many rounds and leaves so small a core.
LEAST_VERTICES, LEAST_ENTRIES, MOST_ENTRIES = 1 << 13, 1.9, 2.5
SAMPLED, LEAST_IN_CHAINS = 1024, 0.6
LEAST_ROUNDS, LARGEST_CORE = 6, 1 / 16
#: Sources from which a search by levels has many levels.
FEW_SOURCES = 16


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


@each
def count_in_chains(item, step, offsets, found):
    """Count a vertex of degree 2."""
    vertex = item * step
    if offsets[vertex + 1] - offsets[vertex] == 2:
        fetch_add(found, 0, 1)


def prepared(rows):
    """The hierarchy of rows, kept with them."""

    def make():
        hierarchy = hierarchy_of(rows)
        upward = Adjacency(hierarchy.rows)
        return Prepared(hierarchy, upward, fitting(upward, hierarchy.mean))

    return rows.cached("hierarchy", make)


def saves_levels(rows, sources):
    """Whether a search on a GPU takes less time by a hierarchy than by levels."""
    n, n_entries = rows.n_vertices, len(rows.neighbours)
    if (
        len(sources) > FEW_SOURCES
        or n < LEAST_VERTICES
        or not LEAST_ENTRIES * n <= n_entries <= MOST_ENTRIES * n
        or not (rows.symmetric and fits(n, n_entries))
        or rows.weights.dtype.kind == "f"
    ):
        return False
    return rows.cached("saves levels", lambda: _has_chains(rows) and _is_deep(rows))


def _has_chains(rows):
    """Whether most vertices have degree 2."""
    step = rows.n_vertices // SAMPLED
    found = arrays.zeros(1, np.int32, arrays.device_of(rows.offsets))
    count_in_chains(SAMPLED, step, rows.offsets, found)
    return arrays.move(found, "cpu")[0] >= LEAST_IN_CHAINS * SAMPLED


def _is_deep(rows):
    """Whether there are many rounds and a small core."""
    hierarchy = prepared(rows).hierarchy
    if hierarchy.n_rounds < LEAST_ROUNDS:
        return False
    return hierarchy.core_size <= LARGEST_CORE * rows.n_vertices


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
        by_rank, _ = near_far_sequential(upward, ranks, cutoff)
    else:
        by_rank = search_by_thresholds(upward, sources, hierarchy.ranks, cutoff, delta)
    distances = arrays.empty(len(by_rank), by_rank.dtype, where)
    descend(hierarchy, by_rank, int(cutoff), distances)
    return distances
