"""Bits of a 64-bit word."""

from edgewise.device.first_use import on_cpu_compiler
from edgewise.device.target import overload_on_cpu


def lowest_bit(word):
    """Number of the lowest set bit of ``word`` (uint64, not zero).  CPU only."""
    word = int(word)
    return (word & -word).bit_length() - 1


def _register_on_cpu():
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def count_zeros(_, word):
        def emit(context, builder, signature, arguments):
            number = builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))
            return builder.zext(number, ir.IntType(64)) if word.bitwidth < 64 else number

        return types.int64(word), emit

    overload_on_cpu(lowest_bit)(lambda word: lambda word: count_zeros(word))


on_cpu_compiler(_register_on_cpu)
