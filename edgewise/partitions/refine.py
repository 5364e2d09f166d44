"""Refinement by Jet: all vertices move at the same time, past their neighbours' moves and past the balance.

A *free* iteration moves vertices without regard to the balance:

* Each vertex beside another part is a candidate for the part that most of its edges lead to (its
  destination), if the cut would not grow by more than a share of its edges to its own part.
* Candidates are considered again as if those neighbours had moved that come before them, in the order of
  their gains.  Those whose move then does not make the cut larger are moved; also a move without gain is,
  which lets the boundary drift into better places.
* Vertices that have moved are locked in the next iteration.
* A part that is further below an even share than its limit is above it gives no vertices.

If a part has become too heavy, the next iteration is one of :mod:`~edgewise.partitions.balance`, unless it is
too heavy by little and has been so for few iterations: what such an iteration moves, the next free one often
moves back.  The best state is kept; the search ends after some iterations without one.  Ratings are computed
again only for vertices that have moved and their neighbours.  Two lists have the vertices that an iteration
looks at: the *active* ones, which are candidates unless they are locked, and for the balance those that have
been beside another part (the *border*), which on a large mesh are few.

M. S. Gilbert, K. Madduri, E. G. Boman and S. Rajamanickam, "Jet: multilevel graph partitioning on graphics
processing units" (SIAM Journal on Scientific Computing 46, 2024); N. Maas, L. Gottesbüren and D. Seemaier,
"Parallel unconstrained local search for partitioning irregular graphs" (ALENEX 2024), on its relatives.
"""

import numpy as np

from edgewise.device import arrays, each
from edgewise.device.warps import claim
from edgewise.partitions import progress as at
from edgewise.partitions.balance import LOOKS, least_step_of, new_room, ranking_of, rebalance_strongly
from edgewise.partitions.connections import connections_of, read_connections
from edgewise.partitions.facts import LISTS, fact, new_facts, note
from edgewise.partitions.iteration import iterate, joins_border, passes_filter
from edgewise.partitions.iterations import run_iterations
from edgewise.partitions.levels import salt_of, seed_salt
from edgewise.partitions.loads import least_of, part_weights
from edgewise.partitions.presets import MOST_STEPS
from edgewise.partitions.progress import (
    MOST_WEAK,
    WORDS_OF_PROGRESS,
    Rule,
    begin,
    compare,
    may_move_freely,
)
from edgewise.partitions.rate import rate
from edgewise.partitions.ratings import Labels, no_tables, row_of, tables_for
from edgewise.partitions.search import (
    ACTIVE,
    AMPLE,
    BORDER,
    COUNTERS,
    EXCESS,
    GROWN,
    JOINED,
    MOVED,
    WANTED,
    Search,
    Turn,
    in_spans,
    items_of,
    with_lists_exchanged,
    workers_for,
)

#: Entries of a row that are as much work as what else is done for a vertex.
LONG_ROW = 32


@in_spans
def _list_border(span, items, count, chosen, facts, search):
    """List those of the chosen vertices, or of all if there are none, that are beside another part."""
    first, end, found = span * items, min((span + 1) * items, count), np.int64(0)
    for item in range(first, end):
        vertex = row_of(item, chosen)
        lists = fact(facts, vertex, LISTS)
        if lists & BORDER:
            note(facts, vertex, LISTS, lists & ~BORDER)
        found += joins_border(vertex, facts)
    if found == 0:
        return
    slot = claim(search.counters, JOINED, found)
    for item in range(first, end):
        vertex = row_of(item, chosen)
        if joins_border(vertex, facts):
            search.border[slot] = vertex
            note(facts, vertex, LISTS, fact(facts, vertex, LISTS) | BORDER)
            slot += 1


@in_spans
def _list_active(span, items, count, facts, search, share):
    """List those of the border that pass the filter."""
    first, end, found = span * items, min((span + 1) * items, count), np.int64(0)
    for item in range(first, end):
        vertex = np.int64(search.border[item])
        if passes_filter(vertex, facts, share):
            note(facts, vertex, LISTS, fact(facts, vertex, LISTS) | ACTIVE)
            found += 1
    if found == 0:
        return
    slot = claim(search.counters, WANTED, found)
    for item in range(first, end):
        vertex = np.int64(search.border[item])
        if fact(facts, vertex, LISTS) & ACTIVE:
            search.active[slot] = vertex
            slot += 1


@each
def _clear_active(item, facts, search):
    vertex = np.int64(search.active[item])
    note(facts, vertex, LISTS, fact(facts, vertex, LISTS) & BORDER)


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
        self.items, self.work = items_of(where), 1 + len(level.neighbours) // max(n, 1) // LONG_ROW
        loads = part_weights(level.sizes, part, k)
        given = part.copy(), loads, limits, least_of(limits, int(loads.sum()))
        lists = (arrays.empty(n, np.int64, where) for _ in range(8))  # from listed to spare
        self.search = Search._make([*given, *lists, arrays.zeros(COUNTERS, np.int64, where)])
        none = arrays.empty(0, level.neighbours.dtype, where)
        room = arrays.full(k, AMPLE, np.int64, where)
        self.labels = Labels(self.search.part, room, none, salt_of(how.seed, 7), how.shift)
        self.facts, self.aside, self.least_step = new_facts(level), new_facts(level), -1
        self.space = new_room(k, where)
        self.connections = connections_of(level, self.labels, k)
        has_totals = len(self.connections.totals) != 0
        self.tables = no_tables(where) if has_totals else tables_for(level, k)
        if has_totals:
            self.own = read_connections(None, level, self.labels, self.connections, self.facts)
        else:
            self.own = int(rate(None, level, self.labels, self.tables, self.facts)[0])
        self.share, self.n_active, self.n_border = 0, 0, 0
        self.list_border(self.search.listed[:0], n)
        self.iteration = self.turn = 1
        self.excess = int(arrays.namespace(limits).max(self.search.loads - limits))

    def list_border(self, chosen, count):
        """List those of ``count`` vertices, or of all if none are chosen, that are beside another part."""
        self.search.counters[:] = 0
        _list_border(self.where, count, chosen, self.facts, self.search)
        self.n_border = int(self.search.counters[JOINED])
        self.border_room = 2 * self.n_border

    def shrink_border(self):
        """Keep only those vertices in the border that are beside another part now, once it has doubled."""
        if self.n_border > self.border_room:
            self.list_border(self.search.border[: self.n_border].copy(), self.n_border)

    def list_active(self, share):
        """List the active vertices for another share."""
        self.search.counters[:] = 0
        _clear_active(self.n_active, self.facts, self.search)
        _list_active(self.where, self.n_border, self.facts, self.search, share)
        self.share, self.n_active = share, int(self.search.counters[WANTED])

    def finish_iteration(self):
        """Rate again after moves that are listed; return their number."""
        search = self.search
        turn = Turn(0, self.turn, self.share, self.n_border, self.n_active, self.items, 0)
        busy = int(search.counters[MOVED]) * self.work if self.where == "cpu" else 0
        memory = self.facts, search, self.connections, self.tables
        iterate.with_workers(workers_for(busy), self.level, self.labels, memory, turn)
        counters = arrays.move(search.counters, "cpu").tolist()
        self.own += counters[GROWN]
        self.n_border += counters[JOINED]
        self.n_active += counters[WANTED]
        self.excess = counters[EXCESS] - AMPLE
        self.iteration += 1
        return counters[MOVED]

    def prepare_repair(self, rule):
        """Prepare an iteration for the balance; return the rule that allows it."""
        if self.least_step < 0:
            self.least_step = least_step_of(self.level)
        self.shrink_border()
        return rule._replace(least=self.least_step, most_border=self.border_room)

    def run(self, progress, rule):
        """Run iterations until the search ends or the host has to look; return where the moves of each end.

        ``progress`` is changed.
        """
        if rule.share != self.share or self.turn == 1:
            self.list_active(rule.share)
        self.search.counters[:] = 0
        progress[[at.OWN_TOTAL, at.EXCESS, at.TURN]] = self.own, self.excess, self.turn
        progress[[at.N_BORDER, at.N_ACTIVE, at.ITERATION]] = self.n_border, self.n_active, self.iteration
        progress[[at.STEPS, at.FREE_STEPS, at.END, at.BEST_STEPS, at.BEST_END]] = 0, 0, 0, -1, 0
        begin(progress, rule, len(self.search.moves))
        control = arrays.move(progress, self.where), arrays.empty(rule.most, np.int64, self.where)
        memory = self.facts, self.aside, self.search, self.connections, self.tables
        looks = len(self.level.sizes) if progress[at.LOOKS_AT_ALL] else self.n_border
        run_iterations.with_workers(
            workers_for(max(self.n_active * self.work, looks // LOOKS) if self.where == "cpu" else 0),
            self.level,
            self.labels,
            memory,
            self.space,
            control,
            rule,
            ranking_of(self.level, len(self.search.limits), self.items),
        )
        progress[:] = arrays.move(control[0], "cpu")
        self.own, self.excess = int(progress[at.OWN_TOTAL]), int(progress[at.EXCESS])
        self.n_border, self.n_active = int(progress[at.N_BORDER]), int(progress[at.N_ACTIVE])
        self.turn, self.iteration = int(progress[at.TURN]), int(progress[at.ITERATION])
        if progress[at.FREE_STEPS] % 2:
            self.search = with_lists_exchanged(self.search)
        return arrays.move(control[1], "cpu")[: progress[at.STEPS]]


class Undo:
    """The moves since the best state of a search, which are taken back in the end.

    They are copied from one call at a time, and told apart by iteration only if they are taken back.
    """

    def __init__(self):
        self.moves = []

    def note(self, search, first, ends):
        """Note the moves of some iterations: those from ``first``, up to the end of each iteration."""
        if ends and first < ends[-1]:
            span = slice(first, ends[-1])
            left = search.left[span].astype(search.part.dtype)
            self.moves.append((search.moves[span].copy(), left, [end - first for end in ends]))

    def restore(self, part):
        """Take all moves back that have been noted; return the partition, (n,)."""
        while self.moves:
            vertices, left, ends = self.moves.pop()
            for first, end in reversed(list(zip([0, *ends], ends))):
                part[vertices[first:end]] = left[first:end]
        return part


def _run(job, progress, rule, undo):
    """Run iterations; note the moves after the best state."""
    ends, first = job.run(progress, rule).tolist(), 0
    if progress[at.BEST_STEPS] >= 0:
        undo.moves, first, ends = [], int(progress[at.BEST_END]), ends[progress[at.BEST_STEPS] :]
    undo.note(job.search, first, ends)


def _rebalance_strongly(job, progress, rule, undo):
    """Run a strong iteration for the balance."""
    progress[at.FRUITLESS] += 1
    progress[at.REPAIRS] += 1
    progress[[at.UNBALANCED, at.IS_STRONG, at.BEST_STEPS]] = 0, 0, -1
    moves = rebalance_strongly(job)
    undo.note(job.search, 0, [moves])
    progress[[at.OWN_TOTAL, at.EXCESS, at.MOVES]] = job.own, job.excess, moves
    compare(progress, rule)
    if progress[at.BEST_STEPS] >= 0:
        undo.moves = []


def refine(level, part, limits, how, cut):
    """Refine a partition with a cut of ``cut``; return the best one, (n,), its cut, and its excess."""
    job, undo = Refinement(level, part, limits, how), Undo()
    slack = int(limits.min()) * how.slack // 1000
    rule = Rule(2 * cut + job.own, how.patience, how.tolerance, how.streak, slack, 0, job.items, MOST_STEPS)
    rule = rule._replace(salt=seed_salt(how.seed))
    progress = np.zeros(WORDS_OF_PROGRESS, np.int64)
    progress[[at.BEST_CUT, at.BEST_EXCESS]] = cut, job.excess
    for share in how.shares:
        if progress[at.IS_FOUND]:
            job = Refinement(level, undo.restore(job.search.part), limits, how)
        progress[[at.FRUITLESS, at.UNBALANCED, at.REPAIRS, at.IS_DONE]] = 0
        progress[[at.OWN_TOTAL, at.EXCESS]] = job.own, job.excess
        rule = rule._replace(share=share, least=-1)
        while progress[at.FRUITLESS] < how.patience and not progress[at.IS_DONE]:
            is_free = may_move_freely(progress, rule)
            if not is_free and (progress[at.REPAIRS] >= MOST_WEAK or progress[at.IS_STRONG]):
                _rebalance_strongly(job, progress, rule, undo)
            else:
                rule = rule if is_free else job.prepare_repair(rule)
                _run(job, progress, rule, undo)
    return undo.restore(job.search.part), int(progress[at.BEST_CUT]), int(progress[at.BEST_EXCESS])
