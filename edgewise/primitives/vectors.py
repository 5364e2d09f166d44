"""Vectors of a processor's SIMD unit as values: read, add, minimum, compare, write; CPU only.

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

import numpy as np
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import types
from numba.extending import intrinsic, models, overload, register_model

from edgewise.device.numba_internals import element_pointer, pointer_to
from edgewise.device.target import PART

#: Bytes that all vector registers together hold: 32 of 64 bytes with AVX-512, else 16 of 32 (AVX2).
REGISTERS = 2048 if get_host_cpu_features().get("avx512f") else 512


class Vector(types.Type):
    """Numba's type of a vector of ``count`` numbers."""

    def __init__(self, dtype, count):
        self.dtype, self.count = dtype, count
        super().__init__(f"Vector({dtype}, {count})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        item = manager.lookup(kind.dtype).get_value_type()
        super().__init__(manager, kind, ir.VectorType(item, kind.count))


def of_bytes(size):
    """The functions ``read(array, at)``, a vector of ``size`` bytes, and ``items(dtype)`` of it.

    ``size`` is a power of two; all of the vector that begins at ``array[at]`` must be within the array.
    """

    def read(array, at):
        return np.array(array[at : at + size // array.itemsize])

    @intrinsic
    def load(_, array, at):
        kind = Vector(array.dtype, size * 8 // array.dtype.bitwidth)

        def emit(context, builder, signature, arguments):
            pointer, vector = _vector_pointer(context, builder, signature.args[0], *arguments, kind)
            return builder.load(pointer, align=array.dtype.bitwidth // 8, typ=vector)

        return kind(array, types.intp), emit

    @overload(read, jit_options=PART)
    def read_compiled(array, at):
        return lambda array, at: load(array, np.intp(at))

    return read, lambda dtype: size // np.dtype(dtype).itemsize


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


def _vector_pointer(context, builder, array_type, array, at, kind):
    """Address of ``array[at]`` as that of a vector, and LLVM's type of the vector."""
    pointer, _ = element_pointer(context, builder, array_type, array, at)
    vector = context.get_value_type(kind)
    return builder.bitcast(pointer, pointer_to(vector)), vector


def _is_less(builder, kind, left, right):
    if isinstance(kind.dtype, types.Float):
        return builder.fcmp_ordered("<", left, right)
    return builder.icmp_signed("<", left, right)


@intrinsic
def _item(_, array, at):
    def emit(context, builder, signature, arguments):
        pointer, kind = element_pointer(context, builder, signature.args[0], *arguments)
        return builder.load(pointer, typ=kind)

    return array.dtype(array, types.intp), emit


@intrinsic
def _write(_, array, at, vector):
    def emit(context, builder, signature, arguments):
        pointer, _ = _vector_pointer(context, builder, signature.args[0], *arguments[:2], vector)
        builder.store(arguments[2], pointer, align=vector.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, vector), emit


@intrinsic
def _plus(_, vector, number):
    def emit(context, builder, signature, arguments):
        kind = context.get_value_type(signature.args[0])
        nothing, index = ir.Constant(kind, ir.Undefined), ir.IntType(32)
        first = builder.insert_element(nothing, arguments[1], index(0))
        everywhere = ir.Constant(ir.VectorType(index, vector.count), [0] * vector.count)
        spread = builder.shuffle_vector(first, nothing, everywhere)
        add = builder.fadd if isinstance(vector.dtype, types.Float) else builder.add
        return add(arguments[0], spread)

    return vector(vector, vector.dtype), emit


@intrinsic
def _lesser(_, left, right):
    def emit(context, builder, signature, arguments):
        return builder.select(_is_less(builder, left, *arguments), *arguments)

    return left(left, right), emit


@intrinsic
def _any_less(_, left, right):
    def emit(context, builder, signature, arguments):
        bits = ir.IntType(left.count)
        less = builder.bitcast(_is_less(builder, left, *arguments), bits)
        return builder.icmp_unsigned("!=", less, bits(0))

    return types.boolean(left, right), emit


@overload(item, jit_options=PART)
def _item_compiled(array, at):
    return lambda array, at: _item(array, np.intp(at))


@overload(write, jit_options=PART)
def _write_compiled(array, at, vector):
    return lambda array, at, vector: _write(array, np.intp(at), vector)


@overload(wrapping_add, jit_options=PART)
def _plus_compiled(vector, number):
    return lambda vector, number: _plus(vector, number)


@overload(lesser, jit_options=PART)
def _lesser_compiled(left, right):
    return lambda left, right: _lesser(left, right)


@overload(any_less, jit_options=PART)
def _any_less_compiled(left, right):
    return lambda left, right: _any_less(left, right)
