"""Calls of a compiled function as several workers: with helpers, or on Python threads.

The lock admits a signal handler or a finalizer of the same thread at any time, so every call has memory of
its own.
"""

import os
from threading import RLock

import numpy as np

from edgewise.device import fibers, helpers, python_threads
from edgewise.device.target import INTERPRETED, cpu_compiler
from edgewise.errors import DeviceError

#: One call at a time.
lock = RLock()
if hasattr(os, "register_at_fork"):
    # a fork waits for the call of another thread; the child would find the lock taken for ever
    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)


def run(region, n_workers, *arguments):
    """Run a compiled function as workers 0 to ``n_workers - 1``; the caller holds the lock.

    The first exception of a worker is raised here.
    """
    _run(region, n_workers, None, arguments)


def run_with_barriers(region, n_workers, arguments):
    """Run a compiled function of ``(n_workers, barrier, arguments)`` whose workers meet at barriers.

    They run at the same time, or as if they did.
    """
    if fibers.are_possible():
        barrier, failed = helpers.of_process().state, helpers.FAILED
    else:
        barrier, failed = np.zeros(python_threads.BARRIER, np.int64), python_threads.FAILED
    _run(region, n_workers, barrier[failed:], (n_workers, barrier, arguments))


def _run(region, n_workers, flag, arguments):
    """Run workers; the int32 at the beginning of ``flag`` is set when one has failed."""
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
        if not fibers.are_possible():
            python_threads.run(lambda worker: region.function(worker, 0, *arguments), n_workers, flag)
            return
        function = region.function(-1, address, *arguments)
    except internals.TooManyArguments as error:
        raise DeviceError(
            f"{region.name}: its arguments take {error.size} bytes, of {internals.MAX_BYTES} at most; "
            "pass fewer arrays"
        ) from error
    patience = 0 if flag is None else helpers.PATIENT
    helpers.of_process().lead(n_workers, function, address, patience)
    if memory[internals.FAILED] > 0:
        internals.raise_again(memory[internals.EXCEPTION])
    elif memory[internals.FAILED]:
        raise DeviceError(f"{region.name}: a worker failed without an exception")
