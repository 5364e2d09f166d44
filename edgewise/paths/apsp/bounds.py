"""How large distances may become inside a method: ceilings that no addition carries past the type.

Inside, "no path" is a ceiling so low that the sum of two of them does not wrap round: 2**30 - 1 for int32.  A
path longer than that would be cut off, which must be noticed.  Where no weight is negative, the way to a
vertex beyond the ceiling passes a vertex whose distance lies less than a weight below it, so if

    largest finite distance + heaviest weight < ceiling

nothing was cut off.  With negative weights the ceiling itself may be lowered, by less than n of the heaviest:
all paths must then be known to stay below half of it, and what lies above that half is no path.
"""

import numpy as np

from edgewise.device import arrays

#: Entries of a matrix that are looked at together.
ENTRIES = 1 << 24


def ceiling_of(dtype):
    """What stands for "no path" inside: (largest value - 1) / 2 of an integer type, else infinity."""
    dtype = np.dtype(dtype)
    return np.inf if dtype.kind == "f" else int(np.iinfo(dtype).max) // 2


def limit_of(dtype, signed):
    """Distances lie below this; half of the ceiling where weights may be negative."""
    ceiling = ceiling_of(dtype)
    return ceiling // 2 if signed and ceiling < np.inf else ceiling


def end_of(dtype, signed=False):
    """Sums that matter must stay below this: the limit, or the largest float."""
    dtype = np.dtype(dtype)
    return float(np.finfo(dtype).max) if dtype.kind == "f" else limit_of(dtype, signed)


def heaviest_of(weights):
    """Largest absolute weight, as a Python number; 1 where edges count as one."""
    if not len(weights):
        return 1
    return max(abs(weights.max().item()), abs(weights.min().item()))


def least_of(weights):
    """Smallest weight, as a Python number; 1 where edges count as one."""
    return weights.min().item() if len(weights) else 1


def largest_of(matrix, limit):
    """Largest entry of a flat array below the limit, as a Python number; 0 if there is none above that."""
    largest, which = 0, arrays.namespace(matrix).where
    for first in range(0, len(matrix), ENTRIES):
        some = matrix[first : first + ENTRIES]
        largest = max(largest, which(some < limit, some, 0).max().item())
    return largest


def always_fits(rows, dtype):
    """Whether no path of n edges can come near the end of the type."""
    return rows.n_vertices * heaviest_of(rows.weights) < end_of(dtype, signed=True)
