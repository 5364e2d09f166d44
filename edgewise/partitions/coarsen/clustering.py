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

from edgewise.device import (
    arrays,
    barrier_wait,
    device,
    each,
    fetch_add,
    load,
    parallel_region,
    regions,
    threads,
)
from edgewise.device.shares import STRIDE, next_chunk
from edgewise.device.warps import warp_aggregated_add
from edgewise.partitions.levels import room_type, salt_of, size_at, sizes_of, total_size
from edgewise.partitions.rating import FACT, NO_LABEL, Labels, fact, new_facts, rate_row
from edgewise.partitions.ratings import no_connections, rate, tables_for
from edgewise.partitions.row_shares import WORKER_ITEMS
from edgewise.primitives.mixing import mix

#: Vertices of a chunk.
CHUNK = 256
#: A vertex wants to join a cluster without room for all that want to.
WAITS = 2


class Moves(NamedTuple):
    """What the vertices of a sub-round want.

    Attributes
    ----------
    wanted : (n,) index array
        The cluster that a vertex wants to join, or its own.
    settled : (n,) int8 array
        1 if the vertex joins it.
    requested : (n,) int32 or int64 array
        Weight that wants to join each cluster, of the type of the room.
    """

    wanted: Any
    settled: Any
    requested: Any


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


@device
def want(vertex, cluster, moves):
    """Want to join a cluster."""
    moves.settled[vertex] = 0
    moves.wanted[vertex] = cluster
    moves.requested[cluster] = 0


@device
def request(vertex, level, limit, state, moves):
    """Request room, unless the cluster is a vertex that wants to move away."""
    cluster = np.int64(moves.wanted[vertex])
    free = limit - size_at(level.sizes, cluster)
    is_single = state.labels[cluster] == cluster and state.room[cluster] == free
    if is_single and np.int64(moves.wanted[cluster]) != cluster:
        is_mutual = moves.wanted[cluster] == state.labels[vertex]
        if not is_mutual or mix(vertex, state.salt) > mix(cluster, state.salt):
            return
    moves.settled[vertex] = 1
    fetch_add(moves.requested, cluster, size_at(level.sizes, vertex))


@device
def is_crowded(vertex, state, moves):
    """Whether the vertex wants to join a cluster without room for all."""
    if moves.settled[vertex] == 0:
        return False
    cluster = np.int64(moves.wanted[vertex])
    return moves.requested[cluster] > state.room[cluster]


@device
def join(vertex, level, state, moves):
    """Join the cluster, if that is settled."""
    if moves.settled[vertex] == 1:
        cluster = np.int64(moves.wanted[vertex])
        fetch_add(state.room, np.int64(state.labels[vertex]), size_at(level.sizes, vertex))
        fetch_add(state.room, cluster, -size_at(level.sizes, vertex))
        state.labels[vertex] = cluster
    moves.wanted[vertex] = state.labels[vertex]


@each
def _list_sub_rounds(vertex, draw, sub_rounds, listed, counts):
    """List a vertex with those of the sub-round that it draws, in any order."""
    drawn = mix(vertex, draw) % sub_rounds
    for one in range(sub_rounds):
        if one == drawn:
            listed[one * (len(listed) // sub_rounds) + warp_aggregated_add(counts, one)] = vertex


@device
def begin(vertex, level, limit, state, moves):
    """Begin as a cluster."""
    state.labels[vertex] = vertex
    state.room[vertex] = limit - size_at(level.sizes, vertex)
    moves.wanted[vertex] = vertex


@device
def is_single(vertex, level, limit, state):
    """Whether a vertex is alone in its cluster, of which it takes all of the room that is not left."""
    return state.room[state.labels[vertex]] == limit - size_at(level.sizes, vertex)


@each
def _begin(vertex, level, limit, state, moves):
    begin(vertex, level, limit, state, moves)


@each
def _want(item, chosen, facts, moves):
    vertex = np.int64(chosen[item])
    best = fact(facts, vertex, FACT.best)
    if best != NO_LABEL and fact(facts, vertex, FACT.link) > fact(facts, vertex, FACT.own):
        want(vertex, best, moves)
    else:
        moves.settled[vertex] = 0


@each
def _request(item, chosen, level, limit, state, moves):
    vertex = np.int64(chosen[item])
    if moves.wanted[vertex] != state.labels[vertex]:
        request(vertex, level, limit, state, moves)


@each
def _find_crowded(item, chosen, state, moves, waiting):
    """List those that want to join a cluster without room for all."""
    vertex = np.int64(chosen[item])
    if is_crowded(vertex, state, moves):
        moves.settled[vertex] = 0
        waiting.keys[fetch_add(waiting.count, 0, 1)] = (np.int64(moves.wanted[vertex]) << 32) | vertex


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
def _mark_single(vertex, level, limit, state, marks):
    marks[vertex] = is_single(vertex, level, limit, state)


@each
def _favour(item, single, facts, n, groups, keys):
    """Strongest cluster of a single vertex, whether it has room or not; if there is none, n + its group."""
    vertex, alone = np.int64(single[item]), np.int64(n)
    if len(groups):
        alone = alone + np.int64(groups[vertex])
    favourite = fact(facts, vertex, FACT.best)
    favourite = favourite + (alone - NO_LABEL) * (favourite == NO_LABEL)
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
    sizes = arrays.move(sizes_of(level, keys & 0xFFFFFFFF), where)
    return sizes, arrays.move(xp.cumsum(sizes), where)


def _join_single(single, level, limit, state, memory):
    """Join single vertices that have the same strongest cluster, and isolated ones."""
    memory, facts, starts = memory
    xp, where, n = arrays.namespace(single), arrays.device_of(level.offsets), len(level.offsets) - 1
    rate(single, level, state, memory, facts)
    keys = arrays.empty(len(single), np.int64, where)
    list_keys = _favour.vectorised if where == "cpu" else _favour
    list_keys(len(single), single, facts, n, state.groups, keys)
    keys.sort()
    sizes, ends = _weigh(keys, level)
    if where == "cpu":
        _join_on_host(keys, ends - sizes, limit, state.labels)
        return
    _start_run(len(keys), keys, sizes, ends, starts)
    firsts = arrays.empty(len(keys), np.int64, where)
    _join_run(len(keys), keys, sizes, ends, starts, limit, firsts)
    ranks = arrays.move(xp.cumsum(firsts), where)
    leaders = arrays.move(xp.flatnonzero(firsts), where)
    _label_run(len(keys), keys, ranks, leaders, state)


def _join_on_host(keys, before, limit, labels):
    """As the loops over the sorted keys, with the weights before them; the sort takes NumPy longer."""
    vertices, favourites = keys & 0xFFFFFFFF, keys >> 32
    starts = np.flatnonzero(np.diff(favourites, prepend=-1))
    turns = (before - np.repeat(before[starts], np.diff(starts, append=len(keys)))) // limit
    is_first = np.diff(turns, prepend=-1) != 0
    is_first[starts] = True
    leaders = np.flatnonzero(is_first)
    labels[vertices] = np.repeat(vertices[leaders], np.diff(leaders, append=len(keys)))


class Rounds(NamedTuple):
    """The rounds of clustering, and the chunks of the vertices.

    Attributes
    ----------
    draws, salts : (rounds,) int64 arrays
        Seeds of the random numbers that divide the vertices among sub-rounds, and of the labels.
    order : (n,) index array
        The vertices of each chunk by sub-rounds, those of one in ascending order; once these have been rated,
        those that want to move come first.
    bounds : (chunks * (sub_rounds + 1),) int64 array
        Where those of each sub-round begin, and their end.
    ends : (chunks,) int64 array
        Where those end that want to move in the sub-round.
    waiting : (chunks,) int64 array
        Number of vertices that wait in the sub-round.
    taken : (rounds * sub_rounds * workers * STRIDE,) int64 array
        The shares of the chunks in each sub-round (:mod:`~edgewise.device.shares`).
    n_waiting : (rounds * sub_rounds,) int64 array
        Number of vertices that wait in each sub-round.
    n_single : (1,) int64 array
        Number of vertices that are alone in their clusters in the end.
    """

    draws: Any
    salts: Any
    order: Any
    bounds: Any
    ends: Any
    waiting: Any
    taken: Any
    n_waiting: Any
    n_single: Any


@device
def _begin_chunk(chunk, level, limit, state, moves):
    """Let the vertices of a chunk begin as clusters."""
    for vertex in range(chunk * CHUNK, min((chunk + 1) * CHUNK, len(level.offsets) - 1)):
        begin(vertex, level, limit, state, moves)


@device
def _count_single(chunk, level, limit, state):
    """Number of the vertices of a chunk that are alone in their clusters."""
    found = np.int64(0)
    for vertex in range(chunk * CHUNK, min((chunk + 1) * CHUNK, len(level.offsets) - 1)):
        found += is_single(vertex, level, limit, state)
    return found


@device
def _sort_chunk(chunk, n, salt, sub_rounds, rounds):
    """Sort a chunk by the sub-rounds that its vertices draw."""
    first, base = chunk * CHUNK, chunk * (sub_rounds + 1)
    end = min(first + CHUNK, n)
    for one in range(sub_rounds + 1):
        rounds.bounds[base + one] = 0
    for vertex in range(first, end):
        rounds.bounds[base + 1 + mix(vertex, salt) % sub_rounds] += 1
    total = np.int64(first)
    for one in range(1, sub_rounds + 1):
        count = rounds.bounds[base + one]
        rounds.bounds[base + one] = total
        total += count
    for vertex in range(first, end):
        place = base + 1 + mix(vertex, salt) % sub_rounds
        rounds.order[rounds.bounds[place]] = vertex
        rounds.bounds[place] += 1
    rounds.bounds[base] = first


@device
def _settle_waiting(one, n_chunks, sub_rounds, level, state, memory):
    """Let those that wait join clusters up to their room, in the order of their numbers."""
    moves, rounds = memory
    for is_counted in (False, True):
        for chunk in range(n_chunks):
            if rounds.waiting[chunk] == 0:
                continue
            for item in range(rounds.bounds[chunk * (sub_rounds + 1) + one], rounds.ends[chunk]):
                vertex = np.int64(rounds.order[item])
                if moves.settled[vertex] != WAITS:
                    continue
                cluster = np.int64(moves.wanted[vertex])
                if not is_counted:
                    moves.requested[cluster] = 0
                    continue
                moves.requested[cluster] += size_at(level.sizes, vertex)
                moves.settled[vertex] = moves.requested[cluster] <= state.room[cluster]


@device
def _rate_chunks(worker, one, step, level, state, tables, memory):
    """Rate the vertices of a sub-round, chunk by chunk, since rows differ in length.

    Those that want to move are brought to the front of their chunk.
    """
    moves, rounds = memory
    n_chunks, base = len(rounds.waiting), worker.id * tables.capacity
    sub_rounds = len(rounds.bounds) // n_chunks - 1
    shares = rounds.taken[step * worker.count * STRIDE : (step + 1) * worker.count * STRIDE]
    turn, chunk, last = next_chunk(0, shares, n_chunks, 1, worker.id)
    while chunk < last:
        at = chunk * (sub_rounds + 1) + one
        end = np.int64(rounds.bounds[at])
        for item in range(rounds.bounds[at], rounds.bounds[at + 1]):
            vertex = np.int64(rounds.order[item])
            own, best, link = rate_row(tables, vertex, level, state, base)
            if best != NO_LABEL and link > own:
                want(vertex, best, moves)
                rounds.order[end] = vertex
                end += 1
        rounds.ends[chunk] = end
        turn, chunk, last = next_chunk(turn, shares, n_chunks, 1, worker.id)


@device
def _find_waiting(chunk, first, state, memory):
    """Mark those of a chunk that have to wait; return their number."""
    moves, rounds = memory
    found = np.int64(0)
    for item in range(first, rounds.ends[chunk]):
        vertex = np.int64(rounds.order[item])
        if is_crowded(vertex, state, moves):
            moves.settled[vertex] = WAITS
            found += 1
    rounds.waiting[chunk] = found
    return found


@parallel_region
def run_rounds(worker, level, limit, state, tables, memory):
    """Run all rounds; ``memory`` are the moves and the rounds."""
    moves, rounds = memory
    n, n_chunks = len(level.offsets) - 1, len(rounds.waiting)
    sub_rounds = len(rounds.bounds) // n_chunks - 1
    mine = range(n_chunks * worker.id // worker.count, n_chunks * (worker.id + 1) // worker.count)
    for chunk in mine:
        _begin_chunk(chunk, level, limit, state, moves)
    for step in range(len(rounds.salts) * sub_rounds):
        one, number = step % sub_rounds, step // sub_rounds
        now = Labels(state.labels, state.room, state.groups, rounds.salts[number], state.shift)
        if one == 0:
            for chunk in mine:
                _sort_chunk(chunk, n, rounds.draws[number], sub_rounds, rounds)
            barrier_wait(worker)
        _rate_chunks(worker, one, step, level, now, tables, memory)
        barrier_wait(worker)
        for chunk in mine:
            for item in range(rounds.bounds[chunk * (sub_rounds + 1) + one], rounds.ends[chunk]):
                request(np.int64(rounds.order[item]), level, limit, now, moves)
        barrier_wait(worker)
        found = np.int64(0)
        for chunk in mine:
            found += _find_waiting(chunk, rounds.bounds[chunk * (sub_rounds + 1) + one], now, memory)
        fetch_add(rounds.n_waiting, step, found)
        barrier_wait(worker)
        if load(rounds.n_waiting, step) != 0:
            if worker.id == 0:
                _settle_waiting(one, n_chunks, sub_rounds, level, now, memory)
            barrier_wait(worker)
        for chunk in mine:
            for item in range(rounds.bounds[chunk * (sub_rounds + 1) + one], rounds.ends[chunk]):
                join(np.int64(rounds.order[item]), level, now, moves)
        barrier_wait(worker)
    single = np.int64(0)
    for chunk in mine:
        single += _count_single(chunk, level, limit, state)
    fetch_add(rounds.n_single, 0, single)


def _run_on_cpu(level, limit, state, tables, moves, seeds):
    """Run all rounds on the CPU; return the number of vertices that are alone in their clusters then.

    ``seeds`` are the draws and the salts of the rounds, and the sub-rounds.
    """
    n, (draws, salts, sub_rounds) = len(level.offsets) - 1, seeds
    n_chunks, n_steps = -(-n // CHUNK), len(salts) * sub_rounds
    n_workers = max(1, min(regions.workers(), n // WORKER_ITEMS))
    rounds = Rounds(
        np.array(draws, np.int64),
        np.array(salts, np.int64),
        np.empty(n, level.neighbours.dtype),
        np.empty(n_chunks * (sub_rounds + 1), np.int64),
        np.empty(n_chunks, np.int64),
        np.empty(n_chunks, np.int64),
        threads.new_shares(n_steps * n_workers),
        np.zeros(n_steps, np.int64),
        np.zeros(1, np.int64),
    )
    run_rounds.with_workers(n_workers, level, limit, state, tables, (moves, rounds))
    return int(rounds.n_single[0])


def cluster(level, limit, groups, how):
    """Cluster a level; return the label of each vertex's cluster, (n,), which is a vertex number.

    ``limit`` is the largest weight of a cluster of several vertices, ``groups`` those that no cluster joins,
    below n (or empty), ``how`` the seed, the numbers of rounds and sub-rounds, and the shift of totals.
    """
    where, n = arrays.device_of(level.offsets), len(level.offsets) - 1
    xp, kind = arrays.namespace(level.offsets), level.neighbours.dtype
    weight = room_type(max(total_size(level), limit), where)
    labels, room = arrays.empty(n, kind, where), arrays.empty(n, weight, where)
    state = Labels(labels, room, groups, salt_of(how.seed, 1), how.shift)
    memory, facts = (no_connections(level), tables_for(level, n)), new_facts(level)
    moves = Moves(*(arrays.empty(n, form, where) for form in (kind, np.int8, weight)))
    keys, starts = (arrays.empty(size, np.int64, where) for size in (n, 2 * n))
    waiting = Waiting(keys, starts, arrays.zeros(1, np.int64, where))
    draws, salts = ([salt_of(how.seed, first + one) for one in range(how.rounds)] for first in (16, 1))
    most = how.single_clusters * n
    if where == "cpu":
        if _run_on_cpu(level, limit, state, memory[1], moves, (draws, salts, how.sub_rounds)) <= most:
            return labels
    else:
        _begin(n, level, limit, state, moves)
        listed = arrays.empty(how.sub_rounds * n, np.int64, where)
        for draw, salt in zip(draws, salts):
            counts = arrays.zeros(how.sub_rounds, np.int64, where)
            _list_sub_rounds(n, draw, how.sub_rounds, listed, counts)
            state = state._replace(salt=salt)
            for one, count in enumerate(counts.tolist()):
                chosen = listed[one * n : one * n + count]
                rate(chosen, level, state, memory, facts)
                _move(chosen, level, limit, state, (facts, moves, waiting))
    marks = arrays.empty(n, np.bool_, where)
    mark = _mark_single.vectorised if where == "cpu" else _mark_single
    mark(n, level, limit, state, marks)
    if int(xp.count_nonzero(marks)) > most:
        _join_single(
            arrays.move(xp.flatnonzero(marks), where),
            level,
            limit,
            state._replace(room=arrays.full(n, np.iinfo(weight).max, weight, where), salt=salts[-1]),
            (memory, facts, waiting.starts),
        )
    return labels
