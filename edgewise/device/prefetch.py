"""``prefetch``: start to read an array element early, so that a later read does not wait for memory.

Graph searches prefetch the rows of some dozens of vertices before they process them.  A prefetch is a hint:
it changes no value, and an index beyond the array is harmless.
"""

import numpy as np

from edgewise.device.first_use import on_cpu_compiler
from edgewise.device.target import overload_on_cpu, overload_on_cuda

#: Arguments of LLVM's intrinsic: for reading, keep in all caches, data and not instructions.
TO_READ, KEEP, DATA = 0, 3, 1


def prefetch(array, index):
    """Start to read ``array[index]`` if the processor supports that."""


def _register_on_cpu():
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    from edgewise.device.numba_arrays import element_pointer, pointer_to

    @intrinsic
    def start(_, array, index):
        def emit(context, builder, signature, arguments):
            at, number = pointer_to(ir.IntType(8)), ir.IntType(32)
            shape = ir.FunctionType(ir.VoidType(), [at, number, number, number])
            hint = builder.module.declare_intrinsic("llvm.prefetch", [at], shape)
            pointer, _ = element_pointer(context, builder, signature.args[0], arguments[0], arguments[1])
            builder.call(hint, [builder.bitcast(pointer, at), number(TO_READ), number(KEEP), number(DATA)])
            return context.get_dummy_value()

        return types.void(array, types.intp), emit

    overload_on_cpu(prefetch)(lambda array, index: lambda array, index: start(array, np.intp(index)))


on_cpu_compiler(_register_on_cpu)


@overload_on_cuda(prefetch)
def _prefetch_on_cuda(array, index):
    return lambda array, index: None  # other warps hide the latency
