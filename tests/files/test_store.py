"""Stores of shards: the rows that were converted, in order; nothing half-written, nothing half-read."""

import json
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import edgewise as ew
from edgewise.command import run
from edgewise.errors import FileError
from edgewise.files import atomic_write, store
from edgewise.files.write_tables import write_parquet
from tests.conftest import ROOT
from tests.ownership import give_away


def pairs(rows=1000):
    draw = np.random.default_rng(2)
    names = [[f"v{one}" for one in column] for column in draw.integers(0, 700, (2, rows))]
    return pa.table({"left_id": names[0], "right_id": names[1], "score": draw.random(rows).round(3)})


@pytest.mark.parametrize("ending", ("parquet", "csv"))
def test_a_store_holds_the_rows(ending, tmp_path, capsys):
    path, folder = tmp_path / f"pairs.{ending}", tmp_path / "store"
    ew.write(pairs(), path)
    assert run(["convert", str(path), str(folder), "--shards", "4", "--where", "score >= 0.25"]) == 0
    assert "733 edges in 3 shards" in capsys.readouterr().out  # fewer rows were kept than there are
    manifest = json.loads((folder / "manifest.json").read_text())
    kept = pairs().filter(pa.compute.greater_equal(pairs()["score"], 0.25))
    assert manifest["rows"] == kept.num_rows == sum(one["rows"] for one in manifest["shards"])
    tables = [parquet.read_table(folder / one["name"]) for one in manifest["shards"]]
    assert pa.concat_tables(tables).to_pydict() == kept.to_pydict()
    expected = ew.connected_components(ew.read(path, where="score >= 0.25"))
    assert ew.stream_components(folder).to_frame() == expected.to_frame()
    with ThreadPoolExecutor(2) as pool:
        assert ew.stream_components(folder, client=pool).to_frame() == expected.to_frame()
        found = ew.stream_forest(folder, weight="score", maximum=True, client=pool)
    graph = ew.read(path, where="score >= 0.25", weight="score")
    assert found.to_frame() == ew.minimum_spanning_forest(graph, maximum=True).to_frame()


@pytest.mark.parametrize("name", ("graph.parquet", "graph.npz"))
def test_vertices_without_edges_stay(name, tmp_path, capsys):
    graph = ew.Graph.from_edges([1, 4, 5], [2, 1, 1], n_vertices=9)
    path, folder = tmp_path / name, tmp_path / "store"
    ew.write(graph, path)
    assert run(["convert", str(path), str(folder), "--shards", "2", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["edges"], facts["shards"]) == (3, 2)
    assert ew.read(folder).n_vertices == ew.stream_components(folder).graph.n_vertices == 9
    with ThreadPoolExecutor(2) as pool:
        assert ew.stream_components(folder, client=pool).count == 6


def test_a_store_that_is_not_whole(tmp_path, capsys):
    path, folder = tmp_path / "pairs.parquet", tmp_path / "store"
    ew.write(pairs(), path)
    assert run(["convert", str(path), str(folder), "--shards", "3", "-q"]) == 0
    assert run(["convert", str(path), str(folder), "--shards", "3"]) == 2
    assert "is there already, a whole store; name a new folder" in capsys.readouterr().err
    last, manifest = folder / "00002.parquet", folder / "manifest.json"
    content = last.read_bytes()
    last.write_bytes(content[:-9])
    with pytest.raises(
        FileError, match=r"00002\.parquet: has [\d,]+ bytes, and [\d,]+ according to manifest"
    ):
        ew.stream_components(folder)
    last.unlink()
    with pytest.raises(FileError, match=r"00002\.parquet: is missing, and manifest\.json names it"):
        ew.read(folder)
    last.write_bytes(content)
    facts = json.loads(manifest.read_text())
    for change, words in (({"edgewise_store": 9}, "another version"), ({"shards": [1]}, "is damaged")):
        manifest.write_text(json.dumps(facts | change))
        with pytest.raises(FileError, match=words):
            ew.read(folder)
    manifest.write_text('{"name": "no store"}')
    assert ew.read(folder).n_edges == 1000


@pytest.fixture
def made(tmp_path):
    """A store of two shards."""
    folder = tmp_path / "store"
    store.write_store([pairs(100)], folder, store.Shape(60), write_parquet)
    return folder


def changed(folder, change, version=None):
    """Change the manifest of a store, and its checksum with it."""
    facts = json.loads((folder / "manifest.json").read_text())
    change(facts)
    if version is not None:
        facts["edgewise_store"] = version
    facts.pop("checksum")
    if version != 1:
        facts["checksum"] = store._checksum(facts)
    (folder / "manifest.json").write_text(json.dumps(facts))


@pytest.mark.interpreter
@pytest.mark.parametrize("version", (1, 2))
@pytest.mark.parametrize(
    "name",
    (
        "../secret.parquet",
        "ABSOLUTE",
        "..",
        ".",
        "",
        "a/../../b",
        "sub\\a",
        "C:a",
        "a\0b",
        7,
        None,
        "00001.parquet",
    ),
)
def test_a_manifest_names_files_of_its_folder_only(name, version, made, tmp_path):
    secret = tmp_path / "secret.parquet"
    secret.write_bytes((made / "00000.parquet").read_bytes())
    name = str(secret) if name == "ABSOLUTE" else name
    changed(made, lambda facts: facts["shards"][0].update(name=name), version)
    for read in (ew.read, ew.stream_components):
        with pytest.raises(FileError, match=r"manifest\.json: is damaged"):
            read(made)


@pytest.mark.interpreter
def test_a_store_without_checksums_is_read(made):
    changed(made, lambda facts: [one.pop("crc32") for one in facts["shards"]], 1)
    assert ew.read(made).n_edges == 100


@pytest.mark.interpreter
def test_a_shard_on_another_disk(made, tmp_path):
    """A link to what was written is followed; a link to something else is refused."""
    shard, there = made / "00001.parquet", tmp_path / "there.parquet"
    shard.rename(there)
    shard.symlink_to(there)
    assert ew.read(made).n_edges == 100
    content = bytearray(there.read_bytes())
    content[len(content) // 3] ^= 1
    there.write_bytes(content)
    with pytest.raises(
        FileError, match=r"00001\.parquet: is not what was written, according to its checksum"
    ):
        ew.read(made)


@pytest.mark.interpreter
def test_any_change_of_a_manifest(made):
    """Every byte of a manifest changed: the store is the one that was written, none, or refused."""
    manifest = made / "manifest.json"
    content = manifest.read_bytes()
    for place in range(len(content)):
        manifest.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        try:
            facts = store.manifest_of(made)
        except FileError as error:
            assert "\n" not in str(error)
        else:
            assert facts is None or facts == json.loads(content)


@pytest.mark.interpreter
def test_the_store_of_another_user(made, monkeypatch):
    give_away(made / "manifest.json", monkeypatch)
    for read in (ew.read, ew.stream_components):
        with pytest.raises(FileError, match=r"manifest\.json: belongs to another user .*; name the shards"):
            read(made)
    assert ew.read(made / "*.parquet").n_edges == 100  # as tables that the caller names
    (made / "manifest.json").write_text('{"name": "no store"}')
    assert ew.read(made).n_edges == 100


def test_an_interrupted_writer_leaves_nothing(tmp_path):
    def tables():
        yield pairs(10)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.write_store(tables(), tmp_path / "store", store.Shape(20), write_parquet)
    assert list(Path(tmp_path).iterdir()) == []


KILLED = """
import os, signal, sys
from edgewise.files import store
with store.new_folder(sys.argv[1]) as part:
    (part / "shard").write_text("x")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.interpreter
@pytest.mark.skipif(not atomic_write.LOCKS, reason="this system has no locks")
def test_a_killed_writer_leaves_nothing_to_the_next(tmp_path):
    """What a writer that was killed has left is removed by the next; what one is writing is not."""
    goal, other = tmp_path / "store", tmp_path / "other"
    with store.new_folder(goal) as part:
        for folder in (goal, other):
            killed = subprocess.run([sys.executable, "-c", KILLED, str(folder)], cwd=ROOT)
            assert killed.returncode == -signal.SIGKILL
        left = {one for one in tmp_path.iterdir() if one != part}
        assert len(left) == 2
        store.write_store([pairs(10)], other, store.Shape(20), write_parquet)
        assert part.is_dir()
    assert {one.name for one in tmp_path.iterdir() if one not in left} == {"store", "other"}
    (goal / "x").write_text("")
    with pytest.raises(FileError, match="store: is there already; name a new folder, or remove it first"):
        store.write_store([pairs(10)], goal, store.Shape(20), write_parquet)
    with pytest.raises(FileError, match="other: is there already, a whole store; name a new folder"):
        store.write_store([pairs(10)], other, store.Shape(20), write_parquet)
    shutil.rmtree(goal)
    store.write_store([pairs(10)], goal, store.Shape(20), write_parquet)
    assert {one.name for one in tmp_path.iterdir()} == {"store", "other"}


@pytest.mark.parametrize("option", (["--to", "csv"], ["--repeated", "first"], ["--self-loops", "drop"]))
def test_options_that_mean_nothing(option, tmp_path, capsys):
    assert run(["convert", "x.csv", str(tmp_path / "store"), "--shards", "2", *option]) == 2
    assert f"{option[0]} means nothing with --shards" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ("strings", "integers", "far", "numbers"))
def test_shards_of_numpy(kind, tmp_path, capsys):
    draw = np.random.default_rng(3)
    ends = draw.integers(0, 300, (2, 500)) * {"far": 2**40}.get(kind, 1)
    columns = [[f"v{one}" for one in column] for column in ends] if kind == "strings" else list(ends)
    path, folder = tmp_path / "pairs.parquet", tmp_path / "store"
    if kind == "numbers":
        ew.write(ew.Graph.from_edges(*columns, weights=draw.random(500), n_vertices=400), path)
    else:
        ew.write(pa.table({"left": columns[0], "right": columns[1], "weight": draw.random(500)}), path)
    assert run(["convert", str(path), str(folder), "--shards", "3", "--to", "npz", "-q"]) == 0
    assert len(list(folder.glob("*.npz"))) == 3
    expected, found = ew.stream_components(path), ew.stream_components(folder)
    assert sorted(map(sorted, found.sets())) == sorted(map(sorted, expected.sets()))
    assert found.to_frame() == expected.to_frame()
    with ThreadPoolExecutor(2) as pool:
        assert ew.stream_components(folder, client=pool).to_frame() == expected.to_frame()
        forest = ew.stream_forest(folder, client=pool)
    assert forest.to_frame() == ew.stream_forest(path).to_frame() == ew.stream_forest(folder).to_frame()
    assert ew.read(folder).n_edges == ew.read(path).n_edges == 500
    assert ew.read(folder).n_vertices == ew.read(path).n_vertices
    assert sum(ew.read(shard).n_edges for shard in folder.glob("*.npz")) == 500
    assert run(["convert", str(folder), str(tmp_path / "again"), "--shards", "2", "-q"]) == 0
    assert ew.stream_components(tmp_path / "again").to_frame() == expected.to_frame()


def test_versions_of_what_is_kept():
    """Another number refuses all files that were written before: it changes with what is in them only."""
    from edgewise.certificates import record
    from edgewise.clusters import folder
    from edgewise.files import npz, store
    from edgewise.paths.hierarchy import saving
    from edgewise.streams import batches, checkpoint

    assert (npz.VERSION, store.VERSION, saving.VERSION, record.VERSION) == (1, 2, 1, 1)
    assert (checkpoint.FORMAT, batches.FORMAT, folder.VERSION) == (2, 1, 3)
