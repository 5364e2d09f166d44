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

import numpy as np

from edgewise.device import arrays, device, each, fetch_add, fetch_min, load
from edgewise.partitions.iteration import CANDIDATES, LISTED, MOVED, STALE, in_spans, transfer
from edgewise.partitions.levels import mix, salt_of, weight_at
from edgewise.partitions.loads import loads_of
from edgewise.partitions.ratings import NO_LABEL, Labels, rated_for
from edgewise.primitives.counting_sort import n_blocks_of

#: Bits of the upper and of the lower part of a step of the cost, and of the number of a vertex.
EXPONENT_BITS, FRACTION_BITS, VERTEX_BITS = 6, 3, 32
#: Steps of the cost.
STEPS = 1024
#: Fewest vertices of heavy parts of which the cheap ones are selected before they are sorted on the CPU.
LEAST_SELECTED = 1 << 13
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


@each
def _open(one, search, is_strong, room):
    """Room of a part for vertices of other parts: none if it is nearly full."""
    limit, load = search.limits[one], search.loads[one]
    if is_strong != 0:
        room[one] = max(np.int64(0), limit - load)
    else:
        room[one] = max(np.int64(0), max(limit - limit // 100, limit - 100) - load)


@device
def _may_leave(vertex, level, search):
    """Whether a vertex is in a heavy part, and not much heavier than what has to leave."""
    one = np.int64(search.part[vertex])
    above = search.loads[one] - search.limits[one]
    return above > 0 and 2 * level.sizes[vertex] < 3 * (above + search.limits[one] // 32 + 1)


@in_spans
def _crowd(span, items, count, chosen, level, search):
    """List the vertices that may leave their parts, among those chosen, or among all if there are none."""
    first, end, found = span * items, min((span + 1) * items, count), np.int64(0)
    for item in range(first, end):
        vertex = np.int64(chosen[item]) if len(chosen) else np.int64(item)
        found += _may_leave(vertex, level, search)
    if found == 0:
        return
    slot = fetch_add(search.counters, CANDIDATES, found)
    for item in range(first, end):
        vertex = np.int64(chosen[item]) if len(chosen) else np.int64(item)
        if _may_leave(vertex, level, search):
            search.listed[slot] = vertex
            slot += 1


@device
def _is_stale(vertex, level, rated, room):
    """Whether the strongest part of a vertex has no room for it."""
    return rated.best[vertex] != NO_LABEL and room[rated.best[vertex]] < level.sizes[vertex]


@in_spans
def _find_stale(span, items, count, level, search, rated, room):
    """List those for whom another part has to be found."""
    first, end, found = span * items, min((span + 1) * items, count), np.int64(0)
    for item in range(first, end):
        found += _is_stale(search.listed[item], level, rated, room)
    if found == 0:
        return
    slot = fetch_add(search.counters, STALE, found)
    for item in range(first, end):
        if _is_stale(search.listed[item], level, rated, room):
            search.dirty[slot] = search.listed[item]
            slot += 1


@each
def _rank(item, level, search, ratings, room, is_strong, keys):
    rated, aside = ratings
    vertex = np.int64(search.listed[item])
    gain = -rated.own[vertex]
    if is_strong == 0:
        gain += aside.link[vertex] if _is_stale(vertex, level, rated, room) else rated.link[vertex]
    step = cost_step(gain, level.sizes[vertex])
    keys[item] = ((np.int64(search.part[vertex]) << 10 | step) << VERTEX_BITS) | vertex


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
    return selected[: int(search.counters[LISTED])]


@each
def _start_run(item, keys, sizes, ends, starts):
    one = keys[item] >> (VERTEX_BITS + 10)
    if item == 0 or keys[item - 1] >> (VERTEX_BITS + 10) != one:
        starts[one] = ends[item] - sizes[item]


@each
def _leave(item, keys, ranks, search, leaving):
    """Mark the vertices that leave: those before which the part is still too heavy."""
    sizes, ends, starts = ranks
    one = keys[item] >> (VERTEX_BITS + 10)
    before = ends[item] - sizes[item] - starts[one]
    leaving[item] = sizes[item] if before < search.loads[one] - search.limits[one] else 0


@device
def _target_of(item, keys, leaving, targets, search):
    """Part that a vertex is moved to, or ``NO_LABEL``."""
    if leaving[item] == 0 or targets[item] == np.int64(search.part[keys[item] & 0xFFFFFFFF]):
        return np.int64(NO_LABEL)
    return np.int64(targets[item])


@in_spans
def _evict(span, items, count, keys, leaving, targets, search):
    first, end, found = span * items, min((span + 1) * items, count), np.int64(0)
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


@each
def _aim(item, keys, level, ratings, room, open_parts, salt, targets):
    """The strongest part with room, or one drawn at random."""
    rated, aside = ratings
    vertex = keys[item] & 0xFFFFFFFF
    target = aside.best[vertex] if _is_stale(vertex, level, rated, room) else rated.best[vertex]
    if target == NO_LABEL:
        target = open_parts[mix(vertex, salt) % len(open_parts)]
    targets[item] = target


def rebalance(job, is_strong):
    """One iteration that makes heavy parts lighter; return the number of moves."""
    level, search, where = job.level, job.search, job.where
    xp, k = arrays.namespace(level.offsets), len(search.limits)
    search.counters[:] = 0
    room = arrays.empty(k, np.int64, where)
    _open(k, search, int(is_strong), room)
    open_parts = arrays.move(xp.flatnonzero(room > 0), where)
    if len(open_parts) == 0:
        if is_strong:
            return job.finish_iteration()
        return rebalance(job, is_strong=True)
    keys, ratings = (None, None) if is_strong else _rank_border(job, room)
    if keys is None:
        keys, ratings = _ranked(job, search.border[:0], len(level.sizes), room, is_strong)
    if where == "cpu":
        keys = cheap_ones(keys, level, search)
    keys.sort()
    count = len(keys)
    sizes = arrays.move(level.sizes[keys & 0xFFFFFFFF], where)
    ranks = sizes, arrays.move(xp.cumsum(sizes), where), arrays.empty(k, np.int64, where)
    _start_run(count, keys, *ranks)
    leaving, targets = (arrays.empty(count, np.int64, where) for _ in range(2))
    _leave(count, keys, ranks, search, leaving)
    if is_strong:
        before = xp.cumsum(leaving) - leaving
        place = xp.searchsorted(xp.cumsum(room), before, side="right")
        targets = arrays.move(xp.minimum(place, k - 1).astype(np.int64), where)
    else:
        salt = salt_of(job.how.seed, 100 + job.iteration)
        _aim(count, keys, level, ratings, room, open_parts, salt, targets)
    _evict(where, count, keys, leaving, targets, search)
    return job.finish_iteration()


def _ranked(job, chosen, count, room, is_strong):
    """Sort keys of the vertices that may leave their parts, and the ratings; the vertices as in `_crowd`."""
    level, search, where = job.level, job.search, job.where
    search.counters[:] = 0
    _crowd(where, count, chosen, level, search)
    count = int(search.counters[CANDIDATES])
    ratings = job.rated, job.rated if is_strong else _rate_stale(job, count, room)
    keys = arrays.empty(count, np.int64, where)
    _rank(count, level, search, ratings, room, int(is_strong), keys)
    return keys, ratings


@each
def _find_least(vertex, level, least):
    """Find the least step of the cost of a vertex that loses all of its edges."""
    total = np.int64(0)
    for entry in range(level.offsets[vertex], level.offsets[vertex + 1]):
        total += weight_at(level, entry)
    step = cost_step(-total, level.sizes[vertex])
    if total > 0 and step < load(least, 0):
        fetch_min(least, 0, step)


def _rank_border(job, room):
    """As :func:`_ranked`, of the vertices of the border that cost less than others, if these are enough."""
    search, k = job.search, len(job.search.limits)
    xp = arrays.namespace(search.loads)
    if job.least_step is None:
        least = arrays.full(1, STEPS, np.int64, job.where)
        _find_least(len(job.level.sizes), job.level, least)
        job.least_step = int(least[0])
    job.shrink_border()
    keys, ratings = _ranked(job, search.border, job.n_border, room, False)
    keys = arrays.move(keys[keys >> VERTEX_BITS & (STEPS - 1) <= job.least_step], job.where)
    sizes = job.level.sizes[keys & 0xFFFFFFFF]
    cheap = xp.bincount(keys >> (VERTEX_BITS + 10), weights=sizes, minlength=k)
    return (keys, ratings) if bool((cheap >= search.loads - search.limits).all()) else (None, None)


def _rate_stale(job, count, room):
    """Ratings of the vertices whose strongest part has no room, among the parts that have room."""
    level, search = job.level, job.search
    if job.aside is None:
        job.aside = rated_for(len(level.sizes), job.where)
    _find_stale(job.where, count, level, search, job.rated, room)
    state = Labels(search.part, room, job.labels.groups, job.labels.salt, job.labels.shift)
    job.rate(search.dirty[: int(search.counters[STALE])], state, job.aside)
    return job.aside


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
