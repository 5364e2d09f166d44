"""Strings of some rows, gathered by the loops, are those that Arrow gathers."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from edgewise import tuning
from edgewise.ingest import string_rows
from edgewise.ingest.string_rows import take

pytestmark = pytest.mark.interpreter
WORDS = ["", "a", "ab", "a longer one", "of seventeen byte", "ümlaut", "x" * 40]


@pytest.fixture(autouse=True)
def loops_for_all(monkeypatch):
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, ingest_first=1, ingest_strings=0))


@pytest.mark.parametrize("kind", [pa.string(), pa.binary(), pa.large_string(), pa.large_binary()], ids=str)
@pytest.mark.parametrize("dtype", [np.uint32, np.int32, np.int64])
def test_rows_are_those_of_arrow(kind, dtype):
    column = pa.array(WORDS * 3).cast(kind)[2:]
    rows = np.random.default_rng(2).integers(0, len(column), 50).astype(dtype)
    found = take(column, rows)
    found.validate(full=True)
    assert found.equals(column.take(pa.array(rows)))


@pytest.mark.parametrize("column", [pa.array(["a", None]), pa.array([1.5, 2.5]), pa.array([""] * 2)], ids=str)
def test_other_columns(column):
    rows = np.array([1, 0, 1])
    assert take(column, rows).equals(column.take(pa.array(rows)))


@pytest.mark.parametrize("rows", [[0, 2], [-1, 0]])
def test_rows_that_are_not_there(rows):
    with pytest.raises(pa.ArrowIndexError):
        take(pa.array(["a", "b"]), np.array(rows))


def test_more_bytes_than_short_offsets_reach(monkeypatch):
    column, sizes = pa.array(["a", "b"]), iter([1 << 31])
    monkeypatch.setattr(string_rows, "find_rows", lambda *_: next(sizes))
    assert take(column, np.array([1])).to_pylist() == ["b"]
