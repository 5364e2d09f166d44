"""Files of Parquet and text whose row groups were encoded at the same time."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import edgewise as ew
from edgewise.device import threads
from edgewise.files import write_tables as tables
from edgewise.files.write_text import formatted


def table_of(n):
    rng = np.random.default_rng(n)
    few = pa.array(rng.integers(0, 3, n))
    columns = {
        "text": pa.array([f"é{value}" * (value % 4) for value in rng.integers(0, 10**9, n)], pa.string()),
        "repeated": pa.array(["a", "b", None]).take(few),
        "number": pa.array(rng.integers(-9, 9, n).astype(np.int16)),
        "fraction": pa.array(rng.random(n), mask=rng.random(n) < 0.5),
        "list": pa.array([[1, None]] * n, pa.list_(pa.int64())),
        "struct": pa.array([{"x": 1, "y": "z"}] * n, pa.struct({"x": pa.int8(), "y": pa.string()})),
        "flag": pa.array(rng.random(n) < 0.5),
        "day": pa.array(rng.integers(0, 999, n), pa.int32()).cast(pa.date32()),
        "nothing": pa.nulls(n),
    }
    columns |= {f"column {number}": few for number in range(20)}
    return pa.table(columns, metadata={"key": "value"})


@pytest.mark.parametrize("n", [0, 1, 100, 101, 1717, 3000])
def test_files_hold_what_was_written(tmp_path, monkeypatch, n):
    monkeypatch.setattr(tables, "ROW_GROUP", 100)
    table, path = table_of(n), tmp_path / "table.parquet"
    ew.write(table, path)
    file = parquet.ParquetFile(path)
    read = file.read()
    read.validate(full=True)
    assert read.equals(table) and read.schema.metadata == table.schema.metadata
    assert file.metadata.num_rows == n
    groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
    assert [group.num_rows for group in groups] == [100] * (n // 100) + [n % 100] * (n % 100 > 0) or n == 0
    for number in range(0, len(groups), 7):
        assert file.read_row_group(number).equals(table.slice(100 * number, 100))
    filters = [("number", ">", 3), ("repeated", "=", "a")]
    assert parquet.read_table(path, filters=filters).equals(
        table.filter(parquet.filters_to_expression(filters))
    )


def test_columns_with_a_dictionary_keep_it(tmp_path):
    animals = pa.array(["cat", "dog"]).take(pa.array([0, 1, 0, 0] * 9))
    for name, column in (("few", animals.dictionary_encode()), ("text", animals)):
        ew.write(pa.table({"animal": column}), tmp_path / f"{name}.parquet")
        file = parquet.ParquetFile(tmp_path / f"{name}.parquet")
        assert "RLE_DICTIONARY" in file.metadata.row_group(0).column(0).encodings
        assert file.read()["animal"].combine_chunks().equals(column)


def test_every_number_of_threads_writes_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "ROW_GROUP", 100)
    found = set()
    for count in (1, 2, 5):
        monkeypatch.setattr(threads, "count", lambda count=count: count)
        ew.write(table_of(1234), tmp_path / "table.parquet")
        found.add((tmp_path / "table.parquet").read_bytes())
    assert len(found) == 1


def test_an_error_in_one_row_group_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "ROW_GROUP", 10)

    def batches():
        for number in range(9):
            if number == 5:
                raise OSError("the source broke")
            yield pa.record_batch({"a": [number] * 10})

    with pytest.raises(ew.errors.FileError, match="the source broke"):
        ew.write(
            pa.RecordBatchReader.from_batches(pa.schema({"a": pa.int64()}), batches()), tmp_path / "t.parquet"
        )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("count", [1, 2, 5])
def test_text_is_the_same_for_blocks_of_any_size(tmp_path, monkeypatch, count):
    monkeypatch.setattr(threads, "count", lambda: count)
    monkeypatch.setattr(tables, "ROW_GROUP", 100)
    monkeypatch.setattr(tables, "BLOCK", 300)  # whole row groups, so that nothing is left of a block
    rows = [f"{number},n{number}" for number in range(1234)]
    table = pa.table({"number": np.arange(1234), "text": [row.split(",")[1] for row in rows]})
    for given in (table, pa.concat_tables([table[:0], table[:500], table[500:500], table[500:]])):
        ew.write(given, tmp_path / "table.csv")
        assert (tmp_path / "table.csv").read_text().splitlines() == ["number,text", *rows]


def test_no_text_of_a_block_without_rows():
    table = pa.table({"text": ["a", "b"]})
    blocks = pa.concat_tables([table[:0], table, table[2:], table[1:]])
    assert bytes(formatted(blocks, ",")) == b"a\nb\nb\n"
    assert bytes(formatted(table[:0], ",")) == b""
