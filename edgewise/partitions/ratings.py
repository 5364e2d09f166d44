"""Ratings: the total weight of the edges that lead from a vertex to each label, and the strongest label.

Clustering and refinement ask the same of a row: which label (a cluster, or a part) do most of the edges lead
to, other than that of the vertex itself, among the labels that have room for the vertex?  On the CPU a worker
has a total for each label, which is 0 between rows.  It adds up a row in one loop and looks for the largest
total in another, which clears them; neither has a branch that depends on the labels, since a branch that is
predicted wrongly takes longer than several entries.  Where there are so many labels that these totals would
need too much memory, a worker adds up a row in a small hash table.  On a GPU there is such a table for each
row, of two slots for each of its entries.  A thread adds up a short row, or the lanes of a warp without any
table (:mod:`~edgewise.partitions.gpu_ratings`).  Each entry of a long row is added by a thread of its own, so
that a row of a million entries takes no longer than many short ones.

All find the same: the label of the largest total, and among equal ones that of the largest random number,
which is a permutation of the labels.  A total and that number are one word of 64 bits, so that the entries of
a row on a GPU offer theirs by an atomic maximum; totals only grow while they are added up.  Totals that need
more than 31 bits are compared by their upper bits only.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import (
    arrays,
    cas,
    device,
    fetch_add,
    fetch_max,
    load,
    parallel_region,
    threads,
)
from edgewise.device.shares import next_chunk
from edgewise.device.target import inlined
from edgewise.partitions.facts import note_rating
from edgewise.partitions.levels import weight_at
from edgewise.primitives.mixing import mix, unmix

#: No label; an empty slot.
NO_LABEL = -1
#: Spreads labels over the slots of a table.
SPREAD = 0x3779B1
#: Rows that a worker takes at a time.
CHUNK = 256
#: Most entries of a row that one thread of a GPU adds up.
SHORT_ROW = 64
#: Most bytes of the totals of all workers for each label; with more there are hash tables.
MOST_BYTES = 2**30
#: Totals in a cache line; those of two workers are not in the same one.
IN_A_LINE = 16


class Labels(NamedTuple):
    """Labels of the vertices, and which of them a vertex may take.

    Attributes
    ----------
    labels : (n,) index array
    room : (labels,) int64 array
        A vertex may take a label that has at least the weight of the vertex left.
    groups : (n,) index array
        Edges between vertices of two groups do not count; empty if all are of one.
    salt : int
        Seed of the random numbers that decide between equal totals.
    shift : int
        Lower bits of a total that are left out when totals are compared.
    """

    labels: Any
    room: Any
    groups: Any
    salt: int
    shift: int


class Tables(NamedTuple):
    """Memory for totals: of each worker of the CPU, or of each row on a GPU.

    Attributes
    ----------
    keys : (slots,) int64 array
        Labels; ``NO_LABEL`` where a slot is empty.  The array is empty if a worker has a slot for each label.
    sums : (slots,) integer array
        Totals; in slots for each label, 0 between rows.
    capacity : int
        Slots of a worker; 0 on a GPU, where a row has two slots for each entry.
    longest : int
        Entries of the longest row.
    offers : (n,) int64 array
        Of each row on a GPU: the word of its strongest label.
    marks : (n,) int32 array
        On a GPU: 1 for rows that are wanted, else 0.
    """

    keys: Any
    sums: Any
    capacity: int
    longest: int
    offers: Any
    marks: Any


@device
def mask_of(entries, labels):
    """Slots for so many entries with so many labels, a power of two, less one."""
    slots = np.int64(2)
    while slots < 2 * entries and slots < labels:
        slots *= 2
    return slots - 1


@device
def slot_of(keys, base, mask, label):
    """Slot of a label in a worker's table: the one that holds it, or an empty one."""
    slot = (label * SPREAD) & mask
    while keys[base + slot] != NO_LABEL and keys[base + slot] != label:
        slot = (slot + 1) & mask
    return base + slot


@device
def clear_slots(keys, base, mask):
    """Empty the slots of a worker's table that a row uses."""
    for slot in range(base, base + mask + 1):
        keys[slot] = NO_LABEL


@inlined
def rate_row(row, level, state, tables, base):
    """Total to the row's own label, its strongest other label, and the total to that.

    ``base`` is where the worker's slots begin, or those of the row on a GPU.
    """
    if len(tables.keys) == 0:
        return _rate_by_label(row, level, state, tables.sums, base)
    return _rate_by_table(row, level, state, tables, base)


@device
def _rate_by_table(row, level, state, tables, base):
    """As :func:`rate_row`; a row beside one other label, as most in refinement are, needs no table."""
    mine, own, other, link = np.int64(state.labels[row]), np.int64(0), np.int64(NO_LABEL), np.int64(0)
    for entry in range(level.offsets[row], level.offsets[row + 1]):
        neighbour = level.neighbours[entry]
        if len(state.groups) and state.groups[neighbour] != state.groups[row]:
            continue
        label = np.int64(state.labels[neighbour])
        if label == mine:
            own += weight_at(level, entry)
        elif other == NO_LABEL or label == other:
            other = label
            link += weight_at(level, entry)
        else:
            return _rate_in_table(row, level, state, tables, base)
    if other == NO_LABEL or state.room[other] < level.sizes[row]:
        return own, np.int64(NO_LABEL), np.int64(0)
    return own, other, link


@inlined
def _rate_by_label(row, level, state, sums, base):
    """As :func:`rate_row`, with a total for each label.

    Indices are unsigned, because for others Numba adds a test whether they are negative.
    """
    row = np.uint64(row)
    first, end = level.offsets[row], level.offsets[row + np.uint64(1)]
    size, mine = level.sizes[row], np.uint64(base + np.int64(state.labels[row]))
    for entry in range(first, end):
        neighbour, weight = level.neighbours[np.uint64(entry)], weight_at(level, np.uint64(entry))
        if len(state.groups) and state.groups[neighbour] != state.groups[row]:
            weight = np.int64(0)
        sums[np.uint64(base + np.int64(state.labels[neighbour]))] += weight
    own, word, best, link = np.int64(sums[mine]), np.int64(-1), np.int64(NO_LABEL), np.int64(0)
    sums[mine] = 0
    for entry in range(first, end):
        label = state.labels[level.neighbours[np.uint64(entry)]]
        slot = np.uint64(base + np.int64(label))
        total = np.int64(sums[slot])
        sums[slot] = 0
        offered = ((total >> state.shift) << 32) | mix(label, state.salt)
        offered |= -np.int64((total == 0) | (state.room[label] < size))
        is_better = offered > word
        word = offered if is_better else word
        best = np.int64(label) if is_better else best
        link = total if is_better else link
    return own, best, link


@device
def _rate_in_table(row, level, state, tables, base):
    """As :func:`rate_row`, with the totals of several other labels in a table."""
    first, end, size = level.offsets[row], level.offsets[row + 1], level.sizes[row]
    mask, mine = mask_of(end - first, len(state.room)), np.int64(state.labels[row])
    if tables.capacity == 0 and mask >= 2 * (end - first):
        mask >>= 1
    keys, sums = tables.keys, tables.sums
    own, link, best, word = np.int64(0), np.int64(0), np.int64(NO_LABEL), np.int64(-1)
    clear_slots(keys, base, mask)
    for entry in range(first, end):
        neighbour = level.neighbours[entry]
        if len(state.groups) and state.groups[neighbour] != state.groups[row]:
            continue
        label, weight = np.int64(state.labels[neighbour]), weight_at(level, entry)
        if label == mine:
            own += weight
            continue
        slot = slot_of(keys, base, mask, label)
        total = weight
        if keys[slot] == label:
            total += sums[slot]
        else:
            keys[slot] = label
        sums[slot] = total
        if (total >> state.shift) >= (word >> 32) and state.room[label] >= size:
            offered = ((total >> state.shift) << 32) | mix(label, state.salt)
            if offered >= word:
                word, best, link = offered, label, total
    return own, best, link


@device
def row_of(item, chosen):
    """The row of an item: the one that is chosen, or the item itself if all are."""
    return np.int64(chosen[item]) if len(chosen) else np.int64(item)


@parallel_region
def rate_by_rows(worker, count, chosen, level, state, memory, shares, growth_of_own):
    """Rate the chosen rows; ``memory`` are the tables and the facts.  Add up the growth of ``OWN``."""
    tables, facts = memory
    base, growth = worker.id * tables.capacity, np.int64(0)
    turn, first, end = next_chunk(0, shares, count, CHUNK, worker.id)
    while first < end:
        for item in range(first, end):
            row = row_of(item, chosen)
            own, best, link = rate_row(row, level, state, tables, base)
            growth += note_rating(facts, row, own, best, link)
        turn, first, end = next_chunk(turn, shares, count, CHUNK, worker.id)
    fetch_add(growth_of_own, 0, growth)


@device
def claim_slot(keys, base, slots, label):
    """Slot of a label in a row's table, which is entered if it is not there; others do the same."""
    slot = ((label * SPREAD) & 0xFFFFFFFF) % slots
    while True:
        held = load(keys, base + slot)
        if held == NO_LABEL:
            held = cas(keys, base + slot, NO_LABEL, label)
        if held != NO_LABEL and held != label:
            slot += 1
            if slot == slots:
                slot = np.int64(0)
        else:
            return base + slot


@device
def clear_table(row, lane, lanes, level, tables):
    """Empty the table of a row on a GPU, which the lanes of a warp share."""
    for slot in range(2 * level.offsets[row] + lane, 2 * level.offsets[row + 1], lanes):
        tables.keys[slot] = NO_LABEL
        tables.sums[slot] = 0
    if lane == 0:
        tables.offers[row] = -1


@device
def add_to_table(row, entry, level, state, tables):
    """Add an entry to the table of its row on a GPU, and offer its label."""
    neighbour = level.neighbours[entry]
    if len(state.groups) and state.groups[neighbour] != state.groups[row]:
        return
    label, weight = np.int64(state.labels[neighbour]), weight_at(level, entry)
    base = 2 * level.offsets[row]
    slot = claim_slot(tables.keys, base, 2 * level.offsets[row + 1] - base, label)
    total = fetch_add(tables.sums, slot, weight) + weight
    if label != np.int64(state.labels[row]) and state.room[label] >= level.sizes[row]:
        offered = ((total >> state.shift) << 32) | mix(label, state.salt)
        if offered > load(tables.offers, row):
            fetch_max(tables.offers, row, offered)


@device
def total_of(row, label, level, tables):
    """Total from a row to a label on a GPU, once all entries are added."""
    base = 2 * level.offsets[row]
    slots = 2 * level.offsets[row + 1] - base
    if slots == 0:
        return np.int64(0)
    slot = ((label * SPREAD) & 0xFFFFFFFF) % slots
    for _ in range(slots):
        held = tables.keys[base + slot]
        if held == label:
            return tables.sums[base + slot]
        if held == NO_LABEL:
            return np.int64(0)
        slot += 1
        if slot == slots:
            slot = np.int64(0)
    return np.int64(0)


@device
def strongest_in_table(row, level, state, tables):
    """As :func:`rate_row`, from the table of the row on a GPU."""
    word, best, link = tables.offers[row], np.int64(NO_LABEL), np.int64(0)
    if word >= 0:
        best = unmix(word & 0xFFFFFFFF, state.salt)
        link = total_of(row, best, level, tables)
    return total_of(row, np.int64(state.labels[row]), level, tables), best, link


def tables_for(level, n_labels):
    """Memory to rate rows of a level with so many labels."""
    where, n = arrays.device_of(level.offsets), len(level.sizes)
    if where == "cpu":
        kind, none = level.weights.dtype, _no_marks(where)
        capacity = (n_labels // IN_A_LINE + 2) * IN_A_LINE
        if capacity * threads.count() * kind.itemsize <= MOST_BYTES:
            return Tables(
                np.empty(0, np.int64), np.zeros(capacity * threads.count(), kind), capacity, 0, *none
            )
        most = min(int(np.diff(level.offsets).max(initial=1)), n_labels)
        capacity = max(8, 1 << int(2 * most - 1).bit_length())
        slots = capacity * threads.count()
        return Tables(np.empty(slots, np.int64), np.empty(slots, kind), capacity, most, *none)
    slots, degrees = 2 * len(level.neighbours), level.offsets[1:] - level.offsets[:-1]
    return Tables(
        arrays.empty(slots, np.int64, where),
        arrays.empty(slots, np.int64, where),
        0,
        int(degrees.max()) if n else 0,
        arrays.empty(n, np.int64, where),
        arrays.zeros(n, np.int32, where),
    )


def no_tables(where):
    """No memory, where rows are not rated."""
    none = arrays.empty(0, np.int64, where)
    return Tables(none, none.copy(), 0, 0, *_no_marks(where))


def _no_marks(where):
    return arrays.empty(0, np.int64, where), arrays.empty(0, np.int32, where)
