"""The operations of :mod:`~edgewise.primitives.vectors` as LLVM's instructions, for the CPU compiler."""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model

from edgewise.device.numba_arrays import element_pointer, pointer_to
from edgewise.device.target import overload_on_cpu


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


def register_read(read, size):
    """Make ``read`` callable from CPU kernels, for vectors of ``size`` bytes."""

    @intrinsic
    def load(_, array, at):
        kind = Vector(array.dtype, size * 8 // array.dtype.bitwidth)

        def emit(context, builder, signature, arguments):
            pointer, vector = _vector_pointer(
                context, builder, signature.args[0], arguments[0], arguments[1], kind
            )
            return builder.load(pointer, align=array.dtype.bitwidth // 8, typ=vector)

        return kind(array, types.intp), emit

    @overload_on_cpu(read)
    def read_on_cpu(array, at):
        return lambda array, at: load(array, np.intp(at))


def _vector_pointer(context, builder, array_type, array, at, kind):
    """Address of ``array[at]`` as that of a vector, and LLVM's type of the vector."""
    pointer, _ = element_pointer(context, builder, array_type, array, at)
    vector = context.get_value_type(kind)
    is_typed = not getattr(pointer.type, "is_opaque", True)  # then llvmlite compares it with what is stored
    return builder.bitcast(pointer, ir.PointerType(vector) if is_typed else pointer_to(vector)), vector


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
        pointer, _ = _vector_pointer(context, builder, signature.args[0], arguments[0], arguments[1], vector)
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


def _by_items(of_floats, of_integers):
    """An operation on the items of two vectors of one type, by the names of LLVM's instructions."""

    @intrinsic
    def operation(_, left, right):
        def emit(context, builder, signature, arguments):
            name = of_floats if isinstance(left.dtype, types.Float) else of_integers
            return getattr(builder, name)(*arguments)

        return left(left, right), emit

    return operation


_added, _product, _quotient = _by_items("fadd", "add"), _by_items("fmul", "mul"), _by_items("fdiv", "sdiv")


@intrinsic
def _chosen(_, vector, bits):
    def emit(context, builder, signature, arguments):
        word, flags = ir.IntType(vector.count), ir.VectorType(ir.IntType(1), vector.count)
        held = context.cast(builder, arguments[1], signature.args[1], types.uint64)
        is_chosen = builder.bitcast(builder.trunc(held, word), flags)
        nothing = ir.Constant(context.get_value_type(vector), None)
        return builder.select(is_chosen, arguments[0], nothing)

    return vector(vector, bits), emit


@intrinsic
def _total(_, vector):
    def emit(context, builder, signature, arguments):
        (rest,), count, index = arguments, vector.count, ir.IntType(32)
        add = builder.fadd if isinstance(vector.dtype, types.Float) else builder.add
        while count > 1:
            count //= 2
            lower, upper = (
                ir.Constant(ir.VectorType(index, count), list(range(first, first + count)))
                for first in (0, count)
            )
            nothing = ir.Constant(rest.type, ir.Undefined)
            rest = add(*(builder.shuffle_vector(rest, nothing, half) for half in (lower, upper)))
        return builder.extract_element(rest, index(0))

    return vector.dtype(vector), emit


def overload_arithmetic(added, product, quotient, chosen, total):
    """Give the arithmetic of :mod:`~edgewise.primitives.vectors` to the CPU compiler."""
    for function, operation in ((added, _added), (product, _product), (quotient, _quotient)):
        overload_on_cpu(function)(_calling(operation))

    @overload_on_cpu(chosen)
    def _chosen_compiled(vector, bits):
        return lambda vector, bits: _chosen(vector, bits)

    @overload_on_cpu(total)
    def _total_compiled(vector):
        return lambda vector: _total(vector)


def _calling(operation):
    """An overload that calls an intrinsic of two vectors."""

    def overload(left, right):
        return lambda left, right: operation(left, right)

    return overload


def overload_vectors(item, write, wrapping_add, lesser, any_less):
    """Give the operations of :mod:`~edgewise.primitives.vectors` to the CPU compiler."""

    @overload_on_cpu(item)
    def _item_compiled(array, at):
        return lambda array, at: _item(array, np.intp(at))

    @overload_on_cpu(write)
    def _write_compiled(array, at, vector):
        return lambda array, at, vector: _write(array, np.intp(at), vector)

    @overload_on_cpu(wrapping_add)
    def _plus_compiled(vector, number):
        return lambda vector, number: _plus(vector, number)

    @overload_on_cpu(lesser)
    def _lesser_compiled(left, right):
        return lambda left, right: _lesser(left, right)

    @overload_on_cpu(any_less)
    def _any_less_compiled(left, right):
        return lambda left, right: _any_less(left, right)


@intrinsic
def _union(_, left, right):
    return left(left, right), lambda context, builder, signature, arguments: builder.or_(*arguments)


@intrinsic
def _without(_, left, right):
    def emit(context, builder, signature, arguments):
        return builder.and_(arguments[0], builder.not_(arguments[1]))

    return left(left, right), emit


@intrinsic
def _any_bit(_, vector):
    def emit(context, builder, signature, arguments):
        zeros = ir.Constant(context.get_value_type(vector), None)
        some = builder.icmp_unsigned("!=", arguments[0], zeros)
        return builder.icmp_unsigned(
            "!=", builder.bitcast(some, ir.IntType(vector.count)), ir.Constant(ir.IntType(vector.count), 0)
        )

    return types.boolean(vector), emit


@intrinsic
def _count_bits(_, vector):
    def emit(context, builder, signature, arguments):
        kind, bits = context.get_value_type(vector), vector.dtype.bitwidth
        suffix = f"v{vector.count}i{bits}"
        count = builder.module.declare_intrinsic(f"llvm.ctpop.{suffix}", fnty=ir.FunctionType(kind, [kind]))
        add = builder.module.declare_intrinsic(
            f"llvm.vector.reduce.add.{suffix}", fnty=ir.FunctionType(kind.element, [kind])
        )
        return builder.zext(builder.call(add, [builder.call(count, arguments)]), ir.IntType(64))

    return types.int64(vector), emit


def overload_bits(union, without, any_bit, count_bits):
    """Give the operations on bits to the CPU compiler."""

    @overload_on_cpu(union)
    def _union_compiled(left, right):
        return lambda left, right: _union(left, right)

    @overload_on_cpu(without)
    def _without_compiled(left, right):
        return lambda left, right: _without(left, right)

    @overload_on_cpu(any_bit)
    def _any_bit_compiled(vector):
        return lambda vector: _any_bit(vector)

    @overload_on_cpu(count_bits)
    def _count_bits_compiled(vector):
        return lambda vector: _count_bits(vector)
