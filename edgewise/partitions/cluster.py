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

from bisect import bisect_left
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, each, fetch_add
from edgewise.partitions.levels import mix, salt_of
from edgewise.partitions.ratings import NO_LABEL, Labels, rate, unrated
from edgewise.primitives.counting_sort import counting_order

#: Share of clusters of a single vertex from which on those are joined by two hops.
MANY_SINGLE = 0.4
#: Room that is always enough.
AMPLE = 2**62


class Moves(NamedTuple):
    """What the vertices of a sub-round want.

    Attributes
    ----------
    wanted : (n,) int64 array
        The cluster that a vertex wants to join, or ``NO_LABEL``.
    settled : (n,) int32 array
        1 if the vertex joins it.
    requested : (n,) int64 array
        Weight that wants to join each cluster.
    crowded : (n,) int64 array
        Cluster and vertex, in the upper and the lower half of a word, of those that want to join a cluster
        without room for all.
    starts : (2 * n,) int64 array
        Weight before the first of those of each cluster; from n on, of the isolated vertices of each group.
    count : (1,) int64 array
        Number of them.
    """

    wanted: Any
    settled: Any
    requested: Any
    crowded: Any
    starts: Any
    count: Any


@each
def _draw_sub_round(vertex, salt, sub_rounds, drawn):
    drawn[vertex] = mix(vertex, salt) % sub_rounds


def sub_rounds_of(drawn, count):
    """The vertices of each sub-round, by the numbers that are drawn: index arrays."""
    where = arrays.device_of(drawn)
    if where != "cpu":
        xp = arrays.namespace(drawn)
        return [arrays.move(xp.flatnonzero(drawn == one), where) for one in range(count)]
    order = counting_order(drawn, count)
    bounds = [bisect_left(order, one, key=drawn.__getitem__) for one in range(count + 1)]
    return [order[first:end] for first, end in pairwise(bounds)]


@each
def _begin(vertex, level, limit, state, rated, moves):
    state.labels[vertex] = vertex
    state.room[vertex] = limit - level.sizes[vertex]
    rated.own[vertex] = 0
    moves.wanted[vertex] = NO_LABEL


@each
def _want(item, chosen, rated, moves):
    """Want the strongest cluster, if it is stronger than the vertex's own."""
    vertex = chosen[item]
    moves.settled[vertex] = 0
    is_better = rated.best[vertex] != NO_LABEL and rated.link[vertex] > rated.own[vertex]
    moves.wanted[vertex] = rated.best[vertex] if is_better else NO_LABEL
    if is_better:
        moves.requested[rated.best[vertex]] = 0


@each
def _request(item, chosen, level, limit, state, moves):
    """Request room, unless the cluster is a vertex that wants to move away."""
    vertex = np.int64(chosen[item])
    cluster = moves.wanted[vertex]
    if cluster == NO_LABEL:
        return
    is_single = state.labels[cluster] == cluster and state.room[cluster] == limit - level.sizes[cluster]
    if is_single and moves.wanted[cluster] != NO_LABEL:
        is_mutual = moves.wanted[cluster] == np.int64(state.labels[vertex])
        if not is_mutual or mix(vertex, state.salt) > mix(cluster, state.salt):
            return
    moves.settled[vertex] = 1
    fetch_add(moves.requested, cluster, level.sizes[vertex])


@each
def _find_crowded(item, chosen, state, moves):
    """List those that want to join a cluster without room for all."""
    vertex = np.int64(chosen[item])
    cluster = moves.wanted[vertex]
    if moves.settled[vertex] != 0 and moves.requested[cluster] > state.room[cluster]:
        moves.settled[vertex] = 0
        moves.crowded[fetch_add(moves.count, 0, 1)] = (cluster << 32) | vertex


@each
def _start_run(item, keys, sizes, ends, moves):
    """Note the weight before the first vertex of each cluster in the list."""
    cluster = keys[item] >> 32
    if item == 0 or keys[item - 1] >> 32 != cluster:
        moves.starts[cluster] = ends[item] - sizes[item]


@each
def _settle_crowded(item, keys, ends, state, moves):
    """Let vertices join a cluster up to its room."""
    cluster = keys[item] >> 32
    if ends[item] - moves.starts[cluster] <= state.room[cluster]:
        moves.settled[keys[item] & 0xFFFFFFFF] = 1


@each
def _join(item, chosen, level, state, moves):
    vertex = np.int64(chosen[item])
    if moves.settled[vertex] != 0:
        cluster = moves.wanted[vertex]
        fetch_add(state.room, np.int64(state.labels[vertex]), level.sizes[vertex])
        fetch_add(state.room, cluster, -level.sizes[vertex])
        state.labels[vertex] = cluster
    moves.wanted[vertex] = NO_LABEL


@each
def _count_members(vertex, state, members):
    fetch_add(members, np.int64(state.labels[vertex]), 1)


@each
def _favour(item, single, rated, n, groups, keys):
    """Strongest cluster of a single vertex, whether it has room or not; if there is none, n + its group."""
    vertex = single[item]
    favourite = np.int64(rated.best[vertex])
    if favourite == NO_LABEL:
        favourite = np.int64(n)
        if len(groups):
            favourite += np.int64(groups[vertex])
    keys[item] = (favourite << 32) | vertex


@each
def _join_run(item, keys, sizes, ends, moves, limit, firsts):
    """Note the first vertex of each cluster of single vertices; the weight before them divides them."""
    before = ends[item] - sizes[item]
    favourite = keys[item] >> 32
    firsts[item] = 1
    if item > 0 and keys[item - 1] >> 32 == favourite:
        start = moves.starts[favourite]
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
    rated = unrated(n, where)
    moves = Moves(
        arrays.empty(n, np.int64, where),
        arrays.empty(n, np.int32, where),
        *(arrays.empty(size, np.int64, where) for size in (n, n, 2 * n)),
        arrays.zeros(1, np.int64, where),
    )
    _begin(n, level, limit, state, rated, moves)
    drawn = arrays.empty(n, np.int64, where)
    for one_round in range(how.rounds):
        _draw_sub_round(n, salt_of(how.seed, 16 + one_round), how.sub_rounds, drawn)
        state = state._replace(salt=salt_of(how.seed, 1 + one_round))
        for chosen in sub_rounds_of(drawn, how.sub_rounds):
            rate(chosen, level, state, tables, rated)
            _move(chosen, level, limit, state, (rated, moves))
    members = arrays.zeros(n, np.int64, where)
    _count_members(n, state, members)
    single = arrays.move(xp.flatnonzero(members[labels] == 1), where)
    if len(single) > MANY_SINGLE * n:
        _join_single(
            single,
            level,
            limit,
            state._replace(room=arrays.full(n, AMPLE, np.int64, where)),
            (tables, rated, moves),
        )
    return labels


def _move(chosen, level, limit, state, memory):
    """Move the vertices of a sub-round."""
    rated, moves = memory
    _want(len(chosen), chosen, rated, moves)
    _request(len(chosen), chosen, level, limit, state, moves)
    moves.count[:] = 0
    _find_crowded(len(chosen), chosen, state, moves)
    count = int(moves.count[0])
    if count:
        keys = moves.crowded[:count]
        keys.sort()
        sizes, ends = _weigh(keys, level)
        _start_run(count, keys, sizes, ends, moves)
        _settle_crowded(count, keys, ends, state, moves)
    _join(len(chosen), chosen, level, state, moves)


def _weigh(keys, level):
    """Weights of the vertices in the lower halves of the keys, and their inclusive prefix sums."""
    xp, where = arrays.namespace(keys), arrays.device_of(level.offsets)
    sizes = arrays.move(level.sizes[keys & 0xFFFFFFFF], where)
    return sizes, arrays.move(xp.cumsum(sizes), where)


def _join_single(single, level, limit, state, memory):
    """Join single vertices that have the same strongest cluster, and isolated ones."""
    tables, rated, moves = memory
    xp, where, n = arrays.namespace(single), arrays.device_of(level.offsets), len(level.sizes)
    rate(single, level, state, tables, rated)
    keys = arrays.empty(len(single), np.int64, where)
    _favour(len(single), single, rated, n, state.groups, keys)
    keys.sort()
    sizes, ends = _weigh(keys, level)
    _start_run(len(keys), keys, sizes, ends, moves)
    firsts = arrays.empty(len(keys), np.int64, where)
    _join_run(len(keys), keys, sizes, ends, moves, limit, firsts)
    ranks = arrays.move(xp.cumsum(firsts), where)
    leaders = arrays.move(xp.flatnonzero(firsts), where)
    _label_run(len(keys), keys, ranks, leaders, state)
