"""Stores on disk: kills, two writers, damage, other versions, and readers beside a writer."""

import json
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import time

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import edgewise as ew
from edgewise.clusters import folder, history
from edgewise.errors import FileError, GraphError
from tests.cluster_model import batch_after
from tests.processes import ended

pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]
KILLS = int(os.environ.get("EDGEWISE_KILLS", "2"))
#: Adds entries to a store until it is killed, and says when one is there; every third one writes a base.
WRITER = """
import sys
import edgewise as ew
from edgewise.clusters import folder
from tests.cluster_model import batch_after
store = ew.ClusterStore.open(sys.argv[1])
while True:
    folder.FEW_BYTES = 0 if store.entry % 3 == 0 else 1 << 20
    store.apply(**batch_after(store.entry))
    print(store.entry, flush=True)
"""


def expected_after(entry):
    store = ew.ClusterStore(threshold=0.5)
    for number in range(entry):
        store.apply(**batch_after(number))
    return store


def store_at(path, entries=3):
    store = ew.ClusterStore.create(path, threshold=0.5)
    for number in range(entries):
        store.apply(**batch_after(number))
    return store


def same(one, other):
    logs = (store.log().drop_columns(["time"]) for store in (one, other))
    return one.to_frame() == other.to_frame() and one.pairs() == other.pairs() and next(logs) == next(logs)


def test_kills_at_random_lose_nothing(tmp_path):
    path, draw, entries = tmp_path / "store", random.Random(1), 0
    ew.ClusterStore.create(path, threshold=0.5)
    for _ in range(KILLS):
        words = [sys.executable, "-c", WRITER, str(path)]
        root = os.fspath(folder.Path(__file__).parents[2])
        settings = {"PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
        settings |= {"NUMBA_DISABLE_JIT": "1", "EDGEWISE_QUIET": "1"}
        with ended(subprocess.Popen(words, stdout=subprocess.PIPE, env=os.environ | settings)) as writer:
            said = int(writer.stdout.readline())
            time.sleep(draw.random() * 0.3)
            os.kill(writer.pid, signal.SIGKILL)
            said = max(said, *map(int, writer.stdout.read().split()), said)
        store = ew.ClusterStore.open(path)
        assert store.entry in (said, said + 1) and said > entries
        entries = store.entry
        assert same(store, expected_after(entries))


@pytest.mark.parametrize("what", ("a folder", "an array", "its facts", "other facts"))
def test_a_base_that_is_damaged_is_made_again(tmp_path, monkeypatch, what):
    monkeypatch.setattr(folder, "FEW_BYTES", 0)
    path = tmp_path / "store"
    written = store_at(path, 4)._history
    written.wait()
    (base,) = path.glob("base-*")
    if what == "other facts":
        written.base["facts"]["n_names"] += 1
        folder._write_facts(base / "manifest.json", written.base)
    else:
        damage(base / {"a folder": "", "an array": "trees.npy", "its facts": "manifest.json"}[what])
    store = ew.ClusterStore.open(path)
    assert same(store, expected_after(4)) and store._history.base["entry"] == 0
    store.apply(**batch_after(4))
    store._history.wait()
    assert [one.name for one in path.glob("base-*")] == ["base-00000005"]
    store = ew.ClusterStore.open(path)
    assert same(store, expected_after(5)) and store._history.base["entry"] == 5


def test_a_base_that_cannot_be_written_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(folder, "FEW_BYTES", 0)
    store = ew.ClusterStore.create(tmp_path / "store", threshold=0.5)
    with monkeypatch.context() as patched:
        patched.setattr(folder, "_write_array", full)
        store.apply(**batch_after(0))
        store._history.wait()
    assert not list((tmp_path / "store").glob("*base*"))
    store.apply(**batch_after(1))
    store._history.wait()
    assert [one.name for one in (tmp_path / "store").glob("*base*")] == ["base-00000002"]
    assert same(ew.ClusterStore.open(tmp_path / "store"), expected_after(2))


def test_a_base_that_cannot_be_written_is_not_tried_for_a_few_changes(tmp_path, monkeypatch):
    def tried(*_):
        tries.append(store.entry)
        full()

    monkeypatch.setattr(folder, "FEW_BYTES", 0)
    monkeypatch.setattr(folder, "_write_array", tried)
    store, tries = ew.ClusterStore.create(tmp_path / "store", threshold=0.5), []
    for batch in ([(one, one + 1, 0.9) for one in range(90)], [(0, 2, 0.9)], [(0, 3, 0.9)]):
        store.apply(add=batch)
        store._history.wait()
    assert tries == [1]
    store.apply(add=[(one, one + 1, 0.9) for one in range(200, 290)])
    store._history.wait()
    assert len(tries) == 2 and not list((tmp_path / "store").glob("*base*"))


def test_a_base_for_which_there_is_no_memory_is_not_tried_for_a_few_changes(tmp_path, monkeypatch):
    def tried(arrays):
        tries.append(store.entry)
        raise MemoryError

    monkeypatch.setattr(folder, "FEW_BYTES", 0)
    monkeypatch.setattr(folder, "_copied", tried)
    store, tries = ew.ClusterStore.create(tmp_path / "store", threshold=0.5), []
    for batch in ([(one, one + 1, 0.9) for one in range(90)], [(0, 2, 0.9)], [(0, 3, 0.9)]):
        store.apply(add=batch)
    assert tries == [1] and store.entry == 3


def test_a_reader_of_an_old_manifest_takes_a_new_base(tmp_path, monkeypatch):
    """A base replaces the one before after the manifest was read, and before the folder is looked at."""
    monkeypatch.setattr(folder, "FEW_BYTES", 0)
    path, read, old = tmp_path / "store", folder.read_manifest, []
    with ew.ClusterStore.create(path, threshold=0.5) as store:
        store.apply(**batch_after(0))
        old.append(read(path))
        store._history.wait()
        store.apply(**batch_after(1))
    assert [one.name for one in path.glob("base-*")] == ["base-00000002"]
    monkeypatch.setattr(folder, "read_manifest", lambda path: old.pop() if old else read(path))
    store = ew.ClusterStore.open(path)
    assert same(store, expected_after(2)) and store._history.base["entry"] == 2


def test_removed_pairs_are_left_out_by_every_process_alone(tmp_path, monkeypatch):
    for name in ("FEW_BYTES", "SPARE"):
        monkeypatch.setattr(folder, name, 0)
    path, counts = tmp_path / "store", []
    ew.ClusterStore.create(path).apply(add=[(0, 1)])
    for one in range(1, 9):
        store = ew.ClusterStore.open(path)
        store.apply(add=[(one, one + 1)], remove=[(one - 1, one)])
        store._history.wait()
        counts.append(store._state.n_pairs)
        assert store._history.base["entry"] == store.entry
    assert max(counts) == 2 and counts.count(1) > 1
    assert ew.ClusterStore.open(path).pairs().to_pydict() == {"source": [8], "target": [9]}


def damage(path):
    """Remove a folder, and cut a file."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.write_bytes(path.read_bytes()[:-5])


def test_two_writers(tmp_path):
    one, other = store_at(tmp_path / "store", 1), ew.ClusterStore.open(tmp_path / "store")
    one.apply(**batch_after(1))
    other.apply(**batch_after(2))
    assert same(other, expected_after(3))
    with one._history.locked(), pytest.raises(FileError, match="another process is writing"):
        other.apply(add=[("x", "y", 0.9)])
    assert same(ew.ClusterStore.open(tmp_path / "store"), expected_after(3))


def test_a_reader_is_not_disturbed(tmp_path, monkeypatch):
    monkeypatch.setattr(folder, "FEW_BYTES", 0)
    writer = store_at(tmp_path / "store", 2)
    reader = ew.ClusterStore.open(tmp_path / "store")
    for number in range(2, 8):
        writer.apply(**batch_after(number))
    assert same(reader, expected_after(2))
    assert reader.at(1) == expected_after(1).to_frame()


def test_files_are_what_they_are_said_to_be(tmp_path):
    store_at(tmp_path / "store", 2)
    members = parquet.read_table(tmp_path / "store" / "00000001-members.parquet")
    assert members.column_names == ["record", "cluster", "tree"]
    ids = parquet.read_table(tmp_path / "store" / "00000001-ids.parquet")
    assert ids["id"].to_pylist() == expected_after(1).to_frame()["id"].to_pylist()
    asked = parquet.read_table(tmp_path / "store" / "00000002-asked.parquet")
    assert asked["operation"].to_pylist() == ["remove"] * 3 + ["add"] * 8
    log = parquet.read_table(tmp_path / "store" / "00000002-log.parquet")
    assert set(log["cause"].to_pylist()) == {"after 1"}


def changed_manifest(path, **facts):
    manifest = path / "manifest.json"
    known = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(known | facts))


def test_other_versions_and_damage_are_refused(tmp_path):
    for name in ("version", "facts", "text", "parquet"):
        store_at(tmp_path / name, 1)
    changed_manifest(tmp_path / "version", edgewise_clusters=9)
    with pytest.raises(FileError, match=r"of another version of edgewise \(format 9, not 3\)"):
        ew.ClusterStore.open(tmp_path / "version")
    changed_manifest(tmp_path / "facts", threshold=0.9)
    (tmp_path / "text" / "manifest.json").write_text('{"edgewise_clusters": 1')
    for name in ("facts", "text"):
        with pytest.raises(FileError, match="is damaged; restore it from a copy"):
            ew.ClusterStore.open(tmp_path / name)
    damage(tmp_path / "parquet" / "00000001-log.parquet")
    with pytest.raises(FileError, match=r"log\.parquet: is damaged"):
        ew.ClusterStore.open(tmp_path / "parquet").log()
    with pytest.raises(FileError, match="holds no store of clusters"):
        ew.ClusterStore.open(tmp_path)
    with pytest.raises(FileError, match="is there already"):
        ew.ClusterStore.create(tmp_path / "version")
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(FileError, match="is no store of clusters"):
        ew.ClusterStore.open(tmp_path)


def test_a_batch_that_is_refused_writes_nothing(tmp_path):
    store = store_at(tmp_path / "store", 2)
    files = sorted(path.name for path in (tmp_path / "store").iterdir())
    with pytest.raises(GraphError, match="leave out one of the two"):
        store.apply(add=[("new", "newer", 0.9)], must=[("new", "newer")], cannot=[("new", "newer")])
    assert sorted(path.name for path in (tmp_path / "store").iterdir()) == files


def test_settings_are_kept(tmp_path):
    ew.ClusterStore.create(tmp_path / "store", threshold=0.5, max_size=2, one_to_one=["b", "a"])
    store = ew.ClusterStore.open(tmp_path / "store")
    assert (store.threshold, store.max_size, store.one_to_one) == (0.5, 2, ["a", "b"])
    store.apply(max_size=9, one_to_one=None, add=[("x", "y", 0.5)])
    store = ew.ClusterStore.open(tmp_path / "store")
    assert (store.threshold, store.max_size, store.one_to_one) == (0.5, 9, None)


def full(*_, **__):
    raise OSError(28, "No space left on device")


def test_a_disk_that_is_full(tmp_path, monkeypatch):
    store = store_at(tmp_path / "store", 2)
    with monkeypatch.context() as patched:
        patched.setattr(folder, "write_parquet", full)
        with pytest.raises(FileError, match="the disk is full"):
            store.apply(**batch_after(2))
    assert same(store, expected_after(2))
    store.apply(**batch_after(2))
    assert same(ew.ClusterStore.open(tmp_path / "store"), expected_after(3))


def test_a_base_of_other_entries_is_not_taken(tmp_path, monkeypatch):
    """A copy of an earlier state is put over the folder, where a base of later entries stays."""
    path, copy = tmp_path / "store", tmp_path / "copy"
    monkeypatch.setattr(folder, "FEW_BYTES", 0)
    with ew.ClusterStore.create(path, threshold=0.5) as store:
        store.apply(add=[("a", "b", 0.9)])
    shutil.copytree(path, copy)
    with store:
        store.apply(add=[("c", "d", 0.9), ("e", "f", 0.9)])
    assert (path / "base-00000002").exists()
    shutil.copytree(copy, path, dirs_exist_ok=True)
    monkeypatch.setattr(folder, "FEW_BYTES", 1 << 20)
    again = ew.ClusterStore.open(path)
    again.apply(add=[("x", "y", 0.9), ("z", "w", 0.9)])
    assert ew.ClusterStore.open(path).to_frame() == again.to_frame()
    assert again.to_frame()["id"].to_pylist() == ["a", "b", "x", "y", "z", "w"]


def test_an_entry_is_there_if_its_base_cannot_be_begun(tmp_path, monkeypatch):
    def refused(*_):
        raise MemoryError

    store = ew.ClusterStore.create(tmp_path / "store", threshold=0.5)
    monkeypatch.setattr(folder, "FEW_BYTES", 0)
    monkeypatch.setattr(folder, "_copied", refused)
    store.apply(add=[("a", "b", 0.9)])
    assert store.entry == ew.ClusterStore.open(tmp_path / "store").entry == 1


def test_a_store_with_a_base_is_pickled(tmp_path, monkeypatch):
    monkeypatch.setattr(folder, "FEW_BYTES", 0)
    store = ew.ClusterStore.create(tmp_path / "store", threshold=0.5)
    store.apply(add=[("a", "b", 0.9)])
    assert pickle.loads(pickle.dumps(store)).to_frame() == store.to_frame()
    store.close()


@pytest.mark.parametrize("kind", [pa.timestamp("s"), pa.timestamp("s", "UTC"), pa.time32("s"), pa.date64()])
def test_ids_of_types_that_parquet_has_not(tmp_path, kind):
    numbers = pa.array([0, 86_400_000] if kind == pa.date64() else [1, 2])
    ids = numbers.cast(pa.int32()).cast(kind) if kind == pa.time32("s") else numbers.cast(kind)
    with ew.ClusterStore.create(tmp_path / "store", threshold=0.5) as store:
        store.apply(add=pa.table({"source": ids[:1], "target": ids[1:], "score": [0.9]}))
    again = ew.ClusterStore.open(tmp_path / "store")
    assert again.to_frame() == store.to_frame() and again.to_frame()["id"].type == kind


def test_others_read_tables_without_dictionaries(tmp_path):
    store = store_at(tmp_path / "store", 3)
    logs = sorted((tmp_path / "store").glob("*-log.parquet"))
    assert pa.concat_tables([parquet.read_table(path) for path in logs]).equals(store.log())
    for path in (tmp_path / "store").glob("*.parquet"):
        assert not any(map(pa.types.is_dictionary, parquet.read_schema(path).types))
    asked = parquet.read_table(logs[0].with_name(logs[0].name.replace("log", "asked")))
    assert set(asked["operation"].to_pylist()) <= set(history.OPERATIONS.values())
