"""Signatures: the least vertex that reaches a vertex, and the least that it reaches, over a list of edges.

Where both are the same vertex, it is on a path from the vertex to itself, and is the least of its strongly
connected component.  An edge whose ends have different signatures joins different components, so it is left
out, and the search begins again among the edges that remain (Alabandi, Sands, Biros & Burtscher 2023,
ECL-SCC; there with the largest vertices).  In each round the least vertex of every connected piece finishes
its component, and usually nearly all vertices do: what is left shrinks quickly.

Least vertices spread along the edges, in both directions, by atomic minima, sweep after sweep until nothing
changes.  In a sweep a block of workers goes over its own range of the edges twice, since in meshes neighbours
have near numbers.  Between sweeps the values of vertices become the values of these, as long as they are
less, so that a long path takes few sweeps.  The least vertex that reaches a vertex also reaches what that one
does, and takes over the least of it; so does the other value in the opposite direction.

After one sweep many vertices have a signature of one vertex already: most of them, in a graph with a giant
component.  They are contracted with that one, so later sweeps read few edges.

An edge with a return joins its ends.  Where the graph has rows, and a sample of its edges has many returns,
the ends of all these are joined before the first sweep.  Every vertex hangs below the first one of its row
(Jaiganesh & Burtscher 2018, ECL-CC); then edges whose ends are still apart look for their return in the row
of their target.  Of a graph whose edges all lead both ways nothing is left.

Long one-way paths, as in street networks, would still take hundreds of sweeps.  So if values do not settle
soon, and after returns were joined, cycles of two edges are contracted, and the round begins again with what
is left.  Every vertex picks one of its targets, and an edge whose source is the pick of its target joins the
two, turn after turn, as long as many edges do.  What was joined is one vertex from then on, so later turns
also find longer cycles.

All sweeps and rounds are one region, with barriers between them (:mod:`edgewise.primitives.rounds`).
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.components.rem import union
from edgewise.components.trees import put_below_root
from edgewise.device import arrays, barrier_wait, device, fetch_add, fetch_min, load, parallel_region, store
from edgewise.device.shares import own_share
from edgewise.device.warps import block_any, block_size, warp_aggregated_add
from edgewise.index_type import index_type
from edgewise.paths.csr import SAMPLED
from edgewise.primitives.rounds import APART, Rounds, set_of
from edgewise.strong.returns import FEW_RETURNING, is_in_row
from edgewise.strong.tarjan import Rows

#: Whether a sweep has changed something.
CHANGED = Rounds(0, APART)
#: Number of the edges that a round leaves.
KEPT = Rounds(CHANGED.end, APART)
#: Number of the edges whose source is the pick of their target.
RETURNING = Rounds(KEPT.end, APART)

#: Sweeps after which cycles of two edges are contracted, of which a turn takes as long as two sweeps; 3, 6,
#: 12 and 24 were measured on an H200 (``bench/notes/strong.md``, state ab13f71f).
SOON = 12
#: Sweeps after which edges inside the components that are known by then are left out.
EARLY = 1
#: More sweeps than there can be.
NEVER = int(np.iinfo(np.int64).max)
#: Times that a block goes over its edges in a sweep, unless nothing changes any more.
TURNS = 2


class Edges(NamedTuple):
    """A list of edges, as two (m,) index arrays."""

    sources: Any
    targets: Any


class Signatures(NamedTuple):
    """State that all workers share; index arrays, and the counters (RETURNING.end,) int64.

    By vertex, ``least`` (2 n,) has the least one known to reach it, and the least known to be reached by it;
    while cycles of two edges are contracted, the first of them is the pick of the vertex.
    """

    least: Any
    labels: Any  # (n,): the result
    parent: Any  # (n,): trees of contracted vertices, whose roots are their least
    rows: Any  # Rows of the outgoing edges, with empty arrays if they are not there
    counters: Any
    unknown: int  # the label of vertices whose component is not known yet


class Turn(NamedTuple):
    """Sweeps and rounds up to now, the edges that are left, and whether the last round is complete."""

    sweeps: int
    rounds: int
    left: int
    complete: bool


@device
def pick(worker, edges, count, least):
    """Let every vertex pick a target: that of the last of its edges in a row, or any of several such."""
    first, end, step = own_share(worker, 0, count)
    for edge in range(first, end, step):
        source = edges.sources[edge]
        if edge + 1 == count or edges.sources[edge + 1] != source:
            least[2 * np.int64(source)] = edges.targets[edge]  # race: any of several picks will do


@device
def join_returning(worker, edges, count, state):
    """Join the ends of edges whose source is the pick of their target; return how many there are."""
    first, end, step = own_share(worker, 0, count)
    found = 0
    for edge in range(first, end, step):
        source, target = edges.sources[edge], edges.targets[edge]
        if state.least[2 * np.int64(target)] == source:
            union(state.parent, source, target)
            found += 1
    return found


@device
def return_often(worker, edges, state):
    """Whether one edge of :data:`FEW_RETURNING` has a return, by a sample of the rows; no if there are none.

    Meanwhile every vertex becomes a tree of its own.
    """
    count, found = len(edges.sources), 0
    first, end, step = own_share(worker, 0, len(state.parent))
    for vertex in range(first, end, step):
        state.parent[vertex] = vertex
    for item in range(worker.id, SAMPLED if count and len(state.rows.offsets) else 0, worker.count):
        edge = count * item // SAMPLED
        if is_in_row(edges.sources[edge], np.int64(edges.targets[edge]), state.rows):
            found += 1
    if found > 0:
        fetch_add(state.counters, set_of(RETURNING, 0), found)
    barrier_wait(worker)
    return FEW_RETURNING * load(state.counters, set_of(RETURNING, 0)) > SAMPLED


@device
def hang(worker, state):
    """Put every vertex below the first vertex of its row, if that is less, and the edge has a return."""
    offsets, neighbours = state.rows.offsets, state.rows.neighbours
    first, end, step = own_share(worker, 0, len(state.parent))
    for vertex in range(first, end, step):
        if offsets[vertex] < offsets[vertex + 1]:
            least = neighbours[offsets[vertex]]
            if least < vertex and is_in_row(vertex, np.int64(least), state.rows):
                state.parent[vertex] = least


@device
def contract_returns(worker, edges, kept, state):
    """Join the ends of all edges with a return, and copy the other edges to ``kept``; return the turn."""
    parent, turn = state.parent, Turn(0, 1, len(edges.sources), True)
    clear_next(worker, state, turn)
    hang(worker, state)
    barrier_wait(worker)
    flatten(worker, parent)
    barrier_wait(worker)
    first, end, step = own_share(worker, 0, turn.left)
    for edge in range(first, end, step):
        source, target = edges.sources[edge], edges.targets[edge]
        is_apart = source < target and parent[source] != parent[target]
        if is_apart and is_in_row(source, np.int64(target), state.rows):
            union(parent, source, target)
    barrier_wait(worker)
    return end_contraction(worker, edges, kept, state, turn)


@device
def settle(worker, edges, kept, state, turn):
    """Contract the vertices whose signature is one vertex with that one; return the turn."""
    first, end, step = own_share(worker, 0, len(state.parent))
    for vertex in range(first, end, step):
        reaching = state.least[2 * vertex]
        if state.parent[vertex] == vertex and reaching == state.least[2 * vertex + 1]:
            state.parent[vertex] = reaching
    clear_next(worker, state, turn)
    barrier_wait(worker)
    return end_contraction(worker, edges, kept, state, turn)


@device
def end_contraction(worker, edges, kept, state, turn):
    """Copy the edges whose ends are apart to ``kept``, with the roots of their ends; return the turn."""
    counter = set_of(KEPT, turn.rounds)
    flatten(worker, state.parent)
    barrier_wait(worker)
    keep(worker, edges, turn.left, kept, state, counter, True)
    barrier_wait(worker)
    return Turn(turn.sweeps, turn.rounds + 1, load(state.counters, counter), True)


@device
def flatten(worker, parent):
    """Put all vertices directly below their roots."""
    first, end, step = own_share(worker, 0, len(parent))
    for vertex in range(first, end, step):
        above = parent[vertex]
        put_below_root(vertex, above, parent[above], parent)


@device
def clear_next(worker, state, turn):
    """Set the counters of the next round to zero."""
    if worker.id == 0:
        store(state.counters, set_of(KEPT, turn.rounds + 1), 0)
        store(state.counters, set_of(RETURNING, turn.rounds + 1), 0)


@device
def clear_picks(worker, state):
    """Let no vertex have picked anything."""
    first, end, step = own_share(worker, 0, len(state.parent))
    for vertex in range(first, end, step):
        state.least[2 * vertex] = state.unknown


@device
def contract(worker, edges, kept, state, turn):
    """Contract cycles of two edges, and copy the other edges to ``kept``; return the turn.

    It is not complete, and nothing is copied, if there are few such cycles.
    """
    returning = set_of(RETURNING, turn.rounds)
    pick(worker, edges, turn.left, state.least)
    barrier_wait(worker)
    found = join_returning(worker, edges, turn.left, state)
    if found > 0:
        fetch_add(state.counters, returning, found)
    clear_next(worker, state, turn)
    barrier_wait(worker)
    if FEW_RETURNING * load(state.counters, returning) < min(turn.left, len(state.parent)):
        return Turn(turn.sweeps, turn.rounds + 1, turn.left, False)
    return end_contraction(worker, edges, kept, state, turn)


@device
def lower(least, place, value):
    """Lower a value; return whether it was higher.

    It is read plainly: a cache may show an earlier one to other workers of the sweep, but not after it.
    """
    if value < least[place]:
        fetch_min(least, place, value)
        return True
    return False


@device
def sweep(worker, edges, count, least):
    """Pass values along the edges of the worker's block, ``TURNS`` times; return whether any has changed."""
    size = block_size()
    block, blocks = worker.id // size, worker.count // size
    first, end = count * block // blocks, count * (block + 1) // blocks
    changed, again, turns = False, True, 0
    while again:
        again = False
        for edge in range(first + worker.id % size, end, size):
            source, target = 2 * np.int64(edges.sources[edge]), 2 * np.int64(edges.targets[edge])
            if lower(least, target, least[source]):
                again = True
            if lower(least, source + 1, least[target + 1]):
                again = True
        turns += 1
        again = block_any(again)
        changed = changed or again
        again = again and turns < TURNS
    return changed


@device
def jump(least, vertex, way):
    """Lower a value of a vertex to the values of the value, as long as they are less; return it."""
    value = np.int64(least[2 * vertex + way])
    other = np.int64(least[2 * value + way])
    if other < value:
        while other < value:
            value, other = other, np.int64(least[2 * other + way])
        fetch_min(least, 2 * vertex + way, value)
    return value


@device
def shorten(worker, state):
    """Let the vertices whose label is unknown jump, and tell the values of each other."""
    first, end, step = own_share(worker, 0, len(state.labels))
    for vertex in range(first, end, step):
        if state.labels[vertex] == state.unknown and state.parent[vertex] == vertex:
            reaching, reached = jump(state.least, vertex, 0), jump(state.least, vertex, 1)
            lower(state.least, 2 * reaching + 1, reached)
            lower(state.least, 2 * reached, reaching)


@device
def spread(worker, edges, state, turn, last):
    """Pass the values along the edges until nothing changes, or up to a last sweep; return the next turn."""
    changed, sweeps = True, turn.sweeps
    while changed and sweeps < last:
        if worker.id == 0:
            store(state.counters, set_of(CHANGED, sweeps + 1), 0)
        if sweep(worker, edges, turn.left, state.least):
            store(state.counters, set_of(CHANGED, sweeps), 1)
        barrier_wait(worker)
        changed = load(state.counters, set_of(CHANGED, sweeps)) != 0
        sweeps += 1
        if changed:
            shorten(worker, state)
            barrier_wait(worker)
    return Turn(sweeps, turn.rounds, turn.left, not changed)


@device
def begin(worker, state):
    """Let every vertex whose label is unknown be its own signature."""
    first, end, step = own_share(worker, 0, len(state.labels))
    for vertex in range(first, end, step):
        if state.labels[vertex] == state.unknown:
            state.least[2 * vertex] = state.least[2 * vertex + 1] = vertex


@device
def finish(worker, state):
    """Label the vertices whose signature is one vertex; a label that is known is written once more."""
    first, end, step = own_share(worker, 0, len(state.labels))
    for vertex in range(first, end, step):
        if state.least[2 * vertex] == state.least[2 * vertex + 1]:
            state.labels[vertex] = state.least[2 * vertex]


@device
def label_rest(worker, state):
    """Label the vertices that were contracted, and those that no edge joins to another of their component."""
    first, end, step = own_share(worker, 0, len(state.labels))
    for vertex in range(first, end, step):
        root = np.int64(vertex)
        while state.parent[root] != root:
            root = np.int64(state.parent[root])
        label = state.labels[root]
        # race: others read the label of a root, from which either value gives its label
        state.labels[vertex] = root if label == state.unknown else label


@device
def remains(edges, edge, state, contracting):
    """Whether an edge has two ends after contraction, or may be inside a component that is not known yet."""
    if contracting:
        return state.parent[edges.sources[edge]] != state.parent[edges.targets[edge]]
    least, source, target = state.least, np.int64(edges.sources[edge]), np.int64(edges.targets[edge])
    reaching, reached = least[2 * source], least[2 * source + 1]
    return reaching != reached and reaching == least[2 * target] and reached == least[2 * target + 1]


@device
def keep(worker, edges, count, kept, state, counter, contracting):
    """Copy the edges that remain to ``kept``: in parts on the CPU, each in its order."""
    first, end, step = own_share(worker, 0, count)
    place = np.int64(0)
    if block_size() == 1:
        for edge in range(first, end):
            if remains(edges, edge, state, contracting):
                place += 1
        place = np.int64(fetch_add(state.counters, counter, place))
    for edge in range(first, end, step):
        if remains(edges, edge, state, contracting):
            if block_size() > 1:
                place = np.int64(warp_aggregated_add(state.counters, counter))
            source, target = edges.sources[edge], edges.targets[edge]
            if contracting:
                source, target = state.parent[source], state.parent[target]
            kept.sources[place], kept.targets[place] = source, target
            place += 1


@device
def end_round(worker, edges, kept, state, turn):
    """Label the components that a round has found, and copy the edges that remain; return the turn."""
    finish(worker, state)
    clear_next(worker, state, turn)
    counter = set_of(KEPT, turn.rounds)
    keep(worker, edges, turn.left, kept, state, counter, False)
    barrier_wait(worker)
    return Turn(turn.sweeps, turn.rounds + 1, load(state.counters, counter), True)


@parallel_region
def run(worker, edges, kept, spare, state):
    """Find all components; ``kept`` and ``spare`` take the edges of later rounds in turns."""
    turn, contracted = Turn(0, 1, len(edges.sources), True), return_often(worker, edges, state)
    contracting = contracted
    if contracted:
        turn = contract_returns(worker, edges, kept, state)
        edges, kept, spare = kept, spare, kept
    while turn.left > 0:
        if contracting:
            clear_picks(worker, state)
            barrier_wait(worker)
        while contracting:
            turn = contract(worker, edges, kept, state, turn)
            contracting = turn.complete and turn.left > 0
            if turn.complete:
                edges, kept, spare = kept, spare, kept
        begin(worker, state)
        barrier_wait(worker)
        last = NEVER if contracted else turn.sweeps + SOON
        turn = spread(worker, edges, state, turn, turn.sweeps + EARLY)
        if not turn.complete:
            turn = settle(worker, edges, kept, state, turn)
            edges, kept, spare = kept, spare, kept
            turn = spread(worker, edges, state, turn, last)
        if turn.complete:
            turn = end_round(worker, edges, kept, state, turn)
            edges, kept, spare = kept, spare, kept
        else:
            contracted = contracting = True
    label_rest(worker, state)


def signatures(n_vertices, sources, targets, offsets, neighbours):
    """Smallest vertex of each vertex's strongly connected component: (n,) index array."""
    device, kind = arrays.device_of(sources), index_type(n_vertices)
    unknown = np.iinfo(kind).max  # no vertex has this number

    def empty(count):
        return arrays.empty(count, kind, device)

    labels = arrays.full(n_vertices, unknown, kind, device)
    counters = arrays.zeros(RETURNING.end, np.int64, device)
    rows = Rows(offsets, neighbours)
    state = Signatures(empty(2 * n_vertices), labels, empty(n_vertices), rows, counters, int(unknown))
    kept, spare = (Edges(empty(len(sources)), empty(len(sources))) for _ in range(2))
    run(Edges(sources, targets), kept, spare, state)
    return labels
