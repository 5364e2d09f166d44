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
from typing import Any, NamedTuple
from weakref import WeakSet, finalize

from edgewise import memory
from edgewise.device import arrays, streams
from edgewise.device.target import SIMULATED

#: Flags of the driver: memory for all GPUs, in the addresses of kernels.
MAPPED = 3

_owners: WeakSet = WeakSet()
_lock = Lock()


class PageLocked(NamedTuple):
    """A contiguous array of the host in page-locked memory, and what keeps that locked."""

    array: Any
    owner: Any


class Owner:
    """Keeps the memory of an array locked while this is there."""

    def __init__(self, array):
        self.array = array
        self.first, self.end = array.ctypes.data, array.ctypes.data + array.nbytes
        if not SIMULATED:
            runtime = _runtime()
            runtime.hostRegister(self.first, array.nbytes, MAPPED)
            finalize(self, _unlock, runtime, self.first)


def _runtime():
    import cupy

    return cupy.cuda.runtime


def _unlock(runtime, first):
    with suppress(runtime.CUDARuntimeError):  # the driver may be gone at the end of the process
        runtime.hostUnregister(first)


def page_locked(array) -> PageLocked:
    """An array of the host in page-locked memory: where it is, or a copy if the system does not lock that.

    So files that are mapped to be read are copied.
    """
    first, end = array.ctypes.data, array.ctypes.data + array.nbytes
    with _lock:
        for owner in _owners:
            if owner.first <= first and end <= owner.end:
                return PageLocked(array, owner)
        if not array.nbytes or streams.is_pinned(array):
            return PageLocked(array, array)
        try:
            owner = Owner(array)
        except RuntimeError:  # of CUDA
            copy = _copied(array)
            return PageLocked(copy, copy)
        _owners.add(owner)
        return PageLocked(array, owner)


def _copied(array):
    """A copy in page-locked memory."""
    memory.check(array.nbytes, "a page-locked copy of an array for a GPU")
    copy = streams.pinned(len(array), array.dtype, "cuda:0")
    copy[:] = array
    return copy


def readable(locked, device):
    """View of a :class:`PageLocked` array as one of ``device``, which holds it."""
    array = locked.array
    if SIMULATED:
        return array.view(arrays.Simulated)
    import cupy

    with arrays.on(device):
        if not array.nbytes:
            return cupy.empty(0, array.dtype)
        pointer = _runtime().pointerGetAttributes(array.ctypes.data).devicePointer
        view = cupy.cuda.UnownedMemory(pointer, array.nbytes, locked, int(device[5:]))
        return cupy.ndarray(array.shape, array.dtype, cupy.cuda.MemoryPointer(view, 0))
