"""Text whose rows have different lengths: all fields in one column, and how many each row has.

Blanks become line ends on the way to the parallel reader, which then sees one field a line; the lengths of
the rows are counted while they pass.
"""

import numpy as np

from edgewise.files.normalise_text import BLOCK, NEWLINE, Lines, members, without_comments
from edgewise.files.streams import reading


def read_rows(source, skip: int, comments: bytes, kind: str):
    """Read all fields of a text.

    Parameters
    ----------
    source : Source
    skip : int
        Lines before the first row.
    comments : bytes
        Lines whose first character is one of these are no rows.
    kind : {'int64', 'string'}

    Returns
    -------
    fields : (total,) int64 array or Arrow string array
    lengths : (rows,) int64 array
        Empty lines are rows of length 0; so is what follows the last line end.

    Raises
    ------
    pyarrow.ArrowInvalid
        A field is no integer.
    """
    import pyarrow as pa

    counter = Counter(comments)
    with reading(source.path, passing=pa.ArrowInvalid), source.open() as stream:
        fields = parse_fields(pa.PythonFile(Lines(stream, counter, skip), mode="r"), kind)
    return fields, counter.lengths()


def parse_fields(stream, kind: str):
    """Parse one field a line."""
    import pyarrow as pa
    import pyarrow.csv as csv

    try:
        table = csv.read_csv(
            stream,
            csv.ReadOptions(column_names=["field"], block_size=BLOCK),
            csv.ParseOptions(quote_char=False, delimiter="\x1f"),
            csv.ConvertOptions(column_types={"field": pa.type_for_alias(kind)}, null_values=[]),
        )
    except pa.ArrowInvalid as error:
        if "Empty CSV file" not in str(error):
            raise
        return np.empty(0, np.int64) if kind != "string" else pa.array([], pa.string())
    column = table.column(0)
    return column if kind == "string" else column.to_numpy()


class Counter:
    """Puts every field on a line of its own and remembers how many each line had."""

    def __init__(self, comments: bytes):
        self.comments, self.parts, self.ended = comments, [], True

    def __call__(self, text: bytes) -> bytes:
        letters = without_comments(np.frombuffer(text, np.uint8), self.comments)
        apart = letters <= ord(" ")
        begins = ~apart
        begins[1:] &= apart[:-1]
        ends = np.flatnonzero(letters == NEWLINE)
        self.ended = len(letters) == 0 or letters[-1] == NEWLINE
        if not self.ended:
            ends = np.append(ends, len(letters) - 1)
        self.parts.append(np.diff(np.cumsum(begins, dtype=np.int32)[ends], prepend=0))
        return np.where(apart, np.uint8(NEWLINE), letters).tobytes()

    def lengths(self) -> np.ndarray:
        """Number of fields of each row so far."""
        return np.concatenate([*self.parts, [0] if self.ended else []]).astype(np.int64)


def line_of_row(source, skip: int, comments: bytes, row: int) -> int:
    """One-based number of the line that holds a row, comments counted."""
    drop = members(comments)
    with source.open() as stream:
        seen = 0
        for number, line in enumerate(_lines(stream)):
            if number < skip or (line and drop[line[0]]):
                continue
            if seen == row:
                return number + 1
            seen += 1
    return number + 1


def _lines(stream):
    from edgewise.files.normalise_text import whole_lines

    for _, block in whole_lines(stream):
        lines = block.split(b"\n")
        yield from lines[:-1] if block.endswith(b"\n") else lines
