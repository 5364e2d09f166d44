"""Which edges matter: a list of those whose words are in a range and whose ends are in two trees.

Where a graph has many more edges than vertices, few of them are in the forest, and those are light.  So the
first *phase* of a method sees only the lightest edges, about two for each vertex, by a sample of the words.
They nearly always leave one giant tree and some small ones.  The edges inside a tree are dropped when the
next phase reads them for the first time (a *filter* step).

A *group* reads tiles of neighbouring entries: a warp of a GPU or a thread of the CPU.  It lists the entries
whose words are in the range first, so that the ends of the others are never read, and then keeps those that
leave a tree, closely packed in memory of its own; so nothing is moved between groups, and no counter is
shared.  A bit for each vertex tells whether it is in the giant tree, which needs a smaller cache than its
root.  In the last phase every edge that is left leaves a small tree.  Where rows are ascending and both
directions of an edge are there, it is found in the rows of the small trees, and those of the giant tree are
never read.

V. Osipov, P. Sanders and J. Singler, "The Filter-Kruskal Minimum Spanning Tree Algorithm" (ALENEX 2009);
A. Fallin, A. Gonzalez, J. Seo and M. Burtscher, "A High-Performance MST Implementation for GPUs" (SC 2023);
the giant tree as in M. Sutton, T. Ben-Nun and A. Barak, "Optimizing Parallel Graph Connectivity Computation
via Subgraph Sampling" (IPDPS 2018).
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, device, each, store, threads
from edgewise.device.launch import WARP, processors
from edgewise.device.warps import (
    ballot,
    find_segment,
    inclusive_scan,
    shuffle,
    warp_barrier,
    warp_rank,
    warp_size,
)
from edgewise.forest.order import LARGEST, POSITION_BITS, key_of, word_of
from edgewise.forest.renumbering import tree_of
from edgewise.forest.trees import offer, prefetch_offers, root_of
from edgewise.primitives.rows import row_from, row_of
from edgewise.primitives.vote import LABEL, VOTERS, vote

#: Words of the sample.
SAMPLE = 2048
#: Share of the edges from which on nothing is filtered.
NO_FILTER = 0.7
#: How many edges ahead the CPU starts to read the parents of the ends of an edge.
PARENTS_AHEAD = 16
#: How many edges ahead the CPU starts to read what was offered to these parents.
OFFERS_AHEAD = 8
#: Entries of a tile on the CPU.
CPU_TILE = 1 << 15
#: Entries of a tile on a GPU.
TILE = 1 << 10
#: Groups for each thread of the CPU.
CPU_GROUPS = 8
#: Groups for each multiprocessor of a GPU.
GROUPS = 64


class Entries(NamedTuple):
    """The edges as the arrays have them; an edge counts where it is listed with its smaller end first.

    Attributes
    ----------
    sources, targets : (entries,) index arrays
    offsets : (n + 1,) int64 array
        The rows of the entries, if there are no ``sources``; else empty.
    both : int
        1 if every edge is listed in both directions, else 0.
    order : Order
    ascending : int
        1 if every row is ascending and every edge is in the rows of both of its ends, else 0.
    """

    sources: Any
    targets: Any
    offsets: Any
    both: int
    order: Any
    ascending: int = 0


class Lists(NamedTuple):
    """The edges that the groups have kept: each group uses the first ones of its ``capacity`` slots.

    Attributes
    ----------
    ones, others : (slots,) index arrays
        Roots of the two ends; empty if only words are kept.
    words : (slots,) int64 array
    entries : (slots,) int64 array
        Empty if words hold positions.
    counts : (groups,) int64 array
        Edges of each group.
    first_rows : (tiles,) index array
        The row of the first entry of each tile; empty if entries have sources.
    tile, capacity : int
    """

    ones: Any
    others: Any
    words: Any
    entries: Any
    counts: Any
    first_rows: Any
    tile: int
    capacity: int


class Phase(NamedTuple):
    """A phase, which sees words larger than its predecessor's limit and up to its own.

    Attributes
    ----------
    number : int
    limits : (phases,) int64 array
        The largest word of each phase; that of the last one is ``LARGEST``.
    grown : int
        1 if there are trees, all of whose paths are of one step, else 0.
    giant : (1,) int64 array
        A vote for the giant tree, whose label is in its lower bits.
    in_giant : (ceil(n / 8),) uint8 array
        Whether each vertex is in the giant tree, a bit each; empty if there is none.
    alive : (2 * phases,) int32 array
        Whether any edge is left, for rounds of even and odd number of each phase.
    """

    number: int
    limits: Any
    grown: int
    giant: Any
    in_giant: Any
    alive: Any


@device
def giant_of(phase, parent):
    """The root of the giant tree, which takes no edge itself: all others of its edges leave them; or -1."""
    if len(phase.in_giant) == 0:
        return np.int64(-1)
    return root_of(parent, phase.giant[0] & np.int64(LABEL))


@device
def is_inside(vertex, phase):
    """Whether a vertex is in the giant tree: 1 or 0."""
    return (phase.in_giant[vertex >> np.int64(3)] >> np.uint8(vertex & np.int64(7))) & np.uint8(1)


@device
def keep(slot, ends, word, entry, lists):
    """Write an edge into a list."""
    lists.words[slot] = word
    if len(lists.ones):
        lists.ones[slot], lists.others[slot] = ends
    if len(lists.entries):
        lists.entries[slot] = entry


@device
def entry_at(slot, lists):
    """The entry of an edge in a list."""
    if len(lists.entries):
        return np.int64(lists.entries[slot])
    return lists.words[slot] & np.int64((1 << POSITION_BITS) - 1)


@device
def is_in_range(entry, end, order, bounds):
    """Whether the word of an entry, which may be behind the ``end`` of a tile, is within bounds."""
    above, up_to, is_first = bounds
    word = word_of(order, min(entry, end - 1))
    return (entry < end) & (is_first | (word > above)) & (word <= up_to)


@device
def list_range(tile, lane, at, order, words, bounds):
    """List the entries of a tile whose words are within bounds in ``words`` from ``at`` on.

    Returns their number.  A lane of a GPU reads eight words before it waits for the others.  On the CPU an
    entry is written in any case, and overwritten by the next one, which saves a branch that depends on its
    weight.
    """
    first, end = tile
    lanes, count = np.int64(warp_size()), np.int64(0)
    if lanes == 1:
        for entry in range(first, end):
            words[at + count] = entry
            count += np.int64(is_in_range(entry, end, order, bounds))
        return count
    for step in range(first, end, 8 * lanes):
        entry = step + lane
        wanted = (
            is_in_range(entry, end, order, bounds),
            is_in_range(entry + lanes, end, order, bounds),
            is_in_range(entry + 2 * lanes, end, order, bounds),
            is_in_range(entry + 3 * lanes, end, order, bounds),
            is_in_range(entry + 4 * lanes, end, order, bounds),
            is_in_range(entry + 5 * lanes, end, order, bounds),
            is_in_range(entry + 6 * lanes, end, order, bounds),
            is_in_range(entry + 7 * lanes, end, order, bounds),
        )
        for is_wanted in wanted:
            rank, number = warp_rank(is_wanted, lane)
            if is_wanted:
                words[at + count + rank] = entry
            count += number
            entry += lanes
    warp_barrier()
    return count


@device
def list_outside(tile, row, at, entries, words, phase):
    """List the entries of a tile that are not inside the giant tree, for the only lane of the CPU, as above.

    ``row`` is that of the first entry, where entries have rows.
    """
    first, end = tile
    count = np.int64(0)
    if len(entries.offsets) == 0:
        for entry in range(first, end):
            words[at + count] = entry
            source, target = np.int64(entries.sources[entry]), np.int64(entries.targets[entry])
            count += np.int64(1) ^ np.int64(is_inside(source, phase) & is_inside(target, phase))
        return count
    while first < end:
        stop, source_is_inside = min(end, np.int64(entries.offsets[row + 1])), is_inside(row, phase)
        for entry in range(first, stop):
            words[at + count] = entry
            target = np.int64(entries.targets[entry])
            is_outside = np.int64(1) ^ np.int64(source_is_inside & is_inside(target, phase))
            count += is_outside & np.int64(row < target)
        first, row = stop, row + 1
    return count


@device
def list_small_trees(tile, base, lane, at, offsets, words, phase):
    """List the entries of a tile in rows outside the giant tree, as above; ``base`` is the tile's first row.

    A lane lists a row.
    """
    first, end = tile
    lanes, n, count = np.int64(warp_size()), np.int64(len(offsets) - 1), np.int64(0)
    while base < n and offsets[base] < end:
        row = min(base + lane, n - 1)
        low, high = max(np.int64(offsets[row]), first), min(np.int64(offsets[row + 1]), end)
        length = high - low if base + lane < n and low < high else np.int64(0)
        is_empty = ballot(length > 0) == 0
        if length > 0 and is_inside(row, phase) != 0:
            length = np.int64(0)
        listed = inclusive_scan(length, lane)
        for item in range(length):
            words[at + count + listed - length + item] = low + item
        count += shuffle(listed, lanes - 1)
        base += lanes
        if is_empty and base < n and offsets[base] < end:
            base = row_from(base - 1, np.int64(offsets[base]), offsets)
    warp_barrier()
    return count


@device
def row_in_warp(row, entry, lane, offsets):
    """The row of a lane's entry, which is ``row`` or a later one; each lane reads the end of one row."""
    ends = np.int64(offsets[min(row + lane + 1, len(offsets) - 1)])
    number = find_segment(entry, ends, warp_size())
    found = row + number
    if shuffle(ends, number) <= entry:
        found = row_from(found, entry, offsets)
    return found


@device
def mirror_of(entry, row, vertex, entries):
    """The first entry of ``row`` with this neighbour whose key is that of ``entry``; rows are ascending."""
    low, high = np.int64(entries.offsets[row]), np.int64(entries.offsets[row + 1])
    last, key = high - 1, key_of(entries.order, entry)
    while low < high:
        middle = (low + high) // 2
        if np.int64(entries.targets[middle]) < vertex:
            low = middle + 1
        else:
            high = middle
    while low < last and key_of(entries.order, low) != key:
        low += 1
    return min(low, last)


@device
def leaves_a_tree(ends, entries, phase, by_rows):
    """Whether an edge that is listed with its smaller end first may leave a tree."""
    source, target = ends
    is_wanted = source != target
    if entries.both != 0 and by_rows == 0:
        is_wanted &= source < target
    if is_wanted and by_rows == 0 and len(phase.in_giant) > 0:
        is_wanted = (is_inside(source, phase) & is_inside(target, phase)) == 0
    return is_wanted


@device
def list_group(group, lane, entries, trees, lists, phase, by_rows):
    """List the wanted edges of a group's tiles, and offer them to their trees.

    ``by_rows`` says whether only rows outside the giant tree are read; an edge between two small trees is
    listed once, from its smaller end.
    """
    lanes, n_entries, tile = np.int64(warp_size()), np.int64(len(entries.targets)), np.int64(lists.tile)
    start, kept, row = group * np.int64(lists.capacity), np.int64(0), np.int64(0)
    has_rows = len(entries.offsets) > 0
    giant, up_to = giant_of(phase, trees.parent), phase.limits[phase.number]
    bounds = phase.limits[max(phase.number - 1, 0)], up_to, phase.number == 0
    reads_all = up_to == LARGEST and by_rows == 0
    lists_outside = reads_all and lanes == 1 and len(phase.in_giant) > 0
    prefetches = lanes == 1 and len(trees.offers) > 0 and phase.grown == 0 and not reads_all
    for first in range(group * tile, n_entries, len(lists.counts) * tile):
        end, at = min(first + tile, n_entries), start + kept
        if has_rows:
            row = np.int64(lists.first_rows[first // tile])
        if by_rows != 0:
            count = list_small_trees((first, end), row, lane, at, entries.offsets, lists.words, phase)
        elif lists_outside:
            count = list_outside((first, end), row, at, entries, lists.words, phase)
        elif reads_all:
            count = end - first
        else:
            count = list_range((first, end), lane, at, entries.order, lists.words, bounds)
        for step in range(0, count, lanes):
            item = min(step + lane, count - 1)
            entry = first + item if reads_all and not lists_outside else lists.words[at + item]
            if prefetches:
                later = lists.words[at + min(item + OFFERS_AHEAD, count - 1)]
                prefetch_offers(trees, (entries.targets[later], row if has_rows else entries.sources[later]))
            target = np.int64(entries.targets[entry])
            if has_rows:
                source = row_in_warp(row, entry, lane, entries.offsets)
                row = shuffle(source, lanes - 1)
            else:
                source = np.int64(entries.sources[entry])
            is_wanted = (step + lane < count) & leaves_a_tree((source, target), entries, phase, by_rows)
            ends = source, target
            if is_wanted and phase.grown != 0:
                ends = tree_of(trees, source), tree_of(trees, target)
                is_wanted = (ends[0] != ends[1]) & ((by_rows == 0) | (source < target) | (ends[1] == giant))
            rank, number = warp_rank(is_wanted, lane)
            warp_barrier()
            if is_wanted:
                if by_rows != 0 and target < source:
                    entry = mirror_of(entry, target, source, entries)
                word = word_of(entries.order, entry)
                keep(start + kept + rank, ends, word, entry, lists)
                if len(trees.offers):
                    offer(trees, ends, word, giant)
            kept += number
    if lane == 0:
        lists.counts[group] = kept
        if kept > 0:
            store(phase.alive, 2 * phase.number, 1)


@partial(each, least_chunk=1, min_blocks_per_sm=4)
def list_edges(index, entries, trees, lists, phase, by_rows):
    """List the wanted edges of the group of a lane."""
    lanes = np.int64(warp_size())
    list_group(index // lanes, index % lanes, entries, trees, lists, phase, by_rows)


@each
def mark_first_rows(row, offsets, tile, first_rows):
    """Mark the tiles whose first entry is in a row."""
    first, end = np.int64(offsets[row]), np.int64(offsets[row + 1])
    for number in range((first + tile - 1) // tile, (end + tile - 1) // tile):
        first_rows[number] = row


@each
def mark_giant(item, parent, giant, in_giant):
    """Mark those of eight vertices that are in the giant tree."""
    root, bits = parent[giant[0] & np.int64(LABEL)], np.int64(0)
    for vertex in range(8 * item, min(8 * item + 8, len(parent))):
        bits |= np.int64(parent[vertex] == root) << (vertex & 7)
    in_giant[item] = bits


@each
def draw_sample(item, entries, words):
    """Take the words of a sample of the entries."""
    words[item] = word_of(entries.order, item * len(entries.targets) // len(words))


@partial(each, least_chunk=64)
def set_limit(index, words, rank, limits, number):
    """Set a limit to the word of a given rank among some words; the lanes of a warp compare one of them."""
    lanes = np.int64(warp_size())
    lane, word = index % lanes, words[index // lanes]
    smaller, equal = np.int64(0), np.int64(0)
    for item in range(lane, len(words), lanes):
        smaller += np.int64(words[item] < word)
        equal += np.int64(words[item] == word)
    smaller, equal = inclusive_scan(smaller, lane), inclusive_scan(equal, lane)
    if lane == lanes - 1 and smaller <= rank < smaller + equal:
        limits[number] = word


@each
def find_descent(entry, offsets, targets, found):
    """Set ``found[0]`` if an entry is smaller than the one before in its row."""
    if entry > 0 and targets[entry] < targets[entry - 1] and offsets[row_of(entry, offsets)] != entry:
        store(found, 0, 1)


def are_ascending(offsets, targets):
    """Whether every row is ascending."""
    found = arrays.zeros(1, np.int32, arrays.device_of(targets))
    find_descent(len(targets), offsets, targets, found)
    return not int(found[0])


def lanes_of(where):
    """Lanes of a group on a device."""
    return 1 if where == "cpu" else WARP


def new_lists(n_vertices, entries, words_only=False):
    """Empty lists for the edges of a graph."""
    where, kind, n_entries = arrays.device_of(entries.targets), entries.targets.dtype, len(entries.targets)
    tile = CPU_TILE if where == "cpu" else TILE
    n_tiles = max(1, -(-n_entries // tile))
    most = CPU_GROUPS * threads.count() if where == "cpu" else GROUPS * processors(where)
    tiles_of_group = -(-n_tiles // most)
    n_groups, capacity = -(-n_tiles // tiles_of_group), tiles_of_group * tile
    slots, first_rows = n_groups * capacity, arrays.empty(n_tiles if len(entries.offsets) else 0, kind, where)
    if len(entries.offsets):
        mark_first_rows(n_vertices, entries.offsets, tile, first_rows)
    ones, others = (arrays.empty(0 if words_only else slots, kind, where) for _ in range(2))
    return Lists(
        ones,
        others,
        arrays.empty(slots, np.int64, where),
        arrays.empty(0 if entries.order.packed else slots, np.int64, where),
        arrays.zeros(n_groups, np.int64, where),
        first_rows,
        tile,
        capacity,
    )


def first_phase(n_vertices, entries, stages):
    """The first phase, and the number of phases: ``stages`` are edges for each vertex up to their limits.

    Nothing is copied between host and device.
    """
    where, n_entries = arrays.device_of(entries.targets), len(entries.targets)
    shares = [edges * n_vertices * (1 + entries.both) / max(n_entries, 1) for edges in stages]
    shares = [share for share in shares if share < NO_FILTER and n_entries >= SAMPLE]
    limits = arrays.full(len(shares) + 1, LARGEST, np.int64, where)
    if shares:
        words = arrays.empty(SAMPLE, np.int64, where)
        draw_sample(SAMPLE, entries, words)
        for number, share in enumerate(shares):
            set_limit(SAMPLE * lanes_of(where), words, int(share * SAMPLE), limits, number)
    giant, none = arrays.zeros(1, np.int64, where), arrays.empty(0, np.uint8, where)
    return Phase(0, limits, 0, giant, none, arrays.zeros(2 * len(limits), np.int32, where)), len(limits)


def next_phase(phase, parent):
    """The phase after one whose trees are compressed, with the giant tree among them."""
    where, n = arrays.device_of(parent), len(parent)
    in_giant = phase.in_giant
    if not len(in_giant):
        in_giant = arrays.empty(-(-n // 8), np.uint8, where)
    phase.giant.fill(0)
    vote(VOTERS if n else 0, parent, n, phase.giant)
    mark_giant(len(in_giant), parent, phase.giant, in_giant)
    return phase._replace(number=phase.number + 1, grown=1, in_giant=in_giant)
