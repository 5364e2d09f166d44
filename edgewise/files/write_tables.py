"""Writing tables: Parquet and CSV on several cores, Arrow IPC (Feather) and JSON Lines, block by block.

Clusters are tables with one row per vertex.  A graph has, in the metadata of the schema (text has none), what
its edges do not say, so that isolated vertices and directions are read again.

Arrow encodes a file of Parquet on one core.  Here each row group becomes a file of its own in memory, of
which the pages are copied into the file to be written.  The places of the pages, which the footer states, are
moved by as much as the pages are (:class:`~edgewise.files.parquet_footer.JoinedFooter`); nothing else of the
footers changes.  Clusters whose columns are integers have pages of our own
(:mod:`~edgewise.files.integer_pages`).  The result is the same for every number of cores.
"""

import json
import os
from collections.abc import Callable
from functools import partial
from itertools import chain, islice
from typing import Any

from edgewise.device import threads
from edgewise.errors import OptionError, argument
from edgewise.files import integer_pages, json_lines, store
from edgewise.files.contents import MARK
from edgewise.files.formats import named
from edgewise.files.npz import write_npz
from edgewise.files.parquet_footer import LENGTH, MAGIC, JoinedFooter, footer_of
from edgewise.files.read_ahead import in_order
from edgewise.files.store import Shape, write_store
from edgewise.files.write_text import check_names, edge_columns, formatted, settings
from edgewise.graph import Graph
from edgewise.ingest.arrow import arrow_array

NAMES = ("source", "target", "weight")
#: Rows in each batch that is written.
BLOCK = 1 << 20
#: Rows of a row group of Parquet, and of a block of text; each core encodes one at a time.
ROW_GROUP = 1 << 18
#: Row groups that are encoded at the same time, since each is in memory twice.
ENCODERS = 16
#: Bytes of a page of Parquet; smaller ones stay in the caches while they are encoded.
PAGE = 1 << 17
#: How integers that do not repeat are encoded: their differences, in as few bits as these need.  Zstandard
#: would take twice the time of that, for bytes that are mostly as many.
INTEGERS = "DELTA_BINARY_PACKED"
#: Rows, in equal distances, that show whether the values of a column repeat.
SAMPLE = 1 << 14
#: Rows of a sample with a value, for each distinct one, from which on the values of a column repeat.
REPEATS = 8


def edge_tables(graph):
    """Tables of the edges of a graph, a block at a time, at least one."""
    import pyarrow as pa

    columns, metadata = edge_columns(graph), {MARK: json.dumps(settings(graph)).encode()}
    for start in range(0, max(graph.n_edges, 1), BLOCK):
        made = map(arrow_array, columns(slice(start, min(start + BLOCK, graph.n_edges))))
        yield pa.table(dict(zip(NAMES, made, strict=False))).replace_schema_metadata(metadata)


def as_tables(thing):
    """Turn a graph, a result (with ``to_frame``) or a table into Arrow tables, at least one.

    A table has ``__arrow_c_stream__`` (pyarrow, pandas, polars, DuckDB ...).
    """
    import pyarrow as pa

    if isinstance(thing, Graph):
        yield from edge_tables(thing.to("cpu"))
        return
    if hasattr(thing, "to_reader") and not isinstance(thing, pa.Table):  # makes its batches on request
        thing = thing.to_reader()
    elif hasattr(thing, "to_frame") and not hasattr(thing, "__arrow_c_stream__"):
        thing = thing.to_frame()
    if not hasattr(thing, "__arrow_c_stream__"):
        raise OptionError(f"a graph, a result or a table is needed, not {type(thing).__name__}")
    if isinstance(thing, pa.RecordBatchReader):  # batches are made on request
        first = next(iter(thing), None)
        yield pa.Table.from_batches([] if first is None else [first], thing.schema)
        yield from (pa.Table.from_batches([batch]) for batch in thing)
        return
    if isinstance(thing, pa.Table):
        table = thing
    elif type(thing).__module__.partition(".")[0] == "pandas":
        table = pa.table(thing)
    else:  # pa.table would import pandas
        table = pa.RecordBatchReader.from_stream(thing).read_all()
    for start in range(0, max(table.num_rows, 1), BLOCK):
        yield table.slice(start, BLOCK)


def write_parquet(thing, stream, row_group=None, repeating=None, keeps_types=True) -> None:
    """Write Parquet, in row groups of so many rows, :data:`ROW_GROUP` by default.

    ``repeating`` are the columns whose values repeat; where it is left out, a sample shows them.  A file that
    does not keep the types of Arrow holds what a dictionary stands for.
    """
    rows = row_group or ROW_GROUP
    makers = thing.makers_of_rows(rows) if hasattr(thing, "makers_of_rows") else None
    if makers is None:
        first, tables = _first(thing)
        blocks = _row_groups(tables, rows)
    else:
        first = makers[0]()
        blocks = chain([first], makers[1:])
    repeating = _repeating(first) if repeating is None else repeating
    integers = _other_integers(first, repeating)
    options = {"use_dictionary": repeating, "data_page_size": PAGE, **_codecs(first, integers)}
    options["write_statistics"] = _with_statistics(first, repeating)
    options["column_encoding"] = dict.fromkeys(integers, INTEGERS)
    options["store_schema"] = keeps_types
    start = list(islice(blocks, 2))
    if len(start) > 1:
        # the loops of makers are compiled, too
        rooms: list | None = None if makers is None or repeating else []
        _write_row_groups(first, chain(start, blocks), stream, partial(_row_group, options, rooms))
    else:
        table = start[0] if start else first
        stream.write(_encoded(table() if callable(table) else table, options))


def _write_row_groups(first, tables, stream, encode):
    """Write tables like the first, or what makes them, to a stream, each as a row group; at least one."""
    joined, written = JoinedFooter(encode(first.slice(0, 0))[1]), len(MAGIC)
    stream.write(MAGIC)
    for pages, footer, free in in_order(encode, tables, min(threads.count(), ENCODERS), "edgewise-encode"):
        if footer is None:
            joined.add_pages(pages, written)
            parts = list(chain.from_iterable(page.parts for page in pages))
        else:
            joined.add(footer, written - len(MAGIC))  # while others are encoded
            parts = pages
        for part in parts:
            stream.write(part)
            written += len(part)
        free()
    footer = joined.content()
    stream.write(footer + len(footer).to_bytes(LENGTH, "little") + MAGIC)


def _row_group(options, rooms, table):
    """The pages of a row group, the footer of a file with it alone, and what to call when it is written.

    If there are ``rooms``, a list of memory that may be used again, the pages of integers are ours; these are
    in such a room, and have no footer.
    """
    table = table() if callable(table) else table
    if rooms is None or not table.num_rows or not integer_pages.are_fit(table):
        content = memoryview(_encoded(table, options))
        footer, end = footer_of(content)
        return [content[len(MAGIC) : end]], footer, lambda: None
    pages, room = integer_pages.pages_of(table, rooms)
    return pages, None, partial(rooms.append, room)


def _encoded(table, options):
    """A file with one row group, in memory, of a table."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    file = pa.BufferOutputStream()
    parquet.write_table(table, file, row_group_size=max(table.num_rows, 1), **options)
    return file.getvalue()


def _repeating(table):
    """Columns whose values repeat in some rows, for which a dictionary pays; ids hardly ever do."""
    import numpy as np
    import pyarrow as pa

    names, count = [], min(table.num_rows, SAMPLE)
    rows = arrow_array(np.arange(count) * table.num_rows // max(count, 1))
    for name, column in zip(table.column_names, table.columns):
        try:
            sample = column.take(rows).combine_chunks()
            distinct = len(sample.dictionary_encode().dictionary)  # other threads go on meanwhile
        except pa.ArrowException:  # lists and other values
            continue
        repeats = 0 < distinct <= (count - sample.null_count) // REPEATS
        if repeats and not pa.types.is_boolean(column.type):
            names.append(name)
    return names


def _codecs(table, integers):
    """How columns are compressed: integers by their encoding alone, unless some columns are nested."""
    from pyarrow.types import is_nested

    if any(map(is_nested, table.schema.types)):
        return {"compression": "zstd", "compression_level": 1}
    others = [name for name in table.column_names if name not in integers]
    codecs = dict.fromkeys(integers, "none") | dict.fromkeys(others, "zstd")
    return {"compression": codecs, "compression_level": dict.fromkeys(others, 1)}


def _with_statistics(table, repeating):
    """Columns of numbers and times, and of text that repeats and is no codes of a dictionary.

    Least and largest strings cost time.  They are of little use for ids, and take most of the time of codes.
    """
    from pyarrow import types

    kinds = types.is_integer, types.is_floating, types.is_temporal, types.is_decimal, types.is_boolean
    return [
        field.name
        for field in table.schema
        if any(test(field.type) for test in kinds)
        or (field.name in repeating and not types.is_dictionary(field.type))
    ]


def _other_integers(table, repeating):
    """Columns of integers without a dictionary."""
    from pyarrow import types

    return [
        field.name for field in table.schema if types.is_integer(field.type) and field.name not in repeating
    ]


def _row_groups(tables, size):
    """The rows of tables of any sizes in row groups of so many rows, the last one shorter."""
    import pyarrow as pa

    waiting: list = []
    count = 0
    for table in tables:
        while count + table.num_rows >= size:
            missing = size - count
            yield pa.concat_tables([*waiting, table.slice(0, missing)])
            table, waiting, count = table.slice(missing), [], 0
        waiting.append(table)
        count += table.num_rows
    if count:
        yield pa.concat_tables(waiting)


def write_arrow(thing, stream) -> None:
    """Write an Arrow IPC file."""
    import pyarrow.ipc as ipc

    first, tables = _first(thing)
    with ipc.new_file(stream, first.schema) as writer:
        for table in tables:
            writer.write_table(table)


def write_csv(thing, stream, delimiter=",") -> None:
    """Write text with a row of names, separated by commas."""
    import pyarrow as pa

    if isinstance(thing, Graph):
        check_names(stream, thing.ids, in_table=True)
    first, tables = _first(thing)
    stream.write((delimiter.join(_quoted(name, delimiter) for name in first.column_names) + "\n").encode())
    write, workers = partial(formatted, delimiter=delimiter), min(threads.count(), ENCODERS)
    try:
        for text in in_order(write, _row_groups(tables, ROW_GROUP), workers, "edgewise-format"):
            stream.write(text)
    except pa.ArrowInvalid as error:
        raise stream.error(f"text cannot hold such a column ({error}); write .parquet") from error


def write_tsv(thing, stream) -> None:
    """Write text with a row of names, separated by tabs."""
    write_csv(thing, stream, "\t")


def write_json(thing, stream) -> None:
    """Write JSON Lines, one object a row."""
    import pyarrow as pa

    try:
        for table in as_tables(thing):
            stream.write(json_lines.formatted(table))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise stream.error(f"JSON cannot hold such a column ({error}); write .parquet") from error


def _quoted(name, delimiter):
    needs = any(mark in name for mark in (delimiter, '"', "\n"))
    return '"' + name.replace('"', '""') + '"' if needs else name


def _first(thing):
    tables = as_tables(thing)
    first = next(tables)
    return first, chain([first], tables)


def write_folder(thing: Any, folder: str | os.PathLike, name: str | None = None) -> None:
    """Write a graph, a result or a table as shards in a new folder."""
    holds = "edges" if isinstance(thing, Graph) else "table"
    write_store(as_tables(thing), folder, Shape(store.SHARD_ROWS), shard_writer(name, holds), holds)


def shard_writer(name: str | None = None, holds: str = "edges") -> Callable:
    """What writes shards in a format: of edges Parquet or ``.npz``, of other tables Parquet."""
    writers = {"parquet": write_parquet} | ({"npz": write_npz} if holds == "edges" else {})
    name = named(name or "parquet")
    if name not in writers:
        given = argument("format", name)
        raise OptionError(f"{given} is not for a folder of shards; use {' or '.join(writers)}")
    return writers[name]
