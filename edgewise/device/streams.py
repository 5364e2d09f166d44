"""Streams, events, page-locked memory and copies between devices: what lets devices work at the same time.

Work given to one stream runs in order; work of different streams, and of different GPUs, may run at once.
An :class:`Event` marks a point of one stream that another can wait for without the host.  A copy from or to
page-locked host memory runs beside kernels; a copy between two GPUs goes over their link where the driver
grants access, and through the host where it does not.

On the CPU and in the simulator all of this happens at once and in order, so code written for GPUs runs there
unchanged.
"""

from functools import cache
from threading import local

import numpy as np

from edgewise.device import arrays
from edgewise.device.target import SIMULATED

_kept = local()


def _cupy_cuda():
    import cupy

    return cupy.cuda


class Event:
    """A point in the work of a stream."""

    def __init__(self, event=None):
        self.event = event

    def synchronize(self):
        """Let the host wait until the stream has come this far."""
        if self.event is not None:
            self.event.synchronize()


class Stream:
    """A queue of work in one place; ``with stream:`` gives it what is launched and copied meanwhile.

    Parameters
    ----------
    device : str
        ``"cpu"`` or ``"cuda:N"``.
    """

    def __init__(self, device):
        self.device, self.stream = device, None
        if device != "cpu" and not SIMULATED:
            with arrays.on(device):
                self.stream = _cupy_cuda().Stream(non_blocking=True)
        self.guard = None

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
        """The point up to which work has been given to the stream."""
        if self.stream is None:
            return Event()
        with arrays.on(self.device):
            return Event(self.stream.record(_cupy_cuda().Event(disable_timing=True)))

    def wait(self, event: Event):
        """Let work given from now on wait for ``event``, of whatever place; the host goes on."""
        if self.stream is not None and event.event is not None:
            with arrays.on(self.device):
                self.stream.wait_event(event.event)

    def synchronize(self):
        """Let the host wait until the stream is empty."""
        if self.stream is not None:
            with arrays.on(self.device):
                self.stream.synchronize()


def pinned(count, dtype, device):
    """Host array from which ``device`` can copy while it computes: page-locked where that is a GPU."""
    if device == "cpu" or SIMULATED:
        return np.empty(count, dtype)
    kind = np.dtype(dtype)
    memory = _cupy_cuda().alloc_pinned_memory(max(count, 1) * kind.itemsize)
    return np.frombuffer(memory, kind, count)


def copy(target, source, stream=None):
    """Copy ``source`` into ``target``, arrays of one size and type in any two devices.

    Parameters
    ----------
    target, source : contiguous arrays
    stream : Stream, optional
        Where the copy is queued; one of the GPU's of ``target`` or ``source``.  By default the current one
        of the target's place (the source's if the target lies on the host).

    Notes
    -----
    Between GPUs and from page-locked memory the host does not wait.
    """
    to, origin = arrays.device_of(target), arrays.device_of(source)
    if SIMULATED or (to == "cpu" and origin == "cpu"):
        target[...] = source
        return
    with stream or arrays.on(origin if to == "cpu" else to):
        cuda = _cupy_cuda()
        cuda.runtime.memcpyAsync(
            _address(target, to),
            _address(source, origin),
            source.nbytes,
            cuda.runtime.memcpyDefault,
            cuda.get_current_stream().ptr,
        )


def _address(array, device):
    return array.ctypes.data if device == "cpu" else array.data.ptr


@cache
def peer_access(device, other) -> bool:
    """Whether kernels of ``device`` may read arrays of ``other``; access is switched on where it can be."""
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


def seen_from(device, array):
    """``array`` of another GPU as one of ``device``, without a copy; needs :func:`peer_access`."""
    if SIMULATED or arrays.device_of(array) == device:
        return array
    import cupy

    memory = cupy.cuda.UnownedMemory(array.data.ptr, array.nbytes, array, int(device[5:]))
    return cupy.ndarray(array.shape, array.dtype, cupy.cuda.MemoryPointer(memory, 0))


def current(device) -> Stream:
    """The stream on which ``device`` gets its work at the moment."""
    stream = Stream("cpu")
    if device != "cpu" and not SIMULATED:
        stream.device, stream.stream = device, _cupy_cuda().get_current_stream(int(device[5:]))
    return stream


def follow(device, other):
    """Let what ``device`` is given from now on wait for all that ``other`` has been given so far."""
    if device == other or "cpu" in (device, other) or SIMULATED:
        return
    event, queue = _event(other), _cupy_cuda().get_current_stream
    with arrays.on(other):
        queue().record(event)
    with arrays.on(device):
        queue().wait_event(event)


def _event(position):
    """The thread's event for marks that are waited for at once, and then used again."""
    events = _kept.__dict__.setdefault("events", {})
    if position not in events:
        with arrays.on(position):
            events[position] = _cupy_cuda().Event(disable_timing=True)
    return events[position]


def arrive(device, road: Stream):
    """Let ``device`` go on once what ``road`` has been given is done."""
    if device == "cpu":
        road.synchronize()
    else:
        current(device).wait(road.record())


def bring_into(target, source):
    """Copy ``source`` into ``target``, in order with what either place is given before and after."""
    to, origin = arrays.device_of(target), arrays.device_of(source)
    follow(to if to != "cpu" else origin, origin)
    copy(target, source)
    if to == "cpu":
        current(origin).synchronize()
    else:
        follow(origin, to)


def bring(array, device):
    """``array`` in ``device``, in the order of :func:`bring_into`; itself where it is there already."""
    if arrays.device_of(array) == device:
        return array
    there = arrays.empty(len(array), array.dtype, device)
    bring_into(there, array)
    return there


def is_pinned(array) -> bool:
    """Whether a GPU can copy this host array as it lies, because its memory is page-locked."""
    if SIMULATED or arrays.device_of(array) != "cpu" or not arrays.gpu_count():
        return False
    runtime = _cupy_cuda().runtime
    attributes = runtime.pointerGetAttributes(array.ctypes.data)
    return attributes.type == runtime.memoryTypeHost
