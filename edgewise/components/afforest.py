"""Afforest: join a few neighbours of every vertex, then skip the giant (Sutton, Ben-Nun & Barak, IPDPS 2018).

Two neighbours of each vertex gather most of a large component.  A vote over a small sample of the labels
then names it, and its vertices' rows, nearly all of the graph, are never read: an edge that leaves the
giant is seen from its other end.  That needs symmetric rows.

The first neighbour is hooked by a plain write (see :mod:`edgewise.components.ecl_cc`), the others by Rem's
algorithm.  The vote stays on the device: no value has to reach the host before the labels do.
"""

import numpy as np

from edgewise.components.ecl_cc import hang_below_first
from edgewise.components.rem import union
from edgewise.components.trees import compress, new_parents, singletons
from edgewise.device import arrays, each, each_row, fetch_max

ROUNDS = 2
VOTERS, COMPARED = 256, 64
#: A vote is the count of agreeing samples above these bits, the label below.
LABEL_BITS = 54
LABEL = (1 << LABEL_BITS) - 1


@each
def join_neighbour(vertex, parent, offsets, neighbours, position):
    """Join ``vertex`` with the neighbour at ``position`` of its row."""
    entry = offsets[vertex] + position
    if entry < offsets[vertex + 1]:
        union(parent, vertex, neighbours[entry])


@each
def vote(voter, parent, vertices, most):
    """Count how many of the compared labels are the voter's own; the label seen most often wins."""
    label = parent[voter * vertices // VOTERS]
    count = 0
    for other in range(COMPARED):
        if parent[other * vertices // COMPARED] == label:
            count += 1
    fetch_max(most, 0, (np.int64(count) << LABEL_BITS) | np.int64(label))


@each.prefetch(
    lambda vertex, parent, offsets, neighbours, most, longest: (np.int64(parent[vertex]), most[0] & LABEL)
)
def join_outside(vertex, seen, parent, offsets, neighbours, most, longest):
    """Join a vertex outside the giant with all its neighbours, unless its row is too long for one thread."""
    label, giant = seen
    if label != giant:
        first, end = offsets[vertex], offsets[vertex + 1]
        if end - first <= longest:
            for entry in range(first, end):
                union(parent, vertex, neighbours[entry])


@each_row
def join_hub_outside(hub, lane, lanes, hubs, parent, offsets, neighbours, most):
    """Join a vertex of long row outside the giant with all its neighbours, shared by the lanes."""
    vertex = hubs[hub]
    if np.int64(parent[vertex]) != most[0] & LABEL:
        for entry in range(offsets[vertex] + lane, offsets[vertex + 1], lanes):
            union(parent, vertex, neighbours[entry])


def finish_outside(vertices, parent, rows):
    """Join everything that is not yet in the giant; ``parent`` is compressed and need not be complete.

    Whatever earlier rounds missed is made up for here: an edge is left out only if both its ends are in the
    giant already.
    """
    offsets, neighbours, hubs, longest = rows
    most = arrays.zeros(1, np.int64, arrays.device_of(parent))
    vote(VOTERS if vertices else 0, parent, vertices, most)
    join_outside(vertices, parent, offsets, neighbours, most, longest)
    join_hub_outside(len(hubs), hubs, parent, offsets, neighbours, most, width="block")
    compress(vertices, parent)


def afforest(vertices, rows, rounds=ROUNDS):
    """Label the components of symmetric rows.

    Parameters
    ----------
    vertices : int
    rows : edgewise.components.symmetric_csr.Rows
    rounds : int
        Neighbours of each vertex that are joined before the vote.

    Returns
    -------
    (vertices,) index array
        Smallest vertex of each vertex's component.
    """
    offsets, neighbours = rows.offsets, rows.neighbours
    if not len(neighbours):
        return singletons(vertices, neighbours)
    parent = new_parents(vertices, neighbours)
    hang_below_first(vertices, parent, offsets, neighbours, len(neighbours))
    for position in range(1, rounds):
        join_neighbour(vertices, parent, offsets, neighbours, position)
    compress(vertices, parent)
    finish_outside(vertices, parent, rows)
    return parent
