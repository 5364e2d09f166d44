"""Vertices distributed to CPU threads, each of which has scratch arrays and counts of its own.

Every thread has its own counts because atomic additions to shared ones would take as long as everything else.
The threads take vertices from a queue (:class:`~edgewise.primitives.thread_pool.WorkQueue`), heaviest first.

Most vertices have a dozen wedges, and the rows that these need are scattered over the memory.  A thread
therefore prefetches for the vertices that follow while it counts: their offsets, their rows, the offsets of
their neighbours, and the neighbours' rows.  This halves the time on graphs that are larger than the caches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgewise.device import device
from edgewise.device.prefetch import prefetch
from edgewise.primitives.thread_pool import ThreadPool


class Distances(NamedTuple):
    """How many tasks ahead data are prefetched, each by what the one before has read.

    These are the offsets of a task's vertex (0: they are sequential), its row, the offsets of its neighbours,
    and their rows; an element beside each neighbour goes with its offsets or with its row.
    """

    offsets: int
    row: int
    bounds: int
    rows: int
    beside: int


@device
def vertex_of(task, order):
    """Vertex of a task; without an order, tasks are vertices."""
    return np.int64(order[task]) if len(order) > 0 else np.int64(task)


def task_prefetcher(distances: Distances, shortest: int):
    """Make ``prefetch_tasks(task, stop, order, rows, beside)`` for tasks ``task + 1`` to ``stop - 1``.

    ``shortest`` is the length of a row from which on its neighbours' rows will be read.
    """
    offsets_ahead, row_ahead, bounds_ahead, rows_ahead, beside_ahead = distances

    @device
    def prefetch_tasks(task, stop, order, rows, beside):
        if 0 < offsets_ahead < stop - task:
            vertex = vertex_of(task + offsets_ahead, order)
            prefetch(rows.starts, vertex)
            prefetch(rows.ends, vertex)
        if task + row_ahead < stop:
            prefetch(rows.neighbours, rows.starts[vertex_of(task + row_ahead, order)])
        if task + bounds_ahead < stop:
            vertex = vertex_of(task + bounds_ahead, order)
            if rows.ends[vertex] - rows.starts[vertex] >= shortest:
                for entry in range(rows.starts[vertex], rows.ends[vertex]):
                    neighbour = np.int64(rows.neighbours[entry])
                    prefetch(rows.starts, neighbour)
                    if beside_ahead == bounds_ahead:
                        prefetch(beside, neighbour)
        if task + rows_ahead < stop:
            vertex = vertex_of(task + rows_ahead, order)
            if rows.ends[vertex] - rows.starts[vertex] >= shortest:
                for entry in range(rows.starts[vertex], rows.ends[vertex]):
                    neighbour = np.int64(rows.neighbours[entry])
                    prefetch(rows.neighbours, rows.starts[neighbour])
                    if beside_ahead == rows_ahead:
                        prefetch(beside, neighbour)

    return prefetch_tasks


#: For kernels that read the wedges below a vertex.
prefetch_lower = task_prefetcher(Distances(8, 5, 3, 1, beside=1), shortest=1)


class VertexCounter:
    """A solver on CPU threads; see :class:`edgewise.cycles.methods.CycleMethod`.

    ``kernel(queue, *arguments, scratch)`` is a compiled function, and ``make_scratch()`` returns the record
    of one thread, with a field ``counts``: (n,) int64 array, zeros.
    """

    def __init__(self, kernel, arguments, n_tasks, make_scratch, bytes_per_worker):
        self.kernel, self.arguments = kernel, arguments
        self.pool = ThreadPool(max(1, n_tasks), bytes_per_worker)
        self.scratch = [make_scratch() for _ in range(self.pool.n_workers)]

    @property
    def counts(self):
        """Counts so far: (n,) int64 array."""
        return self.pool.sum([scratch.counts for scratch in self.scratch])

    def count(self, first: int, end: int) -> None:
        """Do the tasks ``first`` to ``end - 1``."""
        own = [(scratch,) for scratch in self.scratch]
        self.pool.run_queue(self.kernel, first, end, *self.arguments, per_worker=own)
