"""A pool of Python threads that run compiled functions, which release the GIL, at the same time.

Starting a compiled function (:class:`~edgewise.device.regions.compiled`) on a Python thread takes less time
to compile than a parallel loop does, and several such functions can run at once.  Workers that need scratch
memory of their own, or that return values, use this pool; loops over indices use
:class:`~edgewise.device.loop.each`.  Workers of :meth:`ThreadPool.run_queue` take tasks by
:func:`next_chunk`, and end when ``stop <= start``.
"""

from collections import deque
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from itertools import starmap
from typing import Any, NamedTuple

import numpy as np

from edgewise import memory
from edgewise.device import arrays, device, fetch_add, load, threads
from edgewise.device.target import INTERPRETED

#: Tasks of the largest chunk.
CHUNK_TASKS = 256
#: Chunks that each worker takes on the average before chunks grow by one task.
CHUNKS_PER_SIZE = 16


class WorkQueue(NamedTuple):
    """Tasks ``first`` to ``end - 1``; ``counter`` (1,) int64 is the next task, at first ``first``."""

    counter: Any
    first: int
    end: int
    n_workers: int


@device
def next_chunk(queue):
    """Take the next chunk of tasks, ``(start, stop)``; ``stop <= start`` if no task is left.

    Chunks begin with one task and grow, because the heaviest tasks come first.
    """
    taken = load(queue.counter, 0) - queue.first
    size = min(CHUNK_TASKS, 1 + taken // (CHUNKS_PER_SIZE * queue.n_workers))
    start = np.int64(fetch_add(queue.counter, 0, size))
    return start, min(start + size, queue.end)


class ThreadPool:
    """Python threads that run compiled functions: ``n_workers``, at least 1.

    There are at most ``max_workers`` (usually the number of tasks) and as many as loops use; 1 in the
    interpreter. Their scratch memory, ``bytes_per_worker`` for each, takes at most half of the free memory.
    """

    def __init__(self, max_workers: int, bytes_per_worker: int = 0):
        count = 1 if INTERPRETED else min(threads.count(), max_workers)
        if count * bytes_per_worker > memory.UNCHECKED_BYTES:
            count = min(count, arrays.free_memory("cpu") // (2 * bytes_per_worker))
        self.n_workers = max(1, int(count))
        self._executor = ThreadPoolExecutor(self.n_workers)

    def starmap(self, function, calls, cancel=None) -> list:
        """Call ``function(*arguments)`` for each tuple of ``calls`` at the same time; return the results.

        All calls have ended when this returns or raises.  At an exception or Ctrl-C ``cancel()`` is called,
        which may make the others end early.  A single call runs on the calling thread.
        """
        if len(calls) == 1:
            return [function(*calls[0])]
        futures = [self._executor.submit(function, *arguments) for arguments in calls]
        try:
            return [future.result() for future in futures]
        except BaseException:
            for future in futures:
                future.cancel()
            if cancel is not None:
                cancel()
            raise
        finally:
            wait(futures)

    def ahead(self, function, calls):
        """Yield ``function(*arguments)`` for each tuple of ``calls``, in their order.

        The caller uses a result while all workers but one compute those that follow; a single worker computes
        each when it is wanted.
        """
        if self.n_workers == 1:
            yield from starmap(function, calls)
            return
        with ThreadPoolExecutor(self.n_workers - 1) as executor:
            futures = deque(executor.submit(function, *arguments) for arguments in calls)
            try:
                while futures:
                    yield futures.popleft().result()  # which need not be kept
            finally:
                executor.shutdown(wait=False, cancel_futures=True)

    def run_queue(self, function, first, end, *arguments, per_worker):
        """Call ``function(queue, *arguments, *per_worker[worker_id])`` for each worker.

        The tasks of the queue are ``first`` to ``end - 1``; it becomes empty when a call raises an exception.
        """
        counter = np.full(1, first, np.int64)
        queue = WorkQueue(counter, int(first), int(end), self.n_workers)
        self.starmap(
            function, [(queue, *arguments, *own) for own in per_worker], cancel=partial(counter.fill, end)
        )
