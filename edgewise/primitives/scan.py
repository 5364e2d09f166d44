"""Prefix sums."""

import numpy as np

from edgewise.device import arrays


def exclusive_scan(counts):
    """Offsets of consecutive groups from their sizes.

    Parameters
    ----------
    counts : (n,) integer array

    Returns
    -------
    (n + 1,) int64 array
        ``offsets[i]`` is the sum of the first ``i`` counts; the last entry is the total.
    """
    xp = arrays.namespace(counts)
    offsets = arrays.empty(len(counts) + 1, np.int64, arrays.device_of(counts))
    offsets[:1] = 0
    xp.cumsum(counts, dtype=np.int64, out=offsets[1:])
    return offsets
