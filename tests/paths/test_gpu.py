"""On a GPU: the distances of the CPU, bit for bit, from every method."""

import numpy as np
import pytest

import edgewise as ew
from edgewise.errors import GraphError
from edgewise.generators.derived import with_weights
from edgewise.paths.bfs import METHODS as BFS
from edgewise.paths.sssp import METHODS as SSSP
from tests.paths.names import takes
from tests.zoo import ZOO

pytestmark = pytest.mark.gpu


def tree_behind_path():
    """A path of 60 edges, and at its end a tree that outgrows the lists of a block within a few levels."""
    sources, targets, last, n = [np.arange(60)], [np.arange(1, 61)], np.array([60]), 61
    for branches in (40, 40, 20, 1, 1):
        leaves = n + np.arange(len(last) * branches)
        sources.append(np.repeat(last, branches))
        targets.append(leaves)
        last, n = leaves, n + len(leaves)
    return ew.Graph.from_edges(np.concatenate(sources), np.concatenate(targets), n_vertices=n)


LARGE = {
    "rmat": lambda: ew.generate.rmat(16, edge_factor=8, seed=3),
    "rgg": lambda: ew.generate.rgg(60_000, mean_degree=12, seed=3),
    "road": lambda: ew.generate.grid(300, dropped=0.2, seed=3),
    "hubs": lambda: ew.generate.scale_free(50_000, seed=3),
    "star": lambda: ew.Graph.from_edges(np.full(9_999, 9_999), np.arange(9_999), n_vertices=10_000),
    "path": lambda: ew.Graph.from_edges(np.arange(4_999), np.arange(1, 5_000), n_vertices=5_000),
    "tree": tree_behind_path,
}
#: Those whose contraction hierarchy outgrows them.
OUTGROWN = {"rmat", "hubs"}


def on_gpu(methods, graph, dtype="int32"):
    """Names of the methods that take the graph with weights of a type."""
    named = [name for name, method in methods.items() if "cuda" in method.devices]
    return ["auto", *(name for name in named if takes(methods, name, graph.directed, dtype))]


def reversed_too(graph):
    """The graph, and its edge list taken as directed."""
    yield graph
    yield ew.Graph(graph.n_vertices, edges=(graph.sources, graph.targets, graph.weights), directed=True)


@pytest.mark.parametrize("shape", [shape for shape in ZOO if ZOO[shape][0]])
@pytest.mark.parametrize("directed", [False, True])
def test_zoo(directed, shape):
    vertices, sources, targets = ZOO[shape]
    weights = (np.arange(len(sources)) * 7 % 5).astype(np.int32)
    graph = ew.Graph.from_edges(sources, targets, weights=weights, n_vertices=vertices, directed=directed)
    there = graph.to("cuda")
    for source in (0, [vertices // 2, vertices - 1]):
        for problem, methods in ((ew.bfs, BFS), (ew.shortest_paths, SSSP)):
            expected = problem(graph, source)
            for name in on_gpu(methods, graph):
                found = problem(there, source, method=name)
                assert found.distances.get().tolist() == expected.distances.tolist(), name
                assert found.parents.get().tolist() == expected.parents.tolist(), name


@pytest.mark.parametrize("family", LARGE)
def test_levels(family):
    graph = LARGE[family]()
    for form in reversed_too(graph):
        there = form.to("cuda")
        for source in (0, graph.n_vertices - 1, [5, 77, 1234]):
            for cutoff in (None, 3):
                expected = ew.bfs(form, source, cutoff=cutoff, method="top-down").distances
                for name in on_gpu(BFS, form):
                    found = ew.bfs(there, source, cutoff=cutoff, method=name)
                    assert np.array_equal(found.distances.get(), expected), (name, source, cutoff)
                for size in (1, 100, 1_000_000):
                    found = ew.bfs(there, source, cutoff=cutoff, method="cooperative", dense_from=size)
                    assert np.array_equal(found.distances.get(), expected), (size, source, cutoff)


@pytest.mark.parametrize("family", LARGE)
@pytest.mark.parametrize("kind", ["int32", "int64", "float32", "float64"])
def test_lengths(kind, family):
    graph = with_weights(LARGE[family](), 1, 100)
    for form in reversed_too(graph):
        there = form.to("cuda")
        for source in (0, [5, 77, 1234]):
            expected = ew.shortest_paths(form, source, dtype=kind, method="dijkstra").distances
            for name in on_gpu(SSSP, form, kind):
                if name == "phast" and family in OUTGROWN:
                    continue
                found = ew.shortest_paths(there, source, dtype=kind, method=name)
                assert np.array_equal(found.distances.get(), expected), (name, source)
            for delta in (1, 17, 100_000):
                found = ew.shortest_paths(there, source, dtype=kind, method="near-far", delta=delta)
                assert np.array_equal(found.distances.get(), expected), (delta, source)


def test_distances_that_need_int64():
    graph = ew.Graph.from_edges([0, 1, 2], [1, 2, 3], weights=[2**30] * 3, n_vertices=5).to("cuda")
    found = ew.shortest_paths(graph, 0)
    assert found.distances.dtype == np.int64
    assert found.distances.get()[:4].tolist() == [0, 2**30, 2**31, 3 * 2**30]


def test_negative_weights_and_cycles():
    edges = {"weights": [4, -3, 2], "n_vertices": 4, "directed": True}
    graph = ew.Graph.from_edges([0, 1, 2], [1, 2, 3], **edges).to("cuda")
    assert ew.shortest_paths(graph, 0).distances.get().tolist() == [0, 4, 1, 3]
    cycle = ew.Graph.from_edges([0, 1, 2], [1, 2, 1], weights=[4, -3, 2], n_vertices=3, directed=True)
    with pytest.raises(GraphError, match="cycle"):
        ew.shortest_paths(cycle.to("cuda"), 0)
