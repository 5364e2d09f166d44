"""Balance: moving vertices out of parts that are too heavy, those first whose move costs least.

A *weak* iteration moves vertices to the parts that most of their edges lead to, among parts that are not
nearly full.  Where parts fill each other up, that does not end, so after two of them in a row an iteration is
*strong*: what leaves the heavy parts is dealt out to the free room of the others.  For a weak one, the
vertices of the border that cost less than any other vertex are mostly enough; otherwise all are considered.

The vertices of each heavy part are sorted by the growth of the cut for each unit of weight, in steps of a few
per cent, then by number, and the first ones leave until the rest is light enough.  Sorting, rather than
taking whoever comes first, makes the result the same for any number of threads.

Reference: Gilbert et al. 2024, as in :mod:`~edgewise.partitions.refine`.
"""

from functools import partial
from heapq import heapify, heappop, heapreplace
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, barrier_wait, device, each, fetch_add, fetch_min, load, parallel_region
from edgewise.partitions.facts import BEST, LINK, OWN, fact, new_facts
from edgewise.partitions.iteration import (
    CANDIDATES,
    LISTED,
    MOVED,
    OPEN,
    SHORT,
    STALE,
    in_spans,
    rate_dirty,
    transfer,
    workers_for,
)
from edgewise.partitions.levels import mix, salt_of, weight_at
from edgewise.partitions.loads import loads_of
from edgewise.partitions.ratings import NO_LABEL, Labels
from edgewise.primitives.counting_sort import n_blocks_of

#: Bits of the upper and of the lower part of a step of the cost, and of the number of a vertex.
EXPONENT_BITS, FRACTION_BITS, VERTEX_BITS = 6, 3, 32
#: Steps of the cost.
STEPS = 1024
#: Fewest vertices of heavy parts of which the cheap ones are selected before they are sorted on the CPU.
LEAST_SELECTED = 1 << 13
#: Vertices of the border, most of them in light parts, that are as much work as one that is moved.
LOOKS = 8
#: Ranges of eight steps of the cost, by which they are selected.
RANGE_BITS, RANGES = 3, 1 << 7


@device
def cost_step(gain, size):
    """Number of the step that the growth of the cut for each unit of weight is in, from 0 to 1023."""
    amount, exponent = abs(gain) * 256 // size, np.int64(0)
    while amount >> exponent >= 2 << FRACTION_BITS:
        exponent += 1
    step = min((exponent << FRACTION_BITS) + (amount >> exponent), np.int64(511))
    return 511 - step if gain > 0 else 512 + step


class Ranking(NamedTuple):
    """How vertices that might leave their parts are listed.

    Attributes
    ----------
    is_strong : int
        1 in a strong iteration.
    border : int
        Number of vertices of the border to look at; -1 for all vertices instead.
    least : int
        Largest step of the cost of a vertex that is listed.
    items : int
        Items that a worker looks at before it claims places in a list.
    """

    is_strong: int
    border: int
    least: int
    items: int


class Room(NamedTuple):
    """The free room of the parts, and what might leave them.

    Attributes
    ----------
    room : (k,) int64 array
        For vertices of other parts; 0 in a part that is nearly full.
    open_parts : (k,) int64 array
        The parts with room.
    cheap : (k,) int64 array
        Weight of the listed vertices of each part.
    """

    room: Any
    open_parts: Any
    cheap: Any


@device
def _open(one, search, is_strong, space):
    """Find the room of a part for vertices of other parts: none if it is nearly full."""
    limit, load = search.limits[one], search.loads[one]
    if is_strong == 0:
        limit = max(limit - limit // 100, limit - 100)
    space.room[one] = max(np.int64(0), limit - load)
    space.cheap[one] = 0


@device
def _may_leave(vertex, level, search):
    """Whether a vertex is in a heavy part, and not much heavier than what has to leave."""
    one = np.int64(search.part[vertex])
    above = search.loads[one] - search.limits[one]
    return above > 0 and 2 * level.sizes[vertex] < 3 * (above + search.limits[one] // 32 + 1)


@device
def _list_candidates(first, end, level, search, is_border):
    """List those of a span of the border, or of all vertices, that may leave their parts."""
    found = np.int64(0)
    for item in range(first, end):
        vertex = np.int64(search.border[item]) if is_border else np.int64(item)
        found += _may_leave(vertex, level, search)
    if found == 0:
        return
    slot = fetch_add(search.counters, CANDIDATES, found)
    for item in range(first, end):
        vertex = np.int64(search.border[item]) if is_border else np.int64(item)
        if _may_leave(vertex, level, search):
            search.listed[slot] = vertex
            slot += 1


@device
def _is_stale(vertex, level, facts, room):
    """Whether the strongest part of a vertex has no room for it."""
    best = fact(facts, vertex, BEST)
    return best != NO_LABEL and room[best] < level.sizes[vertex]


@device
def _find_stale(first, end, level, search, facts, room):
    """List those of a span for whom another part has to be found."""
    found = np.int64(0)
    for item in range(first, end):
        found += _is_stale(search.listed[item], level, facts, room)
    if found == 0:
        return
    slot = fetch_add(search.counters, STALE, found)
    for item in range(first, end):
        if _is_stale(search.listed[item], level, facts, room):
            search.dirty[slot] = search.listed[item]
            slot += 1


@device
def _step_of(vertex, level, ratings, room, is_strong):
    """Step of the cost that a vertex causes if it leaves."""
    facts, aside = ratings
    gain = -fact(facts, vertex, OWN)
    if is_strong == 0:
        gain += fact(aside if _is_stale(vertex, level, facts, room) else facts, vertex, LINK)
    return cost_step(gain, level.sizes[vertex])


@device
def _rank(first, end, level, search, ratings, space, how):
    """List the sort keys of those of a span that cost little enough: part, step of the cost, and number."""
    found = np.int64(0)
    for item in range(first, end):
        found += _step_of(search.listed[item], level, ratings, space.room, how.is_strong) <= how.least
    if found == 0:
        return
    slot = fetch_add(search.counters, LISTED, found)
    for item in range(first, end):
        vertex = np.int64(search.listed[item])
        part = np.int64(search.part[vertex])
        step = _step_of(vertex, level, ratings, space.room, how.is_strong)
        if step <= how.least:
            search.net[slot] = ((part << 10 | step) << VERTEX_BITS) | vertex
            fetch_add(space.cheap, part, level.sizes[vertex])
            slot += 1


@parallel_region
def rank_vertices(worker, level, state, memory, space, how):
    """List the vertices that might leave their parts by sort keys, which take the memory of ``net``.

    ``memory`` are the facts, those among parts with room only, the search, the connections and the tables.
    """
    facts, aside, search, connections, tables = memory
    items, k = how.items, len(search.limits)
    for one in range(worker.id, k, worker.count):
        _open(one, search, how.is_strong, space)
    barrier_wait(worker)
    if worker.id == 0:
        found = 0
        for one in range(k):
            if space.room[one] > 0:
                space.open_parts[found] = one
                found += 1
        search.counters[OPEN] = found
    count = how.border if how.border >= 0 else len(level.sizes)
    for first in range(worker.id * items, count, worker.count * items):
        _list_candidates(first, min(first + items, count), level, search, how.border >= 0)
    barrier_wait(worker)
    count = load(search.counters, CANDIDATES)
    if how.is_strong == 0:
        for first in range(worker.id * items, count, worker.count * items):
            _find_stale(first, min(first + items, count), level, search, facts, space.room)
        barrier_wait(worker)
        open_state = Labels(state.labels, space.room, state.groups, state.salt, state.shift)
        count_stale = load(search.counters, STALE)
        rate_dirty(worker, count_stale, level, open_state, (aside, search, connections, tables))
        barrier_wait(worker)
    for first in range(worker.id * items, count, worker.count * items):
        _rank(first, min(first + items, count), level, search, (facts, aside), space, how)
    barrier_wait(worker)
    for one in range(worker.id, k, worker.count):
        if load(space.cheap, one) < search.loads[one] - search.limits[one]:
            fetch_add(search.counters, SHORT, 1)


@partial(each, least_chunk=1)
def _weigh_ranges(block, items, keys, level, k, sums):
    """Add up the weights of a block's vertices by their parts and ranges of the cost."""
    base = block * k * RANGES
    for item in range(block * items, min((block + 1) * items, len(keys))):
        sums[base + (keys[item] >> (VERTEX_BITS + RANGE_BITS))] += level.sizes[keys[item] & 0xFFFFFFFF]


@device
def _is_cheap(key, last):
    return (key >> (VERTEX_BITS + RANGE_BITS)) & (RANGES - 1) <= last[key >> (VERTEX_BITS + 10)]


@in_spans
def _select(span, items, count, keys, last, search, selected):
    first, end, found = span * items, min((span + 1) * items, count), np.int64(0)
    for item in range(first, end):
        found += _is_cheap(keys[item], last)
    if found == 0:
        return
    slot = fetch_add(search.counters, LISTED, found)
    for item in range(first, end):
        if _is_cheap(keys[item], last):
            selected[slot] = keys[item]
            slot += 1


def cheap_ones(keys, level, search):
    """The keys of those vertices on the host that might leave, and of few others.

    Most vertices of a heavy part are inside of it and cost much, and only those up to a certain cost leave.
    """
    count, k = len(keys), len(search.limits)
    blocks = n_blocks_of(count)
    if count < max(LEAST_SELECTED, blocks * k * RANGES):
        return keys
    sums = np.zeros(blocks * k * RANGES, np.int64)
    _weigh_ranges(blocks, -(-count // blocks), keys, level, k, sums)
    before = np.cumsum(sums.reshape(blocks, k, RANGES).sum(axis=0), axis=1)
    last = np.count_nonzero(before < (search.loads - search.limits)[:, None], axis=1)
    selected = np.empty(count, np.int64)
    _select("cpu", count, keys, last, search, selected)
    count, search.counters[LISTED] = int(search.counters[LISTED]), 0
    return selected[:count]


@device
def _target_of(item, keys, leaving, targets, search):
    """Part that a vertex is moved to, or ``NO_LABEL``."""
    if leaving[item] == 0 or targets[item] == np.int64(search.part[keys[item] & 0xFFFFFFFF]):
        return np.int64(NO_LABEL)
    return np.int64(targets[item])


@device
def _evict(first, end, keys, leaving, targets, search):
    found = np.int64(0)
    for item in range(first, end):
        found += _target_of(item, keys, leaving, targets, search) != NO_LABEL
    if found == 0:
        return
    slot = fetch_add(search.counters, MOVED, found)
    for item in range(first, end):
        target = _target_of(item, keys, leaving, targets, search)
        if target != NO_LABEL:
            transfer(slot, keys[item] & 0xFFFFFFFF, target, search)
            slot += 1


@in_spans
def _deal_out(span, items, count, keys, leaving, targets, search):
    """Move those who leave to their targets."""
    _evict(span * items, min((span + 1) * items, count), keys, leaving, targets, search)


@device
def _aim(vertex, level, ratings, space, n_open, salt):
    """The strongest part with room, or one drawn at random."""
    facts, aside = ratings
    target = fact(aside if _is_stale(vertex, level, facts, space.room) else facts, vertex, BEST)
    if target == NO_LABEL:
        target = space.open_parts[mix(vertex, salt) % n_open]
    return np.int64(target)


@parallel_region
def choose_leaving(worker, keys, ranks, level, memory, space, how):
    """Choose the vertices that leave, those before which the part is still too heavy; move them if weak.

    ``ranks`` are their weights, the sums of these up to each, memory for (k,) sums, for whether they leave,
    and for their targets; ``how`` whether the iteration is strong, the number of parts with room, the salt
    of random numbers, and the items that a worker looks at.
    """
    sizes, ends, starts, leaving, targets = ranks
    facts, aside, search = memory
    is_strong, n_open, salt, items = how
    count = len(keys)
    for item in range(worker.id, count, worker.count):
        one = keys[item] >> (VERTEX_BITS + 10)
        if item == 0 or keys[item - 1] >> (VERTEX_BITS + 10) != one:
            starts[one] = ends[item] - sizes[item]
    barrier_wait(worker)
    for first in range(worker.id * items, count, worker.count * items):
        end = min(first + items, count)
        for item in range(first, end):
            one = keys[item] >> (VERTEX_BITS + 10)
            before = ends[item] - sizes[item] - starts[one]
            leaving[item] = sizes[item] if before < search.loads[one] - search.limits[one] else 0
            if is_strong == 0:
                targets[item] = _aim(keys[item] & 0xFFFFFFFF, level, (facts, aside), space, n_open, salt)
        if is_strong == 0:
            _evict(first, end, keys, leaving, targets, search)


def rebalance(job, is_strong):
    """One iteration that makes heavy parts lighter; return the number of moves."""
    level, search, where = job.level, job.search, job.where
    xp, k = arrays.namespace(level.offsets), len(search.limits)
    if job.aside is None:
        job.aside = new_facts(level)
    space = Room(*(arrays.empty(k, np.int64, where) for _ in range(3)))
    count, n_open = _rank_all(job, space, is_strong) if is_strong else _rank_border(job, space)
    search.counters[:] = 0
    if n_open == 0:
        return job.finish_iteration() if is_strong else rebalance(job, is_strong=True)
    keys = search.net[:count]
    if where == "cpu":
        keys = cheap_ones(keys, level, search)
    keys.sort()
    count = len(keys)
    sizes = arrays.move(level.sizes[keys & 0xFFFFFFFF], where)
    memory = (arrays.empty(size, np.int64, where) for size in (k, count, count))
    ranks = sizes, arrays.move(xp.cumsum(sizes), where), *memory
    salt = salt_of(job.how.seed, 100 + job.iteration)
    choose_leaving.with_workers(
        workers_for(count),
        keys,
        ranks,
        level,
        (job.facts, job.aside, search),
        space,
        (int(is_strong), n_open, salt, job.items),
    )
    if is_strong:
        leaving = ranks[3]
        before = xp.cumsum(leaving) - leaving
        place = xp.searchsorted(xp.cumsum(space.room), before, side="right")
        targets = arrays.move(xp.minimum(place, k - 1).astype(np.int64), where)
        _deal_out(where, count, keys, leaving, targets, search)
    return job.finish_iteration()


@each
def _find_least(vertex, level, least):
    """Find the least step of the cost of a vertex that loses all of its edges."""
    total = np.int64(0)
    for entry in range(level.offsets[vertex], level.offsets[vertex + 1]):
        total += weight_at(level, entry)
    step = cost_step(-total, level.sizes[vertex])
    if total > 0 and step < load(least, 0):
        fetch_min(least, 0, step)


def _rank_all(job, space, is_strong):
    """List the sort keys of all vertices that may leave; return their number, and of the parts with room."""
    counters = _ranked(job, space, Ranking(int(is_strong), -1, STEPS, job.items))
    return counters[LISTED], counters[OPEN]


def _rank_border(job, space):
    """As :func:`_rank_all`, of the vertices of the border that cost less than others, if these are enough."""
    if job.least_step is None:
        least = arrays.full(1, STEPS, np.int64, job.where)
        _find_least(len(job.level.sizes), job.level, least)
        job.least_step = int(least[0])
    job.shrink_border()
    counters = _ranked(job, space, Ranking(0, job.n_border, job.least_step, job.items))
    if counters[SHORT] and counters[OPEN]:
        return _rank_all(job, space, False)
    return counters[LISTED], counters[OPEN]


def _ranked(job, space, how):
    """Run :func:`rank_vertices`; return the counters."""
    job.search.counters[:] = 0
    count = how.border if how.border >= 0 else len(job.level.sizes)
    memory = job.facts, job.aside, job.search, job.connections, job.tables
    n_workers = workers_for(count // LOOKS)
    rank_vertices.with_workers(n_workers, job.level, job.labels, memory, space, how)
    return arrays.move(job.search.counters, "cpu").tolist()


def settled(level, part, sizes, limits):
    """The partition without what refinement may have left: parts above their limits, and empty parts.

    ``sizes`` and ``limits`` are on the host, where vertices are moved, the lightest ones first.
    """
    loads, where, kind = loads_of(level.sizes, part, len(limits)), arrays.device_of(part), part.dtype
    if (loads <= limits).all() and loads.all():
        return part
    part = arrays.move(part, "cpu").astype(np.int64)
    if (loads > limits).any():
        _fill_up(sizes, part, loads, limits)
    counts = np.bincount(part, minlength=len(limits))
    if (counts == 0).any():
        _fill_empty(sizes, part, loads, counts)
    return arrays.move(part.astype(kind), where)


def _fill_up(sizes, part, loads, limits):
    """Move vertices out of heavy parts to the freest one, if that is then less above its limit."""
    free = [(int(load - limit), one) for one, (load, limit) in enumerate(zip(loads, limits))]
    heapify(free)
    order = np.flatnonzero(loads[part] > limits[part])
    for vertex in order[np.argsort(sizes[order], kind="stable")].tolist():
        here, size = part[vertex], int(sizes[vertex])
        above, (room, freest) = loads[here] - limits[here], free[0]
        if above > 0 and room + size < above:
            loads[here] -= size
            loads[freest] += size
            part[vertex] = freest
            heapreplace(free, (room + size, freest))


def _fill_empty(sizes, part, loads, counts):
    """Give every empty part the lightest vertex of the heaviest part that has several."""
    order = np.lexsort((-sizes, part)).tolist()
    ends, left = np.cumsum(counts).tolist(), counts.tolist()
    several = [(-int(loads[one]), one) for one in np.flatnonzero(counts > 1).tolist()]
    heapify(several)
    for one in np.flatnonzero(counts == 0).tolist():
        if not several:
            return
        load, heaviest = several[0]
        ends[heaviest] -= 1
        left[heaviest] -= 1
        vertex = order[ends[heaviest]]
        part[vertex] = one
        if left[heaviest] > 1:
            heapreplace(several, (load + int(sizes[vertex]), heaviest))
        else:
            heappop(several)
