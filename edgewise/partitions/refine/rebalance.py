"""Rebalancing: moving vertices out of parts that are too heavy, those first whose move costs least.

A *weak* iteration moves vertices to the parts that most of their edges lead to, among parts that are not
nearly full.  Where parts fill each other up, that does not end, so after two of them in a row an iteration is
*strong*: what leaves the heavy parts is dealt out to the free room of the others.

The vertices of a heavy part are ordered by the growth of the cut for each unit of weight, in steps of a few
per cent, then by number, and the first ones leave until the rest is light enough.  An order, rather than
taking whoever comes first, makes the result the same for any number of threads.

Nothing is sorted for that.  The step and the number of a vertex are one integer, its *key*, and all that
matters is the largest key that leaves each part.  It is found digit by digit, as by a radix sort: the weights
are added up by the first digit of their keys, the digit is chosen in which the part becomes light enough, and
then the next digit among the keys that begin with the chosen one.

Where the border of the parts, the vertices beside another part, has enough vertices that cost less than any
other vertex, the others are not looked at.

Reference: Gilbert et al. 2024, as in :mod:`~edgewise.partitions.refine`.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import (
    arrays,
    barrier_wait,
    device,
    each,
    each_row,
    fetch_add,
    fetch_min,
    load,
    parallel_region,
)
from edgewise.device.warps import ballot, claim, inclusive_scan, warp_barrier, warp_size
from edgewise.partitions.levels import are_few, size_at, sizes_of, weight_at
from edgewise.partitions.rating import BEST_WITH_ROOM, FACT, NO_LABEL, Labels, fact
from edgewise.partitions.refine.jet import rate_dirty
from edgewise.partitions.refine.state import COUNT, transfer
from edgewise.primitives import exclusive_scan
from edgewise.primitives.mixing import mix

#: Bits of the fraction of a step of the cost.
FRACTION_BITS = 3
#: Bits of a step of the cost.
STEP_BITS = 10
#: Units of the cost for a unit of weight.
UNITS = 256
#: Number of steps of the cost.
STEPS = 1 << STEP_BITS
#: Bits of a digit, unless the bins of all parts have no room then.
DIGIT_BITS = 11
#: Room for the bins of all parts together.
BINS = 1 << 20
#: Vertices of the border, most of them in light parts, that are as much work as one that is moved.
LOOKS = 8


@device
def cost_step(gain, size):
    """Number of the step that the growth of the cut for each unit of weight is in, from 0 to 1023."""
    amount, exponent = abs(gain) * UNITS // size, np.int64(0)
    while amount >> exponent >= 2 << FRACTION_BITS:
        exponent += 1
    step = min((exponent << FRACTION_BITS) + (amount >> exponent), np.int64(511))
    return 511 - step if gain > 0 else 512 + step


class Ranking(NamedTuple):
    """How vertices that might leave their parts are listed."""

    is_strong: int  # 1 in a strong iteration
    border: int  # vertices of the border to look at; -1 for all vertices instead
    least: int  # largest step of the cost of a vertex that is listed
    items: int  # that a worker looks at before it claims places in a list
    vertex_bits: int  # bits of the number of a vertex
    digit_bits: int  # bits of a digit of the keys
    salt: int  # of the random numbers by which vertices choose parts that no edge leads to


class Room(NamedTuple):
    """The free room of the parts, and what leaves them.

    Attributes
    ----------
    room : (k,) int32 or int64 array
        For vertices of other parts; 0 in a part that is nearly full.
    open_parts : (k,) int64 array
        The parts with room.
    left : (k,) int64 array
        Weight that has to leave each part with keys that begin with ``last``.
    last : (k,) int64 array
        The largest key that leaves each part, or its first digits.
    bins : (k << digit_bits,) int64 array
        Weights of each part by the next digit; 0 between two digits.
    """

    room: Any
    open_parts: Any
    left: Any
    last: Any
    bins: Any


@device
def _open(one, search, is_strong, space):
    """Find the room of a part for vertices of other parts: none if it is nearly full."""
    limit, weight = search.limits[one], search.loads[one]
    space.left[one] = max(np.int64(0), weight - limit)
    if is_strong == 0:
        limit = max(limit - limit // 100, limit - 100)
    space.room[one] = max(np.int64(0), limit - weight)
    space.last[one] = 0


@device
def _list_open(search, space):
    """List the parts with room."""
    found = 0
    for one in range(len(search.limits)):
        if space.room[one] > 0:
            space.open_parts[found] = one
            found += 1
    search.counters[COUNT.open] = found


@device
def _may_leave(vertex, level, search):
    """Whether a vertex is in a heavy part, and not much heavier than what has to leave."""
    one = np.int64(search.part[vertex])
    above = search.loads[one] - search.limits[one]
    return above > 0 and 2 * size_at(level.sizes, vertex) < 3 * (above + search.limits[one] // 32 + 1)


@device
def _list_candidates(first, end, level, search, is_border):
    """List those of a span of the border, or of all vertices, that may leave their parts."""
    found = np.int64(0)
    for item in range(first, end):
        vertex = np.int64(search.border[item]) if is_border else np.int64(item)
        found += _may_leave(vertex, level, search)
    if found == 0:
        return
    slot = claim(search.counters, COUNT.candidates, found)
    for item in range(first, end):
        vertex = np.int64(search.border[item]) if is_border else np.int64(item)
        if _may_leave(vertex, level, search):
            search.listed[slot] = vertex
            slot += 1


@device
def _is_stale(vertex, level, facts, room):
    """Whether the strongest part of a vertex has no room for it."""
    best = fact(facts, vertex, FACT.best)
    return best != NO_LABEL and room[best] < size_at(level.sizes, vertex)


@device
def _find_stale(first, end, level, search, facts, room):
    """List those of a span for whom another part has to be found."""
    found = np.int64(0)
    for item in range(first, end):
        found += _is_stale(np.int64(search.listed[item]), level, facts, room)
    if found == 0:
        return
    slot = claim(search.counters, COUNT.stale, found)
    for item in range(first, end):
        if _is_stale(np.int64(search.listed[item]), level, facts, room):
            search.dirty[slot] = search.listed[item]
            slot += 1


@device
def strongest_with_room(vertex, level, facts, room):
    """The strongest part with room for a vertex, or ``NO_LABEL``, and the total to that."""
    if _is_stale(vertex, level, facts, room):
        return fact(facts, vertex, BEST_WITH_ROOM), fact(facts, vertex, FACT.link_with_room)
    return fact(facts, vertex, FACT.best), fact(facts, vertex, FACT.link)


@device
def _step_of(vertex, level, facts, room, is_strong):
    """Step of the cost that a vertex causes if it leaves."""
    gain = -fact(facts, vertex, FACT.own)
    if is_strong == 0:
        gain += strongest_with_room(vertex, level, facts, room)[1]
    return cost_step(gain, size_at(level.sizes, vertex))


@device
def _list_keys(first, end, level, search, facts, space, how):
    """List the parts and keys of those of a span that cost little enough."""
    found = np.int64(0)
    for item in range(first, end):
        found += _step_of(np.int64(search.listed[item]), level, facts, space.room, how.is_strong) <= how.least
    if found == 0:
        return
    slot = claim(search.counters, COUNT.listed, found)
    for item in range(first, end):
        vertex = np.int64(search.listed[item])
        part = np.int64(search.part[vertex])
        step = _step_of(vertex, level, facts, space.room, how.is_strong)
        if step <= how.least:
            search.net[slot] = ((part << STEP_BITS | step) << how.vertex_bits) | vertex
            slot += 1


@device
def rank(worker, level, state, memory, space, how):
    """List the vertices that might leave by their parts and keys, which take the memory of ``net``."""
    facts, search = memory.facts, memory.search
    items, k = how.items, len(search.limits)
    for one in range(worker.id, k, worker.count):
        _open(one, search, how.is_strong, space)
    barrier_wait(worker)
    if worker.id == 0:
        _list_open(search, space)
    count = how.border if how.border >= 0 else len(level.offsets) - 1
    for first in range(worker.id * items, count, worker.count * items):
        _list_candidates(first, min(first + items, count), level, search, how.border >= 0)
    barrier_wait(worker)
    count = load(search.counters, COUNT.candidates)
    if how.is_strong == 0:
        for first in range(worker.id * items, count, worker.count * items):
            _find_stale(first, min(first + items, count), level, search, facts, space.room)
        barrier_wait(worker)
        open_state = Labels(state.labels, space.room, state.groups, state.salt, state.shift)
        count_stale = load(search.counters, COUNT.stale)
        rate_dirty(worker, count_stale, level, open_state, BEST_WITH_ROOM, memory)
        barrier_wait(worker)
    for first in range(worker.id * items, count, worker.count * items):
        _list_keys(first, min(first + items, count), level, search, facts, space, how)
    barrier_wait(worker)
    if worker.id == 0:
        search.counters[COUNT.rated] = 0


@device
def part_and_key(listed, how):
    """The part of a listed vertex, and its key."""
    bits = STEP_BITS + how.vertex_bits
    return listed >> bits, listed & ((np.int64(1) << bits) - 1)


@device
def vertex_of(listed, how):
    """The number of a listed vertex."""
    return listed & ((np.int64(1) << how.vertex_bits) - 1)


@device
def leaves(listed, space, how):
    """Whether a listed vertex leaves, once the last key of its part is known."""
    part, key = part_and_key(listed, how)
    return key <= space.last[part]


@device
def _choose_digit(one, lane, lanes, width, space, how):
    """Choose the next digit of the last key of a heavy part, and clear its bins; lanes share the bins.

    Return whether the part stays too heavy if all leave whose keys begin with the digits before.
    """
    left = load(space.left, one)
    warp_barrier()
    if left == 0:
        return False
    share = max(np.int64(1), (np.int64(1) << width) // lanes)
    first = (one << how.digit_bits) + lane * share
    end = first + share if lane * share < np.int64(1) << width else first
    total = np.int64(0)
    for place in range(first, end):
        total += load(space.bins, place)
    before = inclusive_scan(total, lane) - total
    is_here = before < left and left <= before + total
    is_nowhere = ballot(is_here) == 0
    digit, found = np.int64(-1), before
    for place in range(first, end):
        weight = space.bins[place]
        space.bins[place] = 0
        if is_here and digit < 0:
            if left <= found + weight:
                digit = place - (one << how.digit_bits)
            else:
                found += weight
    if is_nowhere and lane == 0:  # all leave
        digit, found = (np.int64(1) << width) - 1, np.int64(0)
    if digit >= 0:
        space.last[one] = space.last[one] << width | digit
        space.left[one] = left - found
    return is_nowhere


@device
def find_last(worker, level, search, space, how):
    """Find the last key that leaves each heavy part; return whether the listed vertices are enough.

    If only the border has been looked at, and its vertices are not enough, the search ends early.
    """
    lanes, items, count = warp_size(), how.items, load(search.counters, COUNT.listed)
    position = np.int64(STEP_BITS + how.vertex_bits)
    while position > 0:
        width = min(position, np.int64(how.digit_bits))
        for first in range(worker.id * items, count, worker.count * items):
            for item in range(first, min(first + items, count)):
                part, key = part_and_key(search.net[item], how)
                if key >> position == space.last[part]:
                    digit = (key >> (position - width)) & ((np.int64(1) << width) - 1)
                    size = size_at(level.sizes, vertex_of(search.net[item], how))
                    fetch_add(space.bins, (part << how.digit_bits) + digit, size)
        barrier_wait(worker)
        for one in range(worker.id // lanes, len(search.limits), worker.count // lanes):
            is_short = _choose_digit(one, worker.id % lanes, lanes, width, space, how)
            if is_short and worker.id % lanes == 0:
                fetch_add(search.counters, COUNT.short, 1)
        barrier_wait(worker)
        position -= width
        if how.border >= 0 and load(search.counters, COUNT.short) > 0:
            return False
    return True


def digit_bits_of(k):
    """Bits of a digit, with which the bins of ``k`` parts are not too many."""
    return max(1, min(DIGIT_BITS, (BINS // k).bit_length() - 1))


@each_row
def find_least_step(vertex, lane, lanes, level, least):
    """Find the least step of the cost of a vertex that loses all of its edges."""
    total, end = np.int64(0), level.offsets[vertex + 1]
    if len(level.weights) == 0:
        total = end - level.offsets[vertex] if lane == lanes - 1 else total
    else:
        for entry in range(level.offsets[vertex] + lane, end, lanes):
            total += weight_at(level, entry)
        total = inclusive_scan(total, lane)
    if lane == lanes - 1 and total > 0:
        step = cost_step(-total, size_at(level.sizes, vertex))
        if step < load(least, 0):
            fetch_min(least, 0, step)


@device
def _aim(vertex, level, facts, search, space, how):
    """The strongest part with room, or one drawn at random."""
    target, _ = strongest_with_room(vertex, level, facts, space.room)
    if target == NO_LABEL:
        target = space.open_parts[mix(vertex, how.salt) % search.counters[COUNT.open]]
    return np.int64(target)


@device
def _evict(span, level, facts, search, space, how, turn):
    """Move those of a span that leave to the parts that they aim at."""
    (first, end), found = span, np.int64(0)
    for item in range(first, end):
        found += leaves(search.net[item], space, how)
    if found == 0:
        return
    slot = turn.base + claim(search.counters, COUNT.moved, found)
    for item in range(first, end):
        if leaves(search.net[item], space, how):
            vertex = vertex_of(search.net[item], how)
            transfer(slot, vertex, _aim(vertex, level, facts, search, space, how), search)
            slot += 1


@device
def move_out(worker, level, state, memory, space, how, turn):
    """Move vertices out of heavy parts in a weak iteration; return whether that is possible.

    It is not if no part has room, or if the border has not enough vertices that cost little.
    """
    facts, search = memory.facts, memory.search
    rank(worker, level, state, memory, space, how)
    barrier_wait(worker)
    if load(search.counters, COUNT.open) == 0 or not find_last(worker, level, search, space, how):
        return False
    count = load(search.counters, COUNT.listed)
    for first in range(worker.id * how.items, count, worker.count * how.items):
        span = first, min(first + how.items, count)
        _evict(span, level, facts, search, space, how, turn)
    barrier_wait(worker)
    return True


@parallel_region
def rank_all(worker, level, state, memory, space, how):
    """List the vertices that might leave in a strong iteration, and find which of them do."""
    rank(worker, level, state, memory, space, how)
    barrier_wait(worker)
    find_last(worker, level, memory.search, space, how)


@partial(each, least_chunk=1)
def deal_out(span, items, count, vertices, targets, search):
    """Move vertices to their targets."""
    first, end, found = span * items, min((span + 1) * items, count), np.int64(0)
    for item in range(first, end):
        found += targets[item] != np.int64(search.part[vertices[item]])
    if found == 0:
        return
    slot = claim(search.counters, COUNT.moved, found)
    for item in range(first, end):
        if targets[item] != np.int64(search.part[vertices[item]]):
            transfer(slot, vertices[item], targets[item], search)
            slot += 1


def new_room(k, form, where):
    """Memory to move vertices out of ``k`` parts, whose room is of type ``form``."""
    bins = arrays.zeros(k << digit_bits_of(k), np.int64, where)
    open_parts, left, last = (arrays.empty(k, np.int64, where) for _ in range(3))
    return Room(arrays.empty(k, form, where), open_parts, left, last, bins)


def ranking_of(level, k, items):
    """The strong ranking of the vertices of a level with ``k`` parts."""
    vertex_bits = max(1, (len(level.offsets) - 2).bit_length())
    return Ranking(1, -1, STEPS, items, vertex_bits, digit_bits_of(k), 0)


def least_step_of(level):
    """The least step of the cost of a vertex that is not beside another part."""
    if are_few(level.offsets, level.neighbours):
        ends = exclusive_scan(level.weights)[level.offsets] if len(level.weights) else level.offsets
        totals = np.diff(ends)
        vertices = np.flatnonzero(totals)
        totals, sizes = totals[vertices], sizes_of(level, vertices)
        least = (totals * UNITS // sizes).argmin() if len(totals) else 0
        return int(cost_step(-totals[least], sizes[least])) if len(totals) else STEPS
    least = arrays.full(1, STEPS, np.int64, arrays.device_of(level.offsets))
    find_least_step(len(level.offsets) - 1, level, least, width="warp")
    return int(least[0])
