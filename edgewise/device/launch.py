"""CUDA kernels: compiled to PTX by Numba, loaded and launched through CuPy's driver calls.

Numba compiles a kernel without a GPU, so CI checks the text that runs on the device, and the text is kept on
disk.  A launch calls ``cuLaunchKernel`` directly with a parameter block that is filled in place, because a
solver on a GPU takes tenths of a millisecond and launches several kernels.
"""

import ctypes
import hashlib
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache as memoize
from threading import Lock, local
from typing import Any, NamedTuple
from warnings import catch_warnings, simplefilter
from weakref import WeakValueDictionary

import numpy as np

from edgewise.device import arrays, cache, shipped
from edgewise.device.first_use import PUBLIC_ONLY
from edgewise.device.target import SIMULATED, cuda_compiler, one_compiler
from edgewise.errors import DeviceError, argument
from edgewise.garbage_collection import collection_paused

#: Whether arguments are passed as 8-byte words; a one-dimensional array as meminfo, parent, items, item size,
#: data, shape and stride.
PASSES_WORDS = not PUBLIC_ONLY
#: Threads per block (the simulator starts a Python thread for each).
BLOCK = 8 if SIMULATED else 256
#: Indices per thread of loops with a fetch; unrolled by hand in :mod:`edgewise.device.grid`.
ITEMS_PER_THREAD = 4
#: Threads that share a row of width "warp".
WARP = 4 if SIMULATED else 32
#: ``simulate(kernel, blocks, count, arguments)`` launches a kernel on the simulated GPU.
simulate: Any = None
#: ``wait_for_others(name, kinds, is_kept)`` waits while other processes prepare to compile a kernel.
wait_for_others: Callable | None = None
#: All kernels by name.
kernels: WeakValueDictionary = WeakValueDictionary()
#: Blocks of the largest grid, in its first dimension.
GRID_BLOCKS = 2**31 - 1


class Grid(NamedTuple):
    """The grid of a kernel's launches: ``threads`` per block, of which ``lanes`` share one item.

    By default there are as many blocks as the items need.  Kernels for rows may have at most
    ``max_blocks_per_sm`` per multiprocessor; their loop strides over the grid.  ``min_blocks_per_sm`` is how
    many blocks a multiprocessor must be able to run at once, which limits the registers of a thread.  A
    ``cooperative`` launch has as many blocks as fit on the GPU at once, whatever the count, so that they can
    wait for each other.
    """

    threads: int = BLOCK
    lanes: int = 1
    items_per_thread: int = 1
    max_blocks_per_sm: int | None = None
    min_blocks_per_sm: int | None = None
    cooperative: bool = False


class Kernel:
    """A CUDA kernel ``(count, arguments)``, compiled for each set of argument types when first launched.

    Calling it launches it on the device of the arguments, on CuPy's current stream there.  The PTX is cached
    under ``name``; ``source()`` returns the Python function to compile when the kernel is first used.
    """

    def __init__(self, name, source, grid):
        self.name, self.source, self.grid = name, source, grid
        kernels[name] = self
        self.loaded = {}

    def __call__(self, count, arguments, device):
        grid = self.grid
        blocks = -(-count * grid.lanes // (grid.threads * grid.items_per_thread))
        if blocks > GRID_BLOCKS:
            if grid.lanes == 1:  # there is no loop over indices
                raise DeviceError(f"{self.name}: a GPU has no grid of {count:,} indices; pass fewer")
            blocks = GRID_BLOCKS
        if grid.max_blocks_per_sm is not None and not grid.cooperative:
            blocks = min(blocks, grid.max_blocks_per_sm * processors(device))
        if SIMULATED:
            simulate(self, blocks, count, arguments)
            return
        if not hasattr(_thread, "has_context"):
            _take_context()
        device_id = int(device[5:])
        try:
            words, kinds = _flatten(count, arguments, device_id)
        except (_UnfitArray, AttributeError):  # NumPy's arrays have no device_id
            arrays.device_of(*arguments, contiguous=True)  # raises an error that names the array
            raise
        if device_id != _current_device()():
            with arrays.on(device):
                self(count, arguments, device)
            return
        ready = self.loaded.get((device_id, kinds)) or self._load(device_id, kinds, arguments)
        if grid.cooperative:
            blocks = ready.max_blocks
        ready.launch(blocks, grid.threads, words, (count, arguments))

    def _load(self, device_id, kinds, arguments):
        with one_compiler:  # several GPUs may need it at the same time
            if (device_id, kinds) not in self.loaded:
                load = _Loaded if PASSES_WORDS else _LoadedByNumba
                self.loaded[device_id, kinds] = load(self, arguments, device_id)
            return self.loaded[device_id, kinds]

    def ptx(self, kinds, capability):
        """PTX text for argument types ``kinds`` (see :func:`kind_of`) and a compute capability."""
        label = self._label(kinds, capability)
        with one_compiler:
            text = cache.load_text(label) or self._of_older(kinds, capability)
            if text is None:
                cache.announce(self.name)
                if wait_for_others is not None:
                    wait_for_others(self.name, kinds, lambda: cache.load_text(label) is not None)
                with cache.sole(label):  # another process may be compiling it
                    text = cache.load_text(label) or self._compiled(label, kinds, capability)
                cache.announce_end()
        return self._bounded(text)

    def compile_if_free(self, kinds, capability, assemble):
        """Compile and keep the text, unless it is kept already or another process compiles it.

        ``assemble(text, capability)`` makes a binary of it, which is kept too, or returns ``None``.
        """
        label = self._label(kinds, capability)
        with one_compiler, cache.sole(label, wait=False) as is_mine:
            if is_mine and cache.load_text(label) is None:
                text = _compile(self.source(), kinds, capability)
                binary = assemble(self._bounded(text), capability)
                if binary is not None:
                    cache.keep_bytes(f"{label}.cubin", binary)
                cache.keep_text(label, text)  # last, since other processes look for it

    def binary(self, kinds, capability):
        """The binary that was made ahead (:mod:`~edgewise.device.ahead`), if any."""
        return cache.load_bytes(f"{self._label(kinds, capability)}.cubin")

    def _of_older(self, kinds, capability):
        """The text that the package has for older GPUs, which the driver compiles for newer ones."""
        older = (one for one in shipped.CAPABILITIES if one < capability)
        return next(filter(None, (cache.load_shipped_text(self._label(kinds, one)) for one in older)), None)

    def _bounded(self, text):
        return text if self.grid.min_blocks_per_sm is None else _with_bounds(text, self.grid)

    def _label(self, kinds, capability):
        digest = hashlib.sha256(_text_of(kinds).encode()).hexdigest()[:20]
        return f"{self.name}-{digest}-{label_of(capability)}.ptx"

    def _compiled(self, label, kinds, capability):
        text = _compile(self.source(), kinds, capability)
        cache.keep_text(label, text)
        return text


class _Loaded:
    """A kernel in the memory of one device, with its own parameter block."""

    def __init__(self, kernel, arguments, device_id):
        import cupy

        what = tuple(map(kind_of, arguments)), _capability(device_id)
        text = kernel.ptx(*what)
        self.module = cupy.cuda.function.Module()
        self._load(kernel.binary(*what), text)
        self.function = self.module.get_function(entry_name(text)).ptr
        words = len(_flatten(0, arguments, device_id)[0])
        if n_parameters(text) != words:
            raise DeviceError(
                f"{kernel.name} takes {n_parameters(text)} words where {words} are passed: this version of "
                "numba-cuda passes arguments differently; set EDGEWISE_PUBLIC_ONLY=1"
            )
        self.block = (ctypes.c_int64 * words)()
        first = ctypes.addressof(self.block)
        self.pointers = (ctypes.c_int64 * words)(*range(first, first + 8 * words, 8))
        self.address = ctypes.addressof(self.pointers)
        self.lock = Lock()
        self.launch_kernel = cupy.cuda.driver.launchKernel
        self.stream = cupy.cuda.get_current_stream
        if kernel.grid.cooperative:
            self.launch_kernel = _launch_cooperatively
            fitting = cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(
                self.function, kernel.grid.threads, 0
            )
            if fitting == 0:
                raise DeviceError(
                    f"cuda:{device_id} has too few registers or too little shared memory for {kernel.name}; "
                    f"use {argument('device', 'cpu')}"
                )
            per_processor = min(fitting, kernel.grid.max_blocks_per_sm or fitting)
            self.max_blocks = per_processor * processors(f"cuda:{device_id}")

    def _load(self, binary, text):
        """Load the binary; the text, which the driver compiles in up to a second, where that fails."""
        import cupy

        if binary is not None:
            with suppress(cupy.cuda.driver.CUDADriverError):
                self.module.load(binary)
                return
        self.module.load(_for_driver(text).encode())

    def launch(self, blocks, threads, words, _):
        """Launch on the current stream with the words of the arguments."""
        stream = self.stream().ptr
        with self.lock:  # the driver copies the block before it returns
            self.block[:] = words
            self.launch_kernel(self.function, blocks, 1, 1, threads, 1, 1, 0, stream, self.address, 0)


class _LoadedByNumba:
    """A kernel that Numba compiles and launches, for versions that pass arguments in another way.

    A cooperative grid has one block per multiprocessor, which always fits.
    """

    def __init__(self, kernel, arguments, device_id):
        self.function = cuda_compiler().jit(kernel.source())
        self.max_blocks = processors(f"cuda:{device_id}")

    def launch(self, blocks, threads, _, arguments):
        """Launch on the current stream of CuPy with the arguments themselves."""
        import cupy

        stream = cuda_compiler().external_stream(cupy.cuda.get_current_stream().ptr)
        with catch_warnings():
            simplefilter("ignore")  # of grids that do not fill the GPU
            self.function[blocks, threads, stream](*arguments)


class _UnfitArray(Exception):
    """An array is on another device, or not contiguous."""


def _flatten(count, arguments, device_id):
    """The 8-byte words by which Numba passes the arguments, and a key of their types."""
    words = [count]
    return words, _append_words(words, arguments, device_id)


def _append_words(words, arguments, device_id):
    """Append the words of the arguments, of records field by field; return the key of their types.

    An array is passed as meminfo, parent, items, item size, data, shape and stride.
    """
    kinds: list = []
    for value in arguments:
        if type(value) is int:
            words.append(value)
            kinds.append("i")
        elif isinstance(value, tuple):
            kinds.append((type(value), _append_words(words, value, device_id)))
        elif hasattr(value, "data") and value.ndim:
            data, size, kind = value.data, value.size, value.dtype
            item_size = kind.itemsize
            if data.device_id != device_id or (size > 1 and value.strides[-1] != item_size):
                raise _UnfitArray
            words += (0, 0, size, item_size, data.ptr, size, item_size)
            kinds.append(kind.num)
        elif isinstance(value, (float, np.floating)):
            words.append(int(np.float64(value).view(np.int64)))
            kinds.append("f")
        else:
            words.append(int(value))
            kinds.append("i")
    return tuple(kinds)


def _launch_cooperatively(*arguments):
    from cupy.cuda import driver

    driver.launchCooperativeKernel(*arguments[:-1])  # other launches have one argument more


_thread = local()


def _take_context():
    """Create the GPU's context for this thread, which calls of the driver need."""
    import cupy

    cupy.cuda.runtime.free(0)
    _thread.has_context = True


@memoize
def _current_device():
    """CuPy's function that returns the current device, imported once because launches are hot."""
    from cupy.cuda.device import get_device_id

    return get_device_id


def kind_of(argument):
    """An argument's type: ``"uint32[]"`` for an array, ``"int64"`` or ``"float64"`` for a number.

    A record's type is a pair of its class and the tuple of its fields' types.
    """
    if isinstance(argument, tuple):
        return type(argument), tuple(map(kind_of, argument))
    if hasattr(argument, "dtype") and argument.ndim:
        return f"{argument.dtype.name}[]"
    return "float64" if isinstance(argument, (float, np.floating)) else "int64"


def _text_of(kinds):
    """Argument types as text, the same in every process."""
    return ", ".join(
        kind if isinstance(kind, str) else f"{kind[0].__qualname__}({_text_of(kind[1])})" for kind in kinds
    )


def _compile(function, kinds, capability):
    from edgewise.device.gpu_compiler import compiling_for, types

    cuda = cuda_compiler()
    signature = (types.int64, types.Tuple([numba_type(kind) for kind in kinds]))
    with compiling_for(capability), collection_paused():
        text, _ = cuda.compile(function, signature, device=False, abi="numba", cc=capability, output="ptx")
    return text


def prepare_compiler(capability):
    """Import the compiler and fill its tables of functions, by compiling a kernel that does nothing."""

    def nothing(count, arguments):
        pass

    _compile(nothing, ("int64",), capability)


def _with_bounds(text, grid):
    """``text`` with the limits from which the driver's compiler derives the registers of a thread."""
    bounds = f"\n.maxntid {grid.threads}, 1, 1\n.minnctapersm {grid.min_blocks_per_sm}\n"
    return re.sub(r"(\.entry[^{]*?\))\s*(?=\{)", rf"\1{bounds}", text, count=1)


def numba_type(kind):
    """Numba's type of a kind (see :func:`kind_of`)."""
    from numba import from_dtype, types

    if isinstance(kind, tuple):
        return types.BaseTuple.from_types([numba_type(one) for one in kind[1]], kind[0])
    if kind.endswith("[]"):
        return types.Array(from_dtype(np.dtype(kind[:-2])), 1, "C")
    return getattr(types, kind)


def entry_name(text):
    """Name of the one kernel in a PTX text."""
    return _in_ptx(r"\.entry\s+([\w$]+)", text).group(1)


def n_parameters(text):
    """Number of parameters of the one kernel in a PTX text."""
    return _in_ptx(r"\.entry[^{]*?\(([^)]*)\)", text).group(1).count(".param")


def _in_ptx(pattern, text):
    """The first match of a pattern in a PTX text."""
    found = re.search(pattern, text)
    if found is None:
        raise DeviceError("this version of numba-cuda makes other PTX; set EDGEWISE_PUBLIC_ONLY=1")
    return found


def label_of(capability) -> str:
    """What a compute capability and the compiler add to the names of kernels."""
    return f"sm{capability[0]}{capability[1]}-{_compiler_version()}"


@memoize
def _capability(device_id):
    import cupy

    capability = cupy.cuda.Device(device_id).compute_capability
    return int(capability[:-1]), int(capability[-1])


@memoize
def processors(device):
    """Multiprocessors of the GPU ``device``."""
    if SIMULATED:
        return 1
    from cupy.cuda import runtime

    return runtime.deviceGetAttribute(runtime.cudaDevAttrMultiProcessorCount, int(device[5:]))


def _for_driver(text):
    """``text`` with a PTX version that the driver accepts, which may be older than the compiler.

    The kernels use no instruction newer than PTX 7.0, so a lower version is valid.
    """
    import cupy

    major, minor = divmod(cupy.cuda.runtime.driverGetVersion() // 10, 100)
    newest = major - 4, minor - (major == 12 and minor > 5)  # 12.6 has the version of 12.5
    version = _in_ptx(r"\.version (\d+)\.(\d+)", text)
    if (int(version[1]), int(version[2])) <= newest:
        return text
    return re.sub(r"\.version \d+\.\d+", f".version {newest[0]}.{newest[1]}", text, count=1)


@memoize
def _compiler_version():
    from importlib.metadata import version

    return version("numba-cuda")
