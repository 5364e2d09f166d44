"""Vertices distributed to CPU threads, heaviest first; each has scratch arrays and counts of its own.

Atomic additions to common counts would take as long as everything else.  While a thread counts, it prefetches
rows for the vertices that follow, because most vertices need a dozen rows that are scattered over the memory.
This halves the time on graphs that are larger than the caches.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import device, each
from edgewise.device.prefetch import prefetch
from edgewise.primitives.counting_sort import zeros
from edgewise.primitives.thread_pool import ThreadPool


@device
def vertex_of(task, order):
    """Vertex of a task; without an order, tasks are vertices."""
    return np.int64(order[task]) if len(order) > 0 else np.int64(task)


def task_prefetcher(shortest, *, offsets, row, bounds, near_rows, near):
    """Make ``prefetch_tasks(task, stop, order, rows, beside)`` for tasks ``task + 1`` to ``stop - 1``.

    The others say how many tasks ahead data are prefetched, each by what the one before has read: the offsets
    of a task's vertex (0: they are sequential), its row, the offsets of its neighbours, and their rows;
    ``near`` is either of the last two, and for an element of ``beside`` for each neighbour.  Neighbours
    matter where there are at least ``shortest``.
    """

    @device
    def prefetch_tasks(task, stop, order, rows, beside):
        if 0 < offsets < stop - task:
            vertex = vertex_of(task + offsets, order)
            prefetch(rows.starts, vertex)
            prefetch(rows.ends, vertex)
        if task + row < stop:
            prefetch(rows.neighbours, rows.starts[vertex_of(task + row, order)])
        if task + bounds < stop:
            vertex = vertex_of(task + bounds, order)
            if rows.ends[vertex] - rows.starts[vertex] >= shortest:
                for entry in range(rows.starts[vertex], rows.ends[vertex]):
                    neighbour = np.int64(rows.neighbours[entry])
                    prefetch(rows.starts, neighbour)
                    if near == bounds:
                        prefetch(beside, neighbour)
        if task + near_rows < stop:
            vertex = vertex_of(task + near_rows, order)
            if rows.ends[vertex] - rows.starts[vertex] >= shortest:
                for entry in range(rows.starts[vertex], rows.ends[vertex]):
                    neighbour = np.int64(rows.neighbours[entry])
                    prefetch(rows.neighbours, rows.starts[neighbour])
                    if near == near_rows:
                        prefetch(beside, neighbour)

    return prefetch_tasks


#: For kernels that read the wedges below a vertex.
prefetch_lower = task_prefetcher(1, offsets=8, row=5, bounds=3, near_rows=1, near=1)


@each
def add_counts(vertex, n, n_workers, counts):
    """Add the counts of all workers, each (n,), to those of the first, and reset the others."""
    total = np.int64(0)
    for worker in range(1, n_workers):
        count = counts[worker * n + vertex]
        if count != 0:
            total += count
            counts[worker * n + vertex] = 0
    counts[vertex] += total


class Field(NamedTuple):
    """One array of a thread's scratch memory: ``size`` elements of ``kind``, which are zeros if ``clear``."""

    size: int
    kind: Any
    clear: bool = False


class VertexCounter:
    """A solver on CPU threads; see :class:`edgewise.cycles.methods.CycleMethod`.

    ``kernel(queue, *arguments, scratch)`` is a compiled function; ``scratch`` is a record of one thread, made
    by ``make_scratch`` of an array for each of the ``fields``, and of ``counts``: (n,) int64 array, zeros.
    """

    def __init__(self, kernel, arguments, n_tasks, n, make_scratch, fields):
        self.kernel, self.arguments, self.n = kernel, arguments, n
        fields = (*fields, Field(n, np.int64, True))
        size = sum(field.size * np.dtype(field.kind).itemsize for field in fields)
        self.pool = ThreadPool(max(1, n_tasks), size)
        parts = [self._allocate(field) for field in fields]
        self.parts = parts[-1].reshape(-1)
        self.scratch = [make_scratch(*arrays) for arrays in zip(*parts)]

    def _allocate(self, field):
        workers = self.pool.n_workers
        allocate = zeros if field.clear else np.empty
        return allocate(workers * field.size, field.kind).reshape(workers, field.size)

    @property
    def counts(self):
        """Counts so far: (n,) int64 array."""
        if self.pool.n_workers > 1:
            add_counts(self.n, self.n, self.pool.n_workers, self.parts)
        return self.parts[: self.n]

    def count(self, first: int, end: int) -> None:
        """Do the tasks ``first`` to ``end - 1``."""
        own = [(scratch,) for scratch in self.scratch]
        self.pool.run_queue(self.kernel, first, end, *self.arguments, per_worker=own)
