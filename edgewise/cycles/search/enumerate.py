"""Every cycle, one after the other, found at its highest vertex: for any length.

From a vertex ``v``, the top, a breadth-first search among the lower ranks finds how far each of them is from
``v``, up to half the length.  Then paths ``v, u1, u2 ...`` over lower ranks are extended depth first; a
vertex that is further from ``v`` than the edges that are left is passed by, so that few paths run into the
open.  The last row is read for neighbours of ``v`` that close the cycle; one that ranks below ``u1`` is left
to the other direction.  Every vertex of a path is credited when the search leaves it, by how many cycles were
found since it came: an addition for a vertex of the search, not one for each cycle that it is on.

Ranks go by degree, so every vertex sees the few hubs' rows only up to its own rank.  The cost is still that
of all paths that can close, a step for each cycle at least: the 3.4e9 5-cycles of com-DBLP take a minute, and
those of length 7 would take days.  So :mod:`~edgewise.cycles.search.probes` estimates the work before, and
a search that passes its ``cap`` of steps gives up.  Trees that hang on the graph are left out before: no
cycle enters them, but the search would.

A team has a top: a block of a GPU, whose threads share out each row of ``u2``, or a thread of a CPU.  Its
distances and credits lie in arrays of its own.
"""

from __future__ import annotations

import numpy as np

from edgewise.cycles.counting.lookup import is_on_path
from edgewise.cycles.counting.ranked import Ranked
from edgewise.cycles.search.probes import without_trees, work
from edgewise.device import arrays, cas, device, fetch_add, load, parallel_region
from edgewise.device.launch import processors
from edgewise.device.regions import workers
from edgewise.device.warps import block_add, block_barrier, block_size
from edgewise.errors import OptionError

__all__ = ["start", "work"]

#: Threads of a block, blocks a multiprocessor gets at most, and words they share.
THREADS, MAX_BLOCKS_PER_SM, WORDS = 128, 4, 2
#: What the words are: the task that is taken, and the end of the list of those reached.
TASK, TAIL = 0, 1
#: Steps that a thread does before it tells the others, and that all may do unless told otherwise.
STEPS_AT_A_TIME, CAP = 1 << 22, 1 << 46


@device
def reach(vertex, position, end, stride, top, level, offsets, neighbours, base, distance, reached, words):
    """Give a ``level`` to neighbours below ``top`` that have none, and list them."""
    while position < end:
        other = np.int64(neighbours[position])
        if other >= top:
            position = end
        elif distance[base + other] == 0 and cas(distance, base + other, 0, level) == 0:
            reached[base + block_add(words, TAIL, 1)] = other
        position += stride


@device
def look_around(top, half, lane, size, offsets, neighbours, base, distance, reached, words):
    """Find how far from ``top`` lower vertices are, up to ``half``; return how many were reached."""
    if lane == 0:
        words[TAIL] = 0
    block_barrier()
    lists = base, distance, reached, words
    reach(top, offsets[top] + lane, offsets[top + 1], size, top, 1, offsets, neighbours, *lists)
    block_barrier()
    begin, filled = np.int64(0), words[TAIL]
    for level in range(2, half + 1):
        block_barrier()  # all have read the end of the list
        for position in range(begin + lane, filled, size):
            vertex = np.int64(reached[base + position])
            row = offsets[vertex], offsets[vertex + 1]
            reach(vertex, *row, 1, top, level, offsets, neighbours, *lists)
        block_barrier()
        begin, filled = filled, words[TAIL]
    return filled


@device
def close(position, end, stride, top, depth, neighbours, stack, path, base, distance, credit):
    """Number of neighbours in a row that close the path; they are credited."""
    found = 0
    while position < end:
        other = np.int64(neighbours[position])
        if other >= top:
            position = end
        elif (
            distance[base + other] == 1
            and other > path[stack]
            and not is_on_path(other, path, stack, 1, depth + 1)
        ):
            block_add(credit, base + other, 1)
            found += 1
        position += stride
    return found


@device
def extend(first, top, length, lane, size, graph, stack, stacks, base, distance, credit, spent, cap):
    """Find the cycles that leave ``top`` for ``first``: those whose ``u2`` is its share of the row.

    Depth 0 of the stack is ``first``; the vertex at a depth is ``depth + 1`` edges from the top.
    """
    offsets, neighbours = graph
    path, entries, before = stacks
    found, steps, depth, deepest = 0, 0, 0, length - 3
    path[stack], entries[stack], before[stack] = first, offsets[first] + lane, 0
    while depth >= 0:
        at, stride = stack + depth, size if depth == 0 else 1
        position, end = entries[at], offsets[path[at] + 1]
        other = np.int64(neighbours[position]) if position < end else top
        if depth == deepest:
            found += close(position, end, stride, top, depth, neighbours, stack, path, base, distance, credit)
            steps += end - offsets[path[at]]
            other = top
        if other >= top:
            if found > before[at]:
                block_add(credit, base + path[at], found - before[at])
            depth -= 1
        else:
            entries[at], steps, away = position + stride, steps + 1, distance[base + other]
            if away != 0 and away <= length - depth - 2 and not is_on_path(other, path, stack, 1, depth + 1):
                depth, at = depth + 1, at + 1
                path[at], entries[at], before[at] = other, offsets[other], found
        if steps > STEPS_AT_A_TIME:
            depth = -1 if fetch_add(spent, 0, steps) > cap else depth
            steps = 0
    fetch_add(spent, 0, steps)
    return found


@parallel_region.by(threads=THREADS, max_blocks_per_sm=MAX_BLOCKS_PER_SM, shared_words=WORDS)
def search(
    worker,
    first,
    end,
    taken,
    order,
    length,
    teams,
    offsets,
    neighbours,
    split,
    distance,
    reached,
    credit,
    path,
    entries,
    before,
    spent,
    cap,
    counts,
):
    """Take tops until there are none, and count the cycles that each is the highest vertex of."""
    size = block_size()
    team, lane, n = worker.id // size, worker.id % size, len(split)
    base, stack, position = team * n, worker.id * length, np.int64(0)
    while team < teams and position < end:
        if lane == 0:
            worker.shared[TASK] = first + fetch_add(taken, 0, 1) if load(spent, 0) <= cap else end
        block_barrier()
        position = worker.shared[TASK]
        if position < end:
            top = np.int64(order[position])
            lists = base, distance, reached, worker.shared
            filled = look_around(top, length // 2, lane, size, offsets, neighbours, *lists)
            found, graph, stacks = 0, (offsets, neighbours), (path, entries, before)
            for entry in range(offsets[top], split[top] - 1):  # the last one has none above it
                one, own = np.int64(neighbours[entry]), (stack, stacks, base, distance, credit, spent, cap)
                found += extend(one, top, length, lane, size, graph, *own)
            if found > 0:
                fetch_add(counts, top, found)
            block_barrier()
            for slot in range(lane, filled, size):
                vertex = np.int64(reached[base + slot])
                if credit[base + vertex] != 0:
                    fetch_add(counts, vertex, credit[base + vertex])
                distance[base + vertex] = 0
                credit[base + vertex] = 0
        block_barrier()


class Search:
    """The count under way (:class:`edgewise.cycles.method.Solver`).

    Parameters
    ----------
    ranked : Ranked
    order : (tasks,) int64 array
    length : int
    cap : int
        Steps after which the search gives up.
    """

    def __init__(self, ranked: Ranked, order, length: int, cap: int):
        n, device, kind = ranked.n_vertices, ranked.device, ranked.neighbours.dtype
        if device == "cpu":
            teams, threads = workers(), 1
        else:
            teams, threads = MAX_BLOCKS_PER_SM * processors(device), THREADS
        bytes_of_team = n * (12 + kind.itemsize) + 24 * threads * length
        teams = max(1, min(teams, len(order), int(arrays.free_memory(device) // (2 * bytes_of_team))))
        self.ranked, self.order, self.length, self.cap = ranked, order, length, cap
        self.spent, self.found = arrays.zeros(1, np.int64, device), arrays.zeros(n, np.int64, device)
        stacks = (arrays.empty(teams * threads * length, np.int64, device) for _ in range(3))
        self.teams, self.scratch = (
            teams,
            (
                arrays.zeros(teams * n, np.int32, device),
                arrays.empty(teams * n, kind, device),
                arrays.zeros(teams * n, np.int64, device),
                *stacks,
            ),
        )

    @property
    def counts(self):
        """What was found so far, by rank: (n,) int64 array.

        Raises
        ------
        OptionError
            The search has given up.
        """
        if int(self.spent[0]) > self.cap:
            raise OptionError(
                f"the search for cycles of length {self.length} gave up after {self.cap:,} "
                f"step{'s' if self.cap > 1 else ''}; use force=True or a larger cap=, shorter cycles, or "
                "edgewise.estimate_cycles"
            )
        return self.found

    def count(self, first: int, end: int) -> None:
        """Count the cycles whose highest vertices are ``order[first:end]``."""
        ranked, taken = self.ranked, arrays.zeros(1, np.int64, self.ranked.device)
        graph = ranked.offsets, ranked.neighbours, ranked.split
        tasks = first, end, taken, self.order, self.length, self.teams
        search(*tasks, *graph, *self.scratch, self.spent, self.cap, self.found)

    def settle(self) -> None:
        """Nothing is left over."""


def start(ranked: Ranked, order, length: int, cap: int = CAP) -> Search:
    """A worker that enumerates cycles of ``length`` edges below the vertices of ``order``."""
    return Search(without_trees(ranked), order, length, cap)
