"""Triangles on a GPU: a warp takes as many edges as it has lanes and shares out their shorter rows.

A triangle is found at its lowest vertex ``x`` and its middle ``y``: what follows ``y`` among the higher
neighbours of ``x`` is looked up among those of ``y``, or the other way round, whichever is shorter.  The
lanes of a warp take an edge each, and then even shares of all entries to be looked up, so that neither
short rows nor long ones leave lanes idle (Merrill, Garland and Grimshaw 2012).  What is found counts for
the top at once, and for ``x`` and ``y`` by the ballot of the lanes that looked for them.
"""

import numpy as np

from edgewise.cycles.counting.lookup import first_from
from edgewise.device import arrays, each_row, fetch_add, parallel_region
from edgewise.device.warps import ballot, find_segment, inclusive_scan, popcount, shuffle, warp_size
from edgewise.primitives import exclusive_scan

#: Threads of a block.
THREADS = 256


@parallel_region.by(threads=THREADS, max_blocks_per_sm=8)
def find_triangles(worker, first, end, lows, entries, offsets, neighbours, split, counts):
    """Find the triangles of the edges ``first`` to ``end - 1``."""
    lanes = warp_size()
    lane = worker.id % lanes
    for base in range(first + worker.id - lane, end, worker.count):
        low, entry, middle = np.int64(0), np.int64(0), np.int64(0)
        start, length, other, end_of_other = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        if base + lane < end:
            low, entry = np.int64(lows[base + lane]), np.int64(entries[base + lane])
            middle = np.int64(neighbours[entry])
            start, length = entry + 1, offsets[low + 1] - entry - 1
            other, end_of_other = split[middle], offsets[middle + 1]
            if end_of_other - other < length:
                start, other = other, start
                length, end_of_other = end_of_other - start, other + length
        ends = inclusive_scan(length, lane)
        total, shift, here, share = shuffle(ends, lanes - 1), start + length - ends, 0, np.int64(lane)
        while share - lane < total:
            owner = find_segment(share, ends, lanes)
            mine = share + shuffle(shift, owner)
            its_first, its_end = shuffle(other, owner), shuffle(end_of_other, owner)
            closes = False
            if share < total:
                top = np.int64(neighbours[mine])
                there = first_from(top, its_first, its_end, neighbours)
                closes = there < its_end and np.int64(neighbours[there]) == top
                if closes:
                    fetch_add(counts, top, 1)
            found, done = ballot(closes), share - lane
            from_here, to_here = max(ends - length - done, 0), min(ends - done, np.int64(lanes))
            if from_here < to_here:
                here += popcount(found >> from_here & ((1 << (to_here - from_here)) - 1))
            share += lanes
        if here > 0:
            fetch_add(counts, low, here)
            fetch_add(counts, middle, here)


@each_row
def list_upward(task, lane, lanes, order, starts, offsets, split, lows, entries):
    """List the upward entries of the rows of an order."""
    low = np.int64(order[task])
    for entry in range(split[low] + lane, offsets[low + 1], lanes):
        lows[starts[task] + entry - split[low]] = low
        entries[starts[task] + entry - split[low]] = entry


def upward(ranked, order):
    """Upward entries of the rows of an order: starts (tasks + 1,), lowest vertices (m,) and entries (m,)."""
    device = ranked.device
    starts = exclusive_scan((ranked.offsets[1:] - ranked.split)[order])
    starts = arrays.move(starts, device)
    edges = int(starts[-1])
    lows = arrays.empty(edges, ranked.neighbours.dtype, device)
    entries = arrays.empty(edges, np.int64, device)
    list_upward(len(order), order, starts, ranked.offsets, ranked.split, lows, entries, width="warp")
    return starts, lows, entries


class Triangles:
    """A count under way; see :class:`edgewise.cycles.method.Solver`."""

    def __init__(self, ranked, order):
        self.counts = arrays.zeros(ranked.n_vertices, np.int64, ranked.device)
        starts, lows, entries = upward(ranked, order)
        self.starts = arrays.move(starts, "cpu")
        self.edges = lows, entries
        self.given = ranked.offsets, ranked.neighbours, ranked.split, self.counts

    def count(self, first, end):
        """Count the triangles whose lowest vertices are ``order[first:end]``."""
        low, high = int(self.starts[first]), int(self.starts[end])
        if low < high:
            find_triangles(low, high, *self.edges, *self.given)

    def settle(self):
        """Nothing is left to add."""


def start(ranked, order, length):
    """Make ready to count triangles; see :class:`edgewise.cycles.method.Solver`."""
    return Triangles(ranked, order)


def work(ranked, length):
    """Work of each vertex: pairs of its higher neighbours."""
    upward = ranked.offsets[1:] - ranked.split
    return (upward * (upward - 1)).astype(np.float64)
