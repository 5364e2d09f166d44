"""Small compressed files that hold all too much: refused with little work, within little memory."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse

import edgewise as ew
from edgewise.errors import FileError
from edgewise.files import npz, streams, text_blocks
from tests.files.seed_files import pack

MTX = b"%%MatrixMarket matrix coordinate pattern general\n"
#: Name, beginning, and what follows it again and again.
BOMBS = [
    ("newlines.el", b"", b"\n"),
    ("blanks.el", b"", b" "),
    ("comments.el", b"", b"# a comment\n"),
    ("one-line.el", b"", b"1 "),
    ("digits.el", b"", b"1"),
    ("newlines-after.el", b"1 2\n2 3\n", b"\n"),
    ("blanks-after.el", b"1 2\n2 3\n", b" "),
    ("comments-after.el", b"1 2\n2 3\n", b"#\n"),
    ("repeated.el", b"", b"1 2\n"),
    ("names.csv", b"", b"a,"),
    ("commas.csv", b"a,b\n1,2\n", b","),
    ("quote.csv", b'a,b\n1,"', b"x"),
    ("newlines.csv", b"a,b\n", b"\n"),
    ("rows.csv", b"a,b\n", b"x,y\n"),
    ("objects.jsonl", b"", b'{"a": 1, "b": 2}\n'),
    ("object.jsonl", b'{"a": "', b"x"),
    ("newlines.mtx", MTX, b"\n"),
    ("comments.mtx", MTX, b"%\n"),
    ("newlines.graph", b"2 1\n2\n1\n", b"\n"),
    ("row.graph", b"2 1\n2\n", b"1 "),
    ("comments.gr", b"p sp 2 1\n", b"c\n"),
    ("blanks.gml", b"graph [ ", b" "),
    ("nodes.gml", b"graph [ ", b"node [ id 1 ] "),
    ("brackets.gml", b"graph [ ", b"a [ "),
    ("string.gml", b'graph [ a "', b"x"),
    ("nodes.graphml", b"<graphml><graph>", b"<node id='a'/>"),
    ("text.graphml", b"<graphml><graph>", b"x"),
    ("newlines.jlg", b"2,1,u\n1,2\n", b"\n"),
    ("vertices.lg", b"t 2 1\n", b"v\n"),
    ("newlines.ncol", b"a b\n", b"\n"),
    ("names.ncol", b"a b\n", b"a "),
    ("newlines.tntp", b"<NUMBER OF NODES> 2\n", b"\n"),
    ("newlines.smat", b"2 2 1\n0 1 1\n", b"\n"),
]


def refusal(path):
    with pytest.raises(FileError) as caught:
        ew.read(path)
    text = str(caught.value)
    assert len(text.splitlines()) == 1
    return text


@pytest.mark.parametrize(("name", "first", "unit"), BOMBS, ids=[name for name, *_ in BOMBS])
def test_each_is_refused(tmp_path, monkeypatch, name, first, unit):
    for limit in ("FREE_BYTES", "WHOLE_HEAD"):
        monkeypatch.setattr(streams, limit, 1 << 20)
    path = tmp_path / f"{name}.zst"
    path.write_bytes(pack(first + unit * (streams.FREE_BYTES // len(unit) + 1), "zst"))
    assert "more than 200 times" in (text := refusal(path)) or "first 1,048,576 bytes" in text


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
def test_each_compression(tmp_path, kind):
    path = tmp_path / f"a.el.{kind}"
    path.write_bytes(pack(b"1 2\n" + b"\n" * streams.FREE_BYTES, kind))
    assert f"more than 200 times its {path.stat().st_size:,} bytes" in refusal(path)
    path.write_bytes(pack(b"1 2\n" + b"\n" * 100_000, kind))
    assert ew.read(path).n_edges == 1


def test_head_of_blanks(tmp_path):
    """An uncompressed file is searched for a row, but not without end."""
    path = tmp_path / "a.el"
    path.write_bytes(b"# c\n" * 300_000 + b"1 2\n2 3\n")
    assert ew.read(path).n_edges == 2
    path.write_bytes(b"# c\n" * (streams.WHOLE_HEAD // 4) + b"1 2\n2 3\n")
    assert "no row ends in the first 16,777,216 bytes" in refusal(path)


@pytest.mark.parametrize("name", ["a.el", "a.graph", "a.ncol", "a.csv"])
def test_longest_line(tmp_path, monkeypatch, name):
    path = tmp_path / name
    head = {"a.graph": b"2 1\n", "a.csv": b"x,y\n1,2\n"}.get(name, b"1 2\n2 3\n")
    path.write_bytes(head + b"1 " * (3 * text_blocks.BLOCK // 2) + b"\n1\n")
    text = refusal(path)
    monkeypatch.setattr(text_blocks, "LINE_BYTES", text_blocks.BLOCK)
    text = refusal(path)
    assert "is longer than 4,194,304 bytes" in text


SCRIPT = """
import resource, sys, time
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
import edgewise as ew
for path in sys.argv[1:]:
    start = time.process_time()
    try:
        ew.read(path)
    except ew.errors.EdgewiseError as error:
        print(len(str(error).splitlines()), time.process_time() - start)
"""


@pytest.mark.release
def test_a_gibibyte_in_four(tmp_path):
    """1 GiB of newlines, of comments and of one line, with an address space of 4 GiB."""
    paths = []
    for name, first, unit in BOMBS[0], BOMBS[6], BOMBS[7], ("zeros.sg", bytes(20), bytes(1)):
        paths.append(tmp_path / f"{name}.zst")
        block = unit * ((1 << 22) // len(unit))
        with pa.output_stream(str(paths[-1]), compression="zstd") as stream:
            stream.write(first)
            for _ in range(256):
                stream.write(block)
    done = subprocess.run([sys.executable, "-c", SCRIPT, *map(str, paths)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    answers = [line.split() for line in done.stdout.splitlines()]
    assert [count for count, _ in answers] == ["1"] * len(paths), done.stdout
    assert all(float(seconds) < 20 for _, seconds in answers)


@pytest.mark.interpreter
def test_archives_of_arrays(tmp_path, monkeypatch):
    """Compressed ``.npz``: of a graph, of a matrix, as a stream, and inside another compression."""
    monkeypatch.setattr(npz, "FREE_BYTES", 1 << 20)
    ends = np.zeros(1 << 19, np.uint32)
    path = tmp_path / "graph.npz"
    np.savez_compressed(path, edgewise=np.int64(1), shape=np.array([1, 0]), sources=ends, targets=ends)
    words = f"hold more than 200 times its {path.stat().st_size:,} bytes; if this is right, save them without"
    assert words in refusal(path)
    with pytest.raises(FileError, match="more than 200 times its"):
        ew.stream_components(path)
    matrix = tmp_path / "matrix.npz"
    scipy.sparse.save_npz(matrix, scipy.sparse.csr_array((1 << 19, 1 << 19)))
    assert "hold more than 200 times its" in refusal(matrix)
    packed = tmp_path / "graph.npz.gz"
    packed.write_bytes(pack(path.read_bytes(), "gz"))
    assert "hold more than 200 times its" in refusal(packed)
    small = tmp_path / "small.npz"
    np.savez_compressed(
        small, edgewise=np.int64(1), shape=np.array([1, 0]), sources=ends[:9], targets=ends[:9]
    )
    assert ew.read(small).n_edges == 9


@pytest.mark.interpreter
def test_archives_of_more_arrays_than_memory(tmp_path):
    path = tmp_path / "graph.npz"
    ew.write(ew.Graph.from_edges(np.zeros(1 << 16, np.uint32), np.zeros(1 << 16, np.uint32)), path)
    with pytest.raises(
        FileError, match=r"graph\.npz: its arrays need [\d,]+ bytes, and memory= is 100,000; conv"
    ):
        ew.stream_components(path, memory="100 kB", output=tmp_path / "out")
    assert ew.stream_components(path, memory="1 GB", output=tmp_path / "out").count == 1
