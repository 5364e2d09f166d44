"""``relax``: a moment of a thread that waits for another, during which it leaves the core's units alone."""

import platform

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from edgewise.device.target import PART

#: LLVM's intrinsic for x86 processors, whose instruction takes 10 to 50 ns.
PAUSE, X86 = "llvm.x86.sse2.pause", ("x86_64", "AMD64")


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
