"""Numbering integer ids in ascending order, on all cores.

Ids that fill a good part of their range are marked in an array over the range, and counted through.  Ids
that lie far apart go through a table of 64-bit slots (open addressing, linear probing, compare-and-swap);
the distinct ids are sorted, and every end looks up its number.

Ids are compared as distances from the smallest one, which are unsigned whatever the type: the sign bit of
signed ids is turned over first, so that no subtraction wraps.
"""

import numpy as np

from edgewise.device import cas, device, each, load
from edgewise.graph import index_type
from edgewise.primitives import unique
from edgewise.timer import timer

#: The range may hold so many values for each end of a pair to be marked in one array.
SPARSEST = 4
#: Share of the slots in use at most, and of those still free when the table grows.
FULL, NEARLY_FULL = 0.6, 0.1
LEAST_SLOTS = 1 << 12

EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)
ONE, SHIFT = np.uint64(1), np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)
#: Odd numbers whose products with 32 bits spread neighbours over the table.
SPREAD, OTHER_SPREAD = np.uint64(0x9E3779B1), np.uint64(0x85EBCA77)


@device
def distance(value, least, flip):
    """Distance of an id, taken as 64 bits, from the smallest one."""
    return (value ^ flip) - least


@each
def mark(edge, sources, targets, least, flip, seen):
    """Mark both ends of an edge in the array over the range."""
    seen[distance(sources[edge], least, flip)] = 1
    seen[distance(targets[edge], least, flip)] = 1


@each
def count_through(edge, sources, targets, least, flip, ranks, numbers, other_numbers):
    """Number both ends of an edge by the ranks over the range."""
    numbers[edge] = ranks[distance(sources[edge], least, flip)]
    other_numbers[edge] = ranks[distance(targets[edge], least, flip)]


@device
def home(key, slots):
    """Slot at which the search for a key begins."""
    code = (key & LOW) * SPREAD ^ (key >> SHIFT) * OTHER_SPREAD
    return (code ^ code >> SHIFT) & np.uint64(len(slots) - 1)


@each
def enter(item, values, least, flip, slots):
    """Enter an id into the table."""
    key = distance(values[item], least, flip)
    slot = home(key, slots)
    held = load(slots, slot)
    while held != key:
        if held == EMPTY:
            held = cas(slots, slot, EMPTY, key)
            if held == EMPTY:
                return
        else:
            slot = (slot + ONE) & np.uint64(len(slots) - 1)
            held = load(slots, slot)


@device
def find(key, slots):
    """Slot of a key that is in the table."""
    slot = home(key, slots)
    while slots[slot] != key:
        slot = (slot + ONE) & np.uint64(len(slots) - 1)
    return slot


@each
def rank(number, distances, slots, ranks):
    """Write the number of a distance beside its slot."""
    ranks[find(distances[number], slots)] = number


@each
def look_up(edge, sources, targets, least, flip, slots, ranks, numbers, other_numbers):
    """Number both ends of an edge by the ranks beside the table."""
    numbers[edge] = ranks[find(distance(sources[edge], least, flip), slots)]
    other_numbers[edge] = ranks[find(distance(targets[edge], least, flip), slots)]


def number_distinct(sources, targets):
    """Number the distinct values of two integer arrays in ascending order.

    Parameters
    ----------
    sources, targets : (m,) int64 or uint64 arrays, of one type and not empty

    Returns
    -------
    sources, targets : (m,) uint32 or int64 arrays
    ids : (n,) array of the type given
        Ascending; ``ids[number]`` is the id.
    """
    least = min(int(sources.min()), int(targets.min()))
    span = max(int(sources.max()), int(targets.max())) - least + 1
    flip = np.uint64(0 if sources.dtype.kind == "u" else 1 << 63)
    frame = np.array(least, sources.dtype).view(np.uint64)[()] ^ flip, flip
    ends = sources.view(np.uint64), targets.view(np.uint64)
    if span == 1 << 64:  # the last distance would be EMPTY
        return _by_sorting(sources, targets)
    number = _by_marking if span <= SPARSEST * 2 * len(sources) else _by_table
    numbers, distances = number(ends, frame, span)
    return *numbers, (distances + frame[0] ^ flip).view(sources.dtype)


def _by_marking(ends, frame, span):
    """Numbers of the ends, and the distances that occur, through an array over the range."""
    seen = np.zeros(span, np.uint8)
    with timer("mark"):
        mark(len(ends[0]), *ends, *frame, seen)
    distances = np.flatnonzero(seen).astype(np.uint64)
    ranks = np.cumsum(seen, dtype=index_type(len(distances)))
    ranks -= 1
    numbers = _unwritten_numbers(ends, ranks)
    with timer("look up"):
        count_through(len(ends[0]), *ends, *frame, ranks, *numbers)
    return numbers, distances


def _by_table(ends, frame, span):
    """Numbers of the ends, and the distances that occur, through a table of them."""
    with timer("enter"):
        slots = _table_of(ends, frame)
    with timer("sort"):
        distances = np.sort(slots[slots != EMPTY])
        ranks = np.empty(len(slots), index_type(len(distances)))
        rank(len(distances), distances, slots, ranks)
    numbers = _unwritten_numbers(ends, ranks)
    with timer("look up"):
        look_up(len(ends[0]), *ends, *frame, slots, ranks, *numbers)
    return numbers, distances


def _unwritten_numbers(ends, ranks):
    return [np.empty(len(values), ranks.dtype) for values in ends]


def _table_of(ends, frame):
    """Table of all distances: as many ids at a time as fit in any case, then a look at how full it is."""
    slots, used = np.full(LEAST_SLOTS, EMPTY), 0
    for values in ends:
        done = 0
        while done < len(values):
            room = int(FULL * len(slots)) - used
            if room < NEARLY_FULL * len(slots):
                slots = _doubled(slots)
                continue
            part = values[done : done + room]
            enter(len(part), part, *frame, slots)
            used, done = int(np.count_nonzero(slots != EMPTY)), done + len(part)
    return slots


def _doubled(slots):
    distances = slots[slots != EMPTY]
    slots = np.full(2 * len(slots), EMPTY)
    enter(len(distances), distances, np.uint64(0), np.uint64(0), slots)
    return slots


def _by_sorting(sources, targets):
    ids, numbers = unique(np.concatenate([sources, targets]))
    return *np.split(numbers.astype(index_type(len(ids))), 2), ids
