"""Searches by a contraction hierarchy: up to the core, and down through all rounds.

On a GPU ``auto`` takes them at once where the elimination takes no longer than a search by levels usually
does.  Without weights these are graphs of long chains, most of whose vertices have degree 2: paths, streets
with a vertex at every bend, rivers, k-mers of genomes.  With weights, where searches by levels take longer,
they are all graphs with few entries and low degrees, such as the junctions of a road network.  The number of
rounds tells these graphs from those of small components, and from random graphs, whose shortcuts become too
many.

In other graphs with few entries ``auto`` begins by levels.  In a grid, a mesh or a road network of ``n``
vertices their number is up to three times the square root of ``n``.  A search that takes many more goes along
something long and narrow, such as a ladder.  It is given up, and a hierarchy is taken if its core is small.
"""

from math import isqrt
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, barrier_wait, device, each, fetch_add, load, parallel_region
from edgewise.device.wrapping import wrapping_add
from edgewise.paths.csr import Adjacency
from edgewise.paths.sssp.hierarchy.elimination import fits, hierarchy_of
from edgewise.paths.sssp.near_far import Extent, fitting, search_by_thresholds
from edgewise.paths.sssp.sequential import near_far_sequential
from edgewise.paths.sssp.weights import past_the_end

#: Threads per block of the sweep, one block for each multiprocessor.
THREADS = 1024
#: Vertices of a graph, and rounds of its elimination, for which ``auto`` takes a hierarchy; and the number of
#: vertices whose degrees are looked at.
LEAST_VERTICES, LEAST_ROUNDS, SAMPLED = 1 << 13, 6, 1024
#: Sources from which a search by levels has many levels.
FEW_SOURCES = 16


class Part(NamedTuple):
    """A part of ``share`` of the vertices, or more, has a degree from ``lowest`` to ``highest``."""

    lowest: int
    highest: int
    share: float


class Suited(NamedTuple):
    """Graphs for which ``auto`` takes a hierarchy.

    They have from ``least_entries`` to ``most_entries`` entries for each vertex, all ``parts``, and a core of
    a part of ``core`` of the vertices or less.
    """

    least_entries: float
    most_entries: float
    parts: tuple[Part, ...]
    core: float


#: Without weights: graphs of long chains.
CHAINS = Suited(1.9, 2.5, (Part(2, 2, 0.6),), 1 / 6)
#: With weights: graphs of low degrees, but no regular meshes, whose core is large, and few leaves.
LOW_DEGREES = Suited(1.9, 3.2, (Part(0, 4, 0.99), Part(0, 2, 0.1), Part(2, 4, 0.7)), 0.3)
#: Graphs in which a search by levels may be given up.
DEEP = Suited(1.9, 3.2, (), 1 / 16)
#: Levels, and rounds with weights, after which it is, as multiples of the square root of the number of
#: vertices.  In grids, meshes and road networks there are up to 3 and 0.4, in ladders 64 and 5 or more.
MOST_LEVELS, MOST_ROUNDS = 8, 1
#: Degrees from this one on are counted as one.
HIGH = 5


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
def count_degrees(item, step, offsets, counts):
    """Count the degree of a vertex."""
    degree = offsets[item * step + 1] - offsets[item * step]
    fetch_add(counts, min(degree, HIGH), 1)


def prepared(rows):
    """The hierarchy of rows, kept with them."""
    return rows.cached("hierarchy", lambda: _prepare(rows))


def _prepare(rows):
    hierarchy = hierarchy_of(rows)
    upward = Adjacency(hierarchy.rows)
    return Prepared(hierarchy, upward, fitting(upward, hierarchy.mean))


def saves_levels(rows, sources):
    """Whether a search on a GPU takes less time by a hierarchy than by levels."""
    suited = LOW_DEGREES if len(rows.weights) else CHAINS
    return _is_candidate(rows, sources, suited) and rows.cached(
        "saves levels", lambda: has_degrees(rows, suited) and _is_kept(rows, suited)
    )


def may_be_deep(rows, sources):
    """Whether a search by levels may be given up; not if it is known that it would have to be repeated."""
    return _is_candidate(rows, sources, DEEP) and rows.known("is deep", True)


def is_deep(rows):
    """Whether a hierarchy is suited after a search by levels has been given up."""
    return rows.cached("is deep", lambda: _is_kept(rows, DEEP))


def levels_before_giving_up(rows):
    """Levels after which a search is given up."""
    return MOST_LEVELS * isqrt(rows.n_vertices)


def rounds_before_giving_up(rows):
    """Rounds after which a search with weights is given up."""
    return MOST_ROUNDS * isqrt(rows.n_vertices)


def _is_candidate(rows, sources, suited):
    """Whether a graph may be suited, by what is known of it without looking at its rows."""
    n, n_entries = rows.n_vertices, len(rows.neighbours)
    return (
        len(sources) <= FEW_SOURCES
        and n >= LEAST_VERTICES
        and suited.least_entries * n <= n_entries <= suited.most_entries * n
        and rows.symmetric
        and fits(n, n_entries)
        and rows.weights.dtype.kind != "f"
    )


def has_degrees(rows, suited):
    """Whether enough of the vertices that are looked at have the degrees."""
    counts = arrays.zeros(HIGH + 1, np.int32, arrays.device_of(rows.offsets))
    count_degrees(SAMPLED, rows.n_vertices // SAMPLED, rows.offsets, counts)
    counts = arrays.move(counts, "cpu")
    return all(counts[part.lowest : part.highest + 1].sum() >= part.share * SAMPLED for part in suited.parts)


def _is_kept(rows, suited):
    """Whether there is memory for a hierarchy, and it has many rounds and a small core; then it is kept."""
    try:
        made = rows.known("hierarchy", None) or _prepare(rows)
    except MemoryError:
        return False
    n_rounds, core = made.hierarchy.n_rounds, made.hierarchy.core_size
    if n_rounds < LEAST_ROUNDS or core > suited.core * rows.n_vertices:
        return False
    rows.cached("hierarchy", lambda: made)
    return True


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
        by_rank, _ = search_by_thresholds(upward, sources, hierarchy.ranks, Extent(cutoff, delta))
    distances = arrays.empty(len(by_rank), by_rank.dtype, where)
    descend(hierarchy, by_rank, int(cutoff), distances)
    return distances
