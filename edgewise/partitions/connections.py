"""Connections: the total weight of the edges from every vertex to every part, kept up to date by the moves.

Refinement asks for the strongest part of a vertex again whenever a neighbour has moved.  Its row of the graph
would answer, but a hub has a long row, and a neighbour that moves in nearly every iteration.  So where parts
are few, a table has the total of each vertex to each part: a move changes two totals of each neighbour, and
the strongest part is found among ``k`` totals that lie side by side.  With more parts than a row has entries,
the row is read instead (:mod:`~edgewise.partitions.ratings`).  Both find the same.

Reference: Gilbert et al. 2024, as in :mod:`~edgewise.partitions.refine`, who keep a hash table for each
vertex.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, each_row, fetch_add, parallel_region, regions
from edgewise.device.shares import new_shares, next_chunk
from edgewise.device.target import inlined
from edgewise.device.warps import inclusive_scan, warp_size
from edgewise.partitions.facts import note_rating
from edgewise.partitions.levels import weight_at
from edgewise.partitions.ratings import CHUNK, NO_LABEL, row_of
from edgewise.primitives.mixing import MASK, mix

#: There is a table if it has at most so many totals for each entry of the rows.
TOTALS_FOR_EACH_ENTRY = 4


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
    """As :func:`~edgewise.partitions.ratings.rate_row`, from the totals of the row.

    The loop has no branches, so that a CPU looks at several totals at a time.
    """
    totals, base, size = connections.totals, row * len(state.room), level.sizes[row]
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


@parallel_region
def _read_rows(worker, count, chosen, level, state, memory, shares, growth_of_own):
    connections, facts = memory
    growth = np.int64(0)
    turn, first, end = next_chunk(0, shares, count, CHUNK, worker.id)
    while first < end:
        for item in range(first, end):
            row = row_of(item, chosen)
            own, best, link = strongest(row, level, state, connections)
            growth += note_rating(facts, row, own, best, link)
        turn, first, end = next_chunk(turn, shares, count, CHUNK, worker.id)
    fetch_add(growth_of_own, 0, growth)


@parallel_region
def _read_rows_on_gpu(worker, count, chosen, level, state, memory, growth_of_own):
    """As :func:`_read_rows`, a thread for each row; the lanes of a warp add up the growth."""
    (connections, facts), lane, growth = memory, worker.id % warp_size(), np.int64(0)
    for item in range(worker.id, count, worker.count):
        row = row_of(item, chosen)
        own, best, link = strongest(row, level, state, connections)
        growth += note_rating(facts, row, own, best, link)
    growth = inclusive_scan(growth, lane)
    if lane == warp_size() - 1:
        fetch_add(growth_of_own, 0, growth)


def connections_of(level, state, k):
    """The connections to ``k`` parts, which are the labels of a state."""
    where, n = arrays.device_of(level.offsets), len(level.sizes)
    if n * k > TOTALS_FOR_EACH_ENTRY * len(level.neighbours):
        none = arrays.empty(0, np.int64, where)
        return Connections(arrays.empty(0, level.weights.dtype, where), none, none)
    totals = arrays.zeros(n * k, level.weights.dtype, where)
    _add_row(n, level, state.labels, k, totals, width="warp")
    ranked = np.array(sorted(range(k), key=lambda one: mix(one, state.salt)), np.int64)
    return Connections(totals, *(arrays.move(one, where) for one in (np.argsort(ranked), ranked)))


def read_connections(chosen, level, state, connections, facts):
    """As :func:`~edgewise.partitions.rate.rate`, from the totals."""
    where = arrays.device_of(level.offsets)
    count = len(level.sizes) if chosen is None else len(chosen)
    chosen = arrays.empty(0, np.int64, where) if chosen is None else chosen
    growth = arrays.zeros(1, np.int64, where)
    if count == 0:
        return 0
    if where == "cpu":
        n_workers = min(regions.workers(), -(-count // CHUNK))
        memory, shares = (connections, facts), new_shares(n_workers)
        _read_rows.with_workers(n_workers, count, chosen, level, state, memory, shares, growth)
    else:
        _read_rows_on_gpu(count, chosen, level, state, (connections, facts), growth)
    return int(growth[0])
