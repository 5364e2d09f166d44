"""Depth-first search to a limited depth from every vertex: the method of the CS406 project, with its cost.

From a vertex all paths of ``length - 1`` edges are walked, and the row of the last vertex is read from its
beginning until the first vertex is found (CS406, "Parallelizing cycle counting": ``sparse3``, ``sparse4``,
``sparse5`` and their kernels).  A stack holds the position in each row of the path, and the last two levels
are plain loops.  One thread works on a vertex.  Whether a vertex is on the path is found by comparing, or
with ``marked=True`` in an array of a byte for each vertex, which the project has for each CPU thread
(``DFS_sparse``).  Every cycle is found in both directions at each of its
vertices; that is the project's number, of which half is returned here.  The project deals vertices in the
order of their ids; here workers take those with most work first.

The cost is that of all walks: 6.2e12 steps for the 5-cycles of com-DBLP, where methods that do not enumerate
take 4e7.  The method is a baseline, and plain enough to check the others.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.cycles.counting.ranked import Ranked
from edgewise.cycles.search.two_core import count_walks
from edgewise.device import arrays, device, each, fetch_add, threads

#: Searches that run at once on a GPU, at most.
SEARCHES = 1 << 18
#: Words of the stacks of all these searches in memory, at most.
WORDS_OF_STACKS = 1 << 25
#: Bytes of all marks on a GPU.
BYTES_OF_MARKS = 1 << 32
#: Vertices that a core takes at a time.
CLAIM = 4


class Tasks(NamedTuple):
    """The tasks of one call, the vertices ``order[first:end]``, an int64 array.

    ``taken``, (1,) int64, is how many of them have been taken, ``claim`` how many are taken at a time.
    """

    order: Any
    first: int
    end: int
    taken: Any
    claim: int


class Stacks(NamedTuple):
    """The stacks of all workers; depth ``i`` of worker ``w`` is at ``w * own + i * step``.

    ``path`` and ``entries``, (workers * depths,) int64, are the vertices of the path, and the next entry in
    the row of each.  ``marks``, (workers * n_vertices,) uint8, says which vertices are on the path of a
    worker; it is empty if the path is compared.
    """

    path: Any
    entries: Any
    own: int
    step: int
    marks: Any
    n_vertices: int


@device
def is_on_path(vertex, path, base, step, length):
    """Whether a vertex is one of the first ``length`` of a path: those at ``base``, ``base + step`` ..."""
    while length > 0 and path[base + (length - 1) * step] != vertex:
        length -= 1
    return length > 0


@device
def is_visited(vertex, depth, worker, stacks):
    """Whether a vertex is on the path of a worker, which ends at ``depth``."""
    if len(stacks.marks):
        return stacks.marks[worker * stacks.n_vertices + vertex] != 0
    return is_on_path(vertex, stacks.path, worker * stacks.own, stacks.step, depth + 1)


@device
def push(vertex, depth, worker, rows, stacks):
    """Make a vertex the last one of the path."""
    at = worker * stacks.own + depth * stacks.step
    stacks.path[at], stacks.entries[at] = vertex, rows.offsets[vertex]
    if len(stacks.marks):
        stacks.marks[worker * stacks.n_vertices + vertex] = 1


@device
def pop(depth, worker, stacks):
    """Take the last vertex from the path."""
    if len(stacks.marks):
        vertex = stacks.path[worker * stacks.own + depth * stacks.step]
        stacks.marks[worker * stacks.n_vertices + vertex] = 0


@device
def is_in_row(vertex, first, end, neighbours):
    """Whether a row, read from its beginning, contains a vertex."""
    position, stop = np.uint64(first), np.uint64(end)  # unsigned: no test for negative indices
    while position < stop and np.int64(neighbours[position]) != vertex:
        position += np.uint64(1)
    return position < stop


@device
def count_closing(last, depth, worker, rows, stacks):
    """Count the ways to close a path by one more vertex after ``last``."""
    offsets, neighbours = rows.offsets, rows.neighbours
    start, count = stacks.path[worker * stacks.own], 0
    for entry in range(offsets[last], offsets[last + 1]):
        vertex = np.int64(neighbours[entry])
        if not is_visited(vertex, depth, worker, stacks):
            count += is_in_row(start, offsets[vertex], offsets[vertex + 1], neighbours)
    return count


@device
def count_closed_walks(start, length, worker, rows, stacks):
    """Count the closed walks of ``length`` edges from ``start`` that visit no vertex twice."""
    count, depth, deepest = 0, 0, length - 3
    push(start, depth, worker, rows, stacks)
    while depth >= 0:
        at = worker * stacks.own + depth * stacks.step
        entry = stacks.entries[at]
        if entry == rows.offsets[stacks.path[at] + 1]:
            pop(depth, worker, stacks)
            depth -= 1
        else:
            stacks.entries[at] = entry + 1
            vertex = np.int64(rows.neighbours[entry])
            if not is_visited(vertex, depth, worker, stacks):
                if depth == deepest:
                    count += count_closing(vertex, depth, worker, rows, stacks)
                else:
                    depth += 1
                    push(vertex, depth, worker, rows, stacks)
    return count


@partial(each, least_chunk=1)
def search(worker, length, tasks, rows, stacks, counts):
    """Take vertices until there are none, and count the cycles through each."""
    position = tasks.first + fetch_add(tasks.taken, 0, tasks.claim)
    while position < tasks.end:
        for task in range(position, min(position + tasks.claim, tasks.end)):
            start = np.int64(tasks.order[task])
            counts[start] = count_closed_walks(start, length, worker, rows, stacks) // 2
        position = tasks.first + fetch_add(tasks.taken, 0, tasks.claim)


class Searches:
    """A solver; see :class:`edgewise.cycles.methods.CycleMethod`."""

    def __init__(self, ranked: Ranked, order, length: int, marked: bool = False):
        device, depths, n = ranked.device, length - 2, ranked.n_vertices
        on_cpu = device == "cpu"
        max_workers = threads.count() if on_cpu else max(1, min(SEARCHES, WORDS_OF_STACKS // depths))
        if marked and not on_cpu:
            max_workers = min(max_workers, max(1, BYTES_OF_MARKS // max(n, 1)))
        self.n_workers, self.claim = min(max_workers, len(order)), CLAIM if on_cpu else 1
        # the stack of a core is contiguous; on a GPU the entries of one depth are
        own, step = (depths, 1) if on_cpu else (1, self.n_workers)
        path, entries = (arrays.empty(self.n_workers * depths, np.int64, device) for _ in range(2))
        marks = arrays.zeros(self.n_workers * n if marked else 0, np.uint8, device)
        self.stacks = Stacks(path, entries, own, step, marks, n)
        self.ranked, self.order, self.length = ranked, order, length
        self.counts = arrays.zeros(n, np.int64, device)

    def count(self, first: int, end: int) -> None:
        """Search from the vertices ``order[first:end]``."""
        ranked = self.ranked
        taken = arrays.zeros(1, np.int64, ranked.device)
        tasks = Tasks(self.order, first, end, taken, self.claim)
        n_workers = min(self.n_workers, -(-(end - first) // self.claim))
        search(n_workers, self.length, tasks, ranked.csr, self.stacks, self.counts)


def work(ranked: Ranked, length: int):
    """Walks from every vertex, about; 0 where it has fewer than two neighbours: (n,) float64 array."""
    device = ranked.device
    with np.errstate(over="ignore"):
        everywhere = arrays.full(ranked.n_vertices, 1, np.uint8, device)
        steps = count_walks(ranked.csr, length, everywhere)
    steps[arrays.namespace(device).diff(ranked.offsets) < 2] = 0
    return steps
