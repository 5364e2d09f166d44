"""Coarsening: a hierarchy of graphs, each of which is that of the clusters of the graph before it.

A level is divided into clusters (:mod:`~edgewise.partitions.coarsen.clustering`), which are contracted
(:mod:`~edgewise.partitions.coarsen.contraction`), until few vertices are left.  Levels on a GPU that are
small are moved to the CPU, where their many short steps take less time.
"""

from edgewise import tuning
from edgewise.device import arrays
from edgewise.partitions.coarsen.clustering import cluster
from edgewise.partitions.coarsen.contraction import contract
from edgewise.partitions.levels import moved
from edgewise.primitives.counting_sort import scatter
from edgewise.timer import timer


def is_small(level):
    """Whether a level is worked on by the CPU, also for a graph on a GPU."""
    return len(level.offsets) - 1 < tuning.GPU.partitions_level


def phase(name, level):
    """Context whose time counts as that of a phase, of large levels or of small ones."""
    return timer(f"{name}, small levels" if is_small(level) else name)


def coarsen(level, k, total, how, part=None, *, least=0, group=cluster):
    """The hierarchy of a level: pairs of a level and the clusters of it in the next one, the finest first.

    It ends with at most ``least`` vertices, or those of the settings if these are more.  ``group`` is called
    with a level, the largest weight of a cluster, the part of each vertex (or an empty array) and the
    settings, and returns the label of each vertex's cluster.  With ``part``, no cluster has vertices of two
    parts, and the second value is the partition of the coarsest level; otherwise that is ``None``.
    """
    hierarchy: list[tuple] = []
    target = max(how.coarsest, how.coarsest_for_each * k)
    limit = max(1, 2 * total // max(target, k))
    while True:
        n, where = len(level.offsets) - 1, arrays.device_of(level.offsets)
        if where != "cpu" and is_small(level):
            level, part = moved(level, "cpu"), None if part is None else arrays.move(part, "cpu")
            where = "cpu"
        if n <= max(target, least):
            break
        groups = arrays.empty(0, level.neighbours.dtype, where) if part is None else part
        cap = min(limit, max(1, how.growth * total // n)) if how.growth else limit
        with phase("cluster", level):
            labels = group(level, cap, groups, how._replace(seed=how.seed + len(hierarchy)))
        with phase("contract", level):
            coarse, clusters = contract(level, labels)
        del labels
        if len(coarse.sizes) > how.shrink * n:
            break
        if part is not None:
            projected = arrays.empty(len(coarse.sizes), part.dtype, where)
            scatter(projected, clusters, part)
            part = projected
        hierarchy.append((level, clusters))
        level = coarse
    return [*hierarchy, (level, None)], part
