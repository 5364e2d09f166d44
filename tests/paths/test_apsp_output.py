"""All pairs into files: whole or not there, and an interrupted run goes on where it was."""

import numpy as np
import pytest

import edgewise as ew
from edgewise.errors import FileError, GraphError
from edgewise.paths.apsp import all_pairs_shortest_paths, job

RNG = np.random.default_rng(5)
N = 40
SOURCES, TARGETS = RNG.integers(0, N, (2, 100))
WEIGHTS = RNG.integers(1, 9, 100)
GRAPH = ew.Graph.from_edges(SOURCES, TARGETS, weights=WEIGHTS, n_vertices=N)


@pytest.fixture(params=[".npy", ".zarr"])
def goal(request, tmp_path, monkeypatch):
    if request.param == ".zarr":
        pytest.importorskip("zarr")
    monkeypatch.setattr(job, "BLOCK_ROWS", 8)
    return tmp_path / f"distances{request.param}"


def expected(**options):
    return all_pairs_shortest_paths(GRAPH, **options).distances


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


def test_another_run_is_refused(goal):
    interrupted(goal, 1)
    other = ew.Graph.from_edges(SOURCES, TARGETS, weights=WEIGHTS + 1, n_vertices=N)
    with pytest.raises(FileError, match="belongs to another run: graph and sources was"):
        all_pairs_shortest_paths(other, method="sssp", output=goal)
    with pytest.raises(FileError, match="belongs to another run"):
        all_pairs_shortest_paths(GRAPH, method="sssp", dtype="float64", output=goal)


def test_a_file_that_is_there_is_replaced_when_all_is_done(goal):
    all_pairs_shortest_paths(GRAPH, output=goal)
    other = ew.Graph.from_edges(SOURCES, TARGETS, n_vertices=N)
    result = all_pairs_shortest_paths(other, output=goal)
    assert (result.distances[:] == all_pairs_shortest_paths(other).distances).all()


def test_a_journal_cut_short_begins_anew(goal):
    interrupted(goal, 2)
    journal = goal.with_name(f".{goal.name}.journal")
    journal.write_text(journal.read_text()[:30])
    result = all_pairs_shortest_paths(GRAPH, method="sssp", output=goal)
    assert (result.distances[:] == expected()).all()


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


def test_what_cannot_be_written(tmp_path):
    with pytest.raises(FileError, match="the folder does not exist"):
        all_pairs_shortest_paths(GRAPH, output=tmp_path / "absent" / "d.npy")
    negative = ew.Graph.from_edges([0, 1], [1, 0], weights=[1, -2], n_vertices=2, directed=True)
    with pytest.raises(GraphError, match="weighs -1"):
        all_pairs_shortest_paths(negative, output=tmp_path / "d.npy")
    assert not (tmp_path / "d.npy").exists()
