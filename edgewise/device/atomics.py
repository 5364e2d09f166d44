"""Atomic operations on one array element, under one name on every target.

The Python bodies below define the semantics, and run under one lock.  The compilers replace them by LLVM's
and CUDA's atomic instructions.  Each operation returns the previous value.
"""

from threading import Lock

from edgewise.device.first_use import on_cpu_compiler, on_cuda

_lock = Lock()


def cas(array, index, expected, value):
    """Compare and swap: if ``array[index] == expected``, write ``value``; return the previous value."""
    with _lock:
        held = array[index]
        if held == expected:
            array[index] = value
        return held


def fetch_min(array, index, value):
    """Lower ``array[index]`` to ``value`` if that is smaller; return the previous value."""
    with _lock:
        held = array[index]
        if value < held:
            array[index] = value
        return held


def fetch_max(array, index, value):
    """Raise ``array[index]`` to ``value`` if that is larger; return the previous value."""
    with _lock:
        held = array[index]
        if value > held:
            array[index] = value
        return held


def fetch_add(array, index, value):
    """Add ``value`` to ``array[index]``; return the previous value."""
    with _lock:
        held = array[index]
        array[index] = held + array.dtype.type(value)
        return held


def fetch_or(array, index, value):
    """Set the bits of ``value`` in the integer ``array[index]``; return the previous value."""
    with _lock:
        held = array[index]
        array[index] = held | array.dtype.type(value)
        return held


def load(array, index):
    """Read ``array[index]`` from memory, never from a register."""
    return array[index]


def store(array, index, value):
    """Write ``array[index]`` so that every later :func:`load` sees it."""
    array[index] = value


def fence():
    """Order all reads and writes of this thread before it with those after it, for the whole device."""


def _register_on_cpu():
    from edgewise.device.atomics_on_cpu import overload_atomics

    overload_atomics(cas, load, store, fence, fetch_add, fetch_max, fetch_min, fetch_or)


def _register_on_cuda():
    """Map each name to an instruction of Numba's CUDA target."""
    from edgewise.device.gpu_compiler import cuda, load_past_l1
    from edgewise.device.gpu_compiler import overload as overload_on_cuda

    @overload_on_cuda(cas)
    def cas_on_cuda(array, index, expected, value):
        kind = array.dtype

        def swap(array, index, expected, value):
            return cuda.atomic.cas(array, index, kind(expected), kind(value))

        return swap

    @overload_on_cuda(fetch_min)
    def fetch_min_on_cuda(array, index, value):
        kind = array.dtype
        return lambda array, index, value: cuda.atomic.min(array, index, kind(value))

    @overload_on_cuda(fetch_max)
    def fetch_max_on_cuda(array, index, value):
        kind = array.dtype
        return lambda array, index, value: cuda.atomic.max(array, index, kind(value))

    @overload_on_cuda(fetch_add)
    def fetch_add_on_cuda(array, index, value):
        kind = array.dtype
        return lambda array, index, value: cuda.atomic.add(array, index, kind(value))

    @overload_on_cuda(fetch_or)
    def fetch_or_on_cuda(array, index, value):
        kind = array.dtype
        return lambda array, index, value: cuda.atomic.or_(array, index, kind(value))

    @overload_on_cuda(load)
    def load_on_cuda(array, index):
        if array.dtype.bitwidth < 32:  # there is no such load of a byte
            return lambda array, index: array[index]
        return lambda array, index: load_past_l1(array, index)

    @overload_on_cuda(fence)
    def fence_on_cuda():
        return lambda: cuda.threadfence()

    @overload_on_cuda(store)
    def store_on_cuda(array, index, value):
        kind = array.dtype

        def exchange(array, index, value):
            cuda.atomic.exch(array, index, kind(value))

        return exchange


on_cpu_compiler(_register_on_cpu)
on_cuda(_register_on_cuda)
