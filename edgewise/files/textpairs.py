"""Text with a row of names (CSV, TSV ...), read block by block as a table.

The types of the columns are told from the beginning of the file.  Numbers with needless zeros or signs, such
as ``007``, are strings.  Where a later row does not fit, the file is read once more, with strings for ids
and floats for other numbers; where that fails too, the line is named.
"""

import io

from edgewise.errors import FileError
from edgewise.files.error_location import first_failing_line, shorten
from edgewise.files.streams import one_line

DELIMITERS = ",\t;|"
#: Bytes that are parsed at a time.
BLOCK = 1 << 23
#: An integer as a program would write it, small enough for 64 bits.
INTEGER = "^(0|-?[1-9][0-9]{0,17})?$"


class Mismatch(Exception):
    """A row does not fit the types told from the beginning of the file."""


class TextTable:
    """A text file as a table.

    Parameters
    ----------
    source : Source
    patient : bool
        Expect strings in columns that begin with integers, and fractions.
    like : pyarrow.Schema, optional
        Types of columns of the same names in the file before.

    Attributes
    ----------
    schema : pyarrow.Schema
    rows : None
        The number of rows is not known.
    """

    rows = None

    def __init__(self, source, patient=False, like=None):
        self.source, self.patient = source, patient
        lines = [line for line in source.lines() if line.strip()]
        if not lines:
            raise FileError(source.path, "the row of names is missing; a table needs one")
        text = b"".join(line + b"\n" for line in lines)
        text.decode()  # raises where this is no UTF-8
        self.delimiter = max(DELIMITERS, key=lines[0].decode().count)
        self.schema = _told_types(text, self.delimiter, like)

    def settle(self, ends):
        """Settle the types of the columns, now that those of the ids are known.

        Raises
        ------
        Mismatch
            The beginning of the file does not tell the type of the ids.
        """
        import pyarrow as pa
        from pyarrow import types

        kinds = {field.name: field.type for field in self.schema}
        whole = all(types.is_integer(kinds.get(name, pa.int64())) for name in ends) and not self.patient
        if not self.patient and any(types.is_null(kinds.get(name, pa.int64())) for name in ends):
            raise Mismatch
        for name, kind in kinds.items():
            if name in ends and not whole:
                kinds[name] = pa.string()
            elif types.is_null(kind) or (self.patient and types.is_integer(kind)):
                kinds[name] = pa.float64()
        self.schema = pa.schema([(field.name, kinds[field.name]) for field in self.schema])

    def batches(self, columns):
        """Yield the needed columns block by block.

        Raises
        ------
        Mismatch
            A row does not fit, and the table is not patient.
        FileError
            A row does not fit in any case; names the line.
        """
        import pyarrow as pa

        types = {name: self.schema.field(name).type for name in columns}
        try:
            with self.source.open() as stream:
                yield from _reader(stream, self.delimiter, types)
        except pa.ArrowInvalid as error:
            if "Empty CSV file" in str(error):
                return
            if not self.patient:
                raise Mismatch from error
            raise self._blamed(types, error) from error

    def _blamed(self, types, error):
        """The error that names the first line which does not parse."""
        import pyarrow as pa

        names = self.schema.names

        def fails(block):
            try:
                list(_reader(io.BytesIO(block + b"\n"), self.delimiter, types, names))
            except pa.ArrowInvalid:
                return True
            return False

        found = first_failing_line(self.source, fails, 1)
        if found is None:
            return FileError(self.source.path, one_line(error))
        number, line = found
        expected = ", ".join(f"{name} ({kind})" for name, kind in types.items())
        problem = f"{len(names)} columns expected, with {expected}, but found: {shorten(line)}"
        return FileError(self.source.path, problem, number)


def _told_types(text, delimiter, like):
    """Schema of a table that begins with these lines."""
    import pyarrow as pa

    told = _parsed(text, delimiter, None).schema
    strings = _parsed(text, delimiter, dict.fromkeys(told.names, pa.string()))
    kept = {} if like is None else dict(zip(like.names, like.types))
    kinds = [
        kept.get(field.name) or (pa.string() if _is_name(field.type, column) else field.type)
        for field, column in zip(told, strings.columns)
    ]
    return pa.schema(zip(told.names, kinds))


def _is_name(kind, column):
    """Whether what looks like integers is better taken as strings."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_integer(kind):
        return False
    return pc.all(pc.match_substring_regex(column, INTEGER)).as_py() is False


def _parsed(text, delimiter, types):
    import pyarrow.csv as csv

    return csv.read_csv(
        io.BytesIO(text),
        parse_options=csv.ParseOptions(delimiter=delimiter, invalid_row_handler=lambda row: "skip"),
        convert_options=csv.ConvertOptions(column_types=types, null_values=[""], strings_can_be_null=True),
    )


def _reader(stream, delimiter, types, names=None):
    """Reader of the columns in ``types``; ``names`` where the stream lacks them."""
    import pyarrow.csv as csv

    return csv.open_csv(
        stream,
        csv.ReadOptions(column_names=names, block_size=BLOCK),
        csv.ParseOptions(delimiter=delimiter),
        csv.ConvertOptions(
            include_columns=list(types),
            column_types=types,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
