"""Tables in text with a row of names: how they are laid out, and their columns block by block.

The types of the columns are inferred from the first rows; numbers with needless zeros or signs, such as
``007``, are strings.  Where a later row does not fit, the file is read again, with floats for other numbers
than ids, and then with strings for ids.  Blanks around a field are no part of it.
"""

import io
from contextlib import suppress

import numpy as np

from edgewise.errors import argument
from edgewise.files.layout import fields_of, look
from edgewise.files.quotes import Quotes, UnclosedQuote
from edgewise.files.text import (
    BLANK_QUOTE,
    about_bytes,
    csv_options,
    first_wrong_line,
    locate_error,
    shorten,
)
from edgewise.files.text_blocks import parse_block, parse_text
from edgewise.files.text_ids import ZeroWatch, has_needless_zeros, without_blanks
from edgewise.ingest.numerals import about_number, is_integer

#: An integer as a program would write it; blanks around it change nothing.
PLAIN_INTEGER = "^[ \\t]*(0|-?[1-9][0-9]*)?[ \\t]*$"
#: A number that an integer and a fraction of zero stand for.
DECIMAL = r"^[ \t]*-?[0-9]+\.0*[ \t]*$"
#: Attempts to read a table: with the types of the first rows, floats for other numbers, strings for ids.
ATTEMPTS = AS_INFERRED, WITH_FLOATS, WITH_STRINGS = range(3)


class Mismatch(Exception):
    """A row does not fit the types inferred from the beginning of the file."""


def by_attempts(read):
    """What ``read(attempt)`` returns for the first of the :data:`ATTEMPTS` that the rows fit."""
    for attempt in ATTEMPTS:
        with suppress(Mismatch):
            return read(attempt)
    raise AssertionError("the last attempt reads every id as a string")


class TextTable:
    """A text file with a row of names, as a table with an unknown number of rows.

    ``attempt`` is one of the :data:`ATTEMPTS`.  Columns named in the schema ``like``, that of the file
    before, have its types.  ``ids`` are ``'string'``, ``'integer'``, or as the rows decide.
    """

    rows = None

    def __init__(self, source, attempt=AS_INFERRED, like=None, ids=None):
        import pyarrow as pa

        self.source, self.attempt, self.ids = source, attempt, ids
        sample = look(source)
        if not sample.rows:
            raise source.error("the row of names is missing; a table needs one")
        lines = source.lines()
        b"\n".join(lines).decode()  # raises where this is no UTF-8
        if lines[sample.skip].count(b'"') % 2:
            raise source.error("a quote in the row of names has no end; correct it", sample.skip + 1)
        self.skip, self.delimiter, self.names = sample.skip + 1, sample.delimiter, sample.rows[0]
        if len(self.names) == 1:
            self.delimiter = ","
        self.quotes = Quotes(self.delimiter)
        self.beginning = b"".join(line + b"\n" for line in lines[self.skip :] if line.strip())
        if len(self.quotes.marks(self.beginning)) % 2:  # the last row is cut off
            self.beginning = b"".join(row + b"\n" for row in self.quotes.rows(self.beginning)[:-1])
        self.texts: list = []
        self.mixed: tuple = ()  # columns of ids that are text only because some row holds no integer
        try:
            self.schema = _inferred_schema(self.names, self.beginning, (self.delimiter, source.decimal), like)
        except pa.ArrowInvalid as error:
            raise self._located(dict.fromkeys(self.names, pa.string()), error) from error

    def settle(self, id_columns):
        """Settle the types of the columns; a mismatch if the beginning does not show that of the ids."""
        import pyarrow as pa
        from pyarrow import types

        kinds = {field.name: field.type for field in self.schema}
        if not self.beginning:  # without rows, nothing speaks against integers
            kinds |= {name: pa.int64() for name in id_columns if types.is_null(kinds.get(name, pa.int64()))}
        of_ids = {name: kinds.get(name, pa.int64()) for name in id_columns}
        if self.attempt != WITH_STRINGS and any(map(types.is_null, of_ids.values())):
            raise Mismatch
        for name, kind in of_ids.items():
            if self.ids is None and types.is_floating(kind) and self._are_decimal(name):
                raise self._fractions(name)
        whole = all(map(types.is_integer, of_ids.values()))
        inferred = self.ids is None and self.attempt != WITH_STRINGS and whole
        self.exact = tuple(id_columns) if inferred else ()
        self.mixed = tuple(id_columns) if self.ids is None and self.attempt == WITH_STRINGS else ()
        for name, kind in kinds.items():
            if name in id_columns and not (inferred and types.is_integer(kind)):
                kinds[name] = pa.int64() if inferred or self.ids == "integer" else pa.string()
            elif name in id_columns:
                continue
            elif types.is_null(kind) or (self.attempt and types.is_integer(kind)):
                kinds[name] = pa.float64()
        self.schema = pa.schema([(field.name, kinds[field.name]) for field in self.schema])
        self.texts = [name for name in id_columns if name in kinds and types.is_string(kinds[name])]

    def expect_numbers(self, name):
        """Take a column as numbers, also where they look odd (``-0``); raise if there is other text."""
        import pyarrow as pa

        position = self.schema.get_field_index(name)
        if position < 0 or not pa.types.is_string(self.schema.field(position).type):
            return
        rows = (fields_of(line, self.delimiter) for line in self.beginning.splitlines())
        fields = [row[position] for row in rows if position < len(row) and row[position]]
        for field in fields:
            if problem := about_number(field, self.source.decimal):
                raise self.source.error(f"column {name!r}: {problem}")
        kind = pa.int64() if all(map(is_integer, fields)) else pa.float64()
        self.schema = self.schema.set(position, pa.field(name, kind))

    def _are_decimal(self, name):
        """Whether all of the first fields of a column are numbers such as ``1.0``, as of pandas."""
        import pyarrow as pa
        import pyarrow.compute as pc

        fields = [table.column(0) for table in self._tables(io.BytesIO(self.beginning), {name: pa.string()})]
        return all(pc.all(pc.match_substring_regex(column, DECIMAL)).as_py() for column in fields)

    def _fractions(self, name, line=None):
        problem = f"the column {name!r} holds numbers with a decimal point, and ids are integers or strings"
        choice = f"keep them as text with {argument('ids', 'string')}"
        return self.source.error(f"{problem}; write them without (1, not 1.0), or {choice}", line)

    def batches(self, columns):
        """Yield the needed columns block by block; a mismatch where a row may fit another attempt."""
        import pyarrow as pa

        types = {name: self.schema.field(name).type for name in columns}
        watch = ZeroWatch(self.delimiter, self.exact)
        try:
            with self.source.open() as stream:
                for table in self._tables(stream, types, self.skip, watch if self.exact else None):
                    yield from self._trimmed(table).to_batches()
        except (pa.ArrowInvalid, UnclosedQuote) as error:
            if self.attempt != WITH_STRINGS:
                raise Mismatch from error
            raise self._located(types, error) from error
        if watch.found:
            self._check_zeros()

    def _check_zeros(self):
        """Raise a mismatch if one of the ids, which were read as integers, has needless zeros."""
        import pyarrow as pa

        with self.source.open() as stream:
            for table in self._tables(stream, dict.fromkeys(self.exact, pa.string()), self.skip):
                if any(map(has_needless_zeros, table.columns)):
                    raise Mismatch

    def _tables(self, stream, types, skip=0, watch=None):
        """Yield tables of the columns in ``types``."""
        options = csv_options(
            types, self.delimiter, names=self.names, decimal=self.source.decimal, quoted_nulls=False
        )
        return parse_text(stream, options, skip, quotes=self.quotes, watch=watch)

    def _trimmed(self, table):
        """The table with no blanks around ids that are text; an error where these are not what they seem."""
        table = without_blanks(table, self.texts)
        for name in self.mixed:
            import pyarrow.compute as pc

            if pc.any(pc.match_substring_regex(table.column(name), DECIMAL)).as_py():
                raise self._fractions(name, self._line_of(name, DECIMAL))
        return table

    def _line_of(self, name, pattern):
        """Number of the first line whose field in a column matches a pattern."""
        import pyarrow as pa
        import pyarrow.compute as pc

        def parse(block):
            for table in self._tables(io.BytesIO(block), {name: pa.string()}):
                if pc.any(pc.match_substring_regex(table.column(0), pattern)).as_py():
                    raise pa.ArrowInvalid("found")

        found = first_wrong_line(self.source, parse, self.skip, self.quotes)
        return found and found[0]

    def _located(self, types, error):
        """The error that names the first line that does not parse."""
        kinds = ", ".join(f"{name} ({kind})" for name, kind in types.items())

        def parse(block):
            for table in self._tables(io.BytesIO(block), types):
                self._trimmed(table)

        def describe(line):
            if problem := about_bytes(line) or self._about_numbers(line, types):
                return problem
            if BLANK_QUOTE.search(line):
                return f"a quote behind a blank opens no field; remove the blank: {shorten(line)}"
            return f"{len(self.names)} columns expected, with {kinds}, but found: {shorten(line)}"

        return locate_error(self.source, parse, describe, (self.skip, self.quotes), error)

    def _about_numbers(self, line, types):
        """What is wrong with a number of a row, if anything is."""
        fields = fields_of(line, self.delimiter)
        if len(fields) != len(self.names):
            return ""
        for name, field in zip(self.names, fields):
            number = field and name in types and str(types[name]) == "double"
            if number and (problem := about_number(field, self.source.decimal)):
                return f"column {name!r}: {problem}"
        return ""


def _inferred_schema(names, text, marks, like):
    """Schema of a table whose first rows are this text; columns in ``like`` have its types.

    ``marks`` are the delimiter and the decimal mark.
    """
    import pyarrow as pa
    import pyarrow.csv as csv

    known = {} if like is None else dict(zip(like.names, like.types))
    if not text:
        return pa.schema([(name, known.get(name, pa.null())) for name in names])

    def parsed(types):
        skipping = csv.ParseOptions(delimiter=marks[0], invalid_row_handler=lambda row: "skip")
        how = {"null_values": [""], "strings_can_be_null": True, "decimal_point": marks[1]}
        options = csv.ConvertOptions(column_types=types, **how)
        return parse_block([text], (csv.ReadOptions(column_names=names), skipping, options))

    inferred, watch = parsed(None).schema, ZeroWatch(marks[0])
    watch(np.frombuffer(text, np.uint8))
    if not watch.found:  # so all integers are plain
        return pa.schema([(field.name, known.get(field.name, field.type)) for field in inferred])
    strings = parsed(dict.fromkeys(names, pa.string()))

    def kind_of(field, column):
        if field.name in known:
            return known[field.name]
        return pa.string() if pa.types.is_integer(field.type) and not _are_plain(column) else field.type

    fields = zip(inferred, strings.columns)
    return pa.schema([(field.name, kind_of(field, column)) for field, column in fields])


def _are_plain(column):
    """Whether all fields of a column are integers as a program would write them."""
    import pyarrow.compute as pc

    return pc.all(pc.match_substring_regex(column, PLAIN_INTEGER)).as_py() is not False
