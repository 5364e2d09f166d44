"""JSON Lines, and text that only looks like rows of edges."""

import bz2
import gzip
import json

import numpy as np
import pyarrow as pa
import pytest

import edgewise as ew
from edgewise.command import run
from edgewise.errors import FileError

ROWS = '{"a": "x", "b": "y", "w": 0.5}\n{"a": "z", "b": "x", "w": 2, "other": {"of": [1]}}\n'


def text(folder, content, name="pairs.jsonl"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a", "a.csv", "a.ncol", "a.graph"])
@pytest.mark.parametrize("change", [str.encode, lambda rows: gzip.compress(rows.encode())])
def test_objects_are_rows_whatever_the_name(tmp_path, name, change):
    graph = ew.read(text(tmp_path, change(ROWS), name), source="a", target="b", weight="w")
    assert (graph.ids.to_pylist(), graph.n_edges) == (["x", "y", "z"], 2)
    assert graph.weights.tolist() == [0.5, 2]


@pytest.mark.parametrize(
    "rows",
    [
        '{"a":1,"b":2}\n{"a":2,"b":3}\n',
        '\ufeff\n {"b":2,"a":1}\r\n\r\n{"a":2,"b":3}',
    ],
)
def test_forms_of_the_same_rows(tmp_path, rows):
    graph = ew.read(text(tmp_path, rows))
    assert (graph.ids.tolist(), graph.n_edges) == ([1, 2, 3], 2)


def test_conditions_folders_streams_and_the_command(tmp_path, capsys):
    folder = tmp_path / "rows"
    folder.mkdir()
    text(folder, ROWS, "1.jsonl")
    text(folder, '{"b": "v", "a": "u", "w": 1}\n', "2.ndjson")
    text(folder, bz2.compress(b'{"b": "v", "a": "t", "w": 1}\n'), "3.jsonl.bz2")
    chosen = {"source": "a", "target": "b"}
    assert ew.read(folder, **chosen).n_edges == 4
    assert ew.read(folder, **chosen, where="w >= 1").ids.to_pylist() == ["z", "x", "u", "v", "t"]
    assert ew.stream_components(folder, **chosen, where="w >= 1").count == 2
    assert (
        run(["convert", str(folder / "1.jsonl"), str(tmp_path / "a.csv"), "--source", "a", "--target", "b"])
        == 0
    )
    assert (tmp_path / "a.csv").read_text() == "source,target\nx,y\nz,x\n"
    capsys.readouterr()


def test_weights_that_become_fractions_and_ids_that_are_late(tmp_path):
    rows = '{"a":null,"b":null,"w":1}\n' * 9000 + '{"a":"x","b":"y","w":1}\n{"a":"x","b":"y","w":0.5}\n'
    graph = ew.read(text(tmp_path, rows), null="drop")
    assert (graph.weights.tolist(), graph.ids.to_pylist()) == ([1, 0.5], ["x", "y"])


def test_strings_keep_all_their_characters(tmp_path):
    graph = ew.read(text(tmp_path, '{"a":"x","b":"x\\u0000"}\n{"a":"007","b":"2024-01-01"}\n'))
    assert graph.ids.to_pylist() == ["x", "x\0", "007", "2024-01-01"]


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ('{"a":1,"b":2}\n' * 9000 + '{"a":1,"b', "jsonl:9001: one JSON object expected, but found"),
        ('{"a":1,"b":2}\n' * 9000 + '{"a":1,"b":"2"}\n', "jsonl:9001: 'b' is text here, but int64 in other"),
        ('{"a":1,"b":2}\n' * 9000 + "[1,2]\n", "jsonl:9001: one JSON object expected"),
        ('{"a":1,"b":2}\n{"a":007,"b":2}\n', "jsonl:2: one JSON object expected"),
        ('{"a":1,"b":2}\n{"a":1,"b":[3]}\n', "column 'b' holds struct"),
        ('{"a":1,"b":2}\n{"a":1}\n', "'b' is null in row 2"),
        ('{"a":1,"b":"2"}\n', "column 'a' holds int64, 'b' holds string"),
        ('{"a":1.5,"b":2}\n', "column 'a' holds double (float, DOUBLE); ids are integers or strings"),
        (b'{"a":"x","b":"y"}\n{"a":"x","b":"\xff"}\n', "jsonl:2: "),
        ('{"a":"x","b":"y","a":"z"}\n', "jsonl:1: cannot be parsed"),
        ('{"a":1,"b":36893488147419103232}\n', "jsonl:1: cannot be parsed"),
        ('{\n"a":1,\n"b":2\n}\n', ":1: looks like JSON that is not JSON Lines"),
        ('[{"a":1,"b":2}]\n', ":1: looks like JSON that is not JSON Lines"),
        ("x y\n# c\n[1, 2]\n", ":3: looks like JSON"),
        ("from,to\n<html>,b\n", ":2: looks like XML or HTML"),
    ],
)
def test_what_is_refused(tmp_path, rows, problem):
    with pytest.raises(FileError) as raised:
        ew.read(text(tmp_path, rows))
    assert problem in str(raised.value)
    assert "\n" not in str(raised.value)


def test_names_in_brackets_are_read_where_the_format_is_given(tmp_path):
    path = text(tmp_path, "[CLS] <s>\n<s> {}\n", "a.txt")
    assert ew.read(path, format="el").ids.to_pylist() == ["[CLS]", "<s>", "{}"]
    path = text(tmp_path, "{from},to\n1,2\n", "a.csv")
    assert ew.read(path, format="csv").ids.tolist() == [1, 2]
    with pytest.raises(FileError, match=r"is not JSON Lines; write one object"):
        ew.read(path, format="jsonl")


def test_every_value_is_written_exactly(tmp_path):
    """As Python's own reader of JSON understands it."""
    values = {
        "int": pa.array([1, None, -(2**63)], pa.int64()),
        "unsigned": pa.array([2**64 - 1, 0, None], pa.uint64()),
        "float": pa.array([0.1, float("inf"), None]),
        "other": pa.array([-float("inf"), 3.0, 1e300]),
        'a "name"\n': pa.array(['a"b\\c\n\x01é☃𝄞', "", None]),
        "bool": pa.array([True, None, False]),
        "null": pa.nulls(3),
        "list": pa.array([["x"], None, []]),
        "few": pa.array(["x", "y", "x"]).dictionary_encode(),
    }
    table = pa.table(values)
    ew.write(table, tmp_path / "a.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().split("\n")[:-1]]
    assert rows == table.to_pylist()
    assert [type(row["other"]) for row in rows] == [float] * 3
    ew.write(pa.table({"x": [float("nan")]}), tmp_path / "a.jsonl")
    assert (tmp_path / "a.jsonl").read_text() == '{"x": NaN}\n'
    ew.write(table.slice(1, 0), tmp_path / "a.jsonl")
    assert (tmp_path / "a.jsonl").read_bytes() == b""
    with pytest.raises(FileError, match=r"a\.jsonl: JSON cannot hold such a column .*; write \.parquet"):
        ew.write(pa.table({"x": [b"\xff"]}), tmp_path / "a.jsonl")
    assert (tmp_path / "a.jsonl").read_bytes() == b""


@pytest.mark.parametrize(
    "ids",
    [
        np.array([2**63 - 1, 5, -(2**63)]),
        np.array([2**64 - 1, 2**63, 1], np.uint64),
        pa.array(["", ' a"\\', "007"]),
        pa.array(["\x00é", "\n", "null"]),
    ],
)
def test_edges_are_read_as_they_were_written(ids, tmp_path):
    others = ids.take([1, 2, 0]) if isinstance(ids, pa.Array) else np.roll(ids, 1)
    graph = ew.Graph.from_edges(ids, others, weights=[0.1, float("inf"), 1e-300])
    ew.write(graph, tmp_path / "a.jsonl.gz")
    read = ew.read(tmp_path / "a.jsonl.gz")
    assert list(read.ids) == list(graph.ids)
    for name in ("sources", "targets", "weights"):
        assert (getattr(read, name) == getattr(graph, name)).all()


def test_ids_of_64_bits_may_come_late(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1, "b": 2}\n' * 10_000 + '{"a": 1, "b": 18446744073709551615}\n')
    assert ew.read(path).ids.tolist() == [1, 2, 2**64 - 1]
    path.write_text('{"a": -1, "b": 18446744073709551615}\n')
    with pytest.raises(FileError, match=r"a\.jsonl:1: 'a' is a whole number here, but uint64 in other rows"):
        ew.read(path)
