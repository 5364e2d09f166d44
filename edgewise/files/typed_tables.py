"""Files that state the types of their columns, as tables that come in batches.

They are Parquet, Arrow, and pairs in other binary files: graphs of NumPy, dedupe's scored pairs and
datatrove's duplicates.

dedupe returns a structured array with the fields ``pairs`` and ``score``, which ``numpy.save`` writes to an
``.npy`` file (:mod:`edgewise.ingest.frames`).

The second stage of datatrove's MinHash writes the ``.dups`` files: records of four unsigned integers of 32
bits, little-endian, which are the file and the document of one side and of the other.  They have no header,
so they are known by their ending.  A document is the id ``file * 2**32 + document``, an integer; ``id >> 32``
is the number in the name of the ``.remove`` file of the next stage, and ``id & 0xFFFFFFFF`` the document in
it.  A side of two times ``2**32 - 1`` stands for all documents of an index; its id is -1.
"""

import json
import os
from functools import partial
from itertools import repeat
from typing import Any

import numpy as np

from edgewise import tuning
from edgewise.cached_property import cached_property
from edgewise.errors import GraphError
from edgewise.files.parquet_footer import Chunk, column_sizes, string_chunks
from edgewise.files.read_ahead import AHEAD_IN_PIECE
from edgewise.files.streams import native, one_line
from edgewise.ingest.arrow import arrow_array, checked, is_text
from edgewise.ingest.frames import batches_of, schema_of

#: Rows of a batch.
BATCH_ROWS = 1 << 18
#: Bytes of the buffer behind each Parquet column.
BUFFER = 1 << 20
#: Batches that are joined into one if their rows are short, at most.
TOGETHER = 4
#: Bytes of a joined batch, at most.
BATCH_BYTES = 1 << 26
#: Bytes of the columns of a row group that are decoded as a whole, at most.
COLUMN_BYTES = 1 << 27
#: Bytes of a value, unless the footer says that it has more.
VALUE_BYTES = 8
#: Integers of a record of duplicates.
FIELDS = 4
#: Bytes of a record of duplicates.
RECORD_BYTES = 16
#: Records of duplicates that are converted at a time.
BATCH_RECORDS = 1 << 18


class TypedTable:
    """A file that states the types of its columns."""

    rows: Any = None

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
        #: Columns of ids that are strings, once :meth:`settle` was called.
        self.id_columns: list[str] = []
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

    def settle(self, id_columns):
        """Keep the types; :meth:`pieces` have dictionaries of strings that are stored by codes of these."""
        text = [field.name for field in self.schema if is_text(field.type)]
        self.id_columns = [name for name in text if name in id_columns]

    def pieces(self, columns, skip=0):
        """Yield the row groups after ``skip`` rows; see :func:`edgewise.files.pair_tables.pieces_of`.

        Few ids are numbered without the loops, for which dictionaries would have to import more of Arrow, and
        loops that decode would have to be loaded.
        """
        end, are_few = 0, 2 * self.rows <= tuning.CPU.ingest_strings
        stored = iter(()) if are_few or not self.id_columns else string_chunks(self.path)
        chunks: dict[str, Chunk]
        for group, rows in enumerate(self.groups):
            begin, end, chunks = end, end + rows, next(stored, {})
            if end > skip or end == skip == 0:
                ids = {name: chunks[name] for name in self.id_columns if name in chunks}
                read = partial(self._batches_of, group, columns, max(skip - begin, 0), ids)
                yield max(begin, skip), self._bytes_held(group, columns), read

    def _batches_of(self, group, columns, skip, chunks):
        """Yield batches of a row group, of which ``chunks`` describe columns of strings."""
        self.file.close(force=True)  # each thread opens its own
        by_codes = [name for name, chunk in chunks.items() if chunk.by_codes]
        found = self._strings(group, {name: one for name, one in chunks.items() if not one.by_codes})
        rows, others = self._batch_rows(group, columns), [name for name in columns if name not in found]
        batches = self._by_arrow(group, rows, others, by_codes) if others else repeat(None)
        yield from without(complete(joined(columns, found, batches, rows), self.groups[group]), skip)

    def _by_arrow(self, group, rows, columns, by_codes):
        """Yield batches of a row group, some columns of which are read as codes."""
        import pyarrow.parquet as parquet

        how = {"metadata": self.metadata, "pre_buffer": False, "buffer_size": BUFFER}
        file = parquet.ParquetFile(native(self.path), read_dictionary=by_codes, **how)
        try:
            batches = file.iter_batches(rows, [group], columns, use_threads=False)
            yield from checked(batches) if by_codes else batches  # Arrow checks no codes
        finally:
            file.close(force=True)

    def _strings(self, group, chunks: dict[str, Chunk]):
        """Those columns of a row group, by their names, that :mod:`edgewise.files.string_pages` decodes."""
        kinds, levels = dict(zip(self.schema.names, self.schema.types)), self._levels
        plain = {
            name: chunk
            for name, chunk in chunks.items()
            if chunk.is_snappy and str(kinds[name]) in ("string", "binary") and name in levels
        }
        rows, sizes = self.groups[group], [size for chunk in plain.values() for size in chunk[2:]]
        if not plain or min(sizes) < 0 or sum(sizes[2::3]) + VALUE_BYTES * rows > COLUMN_BYTES:
            return {}
        from edgewise.files.string_pages import string_column

        with open(self.path, "rb", buffering=0) as file:
            found = {
                name: string_column(file, chunk, rows, levels[name], kinds[name])
                for name, chunk in plain.items()
            }
        return {name: column for name, column in found.items() if column is not None}

    @cached_property
    def _levels(self):
        """Whether values may be null, of columns with at most one value in a row, by their names."""
        stored = map(self.metadata.schema.column, range(self.metadata.num_columns))
        flat = [one for one in stored if one.path == one.name and one.max_repetition_level == 0]
        return {one.path: one.max_definition_level == 1 for one in flat}

    def _row_bytes(self, group, columns):
        """Bytes of a row: as the footer describes the first ones, or more if those here are longer."""
        all_bytes = self.metadata.row_group(group).total_byte_size / max(self.groups[group], 1)
        sizes, rows = self._sizes
        if not rows:
            return max(VALUE_BYTES * len(columns), int(all_bytes))
        longer = max(1.0, all_bytes * rows / max(sum(sizes.values()), 1))
        return sum(max(VALUE_BYTES, int(longer * sizes.get(name, 0) / rows)) for name in columns)

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


def joined(columns, found, batches, rows):
    """Yield batches of some columns: those that were ``found`` whole, and the others, which come in batches.

    If there are no others, the batches are ``None``, and have so many rows.
    """
    import pyarrow as pa

    start, end = 0, min(map(len, found.values()), default=0)
    for batch in batches:
        count = min(rows, end - start) if batch is None else batch.num_rows
        if batch is None and not count:
            return
        if not found:
            yield batch
            continue
        parts = {name: column.slice(start, count) for name, column in found.items()}
        arrays = [parts[name] if name in parts else batch.column(name) for name in columns]
        yield pa.RecordBatch.from_arrays(arrays, columns)
        start += count


def complete(batches, promised):
    """Yield batches; raise GraphError unless they hold as many rows as were promised."""
    count = 0
    for batch in batches:
        count += batch.num_rows
        yield batch
    if count != promised:
        problem = f"{promised:,} rows promised, but {count:,} found"
        raise GraphError(f"{problem}; the file is damaged, write it again")


def without(batches, skip):
    """Yield batches without their first ``skip`` rows."""
    for batch in batches:
        left_out = min(skip, batch.num_rows)
        skip -= left_out
        yield batch.slice(left_out)


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


class NpyTable(TypedTable):
    """A structured array in an ``.npy`` file, which is mapped into memory."""

    def __init__(self, source):
        try:
            self.records = np.load(source.path, mmap_mode="r", allow_pickle=False)
        except (MemoryError, OSError):
            raise
        except Exception as error:  # its header is a literal of Python, so it may hold anything
            problem = f"is cut off, damaged or no array of numbers and strings ({one_line(error)})"
            raise source.error(f"{problem}; write it again with numpy.save") from error
        self.schema, self.rows = schema_of(self.records.dtype), len(self.records)

    def batches(self, columns):
        """Yield batches of the needed columns."""
        for batch in batches_of(self.records):
            yield batch.select(columns)


class NpzTable(TypedTable):
    """The edges of a graph in an ``.npz`` file, which is in memory as long as it is read."""

    def __init__(self, source):
        import pyarrow as pa

        from edgewise.files.contents import MARK
        from edgewise.files.npz import graph_of
        from edgewise.files.write_text import settings

        self.graph = graph_of(source)
        self.rows = self.graph.n_edges
        columns = self._columns(slice(0, 0))
        schema = pa.schema([pa.field(name, column.type) for name, column in columns.items()])
        self.schema = schema.with_metadata({MARK: json.dumps(settings(self.graph)).encode()})

    def _columns(self, rows):
        """Columns of some edges."""
        graph = self.graph
        columns = {"source": graph.ids_of(graph.sources[rows]), "target": graph.ids_of(graph.targets[rows])}
        if graph.weights is not None:
            columns["weight"] = graph.weights[rows]
        return {name: arrow_array(column) for name, column in columns.items()}

    def batches(self, columns):
        """Yield batches of the needed columns."""
        import pyarrow as pa

        for start in range(0, self.rows, BATCH_RECORDS):
            made = self._columns(slice(start, start + BATCH_RECORDS))
            yield pa.RecordBatch.from_arrays([made[name] for name in columns], columns)


class DupsTable(TypedTable):
    """A ``.dups`` file of datatrove; an empty one has no duplicates."""

    def __init__(self, source):
        import pyarrow as pa

        if source.compression is not None:
            raise source.error(f"is compressed with {source.compression}; decompress it")
        self.source = source
        self.rows, rest = divmod(source.size, RECORD_BYTES)
        if rest:
            problem = f"has {source.size:,} bytes, and a record has {RECORD_BYTES}"
            raise source.error(f"{problem}; the file is cut off, so copy it again")
        self.schema = pa.schema([("source", pa.int64()), ("target", pa.int64())])

    def batches(self, columns):
        """Yield batches of the needed columns."""
        import pyarrow as pa

        with open(self.source.path, "rb") as file:
            while len(numbers := np.fromfile(file, "<u4", FIELDS * BATCH_RECORDS)):
                numbers = numbers.reshape(-1, FIELDS).astype(np.int64)
                ids = numbers[:, 0::2] << 32 | numbers[:, 1::2]
                ends = [arrow_array(ids[:, side]) for side in range(2)]
                yield pa.RecordBatch.from_arrays(ends, schema=self.schema).select(columns)
