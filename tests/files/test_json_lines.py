"""JSON Lines, and text that only looks like rows of edges."""

import bz2
import gzip

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
        ('{"a":1.5,"b":2}\n', "column 'a' holds double; ids are integers or strings"),
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
