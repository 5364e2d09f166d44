"""``wrapping_add``: a sum in the type of its first term, in which integers wrap round.

The compilers take for granted that int64 sums never pass the end of the type, and remove a test whether one
has.  Sums of unsigned integers may, so int64 is added as such.
"""

import numpy as np
from numba import types
from numba.extending import overload

from edgewise.device.target import PART, SIMULATED, on_cuda


def wrapping_add(one, other):
    """``one + other`` in the type of ``one``; whoever wants to know compares the sum with the terms."""
    with np.errstate(over="ignore"):
        return one.dtype.type(one + other)


def _plus_of(kind):
    if isinstance(kind, types.Integer) and kind.bitwidth == 64:
        unsigned = types.uint64
        return lambda one, other: kind(unsigned(one) + unsigned(other))
    return lambda one, other: kind(one + other)


@overload(wrapping_add, jit_options=PART)
def _plus_on_cpu(one, other):
    return _plus_of(one)


def _register_on_cuda():
    if SIMULATED:
        return
    from numba.cuda.extending import overload as overload_on_cuda

    @overload_on_cuda(wrapping_add)
    def plus_on_cuda(one, other):
        return _plus_of(one)


on_cuda(_register_on_cuda)
