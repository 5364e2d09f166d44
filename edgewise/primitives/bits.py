"""Bits of a 64-bit word."""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from edgewise.device.target import PART


def lowest_bit(word):
    """Number of the lowest set bit of ``word`` (uint64, not zero).  CPU only."""
    word = int(word)
    return (word & -word).bit_length() - 1


@intrinsic
def _lowest_bit(_, word):
    def emit(context, builder, signature, arguments):
        number = builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))
        return builder.zext(number, ir.IntType(64)) if word.bitwidth < 64 else number

    return types.int64(word), emit


@overload(lowest_bit, jit_options=PART)
def _lowest_bit_compiled(word):
    return lambda word: _lowest_bit(word)
