"""Enumeration of the cycles of any length, each found once, at its vertex of highest rank.

From a vertex, the *apex*, a breadth-first search among the vertices of lower rank finds the distances from
the apex up to half the length.  Then paths ``apex, u1, u2 ...`` over lower ranks are extended depth first,
except to vertices that are further from the apex than the number of remaining edges.  The row of the last
vertex is read for neighbours of the apex that close the cycle; one that ranks below ``u1`` is skipped,
because the other direction of the same cycle finds it.  Each vertex of a path is credited when the search
leaves it, with the number of cycles found since it was entered: one addition per vertex of the search instead
of one per cycle.

Ranks go by degree, so that every vertex reads the rows of the few hubs only up to its own rank.  The cost is
still at least one step per cycle: the 3.4e9 5-cycles of com-DBLP take a minute, and those of length 7 would
take days.  Therefore :mod:`~edgewise.cycles.search.probes` estimates the work in advance, and a search that
exceeds its ``cap`` of steps gives up.  Trees that hang on the graph are removed first.

A thread group works on one apex: a block of a GPU, whose threads share the row of ``u1``, or a CPU thread.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from edgewise.cycles.counting.ranked import Ranked
from edgewise.cycles.search.dfs import Tasks, is_on_path
from edgewise.cycles.search.two_core import without_trees
from edgewise.device import arrays, cas, device, fetch_add, load, parallel_region
from edgewise.device.launch import processors
from edgewise.device.regions import workers
from edgewise.device.warps import block_add, block_barrier, block_size
from edgewise.errors import OptionError, argument

#: Threads of a block, blocks per multiprocessor at most, and the words that a block shares.
THREADS, MAX_BLOCKS_PER_SM, WORDS = 128, 4, 2
#: The shared words: the current task, and the length of the list of reached vertices.
TASK, TAIL = 0, 1
#: Steps of a thread between two additions to the common number, and the usual limit of that number.
STEPS_AT_A_TIME, CAP = 1 << 22, 1 << 46


class Scratch(NamedTuple):
    """Memory of the first ``n_groups`` thread groups, the others do nothing: the arrays of :class:`Group`."""

    n_groups: int
    distance: Any
    reached: Any
    credit: Any
    path: Any
    entries: Any
    before: Any


class Budget(NamedTuple):
    """Steps of the search, a (1,) int64 array, and the number of them at which all threads give up."""

    spent: Any
    cap: int


class Group(NamedTuple):
    """A thread group as its thread ``lane`` of ``size`` sees it; ``shared``, (WORDS,) int64, is fast memory.

    ``distance``, (n,) int32, are edges from the apex, 0 for the vertices that are not reached; ``reached``,
    (n,), lists the others in ascending order of it; ``credit``, (n,) int64, are the cycles through each of
    them that have been found below this apex.  ``path``, ``entries`` and ``before``, (length,) int64, are the
    stack of this thread.  At depth ``i``: the vertex ``u(i+1)``, which is ``i + 1`` edges from the apex; the
    next entry of its row; and how many cycles had been found when it was entered.
    """

    lane: int
    size: int
    shared: Any
    distance: Any
    reached: Any
    credit: Any
    path: Any
    entries: Any
    before: Any


@device
def group_of(worker, length, n, scratch):
    """The group of a worker, and its number."""
    size = block_size()
    number, lane = worker.id // size, worker.id % size
    first, stack = number * n, worker.id * length
    return number, Group(
        lane,
        size,
        worker.shared,
        scratch.distance[first : first + n],
        scratch.reached[first : first + n],
        scratch.credit[first : first + n],
        scratch.path[stack : stack + length],
        scratch.entries[stack : stack + length],
        scratch.before[stack : stack + length],
    )


@device
def reach(position, end, stride, apex, level, neighbours, group):
    """Set the distance ``level`` for the neighbours below ``apex`` that have none, and list them."""
    while position < end:
        other = np.int64(neighbours[position])
        if other >= apex:
            position = end
        elif group.distance[other] == 0 and cas(group.distance, other, 0, level) == 0:
            group.reached[block_add(group.shared, TAIL, 1)] = other
        position += stride


@device
def find_distances(apex, half, rows, group):
    """Find distances from ``apex`` up to ``half`` among lower ranks; return how many vertices have one."""
    offsets, neighbours = rows.offsets, rows.neighbours
    if group.lane == 0:
        group.shared[TAIL] = 0
    block_barrier()
    reach(offsets[apex] + group.lane, offsets[apex + 1], group.size, apex, 1, neighbours, group)
    block_barrier()
    begin, n_reached = np.int64(0), group.shared[TAIL]
    for level in range(2, half + 1):
        block_barrier()  # every thread has read the length of the list
        for position in range(begin + group.lane, n_reached, group.size):
            vertex = np.int64(group.reached[position])
            reach(offsets[vertex], offsets[vertex + 1], 1, apex, level, neighbours, group)
        block_barrier()
        begin, n_reached = n_reached, group.shared[TAIL]
    return n_reached


@device
def close(position, end, stride, depth, apex, neighbours, group):
    """Count and credit the neighbours in a row that close the path."""
    count = 0
    while position < end:
        other = np.int64(neighbours[position])
        if other >= apex:
            position = end
        elif (
            group.distance[other] == 1
            and other > group.path[0]
            and not is_on_path(other, group.path, 0, 1, depth + 1)
        ):
            block_add(group.credit, other, 1)
            count += 1
        position += stride
    return count


@device
def extend(first, apex, length, rows, group, budget):
    """Count the cycles that leave ``apex`` for ``first``; the threads share the choices of ``u2``."""
    offsets, neighbours = rows.offsets, rows.neighbours
    path, entries, before = group.path, group.entries, group.before
    count, steps, depth, deepest = 0, 0, 0, length - 3
    path[0], entries[0], before[0] = first, offsets[first] + group.lane, 0
    while depth >= 0:
        stride = group.size if depth == 0 else 1
        position, end = entries[depth], offsets[path[depth] + 1]
        other = np.int64(neighbours[position]) if position < end else apex
        if depth == deepest:
            count += close(position, end, stride, depth, apex, neighbours, group)
            steps += end - offsets[path[depth]]
            other = apex
        if other >= apex:
            if count > before[depth]:
                block_add(group.credit, path[depth], count - before[depth])
            depth -= 1
        else:
            entries[depth], steps, level = position + stride, steps + 1, group.distance[other]
            if level != 0 and level <= length - depth - 2 and not is_on_path(other, path, 0, 1, depth + 1):
                depth += 1
                path[depth], entries[depth], before[depth] = other, offsets[other], count
        if steps > STEPS_AT_A_TIME:
            depth = -1 if fetch_add(budget.spent, 0, steps) > budget.cap else depth
            steps = 0
    fetch_add(budget.spent, 0, steps)
    return count


@parallel_region.by(threads=THREADS, max_blocks_per_sm=MAX_BLOCKS_PER_SM, shared_words=WORDS)
def search(worker, length, tasks, rows, scratch, budget, counts):
    """Take apex vertices until there are none, and count the cycles below each."""
    number, group = group_of(worker, length, len(rows.split), scratch)
    position, end = np.int64(0), tasks.end
    while number < scratch.n_groups and position < end:
        if group.lane == 0:
            within = load(budget.spent, 0) <= budget.cap
            group.shared[TASK] = tasks.first + fetch_add(tasks.taken, 0, 1) if within else end
        block_barrier()
        position = group.shared[TASK]
        if position < end:
            apex, count = np.int64(tasks.order[position]), 0
            n_reached = find_distances(apex, length // 2, rows, group)
            for entry in range(rows.offsets[apex], rows.split[apex] - 1):  # u1 ranks below the last vertex
                count += extend(np.int64(rows.neighbours[entry]), apex, length, rows, group, budget)
            if count > 0:
                fetch_add(counts, apex, count)
            block_barrier()
            for slot in range(group.lane, n_reached, group.size):
                vertex = np.int64(group.reached[slot])
                if group.credit[vertex] != 0:
                    fetch_add(counts, vertex, group.credit[vertex])
                group.distance[vertex] = 0
                group.credit[vertex] = 0
        block_barrier()


class Enumeration:
    """A solver, which gives up after ``cap`` steps; see :class:`edgewise.cycles.methods.CycleMethod`."""

    def __init__(self, ranked: Ranked, order, length: int, cap: int):
        n, device, kind = ranked.n_vertices, ranked.device, ranked.neighbours.dtype
        if device == "cpu":
            n_groups, threads = workers(), 1
        else:
            n_groups, threads = MAX_BLOCKS_PER_SM * processors(device), THREADS
        bytes_per_group = n * (12 + kind.itemsize) + 24 * threads * length
        n_groups = min(n_groups, len(order), int(arrays.free_memory(device) // (2 * bytes_per_group)))
        n_groups = max(1, n_groups)
        self.ranked, self.order, self.length = ranked, order, length
        self.found = arrays.zeros(n, np.int64, device)
        self.budget = Budget(arrays.zeros(1, np.int64, device), cap)
        self.scratch = Scratch(
            n_groups,
            arrays.zeros(n_groups * n, np.int32, device),
            arrays.empty(n_groups * n, kind, device),
            arrays.zeros(n_groups * n, np.int64, device),
            *(arrays.empty(n_groups * threads * length, np.int64, device) for _ in range(3)),
        )

    @property
    def counts(self):
        """Cycles found so far, by rank: (n,) int64 array; OptionError if the search has given up."""
        cap = self.budget.cap
        if int(self.budget.spent[0]) > cap:
            raise OptionError(
                f"the search for cycles of length {self.length} gave up after {cap:,} "
                f"step{'s' if cap > 1 else ''}; use {argument('force', True)}, a larger cap, shorter cycles, "
                "or an estimate (edgewise.estimate_cycles, --estimate)"
            )
        return self.found

    def count(self, first: int, end: int) -> None:
        """Count the cycles whose highest vertices are ``order[first:end]``."""
        ranked = self.ranked
        tasks = Tasks(self.order, first, end, arrays.zeros(1, np.int64, ranked.device), 1)
        search(self.length, tasks, ranked.csr, self.scratch, self.budget, self.found)


def start(ranked: Ranked, order, length: int, cap: int = CAP) -> Enumeration:
    """A solver that enumerates the cycles of ``length`` edges below the vertices of ``order``."""
    return Enumeration(without_trees(ranked), order, length, cap)
