"""Workers as Python threads, where there are no fibers: they start later, and a barrier needs all of them."""

import os
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache as memoize
from time import sleep

from edgewise.device.atomics import fetch_add, load, store
from edgewise.device.spin import leave_core, relax
from edgewise.device.target import device

#: Words of a barrier.  The first counts the workers that have arrived; the number of the phase, and whether a
#: worker has failed, are in another cache line.
BARRIER, PHASE, FAILED = 32, 16, 17
#: Reads of the phase before a waiting thread leaves its core at each.
SPINS = 400
#: Seconds between two looks at workers that an interrupt has stopped.
POLL_SECONDS = 0.001


@device
def wait_at_barrier(barrier, n_workers, worker_id):
    """Wait at a barrier, as a worker; return whether a worker has failed."""
    phase = load(barrier, PHASE)
    if fetch_add(barrier, 0, 1) == n_workers - 1:
        store(barrier, 0, 0)
        store(barrier, PHASE, phase + 1)
        return False
    spins = 0
    while load(barrier, PHASE) == phase:
        if load(barrier, FAILED) != 0:
            return True
        spins += 1
        if spins < SPINS:
            relax()
        else:
            leave_core()
    return False


def run(call, n_workers, flag):
    """Run ``call(worker_id)`` for all workers at the same time; ``flag[0]`` is set if one has failed.

    After Ctrl-C none of them is left either, because the caller frees what they use.
    """
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


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_executor.cache_clear)  # the threads stay with the parent
