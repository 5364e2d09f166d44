"""Contraction by ranges of ids: the table of one process, in memory for one range."""

import errno
import gc
import os
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import edgewise as ew
from edgewise.command import run
from edgewise.errors import FileError, OptionError, WorkerError
from edgewise.streams import contraction, ways
from edgewise.streams.tasks import TaskFolder
from tests.compared import assert_equal


@pytest.fixture(autouse=True)
def any_limit(monkeypatch):
    """Limits below what Python takes, so that few rows have many ranges."""
    monkeypatch.setattr(ways, "check_on_disk", lambda *known: None)


def stored(folder, sources, targets, shards=3):
    """A new folder with edges in shards."""
    os.mkdir(folder)
    for number in range(shards):
        part = slice(number, None, shards)
        table = pa.table({"source": np.asarray(sources)[part], "target": np.asarray(targets)[part]})
        ew.write(table, f"{folder}/{number}.parquet")
    return folder


def assert_same(shards, output, **options):
    """Hold the contraction against one process; return its result."""
    expected = ew.stream_components(shards)
    found = ew.stream_components(shards, output=output, **options)
    assert_equal(found, expected)
    return found


def path_graph(vertices):
    return np.arange(vertices - 1), np.arange(1, vertices)


FAMILIES = {
    "path": path_graph(700),
    "path of mixed ids": [np.random.default_rng(1).permutation(700)[ends] for ends in path_graph(700)],
    "star of the last": (np.full(699, 699), np.arange(699)),
    "two levels": (np.arange(1, 600), np.arange(1, 600) // 2),
    "isolated": (np.arange(0, 900, 7), np.arange(0, 900, 7)),
    "sparse": np.random.default_rng(2).integers(0, 2000, (2, 320)),
    "dense": np.random.default_rng(3).integers(0, 900, (2, 4000)),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_table_of_one_process(family, threads, tmp_path):
    shards = stored(tmp_path / "shards", *FAMILIES[family])
    found = assert_same(shards, tmp_path / "many", memory=4000, client=threads)
    assert found.method == "contraction, streamed"
    assert_same(shards, tmp_path / "one", memory="1 GB")
    assert len(os.listdir(tmp_path / "many")) > len(os.listdir(tmp_path / "one")) == 2


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400)), min_size=1, max_size=120))
def test_any_edges(edges):
    with TemporaryDirectory() as folder:
        assert_same(stored(f"{folder}/shards", *zip(*edges)), f"{folder}/out", memory=1)


def test_wide_numbers(tmp_path, monkeypatch):
    """Ids of eight bytes, as from 2**32 - 1 ids on."""
    monkeypatch.setattr(contraction, "index_type", lambda _: np.int64)
    shards = stored(tmp_path / "shards", *FAMILIES["sparse"])
    found = ew.stream_components(shards, output=tmp_path / "out", memory=8000)
    assert found.to_frame().to_pydict() == ew.stream_components(shards).to_frame().to_pydict()


def test_vertices_without_edges(tmp_path):
    graph = ew.Graph.from_edges([1, 400], [2, 1], n_vertices=900)
    ew.write(graph, tmp_path / "graph.parquet")
    assert assert_same(tmp_path / "graph.parquet", tmp_path / "out", memory=2000).count == 898


def test_text_and_no_rows(tmp_path):
    (tmp_path / "pairs.csv").write_text("left,right\n5,900\n7,7\n900,8\n")
    assert_same(tmp_path / "pairs.csv", tmp_path / "out", memory="20 kB", n_vertices=901)
    with pytest.warns(UserWarning, match="keeps none of 3 rows"):
        found = ew.stream_components(
            tmp_path / "pairs.csv",
            output=tmp_path / "none",
            memory="20 kB",
            where="left > 1000",
            n_vertices=901,
        )
    assert (found.count, found.largest, found.to_frame().num_rows) == (0, 0, 0)


@pytest.mark.release
def test_the_memory_of_a_task_is_that_of_a_range(threads, tmp_path):
    """The arrays over ids take no more than the limit, and all of them several times as much."""
    count, memory = 1 << 20, 2_000_000
    shards = stored(tmp_path / "shards", *np.random.default_rng(4).integers(0, count, (2, 1 << 16)))
    ew.stream_components(shards, output=tmp_path / "warm", memory=memory)

    def peak(limit, turn):
        gc.collect()
        tracemalloc.start()
        ew.stream_components(shards, output=tmp_path / str(turn), memory=limit)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    rows = 1 << 16  # a block of rows: its columns, their order, and what is made of them
    # the peak is that of the process, so what else happens in it comes on top, but hardly three times
    assert any(peak(memory, turn) < memory + 60 * rows for turn in range(3))
    assert peak(16 * memory, "all") > 4 * memory + 60 * rows


def test_a_run_that_stops_continues(tmp_path, monkeypatch):
    shards, state = stored(tmp_path / "shards", *FAMILIES["dense"]), tmp_path / "state"
    keep, done, room = TaskFolder.keep, [], [0]

    def keeps(self, name, facts):
        if len(done) >= room[0]:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        keep(self, name, facts)
        done.append(name)

    monkeypatch.setattr(TaskFolder, "keep", keeps)
    options = {"memory": 4000, "checkpoint": state}
    for room[0] in (4, 9, 15):
        with pytest.raises((WorkerError, OSError)), ThreadPoolExecutor(2) as pool:  # waits for its tasks
            ew.stream_components(shards, output=tmp_path / "out", client=pool, **options)
        assert not (tmp_path / "out").exists()
    room[0] = 1000
    with ThreadPoolExecutor(2) as pool:
        assert_same(shards, tmp_path / "out", client=pool, **options)
    assert len(done) == len(set(done)) > 15  # nothing was done twice
    assert sorted(os.listdir(tmp_path)) == ["out", "shards"]


def test_what_cannot_be(threads, tmp_path):
    shards = stored(tmp_path / "shards", *FAMILIES["dense"])
    far = stored(tmp_path / "far", [1, 2**60], [2, -5])
    for inputs, options, message in (
        (shards, {"memory": "much"}, r"memory='much' must be a number of bytes, or such as '4GB'"),
        (shards, {"memory": 0}, r"memory=0 must be a number of bytes"),
        (
            far,
            {"memory": "1MB"},
            r"memory= needs ids that are strings, or numbers from 0 on, .*; number them, or leave it",
        ),
        (shards, {"memory": "1MB", "every": 3.0}, r"every= is for one process"),
    ):
        with pytest.raises(OptionError, match=message):
            ew.stream_components(inputs, output=tmp_path / "out", **options)
    with pytest.raises(OptionError, match=r"memory= needs output=, a folder for the labels"):
        ew.stream_components(shards, memory="1MB")
    with pytest.raises(FileError, match=r"id 8.. in row .* is no vertex number, as these run from 0 to 799"):
        ew.stream_components(shards, output=tmp_path / "out", memory="1MB", n_vertices=800)
    (tmp_path / "far.csv").write_text("left,right\n1,2\n-4,1\n")
    with pytest.raises(OptionError, match=r"memory= needs ids from 0 to 67,108,863; number them"):
        ew.stream_components(tmp_path / "far.csv", output=tmp_path / "out", memory="1MB")


def test_memory_for_a_stream_needs_no_output(tmp_path):
    shards = stored(tmp_path / "shards", *FAMILIES["dense"])
    found, expected = (ew.stream_components(shards, memory=most) for most in ("100 GB", None))
    assert (found.labels == expected.labels).all()
    far = stored(tmp_path / "far", [1, 2**60], [2, -5])
    assert ew.stream_components(far, memory="100 GB", output=tmp_path / "out").count == 2


def test_the_command(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(ways, "ways_of", lambda *known: [ways.Way(ways.ON_DISK, 1, 1)])
    shards, out = stored(tmp_path / "shards", *FAMILIES["dense"]), f"{tmp_path}/out/"
    words = ["components", str(shards), "--memory", "4kB", "--device", "cpu"]
    assert run([*words, "-o", out]) == 0
    assert "contraction, streamed from 3 files" in capsys.readouterr().out
    tables = [parquet.read_table(file) for file in sorted((tmp_path / "out").glob("*.parquet"))]
    assert pa.concat_tables(tables) == ew.stream_components(shards).to_frame()
    for wrong, message in (
        ([], "--memory needs --output, a folder"),
        (["-o", f"{tmp_path}/clusters.csv"], "--memory needs --output, a folder"),
        (
            ["-o", f"{tmp_path}/new/", "--name", "min"],
            "--name needs all ids in memory; leave out it or --memory",
        ),
        (["-o", f"{tmp_path}/new/", "--min-size", "2"], "--min-size needs all ids in memory"),
    ):
        assert run([*words, *wrong]) == 2
        assert message in capsys.readouterr().err
