"""CUDA kernels: compiled to PTX by Numba, loaded and launched through CuPy's driver calls.

Numba compiles a kernel without a GPU, so the same text is checked in CI and run on the device, and it is
kept on disk as text.  Launching goes straight to ``cuLaunchKernel`` with a parameter block filled in place,
since a solver on a GPU lasts tenths of a millisecond and runs several kernels.
"""

import ctypes
import re
from contextlib import contextmanager
from functools import cache as memoize
from threading import Lock, local
from types import SimpleNamespace

import numpy as np

from edgewise.device import arrays, cache
from edgewise.device.target import SIMULATED, cuda_compiler, one_compiler
from edgewise.errors import DeviceError

#: Threads a block (the simulator starts a Python thread for each).
BLOCK = 64 if SIMULATED else 256
#: Indices a thread serves where their reads are started ahead; written out in :mod:`edgewise.device.grid`.
AHEAD = 4
#: Threads that share a row of width "warp".
WARP = 32
#: Blocks a launch may have in the first dimension.
MOST_BLOCKS = 2**31 - 1


class Kernel:
    """A CUDA kernel ``(count, arguments)``, compiled for each set of argument types when first launched.

    Calling it launches it in the place of the arguments, on CuPy's current stream there.

    Parameters
    ----------
    name : str
        Unique name, under which the PTX is kept.
    source : callable
        Returns the Python function to compile; called when first needed.
    lanes : int
        Threads that share one item of ``count``.
    ahead : int
        Items that one thread serves.
    threads : int
        Threads a block.
    crowd : int, optional
        Blocks a multiprocessor gets at most; the kernel's loop strides over the grid.  By default as many
        blocks as it takes.
    resident : int, optional
        Blocks that a multiprocessor must be able to run at once: a thread gets the registers of such a share.
    cooperative : bool
        Run as many blocks as fit on the GPU at once (at most ``crowd`` a multiprocessor), whatever the count,
        so that they can wait for each other.
    """

    def __init__(
        self, name, source, lanes=1, ahead=1, threads=BLOCK, crowd=None, resident=None, cooperative=False
    ):
        self.name, self.source, self.lanes, self.ahead = name, source, lanes, ahead
        self.threads, self.crowd, self.resident, self.cooperative = threads, crowd, resident, cooperative
        self.loaded = {}
        self.simulated = None

    def __call__(self, count, arguments, place):
        blocks = min(-(-count * self.lanes // (self.threads * self.ahead)), MOST_BLOCKS)
        if self.crowd is not None and not self.cooperative:
            blocks = min(blocks, self.crowd * processors(place))
        if SIMULATED:
            self._simulate(blocks, count, arguments)
            return
        if not hasattr(_thread, "has_context"):
            _take_context()
        words, kinds = _flatten(count, arguments)
        device_id = int(place[5:])
        if device_id != _ask_device()():
            with arrays.on(place):
                self(count, arguments, place)
            return
        ready = self.loaded.get((device_id, kinds)) or self._load(device_id, kinds, arguments)
        ready.launch(ready.at_once if self.cooperative else blocks, self.threads, words)

    def _load(self, device_id, kinds, arguments):
        with one_compiler:  # several GPUs may want it at the same time
            if (device_id, kinds) not in self.loaded:
                self.loaded[device_id, kinds] = _Loaded(self, arguments, device_id)
            return self.loaded[device_id, kinds]

    def _simulate(self, blocks, count, arguments):
        if self.simulated is None:
            self.simulated = cuda_compiler().jit(self.source())
        plain = tuple(a.view(np.ndarray) if isinstance(a, np.ndarray) else a for a in arguments)
        self.simulated[blocks, self.threads](count, plain)

    def ptx(self, kinds, capability):
        """PTX text for argument types ``kinds`` (see :func:`_kind`) and a compute capability."""
        label = f"{self.name}-{'-'.join(kinds)}-sm{capability[0]}{capability[1]}-{_compiler_version()}.ptx"
        with one_compiler:
            text = cache.load_text(label)
            if text is None:
                cache.announce()
                text = _compile(self.source(), kinds, capability)
                cache.keep_text(label, text)
        return text if self.resident is None else _with_bounds(text, self.threads, self.resident)


class _Loaded:
    """A kernel in one device's memory, with a parameter block of its own."""

    def __init__(self, kernel, arguments, device_id):
        import cupy

        text = _for_driver(kernel.ptx(tuple(map(_kind, arguments)), _capability(device_id)))
        self.module = cupy.cuda.function.Module()
        self.module.load(text.encode())
        self.function = self.module.get_function(entry_name(text)).ptr
        words = len(_flatten(0, arguments)[0])
        self.block = (ctypes.c_int64 * words)()
        first = ctypes.addressof(self.block)
        self.pointers = (ctypes.c_int64 * words)(*range(first, first + 8 * words, 8))
        self.address = ctypes.addressof(self.pointers)
        self.alone = Lock()
        self.launch_kernel = cupy.cuda.driver.launchKernel
        self.stream = cupy.cuda.get_current_stream
        if kernel.cooperative:
            self.launch_kernel = _launch_cooperatively
            crowd = cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(
                self.function, kernel.threads, 0
            )
            if crowd == 0:
                raise DeviceError(
                    f"cuda:{device_id} has too few registers or too little shared memory for {kernel.name}; "
                    "use device='cpu'"
                )
            self.at_once = min(crowd, kernel.crowd or crowd) * processors(f"cuda:{device_id}")

    def launch(self, blocks, threads, words):
        stream = self.stream().ptr
        with self.alone:  # the driver copies the block before it returns
            self.block[:] = words
            self.launch_kernel(self.function, blocks, 1, 1, threads, 1, 1, 0, stream, self.address, 0)


def _flatten(count, arguments):
    """The 8-byte words by which Numba passes the arguments, and a cheap key of their types.

    An array is passed as meminfo, parent, items, item size, data, shape and stride.
    """
    words, kinds = [count], []
    for argument in arguments:
        if hasattr(argument, "data") and argument.ndim:
            size, kind = argument.size, argument.dtype
            words += (0, 0, size, kind.itemsize, argument.data.ptr, size, kind.itemsize)
            kinds.append(kind.num)
        elif isinstance(argument, (float, np.floating)):
            words.append(int(np.float64(argument).view(np.int64)))
            kinds.append("f")
        else:
            words.append(int(argument))
            kinds.append("i")
    return words, tuple(kinds)


def _launch_cooperatively(function, x, y, z, threads, threads_y, threads_z, shared, stream, address, extra):
    from cupy.cuda import driver

    driver.launchCooperativeKernel(function, x, y, z, threads, threads_y, threads_z, shared, stream, address)


_thread = local()


def _take_context():
    """Give this thread the GPU's context, which the driver's calls want and the runtime's calls make."""
    import cupy

    cupy.cuda.runtime.free(0)
    _thread.has_context = True


@memoize
def _ask_device():
    """CuPy's function that tells the current device; imported once, since launches are in the hot path."""
    from cupy.cuda.device import get_device_id

    return get_device_id


def _kind(argument):
    """Name of an argument's type: ``uint32[]`` for an array, ``int64`` or ``float64`` for a number."""
    if hasattr(argument, "dtype") and argument.ndim:
        return f"{argument.dtype.name}[]"
    return "float64" if isinstance(argument, (float, np.floating)) else "int64"


def _compile(function, kinds, capability):
    from numba import types

    cuda = cuda_compiler()
    signature = (types.int64, types.Tuple([_numba_type(kind) for kind in kinds]))
    with _compiling_for(capability):
        text, _ = cuda.compile(function, signature, device=False, abi="numba", cc=capability, output="ptx")
    return text


def _with_bounds(text, threads, resident):
    """``text`` with the sizes that tell the driver's compiler how many registers a thread may have."""
    bounds = f"\n.maxntid {threads}, 1, 1\n.minnctapersm {resident}\n"
    return re.sub(r"(\.entry[^{]*?\))\s*(?=\{)", rf"\1{bounds}", text, count=1)


@contextmanager
def _compiling_for(capability):
    """Let Numba take ``capability`` for the current device's: it asks one for device functions."""
    from numba.cuda import dispatcher

    asked = dispatcher.get_current_device
    dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=capability)
    try:
        yield
    finally:
        dispatcher.get_current_device = asked


def _numba_type(kind):
    from numba import from_dtype, types

    if kind.endswith("[]"):
        return types.Array(from_dtype(np.dtype(kind[:-2])), 1, "C")
    return getattr(types, kind)


def entry_name(text):
    """Name of the one kernel in a PTX text."""
    return re.search(r"\.entry\s+([\w$]+)", text).group(1)


@memoize
def _capability(device_id):
    import cupy

    capability = cupy.cuda.Device(device_id).compute_capability
    return int(capability[:-1]), int(capability[-1])


@memoize
def processors(place):
    """Multiprocessors of the GPU ``place``."""
    if SIMULATED:
        return 1
    import cupy

    return cupy.cuda.Device(int(place[5:])).attributes["MultiProcessorCount"]


def _for_driver(text):
    """``text`` with a PTX version that the driver reads: it may be older than the compiler.

    The kernels use no instruction younger than PTX 7.0, so a lower version holds.
    """
    import cupy

    driver = cupy.cuda.runtime.driverGetVersion()
    newest = driver // 1000 - 4, driver % 1000 // 10
    major, minor = map(int, re.search(r"\.version (\d+)\.(\d+)", text).groups())
    if (major, minor) <= newest:
        return text
    return re.sub(r"\.version \d+\.\d+", f".version {newest[0]}.{newest[1]}", text, count=1)


@memoize
def _compiler_version():
    from importlib.metadata import version

    return version("numba-cuda")
