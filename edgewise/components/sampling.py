"""Join a sample of the edges, then skip the giant component.

*Afforest* (Sutton, Ben-Nun & Barak, IPDPS 2018).  Joining two neighbours of each vertex finds most of a large
component.  A vote over a small sample of the labels (:mod:`~edgewise.primitives.vote`) then identifies it,
and the rows of its vertices, nearly all of the graph, are never read: an edge that leaves the giant component
is seen from its other endpoint.  That needs symmetric rows.  The first neighbour is hooked by a plain write
(see :mod:`edgewise.components.ecl_cc`), the others by Rem's algorithm.

The other two samples are joined by plain writes.  A lost write loses a connection, which
:func:`finish_outside` restores, but never makes a wrong one: a parent is always a smaller vertex of the same
component.

*Hooks* (after Hellås 2018, section 4.2.1).  Where neighbours have close numbers, as in street networks, two
plain rounds over two neighbours of each vertex build nearly the whole forest without atomics.  With scattered
ids they are several times slower than Rem's algorithm.

*Rem without atomics.*  Sequential Rem is twice as fast as the parallel one on the same core, since a
compare-and-swap stops the processor from executing ahead.  All threads at once therefore join the first
neighbours of each vertex by it.
"""

import numpy as np

from edgewise import tuning
from edgewise.components.ecl_cc import hang_below_first
from edgewise.components.edge_order import PROBES, are_far_apart
from edgewise.components.long_rows import BLOCKS, list_row, new_list
from edgewise.components.rem import splice, union
from edgewise.components.trees import compress, new_parents, singletons
from edgewise.device import arrays, device, each, each_row
from edgewise.device.prefetch import prefetch
from edgewise.primitives.vote import LABEL, VOTERS, vote

#: Neighbours of each vertex, or rounds of hooks, in a sample.
ROUNDS = 2
#: How many rows ahead a row is fetched on the CPU, and the parents of its first neighbours.
ROWS_AHEAD, PARENTS_AHEAD = 64, 24


@each
def join_neighbour(vertex, parent, offsets, neighbours, position):
    """Join ``vertex`` with the neighbour at ``position`` of its row."""
    entry = offsets[vertex] + position
    if entry < offsets[vertex + 1]:
        union(parent, vertex, neighbours[entry])


@each.prefetch(
    lambda vertex, parent, offsets, neighbours, outcome, max_row, listed: (
        np.int64(parent[vertex]),
        outcome[0] & LABEL,
    )
)
def join_outside(vertex, seen, parent, offsets, neighbours, outcome, max_row, listed):
    """Join a vertex outside the giant with all its neighbours, or list it if its row is long."""
    label, giant = seen
    if label != giant:
        first, end = offsets[vertex], offsets[vertex + 1]
        if end - first > max_row:
            list_row(vertex, listed, outcome, 1)
        else:
            for entry in range(first, end):
                union(parent, vertex, neighbours[entry])


@each_row
def join_listed(block, lane, lanes, listed, outcome, parent, offsets, neighbours):
    """Join the listed vertices of long rows with all their neighbours, shared by the lanes of a block."""
    for item in range(block, outcome[1], BLOCKS):
        vertex = listed[item]
        for entry in range(offsets[vertex] + lane, offsets[vertex + 1], lanes):
            union(parent, vertex, neighbours[entry])


def finish_outside(vertices, parent, csr):
    """Join all edges but those with both endpoints in the giant component; ``parent`` is compressed.

    Connections that the sample has lost are restored here.
    """
    offsets, neighbours, max_row = csr
    listed, blocks = new_list(csr)
    outcome = arrays.zeros(2, np.int64, arrays.device_of(parent))  # the winning one, and how many are listed
    vote(VOTERS if vertices else 0, parent, vertices, outcome)
    join_outside(vertices, parent, offsets, neighbours, outcome, max_row, listed)
    join_listed(blocks, listed, outcome, parent, offsets, neighbours, width="block")
    compress(vertices, parent)


def afforest(vertices, csr, rounds=ROUNDS):
    """Afforest, which joins ``rounds`` neighbours of each vertex before the vote."""
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


@device
def see_two(vertex, parent, second, offsets, neighbours, entries):
    """Degree and first two neighbours of a vertex; neighbours beyond the degree are arbitrary."""
    first, end = offsets[vertex], offsets[vertex + 1]
    return end - first, neighbours[min(first, entries - 1)], neighbours[min(first + 1, entries - 1)]


@each.prefetch(see_two)
def hang_below_nearer(vertex, seen, parent, second, offsets, neighbours, entries):
    """Start ``vertex`` below the nearer of its smaller first neighbours; ``second`` holds the other one."""
    degree, one, two = seen
    far = one if degree > 0 and one < vertex else vertex
    near = two if degree > 1 and two < vertex else far
    parent[vertex] = near
    second[vertex] = far


@each.prefetch(lambda vertex, parent, second: (parent[vertex], parent[second[vertex]]))
def hook_second(vertex, seen, parent, second):
    """Write the smaller of two parents over the larger; concurrent writes may be lost."""
    one, other = seen
    if one < other:
        parent[other] = one
    elif other < one:
        parent[one] = other


def hook_sample(vertices, csr, rounds=ROUNDS):
    """``rounds`` rounds of plain hooks as the sample."""
    if not len(csr.neighbours):
        return singletons(vertices, csr.neighbours)
    parent, second = new_parents(vertices, csr.neighbours), new_parents(vertices, csr.neighbours)
    hang_below_nearer(vertices, parent, second, csr.offsets, csr.neighbours, len(csr.neighbours))
    compress(vertices, parent)
    for _ in range(rounds):
        hook_second(vertices, parent, second)
        compress(vertices, parent)
    finish_outside(vertices, parent, csr)
    return parent


@device
def place(vertex, parent, offsets, neighbours, rounds):
    """Join ``vertex`` with its first neighbours, by plain writes."""
    first = offsets[vertex]
    end = min(first + rounds, offsets[vertex + 1])
    for entry in range(first, end):
        other = neighbours[entry]
        if entry > first:
            if other < vertex:
                splice(parent, vertex, other)
        elif other < vertex and parent[vertex] == vertex:
            parent[vertex] = parent[other]
        else:
            splice(parent, vertex, other)


@each
def splice_close(vertex, parent, offsets, neighbours, rounds):
    """Join ``vertex`` with its first neighbours, whose parents are in a cache, and fetch a later row."""
    prefetch(neighbours, offsets[min(vertex + ROWS_AHEAD, len(parent))])
    place(vertex, parent, offsets, neighbours, rounds)


@each
def splice_scattered(vertex, parent, offsets, neighbours, rounds):
    """The same where ids are scattered: the parents of two neighbours of a later vertex are fetched, too."""
    last = len(neighbours) - 1
    prefetch(neighbours, offsets[min(vertex + ROWS_AHEAD, len(parent))])
    soon = offsets[min(vertex + PARENTS_AHEAD, len(parent))]
    prefetch(parent, neighbours[min(soon, last)])
    prefetch(parent, neighbours[min(soon + 1, last)])
    place(vertex, parent, offsets, neighbours, rounds)


def _ids_are_scattered(vertices, csr):
    """Whether the first neighbours of vertices are far from them, by a few rows."""
    if vertices < tuning.CPU.components_cached or arrays.device_of(csr.offsets) != "cpu":
        return False
    rows = np.arange(PROBES, dtype=np.int64) * vertices // PROBES
    rows = rows[csr.offsets[rows] < csr.offsets[rows + 1]]
    return are_far_apart(vertices, rows, csr.neighbours[csr.offsets[rows]])


def rem_sample(vertices, csr, rounds=ROUNDS):
    """Rem by plain writes on ``rounds`` neighbours of each vertex as the sample."""
    parent = singletons(vertices, csr.neighbours)
    splice_first = splice_scattered if _ids_are_scattered(vertices, csr) else splice_close
    splice_first(vertices, parent, csr.offsets, csr.neighbours, rounds)
    compress(vertices, parent)
    finish_outside(vertices, parent, csr)
    return parent
