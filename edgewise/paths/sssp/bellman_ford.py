"""Bellman-Ford's search by frontiers: relax the edges of what was lowered in the round before.

All workers enter one region.  A vertex whose distance falls is queued for the next round, once: whoever is
first to write the round's number beside it queues it.  No order is kept, so weights may be negative.

Where one is, a negative cycle would keep the rounds going for ever, and n of them are too many to wait for.
So after some rounds a search on one core is tried on a copy (:mod:`~.negative_cycle`), which comes to an end,
finds a cycle, or spends what the rounds have cost; then the rounds go on for twice as long.
"""

import numpy as np

from edgewise.device import (
    arrays,
    barrier_wait,
    device,
    fetch_add,
    fetch_max,
    fetch_min,
    load,
    parallel_region,
    store,
)
from edgewise.device.wrapping import wrapping_add
from edgewise.paths.result import unreached
from edgewise.paths.sssp.negative_cycle import finish
from edgewise.paths.sssp.weights import least_in, past_the_end

#: Rounds before the first look for a negative cycle, and rounds where there can be none.
FIRST_ROUNDS, ALL_ROUNDS = 32, 2**62
#: Words between two counters.
APART = 16
#: Counters: vertices queued (three, used in turn), edges relaxed, whether a distance passed the end of its
#: type downwards, and the round that was not run any more.
QUEUED, RELAXED, TOO_LOW, ENDED, COUNTERS = 0, 3, 4, 5, 6


@device
def falls_off(distance, weight, longer, lowest):
    """Whether the sum of a distance and a weight is below the least number, or has wrapped round there."""
    return weight < 0 and (longer > distance or longer < lowest)


@device
def relax(vertex, rows, distances, queued_in, queue, counters, following, now, limits):
    """Offer longer (or shorter) paths to the vertices behind ``vertex`` and queue those that take them."""
    offsets, neighbours, weights = rows
    lowest, cutoff = limits
    distance = load(distances, vertex)
    for entry in range(offsets[vertex], offsets[vertex + 1]):
        other, weight = np.int64(neighbours[entry]), weights[entry]
        longer = wrapping_add(distance, weight)
        if falls_off(distance, weight, longer, lowest):
            store(counters, TOO_LOW * APART, 1)
        elif (
            (weight < 0 or longer >= distance)  # or it has wrapped round
            and longer <= cutoff
            and longer < load(distances, other)
            and longer < fetch_min(distances, other, longer)
            and fetch_max(queued_in, other, now) < now
        ):
            queue[fetch_add(counters, (QUEUED + following) * APART, 1)] = other


@parallel_region
def run_rounds(
    worker, offsets, neighbours, weights, distances, queue, queued_in, counters, first, last,
    lowest, cutoff,
):  # fmt: skip
    """Run rounds ``first`` to ``last - 1``, or fewer if nothing is left to do.

    Round ``r`` takes the queue of ``r % 2`` and the counter of ``r % 3``, fills the next of each, and clears
    the counter after that.
    """
    rows, limits, n, now = (offsets, neighbours, weights), (lowest, cutoff), len(distances), first
    while now < last and load(counters, (QUEUED + now % 3) * APART) > 0:
        count, half, following = load(counters, (QUEUED + now % 3) * APART), now % 2, (now + 1) % 3
        if worker.id == 0:
            store(counters, (QUEUED + (now + 2) % 3) * APART, 0)
        others = queue[(1 - half) * n : (2 - half) * n]
        relaxed = np.int64(0)
        for position in range(half * n + worker.id, half * n + count, worker.count):
            vertex = np.int64(queue[position])
            relax(vertex, rows, distances, queued_in, others, counters, following, now + 1, limits)
            relaxed += offsets[vertex + 1] - offsets[vertex]
        fetch_add(counters, RELAXED * APART, relaxed)
        barrier_wait(worker)
        now += 1
    if worker.id == 0:
        store(counters, ENDED * APART, now)


def bellman_ford(rows, sources, cutoff):
    """Distances from the nearest of ``sources``, in the place of the rows.

    Parameters
    ----------
    rows : Rows
        Weights may be negative.
    sources : (k,) int64 array of distinct vertices, on the host
    cutoff : number
        Largest distance that counts, in the type of the weights; none but the largest number of the type
        where a weight is negative.

    Returns
    -------
    (n,) array
        Distances in the type of the weights.
    bool
        Whether a distance passed the end of the type.

    Raises
    ------
    NegativeCycle
        A source leads to one.
    """
    device, dtype, n = arrays.device_of(rows.offsets), rows.weights.dtype, rows.n_vertices
    none, least = dtype.type(unreached(dtype)), rows.spread.least
    distances = arrays.full(n, none, dtype, device)
    first = arrays.move(sources, device)
    distances[first] = 0
    queue = arrays.empty(2 * n, np.int64, device)
    queue[: len(sources)] = first
    queued_in, counters = arrays.zeros(n, np.int64, device), arrays.zeros(COUNTERS * APART, np.int64, device)
    counters[QUEUED * APART] = len(sources)
    now, rounds = 0, FIRST_ROUNDS if least < 0 else ALL_ROUNDS
    graph = (rows.offsets, rows.neighbours, rows.weights)
    left = len(sources)
    while left:
        run_rounds(*graph, distances, queue, queued_in, counters, now, now + rounds, least_in(dtype), cutoff)
        if int(counters[TOO_LOW * APART]):
            return distances, True
        now, rounds = int(counters[ENDED * APART]), 2 * rounds
        left = int(counters[(QUEUED + now % 3) * APART])
        if left:
            pending = queue[now % 2 * n : now % 2 * n + left]
            finished = finish(rows, distances, pending, int(counters[RELAXED * APART]))
            if finished is not None:
                distances, left = finished, 0
    return distances, past_the_end(rows, distances, cutoff)
