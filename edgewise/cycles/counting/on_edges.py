"""Triangles through every edge, credited to the entries of the edges in the rows.

As in :mod:`~edgewise.cycles.counting.triangles`, a triangle is found at its lowest vertex ``x``.  The search
yields the entries of all three edges, so that these are credited without a further look-up.  In the end
every entry whose neighbour is lower copies the value of the opposite entry.

On the CPU devices of higher neighbours in a long row are marked, and what its entries get is added up before
it is credited; on a GPU, and where rows are short, rows are merged.
"""

from __future__ import annotations

import numpy as np

from edgewise.cycles.counting.lookup import first_from
from edgewise.cycles.counting.ranked import Ranked
from edgewise.device import arrays, compiled, device, each, fetch_add
from edgewise.errors import GraphError
from edgewise.primitives.thread_pool import ThreadPool, next_chunk

#: Higher neighbours up to which rows are merged.
FEW = 3


def edge_triangles(ranked: Ranked):
    """Triangles through the edge of every entry of ``ranked.neighbours``: (2 m,) int32 array beside it."""
    n, device = ranked.n_vertices, ranked.device
    if n and int(ranked.offsets[-1] - ranked.offsets[-2]) >= 2**31:
        raise GraphError("triangles through an edge may pass 2**31: a vertex has as many neighbours")
    found = arrays.zeros(len(ranked.neighbours), np.int32, device)
    rows = ranked.offsets, ranked.neighbours, ranked.split
    if device == "cpu":
        longest = int((ranked.offsets[1:] - ranked.split).max(initial=0))
        pool = ThreadPool(n, 4 * n)
        own = [(np.zeros(n, np.uint32), np.zeros(longest + 1, np.int32)) for _ in range(pool.n_workers)]
        pool.run_queue(credit_lows, 0, n, *rows, found, per_worker=own)
    else:
        merge_lows(n, *rows, found)
    copy_down(n, *rows, found)
    return found


@each
def merge_lows(low, offsets, neighbours, split, found):
    """Credit the triangles whose lowest vertex this is to the upward entries of their edges."""
    merge(low, offsets, neighbours, split, found)


@device
def merge(low, offsets, neighbours, split, found):
    """Merge the row of higher neighbours with those of its middles."""
    end = offsets[low + 1]
    for entry in range(split[low], end - 1):
        middle = np.int64(neighbours[entry])
        mine, its, its_end, here = entry + 1, split[middle], offsets[middle + 1], np.int32(0)
        while mine < end and its < its_end:
            one, other = neighbours[mine], neighbours[its]
            if one == other:
                fetch_add(found, mine, 1)
                fetch_add(found, its, 1)
                here += np.int32(1)
            if one <= other:
                mine += 1
            if one >= other:
                its += 1
        if here > 0:
            fetch_add(found, entry, here)


@device
def mark(low, offsets, neighbours, split, found, devices, sums):
    """Credit the triangles whose lowest vertex is ``low``; no place is marked before or after."""
    first, end = split[low], offsets[low + 1]
    for entry in range(first, end):
        devices[neighbours[entry]] = entry - first + 1
    for entry in range(first, end):
        middle, here = np.int64(neighbours[entry]), np.int32(0)
        for there in range(split[middle], offsets[middle + 1]):
            position = np.int64(devices[neighbours[there]])
            if position > 0:
                sums[position] += np.int32(1)
                here += np.int32(1)
                fetch_add(found, there, 1)
        sums[entry - first + 1] += here
    for entry in range(first, end):
        here = sums[entry - first + 1]
        sums[entry - first + 1] = 0
        devices[neighbours[entry]] = 0
        if here > 0:
            fetch_add(found, entry, here)


@compiled
def credit_lows(queue, offsets, neighbours, split, found, devices, sums):
    """One worker credits the triangles above lowest vertices until the queue is empty."""
    start, stop = next_chunk(queue)
    while start < stop:
        for low in range(start, stop):
            higher = offsets[low + 1] - split[low]
            if higher > FEW:
                mark(low, offsets, neighbours, split, found, devices, sums)
            elif higher > 1:
                merge(low, offsets, neighbours, split, found)
        start, stop = next_chunk(queue)


@each
def copy_down(vertex, offsets, neighbours, split, found):
    """Copy to each downward entry what the upward entry of the same edge has."""
    for entry in range(offsets[vertex], split[vertex]):
        lower = np.int64(neighbours[entry])
        found[entry] = found[first_from(vertex, split[lower], offsets[lower + 1], neighbours)]


@each
def _half_of_row(vertex, offsets, found, counts):
    total = np.int64(0)
    for entry in range(offsets[vertex], offsets[vertex + 1]):
        total += np.int64(found[entry])
    counts[vertex] = total // 2


def at_vertices(ranked: Ranked, found):
    """Triangles through every vertex, each of which has two edges there: (n,) int64 array by rank."""
    counts = arrays.empty(ranked.n_vertices, np.int64, ranked.device)
    _half_of_row(ranked.n_vertices, ranked.offsets, found, counts)
    return counts
