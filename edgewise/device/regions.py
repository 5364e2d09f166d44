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

On a GPU a worker is a thread of a cooperative launch, which has no more blocks than run at once.  On the CPU
there is a worker for each thread (:mod:`~edgewise.device.helpers`).  The
interpreter has one worker.

When a worker of the CPU raises an exception, those that wait at a barrier fail too, and the call raises it.
"""

from functools import partial, update_wrapper
from typing import Any, NamedTuple

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.device import arrays, fibers, helpers, launch, python_threads, threads
from edgewise.device.atomics import fence, fetch_add, load
from edgewise.device.target import (
    INTERPRETED,
    SIMULATED,
    called,
    device,
    overload_on_cpu,
    overload_on_cuda,
)
from edgewise.device.threads import by_name
from edgewise.errors import DeviceError

#: Words of a barrier on a GPU.  The first counts the blocks that have arrived; the number of the phase is in
#: another cache line.
BARRIER, PHASE = 32, 16


class Worker(NamedTuple):
    """One worker of a parallel region: a CPU thread, or a thread of a GPU's grid.

    ``id`` counts from 0 to ``count - 1``; ``barrier`` is an array with the state of :func:`barrier_wait`.
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


@called
def barrier_wait(worker):
    """Wait until all workers have arrived; what they wrote before is visible to all of them afterwards."""
    _wait(worker.barrier, worker.count, worker.id)


def _wait(barrier, n_workers, worker_id):
    """Nothing in the interpreter, where a region has one worker."""


@overload_on_cpu(_wait)
def _wait_on_cpu(barrier, n_workers, worker_id):
    how = helpers if fibers.are_possible() else python_threads
    wait_at_barrier = how.wait_at_barrier

    def wait_for_workers(barrier, n_workers, worker_id):
        if n_workers > 1 and wait_at_barrier(barrier, n_workers, worker_id):
            raise RuntimeError("another worker of the region has failed")

    return wait_for_workers


@overload_on_cuda(_wait)
def _wait_on_cuda(barrier, n_workers, worker_id):
    """One thread of each block waits for those of others, between two barriers of the block itself."""
    from edgewise.device.gpu_compiler import cuda

    def wait_for_blocks(barrier, n_workers, worker_id):
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            arrive_and_wait(barrier, 0, cuda.gridDim.x)
        cuda.syncthreads()

    return wait_for_blocks


@device
def arrive_and_wait(barriers, first, count):
    """Wait until ``count`` threads, of different blocks that run at once, have arrived.

    The state of their barrier begins at ``first``.
    """
    fence()
    phase = load(barriers, first + PHASE)
    if fetch_add(barriers, first, 1) == count - 1:
        # race: this thread has added to the word after all others, and stores of one word keep their order
        barriers[first] = 0
        fence()
        fetch_add(barriers, first + PHASE, 1)
    else:
        while load(barriers, first + PHASE) == phase:
            pass
    fence()


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
        by_name[self.name] = self

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
        with threads.lock:
            threads.run_with_barriers(self.cpu, n_workers, arguments)

    def _cuda_source(self):
        from edgewise.device import grid

        if self.shared_words:
            return grid.whole_grid_with_shared_memory(
                self.body, BlockWorker, self.shared_words, self.shared_type
            )
        return grid.whole_grid(self.body, Worker)


def workers() -> int:
    """Number of workers that a region has on the CPU."""
    return 1 if INTERPRETED else threads.count()


def _cpu_region(body, name):
    def region(worker_id, n_workers, barrier, arguments):
        body(Worker(worker_id, n_workers, barrier), *arguments)

    return threads.Region(region, name)


def _cpu_region_with_shared_memory(body, name):
    def region(worker_id, n_workers, barrier, arguments):
        words = len(arguments[0]) // n_workers
        shared = arguments[0][worker_id * words : (worker_id + 1) * words]
        body(BlockWorker(worker_id, n_workers, barrier, shared), *arguments[1:])

    return threads.Region(region, name)


class compiled:
    """Turn a function over arrays, which may return a number, into one CPU call that releases the GIL."""

    def __init__(self, body):
        self.body = body
        update_wrapper(self, body)
        self.name = f"{body.__module__}.{body.__qualname__}"
        by_name[self.name] = self

    @cached_property
    def cpu(self):
        """The compiled function and its name; it is made when it is first called."""
        return threads.Function(self.body, self.name)

    @cached_property
    def function(self):
        """The compiled function."""
        return self.cpu.function

    def __call__(self, *arguments):
        return self.body(*arguments) if threads.interprets() else self.function(*arguments)

    def with_steps(self, n_steps, *arguments):
        """Call with an estimate of its steps: few run in the interpreter where Numba is not imported yet."""
        with threads.few_steps(n_steps):
            return self(*arguments)
