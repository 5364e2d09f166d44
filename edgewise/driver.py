"""The driver of NVIDIA GPUs starts while Python imports what it will need.

The driver takes about 0.4 seconds until it knows one GPU and has made its context, and 0.65 with two; CuPy is
imported in 0.3 (H100s, November 2026).  Neither waits for the other.  A thread therefore starts the driver
through its C interface as soon as a GPU is asked for, or may be.
CuPy then uses the context that is there, or waits for it: there is one primary context for each GPU of a
process (see the CUDA C++ programming guide, "Context").

What the thread learns first is the GPU's compute capability, for which kernels are compiled: processes that
compile start while the context is being made.

The page imports little, so that a command can start the driver before it imports NumPy.
"""

import os
import sys
from contextlib import suppress
from functools import cache
from threading import Lock

LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
#: What a GPU may be called before its number.
GPU = ("cuda", "gpu")
#: Settings with which GPUs are not used: kernels are simulated or interpreted.
WITHOUT_GPU = ("EDGEWISE_SIMULATOR", "NUMBA_DISABLE_JIT")
#: The driver's numbers of the two parts of a compute capability, as attributes of a device.
MAJOR, MINOR = 75, 76

_one_tells = Lock()
#: The compute capability that was found, and what is called with it once it is.
_found: list[tuple[int, int]] = []
_waiting: list = []


def when_found(call):
    """Call ``call(capability)`` once the compute capability of a GPU is known, or now; never without a GPU.

    The call may come from the thread of the driver, while others import: it must import nothing.
    """
    with _one_tells:
        if not _found:
            _waiting.append(call)
            return
    call(_found[0])


@cache
def start(number: int | None = None) -> bool:
    """Start the driver, and make the context of a GPU by its number, in a thread; return whether it runs.

    Nothing is done without CuPy, which needs the driver.  An error is left to CuPy, which meets it again.
    The thread is waited for at the end of the process, because the driver must not be unloaded meanwhile.
    """
    from importlib.util import find_spec
    from threading import Thread

    if any(os.environ.get(name, "0") not in ("", "0") for name in WITHOUT_GPU):
        return False
    if "cupy" in sys.modules or find_spec("cupy") is not None:
        with suppress(RuntimeError):  # too many threads, say; then CuPy starts the driver
            Thread(target=_start, args=(LIBRARY, number), name="edgewise-driver").start()
            return True
    return False


def _start(library, number):
    import ctypes

    try:
        driver = ctypes.CDLL(library)
    except OSError:  # there is none
        return
    device, context, value = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_int()
    if driver.cuInit(0) or number is None or driver.cuDeviceGet(ctypes.byref(device), number):
        return
    capability = []
    for attribute in (MAJOR, MINOR):
        if driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, device) == 0:
            capability.append(value.value)
    if len(capability) == 2:
        _tell(tuple(capability))
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)


def _tell(capability):
    with _one_tells:
        _found.append(capability)
        calls, _waiting[:] = _waiting[:], []
    for call in calls:
        call(capability)


def number_of(device: str) -> int | None:
    """Number of the GPU that ``device`` names, of the first one if it may be that one, or ``None``."""
    kind, _, number = device.partition(":")
    if device != "auto" and kind not in GPU:
        return None
    return int(number or 0) if number == "" or number.isdecimal() else None
