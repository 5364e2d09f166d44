"""Cycles of four, five and six edges as closed walks, less those that meet themselves.

With ``p(u)`` walks of two edges from ``v`` to ``u``, ``t`` the triangles through a vertex, ``t(uw)`` those
through an edge, and ``d`` the degree, the cycles through ``v`` are

* of four: ``sum p(u) (p(u) - 1) / 2`` over all ``u`` but ``v`` itself;
* of five: ``sum p(u) p(w)`` over all edges ``uw``, where ``p(v) = d(v)``, less the walks round a triangle
  with a detour along an edge: ``- 2 t(v) d(v) + 5 t(v) - sum (t(u) + t(uv) d(u))`` over the neighbours ``u``
  (Harary and Manvel 1971; Alon, Yuster and Zwick 1997; here split among the vertices);
* of six: see :mod:`~edgewise.cycles.counting.hexagons`.

Unlike what is found at the highest vertex of a cycle, these counts are each vertex's own: nothing is added to
those of others.  But hubs are walked through from each of their neighbours, again and again, so that squares
and pentagons by their tops are faster on nearly all graphs.
"""

from __future__ import annotations

import numpy as np

from edgewise.cycles.counting.ends import (
    AHEAD,
    MAX_BLOCKS_PER_SM,
    NEAR,
    THREADS,
    WORDS,
    Squares,
    Walks,
    add_up,
    keep_sum,
    next_start,
    place_in_team,
    walk_twice,
)
from edgewise.cycles.counting.hexagons import Hexagons
from edgewise.cycles.counting.on_edges import at_vertices, edge_triangles
from edgewise.cycles.counting.ranked import Ranked
from edgewise.device import arrays, each, parallel_region
from edgewise.device.prefetch import prefetch
from edgewise.device.warps import block_barrier, block_size


@parallel_region.by(threads=THREADS, max_blocks_per_sm=MAX_BLOCKS_PER_SM, shared_words=WORDS)
def count_pentagons(worker, teams, first, end, taken, order, offsets, neighbours, split, *scratch):
    """Count closed walks of five edges from the vertices of an order, each in one direction."""
    times, ends, counts = scratch
    number, warp, warps, lane, lanes = place_in_team(worker.id)
    base = number * len(offsets)
    start = next_start(worker.id, worker.shared, first, taken, end, order) if number < teams else np.int64(-1)
    while start >= 0:
        walk_twice(start, worker.id, worker.shared, (offsets, neighbours), base, times, ends)
        block_barrier()
        found, ended = np.int64(0), worker.shared[NEAR]
        for slot in range(warp, ended, warps):
            vertex, beside = np.int64(ends[base + slot]), np.int64(0)
            if slot + AHEAD < ended:
                prefetch(neighbours, split[ends[base + slot + AHEAD]])
            for step in range(split[vertex] + lane, offsets[vertex + 1], lanes):
                beside += np.int64(times[base + np.int64(neighbours[step])])
            found += beside * np.int64(times[base + vertex])
        block_barrier()
        for slot in range(worker.id % block_size(), ended, block_size()):
            times[base + np.int64(ends[base + slot])] = 0
        add_up(found, lane, lanes, worker.shared)
        keep_sum(start, worker.id, worker.shared, counts)
        start = next_start(worker.id, worker.shared, first, taken, end, order)


@each
def take_off_triangles(vertex, offsets, neighbours, triangles, on_edges, counts):
    """Take off the closed walks of five edges that go round a triangle."""
    degree, here = offsets[vertex + 1] - offsets[vertex], triangles[vertex]
    total = here * (2 * degree - 5)
    for entry in range(offsets[vertex], offsets[vertex + 1]):
        other = np.int64(neighbours[entry])
        total += triangles[other] + np.int64(on_edges[entry]) * (offsets[other + 1] - offsets[other])
    counts[vertex] -= total


class Pentagons(Walks):
    """Pentagons through every vertex."""

    def count(self, first: int, end: int) -> None:
        """Count closed walks from ``order[first:end]``."""
        rows = self.ranked.offsets, self.ranked.neighbours, self.ranked.split
        self.run(count_pentagons, first, end, self.order, *rows, counts=self.counts)

    def settle(self) -> None:
        """Take off, at every vertex, the walks that meet themselves."""
        on_edges = edge_triangles(self.ranked)
        found = at_vertices(self.ranked, on_edges), on_edges
        rows = self.ranked.offsets, self.ranked.neighbours
        take_off_triangles(self.ranked.n_vertices, *rows, *found, self.counts)


#: Operations of a step, in the unit of :mod:`~edgewise.cycles.planning.cost_model`.
COST = 0.4
SOLVERS = {4: Squares, 5: Pentagons, 6: Hexagons}


def start(ranked: Ranked, order, length: int):
    """A worker that counts the cycles through the vertices of ``order``."""
    return SOLVERS[length](ranked, order)


@each
def sum_rows(vertex, offsets, neighbours, values, sums):
    """Sum up a value of every neighbour."""
    total = np.int64(0)
    for entry in range(offsets[vertex], offsets[vertex + 1]):
        total += values[np.int64(neighbours[entry])]
    sums[vertex] = total


def _beside(ranked, values):
    sums = arrays.empty(ranked.n_vertices, np.int64, ranked.device)
    sum_rows(ranked.n_vertices, ranked.offsets, ranked.neighbours, values, sums)
    return sums


def work(ranked: Ranked, length: int):
    """Operations of each vertex, at most: (n,) float64 array beside ``ranked``.

    These are walks of two edges, and the entries that are read beside their ends.
    """
    degrees = ranked.offsets[1:] - ranked.offsets[:-1]
    walks = _beside(ranked, degrees)
    if length == 4:
        return walks.astype(np.float64)
    read = degrees if length == 6 else ranked.offsets[1:] - ranked.split
    further = _beside(ranked, _beside(ranked, read))
    return (walks + arrays.namespace(ranked.device).minimum(further, len(ranked.neighbours))) * COST
