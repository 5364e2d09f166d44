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

All sweeps and rounds are one region, with barriers between them (:mod:`edgewise.primitives.rounds`).
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, barrier_wait, device, fetch_add, fetch_min, load, parallel_region, store
from edgewise.device.shares import own_share
from edgewise.device.warps import block_any, block_size, warp_aggregated_add
from edgewise.index_type import index_type
from edgewise.primitives.rounds import APART, Rounds, set_of

#: Whether a sweep has changed something.
CHANGED = Rounds(0, APART)
#: Number of the edges that a round leaves.
KEPT = Rounds(CHANGED.end, APART)


#: Times that a block goes over its edges in a sweep, unless nothing changes any more.
TURNS = 2


class Edges(NamedTuple):
    """A list of edges, as two (m,) index arrays."""

    sources: Any
    targets: Any


class Signatures(NamedTuple):
    """State that all workers share; index arrays, and the counters (KEPT.end,) int64.

    By vertex, ``least`` (2 n,) has the least one known to reach it, and the least known to be reached by it.
    """

    least: Any
    labels: Any  # (n,): the result
    counters: Any
    unknown: int  # the label of vertices whose component is not known yet


class Turn(NamedTuple):
    """Sweeps and rounds up to now, and the number of edges that the last round left."""

    sweeps: int
    rounds: int
    left: int


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
        if state.labels[vertex] == state.unknown:
            reaching, reached = jump(state.least, vertex, 0), jump(state.least, vertex, 1)
            lower(state.least, 2 * reaching + 1, reached)
            lower(state.least, 2 * reached, reaching)


@device
def spread(worker, edges, count, state, turn):
    """Pass the values along the edges until nothing changes; return the next turn."""
    changed, sweeps = True, turn.sweeps
    while changed:
        if worker.id == 0:
            store(state.counters, set_of(CHANGED, sweeps + 1), 0)
        if sweep(worker, edges, count, state.least):
            store(state.counters, set_of(CHANGED, sweeps), 1)
        barrier_wait(worker)
        changed = load(state.counters, set_of(CHANGED, sweeps)) != 0
        sweeps += 1
        if changed:
            shorten(worker, state)
            barrier_wait(worker)
    return Turn(sweeps, turn.rounds, turn.left)


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
    """Label the vertices that no edge joins to another of their component."""
    first, end, step = own_share(worker, 0, len(state.labels))
    for vertex in range(first, end, step):
        if state.labels[vertex] == state.unknown:
            state.labels[vertex] = vertex


@device
def remains(edges, edge, state):
    """Whether an edge may be inside a component that is not known yet."""
    least, source, target = state.least, np.int64(edges.sources[edge]), np.int64(edges.targets[edge])
    reaching, reached = least[2 * source], least[2 * source + 1]
    return reaching != reached and reaching == least[2 * target] and reached == least[2 * target + 1]


@device
def keep(worker, edges, count, kept, state, counter):
    """Copy the edges that remain to ``kept``: in parts on the CPU, each in its order."""
    first, end, step = own_share(worker, 0, count)
    place = np.int64(0)
    if block_size() == 1:
        for edge in range(first, end):
            if remains(edges, edge, state):
                place += 1
        place = np.int64(fetch_add(state.counters, counter, place))
    for edge in range(first, end, step):
        if remains(edges, edge, state):
            if block_size() > 1:
                place = np.int64(warp_aggregated_add(state.counters, counter))
            kept.sources[place], kept.targets[place] = edges.sources[edge], edges.targets[edge]
            place += 1


@device
def take_round(worker, edges, count, kept, state, turn):
    """Find the components that a round finds, and copy the edges that remain to ``kept``; return the turn."""
    begin(worker, state)
    barrier_wait(worker)
    turn = spread(worker, edges, count, state, turn)
    finish(worker, state)
    counter = set_of(KEPT, turn.rounds)
    if worker.id == 0:
        store(state.counters, set_of(KEPT, turn.rounds + 1), 0)
    keep(worker, edges, count, kept, state, counter)
    barrier_wait(worker)
    return Turn(turn.sweeps, turn.rounds + 1, load(state.counters, counter))


@parallel_region
def run(worker, edges, kept, spare, state):
    """Find all components; the edges of later rounds are in ``kept`` and in ``spare``, in turns."""
    turn = take_round(worker, edges, len(edges.sources), kept, state, Turn(0, 0, 0))
    while turn.left > 0:
        turn = take_round(worker, kept, turn.left, spare, state, turn)
        kept, spare = spare, kept
    label_rest(worker, state)


def signatures(n_vertices, sources, targets):
    """Smallest vertex of each vertex's strongly connected component: (n,) index array."""
    device, kind = arrays.device_of(sources), index_type(n_vertices)
    unknown = np.iinfo(kind).max  # no vertex has this number

    def empty(count):
        return arrays.empty(count, kind, device)

    labels = arrays.full(n_vertices, unknown, kind, device)
    counters = arrays.zeros(KEPT.end, np.int64, device)
    state = Signatures(empty(2 * n_vertices), labels, counters, int(unknown))
    kept, spare = (Edges(empty(len(sources)), empty(len(sources))) for _ in range(2))
    run(Edges(sources, targets), kept, spare, state)
    return labels
