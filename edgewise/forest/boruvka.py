"""Boruvka's algorithm: every tree takes its first edge, all at once, until no edge leaves a tree.

Of the edges that leave a tree, the first one in the order (:mod:`~edgewise.forest.order`) is in the forest,
so all trees may take theirs at the same time, and their number at least halves in a round.  The rounds of a
phase (:mod:`~edgewise.forest.filter`) run in one region with two barriers each:

* Every edge of the list takes the roots at its ends, is hooked if it is the first one of one of them
  (:mod:`~edgewise.forest.trees`), and forgets what was offered to that root.
* Every edge replaces its ends by the roots above them, is dropped if both are the same, and offers itself to
  both of its trees by an atomic minimum, after a plain comparison that most edges fail.

Ends are stored as roots, so a path is walked once (*implicit path compression*, as in ECL-MST).  The list of
a group shrinks where it is; nothing moves between groups.  The giant tree of a later phase takes no edge: all
of its edges are offered to the trees at their other ends, and millions of offers to one root are saved.

A round waits for memory most of the time.  A lane therefore walks the paths from both ends of an edge to
their roots together, step by step, and reads two edges at a time where it hooks.  A thread of the CPU starts
to read the parents and offers of an edge some edges before it needs them.

The first round, in which every vertex is a tree, is that of :mod:`~edgewise.forest.first_edges`.  Where the
vertices are many, the trees are renumbered after it (:mod:`~edgewise.forest.renumbering`).

O. Boruvka, "O jistem problemu minimalnim" (1926); Fallin, Gonzalez, Seo and Burtscher, "A High-Performance
MST Implementation for GPUs" (SC 2023).
"""

import numpy as np

from edgewise.components.trees import compress, make_singletons
from edgewise.device import arrays, barrier_wait, device, load, parallel_region, store
from edgewise.device.prefetch import prefetch
from edgewise.device.warps import warp_barrier, warp_rank, warp_size
from edgewise.forest.filter import (
    NO_FILTER,
    OFFERS_AHEAD,
    PARENTS_AHEAD,
    SAMPLE,
    Entries,
    entry_at,
    first_phase,
    giant_of,
    keep,
    lanes_of,
    list_edges,
    new_lists,
    next_phase,
)
from edgewise.forest.first_edges import hook_all_by_first, hook_by_offer
from edgewise.forest.renumbering import is_renumbered, merge_numbered, number_of, renumber
from edgewise.forest.trees import (
    Trees,
    are_first,
    label_by_least,
    lower_least,
    make_roots,
    offer,
    offer_position,
    prefetch_offers,
    roots_of,
    take,
    without_offers,
)

__all__ = ["NO_FILTER", "SAMPLE", "Entries", "boruvka"]

#: Edges for each vertex up to the limit of each phase but the last.
STAGES = (2.0,)
#: Edges for each vertex up to the limit of each phase but the last, of graphs that are dense.
STAGES_OF_DENSE = (1.0, 3.0)
#: Edges for each vertex from which on a graph is dense.
DENSE = 10
#: Vertices that lower the labels of their trees before the others.
FEW = 1024


@device
def edge_at(slot, lists):
    """Ends, word and entry of an edge in a list."""
    ends = np.int64(lists.ones[slot]), np.int64(lists.others[slot])
    return ends, lists.words[slot], entry_at(slot, lists)


@device
def take_group(group, lane, trees, lists):
    """Hook the trees whose first edges are in a group's list; a lane reads two edges at a time.

    No other edge is the first one of the same trees, so both are read before either is taken.
    """
    lanes, start = np.int64(warp_size()), group * np.int64(lists.capacity)
    end = start + lists.counts[group]
    for slot in range(start + lane, end, 2 * lanes):
        second = min(slot + lanes, end - 1)
        if lanes == 1:
            for ahead in range(slot + OFFERS_AHEAD, slot + OFFERS_AHEAD + 2):
                later = min(ahead, end - 1)
                prefetch_offers(trees, (lists.ones[later], lists.others[later]))
        ends, word, entry = edge_at(slot, lists)
        ends_2, word_2, entry_2 = edge_at(second, lists)
        firsts = are_first(trees, ends, word, entry)
        firsts_2 = are_first(trees, ends_2, word_2, entry_2)
        take(trees, ends, entry, firsts)
        if second == slot + lanes:
            take(trees, ends_2, entry_2, firsts_2)


@device
def prefetch_roots(slot, last, trees, lists):
    """Start to read the parents at the ends of a later edge, and the offers at those of a nearer one."""
    later = min(slot + PARENTS_AHEAD, last)
    prefetch(trees.parent, lists.ones[later])
    prefetch(trees.parent, lists.others[later])
    nearer = min(slot + OFFERS_AHEAD, last)
    prefetch_offers(trees, (trees.parent[lists.ones[nearer]], trees.parent[lists.others[nearer]]))


@device
def offer_group(group, lane, trees, lists, giant, is_listed):
    """Drop the edges of a group inside a tree, and offer the others to their trees; return their number.

    All ends are read before any edge is moved, and edges are moved to slots that have been read.

    ``is_listed`` is 1 if the edges have the ends with which they were listed.
    """
    is_numbered = is_listed != 0 and len(trees.numbers) > 0
    lanes, start, kept = np.int64(warp_size()), group * np.int64(lists.capacity), np.int64(0)
    count = lists.counts[group]
    for step in range(0, count, lanes):
        slot = start + min(step + lane, count - 1)
        if lanes == 1 and len(trees.numbers) == 0:
            prefetch_roots(slot, start + count - 1, trees, lists)
        word, entry = lists.words[slot], entry_at(slot, lists)
        ends = np.int64(lists.ones[slot]), np.int64(lists.others[slot])
        if is_numbered:
            ends = number_of(trees.numbers, ends[0]), number_of(trees.numbers, ends[1])
        else:
            ends = roots_of(trees.parent, ends)
        is_kept = (step + lane < count) & (ends[0] != ends[1])
        rank, number = warp_rank(is_kept, lane)
        warp_barrier()
        if is_kept:
            keep(start + kept + rank, ends, word, entry, lists)
            offer(trees, ends, word, giant)
        kept += number
    if lane == 0 and kept < count:
        lists.counts[group] = kept
    return kept


@device
def offer_positions(group, lane, trees, lists):
    """Where words are equal, offer the positions of a group's edges."""
    start = group * np.int64(lists.capacity)
    for slot in range(start + lane, start + lists.counts[group], warp_size()):
        word, entry = lists.words[slot], entry_at(slot, lists)
        offer_position(trees, np.int64(lists.ones[slot]), word, entry)
        offer_position(trees, np.int64(lists.others[slot]), word, entry)


@parallel_region
def grow_trees(worker, trees, lists, phase, is_offered):
    """Let all trees take edges of the lists until none is left.

    ``is_offered`` says whether the edges have been offered to the trees as they are, and is 0 after the first
    round.
    """
    lanes, n_groups, side = np.int64(warp_size()), np.int64(len(lists.counts)), np.int64(2 * phase.number)
    lane, mine, stride = worker.id % lanes, worker.id // lanes, worker.count // lanes
    while load(phase.alive, side) != 0:
        other_side = side ^ 1
        if is_offered != 0:
            if len(trees.positions):
                for group in range(mine, n_groups, stride):
                    offer_positions(group, lane, trees, lists)
                barrier_wait(worker)
            for group in range(mine, n_groups, stride):
                take_group(group, lane, trees, lists)
            if worker.id == 0:
                store(phase.alive, other_side, 0)
            barrier_wait(worker)
        giant, kept = giant_of(phase, trees.parent), np.int64(0)
        for group in range(mine, n_groups, stride):
            kept += offer_group(group, lane, trees, lists, giant, is_offered ^ 1)
        if kept > 0 and load(phase.alive, other_side) == 0:
            store(phase.alive, other_side, 1)
        barrier_wait(worker)
        side, is_offered = other_side, 1


def after_first_round(trees, renumbers):
    """The trees without offers, and the roots that they had before they were renumbered, if they are."""
    if renumbers:
        return renumber(trees)
    return without_offers(trees), None


def boruvka(n_vertices, entries):
    """Boruvka's algorithm with a filter step; see :class:`~edgewise.forest.ForestMethod`."""
    where, kind, packed = arrays.device_of(entries.targets), entries.targets.dtype, entries.order.packed
    new = Trees(
        arrays.empty(n_vertices, kind, where),
        arrays.empty(n_vertices, np.int64, where),
        arrays.empty(n_vertices, np.int64, where),
        arrays.empty(0 if packed else n_vertices, np.int64, where),
        arrays.empty(0, kind, where),
    )
    trees = without_offers(new)
    lists = new_lists(n_vertices, entries)
    stages = STAGES if len(entries.targets) < DENSE * n_vertices * (1 + entries.both) else STAGES_OF_DENSE
    phase, n_phases = first_phase(n_vertices, entries, stages)
    of_vertices, roots = trees, None
    renumbers = packed and n_phases == 1 and is_renumbered(n_vertices, where)
    if not packed:
        make_roots(n_vertices, trees.parent, trees.hooked_by)
    elif n_phases == 1 and entries.ascending:
        hook_all_by_first(n_vertices, entries, trees)
        trees, roots = after_first_round(trees, renumbers)
        if not renumbers:
            compress(n_vertices, trees.parent)
        phase = phase._replace(grown=1)
    while True:
        by_rows = int(entries.ascending and phase.number > 0 and phase.number == n_phases - 1)
        list_edges(len(lists.counts) * lanes_of(where), entries, trees, lists, phase, by_rows)
        is_first_round = packed and not phase.grown
        if is_first_round:
            hook_by_offer(n_vertices, entries, lists, trees)
            trees, roots = after_first_round(trees, renumbers)
        grow_trees(trees, lists, phase, int(not is_first_round))
        compress(len(trees.parent), trees.parent)
        if phase.number == n_phases - 1:
            break
        phase = next_phase(phase, trees.parent)
    if renumbers:
        merge_numbered(trees, roots, of_vertices)
        trees = of_vertices
    else:
        make_singletons(n_vertices, trees.offers)
    for count in (min(n_vertices, FEW), n_vertices):  # so that few labels are lowered more than once
        lower_least(count, trees.parent, trees.offers)
    label_by_least(n_vertices, trees.parent, trees.offers)
    return trees.hooked_by, trees.parent
