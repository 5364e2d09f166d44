"""The number of threads of the CPU, and compiled functions that several of them run at the same time.

Numba compiles the body of a parallel loop by itself, then the loop, two wrappers around it, and the function
that contains it.  Here any compiled function is called by its address as several workers, with helpers
(:mod:`~edgewise.device.helpers`) or on Python threads.  The first argument of such a function is the worker's
id; the others are the same for all, and are written into the memory of the call
(:mod:`~edgewise.device.numba_entries`), as is the exception of a worker.  The lock admits a signal handler or
a finalizer of the same thread at any time, so every call has memory of its own.
"""

import atexit
import ctypes
import mmap
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cache as memoize
from pathlib import Path
from threading import RLock, Thread, local
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.device import cache, fibers, helpers, python_threads
from edgewise.device.interrupts import interrupts_kept
from edgewise.device.shares import STRIDE
from edgewise.device.target import INTERPRETED, cpu_compiler, cpu_compiler_is_loaded
from edgewise.device.usable_cores import default_threads, usable_cores
from edgewise.errors import DeviceError, OptionError, argument

__all__ = ["Function", "Region", "count", "few_steps", "greatest", "interprets", "limited", "lock", "most"]
__all__ += ["new_shares", "run", "run_with_barriers", "use"]

#: Steps of about three microseconds each in the interpreter that take less time there than the import of
#: Numba.  All such calls of a process may have so many steps; those after them are compiled.
FEW_STEPS, FEW_IN_ALL = 1 << 15, 1 << 17

#: Loops, regions and compiled functions by name; what runs on the CPU is the attribute ``cpu`` of each.
by_name: WeakValueDictionary = WeakValueDictionary()

#: One call with helpers at a time, and one call of several Python threads in the interpreter.
lock = RLock()
if hasattr(os, "register_at_fork"):
    # a fork waits for the call of another thread; the child would find the lock taken for ever
    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)


#: Steps of the calls of this process for which an estimate was given and that ran in the interpreter.
_interpreted = 0.0


class _OfThread(local):
    """The number of threads that is set for the calls of a thread; whether these run in the interpreter."""

    number: int | None = None
    interprets = False


_set = _OfThread()


def count() -> int:
    """Number of threads that loops of this thread use.

    It is the one that is set (:func:`use`), or that of Numba, which a program may lower, but no more than
    by default (:mod:`~edgewise.device.usable_cores`).
    """
    return _set.number or _without_numba() or min(_counter()(), default_threads().number)


def most() -> int:
    """Number of threads that loops have by default, whatever number is set for a call."""
    if number := _without_numba():
        return number
    return min(greatest(), default_threads().number)


def _without_numba():
    """The default number of threads, if it is known without the import of Numba."""
    if "numba" not in sys.modules and not Path(".numba_config.yaml").exists():
        given = os.environ.get("NUMBA_NUM_THREADS", "")
        if given.isdecimal() or not given:
            return default_threads().number
    return None


def greatest() -> int:
    """Number of threads that may be set: Numba's, one for each core or ``NUMBA_NUM_THREADS``."""
    with interrupts_kept():
        import numba

    return numba.config.NUMBA_NUM_THREADS


@memoize
def _counter():
    with interrupts_kept():
        from numba import get_num_threads

    return get_num_threads


def use(number: int | None) -> None:
    """Set the number of threads of the loops of this thread; ``None`` changes nothing.

    Raises
    ------
    OptionError
        No whole number, or more threads than Numba has: one per core, or ``NUMBA_NUM_THREADS``.
    """
    if number is None:
        return
    if not isinstance(number, int) or isinstance(number, bool):
        raise OptionError(f"{argument('threads', number)} must be a whole number, 1 or more")
    max_threads = 1 if number == 1 else greatest()  # which imports the compiler
    if not 1 <= number <= max_threads:
        raise OptionError(
            f"{number} threads are not available, 1 to {max_threads} are; set NUMBA_NUM_THREADS for more"
        )
    _set.number = number


@contextmanager
def limited(number: int | None) -> Iterator[None]:
    """Context in which loops of this thread use so many threads; ``None`` changes nothing."""
    before = _set.number
    use(number)
    try:
        yield
    finally:
        _set.number = before


@contextmanager
def few_steps(number: float) -> Iterator[None]:
    """Context with an estimate of the steps of loops, regions and compiled functions that this thread calls.

    Few run in the interpreter where Numba is not imported yet.
    """
    global _interpreted
    if interprets() or number > FEW_STEPS or cpu_compiler_is_loaded() or _interpreted > FEW_IN_ALL:
        yield
        return
    _interpreted += number
    with limited(1):
        _set.interprets = True
        try:
            yield
        finally:
            _set.interprets = False


def interprets() -> bool:
    """Whether the functions that this thread calls run in the interpreter."""
    return INTERPRETED or _set.interprets


def new_shares(number: int) -> Any:
    """Counters of the items that are taken of so many shares (:mod:`~edgewise.device.shares`): zeros."""
    return np.zeros(number * STRIDE, np.int64)


class Function:
    """A function that is compiled and kept on disk under a full name."""

    def __init__(self, body, name):
        self.body, self.name = body, name

    @cached_property
    def function(self) -> Any:
        """The compiled function; Numba is imported when it is first needed."""
        if INTERPRETED:
            return self.body
        internals = cpu_compiler()
        return internals.with_fast_records(self._kept(internals.WHOLE))

    def _kept(self, options):
        from numba import njit

        return cache.keep(njit(nogil=True, **options)(self.body), self.name)

    @property
    def dispatcher(self) -> Any:
        """Numba's object for the function, which compiles it for types."""
        return getattr(self.function, "dispatcher", self.function)


class Region(Function):
    """A function of a worker's id and other arguments, which several threads run."""

    @cached_property
    def entries(self) -> Any:
        """The compiled function by addresses."""
        internals = cpu_compiler()
        from edgewise.device.numba_entries import Entries

        return Entries(self._kept(internals.WORKER))

    @property
    def dispatcher(self) -> Any:
        """Numba's object for the function, which compiles it for types."""
        return self.entries.dispatcher if cpu_compiler().HAS_ENTRIES else super().dispatcher


def prepare_compiler() -> None:
    """Import the compiler and fill its tables of functions, by compiling a function that does nothing."""
    Function(lambda: 0, "nothing").function()


def lock_for(n_workers: int) -> Any:
    """Context that a call with so many workers needs: one worker runs beside other calls, without helpers."""
    return lock if n_workers > 1 or interprets() else nullcontext()


def run(region, n_workers, *arguments):
    """Run a compiled function as workers 0 to ``n_workers - 1``; the caller holds the lock for these.

    The first exception of a worker is raised here.
    """
    _run(region, n_workers, None, arguments)


def run_with_barriers(region, n_workers, arguments):
    """Run a compiled function of ``(n_workers, barrier, arguments)`` whose workers meet at barriers.

    They run at the same time, or as if they did.
    """
    if not interprets() and fibers.are_possible():
        barrier, failed = helpers_for(n_workers).state, helpers.FAILED
    else:
        barrier, failed = np.zeros(python_threads.BARRIER, np.int64), python_threads.FAILED
    _run(region, n_workers, barrier[failed:], (n_workers, barrier, arguments))


def _run(region, n_workers, flag, arguments):
    """Run workers; the int32 at the beginning of ``flag`` is set when one has failed."""
    if interprets():
        for worker_id in range(n_workers):
            region.body(worker_id, *arguments)
        return
    if cpu_compiler().HAS_ENTRIES if n_workers == 1 else fibers.are_possible():
        _enter(region, n_workers, flag, arguments)
    elif n_workers == 1:
        region.function(0, *arguments)
    else:
        python_threads.run(lambda worker: region.function(worker, *arguments), n_workers, flag)


def _enter(region, n_workers, flag, arguments):
    """Run workers by the address of their entry."""
    try:
        memory, entry = region.entries.begin(arguments, 0 if flag is None else flag.ctypes.data)
    except cpu_compiler().TooManyArguments as error:
        raise DeviceError(f"{region.name}: {error}; pass fewer") from error
    if n_workers == 1:
        entry.call(0, memory.address)
    else:
        steal_after = 0 if flag is None else helpers.LOOKS_BEFORE_STEALING
        helpers_for(n_workers).lead(n_workers, entry.address, memory.address, steal_after)
    cpu_compiler().end(memory, region.name)


@memoize
def _compiled_work():
    return Function(helpers.work, f"{helpers.__name__}.work").function


class Helpers:
    """Helpers for calls with ``size`` workers at most; they start when a call needs them.

    ``state`` (words,) int64 is the barrier of a call as well.
    """

    def __init__(self, size):
        self.size, self.started, self.threads, self.process = size, 0, [], os.getpid()
        self.own = helpers.FIBERS + size * helpers.FIBER
        words = np.zeros(self.own + size * helpers.HELPER + 8, np.int64)
        skipped = -words.ctypes.data % 64 // 8
        self.state = words[skipped : len(words) - 8 + skipped]
        self.stacks = mmap.mmap(-1, size * helpers.STACK_SIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.state[helpers.STACKS] = first = ctypes.addressof(ctypes.c_char.from_buffer(self.stacks))
        self.state[helpers.CORES] = usable_cores()
        self.state[helpers.PHASE] = 1  # so that the first call has a phase before it
        for worker_id in range(size):  # a helper may look while the first call is still being written
            self.state[helpers.FIBERS + worker_id * helpers.FIBER + fibers.STATUS] = helpers.FINISHED
        self.library = ctypes.CDLL(None)
        for position in range(size):
            self.library.mprotect(ctypes.c_void_p(first + position * helpers.STACK_SIZE), helpers.PAGE, 0)
        atexit.register(self.stop)

    def lead(self, n_workers, function, memory, steal_after):
        """Run a function as workers, no more than ``size``."""
        if self.started < n_workers - 1:
            numbers = range(self.started + 1, n_workers)
            self.started = n_workers - 1
            self._start(self._start_all, numbers)
        _compiled_work()(self.state, 0, 0, n_workers, function, memory, steal_after)

    def _start_all(self, numbers):
        """Be the first of some helpers, and start the others before: the caller waits for one to start."""
        for number in numbers[1:]:
            self._start(self._serve, number)
        self._serve(numbers[0])

    def _serve(self, number):
        _compiled_work()(self.state, number, self.own + number * helpers.HELPER, 0, 0, 0, 0)

    def _start(self, function, argument):
        thread = Thread(target=function, args=(argument,), name="helper", daemon=True)
        with suppress(RuntimeError):  # no further thread is possible, so the others do its work
            thread.start()
            self.threads.append(thread)

    def stop(self):
        """Let the helpers return, and wait until they have."""
        if self.process != os.getpid():
            return
        self.state[helpers.STOPPED] = 1
        self.state[helpers.PHASE] += 1
        for word in helpers.PHASE, helpers.STOPPED:
            address = ctypes.c_void_p(self.state[word:].ctypes.data)
            self.library.syscall(helpers.FUTEX, address, helpers.FUTEX_WAKE, self.size)
        for thread in self.threads:
            thread.join()


def helpers_for(n_workers: int) -> Helpers:
    """The helpers of this process, for a call with so many workers; the caller holds the lock."""
    if not _of_process or _of_process[0].size < n_workers:
        for before in _of_process:
            before.stop()
        _of_process[:] = [Helpers(max(n_workers, greatest()))]
    return _of_process[0]


_of_process: list[Helpers] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_of_process.clear)  # the threads stay with the parent
