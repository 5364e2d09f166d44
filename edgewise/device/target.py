"""The compilers in use, and the registration of plain functions with them.

A function marked ``@device`` is registered with the CPU compiler immediately, and with the CUDA compiler when
a CUDA kernel is first compiled.  Work on the CPU never imports CUDA, and no import needs a driver.
"""

import os
from threading import RLock

from numba.extending import register_jitable

from edgewise.device.numba_internals import BARE, PART

__all__ = ["INTERPRETED", "PART", "SIMULATED", "WHOLE", "cuda_compiler", "device", "on_cuda", "one_compiler"]

#: No compilation at all: bodies run in the Python interpreter (``NUMBA_DISABLE_JIT=1``).
INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
#: CUDA kernels run in Numba's simulator on the CPU (``NUMBA_ENABLE_CUDASIM=1``).
SIMULATED = os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")

#: Options of functions that Python calls: dividing by zero is no error, as on GPUs.
WHOLE = {**BARE, "error_model": "numpy"}

#: One thread compiles for CUDA at a time, because Numba reads the target GPU from a global variable.
one_compiler = RLock()
_waiting_for_cuda: list = []
_cuda_ready = False


#: Decorator of a plain function that makes it callable from CPU kernels.
on_cpu = register_jitable(**PART) if PART else register_jitable


def device(function):
    """Make ``function`` callable from CPU and CUDA kernels; it stays a plain Python function."""
    on_cpu(function)
    on_cuda(lambda: _register_for_cuda(function))
    return function


def inlined(function):
    """As :func:`device`, for a function that is copied into its callers on the CPU.

    A call takes tens of nanoseconds if the arguments are records of arrays, which are copied to the stack.
    """
    register_jitable(**PART, forceinline=True)(function)
    on_cuda(lambda: _register_for_cuda(function))
    return function


def on_cuda(register):
    """Call ``register()`` when the CUDA compiler is first used, or now if it is in use."""
    if _cuda_ready:
        register()
    else:
        _waiting_for_cuda.append(register)


def overload_on_cuda(function, **options):
    """Numba's ``overload`` for the CUDA compiler, once that is used."""

    def wait(implementation):
        on_cuda(lambda: _overload_on_cuda(function, implementation, options))
        return implementation

    return wait


def cuda_compiler():
    """Return the module ``numba.cuda`` with every device function registered."""
    global _cuda_ready
    from numba import cuda

    with one_compiler:
        while _waiting_for_cuda:
            _waiting_for_cuda.pop(0)()
        _cuda_ready = True
    return cuda


def _overload_on_cuda(function, implementation, options):
    if not SIMULATED:
        from numba.cuda.extending import overload

        overload(function, **options)(implementation)


def _register_for_cuda(function):
    if not SIMULATED:
        from numba.cuda.extending import register_jitable as register_for_cuda

        register_for_cuda(function)
