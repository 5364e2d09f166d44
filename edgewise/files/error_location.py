"""Which line of a text does not parse, and what is wrong with it.

The parser itself decides: it runs again on ever smaller parts of the first block that fails, so that the line
named and the rule broken cannot disagree.
"""

from edgewise.errors import FileError, argument
from edgewise.files.layout import Layout, fields_of
from edgewise.files.normalise_text import whole_lines
from edgewise.files.streams import one_line, reading


def locate_error(source, parse, describe, skip: int, error) -> FileError:
    """Return the error that names the first line that does not parse, after the first ``skip`` lines.

    ``parse`` takes a block of lines and raises :class:`pyarrow.ArrowInvalid` if one of them is wrong;
    ``describe`` takes the line and returns what is wrong with it.  If every block parses, the message is
    that of ``error``.
    """
    with reading(source.path), source.open() as stream:
        for before, block in whole_lines(stream, skip):
            if _fails(parse, block):
                number, line = _bisected(parse, block.split(b"\n"), before)
                return source.error(describe(line), number)
    return source.error(one_line(error))


def _fails(parse, block):
    import pyarrow as pa

    try:
        parse(block)
    except pa.ArrowInvalid:
        return True
    return False


def _bisected(parse, lines, before):
    """Number and content of the first of the lines that fails."""
    low, high = 0, len(lines)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _fails(parse, b"\n".join(lines[low:middle])) else (middle, high)
    return before + low + 1, lines[low]


def complaint(line: bytes, layout: Layout) -> str:
    """What is wrong with a line of edges."""
    fields, shown = fields_of(line, layout.delimiter, layout.blanks), shorten(line)
    if len(fields) != layout.columns:
        what = "column" if layout.columns == 1 else "columns"
        return f"{layout.columns} {what} expected, as in the first row, but found {len(fields)}: {shown}"
    if layout.first_field and fields[0] != layout.first_field:
        return f"a row that starts with {layout.first_field!r} expected, but found {shown}"
    for position in layout.endpoints:
        if problem := _about_id(fields[position], layout):
            return problem
    return (
        _about_weight(fields, layout)
        or f"cannot be parsed: {shown}; correct the line, or convert it to UTF-8"
    )


def _about_weight(fields, layout):
    if layout.weight is None:
        return ""
    field, remedy = fields[layout.weight], f"pass {argument('weight', False)}"
    if not field:
        dropping = f"drop such rows with {argument('null', 'drop')}"
        return f"the weight is missing; fill it in, {dropping}, or {remedy}"
    try:
        float(field)
    except ValueError:
        return f"the weight {shorten(field.encode())} is not a number; correct it, or {remedy}"
    return ""


def _about_id(field, layout):
    as_names = f"pass {argument('ids', 'string')}"
    if not field:
        return f"an id is missing; fill it in, or drop such rows with {argument('null', 'drop')}"
    if layout.ids == "string":
        return ""
    if not field.removeprefix("-").isdecimal():
        return f"{shorten(field.encode())} is not an integer; correct it, or {as_names} if ids are names"
    number = int(field)
    if not layout.allows(number):
        span = f"{layout.min_id} .. {'' if layout.max_id is None else layout.max_id}"
        return f"vertex {number} is not in {span}; correct it or the header"
    if not -(2**63) <= number < 2**63:
        return f"{number} does not fit into 64 bits; {as_names} to take the ids as names"
    return ""


def shorten(line: bytes, width: int = 60) -> str:
    """A line, or as much of it as fits into a message, in quotes."""
    text = line.decode("utf-8", "replace").strip()
    return repr(text if len(text) <= width else text[: width - 3] + "...")
