"""An iteration of refinement, as one parallel region: on the CPU and on a GPU it is one call.

Its steps are short, and there are many iterations: a kernel for each step, and a look at how many vertices it
has listed, would take longer than the steps themselves.  Between them all workers wait at a barrier.
:mod:`~edgewise.partitions.refine` says what the steps do.
"""

import numpy as np

from edgewise.device import barrier_wait, device, fetch_add, fetch_max, load, parallel_region
from edgewise.device.warps import claim, warp_size
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
from edgewise.partitions.fetch_ahead import fetch_later, fetch_totals
from edgewise.partitions.levels import weight_at
from edgewise.partitions.ratings import (
    NO_LABEL,
    SHORT_ROW,
    add_to_table,
    clear_table,
    rate_row,
    strongest_in_table,
)
from edgewise.partitions.row_shares import is_long, take, team_of
from edgewise.partitions.search import (
    ACTIVE,
    AMPLE,
    BORDER,
    CANDIDATE,
    EXCESS,
    GROWN,
    JOINED,
    LISTED,
    LONG_LISTED,
    MOVED,
    N_DIRTY,
    RATED,
    RECONSIDERED,
    WANTED,
    transfer,
)
from edgewise.partitions.spread import spread


@device
def passes_filter(vertex, facts, share):
    """Whether the cut would not grow, or by less than ``share`` thousandths of a vertex's own edges.

    This is Jet's filter of candidates, without the locks.
    """
    own, link = fact(facts, vertex, OWN), fact(facts, vertex, LINK)
    return fact(facts, vertex, BEST) != NO_LABEL and (link >= own or own - link < own * share // 1000)


@device
def may_give(part, search):
    """Whether a part is heavy enough to give vertices in a free iteration."""
    return search.loads[part] >= search.least[part]


@device
def _propose(first, end, facts, search, turn):
    """List the candidates among some of the active vertices, and those that stay active."""
    found, kept = np.int64(0), np.int64(0)
    for item in range(first, end):
        vertex = np.int64(search.active[item])
        lists = fact(facts, vertex, LISTS) & ~CANDIDATE
        if passes_filter(vertex, facts, turn.share):
            kept += 1
            if fact(facts, vertex, MOVED_IN) != turn.number - 1 and may_give(search.part[vertex], search):
                note(facts, vertex, GAIN, fact(facts, vertex, LINK) - fact(facts, vertex, OWN))
                lists |= CANDIDATE
                found += 1
        else:
            lists &= ~ACTIVE
        note(facts, vertex, LISTS, lists)
    if kept == 0:
        return
    slot = claim(search.counters, LISTED, found)
    place = claim(search.counters, WANTED, kept)
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
def _accept(first, end, facts, search, turn):
    """Move those of some candidates with which the cut does not grow."""
    found = np.int64(0)
    for item in range(first, end):
        found += search.net[item] >= 0
    if found == 0:
        return
    slot = turn.base + claim(search.counters, MOVED, found)
    for item in range(first, end):
        if search.net[item] >= 0:
            vertex = np.int64(search.listed[item])
            transfer(slot, vertex, fact(facts, vertex, BEST), search)
            note(facts, vertex, MOVED_IN, turn.number)
            slot += 1


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
    slot = turn.border + claim(search.counters, JOINED, joined)
    place, target = claim(search.counters, WANTED, wanted), search.spare
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
    first, end = take(worker, 1, count, -1, search.counters, RATED)
    while first < end:
        for item in range(first, end):
            row = search.dirty[item]
            if on_cpu and has_totals:
                fetch_totals(search.dirty, item, end - 1, level, facts, connections)
            elif on_cpu:
                fetch_later(search.dirty, item, end - 1, level, facts, state.labels, 1)
            if has_totals:
                own, best, link = strongest(row, level, state, connections)
            else:
                base = worker.id * tables.capacity if tables.capacity else 2 * level.offsets[row]
                own, best, link = rate_row(row, level, state, tables, base)
            growth += note_rating(facts, row, own, best, link)
        first, end = take(worker, 1, count, first, search.counters, RATED)
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
    first, end = take(worker, lanes, count, -1, search.counters, RECONSIDERED)
    while first < end:
        for item in range(first, end):
            if lanes == 1:
                fetch_later(search.listed, item, end - 1, level, facts, facts, WORDS)
            if not is_long(search.listed[item], level, worker):
                _reconsider(item, worker.id % lanes, lanes, level, facts, search)
            elif worker.id % lanes == 0:
                search.dirty[fetch_add(search.counters, LONG_LISTED, 1)] = item
        first, end = take(worker, lanes, count, first, search.counters, RECONSIDERED)
    barrier_wait(worker)
    n_long = load(search.counters, LONG_LISTED)
    if n_long > 0:
        team = team_of(worker, n_long)
        for place in range(team.first, n_long, team.step):
            _reconsider(search.dirty[place], team.lane, team.lanes, level, facts, search)
        barrier_wait(worker)
    for first in range(worker.id * items, count, worker.count * items):
        _accept(first, min(first + items, count), facts, search, turn)
    barrier_wait(worker)


@device
def run_iteration(worker, level, state, memory, turn):
    """Run an iteration; ``memory`` are the facts, the search, the connections and the tables."""
    facts, search, connections, _ = memory
    items = turn.items
    if turn.is_free:
        _move_freely(worker, level, memory, turn)
    spread(worker, turn.base, level, (facts, search, connections.totals))
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
