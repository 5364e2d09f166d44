"""Delta-stepping on CPU threads: vertices wait in bins by distance, and bins are processed in order.

All workers run in one region with one barrier per round.  Before the barrier, each worker offers the chunks
of its first non-empty bin.  After it, all workers take chunks of the smallest offered bin, and each puts the
vertices whose distances it lowers into its own bins.  Two sets of offers alternate, since a slow worker may
still read the last one.  Vertices that fall into the current bin again are processed by the same worker at
once as long as they are few (bucket fusion, Zhang et al. 2020): on a road graph most rounds are shorter than
a barrier would take.

How much a round is worth depends on the graph and on the number of workers.  Where the workers process too
few vertices in a round, each goes on with its own next bins, up to a *span* of bins that all of them double
or halve by the same counts.  So bins stay narrow, which saves work, and rounds are long enough for any number
of workers; a wider ``delta`` for all would cost R-MAT graphs half as much again.  A round whose bin holds a
chunk or two is processed by one worker alone, which goes on until it has more, or until it comes to a bin of
another worker.

The rows of a chunk are prefetched before its edges are relaxed.  A distance is lowered by an atomic minimum,
after a plain comparison that most edges fail; unreached vertices hold the least distance that does not count,
so that this comparison includes the cutoff.

``delta`` comes from the mean weight over the mean degree: then the edges of a vertex lead out of its bin
about as often as they stay in it.  Around hubs bins are narrower, since a hub that is processed too early is
processed again.  They are wider where the graph is small for so many workers: a bin would be a few vertices.
``delta`` changes the speed, never the result.

Meyer and Sanders, "Delta-stepping: a parallelizable shortest path algorithm" (2003); Zhang et al.,
"Optimizing ordered graph algorithms with GraphIt" (CGO 2020).
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import barrier_wait, device, fetch_add, fetch_min, load, parallel_region
from edgewise.device.prefetch import prefetch
from edgewise.device.target import inlined
from edgewise.device.wrapping import wrapping_add
from edgewise.paths.csr import CSR, unreached, workers_for
from edgewise.paths.sssp.bins import (
    CHUNK,
    NO_BIN,
    NO_CHUNK,
    RING,
    STATE,
    WORDS,
    Bins,
    bin_of,
    bins_of,
    distribute_overflow,
    first_bin,
    is_short,
    pop_all,
    push_to_bin,
    release,
)
from edgewise.paths.sssp.weights import just_beyond, past_the_end

#: ``delta`` in graphs with hubs, in mean weights over the mean degree.
HUB_WIDTH = 1.5
#: Mean degree of the ends of entries, in mean degrees, above which a graph has hubs.
HUB_SKEW = 4
#: ``delta`` in graphs of low degree, in mean weights over the mean degree less one, the number of edges by
#: which a path goes on.
THIN_WIDTH = 4
#: Entries per vertex up to which a graph has a low degree.
THIN_DEGREE = 5
#: ``delta`` in other graphs, in mean weights over the mean degree.
WIDTH = 3
#: ``delta`` in other graphs that are spread over many workers, in mean weights over the mean degree.
SPREAD_WIDTH = 8
#: Workers from which on a graph may be spread over many.
SPREAD_WORKERS = 8
#: Vertices and entries for each worker below which a graph is spread over many.
SPREAD_ITEMS = 1 << 15
#: Chunks of the current bin that a worker processes without offering them.
OWN_CHUNKS = 16
#: Chunks of the current bin, of all workers, that one of them processes alone while the others wait.
SINGLE_CHUNKS = 2
#: Parts of a chunk that are taken one by one in a round of few vertices.
PIECES = 4
#: Vertices for each worker below which a round has few.
ROUND_VERTICES = 4 * CHUNK
#: Bytes of a large page.
LARGE_PAGE = 2 << 20
#: Entries (and vertices) that a worker should process in a round; wider rounds process more of them again.
ROUND_WORK = 3200
#: In a small graph, all workers together should process one part in so many in a round.
PARTS = 64
#: Bins of a round, at most.
SPAN = 64
#: Bin of an offer whose worker had too few chunks.
OUT_OF_CHUNKS = -1


class Offer(NamedTuple):
    """Words of an offer."""

    bin: int
    n_chunks: int
    n_first: int  # vertices in the first chunk
    next: int  # the worker's next bin
    processed: int  # vertices that it processed in the round before
    taken: int  # chunks taken, in another cache line, which all workers write


OFFER = Offer(0, 1, 2, 3, 4, 8)


class Offers(NamedTuple):
    """What the workers offer in one round, or in two: a part of each array per worker.

    ``headers`` (WORDS,) int64 has those of :class:`Offer`, ``chunks`` (k,) int64 the numbers of the offered
    chunks.
    """

    headers: Any
    chunks: Any


@device
def offers_of(offers, side):
    """One of the two sets of offers."""
    words, chunks = len(offers.headers) // 2, len(offers.chunks) // 2
    headers = offers.headers[side * words : (side + 1) * words]
    return Offers(headers, offers.chunks[side * chunks : (side + 1) * chunks])


@device
def publish(bins, current, processed, offers, worker):
    """Offer the first non-empty bin of this worker; return its number, its first chunk and its last one.

    This does not empty the bin, which happens once all workers have chosen the bins of the round.
    """
    header = offers.headers[worker.id * WORDS : (worker.id + 1) * WORDS]
    at, number, count = worker.id * (len(offers.chunks) // worker.count), first_bin(bins, current), 0
    first = last = np.int64(NO_CHUNK)
    header[OFFER.n_first] = 0
    position = number & (RING - 1)
    if number - current < RING and bins.heads[position]:
        first = (bins.heads[position] - 1) // CHUNK
        header[OFFER.n_first] = bins.heads[position] - first * CHUNK
        chunk = first
        while chunk != NO_CHUNK:
            offers.chunks[at + count] = last = chunk
            count += 1
            chunk = bins.next_chunk[chunk]
    header[OFFER.bin] = OUT_OF_CHUNKS if bins.state[STATE.exhausted] else number
    header[OFFER.n_chunks], header[OFFER.taken], header[OFFER.processed] = count, 0, processed
    header[OFFER.next] = number
    if 0 < count <= SINGLE_CHUNKS and bins.state[STATE.overflow_min] > number:
        header[OFFER.next] = first_bin(bins, number + 1)
    return number, first, last


class Round(NamedTuple):
    """What all workers know of a round from the offers.

    ``bin`` is the smallest that is offered, with ``size`` vertices, ``leader`` the first worker that offers
    it, and ``bound`` the next bin of all other workers; ``processed`` vertices were processed in the round
    before.
    """

    bin: Any
    size: Any
    leader: Any
    bound: Any
    processed: Any


@device
def round_of(offers, n_workers):
    """The round that the offers of all workers make."""
    number, size, processed = offers.headers[OFFER.bin], np.int64(0), np.int64(0)
    leader, bound = np.int64(-1), np.int64(NO_BIN)
    for owner in range(1, n_workers):
        number = min(number, offers.headers[owner * WORDS + OFFER.bin])
    for owner in range(n_workers):
        header = offers.headers[owner * WORDS : (owner + 1) * WORDS]
        following = header[OFFER.bin]
        processed += header[OFFER.processed]
        if following == number:
            size += (header[OFFER.n_chunks] - 1) * CHUNK + header[OFFER.n_first]
            following = header[OFFER.next]
            if leader < 0:
                leader = np.int64(owner)
                following = following if following == number else np.int64(NO_BIN)
        bound = min(bound, following)
    return Round(number, size, leader, bound, processed)


@inlined
def take_piece(offers, owner, pieces, n_workers):
    """Take a part of a chunk of the bin that ``owner`` offers: the chunk, or none, and the vertices in it.

    A chunk has ``pieces`` such parts; the last ones of a chunk that is not full may be empty.
    """
    header, zero = offers.headers[owner * WORDS : (owner + 1) * WORDS], np.int64(0)
    n_pieces = header[OFFER.n_chunks] * pieces
    taken = n_pieces if load(header, OFFER.taken) >= n_pieces else fetch_add(header, OFFER.taken, 1)
    if taken >= n_pieces:
        return np.int64(NO_CHUNK), zero, zero
    index, size = taken // pieces, CHUNK // pieces
    first, count = (taken - index * pieces) * size, header[OFFER.n_first] if index == 0 else np.int64(CHUNK)
    chunk = offers.chunks[owner * (len(offers.chunks) // n_workers) + index]
    return chunk, first, max(min(first + size, count), first)


class Query(NamedTuple):
    """What is searched for, and the scale of the bins.

    ``sources`` and ``targets`` are int64 arrays, ``scale`` is one over delta, a float, ``none`` is the least
    distance that does not count, and ``least_work`` the vertices that a worker should process in a round.
    """

    sources: Any
    targets: Any
    scale: float
    none: Any
    least_work: int


class Search(NamedTuple):
    """A round of a search as one worker sees it.

    The bins from ``current`` to below ``limit`` are processed; ``exclusive`` is whether no other worker does.
    Bins below ``horizon`` have been processed before, perhaps, so a vertex that is lowered in one of these
    may no longer be in it.  Offered chunks are taken in ``pieces``.
    """

    graph: CSR
    distances: Any
    bins: Bins
    query: Query
    current: int
    limit: int
    horizon: Any
    exclusive: bool
    pieces: int


@device
def relax(search, number, vertex):
    """Relax the edges of ``vertex``, if bin ``number`` is still its bin."""
    offsets, neighbours, weights = search.graph
    distances, bins, scale, none = search.distances, search.bins, search.query.scale, search.query.none
    distance = distances[vertex]
    if bin_of(distance, scale) != number:
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
                following = bin_of(longer, scale)
                if following < search.horizon or held == none or following != bin_of(held, scale):
                    push_to_bin(bins, search.current, following, other)


@inlined
def process_chunk(search, number, chunk, first, end):
    """Relax the edges of the vertices ``first`` to ``end - 1`` of a chunk, after prefetching their rows."""
    offsets, neighbours, weights = search.graph
    pool, distances = search.bins.pool, search.distances
    first, end = np.uint64(chunk * CHUNK + first), np.uint64(chunk * CHUNK + end)
    for at in range(first, end):
        vertex = np.int64(pool[at])
        entry = offsets[vertex]
        prefetch(distances, vertex)
        prefetch(neighbours, entry)
        prefetch(weights, entry)
    for at in range(first, end):
        relax(search, number, np.int64(pool[at]))


@device
def process_offers(worker, search, offers):
    """Take chunks of the current bin, first those of this worker, until none is left; count the vertices."""
    processed = np.int64(0)
    for turn in range(worker.count):
        owner = (worker.id + turn) % worker.count
        chunk, first, end = np.int64(NO_CHUNK), np.int64(0), np.int64(0)
        if offers.headers[owner * WORDS + OFFER.bin] == search.current:
            chunk, first, end = take_piece(offers, owner, search.pieces, worker.count)
        while chunk != NO_CHUNK:
            process_chunk(search, search.current, chunk, first, end)
            processed += end - first
            chunk, first, end = take_piece(offers, owner, search.pieces, worker.count)
    return processed


@device
def process_own(search):
    """Process this worker's bins of the round in order, up to one that is to be shared; count vertices."""
    bins, number, processed = search.bins, search.current, np.int64(0)
    while number < search.limit:
        position = number & (RING - 1)
        if bins.heads[position] == 0:
            number += 1
        elif is_short(bins, position, OWN_CHUNKS):
            chunk, count = pop_all(bins, position)
            while chunk != NO_CHUNK:
                process_chunk(search, number, chunk, np.int64(0), count)
                processed += count
                following = bins.next_chunk[chunk]
                release(bins, chunk, chunk)
                chunk, count = following, np.int64(CHUNK)
        else:
            break
    return processed


@device
def is_settled(query, target, distances, number):
    """Whether there is such a target, and its distance is in a bin before ``number``."""
    targets = query.targets
    return target < len(targets) and bin_of(distances[targets[target]], query.scale) < number


@device
def process_alone(search, bound, settled):
    """Process this worker's bins before ``bound`` in order while they are small; return the last of them."""
    graph, distances, bins, query, current, _, horizon, exclusive, pieces = search
    following = current
    while following < bound:
        current = following
        limit = current + 1
        horizon = max(horizon, limit)
        process_own(Search(graph, distances, bins, query, current, limit, horizon, exclusive, pieces))
        following = first_bin(bins, current)
        if following == current or bins.state[STATE.exhausted] or bins.state[STATE.overflow_min] == following:
            break
        if not is_short(bins, following & (RING - 1), SINGLE_CHUNKS):
            break
        if is_settled(query, settled, distances, following):
            break
    return current


@device
def span_of(span, processed, query, n_workers):
    """How many bins a round takes, by the last round's number and the vertices that were processed in it."""
    if processed < query.least_work * n_workers:
        return min(2 * span, SPAN)
    if processed > 4 * query.least_work * n_workers:
        return max(span // 2, 1)
    return span


@device
def further(horizon, limit):
    """The end of all bins of rounds so far: a later round may end, and even begin, before it."""
    return max(horizon, limit)


@parallel_region
def search_bins(worker, graph, distances, query, all_bins, all_offers):
    """Run a whole search; all workers read the same offers and therefore make the same decisions."""
    n, bins, targets = len(distances), bins_of(worker, all_bins), query.targets
    for vertex in range(n * worker.id // worker.count, n * (worker.id + 1) // worker.count):
        distances[vertex] = query.none
    current = np.int64(0)
    barrier_wait(worker)
    if worker.id == 0:
        for source in query.sources:
            distances[source] = 0
            push_to_bin(bins, current, current, source)
    side, settled, span, processed, alone = 0, 0, 1, np.int64(0), True
    before, before_last = np.int64(NO_CHUNK), np.int64(NO_CHUNK)
    horizon = np.int64(1)
    while True:
        offers = offers_of(all_offers, side)
        number, first, last = publish(bins, current, processed, offers, worker)
        barrier_wait(worker)
        now = round_of(offers, worker.count)
        while is_settled(query, settled, distances, now.bin):
            settled += 1
        done = len(targets) > 0 and settled == len(targets)
        if done or now.bin in (NO_BIN, OUT_OF_CHUNKS):
            break
        current = now.bin
        if number == current:
            bins.heads[current & (RING - 1)] = 0
        if not alone:
            span = span_of(span, now.processed, query, worker.count)
        alone = worker.count == 1 or (now.size <= SINGLE_CHUNKS * CHUNK and now.bound > current)
        horizon = further(horizon, current + span)
        pieces = PIECES if not alone and now.size < ROUND_VERTICES * worker.count else 1
        search = Search(graph, distances, bins, query, current, current + span, horizon, alone, pieces)
        if not alone or worker.count == 1:
            if bins.state[STATE.overflow_min] == current:
                distribute_overflow(bins, current, distances, query.scale)
            processed = process_offers(worker, search, offers)
            processed += process_own(search)
        elif worker.id == now.leader:
            process_offers(worker, search, offers)
            current = process_alone(search, now.bound, settled)
        if before != NO_CHUNK:  # all workers have left the round before
            release(bins, before, before_last)
        before, before_last = first if number == now.bin else np.int64(NO_CHUNK), last
        side = 1 - side
    bins.state[STATE.last] = max(current, horizon)


def delta_stepping(rows, sources, cutoff, targets=None, delta=None):
    """Search with bins of width ``delta``, up to the furthest of the ``targets``, (t,) int64, if given."""
    dtype, n = rows.weights.dtype, rows.n_vertices
    n_workers = 1 if rows.is_small else workers_for(rows)
    scale = 1 / (width_for(rows, n_workers) if delta is None else min(max(float(delta), 1e-300), 1e300))
    none = just_beyond(cutoff)
    targets = np.empty(0, np.int64) if targets is None else targets
    query = Query(sources, targets, scale, none, least_work(rows, n_workers))
    distances = np.empty(n, dtype)
    index_type = rows.neighbours.dtype
    bins, offers = rows.borrow("delta-stepping", n_workers) or scratch(
        n_workers, chunks_for(n, n_workers), index_type
    )
    while True:
        search_bins.with_workers(n_workers, rows.outgoing, distances, query, bins, offers)
        states = bins.state.reshape(n_workers, WORDS)
        if not states[:, STATE.exhausted].any():
            break
        bins, offers = scratch(n_workers, 2 * (len(bins.next_chunk) // n_workers), index_type)
    rows.keep("delta-stepping", n_workers, bins, offers)
    if none != unreached(dtype):
        distances[distances == none] = unreached(dtype)
    return distances, past_the_end(rows, distances, cutoff, (int(states[:, STATE.last].max()) + 2) / scale)


def scratch(n_workers, chunks, index_type):
    """Bins, with so many chunks per worker, and two sets of offers."""
    words = [chunks, RING + WORDS, WORDS, 2 * WORDS, 2 * chunks]
    next_chunk, heads, state, *offers = (np.empty(n_workers * size, np.int64) for size in words)
    pool = np.empty(n_workers * chunks * CHUNK, index_type)
    return Bins(pool, next_chunk, heads, state), Offers(*offers)


def chunks_for(n_vertices, n_workers):
    """Chunks per worker at first: usually more than enough, and unused ones cost nothing."""
    return 2 * RING + (n_vertices + 4 * n_vertices // n_workers) // CHUNK


def bytes_of_bins(size) -> float:
    """Bytes of distances and of the chunks in use, for a :class:`~edgewise.needs.Size`.

    NumPy asks for large pages, and each worker has a part of the pool, of which it uses one at least.
    """
    pool = size.threads * chunks_for(size.vertices, size.threads) * CHUNK * size.width
    return size.weight * size.vertices + min(pool, 2 * size.width * size.vertices + size.threads * LARGE_PAGE)


def least_work(rows, n_workers):
    """Vertices that a worker should process in a round at least."""
    n = max(rows.n_vertices, 1)
    work = n + len(rows.weights)
    return int(min(ROUND_WORK, work / (n_workers * PARTS)) * n / work)


def width_for(rows, n_workers):
    """The width of a bin, from the mean weight and the degrees."""
    items = (rows.n_vertices + len(rows.weights)) // n_workers
    is_spread = n_workers >= SPREAD_WORKERS and items < SPREAD_ITEMS
    mean, degree = rows.spread.mean, len(rows.weights) / max(rows.n_vertices, 1)
    if rows.skew > HUB_SKEW:
        width = HUB_WIDTH * mean / max(degree, 1)
    elif degree > THIN_DEGREE:
        width = (SPREAD_WIDTH if is_spread else WIDTH) * mean / degree
    else:
        width = THIN_WIDTH * mean / max(degree - 1, 1)
    least = 1 if rows.weights.dtype.kind == "i" else 1e-300
    return min(max(width, least), 1e300) if mean else 1
