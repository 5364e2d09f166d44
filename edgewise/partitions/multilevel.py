"""Multilevel partitioning: coarsen, divide the coarsest graph, refine at every level.

The graph is contracted by clusters until few vertices are left (:mod:`~edgewise.partitions.coarsen`); that
graph is divided (:mod:`~edgewise.partitions.initial`), and the partition is carried back to each finer level
and refined there (:mod:`~edgewise.partitions.refine`).  A *cycle* repeats this with clusters inside the
parts, so that the refinement of coarse levels moves whole clusters of the partition that there is.  All steps
compute the same on a GPU and on the CPU, so the result does not depend on where a level is.

B. Hendrickson and R. Leland, "A multilevel algorithm for partitioning graphs" (SC 1995).
"""

from edgewise.device import arrays
from edgewise.partitions.coarsen import coarsen, phase
from edgewise.partitions.initial import recursive_bisection
from edgewise.partitions.levels import cut_of, moved, total_size
from edgewise.partitions.refine import refine
from edgewise.primitives.counting_sort import gather
from edgewise.timer import timer


def first_partition(level, limits, targets, how):
    """Divide a level on the host; return the partition and its cut."""
    level = moved(level, "cpu")
    with timer("divide"):
        part = recursive_bisection(level, limits, targets, how).astype(level.neighbours.dtype)
    return part, cut_of(level, part)


def refine_all(hierarchy, part, limits, how, cut, step=refine):
    """Refine a partition of the coarsest level, and of each finer one; return that of the finest.

    The levels are taken off the hierarchy, so that each is there only until it has been refined.  ``limits``
    are on the host.  ``step`` has the arguments and values of :func:`~edgewise.partitions.refine.refine`,
    which changes the partition that it is given.
    """
    excess = 0
    while hierarchy:
        level, clusters = hierarchy.pop()
        where, number = arrays.device_of(level.offsets), len(hierarchy)
        part = arrays.move(part, where)
        part = part.copy() if clusters is None else gather(part, clusters)
        del clusters
        now = how._replace(shares=how.coarse if number else how.fine, seed=how.seed + number)
        with phase("refine", level):
            part, cut, excess = step(level, part, arrays.move(limits, where), now, cut)
    return part, cut, excess


def _first_best(level, limits, targets, how):
    """The best partition of several hierarchies."""
    n, k, total, found = len(level.offsets) - 1, len(limits), total_size(level), []
    for one in range(max(how.starts, min(how.small // max(n, 1), how.most_starts))):
        growth = how.other_growth if one % 2 else how.growth
        again = how._replace(seed=how.seed + 1_000_000 * one, growth=growth)
        if one >= how.starts and one % 4 == 1:
            again = again._replace(coarsest=how.coarsest // 10)
        hierarchy, _ = coarsen(level, k, total, again)
        part, cut = first_partition(hierarchy[-1][0], limits, targets, again)
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
    total, k = total_size(level), len(limits)
    where = arrays.device_of(level.offsets)
    if start is None and 0 < how.branch < len(level.offsets) - 1:
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
