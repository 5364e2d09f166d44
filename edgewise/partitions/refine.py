"""Refinement by Jet: all vertices move at the same time, past their neighbours' moves and past the balance.

An iteration on a balanced partition moves vertices without regard to the balance:

* Each vertex beside another part is a candidate for the part that most of its edges lead to (its
  destination), if the cut would not grow by more than a share of its edges to its own part.
* Candidates are considered again as if those neighbours had moved that come before them, in the order of
  their gains.  Those whose move then does not make the cut larger are moved; also a move without gain is,
  which lets the boundary drift into better places.
* Vertices that have moved are locked in the next iteration.

If a part has become too heavy, the iteration is one of :mod:`~edgewise.partitions.balance` instead.  The best
state is kept; the search ends after some iterations without one.  Ratings are computed again only for
vertices that have moved and their neighbours, and only vertices that have been beside another part are
considered (the *border*), which on a large mesh are few.

M. S. Gilbert, K. Madduri, E. G. Boman and S. Rajamanickam, "Jet: multilevel graph partitioning on graphics
processing units" (SIAM Journal on Scientific Computing 46, 2024); N. Maas, L. Gottesbüren and D. Seemaier,
"Parallel unconstrained local search for partitioning irregular graphs" (ALENEX 2024), on its relatives.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, cas, device, each, each_row, fetch_add, fetch_max
from edgewise.partitions.connections import connections_of, read_connections
from edgewise.partitions.levels import salt_of, weight_at
from edgewise.partitions.loads import add_loads
from edgewise.partitions.ratings import NO_LABEL, Labels, rate, tables_for, unrated

#: Gain of a vertex of the border that is no candidate, and of one outside of the border.
LOWEST, OUTSIDE = -(2**62), -(2**62) - 1
#: Room of every part while the balance does not count.
AMPLE = 2**62
#: Counters of an iteration.
LISTED, MOVED, DIRTY, EXCESS, CANDIDATES, STALE, JOINED = 0, 1, 2, 3, 4, 5, 6
#: Items that a thread of the CPU looks at before it claims places in a list; on a GPU it is one item.
SPAN = 512


class Search(NamedTuple):
    """The state of a refinement.

    Attributes
    ----------
    part : (n,) index array
    loads, limits : (k,) int64 arrays
        Weight of each part, and its largest weight.
    moved_in : (n,) int32 array
        The last free iteration in which a vertex was moved.
    gain : (n,) int64 array
        Of the candidates; ``LOWEST`` or ``OUTSIDE`` for other vertices.
    listed : (n,) int64 array
        The candidates.
    net : (n,) int64 array
        By how much the cut falls by the move of each listed candidate after those before it.
    moves, left : (n,) int64 arrays
        The vertices that have moved, and the parts that they have left.
    dirty : (n,) int64 array
        The vertices to be rated again.
    is_dirty : (n,) int64 array
        Not 0 for these.
    border : (n,) int64 array
        The vertices beside another part or without edges to their own, and some that have been.
    counters : (8,) int64 array
        Numbers of listed, moved and dirty vertices; the largest weight of a part above its limit, plus
        ``AMPLE``; the number of vertices that might leave such parts, of those whose part of choice is full,
        and of those that have joined the border.
    """

    part: Any
    loads: Any
    limits: Any
    moved_in: Any
    gain: Any
    listed: Any
    net: Any
    moves: Any
    left: Any
    dirty: Any
    is_dirty: Any
    border: Any
    counters: Any


def in_spans(body):
    """The loop ``run(where, count, *arguments)`` of a body ``body(span, items, count, *arguments)``.

    A span claims its places in another list at once, since a counter that all threads increment for each item
    takes longer than the items.
    """
    loop = each(body, least_chunk=1)

    def run(where, count, *arguments):
        items = SPAN if where == "cpu" else 1
        loop(-(-count // items), items, count, *arguments)

    run.loop = loop
    return run


@each
def measure_excess(one, search):
    """Find the largest weight of a part above its limit."""
    fetch_max(search.counters, EXCESS, search.loads[one] - search.limits[one] + AMPLE)


@device
def _gain_of(vertex, rated, search, turn, share):
    """Gain of a candidate; the cut may grow by ``share`` thousandths of its own edges."""
    if rated.best[vertex] != NO_LABEL and search.moved_in[vertex] != turn - 1:
        own, link = rated.own[vertex], rated.link[vertex]
        if link >= own or own - link < own * share // 1000:
            return link - own
    return np.int64(LOWEST)


@in_spans
def propose(span, items, count, rated, search, turn, share):
    """List the candidates of a span of the border."""
    first, end, found = span * items, min((span + 1) * items, count), np.int64(0)
    for item in range(first, end):
        vertex = np.int64(search.border[item])
        gain = _gain_of(vertex, rated, search, turn, share)
        search.gain[vertex] = gain
        found += gain != LOWEST
    if found == 0:
        return
    slot = fetch_add(search.counters, LISTED, found)
    for item in range(first, end):
        vertex = np.int64(search.border[item])
        if search.gain[vertex] != LOWEST:
            search.listed[slot] = vertex
            search.net[slot] = 0
            slot += 1


@each_row
def reconsider(item, lane, lanes, level, rated, search):
    """Add up by how much the cut falls by a candidate's move, after the moves of those before it."""
    vertex = np.int64(search.listed[item])
    gain, target, here = search.gain[vertex], rated.best[vertex], np.int64(search.part[vertex])
    net = np.int64(0)
    for entry in range(level.offsets[vertex] + lane, level.offsets[vertex + 1], lanes):
        other = np.int64(level.neighbours[entry])
        there, other_gain = np.int64(search.part[other]), search.gain[other]
        if other_gain > gain or (other_gain == gain and other < vertex):
            there = rated.best[other]
        if there == target:
            net += weight_at(level, entry)
        elif there == here:
            net -= weight_at(level, entry)
    if net != 0:
        fetch_add(search.net, item, net)


@device
def transfer(slot, vertex, target, search):
    """Move a vertex to another part and list it."""
    search.left[slot] = search.part[vertex]
    search.part[vertex] = target
    search.moves[slot] = vertex


@in_spans
def accept(span, items, count, rated, search, turn):
    """Move the candidates of a span with which the cut does not grow."""
    first, end, found = span * items, min((span + 1) * items, count), np.int64(0)
    for item in range(first, end):
        found += search.net[item] >= 0
    if found == 0:
        return
    slot = fetch_add(search.counters, MOVED, found)
    for item in range(first, end):
        if search.net[item] >= 0:
            vertex = np.int64(search.listed[item])
            transfer(slot, vertex, rated.best[vertex], search)
            search.moved_in[vertex] = turn
            slot += 1


@device
def _list_dirty(vertex, slot, mark, search):
    """List a vertex that is marked, and mark it as listed; return the next place."""
    if search.is_dirty[vertex] != mark:
        return slot
    search.dirty[slot] = vertex
    search.is_dirty[vertex] = -1
    return slot + 1


@each_row
def spread(item, lane, lanes, level, search, totals):
    """List a vertex that has moved and its neighbours as dirty, and correct the totals of the neighbours."""
    vertex, k = np.int64(search.moves[item]), len(search.limits)
    here, left = np.int64(search.part[vertex]), search.left[item]
    mark, found = item * lanes + lane + 1, np.int64(0)
    if lane == 0 and cas(search.is_dirty, vertex, 0, mark) == 0:
        found += 1
    for entry in range(level.offsets[vertex] + lane, level.offsets[vertex + 1], lanes):
        other = np.int64(level.neighbours[entry])
        if len(totals):
            fetch_add(totals, other * k + left, -weight_at(level, entry))
            fetch_add(totals, other * k + here, weight_at(level, entry))
        if search.is_dirty[other] == 0 and cas(search.is_dirty, other, 0, mark) == 0:
            found += 1
    if found == 0:
        return
    slot = fetch_add(search.counters, DIRTY, found)
    if lane == 0:
        slot = _list_dirty(vertex, slot, mark, search)
    for entry in range(level.offsets[vertex] + lane, level.offsets[vertex + 1], lanes):
        slot = _list_dirty(np.int64(level.neighbours[entry]), slot, mark, search)


@device
def _joins_border(vertex, rated, search):
    is_beside = rated.best[vertex] != NO_LABEL or rated.own[vertex] == 0
    return is_beside and search.gain[vertex] == OUTSIDE


@in_spans
def extend_border(span, items, count, chosen, size, rated, search):
    """Add those of the chosen vertices to the border, of ``size`` vertices, that are beside another part."""
    first, end, found = span * items, min((span + 1) * items, count), np.int64(0)
    for item in range(first, end):
        found += _joins_border(chosen[item], rated, search)
        search.is_dirty[chosen[item]] = 0
    if found == 0:
        return
    slot = size + fetch_add(search.counters, JOINED, found)
    for item in range(first, end):
        vertex = np.int64(chosen[item])
        if _joins_border(vertex, rated, search):
            search.border[slot] = vertex
            search.gain[vertex] = LOWEST
            slot += 1


@each
def _leave_border(item, chosen, search):
    search.gain[chosen[item]] = OUTSIDE


@each
def _begin(vertex, search, rated):
    search.listed[vertex] = vertex
    search.moved_in[vertex] = -1
    search.gain[vertex] = OUTSIDE
    rated.own[vertex] = 0


class Refinement:
    """A refinement of one level: its state, and the steps of the search.

    Parameters
    ----------
    level : Level
    part : (n,) index array
        The partition, on the same device; not changed.
    limits : (k,) int64 array
        On the same device.
    how : Settings
        See :mod:`~edgewise.partitions.presets`.
    """

    def __init__(self, level, part, limits, how):
        where, n, k = arrays.device_of(level.offsets), len(level.sizes), len(limits)
        self.level, self.where, self.how = level, where, how
        longs = [arrays.empty(n, np.int64, where) for _ in range(8)]
        self.search = Search(
            part.copy(),
            arrays.zeros(k, np.int64, where),
            limits,
            arrays.empty(n, np.int32, where),
            *longs,
            arrays.zeros(8, np.int64, where),
        )
        none = arrays.empty(0, level.neighbours.dtype, where)
        room = arrays.full(k, AMPLE, np.int64, where)
        self.labels = Labels(self.search.part, room, none, salt_of(how.seed, 7), how.shift)
        self.rated, self.aside, self.least_step = unrated(n, where), None, None
        _begin(n, self.search, self.rated)
        self.totals = connections_of(level, self.search.part, k)
        self.tables = None if len(self.totals) else tables_for(level, k)
        search = self.search
        add_loads(search.loads, level.sizes, search.part, longs[0][:0], search.left)
        self.own, self.n_border = 0, 0
        self.rate_again(self.search.listed)
        self.border_room = 2 * self.n_border
        self.iteration = self.turn = 1
        self.excess = self.measure()

    def rate(self, chosen, state, rated):
        """Rate vertices, from the totals or from their rows; return the growth of their own totals."""
        if len(self.totals):
            return read_connections(chosen, self.level, state, self.totals, rated)
        return rate(chosen, self.level, state, self.tables, rated)

    def rate_again(self, chosen):
        """Rate vertices whose neighbourhood has changed, and add those to the border that are beside it."""
        self.own += self.rate(chosen, self.labels, self.rated)
        extend_border(self.where, len(chosen), chosen, self.n_border, self.rated, self.search)
        self.n_border += int(self.search.counters[JOINED])

    def shrink_border(self):
        """Keep only those vertices in the border that are beside another part now, once it has doubled."""
        if self.n_border > self.border_room:
            chosen, self.n_border = self.search.border[: self.n_border].copy(), 0
            _leave_border(len(chosen), chosen, self.search)
            self.search.counters[JOINED] = 0
            extend_border(self.where, len(chosen), chosen, 0, self.rated, self.search)
            self.n_border = int(self.search.counters[JOINED])
            self.border_room = 2 * self.n_border

    def measure(self):
        """Largest weight of a part above its limit; 0 or less in a balanced partition."""
        measure_excess(len(self.search.limits), self.search)
        return int(self.search.counters[EXCESS]) - AMPLE

    def finish_iteration(self):
        """Rate the vertices whose neighbourhood has changed; return the number of moves."""
        search, level = self.search, self.level
        count = int(search.counters[MOVED])
        if count:
            add_loads(search.loads, level.sizes, search.part, search.moves[:count], search.left)
        spread(count, level, search, self.totals, width="warp")
        self.rate_again(search.dirty[: int(search.counters[DIRTY])])
        self.excess = self.measure()
        self.iteration += 1
        return count

    def move_freely(self, share):
        """One iteration without regard to the balance."""
        search, level = self.search, self.level
        self.shrink_border()
        search.counters[:] = 0
        self.turn += 1
        propose(self.where, self.n_border, self.rated, search, self.turn, share)
        count = int(search.counters[LISTED])
        reconsider(count, level, self.rated, search, width="warp")
        accept(self.where, count, self.rated, search, self.turn)
        return self.finish_iteration()


def refine(level, part, limits, how, cut):
    """Refine a partition with a cut of ``cut``; return the best one, (n,), its cut, and its excess."""
    from edgewise.partitions.balance import rebalance

    job = Refinement(level, part, limits, how)
    total = 2 * cut + job.own
    best, best_excess = part, job.excess
    for share in how.shares:
        fruitless = in_a_row = 0
        if best is not part:
            job = Refinement(level, best, limits, how)
        while fruitless < how.patience:
            fruitless += 1
            if job.excess <= 0:
                moves, in_a_row = job.move_freely(share), 0
            else:
                moves, in_a_row = rebalance(job, in_a_row >= 2), in_a_row + 1
            found = (total - job.own) // 2
            if best_excess > 0 and job.excess < best_excess:
                best, cut, best_excess, fruitless = job.search.part.copy(), found, job.excess, 0
            elif found < cut and (job.excess <= 0 or job.excess <= best_excess):
                if found * how.tolerance < cut * (how.tolerance - 1):
                    fruitless = 0
                best, cut, best_excess = job.search.part.copy(), found, job.excess
            if moves == 0 and job.excess <= 0:
                break
    return best, cut, best_excess
