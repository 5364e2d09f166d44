"""What a thread does that waits for another: ``relax``, ``back_off``, ``leave_core``; and its ``cycles``."""

import platform
import sys

from edgewise.device.first_use import on_cpu_compiler, on_cuda
from edgewise.device.target import device, overload_on_cpu

#: LLVM's intrinsics for x86 processors; a pause takes 10 to 50 ns.
PAUSE, CYCLES, X86 = "llvm.x86.sse2.pause", "llvm.readcyclecounter", ("x86_64", "AMD64")
#: Nanoseconds for which a GPU thread sleeps at a time.
NANOSECONDS = 40


def cycles():
    """The time in cycles of the processor's counter; always 0 where it has none that programs may read."""
    return 0


def relax():
    """Wait for some nanoseconds where the processor has an instruction for that."""


def leave_core():
    """Let the system run another thread on this core, where it has a function for that."""


#: Waits of a thread before it doubles the next one no further: 2 ** this times :func:`relax`.
DOUBLINGS = 6


@device
def back_off(failures):
    """Wait after some failures in a row, each time twice as long as before, up to a few microseconds."""
    for _ in range(1 << min(failures, DOUBLINGS)):
        relax()


def _register_on_cpu():
    """Map both to instructions of the processor."""
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    from edgewise.device.numba_internals import external

    @intrinsic
    def read_cycles(_):
        def emit(context, builder, signature, arguments):
            if platform.machine() not in X86:
                return ir.Constant(ir.IntType(64), 0)
            shape = ir.FunctionType(ir.IntType(64), [])
            return builder.call(builder.module.declare_intrinsic(CYCLES, (), shape), [])

        return types.int64(), emit

    @intrinsic
    def pause(_):
        def emit(context, builder, signature, arguments):
            if platform.machine() in X86:
                shape = ir.FunctionType(ir.VoidType(), [])
                builder.call(builder.module.declare_intrinsic(PAUSE, (), shape), [])
            return context.get_dummy_value()

        return types.void(), emit

    sched_yield = None if sys.platform == "win32" else external("sched_yield", types.int32())

    @overload_on_cpu(leave_core)
    def leave_on_cpu():
        return (lambda: None) if sched_yield is None else (lambda: sched_yield())

    overload_on_cpu(cycles)(lambda: lambda: read_cycles())
    overload_on_cpu(relax)(lambda: lambda: pause())


def _relax_on_cuda():
    from edgewise.device.gpu_compiler import cuda, types
    from edgewise.device.gpu_compiler import overload as overload_for_cuda

    nanoseconds = types.uint32(NANOSECONDS)

    @overload_for_cuda(relax)
    def relax_on_cuda():
        return lambda: cuda.nanosleep(nanoseconds)


on_cpu_compiler(_register_on_cpu)
on_cuda(_relax_on_cuda)
