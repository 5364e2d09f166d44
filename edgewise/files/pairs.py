"""Tables with one pair a row, read batch by batch: Parquet, Arrow, and text with a row of names.

A thread reads and decodes ahead while the ids of the batch before are numbered on all cores, so that memory
holds a few batches, the distinct ids and the numbers, and never the table.
"""

import os
from glob import glob
from pathlib import Path

from edgewise.errors import FileError
from edgewise.files.read_ahead import ahead
from edgewise.files.streams import Source, reading
from edgewise.files.textpairs import Mismatch, TextTable
from edgewise.graph import Graph
from edgewise.ingest.pair_columns import Pairs
from edgewise.ingest.schema import choose_id_columns
from edgewise.timer import timer

#: Rows of a batch, and bytes of the buffer behind each Parquet column.
BATCH_ROWS = 1 << 18
BUFFER = 1 << 20
#: Endings of the parts in a folder.
PARTS = (".parquet", ".pq", ".arrow", ".feather", ".ipc", ".csv", ".tsv")


def read_pairs(
    path, source=None, target=None, weight=None, where=None, null="error", progress=None, *, directed=False
) -> Graph:
    """Read a table with one pair a row into a graph.

    Parameters
    ----------
    path : path-like, or list of them
        Parquet, Arrow IPC (Feather), or text with a row of names, compressed or not.  Several files with the
        same columns can be given as a list, a pattern such as ``"pairs/*.parquet"``, or a folder of them.
    source, target : str, optional
        Columns with the ids of the ends.  By default the only two columns, the two columns of strings if
        there are exactly two, or the first two columns if these hold integers and no column strings.
    weight : str, optional
        Column with the weights.
    where : str, optional
        Condition on the columns, such as ``'score >= 0.9 and kind == "x"'``; other rows are left out.
    null : {'error', 'drop'}
        What to do with rows that lack an end or a weight.
    progress : callable, optional
        Called with the number of rows read and of all rows (``None`` where unknown) after each batch.
    directed : bool

    Returns
    -------
    Graph
        Strings are numbered in order of first appearance (source before target), integers in ascending order.

    Raises
    ------
    FileError
        A missing column (the message lists what there is), a type that is no id, a null (with its row), a
        file that is empty, damaged or cut off.
    OptionError
        The condition is not understood.
    """
    parts = parts_of(path)
    for patient in False, True:
        try:
            found = _gather(parts, patient, progress, (source, target, weight, where, null))
            break
        except Mismatch:
            continue
    _give_back_memory()
    sources, targets, weights, ids, count = found
    return Graph(count, edges=(sources, targets, weights), directed=directed, ids=ids)


def _give_back_memory():
    """Return to the system what decoding has left behind in Arrow's pool."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


def parts_of(path):
    """Files that a path, a list of paths, a pattern or a folder stands for.

    Raises
    ------
    FileError
        There is none.
    """
    if isinstance(path, list | tuple):
        parts = [part for one in path for part in parts_of(one)]
    elif os.path.isdir(path):
        inside = (part for part in Path(path).rglob("*") if part.suffix.lower() in PARTS)
        parts = sorted(part for part in inside if not part.name.startswith((".", "_")))
    elif not os.path.exists(path) and set("*?[") & set(os.fspath(path)):
        parts = sorted(glob(os.fspath(path), recursive=True))
    else:
        parts = [path]
    if not parts:
        raise FileError(path, f"holds no file of pairs; endings looked for are {' '.join(PARTS)}")
    return parts


def _gather(parts, patient, progress, wanted):
    """Edges, ids and count of the pairs in all parts."""
    pairs = schema = None
    for part in parts:
        source = Source(part)
        with reading(source.path, passing=Mismatch):
            table = table_of(source, patient, schema)
            table.settle(choose_id_columns(table.schema, *wanted[:2]) if pairs is None else pairs.id_columns)
            if pairs is None:
                pairs, schema = Pairs(table.schema, *wanted, expected=_rows_in(parts, table)), table.schema
            pairs.begin(table.schema)
            _take_all(pairs, table, progress)
    with reading(source.path), timer("number ids"):
        return pairs.finish()


def _take_all(pairs, table, progress):
    batches = ahead(table.batches(pairs.columns))
    while True:
        with timer("decode"):
            batch = next(batches, None)
        if batch is None:
            return
        pairs.add(batch)
        if progress is not None:
            progress(pairs.rows, table.rows)


def _rows_in(parts, first):
    """Number of rows in all parts, if that of the first is known; a guess if they differ in size."""
    return (first.rows or 0) * len(parts)


def table_of(source, patient=False, schema=None):
    """The file as a table that comes in batches; ``schema`` is that of the file before."""
    if source.head.startswith(b"PAR1"):
        return ParquetTable(source)
    if source.head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return ArrowTable(source)
    return TextTable(source, patient, schema)


class TypedTable:
    """A file that says the types of its columns, which is all there is to settle."""

    rows = None

    def settle(self, ends):
        """Leave the types as they are."""


class ParquetTable(TypedTable):
    """A Parquet file as a table."""

    def __init__(self, source):
        import pyarrow.parquet as parquet

        self.file = parquet.ParquetFile(source.path, pre_buffer=False, buffer_size=BUFFER)
        self.schema, self.rows = self.file.schema_arrow, self.file.metadata.num_rows

    def batches(self, columns):
        """Yield batches of the needed columns."""
        return self.file.iter_batches(BATCH_ROWS, columns=columns)


class ArrowTable(TypedTable):
    """An Arrow IPC file or stream as a table; what is not compressed is not copied either."""

    def __init__(self, source):
        self.source = source
        self.schema = self._reader().schema

    def _reader(self, columns=None):
        import pyarrow as pa
        import pyarrow.ipc as ipc

        file = pa.memory_map(self.source.path)
        devices = None if columns is None else [self.schema.get_field_index(name) for name in columns]
        opened = ipc.open_file if self.source.head.startswith(b"ARROW1") else ipc.open_stream
        return opened(file, options=ipc.IpcReadOptions(included_fields=devices))

    def batches(self, columns):
        """Yield batches of the needed columns."""
        reader = self._reader(columns)
        if hasattr(reader, "get_batch"):
            return (reader.get_batch(number) for number in range(reader.num_record_batches))
        return iter(reader)
