"""Shards by tasks: the labels of one process, whoever does them, whatever happens on the way."""

import errno
import os
import shutil
import signal
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from threading import Lock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import edgewise as ew
from edgewise.errors import EdgewiseWarning, FileError, OptionError, WorkerError
from edgewise.streams import sharded, tasks
from edgewise.workers.executors import executor_of
from tests.compared import resolved_by_workers
from tests.ownership import give_away

SHARDS, ROWS = 5, 400
pytestmark = pytest.mark.usefixtures("divided")


def tables(kind, shards=SHARDS):
    """Tables of pairs with scores; the ids of some shards are others than those of the first."""
    draw = np.random.default_rng(len(kind))
    low, high = {"sparse": (-(2**40), 2**40), "isolated": (0, 4000)}.get(kind, (0, 900))
    found = []
    for _ in range(shards):
        ends = draw.integers(low, high, (2, ROWS if kind != "isolated" else 9))
        if kind in ("sparse", "isolated"):
            ends[:, : ends.shape[1] // 2] = ends[:, : ends.shape[1] // 2] % 50
            ends[1, :3] = ends[0, :3]
        columns = [[f"v{value}" for value in one] for one in ends] if kind == "strings" else list(ends)
        scores = draw.integers(0, 6, ends.shape[1])
        found.append({"left_id": columns[0], "right_id": columns[1], "score": scores})
    return found


def stored(folder, kind, ending="parquet", order=None):
    """A new folder with the tables of a kind, in another order if one is given."""
    folder.mkdir()
    found = tables(kind)
    for number, position in enumerate(order or range(len(found))):
        ew.write(pa.table(found[position]), folder / f"{number}.{ending}")
    return folder


def assert_same(found, expected):
    assert found.to_frame() == expected.to_frame()
    assert found.labels.dtype == expected.labels.dtype
    assert (found.labels == expected.labels).all()
    assert found.graph.n_edges == expected.graph.n_edges
    assert found.devices == expected.devices
    ids = found.graph.ids, expected.graph.ids
    assert [None if one is None else str(getattr(one, "type", one[:0])) for one in ids][0:1] * 2 == [
        None if one is None else str(getattr(one, "type", one[:0])) for one in ids
    ]


@pytest.mark.parametrize("ending", ("parquet", "csv"))
@pytest.mark.parametrize("kind", ("dense", "sparse", "isolated", "strings"))
def test_components_are_those_of_one_process(kind, ending, threads, tmp_path):
    folder = stored(tmp_path / "shards", kind, ending)
    options = {"where": "score >= 2", "source": "left_id", "target": "right_id"}
    expected = ew.stream_components(folder, **options)
    seen = []
    found = ew.stream_components(
        folder, client=threads, progress=lambda *given: seen.append(given), **options
    )
    assert_same(found, expected)
    rows = sum(len(table["score"]) for table in tables(kind))
    assert seen[-1] == (rows, rows if ending == "parquet" else None)


def test_components_by_dask_in_any_order(dask, tmp_path):
    draw, sizes = np.random.default_rng(4), set()
    for number in range(3):
        order = draw.permutation(SHARDS).tolist()
        folder = stored(tmp_path / str(number), "strings", order=order)
        found = ew.stream_components(folder, client=dask)
        assert_same(found, ew.stream_components(folder))
        sizes.add((found.count, found.largest))
    assert len(sizes) == 1


def test_types_of_text_that_change_on_the_way(threads, tmp_path):
    folder = stored(tmp_path / "shards", "dense", "csv")
    (folder / "9.csv").write_text("left_id,right_id,score\n5,x,0\n")
    assert_same(ew.stream_components(folder, client=threads), ew.stream_components(folder))
    (folder / "9.csv").write_text(f"left_id,right_id,score\n5,{2**60},0\n-3,{2**60},1\n")
    assert_same(ew.stream_components(folder, client=threads), ew.stream_components(folder))


def test_one_file_with_isolated_vertices(threads, tmp_path):
    graph = ew.Graph.from_edges([1, 4], [2, 1], n_vertices=7)
    ew.write(graph, tmp_path / "graph.parquet")
    expected = ew.stream_components(tmp_path / "graph.parquet")
    assert expected.count == 5
    assert_same(ew.stream_components(tmp_path / "graph.parquet", client=threads), expected)


def test_nothing_is_kept(threads, tmp_path):
    for kind in ("dense", "strings"):
        folder = stored(tmp_path / kind, kind)
        with pytest.warns(EdgewiseWarning, match=r"the condition 'score > 99' keeps none of 2,000 rows"):
            assert ew.stream_components(folder, client=threads, where="score > 99").count == 0


def test_many_dictionaries(threads, tmp_path, monkeypatch):
    monkeypatch.setattr(sharded, "DICTIONARIES_PER_SLOT", 40)
    folder = stored(tmp_path / "shards", "strings")
    assert_same(ew.stream_components(folder, client=threads), ew.stream_components(folder))


@pytest.mark.parametrize("ending", ("parquet", "csv"))
def test_a_machine_has_one_task_for_strings(ending, threads, dask, tmp_path, monkeypatch):
    folder = stored(tmp_path / "shards", "strings", ending)
    expected, names = ew.stream_components(folder), []
    forest = ew.stream_forest(folder, weight="score")
    end = tasks.TaskRun._end
    monkeypatch.setattr(tasks.TaskRun, "_end", lambda *given: names.append(given[1].name) or end(*given))
    monkeypatch.setattr(sharded, "MEMORY_SHARE", 0.5)
    for client in threads, dask:
        names.clear()
        assert_same(ew.stream_components(folder, client=client), expected)
        assert len(names) == 1
        found = ew.stream_components(folder, client=client, output=tmp_path / "clusters")
        assert found.to_frame() == expected.to_frame()
        shutil.rmtree(tmp_path / "clusters")
        found = ew.stream_forest(folder, weight="score", client=client)
        assert found.to_frame() == forest.to_frame() and (found.labels == forest.labels).all()


def test_tasks_for_machines_of_their_own(threads, tmp_path, monkeypatch):
    """Tasks over strings are as few as the memory allows, at least one for each machine."""
    folder = stored(tmp_path / "shards", "strings")
    expected, groups = ew.stream_components(folder), []
    divide = sharded.groups_of
    monkeypatch.setattr(sharded, "groups_of", lambda *given: groups.append(divide(*given)) or groups[-1])
    monkeypatch.setattr(sharded, "MEMORY_SHARE", 0.5)
    executor = executor_of(threads)
    monkeypatch.setattr(sharded, "executor_of", lambda *given: executor)
    rows, size = SHARDS * ROWS, sum(file.stat().st_size for file in folder.iterdir())
    need = sharded.ROW_OF_STRINGS * rows + sharded.BYTE_OF_STRINGS * size
    for executor.slots, executor.machines, executor.memory, count in (
        (2, 1, 2 * need, 1),
        (2, 1, 2 * need - 1, 2),
        (4, 3, need, 3),
        (5, 1, need // 2, 4),
        (4, 3, need // 4, 4),
    ):
        assert_same(ew.stream_components(folder, client=threads), expected)
        assert len(groups.pop()) == count
    monkeypatch.setattr(sharded, "TASK_ROWS", rows // 2)
    executor.slots, executor.machines, executor.memory = 3, 1, 100 * need
    assert_same(ew.stream_components(folder, client=threads), expected)
    assert len(groups.pop()) == 2


@pytest.mark.parametrize("sizes, wanted", (([1] * 10, 4), ([9, 1, 1, 1], 2), ([3], 8), ([1, 1, 50, 1], 4)))
def test_groups_cover_all_shards(sizes, wanted):
    groups = sharded.groups_of(sizes, wanted)
    assert len(groups) <= wanted
    assert [shard for start, stop in groups for shard in range(start, stop)] == list(range(len(sizes)))
    assert all(start < stop for start, stop in groups)


def always_fails(folder, name, **given):
    raise ValueError("no luck")


class Interrupted(Exception):
    """Raised on purpose."""


@pytest.mark.parametrize("kind", ("dense", "strings"))
def test_tasks_for_gpus_run_where_the_resource_is(kind, dask_with_gpu, tmp_path, monkeypatch):
    folder = stored(tmp_path / "shards", kind)
    expected = ew.stream_components(folder)
    with monkeypatch.context() as patched:
        devices, workers = resolved_by_workers(patched)
        assert_same(ew.stream_components(folder, device="cuda", client=dask_with_gpu), expected)
    assert "cuda" in devices and set(workers) == {"with"}


@pytest.mark.parametrize("kind", ("dense", "strings"))
def test_a_run_continues_where_it_stopped(kind, tmp_path, monkeypatch):
    folder, state = stored(tmp_path / "shards", kind), tmp_path / "state"
    expected = ew.stream_components(folder)
    done, run, room, lock = [], tasks.TaskFolder.keep, [0], Lock()

    def keep(self, name, facts):
        with lock:  # two tasks must not take the last room
            if len(done) >= room[0]:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            done.append(name)
        run(self, name, facts)

    monkeypatch.setattr(tasks.TaskFolder, "keep", keep)
    full = pytest.raises((FileError, WorkerError, OSError), match=r"(?i)space|full")
    for room[0] in (3, 7):
        with full, ThreadPoolExecutor(2) as pool:  # the end of which waits for tasks that are running
            ew.stream_components(folder, client=pool, checkpoint=state)
    room[0] = 1000
    with ThreadPoolExecutor(2) as pool:
        assert_same(ew.stream_components(folder, client=pool, checkpoint=state), expected)
    assert len(done) == len(set(done))  # nothing was done twice
    assert not state.exists()


def stopped_after(count, folder, state, monkeypatch):
    """Stream the shards in a folder until so many facts are kept in the folder ``state``."""
    keep, done, lock = tasks.TaskFolder.keep, [], Lock()

    def kept(self, name, facts):
        with lock:
            if len(done) == count:
                raise Interrupted
            done.append(name)
        keep(self, name, facts)

    with monkeypatch.context() as patched, ThreadPoolExecutor(2) as pool:
        patched.setattr(tasks.TaskFolder, "keep", kept)
        with pytest.raises(WorkerError, match="Interrupted"):
            ew.stream_components(folder, client=pool, checkpoint=state)


@pytest.mark.interpreter
@pytest.mark.parametrize("kind", ("dense", "strings"))
def test_files_of_tasks_that_have_changed(kind, threads, tmp_path, monkeypatch):
    """A run goes on only with what its tasks have written: any other file is refused."""
    folder, state = stored(tmp_path / "shards", kind), tmp_path / "state"
    expected = ew.stream_components(folder)
    stopped_after(4, folder, state, monkeypatch)
    done = {
        name for file in state.glob("*.json") for name in tasks.TaskFolder(state)._content(file.stem)["files"]
    }
    assert len(done) > 2
    for path in sorted(state.iterdir()):
        content = path.read_bytes()
        changed = bytes([content[len(content) // 2] ^ 1])
        path.write_bytes(content[: len(content) // 2] + changed + content[len(content) // 2 + 1 :])
        if path.name in done or path.suffix == ".json" or path.name == tasks.INPUTS:
            with pytest.raises(FileError, match=r"(damaged|is not what was written).*; remove"):
                ew.stream_components(folder, client=threads, checkpoint=state)
        path.write_bytes(content)
    assert_same(ew.stream_components(folder, client=threads, checkpoint=state), expected)


@pytest.mark.interpreter
def test_the_folder_of_another_user(threads, tmp_path, monkeypatch):
    folder, state = stored(tmp_path / "shards", "dense"), tmp_path / "state"
    stopped_after(3, folder, state, monkeypatch)
    give_away(state / tasks.INPUTS, monkeypatch)
    with pytest.raises(FileError, match="belongs to another user"):
        ew.stream_components(folder, client=threads, checkpoint=state)
    give_away(state, monkeypatch)
    with pytest.raises(FileError, match=r"state: belongs to another user .*; name another folder"):
        ew.stream_components(folder, client=threads, checkpoint=state)


def test_a_shard_that_fails_twice(threads, tmp_path, monkeypatch):
    folder, state = stored(tmp_path / "shards", "dense"), tmp_path / "state"
    expected, tries = ew.stream_components(folder), []

    def fails(folder, name, **given):
        if given["files"]["paths"][0].endswith("3.parquet"):
            tries.append(name)
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return sharded.part_of_shards(folder, name, **given)

    with monkeypatch.context() as patched:
        patched.setattr(sharded.ShardedStream, "first_task", staticmethod(fails))
        with pytest.raises(
            WorkerError, match=r"3\.parquet failed 2 times \(OSError: .*; repeat the call with"
        ):
            ew.stream_components(folder, client=threads, checkpoint=state)
    assert len(tries) == 2
    assert_same(ew.stream_components(folder, client=threads, checkpoint=state), expected)


def test_a_row_without_an_id(threads, tmp_path):
    folder = stored(tmp_path / "shards", "dense")
    parquet.write_table(
        pa.table({"left_id": [1, None], "right_id": [2, 3], "score": [1, 1]}), folder / "7.parquet"
    )
    with pytest.raises(FileError, match=r"7\.parquet: 'left_id' is null in row 2; use null='drop'") as caught:
        ew.stream_components(folder, client=threads, checkpoint=tmp_path / "state")
    assert "failed 2 times; repeat the call with the same checkpoint=" in caught.value.__notes__[0]


def test_a_task_that_fails_once_is_done_again(threads, tmp_path, monkeypatch):
    folder, failed = stored(tmp_path / "shards", "dense"), []
    original = sharded.merged_part

    def fails_once(folder, name, **given):
        if name not in failed:
            failed.append(name)
            raise ValueError("no luck")
        return original(folder, name, **given)

    monkeypatch.setattr(sharded, "merged_part", fails_once)
    assert_same(ew.stream_components(folder, client=threads), ew.stream_components(folder))
    assert failed
    monkeypatch.setattr(sharded, "merged_part", always_fails)
    with pytest.raises(WorkerError, match=r"the merge of parts failed 2 times .*; give checkpoint= a folder"):
        ew.stream_components(folder, client=threads)


def test_workers_that_are_killed(tmp_path):
    folder, state = stored(tmp_path / "shards", "strings"), tmp_path / "state"
    expected = ew.stream_components(folder)
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:

        def kill(*_):
            for process in list(pool._processes.values()):
                os.kill(process.pid, signal.SIGKILL)

        with pytest.raises(
            WorkerError, match=r"the workers cannot be reached any more .* what is done is in"
        ):
            ew.stream_components(folder, client=pool, checkpoint=state, progress=kill)
    assert state.exists()
    with ThreadPoolExecutor(2) as pool:
        assert_same(ew.stream_components(folder, client=pool, checkpoint=state), expected)


def test_a_cluster_that_is_closed(tmp_path):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed (edgewise[dask])")
    folder, state = stored(tmp_path / "shards", "dense"), tmp_path / "state"
    options = {"processes": False, "n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster) as client,
        pytest.raises(WorkerError, match=r"the workers cannot be reached any more"),
    ):
        ew.stream_components(folder, client=client, checkpoint=state, progress=lambda *_: client.close())
    with ThreadPoolExecutor(1) as pool:
        found = ew.stream_components(folder, client=pool, checkpoint=state)
    assert_same(found, ew.stream_components(folder))


def test_folders_of_other_runs_and_machines(threads, tmp_path, monkeypatch):
    folder, state = stored(tmp_path / "shards", "dense"), tmp_path / "state"
    state.mkdir()
    (state / "novel.txt").write_text("once upon a time")
    with pytest.raises(FileError, match=r"is no folder of an interrupted run; name an empty or a new folder"):
        ew.stream_components(folder, client=threads, checkpoint=state)
    (state / "novel.txt").unlink()

    def stop(*_):
        raise Interrupted

    with pytest.raises(Interrupted):
        ew.stream_components(folder, client=threads, checkpoint=state, progress=stop)
    with pytest.raises(FileError, match=r"belongs to another run: where was None and is 'score > 1' now"):
        ew.stream_components(folder, client=threads, checkpoint=state, where="score > 1")
    monkeypatch.setattr(tasks, "INPUTS", "elsewhere")
    with pytest.raises(
        WorkerError, match=r"has no folder .*; give checkpoint= a new folder that all workers"
    ):
        tasks.run_task({"folder": str(state), "name": "a"})


def test_options_that_mean_nothing(threads, tmp_path):
    folder = stored(tmp_path / "shards", "dense")
    for option, value in (("devices", "cpu:0"), ("merge", "peer"), ("every", 1.0)):
        with pytest.raises(OptionError, match=rf"^{option}= is for one process"):
            ew.stream_components(folder, client=threads, **{option: value})
    with pytest.raises(OptionError, match=r"client= needs files that can be read again"):
        ew.stream_components("-", client=threads)


def test_a_missing_shard_and_a_wrong_one(threads, tmp_path):
    folder = stored(tmp_path / "shards", "dense")
    with pytest.raises(FileError, match=r"id 8.. in row .* is no vertex number, as these run from 0 to 799"):
        ew.stream_components(folder, client=threads, n_vertices=800)
    parquet.write_table(pa.table({"one": [1], "two": [2]}), folder / "7.parquet")
    with pytest.raises(FileError, match=r"7\.parquet: "):
        ew.stream_components(folder, client=threads)
