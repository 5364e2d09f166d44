"""Numbering integer ids in ascending order, on all cores.

Ids that fill a good part of their range are marked in an array over the range, which is then packed into
words of 64 bits; the number of an id is the count of marks before its word and below its bit.  Ids that lie
far apart go through a table of 64-bit slots (open addressing, linear probing, compare-and-swap); the distinct
ids are sorted, and every end looks up its number.

Ids are compared as distances from the smallest one, which are unsigned whatever the type: the sign bit of
signed ids is turned over first, so that no subtraction wraps.
"""

import numpy as np

from edgewise.device import cas, device, each, load
from edgewise.index_type import index_type
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
#: A word of marks has 1 << WORD bits.
WORD, BIT = np.uint64(6), np.uint64(63)
ODD_BITS, EVERY_OTHER_PAIR = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
LOW_HALVES = np.uint64(0x0F0F0F0F0F0F0F0F)
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


@device
def marks_in(word):
    """How many bits of a word are set."""
    word = word - ((word >> ONE) & ODD_BITS)
    word = (word & EVERY_OTHER_PAIR) + ((word >> np.uint64(2)) & EVERY_OTHER_PAIR)
    word = (word + (word >> np.uint64(4))) & LOW_HALVES
    word = word + (word >> np.uint64(8))
    word = word + (word >> np.uint64(16))
    return (word + (word >> SHIFT)) & np.uint64(127)


@device
def place(key, words, before):
    """How many marks lie below a distance."""
    word = key >> WORD
    below = (ONE << (key & BIT)) - ONE
    return np.int64(before[word]) + np.int64(marks_in(words[word] & below))


@each
def count_through(edge, sources, targets, least, flip, words, before, numbers, other_numbers):
    """Number both ends of an edge by the marks below them."""
    numbers[edge] = place(distance(sources[edge], least, flip), words, before)
    other_numbers[edge] = place(distance(targets[edge], least, flip), words, before)


@each
def write_distances(word, words, before, distances):
    """Write the distances that are marked in a word."""
    left = words[word]
    number = np.int64(before[word])
    while left:
        rest = left & (left - ONE)
        distances[number] = (np.uint64(word) << WORD) + marks_in((left ^ rest) - ONE)
        left, number = rest, number + 1


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
    distances += frame[0]
    distances ^= flip
    return *numbers, distances.view(sources.dtype)


def _by_marking(ends, frame, span):
    """Numbers of the ends, and the distances that occur, through an array over the range."""
    with timer("mark"):
        words = _marks(ends, frame, span)
        sums = np.cumsum(np.bitwise_count(words), dtype=np.int64 if span > LOW else np.uint32)
        count = int(sums[-1])
        before = np.zeros(len(words), index_type(count))
        before[1:] = sums[:-1]
        del sums
    numbers = _unwritten_numbers(ends, before)
    with timer("look up"):
        count_through(len(ends[0]), *ends, *frame, words, before, *numbers)
    distances = np.empty(count, np.uint64)
    write_distances(len(words), words, before, distances)
    return numbers, distances


def _marks(ends, frame, span):
    """Words with a bit for every value of the range, set where that value occurs.

    The marks are bytes at first, which threads may write without looking at each other.
    """
    seen = np.zeros(-(-span // 64) * 64, np.uint8)
    mark(len(ends[0]), *ends, *frame, seen)
    return np.packbits(seen, bitorder="little").view("<u8")


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
