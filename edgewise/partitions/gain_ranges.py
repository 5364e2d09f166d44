"""Refinement by gain ranges: the moves of the largest gains first, each of them a transaction.

The *gain* of a vertex is by how much the cut falls if it moves to the part that most of its edges lead to.
An iteration moves vertices whose gain is in a range that is open above.  It begins at half of the largest
gain and is lowered to half again and again, down to 1; that stands in for a priority queue.

A move is a transaction, which ends without effect if the gain is not valid any more: a neighbour has moved in
this iteration.  If it may, the vertex is marked as moved, and its neighbours' gains are made invalid.  Of two
neighbours that both might move, the one of the lower degree looks after their edge, for both: it reads
whether the other one has moved, and marks it when it moves itself.  That is the same as if both did it, and
no transaction is longer than the root of twice the number of edges, also at a hub.  Vertices outside of the
range do not move, so no transaction touches them.

The weights of the two parts are changed by an *inner* transaction.  There are few parts and many moves, so it
holds no word of the outer one's kind.  It takes room in the new part and then leaves the old one, each by a
compare-and-swap that is repeated after a conflict, alone, as long as the part stays within its limit.  The
outer transaction owns all of its words by then, so it commits if the inner one does.  If there is no room,
neither has an effect.  The balance therefore holds at every moment.

Neighbours do not move in one iteration, so the cut falls by exactly the sum of the gains.  A vertex moves
once in a stage; stages are repeated while they pay.  The thesis sorts every row by part to compute gains.
Here :mod:`~edgewise.partitions.rating` computes them for the vertices around which something has moved.

S. Manoochehri, "Efficient Transactional-Memory-based Implementation of Morph Algorithms on GPU" (2017),
section 4.4.3.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, cas, device, each, fetch_add, fetch_max, load
from edgewise.partitions.levels import size_at
from edgewise.partitions.rating import FACT, NO_LABEL, WORDS, fact, note
from edgewise.partitions.refine import Refinement
from edgewise.partitions.refine.state import AT, COUNT, transfer
from edgewise.transactions import TransactionalMemory, is_active, read, write

#: State of a vertex in an iteration, in the lowest bits of its word, below its part.
RESTING, READY, INVALID, HAS_MOVED = range(4)
#: Number of these bits.
STATE_BITS = 2
#: These bits of a word.
STATE = (1 << STATE_BITS) - 1
#: A stage ends after an iteration of the whole range that has moved at most one vertex in so many.
STAGE_MOVES = 2000
#: A weight that no part has.
AMPLE = 2**62


class Moves(NamedTuple):
    """What the transactions of an iteration share.

    Attributes
    ----------
    vertices : (count,) index array
        The vertex of each transaction.
    facts : (n * WORDS,) integer array
        Of which the strongest part of each vertex is taken.
    loads, limits : (k,) int64 arrays
        Weight of each part, and its largest weight.
    took_place : (count,) int32 array
    failures : (count,) int64 array
        How often the inner transaction of each was repeated.
    """

    vertices: Any
    facts: Any
    loads: Any
    limits: Any
    took_place: Any
    failures: Any


@device
def gain_of(vertex, facts):
    """By how much the cut falls if a vertex moves to its best part; 0 if it may not move."""
    if fact(facts, vertex, FACT.best) == NO_LABEL or fact(facts, vertex, FACT.moved_in) != 0:
        return np.int64(0)
    return fact(facts, vertex, FACT.link) - fact(facts, vertex, FACT.own)


@each
def find_largest(vertex, facts, search):
    """Find the largest gain."""
    gain = gain_of(vertex, facts)
    if gain > load(search.counters, COUNT.candidates):
        fetch_max(search.counters, COUNT.candidates, gain)


@each
def choose(vertex, facts, search, least, words):
    """List the vertices of the range, and write the words of all."""
    state = np.int64(RESTING)
    if gain_of(vertex, facts) >= least:
        state = np.int64(READY)
        search.listed[fetch_add(search.counters, COUNT.listed, 1)] = vertex
    words[vertex] = (np.int64(search.part[vertex]) << STATE_BITS) | state


@device
def looks_after(vertex, other, level):
    """Whether a vertex looks after the edge to another one, which has more neighbours."""
    degree = level.offsets[vertex + 1] - level.offsets[vertex]
    others = level.offsets[other + 1] - level.offsets[other]
    return degree < others or (degree == others and vertex < other)


@device
def is_guarded(vertex, other, level, words):
    """Whether a vertex looks after the edge to another one, and both might move in this iteration."""
    return load(words, other) & STATE != RESTING and looks_after(vertex, other, level)


@device
def change(loads, part, amount, least, most):
    """Add to the weight of a part if it is within bounds then.

    Returns how often that was repeated, or -1 less this number if the bounds do not allow it.
    """
    held, failures = load(loads, part), np.int64(0)
    while held + amount >= least and held + amount <= most:
        seen = cas(loads, part, held, held + amount)
        if seen == held:
            return failures
        held = seen
        failures += 1
    return -1 - failures


@device
def move_weight(size, here, target, loads, limits):
    """The inner transaction; what is returned is that of :func:`change` for both parts together.

    It takes room before it leaves, so that a part is never above its limit, not even for a moment.  No part
    becomes empty.
    """
    entered = change(loads, target, size, np.int64(0), limits[target])
    if entered < 0:
        return entered
    left = change(loads, here, -size, np.int64(1), np.int64(AMPLE))
    if left < 0:
        fetch_add(loads, target, -size)
        return left - entered
    return entered + left


@device
def may_move(vertex, level, moves, words):
    """Whether a move has a chance: what is seen here without a transaction is not changed back."""
    target = fact(moves.facts, vertex, FACT.best)
    if load(words, vertex) & STATE != READY:
        return False
    if load(moves.loads, target) + size_at(level.sizes, vertex) > moves.limits[target]:
        return False
    for entry in range(level.offsets[vertex], level.offsets[vertex + 1]):
        if load(words, level.neighbours[entry]) & STATE == HAS_MOVED:
            return False
    return True


def move(tx, number, level, moves):
    """Transaction: move a vertex to its best part, unless its gain is not valid or there is no room."""
    vertex = np.int64(moves.vertices[number])
    moves.took_place[number] = 0
    moves.failures[number] = 0
    if not may_move(vertex, level, moves, tx.memory.words):
        return
    word = np.int64(read(tx, vertex))
    is_valid = word & STATE == READY
    first, end = level.offsets[vertex], level.offsets[vertex + 1]
    for entry in range(first, end):
        other = np.int64(level.neighbours[entry])
        if not is_valid:
            break
        if is_guarded(vertex, other, level, tx.memory.words):
            is_valid = np.int64(read(tx, other)) & STATE != HAS_MOVED
    if is_valid and is_active(tx):
        target = fact(moves.facts, vertex, FACT.best)
        size, here = size_at(level.sizes, vertex), word >> STATE_BITS
        found = move_weight(size, here, target, moves.loads, moves.limits)
        moves.failures[number] = found if found >= 0 else -1 - found
        if found >= 0:
            moves.took_place[number] = 1
            write(tx, vertex, (target << STATE_BITS) | HAS_MOVED)
            for entry in range(first, end):
                other = np.int64(level.neighbours[entry])
                if is_guarded(vertex, other, level, tx.memory.words):
                    write(tx, other, np.int64(read(tx, other)) & ~np.int64(STATE) | INVALID)


@each
def _carry_out(number, moves, words, facts, search):
    """Note a move in the part of its vertex, for the ratings."""
    if moves.took_place[number] != 0:
        vertex = np.int64(moves.vertices[number])
        transfer(fetch_add(search.counters, COUNT.moved, 1), vertex, words[vertex] >> STATE_BITS, search)
        note(facts, vertex, FACT.moved_in, 1)


class Stages:
    """The stages of one level.

    Parameters
    ----------
    job : Refinement
        The state of the partition.
    done : list
        A pair is added for each iteration: the statistics of the outer transactions, and how often inner ones
        were repeated, with the number of moves.
    """

    def __init__(self, job, done):
        self.job, self.done = job, done
        self.words = arrays.zeros(len(job.level.offsets) - 1, np.int32, job.where)
        self.memory = TransactionalMemory(self.words, log=16)

    def run(self):
        """One stage: a range from high to low."""
        facts, search, n = self.job.memory.facts, self.job.memory.search, len(self.words)
        facts.reshape(-1, WORDS)[:, FACT.moved_in] = 0
        least = 2**62
        while True:
            search.counters[:] = 0
            find_largest(n, facts, search)
            largest = int(search.counters[COUNT.candidates])
            if largest <= 0:
                return
            least = max(1, min(least, largest) // 2)
            moved = self.move_range(least)
            if least == 1 and moved <= n // STAGE_MOVES:
                return

    def move_range(self, least):
        """One iteration: move the vertices whose gain is at least so large; return their number."""
        job, facts, search = self.job, self.job.memory.facts, self.job.memory.search
        search.counters[:] = 0
        choose(len(self.words), facts, search, least, self.words)
        count = int(search.counters[COUNT.listed])
        vertices = search.listed[:count].copy()
        vertices.sort()
        took_place, failures = (arrays.zeros(count, kind, job.where) for kind in (np.int32, np.int64))
        loads = search.loads.copy()  # those of the search follow when the iteration is finished
        moves = Moves(vertices, facts, loads, search.limits, took_place, failures)
        statistics = self.memory.run(move, count, job.level, moves)
        _carry_out(count, moves, self.words, facts, search)
        self.done.append((statistics, int(failures.sum()), int(search.counters[COUNT.moved])))
        return job.finish_iteration()


def refine_by_ranges(level, part, limits, how, cut, done):
    """Refine a partition with a cut of ``cut``; return it, (n,), its cut, and its excess.

    The arguments are those of :func:`~edgewise.partitions.refine.refine`, and a list as in :class:`Stages`.
    """
    job = Refinement(level, part, limits, how, cut)
    total, stages = 2 * cut + int(job.progress[AT.own_total]), Stages(job, done)
    for _ in range(how.patience):
        before = cut
        stages.run()
        cut = (total - int(job.progress[AT.own_total])) // 2
        if (before - cut) * how.tolerance <= before:
            break
    return job.memory.search.part, cut, int(job.progress[AT.excess])
