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
take days.  Therefore a few random descents estimate the work in advance, and a search that exceeds its
``cap`` of steps gives up.  Trees that hang on the graph are removed first.

A thread group works on one apex: a block of a GPU, whose threads share the row of ``u1``, or a CPU thread.

**The estimate.**  The search below an apex is a tree, whose size a random descent estimates without bias:
choose a child at every vertex, and multiply the numbers of children on the way (Knuth 1975, "Estimating the
efficiency of backtrack programs").  The probed vertices are drawn in proportion to a cheap guess: with ``d``
lower neighbours and ``w`` wedges below it, an apex has about ``d (w / d)^(k - 2)`` paths.  The guesses for
all vertices are then scaled by what the probes find, of which only the order of magnitude matters.

A guess may be far too high in one part of the graph, which would then draw all probes.  Therefore the
vertices are divided into strata of similar guesses, and each stratum is scaled by its own probes (Chen 1992,
"Heuristic sampling").  Trees that hang on the graph are removed first: their guesses are high, and they have
no cycles.  Every apex that may have a cycle is a task, with a work of its number of wedges at least.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from edgewise.cycles.counting.apex import wedges_of
from edgewise.cycles.counting.ranked import CSR, Ranked
from edgewise.cycles.planning import FINITE
from edgewise.cycles.search.dfs import Tasks, is_on_path
from edgewise.cycles.search.two_core import without_trees
from edgewise.device import arrays, cas, compiled, device, fetch_add, load, parallel_region
from edgewise.device.launch import processors
from edgewise.device.regions import workers
from edgewise.device.warps import block_add, block_barrier, block_size
from edgewise.errors import OptionError, argument

#: Threads of a block.
THREADS = 128
#: Blocks per multiprocessor.
BLOCKS_PER_SM = 4
#: Words that the threads of a block share.
WORDS = 2
#: The shared words: the current task, and the length of the list of reached vertices.
TASK, TAIL = 0, 1
#: Steps of a thread between two additions to the common number.
STEPS_AT_A_TIME = 1 << 22
#: Usual limit of the common number, in steps.
CAP = 1 << 46
#: Steps up to which a guess is good enough.
FEW = 1e8
#: Number of strata, at most.
STRATA = 8
#: Factor between guesses within a stratum, at most.
FACTOR = 32.0
#: Vertices probed in each stratum.
PROBED = 6
#: Descents from each probed vertex.
DESCENTS = 16
#: Entries that may be read for distances in a stratum before the second and later probes are left out.
READS = 1 << 20


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


@parallel_region.by(threads=THREADS, max_blocks_per_sm=BLOCKS_PER_SM, shared_words=WORDS)
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
            n_groups, threads = BLOCKS_PER_SM * processors(device), THREADS
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


def work(ranked: Ranked, length: int):
    """Steps of the search below every vertex, about: (n,) float64 array on the device of ``ranked``.

    Zero where a vertex has fewer than two lower neighbours after the removal of trees, and nowhere else.
    """
    ranked = without_trees(ranked)
    xp = arrays.namespace(ranked.device)
    below = (ranked.split - ranked.offsets[:-1]).astype(np.float64)
    wedges = wedges_of(ranked)[1].astype(np.float64)
    with np.errstate(over="ignore"):
        guess = xp.minimum(below * (wedges / xp.maximum(below, 1)) ** (length - 2), FINITE)
        guess[below < 2] = 0
        if float(guess.sum()) > FEW:
            guess = xp.minimum(guess * arrays.move(_scales(ranked, length, guess), ranked.device), FINITE)
    return arrays.move(xp.where(below < 2, 0.0, xp.maximum(guess, xp.maximum(wedges, 1.0))), ranked.device)


def _scales(ranked, length, guess):
    """Ratio of the work that probes find to the guess, for every vertex."""
    guess = arrays.move(guess, "cpu")
    rows = CSR(arrays.move(ranked.offsets, "cpu"), arrays.move(ranked.neighbours, "cpu"))
    random, scales = np.random.default_rng(0), np.ones(len(guess))
    for stratum in _strata(guess):
        chance = guess[stratum] / guess[stratum].max()
        if guess[stratum].sum() >= FEW / STRATA:
            drawn = random.choice(stratum, PROBED, p=chance / chance.sum())
            scales[stratum] = _ratio(rows, length, guess, drawn, random)
    return scales


def _strata(guess):
    """Vertices of about the same guess each, the highest first; the last stratum has all that remain."""
    tasks = np.flatnonzero(guess)
    magnitude = np.floor((np.log2(guess[tasks].max()) - np.log2(guess[tasks])) / np.log2(FACTOR))
    stratum = np.minimum(np.unique(magnitude, return_inverse=True)[1], STRATA - 1)
    return [tasks[stratum == number] for number in range(stratum.max() + 1)]


def _ratio(rows, length, guess, drawn, random):
    """Mean ratio of what probes below the ``drawn`` vertices find to the guess."""
    distance, reached = np.zeros(len(guess), np.int32), np.empty(len(guess), np.int64)
    path, total, n_probes, n_read = np.empty(length, np.int64), 0.0, 0, 0
    for apex, times in zip(*map(np.ndarray.tolist, np.unique(drawn, return_counts=True))):
        if n_probes and n_read > READS:
            break
        n_reached, entries = _find_distances(apex, length // 2, rows, distance, reached)
        chances = random.random(times * DESCENTS * length)
        steps = _descend(apex, length, rows, distance, chances, path)
        distance[reached[:n_reached]] = 0
        total, n_probes, n_read = total + times * (steps / guess[apex]), n_probes + times, n_read + entries
    return total / n_probes


@compiled
def _find_distances(apex, half, rows, distance, reached):
    """Find the distances of lower vertices up to ``half``; return their number, and that of entries read."""
    begin, n_reached, n_read = 0, 0, 0
    for level in range(1, half + 1):
        end = n_reached
        for position in range(begin - (level == 1), end):  # position -1 of the first level is the apex
            vertex = apex if level == 1 else reached[position]
            for entry in range(rows.offsets[vertex], rows.offsets[vertex + 1]):
                other = np.int64(rows.neighbours[entry])
                if other >= apex:
                    break
                n_read += 1
                if distance[other] == 0:
                    distance[other] = level
                    reached[n_reached] = other
                    n_reached += 1
        begin = end
    return n_reached, n_read


@compiled
def _descend(apex, length, rows, distance, chances, path):
    """Steps of the search below ``apex``: the mean over random paths down its tree."""
    offsets, neighbours = rows.offsets, rows.neighbours
    total, paths = 0.0, len(chances) // length
    for number in range(paths):
        path[0], n_alike, steps, depth = apex, 1.0, 0.0, 0
        while depth < length - 1:
            below, able, chosen = 0, 0, np.int64(-1)
            for entry in range(offsets[path[depth]], offsets[path[depth] + 1]):
                if neighbours[entry] >= apex:
                    break
                below += 1
            if depth > 0:
                steps = min(steps + n_alike * below, FINITE)
            left = length - depth - 1
            for turn in range(2):  # count the neighbours that can be next, then take one of them
                pick = np.int64(chances[number * length + depth] * able) if turn else np.int64(-1)
                seen = 0
                for entry in range(offsets[path[depth]], offsets[path[depth]] + below):
                    other = np.int64(neighbours[entry])
                    if _can_be_next(other, apex, left, depth, rows, distance, path):
                        if seen == pick:
                            chosen = other
                        seen += 1
                able = seen
            depth += 1
            if chosen < 0:
                depth = length
            else:
                n_alike, path[depth] = min(n_alike * able, FINITE), chosen
        total += steps / paths
    return total


@device
def _can_be_next(vertex, apex, left, depth, rows, distance, path):
    """Whether a path can be extended by a vertex, leave it again, and close with ``left`` edges."""
    far, second = distance[vertex], rows.offsets[vertex] + (depth > 0)
    if far == 0 or far > left or second >= rows.offsets[vertex + 1] or rows.neighbours[second] >= apex:
        return False
    while depth > 0 and path[depth] != vertex:
        depth -= 1
    return depth == 0
