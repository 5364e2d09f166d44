"""The threads of the CPU: their number, and compiled functions that several of them run at the same time.

Numba compiles the body of a parallel loop by itself, then the loop, two wrappers around it, and the function
that contains it.  Here Numba's threads call any compiled function by its address.  Such a function begins
like this:

    def region(worker_id, memory, first, second):
        if worker_id < 0:
            return threads.entry(memory, (memory, first, second))
        ...
        return 0

A call with ``worker_id=-1`` stores the arguments at the address ``memory`` and returns the address of a
function of a worker's id and ``memory``, which reads the other arguments there.  The exception of a worker is
stored there too.  Without Numba's calling convention (:mod:`~edgewise.device.numba_internals`) the function
runs on Python threads, which take longer to start.  It does so too in the child of a ``fork``, if the parent
has used OpenMP: GNU OpenMP ends a child that calls it.
"""

import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from ctypes import c_void_p, cast
from functools import cache as memoize
from pathlib import Path
from threading import local
from time import sleep
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import cache
from edgewise.device.first_use import prepare_cpu_compiler
from edgewise.device.interrupts import interrupts_kept
from edgewise.device.shares import STRIDE
from edgewise.device.target import INTERPRETED, SIMULATED, cpu_compiler
from edgewise.device.usable_cores import default_threads
from edgewise.errors import DeviceError, OptionError, argument

__all__ = ["Region", "compiled", "count", "entry", "limited", "new_shares", "run", "share_cores", "use"]

#: Functions for compiled functions, set before one is compiled.  They are no variables of closures, which
#: would have to be the same in every process for Numba's own cache.
entry: Any = None

#: Spins of a waiting thread before it sleeps, where threads share cores: some microseconds.
SPINS = "1000"
#: Seconds between two looks at workers that an interrupt has stopped.
POLL_SECONDS = 0.001


#: The number of threads that is set for the calls of a thread.
_set = local()


def count() -> int:
    """Number of threads that loops of this thread use.

    It is the one that is set (:func:`use`), or that of Numba, which a program may lower, but no more than
    by default (:mod:`~edgewise.device.usable_cores`).
    """
    return getattr(_set, "number", None) or _without_numba() or min(_counter()(), default_threads().number)


def most() -> int:
    """Number of threads that loops have by default, whatever number is set for a call."""
    if number := _without_numba():
        return number
    return min(_numba_most(), default_threads().number)


def _without_numba():
    """The default number of threads, if it is known without the import of Numba."""
    if "numba" not in sys.modules and not Path(".numba_config.yaml").exists():
        given = os.environ.get("NUMBA_NUM_THREADS", "")
        if given.isdecimal() or not given:
            return default_threads().number
    return None


def _numba_most():
    """Number of threads that Numba has."""
    with interrupts_kept():
        import numba

    return numba.config.NUMBA_NUM_THREADS


def share_cores() -> None:
    """Let threads of loops that wait for each other sleep soon, for a process with other threads at work.

    They would spin for milliseconds otherwise, on cores that the others need.  This has an effect before the
    first loop, with GNU OpenMP, and if the user has not set its variables.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", SPINS)


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
    max_threads = _numba_most()
    if not 1 <= number <= max_threads:
        raise OptionError(
            f"{number} threads are not available, 1 to {max_threads} are; set NUMBA_NUM_THREADS for more"
        )
    _set.number = number


@contextmanager
def limited(number: int | None) -> Iterator[None]:
    """Context in which loops of this thread use so many threads; ``None`` changes nothing."""
    before = getattr(_set, "number", None)
    use(number)
    try:
        yield
    finally:
        _set.number = before


def new_shares(number: int) -> Any:
    """Counters of the items that are taken of so many shares (:mod:`~edgewise.device.shares`): zeros."""
    return np.zeros(number * STRIDE, np.int64)


class Region(NamedTuple):
    """A compiled function for several threads, and its full name."""

    function: Any
    name: str


def _call_all(n_workers, function, memory):
    cpu_compiler().call_on_threads(n_workers, function, memory, max(n_workers, count()))


def _call_one(worker_id, function, memory):
    cpu_compiler().call_as_worker(worker_id, function, memory)


def call_back(function, n_workers):
    """Call a Python function, which may fail, as so many workers on Numba's threads."""
    failures = []

    def call(*_):
        try:
            function()
        except BaseException as error:  # ctypes would drop it
            failures.append(error)

    pointer = cpu_compiler().ENTRY(call)
    _call_all(n_workers, cast(pointer, c_void_p).value, 0)
    if failures:
        raise failures[0]


def compiled(region, name):
    """Compile such a function, and keep it on disk under ``name``."""
    if INTERPRETED:
        return Region(region, name)
    global entry
    internals = cpu_compiler()
    from numba import njit

    entry = internals.entry
    function = njit(nogil=True, **internals.WHOLE)(region)
    if SIMULATED:
        prepare_cpu_compiler()
        return Region(function, name)
    return Region(internals.with_fast_records(cache.keep(function, name)), name)


def run(region, n_workers, *arguments, flag=None):
    """Run a compiled function as workers 0 to ``n_workers - 1`` at the same time; the caller holds the lock.

    The lock admits a signal handler or a finalizer of the same thread at any time, so every call has memory
    of its own.  The first exception of a worker is raised here; ``flag``, a (1,) int32 array, is set to 1 by
    then.
    """
    if INTERPRETED:
        for worker_id in range(n_workers):
            region.function(worker_id, 0, *arguments)
        return
    internals = cpu_compiler()
    memory = np.empty(internals.WORDS, np.int64)
    address = memory.ctypes.data
    memory[internals.FAILED] = 0
    memory[internals.FLAG] = address + 8 * internals.OWN_FLAG if flag is None else flag.ctypes.data
    try:
        if n_workers == 1:
            region.function(0, address, *arguments)
            return
        if not internals.HAS_ENTRIES:
            _run_on_python_threads(
                lambda worker_id: region.function(worker_id, 0, *arguments), n_workers, flag
            )
            return
        function = region.function(-1, address, *arguments)
    except internals.TooManyArguments as error:
        raise DeviceError(
            f"{region.name}: its arguments take {error.size} bytes, of {internals.MAX_BYTES} at most; "
            "pass fewer arrays"
        ) from error
    if _openmp_is_lost:
        _run_on_python_threads(lambda worker: _call_one(worker, function, address), n_workers, flag)
    else:
        _call_all(n_workers, function, address)
    if memory[internals.FAILED] > 0:
        internals.raise_again(memory[internals.EXCEPTION])
    elif memory[internals.FAILED]:
        raise DeviceError(f"{region.name}: a worker failed without an exception")


def on_python_threads() -> bool:
    """Whether workers are Python threads, which always run at the same time."""
    return _openmp_is_lost or not cpu_compiler().HAS_ENTRIES


def _run_on_python_threads(call, n_workers, flag):
    """Run all workers; after Ctrl-C none of them is left either, because the caller frees what they use."""
    failures, begun, ended, pending = [], [], [], []
    stopped = False

    def work(worker_id):
        begun.append(worker_id)
        try:
            if not stopped:
                call(worker_id)
        except BaseException as error:
            failures.append(error)
            if flag is not None:
                flag[0] = 1
        finally:
            ended.append(worker_id)

    try:
        for worker_id in range(n_workers):
            pending.append(_executor(n_workers).submit(work, worker_id))
        wait(pending)
    except BaseException:
        stopped = True
        if flag is not None:
            flag[0] = 1  # ends the workers that wait for others
        _wait_out(pending, begun, ended)
        raise
    if failures:
        raise failures[0]


def _wait_out(pending, begun, ended):
    """Wait for all workers, also for one that was not noted as pending, however often Ctrl-C is pressed."""
    while True:
        try:
            while not (all(future.done() for future in pending) and len(ended) == len(begun)):
                sleep(POLL_SECONDS)
            return
        except BaseException:  # the first exception is raised, once nothing runs
            continue


@memoize
def _executor(n_workers):
    return ThreadPoolExecutor(n_workers)


_openmp_is_lost = False


def _after_fork():
    global _openmp_is_lost
    _executor.cache_clear()  # the threads stay with the parent
    if "numba" not in sys.modules:
        return
    from numba import threading_layer

    with suppress(ValueError):  # no layer has been used yet
        _openmp_is_lost = threading_layer() == "omp"


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
