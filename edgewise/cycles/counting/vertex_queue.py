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

from edgewise.cycles.counting.ranked import Ranked
from edgewise.device import device, each
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


@each
def bound_wedges(task, vertices, csr, bounds):
    """Sum up the lengths of the rows of a vertex's lower neighbours."""
    vertex, total = np.int64(vertices[task]), np.int64(0)
    for entry in range(csr.offsets[vertex], csr.split[vertex]):
        middle = np.int64(csr.neighbours[entry])
        total += csr.offsets[middle + 1] - csr.offsets[middle]
    bounds[task] = total


def wedge_bounds(ranked: Ranked, vertices=None):
    """Upper bounds of the wedges below some vertices or all, on the CPU: (tasks,) int64 array."""
    vertices = np.arange(ranked.n_vertices) if vertices is None else vertices
    bounds = np.empty(len(vertices), np.int64)
    bound_wedges(len(vertices), vertices, ranked.csr, bounds)
    return bounds


def max_wedge_bound(ranked: Ranked, enough: int) -> int:
    """Upper bound of the wedges below any vertex; a closer one where it is above ``enough``."""
    # Ranks are ordered by degree: no lower neighbour's row is longer than the vertex's own.
    bounds = (ranked.split - ranked.offsets[:-1]) * (ranked.offsets[1:] - ranked.offsets[:-1])
    largest = int(bounds.max(initial=0))
    if largest > enough:
        largest = max(enough, int(wedge_bounds(ranked, np.flatnonzero(bounds > enough)).max()))
    return largest
