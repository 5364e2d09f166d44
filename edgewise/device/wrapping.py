"""``wrapping_add``: a sum in the type of its first term, in which integers wrap around.

The compilers assume that int64 sums do not overflow, and remove tests for overflow.  Sums of unsigned
integers may overflow, so int64 terms are added as unsigned integers.
"""

import numpy as np

from edgewise.device.target import overload_on_cpu, overload_on_cuda


def wrapping_add(one, other):
    """``one + other`` in the type of ``one``; on overflow the sum is smaller than a positive term."""
    with np.errstate(over="ignore"):
        return one.dtype.type(one + other)


@overload_on_cuda(wrapping_add)
@overload_on_cpu(wrapping_add)
def _wrapping_add_of(one, other):
    from numba import types

    kind, unsigned = one, types.uint64
    if isinstance(kind, types.Integer) and kind.bitwidth == 64:
        return lambda one, other: kind(unsigned(one) + unsigned(other))
    return lambda one, other: kind(one + other)
