"""An iteration of refinement, as one parallel region: on the CPU and on a GPU it is one call.

Its steps are short, and there are many iterations: a kernel for each step, and a look at how many vertices it
has listed, would take longer than the steps themselves.  Between them all workers wait at a barrier.
:mod:`~edgewise.partitions.refine` says what the steps do.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import barrier_wait, cas, device, each, fetch_add, fetch_max, load, parallel_region
from edgewise.device.prefetch import prefetch
from edgewise.device.regions import workers
from edgewise.device.target import inlined
from edgewise.device.warps import warp_size
from edgewise.partitions.connections import strongest
from edgewise.partitions.facts import (
    BEST,
    DIRTY,
    GAIN,
    LINK,
    LISTS,
    MOVED_IN,
    OWN,
    WORDS,
    fact,
    note,
    note_rating,
)
from edgewise.partitions.levels import weight_at
from edgewise.partitions.ratings import (
    IN_A_LINE,
    NO_LABEL,
    SHORT_ROW,
    add_to_table,
    clear_table,
    rate_row,
    strongest_in_table,
)

#: Bits of the lists that a vertex is in: the border, the active ones, the candidates.
BORDER, ACTIVE, CANDIDATE = 1, 2, 4
#: Room of every part while the balance does not count.
AMPLE = 2**62
#: Counters of an iteration.
LISTED, MOVED, N_DIRTY, EXCESS, CANDIDATES, STALE, JOINED, GROWN, WANTED, OPEN, SHORT = range(11)
#: Counters of the items of a step that workers of the CPU have taken, and the number of all counters.
RECONSIDERED, SPREAD, RATED, COUNTERS = 11, 12, 13, 14
#: Items that a thread of the CPU looks at before it claims places in a list; on a GPU it is one item.
SPAN = 512
#: Items that a thread of the CPU takes at a time where each needs a row of the graph, and entries of such a
#: row whose neighbours are fetched ahead.
FEW, FETCHED = 32, 32
#: How many items ahead the facts of a vertex, its row, and what its row leads to, are fetched.
VERTEX_AHEAD, ROW_AHEAD, NEIGHBOURS_AHEAD = 8, 4, 2
#: Fewest items of a step for each worker of the CPU.
LEAST_FOR_EACH = 512


class Search(NamedTuple):
    """The state of a refinement.

    Attributes
    ----------
    part : (n,) index array
    loads, limits : (k,) int64 arrays
        Weight of each part, and its largest weight.
    listed : (n,) int64 array
        The candidates.
    net : (n,) int64 array
        By how much the cut falls by the move of each listed candidate after those before it.
    moves, left : (n,) int64 arrays
        The vertices that have moved, and the parts that they have left.
    dirty : (n,) int64 array
        The vertices to be rated again.
    border : (n,) int64 array
        The vertices beside another part or without edges to their own, and some that have been.
    active, spare : (n,) int64 arrays
        The vertices that are candidates or would be if they were not locked, and some that have been; and
        memory for those of the next free iteration.
    counters : (COUNTERS,) int64 array
        Numbers of listed, moved and dirty vertices; the largest weight of a part above its limit, plus
        ``AMPLE``; the number of vertices that might leave such parts, of those whose part of choice is full,
        and of those that have joined the border; by how much the totals of vertices to their own parts have
        grown; the number of vertices that have become active or, in a free iteration, are active; the numbers
        of parts with room, and of parts that the listed vertices do not make light enough; and the numbers of
        items that have been reconsidered, spread and rated, or are being so.
    """

    part: Any
    loads: Any
    limits: Any
    listed: Any
    net: Any
    moves: Any
    left: Any
    dirty: Any
    border: Any
    active: Any
    spare: Any
    counters: Any


@device
def with_lists_exchanged(search):
    """The search with the active vertices of the next free iteration."""
    return Search(
        search.part,
        search.loads,
        search.limits,
        search.listed,
        search.net,
        search.moves,
        search.left,
        search.dirty,
        search.border,
        search.spare,
        search.active,
        search.counters,
    )


class Turn(NamedTuple):
    """An iteration.

    Attributes
    ----------
    is_free : int
        1 if vertices move without regard to the balance, 0 if the moves are listed already.
    number : int
        Of free iterations so far.
    share : int
        Thousandths of a vertex's own edges by which the cut may grow for a candidate.
    border, active : int
        Number of vertices in these lists.
    items : int
        Items that a worker looks at before it claims places in a list.
    base : int
        Where its moves are listed.
    """

    is_free: int
    number: int
    share: int
    border: int
    active: int
    items: int
    base: int


def items_of(where):
    """Items that a worker looks at before it claims places in a list."""
    return SPAN if where == "cpu" else 1


def in_spans(body):
    """The loop ``run(where, count, *arguments)`` of a body ``body(span, items, count, *arguments)``.

    A span claims its places in another list at once, since a counter that all threads increment for each item
    takes longer than the items.
    """
    loop = each(body, least_chunk=1)

    def run(where, count, *arguments):
        items = items_of(where)
        loop(-(-count // items), items, count, *arguments)

    run.loop = loop
    return run


def workers_for(items):
    """Number of workers of the CPU for a step of so many items."""
    return min(workers(), items // LEAST_FOR_EACH + 1)


@device
def passes_filter(vertex, facts, share):
    """Whether the cut would not grow, or by less than ``share`` thousandths of a vertex's own edges.

    This is Jet's filter of candidates, without the locks.
    """
    own, link = fact(facts, vertex, OWN), fact(facts, vertex, LINK)
    return fact(facts, vertex, BEST) != NO_LABEL and (link >= own or own - link < own * share // 1000)


@device
def _propose(first, end, facts, search, turn):
    """List the candidates among some of the active vertices, and those that stay active."""
    found, kept = np.int64(0), np.int64(0)
    for item in range(first, end):
        vertex = np.int64(search.active[item])
        lists = fact(facts, vertex, LISTS) & ~CANDIDATE
        if passes_filter(vertex, facts, turn.share):
            kept += 1
            if fact(facts, vertex, MOVED_IN) != turn.number - 1:
                note(facts, vertex, GAIN, fact(facts, vertex, LINK) - fact(facts, vertex, OWN))
                lists |= CANDIDATE
                found += 1
        else:
            lists &= ~ACTIVE
        note(facts, vertex, LISTS, lists)
    if kept == 0:
        return
    slot = fetch_add(search.counters, LISTED, found)
    place = fetch_add(search.counters, WANTED, kept)
    for item in range(first, end):
        vertex = np.int64(search.active[item])
        lists = fact(facts, vertex, LISTS)
        if lists & ACTIVE:
            search.spare[place] = vertex
            place += 1
        if lists & CANDIDATE:
            search.listed[slot] = vertex
            search.net[slot] = 0
            slot += 1


@inlined
def _fetch_vertex(vertex, level, facts):
    """Start to read what is known of a vertex, and where its row is."""
    prefetch(facts, vertex * WORDS)
    prefetch(level.sizes, vertex)
    prefetch(level.offsets, vertex)


@inlined
def _fetch_row(vertex, level, values, stride):
    """Start to read what a row leads to: ``stride`` values for each vertex."""
    first = level.offsets[vertex]
    for entry in range(first, min(first + FETCHED, level.offsets[vertex + 1])):
        prefetch(values, np.int64(level.neighbours[entry]) * stride)


@inlined
def _fetch_later(listed, item, last, level, facts, values, stride):
    """Start to read what later items of a list need: the vertices, their rows, and what these lead to."""
    _fetch_vertex(np.int64(listed[min(item + VERTEX_AHEAD, last)]), level, facts)
    prefetch(level.neighbours, level.offsets[np.int64(listed[min(item + ROW_AHEAD, last)])])
    _fetch_row(np.int64(listed[min(item + NEIGHBOURS_AHEAD, last)]), level, values, stride)


@inlined
def _fetch_totals(listed, item, last, level, facts, connections):
    """Start to read the totals of a later item of a list."""
    vertex, k = np.int64(listed[min(item + ROW_AHEAD, last)]), len(connections.ranks)
    _fetch_vertex(vertex, level, facts)
    for label in range(0, min(k, 4 * IN_A_LINE), IN_A_LINE):
        prefetch(connections.totals, vertex * k + label)


@device
def _reconsider(item, lane, lanes, level, facts, search):
    """Add up by how much the cut falls by a candidate's move, after the moves of those before it."""
    vertex = np.int64(search.listed[item])
    gain, target = fact(facts, vertex, GAIN), fact(facts, vertex, BEST)
    here, net = np.int64(search.part[vertex]), np.int64(0)
    for entry in range(level.offsets[vertex] + lane, level.offsets[vertex + 1], lanes):
        other = np.int64(level.neighbours[entry])
        other_gain, is_candidate = fact(facts, other, GAIN), fact(facts, other, LISTS) & CANDIDATE != 0
        is_before = is_candidate & ((other_gain > gain) | ((other_gain == gain) & (other < vertex)))
        there = fact(facts, other, BEST) if is_before else np.int64(search.part[other])
        net += weight_at(level, entry) * (np.int64(there == target) - np.int64(there == here))
    if net != 0:
        fetch_add(search.net, item, net)


@device
def transfer(slot, vertex, target, search):
    """Move a vertex to another part and list it."""
    search.left[slot] = search.part[vertex]
    search.part[vertex] = target
    search.moves[slot] = vertex


@device
def _accept(first, end, facts, search, turn):
    """Move those of some candidates with which the cut does not grow."""
    found = np.int64(0)
    for item in range(first, end):
        found += search.net[item] >= 0
    if found == 0:
        return
    slot = turn.base + fetch_add(search.counters, MOVED, found)
    for item in range(first, end):
        if search.net[item] >= 0:
            vertex = np.int64(search.listed[item])
            transfer(slot, vertex, fact(facts, vertex, BEST), search)
            note(facts, vertex, MOVED_IN, turn.number)
            slot += 1


@device
def _list_dirty(vertex, slot, mark, facts, search):
    """List a vertex that is marked, and mark it as listed; return the next place."""
    if fact(facts, vertex, DIRTY) != mark:
        return slot
    search.dirty[slot] = vertex
    note(facts, vertex, DIRTY, -1)
    return slot + 1


@device
def _move_totals(vertex, lane, lanes, mark, level, memory):
    """Correct the loads and the totals after a move; mark the vertex and its neighbours, return how many."""
    facts, search, totals, (here, left) = memory
    k, found = len(search.limits), np.int64(0)
    if lane == 0:
        fetch_add(search.loads, here, level.sizes[vertex])
        fetch_add(search.loads, left, -level.sizes[vertex])
        if cas(facts, vertex * WORDS + DIRTY, 0, mark) == 0:
            found += 1
    for entry in range(level.offsets[vertex] + lane, level.offsets[vertex + 1], lanes):
        other = np.int64(level.neighbours[entry])
        if len(totals):
            fetch_add(totals, other * k + left, -weight_at(level, entry))
            fetch_add(totals, other * k + here, weight_at(level, entry))
        if fact(facts, other, DIRTY) == 0 and cas(facts, other * WORDS + DIRTY, 0, mark) == 0:
            found += 1
    return found


@device
def _spread(span, lane, lanes, level, facts, search, totals):
    """Correct the loads and the totals after some moves; list the vertices and their neighbours as dirty."""
    first, end = span
    mark, found = first * lanes + lane + 1, np.int64(0)
    for item in range(first, end):
        if lanes == 1:
            _fetch_later(search.moves, item, end - 1, level, facts, facts, WORDS)
        vertex = np.int64(search.moves[item])
        parts = np.int64(search.part[vertex]), np.int64(search.left[item])
        found += _move_totals(vertex, lane, lanes, mark, level, (facts, search, totals, parts))
    if found == 0:
        return
    slot = fetch_add(search.counters, N_DIRTY, found)
    for item in range(first, end):
        vertex = np.int64(search.moves[item])
        if lane == 0:
            slot = _list_dirty(vertex, slot, mark, facts, search)
        for entry in range(level.offsets[vertex] + lane, level.offsets[vertex + 1], lanes):
            slot = _list_dirty(np.int64(level.neighbours[entry]), slot, mark, facts, search)


@device
def joins_border(vertex, facts):
    """Whether a vertex is beside another part, or without edges to its own, and is not in the border."""
    is_beside = fact(facts, vertex, BEST) != NO_LABEL or fact(facts, vertex, OWN) == 0
    return is_beside and fact(facts, vertex, LISTS) & BORDER == 0


@device
def joins_active(vertex, facts, share):
    """Whether a vertex passes the filter and is not in the list of active ones."""
    return fact(facts, vertex, LISTS) & ACTIVE == 0 and passes_filter(vertex, facts, share)


@device
def _extend_lists(first, end, facts, search, turn):
    """Add those of some dirty vertices to the border and to the active ones that belong there."""
    joined, wanted = np.int64(0), np.int64(0)
    for item in range(first, end):
        vertex = search.dirty[item]
        joined += joins_border(vertex, facts)
        wanted += joins_active(vertex, facts, turn.share)
        note(facts, vertex, DIRTY, 0)
    if joined + wanted == 0:
        return
    slot = turn.border + fetch_add(search.counters, JOINED, joined)
    place, target = fetch_add(search.counters, WANTED, wanted), search.spare
    if turn.is_free == 0:
        place, target = place + turn.active, search.active
    for item in range(first, end):
        vertex = search.dirty[item]
        lists = fact(facts, vertex, LISTS)
        if joins_border(vertex, facts):
            search.border[slot] = vertex
            lists |= BORDER
            slot += 1
        if joins_active(vertex, facts, turn.share):
            target[place] = vertex
            lists = (lists | ACTIVE) & ~CANDIDATE
            place += 1
        note(facts, vertex, LISTS, lists)


@device
def _take(worker, lanes, count, last, counters, taken):
    """The next items of a list of ``count``: those from ``first`` to ``end - 1``; none if these are equal.

    ``last`` is where the worker's items before began, or -1.  On a GPU ``lanes`` threads share one item, and
    each has as many.  Threads of the CPU count the items that are ``taken``, since rows differ in length.
    """
    if warp_size() == 1:
        first, few = fetch_add(counters, taken, FEW), FEW
    elif last < 0:
        first, few = worker.id // lanes, 1
    else:
        first, few = last + worker.count // lanes, 1
    end = min(first + few, count)
    return min(first, end), end


@device
def _rate_in_tables(worker, count, level, state, memory):
    """Rate the dirty vertices on a GPU, a warp for each row; return the growth of a worker's totals."""
    facts, search, _, tables = memory
    lanes, growth = warp_size(), np.int64(0)
    lane, first, step = worker.id % lanes, worker.id // lanes, worker.count // lanes
    for item in range(first, count, step):
        clear_table(search.dirty[item], lane, lanes, level, tables)
    barrier_wait(worker)
    for item in range(first, count, step):
        row = search.dirty[item]
        for entry in range(level.offsets[row] + lane, level.offsets[row + 1], lanes):
            add_to_table(row, entry, level, state, tables)
    barrier_wait(worker)
    for item in range(worker.id, count, worker.count):
        row = search.dirty[item]
        own, best, link = strongest_in_table(row, level, state, tables)
        growth += note_rating(facts, row, own, best, link)
    return growth


@device
def rate_dirty(worker, count, level, state, memory):
    """Rate the dirty vertices; return the growth of a worker's totals."""
    facts, search, connections, tables = memory
    growth, has_totals, on_cpu = np.int64(0), len(connections.totals) != 0, warp_size() == 1
    if not has_totals and tables.capacity == 0 and tables.longest > SHORT_ROW:
        return _rate_in_tables(worker, count, level, state, memory)
    first, end = _take(worker, 1, count, -1, search.counters, RATED)
    while first < end:
        for item in range(first, end):
            row = search.dirty[item]
            if on_cpu and has_totals:
                _fetch_totals(search.dirty, item, end - 1, level, facts, connections)
            elif on_cpu:
                _fetch_later(search.dirty, item, end - 1, level, facts, state.labels, 1)
            if has_totals:
                own, best, link = strongest(row, level, state, connections)
            else:
                base = worker.id * tables.capacity if tables.capacity else 2 * level.offsets[row]
                own, best, link = rate_row(row, level, state, tables, base)
            growth += note_rating(facts, row, own, best, link)
        first, end = _take(worker, 1, count, first, search.counters, RATED)
    return growth


@device
def _move_freely(worker, level, memory, turn):
    """Move candidates past the balance."""
    facts, search = memory[0], memory[1]
    items, lanes = turn.items, warp_size()
    for first in range(worker.id * items, turn.active, worker.count * items):
        _propose(first, min(first + items, turn.active), facts, search, turn)
    barrier_wait(worker)
    count = load(search.counters, LISTED)
    first, end = _take(worker, lanes, count, -1, search.counters, RECONSIDERED)
    while first < end:
        for item in range(first, end):
            if lanes == 1:
                _fetch_later(search.listed, item, end - 1, level, facts, facts, WORDS)
            _reconsider(item, worker.id % lanes, lanes, level, facts, search)
        first, end = _take(worker, lanes, count, first, search.counters, RECONSIDERED)
    barrier_wait(worker)
    for first in range(worker.id * items, count, worker.count * items):
        _accept(first, min(first + items, count), facts, search, turn)
    barrier_wait(worker)


@device
def run_iteration(worker, level, state, memory, turn):
    """Run an iteration; ``memory`` are the facts, the search, the connections and the tables."""
    facts, search, connections, _ = memory
    lanes, items = warp_size(), turn.items
    if turn.is_free:
        _move_freely(worker, level, memory, turn)
    count = load(search.counters, MOVED)
    first, end = _take(worker, lanes, count, -1, search.counters, SPREAD)
    while first < end:
        span = turn.base + first, turn.base + end
        _spread(span, worker.id % lanes, lanes, level, facts, search, connections.totals)
        first, end = _take(worker, lanes, count, first, search.counters, SPREAD)
    barrier_wait(worker)
    count = load(search.counters, N_DIRTY)
    growth = rate_dirty(worker, count, level, state, memory)
    if growth != 0:
        fetch_add(search.counters, GROWN, growth)
    for one in range(worker.id, len(search.limits), worker.count):
        fetch_max(search.counters, EXCESS, search.loads[one] - search.limits[one] + AMPLE)
    barrier_wait(worker)
    for first in range(worker.id * items, count, worker.count * items):
        _extend_lists(first, min(first + items, count), facts, search, turn)


@parallel_region
def iterate(worker, level, state, memory, turn):
    """Run an iteration whose moves are listed already."""
    run_iteration(worker, level, state, memory, turn)
