"""Writing tables, those of clusters and those of edges: Parquet, Arrow, CSV and TSV, a block at a time."""

from itertools import chain

from edgewise.errors import FileError, OptionError
from edgewise.files.lines import formatted


def as_tables(thing):
    """Turn what a caller calls a table into Arrow tables, at least one.

    Parameters
    ----------
    thing : Graph, result, or table
        A result has ``to_frame``; a table has ``__arrow_c_stream__`` (pyarrow, pandas, polars, DuckDB ...).

    Raises
    ------
    OptionError
        It is none of these.
    """
    import pyarrow as pa

    from edgewise.files.tables import BLOCK, edge_tables
    from edgewise.graph import Graph

    if isinstance(thing, Graph):
        yield from edge_tables(thing.to("cpu"))
        return
    thing = (
        thing.to_frame() if hasattr(thing, "to_frame") and not hasattr(thing, "__arrow_c_stream__") else thing
    )
    if not hasattr(thing, "__arrow_c_stream__"):
        raise OptionError(f"a graph, a result or a table is needed, not {type(thing).__name__}")
    if isinstance(thing, pa.RecordBatchReader):  # batches are made as they are asked for
        yield from (pa.Table.from_batches([batch]) for batch in thing)
        return
    table = pa.table(thing)
    for start in range(0, max(table.num_rows, 1), BLOCK):
        yield table.slice(start, BLOCK)


def write_parquet(thing, stream) -> None:
    """Write Parquet, one row group a block."""
    import pyarrow.parquet as parquet

    first, tables = _first(thing)
    # Ids hardly ever repeat: a dictionary would be built in vain.
    options = {"use_dictionary": False, "compression": "zstd", "compression_level": 1}
    with parquet.ParquetWriter(stream, first.schema, **options) as writer:
        for table in tables:
            writer.write_table(table)


def write_arrow(thing, stream) -> None:
    """Write an Arrow IPC file."""
    import pyarrow.ipc as ipc

    first, tables = _first(thing)
    with ipc.new_file(stream, first.schema) as writer:
        for table in tables:
            writer.write_table(table)


def write_csv(thing, stream) -> None:
    """Write comma-separated text with a row of names."""
    _text(thing, stream, ",")


def write_tsv(thing, stream) -> None:
    """Write tab-separated text with a row of names."""
    _text(thing, stream, "\t")


def _text(thing, stream, delimiter):
    import pyarrow as pa

    first, tables = _first(thing)
    stream.write((delimiter.join(_quoted(name, delimiter) for name in first.column_names) + "\n").encode())
    try:
        for table in tables:
            stream.write(formatted(table, delimiter))
    except pa.ArrowInvalid as error:
        raise FileError(stream.path, f"text cannot hold such a column ({error}); write .parquet") from error


def _quoted(name, delimiter):
    needs = any(mark in name for mark in (delimiter, '"', "\n"))
    return '"' + name.replace('"', '""') + '"' if needs else name


def _first(thing):
    tables = as_tables(thing)
    first = next(tables)
    return first, chain([first], tables)
