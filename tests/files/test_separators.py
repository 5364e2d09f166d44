"""The separator of fields, where the first rows do not show it."""

import pytest

import edgewise as ew
from edgewise.command import run
from edgewise.errors import FileError, OptionError


def store(folder, text, name="a.csv"):
    path = folder / name
    path.write_text(text)
    return path


def groups(graph):
    labels = ew.connected_components(graph).labels.tolist()
    found: dict = {}
    for one, label in zip(graph.ids.tolist(), labels, strict=True):
        found.setdefault(label, set()).add(one)
    return sorted(map(sorted, found.values()))


def test_fields_with_more_of_another_separator(tmp_path):
    path = store(tmp_path, "name, first, title;other\nDoe, John, jr;Roe, Jane, dr\nRoe, Jane, dr;Poe, E, A\n")
    with pytest.raises(FileError):
        ew.read(path)
    found = [["Doe, John, jr", "Poe, E, A", "Roe, Jane, dr"]]
    for graph in ew.read(path, sep=";"), ew.read([path, path], sep=";"), ew.read(f"{tmp_path}/*", sep=";"):
        assert groups(graph) == found
    assert groups(ew.read(path, sep=";", where="other != 'x'")) == found
    assert sorted(ew.stream_components(tmp_path, sep=";").graph.ids.to_pylist()) == found[0]
    for stream in [], ["--stream"]:
        assert run(["components", str(path), "--sep", ";", *stream, "-q"]) == 0


@pytest.mark.parametrize("sep", ["\t", "tab", "\\t", ":", "^", "\x01", " ", ";"])
def test_any_separator(tmp_path, sep):
    mark = {"tab": "\t", "\\t": "\t"}.get(sep, sep)
    table = "l;r;w\n1;2;5\n2;3;7\n".replace(";", mark)
    for text, name in (table, "a.csv"), (table.partition("\n")[2], "a.txt"):
        graph = ew.read(store(tmp_path, text, name), sep=sep)
        assert (groups(graph), graph.weights.tolist()) == ([[1, 2, 3]], [5, 7])
    graph = ew.read(
        store(tmp_path, table.replace("1", "a b,c"), "a.csv") if mark != " " else tmp_path / "a.csv", sep=sep
    )
    assert graph.n_edges == 2


@pytest.mark.parametrize(
    "sep", ["", ";;", '"', "'", "\n", "\0", "a", "7", "#", "-", "§", "\\", 5, ["tab"], b";"]
)
def test_what_is_no_separator(tmp_path, sep):
    path = store(tmp_path, "l;r\n1;2\n")
    for read in ew.read, ew.stream_components:
        with pytest.raises(OptionError, match="is no separator; give one character such as"):
            read(path, sep=sep)


def test_separators_are_for_text(tmp_path, capsys):
    ew.write(ew.Graph.from_edges(["a"], ["b"]), tmp_path / "a.parquet")
    store(tmp_path, '{"l": 1, "r": 2}\n', "a.jsonl")
    store(tmp_path, "%%MatrixMarket matrix coordinate integer symmetric\n2 2 1\n2 1 5\n", "a.mtx")
    for name in "a.parquet", "a.jsonl", "a.mtx":
        with pytest.raises(
            OptionError, match=r"sep= means nothing for .*; it is for edge lists and text tables"
        ):
            ew.read(tmp_path / name, sep=";")
    for name in "a.parquet", "a.jsonl":
        with pytest.raises(OptionError, match="sep= means nothing for"):
            ew.stream_components(tmp_path / name, sep=";")
    assert run(["components", str(tmp_path / "a.mtx"), "--sep", ";"]) == 2
    assert "--sep means nothing for" in capsys.readouterr().err
