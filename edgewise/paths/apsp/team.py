"""Workers that take tasks from a shared counter (:class:`~edgewise.primitives.thread_pool.ThreadPool`)."""

from edgewise.primitives.thread_pool import ThreadPool


def size_for(tasks, scratch=0):
    """Number of workers for so many tasks, each worker with ``scratch`` bytes of memory."""
    return ThreadPool(tasks, scratch).n_workers


def run(worker, size, *arguments):
    """Call ``worker(worker_id, counter, *arguments)`` for ``worker_id`` below ``size`` at the same time."""
    ThreadPool(size).run(worker, *arguments)
