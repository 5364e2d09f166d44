"""Inputs and outputs that are no files of this machine: pipes, file objects, addresses of local servers."""

import errno
import gzip
import io
import json
import logging
import os
import sys
import threading
import urllib.request
import warnings
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import edgewise as ew
from edgewise import unfinished
from edgewise.command import run
from edgewise.errors import FileError, OptionError
from edgewise.files import inputs, remote

PAIRS = b"left_id,right_id\nann,bob\nbob,cid\ndan,eve\n"
EDGES = {("ann", "bob"), ("bob", "cid"), ("dan", "eve")}
FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow")


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """The folder for temporary files, which must be empty at the end."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    before = set(unfinished._paths)
    yield folder
    assert list(folder.iterdir()) == []
    assert unfinished._paths <= before


def edges_of(graph):
    """Names of the endpoints of each edge."""
    return set(zip(graph.ids_of(graph.sources).to_pylist(), graph.ids_of(graph.targets).to_pylist()))


def as_bytes(name):
    """The three edges in a format."""
    stream = io.BytesIO()
    ew.write(ew.Graph.from_edges(*zip(*sorted(EDGES))), stream, format=name)
    return stream.getvalue()


@contextmanager
def fifo(path, content):
    """A named pipe, into which a thread writes."""
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(content))
    writer.start()
    yield path
    writer.join()


# ---- file objects, pipes, standard input


@pytest.mark.parametrize("name", FORMATS)
def test_file_objects_are_read_as_they_are_written(name):
    content = as_bytes(name)
    assert edges_of(ew.read(io.BytesIO(content))) == EDGES
    if name not in ("parquet", "arrow"):
        assert edges_of(ew.read(io.BytesIO(gzip.compress(content)))) == EDGES
        assert edges_of(ew.read(io.StringIO(content.decode()))) == EDGES
    stream = io.BytesIO(content)
    assert ew.stream_components(stream, source="source", target="target").count == 2
    assert stream.read() == b""


def test_inputs_of_several_kinds_at_once(tmp_path):
    (tmp_path / "1.csv").write_bytes(PAIRS)
    with fifo(tmp_path / "pipe", gzip.compress(b"left_id,right_id\ncid,dan\n")) as pipe:
        graph = ew.read([tmp_path / "1.csv", io.BytesIO(b"left_id,right_id\nfay,gil\n"), pipe])
    assert edges_of(graph) == EDGES | {("cid", "dan"), ("fay", "gil")}
    with open(tmp_path / "1.csv", "rb") as file, fifo(tmp_path / "other", PAIRS) as pipe:
        assert ew.stream_components([file, pipe, tmp_path / "1.csv"]).graph.n_edges == 9


def test_the_suffix_of_a_pipe_decides_where_the_content_does_not(tmp_path):
    rows = b"0 1\n0 2\n"
    with fifo(tmp_path / "a.ncol", rows) as pipe:
        assert not isinstance(ew.read(pipe).ids, type(None))
    named = io.BytesIO(rows)
    named.name = "a.ncol"
    assert ew.read(named).ids.to_pylist() == ["0", "1", "2"]


def test_a_first_row_of_names_without_a_suffix():
    """It may be a pair: nothing is guessed, unless it has usual names of columns."""
    rows = b"ann,bob\nbob,cid\n"
    for function in (ew.read, ew.stream_components):
        with pytest.raises(
            FileError, match=r"the first row may be the names of the columns, or a pair; pass h"
        ):
            function(io.BytesIO(rows))
        assert function(io.BytesIO(rows), source="ann", target="bob") is not None
    for options, count in (({"header": True}, 1), ({"header": False}, 2), ({"format": "csv"}, 1)):
        assert ew.read(io.BytesIO(rows), **options).n_edges == count


class Broken(io.RawIOBase):
    def read(self, count=-1):
        raise OSError(errno.EIO, "Input/output error")


class Odd:
    def read(self, count=-1):
        return 5


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (io.BytesIO(), "^the BytesIO object: is empty; "),
        (io.BytesIO(b"id_l,id_r\nx,y\nz\n"), "^the BytesIO object:3: "),
        (Broken(), "^the Broken object: cannot be read .*Input/output error"),
        (Odd(), "^the Odd object: gives int when it is read; open it in binary mode"),
    ],
)
def test_errors_name_what_was_given(thing, words):
    with pytest.raises(FileError, match=words) as caught:
        ew.read(thing)
    assert "edgewise-" not in str(caught.value)


def test_a_file_object_with_a_name_is_named(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"a,b\nx,\n")
    with open(tmp_path / "a.csv", "rb") as file, pytest.raises(FileError, match=r"a\.csv"):
        ew.read(file)


def test_standard_input(monkeypatch):
    def given(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    given(PAIRS)
    assert edges_of(ew.read("-")) == EDGES
    given(b"")
    with pytest.raises(FileError, match=r"^standard input: is empty"):
        ew.read("-")
    with pytest.raises(OptionError, match=r"standard input is given twice"):
        ew.read(["-", "-"])
    with pytest.raises(OptionError, match=r"checkpoint= needs files .*, and standard input is none"):
        ew.stream_components(["a.csv", "-"], checkpoint="so-far")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(FileError, match=r"^standard input: is closed"):
        ew.read("-")


def test_a_full_disk(monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(inputs, "_copy", full)
    with pytest.raises(FileError, match=r"^the BytesIO object: its temporary copy does not fit .*TMPDIR"):
        ew.read(io.BytesIO(PAIRS))


def test_an_interrupt_removes_the_copy(temporary, monkeypatch):
    def interrupted(*_):
        assert len(list(temporary.iterdir())) == 1
        raise KeyboardInterrupt

    monkeypatch.setattr("edgewise.files.by_format.read_one", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ew.read(io.BytesIO(PAIRS))


def test_what_cannot_be_written_to():
    graph = ew.Graph.from_edges([0], [1])
    with pytest.raises(OptionError, match=r"is opened as text; open it in binary mode"):
        ew.write(graph, io.StringIO(), format="csv")
    with pytest.raises(OptionError, match=r"has no suffix .* such as format='parquet'"):
        ew.write(graph, io.BytesIO())
    with pytest.raises(OptionError, match=r"path= is a int"):
        ew.write(graph, 5)


def test_standard_output(capsysbinary):
    print("before")
    ew.write(pa.table({"id": [1, 2]}), "-")
    ew.write(pa.table({"id": [3]}), "-", format="jsonl")
    assert capsysbinary.readouterr().out == b'before\nid\n1\n2\n{"id": 3}\n'


# ---- the web


class Page(BaseHTTPRequestHandler):
    """Answers with the content of a path, or with its status."""

    pages: dict = {}

    def do_GET(self):
        content = self.pages.get(self.path.partition("?")[0], 404)
        if isinstance(content, int):
            self.send_error(content)
            return
        self.send_response(200)
        cut = self.path.endswith("cut")
        self.send_header("Content-Length", str(len(content) + cut))
        self.end_headers()
        self.wfile.write(content)

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def served():
    """A web server on this machine, and its address."""
    if find_spec("fsspec") is None or find_spec("aiohttp") is None:
        pytest.skip("needs fsspec and aiohttp: pip install 'edgewise[remote]'")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def web(served, monkeypatch):
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1")
    Page.pages = {"/secret.csv": 403, "/broken.csv": 500, "/a.ncol": b"0 1\n", "/bad.csv": b"a,b\nx,y\nz\n"}
    Page.pages |= {f"/pairs.{name}": as_bytes(name) for name in FORMATS}
    Page.pages["/pairs.csv.gz"] = gzip.compress(PAIRS)
    return served


def test_the_web(web, capsys):
    for name in (*FORMATS, "csv.gz"):
        assert edges_of(ew.read(f"{web}/pairs.{name}?version=2")) == EDGES
    assert ew.read(f"{web}/a.ncol").ids.to_pylist() == ["0", "1"]
    assert ew.stream_components([f"{web}/pairs.csv", f"{web}/pairs.csv"]).graph.n_edges == 6
    assert run(["components", f"{web}/pairs.parquet", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["components"] == 2


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("none.csv", "there is no such file; check the address"),
        ("secret.csv", "access is denied; check the credentials"),
        ("broken.csv", "cannot be reached .*500"),
        ("pairs.csv?cut", "cannot be reached"),
        ("bad.csv", "2 columns expected|expected 2|Expected 2"),
    ],
)
def test_errors_of_the_web(web, page, words):
    with pytest.raises(FileError, match=words) as caught:
        ew.read(f"{web}/{page}")
    assert str(caught.value).startswith(f"{web}/{page}:")
    assert "\n" not in str(caught.value)


def test_addresses_that_lead_nowhere(tmp_path, monkeypatch):
    if find_spec("fsspec") is None:
        pytest.skip("needs fsspec")
    graph = ew.Graph.from_edges([0], [1])
    with pytest.raises(FileError, match=r"^tower://x/a\.csv: is no address .*tower"):
        ew.read("tower://x/a.csv")
    with pytest.raises(FileError, match=r"is on the web, where nothing can be stored"):
        ew.write(graph, "https://x/a.csv")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1")
    with pytest.raises(FileError, match=r"cannot be reached \(.*127\.0\.0\.1:9 .*\); check the address"):
        ew.read("http://127.0.0.1:9/a.csv")
    with pytest.raises(FileError, match=r"an address without one of its slashes; give it as a string"):
        ew.read(Path("https://host/a.csv"))
    (tmp_path / "a.csv").write_bytes(PAIRS)
    assert edges_of(ew.read((tmp_path / "a.csv").as_uri())) == EDGES
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(FileError, match=r"needs the package fsspec, .*pip install 'edgewise\[remote\]'"):
        ew.read("http://127.0.0.1:9/a.csv")


def test_file_systems_of_fsspec():
    fsspec = pytest.importorskip("fsspec")
    graph = ew.Graph.from_edges(*zip(*sorted(EDGES)))
    for number in range(2):
        ew.write(graph, f"memory://shards/{number}.csv")
    assert ew.read("memory://shards/*.csv").n_edges == ew.read("memory://shards").n_edges == 6
    assert fsspec.filesystem("memory").cat("/shards/0.csv").startswith(b"source,target\n")
    with pytest.raises(FileError, match=r"^memory://shards/9\.csv: there is no such file"):
        ew.read("memory://shards/9.csv")
    fsspec.filesystem("memory").rm("/shards", recursive=True)


# ---- Amazon S3


@pytest.fixture(scope="module")
def storage():
    """The address of a server on this machine that speaks as S3 does."""
    if find_spec("moto") is None or find_spec("flask") is None:
        pytest.skip("needs an S3 server: pip install 'moto[s3]' flask flask-cors")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from moto.server import ThreadedMotoServer

        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        server.start()
        yield "http://{}:{}".format(*server.get_host_and_port())
        server.stop()


@pytest.fixture
def bucket(storage, monkeypatch):
    """The address of an empty bucket."""
    settings = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_EC2_METADATA_DISABLED": "true"}
    settings |= {"AWS_DEFAULT_REGION": "us-east-1", "AWS_ENDPOINT_URL": storage}
    for name, value in (settings | dict.fromkeys(("no_proxy", "NO_PROXY"), "127.0.0.1")).items():
        monkeypatch.setenv(name, value)
    for path, method in (("/moto-api/reset", "POST"), ("/bucket", "PUT")):
        urllib.request.urlopen(urllib.request.Request(storage + path, method=method)).close()
    return "s3://bucket"


def test_files_and_folders_in_a_bucket(bucket):
    graph = ew.Graph.from_edges(*zip(*sorted(EDGES)))
    for name in FORMATS:
        ew.write(graph, f"{bucket}/{name}/a b.{name}")
        assert edges_of(ew.read(f"{bucket}/{name}/a b.{name}")) == EDGES
    for number in range(3):
        ew.write(graph, f"{bucket}/shards/{number}.parquet")
    ew.write(graph, f"{bucket}/shards/_hidden/3.parquet")
    for several in ("shards", "shards/", "shards/*.parquet", "shards/[012].parquet"):
        assert ew.read(f"{bucket}/{several}", source="source", target="target").n_edges == 9
    assert ew.stream_components([f"{bucket}/shards/*", io.BytesIO(as_bytes("parquet"))]).graph.n_edges == 12


def test_the_command_writes_to_a_bucket(bucket, tmp_path, capsys):
    pairs = tmp_path / "pairs.csv"
    pairs.write_bytes(PAIRS)
    assert run(["components", str(pairs), "-o", f"{bucket}/clusters.parquet"]) == 0
    assert capsys.readouterr().out.endswith(f" -> {bucket}/clusters.parquet\n")
    assert run(["convert", f"{bucket}/clusters.parquet", str(tmp_path / "x.csv"), "--source", "id"]) == 2
    capsys.readouterr()
    remote.fetch(remote.find(f"{bucket}/clusters.parquet")[0], tmp_path / "got.parquet")
    assert parquet.read_table(tmp_path / "got.parquet")["component"].to_pylist() == [0, 0, 0, 3, 3]


def test_the_old_object_is_kept(bucket, monkeypatch):
    graph = ew.Graph.from_edges(*zip(*sorted(EDGES)))
    ew.write(graph, f"{bucket}/a.csv")

    def interrupted(table, delimiter):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("edgewise.files.write_tables.formatted", interrupted)
        ew.write(graph, f"{bucket}/a.csv")
    assert edges_of(ew.read(f"{bucket}/a.csv")) == EDGES


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("s3://bucket/none.csv", "there is no such file"),
        ("s3://bucket/none/*.csv", "no file of pairs|there is no such file"),
        ("s3://missing/a.csv", "the bucket missing does not exist; check the address"),
        ("s3://bucket", "no file of pairs is there; check the address"),
        ("s3://", "is no address that can be used"),
    ],
)
def test_errors_of_buckets(bucket, address, words):
    with pytest.raises(FileError, match=words) as caught:
        ew.read(address)
    assert str(caught.value).startswith(f"{address}:")
    if "missing" in address:
        with pytest.raises(FileError, match=words):
            ew.write(pa.table({"id": [1]}), address)


def test_a_missing_bucket_is_found_before_the_work(bucket, capsys):
    assert run(["components", str(Path("absent.csv")), "-o", "s3://missing/a.csv"]) == 2
    assert "the bucket missing does not exist" in capsys.readouterr().err


def test_paths_of_bytes_are_those_of_text(tmp_path):
    table, copy = tmp_path / "pairs.csv", tmp_path / "copy.csv"
    table.write_text("a,b\nx,y\n")
    for given in (table, os.fsencode(table), [os.fsencode(table)], (str(table),)):
        assert list(ew.read(given)) == ["x", "y"]  # a table by its ending, whose first row has names
        assert ew.stream_components(given).graph.n_vertices == 2
    ew.write(ew.read(table), os.fsencode(copy))
    assert list(ew.read(copy)) == ["x", "y"]
