"""All pairs into files: whole or not there, and an interrupted run goes on where it was."""

import json
import os
import shutil

import numpy as np
import pytest

import edgewise as ew
from edgewise.errors import FileError, GraphError
from edgewise.paths.apsp import all_pairs_shortest_paths, output, search
from tests.ownership import give_away

RNG = np.random.default_rng(5)
N = 40
SOURCES, TARGETS = RNG.integers(0, N, (2, 100))
WEIGHTS = RNG.integers(1, 9, 100)
GRAPH = ew.Graph.from_edges(SOURCES, TARGETS, weights=WEIGHTS, n_vertices=N)


@pytest.fixture(params=[".npy", ".zarr"])
def goal(request, tmp_path, monkeypatch):
    if request.param == ".zarr":
        pytest.importorskip("zarr")
    monkeypatch.setattr(search, "BLOCK_ROWS", 8)
    return tmp_path / f"distances{request.param}"


def expected(**options):
    return all_pairs_shortest_paths(GRAPH, **options).distances


@pytest.mark.interpreter
@pytest.mark.parametrize("method", ["sssp", "floyd-warshall", "johnson"])
def test_file_holds_what_memory_would(goal, method):
    blocks = []
    result = all_pairs_shortest_paths(
        GRAPH, method=method, output=goal, progress=lambda *done: blocks.append(done)
    )
    assert blocks == [(done, 5) for done in range(1, 6)]
    assert (result.distances[:] == expected()).all()
    assert [path.name for path in goal.parent.iterdir()] == [goal.name]
    assert result.path(0, 0) == [0] and result.verify() is result
    if goal.suffix == ".npy":
        assert (np.load(goal) == expected()).all()


def interrupted(goal, after, graph=GRAPH, **options):
    """Run until ``after`` blocks are done, then as if Ctrl-C were pressed."""

    def stop(done, blocks):
        if done == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        all_pairs_shortest_paths(graph, method="sssp", output=goal, progress=stop, **options)
    assert not goal.exists()


def test_an_interrupted_run_goes_on(goal):
    interrupted(goal, 2)
    seen = []
    result = all_pairs_shortest_paths(
        GRAPH, method="sssp", output=goal, progress=lambda done, blocks: seen.append(done)
    )
    assert seen == [2, 3, 4, 5]
    assert (result.distances[:] == expected()).all()
    assert [path.name for path in goal.parent.iterdir()] == [goal.name]


@pytest.mark.skipif(os.name == "nt", reason="links of POSIX")
@pytest.mark.parametrize("plant", [os.symlink, os.link], ids=["symbolic", "hard"])
def test_a_planted_link_is_not_followed(goal, plant):
    victim = goal.parent / "victim"
    victim.write_text("precious")
    part, journal = output.hidden_names(goal)
    plant(victim, journal)
    with pytest.raises(FileError, match="no journal but a link"):
        all_pairs_shortest_paths(GRAPH, method="sssp", output=goal)
    journal.unlink()
    interrupted(goal, 2)
    if part.is_dir():
        shutil.rmtree(part)
        part.symlink_to(goal.parent)
    else:
        part.unlink()
        plant(victim, part)
    all_pairs_shortest_paths(GRAPH, method="sssp", output=goal)
    assert victim.read_text() == "precious"
    assert sorted(path.name for path in goal.parent.iterdir()) == [goal.name, "victim"]


def test_another_run_is_refused(goal):
    interrupted(goal, 1)
    other = ew.Graph.from_edges(SOURCES, TARGETS, weights=WEIGHTS + 1, n_vertices=N)
    with pytest.raises(FileError, match="belongs to another run: graph and sources was"):
        all_pairs_shortest_paths(other, method="sssp", output=goal)
    with pytest.raises(FileError, match="belongs to another run"):
        all_pairs_shortest_paths(GRAPH, method="sssp", dtype="float64", output=goal)
    with pytest.raises(FileError, match="method was 'sssp' and is 'johnson' now"):
        all_pairs_shortest_paths(GRAPH, method="johnson", output=goal)


def test_a_file_that_is_there_is_replaced_when_all_is_done(goal):
    all_pairs_shortest_paths(GRAPH, output=goal)
    other = ew.Graph.from_edges(SOURCES, TARGETS, n_vertices=N)
    result = all_pairs_shortest_paths(other, output=goal)
    assert (result.distances[:] == all_pairs_shortest_paths(other).distances).all()


def test_a_block_that_has_changed_is_done_again(goal):
    """What is in the file must be what was written, and what the journal says of it, too."""
    part, journal = output.hidden_names(goal)
    interrupted(goal, 2)
    if part.is_file():
        content = bytearray(part.read_bytes())
        content[-8 * N * N + 100] ^= 64  # in the first block
        part.write_bytes(content)
    else:
        shutil.rmtree(next(one for one in part.iterdir() if one.is_dir()))
    journal.write_text(journal.read_text() + '[4, "00000000"]\n')
    seen = []
    result = all_pairs_shortest_paths(
        GRAPH, method="sssp", output=goal, progress=lambda done, blocks: seen.append(done)
    )
    assert seen[0] < 2
    assert (result.distances[:] == expected()).all()


def test_any_damage_of_a_header(tmp_path, monkeypatch):
    monkeypatch.setattr(search, "BLOCK_ROWS", 8)
    goal = tmp_path / "distances.npy"
    interrupted(goal, 2)
    part, journal = output.hidden_names(goal)
    content, log = part.read_bytes(), journal.read_bytes()
    for place in range(128):
        for letter in b"\n(":
            part.write_bytes(content[:place] + bytes([letter]) + content[place + 1 :])
            journal.write_bytes(log)
            file = output.NpyMatrix(goal, part, (N, N), np.dtype(np.int64), 8)
            assert file.reopen() in (False, True)
            file.close()


def test_the_unfinished_matrix_of_another_user(goal, monkeypatch):
    interrupted(goal, 2)
    give_away(output.hidden_names(goal)[0], monkeypatch)
    with pytest.raises(FileError, match=r"(belongs to another user|the file of another user)"):
        all_pairs_shortest_paths(GRAPH, method="sssp", output=goal)


def test_a_journal_cut_short_begins_anew(goal):
    interrupted(goal, 2)
    journal = goal.with_name(f".{goal.name}.journal")
    journal.write_text(journal.read_text()[:30])
    result = all_pairs_shortest_paths(GRAPH, method="sssp", output=goal)
    assert (result.distances[:] == expected()).all()


def test_what_a_journal_or_part_cannot_mean_is_not_gone_on_with(goal, monkeypatch):
    monkeypatch.setattr(search, "BLOCK_ROWS", 1)
    monkeypatch.setattr(search, "BLOCKS", 1000)
    journal, part = goal.with_name(f".{goal.name}.journal"), goal.with_name(f".{goal.stem}.part{goal.suffix}")
    interrupted(goal, 12)
    journal.write_text(journal.read_text()[:-2])  # the end of the last line is missing
    interrupted(goal, 12)
    done = [json.loads(line)[0] for line in journal.read_text().splitlines()[1:]]
    assert done == list(range(12))
    result = all_pairs_shortest_paths(GRAPH, method="sssp", output=goal)
    assert (result.distances[:] == expected()).all()

    def cut():
        os.truncate(part, 500) if part.is_file() else shutil.rmtree(part)

    def swap():
        shutil.rmtree(part) if part.is_dir() else None
        np.save(part, np.zeros((N, N), np.float32))

    def lie():
        journal.write_text(journal.read_text() + "40\n")

    def forget():
        shutil.rmtree(part) if part.is_dir() else part.unlink()

    for damage in (cut, swap, lie, forget):
        interrupted(goal.with_name(f"other{goal.suffix}"), 1)
        goal.unlink() if goal.is_file() else shutil.rmtree(goal)
        interrupted(goal, 3)
        damage()
        seen = []
        result = all_pairs_shortest_paths(
            GRAPH,
            method="sssp",
            output=goal,
            progress=lambda done, blocks: seen.append(done),  # noqa: B023
        )
        assert seen[0] == 1 and (result.distances[:] == expected()).all(), damage
        with pytest.raises(FileNotFoundError):
            journal.stat()


def test_one_run_at_a_time(goal):
    pytest.importorskip("fcntl")

    def second(done, blocks):
        if done == 2:
            with pytest.raises(FileError, match="another run is writing it"):
                all_pairs_shortest_paths(GRAPH, method="sssp", output=goal)

    result = all_pairs_shortest_paths(GRAPH, method="sssp", output=goal, progress=second)
    assert (result.distances[:] == expected()).all()


def test_only_what_an_output_was_is_replaced(goal):
    goal.mkdir()
    (goal / "precious.txt").write_text("mine")

    def never(done, blocks):
        pytest.fail("the work has started")

    with pytest.raises(FileError, match=r"is a directory|no Zarr array"):
        all_pairs_shortest_paths(GRAPH, output=goal, progress=never)
    assert (goal / "precious.txt").read_text() == "mine"
    (goal / "precious.txt").unlink()
    goal.rmdir()

    def meanwhile(done, blocks):
        if done == blocks:
            goal.mkdir()
            (goal / "precious.txt").write_text("mine")

    with pytest.raises(FileError, match=r"is a directory|no Zarr array"):
        all_pairs_shortest_paths(GRAPH, output=goal, progress=meanwhile)
    assert (goal / "precious.txt").read_text() == "mine"


def test_a_full_disk_is_told_and_the_blocks_are_kept(tmp_path, monkeypatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(search, "BLOCK_ROWS", 8)
    goal, limits = tmp_path / "d.npy", resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill_up(done, blocks):
        if done == 2:
            resource.setrlimit(resource.RLIMIT_FSIZE, (3000, limits[1]))

    try:
        with pytest.raises(FileError, match="larger than the system allows"):
            all_pairs_shortest_paths(GRAPH, method="sssp", dtype="int32", output=goal, progress=fill_up)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    seen = []
    all_pairs_shortest_paths(
        GRAPH, method="sssp", dtype=np.int32, output=goal, progress=lambda done, blocks: seen.append(done)
    )
    assert seen[0] == 2
    small = shutil.disk_usage(tmp_path)._replace(free=100)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: small)
    with pytest.raises(FileError, match="too little room: 6,400 bytes needed, 100 free"):
        all_pairs_shortest_paths(GRAPH, method="sssp", dtype="int32", output=tmp_path / "e.npy")
    assert [path.name for path in tmp_path.iterdir()] == ["d.npy"]


def test_a_run_that_was_widened_goes_on(goal):
    heavy = np.append(np.ones(N - 2), 2**30 - 1).astype(np.int32)
    graph = ew.Graph.from_edges(np.arange(N - 1), np.arange(1, N), weights=heavy, directed=True)
    interrupted(goal, 5, graph)
    seen = []
    result = all_pairs_shortest_paths(
        graph, method="sssp", output=goal, progress=lambda done, blocks: seen.append(done)
    )
    assert seen == [5] and result.distances.dtype == np.int64


def test_a_distance_too_large_begins_anew_in_a_wider_type(goal):
    heavy = np.where(np.arange(100) == 99, 2**30 - 1, WEIGHTS).astype(np.int32)
    sources, targets = SOURCES.copy(), TARGETS.copy()
    sources[99], targets[99] = 0, N
    graph = ew.Graph.from_edges(sources, targets, weights=heavy, n_vertices=N + 1, directed=True)
    result = all_pairs_shortest_paths(graph, method="sssp", output=goal)
    assert result.distances.dtype == np.int64
    assert (result.distances[:] == all_pairs_shortest_paths(graph, method="sssp").distances).all()


def test_some_sources_and_no_vertex(goal):
    result = all_pairs_shortest_paths(GRAPH, sources=[7, 3], output=goal)
    assert (result.distances[:] == expected()[[7, 3]]).all()
    nothing = ew.Graph.from_edges([], [], n_vertices=0)
    assert all_pairs_shortest_paths(nothing, output=goal).distances.shape == (0, 0)


def test_a_result_is_a_table_a_stream_a_matrix_and_a_picture(goal):
    pa = pytest.importorskip("pyarrow")
    graph = ew.Graph.from_edges(["a", "b", "x"], ["b", "c", "y"], weights=[2, 3, 1], directed=True)
    result = all_pairs_shortest_paths(graph)
    pairs = [("a", "a", 0), ("a", "b", 2), ("a", "c", 5), ("b", "b", 0), ("b", "c", 3)]
    pairs += [("c", "c", 0), ("x", "x", 0), ("x", "y", 1), ("y", "y", 0)]
    rows = [tuple(row.values()) for row in result.to_frame().to_pylist()]
    assert sorted(rows) == pairs and [row[0] for row in rows] == sorted(
        (row[0] for row in rows), key=graph.ids.to_pylist().index
    )
    assert pa.table(result).equals(result.to_frame())
    result.write(goal.with_suffix(".csv"))
    assert goal.with_suffix(".csv").read_text().startswith("source,target,distance")
    for written in (result, all_pairs_shortest_paths(graph, output=goal)):
        written.write(goal)  # a file that is there is replaced
        read = np.load(goal) if goal.suffix == ".npy" else written.distances[:]
        assert (read == result.distances).all()
    pytest.importorskip("matplotlib")
    result.plot(goal.with_suffix(".svg"))
    assert "<svg" in goal.with_suffix(".svg").read_text()
    names = {goal.name, *(goal.with_suffix(suffix).name for suffix in (".csv", ".svg"))}
    assert {path.name for path in goal.parent.iterdir()} == names


def test_a_matrix_that_cannot_be_written_leaves_nothing(goal, monkeypatch):
    result, put, blocks = all_pairs_shortest_paths(GRAPH), output.RowFile.put, []

    def until_the_second(file, block, values):
        blocks.append(block)
        if len(blocks) == 2:
            raise KeyboardInterrupt
        put(file, block, values)

    monkeypatch.setattr(output.RowFile, "put", until_the_second)
    with pytest.raises(KeyboardInterrupt):
        result.write(goal)
    assert len(blocks) == 2 and not list(goal.parent.iterdir())


def test_what_cannot_be_written(tmp_path):
    with pytest.raises(FileError, match="the folder does not exist"):
        all_pairs_shortest_paths(GRAPH, output=tmp_path / "absent" / "d.npy")
    negative = ew.Graph.from_edges([0, 1], [1, 0], weights=[1, -2], n_vertices=2, directed=True)
    with pytest.raises(GraphError, match="weighs -1"):
        all_pairs_shortest_paths(negative, output=tmp_path / "d.npy")
    assert not list(tmp_path.iterdir())
