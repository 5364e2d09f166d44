"""Triangles through every vertex and every edge, by intersecting rows of higher neighbours.

A triangle is found once, at its lowest vertex ``x`` and the edge to its middle ``y``: both rows of higher
neighbours are merged, and what stands in both is the top.  A vertex has at most ``sqrt(2 m)`` higher
neighbours, so all merges together take ``O(m**1.5)`` steps (Chiba and Nishizeki 1985; Latapy 2008).  The
merge knows where each of the three edges stands, so that they are credited without a search.
"""

from __future__ import annotations

import numpy as np

from edgewise.cycles.ranked import Ranked
from edgewise.device import arrays
from edgewise.device.atomics import fetch_add
from edgewise.device.loop import each
from edgewise.device.target import device


def triangle_counts(ranked: Ranked):
    """Triangles through every vertex: (n,) int64 array by rank, in the place of ``ranked``."""
    counts = arrays.zeros(ranked.n_vertices, np.int64, ranked.place)
    half_of_row(ranked.n_vertices, ranked.offsets, edge_triangles(ranked), counts)
    return counts


def edge_triangles(ranked: Ranked):
    """Triangles through the edge of every entry of ``ranked.neighbours``: (2 m,) int32 array beside it."""
    found = arrays.zeros(len(ranked.neighbours), np.int32, ranked.place)
    rows = (ranked.offsets, ranked.neighbours, ranked.split)
    intersect(ranked.n_vertices, *rows, found)
    copy_down(ranked.n_vertices, *rows, found)
    return found


@each
def intersect(vertex, offsets, neighbours, split, found):
    """Credit the triangles whose lowest vertex this is to the upward entries of their edges."""
    for entry in range(split[vertex], offsets[vertex + 1]):
        credit_common(entry, offsets[vertex + 1], neighbours, offsets, split, found)


@device
def credit_common(entry, end, neighbours, offsets, split, found):
    """Merge what follows ``entry`` in its row with the higher neighbours of the neighbour there."""
    middle = np.int64(neighbours[entry])
    one, other, end_of_other = entry + 1, split[middle], offsets[middle + 1]
    here = np.int32(0)
    while one < end and other < end_of_other:
        mine, its = neighbours[one], neighbours[other]
        if mine == its:
            fetch_add(found, one, 1)
            fetch_add(found, other, 1)
            here += np.int32(1)
        if mine <= its:
            one += 1
        if mine >= its:
            other += 1
    if here > 0:
        fetch_add(found, entry, here)


@each
def copy_down(vertex, offsets, neighbours, split, found):
    """Copy to each downward entry what the upward entry of the same edge has."""
    for entry in range(offsets[vertex], split[vertex]):
        lower = np.int64(neighbours[entry])
        found[entry] = found[entry_of(vertex, split[lower], offsets[lower + 1], neighbours)]


@device
def entry_of(vertex, first, end, neighbours):
    """Where ``vertex`` stands among the ascending entries ``first`` to ``end - 1``, in which it is."""
    while end - first > 1:
        middle = (first + end) // 2
        if np.int64(neighbours[middle]) <= vertex:
            first = middle
        else:
            end = middle
    return first


@each
def half_of_row(vertex, offsets, found, counts):
    """Each triangle at a vertex has two edges there."""
    total = np.int64(0)
    for entry in range(offsets[vertex], offsets[vertex + 1]):
        total += np.int64(found[entry])
    counts[vertex] = total // 2
