"""Tables with one pair per row, read batch by batch: Parquet, Arrow, and text with a row of names.

A thread reads, decodes and filters the next batch while the ids of the current one are numbered on all cores;
from four cores on, threads read several row groups of a Parquet file at once.  Memory therefore holds a few
batches, the distinct ids and the numbers, and never the table.
"""

import os
from contextlib import closing
from functools import partial
from glob import glob
from pathlib import Path
from typing import Any

from edgewise.cached_property import cached_property
from edgewise.device import threads
from edgewise.errors import FileError, GraphError
from edgewise.files.ahead import AHEAD_IN_PIECE, read_ahead, read_in_parallel
from edgewise.files.formats import DUPS, NPY, PARTS, ZIP, is_part, is_shown, magic
from edgewise.files.json_lines import JsonTable, is_json_lines
from edgewise.files.layout import look
from edgewise.files.pair_records import DupsTable, NpyTable, NpzTable
from edgewise.files.parquet_footer import column_sizes
from edgewise.files.store import shards_of
from edgewise.files.streams import Source, native, reading, styled
from edgewise.files.text_table import AS_INFERRED, ATTEMPTS, Mismatch, TextTable
from edgewise.graph import Graph
from edgewise.ingest.arrow import checked
from edgewise.ingest.joined_columns import JoinedColumns
from edgewise.ingest.numerals import looks_numeric
from edgewise.ingest.pair_columns import Pairs, as_text, choose_id_columns
from edgewise.timer import timer

#: Rows of a batch, and bytes of the buffer behind each Parquet column.
BATCH_ROWS = 1 << 18
BUFFER = 1 << 20
#: Bytes that the threads that decode may hold, and the least that a value is taken for.
MOST_BYTES, LEAST_BYTES = 1 << 29, 8
#: Such batches that are one if their rows are short, and the bytes that it has at most then.
TOGETHER, BATCH_BYTES = 4, 1 << 26


def read_pairs(path, wanted, progress=None, ids=None, records=None) -> Graph:
    """Read a table, or several, with one pair per row into an undirected graph; see :func:`edgewise.read`.

    Strings are numbered in order of first appearance (source before target), integers in ascending order;
    the ids of ``records`` (:class:`~edgewise.ingest.records.Records`) in their order.
    """
    import pyarrow as pa

    parts = parts_of(path)
    if records is not None and records.holds_text():
        ids = ids or "string"
    for attempt in ATTEMPTS:
        try:
            edges, left_out = _gather(parts, (attempt, ids), progress, wanted, records)
            break
        except Mismatch:
            continue
    pa.default_memory_pool().release_unused()  # what decoding has left in Arrow's pool
    sources, targets, weights, names, count = edges
    graph = Graph(count, edges=(sources, targets, weights), ids=names)
    graph.records, graph.left_out = records, left_out
    return graph


def parts_of(path):
    """Files of a path, a list of paths, a pattern or a folder, at least one."""
    parts: list | None
    if isinstance(path, list | tuple):
        parts = [part for one in path for part in parts_of(one)]
    elif os.path.isdir(path):
        parts = shards_of(Path(path))
        if parts is None:
            parts = sorted(part for part in Path(path).rglob("*") if is_part(part) and is_shown(part, path))
    elif not os.path.exists(path) and set("*?[") & set(os.fspath(path)):
        parts = sorted(glob(os.fspath(path), recursive=True))
    else:
        parts = [path]
    if not parts:
        raise FileError(path, f"holds no file of pairs; endings looked for are {' '.join(PARTS)}")
    return parts


def rows_first(parts, style):
    """The files, with the first ones at the end if they have no rows and so show no types of columns."""
    if len(parts) == 1:
        return parts
    first = next((at for at, part in enumerate(parts) if _has_rows(styled(part, style))), 0)
    return parts[first:] + parts[:first]


def _has_rows(path):
    """Whether a file is anything but a text table that has a row of names and nothing else."""
    with reading(path):
        source = Source(path)
        if magic(source) or is_json_lines(source):
            return True
        rows = look(source).rows
        return len(rows) != 1 or any(map(looks_numeric, rows[0]))


def _gather(parts, how, progress, wanted, records):
    """Edges, ids and count of the pairs in all parts, and the rows that were left out without a value."""
    pairs: Any = None
    schema = None
    known = None if records is None else records.known_ids()
    for part in parts:
        source = Source(part)
        with reading(source.path, passing=Mismatch):
            stored = table_of(source, how[0], how[1], schema)
            if wanted.weight is not None and isinstance(stored, TextTable):
                stored.expect_numbers(wanted.weight)
            table = with_joined(stored, wanted[:2])
            table.settle(choose_id_columns(table.schema, *wanted[:2]) if pairs is None else pairs.id_columns)
            if pairs is None:
                expected = (table.rows or 0) * len(parts)  # as if all parts were like the first
                pairs, schema = Pairs(table.schema, wanted, expected, known), table.schema
            pairs.begin(table.schema)
            if pairs.unweighted and isinstance(table, JsonTable):
                table.late = pairs.check_late
            _take_all(pairs, table, progress)
    with reading(source.path), timer("number ids"):
        return pairs.finish(), pairs.unknown


def _take_all(pairs, table, progress):
    with closing(batches_ahead(table, pairs.columns, pairs.choose, pairs.prepare)) as found:
        while True:
            with timer("decode"):
                chosen = next(found, None)
            if chosen is None:
                return
            pairs.take(chosen)
            if progress is not None:
                progress(pairs.rows, table.rows)


def batches_ahead(table, columns, choose=lambda batch: (batch,), meanwhile=lambda: None):
    """Yield ``choose(batch)`` of the batches of a table, item by item, which threads make ahead.

    While the first one is made, ``meanwhile`` is called.
    """

    def chosen(batches):
        for batch in batches():
            yield from choose(batch)

    workers = threads.count()
    pieces = _pieces(table, columns) if workers > 1 else []
    largest = max((size for size, _ in pieces), default=1)
    workers = min(workers, len(pieces), MOST_BYTES // largest)
    if workers > 1:
        return read_in_parallel([partial(chosen, piece) for _, piece in pieces], workers, meanwhile)
    return read_ahead(chosen(partial(table.batches, columns)), meanwhile)


def _pieces(table, columns):
    """The pieces of a table that can be read at the same time, as functions that return their batches."""
    if isinstance(table, JoinedTable):
        pieces = _pieces(table.stored, table.joined.stored(columns))
        return [(size, partial(_with_joined, table.joined, piece)) for size, piece in pieces]
    return table.pieces(columns) if isinstance(table, ParquetTable) else []


def _with_joined(joined, batches):
    return map(joined.add_to, batches())


def table_of(source, attempt=AS_INFERRED, ids=None, schema=None):
    """The file as a table that comes in batches; ``schema`` is that of the file before."""
    if source.suffix == DUPS:
        return DupsTable(source)
    if source.head.startswith(NPY):
        return NpyTable(source)
    if source.head.startswith(ZIP):
        return NpzTable(source)
    if source.head.startswith(b"PAR1"):
        return ParquetTable(source)
    if source.head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return ArrowTable(source)
    kind = JsonTable if is_json_lines(source) else TextTable
    return kind(source, attempt, None if schema is None else as_text(schema), ids)


def with_joined(table, id_columns):
    """The table, with columns of ids that are joined from several, if their names say so."""
    joined = JoinedColumns(id_columns, table.schema.names)
    return JoinedTable(table, joined) if joined.parts else table


class JoinedTable:
    """A table with further columns of ids, which are joined from several of ``stored``, the table itself."""

    def __init__(self, stored, joined):
        self.stored, self.joined, self.rows = stored, joined, stored.rows

    @property
    def schema(self):
        """Schema of the table, and behind it the joined columns."""
        return self.joined.schema(self.stored.schema)

    def settle(self, id_columns):
        """Settle the types of the columns that are stored."""
        self.stored.settle(self.joined.stored(id_columns))

    def batches(self, columns):
        """Yield batches of the needed columns."""
        return map(self.joined.add_to, self.stored.batches(self.joined.stored(columns)))


class TypedTable:
    """A file that states the types of its columns."""

    rows = None

    def settle(self, id_columns):
        """Keep the types."""


class ParquetTable(TypedTable):
    """A Parquet file as a table."""

    def __init__(self, source):
        import pyarrow.parquet as parquet

        self.path = source.path
        self.file = parquet.ParquetFile(native(self.path), pre_buffer=False, buffer_size=BUFFER)
        self.metadata = metadata = self.file.metadata
        self.schema, self.rows = self.file.schema_arrow, metadata.num_rows
        #: Rows of each row group.
        self.groups = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
        if min(self.groups, default=0) < 0 or sum(self.groups) != self.rows:
            raise source.error(
                "the numbers of rows in its footer disagree; the file is damaged, write it again"
            )

    def batches(self, columns):
        """Yield batches of the needed columns; the file is closed then."""
        rows = [self._batch_rows(group, columns) for group in range(len(self.groups))]
        batches = self.file.iter_batches(min(rows, default=BATCH_ROWS), columns=columns)
        try:
            yield from complete(batches, self.rows)
        finally:
            self.file.close(force=True)

    def pieces(self, columns):
        """The row groups: bytes that a thread holds of each, and functions that return their batches."""
        return [
            (self._bytes_held(group, columns), partial(self._batches_of, group, columns))
            for group in range(len(self.groups))
        ]

    def _batches_of(self, group, columns):
        import pyarrow.parquet as parquet

        self.file.close(force=True)  # each thread opens its own
        how = {"metadata": self.metadata, "pre_buffer": False, "buffer_size": BUFFER}
        rows = self._batch_rows(group, columns)
        file = parquet.ParquetFile(native(self.path), **how)
        try:
            batches = file.iter_batches(rows, [group], columns, use_threads=False)
            yield from complete(batches, self.groups[group])
        finally:
            file.close(force=True)

    def _row_bytes(self, group, columns):
        """Bytes of a row: as the footer describes the first ones, or more if those here are longer."""
        all_bytes = self.metadata.row_group(group).total_byte_size / max(self.groups[group], 1)
        sizes, rows = self._sizes
        if not rows:
            return max(LEAST_BYTES * len(columns), int(all_bytes))
        longer = max(1.0, all_bytes * rows / max(sum(sizes.values()), 1))
        return sum(max(LEAST_BYTES, int(longer * sizes.get(name, 0) / rows)) for name in columns)

    @cached_property
    def _sizes(self):
        """Bytes of columns, and the rows that have them."""
        return column_sizes(self.path)

    def _batch_rows(self, group, columns):
        """Rows of a batch: as many as the cores take together, unless these are too many bytes."""
        fitting = BATCH_BYTES // (self._row_bytes(group, columns) * BATCH_ROWS)
        return BATCH_ROWS * max(1, min(TOGETHER, fitting))

    def _bytes_held(self, group, columns):
        held = min(self.groups[group], (AHEAD_IN_PIECE + 1) * self._batch_rows(group, columns))
        return max(held * self._row_bytes(group, columns), 1)


def complete(batches, promised):
    """Yield batches; raise GraphError unless they hold as many rows as were promised."""
    count = 0
    for batch in batches:
        count += batch.num_rows
        yield batch
    check_rows(count, promised)


def check_rows(count, promised):
    """Raise GraphError unless as many rows were found as were promised."""
    if count != promised:
        problem = f"{promised:,} rows promised, but {count:,} found"
        raise GraphError(f"{problem}; the file is damaged, write it again")


class ArrowTable(TypedTable):
    """An Arrow IPC file or stream as a table; it is copied only if compressed."""

    def __init__(self, source):
        self.source = source
        self.schema = self._reader().schema

    def _reader(self, columns=None):
        import pyarrow as pa
        import pyarrow.ipc as ipc

        file = pa.memory_map(os.fsencode(self.source.path))
        positions = None if columns is None else [self.schema.get_field_index(name) for name in columns]
        opened = ipc.open_file if self.source.head.startswith(b"ARROW1") else ipc.open_stream
        return opened(file, options=ipc.IpcReadOptions(included_fields=positions))

    def batches(self, columns):
        """Yield batches of the needed columns."""
        reader = self._reader(columns)
        if hasattr(reader, "get_batch"):
            return checked(reader.get_batch(number) for number in range(reader.num_record_batches))
        return checked(reader)
