"""Pentagons, by edges between the ends of the wedges below their highest vertex, on the cores of a CPU.

A pentagon whose highest vertex is ``v`` is two wedges ``v, a, u`` and ``v, b, w`` over lower vertices, and
the edge ``u, w``.  With ``p(u)`` wedges that end in ``u``, and ``S(u)`` the sum of ``p(w)`` over the
neighbours ``w`` of ``u`` below ``v``, walks ``v, a, u, w, b, v`` are credited:

* an end ``u`` gets ``p(u) S(u)``, the top half of all these, a middle ``a`` the sum of ``S`` over its ends.

Some of the walks meet themselves, and what they gave is taken off.  Let ``q(a)`` be ``p(a)`` of a middle that
is an end too, which is the number of triangles of ``a`` whose top is ``v``, ``d(a)`` its degree less one, and
``g`` the neighbours of ``v`` above it.

* ``a = w`` or ``u = b``, a walk out along an edge and back;  both at once was taken off twice.
* ``a = b``, from ``v`` along an edge to a corner of a triangle below ``v``.  What the corners lose to edges
  that rise from the triangle's other corners, or from themselves, is taken off where the triangle's own top
  is ``v``: that needs the number of such edges only, and together with the first case it comes to degrees:

  ``v``: ``- sum q(a) d(a) + sum q(a) / 2 - g sum q(a)``;
  ``a``: ``- q(a) (2 d(a) - 2 + g) - sum of d(u)`` over its ends ``u`` that are middles;
  ``u``: ``- sum of q(a)`` over the middles beside it.

  What ``v`` itself loses, the triangles below it at each middle, is known when all tops have been counted:
  a top leaves ``q(a)`` in a *ladder* at its place in the row of ``a``, and sums along that row are the
  triangles at ``a`` below each higher neighbour.

So no list of triangles is needed.  Only the higher neighbours of an end are read, and each edge between ends
counts for both.  All wedges are at most the sum over the edges of the smaller degree, and an end has at most
``sqrt(2 m)`` higher neighbours.  The formulas are those of Kowalik, "Short cycles in planar graphs" (2003),
split among the vertices.

The ends of a top get numbers, its middles the lowest, so that all but one array over all vertices are small
and stay in the first cache.  Number 0 stands for those that are no ends: it has no wedges, and what is given
to it is forgotten, so that nobody needs to ask.  For GPUs there is
:mod:`~edgewise.cycles.counting.pentagons_tables`.
"""

from __future__ import annotations

import numpy as np

from edgewise.cycles.counting.ranked import Ranked
from edgewise.cycles.counting.wedges import look_ahead, most_steps, steps_below
from edgewise.device import compiled, device
from edgewise.device.prefetch import prefetch
from edgewise.primitives.thread_pool import ThreadPool, next_chunk

#: Operations of a step, in the unit of :mod:`~edgewise.cycles.planning.cost_model`.
COST = 3
#: Ends up to which their numbers are 16 bits wide.
FEW = 2**16 - 2


@device
def number_ends(top, offsets, neighbours, split, number, ends, wedges):
    """Number the middles and the ends below ``top``, and count wedges; return the first number not given."""
    given = np.int64(1)
    for entry in range(offsets[top], split[top]):
        middle = neighbours[entry]
        number[middle] = given
        ends[given] = middle
        given += 1
    for entry in range(offsets[top], split[top]):
        position = offsets[neighbours[entry]]
        end = neighbours[position]
        while end < top:
            found = np.int64(number[end])
            mine = given if found == 0 else found
            number[end] = mine
            ends[given] = end
            wedges[mine] += 1
            given += mine == given
            position += 1
            end = neighbours[position]
    return given


@device
def join_ends(top, given, offsets, neighbours, split, number, ends, wedges, rows, sums, counts):
    """Sum up, for every end, the wedges that end beside it."""
    for mine in range(1, given):
        end = np.int64(ends[mine])
        rows[mine] = split[end]
        prefetch(neighbours, split[end])
        prefetch(offsets, end + 1)
        prefetch(counts, end)
    for mine in range(1, given):
        position, stop = rows[mine], offsets[np.int64(ends[mine]) + 1]
        own, total = np.int64(wedges[mine]), np.int64(0)
        while position < stop and neighbours[position] < top:
            other = np.int64(number[neighbours[position]])
            total += np.int64(wedges[other])
            sums[other] += own
            position += 1
        sums[mine] += total


@device
def credit_middle(middle, top, first, own, offsets, neighbours, number, sums, credits, ladder):
    """Return the sum over the ends beside a middle; take off what they lose, and leave it for the rest."""
    position, total = first, np.int64(0)
    end = neighbours[position]
    if own == 0:
        while end < top:
            total += sums[number[end]]
            position += 1
            end = neighbours[position]
        return total
    while end < top:
        mine = number[end]
        total += sums[mine]
        credits[mine] -= own
        position += 1
        end = neighbours[position]
    ladder[position] = own
    return total


@device
def credit(top, given, graph, number, ends, wedges, sums, credits, ladder, steps, counts):
    """Credit everyone below ``top`` and forget its ends."""
    offsets, neighbours, split = graph
    walks, triangles, around = np.int64(0), np.int64(0), np.int64(0)
    for mine in range(1, given):
        credits[mine] = np.int64(wedges[mine]) * sums[mine]
        walks += credits[mine]
    middles, above = split[top] - offsets[top], offsets[top + 1] - split[top]
    for mine in range(1, middles + 1):
        middle, own = np.int64(ends[mine]), np.int64(wedges[mine])
        others = offsets[middle + 1] - offsets[middle] - 1
        sums[mine] -= others
        triangles += own
        around += own * others
    for mine in range(1, middles + 1):
        middle, own = np.int64(ends[mine]), np.int64(wedges[mine])
        first = offsets[middle]
        total = credit_middle(middle, top, first, own, offsets, neighbours, number, sums, credits, ladder)
        counts[middle] += total - own * (2 * (offsets[middle + 1] - first - 2) + above)
    counts[top] += (walks + triangles) // 2 - around - above * triangles
    steps[top] = triangles // 2
    for mine in range(1, given):
        end = ends[mine]
        counts[end] += credits[mine]
        number[end], wedges[mine], sums[mine] = 0, 0, 0
    sums[0] = 0


@compiled
def count_tops(
    queue,
    order,
    offsets,
    neighbours,
    split,
    ladder,
    steps,
    number,
    ends,
    wedges,
    rows,
    sums,
    credits,
    counts,
):
    """One worker counts the pentagons below apex vertices until the queue is empty."""
    graph = offsets, neighbours, split
    start, end = next_chunk(queue)
    while start < end:
        for position in range(start, end):
            look_ahead(position, end, order, offsets, neighbours, split, counts)
            top = np.int64(order[position])
            if split[top] > offsets[top]:
                given = number_ends(top, offsets, neighbours, split, number, ends, wedges)
                join_ends(top, given, offsets, neighbours, split, number, ends, wedges, rows, sums, counts)
                credit(top, given, graph, number, ends, wedges, sums, credits, ladder, steps, counts)
        start, end = next_chunk(queue)


@compiled
def climb(offsets, neighbours, split, ladder, steps, first, end, counts):
    """Take off the triangles below each vertex at its lower neighbours; forget them."""
    for corner in range(first, end):
        triangles = steps[corner]
        steps[corner] = 0
        for position in range(split[corner], offsets[corner + 1]):
            counts[neighbours[position]] -= triangles
            triangles += np.int64(ladder[position])
            ladder[position] = 0


class Pentagons:
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
        most = min(n, longest + most_steps(ranked, FEW - longest)) + 2
        narrow = np.dtype(np.uint16 if most <= FEW + 2 else np.uint32)
        self.order, self.graph = order, (ranked.offsets, ranked.neighbours, ranked.split)
        self.ladder, self.steps = np.zeros(len(ranked.neighbours), np.uint32), np.zeros(n, np.int64)
        self.pool = ThreadPool(len(order), n * (8 + narrow.itemsize) + most * (28 + kind.itemsize))
        self.own = [self._scratch(n, most, narrow, kind) for _ in range(self.pool.n_workers)]

    @staticmethod
    def _scratch(n, most, narrow, kind):
        """Numbers; ends, wedges, rows, sums and credits by number; counts."""
        by_number = np.empty(most, kind), np.zeros(most, np.uint32)
        by_number += np.empty(most, np.int64), np.zeros(most, np.int64), np.empty(most, np.int64)
        return np.zeros(n, narrow), *by_number, np.zeros(n, np.int64)

    @property
    def counts(self):
        """What was found so far, by rank: (n,) int64 array."""
        counts = [counts for *_, counts in self.own]
        shared = *self.graph, self.ladder, self.steps
        ranges = self.pool.ranges(len(self.steps))
        self.pool.starmap(climb, [(*shared, *bounds, mine) for bounds, mine in zip(ranges, counts)])
        return self.pool.sum(counts)

    def count(self, first: int, end: int) -> None:
        """Count the pentagons whose highest vertices are ``order[first:end]``."""
        arrays = self.order, *self.graph, self.ladder, self.steps
        self.pool.run_queue(count_tops, first, end, *arrays, per_worker=self.own)

    def settle(self) -> None:
        """Nothing is left over: ``counts`` sees to what tops have left for each other."""


def start(ranked: Ranked, order, length: int) -> Pentagons:
    """A worker that counts the pentagons below the vertices of ``order``."""
    return Pentagons(ranked, order)


def work(ranked: Ranked, length: int):
    """Operations of each top, about: (n,) float64 array beside ``ranked``."""
    return steps_below(ranked) * COST
