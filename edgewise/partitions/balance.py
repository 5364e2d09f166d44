"""Balance: moving vertices out of parts that are too heavy, those first whose move costs least.

A *weak* iteration moves vertices to the parts that most of their edges lead to, among parts that are not
nearly full.  Where parts fill each other up, that does not end, so after two of them in a row an iteration is
*strong*: what leaves the heavy parts is dealt out to the free room of the others.
:mod:`~edgewise.partitions.eviction` finds the vertices that leave.

Reference: Gilbert et al. 2024, as in :mod:`~edgewise.partitions.refine`.
"""

import numpy as np

from edgewise.device import arrays, barrier_wait, device, load, parallel_region
from edgewise.device.warps import WARP_WIDTH, claim
from edgewise.partitions.eviction import (
    STEPS,
    Ranking,
    Room,
    digit_bits_of,
    find_last,
    find_least_step,
    leaves,
    part_and_key,
    rank,
    strongest_with_room,
    vertex_of,
)
from edgewise.partitions.ratings import NO_LABEL
from edgewise.partitions.search import LISTED, MOVED, OPEN, in_spans, transfer, workers_for
from edgewise.primitives.mixing import mix

#: Vertices of the border, most of them in light parts, that are as much work as one that is moved.
LOOKS = 8


@device
def _aim(vertex, level, ratings, search, space, how):
    """The strongest part with room, or one drawn at random."""
    target, _ = strongest_with_room(vertex, level, ratings, space.room)
    if target == NO_LABEL:
        target = space.open_parts[mix(vertex, how.salt) % search.counters[OPEN]]
    return np.int64(target)


@device
def _evict(span, level, ratings, search, space, how, turn):
    """Move those of a span that leave to the parts that they aim at."""
    (first, end), found = span, np.int64(0)
    for item in range(first, end):
        found += leaves(search.net[item], space, how)
    if found == 0:
        return
    slot = turn.base + claim(search.counters, MOVED, found)
    for item in range(first, end):
        if leaves(search.net[item], space, how):
            vertex = vertex_of(search.net[item], how)
            transfer(slot, vertex, _aim(vertex, level, ratings, search, space, how), search)
            slot += 1


@device
def move_out(worker, level, state, memory, space, how, turn):
    """Move vertices out of heavy parts in a weak iteration; return whether that is possible.

    It is not if no part has room, or if the border has not enough vertices that cost little.  ``memory`` is
    as for :func:`~edgewise.partitions.eviction.rank`.
    """
    facts, aside, search, _, _ = memory
    rank(worker, level, state, memory, space, how)
    barrier_wait(worker)
    if load(search.counters, OPEN) == 0 or not find_last(worker, level, search, space, how):
        return False
    count = load(search.counters, LISTED)
    for first in range(worker.id * how.items, count, worker.count * how.items):
        span = first, min(first + how.items, count)
        _evict(span, level, (facts, aside), search, space, how, turn)
    barrier_wait(worker)
    return True


@parallel_region
def rank_all(worker, level, state, memory, space, how):
    """List the vertices that might leave in a strong iteration, and find which of them do."""
    rank(worker, level, state, memory, space, how)
    barrier_wait(worker)
    find_last(worker, level, memory[2], space, how)


@in_spans
def _deal_out(span, items, count, vertices, targets, search):
    """Move vertices to their targets."""
    first, end, found = span * items, min((span + 1) * items, count), np.int64(0)
    for item in range(first, end):
        found += targets[item] != np.int64(search.part[vertices[item]])
    if found == 0:
        return
    slot = claim(search.counters, MOVED, found)
    for item in range(first, end):
        if targets[item] != np.int64(search.part[vertices[item]]):
            transfer(slot, vertices[item], targets[item], search)
            slot += 1


def new_room(k, where):
    """Memory to move vertices out of ``k`` parts."""
    bins = arrays.zeros(k << digit_bits_of(k), np.int64, where)
    return Room._make([*(arrays.empty(k, np.int64, where) for _ in range(4)), bins])


def ranking_of(level, k, items):
    """The strong ranking of the vertices of a level with ``k`` parts."""
    vertex_bits = max(1, (len(level.sizes) - 1).bit_length())
    return Ranking(1, -1, STEPS, items, vertex_bits, digit_bits_of(k), 0)


def least_step_of(level):
    """The least step of the cost of a vertex that is not beside another part."""
    least = arrays.full(1, STEPS, np.int64, arrays.device_of(level.offsets))
    find_least_step(len(level.sizes), level, least, width=WARP_WIDTH)
    return int(least[0])


def rebalance_strongly(job):
    """Deal out what leaves the heavy parts to the free room of the others; return the number of moves."""
    level, search, where, k = job.level, job.search, job.where, len(job.search.limits)
    xp, n = arrays.namespace(level.offsets), len(level.sizes)
    how = ranking_of(level, k, job.items)
    search.counters[:] = 0
    memory = job.facts, job.aside, search, job.connections, job.tables
    rank_all.with_workers(workers_for(n // LOOKS), level, job.labels, memory, job.space, how)
    counters = arrays.move(search.counters, "cpu").tolist()
    search.counters[:] = 0
    if counters[OPEN]:
        listed = search.net[: counters[LISTED]]
        parts, keys = part_and_key(listed, how)
        listed = listed[keys <= job.space.last[parts]]
        listed.sort()
        vertices = arrays.move(vertex_of(listed, how), where)
        sizes = level.sizes[vertices]
        before = xp.cumsum(sizes) - sizes
        place = xp.searchsorted(xp.cumsum(job.space.room), before, side="right")
        targets = arrays.move(xp.minimum(place, k - 1).astype(np.int64), where)
        _deal_out(where, len(vertices), vertices, targets, search)
    return job.finish_iteration()
