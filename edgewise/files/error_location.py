"""Which line to blame when a text does not parse, and what to say about it.

The parser itself is the judge: it is run again on ever smaller parts of the first block that fails, so that
the line named and the rule broken cannot disagree.
"""

import io

from edgewise.errors import FileError
from edgewise.files.columns import parse
from edgewise.files.layout import Layout, fields_of
from edgewise.files.normalise_text import whole_lines
from edgewise.files.streams import one_line, reading


def blamed(source, layout: Layout, error) -> FileError:
    """Return the error that names the first line that does not fit the layout."""
    import pyarrow as pa

    def fails(block):
        try:
            parse(io.BytesIO(block), layout)
        except pa.ArrowInvalid:
            return True
        return False

    found = first_failing_line(source, fails, layout.skip)
    if found is None:
        return FileError(source.path, one_line(error))
    number, line = found
    return FileError(source.path, complaint(line, layout), number)


def first_failing_line(source, fails, skip: int = 0) -> tuple[int, bytes] | None:
    """Find the first line for which ``fails(block of lines)`` holds.

    Returns
    -------
    number : int
        Counted from one.
    line : bytes
    """
    with reading(source.path), source.open() as stream:
        for before, block in whole_lines(stream, skip):
            if fails(block):
                return _halved(block.split(b"\n"), fails, before)
    return None


def _halved(lines, fails, before):
    low, high = 0, len(lines)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fails(b"\n".join(lines[low:middle])) else (middle, high)
    return before + low + 1, lines[low]


def complaint(line: bytes, layout: Layout) -> str:
    """Say what is wrong with a line."""
    fields, shown = fields_of(line, layout.delimiter, layout.blanks), shorten(line)
    if len(fields) != layout.columns:
        what = "column" if layout.columns == 1 else "columns"
        return f"{layout.columns} {what} expected, as in the first row, but found {len(fields)}: {shown}"
    if layout.letter and fields[0] != layout.letter:
        return f"a row that starts with {layout.letter!r} expected, but found {shown}"
    for position in layout.ends:
        if problem := _about_end(fields[position], layout):
            return problem
    return (
        _about_weight(fields, layout)
        or f"cannot be parsed: {shown}; correct the line, or convert it to UTF-8"
    )


def _about_weight(fields, layout):
    if layout.weight is None:
        return ""
    field = fields[layout.weight]
    if not field:
        return "the weight is missing; fill it in, drop such rows with null='drop', or pass weight=False"
    try:
        float(field)
    except ValueError:
        return f"the weight {shorten(field.encode())} is not a number; correct it, or pass weight=False"
    return ""


def _about_end(field, layout):
    if not field:
        return "an id is missing; fill it in, or drop such rows with null='drop'"
    if layout.ids == "string":
        return ""
    if not field.removeprefix("-").isdecimal():
        return (
            f"{shorten(field.encode())} is not an integer; correct it, or pass ids='string' if ids are names"
        )
    number = int(field)
    if not layout.allows(number):
        return f"vertex {number} is not in {_range(layout)}; correct it or the header"
    if not -(2**63) <= number < 2**63:
        return f"{number} does not fit into 64 bits; pass ids='string' to take the ids as names"
    return ""


def _range(layout):
    return f"{layout.least} .. {'' if layout.most is None else layout.most}"


def shorten(line: bytes, most: int = 60) -> str:
    """A line, or as much of it as fits into a message, in quotes."""
    text = line.decode("utf-8", "replace").strip()
    return repr(text if len(text) <= most else text[: most - 3] + "...")
