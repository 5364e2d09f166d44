"""All pairs by the workers of an executor: the distances of one process, in memory and in files."""

import errno
import os

import numpy as np
import pytest

import edgewise as ew
from edgewise.errors import FileError, GraphError, OptionError
from edgewise.paths.apsp import by_workers, output
from edgewise.paths.measures import distance_measures

N, M = 700, 2500


def made(kind, directed=False):
    """A graph of three blocks of sources."""
    draw = np.random.default_rng(5)
    ends = draw.integers(0, N, (2, M))
    ids = np.arange(N) * 3 + 1
    weights = {
        "none": None,
        "integers": draw.integers(0, 9, M),
        "floats": draw.random(M),
        "float32": draw.random(M, np.float32),
        "signed": draw.integers(0, 5, M) + ends[1] - ends[0],
    }[kind]
    return ew.Graph.from_edges(*ids[ends], weights=weights, ids=ids, directed=directed)


def assert_same(found, expected):
    assert found.method == expected.method and found.weighted == expected.weighted
    one, other = np.asarray(found.distances[:]), np.asarray(expected.distances[:])
    assert one.dtype == other.dtype and one.tobytes() == other.tobytes()
    assert (found.sources == expected.sources).all()


@pytest.mark.parametrize(
    "kind, method", (("none", "auto"), ("integers", "sssp"), ("floats", "sssp"), ("signed", "johnson"))
)
def test_distances_are_those_of_one_process(kind, method, threads):
    graph = made(kind, directed=True)
    expected = ew.all_pairs_shortest_paths(graph, method=method)
    seen = []
    found = ew.all_pairs_shortest_paths(
        graph, method=method, client=threads, progress=lambda *one: seen.append(one)
    )
    assert_same(found, expected)
    assert found.devices == ("cpu:0", "cpu:1")
    assert seen[-1] == (3, 3)
    found.verify()
    some = graph.ids[[5, 600, 3]]
    one, other = (ew.all_pairs_shortest_paths(graph, sources=some, client=c) for c in (threads, None))
    assert_same(one, other)


def test_distances_and_measures_by_dask(dask):
    graph = made("float32")
    assert_same(
        ew.all_pairs_shortest_paths(graph, method="sssp", client=dask),
        ew.all_pairs_shortest_paths(graph, method="sssp"),
    )
    one, other = (distance_measures(graph, method="sssp", client=client) for client in (dask, None))
    assert (one.method, one.average_distance) == (other.method, other.average_distance)
    for name in ("eccentricities", "closeness", "harmonic"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes()
    assert len(one.devices) == 2 and len(other.devices) == 1


def test_auto_keeps_no_matrix(threads):
    graph = ew.Graph.from_edges([0, 1, 2], [1, 2, 0], weights=[1, 2, 4])
    assert ew.all_pairs_shortest_paths(graph).method == "floyd-warshall"
    found = ew.all_pairs_shortest_paths(graph, client=threads)
    assert found.method == "sssp" and found.distances.tolist() == [[0, 1, 3], [1, 0, 2], [3, 2, 0]]
    assert distance_measures(graph, client=threads).diameter == 3
    with pytest.raises(
        OptionError, match=r"floyd-warshall keeps the full matrix .* leave out client=, or use method='sssp'"
    ):
        ew.all_pairs_shortest_paths(graph, method="floyd-warshall", client=threads)
    assert ew.all_pairs_shortest_paths(ew.Graph.from_edges([], []), client=threads).distances.shape == (0, 0)


def test_distances_that_need_a_wider_type(threads, tmp_path):
    graph = ew.Graph.from_edges([0, 1, 2], [1, 2, 3], weights=np.full(3, 2**30, np.int32), n_vertices=300)
    expected = ew.all_pairs_shortest_paths(graph, method="sssp")
    assert expected.distances.dtype == np.int64
    for path in (None, tmp_path / "wide.npy"):
        assert_same(ew.all_pairs_shortest_paths(graph, method="sssp", client=threads, output=path), expected)
    one, other = (distance_measures(graph, method="sssp", client=client) for client in (threads, None))
    assert one.harmonic.tobytes() == other.harmonic.tobytes()
    signed = ew.Graph.from_edges([0, 1, 2], [1, 2, 3], weights=np.int32([2**29, -1, 2**29]), directed=True)
    found = ew.all_pairs_shortest_paths(signed, client=threads)
    assert_same(found, ew.all_pairs_shortest_paths(signed, method="johnson"))
    assert distance_measures(signed, client=threads).method == "johnson" and found.distances.dtype == np.int64
    with pytest.raises(GraphError, match=r"a distance may pass the largest number of int32; use dtype="):
        ew.all_pairs_shortest_paths(graph, client=threads, dtype="int32")


def test_a_negative_cycle_is_named_by_its_ids(threads):
    graph = ew.Graph.from_edges(["a", "b", "c"], ["b", "c", "a"], weights=[1, 1, -3], directed=True)
    with pytest.raises(GraphError, match=r"the cycle '.' -> '.' -> '.' -> '.' weighs -1"):
        ew.all_pairs_shortest_paths(graph, client=threads)


def test_a_run_without_its_workers_says_how_to_continue(threads, tmp_path, monkeypatch):
    def run(executor, remedy):
        remedies.append(remedy)
        return own(executor, remedy)

    remedies, own = [], by_workers.CallRun
    monkeypatch.setattr(by_workers, "CallRun", run)
    for path in (None, tmp_path / "distances.npy"):
        ew.all_pairs_shortest_paths(made("floats"), method="sssp", output=path, client=threads)
    assert "such a run continues" in remedies[0] and "repeat the call with the same" in remedies[1]


@pytest.mark.parametrize("suffix", ("npy", "zarr"))
def test_a_run_continues_with_or_without_workers(suffix, threads, tmp_path, monkeypatch):
    if suffix == "zarr":
        pytest.importorskip("zarr")
    graph, path = made("floats"), tmp_path / f"distances.{suffix}"
    expected = ew.all_pairs_shortest_paths(graph, method="sssp")
    put, room = output.RowFile.put, [1]

    def full(self, block, values):
        if not room[0]:
            raise FileError(path, os.strerror(errno.ENOSPC))
        room[0] -= 1
        put(self, block, values)

    monkeypatch.setattr(output.RowFile, "put", full)
    first, second = (threads, None) if suffix == "npy" else (None, threads)
    for client, room[0] in ((first, 1), (second, 1)):
        with pytest.raises(FileError, match="No space left"):
            ew.all_pairs_shortest_paths(graph, method="sssp", output=path, client=client)
        assert not path.exists()
    room[0], seen = 1, []
    found = ew.all_pairs_shortest_paths(
        graph, method="sssp", output=path, client=first, progress=lambda *one: seen.append(one)
    )
    assert seen == [(2, 3), (3, 3)]
    assert_same(found, expected)


def test_measures_in_little_memory(threads, monkeypatch):
    graph, expected = made("none"), distance_measures(made("none"))
    monkeypatch.setattr(by_workers.arrays, "free_memory", lambda device: 1)
    found = distance_measures(graph, client=threads)
    assert found.harmonic.tobytes() == expected.harmonic.tobytes()


def test_what_means_nothing_for_workers(threads):
    graph = made("none")
    for given, name in (({"device": "cuda"}, "device"), ({"devices": "cpu:0,cpu:1"}, "devices")):
        with pytest.raises(OptionError, match=rf"^{name}= is for one process; with client="):
            ew.all_pairs_shortest_paths(graph, client=threads, **given)
    with pytest.raises(OptionError, match=r"^device= is for one process"):
        distance_measures(graph, client=threads, device="cuda")
    with pytest.raises(OptionError, match=r"^client= is a str; give a dask"):
        ew.all_pairs_shortest_paths(graph, client="tcp://10.0.0.1:8786")
    with pytest.raises(TypeError, match=r"has no option 'clients'"):
        ew.all_pairs_shortest_paths(graph, clients=threads)
    for function, instead in (
        (ew.connected_components, "stream_components"),
        (ew.minimum_spanning_forest, "stream_forest"),
    ):
        with pytest.raises(OptionError, match=rf"^client= is for tables, .*; use edgewise\.{instead}\(path"):
            function(graph, client=threads)
    with pytest.raises(TypeError, match=r"has no option 'thread'"):
        ew.minimum_spanning_forest(graph, thread=2)
