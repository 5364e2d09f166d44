"""The ids of records: integers, or strings one behind the other, with their runs for look-ups.

Ids of other types are kept as what they are numbered as (:mod:`~edgewise.ingest.id_types`), and come out as
they came in.
"""

from typing import Any

import numpy as np

from edgewise.clusters.runs import Runs, hashes_of, run_of
from edgewise.errors import GraphError
from edgewise.ingest.arrow import arrow_array, integers, is_utf8, value_type, without_views
from edgewise.ingest.growing import Growing
from edgewise.ingest.id_types import describe, is_integer_column, restored, to_plain, unless_plain
from edgewise.ingest.string_words import Strings, strings_of
from edgewise.streams.batches import type_written, written_type

#: Arrays are made longer by what is new and a share of that, so that the next batches find room.
SPARE = 4
#: Bytes of strings up to which Arrow's columns have offsets of 32 bits.
NARROW = 2**31 - 1
#: What an error says of an integer that does not fit.
OF_STORES = "the type of integers in a store; make a store whose ids are all strings"


class Ids:
    """Ids of consecutive records of one kind.

    ``type`` is the type of Arrow in which they come out, ``None`` for integers and strings; ``runs`` look
    them up, and ``parts`` are their arrays by name, each a :class:`~edgewise.ingest.growing.Growing`.
    """

    kind = ""

    def __init__(self, type=None):
        self.type, self.runs = type, Runs()
        self.parts: dict[str, Growing] = {}

    def plain(self, column, name):
        """A column of ids as they are numbered; GraphError if it is of another kind than the store."""
        given, plain = unless_plain(column.type), to_plain(column, unless_plain(column.type), name)
        if len(column) and (kind_of(plain) != self.kind or given != self.type):
            own = self.kind if self.type is None else describe(self.type)
            raise GraphError(f"{name} hold {describe(column.type)}, and the store has {own}; convert them")
        return plain

    def column(self, rows=None):
        """The ids of some rows, or of all, as an Arrow array."""
        return restored(self._column(rows), self.type, len(self) if rows is None else len(rows))

    def _column(self, rows):
        raise NotImplementedError

    def __len__(self):
        raise NotImplementedError

    def find(self, column):
        """Rows of a plain column: (k,) int64, -1 for those that are not there."""
        raise NotImplementedError

    def extend(self, column):
        """Append new ids, a plain column, and enter them into the runs."""
        raise NotImplementedError


class IntegerIds(Ids):
    """Integers of 64 bits."""

    kind = "integers"

    def __init__(self, type=None):
        super().__init__(type)
        self.parts["ids"] = Growing(np.int64)

    def __len__(self):
        return self.parts["ids"].used

    def find(self, column):
        return self.runs.find(_values(column).view(np.uint64))

    def extend(self, column):
        values = _values(column)
        self.runs.add(run_of(values.view(np.uint64), len(self)))
        self.parts["ids"].extend(len(values), len(values) // SPARE)[:] = values

    def _column(self, rows):
        values = self.parts["ids"].used_items()
        return arrow_array(values if rows is None else values[rows])


class StringIds(Ids):
    """Strings, or bytes."""

    kind = "strings"

    def __init__(self, type=None):
        super().__init__(type)
        self.parts |= {"starts": Growing(np.int64), "text": Growing(np.uint8)}
        self.parts["starts"].extend(1)[0] = 0

    def __len__(self):
        return self.parts["starts"].used - 1

    def find(self, column):
        known = Strings(self.parts["starts"].array, self.parts["text"].array)
        return self.runs.find_strings(_wide(column), known)

    def extend(self, column):
        if not len(column):
            return
        strings, text, n_known = _wide(column), self.parts["text"], len(self)
        self.runs.add(run_of(hashes_of(strings), n_known))
        first, last, end = int(strings.starts[0]), int(strings.starts[-1]), text.used
        text.extend(last - first, (last - first) // SPARE)[:] = strings.text[first:last]
        starts = self.parts["starts"].extend(len(column), len(column) // SPARE)
        np.add(strings.starts[1:], end - first, out=starts)

    def _column(self, rows):
        import pyarrow as pa

        starts, text = (self.parts[name].used_items() for name in ("starts", "text"))
        plain, wide = self._types()
        buffers = [None, pa.py_buffer(starts), pa.py_buffer(text)]
        column: Any = pa.Array.from_buffers(wide, len(starts) - 1, buffers)
        column = column if rows is None else column.take(arrow_array(rows))
        return column.cast(plain) if column.nbytes <= NARROW else column

    def _types(self):
        import pyarrow as pa

        return pa.string(), pa.large_string()


class BytesIds(StringIds):
    """Bytes, which may be ids of another type."""

    kind = "bytes"

    def _types(self):
        import pyarrow as pa

        return pa.binary(), pa.large_binary()


KINDS: dict[str, type[Ids]] = {one.kind: one for one in (IntegerIds, StringIds, BytesIds)}


def kind_of(column):
    """Kind of a plain column."""
    if is_integer_column(column):
        return IntegerIds.kind
    return (StringIds if is_utf8(value_type(column.type)) else BytesIds).kind


def ids_of_kind(kind, type=None):
    """Empty ids of a kind, and of a type of Arrow that is written as text."""
    return KINDS[kind](None if type is None else type_written(type))


def kind_and_type(column, name):
    """What :func:`ids_of_kind` makes ids for such a column from."""
    given = unless_plain(column.type)
    return kind_of(to_plain(column, given, name)), None if given is None else written_type(given)


def _values(column):
    """A column of integers as the loops take it."""
    return integers(column, np.dtype(np.int64), OF_STORES).astype(np.int64)


def _wide(column):
    """A column of strings with offsets of 64 bits, as the loops take them."""
    strings = strings_of(without_views(column).cast(value_type(column.type)))
    return Strings(strings.starts.astype(np.int64), strings.text)
