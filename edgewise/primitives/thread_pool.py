"""Tops dealt to the threads of a CPU, each of which has scratch and counts of its own.

Counts of its own, because an atomic addition to shared ones would take as long as everything else.  A *hand*
is a thread of Python in a compiled call that lets go of the interpreter (:class:`~edgewise.device.alone`):
cheap to send off, and compiled in half the time of a parallel loop.  The hands of one worker take shares of
its tasks from a counter; shares begin with one task and grow, since tasks come with the heaviest first.

Most tops have a dozen wedges, and all their rows lie anywhere in memory.  So a hand asks for the rows of the
tops that follow while it counts: for a top's own row, then for where its neighbours' rows begin, then for
these.  That halves the time on graphs beyond the caches.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from itertools import pairwise

import numpy as np

from edgewise.cycles.counting.ranked import Ranked
from edgewise.device import arrays, compiled, device, each, fetch_add, load, threads
from edgewise.device.prefetch import prefetch
from edgewise.device.target import INTERPRETED

#: Most tasks of a share; and shares that each hand should have taken before they grow by one task.
MOST, CALM = 256, 16
#: How many tasks ahead a top's offsets, its row, its neighbours' offsets and their rows are asked for.
FOURTH, THIRD, SECOND, NEXT = 8, 5, 3, 1


@device
def next_share(taken, first, end, hands):
    """Take some tasks; the first, and the end, which is not beyond the first if there are none left."""
    size = min(MOST, 1 + (load(taken, 0) - first) // (CALM * hands))
    start = np.int64(fetch_add(taken, 0, size))
    return start, min(start + size, end)


@device
def look_ahead(position, stop, order, offsets, neighbours, split, counts):
    """Start to read what the tasks after ``position`` will need."""
    if position + FOURTH < stop:
        top = np.int64(order[position + FOURTH])
        prefetch(offsets, top)
        prefetch(split, top)
    if position + THIRD < stop:
        prefetch(neighbours, offsets[order[position + THIRD]])
    if position + SECOND < stop:
        top = np.int64(order[position + SECOND])
        for entry in range(offsets[top], split[top]):
            prefetch(offsets, np.int64(neighbours[entry]))
    if position + NEXT < stop:
        top = np.int64(order[position + NEXT])
        for entry in range(offsets[top], split[top]):
            middle = np.int64(neighbours[entry])
            prefetch(neighbours, offsets[middle])
            prefetch(counts, middle)


@compiled
def _add_up(first, end, one, other):
    """Add a stretch of one array to another, and empty it."""
    for at in range(first, end):
        one[at] += other[at]
        other[at] = 0


class Hands:
    """Threads of Python that run compiled calls at once.

    Parameters
    ----------
    bytes_each : int
        Scratch of a hand; there are no more of them than half of the memory holds.
    most : int
        There are no more than this.
    """

    def __init__(self, bytes_each: int, most: int):
        room = arrays.free_memory("cpu") // (2 * max(1, bytes_each))
        self.count = max(1, min(threads.count(), most, room))
        if INTERPRETED:
            self.count = 1
        self.pool = ThreadPoolExecutor(self.count)

    def run(self, call, *arguments, own=None, stop=None):
        """Do ``call(*arguments, *own[hand])`` by every hand at once, and wait for all, come what may.

        If one fails, or Ctrl-C comes, ``stop()`` may let the others end early.
        """
        own = own or [()] * self.count
        if self.count == 1:
            call(*arguments, *own[0])
            return
        under_way = [self.pool.submit(call, *arguments, *mine) for mine in own]
        try:
            for one in under_way:
                one.result()
        except BaseException:
            if stop is not None:
                stop()
            raise
        finally:
            wait(under_way)

    def count_tops(self, call, first, end, *arguments, own):
        """Do ``call(taken, first, end, hands, *arguments, *own[hand])`` by every hand."""
        taken = np.full(1, first, np.int64)
        nothing_left = partial(taken.fill, end)
        self.run(call, taken, first, end, self.count, *arguments, own=own, stop=nothing_left)

    def shares(self, count):
        """A stretch of ``count`` indices for each hand: list of (first, end)."""
        bounds = [count * hand // self.count for hand in range(self.count + 1)]
        return list(pairwise(bounds))

    def sum(self, counts):
        """Add up the counts of all hands in those of the first, and empty the others."""
        for other in counts[1:]:
            pairs = [(*share, counts[0], other) for share in self.shares(len(other))]
            self.run(_add_up, own=pairs)
        return counts[0]


@each
def _count_steps(task, vertices, offsets, neighbours, split, steps):
    """Sum up the lengths of the rows of a vertex's lower neighbours."""
    vertex, total = np.int64(vertices[task]), np.int64(0)
    for entry in range(offsets[vertex], split[vertex]):
        middle = np.int64(neighbours[entry])
        total += offsets[middle + 1] - offsets[middle]
    steps[task] = total


def steps_below(ranked: Ranked, vertices=None):
    """An upper bound of the wedges of tops, of all or of some: (tasks,) int64 array beside ``ranked``."""
    device, xp = ranked.device, arrays.namespace(ranked.device)
    if vertices is None:
        vertices = arrays.move(xp.arange(ranked.n_vertices), device)
    steps = arrays.empty(len(vertices), np.int64, device)
    _count_steps(len(vertices), vertices, ranked.offsets, ranked.neighbours, ranked.split, steps)
    return steps


def most_steps(ranked: Ranked, enough: int) -> int:
    """An upper bound of the wedges of any top; found out more closely where it passes ``enough``."""
    # Ranks go by degree: no lower neighbour's row is longer than the top's.
    bounds = (ranked.split - ranked.offsets[:-1]) * (ranked.offsets[1:] - ranked.offsets[:-1])
    most = int(bounds.max(initial=0))
    if most > enough:
        steps = steps_below(ranked, np.flatnonzero(bounds > enough))
        most = max(enough, int(steps.max()))
    return most
