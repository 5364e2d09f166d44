"""Private names of Numba, llvmlite and numba-cuda, beside those on the three pages below.

Each of them makes something faster, and each has a fallback that uses public interfaces only.  A fallback is
chosen where a name is missing, for example in a later release, and everywhere if the environment variable
``EDGEWISE_PUBLIC_ONLY`` is ``1``.  The page is imported when a function is first compiled, or loaded.

==========================  =====================================  ==========================================
purpose                     private names                          fallback
==========================  =====================================  ==========================================
compile with few passes,    those on ``numba_pipeline``, options   Numba compiles all as ordinary functions
device functions without    ``_nrt``, ``no_cfunc_wrapper``
machine code
short text for LLVM         those on ``numba_lowering``            Numba writes its own
call workers by address     those on ``numba_entries``, options    workers are Python threads, which spin, and
                            ``_nrt``, ``no_cpython_wrapper``,      each takes its arguments from Python
                            ``types.ExternalFunction``
calls with records          ``compute_fingerprint``                 the dispatcher reads all names of fields
keep CPU kernels on disk    ``dispatcher._cache``, reducing and    ``enable_caching()`` in the process that
                            rebuilding of compiled functions       holds a lock of the folder
load them quickly           addresses of run-time functions        the context is refreshed
pointer types               typed pointers of llvmlite, on         opaque pointers
                            ``numba_arrays``
PTX for other GPUs          the module's ``get_current_device``    PTX for the current GPU
compile at once             the module's ``ensure_blas``           SciPy's linear algebra is imported
launch through the driver   the words that pass an array           Numba's own launch
==========================  =====================================  ==========================================

Public caching alone is not enough, because Numba numbers the files of a function's signatures: when two
processes compile two signatures at the same time, the index can name the other process's file, which then
runs with arguments of wrong types.
"""

import pickle
import sys
from contextlib import contextmanager, suppress
from functools import cache as memoize
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numba
from llvmlite.binding import add_symbol

from edgewise.device.first_use import PUBLIC_ONLY, on_cpu_compiler, prepare_cpu_compiler, private
from edgewise.device.interrupts import interrupts_kept
from edgewise.device.numba_arrays import contiguous
from edgewise.device.numba_entries import CAN_ENTER, TooManyArguments, end, fingerprint, key_of  # noqa: F401
from edgewise.device.numba_pipeline import (
    FOR_CALLED_PARTS,
    FOR_PARTS,
    FOR_WHOLES,
    FOR_WORKERS,
    HAS_PARTS,
    answers_kept,
)
from edgewise.garbage_collection import collection_paused

(_Options,) = private("numba.core.cpu", "CPUTargetOptions")
#: Options of all compiled functions.  Kernels own no array, so counting references, which is atomic and takes
#: longer than most bodies, is switched off; hence they must not allocate.  No C functions are made of them.
BARE = {
    name: value for name, value in (("_nrt", False), ("no_cfunc_wrapper", True)) if hasattr(_Options, name)
}
#: Options of functions that Python calls: dividing by zero is no error, as on GPUs.
WHOLE = {**BARE, **FOR_WHOLES, "error_model": "numpy"}
#: Options of functions of several workers.
WORKER = {**BARE, **FOR_WORKERS, "error_model": "numpy"}
#: A worker must not count references to its arguments: nobody counts them while it runs.
HAS_ENTRIES = CAN_ENTER and HAS_PARTS and "_nrt" in BARE
#: Options of device functions.
PART = {**BARE, **FOR_PARTS}
#: Options of those that are not copied into their callers.
CALLED_PART = {**BARE, **FOR_CALLED_PARTS}


# -- functions of C ------------------------------------------------------------------------------------------

(_ExternalFunction,) = private("numba.types", "ExternalFunction")
HAS_EXTERNALS = _ExternalFunction is not None


def external(name, signature):
    """A function of the C library for compiled functions; one that does nothing if that is not possible."""
    return None if _ExternalFunction is None else _ExternalFunction(name, signature)


# -- calls with records --------------------------------------------------------------------------------------


class RecordCalls:
    """A compiled function that is called with named tuples almost as fast as with their fields.

    The dispatcher serves the first call with each key only.  Functions that are first called without records
    use the dispatcher alone.
    """

    def __init__(self, dispatcher):
        self.dispatcher, self.entries, self.takes_records = dispatcher, {}, None

    def __call__(self, *arguments):
        if self.takes_records is False:
            return self.dispatcher(*arguments)
        try:
            key = key_of(arguments, [])
        except NotImplementedError:  # of a value that has no fingerprint
            return self.dispatcher(*arguments)
        entry = self.entries.get(key)
        return self._first_call(key, arguments) if entry is None else entry(*arguments)

    def _first_call(self, key, arguments):
        with collection_paused(), interrupts_kept():
            result = self.dispatcher(*arguments)
        compiled = self.dispatcher.overloads.get(tuple(map(numba.typeof, arguments)))
        # the dispatcher may have converted the arguments to another signature, which only it can do
        self.entries[key] = self.dispatcher if compiled is None else compiled.entry_point
        if self.takes_records is None:
            self.takes_records = any(hasattr(one, "_fields") for one in key)
        return result


def with_fast_records(dispatcher):
    """``dispatcher``, called through :class:`RecordCalls` where that is possible."""
    return dispatcher if fingerprint is None else RecordCalls(dispatcher)


# -- read-only arrays ----------------------------------------------------------------------------------------


def share_with_readonly(dispatcher):
    """Make ``dispatcher`` run the code for writable arrays on read-only ones, which Numba types differently.

    The arrays of results are read-only.  No kernel writes to an argument that its caller did not make for it,
    so a second compilation would give the same code.
    """
    compile_writable = dispatcher.compile

    def compile_shared(signature):
        if not isinstance(signature, tuple):
            return compile_writable(signature)
        writable = tuple(map(contiguous, signature))
        entry_point = compile_writable(writable)
        if signature not in dispatcher.overloads:
            found = dispatcher.overloads[writable]
            dispatcher.add_overload(found._replace(signature=found.signature.replace(args=signature)))
        return entry_point

    dispatcher.compile = compile_shared


# -- CPU kernels on disk ------------------------------------------------------------------------------------

(_CompileResult,) = private("numba.core.compiler", "CompileResult")
(_dumps,) = private("numba.core.serialize", "dumps")
(_run_time,) = private("numba.core.runtime._nrt_python", "c_helpers")
HAS_CACHE = _dumps is not None and hasattr(_CompileResult, "_reduce") and hasattr(_CompileResult, "_rebuild")


@memoize
def _name_run_time():
    """Let LLVM find Numba's run-time functions: those in C, beside which a kernel has all that it calls."""
    for name, address in _run_time.items():
        add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


class KernelCache:
    """The compiled forms of one function, one file for each signature.

    ``read(key)`` returns the bytes kept under a text, or ``None``; ``write(key, data)`` keeps them, and is
    called with ``None`` for a function that cannot be kept.  A fault, such as a full disk, only means that
    the function is compiled again.
    """

    cache_path = None

    def __init__(self, read, write):
        self.read, self.write = read, write

    def load_overload(self, signature, context):
        """Return the compiled function for a signature, or ``None``.

        Numba refreshes its context first, which imports all that it can compile and takes a third of a
        second, and compiles run-time functions.  A function that is compiled already needs only the names of
        those in C.
        """
        found, data = None, self.read(repr(signature))
        if data is not None:
            if _run_time is None:
                context.refresh()
            else:
                _name_run_time()
            with suppress(Exception):
                found = _CompileResult._rebuild(context, *pickle.loads(data))
        if found is None:
            prepare_cpu_compiler()
        return found

    def save_overload(self, signature, result):
        """Keep a compiled function unless it refers to addresses of this process."""
        data = None
        with suppress(Exception):
            if not result.library.has_dynamic_globals and not result.lifted:
                data = _dumps(result._reduce())
        with suppress(Exception):
            self.write(repr(signature), data)

    def disable(self):
        """Part of Numba's interface."""

    enable = flush = disable


def keep_compiled(dispatcher, read, write):
    """Keep on disk what ``dispatcher`` compiles; return whether that is possible."""
    if HAS_CACHE and hasattr(dispatcher, "_cache"):
        dispatcher._cache = KernelCache(read, write)
        return True
    return False


def keep_by_numba(dispatcher, name, folder):
    """Let Numba keep what ``dispatcher`` compiles; no other process may use the folder meanwhile."""
    dispatcher.py_func.__qualname__ = name
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder)
    try:
        dispatcher.enable_caching()
    except RuntimeError:  # the function's source is not in a file
        pass
    finally:
        numba.config.CACHE_DIR = before


# -- CUDA ---------------------------------------------------------------------------------------------------


@contextmanager
def compiling_for(capability):
    """Make Numba compile device functions for ``capability`` instead of that of the current GPU.

    The fallback leaves the current GPU in force, so there must be one, and of this capability.
    """
    from numba.cuda import dispatcher

    _skip_linear_algebra("numba.cuda.np", _refuse_linear_algebra)
    current = getattr(dispatcher, "get_current_device", None)
    if current is None or PUBLIC_ONLY:
        yield
        return
    dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=capability)
    (options,) = private("numba.cuda.core.targetconfig", "TargetConfig")
    try:
        with answers_kept(options):
            yield
    finally:
        dispatcher.get_current_device = current


@memoize
def _skip_linear_algebra(package, ensure_blas):
    """Keep a compiler from importing SciPy's linear algebra, which no kernel calls.

    The import takes as long as the compilation of several kernels, and imports parts of CuPy as well.
    ``ensure_blas()`` stands in for Numba's function of this name meanwhile.
    """
    if PUBLIC_ONLY or f"{package}.arraymath" in sys.modules:
        return
    with suppress(ImportError):
        linalg: Any = import_module(f"{package}.linalg")
        original = getattr(linalg, "ensure_blas", None)
        if original is not None:
            linalg.ensure_blas = ensure_blas
            try:
                import_module(f"{package}.arraymath")
            finally:
                linalg.ensure_blas = original


def _trust_linear_algebra():
    """SciPy is there: Numba looks for its functions again when it compiles a call of them."""


def _refuse_linear_algebra():
    raise ImportError("kernels for GPUs do without")


on_cpu_compiler(lambda: _skip_linear_algebra("numba.np", _trust_linear_algebra))
