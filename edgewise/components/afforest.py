"""Afforest: join a few neighbours of every vertex, then skip the giant (Sutton, Ben-Nun & Barak, IPDPS 2018).

Two neighbours of each vertex are enough to gather most of a large component.  A small sample of the labels
then names it, and its vertices' rows, nearly all of the graph, are never read: an edge that leaves the giant
is seen from its other end.  That needs symmetric rows.
"""

import numpy as np

from edgewise.components.neighbour import hang_below_first
from edgewise.components.trees import compress, find, join_roots
from edgewise.device import arrays, each, each_row

ROUNDS = 2
SAMPLES = 1024


@each
def join_neighbour(vertex, parent, offsets, neighbours, place):
    """Join ``vertex`` with the neighbour at ``place`` of its row."""
    entry = offsets[vertex] + place
    if entry < offsets[vertex + 1]:
        join_roots(parent, find(parent, vertex), find(parent, neighbours[entry]))


@each_row
def join_rest(vertex, lane, lanes, parent, offsets, neighbours, giant, skipped):
    """Join a vertex outside the giant with all neighbours from entry ``skipped`` of its row on."""
    if parent[vertex] != giant:
        for entry in range(offsets[vertex] + skipped + lane, offsets[vertex + 1], lanes):
            join_roots(parent, find(parent, vertex), find(parent, neighbours[entry]))


def most_frequent(parent):
    """Label that occurs most often in an evenly spread sample of fully compressed parents."""
    sample = parent[:: max(1, len(parent) // SAMPLES)]
    values, counts = arrays.namespace(parent).unique(sample, return_counts=True)
    return int(values[counts.argmax()])


def afforest(vertices, offsets, neighbours, rounds=ROUNDS):
    """Label the components of symmetric rows.

    Parameters
    ----------
    vertices : int
    offsets : (vertices + 1,) int64 array
    neighbours : (entries,) index array
    rounds : int
        Neighbours of each vertex that are joined before sampling, at least 1.

    Returns
    -------
    (vertices,) index array
        Smallest vertex of each vertex's component.
    """
    parent = arrays.empty(vertices, neighbours.dtype, arrays.place_of(neighbours))
    hang_below_first(vertices, parent, offsets, neighbours)
    compress(vertices, parent)
    for place in range(1, rounds):
        join_neighbour(vertices, parent, offsets, neighbours, place)
        compress(vertices, parent)
    if vertices:
        # Entry 0 is joined only where it is the smaller end, so the rest begins at 0.
        join_rest(vertices, parent, offsets, neighbours, np.int64(most_frequent(parent)), 0)
        compress(vertices, parent)
    return parent
