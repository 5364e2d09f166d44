"""Tables with one pair per row, read batch by batch: Parquet, Arrow, and text with a row of names.

A thread reads, decodes and filters the next batch while the ids of the current one are numbered on all cores;
several threads do so with row groups of Parquet files, also of different ones.  Memory therefore holds a few
batches for each core, the distinct ids and the numbers, and never the table.
"""

import os
from contextlib import closing
from functools import partial
from glob import glob
from pathlib import Path
from typing import Any

from edgewise.device import threads
from edgewise.errors import FileError
from edgewise.files.formats import DUPS, NPY, PARTS, ZIP, is_part, is_shown, magic
from edgewise.files.json_lines import JsonTable, is_json_lines
from edgewise.files.layout import look
from edgewise.files.read_ahead import read_ahead, read_in_parallel
from edgewise.files.store import shards_of
from edgewise.files.streams import Source, reading, styled
from edgewise.files.text_table import AS_INFERRED, Mismatch, TextTable, by_attempts
from edgewise.files.typed_tables import ArrowTable, DupsTable, NpyTable, NpzTable, ParquetTable, without
from edgewise.graph import Graph
from edgewise.ingest.joined_columns import JoinedColumns
from edgewise.ingest.numerals import looks_numeric
from edgewise.ingest.pair_columns import Pairs, as_text, choose_id_columns
from edgewise.timer import timer

#: Bytes that the threads that decode may hold: so many for each of them, a row group of a million pairs of
#: ids, and those of eight where there are fewer.
DECODED_BYTES, LEAST_BYTES = 1 << 26, 1 << 29


def read_pairs(path, wanted, progress=None, ids=None, records=None) -> Graph:
    """Read a table, or several, with one pair per row into an undirected graph; see :func:`edgewise.read`.

    Strings are numbered in order of first appearance (source before target), integers in ascending order;
    the ids of ``records`` (:class:`~edgewise.ingest.records.Records`) in their order.
    """
    parts = parts_of(path)
    if records is not None and records.holds_text():
        ids = ids or "string"
    edges, left_out = by_attempts(lambda one: _gather(parts, (one, ids), progress, wanted, records))
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
    elif is_pattern(path):
        parts = sorted(glob(os.fspath(path), recursive=True))
    else:
        parts = [path]
    if not parts:
        raise FileError(path, f"holds no file of pairs; endings looked for are {' '.join(PARTS)}")
    return parts


def is_pattern(path) -> bool:
    """Whether a path is a pattern of names, and not that of a file."""
    return not os.path.exists(path) and bool(set("*?[") & set(os.fspath(path)))


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
    unlike: list = []
    known = None if records is None else records.known_ids()
    tables, expected = _tables(parts, how, wanted), 0
    while opened := unlike.pop() if unlike else next(tables, None):
        path, table = opened
        if pairs is None:
            expected = (table.rows or 0) * len(parts)  # as if all parts were like the first
            with reading(path, passing=Mismatch):
                pairs = Pairs(table.schema, wanted, expected, known)
        with closing(_chosen_ahead(opened, tables, unlike, pairs)) as found:
            while True:
                with timer("decode"):
                    path, table, chosen = next(found, (path, None, None))
                if table is None:
                    break
                with reading(path, passing=Mismatch):
                    pairs.begin(table.schema) if chosen is None else pairs.take(chosen)
                if progress is not None:
                    progress(pairs.rows, max(expected, pairs.rows) if expected else None)
    with reading(path), timer("number ids"):
        return pairs.finish(), pairs.unknown


def _tables(parts, how, wanted):
    """Open the files in order: yield the path of each, and the table, with the types of its ids settled."""
    id_columns = schema = None
    for part in parts:
        source = Source(part)
        with reading(source.path, passing=Mismatch):
            stored = table_of(source, how[0], how[1], schema)
            if wanted.weight is not None and isinstance(stored, TextTable):
                stored.expect_numbers(wanted.weight)
            table = with_joined(stored, wanted[:2])
            id_columns = id_columns or choose_id_columns(table.schema, *wanted[:2])
            table.settle(id_columns)
            schema = schema or table.schema
        yield source.path, table


def _chosen_ahead(opened, tables, unlike, pairs):
    """Yield what is chosen of the batches of a file, which threads make ahead; None before them.

    If it is a Parquet file, those of further ``tables`` with the same schema follow, up to one that is added
    to ``unlike``.  Each item is a path, the table and what was chosen.
    """
    path, table = opened
    if threads.count() > 1 and _has_row_groups(table):
        pieces = _pieces_of_files(_alike(opened, tables, unlike), pairs)
        most = max(LEAST_BYTES, threads.count() * DECODED_BYTES)
        yield from read_in_parallel(pieces, threads.count(), pairs.prepare, most_bytes=most)
        return
    yield path, table, None
    if pairs.unweighted and isinstance(table, JsonTable):
        table.late = pairs.check_late
    read = partial(table.batches, pairs.columns)
    yield from read_ahead(_chosen_of(opened, False, read, pairs.choose), pairs.prepare)


def _has_row_groups(table):
    return isinstance(table.stored if isinstance(table, JoinedTable) else table, ParquetTable)


def _alike(opened, tables, unlike):
    """Yield a file and those after it that have its schema; one that has not is added to ``unlike``."""
    yield opened
    for other in tables:
        if not _has_row_groups(other[1]) or other[1].schema != opened[1].schema:
            unlike.append(other)
            return
        yield other


def _pieces_of_files(files, pairs):
    """Yield the bytes of each row group of files, and a function that reads it, in order.

    A file that cannot be opened has a piece that raises the error, when those before have been read.
    """
    try:
        for path, table in files:
            with reading(path, passing=Mismatch):
                pieces = [piece[1:] for piece in pieces_of(table, pairs.columns)]
            for number, (size, read) in enumerate(pieces or [(0, tuple)]):  # a file may have no row groups
                yield size, partial(_chosen_of, (path, table), number == 0, read, pairs.choose)
    except Exception as error:
        yield 0, partial(_raise, error)


def _raise(error):
    raise error


def _chosen_of(opened, begins, read, choose):
    """Yield what is chosen of the batches that ``read`` returns; ``None`` before them, if a file begins."""
    if begins:
        yield *opened, None
    with reading(opened[0], passing=Mismatch):
        for batch in read():
            for chosen in choose(batch):
                yield *opened, chosen


def batches_ahead(table, columns, choose=lambda batch: (batch,), meanwhile=lambda: None):
    """Yield ``choose(batch)`` of the batches of a table, item by item, which threads make ahead.

    While the first one is made, ``meanwhile`` is called.
    """

    def chosen(batches):
        for batch in batches():
            yield from choose(batch)

    workers = threads.count()
    pieces = [piece[1:] for piece in pieces_of(table, columns)] if workers > 1 else []
    if len(pieces) > 1:
        pieces = [(size, partial(chosen, read)) for size, read in pieces]
        most = max(LEAST_BYTES, workers * DECODED_BYTES)
        return read_in_parallel(pieces, min(workers, len(pieces)), meanwhile, most_bytes=most)
    return read_ahead(chosen(partial(table.batches, columns)), meanwhile)


def pieces_of(table, columns, skip=0):
    """Pieces of the rows after the first ``skip``, which can be read at the same time.

    Yields the first row, the bytes that a thread holds, and a function that returns the batches of each.
    """
    if isinstance(table, JoinedTable):
        for start, size, read in pieces_of(table.stored, table.joined.stored(columns), skip):
            yield start, size, partial(_with_joined, table.joined, read)
    elif isinstance(table, ParquetTable):
        yield from table.pieces(columns, skip)
    else:
        yield skip, 1, lambda: without(table.batches(columns), skip)


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
