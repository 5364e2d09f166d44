"""Files that are not there, cut off, damaged or something else: one line each, and what to do."""

import bz2
import gzip
import lzma
import os

import numpy as np
import pyarrow as pa
import pytest

import edgewise as ew
from edgewise.errors import FileError

TEXT = b"".join(b"%d %d\n" % (i, i * 7919 % 10007) for i in range(20000))
PACKERS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: pa.Codec("zstd").compress(data).to_pybytes(),
}


def message(path, **options):
    with pytest.raises(FileError) as caught:
        ew.read(path, **options)
    text = str(caught.value)
    assert text.startswith(str(path))
    assert "\n" not in text
    return text


@pytest.mark.parametrize("packer", PACKERS)
def test_compressed_cut_off_and_damaged(tmp_path, packer):
    path = tmp_path / f"a.txt.{packer}"
    packed = PACKERS[packer](TEXT)
    path.write_bytes(packed)
    assert ew.read(path).n_edges == 20000
    path.rename(tmp_path / "a.txt")
    assert ew.read(tmp_path / "a.txt").n_edges == 20000
    path.write_bytes(packed[: len(packed) // 2])
    assert "cut off or damaged" in message(path)
    path.write_bytes(packed[:8])
    assert "cut off or damaged" in message(path)
    if packer != "zst":  # pyarrow writes no checksum there
        path.write_bytes(packed[:-12] + bytes(12))
        assert "cut off or damaged" in message(path)


@pytest.mark.parametrize("packer", ["gz", "xz"])
@pytest.mark.parametrize("kind", ["mtx", "graph", "gr", "sg", "npz"])
def test_compressed_formats_cut_off(tmp_path, packer, kind):
    random = np.random.default_rng(0)
    graph = ew.Graph.from_edges(*random.integers(0, 5000, (2, 30000)), n_vertices=5000, self_loops="drop")
    ew.write(graph, tmp_path / f"a.{kind}.{packer}")
    packed = (tmp_path / f"a.{kind}.{packer}").read_bytes()
    (tmp_path / f"b.{kind}.{packer}").write_bytes(packed[: len(packed) * 2 // 3])
    message(tmp_path / f"b.{kind}.{packer}")
    if packer == "gz":
        content = gzip.decompress(packed)
        (tmp_path / f"c.{kind}").write_bytes(content[: len(content) * 2 // 3])
        message(tmp_path / f"c.{kind}")


def test_nothing_there(tmp_path):
    assert "no such file" in message(tmp_path / "a.txt")
    assert "no file of pairs" in message(tmp_path)
    (tmp_path / "a.txt").write_bytes(b"")
    assert "is empty" in message(tmp_path / "a.txt")
    (tmp_path / "a.txt").write_bytes(b" \n\n")
    assert "nothing but blanks" in message(tmp_path / "a.txt")
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b""))
    assert "nothing but blanks" in message(tmp_path / "a.txt.gz")
    assert "device or a pipe" in message("/dev/zero")


def test_not_allowed(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text("1 2\n")
    path.chmod(0)
    if os.access(path, os.R_OK):  # as root nothing is forbidden

        def refuse(*arguments, **options):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("builtins.open", refuse)
    assert "may not be read" in message(path)


def test_vanished_between_two_looks(tmp_path):
    from edgewise.files import edgelist
    from edgewise.files.formats import Options
    from edgewise.files.streams import Source, reading

    path = tmp_path / "a.txt"
    path.write_text("1 2\n")
    source = Source(path)
    path.unlink()
    with pytest.raises(FileError, match="no such file"), reading(path):
        edgelist.read(source, Options())


FOREIGN = {
    b"\x89HDF\r\n\x1a\n": "HDF5",
    b"%PDF-1.4": "PDF",
    b"FEA1....": "Feather",
    b"SQLite format 3\0": "SQLite",
    b"\x07\x08\0\0": "is binary",
    b"<html><body>404</body></html>": "HTML",
    b"PAR1" + bytes(20): "",
    b"ARROW1" + bytes(20): "",
    b"PK\x03\x04" + bytes(20): "archive",
}


@pytest.mark.parametrize("content", FOREIGN)
def test_something_else(tmp_path, content):
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    assert FOREIGN[content] in message(path)


def test_an_archive_of_something_else(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.arange(3))
    assert "holds x, no graph" in message(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", edgewise=np.array([{}], object), shape=np.array([1, 0]))
    assert "no graph" in message(tmp_path / "b.npz")


FAULTY = {
    "a.graph": {
        "4 2\n2\n1 3\n": (1, "only 3 rows"),
        "3 2\n2\n1 3\n": (1, "2 edges need 4 entries, but 3 found"),
        "2 1\n2\n1\n1\n": (4, "a row beyond the 2 vertices"),
        "% c\n2 1\n2\n%\n3\n": (5, "neighbour 3 is not in 1 .. 2"),
        "2 1\n2\n0\n": (3, "neighbour 0"),
        "3 2\n2 3\n1\n2\n": (2, "vertex 1 lists 3, but not the other way round"),
        "2 1 1\n2 5\n1 6\n": (2, "with the same weight"),
        "3 3 1\n2 5 3 5\n1 5\n1 5\n": (1, "3 edges need 6 entries, but 4 found"),
        "2 1 1\n2\n1 6 7\n": (2, "a neighbour without the weight"),
        "2 1\n2\nx\n": (3, "not an integer: 'x'"),
        "2 1 7\n2\n1\n": (1, "fmt=007"),
        "2\n2\n1\n": (1, "the first row of METIS"),
        "2 5\n2\n1\n": (1, "5 edges need 10 entries, but 2 found"),
        "2 1 10 2\n1 2 2\n1\n": (3, "2 vertex weights expected"),
    },
    "a.gr": {
        "p sp 2 1\na 1 2 3\na 2 1 3\n": (1, "1 edges promised, but 2 found"),
        "c x\np sp 2 1\na 1 3 3\n": (3, "vertex 3 is not in 1 .. 2"),
        "p sp 2 1\na 0 2 3\n": (2, "vertex 0"),
        "p sp 2 1\nb 1 2 3\n": (2, "a row that starts with 'a'"),
        "p sp 2 1\na 1 2\n": (2, "4 columns expected"),
        "p sp 2 2\na 1 2 3\nc ok\na 2 1 x\n": (4, "the weight 'x'"),
        "p sp two 2\n": (1, "p kind n m"),
    },
    "a.smat": {
        "2 3 1\n0 1 1\n": (1, "a square matrix"),
        "2 2 2\n0 1 1\n": (1, "2 edges promised, but 1 found"),
        "2 2 1\n0 2 1\n": (2, "vertex 2 is not in 0 .. 1"),
    },
    "a.jlg": {
        "2,1,u\n1,3\n": (2, "vertex 3 is not in 1 .. 2"),
        "2,2,u\n1,2\n": (1, "2 edges promised"),
    },
    "a.ncol": {
        "a b\nc\n": (2, "two names"),
        "a b c d\n": (1, "found 4 fields"),
        "a b x\n": (1, "not a number"),
    },
    "a.lg": {
        "t 2 1\nv 0 0 1\nv 1 0 1\ne 0 2\n": (4, "vertex 2 is not in 0 .. 1"),
        "t 2 2\nv 0 0 1\nv 1 0 1\ne 0 1\n": (1, "2 edges promised"),
    },
    "a.tntp": {
        "<NUMBER OF NODES> 2\n<NUMBER OF LINKS> 1\n<END OF METADATA>\n~\ta\tb\tlength\t;\n\t1\t3\t5\t;\n": (
            5,
            "vertex 3",
        ),
        "<NUMBER OF NODES> 2\n<END OF METADATA>\n": (None, "NUMBER OF LINKS"),
        "<NUMBER OF NODES> 2\n": (None, "END OF METADATA"),
    },
    "a.gml": {
        "graph [ node [ id 0 ]\n edge [ source 0 target 5 ] ]": (2, "the node 5, which is undefined"),
        "graph [ node [ id 0 ]\n node [ id 0 ] ]": (2, "node 0 is there twice"),
        "graph [ node [ label 0 ] ]": (1, "this node has no id"),
        "graph [\n node [ id 0 ]\n": (3, "the file ends within an item"),
        "graph [ node [ id ] ]": (1, "the value of 'id' is missing"),
        "graph [ 5 6 ]": (1, "a name expected, but found '5'"),
    },
    "a.graphml": {
        '<?xml version="1.0"?>\n<graphml><graph edgedefault="directed">\n<node id="a">\n': (
            4,
            "no element found",
        ),
    },
    "a.mtx": {
        "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 1\n": (None, "the matrix is 2 x 3"),
        "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1 1\n": (None, "complex"),
    },
}
CASES = [(name, text) for name, texts in FAULTY.items() for text in texts]


@pytest.mark.parametrize(("name", "text"), CASES, ids=lambda value: repr(value[:24]))
def test_faulty_formats(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    line, part = FAULTY[name][text]
    assert part in message(path)
    with pytest.raises(FileError) as caught:
        ew.read(path)
    assert caught.value.line == line


def test_ldbc_without_its_other_half(tmp_path):
    (tmp_path / "a.v").write_text("1\n2\n")
    assert "a.e is missing" in message(tmp_path / "a.v", format="ldbc")
    (tmp_path / "a.e").write_text("1 3\n")
    with pytest.raises(FileError, match=r"vertex 3 is not in the \.v file"):
        ew.read(tmp_path / "a.v")


def test_damaged_gap(tmp_path):
    graph = ew.Graph.from_edges(np.array([0, 1]), np.array([1, 2]), n_vertices=3)
    ew.write(graph, tmp_path / "a.sg")
    good = (tmp_path / "a.sg").read_bytes()
    for bad in (good[:20], good[:-1], b"\x07" + good[1:], good[:9] + b"\xff" * 8 + good[17:]):
        (tmp_path / "b.sg").write_bytes(bad)
        message(tmp_path / "b.sg")
    (tmp_path / "b.sg").write_bytes(good[:-4] + b"\x09\0\0\0")
    assert "outside 0 .. 2" in message(tmp_path / "b.sg")


def test_options_of_other_formats(tmp_path):
    (tmp_path / "a.graph").write_text("2 1\n2\n1\n")
    for option in ({"where": "x > 1"}, {"one_based": True}, {"source": 0, "target": 1}):
        with pytest.raises(ew.errors.OptionError, match="means nothing for METIS"):
            ew.read(tmp_path / "a.graph", **option)


def test_messages_are_one_line_whatever_the_names_are(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"a\x0bb,c\x1b[31m,d,e\xe2\x80\xa8f\nx,y,z,w\n")
    assert r"a\x0bb, c\x1b[31m, d, e\u2028f" in message(tmp_path / "a.csv")


@pytest.mark.interpreter
@pytest.mark.parametrize("neighbour", [2, -1, 2**31 - 1])
def test_neighbours_in_gap_are_vertices(tmp_path, neighbour):
    ew.write(ew.Graph.from_edges([0], [1]), tmp_path / "a.sg")
    content = bytearray((tmp_path / "a.sg").read_bytes())
    content[-4:] = neighbour.to_bytes(4, "little", signed=True)
    (tmp_path / "a.sg").write_bytes(content)
    with pytest.raises(ew.errors.FileError, match=r"a neighbour is outside 0 \.\. 1"):
        ew.read(tmp_path / "a.sg")


@pytest.mark.interpreter
@pytest.mark.parametrize("directed", [None, True])
@pytest.mark.parametrize("neighbour", [0, 3])
def test_neighbours_in_metis_are_numbered_from_one(tmp_path, neighbour, directed):
    (tmp_path / "a.graph").write_text(f"2 1\n2\n{neighbour}\n")
    with pytest.raises(ew.errors.FileError, match=f":3: neighbour {neighbour} is not in 1 .. 2"):
        ew.read(tmp_path / "a.graph", directed=directed)
