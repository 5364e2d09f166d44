"""Encodings of text: byte order marks, the option, and the first byte that does not fit."""

import gzip

import pytest

import edgewise as ew
from edgewise.command import run
from edgewise.errors import FileError, OptionError

pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]

TABLE = "left_id;right_id;score\nMüller;René;0.5\nRené;Zoë;0.7\n"
NAMES = ["Müller", "René", "Zoë"]
BOM = "\ufeff".encode()


def names(graph):
    return sorted(graph.ids.to_pylist())


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("packed", [False, True])
def test_marks(tmp_path, encoding, packed):
    path = tmp_path / "a.csv"
    content = TABLE.encode(encoding)
    path.write_bytes(gzip.compress(content) if packed else content)
    for options in {}, {"encoding": "latin-1"}, {"threshold": 0.1}:
        assert names(ew.read(path, **options)) == NAMES
    assert names(ew.read([path, path])) == NAMES
    assert names(ew.stream_components(path).graph) == NAMES
    path.write_bytes(("\ufeff" + TABLE).encode(encoding))  # two marks
    assert names(ew.read(path)) == NAMES


@pytest.mark.parametrize("order", ["le", "be"])
def test_marks_of_both_orders(tmp_path, order):
    for bits in "16", "32":
        path = tmp_path / f"{bits}.csv"
        path.write_bytes(("\ufeff" + TABLE).encode(f"utf-{bits}-{order}"))
        assert names(ew.read(path)) == NAMES
    path.write_bytes(TABLE.encode(f"utf-16-{order}"))
    with pytest.raises(
        FileError, match=f"UTF-16 has without a mark; name its encoding, such as encoding='utf-16-{order}'"
    ):
        ew.read(path)
    assert names(ew.read(path, encoding=f"utf-16-{order}")) == NAMES


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "iso-8859-15", "cp850", "mac-roman"])
def test_the_option(tmp_path, encoding, capsys):
    path = tmp_path / "a.csv"
    path.write_bytes(TABLE.encode(encoding))
    assert names(ew.read(path, encoding=encoding)) == NAMES
    assert names(ew.read([path, path], encoding=encoding)) == NAMES
    assert names(ew.stream_components(path, encoding=encoding).graph) == NAMES
    records = tmp_path / "people.csv"
    records.write_bytes("id,city\nMüller,Köln\nRené,Orléans\nZoë,Aÿ\nJosé,León\n".encode(encoding))
    graph = ew.read(path, encoding=encoding, vertices=records)
    assert names(graph) == sorted([*NAMES, "José"])
    for more in [], ["--stream"], ["--records", str(records)]:
        out = tmp_path / "out.csv"
        assert run(["components", str(path), "--encoding", encoding, "-qo", str(out), *more]) == 0
        assert "René" in out.read_text("utf-8")
    assert run(["convert", str(path), f"{tmp_path}/s/", "--shards", "1", "--encoding", encoding, "-q"]) == 0
    assert names(ew.read(tmp_path / "s")) == NAMES


TEXTS = {
    "a.csv": (TABLE, 2),
    "late.csv": ("l,r\n" + "a,b\n" * 30_000 + "René,b\n", 30_002),
    "names.csv": ("größe,r\na,b\n", 1),
    "a.txt": ("x y\nRené z\n", 2),
    "late.txt": ("x y\n" * 30_000 + "René z\n", 30_001),
    "a.ncol": ("x y\nRené z\n", 2),
    "a.jsonl": ('{"a": "x", "b": "y"}\n{"a": "x", "b": "René"}\n', 2),
    "first.jsonl": ('{"a": "Zoë", "b": "y"}\n', 1),
    "a.gml": ('graph [\nnode [ id "é" ]\nnode [ id "è" ]\nedge [ source "é" target "è" ] ]', 2),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_first_byte_that_does_not_fit(tmp_path, name):
    text, line = TEXTS[name]
    path = tmp_path / name
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(
        FileError, match="not UTF-8; name the encoding of the file, such as encoding='latin-1'"
    ) as caught:
        ew.read(path)
    assert caught.value.line == line
    read = ew.read(path, encoding="latin-1")
    path.write_text(text, "utf-8")
    assert read.ids.to_pylist() == ew.read(path).ids.to_pylist()


def test_labels_that_are_not_used_may_have_any_encoding(tmp_path):
    path = tmp_path / "a.gml"
    path.write_bytes(
        'graph [ node [ id 1 label "é" ] node [ id 2 ] edge [ source 1 target 2 ] ]'.encode("latin-1")
    )
    assert ew.read(path).n_edges == 1


def test_text_that_is_not_as_named(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(TABLE.encode("utf-16")[:-3])
    with pytest.raises(FileError, match=r"byte \d+ of the file \(0x..\) is not utf-16") as caught:
        ew.read(path)
    assert caught.value.line == 3
    path.write_bytes(b"l;r\na;b\nRen\xe9;\x81\n")
    with pytest.raises(FileError, match=r":3: byte 14 of the file \(0x81\) is not cp1252"):
        ew.read(path, encoding="windows-1252")
    for given in "klingon", "base64", 5:
        with pytest.raises(OptionError, match="is unknown; usual ones are utf-8"):
            ew.read(path, encoding=given)
    with pytest.raises(OptionError, match="did you mean latin-1"):
        ew.read(path, encoding="lattin-1")


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".npz", ".sg"])
def test_encodings_are_for_text(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    ew.write(ew.Graph.from_edges([0, 1], [1, 2], n_vertices=3), path)
    with pytest.raises((OptionError, FileError)):
        ew.read(path, encoding="latin-1")


def test_xml_states_its_own_encoding(tmp_path):
    path, start = tmp_path / "a.graphml", '<?xml version="1.0" encoding="{}"?>'
    text = start + '<graphml><graph><edge source="é" target="è"/></graph></graphml>'
    for encoding in "latin-1", "utf-8", "utf-16":
        path.write_bytes(text.format(encoding).encode(encoding))
        assert ew.read(path).ids.to_pylist() == ["é", "è"]
        assert ew.read(path, encoding=encoding).ids.to_pylist() == ["é", "è"]


MARKED = {
    "a.txt": b"1 2\n1 4\n",
    "b.txt": b"a b\na d\n",
    "a.csv": b"l,r\n1,2\n1,4\n",
    "b.csv": b"l,r\na,b\na,d\n",
    "a.jsonl": b'{"a": 1, "b": 2}\n{"a": 1, "b": 4}\n',
    "a.graph": b"3 2\n2 3\n1\n1\n",
    "a.gr": b"p sp 3 2\na 1 2 1\na 1 3 1\n",
    "a.mtx": b"%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n1 3\n",
    "a.ncol": b"a b\na c\n",
}


@pytest.mark.parametrize("name", MARKED)
def test_marks_of_utf_8(tmp_path, name):
    plain = tmp_path / name
    plain.write_bytes(MARKED[name])
    wanted = ew.read(plain)
    ids = [str(one) for one in wanted.ids.tolist()]
    for count in 1, 2, 3:
        plain.write_bytes(BOM * count + MARKED[name])
        found = ew.read(plain)
        assert [str(one) for one in found.ids.tolist()] == ids and found.n_edges == wanted.n_edges
    lines = MARKED[name].split(b"\n")
    lines[2 if len(lines) > 3 else 1] = BOM + lines[2 if len(lines) > 3 else 1]
    plain.write_bytes(b"\n".join(lines))
    with pytest.raises(FileError, match=r"byte order mark begins this line|not an integer|sizes") as caught:
        ew.read(plain)
    assert caught.value.line in (2, 3)
