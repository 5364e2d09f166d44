"""Triangles through every edge, credited to the entries of the edges in the rows.

As in :mod:`~edgewise.cycles.counting.triangles`, a triangle is found at its lowest vertex, and with it the
entries of its three edges.  In the end every entry whose neighbour is lower copies the value of the opposite
entry.  On the CPU the positions of the higher neighbours in a long row are marked, and the credits of its
entries are added up before they are written; on a GPU, and where rows are short, rows are merged.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from edgewise.cycles.counting.ranked import MAX_MERGED, Ranked, first_from
from edgewise.device import arrays, compiled, device, each, fetch_add
from edgewise.errors import GraphError
from edgewise.primitives.thread_pool import ThreadPool, next_chunk


class Scratch(NamedTuple):
    """Arrays of a CPU thread, zeros between two vertices: (n,) uint32 and int32.

    ``marks`` are positions in the row of the lowest vertex, from 1 on; ``sums`` the triangles by position.
    """

    marks: Any
    sums: Any


def row_merger(at_triangle, at_edge):
    """Make ``merge(low, rows, state)``, which finds the triangles whose lowest vertex is ``low``.

    It merges the row of higher neighbours of ``low`` with those of its middles, and returns how many it
    finds.  For each it calls ``at_triangle(corners, entries, state)`` with the vertices ``low, middle, high``
    and the entries of the edges ``low, middle``, ``low, high`` and ``middle, high``; for each middle with
    triangles ``at_edge(middle, entry, triangles, state)``.
    """

    @device
    def merge(low, rows, state):
        starts, ends, neighbours = rows
        end, triangles = ends[low], np.int64(0)
        for entry in range(starts[low], end - 1):
            middle = np.int64(neighbours[entry])
            position, other_position, other_end = entry + 1, starts[middle], ends[middle]
            of_edge = np.int64(0)
            while position < end and other_position < other_end:
                one, other = neighbours[position], neighbours[other_position]
                if one == other:
                    at_triangle((low, middle, np.int64(one)), (entry, position, other_position), state)
                    of_edge += 1
                position += one <= other
                other_position += other <= one
            if of_edge > 0:
                at_edge(middle, entry, of_edge, state)
                triangles += of_edge
        return triangles

    return merge


def edge_triangles(ranked: Ranked):
    """Triangles through the edge of every entry: (2 m,) int32 array on the device of ``ranked``."""
    n, device = ranked.n_vertices, ranked.device
    if n and int(ranked.offsets[-1] - ranked.offsets[-2]) >= 2**31:
        raise GraphError("triangles through an edge may pass 2**31: a vertex has as many neighbours")
    triangles = arrays.zeros(len(ranked.neighbours), np.int32, device)
    if device == "cpu":
        longest = int((ranked.offsets[1:] - ranked.split).max(initial=0))
        pool = ThreadPool(max(1, n), 4 * n)
        sizes = (n, np.uint32), (longest + 1, np.int32)
        scratch = [(Scratch(*(np.zeros(*one) for one in sizes)),) for _ in range(pool.n_workers)]
        pool.run_queue(credit_rows, 0, n, ranked.higher, triangles, per_worker=scratch)
    else:
        merge_row(n, ranked.higher, triangles)
    copy_down(n, ranked.csr, triangles)
    return triangles


@device
def credit_entries(corners, entries, triangles):
    """Credit a triangle to the entries of its two upper edges."""
    fetch_add(triangles, entries[1], 1)
    fetch_add(triangles, entries[2], 1)


@device
def credit_entry(middle, entry, of_edge, triangles):
    """Credit the triangles above an edge to its entry."""
    fetch_add(triangles, entry, np.int32(of_edge))


merge = row_merger(credit_entries, credit_entry)


@each
def merge_row(low, rows, triangles):
    """Credit the triangles whose lowest vertex this is to the upward entries of their edges."""
    merge(low, rows, triangles)


@device
def mark(low, rows, triangles, scratch):
    """Credit the triangles whose lowest vertex is ``low``; no vertex is marked before or after."""
    starts, ends, neighbours = rows
    marks, sums = scratch
    first, end = starts[low], ends[low]
    for entry in range(first, end):
        marks[neighbours[entry]] = entry - first + 1
    for entry in range(first, end):
        middle, of_edge = np.int64(neighbours[entry]), np.int32(0)
        for other in range(starts[middle], ends[middle]):
            position = np.int64(marks[neighbours[other]])
            if position > 0:
                sums[position] += np.int32(1)
                of_edge += np.int32(1)
                fetch_add(triangles, other, 1)
        sums[entry - first + 1] += of_edge
    for entry in range(first, end):
        of_edge = sums[entry - first + 1]
        sums[entry - first + 1] = 0
        marks[neighbours[entry]] = 0
        if of_edge > 0:
            fetch_add(triangles, entry, of_edge)


@compiled
def credit_rows(queue, rows, triangles, scratch):
    """Credit the triangles above the lowest vertices that one thread takes from the queue."""
    start, stop = next_chunk(queue)
    while start < stop:
        for low in range(start, stop):
            n_higher = rows.ends[low] - rows.starts[low]
            if n_higher > MAX_MERGED:
                mark(low, rows, triangles, scratch)
            elif n_higher > 1:
                merge(low, rows, triangles)
        start, stop = next_chunk(queue)


@each
def copy_down(vertex, csr, triangles):
    """Copy to each downward entry the value of the upward entry of the same edge."""
    offsets, neighbours, split = csr
    for entry in range(offsets[vertex], split[vertex]):
        lower = np.int64(neighbours[entry])
        triangles[entry] = triangles[first_from(vertex, split[lower], offsets[lower + 1], neighbours)]


@each
def _half_of_row(vertex, offsets, triangles, counts):
    total = np.int64(0)
    for entry in range(offsets[vertex], offsets[vertex + 1]):
        total += np.int64(triangles[entry])
    counts[vertex] = total // 2


def at_vertices(ranked: Ranked, triangles):
    """Triangles through every vertex, each of which has two edges there: (n,) int64 array by rank."""
    counts = arrays.empty(ranked.n_vertices, np.int64, ranked.device)
    _half_of_row(ranked.n_vertices, ranked.offsets, triangles, counts)
    return counts
