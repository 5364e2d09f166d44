"""Squares, by the ends of the wedges below their highest vertex, on the cores of a CPU.

A *wedge* of a top ``v`` is a path ``v, a, u`` whose middle ``a`` and end ``u`` are lower than ``v``.  Two
wedges of one end make a square whose highest vertex is ``v``, so with ``L(u)`` wedges that end in ``u``

* ``u`` is on ``L(u) (L(u) - 1) / 2`` of these squares,
* ``a`` is on ``L(u) - 1`` of them for every end ``u`` of its wedges,
* ``v`` on half of what its middles are on.

A row is ascending, so the ends beside a middle are what stands before ``v`` in its row.  Ranks go by degree,
so all wedges are at most the sum over the edges of the smaller degree: 8.4 million for com-DBLP, and two
steps for each.  See Burkhardt and Harris, "Simple and efficient four-cycle counting on sparse graphs" (2023),
after Chiba and Nishizeki (1985).

A worker's ``L`` is an array over all vertices, of 16 bits where rows are short enough, so it stays in the
second cache.  Lists are filled without branches: an entry is written always, and kept by moving the end on.
For graphs on GPUs there is :mod:`~edgewise.cycles.counting.squares_tables`.
"""

from __future__ import annotations

import numpy as np

from edgewise.cycles.counting.ranked import Ranked
from edgewise.cycles.counting.wedges import look_ahead, steps_below
from edgewise.device import compiled, device
from edgewise.device.prefetch import prefetch
from edgewise.primitives.thread_pool import ThreadPool, next_chunk

#: Operations of a step, in the unit of :mod:`~edgewise.cycles.planning.cost_model`: a few nanoseconds.
COST = 0.25


@device
def list_ends(top, offsets, neighbours, split, wedges, ends):
    """Count the wedges of ``top`` by their ends; return how many ends there are, and how many wedges."""
    found, total = 0, 0
    for entry in range(offsets[top], split[top]):
        position = offsets[neighbours[entry]]
        total -= position
        end = neighbours[position]
        while end < top:
            before = wedges[end]
            wedges[end] = before + 1
            ends[found] = end
            found += before == 0
            position += 1
            end = neighbours[position]
        total += position
    return found, total


@device
def credit_middles(top, offsets, neighbours, split, wedges, counts):
    """Credit a top and the middles of its wedges."""
    twice = np.int64(0)
    for entry in range(offsets[top], split[top]):
        middle = np.int64(neighbours[entry])
        position = begin = offsets[middle]
        squares, end = np.int64(0), neighbours[position]
        while end < top:
            squares += np.int64(wedges[end])
            position += 1
            end = neighbours[position]
        squares -= position - begin
        counts[middle] += squares
        twice += squares
    counts[top] += twice // 2


@device
def credit_ends(found, wedges, ends, often, counts):
    """Credit the ends of more than one wedge; forget all wedges."""
    some = 0
    for slot in range(found):
        end = ends[slot]
        number = wedges[end]
        wedges[end] = 0
        ends[some] = end
        often[some] = number
        some += number > 1
        prefetch(counts, np.int64(end))
    for slot in range(some):
        number = np.int64(often[slot])
        counts[ends[slot]] += number * (number - 1) // 2


@compiled
def count_tops(queue, order, offsets, neighbours, split, wedges, ends, often, counts):
    """One worker counts the squares below apex vertices until the queue is empty."""
    start, stop = next_chunk(queue)
    while start < stop:
        for position in range(start, stop):
            look_ahead(position, stop, order, offsets, neighbours, split, counts)
            top = np.int64(order[position])
            if split[top] - offsets[top] > 1:
                found, total = list_ends(top, offsets, neighbours, split, wedges, ends)
                if found < total:
                    credit_middles(top, offsets, neighbours, split, wedges, counts)
                    credit_ends(found, wedges, ends, often, counts)
                else:
                    for slot in range(found):
                        wedges[ends[slot]] = 0
        start, stop = next_chunk(queue)


class Squares:
    """The count under way (:class:`edgewise.cycles.method.Solver`).

    Parameters
    ----------
    ranked : Ranked
        On the host.
    order : (tasks,) int64 array
    """

    def __init__(self, ranked: Ranked, order):
        n, kind = ranked.n_vertices, ranked.neighbours.dtype
        longest = int(ranked.offsets[-1] - ranked.offsets[-2]) if n else 0
        narrow = np.dtype(np.uint16 if longest < 2**16 else np.uint32)
        self.order, self.graph = order, (ranked.offsets, ranked.neighbours, ranked.split)
        self.pool = ThreadPool(len(order), n * (8 + kind.itemsize + 2 * narrow.itemsize))
        self.own = [
            (np.zeros(n, narrow), np.empty(n + 1, kind), np.empty(n + 1, narrow), np.zeros(n, np.int64))
            for _ in range(self.pool.n_workers)
        ]

    @property
    def counts(self):
        """What was found so far, by rank: (n,) int64 array."""
        return self.pool.sum([counts for *_, counts in self.own])

    def count(self, first: int, end: int) -> None:
        """Count the squares whose highest vertices are ``order[first:end]``."""
        self.pool.run_queue(count_tops, first, end, self.order, *self.graph, per_worker=self.own)

    def settle(self) -> None:
        """Nothing is left over."""


def start(ranked: Ranked, order, length: int) -> Squares:
    """A worker that counts the squares below the vertices of ``order``."""
    return Squares(ranked, order)


def work(ranked: Ranked, length: int):
    """Operations of each top, about: (n,) float64 array beside ``ranked``."""
    return steps_below(ranked) * COST
