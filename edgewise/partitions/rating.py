"""Rating of a vertex: the total weight of its edges to each label, and the strongest label.

Clustering and refinement ask the same of a row: which label (a cluster, or a part) do most of the edges lead
to, other than that of the vertex itself, among the labels that have room for the vertex?  On the CPU a worker
has a total for each label, which is 0 between rows.  It adds up a row in one loop and looks for the largest
total in another, which clears them; neither has a branch that depends on the labels, since a branch that is
predicted wrongly takes longer than several entries.  Where there are so many labels that these totals would
need too much memory, and for some rows on a GPU (:mod:`~edgewise.partitions.ratings`), a row is added up in a
small hash table.

All find the same: the label of the largest total, and among equal ones that of the largest random number,
which is a permutation of the labels.  A total and that number are one word of 64 bits, so that the entries of
a row on a GPU offer theirs by an atomic maximum; totals only grow while they are added up.  Totals that need
more than 31 bits are compared by their upper bits only.

What is known of a vertex, its *facts*, is side by side in memory.  Refinement looks at vertices here and
there in a large graph, and takes as long as the memory does: an array for each fact would cost a cache line
for each, and the eight words of a vertex are in one line, or in two that follow each other.  They are of 32
bits where all totals fit, else of 64.  Those of a large mesh are most of what its refinement takes, so that
they are of 16 bits where totals to parts fit.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise import tuning
from edgewise.device import arrays, by_class, device
from edgewise.device.target import inlined
from edgewise.partitions.levels import NARROW, longest_row, size_at, weight_at
from edgewise.primitives.mixing import mix
from edgewise.primitives.rounds import places

#: No label; an empty slot.
NO_LABEL = -1
#: Spreads labels over the slots of a table.
SPREAD = 0x3779B1
#: Words for the facts of a vertex.
WORDS = 8
#: Largest number in a word of 16 bits.
SHORT = np.iinfo(np.int16).max


class Fact(NamedTuple):
    """What is known of a vertex."""

    own: int  # total to its own label
    best: int  # strongest other label
    link: int  # total to that
    moved_in: int  # lower bits of the number of the last free iteration in which it was moved, or 0
    dirty: int  # not 0 while it is to be rated again
    lists: int  # bits of the lists that it is in
    gain: int  # of a candidate in a free iteration; the strongest label with room in one for the balance
    link_with_room: int  # total to that


FACT = places(Fact, apart=1)
#: The word of the strongest label with room, behind which is the total to it, as :attr:`Fact.link` is.
BEST_WITH_ROOM = FACT.gain


def new_facts(level, k=None):
    """Facts of the vertices of a level, of which nothing is known: (n * WORDS,) integer zeros.

    The labels are ``k`` parts, or vertices.
    """
    n, where = len(level.offsets) - 1, arrays.device_of(level.offsets)
    kind: Any = np.int32 if level.weights.dtype == np.int32 and n <= NARROW else np.int64
    if where == "cpu" and k is not None and may_be_short(n, len(level.weights), k):
        kind = np.int16 if longest_row(level.offsets) <= SHORT else kind
    return arrays.zeros(n * WORDS, kind, where)


def may_be_short(n, weights, k):
    """Whether facts on the CPU are of 16 bits, unless a row is too long: of many vertices without weights."""
    return n >= tuning.CPU.partitions_short and not weights and k <= SHORT


@inlined
def fact(facts, vertex, word):
    """One of the words of a vertex.  Indices are unsigned, as in :func:`rate_row`."""
    return np.int64(facts[np.uint64(vertex * WORDS + word)])


@inlined
def note(facts, vertex, word, value):
    """Write one of the words of a vertex."""
    facts[np.uint64(vertex * WORDS + word)] = value


@inlined
def note_rating(facts, vertex, own, best, link):
    """Note a rating; return by how much the total to its own label has grown."""
    return note_rating_at(FACT.best, facts, vertex, own, best, link)


@inlined
def note_rating_at(place, facts, vertex, own, best, link):
    """The same with the word of the strongest label, which is that with room for :data:`BEST_WITH_ROOM`."""
    growth = own - fact(facts, vertex, FACT.own)
    note(facts, vertex, FACT.own, own)
    note(facts, vertex, place, best)
    note(facts, vertex, place + 1, link)
    return growth


class Labels(NamedTuple):
    """Labels of the vertices, and which of them a vertex may take.

    Attributes
    ----------
    labels : (n,) index array
    room : (labels,) int32 or int64 array
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


class Totals(NamedTuple):
    """A total for each label, of each worker of the CPU.

    Attributes
    ----------
    sums : (workers * capacity,) integer array
        0 between rows.
    capacity : int
        Totals of a worker.
    longest : int
        As in :class:`Tables`; 0 here.
    """

    sums: Any
    capacity: int
    longest: int


class Tables(NamedTuple):
    """Hash tables for totals: of each worker of the CPU, or of each row on a GPU.

    Attributes
    ----------
    keys : (slots,) int64 array
        Labels; ``NO_LABEL`` where a slot is empty.
    sums : (slots,) integer array
        Totals.
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


@partial(by_class, inlined=True)
def rate_row(tables, row, level, state, base):
    """Total to the row's own label, its strongest other label, and the total to that.

    ``base`` is where the worker's totals or slots begin, or the slots of the row on a GPU.
    """


@rate_row.of(Tables)
def _rate_by_table(tables, row, level, state, base):
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
    if other == NO_LABEL or state.room[other] < size_at(level.sizes, row):
        return own, np.int64(NO_LABEL), np.int64(0)
    return own, other, link


@rate_row.of(Totals)
def _rate_by_label(totals, row, level, state, base):
    """As :func:`rate_row`, with a total for each label.

    Indices are unsigned, because for others Numba adds a test whether they are negative.
    """
    sums, vertex = totals.sums, np.uint64(row)
    first, end = level.offsets[vertex], level.offsets[vertex + np.uint64(1)]
    size, mine = size_at(level.sizes, vertex), np.uint64(base + np.int64(state.labels[vertex]))
    for entry in range(first, end):
        neighbour, weight = level.neighbours[np.uint64(entry)], weight_at(level, np.uint64(entry))
        if len(state.groups) and state.groups[neighbour] != state.groups[vertex]:
            weight = np.int64(0)
        sums[np.uint64(base + np.int64(state.labels[neighbour]))] += weight
    own, word, best, link = np.int64(sums[mine]), np.int64(-1), np.int64(NO_LABEL), np.int64(0)
    sums[mine] = 0
    for entry in range(first, end):
        label = state.labels[level.neighbours[np.uint64(entry)]]
        slot = np.uint64(base + np.int64(label))
        total = np.int64(sums[slot])
        sums[slot] = 0
        offered = ((total >> state.shift) << 32) | mix(np.int64(label), state.salt)
        offered |= -np.int64((total == 0) | (state.room[label] < size))
        is_better = offered > word
        word = offered if is_better else word
        best = np.int64(label) if is_better else best
        link = total if is_better else link
    return own, best, link


@device
def _rate_in_table(row, level, state, tables, base):
    """As :func:`rate_row`, with the totals of several other labels in a table."""
    first, end, size = level.offsets[row], level.offsets[row + 1], size_at(level.sizes, row)
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
