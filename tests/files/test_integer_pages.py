"""Pages of integers, as Arrow, DuckDB and polars read them."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import edgewise as ew
from edgewise.files import write_tables as tables

COUNTS = [1, 2, 31, 32, 33, 34, 127, 128, 129, 130, 161, 300]


class Made:
    """A table whose rows are made on request."""

    def __init__(self, table):
        self.table = table

    def makers_of_rows(self, rows):
        starts = range(0, max(self.table.num_rows, 1), rows)
        return [lambda start=start: self.table.slice(start, rows).combine_chunks() for start in starts]


def columns_of(n):
    """Columns of integers whose differences are small, large, of all widths, and beyond their type."""
    draw = np.random.default_rng(n)
    for kind in (np.int32, np.int64):
        ends = np.iinfo(kind)
        yield draw.integers(ends.min, ends.max, n, kind, endpoint=True)
        yield np.where(draw.random(n) < 0.5, ends.min, ends.max).astype(kind)
        yield np.arange(n, dtype=kind)
        yield np.full(n, -7, kind)
        widths = draw.integers(0, 8 * kind().itemsize - 1, n)
        yield (draw.integers(0, ends.max, n) >> (8 * kind().itemsize - 1 - widths)).astype(kind)


def table_of(n):
    columns = list(columns_of(n))
    fields = [
        pa.field(f"é{number}", pa.from_numpy_dtype(column.dtype), bool(number % 2))
        for number, column in enumerate(columns)
    ]
    return pa.table(list(map(pa.array, columns)), pa.schema(fields, {"key": "value"}))


def written(table, rows):
    file = io.BytesIO()
    tables.write_parquet(Made(table), file, rows, repeating=[])
    return file


@pytest.mark.parametrize("rows", COUNTS)
def test_every_number_of_rows_is_read_again(rows, tmp_path):
    duckdb, polars = pytest.importorskip("duckdb"), pytest.importorskip("polars")
    table, path = table_of(2 * rows + 1), tmp_path / "table.parquet"
    path.write_bytes(written(table, rows).getvalue())
    file = parquet.ParquetFile(path)
    read = file.read()
    read.validate(full=True)
    assert read.equals(table) and read.schema.equals(table.schema, check_metadata=True)
    assert polars.read_parquet(path).to_arrow().cast(table.schema).equals(table)
    assert duckdb.read_parquet(str(path)).to_arrow_table().cast(table.schema).equals(table)
    for number in range(3):
        group, part = file.metadata.row_group(number), table.slice(number * rows, rows)
        assert file.read_row_group(number).equals(part) and group.num_rows == len(part)
        for position, column in enumerate(part.columns):
            facts = group.column(position)
            assert "DELTA_BINARY_PACKED" in facts.encodings and facts.statistics.null_count == 0
            values = column.to_pylist()
            assert (facts.statistics.min, facts.statistics.max) == (min(values), max(values))
        sizes = [group.column(position).total_compressed_size for position in range(group.num_columns)]
        assert group.total_byte_size == sum(sizes)  # which DuckDB compares


def test_more_columns_than_a_short_list_has_and_columns_that_do_not_fit():
    table = pa.table({str(number): np.arange(number, number + 50) for number in range(20)})
    assert parquet.read_table(written(table, 7)).equals(table)
    nulls = table.append_column("nulls", pa.array([None, *range(49)]))
    file = parquet.ParquetFile(written(nulls, 7))
    assert file.read().equals(nulls)  # the first row group has a null, which is left to Arrow
    assert file.metadata.num_row_groups == 8
    floats = table.append_column("floats", pa.array(np.arange(50) / 2))
    assert parquet.read_table(written(floats, 7)).equals(floats)


def test_clusters_are_those_that_arrow_writes(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "ROW_GROUP", 100)
    draw = np.random.default_rng(1)
    ends = draw.integers(-(2**40), 2**40, 500)[draw.integers(0, 500, (2, 400))]
    graph = ew.Graph.from_edges(*ends, weights=draw.random(400))
    found = ew.connected_components(graph, thresholds=[0.1, 0.5, 0.9])
    for result in (found, found.at(0.5)):
        ew.write(result, tmp_path / "clusters.parquet")
        assert parquet.read_table(tmp_path / "clusters.parquet").equals(result.to_frame())
