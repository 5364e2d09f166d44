"""``@parallel_region``: one region that all workers run, with barriers; ``@compiled``: one compiled call.

A parallel loop per round of a graph search would cost the start of a region on the CPU, and on a GPU a kernel
launch and a round trip to the host.  Here all workers enter once, and synchronise at barriers:

    @parallel_region
    def fill(worker, first, second):
        for index in range(worker.id, len(first), worker.count):
            first[index] = index
        barrier_wait(worker)
        for index in range(worker.id, len(second), worker.count):
            second[index] = first[len(first) - 1 - index]

    fill(first, second)

A worker is one of Numba's threads on the CPU, and on a GPU a thread of a cooperative launch, which has no
more blocks than run at once.  The simulator has one block, the interpreter one worker.  There is also one
worker where the threading layer runs workers one after the other, as TBB can.

When a worker of the CPU raises an exception, those that wait at a barrier fail too, and the call raises it.
"""

import os
import sys
from contextlib import suppress
from functools import partial, update_wrapper
from threading import Barrier, BrokenBarrierError
from typing import Any, NamedTuple

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.device import arrays, launch, threads
from edgewise.device.atomics import fetch_add, load, store
from edgewise.device.first_use import on_cpu_compiler
from edgewise.device.loop import loop_lock
from edgewise.device.spin import cycles, relax
from edgewise.device.target import (
    INTERPRETED,
    SIMULATED,
    cpu_compiler_is_loaded,
    device,
    overload_on_cpu,
    overload_on_cuda,
)
from edgewise.errors import DeviceError

#: Words of a barrier.  The first counts the workers that have arrived; the number of the phase, and whether a
#: worker has failed, are in another cache line.
BARRIER, PHASE, FAILED = 32, 16, 17
#: Reads of the phase, 10 to 50 ns each, before a waiting thread yields its core, and yields before it sleeps
#: once: if other programs use the cores, the last worker may be a thread without a core.  A thread that
#: sleeps is late for the next round, so it sleeps only after a millisecond, and then yields again.
SPINS_BEFORE_YIELD, YIELDS_BEFORE_SLEEP = 400, 2000
#: Cycles of a yield after which a thread sleeps: another program has used the core for a time slice of the
#: system.  A shorter pause may be that of the host of a virtual machine, which no sleep would end.
SLEEP_CYCLES = 1_000_000
#: Steps of a compiled function, of about three microseconds each in the interpreter, that take less time
#: there than the import of Numba.
FEW_STEPS = 8192
#: Microseconds of a sleep.
SLEEP = 50
#: Seconds of a probe whether workers run at the same time, and how many probes may fail.
PROBE_SECONDS, PROBES = 0.5, 3


def pause(sleep):
    """Yield the core to another thread, or ``sleep`` for a moment."""


def _register_pause():
    """Let it call the C library where that is possible."""
    from numba import types

    from edgewise.device.numba_internals import external

    sched_yield = external("sched_yield", types.int32())
    usleep = external("usleep", types.int32(types.uint32))

    @overload_on_cpu(pause)
    def pause_on_cpu(sleep):
        if sys.platform == "win32" or usleep is None:
            return lambda sleep: None

        def yield_or_sleep(sleep):
            if sleep:
                usleep(np.uint32(SLEEP))
            else:
                sched_yield()

        return yield_or_sleep


on_cpu_compiler(_register_pause)


class Worker(NamedTuple):
    """One worker of a parallel region: a CPU thread, or a thread of a GPU's grid.

    ``id`` counts from 0 to ``count - 1``; ``barrier`` (BARRIER,) int32 is the state of :func:`barrier_wait`,
    shared by all workers.
    """

    id: int
    count: int  # type: ignore[assignment]
    barrier: Any


class BlockWorker(NamedTuple):
    """A :class:`Worker` with ``shared``, (shared_words,) int64 by default: uninitialised memory of its block.

    This is a block's shared memory on a GPU, and a part of an array for each thread on the CPU.
    """

    id: int
    count: int  # type: ignore[assignment]
    barrier: Any
    shared: Any


@device
def barrier_wait(worker):
    """Wait until all workers have arrived; what they wrote before is visible to all of them afterwards."""
    _wait(worker.barrier, worker.count)


def _wait(barrier, n_workers):
    if SIMULATED and n_workers > 1:
        from edgewise.device import grid

        grid.wait_for_block()


@overload_on_cpu(_wait)
def _wait_on_cpu(barrier, n_workers):
    def wait_for_threads(barrier, n_workers):
        if n_workers > 1:
            phase = load(barrier, PHASE)
            if fetch_add(barrier, 0, 1) == n_workers - 1:
                store(barrier, 0, 0)
                store(barrier, PHASE, phase + 1)
            else:
                spins = 0
                while load(barrier, PHASE) == phase:
                    spins += 1
                    if spins <= SPINS_BEFORE_YIELD:
                        relax()
                        continue
                    if load(barrier, FAILED) != 0:
                        raise RuntimeError("another worker of the region has failed")
                    begun = cycles()
                    pause(spins >= SPINS_BEFORE_YIELD + YIELDS_BEFORE_SLEEP)
                    if spins >= SPINS_BEFORE_YIELD + YIELDS_BEFORE_SLEEP:
                        spins = SPINS_BEFORE_YIELD
                    elif cycles() - begun > SLEEP_CYCLES:  # others need the core, so it is left to them
                        spins = SPINS_BEFORE_YIELD + YIELDS_BEFORE_SLEEP

    return wait_for_threads


@overload_on_cuda(_wait)
def _wait_on_cuda(barrier, n_workers):
    """Blocks wait at one counter, after and before the threads of each block wait at its own barrier."""
    from numba import cuda

    def wait_for_blocks(barrier, n_workers):
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            phase = load(barrier, PHASE)
            if cuda.atomic.add(barrier, 0, 1) == cuda.gridDim.x - 1:
                barrier[0] = 0
                cuda.threadfence()
                cuda.atomic.add(barrier, PHASE, 1)
            else:
                while load(barrier, PHASE) == phase:
                    pass
            cuda.threadfence()
        cuda.syncthreads()

    return wait_for_blocks


class parallel_region:
    """Turn ``body(worker, *arguments)`` into a call ``region(*arguments)``.

    Parameters
    ----------
    body : function
        Run by all workers at the same time; all must reach the same barriers.  ``worker`` is a
        :class:`Worker`, or a :class:`BlockWorker` in a region with shared memory.
    threads : int
        Threads per block on a GPU.
    shared_words : int
        Words of memory that the workers of a block share.
    shared_type : type
        Type of these words.
    max_blocks_per_sm, min_blocks_per_sm : int, optional
        Limits of :class:`~edgewise.device.launch.Grid`.
    """

    def __init__(self, body, threads=launch.BLOCK, shared_words=0, shared_type=np.int64, **limits):
        self.body, self.shared_words, self.shared_type = device(body), shared_words, shared_type
        self.name = f"{body.__module__}.{body.__qualname__}"
        update_wrapper(self, body)
        threads = min(threads, launch.BLOCK) if SIMULATED else threads
        grid = launch.Grid(threads=threads, cooperative=True, **limits)
        self.cuda = launch.Kernel(self.name, self._cuda_source, grid)

    @classmethod
    def by(cls, **sizes):
        """Decorator for a body with launch parameters, named as in the class."""
        return partial(cls, **sizes)

    @cached_property
    def cpu(self):
        """The region for the CPU, which is made when it is first needed."""
        make = _cpu_region_with_shared_memory if self.shared_words else _cpu_region
        return make(self.body, self.name)

    def __call__(self, *arguments):
        self.run(workers, arguments)

    def with_workers(self, n_workers, *arguments):
        """Run the region with so many workers on the CPU, where there is too little to do for more."""
        self.run(lambda: n_workers, arguments)

    def run(self, n_workers, arguments):
        """Run the region with ``n_workers()`` workers on the CPU, and with all threads of a GPU."""
        device = arrays.gpu_of(arguments) or arrays.device_of(*arguments, contiguous=True)
        if device != "cpu":
            barrier = arrays.zeros(BARRIER, np.int32, device)
            try:
                self.cuda(1, (barrier, *arguments), device)
            except DeviceError:
                arrays.device_of(*arguments, contiguous=True)  # numbers them without the barrier
                raise
            return
        n_workers = n_workers()
        if self.shared_words:
            arguments = (np.empty(n_workers * self.shared_words, self.shared_type), *arguments)
        with loop_lock:
            barrier = np.zeros(BARRIER, np.int32)
            flag = barrier[FAILED : FAILED + 1]
            threads.run(self.cpu, n_workers, n_workers, barrier, arguments, flag=flag)

    def _cuda_source(self):
        from edgewise.device import grid

        if self.shared_words:
            return grid.whole_grid_with_shared_memory(
                self.body, BlockWorker, self.shared_words, self.shared_type
            )
        return grid.whole_grid(self.body, Worker)


def workers() -> int:
    """Number of workers that a region has on the CPU."""
    return _concurrent(threads.count())


def _cpu_region(body, name):
    def region(worker_id, memory, n_workers, barrier, arguments):
        if worker_id < 0:
            return threads.entry(memory, (memory, n_workers, barrier, arguments))
        body(Worker(worker_id, n_workers, barrier), *arguments)
        return 0

    return threads.compiled(region, name)


def _cpu_region_with_shared_memory(body, name):
    def region(worker_id, memory, n_workers, barrier, arguments):
        if worker_id < 0:
            return threads.entry(memory, (memory, n_workers, barrier, arguments))
        words = len(arguments[0]) // n_workers
        shared = arguments[0][worker_id * words : (worker_id + 1) * words]
        body(BlockWorker(worker_id, n_workers, barrier, shared), *arguments[1:])
        return 0

    return threads.compiled(region, name)


def _concurrent(count):
    """``count`` if the threading layer runs so many iterations at the same time, else 1; probed once."""
    with loop_lock:  # concurrent callers must get the same answer
        if count not in _known:
            _known[count] = 1 if INTERPRETED else count
            probed = count > 1 and not INTERPRETED and not threads.on_python_threads()
            if probed and not any(_all_run(count) for _ in range(PROBES)):
                _known[count] = 1
        return _known[count]


_known: dict[int, int] = {}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_known.clear)  # the child's threads are others


def _all_run(count):
    """Whether so many workers wait for each other at the same time."""
    barrier, arrived = Barrier(count), []

    def wait():
        with suppress(BrokenBarrierError):
            barrier.wait(PROBE_SECONDS)
            arrived.append(True)

    threads.call_back(wait, count)
    return len(arrived) == count


class compiled:
    """Turn a function over arrays, which may return a number, into one CPU call that releases the GIL."""

    def __init__(self, body):
        self.body = body
        update_wrapper(self, body)
        self.name = f"{body.__module__}.{body.__qualname__}"

    @cached_property
    def function(self):
        """The compiled function, which is made when it is first called."""
        return threads.compiled(self.body, self.name).function

    def __call__(self, *arguments):
        return self.function(*arguments)

    def with_steps(self, n_steps, *arguments):
        """Call with an estimate of its steps: few run in the interpreter where Numba is not imported yet."""
        if n_steps <= FEW_STEPS and not cpu_compiler_is_loaded():
            return self.body(*arguments)
        return self.function(*arguments)
