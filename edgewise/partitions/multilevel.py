"""Multilevel partitioning: coarsen, divide the coarsest graph, refine at every level.

The graph is contracted by clusters until few vertices are left (:mod:`~edgewise.partitions.cluster`,
:mod:`~edgewise.partitions.contract`); that graph is divided (:mod:`~edgewise.partitions.initial`), and the
partition is carried back to each finer level and refined there (:mod:`~edgewise.partitions.refine`).  A
*cycle* repeats this with clusters inside the parts, so that the refinement of coarse levels moves whole
clusters of the partition that there is.

Levels on a GPU that are small are moved to the CPU, where their many short steps take less time.  All steps
compute the same on both, so the result does not depend on that.

B. Hendrickson and R. Leland, "A multilevel algorithm for partitioning graphs" (SC 1995).
"""

import numpy as np

from edgewise.device import arrays, each
from edgewise.partitions.cluster import cluster
from edgewise.partitions.contract import contract
from edgewise.partitions.initial import recursive_bisection
from edgewise.partitions.levels import moved
from edgewise.partitions.ratings import tables_for
from edgewise.partitions.refine import refine
from edgewise.partitions.two_hop import match_pairs
from edgewise.timer import timer

#: Fewest vertices of a level that is refined on a GPU; smaller ones are faster on the CPU.
LEAST_ON_GPU = 50_000
#: Growth of clusters in every second hierarchy, so that several of them differ.
GROWTH = 3
#: One hierarchy in so many is made by matching.
MATCHED_EACH = 7
#: Most hierarchies of a small graph; some of them go on to a tenth of the vertices of the coarsest graph.
MOST_STARTS = 32
#: A level has at most this share of the vertices of the one before it.
LEAST_SHRINK = 0.97


def phase(name, level):
    """Context whose time counts as that of a phase, of large levels or of small ones."""
    return timer(name if len(level.sizes) >= LEAST_ON_GPU else f"{name}, small levels")


@each
def _project(vertex, clusters, coarse, part):
    part[vertex] = coarse[clusters[vertex]]


@each
def _choose_part(vertex, clusters, part, coarse):
    coarse[clusters[vertex]] = part[vertex]


def coarsen(level, k, total, how, part=None, least=0):
    """The hierarchy of a level: pairs of a level and the clusters of it in the next one, the finest first.

    It ends with at most ``least`` vertices, or those of the settings if these are more.  With ``part``, no
    cluster has vertices of two parts, and the second value is the partition of the coarsest level; otherwise
    that is ``None``.
    """
    hierarchy: list[tuple] = []
    target = max(how.coarsest, how.coarsest_for_each * k)
    limit = max(1, 2 * total // max(target, k))
    while True:
        n, where = len(level.sizes), arrays.device_of(level.offsets)
        if n < LEAST_ON_GPU and where != "cpu":
            level, part = moved(level, "cpu"), None if part is None else arrays.move(part, "cpu")
            where = "cpu"
        if n <= max(target, least):
            break
        groups = arrays.empty(0, level.neighbours.dtype, where) if part is None else part
        now = how._replace(seed=how.seed + len(hierarchy))
        cap = min(limit, max(1, how.growth * total // n)) if how.growth else limit
        with phase("cluster", level):
            if how.matches:
                labels = match_pairs(level, cap, groups, now)
            else:
                labels = cluster(level, tables_for(level, n), cap, groups, now)
        with phase("contract", level):
            coarse, clusters = contract(level, labels)
        if len(coarse.sizes) > LEAST_SHRINK * n:
            break
        if part is not None:
            projected = arrays.empty(len(coarse.sizes), part.dtype, where)
            _choose_part(n, clusters, part, projected)
            part = projected
        hierarchy.append((level, clusters))
        level = coarse
    return [*hierarchy, (level, None)], part


def first_partition(level, limits, targets, how):
    """Divide a level on the host; return the partition and its cut."""
    with timer("divide"):
        part = recursive_bisection(level, limits, targets, how).astype(level.neighbours.dtype)
    rows = np.repeat(part, np.diff(level.offsets))
    is_cut = rows != part[level.neighbours]
    weights = level.weights[is_cut] if len(level.weights) else is_cut
    return part, int(weights.sum(dtype=np.int64)) // 2


def refine_all(hierarchy, part, limits, how, cut):
    """Refine a partition of the coarsest level, and of each finer one; return that of the finest.

    ``limits`` are on the host.  The values are as in :func:`~edgewise.partitions.refine.refine`.
    """
    excess = 0
    for number in range(len(hierarchy) - 1, -1, -1):
        level, clusters = hierarchy[number]
        where = arrays.device_of(level.offsets)
        if clusters is not None:
            projected = arrays.empty(len(level.sizes), part.dtype, where)
            _project(len(level.sizes), clusters, arrays.move(part, where), projected)
            part = projected
        now = how._replace(shares=how.coarse if number else how.fine, seed=how.seed + number)
        with phase("refine", level):
            part, cut, excess = refine(level, arrays.move(part, where), arrays.move(limits, where), now, cut)
    return part, cut, excess


def _first_best(level, limits, targets, how):
    """The best partition of several hierarchies."""
    n, k, total, found = len(level.sizes), len(limits), int(level.sizes.sum()), []
    for one in range(max(how.starts, min(how.small // max(n, 1), MOST_STARTS))):
        again = how._replace(seed=how.seed + 1_000_000 * one, growth=GROWTH if one % 2 else how.growth)
        if one >= how.starts and one % 4 == 1:
            again = again._replace(coarsest=how.coarsest // 10)
        if one % MATCHED_EACH == MATCHED_EACH - 1:
            again = again._replace(matches=True, growth=how.growth)
        hierarchy, _ = coarsen(level, k, total, again)
        part, cut = first_partition(moved(hierarchy[-1][0], "cpu"), limits, targets, again)
        found.append(refine_all(hierarchy, part, limits, again, cut))
    return min(found, key=lambda result: (max(result[2], 0), result[1]))


def multilevel(level, limits, targets, how, start=None):
    """Partition a level into parts of at most ``limits``.

    Parameters
    ----------
    level : Level
    limits, targets : (k,) int64 and float64 arrays, on the host
    how : Settings
    start : tuple, optional
        A partition to improve, (n,), and its cut.

    Returns
    -------
    part : (n,) index array
        On the device of the level.
    cut : int
    excess : int
        Largest weight of a part above its limit; 0 or less if the partition is balanced.
    """
    total, k = int(level.sizes.sum()), len(limits)
    where = arrays.device_of(level.offsets)
    if start is None and 0 < how.branch < len(level.sizes):
        above, _ = coarsen(level, k, total, how, least=how.branch)
        part, cut, _ = multilevel(above[-1][0], limits, targets, how._replace(branch=0))
        part, cut, excess = refine_all(above, part, limits, how, cut)
        return arrays.move(part, where), cut, excess
    if start is None:
        part, cut, excess = _first_best(level, limits, targets, how)
    else:
        (part, cut), excess = start, 1
    for cycle in range(how.cycles + (start is not None)):
        again = how._replace(seed=how.seed + 1000 * (cycle + 1))
        hierarchy, coarse = coarsen(level, k, total, again, part)
        found = refine_all(hierarchy, coarse, limits, again, cut)
        if max(found[2], 0) < max(excess, 0) or (max(found[2], 0) == max(excess, 0) and found[1] < cut):
            part, cut, excess = found
    return arrays.move(part, where), cut, excess
