"""Sorting, and distinct values."""

import numpy as np

from edgewise.device import arrays


def sort_pairs(keys, values):
    """Sort ``keys`` and permute ``values`` alike; equal keys keep their order.

    Returns
    -------
    tuple of arrays
        Sorted keys, permuted values.
    """
    order = arrays.namespace(keys).argsort(keys, kind="stable")
    return keys[order], values[order]


def unique(values):
    """Distinct values in ascending order, and for each value its position among them.

    Returns
    -------
    distinct : (k,) array
    positions : (m,) int64 array
        ``distinct[positions] == values``.
    """
    xp = arrays.namespace(values)
    distinct, positions = xp.unique(values, return_inverse=True)
    return distinct, positions.reshape(-1).astype(np.int64, copy=False)
