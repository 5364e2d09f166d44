"""The distance where no path leads."""

from functools import cache

import numpy as np


@cache
def unreached(dtype):
    """The distance where no path leads: the largest value of integers, infinity of floats."""
    dtype = np.dtype(dtype)
    return dtype.type(np.inf) if dtype.kind == "f" else np.iinfo(dtype).max
