"""The atomic operations of :mod:`~edgewise.device.atomics` as LLVM's instructions, for the CPU compiler."""

import numpy as np
from numba import types
from numba.extending import intrinsic

from edgewise.device.numba_arrays import element_pointer
from edgewise.device.target import overload_on_cpu


@intrinsic
def _cpu_fence(_):
    def emit(context, builder, signature, arguments):
        builder.fence("acq_rel")
        return context.get_dummy_value()

    return types.void(), emit


@intrinsic
def _cpu_cas(_, array, index, expected, value):
    def emit(context, builder, signature, arguments):
        pointer, _ = element_pointer(context, builder, signature.args[0], arguments[0], arguments[1])
        pair = builder.cmpxchg(pointer, arguments[2], arguments[3], "acq_rel", "acquire")
        return builder.extract_value(pair, 0)

    return array.dtype(array, types.intp, array.dtype, array.dtype), emit


def _read_modify_write(signed, unsigned, real):
    @intrinsic
    def operation(_, array, index, value):
        whole = signed if getattr(array.dtype, "signed", True) else unsigned
        name = real if isinstance(array.dtype, types.Float) else whole

        def emit(context, builder, signature, arguments):
            pointer, _ = element_pointer(context, builder, signature.args[0], arguments[0], arguments[1])
            return builder.atomic_rmw(name, pointer, arguments[2], "acq_rel")

        return array.dtype(array, types.intp, array.dtype), emit

    return operation


@intrinsic
def _cpu_load(_, array, index):
    def emit(context, builder, signature, arguments):
        pointer, kind = element_pointer(context, builder, signature.args[0], arguments[0], arguments[1])
        return builder.load_atomic(pointer, "acquire", context.get_abi_sizeof(kind), typ=kind)

    return array.dtype(array, types.intp), emit


@intrinsic
def _cpu_store(_, array, index, value):
    def emit(context, builder, signature, arguments):
        pointer, kind = element_pointer(context, builder, signature.args[0], arguments[0], arguments[1])
        builder.store_atomic(arguments[2], pointer, "release", context.get_abi_sizeof(kind))
        return context.get_dummy_value()

    return types.void(array, types.intp, array.dtype), emit


def _with_value(operation):
    """An overload that converts the index and the value for an intrinsic."""

    def overloaded(array, index, value):
        return lambda array, index, value: operation(array, np.intp(index), array.dtype.type(value))

    return overloaded


def overload_atomics(cas, load, store, fence, fetch_add, fetch_max, fetch_min, fetch_or):
    """Give the operations of :mod:`~edgewise.device.atomics` to the CPU compiler."""

    @overload_on_cpu(cas)
    def _cas_on_cpu(array, index, expected, value):
        def swap(array, index, expected, value):
            return _cpu_cas(array, np.intp(index), array.dtype.type(expected), array.dtype.type(value))

        return swap

    overload_on_cpu(fence)(lambda: lambda: _cpu_fence())
    overload_on_cpu(load)(lambda array, index: lambda array, index: _cpu_load(array, np.intp(index)))
    overload_on_cpu(fetch_min)(_with_value(_read_modify_write("min", "umin", "fmin")))
    overload_on_cpu(fetch_max)(_with_value(_read_modify_write("max", "umax", "fmax")))
    overload_on_cpu(fetch_add)(_with_value(_read_modify_write("add", "add", "fadd")))
    overload_on_cpu(fetch_or)(_with_value(_read_modify_write("or", "or", None)))
    overload_on_cpu(store)(_with_value(_cpu_store))
