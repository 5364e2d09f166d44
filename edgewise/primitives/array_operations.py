"""Scan, pack, histogram and unique, by NumPy or CuPy: arrays on one device in, arrays on that device out."""

import numpy as np

from edgewise.device import arrays


def exclusive_scan(counts):
    """Offsets (n + 1,) int64 of consecutive groups from their (n,) sizes; the last one is the total."""
    offsets = arrays.zeros(len(counts) + 1, np.int64, arrays.device_of(counts))
    arrays.namespace(counts).cumsum(counts, dtype=np.int64, out=offsets[1:])
    return offsets


def pack(marked, *columns):
    """Each column's items where ``marked`` is true, in order; ``None`` stays ``None``."""
    return tuple(None if column is None else column[marked] for column in columns)


def histogram(values, bins):
    """Count how often each integer below ``bins`` occurs in ``values``: (bins,) int64."""
    return arrays.namespace(values).bincount(values, minlength=bins).astype(np.int64, copy=False)


def unique(values):
    """Distinct values, ascending, and for each value its int64 position among them."""
    distinct, positions = arrays.namespace(values).unique(values, return_inverse=True)
    return distinct, positions.reshape(-1).astype(np.int64, copy=False)
