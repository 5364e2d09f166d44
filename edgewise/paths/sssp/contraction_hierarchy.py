"""Contraction hierarchies: vertices of low degree are eliminated once, and every search skips them.

A search of a road network or of long paths has thousands of levels of a few vertices.  On a GPU each level
costs as much as a level of thousands, so that most of the time nothing is computed.  Elimination makes the
paths short: a vertex is taken out of the graph, and its neighbours are joined by *shortcuts* as long as the
paths through it, so that all distances between the vertices that remain are kept.  Neighbours are never
eliminated in the same round, so a round is parallel.  After some rounds the *core* is left.

The *rank* of a vertex is its place in the order of elimination, with the core at the end.  The row of a
vertex has the neighbours that it had when it was eliminated, all of which have a higher rank, and the lengths
of the edges or shortcuts.  Every shortest path can be taken as one that first ascends by rank, then crosses
the core, and descends.  A search therefore has two steps:

1. A search along these rows only: it ascends from the sources and ends with the distances in the core.
2. A sweep through the rounds from the last to the first.  A vertex takes the least distance that its row
   offers, whose vertices have theirs already.

This is the search from one to all of PHAST on the hierarchies of Geisberger et al., without their search for
shortcuts that are not needed, and with a core, since the last rounds would eliminate few vertices each.

*Elimination* is one cooperative region.  Every round has two steps.  First a vertex of low degree is *chosen*
if it comes before all neighbours that may be chosen, too: by degree, and by a random number where degrees are
equal.  Then a chosen vertex gets the next rank, and its row is copied to the hierarchy.  The row of another
vertex is written anew: entries of chosen neighbours are replaced by the entries of these neighbours' rows,
with the sums of the lengths, and of several entries to one vertex the shortest is kept.

Ranks and rows are allocated by atomic additions of one counter, a count of vertices in its upper half and one
of entries in its lower half, so that rows are in the order of the ranks.  The order within a round is
another one on each run; the set of vertices of a round, and thus every distance, is not.

The elimination takes as long as one to ten searches by levels, and each search by a hierarchy a tenth to nine
tenths of the time of one by levels on a GPU.  So ``auto`` searches by a hierarchy where the user has prepared
the graph for searches (:meth:`Graph.prepare`), and only then.  On a CPU hierarchies save no time.

R. Geisberger, P. Sanders, D. Schultes and D. Delling, "Contraction hierarchies: faster and simpler
hierarchical routing in road networks" (WEA 2008); D. Delling, A. Goldberg, A. Nowatzyk and R. Werneck,
"PHAST: hardware-accelerated shortest path trees" (IPDPS 2011).
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise import tuning
from edgewise.device import arrays, barrier_wait, device, fetch_add, load, parallel_region
from edgewise.device.warps import inclusive_scan, shuffle, warp_size
from edgewise.device.wrapping import wrapping_add
from edgewise.errors import OptionError
from edgewise.paths.block_queues import WORDS, add_block_sum
from edgewise.paths.csr import CSR, Adjacency, adjacency_of, unreached
from edgewise.paths.sssp.near_far import fitting, search_by_thresholds
from edgewise.paths.sssp.sequential import search_all
from edgewise.paths.sssp.weights import past_the_end, rows_in
from edgewise.primitives.mixing import mix
from edgewise.primitives.rounds import places, words

#: Threads of a block, of which a multiprocessor has one.
THREADS = 1024
#: Degree up to which a vertex is eliminated.
ELIMINATED_DEGREE = 6
#: Rounds that there is room for.
ROUNDS = 64
#: Vertices that are left to the core.
CORE = 32
#: Every round but the last one eliminates at least one in so many of the vertices.
PART = 16
#: Entries of a row among which repeated ones are found.
COMPARED_ENTRIES = 64
#: Entries of a hierarchy per entry of the graph, at most.
ROOM = 3
#: Entries of the rows that are left in a round per entry of the graph, at most.
ROUND_ROOM = 2
#: Mask of the bits of a state that hold a degree.
DEGREE = 127
#: Bit of the state of a chosen vertex.
CHOSEN = 128
#: Bits of the lower half of an allocation.
HALF = 32
#: Mask of the lower half of an allocation.
LOWER = 0xFFFFFFFF
#: Length that an entry counts in the sum of lengths, if it is not shorter.
COUNTED_LENGTH = 1 << 30


class OfAll(NamedTuple):
    """Counters of all rounds."""

    out: int  # ranks and entries of the hierarchy
    total: int  # sum of the lengths of its entries
    rounds: int  # rounds that were made
    full: int  # whether there was no room


class OfRound(NamedTuple):
    """Counters of a round."""

    alive: int  # its rows to write, in vertices and entries
    leaving: int  # chosen vertices and their entries
    added: int  # entries that the shortcuts add


#: Places of the counters of all rounds.
ALL = places(OfAll)
#: Places of the counters of a round, from its first one on.
AT = places(OfRound)
#: Words of the counters of all rounds, which come first.
FIRST_WORDS = words(OfAll)
#: Words of the counters of a round.
ROUND_WORDS = words(OfRound)
#: Words of all counters.
COUNTERS = FIRST_WORDS + ROUND_WORDS * (ROUNDS + 1)


class Remaining(NamedTuple):
    """The graph that has not been eliminated.

    ``vertices`` (2 * n,) index array: those that are left, in the half of the round.  Of each vertex
    ``state`` (n,) uint8 is its degree (or :data:`DEGREE` if that is less) and whether it is chosen, and
    ``spans`` (n,) int64 is where its row begins, in the upper half, and how long it is, in the round's half
    of ``neighbours`` (2 * capacity,) and ``weights`` (2 * capacity,).
    """

    vertices: Any
    state: Any
    spans: Any
    neighbours: Any
    weights: Any


class Ranked(NamedTuple):
    """The hierarchy that is written.

    ``ranks`` (n,) index array; rows by rank: ``offsets`` (n + 1,) int64, ``neighbours`` and ``weights`` with
    room for all entries; ``starts`` (ROUNDS + 2,) int64: first rank of each round, of the core, and n.
    """

    ranks: Any
    offsets: Any
    neighbours: Any
    weights: Any
    starts: Any


class Round(NamedTuple):
    """A round: its number, its count of vertices, its first counter, and its halves of the arrays.

    It reads those that begin at ``vertices`` and ``entries``, and writes the others.
    """

    number: int
    size: int
    counters: int
    vertices: int
    next_vertices: int
    entries: int
    next_entries: int


@device
def round_after(turn, size):
    """The next round, in which so many vertices are left; it reads what this one has written."""
    number, counters = turn.number + 1, turn.counters + ROUND_WORDS
    return Round(number, size, counters, turn.next_vertices, turn.vertices, turn.next_entries, turn.entries)


@device
def copy_graph(worker, rows, remaining):
    """Begin with the whole graph."""
    n, unit = len(rows.offsets) - 1, len(rows.weights) == 0
    for vertex in range(worker.id, n, worker.count):
        begin = rows.offsets[vertex]
        length = rows.offsets[vertex + 1] - begin
        remaining.vertices[vertex] = vertex
        remaining.spans[vertex] = (begin << HALF) | length
        remaining.state[vertex] = min(length, DEGREE)
    for entry in range(worker.id, len(rows.neighbours), worker.count):
        remaining.neighbours[entry] = rows.neighbours[entry]
        remaining.weights[entry] = 1 if unit else rows.weights[entry]


@device
def row_of(remaining, turn, vertex):
    """First entry of a vertex's row in this round, and its end."""
    span = remaining.spans[vertex]
    first = turn.entries + (span >> HALF)
    return first, first + (span & LOWER)


@device
def is_first(remaining, turn, vertex, degree):
    """Whether a vertex of low degree comes before all its neighbours of low degree."""
    own = mix(vertex, turn.number)
    first, end = row_of(remaining, turn, vertex)
    for entry in range(first, end):
        other = np.int64(remaining.neighbours[entry])
        its = np.int64(remaining.state[other]) & DEGREE
        if other != vertex and (its < degree or (its == degree and mix(other, turn.number) < own)):
            return False
    return True


@device
def choose(worker, remaining, turn, counts):
    """Choose the vertices that this round eliminates; count their entries, and what shortcuts add."""
    leaving, added = np.int64(0), np.int64(0)
    for item in range(worker.id, turn.size, worker.count):
        vertex = np.int64(remaining.vertices[turn.vertices + item])
        degree = np.int64(remaining.state[vertex])
        if degree <= ELIMINATED_DEGREE and is_first(remaining, turn, vertex, degree):
            remaining.state[vertex] = degree | CHOSEN  # race: others read the degree, which stays
            leaving += (np.int64(1) << HALF) | degree
            added += degree * (degree - 1)
    add_block_sum(worker, counts, turn.counters + AT.leaving, leaving)
    add_block_sum(worker, counts, turn.counters + AT.added, added)


@device
def room_needed(remaining, turn, vertex):
    """Number of entries of the new row of a vertex, at most."""
    room = np.int64(0)
    first, end = row_of(remaining, turn, vertex)
    for entry in range(first, end):
        state = np.int64(remaining.state[remaining.neighbours[entry]])
        room += (state & DEGREE) - 1 if state & CHOSEN else 1
    return room


@device
def put(remaining, first, size, other, weight):
    """Append an entry to a row that is written, or shorten the one that it has; return the new size."""
    if size <= COMPARED_ENTRIES:
        for entry in range(first, first + size):
            if np.int64(remaining.neighbours[entry]) == other:
                remaining.weights[entry] = min(remaining.weights[entry], weight)
                return size
    remaining.neighbours[first + size] = other
    remaining.weights[first + size] = weight
    return size + 1


@device
def write_row(remaining, turn, vertex, first, none):
    """Write the new row of a vertex that is left, and return its length."""
    size = np.int64(0)
    begin, end = row_of(remaining, turn, vertex)
    for entry in range(begin, end):
        other, weight = np.int64(remaining.neighbours[entry]), remaining.weights[entry]
        if not np.int64(remaining.state[other]) & CHOSEN:
            if other != vertex:
                size = put(remaining, first, size, other, weight)
            continue
        start, stop = row_of(remaining, turn, other)
        for further in range(start, stop):
            target = np.int64(remaining.neighbours[further])
            if target != vertex and target != other:
                longer = wrapping_add(weight, remaining.weights[further])
                if longer < weight:
                    longer = none
                size = put(remaining, first, size, target, longer)
    return size


@device
def copy_row(remaining, turn, vertex, ranked, rank, first):
    """Copy the row of a vertex to the hierarchy, for now with vertices in place of ranks."""
    ranked.ranks[vertex] = rank
    ranked.offsets[rank] = first
    begin, end = row_of(remaining, turn, vertex)
    for entry in range(begin, end):
        ranked.neighbours[first + entry - begin] = remaining.neighbours[entry]
        ranked.weights[first + entry - begin] = remaining.weights[entry]


@device
def allocate(lane, counts, counter, vertices, entries):
    """Allocate rows for the lanes of a warp: the place of each lane's vertex, and of its first entry."""
    lanes, own = warp_size(), (np.int64(vertices) << HALF) | np.int64(entries)
    last, start = inclusive_scan(own, lane), np.int64(0)
    if lane == lanes - 1 and last > 0:
        start = np.int64(fetch_add(counts, counter, last))
    place = shuffle(start, lanes - 1) + last - own
    return place >> HALF, place & LOWER


@device
def eliminate(worker, remaining, ranked, turn, counts, none):
    """Move the chosen vertices to the hierarchy, and write the rows of the others."""
    lanes, capacity = warp_size(), len(remaining.neighbours) // 2
    lane, room = worker.id % lanes, len(ranked.neighbours)
    for base in range(worker.id - lane, turn.size, worker.count):
        vertex, is_chosen, leaving, staying = np.int64(0), False, np.int64(0), np.int64(0)
        inside = base + lane < turn.size
        if inside:
            vertex = np.int64(remaining.vertices[turn.vertices + base + lane])
            is_chosen = np.int64(remaining.state[vertex]) & CHOSEN != 0
            if is_chosen:
                leaving = remaining.spans[vertex] & LOWER
            else:
                staying = room_needed(remaining, turn, vertex)
        rank, row = allocate(lane, counts, ALL.out, inside and is_chosen, leaving)
        place, first = allocate(lane, counts, turn.counters + AT.alive, inside and not is_chosen, staying)
        if row + leaving > room or first + staying > capacity:
            counts[ALL.full] = 1
        elif inside and is_chosen:
            copy_row(remaining, turn, vertex, ranked, rank, row)
        elif inside:
            size = write_row(remaining, turn, vertex, turn.next_entries + first, none)
            remaining.vertices[turn.next_vertices + place] = vertex
            remaining.spans[vertex] = (first << HALF) | size
            # race: others read that it is not CHOSEN, which stays
            remaining.state[vertex] = min(size, DEGREE)


@device
def finish(worker, remaining, ranked, turn, counts):
    """Copy the rows of the core, and put ranks in place of vertices."""
    lanes, n = warp_size(), len(ranked.ranks)
    lane, room = worker.id % lanes, len(ranked.neighbours)
    for base in range(worker.id - lane, turn.size, worker.count):
        vertex, length, inside = np.int64(0), np.int64(0), base + lane < turn.size
        if inside:
            vertex = np.int64(remaining.vertices[turn.vertices + base + lane])
            length = remaining.spans[vertex] & LOWER
        rank, row = allocate(lane, counts, ALL.out, inside, length)
        if row + length > room:
            counts[ALL.full] = 1
        elif inside:
            copy_row(remaining, turn, vertex, ranked, rank, row)
    barrier_wait(worker)
    n_entries, total = min(load(counts, ALL.out) & LOWER, room), np.int64(0)
    for entry in range(worker.id, n_entries, worker.count):
        ranked.neighbours[entry] = ranked.ranks[ranked.neighbours[entry]]
        total += min(ranked.weights[entry], COUNTED_LENGTH)
    add_block_sum(worker, counts, ALL.total, total)
    barrier_wait(worker)
    if worker.id == 0:
        ranked.starts[turn.number], ranked.starts[turn.number + 1] = n - turn.size, n
        ranked.offsets[n], counts[ALL.rounds] = n_entries, turn.number


@parallel_region.by(threads=THREADS, max_blocks_per_sm=1, min_blocks_per_sm=1, shared_words=WORDS)
def contract(worker, rows, remaining, ranked, counts, none, max_rounds):
    """Eliminate round after round; ``none`` is the length of shortcuts that are too long for the type."""
    n, capacity = len(rows.offsets) - 1, len(remaining.neighbours) // 2
    copy_graph(worker, rows, remaining)
    barrier_wait(worker)
    size, n_entries, n_done, going = n, np.int64(len(rows.neighbours)), np.int64(0), max_rounds > 0
    turn = Round(0, size, FIRST_WORDS, 0, n, 0, capacity)
    while going:
        choose(worker, remaining, turn, counts)
        barrier_wait(worker)
        leaving = load(counts, turn.counters + AT.leaving)
        n_leaving, leaving = leaving >> HALF, leaving & LOWER
        n_entries += load(counts, turn.counters + AT.added) - 2 * leaving
        n_done += leaving
        going = (
            n_leaving * PART >= size
            and n_entries <= capacity
            and n_done + n_entries <= len(ranked.neighbours)
        )
        if going:
            if worker.id == 0:
                ranked.starts[turn.number] = n - size
            eliminate(worker, remaining, ranked, turn, counts, none)
            barrier_wait(worker)
            left = load(counts, turn.counters + AT.alive)
            size, n_entries = left >> HALF, left & LOWER
            turn = round_after(turn, size)
            going = size > CORE and turn.number < max_rounds and load(counts, ALL.full) == 0
    if load(counts, ALL.full) == 0:
        finish(worker, remaining, ranked, turn, counts)


class Hierarchy(NamedTuple):
    """A contraction hierarchy, on the device of the graph.

    ``ranks`` (n,) index array, ``rows`` by rank, ``starts`` (rounds + 2,) int64: the first rank of each
    round, then of the core, then n; and the mean length of an entry.
    """

    ranks: Any
    rows: CSR
    starts: Any
    mean: float

    @property
    def n_rounds(self) -> int:
        """Number of rounds."""
        return len(self.starts) - 2

    @property
    def core_size(self) -> int:
        """Number of vertices that are left to the core."""
        return int(self.starts[-1] - self.starts[-2])


def hierarchy_of(rows):
    """The contraction hierarchy of undirected rows whose weights are whole numbers, 0 or more."""
    n, n_entries = rows.n_vertices, len(rows.neighbours)
    if not fits(n, n_entries):
        raise OptionError(
            "a contraction hierarchy holds fewer than 2**31 vertices and 2**30 entries; use another method"
        )
    # rows so long that repeated entries are not found can outgrow the memory; then the graph is the core
    return _contracted(rows, ROUNDS) or _contracted(rows, 0)


def fits(n_vertices, n_entries):
    """Whether the halves of an allocation hold so many vertices, and the entries of their hierarchy."""
    return n_vertices < 2**31 and n_entries < 2**30


def _contracted(rows, max_rounds):
    """The hierarchy of so many rounds, or None if there was no room for it."""
    n, n_entries, where = rows.n_vertices, len(rows.neighbours), arrays.device_of(rows.offsets)
    index_type, dtype = rows.neighbours.dtype, rows.weights.dtype
    capacity, room = ROUND_ROOM * n_entries, ROOM * n_entries
    remaining = Remaining(
        arrays.empty(2 * n, index_type, where),
        arrays.empty(n, np.uint8, where),
        arrays.empty(n, np.int64, where),
        *(arrays.empty(2 * capacity, kind, where) for kind in (index_type, dtype)),
    )
    ranked = Ranked(
        arrays.empty(n, index_type, where),
        arrays.empty(n + 1, np.int64, where),
        arrays.empty(room, index_type, where),
        arrays.empty(room, dtype, where),
        arrays.empty(ROUNDS + 2, np.int64, where),
    )
    counts = arrays.zeros(COUNTERS, np.int64, where)
    contract(rows.outgoing, remaining, ranked, counts, int(unreached(dtype)), max_rounds)
    out, total, n_rounds, full = arrays.move(counts, "cpu")[list(ALL)].tolist()
    if full:
        return None
    n_entries = out & LOWER
    entries = (column[:n_entries].copy() for column in (ranked.neighbours, ranked.weights))
    by_rank, starts = CSR(ranked.offsets, *entries), ranked.starts[: n_rounds + 2]
    return Hierarchy(ranked.ranks, by_rank, starts, total / max(n_entries, 1))


@device
def lower(rows, distances, rank, cutoff):
    """Give a vertex the least distance that its row offers."""
    least = distances[rank]
    for entry in range(rows.offsets[rank], rows.offsets[rank + 1]):
        distance = load(distances, rows.neighbours[entry])
        longer = wrapping_add(distance, rows.weights[entry])
        if distance <= longer <= cutoff and longer < least:
            least = longer
    distances[rank] = least


@parallel_region.by(threads=THREADS, max_blocks_per_sm=1, min_blocks_per_sm=1)
def descend(worker, hierarchy, by_rank, cutoff, distances):
    """Lower the distances of each round, the last one first; then put them in the order of vertices."""
    starts = hierarchy.starts
    for turn in range(len(starts) - 3, -1, -1):
        for rank in range(starts[turn] + worker.id, starts[turn + 1], worker.count):
            lower(hierarchy.rows, by_rank, rank, cutoff)
        barrier_wait(worker)
    for vertex in range(worker.id, len(distances), worker.count):
        distances[vertex] = load(by_rank, hierarchy.ranks[vertex])


class Prepared(NamedTuple):
    """A hierarchy, its rows as a search reads them, and the step of its threshold."""

    hierarchy: Any
    upward: Adjacency
    delta: float


def prepared(rows):
    """The hierarchy of rows, kept with them."""
    if rows.hierarchy is None:
        rows.hierarchy = _made(rows)
    return rows.hierarchy


def _made(rows):
    hierarchy = hierarchy_of(rows)
    upward = Adjacency(hierarchy.rows)
    return Prepared(hierarchy, upward, fitting(upward, hierarchy.mean))


def prepare_searches(graph):
    """Prepare a graph for many searches: breadth-first, and if it has weights, along these.

    This takes longer than one search, and saves time in each later one.  Of a directed graph it makes the
    rows of the edges that come in, by which a breadth-first search pulls, and of an undirected one on a GPU a
    contraction hierarchy, where vertices have few edges and the core is small.  Others need neither.
    """
    with arrays.guard(graph.device):
        rows = adjacency_of(graph)
        if graph.directed:
            rows.build_incoming()
            rows.prepared = "direction-optimising" if graph.device == "cpu" else None
        for one in (rows, rows_in(graph)) if graph.is_weighted else (rows,):
            if graph.device != "cpu":
                prepare(one)


def prepare(rows):
    """Make a hierarchy for later searches, if one saves time."""
    if may_save_time(rows):
        made = rows.hierarchy or _made(rows)
        if made.hierarchy.core_size <= tuning.GPU.paths_core * rows.n_vertices:
            rows.hierarchy, rows.prepared = made, "contraction-hierarchy"


def may_save_time(rows):
    """Whether a hierarchy may save time, by what is known without making it."""
    return (
        rows.symmetric
        and rows.is_thin
        and fits(rows.n_vertices, len(rows.neighbours))
        and rows.weights.dtype.kind != "f"
        and rows.spread.least >= 0
    )


def distances_by_hierarchy(rows, sources, cutoff):
    """Search with weights."""
    distances = search(prepared(rows), sources, cutoff)
    return distances, past_the_end(rows, distances, cutoff)


def levels_by_hierarchy(rows, sources, cutoff):
    """Search where every edge counts one."""
    return search(prepared(rows), sources, np.int32(cutoff))


def search(kept, sources, cutoff):
    """Distances from the nearest of the sources; one beyond the end of its type counts as unreached."""
    hierarchy, upward, delta = kept
    where = arrays.device_of(hierarchy.ranks)
    if where == "cpu":
        ranks = hierarchy.ranks[sources].astype(np.int64)
        by_rank, _ = search_all(upward, ranks, cutoff)
    else:
        by_rank = search_by_thresholds(upward, sources, cutoff, delta, hierarchy.ranks)
    distances = arrays.empty(len(by_rank), by_rank.dtype, where)
    descend(hierarchy, by_rank, int(cutoff), distances)
    return distances
