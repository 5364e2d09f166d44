"""Walks of two edges from a vertex, counted by their ends in an array over all vertices; squares of them.

A *team*, a thread of the CPU or a block of a GPU, takes one start after the other.  Its array holds zeros
between two starts; ends are listed as they are met, so that only these are looked at and forgotten.
"""

from __future__ import annotations

import numpy as np

from edgewise.cycles.counting.ranked import Ranked
from edgewise.device import arrays, device, fetch_add, parallel_region
from edgewise.device.launch import processors
from edgewise.device.prefetch import prefetch
from edgewise.device.regions import workers
from edgewise.device.warps import block_add, block_barrier, block_size, inclusive_scan, warp_size

#: Threads of a block, and blocks a multiprocessor gets at most.
THREADS, MAX_BLOCKS_PER_SM = 256, 4
#: Words of a team: its task, how many ends are listed, how many of longer walks, and a sum.
TASK, NEAR, FAR, SUM, WORDS = 0, 1, 2, 3, 4
#: How many rows ahead one is asked for.
AHEAD = 2
#: Part of the free memory that scratch may take.
PART = 4


@device
def next_start(me, own, first, taken, end, order):
    """Take the team's next start, and empty its lists; -1 if there are none left."""
    block_barrier()  # who is late still reads what the last start left
    if me % block_size() == 0:
        position = first + np.int64(fetch_add(taken, 0, 1))
        own[TASK] = np.int64(order[position]) if position < end else np.int64(-1)
        own[NEAR], own[FAR], own[SUM] = 0, 0, 0
    block_barrier()
    return own[TASK]


@device
def place_in_team(me):
    """Number of a worker's team; its warp, the team's warps, its lane, the warp's lanes."""
    team, lanes = block_size(), warp_size()
    return me // team, me % team // lanes, team // lanes, me % lanes, lanes


@device
def step_on(vertex, walks, lane, own, listed, graph, base, times, ends):
    """Add ``walks`` to the walks that end in each neighbour of a vertex; list those that had none.

    ``own[listed]`` is the length of the list.  Where the team is one worker it writes every neighbour there,
    and moves on if that was new, since no processor foresees which are.
    """
    offsets, neighbours = graph
    alone, count = block_size() == 1, own[listed]
    for entry in range(offsets[vertex] + lane, offsets[vertex + 1], warp_size()):
        end = np.int64(neighbours[entry])
        new = block_add(times, base + end, walks) == 0
        if alone:
            ends[base + count] = end
            count += new
        elif new:
            ends[base + block_add(own, listed, 1)] = end
    if alone:
        own[listed] = count


@device
def walk_twice(start, me, own, graph, base, times, ends):
    """Count the walks of two edges from ``start`` by their ends, and list these."""
    offsets, neighbours = graph
    _, warp, warps, lane, _ = place_in_team(me)
    last = offsets[start + 1]
    for entry in range(offsets[start] + warp, last, warps):
        if entry + AHEAD < last:
            prefetch(neighbours, offsets[neighbours[entry + AHEAD]])
        step_on(np.int64(neighbours[entry]), 1, lane, own, NEAR, graph, base, times, ends)


@device
def add_up(found, lane, lanes, own):
    """Add what the lanes of a warp have found to the team's sum."""
    total = inclusive_scan(np.int64(found), lane)
    if lane == lanes - 1:
        block_add(own, SUM, total)


@device
def keep_sum(start, me, own, counts):
    """Add the team's sum to the count of its start."""
    block_barrier()
    if me % block_size() == 0:
        counts[start] += own[SUM]


class Scratch:
    """Arrays over all vertices for each team, with room for one item more.

    Parameters
    ----------
    vertices : int
    types : sequence of types
        One for each array.
    device : str

    Attributes
    ----------
    teams : int
        How many there is scratch for; further ones have to stand by.
    arrays : list of (teams * (vertices + 1),) arrays, zeros
    """

    def __init__(self, vertices, types, device):
        most = workers() if device == "cpu" else MAX_BLOCKS_PER_SM * processors(device)
        size = (vertices + 1) * sum(np.dtype(kind).itemsize for kind in types)
        if most * size > 1 << 28:
            most = min(most, arrays.free_memory(device) // (PART * size))
        self.teams = max(1, most)
        self.arrays = [arrays.zeros(self.teams * (vertices + 1), kind, device) for kind in types]


@parallel_region.by(threads=THREADS, max_blocks_per_sm=MAX_BLOCKS_PER_SM, shared_words=WORDS)
def count_squares(worker, teams, first, end, taken, order, offsets, neighbours, *scratch):
    """Count squares through the vertices of an order."""
    times, ends, counts = scratch
    number, _, _, lane, lanes = place_in_team(worker.id)
    base = number * len(offsets)
    start = next_start(worker.id, worker.shared, first, taken, end, order) if number < teams else np.int64(-1)
    while start >= 0:
        walk_twice(start, worker.id, worker.shared, (offsets, neighbours), base, times, ends)
        block_barrier()
        found = np.int64(0)
        for slot in range(worker.id % block_size(), worker.shared[NEAR], block_size()):
            vertex = np.int64(ends[base + slot])
            walks = np.int64(times[base + vertex])
            times[base + vertex] = 0
            if vertex != start:
                found += walks * (walks - 1) // 2
        add_up(found, lane, lanes, worker.shared)
        keep_sum(start, worker.id, worker.shared, counts)
        start = next_start(worker.id, worker.shared, first, taken, end, order)


class Walks:
    """The count under way (:class:`edgewise.cycles.method.Solver`).

    Parameters
    ----------
    ranked : Ranked
    order : (tasks,) int64 array
        Beside it.
    """

    def __init__(self, ranked: Ranked, order):
        n, self.device = ranked.n_vertices, ranked.device
        self.ranked, self.order = ranked, order
        self.counts = arrays.zeros(n, np.int64, self.device)
        self.scratch = Scratch(n, self.types(), self.device)

    def types(self):
        """Types of the arrays of a team: walks by end, ends."""
        return np.uint32, self.ranked.neighbours.dtype

    def run(self, region, first, end, order, *rows, counts):
        """Let all teams take starts from an order."""
        with arrays.on(self.device):
            taken = arrays.zeros(1, np.int64, self.device)
            region(self.scratch.teams, first, end, taken, order, *rows, *self.scratch.arrays, counts)

    def settle(self) -> None:
        """Nothing is left over."""


class Squares(Walks):
    """Squares through every vertex."""

    def count(self, first: int, end: int) -> None:
        """Count the squares through ``order[first:end]``."""
        rows = self.ranked.offsets, self.ranked.neighbours
        self.run(count_squares, first, end, self.order, *rows, counts=self.counts)
