"""On GPUs: any number of them, and segments from the host, find the forest of the CPU."""

import numpy as np
import pytest

import edgewise as ew
from edgewise.device import arrays, streams
from edgewise.forest import METHODS, minimum_spanning_forest, several
from edgewise.forest.reduction import Goal
from edgewise.workers import WorkQueue
from tests.components.test_several_gpu import teams

pytestmark = pytest.mark.gpu


def weighted(graph, dtype="int32", largest=1000):
    weights = np.random.default_rng(1).integers(1, largest, graph.n_edges).astype(dtype)
    edges = graph.sources, graph.targets, weights
    return ew.Graph(graph.n_vertices, edges=edges)


def same(found, expected):
    found = found.on_host()
    assert np.array_equal(found.edges, expected.edges)
    assert np.array_equal(found.labels, expected.labels)
    assert found.weight == expected.weight


@pytest.mark.parametrize("dtype", ["int32", "int64", "float64"])
def test_teams_of_gpus(dtype):
    largest = 2**40 if dtype == "int64" else 1000
    graph = weighted(ew.generate.rmat(16, edge_factor=16, seed=1), dtype, largest)
    expected = minimum_spanning_forest(graph, maximum=True)
    there = graph.to("cuda")
    for team in teams():
        for form in (graph, there):
            same(minimum_spanning_forest(form, maximum=True, devices=team), expected)


@pytest.mark.parametrize("locked", [True, False])
def test_segments_from_the_host(locked):
    graph = weighted(ew.generate.rmat(18, edge_factor=16, seed=4))
    expected = minimum_spanning_forest(graph)
    columns = graph.sources, graph.targets, graph.weights
    if locked:
        rooms = [streams.pinned(len(column), column.dtype, "cuda:0") for column in columns]
        for room, column in zip(rooms, columns):
            room[:] = column
        columns = rooms
    goal = Goal(graph.n_vertices, False, METHODS["boruvka"].run)
    for size in (1 << 15, 1 << 19):
        found = several.forest_by_segments(goal, columns, 0, WorkQueue(graph.n_edges, size), "cuda:0")
        assert np.array_equal(arrays.move(found.forest.positions, "cpu"), expected.edges)
        assert np.array_equal(arrays.move(found.labels, "cpu"), expected.labels.view(np.uint32))


@pytest.mark.parametrize("where", ["cpu", "cuda"])
def test_a_graph_that_does_not_fit(where):
    import cupy

    graph = weighted(ew.generate.uniform(50_000, 40_000_000, seed=7))
    expected = minimum_spanning_forest(graph)
    graph = graph.to(where)
    pool = cupy.get_default_memory_pool()
    pool.free_all_blocks()
    limit = pool.get_limit()
    pool.set_limit(size=pool.total_bytes() + 460 * 2**20)  # 480 MB of edges, 640 MB of lists
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(several, "SEGMENT_EDGES", 1 << 20)
            patch.setattr(arrays, "free_memory", lambda device: 400 * 2**20)
            found = minimum_spanning_forest(graph, device="cuda")
    finally:
        pool.set_limit(size=limit)
    assert "segments" in found.method
    same(found, expected)
