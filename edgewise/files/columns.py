"""Text with the same columns in every row, read in parallel by pyarrow.

The quick way trusts the file: one separator between fields, no comments among the rows.  Where that fails the
text is made tidy on its way in, and where that fails too :mod:`edgewise.files.error_location` finds the line.
"""

from dataclasses import replace

import numpy as np

from edgewise.files.layout import Layout
from edgewise.files.normalise_text import BLOCK, Lines, tidy
from edgewise.files.streams import reading


def read_columns(source, layout: Layout):
    """Read the ends and weights of every row.

    Parameters
    ----------
    source : Source
    layout : Layout

    Returns
    -------
    sources, targets : (m,) integer arrays, or Arrow string arrays
    weights : (m,) array or None

    Raises
    ------
    FileError
        With the number of the first line that does not fit the layout.
    """
    import pyarrow as pa

    from edgewise.files.error_location import blamed

    for attempt in _attempts(layout):
        try:
            with reading(source.path, passing=pa.ArrowInvalid), source.open() as stream:
                return parse(stream, attempt, attempt.skip)
        except pa.ArrowInvalid as error:
            failed = error
    raise blamed(source, replace(layout.patient(), weights="float64"), failed)


def _attempts(layout):
    """The layout, then ever more patient readings of the same text."""
    if not layout.clean:
        yield layout
    layout = layout.patient()
    yield layout
    if layout.weight is not None and layout.weights == "int64":
        layout = replace(layout, weights="float64")
        yield layout
    if layout.ids == "int64":
        yield replace(layout, ids="uint64")


def parse(stream, layout: Layout, skip: int = 0):
    """Parse a stream of rows.

    Raises
    ------
    pyarrow.ArrowInvalid
        Anything does not fit; which line it is in, the parallel parser cannot tell.
    """
    import pyarrow as pa

    if layout.clean:
        stream, skip = pa.PythonFile(_tidied(stream, layout, skip), mode="r"), 0
    try:
        table = _table(stream, layout, skip)
    except pa.ArrowInvalid as error:
        if "Empty CSV file" not in str(error):
            raise
        table = pa.table({str(place): pa.array([], kind) for place, kind in layout.types.items()})
    return _checked(table, layout)


def _tidied(stream, layout, skip):
    blanks = layout.blanks if layout.delimiter == " " else b""
    return Lines(stream, lambda text: tidy(text, blanks, layout.comments), skip)


def _table(stream, layout, skip):
    """The table of the used columns, parsed on all cores."""
    import pyarrow as pa
    import pyarrow.csv as csv

    types = {str(place): pa.type_for_alias(kind) for place, kind in layout.types.items()}
    names = [str(place) for place in range(layout.columns)]
    return csv.read_csv(
        stream,
        csv.ReadOptions(column_names=names, skip_rows=skip, block_size=BLOCK),
        csv.ParseOptions(
            delimiter=layout.delimiter,
            quote_char='"' if layout.quoted else False,
            invalid_row_handler=None if layout.null == "error" else _skip_short,
        ),
        csv.ConvertOptions(
            include_columns=list(types),
            column_types=types,
            null_values=[""],
            strings_can_be_null=True,
            true_values=[layout.letter or ""],
            false_values=[],
        ),
    )


def _skip_short(row):
    """Drop a row that ends before its columns do."""
    return "skip" if row.actual_columns < row.expected_columns else "error"


def _checked(table, layout):
    """Ends and weights of the table, unless a field is empty or a number out of range."""
    import pyarrow as pa

    if any(column.null_count for column in table.columns):
        if layout.null == "error" or layout.letter:
            raise pa.ArrowInvalid("a field is empty")
        table = table.drop_null()
    ends = [table.column(str(place)) for place in layout.ends]
    if layout.ids != "string":
        ends = [end.to_numpy() for end in ends]
        if not all(_within(end, layout) for end in ends):
            raise pa.ArrowInvalid("a number is out of range")
    return *ends, None if layout.weight is None else table.column(str(layout.weight)).to_numpy()


def _within(numbers: np.ndarray, layout: Layout) -> bool:
    if len(numbers) == 0 or (layout.least is None and layout.most is None):
        return True
    return layout.allows(int(numbers.min())) and layout.allows(int(numbers.max()))
