"""Arrays of the host that the kernels of a GPU read where they are, over the link.

A kernel reads page-locked memory of the host like its own.  What it reads crosses the link at once, and at
the rate of the link where the lanes of a warp read neighbouring words.  So a method runs as it is on a graph
whose rows are too many for the GPU, and only the entries that it reads are moved.

To lock the pages of an array takes longer than to copy it once, so they are kept locked for later calls.

S. W. Min, V. S. Mailthody, Z. Qureshi, J. Xiong, E. Ebrahimi and W. Hwu, "EMOGI: Efficient Memory-access for
Out-of-memory Graph-traversal in GPUs" (VLDB 2020).
"""

from contextlib import suppress
from threading import Lock
from weakref import WeakSet, finalize

from edgewise.device import arrays, streams
from edgewise.device.target import SIMULATED
from edgewise.errors import OutOfMemoryError, argument

#: Flags of the driver: memory for all GPUs, in the addresses of kernels; and such that may not be written.
MAPPED, READ_ONLY = 3, 8

_locked: WeakSet = WeakSet()
_lock = Lock()


class PageLocked:
    """The memory of a contiguous array of the host, whose pages are locked while this is there.

    OutOfMemoryError if the system does not allow it.
    """

    def __init__(self, array):
        self.array = array
        self.first, self.end = array.ctypes.data, array.ctypes.data + array.nbytes
        if SIMULATED:
            return
        runtime = _runtime()
        try:
            try:
                runtime.hostRegister(self.first, array.nbytes, MAPPED)
            except runtime.CUDARuntimeError:  # as of a file that is mapped to be read
                runtime.hostRegister(self.first, array.nbytes, MAPPED | READ_ONLY)
        except runtime.CUDARuntimeError as error:
            problem = f"{array.nbytes:,} bytes of the host cannot be page-locked for a GPU ({error})"
            raise OutOfMemoryError(f"{problem}; use {argument('device', 'cpu')}") from None
        finalize(self, _unlock, runtime, self.first)


def _runtime():
    import cupy

    return cupy.cuda.runtime


def _unlock(runtime, first):
    with suppress(runtime.CUDARuntimeError):  # the driver may be gone at the end of the process
        runtime.hostUnregister(first)


def page_locked(array):
    """What keeps the memory of a contiguous array of the host page-locked for as long as it is held."""
    first, end = array.ctypes.data, array.ctypes.data + array.nbytes
    with _lock:
        for one in _locked:
            if one.first <= first and end <= one.end:
                return one
        if not array.nbytes or streams.is_pinned(array):
            return array
        locked = PageLocked(array)
        _locked.add(locked)
        return locked


def readable(array, device, locked):
    """View of an array of the host as one of ``device``; ``locked`` is of :func:`page_locked`.

    The view holds both.
    """
    if SIMULATED:
        return array.view(arrays.Simulated)
    import cupy

    with arrays.on(device):
        if not array.nbytes:
            return cupy.empty(0, array.dtype)
        pointer = _runtime().pointerGetAttributes(array.ctypes.data).devicePointer
        memory = cupy.cuda.UnownedMemory(pointer, array.nbytes, (array, locked), int(device[5:]))
        return cupy.ndarray(array.shape, array.dtype, cupy.cuda.MemoryPointer(memory, 0))
