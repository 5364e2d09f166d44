"""What refinement may have left: parts above their limits, and empty parts.

Single vertices are moved on the host until as few as possible are left, the lightest vertices first.
"""

from heapq import heapify, heappop, heapreplace

import numpy as np

from edgewise.device import arrays
from edgewise.partitions.loads import loads_of


def settled(level, part, sizes, limits):
    """The partition without what refinement may have left: parts above their limits, and empty parts.

    ``sizes`` and ``limits`` are on the host, where vertices are moved, the lightest ones first.
    """
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
