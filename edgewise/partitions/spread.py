"""The effects of moves: on the loads of the parts, on totals, and on what has to be rated again."""

import numpy as np

from edgewise.device import barrier_wait, cas, device, fetch_add, load
from edgewise.device.warps import claim, warp_size
from edgewise.partitions.facts import DIRTY, WORDS, fact, note
from edgewise.partitions.fetch_ahead import fetch_later
from edgewise.partitions.levels import weight_at
from edgewise.partitions.row_shares import is_long, take, team_of
from edgewise.partitions.search import LONG_MOVED, MOVED, N_DIRTY, SPREAD


@device
def _list_dirty(vertex, slot, mark, facts, search):
    """List a vertex that is marked, and mark it as listed; return the next place."""
    if fact(facts, vertex, DIRTY) != mark:
        return slot
    search.dirty[slot] = vertex
    note(facts, vertex, DIRTY, -1)
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
    mark = first * lanes + lane + 1
    for item in range(first, end):
        if lanes == 1:
            fetch_later(search.moves, item, end - 1, level, facts, facts, WORDS)
        if not is_long(search.moves[item], level, worker):
            found += _spread_row(item, lane, lanes, mark, level, memory)
        elif lane == 0:
            search.listed[fetch_add(search.counters, LONG_MOVED, 1)] = item
    if found == 0:
        return
    slot = claim(search.counters, N_DIRTY, found)
    for item in range(first, end):
        if not is_long(search.moves[item], level, worker):
            slot = _list_row(item, lane, lanes, mark, slot, level, memory)


@device
def spread(worker, base, level, memory):
    """Spread the moves that are listed from place ``base`` on, and list what has to be rated again.

    ``memory`` are the facts, the search, and the totals to each part.  Marks of dirty vertices are positive
    in short rows and negative in long ones; -1 is a vertex that is listed.
    """
    search, lanes = memory[1], warp_size()
    count = load(search.counters, MOVED)
    first, end = take(worker, lanes, count, -1, search.counters, SPREAD)
    while first < end:
        _spread_items(worker, base + first, base + end, level, memory)
        first, end = take(worker, lanes, count, first, search.counters, SPREAD)
    barrier_wait(worker)
    count = load(search.counters, LONG_MOVED)
    if count == 0:
        return
    team, mark = team_of(worker, count), -2 - worker.id
    for place in range(team.first, count, team.step):
        item = search.listed[place]
        found = _spread_row(item, team.lane, team.lanes, mark, level, memory)
        if found > 0:
            slot = claim(search.counters, N_DIRTY, found)
            _list_row(item, team.lane, team.lanes, mark, slot, level, memory)
    barrier_wait(worker)
