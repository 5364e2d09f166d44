"""Files of pairs read once and in order, several row groups at a time.

A Parquet file says at its end what its row groups hold, so each can be decoded on its own: a few are decoded
at once, in threads, and handed over in order.  Other tables, and row groups too large to be held as a whole,
are decoded ahead by one thread.  Opening the next file does not wait for the last one to be done with.
"""

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

from edgewise.errors import FileError
from edgewise.files import edgelist
from edgewise.files.options import Options
from edgewise.files.pairs import BATCH_ROWS, BUFFER, ParquetTable, table_of
from edgewise.files.read_ahead import ahead
from edgewise.files.sniff import sniff
from edgewise.files.streams import Source, reading
from edgewise.files.tables import MARK, ends_of, facts_of
from edgewise.files.textpairs import Mismatch

#: Rows of a row group that is decoded as a whole, at most.
WHOLE_ROWS = 1 << 21


class Piece(NamedTuple):
    """Some rows of a file.

    Attributes
    ----------
    part : int
        Number of the file.
    start : int
        Row of the file at which the piece starts.
    read : callable
        Gives the record batches: a list if ``whole``, else an iterable to be gone through by a thread.
    whole : bool
    schema : pyarrow.Schema or None
        Of the file that begins with this piece.
    """

    part: int
    start: int
    read: Callable[[], Any]
    whole: bool
    schema: Any


class Shards:
    """Files of pairs with the same columns.

    Parameters
    ----------
    paths : list of path-like
    source, target : str or int, optional
        Columns with the ends, as in :func:`edgewise.read`.
    where, null
        Likewise.

    Attributes
    ----------
    ends : tuple of str
    stamps : list of (str, int, int)
        Path, bytes and time of the last change of each file.
    facts : dict or None
        What edgewise wrote into the one file that is its own.

    Raises
    ------
    FileError
        A file is not there, or no table.
    """

    def __init__(self, paths, source=None, target=None, where=None, null="error"):
        self.paths = [os.fspath(path) for path in paths]
        self.stamps = [self._stamp(path) for path in self.paths]
        self.facts = None
        options = Options(source=source, target=target, where=where, null=null)
        first = Source(self.paths[0])
        kind = self._kind(first, options)
        with reading(first.path):
            schema = table_of(first).schema
            if not (source or where or null != "error") and len(paths) == 1 and kind != "csv":
                self.facts = facts_of(first, schema.metadata) if MARK in (schema.metadata or {}) else None
            self.ends = ends_of(first, options, schema.names)

    @staticmethod
    def _stamp(path):
        with reading(path):
            state = os.stat(path)
        return path, state.st_size, state.st_mtime_ns

    @staticmethod
    def _kind(source, options):
        """Kind of table; an error for anything else."""
        kind = sniff(source, options)
        if kind not in ("parquet", "arrow", "csv"):
            raise FileError(
                source.path, f"holds {kind}, and only tables can be streamed; read it into a graph"
            )
        if source.compression is not None and kind != "csv":
            raise FileError(source.path, f"is a table inside {source.compression}; decompress it")
        if kind == "csv" and not edgelist.has_names(edgelist.look(source), source.suffix):
            raise FileError(source.path, "has no row of names, so it cannot be streamed; add one")
        return kind

    def survey(self, begin):
        """Rows of all files and the range of their ids, as far as the files say, without reading any row.

        Parameters
        ----------
        begin : callable
            Called with the schema of every Parquet file, to raise where it does not go with the first.

        Returns
        -------
        rows : int or None
        least, most : int or None
            Of both columns.
        """
        rows, ranges = 0, []
        for path in self.paths:
            source = Source(path)
            with reading(path, passing=Mismatch):
                if not source.head.startswith(b"PAR1"):
                    return None, None, None
                table = table_of(source)
                begin(table.schema)
                rows += table.rows
                ranges.append(_range(table.file.metadata, self.ends))
        if None in ranges:
            return rows, None, None
        ranges = [one for one in ranges if one]
        return rows, min((one[0] for one in ranges), default=0), max((one[1] for one in ranges), default=-1)

    def schema(self, patient=False):
        """Schema of the first file."""
        first = Source(self.paths[0])
        with reading(first.path, passing=Mismatch):
            return self._settled(table_of(first, patient)).schema

    def _settled(self, table):
        table.settle(self.ends)
        return table

    def batches(self, pairs, workers, *, patient=False, after=(0, 0)):
        """Yield ``(part, row, batch)``: record batches of the needed columns, in order.

        Parameters
        ----------
        pairs : PairBatches
            Told when a file begins; says which columns are needed.
        workers : int
            Row groups that are decoded at once.
        patient : bool
            See :class:`~edgewise.files.textpairs.TextTable`.
        after : (int, int)
            Number of the first file, and rows of it that are left out.
        """
        pool, waiting = ThreadPoolExecutor(workers, "edgewise-decode"), deque()
        try:
            for piece in self._pieces(pairs.columns, patient, after):
                waiting.append((piece, pool.submit(piece.read) if piece.whole else None))
                if len(waiting) > workers + 1:
                    yield from self._handed_over(*waiting.popleft(), pairs)
            while waiting:
                yield from self._handed_over(*waiting.popleft(), pairs)
        finally:
            pool.shutdown(cancel_futures=True)

    def _handed_over(self, piece, made, pairs):
        """The batches of a piece, made or in the making."""
        with reading(self.paths[piece.part], passing=Mismatch):
            if piece.schema is not None:
                pairs.begin(piece.schema, piece.start)
            row = piece.start
            for batch in made.result() if made else ahead(piece.read()):
                if batch.num_rows:
                    yield piece.part, row, batch
                row += batch.num_rows

    def _pieces(self, columns, patient, after):
        """Yield the pieces of all files in order."""
        schema = None
        for part in range(after[0], len(self.paths)):
            with reading(self.paths[part], passing=Mismatch):
                table = self._settled(table_of(Source(self.paths[part]), patient, schema))
                schema = schema or table.schema
                pieces = _row_groups if isinstance(table, ParquetTable) else _rows
                found = pieces(self.paths[part], table, columns, after[1] if part == after[0] else 0)
                for number, (start, whole, read) in enumerate(found):
                    yield Piece(part, start, read, whole, None if number else table.schema)


def _row_groups(path, table, columns, skip):
    """Row groups of a Parquet file after the first ``skip`` rows, as (first row, whole, reader)."""
    metadata, begin = table.file.metadata, 0
    for group in range(metadata.num_row_groups):
        start, begin = begin, begin + metadata.row_group(group).num_rows
        if begin <= skip and not (begin == skip == 0):
            continue
        whole = begin - start <= WHOLE_ROWS
        read = _whole_group if whole else _long_group
        yield max(start, skip), whole, partial(read, path, metadata, columns, group, max(skip - start, 0))


def _opened(path, metadata):
    import pyarrow.parquet as parquet

    return parquet.ParquetFile(path, metadata=metadata, pre_buffer=False, buffer_size=BUFFER)


def _whole_group(path, metadata, columns, group, skip):
    with _opened(path, metadata) as file:
        return file.read_row_group(group, columns=columns, use_threads=False).slice(skip).to_batches()


def _long_group(path, metadata, columns, group, skip):
    with _opened(path, metadata) as file:
        yield from _without(file.iter_batches(BATCH_ROWS, row_groups=[group], columns=columns), skip)


def _rows(path, table, columns, skip):
    """All rows of a table but the first ``skip``."""
    yield skip, False, lambda: _without(table.batches(columns), skip)


def _without(batches, skip):
    """The batches without their first ``skip`` rows."""
    for batch in batches:
        left_out = min(skip, batch.num_rows)
        skip -= left_out
        yield batch.slice(left_out)


def _range(metadata, ends):
    """Least and largest value of two columns of integers: ``()`` if there is no row, ``None`` if unknown."""
    found = []
    for group in range(metadata.num_row_groups):
        columns = metadata.row_group(group)
        if columns.num_rows == 0:
            continue
        for column in map(columns.column, range(columns.num_columns)):
            if column.path_in_schema in ends:
                facts = column.statistics
                if facts is None or not facts.has_min_max or not isinstance(facts.max, int):
                    return None
                found += [facts.min, facts.max]
    return (min(found), max(found)) if found else ()
