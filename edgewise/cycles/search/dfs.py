"""Depth-first search to a limited depth from every vertex: the method of the CS406 project, with its cost.

From a vertex all paths of ``length - 1`` edges are walked, and the row of the last vertex is read from its
beginning until the first vertex is found (CS406, project presentation: ``sparse3``, ``sparse4``,
``sparse5`` and their kernels).  A stack holds the position in each row of the path, and the last two levels
are plain loops.  Whether a vertex is on the path is found by comparing, or with ``marked=True`` in an array
of a byte for each vertex, which the project has for each CPU thread (``DFS_sparse``).  Every cycle is found
in both directions at each of its vertices; that is the project's number, of which half is returned here.

In the project a thread searches from a vertex, and vertices are dealt in the order of their ids.  One vertex
of com-DBLP then has 0.4 % of the work of all, far too much for one of 10**5 threads.  Here threads take a few
*wedges* at a time, paths of two edges from a vertex, those of the vertices with most work first, and add what
they find to the count of the vertex.  No wedge of com-DBLP has more than 4e-7 of the work.  The wedges from a
vertex are those by its first neighbour, then those by its second ...: running sums over the degrees of
neighbours number them without a list.

The cost is that of all walks: 6.2e12 steps for the 5-cycles of com-DBLP, where methods that do not enumerate
take 4e7.  The method is a baseline, and plain enough to check the others.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.cycles.counting.ranked import Ranked, first_from
from edgewise.cycles.search.two_core import count_walks
from edgewise.device import arrays, device, each, fetch_add, threads
from edgewise.primitives import exclusive_scan
from edgewise.primitives.rows import row_of

#: Searches that run at once on a GPU, at most.
SEARCHES = 1 << 18
#: Words of the stacks of all these searches in memory, at most.
WORDS_OF_STACKS = 1 << 25
#: Bytes of all marks on a GPU.
BYTES_OF_MARKS = 1 << 32
#: Wedges that a core takes at a time, and a thread of a GPU.
CLAIM, CLAIM_ON_GPU = 256, 4


class Tasks(NamedTuple):
    """The tasks of one call, the vertices ``order[first:end]``, an int64 array.

    ``taken``, (1,) int64, is how many of them, or of their parts, have been taken; ``claim`` is how many are
    taken at a time.
    """

    order: Any
    first: int
    end: int
    taken: Any
    claim: int


class WedgeNumbers(NamedTuple):
    """Numbers of the first wedges of the tasks in their order, and of the entries in the order of the rows.

    ``of_tasks``, (tasks + 1,) int64, and ``of_entries``, (entries + 1,) int64, end with the number of all.
    """

    of_tasks: Any
    of_entries: Any


class Wedges(NamedTuple):
    """The paths from ``start`` by ``middle`` to the neighbours in the entries ``first`` to ``end - 1``."""

    start: Any
    middle: Any
    first: Any
    end: Any


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
def count_closing(first, end, depth, worker, rows, stacks):
    """Count the ways to close a path by one more vertex, of those in the entries ``first`` to ``end - 1``."""
    offsets, neighbours = rows.offsets, rows.neighbours
    start, count = stacks.path[worker * stacks.own], 0
    for entry in range(first, end):
        vertex = np.int64(neighbours[entry])
        if not is_visited(vertex, depth, worker, stacks):
            count += is_in_row(start, offsets[vertex], offsets[vertex + 1], neighbours)
    return count


@device
def count_below(vertex, depth, length, worker, rows, stacks):
    """Count the ways to close the path that ends at ``depth`` after ``vertex``, to ``length`` edges."""
    count, above, deepest = 0, depth, length - 3
    if is_visited(vertex, depth, worker, stacks):
        return count
    if depth == deepest:
        return count_closing(rows.offsets[vertex], rows.offsets[vertex + 1], depth, worker, rows, stacks)
    depth += 1
    push(vertex, depth, worker, rows, stacks)
    while depth > above:
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
                    first, end = rows.offsets[vertex], rows.offsets[vertex + 1]
                    count += count_closing(first, end, depth, worker, rows, stacks)
                else:
                    depth += 1
                    push(vertex, depth, worker, rows, stacks)
    return count


@device
def count_closed_walks(wedges, length, worker, rows, stacks):
    """Count the closed walks of ``length`` edges that begin with wedges and visit no vertex twice."""
    count = 0
    push(wedges.start, 0, worker, rows, stacks)
    if length == 3:
        count += count_closing(wedges.first, wedges.end, 0, worker, rows, stacks)
    else:
        push(wedges.middle, 1, worker, rows, stacks)
        for entry in range(wedges.first, wedges.end):
            count += count_below(np.int64(rows.neighbours[entry]), 1, length, worker, rows, stacks)
        pop(1, worker, stacks)
    pop(0, worker, stacks)
    return count


@partial(each, least_chunk=1)
def search(worker, length, tasks, numbers, rows, stacks, closed):
    """Take wedges of the tasks until there are none, and count the closed walks that begin with them."""
    offsets, neighbours = rows.offsets, rows.neighbours
    of_tasks, of_entries = numbers
    begin, end = of_tasks[tasks.first], of_tasks[tasks.end]
    position = begin + fetch_add(tasks.taken, 0, tasks.claim)
    while position < end:
        stop, task = min(position + tasks.claim, end), row_of(position, of_tasks)
        while position < stop:
            start, last = np.int64(tasks.order[task]), min(stop, of_tasks[task + 1])
            shift, count = of_entries[offsets[start]] - of_tasks[task], 0
            entry = first_from(position + shift + 1, offsets[start], offsets[start + 1], of_entries) - 1
            while position < last:
                middle = np.int64(neighbours[entry])
                first = offsets[middle] + position + shift - of_entries[entry]
                done = min(offsets[middle + 1] - first, last - position)
                wedges = Wedges(start, middle, first, first + done)
                count += count_closed_walks(wedges, length, worker, rows, stacks)
                position, entry = position + done, entry + 1
            if count > 0:
                fetch_add(closed, start, count)
            task += 1
        position = begin + fetch_add(tasks.taken, 0, tasks.claim)


def number_wedges(ranked: Ranked, order) -> WedgeNumbers:
    """Number the wedges from the vertices of an order."""
    device, offsets = ranked.device, ranked.offsets
    degrees = offsets[1:] - offsets[:-1]
    of_entries = exclusive_scan(arrays.move(degrees[ranked.neighbours], device))
    firsts = of_entries[offsets]
    return WedgeNumbers(exclusive_scan(arrays.move((firsts[1:] - firsts[:-1])[order], device)), of_entries)


class Searches:
    """A solver; see :class:`edgewise.cycles.methods.CycleMethod`."""

    def __init__(self, ranked: Ranked, order, length: int, marked: bool = False):
        device, depths, n = ranked.device, length - 2, ranked.n_vertices
        on_cpu = device == "cpu"
        max_workers = threads.count() if on_cpu else max(1, min(SEARCHES, WORDS_OF_STACKS // depths))
        if marked and not on_cpu:
            max_workers = min(max_workers, max(1, BYTES_OF_MARKS // max(n, 1)))
        self.numbers, self.claim = number_wedges(ranked, order), CLAIM if on_cpu else CLAIM_ON_GPU
        self.n_workers = min(max_workers, -(-int(self.numbers.of_tasks[len(order)]) // self.claim))
        # the stack of a core is contiguous; on a GPU the entries of one depth are
        own, step = (depths, 1) if on_cpu else (1, self.n_workers)
        path, entries = (arrays.empty(self.n_workers * depths, np.int64, device) for _ in range(2))
        marks = arrays.zeros(self.n_workers * n if marked else 0, np.uint8, device)
        self.stacks = Stacks(path, entries, own, step, marks, n)
        self.ranked, self.order, self.length = ranked, order, length
        self.closed = arrays.zeros(n, np.int64, device)

    def count(self, first: int, end: int) -> None:
        """Search from the vertices ``order[first:end]``."""
        taken = arrays.zeros(1, np.int64, self.ranked.device)
        tasks = Tasks(self.order, first, end, taken, self.claim)
        search(self.n_workers, self.length, tasks, self.numbers, self.ranked.csr, self.stacks, self.closed)

    @property
    def counts(self):
        """Cycles by rank: half of the closed walks."""
        return arrays.move(self.closed // 2, self.ranked.device)


def work(ranked: Ranked, length: int):
    """Walks from every vertex, about; 0 where it has fewer than two neighbours: (n,) float64 array."""
    device = ranked.device
    with np.errstate(over="ignore"):
        everywhere = arrays.full(ranked.n_vertices, 1, np.uint8, device)
        steps = count_walks(ranked.csr, length, everywhere)
    steps[arrays.namespace(device).diff(ranked.offsets) < 2] = 0
    return steps
