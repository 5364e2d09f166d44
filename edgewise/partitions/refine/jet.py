"""An iteration of Jet: candidates are found, filtered and moved, and what is around them is rated again.

On the CPU and on a GPU an iteration is a part of one call: its steps are short, and a kernel for each step,
and a look at how many vertices it has listed, would take longer than the steps themselves.  Between them all
workers wait at a barrier.  :mod:`~edgewise.partitions.refine` says what the steps do.
"""

import numpy as np

from edgewise.device import barrier_wait, cas, device, fetch_add, fetch_max, load, parallel_region
from edgewise.device.target import on_gpu, overload_on_cpu
from edgewise.device.warps import claim, warp_size
from edgewise.partitions.levels import size_at, weight_at
from edgewise.partitions.rating import FACT, NO_LABEL, SHORT, WORDS, fact, note, note_rating_at
from edgewise.partitions.ratings import (
    THREAD_ENTRIES,
    add_to_table,
    clear_table,
    rate_vertex,
    strongest_in_table,
)
from edgewise.partitions.refine.state import ACTIVE, AMPLE, BORDER, CANDIDATE, COUNT, transfer
from edgewise.partitions.row_shares import fetch_later, fetch_totals, is_long, take, team_of


@device
def passes_filter(vertex, facts, share):
    """Whether the cut would not grow, or by less than ``share`` thousandths of a vertex's own edges.

    This is Jet's filter of candidates, without the locks.
    """
    own, link = fact(facts, vertex, FACT.own), fact(facts, vertex, FACT.link)
    return (fact(facts, vertex, FACT.best) != NO_LABEL) & ((link >= own) | (own - link < own * share // 1000))


@device
def may_give(part, search):
    """Whether a part is heavy enough to give vertices in a free iteration."""
    return search.loads[part] >= search.least[part]


@device
def _propose(first, end, memory, turn):
    """List the candidates among some of the active vertices, and those that stay active."""
    facts, search, active, spare = memory.facts, memory.search, memory.active, memory.spare
    found, kept = np.int64(0), np.int64(0)
    for item in range(first, end):
        vertex = np.int64(active[item])
        lists = fact(facts, vertex, FACT.lists) & ~CANDIDATE
        if passes_filter(vertex, facts, turn.share):
            kept += 1
            is_locked = fact(facts, vertex, FACT.moved_in) == (turn.number - 1) & SHORT
            if not is_locked and may_give(search.part[vertex], search):
                note(facts, vertex, FACT.gain, fact(facts, vertex, FACT.link) - fact(facts, vertex, FACT.own))
                lists |= CANDIDATE
                found += 1
        else:
            lists &= ~ACTIVE
        note(facts, vertex, FACT.lists, lists)
    if kept == 0:
        return
    slot = claim(search.counters, COUNT.listed, found)
    place = claim(search.counters, COUNT.wanted, kept)
    for item in range(first, end):
        vertex = np.int64(active[item])
        lists = fact(facts, vertex, FACT.lists)
        if lists & ACTIVE:
            spare[place] = vertex
            place += 1
        if lists & CANDIDATE:
            search.listed[slot] = vertex
            search.net[slot] = 0
            slot += 1


@device
def _reconsider(item, lane, lanes, level, facts, search):
    """Add up by how much the cut falls by a candidate's move, after the moves of those before it."""
    vertex = np.int64(search.listed[item])
    gain, target = fact(facts, vertex, FACT.gain), fact(facts, vertex, FACT.best)
    here, net = np.int64(search.part[vertex]), np.int64(0)
    for entry in range(level.offsets[vertex] + lane, level.offsets[vertex + 1], lanes):
        other = np.int64(level.neighbours[entry])
        other_gain = fact(facts, other, FACT.gain)
        is_candidate = fact(facts, other, FACT.lists) & CANDIDATE != 0
        is_before = is_candidate & ((other_gain > gain) | ((other_gain == gain) & (other < vertex)))
        there = fact(facts, other, FACT.best) if is_before else np.int64(search.part[other])
        net += weight_at(level, entry) * (np.int64(there == target) - np.int64(there == here))
    if net != 0:
        fetch_add(search.net, item, net)


@device
def _accept(first, end, facts, search, turn):
    """Move those of some candidates with which the cut does not grow."""
    found = np.int64(0)
    for item in range(first, end):
        found += search.net[item] >= 0
    if found == 0:
        return
    slot = turn.base + claim(search.counters, COUNT.moved, found)
    for item in range(first, end):
        if search.net[item] >= 0:
            vertex = np.int64(search.listed[item])
            transfer(slot, vertex, fact(facts, vertex, FACT.best), search)
            note(facts, vertex, FACT.moved_in, turn.number & SHORT)
            slot += 1


@device
def _move_freely(worker, level, memory, turn):
    """Move candidates past the balance."""
    facts, search = memory.facts, memory.search
    items, lanes = turn.items, warp_size()
    for first in range(worker.id * items, turn.active, worker.count * items):
        _propose(first, min(first + items, turn.active), memory, turn)
    barrier_wait(worker)
    count = load(search.counters, COUNT.listed)
    first, end = take(worker, lanes, count, -1, search.counters, COUNT.reconsidered)
    while first < end:
        for item in range(first, end):
            if lanes == 1:
                fetch_later(search.listed, item, end - 1, level, facts, facts, WORDS)
            if not is_long(np.int64(search.listed[item]), level, worker):
                _reconsider(item, worker.id % lanes, lanes, level, facts, search)
            elif worker.id % lanes == 0:
                search.dirty[fetch_add(search.counters, COUNT.long_listed, 1)] = item
        first, end = take(worker, lanes, count, first, search.counters, COUNT.reconsidered)
    barrier_wait(worker)
    n_long = load(search.counters, COUNT.long_listed)
    if n_long > 0:
        team = team_of(worker, n_long)
        for place in range(team.first, n_long, team.step):
            _reconsider(np.int64(search.dirty[place]), team.lane, team.lanes, level, facts, search)
        barrier_wait(worker)
    for first in range(worker.id * items, count, worker.count * items):
        _accept(first, min(first + items, count), facts, search, turn)
    barrier_wait(worker)


@device
def _list_dirty(vertex, slot, mark, facts, search):
    """List a vertex that is marked, and mark it as listed; return the next place."""
    if fact(facts, vertex, FACT.dirty) != mark:
        return slot
    search.dirty[slot] = vertex
    # race: others ask whether it is 0, which it is neither before nor after
    facts[np.uint64(vertex * WORDS + FACT.dirty)] = -1
    return slot + 1


@device
def _spread_row(item, lane, lanes, mark, level, memory):
    """Correct the loads and the totals after a move; mark the vertex and its neighbours, return how many.

    ``lanes`` workers share the row; each calls this with a ``lane`` and a mark of its own.
    """
    facts, search, totals = memory
    vertex = np.int64(search.moves[item])
    here, left = np.int64(search.part[vertex]), np.int64(search.left[item])
    k, found = len(search.limits), np.int64(0)
    if lane == 0:
        fetch_add(search.loads, here, size_at(level.sizes, vertex))
        fetch_add(search.loads, left, -size_at(level.sizes, vertex))
        if cas(facts, vertex * WORDS + FACT.dirty, 0, mark) == 0:
            found += 1
    for entry in range(level.offsets[vertex] + lane, level.offsets[vertex + 1], lanes):
        other = np.int64(level.neighbours[entry])
        if len(totals):
            fetch_add(totals, other * k + left, -weight_at(level, entry))
            fetch_add(totals, other * k + here, weight_at(level, entry))
        if fact(facts, other, FACT.dirty) == 0 and cas(facts, other * WORDS + FACT.dirty, 0, mark) == 0:
            found += 1
    return found


@device
def _list_row(item, lane, lanes, mark, slot, level, memory):
    """List those of a row that the worker has marked, from place ``slot`` on; return the next place."""
    facts, search, _ = memory
    vertex = np.int64(search.moves[item])
    if lane == 0:
        slot = _list_dirty(vertex, slot, mark, facts, search)
    for entry in range(level.offsets[vertex] + lane, level.offsets[vertex + 1], lanes):
        slot = _list_dirty(np.int64(level.neighbours[entry]), slot, mark, facts, search)
    return slot


@device
def _spread_items(worker, first, end, level, memory):
    """Spread some moves of a list; set those with long rows aside."""
    facts, search, _ = memory
    lanes, found = warp_size(), np.int64(0)
    lane = worker.id % lanes
    mark = worker.id + 1
    for item in range(first, end):
        if lanes == 1:
            fetch_later(search.moves, item, end - 1, level, facts, facts, WORDS)
        if not is_long(np.int64(search.moves[item]), level, worker):
            found += _spread_row(item, lane, lanes, mark, level, memory)
        elif lane == 0:
            search.listed[fetch_add(search.counters, COUNT.long_moved, 1)] = item
    if found == 0:
        return
    slot = claim(search.counters, COUNT.dirty, found)
    for item in range(first, end):
        if not is_long(np.int64(search.moves[item]), level, worker):
            slot = _list_row(item, lane, lanes, mark, slot, level, memory)


@device
def spread(worker, base, level, memory):
    """Spread the moves that are listed from place ``base`` on, and list what has to be rated again.

    ``memory`` are the facts, the search, and the totals to each part.  Marks of dirty vertices are positive
    in short rows and negative in long ones; -1 is a vertex that is listed.
    """
    search, lanes = memory[1], warp_size()
    count = load(search.counters, COUNT.moved)
    first, end = take(worker, lanes, count, -1, search.counters, COUNT.spread)
    while first < end:
        _spread_items(worker, base + first, base + end, level, memory)
        first, end = take(worker, lanes, count, first, search.counters, COUNT.spread)
    barrier_wait(worker)
    count = load(search.counters, COUNT.long_moved)
    if count == 0:
        return
    team, mark = team_of(worker, count), -2 - worker.id
    for place in range(team.first, count, team.step):
        item = np.int64(search.listed[place])
        found = _spread_row(item, team.lane, team.lanes, mark, level, memory)
        if found > 0:
            slot = claim(search.counters, COUNT.dirty, found)
            _list_row(item, team.lane, team.lanes, mark, slot, level, memory)
    barrier_wait(worker)


@on_gpu
def _rate_in_tables(worker, count, level, state, place, memory):
    """Rate the dirty vertices, a warp for each row; return the growth of a worker's totals."""
    facts, search, tables = memory.facts, memory.search, memory.tables
    lanes, growth = warp_size(), np.int64(0)
    lane, first, step = worker.id % lanes, worker.id // lanes, worker.count // lanes
    for item in range(first, count, step):
        clear_table(np.int64(search.dirty[item]), lane, lanes, level, tables)
    barrier_wait(worker)
    for item in range(first, count, step):
        row = np.int64(search.dirty[item])
        for entry in range(level.offsets[row] + lane, level.offsets[row + 1], lanes):
            add_to_table(row, entry, level, state, tables)
    barrier_wait(worker)
    for item in range(worker.id, count, worker.count):
        row = np.int64(search.dirty[item])
        own, best, link = strongest_in_table(row, level, state, tables)
        growth += note_rating_at(place, facts, row, own, best, link)
    return growth


@overload_on_cpu(_rate_in_tables)
def _rate_in_tables_on_cpu(worker, count, level, state, place, memory):
    """Nothing to compile: workers of the CPU have tables of their own."""
    return lambda worker, count, level, state, place, memory: np.int64(0)


@device
def rate_dirty(worker, count, level, state, place, memory):
    """Rate the dirty vertices at a place of their facts; return the growth of a worker's totals.

    The place is that of the strongest label among all, or among those with room.
    """
    facts, search, connections, tables = memory.facts, memory.search, memory.connections, memory.tables
    growth, has_totals, on_cpu = np.int64(0), len(connections.totals) != 0, warp_size() == 1
    if not has_totals and tables.capacity == 0 and tables.longest > THREAD_ENTRIES:
        return _rate_in_tables(worker, count, level, state, place, memory)
    first, end = take(worker, 1, count, -1, search.counters, COUNT.rated)
    while first < end:
        for item in range(first, end):
            row = np.int64(search.dirty[item])
            if on_cpu and has_totals:
                fetch_totals(search.dirty, item, end - 1, level, facts, connections)
            elif on_cpu:
                fetch_later(search.dirty, item, end - 1, level, facts, state.labels, 1)
            base = worker.id * tables.capacity if tables.capacity else 2 * level.offsets[row]
            own, best, link = rate_vertex(row, level, state, connections, tables, base)
            growth += note_rating_at(place, facts, row, own, best, link)
        first, end = take(worker, 1, count, first, search.counters, COUNT.rated)
    return growth


@device
def joins_border(vertex, facts):
    """Whether a vertex is beside another part, or without edges to its own, and is not in the border."""
    is_beside = (fact(facts, vertex, FACT.best) != NO_LABEL) | (fact(facts, vertex, FACT.own) == 0)
    return is_beside & (fact(facts, vertex, FACT.lists) & BORDER == 0)


@device
def joins_active(vertex, facts, share):
    """Whether a vertex passes the filter and is not in the list of active ones."""
    return fact(facts, vertex, FACT.lists) & ACTIVE == 0 and passes_filter(vertex, facts, share)


@device
def _extend_lists(first, end, memory, turn):
    """Add those of some dirty vertices to the border and to the active ones that belong there."""
    facts, search, joined, wanted = memory.facts, memory.search, np.int64(0), np.int64(0)
    for item in range(first, end):
        vertex = np.int64(search.dirty[item])
        joined += joins_border(vertex, facts)
        wanted += joins_active(vertex, facts, turn.share)
        note(facts, vertex, FACT.dirty, 0)
    if joined + wanted == 0:
        return
    slot = turn.border + claim(search.counters, COUNT.joined, joined)
    place, target = claim(search.counters, COUNT.wanted, wanted), memory.spare
    if turn.is_free == 0:
        place, target = place + turn.active, memory.active
    for item in range(first, end):
        vertex = np.int64(search.dirty[item])
        lists = fact(facts, vertex, FACT.lists)
        if joins_border(vertex, facts):
            search.border[slot] = vertex
            lists |= BORDER
            slot += 1
        if joins_active(vertex, facts, turn.share):
            target[place] = vertex
            lists = (lists | ACTIVE) & ~CANDIDATE
            place += 1
        note(facts, vertex, FACT.lists, lists)


@device
def run_iteration(worker, level, state, memory, turn):
    """Run an iteration."""
    facts, search, items = memory.facts, memory.search, turn.items
    if turn.is_free:
        _move_freely(worker, level, memory, turn)
    spread(worker, turn.base, level, (facts, search, memory.connections.totals))
    count = load(search.counters, COUNT.dirty)
    growth = rate_dirty(worker, count, level, state, FACT.best, memory)
    if growth != 0:
        fetch_add(search.counters, COUNT.grown, growth)
    for one in range(worker.id, len(search.limits), worker.count):
        fetch_max(search.counters, COUNT.excess, search.loads[one] - search.limits[one] + AMPLE)
    barrier_wait(worker)
    for first in range(worker.id * items, count, worker.count * items):
        _extend_lists(first, min(first + items, count), memory, turn)


@parallel_region
def iterate(worker, level, state, memory, turn):
    """Run an iteration whose moves are listed already."""
    run_iteration(worker, level, state, memory, turn)
