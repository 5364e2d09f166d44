"""Clustering by label propagation, the coarsening step: small clusters of strongly connected vertices.

Every vertex begins as a cluster.  In a round, each vertex joins the cluster that most of its edges lead to,
if the cluster has room for it.  A round has sub-rounds: the vertices of one, which are drawn at random, all
choose from the clusters as they are before it, and then move at the same time.  Two rules make the result
independent of the order in which threads run:

* A vertex does not join a vertex that moves away itself; of two that would join each other, one moves.
* If more vertices want to join a cluster than it has room for, they join in the order of their numbers.

Where clusters are full, as beside the hubs of a social network, single vertices are left over.  Those with
the same strongest neighbouring cluster are then joined with each other (two-hop clustering), and so are
isolated vertices.

U. N. Raghavan, R. Albert and S. Kumara, "Near linear time algorithm to detect community structures in
large-scale networks" (Physical Review E 76, 2007); H. Meyerhenke, P. Sanders and C. Schulz, "Partitioning
complex networks via size-constrained clustering" (SEA 2014); L. Gottesbüren, T. Heuer, N. Maas, P. Sanders
and S. Schlag, "Scalable high-quality hypergraph partitioning" (ACM TALG 20, 2024), on sub-rounds.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, each, fetch_add
from edgewise.device.warps import warp_aggregated_add
from edgewise.partitions.cluster_rounds import Moves, is_crowded, join, request, run_on_cpu, want
from edgewise.partitions.facts import BEST, LINK, OWN, fact, new_facts
from edgewise.partitions.levels import salt_of
from edgewise.partitions.rate import rate
from edgewise.partitions.ratings import NO_LABEL, Labels
from edgewise.primitives.mixing import mix

#: Share of clusters of a single vertex from which on those are joined by two hops.
MANY_SINGLE = 0.4
#: Room that is always enough.
AMPLE = 2**62


class Waiting(NamedTuple):
    """The vertices of a sub-round that want to join a cluster without room for all.

    Attributes
    ----------
    keys : (n,) int64 array
        Cluster and vertex, in the upper and the lower half of a word.
    starts : (2 * n,) int64 array
        Weight before the first of those of each cluster; from n on, of the isolated vertices of each group.
    count : (1,) int64 array
        Number of them.
    """

    keys: Any
    starts: Any
    count: Any


@each
def _list_sub_rounds(vertex, draw, sub_rounds, listed, counts):
    """List a vertex with those of the sub-round that it draws, in any order."""
    drawn = mix(vertex, draw) % sub_rounds
    for one in range(sub_rounds):
        if one == drawn:
            listed[one * (len(listed) // sub_rounds) + warp_aggregated_add(counts, one)] = vertex


@each
def _begin(vertex, level, limit, state, moves):
    state.labels[vertex] = vertex
    state.room[vertex] = limit - level.sizes[vertex]
    moves.wanted[vertex] = NO_LABEL


@each
def _want(item, chosen, facts, moves):
    vertex = np.int64(chosen[item])
    best = fact(facts, vertex, BEST)
    if best != NO_LABEL and fact(facts, vertex, LINK) > fact(facts, vertex, OWN):
        want(vertex, best, moves)
    else:
        moves.settled[vertex] = 0


@each
def _request(item, chosen, level, limit, state, moves):
    vertex = np.int64(chosen[item])
    if moves.wanted[vertex] != NO_LABEL:
        request(vertex, level, limit, state, moves)


@each
def _find_crowded(item, chosen, state, moves, waiting):
    """List those that want to join a cluster without room for all."""
    vertex = np.int64(chosen[item])
    if is_crowded(vertex, state, moves):
        moves.settled[vertex] = 0
        waiting.keys[fetch_add(waiting.count, 0, 1)] = (moves.wanted[vertex] << 32) | vertex


@each
def _start_run(item, keys, sizes, ends, starts):
    """Note the weight before the first vertex of each cluster in the list."""
    cluster = keys[item] >> 32
    if item == 0 or keys[item - 1] >> 32 != cluster:
        starts[cluster] = ends[item] - sizes[item]


@each
def _settle_crowded(item, keys, ends, starts, state, moves):
    """Let vertices join a cluster up to its room."""
    cluster = keys[item] >> 32
    if ends[item] - starts[cluster] <= state.room[cluster]:
        moves.settled[keys[item] & 0xFFFFFFFF] = 1


@each
def _join(item, chosen, level, state, moves):
    join(np.int64(chosen[item]), level, state, moves)


@each
def _find_single(vertex, level, limit, state, is_single):
    """Mark a vertex that is alone in its cluster, of which it takes all of the room that is not left."""
    is_single[vertex] = state.room[state.labels[vertex]] == limit - level.sizes[vertex]


@each
def _favour(item, single, facts, n, groups, keys):
    """Strongest cluster of a single vertex, whether it has room or not; if there is none, n + its group."""
    vertex = single[item]
    favourite = fact(facts, np.int64(vertex), BEST)
    if favourite == NO_LABEL:
        favourite = np.int64(n)
        if len(groups):
            favourite += np.int64(groups[vertex])
    keys[item] = (favourite << 32) | vertex


@each
def _join_run(item, keys, sizes, ends, starts, limit, firsts):
    """Note the first vertex of each cluster of single vertices; the weight before them divides them."""
    before = ends[item] - sizes[item]
    favourite = keys[item] >> 32
    firsts[item] = 1
    if item > 0 and keys[item - 1] >> 32 == favourite:
        start = starts[favourite]
        earlier = before - sizes[item - 1]
        if (before - start) // limit == (earlier - start) // limit:
            firsts[item] = 0


@each
def _label_run(item, keys, ranks, leaders, state):
    state.labels[keys[item] & 0xFFFFFFFF] = keys[leaders[ranks[item] - 1]] & 0xFFFFFFFF


def cluster(level, tables, limit, groups, how):
    """Cluster a level; return the label of each vertex's cluster, (n,), which is a vertex number.

    ``limit`` is the largest weight of a cluster of several vertices, ``groups`` those that no cluster joins,
    below n (or empty), ``how`` the seed, the numbers of rounds and sub-rounds, and the shift of totals.
    """
    where, n = arrays.device_of(level.offsets), len(level.sizes)
    xp, kind = arrays.namespace(level.offsets), level.neighbours.dtype
    labels, room = arrays.empty(n, kind, where), arrays.empty(n, np.int64, where)
    state = Labels(labels, room, groups, salt_of(how.seed, 1), how.shift)
    facts = new_facts(level)
    moves = Moves(*(arrays.empty(n, form, where) for form in (np.int64, np.int32, np.int64)))
    keys, starts = (arrays.empty(size, np.int64, where) for size in (n, 2 * n))
    waiting = Waiting(keys, starts, arrays.zeros(1, np.int64, where))
    _begin(n, level, limit, state, moves)
    draws, salts = ([salt_of(how.seed, first + one) for one in range(how.rounds)] for first in (16, 1))
    if where == "cpu":
        run_on_cpu(level, limit, state, tables, moves, (draws, salts, how.sub_rounds))
    else:
        listed = arrays.empty(how.sub_rounds * n, np.int64, where)
        for draw, salt in zip(draws, salts):
            counts = arrays.zeros(how.sub_rounds, np.int64, where)
            _list_sub_rounds(n, draw, how.sub_rounds, listed, counts)
            state = state._replace(salt=salt)
            for one, count in enumerate(counts.tolist()):
                chosen = listed[one * n : one * n + count]
                rate(chosen, level, state, tables, facts)
                _move(chosen, level, limit, state, (facts, moves, waiting))
    is_single = arrays.empty(n, np.bool_, where)
    _find_single(n, level, limit, state, is_single)
    if int(xp.count_nonzero(is_single)) > MANY_SINGLE * n:
        _join_single(
            arrays.move(xp.flatnonzero(is_single), where),
            level,
            limit,
            state._replace(room=arrays.full(n, AMPLE, np.int64, where), salt=salts[-1]),
            (tables, facts, waiting.starts),
        )
    return labels


def _move(chosen, level, limit, state, memory):
    """Move the vertices of a sub-round."""
    facts, moves, waiting = memory
    _want(len(chosen), chosen, facts, moves)
    _request(len(chosen), chosen, level, limit, state, moves)
    waiting.count[:] = 0
    _find_crowded(len(chosen), chosen, state, moves, waiting)
    count = int(waiting.count[0])
    if count:
        keys = waiting.keys[:count]
        keys.sort()
        sizes, ends = _weigh(keys, level)
        _start_run(count, keys, sizes, ends, waiting.starts)
        _settle_crowded(count, keys, ends, waiting.starts, state, moves)
    _join(len(chosen), chosen, level, state, moves)


def _weigh(keys, level):
    """Weights of the vertices in the lower halves of the keys, and their inclusive prefix sums."""
    xp, where = arrays.namespace(keys), arrays.device_of(level.offsets)
    sizes = arrays.move(level.sizes[keys & 0xFFFFFFFF], where)
    return sizes, arrays.move(xp.cumsum(sizes), where)


def _join_single(single, level, limit, state, memory):
    """Join single vertices that have the same strongest cluster, and isolated ones."""
    tables, facts, starts = memory
    xp, where, n = arrays.namespace(single), arrays.device_of(level.offsets), len(level.sizes)
    rate(single, level, state, tables, facts)
    keys = arrays.empty(len(single), np.int64, where)
    _favour(len(single), single, facts, n, state.groups, keys)
    keys.sort()
    sizes, ends = _weigh(keys, level)
    _start_run(len(keys), keys, sizes, ends, starts)
    firsts = arrays.empty(len(keys), np.int64, where)
    _join_run(len(keys), keys, sizes, ends, starts, limit, firsts)
    ranks = arrays.move(xp.cumsum(firsts), where)
    leaders = arrays.move(xp.flatnonzero(firsts), where)
    _label_run(len(keys), keys, ranks, leaders, state)
