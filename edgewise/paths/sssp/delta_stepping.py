"""Delta-stepping on CPU threads: vertices wait in bins by distance, and bins are processed in order.

All workers run in one region with one barrier per round.  Before the barrier, each worker offers the chunks
of its first non-empty bin.  After it, all workers take chunks of the smallest offered bin, and each worker
puts the vertices whose distances it lowers into its own bins.  Two sets of offers are used in turn, so that a
slow worker's view stays intact until it has reached the next barrier.  Vertices that fall into the current
bin again are processed by the same worker at once as long as they are few (bucket fusion, Zhang et al. 2020):
on a road graph most rounds are shorter than a barrier would take.

A round is mostly waiting for memory, so the rows of a chunk are prefetched before its edges are relaxed.  A
distance is lowered by an atomic minimum, after a plain comparison that most edges fail.  Unreached vertices
hold the least distance that does not count, so that this comparison includes the cutoff.  A vertex is put
into a later bin only if it does not wait there already.

``delta`` comes from the mean weight over the mean degree: then the edges of a vertex lead out of its bin
about as often as they stay in it, and few vertices are processed twice.  It changes the speed, never the
result.

Meyer and Sanders, "Delta-stepping: a parallelizable shortest path algorithm" (2003); Zhang et al.,
"Optimizing ordered graph algorithms with GraphIt" (CGO 2020).
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import barrier_wait, device, fetch_min, parallel_region
from edgewise.device.prefetch import prefetch
from edgewise.device.regions import workers
from edgewise.device.wrapping import wrapping_add
from edgewise.paths.csr import CSR
from edgewise.paths.result import unreached
from edgewise.paths.sssp.bins import (
    CHUNK,
    NO_BIN,
    NO_CHUNK,
    OUT_OF_CHUNKS,
    OVERFLOW_MIN,
    RING,
    WORDS,
    Bins,
    Offers,
    bin_of,
    bins_of,
    distribute_overflow,
    first_offered_bin,
    is_short,
    offers_of,
    pop_all,
    publish,
    push,
    push_to_bin,
    release,
    take_chunk,
)
from edgewise.paths.sssp.weights import just_beyond, past_the_end

#: ``delta`` is so many times the mean weight over the mean degree.
WIDTH = 1.5
#: Chunks of the current bin that a worker processes without offering them.
OWN_CHUNKS = 16
#: Words of the status: the last bin, and whether there were too few chunks.
LAST, TOO_FEW = range(2)


class Query(NamedTuple):
    """What is searched for, and the scale of the bins.

    ``sources`` (k,) and ``targets`` (t,) are int64 arrays, ``scale`` is one over delta, a float, and ``none``
    is the least distance that does not count.
    """

    sources: Any
    targets: Any
    scale: float
    none: Any


class Search(NamedTuple):
    """A search as one worker sees it; ``exclusive`` is whether it is the only worker."""

    graph: CSR
    distances: Any
    bins: Bins
    query: Query
    exclusive: bool


@device
def relax(search, current, vertex):
    """Relax the edges of ``vertex``, if the current bin is still its bin."""
    offsets, neighbours, weights = search.graph
    distances, bins, scale, none = search.distances, search.bins, search.query.scale, search.query.none
    distance = distances[vertex]
    if bin_of(distance, scale) != current:
        return
    for entry in range(np.uint64(offsets[vertex]), np.uint64(offsets[vertex + 1])):
        other = np.int64(neighbours[entry])
        longer = wrapping_add(distance, weights[entry])
        held = distances[other]
        if longer < held and longer >= distance:
            if search.exclusive:
                distances[other] = longer
            else:
                held = fetch_min(distances, other, longer)
            if longer < held:
                number = bin_of(longer, scale)
                if number == current or held == none or number != bin_of(held, scale):
                    push_to_bin(bins, current, number, other)


@device
def process_chunk(search, current, chunk, count):
    """Relax the edges of the first ``count`` vertices of a chunk, after prefetching their rows."""
    offsets, neighbours, weights = search.graph
    pool, distances = search.bins.pool, search.distances
    first = np.uint64(chunk * CHUNK)
    end = first + np.uint64(count)
    for at in range(first, end):
        vertex = np.int64(pool[at])
        entry = offsets[vertex]
        prefetch(distances, vertex)
        prefetch(neighbours, entry)
        prefetch(weights, entry)
    for at in range(first, end):
        relax(search, current, np.int64(pool[at]))


@device
def process_offers(worker, search, current, offers):
    """Take chunks of the current bin, first those of this worker, until none is left."""
    for turn in range(worker.count):
        owner = (worker.id + turn) % worker.count
        chunk, count = take_chunk(offers, owner, current, worker.count)
        while chunk != NO_CHUNK:
            process_chunk(search, current, chunk, count)
            chunk, count = take_chunk(offers, owner, current, worker.count)


@device
def process_refilled(search, current):
    """Process what was added to the current bin meanwhile, while it is too little to be shared."""
    bins, position = search.bins, current & (RING - 1)
    while is_short(bins, position, OWN_CHUNKS):
        chunk, count = pop_all(bins, position)
        while chunk != NO_CHUNK:
            process_chunk(search, current, chunk, count)
            following = bins.next_chunk[chunk]
            release(bins, chunk, chunk)
            chunk, count = following, np.int64(CHUNK)


@parallel_region
def search_bins(worker, graph, distances, query, all_bins, all_offers, status):
    """Run a whole search; all workers read the same offers and therefore make the same decisions."""
    n, bins, targets = len(distances), bins_of(worker, all_bins), query.targets
    search = Search(graph, distances, bins, query, worker.count == 1)
    for vertex in range(n * worker.id // worker.count, n * (worker.id + 1) // worker.count):
        distances[vertex] = query.none
    barrier_wait(worker)
    if worker.id == 0:
        for source in query.sources:
            distances[source] = 0
            push(bins, 0, source)
    current, side, settled = np.int64(0), 0, 0
    before, before_last = np.int64(NO_CHUNK), np.int64(NO_CHUNK)
    while True:
        offers = offers_of(all_offers, side)
        number, first, last = publish(bins, current, offers, worker)
        barrier_wait(worker)
        following = first_offered_bin(offers, worker.count)
        while settled < len(targets) and bin_of(distances[targets[settled]], query.scale) < following:
            settled += 1
        done = len(targets) > 0 and settled == len(targets)
        if done or following in (NO_BIN, OUT_OF_CHUNKS):
            break
        current = following
        if number == current:
            bins.heads[current & (RING - 1)] = 0
        if bins.state[OVERFLOW_MIN] == current:
            distribute_overflow(bins, current, distances, query.scale)
        process_offers(worker, search, current, offers)
        process_refilled(search, current)
        if before != NO_CHUNK:  # all workers have left the round before
            release(bins, before, before_last)
        before, before_last = first if number == current else np.int64(NO_CHUNK), last
        side = 1 - side
    if worker.id == 0:
        status[LAST], status[TOO_FEW] = current, following == OUT_OF_CHUNKS


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
    dtype, n, n_workers = rows.weights.dtype, rows.n_vertices, workers()
    scale = 1 / (width_for(rows) if delta is None else min(max(float(delta), 1e-300), 1e300))
    none, status = just_beyond(cutoff), np.zeros(2, np.int64)
    targets = np.empty(0, np.int64) if targets is None else targets
    query, distances = Query(sources, targets, scale, none), np.empty(n, dtype)
    chunks, index_type = chunks_for(n, n_workers), rows.neighbours.dtype
    while True:
        search_bins(rows.outgoing, distances, query, *scratch(n_workers, chunks, index_type), status)
        if not status[TOO_FEW]:
            break
        chunks *= 2
    if none != unreached(dtype):
        distances[distances == none] = unreached(dtype)
    if len(targets) and (distances[targets] != unreached(dtype)).all():
        return distances, False
    return distances, past_the_end(rows, distances, cutoff, (int(status[LAST]) + 2) / scale)


def scratch(n_workers, chunks, index_type):
    """Bins, with so many chunks per worker, and two sets of offers."""
    words = [chunks, RING + WORDS, WORDS, 2 * WORDS, 2 * chunks]
    next_chunk, heads, state, *offers = (np.empty(n_workers * size, np.int64) for size in words)
    pool = np.empty(n_workers * chunks * CHUNK, index_type)
    return Bins(pool, next_chunk, heads, state), Offers(*offers)


def chunks_for(n_vertices, n_workers):
    """Chunks per worker at first: usually more than enough, and unused ones cost nothing."""
    return 2 * RING + (n_vertices + 4 * n_vertices // n_workers) // CHUNK


def width_for(rows):
    """The width of a bin, from the mean weight and the mean degree."""
    mean, degree = rows.spread.mean, len(rows.weights) / max(rows.n_vertices, 1)
    width = WIDTH * mean / max(degree, 1)
    least = 1 if rows.weights.dtype.kind == "i" else 1e-300
    return min(max(width, least), 1e300) if mean else 1
