"""The same on a GPU: a vertex's words are read by the lanes of a group, 16 bytes a lane.

A *group* of four lanes has the 64 bytes of a vertex, and so 512 sources.  It takes a queued vertex and pushes
what that has seen, or a vertex and pulls what its neighbours have seen; a warp has eight vertices at a time,
and each lane reads the words of four neighbours before it needs any.  A lane stops when its own 128 sources
have all reached the vertex.  Rows in the order of their lengths keep the groups of a warp equally busy
(:mod:`~edgewise.paths.measures.numbering`).  Long rows are cut into pieces, which are pulled one by one.

*Teams.*  A batch of a road network has hundreds of levels, whose frontiers are few vertices.  There many
batches are searched from at once, each by a team of blocks with memory of its own
(:mod:`~edgewise.device.teams`).  In other graphs all blocks are one team, whose words stay in the cache
together.

There, too, open vertices gather as on the CPU, without an atomic operation on their words: each finds its new
bits by itself, and a level is one pass and one barrier.  Graphs with long rows do not gather.

A level has otherwise two parts.  First the queued vertices *settle*: what is new is added to the sums and to
what is seen.  Then they push, or all vertices pull.  A vertex is queued when the first of its new bits
arrives, which a stamp with the number of the turn tells.  Counters, and the bits that are new to any vertex,
are kept in three sets that turns use one after the other (:mod:`~edgewise.primitives.rounds`).
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, device, fetch_add, fetch_max, fetch_or, load, parallel_region
from edgewise.device.launch import processors
from edgewise.device.teams import Team, even_teams, new_barriers, team_barrier, team_of
from edgewise.device.warps import ballot, shuffle, sum_of_lanes, warp_aggregated_add, warp_size
from edgewise.paths.csr import CSR, THIN
from edgewise.paths.measures.sums import DISTANCE, HIGH, PARTS, REACHED, halves_of_inverse
from edgewise.primitives.quads import any_bit, count_bits, load_quad, store_quad, union, without
from edgewise.primitives.rounds import Rounds, places, set_of, words

#: Lanes of a group.
GROUP = 4
#: Threads of a block, and blocks that a multiprocessor must be able to run at once.
THREADS, BLOCKS = 512, 2
#: Entries of a row that is not cut into pieces, and of a piece.
PIECE = 512
#: Vertices pull where the rows of the frontier have one in so many of all entries, or more.
PULLED_PART = 8
#: Open vertices gather while one in so many of them finds a bit, or more.
GATHERED_PART = 2
#: Batches of a team in one launch.
LAUNCHED = 32
#: No bit of a quad, and every bit.
NOTHING, EVERYTHING = (np.uint32(0),) * 4, (np.uint32(2**32 - 1),) * 4
#: Where the number of a piece begins; a vertex is below.
PIECE_BIT = 32


class Counters(NamedTuple):
    """Counters of a turn: vertices queued, entries of the frontier's rows, and new pairs.

    In a turn in which vertices gather, those that find a bit take the place of entries.
    """

    queued: int
    entries: int
    pairs: int


AT = places(Counters)
SETS = Rounds(0, words(Counters))
#: Words of a team's counters.
SET_WORDS = SETS.end


class Rows(NamedTuple):
    """``outgoing`` and ``incoming`` rows, and ``pieces`` (k,) int64 of long incoming ones.

    A piece is its number, shifted by :data:`PIECE_BIT`, and the vertex.
    """

    outgoing: CSR
    incoming: CSR
    pieces: Any


class Memory(NamedTuple):
    """The searches of all teams, one after the other.

    Each has ``seen`` and ``new`` (n words,) uint32, ``stamps`` (n,) int32, ``queue`` (2 n,) index array,
    ``found`` (3 words,) uint32, bits that are new to any vertex in a turn, ``counters`` (SET_WORDS,) int64,
    and its part of ``barriers``.
    """

    seen: Any
    new: Any
    stamps: Any
    queue: Any
    found: Any
    counters: Any
    barriers: Any


class Totals(NamedTuple):
    """``sources`` (k,) int64, and what is added up: see :mod:`~edgewise.paths.measures.bit_parallel`."""

    sources: Any
    of_vertices: Any
    hops: Any
    farthest: Any


class Share(NamedTuple):
    """``n_teams`` with memory, the lanes of a ``group``, a launch's sources, and whether vertices gather."""

    n_teams: int
    group: int
    first: int
    stop: int
    gathers: Any


class Member(NamedTuple):
    """A thread of a team: its ``id`` of ``count``, its ``lane``, its ``part`` of a group, its team's places.

    ``n``: vertices.  ``words``: first of the words of the team's
    vertices; ``vertices``: of their stamps; ``sets``: of its counters; ``found``: of its bits.
    """

    team: Team
    id: int
    count: int  # type: ignore[assignment]
    lane: int
    part: int
    group: int
    n: int
    words: int
    vertices: int
    sets: int
    found: int


class Turn(NamedTuple):
    """A level of a batch: ``number`` of the turn, ``level``, first place of its queue, of the next one."""

    number: int
    level: Any
    queue: int
    next: int


class Opening(NamedTuple):
    """The turn at whose ``start`` a batch began to open vertices, and the lane's ``unused`` bits."""

    start: int
    unused: Any


@device
def quad_of(member, vertex):
    """Place of the four words of a vertex that the lane has."""
    return member.words + vertex * 4 * member.group + 4 * member.part


@device
def of_group(member, flag):
    """Whether a flag is true in any lane of the group."""
    return (ballot(flag) >> (member.lane - member.part)) & ((1 << member.group) - 1) != 0


@device
def found_in(member, number):
    """Place of the bits that are found in a turn."""
    return member.found + number % 3 * 4 * member.group


@device
def note_word(member, memory, place, bits):
    """Add one word of each of a warp's groups to the bits at a place."""
    distance, lanes = member.group, warp_size()
    while distance < lanes:
        bits = np.uint32(bits | shuffle(bits, member.lane ^ distance))
        distance *= 2
    if member.lane < member.group and (bits & ~load(memory.found, place)) != 0:
        fetch_or(memory.found, place, bits)


@device
def note_found(member, memory, number, quad):
    """Add the bits of a warp's groups to those that are found in a turn."""
    place = found_in(member, number) + 4 * member.part
    note_word(member, memory, place, quad[0])
    note_word(member, memory, place + 1, quad[1])
    note_word(member, memory, place + 2, quad[2])
    note_word(member, memory, place + 3, quad[3])


@device
def add_to_vertex(member, totals, vertex, count, level):
    """Add the number of new bits of a vertex to its sums; each lane of the group has a part of them."""
    high, low = halves_of_inverse(level)
    for which in range(member.part, PARTS, member.group):
        factor = low
        if which == REACHED:
            factor = np.int64(1)
        elif which == DISTANCE:
            factor = level
        elif which == HIGH:
            factor = high
        if factor != 0:
            fetch_add(totals.of_vertices, vertex * PARTS + which, count * factor)


@device
def settle(member, rows, memory, totals, turn, size):
    """Add up the new bits of the queued vertices, and count their entries; long rows count as all."""
    offsets, n_pairs, n_entries, found = rows.outgoing.offsets, np.int64(0), np.int64(0), NOTHING
    first, step = (member.id - member.lane) // member.group, member.count // member.group
    for base in range(first, size, step):
        item, count, vertex = base + member.lane // member.group, np.int64(0), np.int64(0)
        if item < size:
            vertex = np.int64(memory.queue[turn.queue + item])
            at = quad_of(member, vertex)
            bits, before = load_quad(memory.new, at), load_quad(memory.seen, at)
            store_quad(memory.new, at, NOTHING)
            store_quad(memory.seen, at, union(bits, before))
            found, count = union(found, bits), count_bits(bits)
        count = sum_of_lanes(count, member.lane, member.group)
        if item < size:
            add_to_vertex(member, totals, vertex, count, turn.level)
            if member.part == 0:
                degree = offsets[vertex + 1] - offsets[vertex]
                n_pairs += count
                n_entries += degree if degree <= PIECE else np.int64(len(rows.outgoing.neighbours))
    note_found(member, memory, turn.number, found)
    add_counts(member, memory, turn, n_pairs, n_entries)


@device
def add_counts(member, memory, turn, n_pairs, n_entries):
    """Add a warp's pairs and entries to the counters of the turn."""
    lanes, counters = warp_size(), member.sets + set_of(SETS, turn.number)
    n_pairs, n_entries = (
        sum_of_lanes(n_pairs, member.lane, lanes),
        sum_of_lanes(n_entries, member.lane, lanes),
    )
    if member.lane == 0 and n_pairs > 0:
        fetch_add(memory.counters, counters + AT.pairs, n_pairs)
        fetch_add(memory.counters, counters + AT.entries, n_entries)


@device
def append(member, memory, turn, vertex):
    """Queue a vertex for the next level."""
    place = warp_aggregated_add(memory.counters, member.sets + set_of(SETS, turn.number) + AT.queued)
    memory.queue[turn.next + place] = vertex


@device
def set_bits(array, at, bits):
    """Set the bits of a word, if any."""
    if bits != 0:
        fetch_or(array, at, bits)


@device
def offer(member, memory, turn, vertex, bits):
    """Make some bits, not all zero, new to a vertex, which is queued if they are the first."""
    at, stamp = quad_of(member, vertex), member.vertices + vertex
    set_bits(memory.new, at, bits[0])
    set_bits(memory.new, at + 1, bits[1])
    set_bits(memory.new, at + 2, bits[2])
    set_bits(memory.new, at + 3, bits[3])
    if (
        load(memory.stamps, stamp) != turn.number
        and fetch_max(memory.stamps, stamp, turn.number) != turn.number
    ):
        append(member, memory, turn, vertex)


@device
def push(member, rows, memory, turn, size):
    """Pass what the queued vertices have seen on to their neighbours; a group has a vertex."""
    for item in range(member.id // member.group, size, member.count // member.group):
        vertex = np.int64(memory.queue[turn.queue + item])
        seen = load_quad(memory.seen, quad_of(member, vertex))
        for entry in range(rows.offsets[vertex], rows.offsets[vertex + 1]):
            other = np.int64(rows.neighbours[entry])
            bits = without(seen, load_quad(memory.seen, quad_of(member, other)))
            if any_bit(bits):
                offer(member, memory, turn, other, bits)


@device
def gather(member, neighbours, seen, begin, end, lacking):
    """Return those of the lane's bits that are seen by a neighbour of a row's part."""
    rest, final, entry = lacking, end - 1, begin
    while entry < end and any_bit(rest):
        one = load_quad(seen, quad_of(member, np.int64(neighbours[entry])))
        two = load_quad(seen, quad_of(member, np.int64(neighbours[min(entry + 1, final)])))
        three = load_quad(seen, quad_of(member, np.int64(neighbours[min(entry + 2, final)])))
        four = load_quad(seen, quad_of(member, np.int64(neighbours[min(entry + 3, final)])))
        rest = without(rest, union(union(one, two), union(three, four)))
        entry += 4
    return without(lacking, rest)


@device
def lacking_of(member, memory, vertex):
    """The lane's bits that a vertex has not seen."""
    return without(EVERYTHING, load_quad(memory.seen, quad_of(member, vertex)))


@device
def pull_pieces(member, rows, pieces, memory, turn):
    """Let the vertices of long rows collect what their neighbours have seen; a group has a piece."""
    for item in range(member.id // member.group, len(pieces), member.count // member.group):
        vertex = pieces[item] & ((np.int64(1) << PIECE_BIT) - 1)
        begin = rows.offsets[vertex] + (pieces[item] >> PIECE_BIT) * PIECE
        end, lacking = min(begin + PIECE, rows.offsets[vertex + 1]), lacking_of(member, memory, vertex)
        bits = gather(member, rows.neighbours, memory.seen, begin, end, lacking)
        if any_bit(bits):
            offer(member, memory, turn, vertex, bits)


@device
def pull(member, rows, memory, turn):
    """Let every vertex of a row that is not long collect what its neighbours have seen; a group has a row."""
    n, group = len(rows.offsets) - 1, member.group
    first, step = (member.id - member.lane) // group, member.count // group
    for base in range(first, n, step):
        vertex, bits = base + member.lane // group, NOTHING
        if vertex < n:
            begin, end = rows.offsets[vertex], rows.offsets[vertex + 1]
            if end - begin <= PIECE:
                lacking = lacking_of(member, memory, vertex)
                bits = gather(member, rows.neighbours, memory.seen, begin, end, lacking)
        has_bits = any_bit(bits)
        if has_bits:
            store_quad(memory.new, quad_of(member, vertex), bits)
        if of_group(member, has_bits) and member.part == 0:
            append(member, memory, turn, vertex)


@device
def unused_bits(word, n_sources):
    """The bits of a word that have no source."""
    used = min(max(n_sources - 32 * word, 0), 32)
    return np.uint32((np.int64(2**32 - 1) << used) & np.int64(2**32 - 1))


@device
def unused_quad(member, n_sources):
    """The lane's bits that have no source."""
    first = 4 * member.part
    one, two = unused_bits(first, n_sources), unused_bits(first + 1, n_sources)
    return one, two, unused_bits(first + 2, n_sources), unused_bits(first + 3, n_sources)


@device
def begin_batch(member, memory, sources, first, n_sources, queue):
    """Queue the sources of a batch; bits without a source count as seen everywhere."""
    n_words, unused = 4 * member.group, unused_quad(member, n_sources)
    for vertex in range(member.id // member.group, member.n, member.count // member.group):
        store_quad(memory.seen, quad_of(member, vertex), unused)
    for number in range(member.id, n_sources, member.count):
        source = sources[first + number]
        memory.queue[queue + number] = source
        bit = np.uint32(np.int64(1) << (number % 32))
        fetch_or(memory.new, member.words + source * n_words + number // 32, bit)


@device
def note_farthest(member, memory, totals, place, batch, level):
    """Note a level for the sources of the batch whose bits are found from ``place`` on."""
    first, n_sources = batch
    for number in range(member.id, n_sources, member.count):
        if (load(memory.found, place + number // 32) >> np.uint32(number % 32)) & np.uint32(1) != 0:
            totals.farthest[totals.sources[first + number]] = level


@device
def clear_turn(member, memory, number):
    """Clear the counters and the found bits of a turn to come."""
    if member.id == 0:
        at = member.sets + set_of(SETS, number)
        memory.counters[at + AT.queued], memory.counters[at + AT.entries] = 0, 0
        memory.counters[at + AT.pairs] = 0
    for word in range(member.id, 4 * member.group, member.count):
        memory.found[found_in(member, number) + word] = 0


@device
def finish_batch(member, memory, totals, number, batch):
    """Note the sources that do not reach all vertices."""
    missing = NOTHING
    for vertex in range(member.id // member.group, member.n, member.count // member.group):
        missing = union(missing, lacking_of(member, memory, vertex))
    note_found(member, memory, number, missing)
    team_barrier(member.team)
    note_farthest(member, memory, totals, found_in(member, number), batch, -1)
    clear_turn(member, memory, number + 1)
    team_barrier(member.team)


@device
def open_vertex(member, memory, turn, vertex, start):
    """Queue a vertex that is not open yet since turn ``start``, the first of the batch."""
    stamp = member.vertices + vertex
    if load(memory.stamps, stamp) < start and fetch_max(memory.stamps, stamp, start) < start:
        append(member, memory, turn, vertex)


@device
def open_sources(member, rows, memory, turn, size, unused):
    """Open the sources, which are settled, and their neighbours; in ``new`` only unused bits are seen."""
    for one in range(member.id // member.group, member.n, member.count // member.group):
        store_quad(memory.new, quad_of(member, one), unused)
    for item in range(member.id, size, member.count):
        vertex = np.int64(memory.queue[turn.queue + item])
        open_vertex(member, memory, turn, vertex, turn.number)
        for entry in range(rows.offsets[vertex], rows.offsets[vertex + 1]):
            open_vertex(member, memory, turn, np.int64(rows.neighbours[entry]), turn.number)


@device
def alive_bits(member, memory, number):
    """The lane's bits that were new to any vertex in a turn."""
    at = found_in(member, number) + 4 * member.part
    one, two = load(memory.found, at), load(memory.found, at + 1)
    return one, two, load(memory.found, at + 2), load(memory.found, at + 3)


@device
def gather_open(member, rows, memory, totals, turn, ways, size, opening):
    """Let the open vertices gather what their neighbours have seen in one array, and write the other one."""
    (here, there), offsets, n_pairs, n_found = ways, rows.incoming.offsets, np.int64(0), np.int64(0)
    alive, found = alive_bits(member, memory, turn.number - 1), NOTHING
    first, step = (member.id - member.lane) // member.group, member.count // member.group
    for base in range(first, size, step):
        item, vertex, was_seen = base + member.lane // member.group, np.int64(0), False
        bits, lacking = NOTHING, NOTHING
        if item < size:
            vertex = np.int64(memory.queue[turn.queue + item])
            before = load_quad(here, quad_of(member, vertex))
            lacking, was_seen = without(alive, before), any_bit(without(before, opening.unused))
            begin, end = offsets[vertex], offsets[vertex + 1]
            bits = gather(member, rows.incoming.neighbours, here, begin, end, lacking)
            store_quad(there, quad_of(member, vertex), union(before, bits))
            found = union(found, bits)
        count = sum_of_lanes(count_bits(bits), member.lane, member.group)
        stays, was_reached = of_group(member, any_bit(lacking)), of_group(member, was_seen)
        if stays and member.part == 0:
            append(member, memory, turn, vertex)
        if count > 0:
            add_to_vertex(member, totals, vertex, count, turn.level)
            if member.part == 0:
                n_pairs, n_found = n_pairs + count, n_found + 1
            if not was_reached:
                begin, end = rows.outgoing.offsets[vertex], rows.outgoing.offsets[vertex + 1]
                for entry in range(begin + member.part, end, member.group):
                    other = np.int64(rows.outgoing.neighbours[entry])
                    open_vertex(member, memory, turn, other, opening.start)
    note_found(member, memory, turn.number, found)
    add_counts(member, memory, turn, n_pairs, n_found)


@device
def close(member, memory, turn, size):
    """Queue those of the open vertices to which something is new; it is seen, and ``new`` is zero again."""
    first, step = (member.id - member.lane) // member.group, member.count // member.group
    for base in range(first, size, step):
        item, vertex, is_new = base + member.lane // member.group, np.int64(0), False
        if item < size:
            vertex = np.int64(memory.queue[turn.queue + item])
            at = quad_of(member, vertex)
            one, other = load_quad(memory.seen, at), load_quad(memory.new, at)
            is_new = any_bit(union(without(one, other), without(other, one)))
            store_quad(memory.seen, at, union(one, other))
        if of_group(member, is_new) and member.part == 0:
            append(member, memory, turn, vertex)
    clear_turn(member, memory, turn.number + 1)
    team_barrier(member.team)
    for one in range(member.id // member.group, member.n, member.count // member.group):
        store_quad(memory.new, quad_of(member, one), NOTHING)
    clear_turn(member, memory, turn.number + 2)
    team_barrier(member.team)


@device
def count_of(member, memory, number, which):
    """A counter of a turn."""
    return load(memory.counters, member.sets + set_of(SETS, number) + which)


@device
def note_level(member, memory, totals, number, level, batch):
    """Note the pairs of a level, and the level for the sources whose bits are found."""
    n_pairs = count_of(member, memory, number, AT.pairs)
    if member.id == 0 and n_pairs > 0:
        fetch_add(totals.hops, level, n_pairs)
    note_farthest(member, memory, totals, found_in(member, number), batch, level)


@device
def gather_levels(member, rows, memory, totals, turn, batch):
    """Gather, level by level, from sources that are settled, while enough open vertices find a bit.

    Returns the turn whose vertices, settled, are those of the last level, and how many they are.
    """
    start, level, here, there = turn.number, turn.level, turn.queue, turn.next
    opening = Opening(start, unused_quad(member, batch[1]))
    open_sources(member, rows.outgoing, memory, turn, batch[1], opening.unused)
    team_barrier(member.team)
    n_found, size, number = np.int64(batch[1]), count_of(member, memory, start, AT.queued), start
    while n_found > 0 and n_found * GATHERED_PART >= size:
        here, there, level, number = there, here, level + 1, number + 1
        ways = (memory.seen, memory.new) if level % 2 == 1 else (memory.new, memory.seen)
        turn = Turn(number, level, here, there)
        gather_open(member, rows, memory, totals, turn, ways, size, opening)
        clear_turn(member, memory, number + 1)
        team_barrier(member.team)
        note_level(member, memory, totals, number, level, batch)
        size = count_of(member, memory, number, AT.queued)
        n_found = count_of(member, memory, number, AT.entries)
    close(member, memory, Turn(number + 1, level, there, here), size)
    return Turn(number + 2, level, here, there), count_of(member, memory, number + 1, AT.queued)


@device
def settle_level(member, rows, memory, totals, turn, size, batch):
    """Settle the queued vertices; return the entries of their rows."""
    settle(member, rows, memory, totals, turn, size)
    team_barrier(member.team)
    note_level(member, memory, totals, turn.number, turn.level, batch)
    clear_turn(member, memory, turn.number + 1)
    return count_of(member, memory, turn.number, AT.entries)


@device
def search_from(member, rows, memory, totals, number, batch, gathers):
    """Search from a batch, level by level, from turn ``number`` on; return the next turn."""
    first, size = batch
    here = 2 * member.vertices
    turn = Turn(number, np.int64(0), here, here + member.n)
    begin_batch(member, memory, totals.sources, first, size, here)
    team_barrier(member.team)
    while size > 0:
        n_entries = settle_level(member, rows, memory, totals, turn, size, batch)
        if gathers and turn.level == 0:
            turn, size = gather_levels(member, rows, memory, totals, turn, batch)
            n_entries = np.int64(0)
        if n_entries * PULLED_PART >= len(rows.outgoing.neighbours):
            pull_pieces(member, rows.incoming, rows.pieces, memory, turn)
            pull(member, rows.incoming, memory, turn)
        else:
            push(member, rows.outgoing, memory, turn, size)
        team_barrier(member.team)
        size = count_of(member, memory, turn.number, AT.queued)
        turn = Turn(turn.number + 1, turn.level + 1, turn.next, turn.queue)
    finish_batch(member, memory, totals, turn.number, batch)
    return turn.number + 1


@device
def member_of(team, group, n):
    """The thread as one of its team."""
    lane, number = team.id % warp_size(), team.number
    places_of_team = 4 * group * n * number, n * number, SET_WORDS * number, 12 * group * number
    return Member(team, team.id, team.count, lane, lane % group, group, n, *places_of_team)


@parallel_region.by(threads=THREADS, min_blocks_per_sm=BLOCKS)
def search_batches(worker, rows, memory, totals, share):
    """Let each team search from one batch after the other."""
    size, n = 128 * share.group, len(rows.outgoing.offsets) - 1
    team = team_of(worker, share.n_teams, memory.barriers)
    if team.number >= team.n_teams:
        return
    member, number = member_of(team, share.group, n), np.int64(1)
    for first in range(share.first + team.number * size, share.stop, team.n_teams * size):
        batch = first, min(np.int64(size), share.stop - first)
        number = search_from(member, rows, memory, totals, number, batch, share.gathers)


def pieces_of(rows):
    """The pieces of long rows."""
    degrees = np.diff(arrays.move(rows.offsets, "cpu"))
    lengths = np.where(degrees > PIECE, -(-degrees // PIECE), 0)
    vertices = np.repeat(np.arange(len(degrees)), lengths)
    numbers = np.arange(len(vertices)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return arrays.move((numbers << PIECE_BIT) + vertices, arrays.device_of(rows.offsets))


def n_teams_for(graph, device, n_batches):
    """Teams of a graph: one, or as many as its batches and the memory allow."""
    n, kind = graph.outgoing.n_vertices, graph.outgoing.neighbours.dtype
    if len(graph.outgoing.neighbours) > THIN * n:
        return 1
    n_bytes = n * (32 * GROUP + 4 + 2 * kind.itemsize)
    return even_teams(n_batches, BLOCKS * processors(device), arrays.free_memory(device) // (2 * n_bytes + 1))


def solve(graph, progress, n_teams=None):
    """Sums, pairs by hops and eccentricities, as of the CPU; ``n_teams`` as of :func:`n_teams_for`."""
    device, n_sources, size = arrays.device_of(graph.outgoing.offsets), len(graph.sources), 128 * GROUP
    n, kind = graph.outgoing.n_vertices, graph.outgoing.neighbours.dtype
    n_teams = n_teams or n_teams_for(graph, device, -(-n_sources // size))
    totals = Totals(
        arrays.move(graph.sources, device),
        arrays.zeros(n * PARTS, np.int64, device),
        arrays.zeros(n, np.int64, device),
        arrays.full(n, -1, np.int32, device),
    )
    if n_sources:
        rows = Rows(graph.outgoing, graph.incoming, pieces_of(graph.incoming))
        gathers = len(graph.outgoing.neighbours) <= THIN * n and len(rows.pieces) == 0
        n_words = n_teams * n * 4 * GROUP
        words = arrays.empty(n_words, np.uint32, device), arrays.zeros(n_words, np.uint32, device)
        queue, step = arrays.empty(n_teams * 2 * n, kind, device), size * LAUNCHED * n_teams
        for first in range(0, n_sources, step):
            stop = min(first + step, n_sources)
            stamps = arrays.zeros(n_teams * n, np.int32, device)
            counters = arrays.zeros(n_teams * SET_WORDS, np.int64, device)
            found = arrays.zeros(n_teams * 12 * GROUP, np.uint32, device)
            memory = Memory(*words, stamps, queue, found, counters, new_barriers(n_teams, device))
            search_batches(rows, memory, totals, Share(n_teams, GROUP, first, stop, gathers))
            arrays.synchronize(device)
            progress(stop, n_sources)
    of_vertices, hops, farthest = (arrays.move(array, "cpu") for array in totals[1:])
    return of_vertices.reshape(n, PARTS), hops, farthest
