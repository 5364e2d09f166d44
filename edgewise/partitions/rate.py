"""Rating many vertices on the device where they are."""

import numpy as np

from edgewise.device import arrays, regions
from edgewise.device.shares import new_shares
from edgewise.partitions.gpu_ratings import rate_rows
from edgewise.partitions.ratings import CHUNK, rate_by_rows


def rate(chosen, level, state, tables, facts):
    """Rate vertices; return the growth of the totals to their own labels, (1,) int64, on the device.

    ``chosen`` is an index array without repetitions, or ``None`` for all vertices.
    """
    where = arrays.device_of(level.offsets)
    count = len(level.sizes) if chosen is None else len(chosen)
    chosen = arrays.empty(0, np.int64, where) if chosen is None else chosen
    growth = arrays.zeros(1, np.int64, where)
    if count == 0:
        return growth
    if where == "cpu":
        n_workers = min(regions.workers(), -(-count // CHUNK))
        memory, shares = (tables, facts), new_shares(n_workers)
        rate_by_rows.with_workers(n_workers, count, chosen, level, state, memory, shares, growth)
    else:
        rate_rows((count, chosen), level, state, tables, facts, growth)
    return growth
