"""Numbering integer ids on all cores: all at once in ascending order, or batch by batch.

Ids that fill a good part of their range are marked in an array over the range, which is then packed into
words of 64 bits; the number of an id is the number of marks before its word and below its bit.  Ids that are
far apart are entered into a :mod:`~edgewise.primitives.hash_table` and numbered when they are sorted.

Ids are compared as distances from the smallest one, which are unsigned whatever the type: the sign bit of
signed ids is flipped first, so that no subtraction wraps.

The batches of a stream take the hash table too.  The thread that enters an id takes the next number for it,
so the numbers depend on the order of threads and are replaced when the ids are sorted at the end.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise import tuning
from edgewise.device import device, each, fetch_add, threads
from edgewise.index_type import index_type
from edgewise.ingest.growing import Growing
from edgewise.primitives import unique
from edgewise.primitives.counting_sort import bounds_of, n_blocks_of
from edgewise.primitives.hash_table import EMPTY, WHOLE_WORD, HashTable, claim, find_present, home_slot
from edgewise.timer import timer

#: Largest range, in values for each endpoint, whose ids are marked in an array.
MAX_SPREAD = 4
#: Largest share of the slots in use.
FULL = 0.6
#: The table grows if less than this share of its slots may still be taken.
NEARLY_FULL = 0.1
#: Slots of the first table.
FIRST_SLOTS = 1 << 12

#: The number 0 as uint64.
ZERO = np.uint64(0)
#: The number 1 as uint64.
ONE = np.uint64(1)
LOW_HALF = np.uint64(0xFFFFFFFF)
#: A word of marks has ``1 << WORD`` bits.
WORD = np.uint64(6)
#: Mask of the number of a bit in its word.
BIT = np.uint64(63)
#: Mask of every other bit of a word.
ODD_BITS = np.uint64(0x5555555555555555)
#: Mask of every other pair of bits of a word.
EVERY_OTHER_PAIR = np.uint64(0x3333333333333333)
LOW_HALVES = np.uint64(0x0F0F0F0F0F0F0F0F)


class Origin(NamedTuple):
    """How an id, taken as 64 unsigned bits, becomes a distance: ``(id ^ flip) - least``."""

    least: Any
    flip: Any


#: Of distances themselves.
DISTANCES = Origin(ZERO, ZERO)


class Marks(NamedTuple):
    """Which distances occur: ``words``, (words,) uint64, has a bit for each.

    ``before``, a (words,) index array, is the number of bits set before each word.
    """

    words: Any
    before: Any


class Ranks(NamedTuple):
    """A hash table of distances with their numbers: two arrays of one length, a power of two."""

    slots: Any
    numbers: Any


@device
def distance(value, origin):
    """Distance of an id, taken as 64 bits, from the smallest one."""
    return (value ^ origin.flip) - origin.least


@each
def mark(edge, sources, targets, origin, seen):
    """Mark both endpoints of an edge in the array over the range."""
    seen[distance(sources[edge], origin)] = 1
    seen[distance(targets[edge], origin)] = 1


@device
def count_bits(word):
    """Number of bits of a word that are set."""
    word = word - ((word >> ONE) & ODD_BITS)
    word = (word & EVERY_OTHER_PAIR) + ((word >> np.uint64(2)) & EVERY_OTHER_PAIR)
    word = (word + (word >> np.uint64(4))) & LOW_HALVES
    word = word + (word >> np.uint64(8))
    word = word + (word >> np.uint64(16))
    return (word + (word >> np.uint64(32))) & np.uint64(127)


@device
def marks_below(key, marks):
    """Number of marks below a distance."""
    word = key >> WORD
    below = (ONE << (key & BIT)) - ONE
    return np.int64(marks.before[word]) + np.int64(count_bits(marks.words[word] & below))


@each
def number_by_marks(edge, sources, targets, origin, marks, numbers, other_numbers):
    """Number both endpoints of an edge by the marks below them."""
    numbers[edge] = marks_below(distance(sources[edge], origin), marks)
    other_numbers[edge] = marks_below(distance(targets[edge], origin), marks)


@each
def write_marked(word, first, skipped, marks, numbers):
    """Write the numbers that are marked in a word, from ``first`` on, after so many that are skipped."""
    left = marks.words[word]
    place = np.int64(marks.before[word]) - skipped
    while left:
        rest = left & (left - ONE)
        numbers[place] = np.uint64(first) + (np.uint64(word) << WORD) + count_bits((left ^ rest) - ONE)
        left, place = rest, place + 1


@each
def enter(item, values, origin, slots):
    """Enter an id into the table."""
    key, table = distance(values[item], origin), HashTable(slots, EMPTY, WHOLE_WORD)
    claim(table, home_slot(key, table), key)


@device
def find(key, slots):
    """Slot of a key that is in the table."""
    table = HashTable(slots, EMPTY, WHOLE_WORD)
    return find_present(table, home_slot(key, table), key)


@each
def rank(number, distances, ranks):
    """Write the number of a distance beside its slot."""
    ranks.numbers[find(distances[number], ranks.slots)] = number


@each
def number_by_table(edge, sources, targets, origin, ranks, numbers, other_numbers):
    """Number both endpoints of an edge by the numbers beside the table."""
    numbers[edge] = ranks.numbers[find(distance(sources[edge], origin), ranks.slots)]
    other_numbers[edge] = ranks.numbers[find(distance(targets[edge], origin), ranks.slots)]


@each
def enter_numbered(item, values, origin, ranks, counter, keys):
    """Enter an id into the table and, if it is new, give it the next number."""
    key, table = distance(values[item], origin), HashTable(ranks.slots, EMPTY, WHOLE_WORD)
    slot, is_new = claim(table, home_slot(key, table), key)
    if is_new and key != EMPTY:
        number = fetch_add(counter, 0, 1)
        ranks.numbers[slot] = number
        keys[number] = key


@partial(each, least_chunk=1)
def find_ends(block, bounds, values, least, largest):
    """Find the least and the largest value of a block."""
    low = high = values[bounds[block]]
    for item in range(np.uint64(bounds[block]), np.uint64(bounds[block + 1])):
        low, high = min(low, values[item]), max(high, values[item])
    least[block], largest[block] = low, high


def _least_and_largest(values):
    """The least and the largest of some integers, which all threads look for if they are many."""
    if len(values) <= tuning.CPU.ingest_first or threads.count() == 1:
        return int(values.min()), int(values.max())
    blocks = n_blocks_of(len(values))
    least, largest = (np.empty(blocks, values.dtype) for _ in range(2))
    find_ends(blocks, bounds_of(len(values), blocks), values, least, largest)
    return int(least.min()), int(largest.max())


def number_distinct(sources, targets):
    """Number the distinct values of two arrays, both int64 or uint64 and not empty, in ascending order.

    Returns the numbers (uint32 or int64) of both arrays, and the ascending ids.
    """
    ends = [_least_and_largest(values) for values in (sources, targets)]
    least = min(ends[0][0], ends[1][0])
    span = max(ends[0][1], ends[1][1]) - least + 1
    flip = np.uint64(0 if sources.dtype.kind == "u" else 1 << 63)
    origin = Origin(np.array(least, sources.dtype).view(np.uint64)[()] ^ flip, flip)
    endpoints = sources.view(np.uint64), targets.view(np.uint64)
    if span == 1 << 64:  # the largest distance would be EMPTY
        ids, numbers = unique(np.concatenate([sources, targets]))
        return *np.split(numbers.astype(index_type(len(ids))), 2), ids
    number = _by_table
    if span <= MAX_SPREAD * 2 * len(sources):
        number = _by_marking if len(sources) > tuning.CPU.ingest_first else _by_marking_in_numpy
    numbers, distances = number(endpoints, origin, span)
    distances += origin.least
    distances ^= flip
    return *numbers, distances.view(sources.dtype)


def _by_marking(endpoints, origin, span):
    """Numbers of the endpoints, and the distances that occur, through an array over the range."""
    with timer("mark"):
        # Bytes first: threads may write them without synchronisation.
        seen = np.zeros(-(-span // 64) * 64, np.uint8)
        mark(len(endpoints[0]), *endpoints, origin, seen)
        words = np.packbits(seen, bitorder="little").view("<u8")
        del seen
        sums = np.cumsum(np.bitwise_count(words), dtype=np.int64 if span > LOW_HALF else np.uint32)
        count = int(sums[-1])
        before: np.ndarray = np.zeros(len(words), index_type(count))
        before[1:] = sums[:-1]
        del sums
    numbers = [np.empty(len(values), before.dtype) for values in endpoints]
    marks = Marks(words, before)
    with timer("look up"):
        number_by_marks(len(endpoints[0]), *endpoints, origin, marks, *numbers)
    distances = np.empty(count, np.uint64)
    write_marked(len(words), 0, 0, marks, distances)
    return numbers, distances


def _by_marking_in_numpy(endpoints, origin, span):
    """The same for some pairs, on one core."""
    places = [((values ^ origin.flip) - origin.least).view(np.int64) for values in endpoints]
    seen = np.zeros(span, np.bool_)
    for column in places:
        seen[column] = True
    numbers = np.cumsum(seen, dtype=np.uint32)
    numbers -= np.uint32(1)
    return [numbers[column] for column in places], np.flatnonzero(seen).view(np.uint64)


def _by_table(endpoints, origin, span):
    """Numbers of the endpoints, and the distances that occur, through a table of them."""
    with timer("enter"):
        slots = _table_of(endpoints, origin)
    with timer("sort"):
        distances = np.sort(slots[slots != EMPTY])
        ranks = Ranks(slots, np.empty(len(slots), index_type(len(distances))))
        rank(len(distances), distances, ranks)
    numbers = [np.empty(len(values), ranks.numbers.dtype) for values in endpoints]
    with timer("look up"):
        number_by_table(len(endpoints[0]), *endpoints, origin, ranks, *numbers)
    return numbers, distances


def _table_of(endpoints, origin):
    """Table of all distances: as many ids at a time as fit in any case, then a count of the slots in use."""
    slots, used = np.full(FIRST_SLOTS, EMPTY), 0
    for values in endpoints:
        done = 0
        while done < len(values):
            room = int(FULL * len(slots)) - used
            if room < NEARLY_FULL * len(slots):
                slots = _doubled(slots)
                continue
            part = values[done : done + room]
            enter(len(part), part, origin, slots)
            used, done = int(np.count_nonzero(slots != EMPTY)), done + len(part)
    return slots


def _doubled(slots):
    distances = slots[slots != EMPTY]
    slots = np.full(2 * len(slots), EMPTY)
    enter(len(distances), distances, DISTANCES, slots)
    return slots


class IntegerNumbers:
    """The integers of ``dtype`` (int64 or uint64) added so far, ``count`` distinct ones, with numbers.

    The largest id of the type is the word of an empty slot.  It is numbered outside the table: entering it
    does nothing, looking it up ends at some empty slot, and its number is written over the result.
    """

    def __init__(self, dtype):
        self.dtype, self.count = np.dtype(dtype), 0
        self.origin = Origin(ZERO, np.uint64(0 if self.dtype.kind == "u" else 1 << 63))
        self.keys, self.number_of_largest = Growing(np.uint64), None
        self._allocate(FIRST_SLOTS)

    def _allocate(self, slots):
        self.ranks = Ranks(np.full(slots, EMPTY), np.empty(slots, index_type(slots)))

    def add(self, sources, targets):
        """Number a batch of pairs; returns an index array for each column."""
        columns = [np.ascontiguousarray(column, self.dtype) for column in (sources, targets)]
        endpoints = [column.view(np.uint64) for column in columns]
        is_largest = [column == EMPTY ^ self.origin.flip for column in endpoints]
        self.reserve(2 * len(sources))
        self.keys.extend(2 * len(sources))
        if self.number_of_largest is None and any(column.any() for column in is_largest):
            self.keys.array[self.count] = EMPTY
            self.number_of_largest, self.count = self.count, self.count + 1
        counter = np.full(1, self.count, np.int64)
        for column in endpoints:
            enter_numbered(len(column), column, self.origin, self.ranks, counter, self.keys.array)
        self.count = self.keys.used = int(counter[0])
        numbers = [np.empty(len(column), self.ranks.numbers.dtype) for column in endpoints]
        number_by_table(len(sources), *endpoints, self.origin, self.ranks, *numbers)
        if self.number_of_largest is not None:
            for largest, column in zip(is_largest, numbers):
                column[largest] = self.number_of_largest
        return numbers

    def reserve(self, count):
        """Make the table large enough for ``count`` new ids."""
        slots = len(self.ranks.slots)
        while self.count + count > FULL * slots:
            slots *= 2
        if slots > len(self.ranks.slots):
            self._allocate(slots)
            keys = self.keys.used_items()
            enter(len(keys), keys, DISTANCES, self.ranks.slots)
            rank(len(keys), keys, self.ranks)

    def ids(self):
        """Return the distinct ids in the order of their numbers."""
        return (self.keys.used_items() ^ self.origin.flip).view(self.dtype)
