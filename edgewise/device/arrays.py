"""The device of an array, and the creation and movement of arrays.

A *device* is a string: ``"cpu"`` (NumPy) or ``"cuda:0"``, ``"cuda:1"`` ... (CuPy).  The arrays of
the simulated GPU, which is the only one then, are NumPy arrays of the class :class:`Simulated`.
"""

import sys
from functools import cache
from importlib.util import find_spec

import numpy as np

from edgewise import driver, memory
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.errors import DeviceError, OutOfMemoryError, argument, one_of

#: What a device may be called.
DEVICES = ("auto", "cpu", "gpu", "cuda", "cuda:N")
#: Items up to which the host computes with a copy, or makes an array, since CuPy's kernels need compiling.
HOST_ITEMS = 1 << 11
_NUMBERS = frozenset((int, float, bool, np.int64, np.int32, np.float64))


#: Bytes of new memory of the simulated GPU: an odd value, which shows where it is read before it is written.
UNWRITTEN = 0xA5


class Simulated(np.ndarray):
    """An array "on" the simulated GPU."""

    __array_priority__ = 1  # results of mixed operations have this class


def device_of(*arguments, contiguous=False) -> str:
    """Device of the arrays among ``arguments`` and in their records; ``"cpu"`` if there is none.

    Arrays on several devices are refused, and, with ``contiguous``, arrays that are not contiguous.
    """
    return _common_device(arguments, contiguous, arguments) or "cpu"


def is_one_number(array) -> bool:
    """Whether all items of an array are one number in memory, as weights of 1 and columns not yet read."""
    return array.strides == (0,) and len(array) > 0


def gpu_of(arguments):
    """GPU of the first array among a launch's arguments, ``None`` on the host; the launch checks them all."""
    for value in arguments:
        if isinstance(value, np.ndarray):
            return None
        if isinstance(value, tuple):
            gpu = gpu_of(value)
            if gpu is not None:
                return gpu
        elif type(value) not in _NUMBERS and getattr(value, "ndim", None):
            return _cuda_device(value.data.device_id)
    return None


def _common_device(values, contiguous, arguments):
    """Device of the arrays in ``values`` and in their records; ``None`` where there is no array."""
    common = None
    for value in values:
        if type(value) is np.ndarray and value.ndim and value.flags.c_contiguous:
            device = "cpu"
        elif isinstance(value, tuple):
            device = _common_device(value, contiguous, arguments)
        elif getattr(value, "ndim", 0):
            if contiguous and value.size > 1 and value.strides[-1] != value.itemsize:
                raise DeviceError(
                    f"{_name_of(value, arguments)} is not contiguous; pass arrays.contiguous(array)"
                )
            device = _device(value)
        else:
            continue
        if common is None:
            common = device
        elif device is not None and device != common:
            name = _name_of(value, arguments)
            raise DeviceError(f"the arrays are on several devices ({common}; {device}: {name}); use one")
    return common


def _name_of(value, arguments):
    """Name of an argument, or of a field of a record among the arguments."""

    def path(record):
        for position, field in enumerate(record):
            name = record._fields[position] if hasattr(record, "_fields") else str(position)
            if field is value:
                return name
            inner = path(field) if isinstance(field, tuple) else None
            if inner is not None:
                return f"{name}.{inner}"
        return None

    for number, given in enumerate(arguments):
        if given is value:
            return f"argument {number}"
        field = path(given) if isinstance(given, tuple) else None
        if field is not None:
            return f"{field} of argument {number} ({type(given).__name__})"
    return "an array"


def _device(array) -> str:
    if isinstance(array, np.ndarray):
        return "cuda:0" if isinstance(array, Simulated) else "cpu"
    return _cuda_device(array.data.device_id)


def address(array) -> int:
    """Where the first item of an array is in memory."""
    return array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr


@cache
def _cuda_device(number):
    return f"cuda:{number}"


def resolve(where: str) -> str:
    """Normalise a device given by a user.

    ``cuda`` and ``gpu`` mean ``cuda:0``, ``gpu:1`` means ``cuda:1``, and ``auto`` a GPU if there is one.
    """
    if not isinstance(where, str):
        raise DeviceError(f"device {where!r} is unknown; use a string, one of {', '.join(DEVICES)}")
    if (gpu := driver.number_of(where)) is not None:
        driver.start(gpu)
    if where == "auto":
        return "cuda:0" if gpu_count() else "cpu"
    if where == "cpu":
        return "cpu"
    kind, _, number = where.partition(":")
    if kind not in driver.GPU or not (number == "" or number.isdecimal()):
        raise DeviceError(f"device {where!r} is unknown; {one_of(where, DEVICES)}")
    count = gpu_count()
    if int(number or 0) >= count:
        raise DeviceError(
            f"device {where!r} is not there ({count} usable GPUs: {why_no_gpu() or 'numbered from 0'}); "
            f"use {argument('device', 'cpu')}, or install edgewise with its extra cuda13 or cuda12, to match "
            "the driver"
        )
    return f"cuda:{int(number or 0)}"


def gpu_count() -> int:
    """Number of usable GPUs; 0 when CuPy, the compiler or the driver is missing."""
    return 0 if why_no_gpu() else (1 if SIMULATED else _cupy().cuda.runtime.getDeviceCount())


def gpu_name(number: int) -> str:
    """Name of a GPU by its number."""
    if SIMULATED:
        return "simulated GPU"
    return _cupy().cuda.runtime.getDeviceProperties(number)["name"].decode()


def why_no_gpu() -> str | None:
    """Reason why no GPU can be used, or ``None``."""
    if SIMULATED:
        return None
    if INTERPRETED:
        return "NUMBA_DISABLE_JIT is set, and kernels of GPUs are compiled"
    try:
        import cupy
    except ImportError as missing:
        return f"{missing.name} is not installed"
    if "numba_cuda" not in sys.modules and find_spec("numba_cuda") is None:  # its import reads a file
        return "numba_cuda is not installed"
    try:
        return None if cupy.cuda.runtime.getDeviceCount() else "the driver reports no GPU"
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"driver: {error}"


def _cupy():
    import cupy

    return cupy


def namespace(array_or_device):
    """The module, NumPy or CuPy, of the functions for these arrays."""
    device = array_or_device if isinstance(array_or_device, str) else device_of(array_or_device)
    return np if device == "cpu" or SIMULATED else _cupy()


def empty(count, dtype, device="cpu"):
    """Uninitialised one-dimensional array of ``count`` items."""
    if device == "cpu":
        return np.empty(count, dtype)
    if SIMULATED:
        array = np.empty(count, dtype)
        array.view(np.uint8).fill(UNWRITTEN)
        return array.view(Simulated)
    with on(device):
        return _cupy().empty(count, dtype)


def full(count, value, dtype, device="cpu"):
    """Array of ``count`` items equal to ``value``."""
    if count <= HOST_ITEMS:
        return move(np.full(count, value, dtype), device)
    array, written = empty(count, dtype, device), {*np.full(1, value, dtype).tobytes()}
    if len(written) == 1 and device != "cpu" and not SIMULATED:
        array.data.memset_async(*written, array.nbytes)  # by the driver: CuPy would compile a kernel
    else:
        array.fill(value)
    return array


def zeros(count, dtype, device="cpu"):
    """Array of ``count`` zeros."""
    if device == "cpu":
        return np.zeros(count, dtype)
    if SIMULATED:
        return np.zeros(count, dtype).view(Simulated)
    with on(device):
        return _cupy().zeros(count, dtype)  # by the driver, which takes less time than a kernel


def adopt(values):
    """A CuPy array over an object with ``__cuda_array_interface__``, without a copy."""
    return values if isinstance(values, _cupy().ndarray) else _cupy().asarray(values)


def contiguous(array):
    """``array`` in contiguous memory; itself if it is contiguous."""
    return array if array.flags.c_contiguous else array.copy()


def move(array, device):
    """``array`` on ``device``; itself if it is there."""
    here = device_of(array)
    if here == device:
        return array
    if SIMULATED:
        return array.view(np.ndarray) if device == "cpu" else array.copy().view(Simulated)
    if device == "cpu":
        return _cupy().asnumpy(array)
    try:
        if here != "cpu":
            return _from_gpu_to_gpu(array, here, device)
        with on(device):
            return _cupy().asarray(array)
    except _cupy().cuda.memory.OutOfMemoryError:
        raise out_of_memory(array.nbytes, device) from None


def on_host_if_small(array):
    """``array``, or a copy on the host if it is small; there CuPy need not compile or load any kernel."""
    return move(array, "cpu") if len(array) <= HOST_ITEMS else array


def _from_gpu_to_gpu(array, here, device):
    """A copy on ``device``, ordered with earlier and later work on ``here``."""
    current = _cupy().cuda.get_current_stream
    with on(here):
        ready = current().record()
    with on(device):
        current().wait_event(ready)
        moved = array.copy()
        copied = current().record()
    with on(here):
        current().wait_event(copied)
    return moved


class on:
    """Context in which new CUDA arrays and launches go to ``device``."""

    def __init__(self, device):
        self.guard = None if device == "cpu" or SIMULATED else _cupy().cuda.Device(int(device[5:]))

    def __enter__(self):
        if self.guard:
            self.guard.__enter__()

    def __exit__(self, *raised):
        if self.guard:
            self.guard.__exit__(*raised)


class guard(on):
    """Context for work on ``where``; errors of memory tell how many bytes are free."""

    def __init__(self, where):
        super().__init__(where)
        self.where = where

    def __exit__(self, kind, error, trace):
        super().__exit__(kind, error, trace)
        if isinstance(error, MemoryError) and not isinstance(error, OutOfMemoryError):
            where = self.where
            raise OutOfMemoryError(
                f"{where} ran out of memory ({error}; {free_memory(where):,} bytes free); use a smaller graph"
                + ("" if where == "cpu" else f" or {argument('device', 'cpu')}")
            ) from error


def synchronize(device):
    """Block the host until the work queued on ``device`` is done."""
    if device == "cpu" or SIMULATED:
        return
    if int(device[5:]) == _cupy().cuda.runtime.getDevice():  # without a context
        _cupy().cuda.get_current_stream().synchronize()
        return
    with on(device):
        _cupy().cuda.get_current_stream().synchronize()


def free_memory(device) -> int:
    """Bytes that may still be allocated on ``device``.

    On the host this is within :func:`edgewise.memory.limit`, and on a GPU within the limit of CuPy's pool.
    """
    if device == "cpu" or SIMULATED:
        return memory.free()
    with on(device):
        pool = _cupy().get_default_memory_pool()
        free = _cupy().cuda.runtime.memGetInfo()[0] + pool.free_bytes()
        limit = pool.get_limit()
        return min(free, max(0, limit - pool.used_bytes())) if limit else free


def out_of_memory(needed: int, where: str) -> OutOfMemoryError:
    """The error for an allocation of ``needed`` bytes that failed on ``where``."""
    return OutOfMemoryError(
        f"{where} has too little memory: {needed:,} bytes needed, {free_memory(where):,} free; "
        f"use {argument('device', 'cpu')} or a smaller graph"
    )
