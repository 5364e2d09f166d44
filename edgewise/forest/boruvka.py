"""Boruvka's algorithm: every tree takes its first edge, all at once, until no edge leaves a tree.

Of the edges that leave a tree, the first one in the order (:mod:`~edgewise.forest.order`) is in the forest,
so all trees may take theirs at the same time, and their number at least halves in a round.  The rounds run in
one region with two barriers each:

* Every worker reads its list of edges, replaces their ends by the roots above them, drops those inside a
  tree, and offers the others to both of their trees by an atomic minimum of words, after a plain comparison
  that most edges fail.
* Every worker joins the ends of those of its edges that are the first ones of a tree.

Ends are stored as roots, so a path is walked once (*implicit path compression*, as in ECL-MST).  A worker's
list shrinks where it is; nothing moves between workers.  Offers alternate between two arrays, and the first
step of a round clears the other array where the last round has written it.

Where a graph has many more edges than vertices, few of them are in the forest, and those are light.  So the
first rounds see only the first edges, about three for each vertex, by a sample of the words; afterwards
nearly all the others lead from a tree to itself, and are dropped when they are first read (a *filter* step).

O. Boruvka, "O jistem problemu minimalnim" (1926); Fallin, Gonzalez, Seo and Burtscher, "A High-Performance
MST Implementation for GPUs" (SC 2023); Osipov, Sanders and Singler, "The Filter-Kruskal Minimum Spanning Tree
Algorithm" (ALENEX 2009).
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, barrier_wait, device, each_row, fetch_min, load, parallel_region, store
from edgewise.forest.order import LARGEST, Order, word_of, words_of
from edgewise.forest.trees import find, hook, make_roots
from edgewise.primitives.rows import row_of

#: Edges for each vertex up to the end of each stage; a share of the edges from which on there is no stage.
STAGES, NO_FILTER = (0.5, 1.0, 1.5, 2.0, 3.0), 0.7
#: Words of the sample.
SAMPLE = 4096
#: Neighbouring entries of a worker on the CPU, as a power of two; on a GPU they are dealt out one by one.
CHUNK_BITS = 12


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
    """

    sources: Any
    targets: Any
    offsets: Any
    both: int
    order: Order


class Trees(NamedTuple):
    """What the workers share.

    Attributes
    ----------
    parent : (n,) index array
    hooked_by : (n,) int64 array
        The entry that has hooked a vertex below another one.
    offers : (2 * n,) int64 array
        The smallest word of the edges that leave a tree, at its root; two of them that alternate.
    positions : (2 * n,) int64 array
        The smallest position among the edges of that word; empty if words hold positions.
    alive : (2,) int32 array
        Whether a worker has an edge left, for rounds of even and odd number.
    """

    parent: Any
    hooked_by: Any
    offers: Any
    positions: Any
    alive: Any


class Lists(NamedTuple):
    """The edges that the workers have kept: an edge of entry ``e`` is in the slot of an entry of its worker.

    Attributes
    ----------
    ones, others : (slots,) index arrays
        Roots of the two ends.
    words : (slots,) int64 array
    entries : (slots,) int64 array
        Empty if words hold positions.
    chunk_bits : int
        A worker has 2 ** chunk_bits neighbouring slots.
    """

    ones: Any
    others: Any
    words: Any
    entries: Any
    chunk_bits: int


@device
def slot_of(worker, lists, item):
    """Where the ``item``-th edge of a worker's list is."""
    bits = np.uint64(lists.chunk_bits)
    mine = (np.uint64(item) >> bits) * np.uint64(worker.count) + np.uint64(worker.id)
    return (mine << bits) | (np.uint64(item) & ((np.uint64(1) << bits) - np.uint64(1)))


@device
def keep(slot, one, other, word, entry, lists):
    """Write an edge into a list."""
    lists.ones[slot], lists.others[slot], lists.words[slot] = one, other, word
    if len(lists.entries):
        lists.entries[slot] = entry


@device
def entry_at(slot, lists):
    """The entry of an edge in a list."""
    if len(lists.entries):
        return lists.entries[slot]
    return lists.words[slot] & np.int64(0xFFFFFFFF)


@device
def list_edges(worker, entries, trees, lists, above, up_to):
    """List the worker's edges of words larger than ``above`` and at most ``up_to`` that leave a tree.

    Returns their number.
    """
    n_entries, chunk, count = len(entries.targets), np.int64(1) << np.int64(lists.chunk_bits), np.int64(0)
    parent, is_first_phase = trees.parent, above == -LARGEST - 1
    for first in range(worker.id * chunk, n_entries, worker.count * chunk):
        row = np.int64(0)
        if len(entries.offsets):
            row = np.int64(row_of(first, entries.offsets))
        for entry in range(first, min(first + chunk, n_entries)):
            if len(entries.offsets):
                while entries.offsets[row + 1] <= entry:
                    row += 1
                one = row
            else:
                one = np.int64(entries.sources[entry])
            other = np.int64(entries.targets[entry])
            if one == other or (entries.both != 0 and one > other):
                continue
            if not is_first_phase:
                one, other = np.int64(parent[one]), np.int64(parent[other])
                if one == other:
                    continue
            word = word_of(entries.order, entry)
            if (is_first_phase or word > above) and word <= up_to:
                keep(slot_of(worker, lists, count), one, other, word, entry, lists)
                count += 1
    return count


@device
def offer(worker, trees, lists, count, turn):
    """Drop the edges inside a tree and offer the others to their trees, up to a word.

    Returns how many edges are left, and how many have been offered.
    """
    side, limit = turn
    parent, offers, n = trees.parent, trees.offers, np.int64(len(trees.parent))
    now, last, kept, offered = n * side, n * (1 - side), np.int64(0), np.int64(0)
    for item in range(count):
        slot = slot_of(worker, lists, item)
        one, other, word = np.int64(lists.ones[slot]), np.int64(lists.others[slot]), lists.words[slot]
        if word <= limit:
            offers[last + one] = offers[last + other] = LARGEST
            if len(trees.positions):
                trees.positions[last + one] = trees.positions[last + other] = LARGEST
            one, other = np.int64(find(parent, one)), np.int64(find(parent, other))
            if one == other:
                continue
            if word < offers[now + one]:
                fetch_min(offers, now + one, word)
            if word < offers[now + other]:
                fetch_min(offers, now + other, word)
            offered += 1
        keep(slot_of(worker, lists, kept), one, other, word, entry_at(slot, lists), lists)
        kept += 1
    return kept, offered


@device
def offer_positions(worker, trees, lists, count, turn):
    """Where words are equal, offer the positions of the edges."""
    side, limit = turn
    now = np.int64(len(trees.parent)) * side
    for item in range(count):
        slot = slot_of(worker, lists, item)
        word, entry = lists.words[slot], lists.entries[slot]
        if word <= limit:
            for end in (np.int64(lists.ones[slot]), np.int64(lists.others[slot])):
                if trees.offers[now + end] == word and entry < trees.positions[now + end]:
                    fetch_min(trees.positions, now + end, entry)


@device
def is_first(trees, at, word, entry):
    """Whether an edge is the first one of a tree."""
    if trees.offers[at] != word:
        return False
    return len(trees.positions) == 0 or trees.positions[at] == entry


@device
def take_first(worker, trees, lists, count, turn):
    """Join the ends of the edges that are the first ones of a tree."""
    side, limit = turn
    now = np.int64(len(trees.parent)) * side
    for item in range(count):
        slot = slot_of(worker, lists, item)
        word = lists.words[slot]
        if word <= limit:
            one, other = np.int64(lists.ones[slot]), np.int64(lists.others[slot])
            entry = np.int64(entry_at(slot, lists))
            if is_first(trees, now + one, word, entry) or is_first(trees, now + other, word, entry):
                hook(trees.parent, trees.hooked_by, one, other, entry)


@device
def shorten_paths(worker, parent):
    """Point the worker's share of the vertices at their roots; no trees are joined meanwhile."""
    n, chunk = len(parent), 64
    for first in range(worker.id * chunk, n, worker.count * chunk):
        for vertex in range(first, min(first + chunk, n)):
            above = parent[vertex]
            grandparent = parent[above]
            while above != grandparent:
                parent[vertex] = grandparent
                above = grandparent
                grandparent = parent[above]


@parallel_region
def grow_trees(worker, entries, trees, lists, above, limits):
    """Let all trees take edges of words larger than ``above`` and up to each of the rising ``limits``.

    All paths to roots are of one step at the end.
    """
    count = list_edges(worker, entries, trees, lists, above, limits[len(limits) - 1])
    barrier_wait(worker)
    side, stage = 0, 0
    while stage < len(limits):
        turn = (side, limits[stage])
        count, offered = offer(worker, trees, lists, count, turn)
        if offered > 0 and load(trees.alive, side) == 0:
            store(trees.alive, side, 1)
        barrier_wait(worker)
        if load(trees.alive, side) == 0:
            stage += 1
            shorten_paths(worker, trees.parent)
        else:
            if len(trees.positions):
                offer_positions(worker, trees, lists, count, turn)
                barrier_wait(worker)
            take_first(worker, trees, lists, count, turn)
            if worker.id == 0:
                store(trees.alive, 1 - side, 0)
            barrier_wait(worker)
        side = 1 - side


@each_row
def write_rows(row, lane, lanes, offsets, rows):
    """Write the number of a row at each of its entries."""
    for entry in range(offsets[row] + lane, offsets[row + 1], lanes):
        rows[entry] = row


def boruvka(n_vertices, entries):
    """Boruvka's algorithm with a filter step; see :class:`~edgewise.forest.ForestMethod`."""
    where, kind, n_entries = arrays.device_of(entries.targets), entries.targets.dtype, len(entries.targets)
    on_cpu, order = where == "cpu", entries.order
    if len(entries.offsets) and not on_cpu:
        rows = arrays.empty(n_entries, kind, where)
        write_rows(n_vertices, entries.offsets, rows, width="warp")
        entries = entries._replace(sources=rows, offsets=arrays.empty(0, np.int64, where))
    parent, hooked_by = arrays.empty(n_vertices, kind, where), arrays.empty(n_vertices, np.int64, where)
    make_roots(n_vertices, parent, hooked_by)
    n_wide = 0 if order.packed else 2 * n_vertices
    trees = Trees(
        parent,
        hooked_by,
        arrays.full(2 * n_vertices, LARGEST, np.int64, where),
        arrays.full(n_wide, LARGEST, np.int64, where),
        arrays.zeros(2, np.int32, where),
    )
    chunk_bits = CHUNK_BITS if on_cpu else 0
    slots = -(-n_entries >> chunk_bits) << chunk_bits
    lists = Lists(
        *(arrays.empty(slots, kind, where) for _ in range(2)),
        arrays.empty(slots, np.int64, where),
        arrays.empty(0 if order.packed else slots, np.int64, where),
        chunk_bits,
    )
    limits = limits_of(n_vertices, entries, sample_words(entries))
    lightest = int(limits[-1])
    grow_trees(entries, trees, lists, -LARGEST - 1, arrays.move(limits, where))
    if lightest < LARGEST:
        trees.alive[:] = 0
        grow_trees(entries, trees, lists, lightest, arrays.full(1, LARGEST, np.int64, where))
    return hooked_by, parent


def limits_of(n_vertices, entries, sample):
    """The largest words of the stages of the first phase, by a sample of the words: int64, on the host.

    The last one is ``LARGEST`` if there is nothing to filter.
    """
    each_vertex = n_vertices * (1 + entries.both)
    shares = [share * each_vertex / max(len(entries.targets), 1) for share in STAGES]
    kept = [share for share in shares if share < NO_FILTER and len(sample)]
    limits = {int(sample[int(len(sample) * share)]) for share in kept}
    if len(kept) < len(STAGES):
        limits.add(LARGEST)
    return np.array(sorted(limits), np.int64)


def sample_words(entries):
    """The words of a sample of the entries, ascending; of none if the entries are few."""
    n_entries, where = len(entries.targets), arrays.device_of(entries.targets)
    if n_entries < SAMPLE:
        return np.empty(0, np.int64)
    positions = np.arange(SAMPLE, dtype=np.int64) * n_entries // SAMPLE
    bits = arrays.move(entries.order.bits[arrays.move(positions, where)], "cpu")
    return np.sort(words_of(entries.order._replace(bits=bits), positions))
