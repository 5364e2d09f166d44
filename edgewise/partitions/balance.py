"""Balance of a partition: limits of the parts, vertices too heavy for them, heavy and empty parts.

A vertex that is heavier than any part may be is a part by itself, the heaviest ones first, and the other
vertices are divided among the other parts, whose limits follow from the weight that is left.  The largest
part is then as light as it can be.

Refinement may leave parts above their limits, and empty parts.  Single vertices are then moved on the host
until as few as possible are left, the lightest vertices first.
"""

from fractions import Fraction
from heapq import heapify, heappop, heapreplace

import numpy as np

from edgewise.device import arrays
from edgewise.partitions.input import WEIGHT_BOUND, count_above, total_weight
from edgewise.partitions.levels import Level, loads_of, moved, sizes_of, with_rows


def limits_of(total, targets, imbalance):
    """Largest weight of each part: (k,) int64.

    ``floor((1 + imbalance) * ceil(total * share))``, exactly for equal shares, and at most ``WEIGHT_BOUND``,
    which no weights add up to.
    """
    factor, k = 1 + Fraction(str(imbalance)), len(targets)
    if (targets == targets[0]).all():
        return np.full(k, min(int(factor * -(-total // k)), WEIGHT_BOUND), np.int64)
    limits = [int(factor * -int(-(total * share) // 1)) for share in targets.tolist()]
    return np.array([min(limit, WEIGHT_BOUND) for limit in limits], np.int64)


class Problem:
    """What is to be divided, and how.

    Parameters
    ----------
    run : callable
        Of a :class:`~edgewise.method.Method`.
    settings : Settings
    imbalance : float
    tries : int
    unit : int
        What a weight of 1 of the caller is; see :func:`~edgewise.partitions.input.positive`.
    """

    def __init__(self, run, settings, imbalance, tries, unit=1):
        self.run, self.settings, self.imbalance, self.tries = run, settings, imbalance, tries
        self.unit = unit

    def solve(self, level, sizes, targets, start=None):
        """Divide a level; ``sizes`` are its weights on the host.

        Returns the parts, (n,) on the device of the level, and the limits of the parts, (k,) on the host.
        """
        n, k, where = len(sizes), len(targets), arrays.device_of(level.offsets)
        kind = level.neighbours.dtype
        total = total_weight(sizes) if self.unit == 1 else int((sizes // self.unit).sum())
        limits = self.unit * limits_of(total, targets, self.imbalance) + self.unit - 1
        if k == 1 or n <= k:
            part = np.zeros(n, kind) if k == 1 else self._each_alone(sizes, limits)
            limits = limits if k == 1 else np.maximum(limits, sizes.max(initial=0))
            return arrays.move(part.astype(kind), where), limits
        n_heavy = count_above(sizes, limits.max())
        if n_heavy:
            return self._without_heavy(level, sizes, targets, min(n_heavy, k - 1))
        found = []
        for one in range(self.tries):
            settings = self.settings._replace(seed=self.settings.seed + 7919 * one)
            part, cut, excess = self.run(level, limits, targets, settings, start)
            found.append((max(excess, 0), cut, one, part))
        part = min(found, key=lambda each: each[:3])[3]
        return settled(level, part, sizes, limits), limits

    @staticmethod
    def _each_alone(sizes, limits):
        """A part for each vertex; the heaviest vertices are in the parts that may be heaviest."""
        part = np.empty(len(sizes), np.int64)
        part[np.argsort(-sizes, kind="stable")] = np.argsort(-limits, kind="stable")[: len(sizes)]
        return part

    def _without_heavy(self, level, sizes, targets, n_heavy):
        """The heaviest vertices alone in the parts with the largest shares, the others in the other parts."""
        where, kind, k = arrays.device_of(level.offsets), level.neighbours.dtype, len(targets)
        alone = np.argsort(-sizes, kind="stable")[:n_heavy]
        theirs = np.argsort(-targets, kind="stable")
        own, shared = theirs[:n_heavy], np.sort(theirs[n_heavy:])
        rest = np.setdiff1d(np.arange(len(sizes)), alone)
        rest_targets = targets[shared] / targets[shared].sum()
        found, rest_limits = self.solve(_inside(level, rest, kind), sizes[rest], rest_targets)
        part, limits = np.empty(len(sizes), np.int64), np.empty(k, np.int64)
        part[alone], part[rest] = own, shared[arrays.move(found, "cpu")]
        limits[own], limits[shared] = sizes[alone], rest_limits
        return arrays.move(part.astype(kind), where), limits


def _inside(level, vertices, kind):
    """The level of some of the vertices, ascending, on the device of the level."""
    where, n = arrays.device_of(level.offsets), len(level.offsets) - 1
    host = moved(level, "cpu")
    offsets, neighbours, weights = host[:3]
    place = np.full(n, -1, np.int64)
    place[vertices] = np.arange(len(vertices))
    rows, ends = np.repeat(place, np.diff(offsets)), place[neighbours]
    kept = (rows >= 0) & (ends >= 0)
    counts = np.bincount(rows[kept], minlength=len(vertices))
    inner = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), ends[kept].astype(kind)
    form = (*inner, weights[kept] if len(weights) else weights, sizes_of(host, vertices))
    there = (arrays.move(np.ascontiguousarray(one), where) for one in form)
    return with_rows(Level._make([*there, arrays.empty(0, kind, where)]))


def settled(level, part, sizes, limits):
    """The partition with as few heavy and empty parts as possible; the weights are on the host."""
    loads, where, kind = loads_of(level.sizes, part, len(limits)), arrays.device_of(part), part.dtype
    if (loads <= limits).all() and loads.all():
        return part
    part = arrays.move(part, "cpu").astype(np.int64)
    if (loads > limits).any():
        _fill_up(sizes, part, loads, limits)
    counts = np.bincount(part, minlength=len(limits))
    if (counts == 0).any():
        _fill_empty(sizes, part, loads, counts)
    return arrays.move(part.astype(kind), where)


def _fill_up(sizes, part, loads, limits):
    """Move vertices out of heavy parts to the freest one, if that is then less above its limit."""
    free = [(int(load - limit), one) for one, (load, limit) in enumerate(zip(loads, limits))]
    heapify(free)
    order = np.flatnonzero(loads[part] > limits[part])
    for vertex in order[np.argsort(sizes[order], kind="stable")].tolist():
        here, size = part[vertex], int(sizes[vertex])
        above, (room, freest) = loads[here] - limits[here], free[0]
        if above > 0 and room + size < above:
            loads[here] -= size
            loads[freest] += size
            part[vertex] = freest
            heapreplace(free, (room + size, freest))


def _fill_empty(sizes, part, loads, counts):
    """Give every empty part the lightest vertex of the heaviest part that has several."""
    order = np.lexsort((-sizes, part)).tolist()
    ends, left = np.cumsum(counts).tolist(), counts.tolist()
    several = [(-int(loads[one]), one) for one in np.flatnonzero(counts > 1).tolist()]
    heapify(several)
    for one in np.flatnonzero(counts == 0).tolist():
        if not several:
            return
        load, heaviest = several[0]
        ends[heaviest] -= 1
        left[heaviest] -= 1
        vertex = order[ends[heaviest]]
        part[vertex] = one
        if left[heaviest] > 1:
            heapreplace(several, (load + int(sizes[vertex]), heaviest))
        else:
            heappop(several)
