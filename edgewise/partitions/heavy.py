"""Limits of the parts, and vertices that are heavier than any part may be.

Such a vertex is a part by itself, the heaviest ones first, and the other vertices are divided among the other
parts, whose limits follow from the weight that is left.  The largest part is then as light as it can be.
"""

from fractions import Fraction

import numpy as np

from edgewise.device import arrays
from edgewise.partitions.input import MOST_WEIGHT, count_above, total_weight
from edgewise.partitions.levels import Level, with_rows
from edgewise.partitions.settle import settled


def limits_of(total, targets, imbalance):
    """Largest weight of each part: (k,) int64.

    ``floor((1 + imbalance) * ceil(total * share))``, exactly for equal shares, and at most ``MOST_WEIGHT``,
    which no weights add up to.
    """
    factor, k = 1 + Fraction(str(imbalance)), len(targets)
    if (targets == targets[0]).all():
        return np.full(k, min(int(factor * -(-total // k)), MOST_WEIGHT), np.int64)
    limits = [int(factor * -int(-(total * share) // 1)) for share in targets.tolist()]
    return np.array([min(limit, MOST_WEIGHT) for limit in limits], np.int64)


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
    where, n = arrays.device_of(level.offsets), len(level.sizes)
    offsets, neighbours, weights, sizes = (arrays.move(one, "cpu") for one in level[:4])
    place = np.full(n, -1, np.int64)
    place[vertices] = np.arange(len(vertices))
    rows, ends = np.repeat(place, np.diff(offsets)), place[neighbours]
    kept = (rows >= 0) & (ends >= 0)
    counts = np.bincount(rows[kept], minlength=len(vertices))
    inner = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), ends[kept].astype(kind)
    form = (*inner, weights[kept] if len(weights) else weights, sizes[vertices])
    moved = (arrays.move(np.ascontiguousarray(one), where) for one in form)
    return with_rows(Level._make([*moved, arrays.empty(0, kind, where)]))
