"""Vectors of a processor's SIMD unit as values: read, compute, compare, choose lanes, write; CPU only.

    read, _ = of_bytes(256)

    held = read(array, at)                       # 256 bytes from array[at] on: 64 int32, 32 float64 ...
    lower = lesser(wrapping_add(held, weight), other)
    if any_less(lower, other):
        write(array, at, lower)

A value is an LLVM vector, which stays in registers; compilers keep the running minima of plain loops in
memory and use half the processor's width.  Measured on 64 x 64 tiles of min-plus products in int32 (AVX-512,
one core): 16 G updates a second from loops, 41 G from vectors, which is the processor's peak.  In the
interpreter a vector is a small NumPy array.
"""

from functools import cache

import numpy as np

from edgewise.device.first_use import on_cpu_compiler


def registers() -> int:
    """Bytes that all vector registers together hold: 32 of 64 bytes with AVX-512, else 16 of 32 (AVX2)."""
    from llvmlite.binding import get_host_cpu_features

    return 2048 if get_host_cpu_features().get("avx512f") else 512


def of_bytes(size):
    """The functions ``read(array, at)``, a vector of ``size`` bytes, and ``items(dtype)`` of it.

    ``size`` is a power of two, or a function that returns one when it is first needed; all of the vector that
    begins at ``array[at]`` must be within the array.
    """
    size_of = cache(size if callable(size) else lambda: size)

    def read(array, at):
        return np.array(array[at : at + size_of() // array.itemsize])

    def register():
        from edgewise.primitives.vectors_on_cpu import register_read

        register_read(read, size_of())

    on_cpu_compiler(register)
    return read, lambda dtype: size_of() // np.dtype(dtype).itemsize


def item(array, at):
    """``array[at]`` for an ``at`` that is not negative, so that no test for it is compiled."""
    return array[at]


def write(array, at, vector):
    """Write ``vector`` to ``array[at]`` and on."""
    array[at : at + len(vector)] = vector


def wrapping_add(vector, number):
    """``number``, of the vector's type, added to every item."""
    return vector + vector.dtype.type(number)


def lesser(left, right):
    """The lesser of the two, item by item."""
    return np.minimum(left, right)


def any_less(left, right):
    """Whether an item of ``left`` is less than that of ``right``."""
    return bool((left < right).any())


def added(left, right):
    """Sums, item by item."""
    return left + right


def product(left, right):
    """Products, item by item."""
    return left * right


def quotient(left, right):
    """Quotients of floats, item by item; no error is raised for divisors of zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return left / right


def chosen(vector, bits):
    """The items whose bits are set, the first one's being the lowest; zeros in place of the others."""
    return np.where(int(bits) >> np.arange(len(vector)) & 1, vector, vector.dtype.type(0))


def total(vector):
    """Sum of the items, a power of two, added up by halves."""
    while len(vector) > 1:
        vector = vector[: len(vector) // 2] + vector[len(vector) // 2 :]
    return vector[0]


def union(left, right):
    """The bits of either of the two, which are integers."""
    return left | right


def without(left, right):
    """The bits of ``left`` that are not in ``right``."""
    return left & ~right


def any_bit(vector):
    """Whether a bit is set."""
    return bool(vector.any())


def count_bits(vector):
    """Number of bits that are set: int64."""
    return sum(int(item).bit_count() for item in vector)


def _register_on_cpu():
    from edgewise.primitives import vectors_on_cpu as compiled

    compiled.overload_vectors(item, write, wrapping_add, lesser, any_less)
    compiled.overload_arithmetic(added, product, quotient, chosen, total)
    compiled.overload_bits(union, without, any_bit, count_bits)


on_cpu_compiler(_register_on_cpu)
