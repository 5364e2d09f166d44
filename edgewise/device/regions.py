"""``@parallel_region``: one region that all workers run, with barriers; ``@compiled``: one compiled call.

A search over a graph makes many small rounds.  A parallel loop a round would cost a region's launch on the
CPU, and a kernel's launch and a question by the host on a GPU.  Here all workers enter once and meet
between rounds:

    @parallel_region
    def fill(worker, first, second):
        for index in range(worker.id, len(first), worker.count):
            first[index] = index
        barrier_wait(worker)
        for index in range(worker.id, len(second), worker.count):
            second[index] = first[len(first) - 1 - index]

    fill(first, second)

On the CPU a worker is a thread of Numba's, on a GPU a thread of a cooperative launch, which holds no more
blocks than the GPU can run at once.  The simulator has one block, the interpreter one worker.

Where the threading layer would run the workers one after the other, as TBB may, there is one worker.
"""

import os
import sys
from functools import partial, update_wrapper
from typing import Any, NamedTuple

import numpy as np
from numba import get_num_threads, njit, types
from numba.extending import overload

from edgewise.device import arrays, cache, launch, thread_region
from edgewise.device.atomics import fetch_add, load, store
from edgewise.device.loop import loop_lock
from edgewise.device.target import INTERPRETED, PART, SIMULATED, WHOLE, device, on_cuda
from edgewise.device.thread_region import entry

#: Words of a barrier: who has arrived stands in the first, the turn in another cache line.
BARRIER, TURN = 32, 16
#: Looks at the turn before a waiting thread offers its core to others, and before it sleeps: where other
#: programs want the cores too, the thread that all wait for may be one without a core.
PATIENCE, DROWSY = 2000, 2050
#: Microseconds of such a sleep; looks of a probe of the first use, and how many probes may fail.
NAP, PROBE_LOOKS, TRIES = 50, 20_000, 3


def rest(looks):
    """Offer the core to another thread, or sleep for a moment after many ``looks`` in vain."""


_sched_yield = types.ExternalFunction("sched_yield", types.int32())
_usleep = types.ExternalFunction("usleep", types.int32(types.uint32))


@overload(rest, jit_options=PART)
def _rest_on_cpu(looks):
    if sys.platform == "win32":
        return lambda looks: None

    def yield_or_sleep(looks):
        if looks > DROWSY:
            _usleep(np.uint32(NAP))
        else:
            _sched_yield()

    return yield_or_sleep


class Worker(NamedTuple):
    """One worker of a parallel region: a CPU thread, or a thread of a GPU's grid.

    Attributes
    ----------
    id : int
        Counts from 0 to ``count - 1``.
    count : int
        Number of workers.
    barrier : (BARRIER,) int32 array
        State of :func:`barrier_wait`, shared by all workers.
    """

    id: int
    count: int
    barrier: Any


class BlockWorker(NamedTuple):
    """A worker of a region with shared memory; the first attributes are those of :class:`Worker`.

    Attributes
    ----------
    id, count, barrier
        As in :class:`Worker`.
    shared : (shared_words,) int64 array
        Fast memory that the workers of a block share, holding anything at first: a block's shared memory on
        a GPU, each thread's own part of an array on the CPU.
    """

    id: int
    count: int
    barrier: Any
    shared: Any


@device
def barrier_wait(worker):
    """Wait until all workers are here; what they wrote before is seen by all behind it."""
    _wait(worker.barrier, worker.count)


def _wait(barrier, n_workers):
    if SIMULATED:
        _wait_for_block()


@overload(_wait, jit_options=PART)
def _wait_on_cpu(barrier, n_workers):
    def wait_for_threads(barrier, n_workers):
        if n_workers > 1:
            turn = load(barrier, TURN)
            if fetch_add(barrier, 0, 1) == n_workers - 1:
                store(barrier, 0, 0)
                store(barrier, TURN, turn + 1)
            else:
                looks = 0
                while load(barrier, TURN) == turn:
                    looks += 1
                    if looks > PATIENCE:
                        rest(looks)

    return wait_for_threads


def _register_on_cuda():
    """Blocks wait at one counter; the threads of a block, before and after, at its own barrier."""
    if SIMULATED:
        return
    from numba import cuda
    from numba.cuda.extending import overload as overload_on_cuda

    @overload_on_cuda(_wait)
    def wait_on_cuda(barrier, n_workers):
        def wait_for_blocks(barrier, n_workers):
            cuda.syncthreads()
            if cuda.threadIdx.x == 0:
                cuda.threadfence()
                turn = load(barrier, TURN)
                if cuda.atomic.add(barrier, 0, 1) == cuda.gridDim.x - 1:
                    barrier[0] = 0
                    cuda.threadfence()
                    cuda.atomic.add(barrier, TURN, 1)
                else:
                    while load(barrier, TURN) == turn:
                        pass
                cuda.threadfence()
            cuda.syncthreads()

        return wait_for_blocks


on_cuda(_register_on_cuda)


def _wait_for_block():
    from edgewise.device import grid

    grid.wait_for_block()


class parallel_region:
    """Turn ``body(worker, *arguments)`` into a call ``region(*arguments)``.

    Parameters
    ----------
    body : function
        Run by every worker at the same time; all must come to the same barriers.  ``worker`` is a
        :class:`Worker`, or a :class:`BlockWorker` in a region with shared memory.
    threads : int
        Threads per block on a GPU.
    max_blocks_per_sm : int, optional
        Upper limit of blocks per multiprocessor.
    min_blocks_per_sm : int, optional
        Blocks that a multiprocessor must be able to run at once, which limits the registers of a thread.
    shared_words : int
        Words (int64) of fast memory that the workers of a block share.
    """

    def __init__(
        self,
        body,
        threads=launch.BLOCK,
        max_blocks_per_sm=None,
        min_blocks_per_sm=None,
        shared_words=0,
    ):
        self.body, self.shared_words = device(body), shared_words
        self.name = f"{body.__module__}.{body.__qualname__}"
        update_wrapper(self, body)
        self.cpu = (_cpu_region_with_shared_memory if shared_words else _cpu_region)(body, self.name)
        grid = launch.Grid(
            threads=min(threads, launch.BLOCK) if SIMULATED else threads,
            max_blocks_per_sm=max_blocks_per_sm,
            min_blocks_per_sm=min_blocks_per_sm,
            cooperative=True,
        )
        self.cuda = launch.Kernel(self.name, self._cuda_source, grid)

    @classmethod
    def by(cls, **sizes):
        """Decorator for a body whose grid has these sizes, named as in the class."""
        return partial(cls, **sizes)

    def __call__(self, *arguments):
        device = arrays.device_of(*arguments, contiguous=True)
        if device != "cpu":
            barrier = arrays.zeros(BARRIER, np.int32, device)
            self.cuda(1, (barrier, *arguments), device)
            return
        n_workers = workers()
        if self.shared_words:
            arguments = (np.empty(n_workers * self.shared_words, np.int64), *arguments)
        with loop_lock:
            barrier = np.zeros(BARRIER, np.int32)
            thread_region.run(self.cpu, n_workers, n_workers, barrier, arguments)

    def _cuda_source(self):
        from edgewise.device import grid

        if self.shared_words:
            return grid.whole_grid_with_shared_memory(self.body, self.shared_words)
        return grid.whole_grid(self.body)


def workers() -> int:
    """Workers that a region has on the CPU."""
    return _concurrent(get_num_threads())


def _cpu_region(body, name):
    def region(worker, saved, n_workers, barrier, arguments):
        if worker < 0:
            return entry(saved, (saved, n_workers, barrier, arguments))
        body(Worker(worker, n_workers, barrier), *arguments)
        return 0

    return thread_region.compiled(region, name)


def _cpu_region_with_shared_memory(body, name):
    def region(worker, saved, n_workers, barrier, arguments):
        if worker < 0:
            return entry(saved, (saved, n_workers, barrier, arguments))
        words = len(arguments[0]) // n_workers
        shared = arguments[0][worker * words : (worker + 1) * words]
        body(BlockWorker(worker, n_workers, barrier, shared), *arguments[1:])
        return 0

    return thread_region.compiled(region, name)


def _concurrent(threads):
    """``threads``, if the threading layer really runs so many iterations at once, else 1; found out once."""
    with loop_lock:  # also so that all who ask hear the same
        if threads not in _known:
            _known[threads] = 1 if INTERPRETED else threads
            if threads > 1 and not INTERPRETED and not any(_all_run(threads) for _ in range(TRIES)):
                _known[threads] = 1
        return _known[threads]


_known: dict[int, int] = {}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_known.clear)  # the child's threads are others


def _all_run(threads):
    """Whether so many workers have seen each other."""
    seen = np.zeros(threads, np.int64)
    thread_region.run(_probe, threads, threads, np.zeros(1, np.int64), seen)
    return bool((seen == threads).all())


def _arrive(worker, saved, threads, arrived, seen):
    if worker < 0:
        return entry(saved, (saved, threads, arrived, seen))
    fetch_add(arrived, 0, 1)
    looks = 0
    while load(arrived, 0) < threads and looks < PROBE_LOOKS:
        looks += 1
        rest(0)
    seen[worker] = load(arrived, 0)
    return 0


_probe = thread_region.compiled(_arrive, f"{__name__}._arrive")


class compiled:
    """Turn a plain function over arrays into one compiled call on the CPU, cheap to make.

    Parameters
    ----------
    body : function
        ``body(*arguments)``; may return a number.
    """

    def __init__(self, body):
        self.body = body
        update_wrapper(self, body)
        name = f"{body.__module__}.{body.__qualname__}"
        function = njit(nogil=True, **WHOLE)(body)
        self.function = function if INTERPRETED or SIMULATED else cache.keep(function, name)

    def __call__(self, *arguments):
        return self.function(*arguments)
