"""Pentagons through every vertex, by edges between the endpoints of the wedges below their highest vertex.

A pentagon whose highest vertex is the apex ``v`` consists of two wedges ``v, a, u`` and ``v, b, w`` over
lower vertices, and the edge ``u, w``.  With ``p(u)`` wedges that end in ``u``, and ``S(u)`` the sum of
``p(w)`` over the neighbours ``w`` of ``u`` below ``v``, the walks ``v, a, u, w, b, v`` are credited:

* an endpoint ``u`` gets ``p(u) S(u)``, the apex half of the sum of these, and a middle ``a`` the sum of ``S``
  over its endpoints.

Some of the walks meet themselves, and their credits are subtracted.  Let ``q(a)`` be ``p(a)`` of a middle
that is also an endpoint, which is the number of triangles of ``a`` whose apex is ``v``, ``d(a)`` its degree
less one, and ``g`` the number of neighbours of ``v`` above it.

* ``a = w`` or ``u = b``, a walk out and back along an edge;  walks with both are subtracted twice.
* ``a = b``, a walk from ``v`` along an edge to a corner of a triangle below ``v``.  What the corners lose to
  edges that rise from the triangle's corners is subtracted at the apex of that triangle: this needs only the
  number of such edges, and together with the first case it comes to degrees:

  ``v``: ``- sum q(a) d(a) + sum q(a) / 2 - g sum q(a)``;
  ``a``: ``- q(a) (2 d(a) - 2 + g) - sum of d(u)`` over its endpoints ``u`` that are middles;
  ``u``: ``- sum of q(a)`` over the middles beside it.

  What ``v`` itself loses, the triangles below it at each middle, is known when every apex has been counted:
  an apex writes ``q(a)`` to its own entry in the row of ``a``, and the prefix sums along that row are the
  triangles at ``a`` below each higher neighbour (:class:`TrianglePrefix`).

Only the higher neighbours of an endpoint are read, at most ``sqrt(2 m)``, and each edge between endpoints
counts for both.  The formulas are those of Kowalik, "Short cycles in planar graphs" (2003), divided among the
vertices.

On the CPU the endpoints of an apex are numbered, the middles first, so that all arrays but one over all
vertices are small and stay in the first-level cache.  Number 0 is for vertices that are no endpoints: it has
no wedges, and what is added to it is discarded, which saves a branch.

On a GPU the endpoints are in a hash table (:mod:`~edgewise.cycles.counting.apex`) with three words a
slot: the endpoint and ``p(u)``; ``S(u)``; and what ``u`` loses.  All threads of a group add to them by
atomics.  A middle that is also an endpoint gives the endpoints beside it less: its ``S`` is lowered by ``d``
before the middles are credited, and ``p d`` is kept as a negative loss to make up for that.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from edgewise.cycles.counting.apex import (
    BLOCKS_PER_SM,
    COUNT_MASK,
    KEY_SHIFT,
    ApexCounter,
    ApexGraph,
    apex_regions,
    find,
    group_barrier,
    max_wedge_bound,
    wedge_shares,
    wedge_work,
)
from edgewise.cycles.counting.ranked import Ranked, Rows, Whole, even_pieces
from edgewise.cycles.counting.vertex_queue import Field, VertexCounter, prefetch_lower, vertex_of
from edgewise.cycles.counting.wedges import add_to_rows
from edgewise.cycles.planning import whole_by_rank
from edgewise.device import arrays, compiled, device, fetch_add, parallel_region
from edgewise.device.prefetch import prefetch
from edgewise.device.warps import find_segment, inclusive_scan, segment_sum, shuffle, warp_size
from edgewise.primitives.counting_sort import zeros
from edgewise.primitives.thread_pool import next_chunk

#: Operations of a wedge, in the unit of :mod:`~edgewise.cycles.planning`.
COST = 3
#: Endpoints up to which their numbers are 16 bits wide.
NARROW = 2**16 - 2


class TrianglePrefix(NamedTuple):
    """Triangles by corner and apex, from which :func:`subtract_prefix` makes prefix sums.

    ``at_corner``, (2 m,) uint32, has at the entry of ``v`` in the row of ``a`` the triangles of ``a`` whose
    highest vertex is ``v``; ``at_apex``, (n,) int64, all triangles with that apex.  On a GPU ``at_corner`` is
    (2 m + 1,) int64, one entry further on, and ``at_apex`` twice as much.
    """

    at_corner: Any
    at_apex: Any


class Scratch(NamedTuple):
    """Arrays of a CPU thread; ``number``, ``wedges`` and ``sums`` are zero between two apex vertices.

    ``number``, (n,) uint16 or uint32, is 0 for vertices that are neither endpoint nor middle.  By number
    there are the vertex (``endpoints``), ``p`` (``wedges``, uint32), the entry of the first higher neighbour
    (``row``, int64), ``S`` (``sums``, int64) and what it gets (``credits``, int64); ``counts`` is (n,) int64.
    """

    number: Any
    endpoints: Any
    wedges: Any
    row: Any
    sums: Any
    credits: Any
    counts: Any


@device
def number_endpoints(apex, graph, number, endpoints, wedges):
    """Number the middles and the endpoints below ``apex``, and count wedges; return the next free number."""
    offsets, neighbours, split = graph
    end = np.int64(1)
    for entry in range(offsets[apex], split[apex]):
        middle = neighbours[entry]
        number[middle] = end
        endpoints[end] = middle
        end += 1
    for entry in range(offsets[apex], split[apex]):
        position = offsets[neighbours[entry]]
        endpoint = neighbours[position]
        while endpoint < apex:
            known = np.int64(number[endpoint])
            own = end if known == 0 else known
            number[endpoint] = own
            endpoints[end] = endpoint
            wedges[own] += 1
            end += own == end
            position += 1
            endpoint = neighbours[position]
    return end


@device
def join_endpoints(apex, end, graph, scratch):
    """Sum up, for every endpoint, the wedges that end beside it."""
    offsets, neighbours, split = graph
    number, endpoints, wedges, row, sums, _, counts = scratch
    for own in range(1, end):
        endpoint = np.int64(endpoints[own])
        row[own] = split[endpoint]
        prefetch(neighbours, split[endpoint])
        prefetch(offsets, endpoint + 1)
        prefetch(counts, endpoint)
    for own in range(1, end):
        position, stop = row[own], offsets[np.int64(endpoints[own]) + 1]
        own_wedges, total = np.int64(wedges[own]), np.int64(0)
        while position < stop and neighbours[position] < apex:
            other = np.int64(number[neighbours[position]])
            total += np.int64(wedges[other])
            sums[other] += own_wedges
            position += 1
        sums[own] += total


@device
def credit_middle(apex, first, triangles, neighbours, scratch, at_corner):
    """Return the sum over the endpoints beside a middle; subtract what they lose, and keep its triangles.

    ``first`` is the first entry of the middle's row, and ``triangles`` the number of its triangles.
    """
    number, _, _, _, sums, credits, _ = scratch
    position, total = first, np.int64(0)
    endpoint = neighbours[position]
    if triangles == 0:
        while endpoint < apex:
            total += sums[number[endpoint]]
            position += 1
            endpoint = neighbours[position]
        return total
    while endpoint < apex:
        own = number[endpoint]
        total += sums[own]
        credits[own] -= triangles
        position += 1
        endpoint = neighbours[position]
    at_corner[position] = triangles
    return total


@device
def credit(apex, end, graph, scratch, prefix):
    """Credit the apex, its middles and its endpoints, and reset the scratch arrays."""
    offsets, neighbours, split = graph
    number, endpoints, wedges, _, sums, credits, counts = scratch
    walks, triangles, around = np.int64(0), np.int64(0), np.int64(0)
    for own in range(1, end):
        credits[own] = np.int64(wedges[own]) * sums[own]
        walks += credits[own]
    middles, above = split[apex] - offsets[apex], offsets[apex + 1] - split[apex]
    for own in range(1, middles + 1):
        middle, own_triangles = np.int64(endpoints[own]), np.int64(wedges[own])
        others = offsets[middle + 1] - offsets[middle] - 1
        sums[own] -= others
        triangles += own_triangles
        around += own_triangles * others
    for own in range(1, middles + 1):
        middle, own_triangles = np.int64(endpoints[own]), np.int64(wedges[own])
        first = offsets[middle]
        total = credit_middle(apex, first, own_triangles, neighbours, scratch, prefix.at_corner)
        counts[middle] += total - own_triangles * (2 * (offsets[middle + 1] - first - 2) + above)
    counts[apex] += (walks + triangles) // 2 - around - above * triangles
    prefix.at_apex[apex] = triangles // 2
    for own in range(1, end):
        endpoint = endpoints[own]
        counts[endpoint] += credits[own]
        number[endpoint], wedges[own], sums[own] = 0, 0, 0
    sums[0] = 0


@compiled
def count_pentagons(queue, order, graph, prefix, scratch):
    """Count the pentagons below the apex vertices that one thread takes from the queue."""
    offsets, neighbours, split = graph
    rows = Rows(offsets, split, neighbours)
    start, stop = next_chunk(queue)
    while start < stop:
        for task in range(start, stop):
            prefetch_lower(task, stop, order, rows, scratch.counts)
            apex = vertex_of(task, order)
            if split[apex] > offsets[apex]:
                end = number_endpoints(apex, graph, scratch.number, scratch.endpoints, scratch.wedges)
                join_endpoints(apex, end, graph, scratch)
                credit(apex, end, graph, scratch, prefix)
        start, stop = next_chunk(queue)


@compiled
def subtract_prefix(graph, prefix, first, end, counts):
    """Subtract the triangles below each vertex at its lower neighbours; reset them."""
    offsets, neighbours, split = graph
    for corner in range(first, end):
        triangles = prefix.at_apex[corner]
        prefix.at_apex[corner] = 0
        for position in range(split[corner], offsets[corner + 1]):
            counts[neighbours[position]] -= triangles
            triangles += np.int64(prefix.at_corner[position])
            prefix.at_corner[position] = 0


class ThreadPentagons(VertexCounter):
    """A solver on the threads of the CPU; see :class:`edgewise.cycles.methods.CycleMethod`."""

    def __init__(self, ranked: Ranked, order):
        n, kind = ranked.n_vertices, ranked.neighbours.dtype
        longest = int(ranked.offsets[-1] - ranked.offsets[-2]) if n else 0
        most = min(n, longest + max_wedge_bound(ranked, NARROW - longest)) + 2
        narrow = np.dtype(np.uint16 if most <= NARROW + 2 else np.uint32)
        self.prefix = TrianglePrefix(zeros(len(ranked.neighbours), np.uint32), zeros(n, np.int64))

        number, endpoints, wedges = Field(n, narrow, True), Field(most, kind), Field(most, np.uint32, True)
        row, sums, credits = Field(most, np.int64), Field(most, np.int64, True), Field(most, np.int64)
        fields = number, endpoints, wedges, row, sums, credits
        arguments = order, ranked.csr, self.prefix
        super().__init__(count_pentagons, arguments, len(order), n, Scratch, fields)

    @property
    def counts(self):
        """Counts so far, by rank: (n,) int64 array."""
        _, graph, prefix = self.arguments
        bounds = even_pieces(graph.offsets, self.pool.n_workers)
        runs = zip(pairwise(bounds.tolist()), self.scratch)
        self.pool.starmap(subtract_prefix, [(graph, prefix, *run, own.counts) for run, own in runs])
        return super().counts


class Arrays(NamedTuple):
    """What the GPU's kernels read and write; ``doubled``, (n,) int64, is twice what each apex gets."""

    graph: ApexGraph
    counts: Any
    doubled: Any
    prefix: TrianglePrefix


@device
def join_table(apex, group, table, csr):
    """For each edge between two endpoints, add the wedges of each to the sum of the other."""
    words, base, n_slots = table
    chunk = group.warp * group.n_lanes
    while chunk < n_slots:
        word, length, start = np.int64(0), np.int64(0), np.int64(0)
        if chunk + group.lane < n_slots:
            word = words[base + chunk + group.lane]
        if word != 0:
            endpoint = (word >> KEY_SHIFT) - 1
            start = csr.split[endpoint]
            length = csr.offsets[endpoint + 1] - start
        last = inclusive_scan(length, group.lane)
        total, shift, edge = shuffle(last, group.n_lanes - 1), start + length - last, np.int64(group.lane)
        while edge - group.lane < total:
            owner = find_segment(edge, last, group.n_lanes)
            entry, wedges = edge + shuffle(shift, owner), shuffle(word & COUNT_MASK, owner)
            if edge < total:
                other = np.int64(csr.neighbours[entry])
                slot = find(table, other) if other < apex else np.int64(-1)
                if slot >= 0:
                    fetch_add(words, base + n_slots + chunk + owner, words[base + slot] & COUNT_MASK)
                    fetch_add(words, base + n_slots + slot, wedges)
            edge += group.n_lanes
        chunk += group.n_warps * group.n_lanes


@device
def lower_middles(apex, group, table, csr):
    """Lower the sums of the middles that are endpoints, and make up for it at the middles themselves."""
    words, base, n_slots = table
    size = group.n_warps * group.n_lanes
    for entry in range(csr.offsets[apex] + group.warp * group.n_lanes + group.lane, csr.split[apex], size):
        middle = np.int64(csr.neighbours[entry])
        slot = find(table, middle)
        if slot >= 0:
            others = csr.offsets[middle + 1] - csr.offsets[middle] - 1
            words[base + n_slots + slot] -= others
            words[base + 2 * n_slots + slot] = -others * (words[base + slot] & COUNT_MASK)


@device
def sum_beside_middle(group, share, triangles, table, state):
    """Sum over the endpoints beside the lane's middle; each of them loses the middle's triangles."""
    words, base, n_slots = table
    sums, losses = base + n_slots, base + 2 * n_slots
    total, wedge, credit = shuffle(share.last, group.n_lanes - 1), np.int64(group.lane), np.int64(0)
    while wedge - group.lane < total:
        owner, value = find_segment(wedge, share.last, group.n_lanes), np.int64(0)
        entry, loss = wedge + shuffle(share.shift, owner), shuffle(triangles, owner)
        if wedge < total:
            slot = find(table, np.int64(state.graph.csr.neighbours[entry]))
            value = words[sums + slot]
            if loss > 0:
                fetch_add(words, losses + slot, loss)
        done = wedge - group.lane
        credit += segment_sum(value, share.last - share.length - done, share.last - done, group.lane)
        wedge += group.n_lanes
    return credit


@device
def credit_middles_of_table(apex, group, table, state):
    """Credit every middle; return twice what the apex gets by them, and twice its triangles."""
    offsets, neighbours, split = state.graph.csr
    words, base, _ = table
    above, chunk, end = offsets[apex + 1] - split[apex], offsets[apex], split[apex]
    own, around = np.int64(0), np.int64(0)
    while chunk < end:
        share, triangles = wedge_shares(chunk, end, group, state.graph), np.int64(0)
        if share.entry < end:
            slot = find(table, np.int64(neighbours[share.entry]))
            if slot >= 0:
                triangles = words[base + slot] & COUNT_MASK
        credit = sum_beside_middle(group, share, triangles, table, state)
        if share.entry < end:
            middle = np.int64(neighbours[share.entry])
            others = offsets[middle + 1] - offsets[middle] - 1
            credit -= triangles * (2 * others - 2 + above)
            if credit != 0:
                fetch_add(state.counts, middle, credit)
            if triangles > 0:
                state.prefix.at_corner[offsets[middle] + share.length + 1] = triangles
                own += triangles * (share.length + 1 - 2 * others - 2 * above)
                around += triangles
        chunk += group.n_warps * group.n_lanes
    return own, around


@device
def credit_endpoints_of_table(group, table, counts):
    """Credit every endpoint; return the sum of this thread's."""
    words, base, n_slots = table
    own = np.int64(0)
    for slot in range(group.warp * group.n_lanes + group.lane, n_slots, group.n_warps * group.n_lanes):
        word = words[base + slot]
        if word != 0:
            credit = (word & COUNT_MASK) * words[base + n_slots + slot] - words[base + 2 * n_slots + slot]
            own += credit
            if credit != 0:
                fetch_add(counts, (word >> KEY_SHIFT) - 1, credit)
    return own


@device
def count_at_apex(apex, group, table, state):
    """Credit all pentagons whose highest vertex is ``apex``; the endpoints of its wedges are in the table."""
    join_table(apex, group, table, state.graph.csr)
    group_barrier(group)
    lower_middles(apex, group, table, state.graph.csr)
    group_barrier(group)
    own, triangles = credit_middles_of_table(apex, group, table, state)
    group_barrier(group)
    own = inclusive_scan(own + credit_endpoints_of_table(group, table, state.counts), group.lane)
    triangles = inclusive_scan(triangles, group.lane)
    if group.lane == group.n_lanes - 1 and own != 0:
        fetch_add(state.doubled, apex, own)
    if group.lane == group.n_lanes - 1 and triangles > 0:
        fetch_add(state.prefix.at_apex, apex, triangles)


@parallel_region.by(max_blocks_per_sm=BLOCKS_PER_SM)
def sum_up(worker, state, rows, scanned, counts):
    """Add what the vertices got, less the triangles below each at its lower neighbours; ``counts`` are zeros.

    ``rows`` are those of the entries, ``scanned`` the prefix sums of the triangles at each corner.
    """
    offsets, neighbours, split = state.graph.csr
    lane, n_entries = worker.id % warp_size(), len(rows)
    for apex in range(worker.id, len(counts), worker.count):
        fetch_add(counts, apex, state.counts[apex] + state.doubled[apex] // 2)
    for base in range(worker.id - lane, n_entries, worker.count):
        entry, vertex, lost = base + lane, np.int64(-1), np.int64(0)
        if entry < n_entries:
            vertex, corner = np.int64(rows[entry]), np.int64(neighbours[entry])
            if corner < vertex:
                below = offsets[corner] + state.graph.lengths[entry]
                lost = state.prefix.at_apex[corner] // 2 + scanned[below] - scanned[split[corner]]
        add_to_rows(vertex, -lost, lane, counts)


REGIONS = apex_regions(count_at_apex, __name__, words=3 * 1024, fields=3)


class TablePentagons(ApexCounter):
    """A solver on a GPU; see :class:`edgewise.cycles.methods.CycleMethod`."""

    def __init__(self, ranked, order=None, **sizes):
        super().__init__(REGIONS, ranked, order, **sizes)

    def begin(self) -> None:
        """Begin with no pentagons."""
        super().begin()
        n, corners = self.n_vertices, len(self.graph.csr.neighbours) + 1
        at_corner, at_apex, doubled = (arrays.zeros(size, np.int64, self.device) for size in (corners, n, n))
        self.state = Arrays(self.graph, self.credits, doubled, TrianglePrefix(at_corner, at_apex))

    @property
    def counts(self):
        """Counts so far, by rank: (n,) int64 array."""
        with arrays.on(self.device):
            counts = arrays.zeros(self.n_vertices, np.int64, self.device)
            scanned = arrays.move(
                arrays.namespace(self.device).cumsum(self.state.prefix.at_corner), self.device
            )
            sum_up(self.state, self.rows, scanned, counts)
        return counts


def whole(graph, most: float) -> Callable[[], Whole] | None:
    """Count all pentagons on a GPU at once, unless there are more than the ``most`` wedges."""
    if graph.device == "cpu":
        return None
    return whole_by_rank(graph, 5, most, TablePentagons)


def start(ranked: Ranked, order, length: int):
    """Prepare a count of the pentagons below the vertices of ``order``, on the device of ``ranked``."""
    if ranked.device == "cpu":
        return ThreadPentagons(ranked, order)
    return TablePentagons(ranked, order)


def work(ranked: Ranked, length: int):
    """Operations of each apex, about: (n,) float64 array on the device of ``ranked``."""
    return wedge_work(ranked, COST)
