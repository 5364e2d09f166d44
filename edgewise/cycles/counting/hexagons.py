"""Cycles of six edges as closed walks of six, less those that meet themselves.

A closed walk that meets itself is a walk round a smaller graph, of which there are 17, and each of these
again contains smaller ones; Moebius inversion over all of them leaves one coefficient for each.  With

* ``p(u)`` and ``q(u)`` walks of two and of three edges from ``v`` to ``u``,
* ``w`` closed walks of four edges, ``d`` the degree, ``s`` the sum of the neighbours' degrees,
* ``t`` the triangles through a vertex, ``t(uv)`` those through an edge,
* ``z`` the sum of ``t(uw)`` over the triangles ``v u w``,

twice the cycles of six edges through ``v`` are

    sum q(u)^2 - sum p(u)^2 d(u)                                 over all vertices u
    - sum 2 q(u) d(u)                                            over the neighbours u, and so on
    - sum (w(u) + 4 t(uv) t(u) - 6 t(uv)^2 - 2 d(u)^2 - s(u))
    - 4 t^2 - 2 d w + 6 z + 6 w + 2 d^3 + 2 d s - 8 t - 6 d^2 - 6 s + 4 d

where ``w = 2 c + d^2 + s - d`` comes from the squares ``c``.  Such formulas are found in Movarraei and
Boxwala, "On the number of cycles in a graph" (Open Journal of Discrete Mathematics 6:41, 2016).

All but the first two lines is known before the walks are counted, so that every vertex can halve its own.
The terms may pass 64 bits; what is left at the end does not (see :mod:`~edgewise.cycles.planning.bounds`).
"""

from __future__ import annotations

import numpy as np

from edgewise.cycles.counting.ends import (
    AHEAD,
    FAR,
    MAX_BLOCKS_PER_SM,
    NEAR,
    SUM,
    THREADS,
    WORDS,
    Squares,
    Walks,
    add_up,
    next_start,
    place_in_team,
    step_on,
    walk_twice,
)
from edgewise.cycles.counting.on_edges import at_vertices, edge_triangles
from edgewise.cycles.counting.ranked import Ranked
from edgewise.device import arrays, device, each, fetch_add, parallel_region
from edgewise.device.prefetch import prefetch
from edgewise.device.warps import block_barrier, block_size


@device
def walk_on(me, own, graph, base, times, ends, often, goals):
    """Go one edge further from every end; count these walks, and list where they end."""
    offsets, neighbours = graph
    _, warp, warps, lane, _ = place_in_team(me)
    ended = own[NEAR]
    for slot in range(warp, ended, warps):
        if slot + AHEAD < ended:
            prefetch(neighbours, offsets[ends[base + slot + AHEAD]])
        vertex = np.int64(ends[base + slot])
        step_on(vertex, times[base + vertex], lane, own, FAR, graph, base, often, goals)


@device
def close(start, me, own, graph, base, times, ends, often, goals):
    """Sum up what the walks from ``start`` say of its hexagons, and forget them; this worker's share."""
    offsets, neighbours = graph
    mine, team, found = me % block_size(), block_size(), np.int64(0)
    for entry in range(offsets[start] + mine, offsets[start + 1], team):
        other = np.int64(neighbours[entry])
        found -= 2 * np.int64(often[base + other]) * (offsets[other + 1] - offsets[other])
    for slot in range(mine, own[NEAR], team):
        vertex = np.int64(ends[base + slot])
        walks = np.int64(times[base + vertex])
        times[base + vertex] = 0
        found -= walks * walks * (offsets[vertex + 1] - offsets[vertex])
    block_barrier()
    for slot in range(mine, own[FAR], team):
        at = base + np.int64(goals[base + slot])
        walks = np.int64(often[at])
        often[at] = 0
        found += walks * walks
    return found


@parallel_region.by(threads=THREADS, max_blocks_per_sm=MAX_BLOCKS_PER_SM, shared_words=WORDS)
def count_hexagons(worker, teams, first, end, taken, order, offsets, neighbours, known, *scratch):
    """Count cycles of six edges through the vertices of an order."""
    times, ends, often, goals, counts = scratch
    number, _, _, lane, lanes = place_in_team(worker.id)
    graph, base = (offsets, neighbours), number * len(offsets)
    start = next_start(worker.id, worker.shared, first, taken, end, order) if number < teams else np.int64(-1)
    while start >= 0:
        walk_twice(start, worker.id, worker.shared, graph, base, times, ends)
        block_barrier()
        walk_on(worker.id, worker.shared, graph, base, times, ends, often, goals)
        block_barrier()
        add_up(
            close(start, worker.id, worker.shared, graph, base, times, ends, often, goals),
            lane,
            lanes,
            worker.shared,
        )
        block_barrier()
        if worker.id % block_size() == 0:
            counts[start] += (worker.shared[SUM] + known[start]) >> 1
        start = next_start(worker.id, worker.shared, first, taken, end, order)


@each
def sum_opposite(low, offsets, neighbours, split, on_edges, sums):
    """Give each corner of the triangles above ``low`` the triangles through the edge opposite to it."""
    for entry in range(split[low], offsets[low + 1]):
        middle = np.int64(neighbours[entry])
        mine, its = entry + 1, split[middle]
        while mine < offsets[low + 1] and its < offsets[middle + 1]:
            one, other = neighbours[mine], neighbours[its]
            if one == other:
                fetch_add(sums, low, np.int64(on_edges[its]))
                fetch_add(sums, middle, np.int64(on_edges[mine]))
                fetch_add(sums, np.int64(one), np.int64(on_edges[entry]))
            if one <= other:
                mine += 1
            if one >= other:
                its += 1


@each
def sum_degrees(vertex, offsets, neighbours, sums):
    """Sum up the degrees of the neighbours."""
    total = np.int64(0)
    for entry in range(offsets[vertex], offsets[vertex + 1]):
        other = np.int64(neighbours[entry])
        total += offsets[other + 1] - offsets[other]
    sums[vertex] = total


@device
def closed_by_four(vertex, offsets, squares, sums):
    """Closed walks of four edges."""
    degree = offsets[vertex + 1] - offsets[vertex]
    return 2 * squares[vertex] + degree * degree + sums[vertex] - degree


@each
def add_known(vertex, offsets, neighbours, sums, squares, triangles, on_edges, opposite, known):
    """Put together what needs no walks of three edges."""
    d, s, t = offsets[vertex + 1] - offsets[vertex], sums[vertex], triangles[vertex]
    w = closed_by_four(vertex, offsets, squares, sums)
    total = 6 * (opposite[vertex] + w - s) - 4 * t * t - 8 * t + 2 * d * (d * d + s - w - 3 * d + 2)
    for entry in range(offsets[vertex], offsets[vertex + 1]):
        other, both = np.int64(neighbours[entry]), np.int64(on_edges[entry])
        degree = offsets[other + 1] - offsets[other]
        total += 6 * both * both - 4 * both * triangles[other] + 2 * degree * degree + sums[other]
        total -= closed_by_four(other, offsets, squares, sums)
    known[vertex] = total


def known_of(ranked: Ranked):
    """All but the first two lines of the formula: (n,) int64 array, modulo 2**64, beside ``ranked``."""
    n, device = ranked.n_vertices, ranked.device
    rows = ranked.offsets, ranked.neighbours
    squares = Squares(ranked, arrays.move(arrays.namespace(device).arange(n), device))
    squares.count(0, n)
    sums, opposite, known = (arrays.zeros(n, np.int64, device) for _ in range(3))
    on_edges = edge_triangles(ranked)
    triangles = at_vertices(ranked, on_edges)
    sum_opposite(n, *rows, ranked.split, on_edges, opposite)
    sum_degrees(n, *rows, sums)
    add_known(n, *rows, sums, squares.counts, triangles, on_edges, opposite, known)
    return known


class Hexagons(Walks):
    """Cycles of six edges through every vertex."""

    def __init__(self, ranked: Ranked, order):
        self.known = known_of(ranked)
        super().__init__(ranked, order)

    def types(self):
        """Types of the arrays of a team: walks by end, ends, and the same for three edges."""
        kind = self.ranked.neighbours.dtype
        return np.uint32, kind, np.uint32 if len(self.ranked.neighbours) < 2**32 else np.int64, kind

    def count(self, first: int, end: int) -> None:
        """Count the hexagons through ``order[first:end]``."""
        rows = self.ranked.offsets, self.ranked.neighbours, self.known
        self.run(count_hexagons, first, end, self.order, *rows, counts=self.counts)
