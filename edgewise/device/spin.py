"""What a thread does that waits for another: ``relax``, ``back_off``, and read the ``cycles`` that passed."""

import platform

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from edgewise.device.target import PART, SIMULATED, device, on_cuda

#: LLVM's intrinsics for x86 processors; a pause takes 10 to 50 ns.
PAUSE, CYCLES, X86 = "llvm.x86.sse2.pause", "llvm.readcyclecounter", ("x86_64", "AMD64")
#: Nanoseconds for which a GPU thread sleeps at a time.
NANOSECONDS = 40


def cycles():
    """The time in cycles of the processor's counter; always 0 where it has none that programs may read."""
    return 0


@intrinsic
def _cpu_cycles(_):
    def emit(context, builder, signature, arguments):
        if platform.machine() not in X86:
            return ir.Constant(ir.IntType(64), 0)
        shape = ir.FunctionType(ir.IntType(64), [])
        return builder.call(builder.module.declare_intrinsic(CYCLES, (), shape), [])

    return types.int64(), emit


@overload(cycles, jit_options=PART)
def _cycles_on_cpu():
    return lambda: _cpu_cycles()


def relax():
    """Wait for some nanoseconds where the processor has an instruction for that."""


@intrinsic
def _cpu_relax(_):
    def emit(context, builder, signature, arguments):
        if platform.machine() in X86:
            shape = ir.FunctionType(ir.VoidType(), [])
            builder.call(builder.module.declare_intrinsic(PAUSE, (), shape), [])
        return context.get_dummy_value()

    return types.void(), emit


@overload(relax, jit_options=PART)
def _relax_on_cpu():
    return lambda: _cpu_relax()


#: Waits of a thread before it doubles the next one no further: 2 ** this times :func:`relax`.
MAX_DOUBLINGS = 6


@device
def back_off(failures):
    """Wait after some failures in a row, each time twice as long as before, up to a few microseconds."""
    for _ in range(1 << min(failures, MAX_DOUBLINGS)):
        relax()


def _relax_on_cuda():
    if SIMULATED:
        return
    from numba import cuda, types
    from numba.cuda.extending import overload as overload_for_cuda

    nanoseconds = types.uint32(NANOSECONDS)

    @overload_for_cuda(relax)
    def relax_on_cuda():
        return lambda: cuda.nanosleep(nanoseconds)


on_cuda(_relax_on_cuda)
