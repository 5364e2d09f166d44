"""Delta-stepping on CPU threads: vertices wait in bins by distance, and the nearest bin is worked on.

All workers enter one region.  In a round they share out the chunks of the current bin, which each has offered
from its own bins, and put every vertex whose distance falls into a bin of their own.  There is one barrier
a round: offers are laid out before it, and two sets of them, used in turn, keep a slow worker's view whole
until it has arrived at the next.  What falls into the current bin again is worked on by its owner at once as
long as it is little (bucket fusion, Zhang et al. 2020): on a road graph most rounds are over before the
others would have noticed.

A round is mostly waiting for memory, so the rows of a chunk are asked for before its edges are relaxed.  A
distance is lowered by an atomic minimum, after a plain look that most edges do not get past.  Vertices that
were not reached hold the least distance that does not count, so that this look compares with the cutoff, too.
A vertex is put into a later bin only if it does not wait there already.

``delta`` comes from the mean weight over the mean degree: then as many edges as a vertex has lead on average
out of the bin or into it, and few vertices are worked on twice.  It changes the speed, never the result.

Meyer and Sanders, "Delta-stepping: a parallelizable shortest path algorithm" (2003); Zhang et al.,
"Optimizing ordered graph algorithms with GraphIt" (CGO 2020).
"""

import numpy as np

from edgewise.device import barrier_wait, device, fetch_add, fetch_min, parallel_region
from edgewise.device.prefetch import prefetch
from edgewise.device.regions import workers
from edgewise.device.wrapping import wrapping_add
from edgewise.paths.result import unreached
from edgewise.paths.sssp.bins import (
    CHUNK,
    NEAREST_BEYOND,
    NOBODY,
    NOTHING,
    RING,
    WANTING,
    WORDS,
    Bins,
    bin_of,
    clear,
    give_back,
    is_short,
    nearest,
    put,
    put_by_distance,
    sort_beyond,
    take_all,
)
from edgewise.paths.sssp.weights import just_beyond, past_the_end

#: ``delta`` is so many times the mean weight over the mean degree.
WIDTH = 1.5
#: Chunks of the current bin that a worker keeps for itself.
OWN_CHUNKS = 16
#: An offer: the bin, its chunks, the vertices in the first, and the chunks that were taken.
BIN, CHUNKS, COUNT, TAKEN = range(4)
#: What stands in the place of a bin where chunks were wanting.
WANTING_CHUNKS = -1
#: Where the region leaves the last bin, and whether there were too few chunks.
LAST, TOO_FEW = range(2)


@device
def relax(me_alone, vertex, current, bins, rows, distances, limits):
    """Offer longer paths to the vertices behind ``vertex``, if this is still its bin."""
    offsets, neighbours, weights = rows
    scale, none = limits
    distance = distances[vertex]
    if bin_of(distance, scale) != current:
        return
    for entry in range(np.uint64(offsets[vertex]), np.uint64(offsets[vertex + 1])):
        other = np.int64(neighbours[entry])
        longer = wrapping_add(distance, weights[entry])
        held = distances[other]
        if longer < held and longer >= distance:
            if me_alone:
                distances[other] = longer
            else:
                held = fetch_min(distances, other, longer)
            if longer < held:
                number = bin_of(longer, scale)
                if number == current or held == none or number != bin_of(held, scale):
                    put_by_distance(bins, current, number, other)


@device
def work_on(me_alone, chunk, count, current, bins, rows, distances, limits):
    """Relax the edges of the vertices of a chunk, whose rows are asked for first."""
    first = np.uint64(chunk * CHUNK)
    end = first + np.uint64(count)
    for at in range(first, end):
        vertex = np.int64(bins.pool[at])
        entry = rows[0][vertex]
        prefetch(distances, vertex)
        prefetch(rows[1], entry)
        prefetch(rows[2], entry)
    for at in range(first, end):
        relax(me_alone, np.int64(bins.pool[at]), current, bins, rows, distances, limits)


@device
def lay_out(bins, current, offer, offered):
    """Offer the nearest of the own bins to all; return its number and last chunk."""
    number, count, last = nearest(bins, current), 0, np.int64(NOBODY)
    offer[COUNT] = 0
    position = number & (RING - 1)
    if number - current < RING and bins.tops[position]:
        last = (bins.tops[position] - 1) // CHUNK
        offer[COUNT] = bins.tops[position] - last * CHUNK
        chunk = last
        while chunk != NOBODY:
            offered[count] = last = chunk
            count += 1
            chunk = bins.below[chunk]
    offer[BIN] = WANTING_CHUNKS if bins.words[WANTING] else number
    offer[CHUNKS], offer[TAKEN] = count, 0
    return number, last


@device
def work_on_offers(me, everyone, current, offers, offered, bins, rows, distances, limits):
    """Take chunks of the current bin, the own ones first, until none is left."""
    share = len(offered) // everyone
    for turn in range(everyone):
        whose = (me + turn) % everyone
        offer = offers[whose * WORDS : (whose + 1) * WORDS]
        if offer[BIN] == current:
            taken = fetch_add(offer, TAKEN, 1)
            while taken < offer[CHUNKS]:
                count = offer[COUNT] if taken == 0 else np.int64(CHUNK)
                chunk = offered[whose * share + taken]
                work_on(everyone == 1, chunk, count, current, bins, rows, distances, limits)
                taken = fetch_add(offer, TAKEN, 1)


@device
def work_on_own(everyone, current, bins, rows, distances, limits):
    """Work on what came into the current bin meanwhile, while it is too little to be shared."""
    position = current & (RING - 1)
    while is_short(bins, position, OWN_CHUNKS):
        chunk, count = take_all(bins, position)
        while chunk != NOBODY:
            work_on(everyone == 1, chunk, count, current, bins, rows, distances, limits)
            after = bins.below[chunk]
            give_back(bins, chunk, chunk)
            chunk, count = after, np.int64(CHUNK)


@device
def nearest_offer(everyone, offers):
    """The least bin that anyone offers."""
    number = offers[BIN]
    for whose in range(1, everyone):
        number = min(number, offers[whose * WORDS + BIN])
    return number


@parallel_region
def search(
    worker, offsets, neighbours, weights, distances, sources, targets, pool, below, tops,
    words, offers, offered, scale, none, found,
):  # fmt: skip
    """Run a whole search; all workers read the same offers and so come to the same decisions."""
    rows, limits, n = (offsets, neighbours, weights), (scale, none), len(distances)
    chunks, ring = len(below) // worker.count, RING + WORDS
    bins = Bins(
        pool,
        below,
        tops[worker.id * ring : (worker.id + 1) * ring],
        words[worker.id * WORDS : (worker.id + 1) * WORDS],
    )
    clear(bins, worker.id * chunks, (worker.id + 1) * chunks)
    for vertex in range(n * worker.id // worker.count, n * (worker.id + 1) // worker.count):
        distances[vertex] = none
    barrier_wait(worker)
    if worker.id == 0:
        for source in sources:
            distances[source] = 0
            put(bins, 0, source)
    current, side, settled = np.int64(0), 0, 0
    before, before_last = np.int64(NOBODY), np.int64(NOBODY)
    while True:
        all_offers = offers[side * worker.count * WORDS : (side + 1) * worker.count * WORDS]
        all_offered = offered[side * worker.count * chunks : (side + 1) * worker.count * chunks]
        mine = all_offers[worker.id * WORDS : (worker.id + 1) * WORDS]
        number, last = lay_out(
            bins, current, mine, all_offered[worker.id * chunks : (worker.id + 1) * chunks]
        )
        barrier_wait(worker)
        following = nearest_offer(worker.count, all_offers)
        while settled < len(targets) and bin_of(distances[targets[settled]], scale) < following:
            settled += 1
        done = len(targets) > 0 and settled == len(targets)
        if done or following in (NOTHING, WANTING_CHUNKS):
            break
        current = following
        if number == current:
            bins.tops[current & (RING - 1)] = 0
        if bins.words[NEAREST_BEYOND] == current:
            sort_beyond(bins, current, distances, scale)
        work_on_offers(
            worker.id, worker.count, current, all_offers, all_offered, bins, rows, distances, limits
        )
        work_on_own(worker.count, current, bins, rows, distances, limits)
        if before != NOBODY:  # worker.count has left the round before
            give_back(bins, before, before_last)
        before = all_offered[worker.id * chunks] if number == current and last != NOBODY else np.int64(NOBODY)
        before_last, side = last, 1 - side
    if worker.id == 0:
        found[LAST], found[TOO_FEW] = current, following == WANTING_CHUNKS


def delta_stepping(rows, sources, cutoff, targets=None, delta=None):
    """Distances from the nearest of ``sources``; as all methods of :mod:`edgewise.paths.sssp`.

    Parameters
    ----------
    rows, sources, cutoff
    targets : (t,) int64 array of distinct vertices, optional
        The search ends with the furthest of these; vertices further away have any upper bound.
    delta : number, optional
        Width of a bin.
    """
    dtype, n, everyone = rows.weights.dtype, rows.n_vertices, workers()
    scale = 1 / (width_for(rows) if delta is None else min(max(float(delta), 1e-300), 1e300))
    none, found = just_beyond(cutoff), np.zeros(2, np.int64)
    targets = np.empty(0, np.int64) if targets is None else targets
    distances = np.empty(n, dtype)
    chunks = chunks_for(n, everyone)
    while True:
        search(
            *(rows.offsets, rows.neighbours, rows.weights, distances, sources, targets),
            *(
                np.empty(everyone * chunks * CHUNK, rows.neighbours.dtype),
                np.empty(everyone * chunks, np.int64),
            ),
            *(np.empty(everyone * (RING + WORDS), np.int64), np.empty(everyone * WORDS, np.int64)),
            *(np.empty(2 * everyone * WORDS, np.int64), np.empty(2 * everyone * chunks, np.int64)),
            *(scale, none, found),
        )
        if not found[TOO_FEW]:
            break
        chunks *= 2
    if none != unreached(dtype):
        distances[distances == none] = unreached(dtype)
    if len(targets) and (distances[targets] != unreached(dtype)).all():
        return distances, False
    return distances, past_the_end(rows, distances, cutoff, (int(found[LAST]) + 2) / scale)


def chunks_for(vertices, everyone):
    """Chunks a worker gets at first; more than enough as a rule, and what is not touched costs nothing."""
    return 2 * RING + (vertices + 4 * vertices // everyone) // CHUNK


def width_for(rows):
    """The width of a bin, from the mean weight and the mean degree."""
    mean, degree = rows.spread.mean, len(rows.weights) / max(rows.n_vertices, 1)
    width = WIDTH * mean / max(degree, 1)
    least = 1 if rows.weights.dtype.kind == "i" else 1e-300
    return min(max(width, least), 1e300) if mean else 1
