"""The reader of text formats, in parallel by pyarrow: rows of edges, and rows of any length.

Rows of edges are first read as they are: one separator between fields, no comments among the rows.  Where
that fails the text is normalised on its way to the parser.  Where that fails too, the parser runs again on
ever smaller parts of the first block that fails, so that the error names the line.

Of rows of different lengths, blanks become line ends on the way to the parser, which then reads one field per
line; the lengths of the rows are counted while they pass.
"""

import io
import re
from dataclasses import replace

import numpy as np

from edgewise.errors import FileError, argument
from edgewise.files.layout import Layout, fields_of
from edgewise.files.quotes import UnclosedQuote, members
from edgewise.files.streams import has_byte_order_mark, not_utf8, one_line, reading
from edgewise.files.text_blocks import Lines, RowCounter, lines_of, normalise, parse_text, whole_lines
from edgewise.files.text_ids import ZeroWatch, has_needless_zeros, without_blanks
from edgewise.ingest.arrow import numpy_array
from edgewise.ingest.growing import Growing
from edgewise.ingest.numerals import about_number, is_integer

#: A number that C would read, at the beginning of a field.
HEXADECIMAL = re.compile(rb"(?:^|[\s,|;])-?0[xX]")
#: A quote that opens a field for people only.
BLANK_QUOTE = re.compile(rb'(?:^|[,\t|;])[ \t]+"')
#: Digits of which fewer are enough to tell that a number has more than 64 bits.
ID_DIGITS = 25


def csv_options(
    types,
    delimiter,
    *,
    names=None,
    decimal=".",
    quoted=True,
    quoted_nulls=True,
    on_invalid=None,
    first_field=None,
) -> tuple:
    """Options of pyarrow's parsers for the columns of ``types``.

    ``names`` are those of all columns where the text has no row of them, ``decimal`` is the decimal mark,
    ``quoted_nulls`` tells whether an
    empty field in quotes is null, ``on_invalid`` decides about rows with another number of fields, and
    ``first_field`` is the only true value of columns of booleans.
    """
    import pyarrow.csv as csv

    booleans = {"true_values": [first_field], "false_values": []} if first_field else {}
    quote = '"' if quoted else False
    return (
        csv.ReadOptions(column_names=names),
        csv.ParseOptions(delimiter=delimiter, quote_char=quote, invalid_row_handler=on_invalid),
        csv.ConvertOptions(
            include_columns=list(types),
            column_types=types,
            decimal_point=decimal,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=quoted_nulls,
            **booleans,
        ),
    )


def read_columns(source, layout: Layout):
    """Read sources, targets and weights (or ``None``) of every row; an error names the first wrong line."""
    import pyarrow as pa

    for attempt in _attempts(layout):
        watch = ZeroWatch(attempt.delimiter, map(str, layout.endpoints)) if layout.exact else None
        try:
            with reading(source.path, passing=(pa.ArrowInvalid, UnclosedQuote)), source.open() as stream:
                columns = _parsed(stream, attempt, attempt.skip, watch)
        except (pa.ArrowInvalid, UnclosedQuote) as error:
            failure = error
            continue
        if watch is not None and watch.found:
            _check_zeros(source, layout)
        return columns
    layout = layout.tolerant()
    layout = layout if layout.whole else replace(layout, weights="float64")
    raise locate_error(
        source,
        lambda block: _parsed(io.BytesIO(block), layout),
        lambda line: complaint(line, layout),
        (layout.skip, layout.quotes),
        failure,
    )


def _attempts(layout):
    """The layout, then ever more tolerant readings of the same text."""
    if not layout.normalised:
        yield layout
    layout = layout.tolerant()
    yield layout
    if layout.weight is not None and layout.weights == "int64" and not layout.whole:
        layout = replace(layout, weights="float64")
        yield layout
    if layout.ids == "int64":
        yield replace(layout, ids="uint64")


class NeedlessZeros(FileError):
    """An id such as ``007``, where integers are read."""


def _check_zeros(source, layout):
    """Raise if one of the ids, which were read as integers, has needless zeros."""
    layout = replace(layout.tolerant(), ids="string", weight=None)

    def parse(block):
        import pyarrow as pa

        if any(map(has_needless_zeros, _parsed(io.BytesIO(block), layout)[:2])):
            raise pa.ArrowInvalid("a needless zero")

    if wrong := first_wrong_line(source, parse, layout.skip, layout.quotes):
        number, line = wrong
        as_names = argument("ids", "string")
        as_numbers = "" if HEXADECIMAL.search(line) else f", or pass {argument('ids', 'integer')}"
        problem = f"an id would change as an integer (007 to 7): {shorten(line)}"
        raise NeedlessZeros(source.path, f"{problem}; keep it with {as_names}{as_numbers}", number)


def _parsed(stream, layout: Layout, skip: int = 0, watch=None):
    """Ids and weights of a stream of rows; the parallel parser cannot name the line that does not fit.

    The ``watch`` sees the text on its way.
    """
    import pyarrow as pa

    blanks, quotes = layout.blanks if layout.delimiter == " " else b"", layout.quotes

    def change(text):
        return normalise(text, blanks, layout.comments, quotes)

    options = csv_options(
        layout.types,
        layout.delimiter,
        names=[str(position) for position in range(layout.columns)],
        decimal=layout.decimal or ".",
        quoted=layout.quoted,
        on_invalid=None if layout.null == "error" else _skip_short,
        first_field=layout.first_field,
    )
    change_or_none = change if layout.normalised else None
    tables = parse_text(stream, options, skip, quotes=quotes, change=change_or_none, watch=watch)
    table = _table(tables, layout.types)
    if layout.ids == "string" and layout.quoted:
        table = without_blanks(table, map(str, layout.endpoints))
    if any(column.null_count for column in table.columns):
        if layout.null == "error" or layout.first_field:
            raise pa.ArrowInvalid("a field is empty")
        table = table.drop_null()
    ids = [table.column(str(position)) for position in layout.endpoints]
    if layout.ids != "string":
        ids = list(map(numpy_array, ids))
        bounded = ids if layout.min_id is not None or layout.max_id is not None else []
        ends = [int(end) for column in bounded if len(column) for end in (column.min(), column.max())]
        if not all(map(layout.allows, ends)):
            raise pa.ArrowInvalid("a number is out of range")
    return *ids, None if layout.weight is None else numpy_array(table.column(str(layout.weight)))


def _skip_short(row):
    """Drop a row that ends before its columns do."""
    return "skip" if row.actual_columns < row.expected_columns else "error"


def _table(tables, types):
    """The tables of all blocks as one, also if there are none."""
    import pyarrow as pa

    return pa.concat_tables([pa.Table.from_batches([], pa.schema(list(types.items()))), *tables])


def read_fields(source, skip: int, comments: bytes, kind: str, describe):
    """Read all fields of a text whose rows have different lengths, after ``skip`` lines.

    Returns the fields, an int32 or int64 array or (for ``'string'``) an Arrow array, and the lengths of the
    rows.
    Empty lines are rows of length 0, and so is what follows the last line end; ``comments`` are no rows.
    ``describe`` returns what is wrong with a line.
    """
    import pyarrow as pa

    counter = RowCounter(comments)
    try:
        with reading(source.path, passing=pa.ArrowInvalid), source.open() as stream:
            fields = parse_fields(Lines(stream, counter, skip), kind, source.size // 2)
    except pa.ArrowInvalid as error:
        raise locate_error(
            source,
            lambda block: parse_fields(io.BytesIO(RowCounter(comments)(block)), kind),
            lambda line: about_bytes(line) or describe(line),
            (skip, None),
            error,
        ) from error
    return fields, counter.lengths()


def parse_fields(stream, kind: str, expected=0):
    """Parse one field per line, of which so many are expected at most; integers have 32 bits if they fit."""
    types = {"field": kind}
    options = csv_options(types, "\x1f", names=["field"], quoted=False)
    blocks = parse_text(stream, options)
    if kind == "string":
        return _table(blocks, types).column(0)
    fields, narrow = Growing(np.int32, expected), np.iinfo(np.int32)
    for block in blocks:
        values = numpy_array(block.column(0))
        if len(values) and not (narrow.min <= values.min() and values.max() <= narrow.max):
            fields.widen(np.int64)
        fields.extend(len(values))[:] = values
    return fields.used_items()


def line_of_row(source, skip: int, comments: bytes, row: int, blank_rows=True) -> int:
    """One-based number of the line of a row; comments count as lines, blank lines perhaps as rows."""
    is_comment = members(comments)
    with source.open() as stream:
        for number, line in enumerate(lines_of(stream)):
            if number < skip or (line and is_comment[line[0]]) or not (blank_rows or line.strip()):
                continue
            if row == 0:
                break
            row -= 1
    return number + 1


def locate_error(source, parse, describe, rows, error) -> FileError:
    """Return the error that names the first line that does not parse, or ``error`` if every block parses.

    ``parse`` takes a block of lines and raises :class:`pyarrow.ArrowInvalid` if one is wrong; ``describe``
    takes the line and returns what is wrong with it; ``rows`` are the lines before the first and the
    :class:`Quotes`, or ``None``.
    """
    wrong = first_wrong_line(source, parse, *rows)
    return source.error(one_line(error)) if wrong is None else source.error(describe(wrong[1]), wrong[0])


def first_wrong_line(source, parse, skip: int, quotes=None):
    """Number and content of the first line that does not parse, or ``None``; see :func:`locate_error`.

    With ``quotes``, it is the number of the line on which the first such row begins.
    """
    try:
        with reading(source.path, passing=UnclosedQuote), source.open() as stream:
            for before, block in whole_lines(stream, skip, quotes):
                if _fails(parse, block):
                    rows = block.split(b"\n") if quotes is None else quotes.rows(block)
                    return bisected(parse, rows, before)
    except UnclosedQuote as error:
        raise source.error(str(error), error.line) from error
    return None


def _fails(parse, block):
    import pyarrow as pa

    try:
        parse(block)
    except pa.ArrowInvalid:
        return True
    return False


def bisected(parse, rows, before):
    """Number of the line on which the first row begins that fails, and the row."""
    low, high = 0, len(rows)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _fails(parse, b"\n".join(rows[low:middle])) else (middle, high)
    return before + low + 1 + sum(row.count(b"\n") for row in rows[:low]), rows[low]


def complaint(line: bytes, layout: Layout) -> str:
    """What is wrong with a line of edges."""
    if problem := about_bytes(line):
        return problem
    fields, shown = fields_of(line, layout.delimiter, layout.blanks), shorten(line)
    if len(fields) != layout.columns:
        what = "column" if layout.columns == 1 else "columns"
        rows_alike = "" if layout.max_id is not None else ", as in the first row"
        return f"{layout.columns} {what} expected{rows_alike}, but found {len(fields)}: {shown}"
    if layout.first_field and fields[0] != layout.first_field:
        return f"a row that starts with {layout.first_field!r} expected, but found {shown}"
    for position in layout.endpoints:
        if problem := _about_id(fields[position], layout):
            return problem
    if layout.quoted and BLANK_QUOTE.search(line):
        return f"a quote behind a blank opens no field; remove the blank: {shown}"
    return _about_weight(fields, layout) or f"cannot be parsed: {shown}; correct the line"


def about_bytes(line: bytes) -> str:
    """What is wrong with the bytes of a line, if anything is."""
    if has_byte_order_mark(line):
        return "a byte order mark begins this line, as where files have been joined; remove it"
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return not_utf8(error.start + 1, line[error.start])
    return ""


def _about_weight(fields, layout):
    if layout.weight is None:
        return ""
    field = fields[layout.weight]
    remedy = f", or pass {argument('weight', False)}" if layout.endpoints else ""
    if not field:
        dropping = f"drop such rows with {argument('null', 'drop')}"
        return f"the weight is missing; fill it in, {dropping}{remedy}"
    if problem := about_number(field, layout.decimal):
        return f"the weight {problem}{remedy}"
    if layout.whole and not (is_integer(field) and -(2**63) <= int(field[:ID_DIGITS]) < 2**63):
        return f"the weight {shorten(field.encode())} is not an integer of 64 bits; correct it{remedy}"
    return ""


def _about_id(field, layout):
    as_names, shown = f"pass {argument('ids', 'string')}", field if len(field) < 40 else f"{field[:20]}..."
    if not field:
        return f"an id is missing; fill it in, or drop such rows with {argument('null', 'drop')}"
    if layout.ids == "string":
        return ""
    if not is_integer(field):
        names = "" if layout.max_id is not None else f", or {as_names} if ids are names"
        return f"{shorten(field.encode())} is not an integer; correct it{names}"
    number = int(field[:ID_DIGITS])
    if not layout.allows(number):
        span = f"{layout.min_id} .. {'' if layout.max_id is None else layout.max_id}"
        return f"vertex {shown} is not in {span}; correct it or the header"
    if not -(2**63) <= number < 2**63:
        return f"{shown} does not fit into 64 bits; {as_names} to take the ids as names"
    return ""


def shorten(line: bytes, width: int = 60) -> str:
    """A line, or as much of it as fits into a message, in quotes."""
    text = line.decode("utf-8", "replace").strip()
    return repr(text if len(text) <= width else text[: width - 3] + "...")
