"""Refinement by Jet: all vertices move at the same time, past their neighbours' moves and past the balance.

A *free* iteration moves vertices without regard to the balance:

* Each vertex beside another part is a candidate for the part that most of its edges lead to (its
  destination), if the cut would not grow by more than a share of its edges to its own part.
* Candidates are considered again as if those neighbours had moved that come before them, in the order of
  their gains.  Those whose move then does not make the cut larger are moved; also a move without gain is,
  which lets the boundary drift into better places.
* Vertices that have moved are locked in the next iteration.

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

from edgewise.device import arrays, each, fetch_add
from edgewise.partitions.connections import connections_of, read_connections
from edgewise.partitions.facts import LISTS, fact, new_facts, note
from edgewise.partitions.iteration import (
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
    iterate,
    joins_border,
    passes_filter,
    workers_for,
)
from edgewise.partitions.levels import salt_of
from edgewise.partitions.loads import part_weights
from edgewise.partitions.ratings import Labels, no_tables, rate, row_of, tables_for


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
    slot = fetch_add(search.counters, JOINED, found)
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
    slot = fetch_add(search.counters, WANTED, found)
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
        self.items = items_of(where)
        self.search = Search(
            part.copy(),
            part_weights(level.sizes, part, k),
            limits,
            *(arrays.empty(n, np.int64, where) for _ in range(8)),  # from listed to spare
            arrays.zeros(COUNTERS, np.int64, where),
        )
        none = arrays.empty(0, level.neighbours.dtype, where)
        room = arrays.full(k, AMPLE, np.int64, where)
        self.labels = Labels(self.search.part, room, none, salt_of(how.seed, 7), how.shift)
        self.facts, self.aside, self.least_step = new_facts(level), None, None
        self.connections = connections_of(level, self.labels, k)
        has_totals = len(self.connections.totals) != 0
        self.tables = no_tables(where) if has_totals else tables_for(level, k)
        if has_totals:
            self.own = read_connections(None, level, self.labels, self.connections, self.facts)
        else:
            self.own = rate(None, level, self.labels, self.tables, self.facts)
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

    def finish_iteration(self, is_free=0):
        """Rate the vertices whose neighbourhood has changed; return the number of moves.

        Before that, an iteration that is free moves vertices; otherwise the moves are listed already.
        """
        search = self.search
        turn = Turn(is_free, self.turn, self.share, self.n_border, self.n_active, self.items)
        busy = max(self.n_active, int(search.counters[MOVED])) if self.where == "cpu" else 0
        memory = self.facts, search, self.connections, self.tables
        iterate.with_workers(workers_for(busy), self.level, self.labels, memory, turn)
        counters = arrays.move(search.counters, "cpu").tolist()
        self.own += counters[GROWN]
        self.n_border += counters[JOINED]
        self.excess = counters[EXCESS] - AMPLE
        self.iteration += 1
        if is_free:
            self.n_active = counters[WANTED]
            self.search = search._replace(active=search.spare, spare=search.active)
        else:
            self.n_active += counters[WANTED]
        return counters[MOVED]

    def move_freely(self, share):
        """One iteration without regard to the balance; the cut may grow by ``share`` for a candidate."""
        if share != self.share or self.turn == 1:
            self.list_active(share)
        self.search.counters[:] = 0
        self.turn += 1
        return self.finish_iteration(is_free=1)


class Best:
    """The best state of a search: what has moved since then is noted, and moved back in the end.

    Parameters
    ----------
    cut, excess : int
        Of the state.
    """

    def __init__(self, cut, excess):
        self.cut, self.excess = cut, excess
        self.is_found, self.moves = False, []

    def take(self, cut, excess):
        """Make the present state the best one."""
        self.cut, self.excess, self.is_found, self.moves = cut, excess, True, []

    def note(self, search, count):
        """Note the ``count`` moves of an iteration."""
        if count:
            self.moves.append((search.moves[:count].copy(), search.left[:count].astype(search.part.dtype)))

    def restore(self, part):
        """Move all that has moved since then back; return the partition, (n,)."""
        while self.moves:
            vertices, left = self.moves.pop()
            part[vertices] = left
        return part


def refine(level, part, limits, how, cut):
    """Refine a partition with a cut of ``cut``; return the best one, (n,), its cut, and its excess."""
    from edgewise.partitions.balance import rebalance

    job = Refinement(level, part, limits, how)
    total, slack = 2 * cut + job.own, int(limits.min()) * how.slack // 1000
    best = Best(cut, job.excess)
    for share in how.shares:
        fruitless = in_a_row = unbalanced = 0
        if best.is_found:
            job = Refinement(level, best.restore(job.search.part), limits, how)
        while fruitless < how.patience:
            fruitless += 1
            if job.excess <= 0 or (0 < unbalanced < how.streak and job.excess <= slack):
                moves, in_a_row, unbalanced = job.move_freely(share), 0, unbalanced + 1
            else:
                moves, in_a_row, unbalanced = rebalance(job, in_a_row >= 2), in_a_row + 1, 0
            best.note(job.search, moves)
            if moves and 0 < job.excess <= slack and 0 < unbalanced < how.streak:
                # it goes on without a repair: no state to keep, and no iteration without a better one
                fruitless -= 1
                continue
            unbalanced = unbalanced if job.excess > 0 else 0
            found = (total - job.own) // 2
            if best.excess > 0 and job.excess < best.excess:
                best.take(found, job.excess)
                fruitless = 0
            elif found < best.cut and (job.excess <= 0 or job.excess <= best.excess):
                if found * how.tolerance < best.cut * (how.tolerance - 1):
                    fruitless = 0
                best.take(found, job.excess)
            if moves == 0 and job.excess <= 0:
                break
    return best.restore(job.search.part), best.cut, best.excess
