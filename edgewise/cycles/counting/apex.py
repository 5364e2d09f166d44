"""Tops dealt out to warps, teams or the whole grid, by how many wedges they have.

Most tops of a graph have a few dozen wedges and a few have millions.  The order of tasks is by wedges, most
first, and is cut in four: tops that all workers count together, tops for a team with a table outside its
fast memory, for a team, and for a warp.  Each part is one launch, in which crews take tops from a counter.
"""

from typing import NamedTuple

import numpy as np

from edgewise.cycles.counting.tables import measure, slots_for, team_crew, warp_crew, whole_crew
from edgewise.device import arrays, device, fetch_add, parallel_region
from edgewise.device.launch import processors
from edgewise.device.regions import workers
from edgewise.device.warps import block_barrier, block_size, shuffle, warp_size, warps_per_block
from edgewise.errors import OptionError

#: Threads of a block, and blocks a multiprocessor gets at most.
THREADS, MAX_BLOCKS_PER_SM = 256, 8
#: Blocks a multiprocessor gets whose tables lie outside, and the part of free memory those tables may have.
CROWD_OUTSIDE, PART = 4, 8
#: Wedges, times the fields of a slot, from which on a top is counted by everyone: smaller ones do not pay for
#: the barriers, larger ones for tables that fall out of the cache because there is one a team.
MANY = 1 << 20
#: Ranks that fit a slot of a table.
MOST = 2**31 - 2


@device
def next_of_team(me, own, said, first, taken):
    """Take the next task for a team."""
    block_barrier()  # who is late still reads the task before
    if me % block_size() == 0:
        own[said] = first + np.int64(fetch_add(taken, 0, 1))
    block_barrier()
    return own[said]


class Regions(NamedTuple):
    """The four ways to count tops: see :func:`regions`."""

    by_warps: parallel_region
    by_teams: parallel_region
    outside: parallel_region
    all_at_once: parallel_region
    words: int


def regions(count_top, name, words):
    """Make the four regions that count tops.

    Parameters
    ----------
    count_top : device function
        ``count_top(top, wedges, crew, table, base, given)``.
    name : str
        Of its module.
    words : int
        Words of a team's fast memory for tables.
    """

    def by_warps(worker, table, stride, first, end, taken, order, wedges, *given):
        lanes, team = warp_size(), block_size()
        base = worker.id % team // lanes * ((len(worker.shared) - 1) // (team // lanes))
        crew, position = warp_crew(worker), np.int64(0)
        while position < end:
            if worker.id % lanes == 0:
                position = first + np.int64(fetch_add(taken, 0, 1))
            position = np.int64(shuffle(position, 0))
            if position < end:
                top = np.int64(order[position])
                count_top(top, np.int64(wedges[top]), crew, worker.shared, base, given)

    def by_teams(worker, table, stride, first, end, taken, order, wedges, *given):
        crew, said, position = team_crew(worker), len(worker.shared) - 1, np.int64(0)
        while position < end:
            position = next_of_team(worker.id, worker.shared, said, first, taken)
            if position < end:
                top = np.int64(order[position])
                count_top(top, np.int64(wedges[top]), crew, worker.shared, 0, given)

    def outside(worker, table, stride, first, end, taken, order, wedges, *given):
        crew, base, position = team_crew(worker), worker.id // block_size() * stride, np.int64(0)
        while position < end and base + stride <= len(table):  # there may be fewer tables than teams
            position = next_of_team(worker.id, worker.shared, 0, first, taken)
            if position < end:
                top = np.int64(order[position])
                count_top(top, np.int64(wedges[top]), crew, table, base, given)

    def all_at_once(worker, table, stride, first, end, taken, order, wedges, *given):
        crew = whole_crew(worker)
        for position in range(first, end):
            top = np.int64(order[position])
            count_top(top, np.int64(wedges[top]), crew, table, 0, given)

    made = []
    fast = {"by_warps": words + 1, "by_teams": words + 1, "outside": 1, "all_at_once": 0}
    for body in (by_warps, by_teams, outside, all_at_once):
        crowd = MAX_BLOCKS_PER_SM if fast[body.__name__] > 1 else CROWD_OUTSIDE
        words_of_team = fast[body.__name__]
        body.__module__, body.__qualname__ = name, body.__name__
        made.append(
            parallel_region(body, threads=THREADS, max_blocks_per_sm=crowd, shared_words=words_of_team)
        )
    return Regions(*made, words)


class Tops:
    """A count under way; see :class:`edgewise.cycles.method.Solver`.

    Parameters
    ----------
    found : Regions
    ranked : edgewise.cycles.counting.ranked.Ranked
    order : (tasks,) int64 array
    fields : int
        Words that a table has for each slot.
    extras : sequence of arrays
        What the counting writes beside the counts.
    small, large, all_from : int, optional
        Wedges up to which a warp, or a team, counts a top with a table in fast memory, and from which on
        everyone does.
    """

    def __init__(self, found, ranked, order, fields, extras=(), small=None, large=None, all_from=None):
        device = ranked.device
        if ranked.n_vertices > MOST:
            raise OptionError(f"{ranked.n_vertices:,} vertices are too many for tables; at most {MOST:,}")
        self.regions, self.device, self.order, self.fields = found, device, order, fields
        self.found = arrays.zeros(ranked.n_vertices, np.int64, device)
        self.below, self.wedges = wedges_of(ranked)
        self.graph = ranked.offsets, ranked.neighbours, ranked.split
        self.given = (*self.graph, self.below, self.found, *extras)
        most = int(self.wedges.max()) if len(self.wedges) else 0
        ends = self._ends(small, large, all_from)
        #: Wedges of the last top of each part but the last, plus one.
        self.borders = tuple(reversed(ends))
        self.table, self.stride = self._table(most, ranked.n_vertices, ends)
        self.sorted = self._cut(order)

    def _ends(self, small, large, all_from):
        """Wedges up to which a warp, a team, and a team with a table outside count a top, ascending."""
        words = _power(self.regions.words // self.fields)
        fit_warp, fit_team = (
            room * 3 // 4 for room in (_power(words // warps_per_block(THREADS, self.device)), words)
        )
        outside = MANY // self.fields if all_from is None else all_from
        team = min(fit_team, outside, fit_team if large is None else large)
        return min(fit_warp, team, fit_warp if small is None else small), team, outside

    def _table(self, most, vertices, ends):
        """Tables outside fast memory: one for each team, or for all, in one array; words of each."""
        if most <= ends[1]:
            return arrays.empty(0, np.int64, self.device), 1
        whole = int(slots_for(min(most, vertices))) * self.fields
        stride = int(slots_for(min(most, vertices, ends[2]))) * self.fields
        teams = workers() if self.device == "cpu" else CROWD_OUTSIDE * processors(self.device)
        room = arrays.free_memory(self.device) // 8
        if whole > room:
            raise arrays.out_of_memory(8 * whole, self.device)
        teams = max(1, min(teams, room // (PART * stride)))
        return arrays.empty(max(whole, teams * stride), np.int64, self.device), stride

    def _cut(self, order):
        """Starts of the four parts of an order, and its end; ``None`` if it is not by wedges, most first."""
        work = self.wedges[order]
        if bool((work[1:] > work[:-1]).any()):
            return None
        falling = arrays.move(arrays.namespace(self.device).searchsorted(-work, self._falling()), "cpu")
        return [0, *falling.tolist(), len(order)]

    def _falling(self):
        borders = np.array([-border for border in self.borders], np.int64)
        return arrays.move(borders, self.device)

    @property
    def counts(self):
        """What was found so far, by rank: (n,) int64 array."""
        return self.found

    def count(self, first, end):
        """Count the tops ``order[first:end]``."""
        with arrays.on(self.device):
            order, cut, start = self.order, self.sorted, first
            if cut is None:
                order = order[first:end]
                by_wedges = arrays.namespace(self.device).argsort(-self.wedges[order])
                order, start, end = order[by_wedges], 0, end - first
                cut = self._cut(order)
            found = self.regions
            parts = (found.all_at_once, found.outside, found.by_teams, found.by_warps)
            for region, low, high in zip(parts, cut, cut[1:]):
                low, high = max(low, start), min(high, end)
                if low < high:
                    taken = arrays.zeros(1, np.int64, self.device)
                    region(self.table, self.stride, low, high, taken, order, self.wedges, *self.given)

    def settle(self):
        """Nothing is left to add."""


def wedges_of(ranked):
    """Wedges of each middle and of each top: (2 m,) uint32 by lower entry, (n,) int64."""
    device = ranked.device
    below = arrays.empty(len(ranked.neighbours), np.uint32, device)
    wedges = arrays.zeros(ranked.n_vertices, np.int64, device)
    measure(ranked.n_vertices, ranked.offsets, ranked.neighbours, ranked.split, below, wedges, width="warp")
    return below, wedges


def wedges_as_work(ranked, length):
    """Work of each top: its wedges."""
    return wedges_of(ranked)[1].astype(np.float64)


def _power(number):
    """The largest power of two up to a number, at least 1."""
    return 1 << max(0, number.bit_length() - 1)
