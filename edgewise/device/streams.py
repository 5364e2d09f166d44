"""Streams, events, page-locked memory and copies between devices, for work that overlaps.

Work on one stream runs in order; work on different streams, and on different GPUs, may run concurrently.  A
copy from or to page-locked host memory runs beside kernels.  A copy between two GPUs uses their link where
the driver grants peer access, and host memory otherwise.

On the CPU and in the simulator all operations run immediately and in order.
"""

from ctypes import memmove
from functools import cache
from threading import local
from typing import Any

import numpy as np

from edgewise.device import arrays
from edgewise.device.target import SIMULATED

_thread = local()


def _cupy_cuda():
    import cupy

    return cupy.cuda


class Event:
    """A point in the work of a stream."""

    def __init__(self, event=None):
        self.event = event

    def synchronize(self):
        """Block the host until the stream has reached this point."""
        if self.event is not None:
            self.event.synchronize()


class Stream:
    """A queue of work on one device; inside ``with stream:`` it is the current stream."""

    def __init__(self, device):
        self.device, self.stream = device, None
        self.guard: Any = None  # entered with the stream
        if device != "cpu" and not SIMULATED:
            with arrays.on(device):
                self.stream = _cupy_cuda().Stream(non_blocking=True)

    def __enter__(self):
        if self.stream is not None:
            self.guard = arrays.on(self.device)
            self.guard.__enter__()
            self.stream.__enter__()
        return self

    def __exit__(self, *raised):
        if self.stream is not None:
            self.stream.__exit__(*raised)
            self.guard.__exit__(*raised)

    def record(self) -> Event:
        """Mark the end of the work that is queued so far."""
        if self.stream is None:
            return Event()
        with arrays.on(self.device):
            return Event(self.stream.record(_cupy_cuda().Event(disable_timing=True)))

    def wait(self, event: Event):
        """Make future work wait for ``event``, of any device; the host continues."""
        if self.stream is not None and event.event is not None:
            with arrays.on(self.device):
                self.stream.wait_event(event.event)

    def synchronize(self):
        """Block the host until the stream is empty."""
        if self.stream is not None:
            with arrays.on(self.device):
                self.stream.synchronize()


def pinned(count, dtype, device):
    """Host array that ``device`` can copy from while it computes: page-locked if it is a GPU."""
    if device == "cpu" or SIMULATED:
        return np.empty(count, dtype)
    kind = np.dtype(dtype)
    memory = _cupy_cuda().alloc_pinned_memory(max(count, 1) * kind.itemsize)
    return np.frombuffer(memory, kind, count)


class StagingBuffer:
    """Page-locked memory from which a GPU copies one piece after the other."""

    def __init__(self, nbytes, device):
        self.memory = pinned(nbytes, np.uint8, device)
        self.address, self.copied = arrays.address(self.memory), None

    def wait(self):
        """Block the host until the last piece is copied."""
        if self.copied is not None:
            self.copied.synchronize()

    def send(self, target, nbytes, stream):
        """Copy the first bytes to an address of the stream's device, which is the current one."""
        if SIMULATED:
            memmove(target, self.address, nbytes)
            return
        cuda, queue = _cupy_cuda(), stream.stream
        cuda.runtime.memcpyAsync(target, self.address, nbytes, cuda.runtime.memcpyHostToDevice, queue.ptr)
        self.copied = self.copied or cuda.Event(disable_timing=True)
        self.copied.record(queue)


def copy(target, source, stream=None):
    """Copy ``source`` into ``target``, contiguous arrays of one size and type on any two devices.

    The default stream is the current one of the target's device, or of the source's if the target is on the
    host.  Copies between GPUs and from page-locked memory are asynchronous.
    """
    to, origin = arrays.device_of(target), arrays.device_of(source)
    if SIMULATED or (to == "cpu" and origin == "cpu"):
        target[...] = source
        return
    with stream or arrays.on(origin if to == "cpu" else to):
        cuda = _cupy_cuda()
        ends, queue = (arrays.address(target), arrays.address(source)), cuda.get_current_stream().ptr
        cuda.runtime.memcpyAsync(*ends, source.nbytes, cuda.runtime.memcpyDefault, queue)


@cache
def peer_access(device, other) -> bool:
    """Whether kernels of ``device`` can read arrays of ``other``; enables peer access if possible."""
    if device == other or SIMULATED or (device == "cpu") != (other == "cpu"):
        return device == other
    runtime = _cupy_cuda().runtime
    here, there = int(device[5:]), int(other[5:])
    if not runtime.deviceCanAccessPeer(here, there):
        return False
    with arrays.on(device):
        try:
            runtime.deviceEnablePeerAccess(there)
        except runtime.CUDARuntimeError as error:
            if "PeerAccessAlreadyEnabled" not in str(error):
                return False
    return True


def peer_view(device, array):
    """View of another GPU's ``array`` as an array of ``device``; needs :func:`peer_access`."""
    if SIMULATED or arrays.device_of(array) == device:
        return array
    import cupy

    memory = cupy.cuda.UnownedMemory(array.data.ptr, array.nbytes, array, int(device[5:]))
    return cupy.ndarray(array.shape, array.dtype, cupy.cuda.MemoryPointer(memory, 0))


def current(device) -> Stream:
    """The current stream of ``device``."""
    stream = Stream("cpu")
    if device != "cpu" and not SIMULATED:
        stream.device, stream.stream = device, _cupy_cuda().get_current_stream(int(device[5:]))
    return stream


def order_after(device, other):
    """Make future work on ``device`` wait for the work queued so far on ``other`` (current streams)."""
    if device == other or "cpu" in (device, other) or SIMULATED:
        return
    event, stream = _event(other), _cupy_cuda().get_current_stream
    with arrays.on(other):
        stream().record(event)
    with arrays.on(device):
        stream().wait_event(event)


def _event(device):
    """The thread's reusable event of ``device``, for marks that are waited for immediately."""
    events = _thread.__dict__.setdefault("events", {})
    if device not in events:
        with arrays.on(device):
            events[device] = _cupy_cuda().Event(disable_timing=True)
    return events[device]


def wait_stream(device, stream: Stream):
    """Make future work on ``device`` wait for the work queued so far on ``stream``; the CPU waits at once."""
    if device == "cpu":
        stream.synchronize()
    else:
        current(device).wait(stream.record())


def copy_into(target, source):
    """Copy ``source`` into ``target``, ordered with earlier and later work on both devices."""
    to, origin = arrays.device_of(target), arrays.device_of(source)
    order_after(to if to != "cpu" else origin, origin)
    copy(target, source)
    if to == "cpu":
        current(origin).synchronize()
    else:
        order_after(origin, to)


def copy_to(array, device):
    """Copy of ``array`` on ``device``, ordered as by :func:`copy_into`; ``array`` itself if it is there."""
    if arrays.device_of(array) == device:
        return array
    copied = arrays.empty(len(array), array.dtype, device)
    copy_into(copied, array)
    return copied


def is_pinned(array) -> bool:
    """Whether ``array`` is page-locked host memory, which a GPU can copy from asynchronously."""
    if SIMULATED or arrays.device_of(array) != "cpu" or not arrays.gpu_count():
        return False
    runtime = _cupy_cuda().runtime
    attributes = runtime.pointerGetAttributes(array.ctypes.data)
    return attributes.type == runtime.memoryTypeHost
