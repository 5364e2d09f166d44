"""The number of threads of the CPU, and compiled functions that several of them run at the same time.

Numba compiles the body of a parallel loop by itself, then the loop, two wrappers around it, and the function
that contains it.  Here threads call any compiled function by its address (:mod:`~edgewise.device.call`).
Such a function begins like this:

    def region(worker_id, memory, first, second):
        if worker_id < 0:
            return threads.entry(memory, (memory, first, second))
        ...
        return 0

A call with ``worker_id=-1`` stores the arguments at the address ``memory`` and returns the address of a
function of a worker's id and ``memory``, which reads the other arguments there.  The exception of a worker is
stored there too.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache as memoize
from pathlib import Path
from threading import local
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import cache
from edgewise.device.first_use import prepare_cpu_compiler
from edgewise.device.interrupts import interrupts_kept
from edgewise.device.shares import STRIDE
from edgewise.device.target import INTERPRETED, SIMULATED, cpu_compiler
from edgewise.device.usable_cores import default_threads
from edgewise.errors import OptionError, argument

__all__ = ["Region", "compiled", "count", "entry", "greatest", "limited", "most", "new_shares", "use"]

#: Functions for compiled functions, set before one is compiled.  They are no variables of closures, which
#: would have to be the same in every process for Numba's own cache.
entry: Any = None

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
    max_threads = greatest()
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
