"""Text is parsed on threads that end with the call, so that no thread meets the end of the interpreter."""

import io
import lzma
import os
import subprocess
import sys
import threading

import numpy as np
import pyarrow.csv
import pytest

import edgewise as ew
from edgewise.errors import FileError
from edgewise.files import text_blocks as parsing
from edgewise.files.text import parse_fields
from edgewise.files.text_blocks import BLOCK, cut_lines, whole_lines
from tests.processes import ended

ROWS = 150_000
PAIRS = "".join(f"{row} {row * 7 % ROWS}\n" for row in range(ROWS))
RING = "".join(f"{(row - 1) % ROWS + 1} {(row + 1) % ROWS + 1}\n" for row in range(ROWS))
ARCS = "".join(f"a {row + 1} {row * 7 % ROWS + 1} 3\n" for row in range(ROWS))
FILES = {
    "pairs.txt": PAIRS,
    "blanks.txt": "1\t 2 \n" + PAIRS,
    "table.csv": "a,b\n" + PAIRS.replace(" ", ","),
    "ring.graph": f"{ROWS} {ROWS}\n{RING}",
    "roads.gr": f"p sp {ROWS} {ROWS}\n{ARCS}",
    "packed.csv.xz": "a,b\n" + PAIRS.replace(" ", ","),
}
#: What is put in place of the second row of the second half.
BAD = {"table.csv": "1,2,3", "packed.csv.xz": "1,2,3"}
ONE = """
import sys
import edgewise
from edgewise.errors import FileError
try:
    edgewise.read(sys.argv[1])
except FileError as error:
    kept = error
    print("refused")
"""


def store(folder, name, bad=False):
    text = FILES[name]
    if bad:
        middle = text.index("\n", len(text) // 2) + 1
        text = text[:middle] + BAD.get(name, "1 x") + text[text.index("\n", middle) :]
    path = folder / name
    path.write_bytes(lzma.compress(text.encode(), preset=0) if name.endswith(".xz") else text.encode())
    return path


@pytest.mark.parametrize("bad", [False, True])
@pytest.mark.parametrize("name", FILES)
def test_arrow_gets_nothing_of_python_and_all_threads_end(tmp_path, monkeypatch, name, bad):
    read, seen = pyarrow.csv.read_csv, []

    def watched(stream, reading, *options):
        seen.append((type(stream), reading.use_threads, threading.current_thread().name))
        assert stream.readable() and stream.size() <= 2 * BLOCK
        return read(stream, reading, *options)

    monkeypatch.setattr(pyarrow.csv, "read_csv", watched)
    monkeypatch.delattr(pyarrow.csv, "open_csv")
    monkeypatch.delattr(pyarrow, "PythonFile")
    path = store(tmp_path, name, bad)
    before = threading.active_count()
    if bad:
        with pytest.raises(FileError, match=f"{name}:"):
            ew.read(path)
    else:
        assert ew.read(path).n_vertices == ROWS
    assert {entry[:2] for entry in seen} == {(pyarrow.BufferReader, False)}
    assert any(entry[2].startswith("edgewise-parse") for entry in seen)
    assert threading.active_count() == before


def test_processes_that_meet_a_bad_row_end_well(tmp_path):
    paths = [store(tmp_path, name, bad=name != "ring.graph") for name in FILES]
    processes = [  # all at once, so that the cores are busy
        subprocess.Popen([sys.executable, "-c", ONE, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for path in paths
    ]
    with ended(*processes):
        for path, process in zip(paths, processes):
            out, error = process.communicate(timeout=120)
            assert (process.returncode, error) == (0, b""), path
            assert out.startswith(b"" if path.name == "ring.graph" else b"refused"), path


def test_a_caller_that_stops_leaves_no_thread(tmp_path):
    options = (pyarrow.csv.ReadOptions(column_names=["a"]), None, pyarrow.csv.ConvertOptions())
    with open(store(tmp_path, "pairs.txt"), "rb") as stream:
        tables = parsing.parse_text(stream, options)
        assert next(tables).num_rows
        tables.close()
    assert not any(thread.name.startswith("edgewise-parse") for thread in threading.enumerate())


class Trickle:
    """A stream that returns a few bytes at a time."""

    def __init__(self, text, count):
        self.text, self.count = text, count

    def read(self, _):
        part, self.text = self.text[: self.count], self.text[self.count :]
        return part


@pytest.mark.parametrize("count", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("text", [b"", b"a", b"a\n", b"\n\na\n\n", b"ab\ncd\n\nefg\nh", b"a\nb\nc\nd\n"])
@pytest.mark.parametrize("skip", [0, 1, 2, 3, 9])
def test_blocks_are_whole_lines_after_those_skipped(text, count, skip):
    rest = text.split(b"\n", skip)[-1] if text.count(b"\n") >= skip else b""
    blocks = [b"".join(pieces) for pieces in cut_lines(Trickle(text, count), skip)]
    assert b"".join(blocks) == rest
    assert all(block.endswith(b"\n") for block in blocks[:-1])
    number = skip
    for first, block in whole_lines(Trickle(text, count), skip):
        assert first == number
        number += block.count(b"\n")


def test_blank_blocks_are_no_rows(tmp_path, monkeypatch):
    path, block = tmp_path / "a.csv", 1 << 18
    monkeypatch.setattr(parsing, "BLOCK", block)
    path.write_text("\n" * (block + 5) + "a,b\n1,2\n" + "\r\n" * (block // 2 + 5) + "2,3\n")
    assert ew.read(path, source="a", target="b").n_edges == 2
    assert os.path.getsize(path) > 2 * block


@pytest.mark.parametrize(
    ("least", "most", "kind"), [(-5, 2**31 - 1, "int32"), (-(2**31) - 1, 7, "int64"), (1, 2**40, "int64")]
)
def test_fields_are_as_wide_as_they_need(least, most, kind):
    """The first wide field comes after blocks of narrow ones, and at once."""
    for expected in (0, 10**6):
        for count in (0, 2 * BLOCK // 8):
            lines = b"1234567\n" * count + b"%d\n%d\n" % (least, most)
            fields = parse_fields(io.BytesIO(lines), "int64", expected)
            assert fields.dtype == kind and fields[:count].tolist() == [1234567] * count
            assert fields[count:].tolist() == [least, most]


def test_weights_of_metis_have_64_bits(tmp_path):
    """Also where all numbers of the file fit into fewer; neighbours have the type of vertex numbers."""
    file = tmp_path / "pair.graph"
    for weight in (7, 2**40):
        file.write_text(f"2 1 011\n5 2 {weight}\n6 1 {weight}\n")
        graph = ew.read(file)
        assert graph.csr_weights.tolist() == [weight] * 2 and graph.csr_weights.dtype == np.int64
        assert graph.vertex_weights.tolist() == [5, 6] and graph.vertex_weights.dtype == np.int64
        assert graph.neighbours.tolist() == [1, 0] and graph.neighbours.dtype == np.uint32
