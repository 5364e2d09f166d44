"""What a vertex does in a round of clustering, and all rounds as one parallel region of the CPU.

On a GPU each step of a sub-round is a kernel (:mod:`~edgewise.partitions.cluster`).  On the CPU the steps are
divided by barriers, because the many small levels of a hierarchy have less to do in a step than it takes to
start a loop.  The vertices are divided into chunks, and each chunk is sorted by sub-rounds.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import barrier_wait, device, fetch_add, load, parallel_region, regions
from edgewise.device.shares import STRIDE, new_shares, next_chunk
from edgewise.partitions.ratings import NO_LABEL, Labels, rate_row
from edgewise.primitives.mixing import mix

#: Vertices of a chunk.
CHUNK = 256
#: Fewest vertices for each worker.
LEAST_FOR_EACH = 512
#: A vertex wants to join a cluster without room for all that want to.
WAITS = 2


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
    """

    wanted: Any
    settled: Any
    requested: Any


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
    """

    draws: Any
    salts: Any
    order: Any
    bounds: Any
    ends: Any
    waiting: Any
    taken: Any
    n_waiting: Any


@device
def want(vertex, cluster, moves):
    """Want to join a cluster."""
    moves.settled[vertex] = 0
    moves.wanted[vertex] = cluster
    moves.requested[cluster] = 0


@device
def request(vertex, level, limit, state, moves):
    """Request room, unless the cluster is a vertex that wants to move away."""
    cluster = moves.wanted[vertex]
    is_single = state.labels[cluster] == cluster and state.room[cluster] == limit - level.sizes[cluster]
    if is_single and moves.wanted[cluster] != NO_LABEL:
        is_mutual = moves.wanted[cluster] == np.int64(state.labels[vertex])
        if not is_mutual or mix(vertex, state.salt) > mix(cluster, state.salt):
            return
    moves.settled[vertex] = 1
    fetch_add(moves.requested, cluster, level.sizes[vertex])


@device
def is_crowded(vertex, state, moves):
    """Whether the vertex wants to join a cluster without room for all."""
    if moves.settled[vertex] == 0:
        return False
    cluster = moves.wanted[vertex]
    return moves.requested[cluster] > state.room[cluster]


@device
def join(vertex, level, state, moves):
    """Join the cluster, if that is settled."""
    if moves.settled[vertex] == 1:
        cluster = moves.wanted[vertex]
        fetch_add(state.room, np.int64(state.labels[vertex]), level.sizes[vertex])
        fetch_add(state.room, cluster, -level.sizes[vertex])
        state.labels[vertex] = cluster
    moves.wanted[vertex] = NO_LABEL


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
                cluster = moves.wanted[vertex]
                if not is_counted:
                    moves.requested[cluster] = 0
                    continue
                moves.requested[cluster] += level.sizes[vertex]
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
            own, best, link = rate_row(vertex, level, state, tables, base)
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
    n, n_chunks = len(level.sizes), len(rounds.waiting)
    sub_rounds = len(rounds.bounds) // n_chunks - 1
    mine = range(n_chunks * worker.id // worker.count, n_chunks * (worker.id + 1) // worker.count)
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


def run_on_cpu(level, limit, state, tables, moves, seeds):
    """Run all rounds on the CPU; ``seeds`` are the draws and the salts of the rounds, and the sub-rounds."""
    n, (draws, salts, sub_rounds) = len(level.sizes), seeds
    n_chunks, n_steps = -(-n // CHUNK), len(salts) * sub_rounds
    n_workers = max(1, min(regions.workers(), n // LEAST_FOR_EACH))
    rounds = Rounds(
        np.array(draws, np.int64),
        np.array(salts, np.int64),
        np.empty(n, level.neighbours.dtype),
        np.empty(n_chunks * (sub_rounds + 1), np.int64),
        np.empty(n_chunks, np.int64),
        np.empty(n_chunks, np.int64),
        new_shares(n_steps * n_workers),
        np.zeros(n_steps, np.int64),
    )
    run_rounds.with_workers(n_workers, level, limit, state, tables, (moves, rounds))
