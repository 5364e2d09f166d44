"""Numbering strings in order of first appearance, on all cores, in little memory.

The loops are those of :mod:`~edgewise.ingest.string_table`.  Up to some hundred thousand strings are numbered
by Arrow's dictionary on one core, because loading the loops takes longer, and compiling them two seconds; a
few, by one of Python as long as what Arrow's needs is not imported.
"""

import sys
from itertools import pairwise
from typing import Any

import numpy as np

from edgewise import tuning
from edgewise.device import threads
from edgewise.errors import GraphError
from edgewise.ingest.growing import Growing
from edgewise.ingest.string_table import (
    BLOCK,
    FAR,
    GROUP,
    Batch,
    Blocks,
    Lookup,
    Table,
    count_new,
    find,
    look_up,
    number_copies,
    number_new,
    rehash,
)
from edgewise.ingest.string_words import Strings, strings_of
from edgewise.primitives import filled
from edgewise.primitives.hash_table import EMPTY
from edgewise.timer import timer

#: Bytes of strings up to which Arrow numbers them, all batches together.
ARROW_BYTES = 1 << 26
#: Known strings up to which Arrow may hash all of them again for each batch.
KNOWN = 1 << 11
#: Known strings for each string of a batch up to which Arrow may hash all of them again.
REPEATED = 8
#: Share of the slots in use before the table grows.
FULL = 0.75
#: Share of the slots in use that is never exceeded within a batch.
BRIM = 0.9
#: Room for the text of strings that are expected, for each byte that they would have if they were as long as
#: those of the first batch: numbers in ids become longer, and what is not written takes no memory.
SLACK = 1.25
#: Slots of the first table.
FIRST_SLOTS = 1 << 12
#: Slots up to which a table is made larger for strings that are expected, and by a factor of four when it is
#: full; a larger one becomes twice as large.
MILLIONS = 1 << 22
#: Rows for which a table grows, rather than take them in parts.
PART_ROWS = 1 << 17
#: Rows that each thread takes at a time, of which its caches hold what is noted of their strings.
THREAD_ROWS = 1 << 16
#: Bytes of an id that a message shows.
SHOWN = 60
#: Number of distinct strings, so that the number in a slot takes 32 bits.
CAPACITY = 3 << 30

#: The first bits of eight bytes, which ASCII leaves empty, shifted by one.
NOT_ASCII = 0x4040404040404040


def _kept(items):
    """A copy of at least one item, which none writes; the loops are compiled for such arrays only."""
    copy = items.copy() if len(items) else np.zeros(1, items.dtype)
    copy.flags.writeable = False
    return copy


def _lookup_of(count):
    return Lookup(np.empty(count, np.uint64), np.empty(count, np.uint32))


def _empty_slots(count):
    make = np.full if count < MILLIONS else filled  # whose loop is not compiled for a small table
    return make(count, EMPTY, np.uint64)


def _is_utf8(text):
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


class StringNumbers:
    """The strings added so far, each with its number: ``count`` of about ``expected`` distinct ones.

    ``slots`` is ``None`` until the loops are used.
    """

    def __init__(self, expected=0):
        self.count, self.expected = 0, expected
        self.first_slots = FIRST_SLOTS
        self.slots: Any = None
        while self.first_slots < min(expected, MILLIONS):
            self.first_slots *= 2
        self.arena, self.offsets = Growing(np.uint8), Growing(np.int32)
        self.offsets.extend(1)[0] = 0
        self.lookup = _lookup_of(0)
        self.only_ascii, self.longest = True, 0

    def add(self, columns, numbers):
        """Number the strings of a batch: one column (:class:`Strings`), or two of one length, of pairs.

        The numbers are written into the arrays of ``numbers``, (rows,) uint32, one for each column.
        """
        rows, pairs = len(columns[0].starts) - 1, len(columns) == 2
        if not rows:
            return
        if self.count > (most := CAPACITY - (rows << pairs)):
            raise GraphError(f"more than {most:,} distinct strings; give integer ids")
        if self.slots is None:
            if self._are_some(rows << pairs, columns):
                self._add_some(columns, numbers)
                return
            self.enter_known()
        start = 0
        while start < rows:
            stop = min(rows, start + self._fitting_rows(pairs), start + THREAD_ROWS * threads.count())
            part = [Strings(column.starts[start : stop + 1], column.text) for column in columns]
            self._add_many(part, [column[start:stop] for column in numbers])
            start = stop

    def _are_some(self, count, columns):
        """Whether Arrow numbers ``count`` strings of a batch sooner than the loops."""
        size = self.arena.used + sum(int(column.starts[-1]) - int(column.starts[0]) for column in columns)
        fits = max(self.expected, self.count + count) <= tuning.CPU.ingest_strings and size <= ARROW_BYTES
        return fits and self.count <= max(KNOWN, REPEATED * count)

    def _fitting_rows(self, pairs):
        """Rows that fit into the table even if all their strings are new, unless these are few."""
        while self.count > FULL * len(self.slots):
            self.grow()
        return max(int(BRIM * len(self.slots)) - self.count >> pairs, PART_ROWS)

    def _add_many(self, columns, numbers):
        """Number the strings of a batch by the loops."""
        rows, pairs = len(columns[0].starts) - 1, len(columns) == 2
        count = rows << pairs
        self._reserve(count)
        batch = Batch(rows, np.uint64(pairs), columns[0], columns[-1], np.uint64(self.count))
        with timer("look up"):
            look_up(-(-count // GROUP), batch, self._table(), self.lookup)
        with timer("number new"):
            n_blocks = -(-count // BLOCK)
            blocks = Blocks(*(np.zeros(n_blocks + 1, np.int64) for _ in Blocks._fields))
            count_new(n_blocks, count, self.lookup.new_lengths, blocks)
            self.longest = max(self.longest, int(blocks.longest.max()))
            np.cumsum(blocks.numbers, out=blocks.numbers)
            np.cumsum(blocks.places, out=blocks.places)
            self._append(int(blocks.numbers[-1]), int(blocks.places[-1]))
            blocks.places[:] += self.arena.used - blocks.places[-1]
            number_new(n_blocks, batch, self._table(), self.lookup, blocks, numbers[0], numbers[-1])
            self.only_ascii &= not (np.bitwise_or.reduce(blocks.high) & NOT_ASCII)
            number_copies(n_blocks, batch, self.slots, self.lookup, blocks, numbers[0], numbers[-1])

    def _add_some(self, columns, numbers):
        """Number the strings of a batch by a dictionary, which knows nothing of batches before."""
        before, place = self.count, self.arena.used
        known = Strings(self.offsets.used_items(), self.arena.used_items())
        are_few = before + sum(len(column.starts) for column in columns) <= tuning.CPU.ingest_few
        by_python = are_few and "pyarrow.compute" not in sys.modules  # whose import takes longer
        found, (starts, text) = (number_few if by_python else number_by_dictionary)(known, columns)
        for column, values in zip(numbers, found):
            column[:] = values
        text = text[starts[0] : starts[-1]]
        self._append(len(starts) - 1, len(text))
        self.arena.used_items()[place:] = text
        self.offsets.array[before + 1 : self.count + 1] = starts[1:] - starts[0] + place
        self.only_ascii &= text.tobytes().isascii()

    def prepare(self):
        """Load the loops, if many strings are expected."""
        if self.expected > tuning.CPU.ingest_strings:
            letters, numbers = _kept(np.full(2, ord("a"), np.uint8)), [np.empty(1, np.uint32)] * 2
            column = Strings(_kept(np.array([0, 2], np.int32)), letters)
            other = StringNumbers()
            other.enter_known()
            other.add([column, column], numbers)

    def enter_known(self):
        """Enter the strings known into the table, if they are not in it."""
        if self.slots is not None:
            return
        count = self.count
        self.slots = _empty_slots(self.first_slots)
        if count:
            column = Strings(*(_kept(growing.used_items()) for growing in (self.offsets, self.arena)))
            self.count, self.offsets.used, self.arena.used = 0, 1, 0
            self._add_many([column], [np.empty(count, np.uint32)])

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
        same = self.arena.used == self.count * self.longest
        width = np.uint64(self.longest if same else 0)
        return Table(self.slots, self.offsets.array, self.arena.array, width)

    def _reserve(self, count):
        """Make the table and the look-up large enough for a batch of new strings only."""
        while self.count + count > BRIM * len(self.slots):
            self.grow()
        if count > len(self.lookup.results):
            self.lookup = _lookup_of(count)

    def grow(self):
        """Make the table larger: twice as large, or four times if it is small."""
        with timer("grow"):
            times = 4 if len(self.slots) < MILLIONS else 2
            old_slots, self.slots = self.slots, _empty_slots(times * len(self.slots))
            if self.count:
                rehash(len(old_slots), old_slots, self.slots)

    def _append(self, count, n_bytes):
        """Make room for new strings."""
        if self.count == 0 and count:
            self.offsets.reserve(self.expected + 1)
            self.arena.reserve(int(SLACK * n_bytes / count * self.expected))
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
            self.slots, self.lookup = None, _lookup_of(0)
        wide = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}
        kind = kind if self.offsets.array.dtype == np.int32 else wide[kind]
        buffers = [None, pa.py_buffer(self.offsets.used_items()), pa.py_buffer(self.arena.used_items())]
        return pa.Array.from_buffers(kind, self.count, buffers)


def number_few(known, columns):
    """Number strings as :func:`number_by_dictionary` does, by a dictionary of Python.

    >>> text = np.frombuffer(b"cab", np.uint8)
    >>> known, column = Strings(np.array([0, 1, 2]), text), Strings(np.array([0, 1, 2, 3]), text)
    >>> numbers, new = number_few(known, [column])
    >>> numbers[0].tolist(), bytes(new.text[new.starts[0] : new.starts[-1]])
    ([0, 1, 2], b'b')
    """
    number_of = {name: number for number, name in enumerate(_names_of(known))}
    n_known, rows = len(number_of), zip(*map(_names_of, columns))
    numbers = [[number_of.setdefault(name, len(number_of)) for name in row] for row in rows]
    new = list(number_of)[n_known:]
    starts = np.cumsum([0, *map(len, new)])
    return np.array(numbers, np.int32).T, Strings(starts, np.frombuffer(b"".join(new), np.uint8))


def _names_of(strings: Strings):
    """The strings as objects of Python."""
    starts = strings.starts.tolist()
    text = strings.text[starts[0] : starts[-1]].tobytes()
    return [text[start - starts[0] : stop - starts[0]] for start, stop in pairwise(starts)]


def number_by_dictionary(known, columns):
    """Number the strings of one column, or of two of one length in turn, after those ``known``.

    Returns a list of numbers for each column, int32 arrays, and the new strings in the order of their first
    appearance.  All are :class:`Strings`; those known are distinct.

    >>> text = np.frombuffer(b"cab", np.uint8)
    >>> known, column = Strings(np.array([0, 1, 2]), text), Strings(np.array([0, 1, 2, 3]), text)
    >>> numbers, new = number_by_dictionary(known, [column])
    >>> numbers[0].tolist(), bytes(new.text[new.starts[0] : new.starts[-1]])
    ([0, 1, 2], b'b')
    """
    import pyarrow as pa

    n_known, parts = len(known.starts) - 1, [_array_of(column) for column in columns]
    if len(parts) == 2:
        rows = np.arange(2 * len(parts[0]))
        order = pa.py_buffer((rows >> 1) + (rows & 1) * len(parts[0]))
        batch = pa.concat_arrays(parts).take(pa.Array.from_buffers(pa.int64(), len(rows), [None, order]))
    else:
        batch = parts[0]
    coded = (pa.concat_arrays([_array_of(known), batch]) if n_known else batch).dictionary_encode()
    codes = np.from_dlpack(coded.indices)[n_known:]  # np.asarray would import pandas
    numbers = [codes[side :: len(columns)] for side in range(len(columns))]
    return numbers, strings_of(coded.dictionary[n_known:])


def _array_of(strings: Strings):
    """The strings as an Arrow array of bytes, over the same text."""
    import pyarrow as pa

    buffers = [None, pa.py_buffer(strings.starts.astype(np.int64)), pa.py_buffer(strings.text)]
    return pa.Array.from_buffers(pa.large_binary(), len(strings.starts) - 1, buffers)
