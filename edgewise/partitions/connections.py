"""Connections: the total weight of the edges from every vertex to every part, kept up to date by the moves.

Refinement asks for the strongest part of a vertex again whenever a neighbour has moved.  Its row of the graph
would answer, but a hub has a long row, and a neighbour that moves in nearly every iteration.  So where parts
are few, a table has the total of each vertex to each part: a move changes two totals of each neighbour, and
the strongest part is found among ``k`` totals that lie side by side.  With more parts than a row has entries,
the row is read instead (:mod:`~edgewise.partitions.ratings`).  Both find the same.

Reference: Gilbert et al. 2024, as in :mod:`~edgewise.partitions.refine`, who keep a hash table for each
vertex.
"""

import numpy as np

from edgewise.device import arrays, device, each, each_row, fetch_add, parallel_region
from edgewise.partitions.levels import mix, weight_at
from edgewise.partitions.ratings import CHUNK, NO_LABEL

#: There is a table if it has at most so many totals for each entry of the rows.
TOTALS_FOR_EACH_ENTRY = 4


@each_row
def _add_row(row, lane, lanes, level, part, k, totals):
    for entry in range(level.offsets[row] + lane, level.offsets[row + 1], lanes):
        at = row * k + np.int64(part[level.neighbours[entry]])
        if lanes == 1:
            totals[at] += weight_at(level, entry)
        else:
            fetch_add(totals, at, weight_at(level, entry))


@device
def strongest(row, level, state, totals):
    """As :func:`~edgewise.partitions.ratings.rate_row`, from the totals of the row."""
    k, size, mine = len(state.room), level.sizes[row], np.int64(state.labels[row])
    link, best, word = np.int64(0), np.int64(NO_LABEL), np.int64(-1)
    for label in range(k):
        total = np.int64(totals[row * k + label])
        if total == 0 or label == mine or (total >> state.shift) < (word >> 32):
            continue
        if state.room[label] >= size:
            offered = ((total >> state.shift) << 32) | mix(label, state.salt)
            if offered > word:
                word, best, link = offered, np.int64(label), total
    return np.int64(totals[row * k + mine]), best, link


@parallel_region
def _read_rows(worker, chosen, level, state, totals, rated, progress):
    growth = np.int64(0)
    first = fetch_add(progress, 0, CHUNK)
    while first < len(chosen):
        for item in range(first, min(first + CHUNK, len(chosen))):
            row = np.int64(chosen[item])
            own, best, link = strongest(row, level, state, totals)
            growth += own - rated.own[row]
            rated.own[row], rated.best[row], rated.link[row] = own, best, link
        first = fetch_add(progress, 0, CHUNK)
    fetch_add(progress, 1, growth)


@each
def _read_row(item, chosen, level, state, totals, rated, progress):
    row = np.int64(chosen[item])
    own, best, link = strongest(row, level, state, totals)
    if own != rated.own[row]:
        fetch_add(progress, 1, own - rated.own[row])
    rated.own[row], rated.best[row], rated.link[row] = own, best, link


def connections_of(level, part, k):
    """Totals to each part, (n * k,) integers, those of a vertex side by side; empty if they were too many."""
    where, n = arrays.device_of(level.offsets), len(level.sizes)
    if n * k > TOTALS_FOR_EACH_ENTRY * len(level.neighbours):
        return arrays.empty(0, level.weights.dtype, where)
    totals = arrays.zeros(n * k, level.weights.dtype, where)
    _add_row(n, level, part, k, totals, width="warp")
    return totals


def read_connections(chosen, level, state, totals, rated):
    """As :func:`~edgewise.partitions.ratings.rate`, from the totals."""
    where = arrays.device_of(level.offsets)
    progress = arrays.zeros(2, np.int64, where)
    if len(chosen) == 0:
        return 0
    if where != "cpu":
        _read_row(len(chosen), chosen, level, state, totals, rated, progress)
    elif len(chosen) <= CHUNK:
        _read_rows.with_workers(1, chosen, level, state, totals, rated, progress)
    else:
        _read_rows(chosen, level, state, totals, rated, progress)
    return int(progress[1])
