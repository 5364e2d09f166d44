"""State of a refinement: the parts and the lists of vertices, the counters of an iteration, and its progress.

Many iterations follow each other without a look from the host, so the first worker of a region decides what
comes next, by the same functions as the host after an iteration for the balance.
"""

from typing import Any, NamedTuple

from edgewise.device import device
from edgewise.primitives.rounds import places

#: Bits of the lists that a vertex is in: the border, the active ones, the candidates.
BORDER, ACTIVE, CANDIDATE = 1, 2, 4
#: Room of every part while the balance does not count.
AMPLE = 2**62
#: Weak iterations for the balance in a row, after which they are strong.
WEAK = 2


class Counters(NamedTuple):
    """Counters of an iteration."""

    listed: int  # candidates
    moved: int  # vertices that have moved
    dirty: int  # vertices to be rated again
    excess: int  # largest weight of a part above its limit, plus AMPLE
    candidates: int  # vertices that might leave the parts that are too heavy
    stale: int  # those of them whose part of choice is full
    joined: int  # vertices that have joined the border
    grown: int  # growth of the totals of vertices to their own parts
    wanted: int  # vertices that have become active or, in a free iteration, are active
    open: int  # parts with room
    short: int  # parts that the listed vertices do not make light enough
    reconsidered: int  # candidates that workers of the CPU have taken
    spread: int  # moves that they have taken
    rated: int  # dirty vertices that they have taken
    long_listed: int  # candidates with long rows
    long_moved: int  # moves of vertices with long rows


COUNT = places(Counters, apart=1)


class Search(NamedTuple):
    """The parts, and the lists that iterations keep.

    Attributes
    ----------
    part : (n,) index array
    loads, limits, least : (k,) int64 arrays
        Weight of each part, its largest weight, and the weight below which it gives no vertices in a free
        iteration.
    listed : (n,) index array
        The candidates.
    net : (n,) int64 array
        By how much the cut falls by the move of each listed candidate after those before it.
    moves, left : (n,) index arrays
        The vertices that have moved, and the parts that they have left.
    dirty : (n,) index array
        The vertices to be rated again.
    border : (n,) index array
        The vertices beside another part or without edges to their own, and some that have been.
    counters : (fields of Counters,) int64 array
    """

    part: Any
    loads: Any
    limits: Any
    least: Any
    listed: Any
    net: Any
    moves: Any
    left: Any
    dirty: Any
    border: Any
    counters: Any


class Memory(NamedTuple):
    """What the steps of an iteration read and write.

    Attributes
    ----------
    facts : (n * WORDS,) integer array
        Of the vertices.
    search : Search
    active, spare : (n,) index arrays
        The vertices that are candidates or would be if they were not locked, and some that have been; and
        memory for those of the next free iteration.
    connections : Connections
    tables : Totals or Tables
    """

    facts: Any
    search: Any
    active: Any
    spare: Any
    connections: Any
    tables: Any


@device
def with_lists_exchanged(memory):
    """The memory with the active vertices of the next free iteration."""
    facts, search, active, spare, connections, tables = memory
    return Memory(facts, search, spare, active, connections, tables)


@device
def transfer(slot, vertex, target, search):
    """Move a vertex to another part and list it."""
    search.left[slot] = search.part[vertex]
    search.part[vertex] = target
    search.moves[slot] = vertex


class Turn(NamedTuple):
    """An iteration."""

    is_free: int  # 1 if vertices move without regard to the balance, 0 if the moves are listed already
    number: int  # of free iterations so far
    share: int  # thousandths of a vertex's own edges by which the cut may grow for a candidate
    border: int  # vertices in the border
    active: int  # active vertices
    items: int  # that a worker looks at before it claims places in a list
    base: int  # where its moves are listed


class Progress(NamedTuple):
    """How far a search is."""

    own_total: int  # total of the vertices to their own parts
    excess: int  # largest weight of a part above its limit
    moves: int  # of the last iteration
    n_border: int  # vertices in the border
    n_active: int  # active vertices
    turn: int  # free iterations plus 1
    iteration: int  # all iterations plus 1
    best_cut: int  # cut of the best state
    best_excess: int  # its excess
    is_found: int  # whether there is one besides the first
    fruitless: int  # iterations without a better state
    unbalanced: int  # free iterations in a row with a part that is too heavy
    repairs: int  # iterations for the balance in a row
    is_done: int  # 1 if nothing moves any more
    is_free: int  # whether the next iteration is a free one
    looks_at_all: int  # whether one for the balance looks at all vertices
    is_strong: int  # whether it has to be a strong one
    goes_on: int  # whether another iteration follows in the region
    steps: int  # iterations of the region
    free_steps: int  # those of them that were free
    end: int  # place after the moves of the last one
    best_steps: int  # iterations of the region up to the best state, or -1
    best_end: int  # place after the moves up to that


AT = places(Progress, apart=1)


class Rule(NamedTuple):
    """When a search ends, and when it moves freely."""

    total: Any  # twice the cut and the total to the own parts; it does not change
    patience: int  # as in Settings, with the next two
    tolerance: int
    streak: int
    slack: int  # by how much a part may be too heavy in between
    share: int  # thousandths of a vertex's own edges by which the cut may grow for a candidate
    items: int  # that a worker looks at before it claims places in a list
    most: int  # iterations in a row without a look from the host
    least: int = -1  # least step of the cost of a vertex that is not beside another part; -1 if not known yet
    most_border: int = 0  # vertices of the border from which on it is listed anew
    salt: int = 0  # of the random numbers that iterations for the balance draw


@device
def may_move_freely(progress, rule):
    """Whether the next iteration moves vertices without regard to the balance."""
    if progress[AT.excess] <= 0:
        return True
    return 0 < progress[AT.unbalanced] < rule.streak and progress[AT.excess] <= rule.slack


@device
def begin(progress, rule, room):
    """Begin the next iteration, unless the host has something to do first; return whether it has begun.

    ``room`` is the number of moves that can be listed.
    """
    if progress[AT.fruitless] >= rule.patience or progress[AT.is_done] != 0:
        return False
    if progress[AT.steps] >= rule.most:
        return False
    is_free = may_move_freely(progress, rule)
    movable = progress[AT.n_active] if is_free else progress[AT.n_border]
    if progress[AT.steps] > 0 and progress[AT.end] + movable > room:
        return False
    if is_free:
        progress[AT.unbalanced] += 1
        progress[AT.turn] += 1
        progress[AT.repairs] = 0
    else:
        if progress[AT.repairs] >= WEAK or progress[AT.is_strong] != 0:
            return False
        if rule.least < 0 or progress[AT.n_border] > rule.most_border:
            return False
        progress[AT.unbalanced] = 0
        progress[AT.repairs] += 1
    progress[AT.is_free] = is_free
    progress[AT.fruitless] += 1
    return True


@device
def take_back(progress, has_room):
    """Take back that a weak iteration has begun, since it needs all vertices, or no part has room."""
    progress[AT.fruitless] -= 1
    progress[AT.repairs] -= 1
    progress[AT.looks_at_all], progress[AT.is_strong] = has_room, not has_room


@device
def compare(progress, rule):
    """Compare the state after an iteration with the best one."""
    excess, best_excess = progress[AT.excess], progress[AT.best_excess]
    if progress[AT.moves] > 0 and 0 < excess <= rule.slack and 0 < progress[AT.unbalanced] < rule.streak:
        # it goes on without a repair: no state to keep, and no iteration without a better one
        progress[AT.fruitless] -= 1
        return
    if excess <= 0:
        progress[AT.unbalanced] = 0
    cut, best_cut = (rule.total - progress[AT.own_total]) // 2, progress[AT.best_cut]
    is_lighter = best_excess > 0 and excess < best_excess
    if is_lighter or (cut < best_cut and excess <= max(0, best_excess)):
        if is_lighter or cut * rule.tolerance < best_cut * (rule.tolerance - 1):
            progress[AT.fruitless] = 0
        progress[AT.best_cut], progress[AT.best_excess], progress[AT.is_found] = cut, excess, 1
        progress[AT.best_steps], progress[AT.best_end] = progress[AT.steps], progress[AT.end]
    if progress[AT.moves] == 0 and excess <= 0:
        progress[AT.is_done] = 1
