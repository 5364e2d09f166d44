"""Squares through every vertex, by the endpoints of the wedges below their highest vertex.

Two wedges ``v, a, u`` (:mod:`~edgewise.cycles.counting.apex`) with the same endpoint make a square whose
highest vertex is ``v``.  With ``L(u)`` wedges that end in ``u``,

* ``u`` is on ``L(u) (L(u) - 1) / 2`` of these squares,
* ``a`` is on ``L(u) - 1`` of them for every endpoint ``u`` of its wedges,
* ``v`` is on half as many as all its middles together.

Ranks are ordered by degree, so that there are at most as many wedges as the sum over the edges of the smaller
degree: 8.4 million for com-DBLP, and every wedge is read twice.  See Chiba and Nishizeki (1985), and for
counts per vertex Burkhardt and Harris, "Simple and efficient four-cycle counting on sparse graphs" (2023,
arXiv 2303.06090).

On the CPU a thread has ``L`` in an array over all vertices, of 16 bits where the rows are short enough, so
that it stays in the second-level cache; on a GPU it is a hash table of a warp, a block or the grid.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from edgewise.cycles.counting.apex import (
    COUNT_MASK,
    KEY_SHIFT,
    ApexCounter,
    ApexGraph,
    apex_regions,
    find,
    wedge_shares,
    wedge_work,
)
from edgewise.cycles.counting.ranked import Ranked, Rows, Whole
from edgewise.cycles.counting.vertex_queue import Field, VertexCounter, prefetch_lower, vertex_of
from edgewise.cycles.planning import whole_by_rank
from edgewise.device import compiled, device, fetch_add
from edgewise.device.prefetch import prefetch
from edgewise.device.warps import find_segment, inclusive_scan, segment_sum, shuffle
from edgewise.primitives.thread_pool import next_chunk

#: Operations of a wedge, in the unit of :mod:`~edgewise.cycles.planning`: a few nanoseconds.
COST = 0.25


class Scratch(NamedTuple):
    """Arrays of a CPU thread.

    ``wedges``, (n,) uint16 or uint32, is the number of wedges that end in each vertex, zero between two apex
    vertices; ``endpoints``, (n + 1,), lists these vertices; ``multiplicities``, (n + 1,), the wedges of those
    that have several; ``counts`` is (n,) int64.
    """

    wedges: Any
    endpoints: Any
    multiplicities: Any
    counts: Any


@device
def list_endpoints(apex, graph, wedges, endpoints):
    """Count the wedges of ``apex`` by endpoint; return the number of endpoints and the number of wedges."""
    offsets, neighbours, split = graph
    n_endpoints, total = 0, 0
    for entry in range(offsets[apex], split[apex]):
        position = offsets[neighbours[entry]]
        total -= position
        endpoint = neighbours[position]
        while endpoint < apex:
            before = wedges[endpoint]
            wedges[endpoint] = before + 1
            endpoints[n_endpoints] = endpoint
            n_endpoints += before == 0
            position += 1
            endpoint = neighbours[position]
        total += position
    return n_endpoints, total


@device
def credit_middles(apex, graph, wedges, counts):
    """Credit the squares of an apex to itself and to the middles of its wedges."""
    offsets, neighbours, split = graph
    twice = np.int64(0)
    for entry in range(offsets[apex], split[apex]):
        middle = np.int64(neighbours[entry])
        position = begin = offsets[middle]
        squares, endpoint = np.int64(0), neighbours[position]
        while endpoint < apex:
            squares += np.int64(wedges[endpoint])
            position += 1
            endpoint = neighbours[position]
        squares -= position - begin
        counts[middle] += squares
        twice += squares
    counts[apex] += twice // 2


@device
def credit_endpoints(n_endpoints, scratch):
    """Credit the squares to the endpoints of several wedges; reset all wedges to zero."""
    wedges, endpoints, multiplicities, counts = scratch
    n_several = 0
    for slot in range(n_endpoints):
        endpoint = endpoints[slot]
        number = wedges[endpoint]
        wedges[endpoint] = 0
        endpoints[n_several] = endpoint
        multiplicities[n_several] = number
        n_several += number > 1
        prefetch(counts, np.int64(endpoint))
    for slot in range(n_several):
        number = np.int64(multiplicities[slot])
        counts[endpoints[slot]] += number * (number - 1) // 2


@compiled
def count_squares(queue, order, graph, scratch):
    """Count the squares below the apex vertices that one thread takes from the queue."""
    offsets, neighbours, split = graph
    wedges, endpoints, _, counts = scratch
    start, stop = next_chunk(queue)
    while start < stop:
        for task in range(start, stop):
            prefetch_lower(task, stop, order, Rows(offsets, split, neighbours), counts)
            apex = vertex_of(task, order)
            if split[apex] - offsets[apex] > 1:
                n_endpoints, total = list_endpoints(apex, graph, wedges, endpoints)
                if n_endpoints < total:
                    credit_middles(apex, graph, wedges, counts)
                    credit_endpoints(n_endpoints, scratch)
                else:
                    for slot in range(n_endpoints):
                        wedges[endpoints[slot]] = 0
        start, stop = next_chunk(queue)


def on_threads(ranked: Ranked, order) -> VertexCounter:
    """Prepare a count on the threads of the CPU."""
    n, kind = ranked.n_vertices, ranked.neighbours.dtype
    longest = int(ranked.offsets[-1] - ranked.offsets[-2]) if n else 0
    narrow = np.dtype(np.uint16 if longest < 2**16 else np.uint32)
    fields = Field(n, narrow, clear=True), Field(n + 1, kind), Field(n + 1, narrow)
    return VertexCounter(count_squares, (order, ranked.csr), len(order), n, Scratch, fields)


class Arrays(NamedTuple):
    """What the GPU's kernels read and write; ``counts`` is (n,) int64."""

    graph: ApexGraph
    counts: Any


@device
def credit_middles_of_table(apex, group, table, state):
    """Credit the squares of an apex to the middles of its wedges."""
    csr = state.graph.csr
    chunk, end = csr.offsets[apex], csr.split[apex]
    while chunk < end:
        share = wedge_shares(chunk, end, group, state.graph)
        total, wedge, squares = shuffle(share.last, group.n_lanes - 1), np.int64(group.lane), np.int64(0)
        while wedge - group.lane < total:
            entry = wedge + shuffle(share.shift, find_segment(wedge, share.last, group.n_lanes))
            others = np.int64(0)
            if wedge < total:
                slot = find(table, np.int64(csr.neighbours[entry]))
                others = (table.words[table.base + slot] & COUNT_MASK) - 1
            done = wedge - group.lane
            squares += segment_sum(others, share.last - share.length - done, share.last - done, group.lane)
            wedge += group.n_lanes
        if squares > 0:
            fetch_add(state.counts, csr.neighbours[share.entry], squares)
        chunk += group.n_warps * group.n_lanes


@device
def count_at_apex(apex, group, table, state):
    """Credit all squares whose highest vertex is ``apex``; the endpoints of its wedges are in the table."""
    credit_middles_of_table(apex, group, table, state)
    own, size = np.int64(0), group.n_warps * group.n_lanes
    for slot in range(group.warp * group.n_lanes + group.lane, table.n_slots, size):
        word = table.words[table.base + slot]
        wedges = word & COUNT_MASK
        if wedges > 1:
            squares = wedges * (wedges - 1) // 2
            fetch_add(state.counts, (word >> KEY_SHIFT) - 1, squares)
            own += squares
    own = inclusive_scan(own, group.lane)
    if group.lane == group.n_lanes - 1 and own > 0:
        fetch_add(state.counts, apex, own)


REGIONS = apex_regions(count_at_apex, __name__, words=4096, fields=1)


class TableSquares(ApexCounter):
    """A solver on a GPU; see :class:`edgewise.cycles.methods.CycleMethod`."""

    def __init__(self, ranked, order=None, **sizes):
        super().__init__(REGIONS, ranked, order, **sizes)

    def begin(self) -> None:
        """Begin with no squares."""
        super().begin()
        self.counts = self.credits
        self.state = Arrays(self.graph, self.counts)


def start(ranked: Ranked, order, length: int):
    """Prepare a count of the squares below the vertices of ``order``, on the device of ``ranked``."""
    return on_threads(ranked, order) if ranked.device == "cpu" else TableSquares(ranked, order)


def whole(graph, most: float) -> Callable[[], Whole] | None:
    """Count all squares on a GPU at once, unless there are more than the ``most`` wedges."""
    if graph.device == "cpu":
        return None
    return whole_by_rank(graph, 4, most, TableSquares)


def work(ranked: Ranked, length: int):
    """Operations of each apex, about: (n,) float64 array on the device of ``ranked``."""
    return wedge_work(ranked, COST)
