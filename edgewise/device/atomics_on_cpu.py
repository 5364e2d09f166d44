"""The atomic operations of :mod:`~edgewise.device.atomics` as LLVM's instructions, for the CPU compiler.

The instructions are written into the function that uses them.  An overload would be a function of its own for
each set of types, which takes 5 ms to compile.
"""

from numba import types
from numba.extending import lower_builtin, type_callable

from edgewise.device.numba_arrays import element_pointer


def _give(function, emit, n_values=1, returns=True):
    """Give ``function(array, index, *values)``, whose values have the type of items, to the CPU compiler."""

    def signature_of(array, *values):
        kind = array.dtype if returns else types.void
        return kind(array, types.intp, *[array.dtype] * n_values)

    typers = {
        0: lambda array, index: signature_of(array),
        1: lambda array, index, value: signature_of(array),
        2: lambda array, index, expected, value: signature_of(array),
    }
    type_callable(function)(lambda context: typers[n_values])
    lower_builtin(function, types.Array, types.intp, *[types.Any] * n_values)(emit)


def _pointer(context, builder, signature, arguments):
    return element_pointer(context, builder, signature.args[0], arguments[0], arguments[1])


def _fence(context, builder, signature, arguments):
    builder.fence("acq_rel")
    return context.get_dummy_value()


def _cas(context, builder, signature, arguments):
    pointer, _ = _pointer(context, builder, signature, arguments)
    pair = builder.cmpxchg(pointer, arguments[2], arguments[3], "acq_rel", "acquire")
    return builder.extract_value(pair, 0)


def _load(context, builder, signature, arguments):
    pointer, kind = _pointer(context, builder, signature, arguments)
    return builder.load_atomic(pointer, "acquire", context.get_abi_sizeof(kind), typ=kind)


def _store(context, builder, signature, arguments):
    pointer, kind = _pointer(context, builder, signature, arguments)
    builder.store_atomic(arguments[2], pointer, "release", context.get_abi_sizeof(kind))
    return context.get_dummy_value()


def _read_modify_write(signed, unsigned, real):
    def emit(context, builder, signature, arguments):
        kind = signature.return_type
        whole = signed if getattr(kind, "signed", True) else unsigned
        pointer, _ = _pointer(context, builder, signature, arguments)
        name = real if isinstance(kind, types.Float) else whole
        return builder.atomic_rmw(name, pointer, arguments[2], "acq_rel")

    return emit


def give_atomics(cas, load, store, fence, fetch_add, fetch_max, fetch_min, fetch_or):
    """Give the operations of :mod:`~edgewise.device.atomics` to the CPU compiler."""
    type_callable(fence)(lambda context: lambda: types.void)
    lower_builtin(fence)(_fence)
    _give(cas, _cas, n_values=2)
    _give(load, _load, n_values=0)
    _give(store, _store, returns=False)
    _give(fetch_min, _read_modify_write("min", "umin", "fmin"))
    _give(fetch_max, _read_modify_write("max", "umax", "fmax"))
    _give(fetch_add, _read_modify_write("add", "add", "fadd"))
    _give(fetch_or, _read_modify_write("or", "or", None))
