"""Forward-backward: all cores find the component of one pivot, and Tarjan's algorithm what is left.

Most real graphs have a giant component.  A vertex is in the component of a pivot if the pivot reaches it, and
it reaches the pivot (Fleischer, Hendrickson & Pinar 2000).  Of the others most are alone: none of the
neighbours that follow one, or none of those before it, may be in its component, since they are in the giant
one, or alone themselves, or differ from it in whether the pivot reaches them.  They are trimmed, round by
round (McLendon et al. 2005).  What is left is little, and one core finishes it (Slota, Rajamanickam & Madduri
2014).

*Push.*  Whether a vertex is reached counts, and not at which distance.  So a worker that takes a vertex goes
on from there by itself, up to a number of entries, and leaves what it has not read to the next round (Wang et
al. 2023, PASGAL's granularity control).  Roads, whose searches have thousands of levels, have tens of rounds.
A vertex is marked by an atomic operation, so it is listed once.

*In order.*  Rows that are read in the order of the list wait for memory, and each mark for the other workers.
Where a large part of all entries is to be pushed, and the incoming rows are not there, the rows are read in
their order, and those of marked vertices are pushed.  Each worker keeps what it reaches in a set of bits of
its own: a shared mark would go from one cache to another with each that is new beside it.  It also pushes
rows that it has reached itself in this round.  What only others have reached is listed when the sets are
united.  One long row is pushed by all workers.

*Pull.*  Where the next round has many entries to read, vertices without the mark look for a neighbour that
has it, and stop at the first (Beamer, Asanovic & Patterson 2012).  What is found in a round is seen in the
same round.

Backwards a pull reads outgoing rows, and needs no others: in a graph without locality a marked vertex lets
those in front of it find it in the same sweep, so a few sweeps are enough.  If many would follow at the rate
of the last two, as on meshes, the rows of the incoming edges are built, unless the graph was prepared for
searches, which has them.

*Returns.*  Where many edges have one, as in street networks, a search that follows only those finds most of
the component at once: what the pivot reaches by them also reaches the pivot.  Both push and pull read the
outgoing rows.  Then a search backwards tells what else reaches the component, and a search forwards what of
that is reached, if there is anything.  In the rows of hubs it would take too long to look for returns.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise import tuning
from edgewise.device import barrier_wait, by_class, cas, device, fetch_add, fetch_min, load, parallel_region
from edgewise.device.regions import workers
from edgewise.device.shares import own_share
from edgewise.paths.csr import CSR, SAMPLED, Adjacency
from edgewise.paths.local_search import search_nearby
from edgewise.primitives.rounds import APART, Rounds, clear_set, places, set_of, words
from edgewise.primitives.rows import row_of
from edgewise.strong.returns import is_in_row, return_often
from edgewise.strong.tarjan import label_among

#: Marks of a vertex: not reached, reached in one direction, in both, and alone in its component.
UNREACHED, ONE_WAY, BOTH, ALONE = 0, 1, 2, 3
#: The mark, until the end of the round, of a vertex whose row has been pushed among all.
PUSHED = 4
#: Vertices of a worker's own list.
OWN = 4096
#: Entries that a worker reads from what it has taken until it leaves the rest to the next round.
GRAIN = 4096
#: Vertices that a worker takes at once, at most, and how often each of them comes to take some.
TAKEN, TIMES = 64, 8
#: Bits of a number of a vertex within a word of 64 vertices, and their largest value.
WORD, LAST, ONE = np.uint64(6), np.uint64(63), np.uint64(1)
#: Vertices of a block, which one worker pulls or trims.
BLOCK = 2048
#: Costs of an entry that is pushed from a list or in the order of all, or tested by a pull, in nanoseconds;
#: with 1 or 4 in place of 2 some graph takes a quarter more (16 cores, 930b90ca, 2026-12-01).
PUSH_COST, IN_ORDER_COST, TEST_COST = 8, 2, 4
#: The incoming rows are built only if more than one vertex of so many is left to be found, which as many
#: sweeps take as long to look at: a short tail is not worth rows of the whole graph.
REMAINING = 8
#: Skew of degrees above which looking for a return in the rows of hubs takes longer than it saves (R-MAT, 16
#: cores, dc838b26, 2026-11-30; other values were not measured).
SKEWED = 4
#: Vertices that are tried as a pivot.
TRIED = 4
#: More levels or rounds than a search has.
MANY, ENDLESS = (1 << 31) - 2, 1 << 62


class Counters(NamedTuple):
    """Counters of a round."""

    taken: int  # vertices or blocks that workers have taken
    listed: int  # vertices listed for the next round
    entries: int  # entries of their rows
    marked: int  # vertices marked


AT = places(Counters)
SETS = Rounds(0, words(Counters))
#: Places of the smallest vertex of the component, and of the extent at the end.
LEAST, RESULT = SETS.end, SETS.end + APART
WORDS = RESULT + APART


class State(NamedTuple):
    """What all workers share."""

    marks: Any  # (n,) uint8
    listed: Any  # (n,) index array: vertices in the order in which they are listed
    spare: Any  # (n,) index array: those that another round of trimming leaves
    own: Any  # (workers, OWN) index array
    reached: Any  # (workers, words) uint64: a bit for each vertex that a worker reaches in order
    counters: Any  # (WORDS,) int64


class Way(NamedTuple):
    """One direction of the search; vertices whose mark is ``before`` get that of ``after``.

    ``following`` and ``preceding`` are rows, whose ``offsets`` are empty where they are not there.
    """

    following: Any
    preceding: Any
    before: Any
    after: Any


class MutualWay(Way):
    """A search along edges with a return: ``following`` and ``preceding`` are the same rows."""

    __slots__ = ()


@by_class
def counts(way, vertex, other):
    """Whether an entry of a row, which leads from a vertex to the other one, belongs to the search."""


@counts.of(Way)
def every_entry_counts(way, vertex, other):
    """Any entry belongs to a search in one direction."""
    return True


@counts.of(MutualWay)
def entry_with_return_counts(way, vertex, other):
    """Only an entry with a return belongs to the search."""
    return is_in_row(vertex, np.int64(other), way.following)


class Extent(NamedTuple):
    """Where a round is: its vertices in the list, their entries, and how many have no mark yet."""

    head: Any
    tail: Any
    entries: Any
    unmarked: Any
    rounds: Any


@device
def leave(own, first, last, listed, tail, counters, place):
    """List ``own[first:last]`` for the next round, behind ``tail``."""
    if first < last:
        at = tail + fetch_add(counters, place + AT.listed, last - first)
        for item in range(first, last):
            listed[at + item - first] = own[item]


@device
def leave_rows(own, first, last, way, state, tail, place):
    """The same, with the number of entries that the next round would push."""
    leave(own, first, last, state.listed, tail, state.counters, place)
    offsets, entries = way.following.offsets, np.int64(0)
    if len(offsets):
        for item in range(first, last):
            entries += offsets[own[item] + 1] - offsets[own[item]]
        fetch_add(state.counters, place + AT.entries, entries)


@device
def push_from(first, end, own, way, state, tail, place):
    """Push the listed vertices, and go on from what they reach; return how many are marked."""
    (offsets, neighbours, _), marks = way.following, state.marks
    low, high, budget, marked = np.int64(0), np.int64(0), np.int64(GRAIN), np.int64(0)
    while first < end or (low < high and budget > 0):
        if first < end:
            vertex = np.int64(state.listed[first])
            first += 1
        else:
            vertex = np.int64(own[low])
            low += 1
        budget -= offsets[vertex + 1] - offsets[vertex]
        for entry in range(np.uint64(offsets[vertex]), np.uint64(offsets[vertex + 1])):
            other = neighbours[entry]
            if marks[other] != way.before or not counts(way, vertex, other):
                continue
            if cas(marks, other, way.before, way.after) != way.before:
                continue
            if high == len(own):
                leave_rows(own, low, high, way, state, tail, place)
                low = high = np.int64(0)
            own[high] = other
            high += 1
            marked += 1
    leave_rows(own, low, high, way, state, tail, place)
    return marked


@device
def push(worker, way, state, extent, place):
    """Push this worker's chunks of a round; return how many vertices are marked."""
    size, marked = extent.tail - extent.head, np.int64(0)
    chunk = min(max(size // (worker.count * TIMES), 1), TAKEN)
    own = state.own[worker.id]
    first = fetch_add(state.counters, place + AT.taken, chunk)
    while first < size:
        end = extent.head + min(first + chunk, size)
        marked += push_from(extent.head + first, end, own, way, state, extent.tail, place)
        first = fetch_add(state.counters, place + AT.taken, chunk)
    return marked


@device
def push_long_row(worker, vertex, way, state, place):
    """Push a part of the only row that is listed."""
    (offsets, neighbours, _), marks = way.following, state.marks
    first, last = offsets[vertex], offsets[vertex + 1]
    at = first + fetch_add(state.counters, place + AT.taken, GRAIN)
    if at == first:
        marks[vertex] = PUSHED  # race: others ask whether it is that of before, which it is not
    while at < last:
        for entry in range(np.uint64(at), np.uint64(min(at + GRAIN, last))):
            other = neighbours[entry]
            if marks[other] == way.before and counts(way, vertex, other):
                marks[other] = way.after  # race: all write the same
        at = first + fetch_add(state.counters, place + AT.taken, GRAIN)


@device
def push_in_order(worker, way, state, place):
    """Push those rows of this worker's chunks of all entries whose vertex is marked when their turn comes.

    A worker sees the marks of the rounds before, and its own ones of this round.
    """
    (offsets, neighbours, _), marks, reached = way.following, state.marks, state.reached[worker.id]
    for word in range(len(reached)):
        reached[word] = 0
    chunk = max(len(neighbours) // (worker.count * TIMES * TIMES), GRAIN)
    at = fetch_add(state.counters, place + AT.taken, chunk)
    while at < len(neighbours):
        vertex = row_of(at, offsets)
        if offsets[vertex] < at:  # the row of the chunk before
            vertex += 1
        while vertex < len(marks) and offsets[vertex] < at + chunk:
            mark = marks[vertex]
            if mark == way.after or (mark == way.before and has_bit(reached, np.uint64(vertex))):
                marks[vertex] = PUSHED
                for entry in range(np.uint64(offsets[vertex]), np.uint64(offsets[vertex + 1])):
                    other = np.uint64(neighbours[entry])
                    reached[other >> WORD] |= ONE << (other & LAST)
            vertex += 1
        at = fetch_add(state.counters, place + AT.taken, chunk)


@device
def has_bit(bits, vertex):
    """Whether a set of vertices has this one."""
    return (bits[vertex >> WORD] >> (vertex & LAST)) & ONE != 0


@device
def reached_by_any(word, state):
    """The vertices of a word that any worker has reached in order."""
    found = np.uint64(0)
    for worker in range(len(state.reached)):
        found |= state.reached[worker, word]
    return found


@device
def list_rest(worker, way, state, extent, place):
    """List the vertices of this worker's share that are marked, but not pushed, and have edges.

    Returns how many marks are new, which is right as a sum over all workers.
    """
    offsets, marks, own, count = way.following.offsets, state.marks, state.own[worker.id], np.int64(0)
    marked = extent.unmarked if worker.id == 0 else np.int64(0)
    first, end, _ = own_share(worker, 0, (len(marks) + 63) // 64)
    for word in range(first, end):
        found = reached_by_any(word, state) if extent.tail > 1 else np.uint64(0)
        for vertex in range(64 * word, min(64 * word + 64, len(marks))):
            mark = marks[vertex]
            if mark == way.before and found >> (np.uint64(vertex) & LAST) & ONE != 0:
                mark = way.after
            if mark == way.before:
                marked -= 1
            elif mark == PUSHED:
                marks[vertex] = way.after
            elif mark == way.after:
                marks[vertex] = mark
                if offsets[vertex] < offsets[vertex + 1]:
                    own[count] = vertex
                    count += 1
            if count == len(own):
                leave_rows(own, 0, count, way, state, extent.tail, place)
                count = np.int64(0)
    leave_rows(own, 0, count, way, state, extent.tail, place)
    return marked


@device
def push_all(worker, way, state, extent, place):
    """Push all marked rows; return how many marks are new."""
    if extent.tail == 1:
        push_long_row(worker, np.int64(state.listed[0]), way, state, place)
    else:
        push_in_order(worker, way, state, place)
    barrier_wait(worker)
    return list_rest(worker, way, state, extent, place)


@device
def is_long(way, extent):
    """Whether a round pushes a large part of all entries, or one long row; nothing else is marked then."""
    if extent.tail == 1:
        return extent.entries > GRAIN
    is_large = extent.entries * PUSH_COST > len(way.following.neighbours) * IN_ORDER_COST
    return is_large and len(way.preceding.offsets) == 0


@device
def finds(vertex, way, marks):
    """Whether a vertex before this one, or a mutual neighbour, has the mark or one above it."""
    offsets, neighbours = way.preceding.offsets, way.preceding.neighbours
    for entry in range(np.uint64(offsets[vertex]), np.uint64(offsets[vertex + 1])):
        if marks[neighbours[entry]] >= way.after and counts(way, vertex, neighbours[entry]):
            return True
    return False


@device
def pull(worker, way, state, extent, place):
    """Let the vertices of this worker's blocks look for the mark; return how many have found it."""
    marks, own, count, marked = state.marks, state.own[worker.id], np.int64(0), np.int64(0)
    first = fetch_add(state.counters, place + AT.taken, BLOCK)
    while first < len(marks):
        for vertex in range(first, min(first + BLOCK, len(marks))):
            if marks[vertex] == way.before and finds(vertex, way, marks):
                marks[vertex] = way.after
                own[count] = vertex
                count += 1
        if count > OWN - BLOCK:
            leave_rows(own, 0, count, way, state, extent.tail, place)
            marked, count = marked + count, np.int64(0)
        first = fetch_add(state.counters, place + AT.taken, BLOCK)
    leave_rows(own, 0, count, way, state, extent.tail, place)
    return marked + count


@device
def is_pulled(way, n, extent):
    """Whether a round is pulled: fewer entries are tested until one has the mark than pushed."""
    if len(way.preceding.offsets) == 0 or len(way.following.offsets) == 0:
        return len(way.following.offsets) == 0
    n_entries = len(way.following.neighbours)
    tests = min(n_entries // n, n_entries // max(extent.entries, 1)) + 1
    return extent.unmarked * tests * TEST_COST + n < extent.entries * PUSH_COST


@parallel_region
def reach(worker, way, state, extent, most):
    """Mark all that follows the listed vertices, in ``most`` rounds or less; write the extent at the end."""
    n, counters = len(state.marks), state.counters
    while extent.head < extent.tail and extent.unmarked > 0 and extent.rounds < most:
        place = set_of(SETS, extent.rounds)
        if worker.id == 0:
            clear_set(SETS, counters, set_of(SETS, extent.rounds + 1))
        if is_pulled(way, n, extent):
            marked = pull(worker, way, state, extent, place)
        elif is_long(way, extent):
            marked = push_all(worker, way, state, extent, place)
        else:
            marked = push(worker, way, state, extent, place)
        fetch_add(counters, place + AT.marked, marked)
        barrier_wait(worker)
        extent = Extent(
            extent.tail,
            extent.tail + load(counters, place + AT.listed),
            load(counters, place + AT.entries),
            extent.unmarked - load(counters, place + AT.marked),
            extent.rounds + 1,
        )
    if worker.id == 0:
        counters[RESULT], counters[RESULT + 1] = extent.head, extent.tail
        counters[RESULT + 2], counters[RESULT + 3] = extent.entries, extent.unmarked


@device
def is_alone(vertex, rows, marks):
    """Whether no other neighbour of the vertex in the rows may be in its component."""
    for entry in range(np.uint64(rows.offsets[vertex]), np.uint64(rows.offsets[vertex + 1])):
        other = np.int64(rows.neighbours[entry])
        if other != vertex and marks[other] == marks[vertex]:
            return False
    return True


@device
def trim_one(vertex, adjacent, marks, labels):
    """Label the vertex if it is alone; return whether it was."""
    outgoing, incoming = adjacent
    by_incoming = len(incoming.offsets) > 0
    if not is_alone(vertex, outgoing, marks) and not (by_incoming and is_alone(vertex, incoming, marks)):
        return False
    labels[vertex] = vertex
    marks[vertex] = ALONE
    return True


@device
def trim_all(worker, adjacent, state, labels, place):
    """Label this worker's blocks of vertices: those of the component, and those that are alone."""
    marks, own, least, count = state.marks, state.own[worker.id], load(state.counters, LEAST), np.int64(0)
    first = fetch_add(state.counters, place + AT.taken, BLOCK)
    while first < len(marks):
        for vertex in range(first, min(first + BLOCK, len(marks))):
            if marks[vertex] == BOTH:
                labels[vertex] = least
            elif not trim_one(vertex, adjacent, marks, labels):
                own[count] = vertex
                count += 1
        if count > OWN - BLOCK:
            leave(own, 0, count, state.listed, 0, state.counters, place)
            count = np.int64(0)
        first = fetch_add(state.counters, place + AT.taken, BLOCK)
    leave(own, 0, count, state.listed, 0, state.counters, place)


@device
def trim_listed(worker, adjacent, state, labels, size, place):
    """Label those vertices of the list that are alone by now, and list the others in ``spare``."""
    own = state.own[worker.id]
    first = fetch_add(state.counters, place + AT.taken, BLOCK)
    while first < size:
        count = np.int64(0)
        for item in range(first, min(first + BLOCK, size)):
            vertex = np.int64(state.listed[item])
            if not trim_one(vertex, adjacent, state.marks, labels):
                own[count] = vertex
                count += 1
        leave(own, 0, count, state.spare, 0, state.counters, place)
        first = fetch_add(state.counters, place + AT.taken, BLOCK)


@parallel_region
def trim(worker, adjacent, state, labels):
    """Label the component and the vertices that are alone; list the others.

    Rounds go on while one takes more vertices than a worker's share of those that it looks at.
    """
    counters = state.counters
    first, end, _ = own_share(worker, 0, len(labels))
    for vertex in range(first, end):
        if state.marks[vertex] == BOTH:
            fetch_min(counters, LEAST, vertex)
            break
    barrier_wait(worker)
    size, left, rounds = np.int64(len(labels)), np.int64(0), 0
    while rounds == 0 or (left > 0 and (size - left) * worker.count > size):
        if rounds > 0:
            size = left
        place = set_of(SETS, rounds)
        if worker.id == 0:
            clear_set(SETS, counters, set_of(SETS, rounds + 1))
        if rounds == 0:
            trim_all(worker, adjacent, state, labels, place)
        else:
            trim_listed(worker, adjacent, state, labels, size, place)
            state = State(state.marks, state.spare, state.listed, state.own, state.reached, counters)
        barrier_wait(worker)
        left = load(counters, place + AT.listed)
        rounds += 1
    if worker.id == 0:
        counters[RESULT], counters[RESULT + 1] = left, (rounds + 1) % 2


def pivot_of(adjacency):
    """A vertex that reaches many, and that many reach as far as incoming rows tell; 0 if none is found.

    Vertices of high degree are tried first; a search nearby tells whether many are within reach.
    """
    neighbours, offsets = adjacency.neighbours, adjacency.offsets
    ends = np.unique(neighbours[:: -(-max(len(neighbours), 1) // SAMPLED)]).astype(np.int64)
    degrees = offsets[ends + 1] - offsets[ends]
    for vertex in ends[degrees.argsort(kind="stable")[::-1][:TRIED]]:
        if search_nearby(adjacency, np.array([vertex]), MANY)[1] is None:
            continue
        if adjacency.has_incoming:
            backwards = Adjacency(adjacency.incoming, adjacency.outgoing)
            if search_nearby(backwards, np.array([vertex]), MANY)[1] is None:
                continue
        return int(vertex)
    return 0


def both_rows(adjacency):
    """The outgoing rows and the incoming ones, which are empty if they are not there."""
    rows = adjacency.outgoing
    if adjacency.has_incoming:
        return rows, adjacency.incoming
    return rows, CSR(rows.offsets[:0], rows.neighbours[:0], rows.weights)


def new_state(n_vertices, kind, n_workers):
    """The state of a search, without marks."""
    marks, own = np.zeros(n_vertices, np.uint8), np.empty((n_workers, OWN), kind)
    reached = np.empty((n_workers, -(-n_vertices // 64)), np.uint64)
    spare = np.empty(n_vertices, kind)
    return State(marks, np.empty(n_vertices, kind), spare, own, reached, np.zeros(WORDS, np.int64))


def mark_component(adjacency, pivot, state):
    """Mark the component of the pivot, and what else is reached in one direction."""
    outgoing, incoming = both_rows(adjacency)
    n, n_workers = len(state.marks), len(state.own)

    def search(way, extent, most=ENDLESS):
        state.counters[: SETS.end] = 0
        reach.with_workers(n_workers, way, state, extent, most)
        head, tail, entries, unmarked = state.counters[RESULT : RESULT + 4].tolist()
        return Extent(head, tail, entries, unmarked, 0)

    def begin(mark, unmarked):
        state.marks[pivot], state.listed[0] = mark, pivot
        return Extent(0, 1, int(outgoing.offsets[pivot + 1] - outgoing.offsets[pivot]), unmarked, 0)

    def search_backwards(before, after, extent):
        way, last = Way(incoming, outgoing, before, after), n
        while not adjacency.has_incoming and extent.head < extent.tail and extent.unmarked:
            unmarked, extent = extent.unmarked, search(way, extent, 1)
            found = unmarked - extent.unmarked
            sweeps = tuning.CPU.strong_sweeps
            is_slow = 2 * found > last and found * (found / last) ** sweeps < extent.unmarked
            if is_slow and REMAINING * extent.unmarked > n:
                way = way._replace(following=adjacency.incoming)
            last = found
        return search(way, extent)

    if adjacency.has_incoming or adjacency.skew > SKEWED or not return_often(outgoing):
        extent = search(Way(outgoing, incoming, UNREACHED, ONE_WAY), begin(ONE_WAY, n - 1))
        search_backwards(ONE_WAY, BOTH, begin(BOTH, n - extent.unmarked - 1))
        return
    others = search(MutualWay(outgoing, outgoing, UNREACHED, BOTH), begin(BOTH, n - 1)).unmarked
    extent = search_backwards(UNREACHED, ONE_WAY, Extent(0, n - others, 0, others, 0))
    if extent.unmarked < others:
        members = np.flatnonzero(state.marks == BOTH)
        state.listed[: len(members)] = members
        entries = len(outgoing.neighbours) * len(members) // n
        extent = Extent(0, len(members), entries, others - extent.unmarked, 0)
        following, preceding = both_rows(adjacency)
        search(Way(following, preceding, ONE_WAY, BOTH), extent)


def forward_backward(n, adjacency):
    """Smallest vertex of each vertex's strongly connected component: (n,) index array."""
    kind = adjacency.neighbours.dtype
    labels = np.empty(n, kind)
    if n == 0:
        return labels
    state = new_state(n, kind, workers())
    mark_component(adjacency, pivot_of(adjacency), state)
    state.counters[: SETS.end], state.counters[LEAST] = 0, n
    trim.with_workers(len(state.own), both_rows(adjacency), state, labels)
    left, is_spare = state.counters[RESULT : RESULT + 2].tolist()
    if left:
        rest = (state.spare if is_spare else state.listed)[:left]
        label_among(adjacency.outgoing, rest, labels)
    return labels
