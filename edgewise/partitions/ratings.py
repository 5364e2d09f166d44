"""Ratings of many vertices, and the memory for them, on the CPU and on a GPU.

On the CPU threads rate rows as in :mod:`~edgewise.partitions.rating`.  On a GPU a thread rates a short row:
it lists the labels of the row and the total to each in the shared memory of its block, where it has a column
of its own, so that the threads of a warp use different banks.  A table in the memory of the GPU would be
cleared, filled and read in many small accesses, and takes several times as long.  Rows that are longer than a
column have such a table, of two slots for each entry, and each entry of a long row is added to it by a thread
of its own, so that a row of a million entries takes no longer than many short ones.

Refinement asks for the strongest part of a vertex again whenever a neighbour has moved.  Its row of the graph
would answer, but a hub has a long row, and a neighbour that moves in nearly every iteration.  So where parts
are few, a table of *connections* has the total of each vertex to each part: a move changes two totals of each
neighbour, and the strongest part is found among ``k`` totals that lie side by side.  Both find the same.

M. S. Gilbert, K. Madduri, E. G. Boman and S. Rajamanickam, "Jet: multilevel graph partitioning on graphics
processing units" (SIAM Journal on Scientific Computing 46, 2024), who keep a hash table for each vertex.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import (
    arrays,
    cas,
    device,
    each,
    each_row,
    fetch_add,
    fetch_max,
    load,
    parallel_region,
    regions,
    threads,
)
from edgewise.device.shares import next_chunk
from edgewise.device.target import inlined
from edgewise.device.warps import block_size, inclusive_scan, warp_size
from edgewise.partitions.levels import size_at, weight_at
from edgewise.partitions.rating import NO_LABEL, SPREAD, Tables, Totals, note_rating, rate_row, row_of
from edgewise.primitives.mixing import MASK, mix, unmix

#: Rows that a worker of the CPU takes at a time.
CHUNK = 256
#: Entries of a row that one thread of a GPU adds up.
THREAD_ENTRIES = 64
#: Bytes for the totals of all workers of the CPU for each label; with more there are hash tables.
TOTALS_BYTES = 2**30
#: Totals in a cache line; those of two workers are not in the same one.
IN_A_LINE = 16
#: Threads of a block of a GPU.
THREADS = 128
#: Entries of a row for whose labels and totals a column has room.
IN_COLUMN = 32
#: The label of an entry that does not count, in a column.
NO_ENTRY = 0xFFFFFFFF
#: Totals for each entry of the rows up to which there is a table of connections: on the CPU, and on a GPU.
TOTALS_FOR_EACH_ENTRY, TOTALS_ON_GPU = 0.5, 4
#: Share of the weight of the edges between parts from which on there is a table of connections on the CPU:
#: a judgement, which saves memory of large grids (two cores, a320f21c, 2026-12-01; no other was measured).
CUT = 0.02


class Connections(NamedTuple):
    """Totals to each part, and the order of parts with equal totals.

    Attributes
    ----------
    totals : (n * k,) integer array
        Those of a vertex side by side; empty if they were too many.
    ranks : (k,) int64 array
        The parts' places in the order of their random numbers.
    ranked : (k,) int64 array
        The part at each place.
    """

    totals: Any
    ranks: Any
    ranked: Any


@each_row
def _add_row(row, lane, lanes, level, part, k, totals):
    for entry in range(level.offsets[row] + lane, level.offsets[row + 1], lanes):
        at = row * k + np.int64(part[level.neighbours[entry]])
        if lanes == 1:
            totals[at] += weight_at(level, entry)
        else:
            fetch_add(totals, at, weight_at(level, entry))


@inlined
def strongest(row, level, state, connections):
    """As :func:`~edgewise.partitions.rating.rate_row`, from the totals of the row.

    The loop has no branches, so that a CPU looks at several totals at a time.
    """
    totals, base, size = connections.totals, row * len(state.room), size_at(level.sizes, row)
    mine, word = np.int64(state.labels[row]), np.int64(-1)
    for label in range(len(state.room)):
        total = np.int64(totals[np.uint64(base + label)])
        offered = ((total >> state.shift) << 32) | connections.ranks[label]
        is_barred = (total == 0) | (label == mine) | (state.room[label] < size)
        word = max(word, offered | -np.int64(is_barred))
    own = np.int64(totals[np.uint64(base + mine)])
    if word < 0:
        return own, np.int64(NO_LABEL), np.int64(0)
    best = np.int64(connections.ranked[word & MASK])
    return own, best, np.int64(totals[np.uint64(base + best)])


@inlined
def rate_vertex(row, level, state, connections, tables, base):
    """As :func:`~edgewise.partitions.rating.rate_row`, from the connections if there are any."""
    if len(connections.totals):
        return strongest(row, level, state, connections)
    return rate_row(tables, row, level, state, base)


@parallel_region
def rate_by_rows(worker, rows, level, state, memory, facts, shares, growth_of_own):
    """Rate rows on the CPU; ``memory`` are the connections and the tables."""
    (count, chosen), (connections, tables), growth = rows, memory, np.int64(0)
    base = worker.id * tables.capacity
    turn, first, end = next_chunk(0, shares, count, CHUNK, worker.id)
    while first < end:
        for item in range(first, end):
            row = row_of(item, chosen)
            own, best, link = rate_vertex(row, level, state, connections, tables, base)
            growth += note_rating(facts, row, own, best, link)
        turn, first, end = next_chunk(turn, shares, count, CHUNK, worker.id)
    fetch_add(growth_of_own, 0, growth)


@parallel_region
def rate_by_totals(worker, rows, level, state, connections, facts, growth_of_own):
    """Rate rows on a GPU from the connections, a thread for each; the lanes of a warp add up the growth."""
    (count, chosen), lane, growth = rows, worker.id % warp_size(), np.int64(0)
    for item in range(worker.id, count, worker.count):
        row = row_of(item, chosen)
        own, best, link = strongest(row, level, state, connections)
        growth += note_rating(facts, row, own, best, link)
    growth = inclusive_scan(growth, lane)
    if lane == warp_size() - 1:
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
    if label != np.int64(state.labels[row]) and state.room[label] >= size_at(level.sizes, row):
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
    """As :func:`~edgewise.partitions.rating.rate_row`, from the table of the row on a GPU."""
    word, best, link = tables.offers[row], np.int64(NO_LABEL), np.int64(0)
    if word >= 0:
        best = unmix(word & 0xFFFFFFFF, state.salt)
        link = total_of(row, best, level, tables)
    return total_of(row, np.int64(state.labels[row]), level, tables), best, link


@parallel_region.by(threads=THREADS, shared_words=2 * IN_COLUMN * THREADS, shared_type=np.uint32)
def rate_in_columns(worker, rows, level, state, facts, growth_of_own):
    """Rate those rows that fit into a column; weights have 32 bits.

    ``rows`` are their number and the array of the chosen ones, as for
    :func:`~edgewise.partitions.rating.row_of`.
    """
    (count, chosen), size, column = rows, block_size(), worker.shared
    thread, lane, growth = worker.id % size, worker.id % warp_size(), np.int64(0)
    totals = IN_COLUMN * size
    for item in range(worker.id, count, worker.count):
        row = row_of(item, chosen)
        start, entries = level.offsets[row], level.offsets[row + 1] - level.offsets[row]
        if entries > IN_COLUMN:
            continue
        for place in range(entries):
            neighbour, label = level.neighbours[start + place], np.int64(NO_ENTRY)
            if len(state.groups) == 0 or state.groups[neighbour] == state.groups[row]:
                label = np.int64(state.labels[neighbour])
            column[place * size + thread] = label
        mine, own, end = np.int64(state.labels[row]), np.int64(0), thread
        for place in range(entries):
            label = np.int64(column[place * size + thread])
            weight = weight_at(level, start + place)
            if label == mine:
                own += weight
            elif label != NO_ENTRY:
                at = thread
                while at < end and np.int64(column[at]) != label:
                    at += size
                if at == end:
                    column[at], column[totals + at] = label, 0
                    end += size
                column[totals + at] += weight
        best, link, word, room = np.int64(NO_LABEL), np.int64(0), np.int64(-1), size_at(level.sizes, row)
        for at in range(thread, end, size):
            label, total = np.int64(column[at]), np.int64(column[totals + at])
            if state.room[label] >= room:
                offered = ((total >> state.shift) << 32) | mix(label, state.salt)
                if offered > word:
                    best, link, word = label, total, offered
        growth += note_rating(facts, row, own, best, link)
    growth = inclusive_scan(growth, lane)
    if lane == warp_size() - 1 and growth != 0:
        fetch_add(growth_of_own, 0, growth)


@each
def _rate_in_table(item, chosen, level, state, memory, least, growth_of_own):
    """Rate a row of more than ``least`` entries in its table; ``memory`` are the tables and the facts."""
    (tables, facts), row = memory, row_of(item, chosen)
    entries = level.offsets[row + 1] - level.offsets[row]
    if entries <= least or entries > THREAD_ENTRIES:
        return
    own, best, link = rate_row(tables, row, level, state, 2 * level.offsets[row])
    growth = note_rating(facts, row, own, best, link)
    if growth != 0:
        fetch_add(growth_of_own, 0, growth)


@each
def _mark(item, chosen, level, tables):
    row = row_of(item, chosen)
    tables.marks[row] = level.offsets[row + 1] - level.offsets[row] > THREAD_ENTRIES
    tables.offers[row] = -1


@each
def _clear_entry(entry, level, tables):
    if tables.marks[level.rows[entry]] != 0:
        tables.keys[2 * entry] = tables.keys[2 * entry + 1] = NO_LABEL
        tables.sums[2 * entry] = tables.sums[2 * entry + 1] = 0


@each
def _add_entry(entry, level, state, tables):
    row = np.int64(level.rows[entry])
    if tables.marks[row] != 0:
        add_to_table(row, entry, level, state, tables)


@each
def _read_row(item, chosen, level, state, tables, facts, growth_of_own):
    row = row_of(item, chosen)
    if tables.marks[row] == 0:
        return
    own, best, link = strongest_in_table(row, level, state, tables)
    growth = note_rating(facts, row, own, best, link)
    if growth != 0:
        fetch_add(growth_of_own, 0, growth)
    tables.marks[row] = 0


def rate_rows(rows, level, state, tables, facts, growth):
    """Rate rows on a GPU; ``rows`` are their number and the array of the chosen ones."""
    (count, chosen), least = rows, -1
    if level.weights.dtype == np.int32:
        rate_in_columns(rows, level, state, facts, growth)
        least = IN_COLUMN
    if tables.longest > least:
        _rate_in_table(count, chosen, level, state, (tables, facts), least, growth)
    if tables.longest > THREAD_ENTRIES:
        _mark(count, chosen, level, tables)
        _clear_entry(len(level.neighbours), level, tables)
        _add_entry(len(level.neighbours), level, state, tables)
        _read_row(count, chosen, level, state, tables, facts, growth)


def tables_for(level, n_labels):
    """Memory to rate rows of a level with so many labels."""
    where, n = arrays.device_of(level.offsets), len(level.offsets) - 1
    if where == "cpu":
        kind, capacity = level.weights.dtype, (n_labels // IN_A_LINE + 2) * IN_A_LINE
        if capacity * threads.count() * kind.itemsize <= TOTALS_BYTES:
            return Totals(np.zeros(capacity * threads.count(), kind), capacity, 0)
        most = min(int(np.diff(level.offsets).max(initial=1)), n_labels)
        capacity = max(8, 1 << int(2 * most - 1).bit_length())
        slots = capacity * threads.count()
        marks = np.empty(0, np.int64), np.empty(0, np.int32)
        return Tables(np.empty(slots, np.int64), np.empty(slots, kind), capacity, most, *marks)
    slots, degrees = 2 * len(level.neighbours), level.offsets[1:] - level.offsets[:-1]
    return Tables(
        arrays.empty(slots, np.int64, where),
        arrays.empty(slots, np.int64, where),
        0,
        int(degrees.max()) if n else 0,
        arrays.empty(n, np.int64, where),
        arrays.zeros(n, np.int32, where),
    )


def no_tables(level):
    """No memory, where rows are not rated, of the types of :func:`tables_for`: one kernel takes both."""
    where = arrays.device_of(level.offsets)
    if where == "cpu":
        return Totals(np.empty(0, level.weights.dtype), 0, 0)
    none = arrays.empty(0, np.int64, where)
    return Tables(none, none, 0, 0, none, arrays.empty(0, np.int32, where))


def no_connections(level):
    """No connections, where rows are rated."""
    where = arrays.device_of(level.offsets)
    none = arrays.empty(0, np.int64, where)
    return Connections(arrays.empty(0, level.weights.dtype, where), none, none)


def _weight_of_entries(level):
    return int(level.weights.sum()) if len(level.weights) else len(level.neighbours)


def connections_of(level, state, k, cut):
    """The connections to ``k`` parts, which are the labels of a state with such a cut, if they pay."""
    where, n = arrays.device_of(level.offsets), len(level.offsets) - 1
    most = TOTALS_FOR_EACH_ENTRY if where == "cpu" else TOTALS_ON_GPU
    if n * k > most * len(level.neighbours):
        return no_connections(level)
    if where == "cpu" and 2 * cut < CUT * _weight_of_entries(level):
        return no_connections(level)
    totals = arrays.zeros(n * k, level.weights.dtype, where)
    _add_row(n, level, state.labels, k, totals, width="warp")
    ranked = np.array(sorted(range(k), key=lambda one: mix(one, state.salt)), np.int64)
    return Connections(totals, *(arrays.move(one, where) for one in (np.argsort(ranked), ranked)))


def rate(chosen, level, state, memory, facts):
    """Rate vertices; return the growth of the totals to their own labels, (1,) int64, on the device.

    ``chosen`` is an index array without repetitions, or ``None`` for all vertices; ``memory`` are the
    connections and the tables.
    """
    where, (connections, tables) = arrays.device_of(level.offsets), memory
    count = len(level.offsets) - 1 if chosen is None else len(chosen)
    rows = count, arrays.empty(0, np.int64, where) if chosen is None else chosen
    growth = arrays.zeros(1, np.int64, where)
    if count == 0:
        return growth
    if where == "cpu":
        n_workers = min(regions.workers(), -(-count // CHUNK))
        shares = threads.new_shares(n_workers)
        rate_by_rows.with_workers(n_workers, rows, level, state, memory, facts, shares, growth)
    elif len(connections.totals):
        rate_by_totals(rows, level, state, connections, facts, growth)
    else:
        rate_rows(rows, level, state, tables, facts, growth)
    return growth
