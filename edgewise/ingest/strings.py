"""Numbering strings in order of first appearance, on all cores, in little memory.

The distinct strings are stored one behind the other in an *arena*, in the order of their numbers; this is an
Arrow string array already.  A table of 64-bit slots (open addressing, linear probing) finds them: the upper
half of a slot, its *tag*, is the lower half of the string's hash; the lower half says where the string is.

Strings arrive in batches of one or two columns; two columns are the sources and targets of pairs.  The
*position* of a string counts along the rows, ``2 * row`` for a source and ``2 * row + 1`` for a target, or
``row`` in a single column.  The lower half of a slot is

* below ``known`` (the number of strings known before the batch): the number of the string in the arena,
* else ``known + position``: a new string, and the first position of the batch where it has been seen so far.

A batch takes four loops.  :func:`look_up` finds each string, or claims an empty slot for it by
compare-and-swap; further copies of a new string lower the position in its slot by an atomic minimum.  The
order of the threads decides in which slot a string is and nothing else, since the smallest position always
wins.  :func:`count_new` counts the new strings and their bytes in blocks of positions; the sums over the
blocks are where :func:`number_new` gives the new strings, in order of their positions, the next numbers, and
copies them to the arena.  :func:`write_numbers` then finds the numbers of all copies in the slots.  The
numbers are therefore the same for every number of threads and every size of batch.

A few strings are numbered by a dict, and some by Arrow's dictionary on one core, because loading the loops
takes longer, and compiling them two seconds.

A table of millions of strings is far larger than the caches, and each string costs three misses (slot,
offset, bytes).  :func:`look_up` therefore takes a group of strings together through each step, and prefetches
what the next step reads, so that the misses of a group overlap; this halves its time.  It uses the probing of
:mod:`~edgewise.primitives.hash_table` but enters strings itself, because equal tags are not equal strings.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import cas, device, each, fetch_min
from edgewise.device.prefetch import prefetch
from edgewise.errors import GraphError
from edgewise.ingest.growing import Growing
from edgewise.ingest.hashing import copy_bytes, hash_bytes, same_bytes
from edgewise.ingest.string_dictionary import number_by_dictionary
from edgewise.ingest.string_order import Strings
from edgewise.primitives import filled
from edgewise.primitives.hash_table import EMPTY, UPPER_HALF, HashTable, probe
from edgewise.timer import timer

#: Strings that go through the steps of a look-up together.
GROUP = 32
#: Smallest number of groups that a core takes at a time.
MIN_GROUPS = 32
#: Positions of a block in which new strings are counted and then numbered.
BLOCK = 1 << 11
#: Strings that are numbered by a dict, all batches together.
FEW = 1 << 11
#: Strings, and their bytes, that Arrow numbers, all batches together, unless more than ``REPEATED`` times the
#: strings of a batch are known, which it hashes again.
SOME, SOME_BYTES, REPEATED = 1 << 19, 1 << 26, 8
#: Distance into a string that a look-up prefetches: of short ones, the second cache line too.
FAR = np.uint32(16)
#: Share of the slots in use before the table grows, and the share never exceeded within a batch.
FULL, BRIM = 0.75, 0.9
MIN_SLOTS, MAX_FIRST_SLOTS, SMALL_SLOTS = 1 << 12, 1 << 22, 1 << 22
#: Rows for which a table grows, rather than take them in parts.
LEAST_ROWS = 1 << 17
#: Bytes of an id that a message shows.
SHOWN = 60
#: Largest number of distinct strings, so that the number in a slot takes 32 bits.
MAX_STRINGS = 3 << 30

#: Highest bits of eight bytes, which ASCII leaves empty, shifted by one.
HIGH_BITS = 0x4040404040404040

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
    rows : int64, strings in a column
    pairs : uint64, 1 if there are two columns, the sources and targets of pairs, else 0
    left : Strings, a column
    right : Strings, the other column, or the same one
    known : uint64, number of strings known before
    """

    rows: Any
    pairs: Any
    left: Strings
    right: Strings
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
    look_up keeps the entries of slots here.
    """

    results: Any
    new_lengths: Any


class Blocks(NamedTuple):
    """What is known about each block of positions.

    (blocks + 1,) int64 arrays: ``numbers`` and ``places`` are the number of new strings and of their bytes in
    each block, behind a zero, and then those of all blocks before; ``high`` is the OR of the bytes.
    """

    numbers: Any
    places: Any
    high: Any


@device
def string_at(position, batch):
    """The text in which a string is, where it begins there, and its length."""
    row = position >> batch.pairs
    if position & batch.pairs:
        start = np.int64(batch.right.starts[row])
        return batch.right.text, start, np.int64(batch.right.starts[row + ONE]) - start
    start = np.int64(batch.left.starts[row])
    return batch.left.text, start, np.int64(batch.left.starts[row + ONE]) - start


@partial(each, least_chunk=MIN_GROUPS)
def look_up(group, batch, table, lookup):
    """Find the strings of a group of positions, or enter them."""
    results, entries = lookup.results, lookup.new_lengths
    first = np.uint64(group * GROUP)
    end = np.uint64(min(group * GROUP + GROUP, batch.rows << batch.pairs))
    mask = np.uint64(len(table.slots) - 1)
    for position in range(first, end):
        text, start, length = string_at(position, batch)
        code = hash_bytes(text, start, start + length)
        results[position] = code << HALF | code & mask & ENTRY
        prefetch(table.slots, code & mask & ENTRY)
    for position in range(first, end):
        tag = results[position] & UPPER_HALF
        slot, content = probe(HashTable(table.slots, EMPTY, UPPER_HALF), results[position] & ENTRY, tag)
        results[position], entries[position] = tag | slot, min(content & ENTRY, batch.known)
        prefetch(table.offsets, entries[position])
    for position in range(first, end):
        place = table.offsets[entries[position]]
        prefetch(table.arena, place)
        prefetch(table.arena, place + FAR)
    for position in range(first, end):
        entries[position] = 0
        results[position] = find_or_enter(position, batch, table, lookup)


@device
def find_or_enter(position, batch, table, lookup):
    """Number of a known string, or ``NEW`` and the slot of a new one."""
    known, slots = batch.known, table.slots
    mask = np.uint64(len(slots) - 1)
    text, start, length = string_at(position, batch)
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
            other_text, other = table.arena, np.int64(table.offsets[entry])
            other_length = np.int64(table.offsets[entry + ONE]) - other
        else:
            other_text, other, other_length = string_at(entry - known, batch)
        if other_length == length and same_bytes(text, start, other_text, other, length):
            if entry < known:
                return entry
            lookup.new_lengths[position] = length + 1
            lookup.new_lengths[max(fetch_min(slots, slot, own), own) - (tag | known)] = 0
            return NEW | slot
        slot = (slot + ONE) & mask


@partial(each, least_chunk=1)
def count_new(block, count, new_lengths, blocks):
    """Count the new strings of a block and their bytes."""
    numbers, places = 0, 0
    for position in range(block * BLOCK, min(block * BLOCK + BLOCK, count)):
        length = np.int64(new_lengths[position])
        numbers += length > 0
        places += max(length - 1, 0)
    blocks.numbers[block + 1], blocks.places[block + 1] = numbers, places


@partial(each, least_chunk=1)
def number_new(block, batch, table, lookup, blocks):
    """Number the new strings of a block, and copy them to the arena."""
    number, place, high = batch.known + np.uint64(blocks.numbers[block]), blocks.places[block], np.uint64(0)
    first = np.uint64(block * BLOCK)
    end = np.uint64(min(block * BLOCK + BLOCK, batch.rows << batch.pairs))
    for position in range(first, end):
        if lookup.new_lengths[position]:
            slot = lookup.results[position] & ENTRY
            table.slots[slot] = table.slots[slot] & UPPER_HALF | number
            text, start, length = string_at(position, batch)
            high |= copy_bytes(text, start, table.arena, place, length)
            place += length
            number += ONE
            table.offsets[number] = place
    blocks.high[block] = np.int64(high >> ONE)


@each
def write_numbers(row, batch, slots, results, sources, targets):
    """Write the numbers of the strings of a row, now that the slots of new strings have theirs."""
    position = np.uint64(row) << batch.pairs
    result = results[position]
    sources[row] = slots[result & ENTRY] & ENTRY if result >= NEW else result
    if batch.pairs:
        result = results[position + ONE]
        targets[row] = slots[result & ENTRY] & ENTRY if result >= NEW else result


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
    starts, slots = batch.left.starts, table.slots
    mask = np.uint64(len(slots) - 1)
    start, length = starts[position], starts[position + 1] - starts[position]
    code = hash_bytes(batch.left.text, start, starts[position + 1])
    tag, slot, number = code << HALF, code & mask & ENTRY, MISSING
    while True:
        slot, content = probe(HashTable(slots, EMPTY, UPPER_HALF), slot, tag)
        if content == EMPTY:
            break
        entry = content & ENTRY
        other = table.offsets[entry]
        if table.offsets[entry + ONE] - other == length and same_bytes(
            batch.left.text, start, table.arena, other, length
        ):
            number = entry
            break
        slot = (slot + ONE) & mask
    numbers[position] = number


def _kept(items):
    """A copy of at least one item, which none writes; the loops are compiled for such arrays only."""
    copy = items.copy() if len(items) else np.zeros(1, items.dtype)
    copy.flags.writeable = False
    return copy


def _empty_slots(count):
    make = np.full if count <= SMALL_SLOTS else filled  # whose loop is not compiled for a small table
    return make(count, EMPTY, np.uint64)


def _is_utf8(text):
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


class StringNumbers:
    """The strings added so far, each with its number: ``count`` of about ``expected`` distinct ones.

    ``few`` is the dict of their numbers as long as it is used, then ``None``; ``slots`` is ``None`` until the
    loops are used.
    """

    def __init__(self, expected=0):
        self.count, self.expected = 0, expected
        self.few: dict | None = {}
        self.first_slots, self.slots = MIN_SLOTS, None
        while self.first_slots < min(expected, MAX_FIRST_SLOTS):
            self.first_slots *= 2
        self.arena, self.offsets = Growing(np.uint8), Growing(np.int32)
        self.offsets.extend(1)[0] = 0
        self.lookup = Lookup(np.empty(0, np.uint64), np.empty(0, np.uint32))
        self.only_ascii = True

    def add(self, left, right, sources, targets):
        """Number the strings of a batch of pairs, two columns (:class:`Strings`) of one length.

        The numbers are written into ``sources`` and ``targets``, (rows,) uint32.  ``right`` and ``targets``
        are ``None`` if there is a single column.
        """
        rows, pairs = len(left.starts) - 1, right is not None
        if not rows:
            return
        if self.count > (most := MAX_STRINGS - (rows << pairs)):
            raise GraphError(f"more than {most:,} distinct strings; give integer ids")
        if self.slots is None:
            columns = [left, right] if pairs else [left]
            add = self._without_loops(rows << pairs, columns)
            if add is not None:
                add(columns, [sources, targets])
                return
            self.enter_known()
        start, right, targets = 0, right if pairs else left, targets if pairs else sources
        while start < rows:
            stop = min(rows, start + self._fitting_rows(pairs))
            parts = (Strings(column.starts[start : stop + 1], column.text) for column in (left, right))
            self._add_many(*parts, (sources[start:stop], targets[start:stop]), pairs)
            start = stop

    def _without_loops(self, count, columns):
        """What numbers ``count`` strings of a batch without loops; ``None`` if these are faster."""
        if self.few is not None and self.count + count <= FEW:
            return self._add_few
        size = self.arena.used + sum(int(column.starts[-1]) - int(column.starts[0]) for column in columns)
        fits = max(self.expected, self.count + count) <= SOME and size <= SOME_BYTES
        return self._add_some if fits and self.count <= REPEATED * count else None

    def _fitting_rows(self, pairs):
        """Rows that fit into the table even if all their strings are new, unless these are few."""
        while self.count > FULL * len(self.slots):
            self.grow()
        return max(int(BRIM * len(self.slots)) - self.count >> pairs, LEAST_ROWS)

    def _add_many(self, left, right, numbers, pairs):
        """Number the strings of a batch by the loops."""
        rows = len(left.starts) - 1
        count = rows << pairs
        self._reserve(count)
        batch = Batch(rows, np.uint64(pairs), left, right, np.uint64(self.count))
        with timer("look up"):
            look_up(-(-count // GROUP), batch, self._table(), self.lookup)
        with timer("number new"):
            n_blocks = -(-count // BLOCK)
            blocks = Blocks(*(np.zeros(n_blocks + 1, np.int64) for _ in Blocks._fields))
            count_new(n_blocks, count, self.lookup.new_lengths, blocks)
            np.cumsum(blocks.numbers, out=blocks.numbers)
            np.cumsum(blocks.places, out=blocks.places)
            self._append(int(blocks.numbers[-1]), int(blocks.places[-1]))
            blocks.places[:] += self.arena.used - blocks.places[-1]
            number_new(n_blocks, batch, self._table(), self.lookup, blocks)
            self.only_ascii &= not (np.bitwise_or.reduce(blocks.high) & HIGH_BITS)
        with timer("resolve"):
            write_numbers(rows, batch, self.slots, self.lookup.results, *numbers)

    def _add_few(self, columns, numbers):
        """Number the strings of a batch by the dict."""
        few: dict = self.few  # type: ignore[assignment]
        texts = [column.text[column.starts[0] : column.starts[-1]].tobytes() for column in columns]
        starts = [(column.starts - column.starts[0]).tolist() for column in columns]
        for row in range(len(starts[0]) - 1):
            for text, start, found in zip(texts, starts, numbers):
                string = text[start[row] : start[row + 1]]
                number = few.setdefault(string, self.count)
                found[row] = number
                if number == self.count:
                    self._append(1, len(string))
                    self.arena.used_items()[self.arena.used - len(string) :] = np.frombuffer(string, np.uint8)
                    self.offsets.array[self.count] = self.arena.used
                    self.only_ascii &= string.isascii()

    def _add_some(self, columns, numbers):
        """Number the strings of a batch by Arrow's dictionary."""
        before, place, self.few = self.count, self.arena.used, None
        known = Strings(self.offsets.used_items(), self.arena.used_items())
        found, (starts, text) = number_by_dictionary(known, columns)
        for column, values in zip(numbers, found):
            column[:] = values
        text = text[starts[0] : starts[-1]]
        self._append(len(starts) - 1, len(text))
        self.arena.used_items()[place:] = text
        self.offsets.array[before + 1 : self.count + 1] = starts[1:] - starts[0] + place
        self.only_ascii &= text.tobytes().isascii()

    def prepare(self):
        """Load the loops, if many strings are expected."""
        if self.expected > SOME:
            letters, numbers = _kept(np.full(2, ord("a"), np.uint8)), np.empty(1, np.uint32)
            column = Strings(_kept(np.array([0, 2], np.int32)), letters)
            other = StringNumbers()
            other.enter_known()
            other.add(column, column, numbers, numbers)

    def enter_known(self):
        """Enter the strings known into the table, if they are not in it."""
        if self.slots is not None:
            return
        self.few, count = None, self.count
        self.slots = _empty_slots(self.first_slots)
        if count:
            column = Strings(*(_kept(growing.used_items()) for growing in (self.offsets, self.arena)))
            self.count, self.offsets.used, self.arena.used = 0, 1, 0
            numbers = np.empty(count, np.uint32)
            self._add_many(column, column, (numbers, numbers), False)

    def find(self, strings):
        """Numbers of a column, (strings,) uint32, without adding any; :data:`MISSING` for unknown ones."""
        self.enter_known()
        numbers = np.empty(len(strings.starts) - 1, np.uint32)
        batch = Batch(len(numbers), np.uint64(0), strings, strings, np.uint64(self.count))
        find(len(numbers), batch, self._table(), numbers)
        return numbers

    def expect(self, count):
        """Make room for ``count`` distinct strings at once, before any is added."""
        self.expected = max(self.expected, count)
        while count > FULL * self.first_slots:
            self.first_slots *= 2

    def _table(self):
        return Table(self.slots, self.offsets.array, self.arena.array)

    def _reserve(self, count):
        """Make the table and the look-up large enough for a batch of new strings only."""
        while self.count + count > BRIM * len(self.slots):
            self.grow()
        if count > len(self.lookup.results):
            self.lookup = Lookup(np.empty(count, np.uint64), np.empty(count, np.uint32))

    def grow(self):
        """Make the table larger: twice as large, or four times if it is small."""
        with timer("grow"):
            times = 4 if len(self.slots) < SMALL_SLOTS else 2
            old_slots, self.slots = self.slots, _empty_slots(times * len(self.slots))
            if self.count:
                rehash(len(old_slots), old_slots, self.slots)

    def _append(self, count, n_bytes):
        """Make room for new strings."""
        if self.count == 0 and count:
            self.offsets.reserve(self.expected + 1)
            self.arena.reserve(n_bytes // count * self.expected)
        if self.arena.used + n_bytes > np.iinfo(self.offsets.array.dtype).max:
            self.offsets.widen(np.int64)
        self.offsets.extend(count)
        self.arena.extend(n_bytes, int(FAR) + 1)
        self.count += count

    def check_utf8(self, first):
        """Raise unless the strings from number ``first`` on are UTF-8."""
        if self.only_ascii:
            return
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
