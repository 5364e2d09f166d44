"""Refinement by Jet: all vertices move at the same time, past their neighbours' moves and past the balance.

A *free* iteration moves vertices without regard to the balance:

* Each vertex beside another part is a candidate for the part that most of its edges lead to (its
  destination), if the cut would not grow by more than a share of its edges to its own part.
* Candidates are considered again as if those neighbours had moved that come before them, in the order of
  their gains.  Those whose move then does not make the cut larger are moved; also a move without gain is,
  which lets the boundary drift into better places.
* Vertices that have moved are locked in the next iteration.
* A part that is further below an even share than its limit is above it gives no vertices.

An iteration takes some microseconds where few vertices are active, and a call and a look at its result take
longer.  So many of them follow each other in one parallel region (:mod:`~edgewise.partitions.refine.jet`), in
which the first worker notes the result itself (:mod:`~edgewise.partitions.refine.state`) and all go on with
the next one.  The moves of all iterations are listed one after the other, and those after the best state are
rolled back in the end.

If a part has become too heavy, the next iteration is one of :mod:`~edgewise.partitions.refine.rebalance`,
unless it is too heavy by little and has been so for few iterations: what such an iteration moves, the next
free one often moves back.  The best state is kept; the search ends after some iterations without one.
Ratings are computed again only for vertices that have moved and their neighbours.  Two lists have the
vertices that an iteration looks at: the *active* ones, which are candidates unless they are locked, and for
the balance those that have been beside another part (the *border*), which on a large mesh are few.

M. S. Gilbert, K. Madduri, E. G. Boman and S. Rajamanickam, "Jet: multilevel graph partitioning on graphics
processing units" (SIAM Journal on Scientific Computing 46, 2024); N. Maas, L. Gottesbüren and D. Seemaier,
"Parallel unconstrained local search for partitioning irregular graphs" (ALENEX 2024), on its relatives.
"""

from functools import partial

import numpy as np

from edgewise.device import arrays, barrier_wait, device, each, load, parallel_region
from edgewise.device.regions import workers
from edgewise.device.warps import claim
from edgewise.partitions.levels import (
    are_few,
    least_of,
    part_weights,
    room_type,
    salt_of,
    seed_salt,
    sizes_of,
)
from edgewise.partitions.presets import REGION_STEPS
from edgewise.partitions.rating import FACT, Labels, fact, new_facts, note, row_of
from edgewise.partitions.ratings import connections_of, no_tables, rate, tables_for
from edgewise.partitions.refine.jet import iterate, joins_border, passes_filter, run_iteration
from edgewise.partitions.refine.rebalance import (
    LOOKS,
    STEPS,
    Ranking,
    deal_out,
    least_step_of,
    move_out,
    new_room,
    part_and_key,
    rank_all,
    ranking_of,
    vertex_of,
)
from edgewise.partitions.refine.state import (
    ACTIVE,
    AMPLE,
    AT,
    BORDER,
    COUNT,
    WEAK,
    Counters,
    Memory,
    Rule,
    Search,
    Turn,
    begin,
    compare,
    may_move_freely,
    take_back,
    with_lists_exchanged,
)
from edgewise.partitions.row_shares import WORKER_ITEMS
from edgewise.primitives.mixing import mix

#: Items of a list that a thread of the CPU looks at before it claims places for them at once in another list,
#: since a counter that all threads increment for each item takes longer than the items; on a GPU it is one.
SPAN = 512
#: Entries of a row that are as much work as what else is done for a vertex.
VERTEX_ENTRIES = 32
#: What the numbers of iterations are added to, as a step of a seeded call.
FIRST_STEP = 100


@partial(each, least_chunk=1)
def _list_border(span, items, count, chosen, facts, border, counters):
    """List those of the chosen vertices, or of all if there are none, that are beside another part."""
    first, end, found = span * items, min((span + 1) * items, count), np.int64(0)
    for item in range(first, end):
        vertex = row_of(item, chosen)
        lists = fact(facts, vertex, FACT.lists)
        if lists & BORDER:
            note(facts, vertex, FACT.lists, lists & ~BORDER)
        found += joins_border(vertex, facts)
    if found == 0:
        return
    slot = claim(counters, COUNT.joined, found)
    for item in range(first, end):
        vertex = row_of(item, chosen)
        if joins_border(vertex, facts):
            border[slot] = vertex
            note(facts, vertex, FACT.lists, fact(facts, vertex, FACT.lists) | BORDER)
            slot += 1


@partial(each, least_chunk=1)
def _list_active(span, items, count, border, facts, share, active, counters):
    """List those of the border that pass the filter."""
    first, end, found = span * items, min((span + 1) * items, count), np.int64(0)
    for item in range(first, end):
        vertex = np.int64(border[item])
        if passes_filter(vertex, facts, share):
            note(facts, vertex, FACT.lists, fact(facts, vertex, FACT.lists) | ACTIVE)
            found += 1
    if found == 0:
        return
    slot = claim(counters, COUNT.wanted, found)
    for item in range(first, end):
        vertex = np.int64(border[item])
        if fact(facts, vertex, FACT.lists) & ACTIVE:
            active[slot] = vertex
            slot += 1


@each
def _clear_active(item, facts, active):
    vertex = np.int64(active[item])
    note(facts, vertex, FACT.lists, fact(facts, vertex, FACT.lists) & BORDER)


def _workers_for(items):
    """Number of workers of the CPU for a step of so many items."""
    return min(workers(), items // WORKER_ITEMS + 1)


@device
def _conclude(has_moved, ends, counters, progress, rule, room):
    """Note the result of an iteration, clear the counters, and begin another one if it may."""
    if has_moved:
        is_free = progress[AT.is_free]
        progress[AT.moves] = counters[COUNT.moved]
        progress[AT.own_total] += counters[COUNT.grown]
        progress[AT.excess] = counters[COUNT.excess] - AMPLE
        progress[AT.n_border] += counters[COUNT.joined]
        progress[AT.n_active] = counters[COUNT.wanted] + (0 if is_free else progress[AT.n_active])
        progress[AT.end] += counters[COUNT.moved]
        ends[progress[AT.steps]] = progress[AT.end]
        progress[AT.steps] += 1
        progress[AT.free_steps] += is_free
        progress[AT.iteration] += 1
        progress[AT.looks_at_all] = 0
        compare(progress, rule)
        progress[AT.goes_on] = begin(progress, rule, room)
    else:
        take_back(progress, counters[COUNT.open] > 0)
        progress[AT.goes_on] = 0
    for one in range(len(counters)):
        counters[one] = 0


@parallel_region
def run_iterations(worker, level, state, memory, space, control, rule, ranking):
    """Run iterations until the search ends, or has to be looked at by the host.

    The first one has begun.  ``control`` are the progress and the places after the moves of each iteration.
    """
    progress, ends = control
    goes_on = True
    while goes_on:
        is_free, has_moved = load(progress, AT.is_free), True
        border = load(progress, AT.n_border)
        turn = Turn(
            is_free,
            load(progress, AT.turn),
            rule.share,
            border,
            load(progress, AT.n_active),
            rule.items,
            load(progress, AT.end),
        )
        if is_free == 0:
            looks_at_all = load(progress, AT.looks_at_all)
            how = Ranking(
                0,
                -1 if looks_at_all else border,
                STEPS if looks_at_all else rule.least,
                rule.items,
                ranking.vertex_bits,
                ranking.digit_bits,
                mix(rule.salt, FIRST_STEP + load(progress, AT.iteration)),
            )
            has_moved = move_out(worker, level, state, memory, space, how, turn)
        if has_moved:
            run_iteration(worker, level, state, memory, turn)
        barrier_wait(worker)
        if worker.id == 0:
            _conclude(has_moved, ends, memory.search.counters, progress, rule, len(memory.search.moves))
        barrier_wait(worker)
        goes_on = load(progress, AT.goes_on) != 0
        if is_free:
            memory = with_lists_exchanged(memory)


class Refinement:
    """A refinement of one level: its state, and the steps of the search.

    Parameters
    ----------
    level : Level
    part : (n,) index array
        The partition, on the same device, which the search changes.
    limits : (k,) int64 array
        On the same device.
    how : Settings
        See :mod:`~edgewise.partitions.presets`.
    cut : int
        Of the partition.
    """

    def __init__(self, level, part, limits, how, cut=0):
        self.level, self.where, self.how = level, arrays.device_of(level.offsets), how
        self.items, self.is_few = SPAN if self.where == "cpu" else 1, are_few(level.offsets, level.neighbours)
        self.work = 1 + len(level.neighbours) // max(len(level.offsets) - 1, 1) // VERTEX_ENTRIES
        self.progress, self.undo = np.zeros(len(AT), np.int64), []
        self.begin(part, limits, cut)
        own, slack = int(self.progress[AT.own_total]), int(limits.min()) * how.slack // 1000
        rule = Rule(
            2 * cut + own, how.patience, how.tolerance, how.streak, slack, 0, self.items, REGION_STEPS
        )
        self.rule = rule._replace(salt=seed_salt(how.seed))
        self.progress[[AT.best_cut, AT.best_excess]] = cut, self.progress[AT.excess]

    def begin(self, part, limits, cut):
        """Begin with a partition: weigh its parts, rate all vertices, and list the border."""
        level, where, n, k = self.level, self.where, len(self.level.offsets) - 1, len(limits)
        loads = part_weights(level.sizes, part, k)
        total = int(loads.sum())
        given = part, loads, limits, least_of(limits, total)
        kind = level.neighbours.dtype
        listed, moves, left, dirty, border, active, spare = (arrays.empty(n, kind, where) for _ in range(7))
        net, counters = arrays.empty(n, np.int64, where), arrays.zeros(len(COUNT), np.int64, where)
        search = Search(*given, listed, net, moves, left, dirty, border, counters)
        form = room_type(max(total, int(limits.max())), where)
        room = arrays.full(k, np.iinfo(form).max, form, where)
        none = arrays.empty(0, kind, where)
        self.labels = Labels(search.part, room, none, salt_of(self.how.seed, 7), self.how.shift)
        self.space, self.least_step, self.share = new_room(k, form, where), -1, 0
        connections = connections_of(level, self.labels, k, cut)
        tables = no_tables(level) if len(connections.totals) else tables_for(level, k)
        self.memory = Memory(new_facts(level, k), search, active, spare, connections, tables)
        own = rate(None, level, self.labels, (connections, tables), self.memory.facts)
        now = int(own[0]), int(arrays.namespace(limits).max(loads - limits)), 0, 1, 1
        self.progress[[AT.own_total, AT.excess, AT.n_active, AT.turn, AT.iteration]] = now
        self.list_border(search.listed[:0], n)

    def in_spans(self, loop, count, *arguments):
        """Run a loop over the spans of a list."""
        loop(-(-count // self.items), self.items, count, *arguments)

    def list_border(self, chosen, count):
        """List those of ``count`` vertices, or of all if none are chosen, that are beside another part."""
        search, facts = self.memory.search, self.memory.facts
        if self.is_few:
            vertices = chosen.astype(np.int64) if len(chosen) else np.arange(count)
            note(facts, vertices, FACT.lists, fact(facts, vertices, FACT.lists) & ~BORDER)
            vertices = vertices[joins_border(vertices, facts)]
            note(facts, vertices, FACT.lists, fact(facts, vertices, FACT.lists) | BORDER)
            search.border[: len(vertices)] = vertices
            self.progress[AT.n_border] = len(vertices)
        else:
            search.counters[:] = 0
            self.in_spans(_list_border, count, chosen, facts, search.border, search.counters)
            self.progress[AT.n_border] = int(search.counters[COUNT.joined])
        self.border_room = 2 * int(self.progress[AT.n_border])

    def list_active(self, share):
        """List the active vertices for another share."""
        (facts, search, active, *_), progress = self.memory, self.progress
        n_active, count = int(progress[AT.n_active]), int(progress[AT.n_border])
        if self.is_few:
            _clear_active.vectorised(n_active, facts, active)
            vertices = search.border[:count].astype(np.int64)
            vertices = vertices[passes_filter(vertices, facts, share)]
            note(facts, vertices, FACT.lists, fact(facts, vertices, FACT.lists) | ACTIVE)
            active[: len(vertices)] = vertices
            self.share, progress[AT.n_active] = share, len(vertices)
            return
        search.counters[:] = 0
        _clear_active(n_active, facts, active)
        self.in_spans(_list_active, count, search.border, facts, share, active, search.counters)
        self.share, progress[AT.n_active] = share, int(search.counters[COUNT.wanted])

    def finish_iteration(self):
        """Rate again after moves that are listed; return their number."""
        search, progress = self.memory.search, self.progress
        n_border, n_active = int(progress[AT.n_border]), int(progress[AT.n_active])
        turn = Turn(0, int(progress[AT.turn]), self.share, n_border, n_active, self.items, 0)
        busy = int(search.counters[COUNT.moved]) * self.work if self.where == "cpu" else 0
        iterate.with_workers(_workers_for(busy), self.level, self.labels, self.memory, turn)
        found = Counters(*arrays.move(search.counters, "cpu").tolist())
        progress[AT.own_total] += found.grown
        progress[AT.n_border] += found.joined
        progress[AT.n_active] += found.wanted
        progress[AT.excess], progress[AT.moves] = found.excess - AMPLE, found.moved
        progress[AT.iteration] += 1
        return found.moved

    def prepare_repair(self):
        """Prepare an iteration for the balance: list a border that has doubled anew."""
        if self.least_step < 0:
            self.least_step = least_step_of(self.level)
        count = int(self.progress[AT.n_border])
        if count > self.border_room:
            self.list_border(self.memory.search.border[:count].copy(), count)
        self.rule = self.rule._replace(least=self.least_step, most_border=self.border_room)

    def run(self):
        """Run iterations until the host has to look; return where the moves of each end."""
        progress, rule = self.progress, self.rule
        if rule.share != self.share or progress[AT.turn] == 1:
            self.list_active(rule.share)
        self.memory.search.counters[:] = 0
        progress[[AT.steps, AT.free_steps, AT.end, AT.best_steps, AT.best_end]] = 0, 0, 0, -1, 0
        begin(progress, rule, len(self.memory.search.moves))
        control = arrays.move(progress, self.where), arrays.empty(rule.most, np.int64, self.where)
        looks = len(self.level.offsets) - 1 if progress[AT.looks_at_all] else int(progress[AT.n_border])
        busy = max(int(progress[AT.n_active]) * self.work, looks // LOOKS) if self.where == "cpu" else 0
        run_iterations.with_workers(
            _workers_for(busy),
            self.level,
            self.labels,
            self.memory,
            self.space,
            control,
            rule,
            ranking_of(self.level, len(self.labels.room), self.items),
        )
        progress[:] = arrays.move(control[0], "cpu")
        if progress[AT.free_steps] % 2:
            self.memory = with_lists_exchanged(self.memory)
        return arrays.move(control[1], "cpu")[: progress[AT.steps]]

    def rebalance_strongly(self):
        """Deal out what leaves the heavy parts to the free room of the others; return the number of moves."""
        level, search, k = self.level, self.memory.search, len(self.labels.room)
        xp, how = arrays.namespace(level.offsets), ranking_of(level, k, self.items)
        search.counters[:] = 0
        n_workers = _workers_for((len(level.offsets) - 1) // LOOKS)
        rank_all.with_workers(n_workers, level, self.labels, self.memory, self.space, how)
        found = Counters(*arrays.move(search.counters, "cpu").tolist())
        search.counters[:] = 0
        if found.open:
            listed = search.net[: found.listed]
            parts, keys = part_and_key(listed, how)
            listed = listed[keys <= self.space.last[parts]]
            listed.sort()
            vertices = arrays.move(vertex_of(listed, how), self.where)
            sizes = sizes_of(level, vertices)
            before = xp.cumsum(sizes) - sizes
            place = xp.searchsorted(xp.cumsum(self.space.room), before, side="right")
            targets = arrays.move(xp.minimum(place, k - 1).astype(np.int64), self.where)
            self.in_spans(deal_out, len(vertices), vertices, targets, search)
        return self.finish_iteration()

    def search(self, share):
        """Search from the best state on, with candidates that may cost such a share of their edges."""
        progress, how = self.progress, self.how
        if progress[AT.is_found]:
            part, limits = self.roll_back(), self.memory.search.limits
            del self.memory  # which is as large as that of the next search
            self.begin(part, limits, int(progress[AT.best_cut]))
        progress[[AT.fruitless, AT.unbalanced, AT.repairs, AT.is_done]] = 0
        self.rule = self.rule._replace(share=share, least=-1)
        while progress[AT.fruitless] < how.patience and not progress[AT.is_done]:
            is_free, first = may_move_freely(progress, self.rule), 0
            if not is_free and (progress[AT.repairs] >= WEAK or progress[AT.is_strong]):
                progress[[AT.fruitless, AT.repairs]] += 1
                progress[[AT.unbalanced, AT.is_strong, AT.best_steps]] = 0, 0, -1
                ends = [self.rebalance_strongly()]
                self.note_moves(0, ends)
                compare(progress, self.rule)
                if progress[AT.best_steps] >= 0:
                    self.undo = []
                continue
            if not is_free:
                self.prepare_repair()
            ends = self.run().tolist()
            if progress[AT.best_steps] >= 0:
                self.undo, first = [], int(progress[AT.best_end])
                ends = ends[progress[AT.best_steps] :]
            self.note_moves(first, ends)

    def note_moves(self, first, ends):
        """Note the moves of some iterations: those from ``first``, up to the end of each iteration."""
        if ends and first < ends[-1]:
            search, span = self.memory.search, slice(first, ends[-1])
            moves = search.moves[span].copy(), search.left[span].copy()
            self.undo.append((*moves, [end - first for end in ends]))

    def roll_back(self):
        """Take back all moves since the best state, told apart by iteration; return its parts, (n,)."""
        part = self.memory.search.part
        while self.undo:
            vertices, left, ends = self.undo.pop()
            for first, end in reversed(list(zip([0, *ends], ends))):
                part[vertices[first:end]] = left[first:end]
        return part


def refine(level, part, limits, how, cut):
    """Refine a partition with a cut of ``cut``, in place; return it, its cut, and its excess."""
    job = Refinement(level, part, limits, how, cut)
    for share in how.shares:
        job.search(share)
    return job.roll_back(), *(int(job.progress[place]) for place in (AT.best_cut, AT.best_excess))
