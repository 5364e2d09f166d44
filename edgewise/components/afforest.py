"""Afforest: join a few neighbours of every vertex, then skip the giant (Sutton, Ben-Nun & Barak, IPDPS 2018).

Joining two neighbours of each vertex finds most of a large component.  A vote over a small sample of the
labels then identifies it, and the rows of its vertices, nearly all of the graph, are never read: an edge that
leaves the giant component is seen from its other endpoint.  That needs symmetric rows.

The first neighbour is hooked by a plain write (see :mod:`edgewise.components.ecl_cc`), the others by Rem's
algorithm.  The vote stays on the device, so that the host need not wait for it.
"""

import numpy as np

from edgewise.components.ecl_cc import hang_below_first
from edgewise.components.rem import union
from edgewise.components.trees import compress, new_parents, singletons
from edgewise.device import arrays, each, each_row, fetch_max

ROUNDS = 2
#: Number of labels that vote, and of labels that each is compared with.
VOTERS, COMPARED = 256, 64
#: A vote is the count of equal labels above these bits, and the label below.
LABEL_BITS = 54
LABEL = (1 << LABEL_BITS) - 1


@each
def join_neighbour(vertex, parent, offsets, neighbours, position):
    """Join ``vertex`` with the neighbour at ``position`` of its row."""
    entry = offsets[vertex] + position
    if entry < offsets[vertex + 1]:
        union(parent, vertex, neighbours[entry])


@each
def vote(voter, parent, vertices, winner):
    """Count how many of the compared labels equal the voter's; the most frequent label wins."""
    label = parent[voter * vertices // VOTERS]
    count = 0
    for other in range(COMPARED):
        if parent[other * vertices // COMPARED] == label:
            count += 1
    fetch_max(winner, 0, (np.int64(count) << LABEL_BITS) | np.int64(label))


@each.prefetch(
    lambda vertex, parent, offsets, neighbours, winner, max_row: (np.int64(parent[vertex]), winner[0] & LABEL)
)
def join_outside(vertex, seen, parent, offsets, neighbours, winner, max_row):
    """Join a vertex outside the giant with all its neighbours, unless its row is too long for one thread."""
    label, giant = seen
    if label != giant:
        first, end = offsets[vertex], offsets[vertex + 1]
        if end - first <= max_row:
            for entry in range(first, end):
                union(parent, vertex, neighbours[entry])


@each_row
def join_hub_outside(hub, lane, lanes, hubs, parent, offsets, neighbours, winner):
    """Join a vertex of a long row outside the giant with all its neighbours, shared by the lanes."""
    vertex = hubs[hub]
    if np.int64(parent[vertex]) != winner[0] & LABEL:
        for entry in range(offsets[vertex] + lane, offsets[vertex + 1], lanes):
            union(parent, vertex, neighbours[entry])


def finish_outside(vertices, parent, csr):
    """Join all edges that are not yet inside the giant component; ``parent`` is compressed.

    Edges that earlier rounds missed are joined here: an edge is skipped only if both its endpoints are in the
    giant component already.
    """
    offsets, neighbours, hubs, max_row = csr
    winner = arrays.zeros(1, np.int64, arrays.device_of(parent))
    vote(VOTERS if vertices else 0, parent, vertices, winner)
    join_outside(vertices, parent, offsets, neighbours, winner, max_row)
    join_hub_outside(len(hubs), hubs, parent, offsets, neighbours, winner, width="block")
    compress(vertices, parent)


def afforest(vertices, csr, rounds=ROUNDS):
    """Label the components of symmetric rows.

    Parameters
    ----------
    rounds : int
        Neighbours of each vertex that are joined before the vote.
    """
    offsets, neighbours = csr.offsets, csr.neighbours
    if not len(neighbours):
        return singletons(vertices, neighbours)
    parent = new_parents(vertices, neighbours)
    hang_below_first(vertices, parent, offsets, neighbours, len(neighbours))
    for position in range(1, rounds):
        join_neighbour(vertices, parent, offsets, neighbours, position)
    compress(vertices, parent)
    finish_outside(vertices, parent, csr)
    return parent
