"""Two-hop matching, another coarsening step: pairs of neighbours, then pairs that share a neighbour.

In a round, every vertex that is still single looks for its heaviest edge to another single one; among equal
weights a random number of the edge decides, which both of its ends compute.  An edge that is the heaviest of
both ends makes them a pair, so that no two threads ever want different things.

Beside the hubs of a social network, and in a star, most vertices stay single, since a hub has one mate only.
While they are many, those are paired that have the same neighbours (*twins*, which leaves of one vertex and
isolated vertices are, too), and then those whose heaviest edges lead to the same vertex (*relatives*).

A matching halves a graph at most, so that it takes more levels than clusters
(:mod:`~edgewise.partitions.coarsen.clustering`), but the vertices of a level stay of nearly equal weight.

D. LaSalle, M. M. A. Patwary, N. Satish, N. Sundaram, P. Dubey and G. Karypis, "Improving graph partitioning
for modern graphs and architectures" (IA3 2015), on two-hop matching; R. Preis, "Linear time
1/2-approximation algorithm for maximum weighted matching in general graphs" (STACS 1999).
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, each, each_row, fetch_add, fetch_max
from edgewise.partitions.levels import salt_of, size_at, weight_at
from edgewise.primitives.mixing import MASK, mix, unmix

#: Heaviest edge of a vertex that has none.
NOTHING = -1
#: Largest number of rounds.
ROUNDS = 8


class Matching(NamedTuple):
    """A matching, and what pairs have to fulfil."""

    mates: Any  # (n,) index array: the other vertex of each pair; a single vertex has itself
    groups: Any  # (n,) index array: no pair has vertices of two groups; empty if all are of one
    heaviest: int  # largest weight of a pair
    salt: int  # of the random numbers of edges
    shift: int  # lower bits of a weight that are left out when weights are compared


@each_row
def _find_heaviest(row, lane, lanes, level, matching, must_be_single, best):
    """Find the heaviest edge of a single vertex to another vertex, which may have to be single."""
    word, mine = np.int64(NOTHING), mix(row, matching.salt)
    if np.int64(matching.mates[row]) != row:
        return
    for entry in range(level.offsets[row] + lane, level.offsets[row + 1], lanes):
        other = np.int64(level.neighbours[entry])
        if must_be_single != 0:
            if np.int64(matching.mates[other]) != other:
                continue
            if size_at(level.sizes, row) + size_at(level.sizes, other) > matching.heaviest:
                continue
            if len(matching.groups) and matching.groups[row] != matching.groups[other]:
                continue
        offered = ((weight_at(level, entry) >> matching.shift) << 32) | (mine ^ mix(other, matching.salt))
        word = max(word, offered)
    if word != NOTHING:
        fetch_max(best, row, word)


@each
def _pair(vertex, matching, best, count):
    """Pair a vertex with the other end of its heaviest edge, if that is the heaviest of both."""
    word = best[vertex]
    if word == NOTHING:
        return
    other = unmix((word & MASK) ^ mix(vertex, matching.salt), matching.salt)
    if best[other] == word:
        matching.mates[vertex] = other
        fetch_add(count, 0, 1)


@each_row
def _add_neighbours(row, lane, lanes, level, matching, keys):
    """Add random numbers of the neighbours; equal sums are those of equal neighbours."""
    if np.int64(matching.mates[row]) != row:
        return
    total = np.int64(0)
    for entry in range(level.offsets[row] + lane, level.offsets[row + 1], lanes):
        total += mix(np.int64(level.neighbours[entry]), matching.salt) >> 1
    fetch_add(keys, row, total)


@each
def _key_of_sum(item, single, matching, sums, keys):
    vertex = np.int64(single[item])
    number = sums[vertex]
    if len(matching.groups):
        number += mix(np.int64(matching.groups[vertex]), matching.salt)
    keys[item] = ((number & 0x7FFFFFFF) << 32) | vertex


@each
def _key_of_favourite(item, single, matching, best, keys):
    """Sort key of a vertex: the other end of its heaviest edge, or a number that no vertex has."""
    vertex, favourite = np.int64(single[item]), np.int64(0x7FFFFFFF)
    if best[vertex] != NOTHING:
        favourite = unmix((best[vertex] & MASK) ^ mix(vertex, matching.salt), matching.salt)
    keys[item] = (favourite << 32) | vertex


@each
def _pair_equal(item, keys, starts, level, matching):
    """Pair the first vertex with the second one of equal keys, the third with the fourth, and so on."""
    if (item - starts[item]) % 2 == 0 or keys[item] >> 32 != keys[item - 1] >> 32:
        return
    one, other = keys[item - 1] & 0xFFFFFFFF, keys[item] & 0xFFFFFFFF
    if size_at(level.sizes, one) + size_at(level.sizes, other) > matching.heaviest:
        return
    if len(matching.groups) and matching.groups[one] != matching.groups[other]:
        return
    matching.mates[one], matching.mates[other] = other, one


@each
def _label(vertex, matching, labels):
    labels[vertex] = min(vertex, np.int64(matching.mates[vertex]))


def match_pairs(level, heaviest, groups, how):
    """Match a level; return the label of each vertex's pair, (n,), which is the smaller vertex number.

    ``heaviest`` is the largest weight of a pair, ``groups`` those that no pair joins (or empty), ``how`` the
    seed and the shift of totals.
    """
    where, n, kind = arrays.device_of(level.offsets), len(level.offsets) - 1, level.neighbours.dtype
    xp = arrays.namespace(level.offsets)
    numbers = arrays.move(xp.arange(n, dtype=kind), where)
    matching = Matching(numbers.copy(), groups, heaviest, salt_of(how.seed, 2), how.shift)
    for turn in range(ROUNDS):
        matching = matching._replace(salt=salt_of(how.seed, 16 + turn))
        best, count = arrays.full(n, NOTHING, np.int64, where), arrays.zeros(1, np.int64, where)
        _find_heaviest(n, level, matching, 1, best, width="warp")
        _pair(n, matching, best, count)
        if int(count[0]) < how.matched * n:
            break
    for keys_of in (_keys_of_twins, _keys_of_relatives):
        single = arrays.move(xp.flatnonzero(matching.mates == numbers), where)
        if len(single) <= how.single_vertices * n:
            break
        keys = keys_of(level, matching, single)
        keys.sort()
        starts = arrays.move(xp.searchsorted(keys, keys >> 32 << 32), where)
        _pair_equal(len(keys), keys, starts, level, matching)
    labels = arrays.empty(n, kind, where)
    _label(n, matching, labels)
    return labels


def _keys_of_twins(level, matching, single):
    """Sort keys of single vertices, equal in the upper half if they have the same neighbours."""
    where, n = arrays.device_of(level.offsets), len(level.offsets) - 1
    sums, keys = arrays.zeros(n, np.int64, where), arrays.empty(len(single), np.int64, where)
    _add_neighbours(n, level, matching, sums, width="warp")
    _key_of_sum(len(single), single, matching, sums, keys)
    return keys


def _keys_of_relatives(level, matching, single):
    """Sort keys of single vertices, equal in the upper half if their heaviest edges lead to one vertex."""
    where, n = arrays.device_of(level.offsets), len(level.offsets) - 1
    best, keys = arrays.full(n, NOTHING, np.int64, where), arrays.empty(len(single), np.int64, where)
    _find_heaviest(n, level, matching, 0, best, width="warp")
    _key_of_favourite(len(single), single, matching, best, keys)
    return keys
