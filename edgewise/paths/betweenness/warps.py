"""Betweenness on a GPU where every edge counts one: the lanes of a warp are sources.

As in :mod:`~edgewise.paths.betweenness.lanes`, a batch of sources is searched from at once.  Here there are
32: bits of a word, and lanes of a warp, of which each adds up the paths from one source, 256 bytes for a
vertex at a time.  A level takes two steps, with barriers between them.  First the bits are *pushed*: the
entries of a row are divided among the lanes, which set the bits of sources that are new to a neighbour, and
queue it if they are the first.  Then each vertex in the queue belongs to a warp, which *pulls* the counts of
those neighbours that have its bits in the last level.  So bits are the only thing that is written atomically,
and sums have one order.  On the way back a warp pulls the quotients of the next level.

The bits of a level are in one of four arrays, in turn: while a level is worked on, that of its neighbours is
read, the next one is written, and the one after that is cleared.

A batch belongs to a *team* of blocks (:mod:`~edgewise.device.teams`), and as many batches are searched from
at once as there are blocks, or memory for.  A row of many entries is divided into *pieces* of 512, each of
which a warp pushes and adds up.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, device, fetch_add, fetch_or, load, parallel_region
from edgewise.device.launch import processors
from edgewise.device.regions import workers
from edgewise.device.teams import even_teams, new_barriers, team_barrier, team_of
from edgewise.device.warps import (
    ballot,
    claim,
    popcount,
    shuffle,
    sum_of_lanes,
    warp_barrier,
    warp_size,
)
from edgewise.paths.apsp.many_sources import BallOrder
from edgewise.paths.betweenness.sums import Dependencies, added_up

#: Sources of a batch: the bits of a word.
SOURCES = 32
#: Arrays for the bits of levels, in turn.
LEVELS = 4
#: Entries of a piece of a row that several warps share.
PIECE = 512
#: Blocks that a multiprocessor runs at once, which limits the registers of a thread.
BLOCKS = 4
#: Share of the free memory of a GPU that teams may take.
USABLE = 0.6
#: Bytes that teams take together at most: with more, what they read is not in the caches any more.
MOST_BYTES = 1 << 31
U = np.uint64  # an unsigned index needs no test for one below zero
#: Sources for each so many vertices from which on they are put into an order of balls, on the host.
SPARSE = 8


class Rows(NamedTuple):
    """Rows, some of which are in pieces.

    ``offsets`` (n + 1,) int64, ``neighbours`` (m,); ``firsts`` (n + 1,) int64: pieces of the rows before each
    one; ``rows`` (pieces,) int64: the row of each piece; ``piece``: entries of a piece;
    ``room``: sums of pieces for which a team has memory.
    """

    offsets: Any
    neighbours: Any
    firsts: Any
    rows: Any
    piece: int
    room: int


class BatchSearch(NamedTuple):
    """What all teams share.

    ``sources`` (k,) int64, of which a batch has 32; ``weights`` (n,) float64: how often a vertex counts, into
    which trees were folded; ``n_teams``: of whose memory there is; ``endpoints``: whether the ends of paths
    count.
    """

    outgoing: Rows
    incoming: Rows
    sources: Any
    weights: Any
    n_teams: int
    endpoints: int


class Scratch(NamedTuple):
    """The memory of the teams, one behind the other; the sizes are those of one team.

    ``counts`` (32 n,) float64: paths from each source, then quotients.  ``seen``, ``coming`` (n,) uint32: the
    sources that have reached a vertex, and that reach it in the next level; ``levels`` (4 n,) uint32: those
    that do so in a level.  ``vertices`` and ``bits`` (32 n,): the queue; ``begins`` (n + 3,) int64: of each
    level; ``tail`` (1,) int64: its end.  ``reached`` (32,) int64 and ``shares`` (32,) float64: the vertices
    that each source reaches, and its weight.  ``partial`` (32 pieces,) float64: sums of pieces; ``scores``
    (n,) float64.  Of these ``coming`` and ``levels`` are zeros between searches.  ``barriers``: of the teams.
    """

    counts: Any
    seen: Any
    coming: Any
    levels: Any
    vertices: Any
    bits: Any
    begins: Any
    tail: Any
    reached: Any
    shares: Any
    partial: Any
    scores: Any
    barriers: Any


class Thread(NamedTuple):
    """A thread of a team.

    ``team``: its number; ``base``: where the vertices of the team begin in its arrays; ``warp`` and
    ``n_warps``: of the team; ``lane`` and ``n_lanes``: of the warp.
    """

    team: int
    base: int
    warp: int
    n_warps: int
    lane: int
    n_lanes: int


@device
def number_of(thread):
    """Number of a thread within its team."""
    return thread.warp * thread.n_lanes + thread.lane


@device
def slot_of(level, n, thread):
    """Where the bits of a level are."""
    return thread.base * LEVELS + level % LEVELS * n


@device
def begin_of(level, n, thread):
    """Where it is said where a level begins in the queue."""
    return U(thread.team * (n + 3) + level)


@device
def lowest(bits):
    """Number of the lowest set bit."""
    return popcount((bits & -bits) - 1)


@device
def pull(neighbours, limits, number, own, thread):
    """Sum of source ``number``'s counts over those entries that have its bit in a level.

    ``limits`` are the first entry, the last one, where the bits of the level are, and those that are wanted.
    The lanes read the bits of as many entries as there are lanes, and pass on those that are not zero.
    """
    begin, end, slot, wanted = limits
    total = 0.0
    while begin < end:  # a range with steps divides, which takes longer than a short row
        entry, other, both = begin + thread.lane, np.int64(0), np.uint32(0)
        begin += thread.n_lanes
        if entry < end:
            other = np.int64(neighbours[U(entry)])
            both = np.uint32(own.levels[U(slot + other)] & wanted)
        left = ballot(both != 0)
        while left != 0:
            one = lowest(left)
            left &= left - 1
            two = lowest(left) if left != 0 else one
            here, there = shuffle(both, one), shuffle(both, two)
            at, second = shuffle(other, one) + thread.base, shuffle(other, two) + thread.base
            if here >> number & 1 != 0:
                total += own.counts[U(at * SOURCES + number)]
            if left != 0 and there >> number & 1 != 0:
                total += own.counts[U(second * SOURCES + number)]
            left &= left - 1
    return total


@device
def entries_of(rows, piece):
    """Where the entries of a piece begin and end."""
    vertex = rows.rows[U(piece)]
    begin = rows.offsets[U(vertex)] + (piece - rows.firsts[U(vertex)]) * rows.piece
    return begin, min(begin + rows.piece, rows.offsets[U(vertex + 1)])


@device
def pull_row(rows, vertex, slot, wanted, number, own, thread):
    """The same over a row, whose pieces are added up already if it has any."""
    first, last = rows.firsts[U(vertex)], rows.firsts[U(vertex + 1)]
    if first == last:
        limits = rows.offsets[U(vertex)], rows.offsets[U(vertex + 1)], slot, wanted
        return pull(rows.neighbours, limits, number, own, thread)
    total, before = 0.0, thread.team * rows.room
    for piece in range(before + first, before + last):
        total += own.partial[U(piece * SOURCES + number)]
    return total


@device
def pull_pieces(rows, words, slots, own, thread):
    """Add up the pieces of vertices by their ``words``, of which ``slots`` has the first, and a level's."""
    for piece in range(thread.warp, len(rows.rows), thread.n_warps):
        wanted = load(words, U(slots[0] + rows.rows[U(piece)]))
        if wanted != 0:
            begin, end = entries_of(rows, piece)
            number = thread.lane
            while number < SOURCES:
                total = pull(rows.neighbours, (begin, end, slots[1], wanted), number, own, thread)
                own.partial[U((thread.team * rows.room + piece) * SOURCES + number)] = total
                number += thread.n_lanes


@device
def push(neighbours, limits, here, own, thread):
    """Set the bits that are new to the neighbours of some entries, and queue those that had none."""
    entry = limits[0] + thread.lane
    while entry < limits[1]:
        other = np.int64(neighbours[U(entry)])
        entry += thread.n_lanes
        at = U(other + thread.base)
        new = np.uint32(here & ~own.seen[at])
        if new != 0 and own.coming[at] & new != new and fetch_or(own.coming, at, new) == 0:
            own.vertices[U(claim(own.tail, thread.team, 1))] = other


@device
def push_level(rows, begin, end, slot, own, thread):
    """Push the bits of the vertices of a level."""
    for position in range(begin + thread.warp, end, thread.n_warps):
        vertex = np.int64(own.vertices[U(position)])
        if rows.firsts[U(vertex)] == rows.firsts[U(vertex + 1)]:
            limits = rows.offsets[U(vertex)], rows.offsets[U(vertex + 1)]
            push(rows.neighbours, limits, own.bits[U(position)], own, thread)
    for piece in range(thread.warp, len(rows.rows), thread.n_warps):
        here = own.levels[U(slot + rows.rows[U(piece)])]
        if here != 0:
            push(rows.neighbours, entries_of(rows, piece), here, own, thread)


@device
def count_level(rows, begin, end, slots, own, thread):
    """Count the paths to the vertices that a level has queued; the bits go from its slot to the next."""
    for position in range(begin + thread.warp, end, thread.n_warps):
        vertex = np.int64(own.vertices[U(position)])
        at = vertex + thread.base
        new = load(own.coming, U(at))
        number = thread.lane
        while number < SOURCES:
            paths = pull_row(rows, vertex, slots[0], new, number, own, thread)
            if new >> number & 1 != 0:
                own.counts[U(at * SOURCES + number)] = paths
            number += thread.n_lanes
        warp_barrier()
        if thread.lane == 0:
            own.bits[U(position)], own.levels[U(slots[1] + vertex)] = new, new
            own.seen[U(at)] |= new
            own.coming[U(at)] = 0


@device
def set_level(begin, end, slot, own, thread, is_set):
    """Set the bits of the vertices of a level in a slot, or clear them."""
    for position in range(begin + number_of(thread), end, thread.n_warps * thread.n_lanes):
        vertex = np.int64(own.vertices[U(position)])
        own.levels[U(slot + vertex)] = own.bits[U(position)] if is_set else 0


@device
def begin_batch(team, search, first, own, thread):
    """Queue the sources of a batch; return their number."""
    n, n_threads = len(search.outgoing.offsets) - 1, thread.n_warps * thread.n_lanes
    n_sources, queue = min(SOURCES, len(search.sources) - first), thread.base * SOURCES
    for vertex in range(number_of(thread), n, n_threads):
        own.seen[U(thread.base + vertex)] = 0
    team_barrier(team)
    for number in range(number_of(thread), n_sources, n_threads):
        source, bit = search.sources[first + number], np.uint32(1 << number)
        own.seen[U(thread.base + source)], own.levels[U(slot_of(0, n, thread) + source)] = bit, bit
        own.vertices[U(queue + number)], own.bits[U(queue + number)] = source, bit
        own.reached[U(thread.team * SOURCES + number)] = 0
        own.shares[U(thread.team * SOURCES + number)] = search.weights[source]
        own.counts[U((thread.base + source) * SOURCES + number)] = 1.0
    if number_of(thread) == 0:
        own.begins[begin_of(0, n, thread)] = queue
        own.begins[begin_of(1, n, thread)] = own.tail[thread.team] = queue + n_sources
    team_barrier(team)
    return n_sources


@device
def count_paths(team, search, n_sources, own, thread):
    """Search from the queued sources; return the number of levels."""
    n, n_levels = len(search.outgoing.offsets) - 1, np.int64(0)
    before = begin = np.int64(thread.base * SOURCES)
    end = begin + n_sources
    while begin < end:
        slots = slot_of(n_levels, n, thread), slot_of(n_levels + 1, n, thread)
        push_level(search.outgoing, begin, end, slots[0], own, thread)
        team_barrier(team)
        last = load(own.tail, thread.team)
        if len(search.incoming.rows) > 0:
            pull_pieces(search.incoming, own.coming, (thread.base, slots[0]), own, thread)
            team_barrier(team)
        count_level(search.incoming, end, last, slots, own, thread)
        set_level(before, begin, slot_of(n_levels + 3, n, thread), own, thread, False)
        if number_of(thread) == 0:
            own.begins[begin_of(n_levels + 2, n, thread)] = last
        team_barrier(team)
        before, begin, end = begin, end, last
        n_levels += 1
    return n_levels


@device
def score_level(search, begin, end, following, own, thread):
    """Add the dependencies of a level to the scores, by the quotients of the one that follows."""
    for position in range(begin + thread.warp, end, thread.n_warps):
        vertex, here, added = np.int64(own.vertices[U(position)]), own.bits[U(position)], 0.0
        weight = search.weights[U(vertex)]
        number = thread.lane
        while number < SOURCES:
            quotient = pull_row(search.outgoing, vertex, following, here, number, own, thread)
            if here >> number & 1 != 0:
                at = U((vertex + thread.base) * SOURCES + number)
                paths = own.counts[at]
                dependency = quotient * paths  # infinite or NaN where the count is infinite
                own.counts[at] = (weight + dependency) / paths
                added += dependency * own.shares[U(thread.team * SOURCES + number)] + search.endpoints
                if search.endpoints != 0:
                    fetch_add(own.reached, U(thread.team * SOURCES + number), 1)
            number += thread.n_lanes
        added = sum_of_lanes(added, thread.lane, thread.n_lanes)
        if thread.lane == 0:
            own.scores[U(vertex + thread.base)] += added


@device
def add_dependencies(team, search, n_levels, own, thread):
    """Add the dependencies of a batch to the scores of the team, from the last level to the second."""
    n, begins = len(search.outgoing.offsets) - 1, own.begins
    end = begins[begin_of(n_levels, n, thread)]
    for level in range(n_levels - 1, 0, -1):
        slots = slot_of(level, n, thread), slot_of(level + 1, n, thread)
        begin = begins[begin_of(level, n, thread)]
        if len(search.outgoing.rows) > 0:
            pull_pieces(search.outgoing, own.levels, slots, own, thread)
            team_barrier(team)
        score_level(search, begin, end, slots[1], own, thread)
        before = begins[begin_of(level - 1, n, thread)]
        set_level(before, begin, slot_of(level - 1, n, thread), own, thread, True)
        if level + 2 < n_levels:
            first, last = begins[begin_of(level + 2, n, thread)], begins[begin_of(level + 3, n, thread)]
            set_level(first, last, slot_of(level + 2, n, thread), own, thread, False)
        team_barrier(team)
        end = begin
    begin, end = begins[begin_of(0, n, thread)], begins[begin_of(min(3, n_levels), n, thread)]
    for slot in range(LEVELS):
        set_level(begin, end, slot_of(slot, n, thread), own, thread, False)


@parallel_region.by(min_blocks_per_sm=BLOCKS)
def search_batches(worker, search, own):
    """Let each team search from one batch after the other."""
    lanes, n = warp_size(), len(search.outgoing.offsets) - 1
    team = team_of(worker, search.n_teams, own.barriers)
    number = team.number
    thread = Thread(number, number * n, team.id // lanes, team.count // lanes, team.id % lanes, lanes)
    if number < team.n_teams:
        for first in range(number * SOURCES, len(search.sources), team.n_teams * SOURCES):
            n_sources = begin_batch(team, search, first, own, thread)
            n_levels = count_paths(team, search, n_sources, own, thread)
            add_dependencies(team, search, n_levels, own, thread)
            for source in range(team.id, n_sources, team.count):
                reached = load(own.reached, U(number * SOURCES + source))
                own.scores[U(thread.base + search.sources[first + source])] += reached
            team_barrier(team)


def in_pieces(csr, piece):
    """Rows with the pieces of those that have more than ``piece`` entries."""
    from edgewise.primitives.rows import row_numbers

    where = arrays.device_of(csr.offsets)
    xp, lengths = arrays.namespace(where), csr.offsets[1:] - csr.offsets[:-1]
    firsts = arrays.zeros(csr.n_vertices + 1, np.int64, where)
    firsts[1:] = xp.cumsum(xp.where(lengths > piece, -(-lengths // piece), 0))
    return Rows(csr.offsets, csr.neighbours, firsts, row_numbers(firsts, np.int64), piece, int(firsts[-1]))


def new_scratch(search, n_teams, where):
    """The memory of some teams."""
    n, index = len(search.outgoing.offsets) - 1, search.outgoing.neighbours.dtype

    def empty(count, dtype):
        return arrays.empty(n_teams * count, dtype, where)

    def zeros(count, dtype):
        return arrays.zeros(n_teams * count, dtype, where)

    counts, partial = empty(SOURCES * n, np.float64), empty(SOURCES * search.outgoing.room, np.float64)
    words = empty(n, np.uint32), zeros(n, np.uint32), zeros(LEVELS * n, np.uint32)
    queue = empty(SOURCES * n, index), empty(SOURCES * n, np.uint32), empty(n + 3, np.int64)
    tails = empty(1, np.int64), empty(SOURCES, np.int64), empty(SOURCES, np.float64)
    scores, barriers = zeros(n, np.float64), new_barriers(n_teams, where)
    return Scratch(counts, *words, *queue, *tails, partial, scores, barriers)


def bytes_of_team(n, n_pieces, width):
    """Bytes of a team's memory."""
    return n * (SOURCES * (12 + width) + 4 * (LEVELS + 2) + 16) + 8 * SOURCES * n_pieces


def teams_for(n_batches, needed, where):
    """Number of teams: as many as there are batches, blocks, and memory for."""
    if where == "cpu":
        return even_teams(n_batches, workers())
    room = min(USABLE * arrays.free_memory(where), MOST_BYTES)
    return even_teams(n_batches, BLOCKS * processors(where), int(room // needed))


def warps(rows, sources, weights, endpoints, *, n_teams=None, piece=PIECE) -> Dependencies:
    """Dependencies of (k,) int64 ``sources`` on every vertex.

    Tests and measurements give ``n_teams`` and the entries of a ``piece``.
    """
    n, where = rows.n_vertices, arrays.device_of(rows.offsets)
    outgoing = in_pieces(rows.outgoing, piece)
    incoming = outgoing if rows.symmetric else in_pieces(rows.incoming, piece)
    if SPARSE * len(sources) >= n:
        sources = sources[BallOrder(rows.outgoing.on_host()).order(sources, SOURCES)]
    n_batches = -(-len(sources) // SOURCES)
    n_pieces = max(outgoing.room, incoming.room)
    outgoing, incoming = (one._replace(room=n_pieces) for one in (outgoing, incoming))
    needed = bytes_of_team(n, n_pieces, outgoing.neighbours.dtype.itemsize)
    n_teams = n_teams or teams_for(n_batches, needed, where)
    with arrays.on(where):
        there = arrays.move(sources, where), arrays.move(weights, where)
        search = BatchSearch(outgoing, incoming, *there, n_teams, int(endpoints))
        scratch = new_scratch(search, n_teams, where)
        search_batches(search, scratch)
        return Dependencies(added_up(scratch.scores, n_teams))
