"""Clusters in shards: the table of one process, whoever writes it; complete or not there."""

import errno
import os

import numpy as np
import pyarrow as pa
import pytest

import edgewise as ew
from edgewise.command import run
from edgewise.errors import FileError, GraphError, OptionError, WorkerError
from edgewise.files import store
from edgewise.streams.graph import MarkedIds
from edgewise.streams.stored import Output, StoredStream
from edgewise.streams.tasks import TaskFolder

KINDS = ("dense", "sparse", "isolated", "strings")
pytestmark = pytest.mark.usefixtures("divided")


@pytest.fixture(autouse=True)
def small_shards(monkeypatch):
    monkeypatch.setattr(store, "SHARD_ROWS", 100)


def pairs(folder, kind, shards=3):
    """A new folder of shards with ids of a kind."""
    draw = np.random.default_rng(len(kind))
    low, high = {"sparse": (-(2**40), 2**40), "isolated": (0, 4000)}.get(kind, (0, 900))
    folder.mkdir()
    for number in range(shards):
        ends = draw.integers(low, high, (2, 250 if kind != "isolated" else 9))
        ends[:, ::2], ends[1, :3] = ends[:, ::2] % 50, ends[0, :3]
        columns = [[f"v{value}" for value in one] for one in ends] if kind == "strings" else list(ends)
        ew.write(pa.table({"left_id": columns[0], "right_id": columns[1]}), folder / f"{number}.parquet")
    return folder


@pytest.mark.parametrize("kind", KINDS)
def test_tasks_write_what_one_process_writes(kind, threads, tmp_path):
    shards = pairs(tmp_path / "shards", kind)
    expected = ew.stream_components(shards)
    found = ew.stream_components(shards, client=threads, output=tmp_path / "tasks")
    alone = ew.stream_components(shards, output=f"{tmp_path}/alone/")
    for one in (found, alone):
        assert one.to_frame() == expected.to_frame()
        assert (one.count, one.largest) == (expected.count, expected.largest)
        assert (one.graph.n_vertices, one.graph.n_edges) == (
            expected.graph.n_vertices,
            expected.graph.n_edges,
        )
        assert f"{expected.count:,} clusters of" in str(one) or expected.count == 1
        assert one._arrow(3).num_rows == 3
    for file in (tmp_path / "tasks").iterdir():
        assert file.read_bytes() == (tmp_path / "alone" / file.name).read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["alone", "shards", "tasks"]
    with pytest.raises(GraphError, match=r"call without output= to verify"):
        found.verify()
    with pytest.raises(GraphError, match=r"call without output= to draw"):
        found.plot("sizes.png")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name, min_size", ((None, 3), ("first", 1), ("min", 2), ("row", 2)))
def test_names_and_sizes(kind, name, min_size, threads, tmp_path):
    shards = pairs(tmp_path / "shards", kind)
    expected = ew.stream_components(shards).to_frame(name, min_size=min_size)
    how = {"client": threads, "device": "cpu", "checkpoint": None}
    found = StoredStream(Output(str(tmp_path / "out"), name, min_size), shards, {}, **how).run()
    assert found.to_frame() == expected


def test_a_run_that_stops_continues(threads, tmp_path, monkeypatch):
    shards, state, folder = pairs(tmp_path / "shards", "strings"), tmp_path / "state", tmp_path / "out"
    expected, keep, done = ew.stream_components(shards), TaskFolder.keep, []

    def fails(self, name, facts):
        if name == "00002.parquet" and len(done) < 2:
            done.append(name)
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        keep(self, name, facts)

    monkeypatch.setattr(TaskFolder, "keep", fails)
    options = {"client": threads, "checkpoint": state}
    with pytest.raises(WorkerError, match=r"writing the clusters failed 2 times .*; repeat the call with"):
        ew.stream_components(shards, output=folder, **options)
    assert not folder.exists()
    with pytest.raises(FileError, match=r"belongs to another run: output was \["):
        ew.stream_components(shards, output=tmp_path / "other", **options)
    assert ew.stream_components(shards, output=folder, **options).to_frame() == expected.to_frame()
    assert sorted(os.listdir(tmp_path)) == ["out", "shards"]
    assert len(list(folder.iterdir())) == len(list(folder.glob("*.parquet"))) + 1


def test_a_run_that_fails_leaves_nothing(threads, tmp_path, monkeypatch):
    shards = pairs(tmp_path / "shards", "dense")

    def fails(*_):
        raise ValueError("no luck")

    monkeypatch.setattr(store, "write_manifest", fails)
    monkeypatch.setattr("edgewise.streams.stored.write_manifest", fails)
    for client in (None, threads):
        with pytest.raises(ValueError, match="no luck"):
            ew.stream_components(shards, client=client, output=tmp_path / "out")
        assert os.listdir(tmp_path) == ["shards"]


@pytest.mark.interpreter
def test_a_shard_that_has_changed_since_it_was_written(threads, tmp_path, monkeypatch):
    shards, state, output = pairs(tmp_path / "shards", "dense"), tmp_path / "state", tmp_path / "out"
    given = {"client": threads, "checkpoint": state, "output": output}

    def stops(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched, pytest.raises(FileError, match="full"):
        patched.setattr("edgewise.streams.stored.write_manifest", stops)
        ew.stream_components(shards, **given)
    shard = max(tmp_path.glob(".part-*-out/*.parquet"))
    content = shard.read_bytes()
    shard.write_bytes(content[:50] + bytes([content[50] ^ 4]) + content[51:])
    with pytest.raises(FileError, match=r"parquet: is not what was written.*; remove the folder .*state"):
        ew.stream_components(shards, **given)
    shard.write_bytes(content)
    assert ew.stream_components(shards, **given).to_frame() == ew.stream_components(shards).to_frame()
    assert sorted(os.listdir(tmp_path)) == ["out", "shards"]


def test_a_folder_that_is_there(threads, tmp_path):
    shards = pairs(tmp_path / "shards", "dense")
    for client in (None, threads):
        with pytest.raises(FileError, match=r"is there already; name a new folder"):
            ew.stream_components(shards, client=client, output=shards)


def test_commands(tmp_path, capsys):
    pytest.importorskip("distributed", reason="Dask is not installed (edgewise[dask])")
    shards, out = pairs(tmp_path / "shards", "strings"), f"{tmp_path}/out/"
    words = ["components", str(shards), "--device", "cpu"]
    assert run([*words, "--stream", "-o", out, "--name", "first"]) == 0
    assert "component" in capsys.readouterr().out
    other = f"{tmp_path}/other/"
    assert run([*words, "--scheduler", "local:1", "-o", other, "--name", "first", "--json"]) == 0
    capsys.readouterr()
    for file in (tmp_path / "out").iterdir():
        assert file.read_bytes() == (tmp_path / "other" / file.name).read_bytes()
    assert run(["info", other]) == 0
    assert "id, cluster, size" in capsys.readouterr().out
    assert run(["convert", other, str(tmp_path / "clusters.csv"), "-q"]) == 0
    assert run([*words, "-o", str(tmp_path / "one.parquet"), "--name", "min", "-q"]) == 0
    for wrong, message in (
        (["-o", out], "is there already, a whole store; name a new folder"),
        (["-o", f"{shards}/out/"], "would be in one of the inputs"),
        (["-o", f"{tmp_path}/new/", "--to", "csv"], "--to csv is not for a folder"),
        (["-o", f"{tmp_path}/new/", "--top", "3", "--scheduler", "local:1"], "--top needs all labels"),
    ):
        assert run([*words, *wrong]) == 2
        assert message in capsys.readouterr().err


def test_graphs_and_tables_in_folders(tmp_path):
    graph = ew.generate.grid(12, 12)
    ew.write(graph, f"{tmp_path}/graph/")
    assert ew.read(tmp_path / "graph").n_vertices == 144
    assert len(list((tmp_path / "graph").glob("*.parquet"))) == 3
    ew.write(graph, f"{tmp_path}/arrays/", format="npz")
    assert ew.read(tmp_path / "arrays").n_edges == graph.n_edges
    with pytest.raises(OptionError, match=r"format='csv' is not for a folder of shards; use parquet or npz"):
        ew.write(graph, f"{tmp_path}/other/", format="csv")


def test_ids_of_marks():
    draw = np.random.default_rng(6)
    seen = draw.random(1000) < np.repeat(draw.random(10), 100)
    seen[300:700] = False
    words = np.zeros(16, "<u8")
    words.view(np.uint8)[: 1000 // 8] = np.packbits(seen, bitorder="little")
    before = np.concatenate([[0], np.cumsum(np.bitwise_count(words))]).astype(np.uint32)
    ids, numbers = MarkedIds(words, before), draw.permutation(int(seen.sum()))
    assert (ids.take(numbers) == np.flatnonzero(seen)[numbers]).all()
