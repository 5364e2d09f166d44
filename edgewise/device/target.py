"""Which compilers are there, and how one plain function is made known to them.

A function marked ``@device`` stays plain Python.  The CPU compiler learns of it at once, the CUDA
compiler only when a CUDA kernel is compiled for the first time, so that work on the CPU never pays for
importing CUDA and nothing needs a driver at import.
"""

import os
from threading import RLock

from numba.extending import register_jitable

from edgewise.device.parts import PartCompiler

#: No compilation at all: bodies run in the Python interpreter (``NUMBA_DISABLE_JIT=1``).
INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
#: CUDA kernels run in Numba's simulator on the CPU (``NUMBA_ENABLE_CUDASIM=1``).
SIMULATED = os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")

#: Compiled functions own no array, so they need not count references: counting is atomic, and would cost more
#: than most bodies do.  Hence they must not allocate.  Nor are they handed to C as pointers.
_BARE = {"_nrt": False, "no_cfunc_wrapper": True}
#: How device functions are compiled for the CPU.
PART = {**_BARE, "pipeline_class": PartCompiler}
#: How functions are compiled that Python calls: dividing by zero is no error, as on GPUs.
WHOLE = {**_BARE, "error_model": "numpy"}

#: Compiling for CUDA is for one thread at a time: Numba is told the device by a global of its own.
one_compiler = RLock()
_waiting_for_cuda: list = []
_cuda_ready = False


def device(function):
    """Make ``function`` callable from CPU and CUDA kernels; it stays a plain Python function."""
    register_jitable(**PART)(function)
    on_cuda(lambda: _register_for_cuda(function))
    return function


def on_cuda(register):
    """Call ``register()`` once the CUDA compiler is in use, now or later."""
    if _cuda_ready:
        register()
    else:
        _waiting_for_cuda.append(register)


def cuda_compiler():
    """Return the module ``numba.cuda`` with every device function registered."""
    global _cuda_ready
    from numba import cuda

    with one_compiler:
        while _waiting_for_cuda:
            _waiting_for_cuda.pop(0)()
        _cuda_ready = True
    return cuda


def _register_for_cuda(function):
    if not SIMULATED:
        from numba.cuda.extending import register_jitable as register_for_cuda

        register_for_cuda(function)
