"""Records in files: a table with one row for each vertex, read for its ids and again when it is written.

The columns of a text table, other than that of the ids, are read as text, because every value must be written
as it was: ``00501`` stays what it is.
"""

import os
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from weakref import finalize

from edgewise.errors import FileError
from edgewise.files import formats
from edgewise.files.inputs import local, name_of
from edgewise.files.pair_tables import batches_ahead, parts_of, table_of
from edgewise.files.sniffing import sniff
from edgewise.files.streams import Source, check_path, reading, styled
from edgewise.files.text_table import Mismatch, TextTable, by_attempts
from edgewise.ingest.frames import arrow_table
from edgewise.ingest.records import Records, id_column_of, records_of_table, with_valid_text

#: Formats of tables of records.
TABLES = ("parquet", "arrow", "csv", "tsv")


def records_of(given, id_column=None, encoding=None) -> Records:
    """Records in a table, a file, or several files with the same columns.

    ``given`` has ``__arrow_c_stream__``, or is a dict of columns, a path, a pattern or a list of paths, whose
    text has this ``encoding``.
    """
    if isinstance(given, Records):
        return given
    if not isinstance(given, str | bytes | os.PathLike | list | tuple):
        return records_of_table(arrow_table(given), id_column)
    with ExitStack() as copies:
        style = formats.Options(encoding=encoding).style
        parts = parts_of(copies.enter_context(local(check_path(given))))
        parts = [Source(styled(part, style)) for part in parts]
        for source in parts:
            _check_format(source)
        records = _records_in(parts, id_column, name_of(given) if len(parts) == 1 else f"{len(parts)} files")
        finalize(records.batches.__self__, copies.pop_all().close)
    return records


def _records_in(parts, id_column, name):
    """Records in files of this machine."""

    def by(attempt):
        with reading(parts[0].path, passing=Mismatch):
            files = RecordFiles(parts, id_column, attempt)
        if files.is_text:
            for _ in files.batches([files.id_column]):  # a row that does not fit another attempt
                pass
        return Records(files.schema, files.id_column, files.batches, name, files.rows)

    return by_attempts(by)


def _check_format(source):
    kind = sniff(source, formats.Options(source="0", target="1"))
    if kind not in TABLES and not (kind == "el" and source.suffix in (".csv", ".tsv")):
        raise source.error(f"holds {kind}; records are a table, so convert them to Parquet, Arrow or CSV")
    if source.compression is not None and kind in ("parquet", "arrow"):
        raise source.error(f"is a table inside {source.compression}; decompress it (tables compress inside)")


@dataclass(eq=False)
class RecordFiles:
    """Files of records with the same columns; the ids of text are read as ``attempt`` says."""

    parts: list
    id_column: Any
    attempt: int

    def __post_init__(self):
        table = table_of(self.parts[0], self.attempt)
        self.id_column = id_column_of(table.schema, self.id_column, "the records")
        self.is_text = isinstance(table, TextTable)
        self.schema = self._settled(table).schema
        self.rows = table.rows if len(self.parts) == 1 else None

    def _settled(self, table):
        import pyarrow as pa

        table.settle((self.id_column,))
        if isinstance(table, TextTable):
            fields = [
                field if field.name == self.id_column else field.with_type(pa.string())
                for field in table.schema
            ]
            table.schema = pa.schema(fields)
        return table

    def batches(self, columns):
        """Yield record batches of some columns, in the order of the files and rows."""
        schema = None
        for source in self.parts:
            with reading(source.path, passing=Mismatch):
                table = self._settled(table_of(source, self.attempt, schema=schema))
                schema = schema or table.schema
                self._check_columns(source, table.schema)
                needed = columns
                if isinstance(table, TextTable):  # settles the ids of every block
                    needed = list(dict.fromkeys([self.id_column, *columns]))
                for batch in batches_ahead(table, needed):
                    yield with_valid_text(batch.select(columns))

    def _check_columns(self, source, schema):
        """Raise unless a file has the columns of the first one."""
        if not schema.equals(self.schema):
            missing = [field.name for field in self.schema if field not in list(schema)]
            more = [name for name in schema.names if name not in self.schema.names]
            which = ", ".join(map(repr, (missing or more)[:3])) or "their order"
            raise FileError(
                source.path, f"has other columns than {self.parts[0].path} ({which}); give both the same"
            )
