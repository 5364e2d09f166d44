"""Near-far: shortest paths by thresholds, in one cooperative region.

Vertices whose distance was lowered are pending.  Those nearer than a threshold are expanded, round after
round, until none is left; then the threshold moves on by ``delta`` (Davidson, Baxter, Garland and Owens
2014). As in :mod:`edgewise.paths.bfs.cooperative` the whole search is one launch and has two gears:

*Wide.*  Pending vertices are flags, a byte each.  A warp looks through its share of the flags, expands the
near vertices and carries the far ones over to the flags of the next round.  Nothing is queued, so nothing
is counted in one place and no vertex is expanded twice in a round.  The entries of a warp's rows are shared
out evenly among its lanes, rows longer than a piece among all warps.

*Narrow.*  Where few vertices are near, they stand in a queue, and every team takes a stretch of it and
follows it for several turns in its own fast memory before it meets the others.  Far vertices are flags here
too; a pass over the flags lists those that a new threshold lets in.

A distance is lowered by an atomic minimum, and ``expanded`` holds the distance with which a vertex was
expanded last, so that it is expanded again only for a smaller one.  At the end all pending vertices have
been expanded with their final distances: it does not matter in which order, and the result is the same on
every device.
"""

import math

import numpy as np

from edgewise.device import arrays, barrier_wait, device, load, parallel_region
from edgewise.paths.block_queues import APART, PIECE, WORDS, add_up
from edgewise.paths.result import unreached
from edgewise.paths.sssp.gears import (
    COUNTED,
    FAR,
    LONG_ROW,
    NEAR,
    PIECES,
    QUEUES,
    TOGETHER,
    TURNING,
    expand_narrow,
    expand_pieces,
    expand_wide,
    list_near,
)
from edgewise.paths.sssp.weights import past_the_end

#: Threads a block and blocks a multiprocessor.
THREADS, MAX_BLOCKS_PER_SM = 512, 2
#: Near vertices from which on they are not listed.
WIDE = 16384
#: What a round does.
LISTING, NARROW, WIDE_GEAR, DONE = 0, 1, 2, 3
#: Steps of the threshold, in mean weights a neighbour.
REACH = 32


@device
def clear(counts, free, turning):
    """Set the counters to zero that the next round will use."""
    counts[free * APART] = 0
    for word in range(TURNING):
        counts[(turning + word) * APART] = 0


@device
def start(worker, distances, expanded, source, others, flags, words, none):
    """Nothing is reached but the sources, which are pending."""
    for vertex in range(worker.id, len(distances), worker.count):
        distances[vertex] = none
        expanded[vertex] = none
    for position in range(worker.id, len(words), worker.count):
        words[position] = 0
    barrier_wait(worker)
    for item in range(worker.id, len(others), worker.count):
        distances[others[item]] = 0
        flags[others[item]] = 1
    if worker.id == 0:
        distances[source] = 0
        flags[source] = 1
    barrier_wait(worker)


@device
def move_on(threshold, step, none):
    """The next threshold; at most infinity."""
    return threshold + step if threshold < none - step else none


@device
def after_listing(near_now, left, wide, threshold, step, delta, none):
    """Gear, threshold and step once the near vertices are listed; steps grow as long as they find none."""
    if near_now > 0:
        return NARROW if near_now < wide else WIDE_GEAR, threshold, delta
    return LISTING if left > 0 else DONE, move_on(threshold, step, none), step + step


@device
def after_wide(near_next, left, wide, threshold, step, none):
    """Gear and threshold after a round in the wide gear."""
    if near_next > 0:
        return LISTING if near_next < wide // 4 else WIDE_GEAR, threshold
    return LISTING if left > 0 else DONE, move_on(threshold, step, none)


@device
def wide_round(worker, team, distances, expanded, rows, flags, words, turned, queue, counts, which, limits):
    """Expand all near vertices, and put together how many are near and far next."""
    nears, fars = expand_wide(
        worker.id, worker.count, distances, expanded, rows, flags, words, turned, queue, counts, which, limits
    )
    barrier_wait(worker)
    following, pieces = (1 - turned) * len(flags) // 2, np.int64(load(counts, (which + PIECES) * APART))
    more_near, more_far = expand_pieces(
        worker.id, worker.count, distances, rows, flags, following, queue, counts, pieces, limits
    )
    add_up(worker.id, team, counts, which + NEAR, nears + more_near)
    add_up(worker.id, team, counts, which + FAR, fars + more_far)


@parallel_region.by(threads=THREADS, max_blocks_per_sm=MAX_BLOCKS_PER_SM, shared_words=WORDS)
def search(
    worker, distances, expanded, offsets, neighbours, weights, source, others, flags,
    words, queue, counts, wide, delta, cutoff, none,
):  # fmt: skip
    """Run a whole search; all workers come to the same decisions from the same counters.

    A counter that decides is not written before the next barrier, since others may still have to read it: the
    three queues, and three sets of other counters, take turns.
    """
    start(worker, distances, expanded, source, others, flags, words, none)
    rows, capacity = (offsets, neighbours, weights), len(queue) // QUEUES
    near, spill, free, turned, rounds = 0, 1, 2, 0, 0
    gear, step, threshold, size = LISTING, delta, delta, 0
    while gear != DONE:
        which = QUEUES + TURNING * (rounds % 3)
        if worker.id == 0:
            clear(counts, free, QUEUES + TURNING * ((rounds + 1) % 3))
        rounds += 1
        limits, now = (threshold, cutoff), turned * len(flags) // 2
        if gear == LISTING:
            far = list_near(
                worker.id,
                worker.count,
                distances,
                expanded,
                flags,
                words,
                turned,
                queue,
                counts,
                spill,
                threshold,
            )
            add_up(worker.id, worker.shared, counts, which + FAR, far)
            barrier_wait(worker)
            size, left = np.int64(load(counts, spill * APART)), load(counts, (which + FAR) * APART)
            near, spill, free = spill, free, near
            gear, threshold, step = after_listing(size, left, wide, threshold, step, delta, none)
        elif gear == NARROW:
            lists = (near, spill, which, now)
            expand_narrow(
                worker.id,
                worker.count,
                worker.shared,
                distances,
                expanded,
                rows,
                flags,
                queue,
                counts,
                lists,
                size,
                limits,
            )
            barrier_wait(worker)
            size = min(np.int64(load(counts, spill * APART)), capacity)
            near, spill, free = spill, free, near
            if load(counts, (which + LONG_ROW) * APART) > 0 or size >= wide:
                for item in range(worker.id, size, worker.count):
                    flags[now + np.int64(queue[near * capacity + item])] = 1
                barrier_wait(worker)
                gear = WIDE_GEAR
            elif size == 0:
                gear, threshold = LISTING, move_on(threshold, step, none)
        else:
            wide_round(
                worker, worker.shared, distances, expanded, rows, flags, words, turned, queue, counts,
                which, limits,
            )  # fmt: skip
            barrier_wait(worker)
            turned = 1 - turned
            size, left = load(counts, (which + NEAR) * APART), load(counts, (which + FAR) * APART)
            gear, threshold = after_wide(size, left, wide, threshold, step, none)


def near_far(rows, sources, cutoff, delta=0, wide=WIDE):
    """Distances from the nearest of ``sources`` in one launch.

    Parameters
    ----------
    rows : edgewise.paths.csr.Adjacency
        Weights are 0 or more.
    sources : (k,) int64 array on the host
        Distinct vertices.
    cutoff : number
        Vertices further away are not reached.
    delta : number
        Step of the threshold; 0 for one that fits the weights.
    wide : int
        Near vertices from which on they are not listed.

    Returns
    -------
    distances : (n,) array
    overflowed : bool
        Whether a path is longer than the type of the distances can say.
    """
    device, n, m = arrays.device_of(rows.offsets), rows.n_vertices, len(rows.neighbours)
    kind = rows.weights.dtype
    distances, expanded = (arrays.empty(n, kind, device) for _ in range(2))
    words = arrays.empty(2 * -(-n // TOGETHER), np.uint32, device)
    queue = arrays.empty(QUEUES * (2 * wide + 2 * m // PIECE), rows.neighbours.dtype, device)
    counts = arrays.zeros(COUNTED * APART, np.int32, device)
    nothing = arrays.empty(0, np.int64, device)
    others = nothing if len(sources) == 1 else arrays.move(sources[1:], device)
    number, wide = float if kind.kind == "f" else int, max(1, min(wide, n))
    search(
        distances, expanded, rows.offsets, rows.neighbours, rows.weights, int(sources[0]), others,
        words.view(np.uint8), words, queue, counts, wide, step_of(delta or fitting(rows), kind),
        number(cutoff), number(unreached(kind)),
    )  # fmt: skip
    return distances, past_the_end(rows, distances, cutoff)


def step_of(delta, kind):
    """``delta`` as a number of the distances' type that is larger than zero."""
    if kind.kind == "f":
        return float(delta)
    most = int(unreached(kind))
    return most if delta >= most else max(1, math.ceil(delta))


def fitting(rows):
    """A step of the threshold: the mean weight, times more the fewer edges a vertex has."""
    return REACH * rows.spread.mean * rows.n_vertices / max(len(rows.neighbours), 1) or 1
