"""Near-far: shortest paths by thresholds, in one cooperative region.

Vertices whose distance was lowered are *pending*.  Those nearer than a threshold are *near* and are expanded,
round after round, until none is left; then the threshold rises by ``delta`` (Davidson, Baxter, Garland and
Owens 2014).  As in :mod:`edgewise.paths.bfs.cooperative`, the whole search is one launch, and the number of
near vertices decides between two kinds of rounds:

*Dense.*  Pending vertices are flags, one byte each.  A warp scans its part of the flags, expands the near
vertices and carries the far ones over to the flags of the next round; no counter is contended for.  The
entries of a warp's rows are divided evenly among its lanes, and rows longer than a piece among all warps.

*Sparse.*  Near vertices are in a queue.  Each block takes a part of it and follows it for several steps in
its own shared memory.  Far vertices are flags here too; a *listing* round queues those that a new threshold
makes near.

A distance is lowered by an atomic minimum; a vertex is expanded again only for a distance smaller than in
``expanded``, that of its last expansion.  At the end all have been expanded with their final distances, so
the result is the same on every device.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, barrier_wait, device, load, parallel_region
from edgewise.paths.block_queues import WORDS, add_block_sum, clear, room_for_pieces
from edgewise.paths.csr import unreached
from edgewise.paths.sssp.near_far_kernels import (
    AT,
    FLAGS,
    QUEUES,
    SETS,
    Round,
    Search,
    expand_dense,
    expand_pieces,
    expand_sparse,
    list_near,
)
from edgewise.paths.sssp.weights import past_the_end
from edgewise.primitives.rounds import APART, set_of

#: Threads of a block, of which a multiprocessor has one.
THREADS = 768
#: Near vertices that are queued; rounds of more are dense.
QUEUED_VERTICES = 16384
#: Kinds of rounds.
LISTED, QUEUED, FLAGGED, DONE = 0, 1, 2, 3
#: Step of the threshold, in mean weights per neighbour.
REACH = 32


class Limits(NamedTuple):
    """What is searched for.

    The sources ``first``, int, and ``others`` (k - 1,) int64; ``ranks`` (n,), the rows of vertices, or empty
    where row ``v`` is that of vertex ``v``; the number of near vertices from which on rounds are dense; and
    lengths: step of the threshold, cutoff, distance of unreached vertices.
    """

    first: int
    others: Any
    ranks: Any
    dense_from: int
    delta: Any
    cutoff: Any
    none: Any


@device
def start_at(vertex, search, ranks):
    """Reach a source, which is pending."""
    row = np.int64(ranks[vertex]) if len(ranks) else np.int64(vertex)
    search.distances[row] = 0
    search.flags[row] = 1


@device
def start(worker, search, limits):
    """Reach nothing but the sources."""
    for vertex in range(worker.id, len(search.distances), worker.count):
        search.distances[vertex] = limits.none
        search.expanded[vertex] = limits.none
    for position in range(worker.id, len(search.words), worker.count):
        search.words[position] = 0
    barrier_wait(worker)
    for item in range(worker.id, len(limits.others), worker.count):
        start_at(limits.others[item], search, limits.ranks)
    if worker.id == 0:
        start_at(limits.first, search, limits.ranks)
    barrier_wait(worker)


@device
def raised(threshold, step, none):
    """The next threshold; at most ``none``."""
    return threshold + step if threshold < none - step else none


@device
def after_listing(n_near, n_far, threshold, step, limits):
    """Kind of the next round, its threshold and the next step; steps grow as long as they find nothing."""
    if n_near > 0:
        return QUEUED if n_near < limits.dense_from else FLAGGED, threshold, limits.delta
    return LISTED if n_far > 0 else DONE, raised(threshold, step, limits.none), step + step


@device
def after_dense(n_near, n_far, threshold, step, limits):
    """Kind of the round after a dense one, and its threshold."""
    if n_near > 0:
        return LISTED if n_near < limits.dense_from // 4 else FLAGGED, threshold
    return LISTED if n_far > 0 else DONE, raised(threshold, step, limits.none)


@device
def list_round(worker, search, turn):
    """Queue all near vertices; the numbers of near and of far ones."""
    counts, far = search.counts, list_near(worker, search, turn)
    add_block_sum(worker, counts, turn.counters + AT.far, far)
    barrier_wait(worker)
    return np.int64(load(counts, turn.spill * APART)), load(counts, turn.counters + AT.far)


@device
def sparse_round(worker, search, turn, size, dense_from):
    """Expand the queue; return the size of the next queue, and whether the next round must be dense."""
    expand_sparse(worker, search, turn, size)
    barrier_wait(worker)
    counts, queue, capacity = search.counts, search.queue, len(search.queue) // QUEUES
    size = min(np.int64(load(counts, turn.spill * APART)), capacity)
    dense = load(counts, turn.counters + AT.dense) > 0 or size >= dense_from
    if dense:
        for item in range(worker.id, size, worker.count):
            search.flags[turn.pending + np.int64(queue[turn.spill * capacity + item])] = 1
        barrier_wait(worker)
    return size, dense


@device
def dense_round(worker, search, turn):
    """Expand all near vertices; the numbers of near and of far vertices of the next round."""
    counts, counters = search.counts, turn.counters
    near, far = expand_dense(worker, search, turn)
    barrier_wait(worker)
    n_pieces = np.int64(load(counts, counters + AT.pieces))
    more_near, more_far = expand_pieces(worker, search, turn, n_pieces)
    add_block_sum(worker, counts, counters + AT.near, near + more_near)
    add_block_sum(worker, counts, counters + AT.far, far + more_far)
    barrier_wait(worker)
    return load(counts, counters + AT.near), load(counts, counters + AT.far)


@parallel_region.by(
    threads=THREADS,
    max_blocks_per_sm=1,
    min_blocks_per_sm=1,
    shared_words=WORDS,
)
def search_near_far(worker, search, limits):
    """Run a whole search; all workers make the same decisions from the same counters.

    A counter that decides is not written before the next barrier, since other workers may still have to read
    it: the three queues, and the three sets of other counters, are used in turn.
    """
    start(worker, search, limits)
    near, spill, free, half, rounds = 0, 1, 2, 0, 0
    kind, step, threshold, size = LISTED, limits.delta, limits.delta, 0
    n_flags = len(search.flags) // 2
    while kind != DONE:
        counters = set_of(SETS, rounds)
        if worker.id == 0:
            clear(search.counts, free, SETS, set_of(SETS, rounds + 1))
        rounds += 1
        turn = Round(near, spill, counters, half * n_flags, (1 - half) * n_flags, threshold, limits.cutoff)
        if kind == FLAGGED:
            n_near, n_far = dense_round(worker, search, turn)
            half = 1 - half
            kind, threshold = after_dense(n_near, n_far, threshold, step, limits)
            continue
        if kind == LISTED:
            size, n_far = list_round(worker, search, turn)
            kind, threshold, step = after_listing(size, n_far, threshold, step, limits)
        else:
            size, dense = sparse_round(worker, search, turn, size, limits.dense_from)
            if dense:
                kind = FLAGGED
            elif size == 0:
                kind, threshold = LISTED, raised(threshold, step, limits.none)
        near, spill, free = spill, free, near


def near_far(rows, sources, cutoff, delta=0, dense_from=QUEUED_VERTICES):
    """Search by steps of ``delta`` (0: one that fits the weights), dense from ``dense_from`` vertices on."""
    delta = delta or fitting(rows, rows.spread.mean)
    distances = search_by_thresholds(rows, sources, cutoff, delta, dense_from=dense_from)
    return distances, past_the_end(rows, distances, cutoff)


def search_by_thresholds(rows, sources, cutoff, delta, ranks=None, dense_from=QUEUED_VERTICES):
    """Distances by row; ``ranks``, if given, are the rows of vertices.

    Distances beyond the end of their type count as unreached.
    """
    device, n, dtype = arrays.device_of(rows.offsets), rows.n_vertices, rows.weights.dtype
    dense_from, index_type = max(1, min(dense_from, n)), rows.neighbours.dtype
    ranks = arrays.empty(0, index_type, device) if ranks is None else ranks
    distances, expanded = (arrays.empty(n, dtype, device) for _ in range(2))
    words = arrays.empty(2 * -(-n // FLAGS), np.uint32, device)
    capacity = 2 * dense_from + -(-room_for_pieces(len(rows.neighbours)) // QUEUES)
    queue = arrays.empty(QUEUES * capacity, index_type, device)
    counts = arrays.zeros(SETS.end, np.int32, device)
    search = Search(rows.outgoing, distances, expanded, words.view(np.uint8), words, queue, counts)
    others = arrays.move(sources[1:], device) if len(sources) > 1 else arrays.empty(0, np.int64, device)
    number = float if dtype.kind == "f" else int
    lengths = step_of(delta, dtype), number(cutoff), number(unreached(dtype))
    search_near_far(search, Limits(int(sources[0]), others, ranks, dense_from, *lengths))
    return distances


def step_of(delta, dtype):
    """``delta`` as a number of the distances' type that is larger than zero."""
    if dtype.kind == "f":
        return float(delta)
    none = int(unreached(dtype))
    return none if delta >= none else max(1, math.ceil(delta))


def fitting(rows, mean):
    """A step of the threshold: by the ``mean`` weight, and the larger the fewer edges a vertex has."""
    return REACH * mean * rows.n_vertices / max(len(rows.neighbours), 1) or 1
