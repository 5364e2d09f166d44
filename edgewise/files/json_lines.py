"""JSON Lines: a table with one object in each row, such as ``{"from": "ann", "to": "bob", "score": 0.9}``.

See https://jsonlines.org.  The columns are the keys; a key that a row lacks is null there.  Values of a
column are of one type in all rows, as far as the column is needed: a number is not the same id as its digits
in quotes, so a mixture is refused.  Blocks of whole lines are parsed one by one, so an error has a line.
"""

import json
from collections.abc import Callable

from edgewise.files.streams import has_byte_order_mark
from edgewise.files.text import ID_DIGITS, about_bytes, bisected, shorten
from edgewise.files.text_blocks import whole_lines
from edgewise.files.text_table import AS_INFERRED, WITH_STRINGS, Mismatch, TextTable
from edgewise.ingest.id_types import as_text

#: What the values of each type are called.
NAMES = {str: "text", int: "a whole number", float: "a number", bool: "true or false", type(None): "null"}
#: Fractions as pyarrow writes them, and as Python's JSON has them.
LIKE_JSON = {r"^(-?[0-9]+)$": r"\1.0", "^nan$": "NaN", "inf": "Infinity"}
#: Characters that a string of JSON does not hold as they are.
SPECIAL = r'["\\\x00-\x1f]'


def is_json_lines(source) -> bool:
    """Whether the first row of a text is a JSON object."""
    first = next((line for line in source.lines() if line.strip()), b"")
    return first.lstrip().startswith(b"{") and isinstance(_value(first), dict)


def _value(line: bytes):
    """The value of a line of JSON, long integers cut short; ``None`` if it is not valid."""
    try:
        text = line.decode("utf-8", "replace")  # what is no UTF-8 is an error when the line is parsed
        return json.loads(text, parse_int=lambda digits: int(digits[:ID_DIGITS]))
    except (ValueError, RecursionError):
        return None


class JsonTable(TextTable):
    """A file of JSON Lines, as a table with an unknown number of rows."""

    #: Called with name and type of each column of a block that the schema does not have.
    late: Callable | None = None

    def __init__(self, source, attempt=AS_INFERRED, like=None, ids=None):
        import pyarrow as pa

        self.source, self.attempt, self.ids = source, attempt, ids
        kinds: dict = {}
        for line in source.lines():
            value = _value(line)
            for name, item in value.items() if isinstance(value, dict) else ():
                kinds.setdefault(name, set()).add(type(item))
        known = {} if like is None else dict(zip(like.names, like.types))
        self.schema = pa.schema([(name, known.get(name) or _type_of(kinds[name])) for name in kinds])

    def settle(self, id_columns):
        """Settle the types of the columns; a mismatch if the beginning does not show that of the ids."""
        import pyarrow as pa
        from pyarrow import types

        kinds = {field.name: field.type for field in self.schema}
        for name, kind in kinds.items():
            if name in id_columns and types.is_null(kind):
                if self.attempt == AS_INFERRED:
                    raise Mismatch
                kinds[name] = pa.string()
            elif name in id_columns:
                if self.attempt == WITH_STRINGS and types.is_integer(kind):
                    kinds[name] = pa.uint64()  # a row of the attempt before does not fit into int64
            elif types.is_null(kind) or (self.attempt and types.is_integer(kind)):
                kinds[name] = pa.float64()
        self.schema = pa.schema(list(kinds.items()))

    def expect_numbers(self, name):
        """Leave a column as it is: a text is no number in JSON."""

    def batches(self, columns):
        """Yield the needed columns block by block; a mismatch where a row may fit another attempt."""
        import pyarrow as pa

        schema = pa.schema([self.schema.field(name) for name in columns])
        with self.source.open() as stream:
            for before, block in whole_lines(stream):
                try:
                    yield from _parsed(block, schema, self.late)
                except pa.ArrowInvalid as error:
                    if self.attempt == AS_INFERRED:
                        raise Mismatch from error
                    number, line = bisected(lambda part: _parsed(part, schema), block.split(b"\n"), before)
                    if self.attempt != WITH_STRINGS and _is_unsigned(line, schema):
                        raise Mismatch from error
                    raise self.source.error(_complaint(line, schema), number) from error


def _type_of(kinds):
    """Arrow type for the types of a column's first values."""
    import pyarrow as pa

    kinds = kinds - {type(None)}
    if kinds & {dict, list}:
        return pa.struct([])
    if str in kinds:
        return pa.string()
    if bool in kinds:
        return pa.bool_()
    return pa.float64() if float in kinds else pa.int64() if kinds else pa.null()


def _is_unsigned(line, schema):
    """Whether a line holds a number that needs unsigned integers of 64 bits, in a column of integers."""
    import pyarrow as pa

    value = _value(line)
    if not isinstance(value, dict):
        return False
    items = [value.get(field.name) for field in schema if field.type == pa.int64()]
    return any(type(item) is int and 2**63 <= item < 2**64 for item in items)


def _parsed(block, schema, late=None):
    """Record batches of a block of whole lines; ``late`` is called for other columns than the schema's."""
    import pyarrow as pa
    import pyarrow.json as arrow_json

    if not block.strip():
        return []
    if has_byte_order_mark(block):  # Arrow would take it away from the first line
        raise pa.ArrowInvalid("a byte order mark within the text")
    how = arrow_json.ReadOptions(use_threads=False, block_size=len(block) + 1)
    others = "infer" if late else "ignore"
    parsing = arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=others)
    table = arrow_json.read_json(pa.BufferReader(block), how, parsing)
    table.validate(full=True)  # strings that are no UTF-8
    for field in table.schema if late else ():
        if field.name not in schema.names:
            late(field.name, field.type)
    return table.select(schema.names).to_batches()


def _complaint(line, schema):
    """What is wrong with a line."""
    if problem := about_bytes(line):
        return problem
    value = _value(line)
    if not isinstance(value, dict):
        return f"one JSON object expected, but found {shorten(line)}; correct the line"
    for field in schema:
        item = value.get(field.name)
        if item is not None and field.type not in map(_type_of, ({type(item)}, {type(item), float})):
            held, others = NAMES.get(type(item), "a list or an object"), f"{field.type} in other rows"
            return f"{field.name!r} is {held} here, but {others}; write it as one of the two in all rows"
    return f"cannot be parsed: {shorten(line)}; correct the line"


def formatted(table):
    """The bytes of the rows of a table as JSON Lines.

    Fractions that are no numbers, or infinite, are ``NaN`` and ``Infinity``, as Python's ``json`` has them.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = pa.large_string()
    parts: list = []
    for name, column in zip(table.column_names, table.columns):
        key = json.dumps(name, ensure_ascii=False)
        parts += [pa.scalar(f"{', ' if parts else '{'}{key}: ", kind), _as_json(column)]
    if not table.num_rows:
        return b""
    if not parts:
        return b"{}\n" * table.num_rows
    rows = pc.binary_join_element_wise(*parts, pa.scalar("}\n", kind), pa.scalar("", kind))
    return b"".join(_content(chunk) for chunk in rows.chunks if len(chunk))


def _content(strings):
    """All strings of an array in one piece."""
    offsets = memoryview(strings.buffers()[1]).cast("q")
    first, last = offsets[strings.offset], offsets[strings.offset + len(strings)]
    return memoryview(strings.buffers()[2])[first:last]


def _as_json(column):
    """A column of JSON values, as large strings without nulls."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import types

    column = as_text(column)
    kind = column.type
    if types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = kind.value_type
    if types.is_nested(kind):
        values = [json.dumps(value, ensure_ascii=False, default=str) for value in column.to_pylist()]
        return pa.chunked_array([pa.array(values, pa.large_string())])
    text = column.cast(pa.large_string())
    if types.is_floating(kind):
        for written, name in LIKE_JSON.items():
            text = pc.replace_substring_regex(text, written, name)
    elif not (
        types.is_integer(kind) or types.is_decimal(kind) or types.is_boolean(kind) or types.is_null(kind)
    ):
        quote, nothing = (pa.scalar(one, pa.large_string()) for one in ('"', ""))
        text = pc.binary_join_element_wise(quote, _escaped(text), quote, nothing)
    return pc.fill_null(text, "null")


def _escaped(text):
    """Strings with a backslash before what ends a string of JSON, and control characters as escapes."""
    import pyarrow.compute as pc

    if not pc.any(pc.match_substring_regex(text, SPECIAL)).as_py():
        return text
    for mark in ("\\", '"', *map(chr, range(0x20))):
        text = pc.replace_substring(text, mark, json.dumps(mark)[1:-1])
    return text
