"""Numbering strings in order of first appearance, on all cores, in little memory.

The distinct strings are stored one behind the other in an *arena*, in the order of their numbers; this is an
Arrow string array already.  A table of 64-bit slots (open addressing, linear probing) finds them: the upper
half of a slot, its *tag*, is the lower half of the string's hash; the lower half says where the string is.

Strings arrive in batches of one or two columns; two columns are the sources and targets of pairs.  The
*position* of a string counts along the rows, ``2 * row`` for a source and ``2 * row + 1`` for a target; its
index in the batch, all sources and then all targets, is ``(position >> pairs) + (position & pairs) * rows``
with ``pairs`` = 1, or 0 for a single column.  The lower half of a slot is

* below ``known`` (the number of strings known before the batch): the number of the string in the arena,
* else ``known + position``: a new string, and the first position of the batch where it has been seen so far.

A batch takes two loops.  :func:`look_up` finds each string, or claims an empty slot for it by
compare-and-swap; further copies of a new string lower the position in its slot by an atomic minimum.  The
order of the threads decides in which slot a string is and nothing else, since the smallest position always
wins.  :func:`number_new` gives the new strings, in order of their positions, the next numbers and copies them
to the arena; all their copies then find the numbers in the slots.  The numbers are therefore the same for
every number of threads and every size of batch.

A table of millions of strings is far larger than the caches, and each string costs three misses (slot,
offset, bytes).  :func:`look_up` therefore takes a group of strings together through each step, so that the
misses of a group overlap; this halves its time.  It uses the probing of
:mod:`~edgewise.primitives.hash_table` but enters strings itself, because equal tags are not equal strings.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import cas, device, each, fetch_min
from edgewise.errors import GraphError
from edgewise.ingest.growing import Growing
from edgewise.ingest.hashing import copy_bytes, hash_bytes, same_bytes
from edgewise.primitives.hash_table import EMPTY, UPPER_HALF, HashTable, probe
from edgewise.timer import timer

#: Strings that go through the steps of a look-up together.
GROUP = 64
#: Smallest number of groups that a core takes at a time.
MIN_GROUPS = 16
#: Distance into a string that a look-up reads ahead: of short ones, the second cache line too.
FAR = np.uint32(16)
#: Share of the slots in use before the table doubles, and the share never exceeded within a batch.
FULL, BRIM = 0.75, 0.9
MIN_SLOTS, MAX_FIRST_SLOTS = 1 << 12, 1 << 20
#: Bytes of an id that a message shows.
SHOWN = 60
#: Largest number of distinct strings, so that the number in a slot takes 32 bits.
MAX_STRINGS = 3 << 30

ENTRY = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
ONE = np.uint64(1)
#: Stands for the number of a string that is not known.
MISSING = np.uint64(0xFFFFFFFF)
#: Marks a result of look_up that is a slot and not a number.
NEW = np.uint64(1 << 32)


class Batch(NamedTuple):
    """Strings to be numbered.

    Attributes
    ----------
    rows : uint64, strings in a column
    pairs : uint64, 1 if there are two columns, the sources and targets of pairs, else 0
    starts : (strings + 1,) int32 or int64 array, where in ``text`` each begins and the last one ends
    text : (bytes,) uint8 array
    known : uint64, number of strings known before
    """

    rows: Any
    pairs: Any
    starts: Any
    text: Any
    known: Any


class Table(NamedTuple):
    """The strings known.

    ``slots`` is a (power of 2,) uint64 array.  ``offsets``, (known + 1 or more,) int32 or int64, are where in
    ``arena`` each begins and the last one ends.  ``arena`` is a uint8 array, at least ``FAR + 1`` bytes
    longer than needed.
    """

    slots: Any
    offsets: Any
    arena: Any


class Lookup(NamedTuple):
    """What is known about each position of a batch.

    ``results``, (strings,) uint64, is the number of the string, or ``NEW | slot``.  ``new_lengths``,
    (strings,) uint32, is one more than the length where a new string appears first, else 0; until then
    look_up writes here what it reads ahead, so that the compiler does not remove the reads.
    """

    results: Any
    new_lengths: Any


@device
def index_of(position, batch):
    """Index of a position in the columns of a batch."""
    return (position >> batch.pairs) + (position & batch.pairs) * batch.rows


@partial(each, least_chunk=MIN_GROUPS)
def look_up(group, batch, table, lookup):
    """Find the strings of a group of positions, or enter them."""
    results, ahead, starts = lookup.results, lookup.new_lengths, batch.starts
    first, end = np.uint64(group * GROUP), np.uint64(min(group * GROUP + GROUP, len(starts) - 1))
    mask = np.uint64(len(table.slots) - 1)
    for position in range(first, end):
        index = index_of(position, batch)
        code = hash_bytes(batch.text, starts[index], starts[index + ONE])
        results[position] = code << HALF | code & mask & ENTRY
    for position in range(first, end):
        ahead[position] = table.slots[results[position] & ENTRY] & ONE
    for position in range(first, end):
        tag = results[position] & UPPER_HALF
        slot, content = probe(HashTable(table.slots, EMPTY, UPPER_HALF), results[position] & ENTRY, tag)
        results[position] = tag | slot
        ahead[position] = min(content & ENTRY, batch.known)
    for position in range(first, end):
        ahead[position] = table.offsets[ahead[position]]
    for position in range(first, end):
        ahead[position] = table.arena[ahead[position]] | table.arena[ahead[position] + FAR]
    for position in range(first, end):
        ahead[position] = 0
        results[position] = find_or_enter(position, batch, table, lookup)


@device
def find_or_enter(position, batch, table, lookup):
    """Number of a known string, or ``NEW`` and the slot of a new one."""
    starts, text, known, slots = batch.starts, batch.text, batch.known, table.slots
    mask = np.uint64(len(slots) - 1)
    index = index_of(position, batch)
    start, length = starts[index], starts[index + ONE] - starts[index]
    slot, tag = lookup.results[position] & ENTRY, lookup.results[position] & UPPER_HALF
    own = tag | known + position
    while True:
        slot, content = probe(HashTable(slots, EMPTY, UPPER_HALF), slot, tag)
        if content == EMPTY:
            lookup.new_lengths[position] = length + 1  # before others can see the slot, and clear this again
            if cas(slots, slot, EMPTY, own) == EMPTY:
                return NEW | slot
            continue
        entry = content & ENTRY
        if entry < known:
            other = table.offsets[entry]
            if table.offsets[entry + ONE] - other == length and same_bytes(
                text, start, table.arena, other, length
            ):
                return entry
        else:
            index = index_of(entry - known, batch)
            other = starts[index]
            if starts[index + ONE] - other == length and same_bytes(text, start, text, other, length):
                lookup.new_lengths[position] = length + 1
                lookup.new_lengths[max(fetch_min(slots, slot, own), own) - (tag | known)] = 0
                return NEW | slot
        slot = (slot + ONE) & mask


@each
def number_new(new, positions, batch, table, results):
    """Number the new string that appeared first at ``positions[new]``, and copy it to the arena."""
    position = positions[new]
    slot = results[position] & ENTRY
    number = batch.known + np.uint64(new)
    table.slots[slot] = table.slots[slot] & UPPER_HALF | number
    start, index = table.offsets[number], index_of(np.uint64(position), batch)
    length = table.offsets[number + ONE] - start
    copy_bytes(batch.text, batch.starts[index], table.arena, start, length)


@each
def rehash(old_slot, old_slots, slots):
    """Enter a slot's content into a larger table; its tag has enough bits of the hash."""
    content = old_slots[old_slot]
    if content != EMPTY:
        mask = np.uint64(len(slots) - 1)
        slot = content >> HALF & mask
        while cas(slots, slot, EMPTY, content) != EMPTY:
            slot = (slot + ONE) & mask


@each
def find(position, batch, table, numbers):
    """Write the number of a string of a single column, or :data:`MISSING`."""
    starts, slots = batch.starts, table.slots
    mask = np.uint64(len(slots) - 1)
    start, length = starts[position], starts[position + 1] - starts[position]
    code = hash_bytes(batch.text, start, starts[position + 1])
    tag, slot, number = code << HALF, code & mask & ENTRY, MISSING
    while True:
        slot, content = probe(HashTable(slots, EMPTY, UPPER_HALF), slot, tag)
        if content == EMPTY:
            break
        entry = content & ENTRY
        other = table.offsets[entry]
        if table.offsets[entry + ONE] - other == length and same_bytes(
            batch.text, start, table.arena, other, length
        ):
            number = entry
            break
        slot = (slot + ONE) & mask
    numbers[position] = number


def _is_utf8(text):
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


class StringNumbers:
    """The strings added so far, each with its number: ``count`` of about ``expected`` distinct ones."""

    def __init__(self, expected=0):
        self.count, self.expected = 0, expected
        slots = MIN_SLOTS
        while slots < min(expected, MAX_FIRST_SLOTS):
            slots *= 2
        self.slots = np.full(slots, EMPTY)
        self.arena, self.offsets = Growing(np.uint8), Growing(np.int32)
        self.offsets.extend(1)[0] = 0
        self.lookup = Lookup(np.empty(0, np.uint64), np.empty(0, np.uint32))

    def add(self, starts, text, pairs=True):
        """Number the strings of a batch; see :class:`Batch` for ``starts`` and ``text``.

        Returns a (strings,) uint32 array in the order of positions: of ``pairs``, the source and then the
        target of each row.
        """
        count = len(starts) - 1
        self._reserve(count)
        rows = np.uint64(count // 2 if pairs else count)
        batch = Batch(rows, np.uint64(pairs), starts, text, np.uint64(self.count))
        with timer("look up"):
            look_up(-(-count // GROUP), batch, self._table(), self.lookup)
        with timer("number new"):
            positions = np.flatnonzero(self.lookup.new_lengths[:count])
            self._append(self.lookup.new_lengths[positions])
            number_new(len(positions), positions, batch, self._table(), self.lookup.results)
        with timer("resolve"):
            return self._numbers(count)

    def find(self, starts, text):
        """Numbers of strings, (strings,) uint32, without adding any; :data:`MISSING` for unknown ones."""
        numbers = np.empty(len(starts) - 1, np.uint32)
        batch = Batch(np.uint64(len(numbers)), np.uint64(0), starts, text, np.uint64(self.count))
        find(len(numbers), batch, self._table(), numbers)
        return numbers

    def expect(self, count):
        """Make room for ``count`` distinct strings at once, before any is added."""
        self.expected = max(self.expected, count)
        slots = len(self.slots)
        while count > FULL * slots:
            slots *= 2
        self.slots = np.full(slots, EMPTY)

    def _table(self):
        return Table(self.slots, self.offsets.array, self.arena.array)

    def _reserve(self, count):
        """Make the table and the look-up large enough for a batch of new strings only."""
        if self.count + count > MAX_STRINGS:
            raise GraphError(f"more than {MAX_STRINGS - count:,} distinct strings; give integer ids")
        while self.count > FULL * len(self.slots) or self.count + count > BRIM * len(self.slots):
            with timer("grow"):
                old_slots, self.slots = self.slots, np.full(2 * len(self.slots), EMPTY)
                rehash(len(old_slots), old_slots, self.slots)
        if count > len(self.lookup.results):
            self.lookup = Lookup(np.empty(count, np.uint64), np.empty(count, np.uint32))

    def _numbers(self, count):
        """Numbers of the batch, now that the slots of new strings have theirs."""
        results = self.lookup.results[:count]
        numbers = results.astype(np.uint32)
        new = np.flatnonzero(results >= NEW)
        numbers[new] = self.slots[results[new] & ENTRY]  # the tag is cut off
        return numbers

    def _append(self, new_lengths):
        """Make room in the arena for the new strings and write where each of them ends."""
        ends = np.cumsum(new_lengths, dtype=np.int64)
        if self.count == 0 and len(ends):
            self.offsets.reserve(self.expected + 1)
            self.arena.reserve(int(ends[-1]) // len(ends) * self.expected)
        ends += self.arena.used - np.arange(1, len(ends) + 1)
        if len(ends) and ends[-1] > np.iinfo(self.offsets.array.dtype).max:
            self.offsets.widen(np.int64)
        self.offsets.extend(len(ends))[:] = ends
        self.arena.extend(int(ends[-1]) - self.arena.used if len(ends) else 0, int(FAR) + 1)
        self.count += len(ends)

    def check_utf8(self, first):
        """Raise unless the strings from number ``first`` on are UTF-8."""
        offsets = self.offsets.used_items()[first:]
        text = self.arena.array[offsets[0] : offsets[-1]]
        if len(text) == 0 or int(text.max()) < 128:  # ASCII
            return
        import pyarrow as pa

        buffers = [None, pa.py_buffer((offsets - offsets[0]).astype(np.int64)), pa.py_buffer(text)]
        strings = pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)
        try:
            strings.validate(full=True)
        except pa.ArrowInvalid:
            wrong = next(one for one in strings.view(pa.large_binary()).to_pylist() if not _is_utf8(one))
            remedy = "convert the column to UTF-8, or store it as bytes"
            raise GraphError(f"the id {wrong[:SHOWN]!r} is not UTF-8 text; {remedy}") from None

    def ids(self, kind, last=True):
        """Return the strings in the order of their numbers, as an Arrow array of ``kind``.

        The array remains as it is when strings are added later, which the ``last`` call excludes.
        """
        import pyarrow as pa

        if last:
            self.slots = self.lookup = None
        wide = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}
        kind = kind if self.offsets.array.dtype == np.int32 else wide[kind]
        buffers = [None, pa.py_buffer(self.offsets.used_items()), pa.py_buffer(self.arena.used_items())]
        return pa.Array.from_buffers(kind, self.count, buffers)
