"""The compilers in use, and the registration of plain functions with them.

A function marked ``@device`` is registered with each of the two compilers when that first compiles.  So no
import needs a compiler or a driver, work on the CPU never imports CUDA, a process that only runs kernels that
others have compiled registers nothing, and one that only launches kernels on a GPU does without Numba.
"""

import os
import sys
from functools import cache
from threading import RLock

from edgewise.device.first_use import for_cuda, on_cpu_compiler, on_cuda
from edgewise.device.interrupts import interrupts_kept

#: CUDA kernels run in the explorer on the CPU (``EDGEWISE_SIMULATOR=1``, :mod:`edgewise.device.explorer`).
SIMULATED = os.environ.get("EDGEWISE_SIMULATOR", "0") not in ("", "0")
#: No compilation at all: bodies run in the Python interpreter (``NUMBA_DISABLE_JIT=1``, or the explorer).
INTERPRETED = SIMULATED or os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")

#: One thread compiles for CUDA at a time, because Numba reads the target GPU from a global variable.
one_compiler = RLock()


@cache
def cpu_compiler():
    """Return the page ``numba_internals``, with which compiled functions are made."""
    with interrupts_kept():
        from edgewise.device import numba_internals

    return numba_internals


def cpu_compiler_is_loaded() -> bool:
    """Whether compiled functions start at once; the first one waits until Numba is imported."""
    return "edgewise.device.numba_internals" in sys.modules


def cuda_compiler():
    """Return the module ``numba.cuda`` with every device function registered."""
    from edgewise.device.gpu_compiler import cuda

    with one_compiler:
        for_cuda.use()
    return cuda


def device(function):
    """Make ``function`` callable from CPU and CUDA kernels; it stays a plain Python function."""
    on_cpu(function)
    on_cuda(lambda: _register_for_cuda(function))
    return function


def on_cpu(function):
    """Make ``function`` callable from CPU kernels; it stays a plain Python function."""
    on_cpu_compiler(lambda: _register_for_cpu(function))
    return function


def on_gpu(function):
    """Make ``function`` callable from CUDA kernels; for the CPU it needs an overload, which is short."""
    on_cuda(lambda: _register_for_cuda(function))
    return function


def inlined(function):
    """As :func:`device`, for a function that is copied into its callers on the CPU.

    A call takes tens of nanoseconds if the arguments are records of arrays, which are copied to the stack.
    """
    on_cpu_compiler(lambda: _register_for_cpu(function, forceinline=True))
    on_cuda(lambda: _register_for_cuda(function))
    return function


def called(function):
    """As :func:`device`, for a function that LLVM copies into none of its callers on the CPU.

    Where many of them call it, as they do at barriers, copies take longer to compile than the callers.
    """
    on_cpu_compiler(lambda: _register_for_cpu(function, called=True))
    on_cuda(lambda: _register_for_cuda(function))
    return function


def inlined_on_cuda(function):
    """``function`` for CUDA kernels alone, which have a copy of it each."""
    if INTERPRETED:
        return function
    from edgewise.device.gpu_compiler import cuda

    return cuda.jit(device=True, inline="always")(function)


def overload_on_cpu(function, forceinline=False, **options):
    """Numba's ``overload`` for the CPU compiler, once that is used; ``forceinline`` as in :func:`inlined`."""

    def wait(implementation):
        on_cpu_compiler(lambda: _overload_on_cpu(function, implementation, forceinline, options))
        return implementation

    return wait


def overload_on_cuda(function, **options):
    """Numba's ``overload`` for the CUDA compiler, once that is used."""

    def wait(implementation):
        on_cuda(lambda: _overload_on_cuda(function, implementation, options))
        return implementation

    return wait


def _register_for_cpu(function, called=False, **options):
    from numba.extending import register_jitable

    from edgewise.device.numba_internals import CALLED_PART, PART

    options = {**(CALLED_PART if called else PART), **options}
    (register_jitable(**options) if options else register_jitable)(function)


def _overload_on_cpu(function, implementation, forceinline, options):
    from numba.extending import overload

    from edgewise.device.numba_internals import PART

    own = {**PART, "forceinline": True} if forceinline else PART
    overload(function, jit_options=own, **options)(implementation)


def _overload_on_cuda(function, implementation, options):
    from edgewise.device.gpu_compiler import overload

    overload(function, **options)(implementation)


def _register_for_cuda(function):
    from edgewise.device.gpu_compiler import register_jitable

    register_jitable(function)
