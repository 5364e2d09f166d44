"""Join a sample of the edges, then skip the giant component.

*Afforest* (Sutton, Ben-Nun & Barak, IPDPS 2018).  Joining two neighbours of each vertex finds most of a large
component.  A vote over a small sample of the labels (:mod:`~edgewise.primitives.vote`) then identifies it,
and the rows of its vertices, nearly all of the graph, are never read: an edge that leaves the giant component
is seen from its other endpoint.  That needs symmetric rows.  The first neighbour is hooked by a plain write
(see :mod:`edgewise.components.ecl_cc`), the others by Rem's algorithm.

*Rem without atomics* (``rem-sample``).  Sequential Rem is twice as fast as the parallel one on the same core,
since a compare-and-swap stops the processor from executing ahead.  All threads at once therefore join the
first neighbours of each vertex by it, with plain writes.  A lost write loses a connection, which
:func:`finish_outside` restores, but never makes a wrong one: a parent is always a smaller vertex of the same
component.

*Edge lists* (``rem-edge-sample``), dense and in random order.  The sample are runs of edges, joined in the
same way.  A byte for every vertex then says whether it is in the giant component; those of a million vertices
fit into the second cache of a core.  Testing the endpoints of all edges takes little longer than reading
them. Edges with an endpoint outside are joined with compare-and-swap, which also restores the connections
that were lost.  If one endpoint is in the giant, the other is from then on, too, and its further edges are
skipped.  A list that is ordered by an endpoint does without: there Rem's algorithm finds the parents of one
endpoint in a register and those of the other one mostly in a cache.
"""

from functools import partial

import numpy as np

from edgewise import tuning
from edgewise.components.ecl_cc import hang_below_first
from edgewise.components.edge_order import PROBES, are_far_apart
from edgewise.components.rem import shorten_and_splice, splice, union
from edgewise.components.symmetric_csr import BLOCKS, list_row, new_list
from edgewise.components.trees import compress, new_parents, singletons
from edgewise.device import arrays, device, each, each_row
from edgewise.device.prefetch import prefetch
from edgewise.primitives.vote import LABEL, VOTERS, vote

#: Neighbours of each vertex, or rounds of hooks, in a sample.
ROUNDS = 2
#: How many rows ahead a row is fetched on the CPU.
ROWS_AHEAD = 64
#: How many rows ahead the parents of its first neighbours are fetched.
PARENTS_AHEAD = 24
#: Edges of a sample for each vertex, but at most every third edge.
SAMPLED = 2
#: Consecutive edges that a sample takes together.
RUN = 16


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
            parent[vertex] = parent[other]  # race: a link lost to another write is restored after the sample
        else:
            splice(parent, vertex, other)


@each
def splice_close(vertex, parent, offsets, neighbours, rounds):
    """Join ``vertex`` with its first neighbours, whose parents are in a cache, and fetch a later row."""
    prefetch(neighbours, offsets[min(vertex + ROWS_AHEAD, len(parent))])
    place(vertex, parent, offsets, neighbours, rounds)


@each
def splice_scattered(vertex, parent, offsets, neighbours, rounds):
    """Join ``vertex`` with its first neighbours, whose ids are scattered: parents are fetched as well."""
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


@partial(each, ascending=True)
def splice_run(run, parent, sources, targets, stride):
    """Join a run of edges by plain writes, and fetch the parents of later ones."""
    first = run * stride
    later = first + stride
    for edge in range(later, min(later + RUN, len(sources))):
        prefetch(parent, sources[edge])
        prefetch(parent, targets[edge])
    for edge in range(first, min(first + RUN, len(sources))):
        shorten_and_splice(parent, sources[edge], targets[edge])


@each
def mark_giant(vertex, parent, winner, inside):
    """Mark a vertex that is in the giant component."""
    inside[vertex] = np.int64(parent[vertex]) == winner[0] & LABEL


@partial(each, ascending=True)
def unite_outside(edge, parent, sources, targets, inside):
    """Join the endpoints of an edge unless both are in the giant component; if one is, mark the other."""
    source, target = sources[edge], targets[edge]
    if inside[source] & inside[target] == 0:
        union(parent, source, target)
        if inside[source] != 0:
            inside[target] = 1  # race: who reads it as before joins the edge, which another thread does, too
        elif inside[target] != 0:
            inside[source] = 1  # race: as above


def rem_edge_sample(vertices, sources, targets):
    """Rem by plain writes on a sample of the edges, then on those outside the giant component."""
    where = arrays.device_of(sources)
    sources, targets = arrays.move(sources, "cpu"), arrays.move(targets, "cpu")
    parent, edges = singletons(vertices, sources), len(sources)
    stride = RUN * max(edges // max(SAMPLED * vertices, 1), 3)
    splice_run(-(-edges // stride), parent, sources, targets, stride)
    compress(vertices, parent)
    winner, inside = np.zeros(1, np.int64), np.empty(vertices, np.uint8)
    vote(VOTERS if vertices else 0, parent, vertices, winner)
    mark_giant(vertices, parent, winner, inside)
    unite_outside(edges, parent, sources, targets, inside)
    compress(vertices, parent)
    return arrays.move(parent, where)
