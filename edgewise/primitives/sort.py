"""Sorting, and what follows from it."""

import numpy as np

from edgewise.device import arrays


def sort_pairs(keys, values):
    """Sort ``keys`` and carry ``values`` along; equal keys keep their order.

    Returns
    -------
    tuple of arrays
        Sorted keys, permuted values.
    """
    order = arrays.namespace(keys).argsort(keys, kind="stable")
    return keys[order], values[order]


def unique(values):
    """Distinct values in ascending order, and for each value its place among them.

    Returns
    -------
    distinct : (k,) array
    devices : (m,) int64 array
        ``distinct[devices] == values``.
    """
    xp = arrays.namespace(values)
    distinct, devices = xp.unique(values, return_inverse=True)
    return distinct, devices.reshape(-1).astype(np.int64, copy=False)
