"""Numbering pairs by ids that are given beforehand, such as those of a table of records.

The number of an id is its position among the ids given.  An id of a pair that is not among them is an error,
which names its row, or, where the ids may grow, takes the next number.  New strings are numbered in order of
first appearance and new integers in ascending order, so that all numbers are the same for every number of
threads.
"""

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.errors import GraphError
from edgewise.index_type import MAX_UINT32
from edgewise.ingest.arrow import ColumnNumbers, integers, is_text, with_plain_nulls
from edgewise.ingest.default_columns import JOINT
from edgewise.ingest.growing import Growing
from edgewise.ingest.id_types import describe, joint_type, plain_type, restored, to_plain, unless_plain
from edgewise.ingest.integers import MAX_SPREAD, IntegerNumbers
from edgewise.ingest.string_table import MISSING
from edgewise.primitives import filled
from edgewise.primitives.counting_sort import gather, scatter

#: Integers that are numbered at a time.
BLOCK = 1 << 20


def known_ids(kind, name, grow=False, expected=0):
    """Known ids of an Arrow type, none yet; ``name`` is what messages call them.

    ``expected`` is their number, as far as it is known, and ``grow`` tells whether others may follow them.

    >>> import pyarrow as pa
    >>> known = known_ids(pa.int64(), "column 'id'")
    >>> known.extend(pa.array([30, 10, 20]))
    >>> columns = np.empty(2, np.uint32), np.empty(2, np.uint32)
    >>> known.number((pa.array([10, 30]), pa.array([20, 20])), columns)
    >>> [column.tolist() for column in columns]
    [[1, 0], [2, 2]]
    """
    known = (KnownStrings if is_text(plain_type(kind)) else KnownIntegers)(kind, name, grow)
    known.reserve(expected)
    return known


class KnownIds:
    """What both kinds have: ``count`` ids were given, and others may follow them if ``grow``.

    Attributes
    ----------
    given_as : Arrow type
    kind : Arrow type
        As which they are numbered.
    restore : Arrow type or None
        In which they come out, unless it is the same.
    """

    def __init__(self, kind, name, grow):
        self.given_as, self.kind, self.restore = kind, plain_type(kind), unless_plain(kind)
        self.name, self.grow, self.count = name, grow, 0

    def check_type(self, kind, name):
        """Raise unless a column of pairs, with ids of an Arrow type, can have ids among those known."""
        try:
            joint_type(kind, self.given_as)
        except ValueError:
            held, known = describe(kind), describe(self.given_as)
            remedy = "convert one to the other"
            if JOINT in name:
                remedy = f"give the records a column with ids such as dataset{JOINT}id"
            raise GraphError(
                f"column {name!r} holds {held}, but {self.name} holds {known}; {remedy}"
            ) from None

    def plain(self, column, name):
        """An Arrow column of ids as they are numbered, after a check of its type."""
        if len(column):
            self.check_type(column.type, name)
        return to_plain(column, self.restore, name)

    def _shown(self, value):
        """A value as it came in, for a message."""
        import pyarrow as pa

        if self.restore is None:
            return value
        return restored(pa.array([value], self.kind), self.restore, 1)[0].as_py()

    def extend(self, column):
        """Add ids, which are different from each other and from those before."""
        column = with_plain_nulls(column)
        if column.null_count:
            row = self.count + column.is_null().index(True).as_py() + 1
            raise GraphError(f"{self.name} is null in row {row:,}; give every row an id")
        if self.count + len(column) > MAX_UINT32:
            raise GraphError(f"{self.name} has more than {MAX_UINT32:,} rows; that is too many")
        self._extend(to_plain(column, self.restore, self.name))
        self.count += len(column)

    def number(self, ends, numbers, row_of=None):
        """Write the numbers of pairs, two columns as of :meth:`plain`, into two uint32 arrays.

        ``row_of(position)`` is a row, for messages.
        """
        if len(ends[0]):
            self._number(ends, numbers)
            if not self.grow:
                self._check(ends, numbers, row_of)

    def reserve(self, count):
        """Make room for ``count`` ids at once, before any is given."""
        raise NotImplementedError

    def _extend(self, column):
        """Enter further ids, as they are numbered."""
        raise NotImplementedError

    def _number(self, ends, numbers):
        """Write the numbers of two columns."""
        raise NotImplementedError

    def _check(self, ends, numbers, row_of):
        """Raise if a pair has an id that was not given."""
        unknown = [column >= self.count for column in numbers]
        rows = [int(where.argmax()) for where in unknown if where.any()]
        if rows:
            row = min(rows)
            one = self._shown(ends[0 if unknown[0][row] else 1][row].as_py())
            where = "" if row_of is None else f" in row {row_of(row):,}"
            problem = f"the id {one!r}{where} is not in {self.name}"
            raise GraphError(f"{problem}; add its record, or leave the pair out")

    def _refuse_copy(self, row, first, value):
        problem = f"{self.name} holds {self._shown(value)!r} in rows {first + 1:,} and {row + 1:,}"
        raise GraphError(f"{problem}; give every row an id of its own")


class KnownStrings(KnownIds):
    """Known ids that are strings or bytes."""

    def __init__(self, kind, name, grow):
        super().__init__(kind, name, grow)
        self.numbers = ColumnNumbers(self.kind, self.kind)

    def reserve(self, count):
        self.numbers.reserve(count)

    def _extend(self, column):
        numbers = self.numbers.add_column(column)
        copies = numbers != np.arange(self.count, self.count + len(numbers), dtype=np.uint32)
        if copies.any():
            position = int(copies.argmax())
            self._refuse_copy(self.count + position, int(numbers[position]), column[position].as_py())

    def _number(self, ends, numbers):
        self.numbers.add(*ends, *numbers)

    def _check(self, ends, numbers, row_of):
        if self.numbers.strings.count > self.count:
            super()._check(ends, numbers, row_of)

    def finish(self, *numbers):
        """Return all ids in the order of their numbers, and their count; the last call.

        ``numbers`` are all the arrays of numbers that were written.
        """
        ids = self.numbers.ids()
        return restored(ids, self.restore, len(ids)), len(ids)


class KnownIntegers(KnownIds):
    """Known ids that are integers; all are given before the first pairs.

    Those that fill a good part of their range have their positions in an array over the range, unless others
    may follow them; the others are in a hash table.
    """

    def __init__(self, kind, name, grow):
        super().__init__(kind, name, grow)
        dtype = np.uint64 if str(self.kind) == "uint64" else np.int64
        self.given, self.numbers = Growing(dtype), IntegerNumbers(dtype)

    def reserve(self, count):
        self.given.reserve(count)

    def _extend(self, column):
        values = _integers(column, self.given.array.dtype)
        self.given.extend(len(values))[:] = values

    @cached_property
    def _positions(self):
        """Least id or ``None``, and the positions of ids by distances from it, or by their numbers."""
        given, least = self.given.used_items(), None
        rows = np.arange(self.count, dtype=np.uint32)
        if self.count and not self.grow:
            low, high = int(given.min()), int(given.max())
            least = given.dtype.type(low) if high - low < MAX_SPREAD * self.count else None
        if least is not None:
            positions, places = filled(high - low + 1, MISSING, np.uint32), (given - least).view(np.int64)
        else:
            self.numbers.reserve(self.count)
            places = np.empty(self.count, np.uint32)
            for start in range(0, self.count, BLOCK):
                part, found = given[start : start + BLOCK], places[start : start + BLOCK]
                half = (len(part) + 1) // 2  # the halves of an odd number overlap
                found[:half], found[-half:] = self.numbers.add(part[:half], part[-half:])
            positions = np.empty(self.numbers.count, np.uint32)
        scatter(positions, places, rows)
        if (gather(positions, places) != rows).any():
            _, firsts, ranks = np.unique(given, return_index=True, return_inverse=True)
            row = int((firsts[ranks] != rows).argmax())
            self._refuse_copy(row, int(firsts[ranks[row]]), int(given[row]))
        return least, positions

    def _number(self, ends, numbers):
        least, positions = self._positions
        columns = [_integers(column, self.given.array.dtype) for column in ends]
        if least is not None:
            for column, ids in zip(numbers, columns):
                places = ids.view(np.uint64) - least.view(np.uint64)
                outside = places >= len(positions)
                places[outside] = 0
                column[:] = gather(positions, places)
                column[outside] = MISSING
            return
        for column, found in zip(numbers, self.numbers.add(*columns)):
            if self.numbers.count == self.count:
                column[:] = positions[found]
                continue
            known = found < self.count
            column[:] = found
            column[known] = positions[found[known]]

    def finish(self, *numbers):
        """Return all ids in the order of their numbers, or ``None``, and their count.

        ``numbers`` are all the arrays of numbers that were written; the numbers of new ids in them change.
        """
        self._positions  # noqa: B018 -- were checked
        ids, new = self.given.used_items(), self.numbers.ids()[self.count :]
        if len(new):
            order = np.argsort(new)
            ranks = np.empty(len(new), np.uint32)
            ranks[order] = np.arange(self.count, self.count + len(new))
            for column in numbers:
                is_new = column >= self.count
                column[is_new] = ranks[column[is_new] - np.uint32(self.count)]
            ids = np.concatenate([ids, new[order]])
        plain = bool((ids == np.arange(len(ids), dtype=ids.dtype)).all())
        return restored(None if plain else ids, self.restore, len(ids)), len(ids)


def _integers(column, dtype):
    """A column of integers as an array of ``dtype``; GraphError unless all fit."""
    return np.ascontiguousarray(integers(column, np.dtype(dtype)), dtype)
