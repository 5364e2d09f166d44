"""Several thresholds of tables that are read once: as of the graph that is read from them."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import edgewise as ew
from edgewise.errors import FileError, GraphError, OutOfMemoryError
from edgewise.streams import READING
from edgewise.streams import nested as page
from edgewise.streams.file_stream import FileStream
from edgewise.streams.nested import JoinNested, NestedReducer
from edgewise.workers import device_team

THRESHOLDS = (0.2, 0.5, 0.7, 0.9)
KINDS = {
    "all numbers": lambda numbers: numbers,
    "numbers": lambda numbers: 3 * numbers + 5,
    "far apart": lambda numbers: numbers.astype(np.int64) * 10**14 - 10**15,
    "large": lambda numbers: numbers.astype(np.uint64) + np.uint64(2**64 - 500),
    "strings": lambda numbers: [f"r{number:04}" for number in numbers],
}


def table_of(kind="numbers", rows=3000, seed=0, scores=None):
    draw = np.random.default_rng(seed)
    ends = draw.integers(0, 400, (2, rows))
    ends[1, ::50] = ends[0, ::50]
    scores = draw.random(rows).round(2) if scores is None else scores(draw, rows)
    return pa.table({"l": KINDS[kind](ends[0]), "r": KINDS[kind](ends[1]), "score": scores})


def streamed(path, thresholds=THRESHOLDS, n_vertices=None, **columns):
    reading = dict.fromkeys(READING) | {"null": "error", "threshold": thresholds[0]} | columns
    problem = JoinNested(thresholds, columns.get("score"))
    return FileStream(path, reading, problem, n_vertices, device_team("cpu")).run()


def check(path, thresholds=THRESHOLDS, **columns):
    found = streamed(path, thresholds, **columns)
    graph = ew.read(path, weight=True, threshold=thresholds[0], **columns)
    expected = ew.connected_components(graph, thresholds=thresholds)
    assert found.method == "rem, streamed" and found.graph.is_weighted
    assert found.summary().equals(expected.summary())
    assert found.labels.tolist() == expected.labels.tolist()
    for name in ("first", "min", "row"):
        assert found.to_frame(name).equals(expected.to_frame(name))
    assert found.to_frame(min_size=3).equals(expected.to_frame(min_size=3))
    assert found.verify(graph) is found
    with pytest.raises(GraphError, match="were not kept"):
        found.verify()
    return found


@pytest.mark.interpreter
@pytest.mark.parametrize("row_group", [100_000, 400])
@pytest.mark.parametrize("kind", KINDS)
def test_all_kinds_of_ids(tmp_path, kind, row_group):
    """In one row group, and in many, whose rows are joined while others are decoded."""
    parquet.write_table(table_of(kind), tmp_path / "t.parquet", row_group_size=row_group)
    check(tmp_path / "t.parquet")


@pytest.mark.parametrize("suffix", ["csv", "arrow"])
@pytest.mark.parametrize("kind", KINDS)
def test_tables_that_do_not_say_how_large_ids_are(tmp_path, kind, suffix):
    ew.write(table_of(kind), tmp_path / f"t.{suffix}")
    check(tmp_path / f"t.{suffix}")


def test_several_files(tmp_path):
    for number in range(3):
        parquet.write_table(table_of(seed=number), tmp_path / f"{number}.parquet", row_group_size=500)
    assert check(tmp_path).graph.files == 3


@pytest.mark.parametrize(
    "scores",
    [
        lambda draw, rows: draw.random(rows).round(1).astype(np.float32),
        lambda draw, rows: draw.integers(-2, 3, rows),
        lambda draw, rows: pa.array(draw.random(rows).round(2)).cast(pa.decimal128(12, 2), safe=False),
        lambda draw, rows: pa.array(draw.random(rows), mask=draw.random(rows) < 0.3),
        lambda draw, rows: np.where(draw.random(rows) < 0.3, np.nan, draw.random(rows)),
    ],
)
@pytest.mark.parametrize("row_group", [100_000, 400])
def test_types_of_scores(tmp_path, scores, row_group):
    parquet.write_table(table_of(scores=scores), tmp_path / "t.parquet", row_group_size=row_group)
    check(tmp_path / "t.parquet", null="drop")


def test_rows_below_all_thresholds_name_their_ids(tmp_path, monkeypatch):
    """Where the condition on the rows keeps more than the thresholds do."""
    table = table_of(scores=lambda draw, rows: draw.random(rows).round(2))
    for row_group in (100_000, 400):
        parquet.write_table(table, tmp_path / "t.parquet", row_group_size=row_group)
        reading = {"threshold": 0.1}
        found = streamed(tmp_path / "t.parquet", (0.97, 0.99), **reading)
        graph = ew.read(tmp_path / "t.parquet", weight=True, **reading)
        assert found.to_frame().equals(ew.connected_components(graph, thresholds=(0.97, 0.99)).to_frame())


def test_an_id_beyond_those_that_are_promised(tmp_path):
    parquet.write_table(table_of(), tmp_path / "t.parquet", row_group_size=400)
    assert streamed(tmp_path / "t.parquet", n_vertices=5000).labels.shape[0] == 4
    with pytest.raises(FileError, match=r"is no vertex number, as these run from 0 to 99"):
        streamed(tmp_path / "t.parquet", n_vertices=100)


@pytest.mark.parametrize("row_group", [4, 2])
def test_an_id_beyond_those_that_a_footer_states(tmp_path, row_group):
    """A file of another writer may be wrong; then there is a message that says so."""
    table = pa.table({"l": [1, 2, 3, 1], "r": [2, 3, 9, 3], "score": [0.5, 0.6, 0.7, 0.9]})
    options = {"use_dictionary": False, "compression": "none", "row_group_size": row_group}
    parquet.write_table(table, path := tmp_path / "t.parquet", **options)
    stated, other = np.array([9, 3]).tobytes(), np.array([9 * 10**10, 3]).tobytes()
    path.write_bytes(path.read_bytes().replace(stated, other, 1))
    with pytest.raises(FileError, match="an id beyond the range that its footer states; write the file anew"):
        streamed(path)


def test_other_columns(tmp_path):
    table = table_of().append_column("other", pa.array(np.linspace(0, 1, 3000)))
    parquet.write_table(table, tmp_path / "t.parquet")
    check(tmp_path / "t.parquet", source="l", target="r", score="other", where="score > 0.1")
    with pytest.raises(GraphError, match="holds string"):
        texts = table_of(scores=lambda draw, rows: ["x"] * rows)
        parquet.write_table(texts, tmp_path / "s.parquet")
        streamed(tmp_path / "s.parquet")


def test_memory_is_checked(monkeypatch):
    reducer = NestedReducer()
    reducer.grow_to(7)
    monkeypatch.setattr(page.arrays, "free_memory", lambda device: 1000)
    with pytest.raises(OutOfMemoryError, match=r"vertices up to 99,999: 800,000 bytes needed, 1,000 free"):
        reducer.reserve(100_000)


def test_pandas_is_not_imported(tmp_path):
    """It takes as long as ten million rows on many cores; only a process of its own has none."""
    parquet.write_table(table_of(), tmp_path / "t.parquet", row_group_size=400)
    words = ["components", str(tmp_path / "t.parquet"), "--thresholds", "0.5,0.9", "--stream"]
    code = f"import sys; from edgewise.command import run; run({[*words, '-o', str(tmp_path / 'o.parquet')]})"
    subprocess.run([sys.executable, "-c", f"{code}; sys.exit('pandas' in sys.modules)"], check=True)
