"""Arrow columns: a check of those from outside, and strings as the loops need them.

Arrow reads offsets, views and codes without a look at where they point, and so do the loops.  Every batch
that Arrow has not decoded itself is therefore checked before anything is done with it, by :func:`checked`;
Arrow's readers of Parquet and text make no others.  Whether strings are UTF-8 is checked where they are
numbered, once for each distinct one.

The loops need offsets and bytes (:class:`~edgewise.ingest.string_words.Strings`).
"""

from functools import partial
from typing import Any

import numpy as np

from edgewise.errors import GraphError
from edgewise.index_type import index_type
from edgewise.ingest.string_words import Strings, strings_of
from edgewise.ingest.strings import StringNumbers
from edgewise.primitives.counting_sort import gather

#: What an int64 is combined with, so that the order of its bytes is that of the numbers.
SIGN = 1 << 63
#: Bytes that the two ids of a pair may have, so that the length of each takes 32 bits.
PAIR_BYTES = 2**32 - 2
#: Rows that are numbered at a time, and the bytes of their strings.
BATCH_ROWS = 1 << 20
BATCH_BYTES = 1 << 30


def is_text(kind) -> bool:
    """Whether an Arrow type holds strings or bytes, or a dictionary of them."""
    from pyarrow import types

    kind = value_type(kind)
    of_bytes = types.is_binary, types.is_large_binary, types.is_binary_view, types.is_fixed_size_binary
    return is_utf8(kind) or any(test(kind) for test in of_bytes)


def is_utf8(kind) -> bool:
    """Whether an Arrow type holds strings."""
    from pyarrow import types

    return any(test(kind) for test in (types.is_string, types.is_large_string, types.is_string_view))


def value_type(kind):
    """Type of the values behind a dictionary; any other type itself."""
    from pyarrow import types

    return kind.value_type if types.is_dictionary(kind) else kind


def arrow_array(array, nulls=None):
    """Arrow array over the memory of a NumPy array (``pyarrow.array`` would import pandas for this).

    Elements for which ``nulls``, an array of bool, is true are null.
    """
    import pyarrow as pa

    if not isinstance(array, np.ndarray):
        return array
    array = np.ascontiguousarray(array)
    valid = None if nulls is None else pa.py_buffer(np.packbits(~nulls, bitorder="little"))
    return pa.Array.from_buffers(pa.from_numpy_dtype(array.dtype), len(array), [valid, pa.py_buffer(array)])


def arrow_scalar(value):
    """Arrow scalar of a number, truth value or text (``pyarrow.scalar`` would import pandas for this)."""
    import pyarrow as pa

    if isinstance(value, bool):
        return arrow_array(np.array([value], np.uint8)).cast(pa.bool_())[0]
    if isinstance(value, str):
        data = value.encode()
        places = pa.py_buffer(np.array([0, len(data)], np.int32))
        return pa.Array.from_buffers(pa.string(), 1, [None, places, pa.py_buffer(data)])[0]
    if type(value) is float or (type(value) is int and -(1 << 63) <= value < 1 << 64):
        return arrow_array(np.array([value]))[0]  # NumPy takes uint64 where int64 is too short
    return pa.scalar(value)


def numpy_array(column):
    """NumPy array of a column of numbers (``to_numpy`` would import pandas); nulls become NaN.

    It is a copy of chunks, and of one array a view that cannot be written to.
    """
    import pyarrow as pa
    from pyarrow import types

    if column.null_count or not (types.is_integer(column.type) or types.is_floating(column.type)):
        return column.to_numpy(zero_copy_only=False)
    if not hasattr(column, "chunks"):
        return np.from_dlpack(column)
    none = pa.nulls(0, column.type)  # ``to_pandas_dtype`` would import pandas, before PyArrow 26
    return np.concatenate([np.from_dlpack(chunk) for chunk in (none, *column.chunks)])


#: What an error says of an id that does not fit into the type of others.
OTHER_IDS = "the type of the other ids; store all of them as uint64, or as strings where some are negative"


def integers(column, kind, why=OTHER_IDS):
    """NumPy array of a column of integers, which must fit into ``kind``, a type of 64 bits.

    ``why`` says in an error what has that type, and what to do.
    """
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    values = numpy_array(column)
    if values.dtype.kind != kind.kind and len(values):
        limit, least, most = np.iinfo(kind), int(values.min()), int(values.max())
        if least < limit.min or most > limit.max:
            wrong = least if least < limit.min else most
            raise GraphError(f"id {wrong} does not fit into {np.dtype(kind)}, {why}")
    return values


def with_plain_nulls(column):
    """The column; a dictionary with its nulls among the codes, where filters and counts see them."""
    import pyarrow as pa
    from pyarrow import types

    if not types.is_dictionary(column.type):
        return column
    if isinstance(column, pa.ChunkedArray):
        values = without_views(pa.array([], column.type.value_type)).type
        chunks = [with_plain_nulls(chunk) for chunk in column.chunks]
        return pa.chunked_array(chunks, pa.dictionary(column.type.index_type, values, column.type.ordered))
    codes, values = column.indices, without_views(column.dictionary)
    if values.null_count:
        import pyarrow.compute as pc  # takes as long as a small file

        codes = pc.if_else(values.is_valid().take(codes), codes, pa.scalar(None, codes.type))
    return pa.DictionaryArray.from_arrays(codes, values, ordered=column.type.ordered)


def without_views(column):
    """The column; views of strings or bytes as long strings, which Arrow can filter, take and measure."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_string_view(column.type):
        return column.cast(pa.large_string())
    return column.cast(pa.large_binary()) if types.is_binary_view(column.type) else column


def as_ordered_bytes(column):
    """Plain ids of Arrow as bytes of the same order."""
    import pyarrow as pa

    if is_text(column.type):
        return column
    numbers = numpy_array(column)
    turned = numbers.astype(np.uint64) ^ np.uint64(SIGN if numbers.dtype.kind == "i" else 0)
    buffers = [None, pa.py_buffer(turned.astype(">u8"))]
    return pa.Array.from_buffers(pa.binary(8), len(turned), buffers).cast(pa.binary())


def checked(batches):
    """Yield record batches from outside after a check of their memory; raise GraphError for a damaged one."""
    dictionaries: dict = {}
    for number, batch in enumerate(batches):
        where = f"record batch {number}"
        _check(batch.validate, where)
        for name, column in zip(batch.schema.names, batch.columns):
            dictionary = check_column(column, f"column {name!r} of {where}", dictionaries.get(name))
            if dictionary is not None:
                dictionaries[name] = dictionary
        yield batch


def check_column(column, name, known=None):
    """Raise GraphError unless an Arrow column refers to nothing but its own memory.

    The memory of other libraries comes without its size, for which their last offset is taken.  Returns the
    dictionary of the column if it has one; ``known`` is the dictionary that was checked last.
    """
    import pyarrow as pa
    from pyarrow import types

    if isinstance(column, pa.ChunkedArray):
        for chunk in column.chunks:
            known = check_column(chunk, name, known)
        return known
    _check(column.validate, name)
    if types.is_dictionary(column.type):
        codes, dictionary = column.indices, column.dictionary
        if known is None or _memory(dictionary) != _memory(known):
            check_column(dictionary, name)
        check_column(codes, name)
        _check(partial(pa.DictionaryArray.from_arrays, codes, dictionary), name)
        return dictionary
    if is_utf8(column.type):
        column = column.view(_bytes_type(column.type))
    _check(partial(column.validate, full=True), name)
    return None


def _check(validate, name):
    from pyarrow import ArrowException

    try:
        validate()
    except ArrowException as error:
        problem = " ".join(str(error).split())
        raise GraphError(f"{name} is damaged ({problem}); write the table again") from error


def _memory(array):
    """Where an array is in memory; equal for two arrays over the same memory."""
    buffers = [buffer and (buffer.address, buffer.size) for buffer in array.buffers()]
    return array.type, array.offset, len(array), buffers


def _bytes_type(kind):
    """The type of bytes with the layout of a type of strings."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_string_view(kind):
        return pa.binary_view()
    return pa.large_binary() if types.is_large_string(kind) else pa.binary()


class Coded:
    """A column of strings by its ``ranks``: which of its distinct ``values``, an Arrow array, each row has.

    The columns of a batch have the same values, in the order of their first appearance.
    """

    def __init__(self, values, ranks):
        self.values, self.ranks = values, ranks

    def __len__(self):
        return len(self.ranks)


def coded(columns):
    """One or two columns of a batch as :class:`Coded`; several threads may call this at once.

    At least one is a dictionary of strings without nulls; without one each row counts as another string.
    """
    import pyarrow as pa

    sides = list(map(_distinct, columns))
    values = [without_views(values) for values, _, _ in sides]
    if values[0].type != values[-1].type or sum(one.nbytes for one in values) > BATCH_BYTES:
        wide = pa.large_string() if all(is_utf8(one.type) for one in values) else pa.large_binary()
        values = [one.cast(wide) for one in values]
    positions = [2 * rows.astype(np.int64) + side for side, (_, rows, _) in enumerate(sides)]
    order = np.argsort(np.concatenate(positions), kind="stable")  # which merges those of both columns
    joint, found = pa.concat_arrays(values).take(arrow_array(order)), np.empty(len(order), np.uint32)
    found[order] = np.arange(len(order), dtype=np.uint32)
    parts = np.split(found, [len(values[0])])
    return [Coded(joint, part[ranks]) for part, (_, _, ranks) in zip(parts, sides)]


def _distinct(column):
    """Distinct values in the order of their first appearance, the row of that, and which one each row has."""
    from pyarrow import types

    rows: Any = np.arange(len(column), dtype=index_type(len(column)))
    if not types.is_dictionary(column.type):
        return column, rows, rows
    codes = numpy_array(column.indices)
    of_codes = np.empty(len(column.dictionary), rows.dtype)  # set for codes that occur
    of_codes[codes[::-1]] = rows[::-1]  # the last write stays
    rows = np.flatnonzero(of_codes[codes] == rows)
    distinct = codes[rows]
    of_codes[distinct] = np.arange(len(distinct))
    return column.dictionary.take(arrow_array(distinct)), rows, of_codes[codes]


class ColumnNumbers:
    """Numbers the strings of two Arrow columns of types ``left`` and ``right``, batch by batch.

    If both are UTF-8 strings, so are the ids; else they are bytes.  ``expected`` is the number of rows, as
    far as is known.
    """

    def __init__(self, left, right, expected=0):
        import pyarrow as pa

        both = is_utf8(value_type(left)) and is_utf8(value_type(right))
        self.kind, self.wide = (pa.string(), pa.large_string()) if both else (pa.binary(), pa.large_binary())
        self.strings, self.utf8 = StringNumbers(2 * expected), both

    def add(self, left, right, sources, targets):
        """Write the numbers of a batch of pairs into ``sources`` and ``targets`` (uint32).

        The columns are of one length, without nulls, as :func:`with_plain_nulls` returns them, or
        :class:`Coded`.
        """
        self._add([left, right], [sources, targets])

    def add_column(self, column):
        """Number the strings of one column, without nulls; returns a (rows,) uint32 array."""
        numbers = np.empty(len(column), np.uint32)
        self._add([column.cast(value_type(column.type))], [numbers])
        return numbers

    def _add(self, columns, numbers):
        """Number the strings of one column, or of two, in halves if they are long."""
        from pyarrow import types

        before = self.strings.count
        if any(types.is_dictionary(column.type) for column in columns if not isinstance(column, Coded)):
            columns = coded(columns)
        if isinstance(columns[0], Coded):  # no smaller for a few rows, so it cannot be halved
            found = np.empty(len(columns[0].values), np.uint32)
            self.strings.add(self._strings(columns[0].values), [found])
            for one, column in zip(numbers, columns):
                one[:] = gather(found, column.ranks)
        else:
            self._add_plain([without_views(column) for column in columns], numbers)
        if self.utf8:
            self.strings.check_utf8(before)

    def _add_plain(self, columns, numbers):
        middle, size = len(columns[0]) // 2, sum(column.nbytes for column in columns)
        if size > BATCH_BYTES and middle:
            for part in slice(0, middle), slice(middle, len(columns[0])):
                self._add_plain([column[part] for column in columns], [column[part] for column in numbers])
        elif size > PAIR_BYTES:
            raise GraphError(f"an id is longer than {PAIR_BYTES:,} bytes; shorten such ids")
        else:
            self.strings.add(self._strings(*columns), numbers)

    def reserve(self, count):
        """Make room for ``count`` strings at once, before any is added."""
        self.strings.expect(count)

    def _kind_for(self, *columns):
        """The type with short offsets, unless the columns together are too long for it."""
        return self.kind if sum(column.nbytes for column in columns) <= BATCH_BYTES else self.wide

    def _strings(self, *columns):
        """Offsets and bytes of columns, with offsets of one type."""
        kind = self._kind_for(*columns)
        return [strings_of(column if column.type == kind else column.cast(kind)) for column in columns]

    def find(self, left, right):
        """Numbers of two columns as :meth:`add` takes them, uint32, without adding any string.

        Unknown strings have the number :data:`~edgewise.ingest.string_table.MISSING`.
        """
        return tuple(map(self.strings.find, self.plain(left, right)))

    def plain(self, *columns):
        """Offsets and bytes of columns that may have dictionaries and views, with offsets of one type."""
        return self._strings(*(without_views(column.cast(value_type(column.type))) for column in columns))

    def ids(self, last=True):
        """Return the distinct strings in the order of their numbers, as an Arrow array.

        After the ``last`` call no strings can be added.
        """
        return self.strings.ids(self.kind, last)

    def state(self):
        """Return the strings as arrays by name, for a file."""
        return {"offsets": self.strings.offsets.used_items(), "arena": self.strings.arena.used_items()}

    def restore(self, state, count):
        """Continue from the ``count`` strings of a state; ValueError if it is damaged."""
        import pyarrow as pa

        offsets, arena = state["offsets"], state["arena"]
        kinds = {np.dtype(np.int32): self.kind, np.dtype(np.int64): self.wide}
        if offsets.dtype not in kinds or offsets.shape != (count + 1,) or arena.dtype != np.uint8:
            raise ValueError("not one string for each label")
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(arena)]
        pa.Array.from_buffers(kinds[offsets.dtype], count, buffers).validate(full=True)
        for start in range(0, len(offsets) - 1, BATCH_ROWS):
            part = offsets[start : start + BATCH_ROWS + 1]
            column = Strings(part - part[0], arena[part[0] : max(part[-1], part[0] + 1)])
            self.strings.add([column], [np.empty(len(part) - 1, np.uint32)])
        if self.strings.count != count:
            raise ValueError("a string that occurs twice")
