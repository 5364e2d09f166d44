"""Any input as a store of shards: tables row by row, other formats as a graph.

A row keeps its ids and its weight, as :func:`edgewise.read` takes them, and the rows keep their order.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import Any

from edgewise.device import threads
from edgewise.files import read
from edgewise.files.contents import MARK
from edgewise.files.formats import Options
from edgewise.files.inputs import check_readable_again
from edgewise.files.pair_tables import parts_of
from edgewise.files.row_groups import PairFiles
from edgewise.files.sniffing import sniff
from edgewise.files.store import Shape, write_store
from edgewise.files.streams import Source, TextStyle, reading, styled
from edgewise.files.tables import TABLES
from edgewise.files.text_table import Mismatch, by_attempts
from edgewise.files.write_tables import edge_tables
from edgewise.ingest.default_columns import choose_columns, default_weight
from edgewise.ingest.pair_columns import PairBatches, PairColumns, numbers_in

#: Options of reading with which tables are read row by row.
STREAMED = ("source", "target", "weight", "where", "threshold", "score", "null", *TextStyle._fields)
#: Bytes of text that show how long its rows are.
SAMPLE = 1 << 20
#: Bytes of a row of compressed text, about.
ROW_BYTES = 8


def to_store(
    path: Any, folder: str | os.PathLike, how: tuple, given: dict, progress: Callable | None = None
) -> dict:
    """Write the edges of files to a new folder of shards; return its manifest.

    ``how`` are the number of shards and what writes them; ``given`` are options of :func:`edgewise.read`.
    """
    shards, writer = how
    check_readable_again(path, "shards")
    parts = parts_of(path)
    chosen = Options(**given)
    first = Source(styled(parts[0], chosen.style))
    with reading(first.path):
        kind = sniff(first, chosen)
    if kind not in TABLES or any(name not in STREAMED for name in given):
        graph = read(path, progress=progress, **given)
        shape = Shape(_share(graph.n_edges, shards), shards)
        return write_store(edge_tables(graph.to("cpu")), folder, shape, writer)
    options = dict(given)
    weight = options.pop("weight", None)
    files = PairFiles(parts, **options)

    def by(attempt):
        pairs = _pairs(files, attempt, (weight, options.get("null") or "error"))
        rows, _, _ = files.survey(pairs.begin)
        rows = _rows_of(files.paths) if rows is None else rows
        tables, shape = _tables(files, pairs, attempt, progress), Shape(_share(rows, shards), shards)
        return write_store(tables, folder, shape, writer)

    return by_attempts(by)


def _share(rows, shards):
    """Rows of each of some shards."""
    return max(1, -(-rows // shards))


class KeptRows(PairBatches):
    """The rows that are kept, until they are written."""

    makes_plain = False

    def __init__(self, schema, wanted):
        super().__init__(schema, wanted)
        self.taken: list = []

    def _take(self, batch):
        self.taken.append(batch)


def _pairs(files, attempt, how):
    """What takes in the rows, with the columns that are kept."""
    weight, null = how
    with reading(files.paths[0], passing=Mismatch):
        schema = files.schema(attempt)
        chosen = choose_columns(
            schema.names, numbers_in(schema), files.id_columns[0], files.id_columns[1], weight
        )
        if weight is None:
            third = default_weight(schema.names, numbers_in(schema), files.id_columns)
            chosen = chosen._replace(weight=third)
        return KeptRows(schema, PairColumns(*chosen[:3], files.where, null))


def _tables(files, pairs, attempt, progress) -> Iterator[Any]:
    """Tables of the rows that are kept, in order, at least one."""
    import pyarrow as pa

    metadata = None if files.facts is None else {MARK: json.dumps(files.facts).encode()}
    types = files.schema(attempt)
    schema = pa.schema([types.field(name) for name in pairs.needed]).with_metadata(metadata)
    yield schema.empty_table()
    for part, _, chosen in files.chosen(pairs, threads.count(), attempt=attempt):
        with reading(files.paths[part], passing=Mismatch):
            pairs.take(chosen)
        yield from (pa.Table.from_batches([one]).cast(schema) for one in pairs.taken)
        pairs.taken.clear()
        if progress is not None:
            progress(pairs.rows, None)


def _rows_of(paths):
    """About how many rows there are in text."""
    sizes = sum(os.path.getsize(path) for path in paths)
    with reading(paths[0]), open(paths[0], "rb") as file:
        sample = file.read(SAMPLE)
    lines = sample.count(b"\n")
    return max(1, sizes * lines // len(sample) if lines > 1 else sizes // ROW_BYTES)
