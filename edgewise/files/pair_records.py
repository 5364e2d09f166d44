"""Pairs in binary files other than tables: graphs of NumPy, dedupe's scored pairs, datatrove's duplicates.

dedupe returns a structured array with the fields ``pairs`` and ``score``, which ``numpy.save`` writes to an
``.npy`` file (:mod:`edgewise.ingest.frames`).

The second stage of datatrove's MinHash writes the ``.dups`` files: records of four unsigned integers of 32
bits, little-endian, which are the file and the document of one side and of the other.  They have no header,
so they are known by their ending.  A document is the id ``file * 2**32 + document``, an integer; ``id >> 32``
is the number in the name of the ``.remove`` file of the next stage, and ``id & 0xFFFFFFFF`` the document in
it.  A side of two times ``2**32 - 1`` stands for all documents of an index; its id is -1.
"""

import json

import numpy as np

from edgewise.files.streams import one_line
from edgewise.ingest.arrow import arrow_array
from edgewise.ingest.frames import batches_of, schema_of

#: Integers and bytes of a record of duplicates, and records that are converted at a time.
FIELDS, RECORD_BYTES = 4, 16
BATCH_RECORDS = 1 << 18


class RecordTable:
    """A file of records as a table, whose columns have known types."""

    def settle(self, id_columns):
        """Keep the types."""


class NpyTable(RecordTable):
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


class NpzTable(RecordTable):
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


class DupsTable(RecordTable):
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
