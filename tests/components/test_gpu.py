"""On a GPU: the labels of the CPU, bit for bit."""

import numpy as np
import pytest

import edgewise as ew
from edgewise.components import METHODS
from edgewise.errors import DeviceError, OutOfMemoryError
from edgewise.ingest.csr import rows_from_edges
from tests.oracles import components as oracle
from tests.zoo import ZOO

pytestmark = pytest.mark.gpu
#: Stars of a hundred to two thousand leaves, more than there are blocks.
STAR_SIZES = np.random.default_rng(3).integers(100, 2000, 3000)
STARS = np.repeat(np.arange(3000), STAR_SIZES), 3000 + np.arange(STAR_SIZES.sum())
LARGE = {
    "rmat": lambda: ew.generate.rmat(17, edge_factor=8, seed=3),
    "uniform, sparse": lambda: ew.generate.uniform(200_000, 120_000, seed=3),
    "uniform, dense": lambda: ew.generate.uniform(300_000, 2_400_000, seed=3),
    "road": lambda: ew.generate.grid(400, dropped=0.35, seed=3),
    "road, shuffled": lambda: ew.generate.grid(400, dropped=0.35, shuffle=True, seed=3),
    "hubs": lambda: ew.generate.scale_free(50_000, seed=3),
    "star": lambda: ew.Graph.from_edges(np.full(9_999, 9_999), np.arange(9_999), n_vertices=10_000),
}

LARGE["stars"] = lambda: ew.Graph.from_edges(*STARS)


@pytest.mark.parametrize("shape", ZOO)
@pytest.mark.parametrize("name", METHODS)
def test_zoo(name, shape):
    vertices, sources, targets = ZOO[shape]
    graph = ew.Graph.from_edges(sources, targets, n_vertices=vertices).to("cuda")
    result = ew.connected_components(graph, method=name)
    assert result.on_host().labels.tolist() == oracle(vertices, sources.tolist(), targets.tolist())


@pytest.mark.parametrize("family", LARGE)
def test_large_graphs_on_every_method(family):
    graph = LARGE[family]()
    expected = ew.connected_components(graph, method="rem-sequential")
    there = graph.to("cuda")
    for name in ["auto", *METHODS]:
        for _ in range(3):
            result = ew.connected_components(there, method=name)
            assert np.array_equal(result.on_host().labels, expected.labels), name
            assert result.count == expected.count


@pytest.mark.parametrize("family", LARGE)
def test_rows_are_those_of_the_cpu(family):
    graph = LARGE[family]()
    for both in (True, False):
        here = rows_from_edges(graph.n_vertices, graph.sources, graph.targets, both, True)
        there = graph.to("cuda")
        rows = rows_from_edges(there.n_vertices, there.sources, there.targets, both, True)
        for one, other in zip(here, rows, strict=True):
            assert np.array_equal(one, other.get())


def test_int64_vertex_numbers():
    vertices, sources, targets = ZOO["sparse"]
    graph = ew.Graph(vertices, edges=(sources, targets, None)).to("cuda")
    expected = oracle(vertices, sources.tolist(), targets.tolist())
    for name in METHODS:
        assert ew.connected_components(graph, method=name).on_host().labels.tolist() == expected


def test_weights_travel_with_rows():
    graph = ew.Graph.from_edges([0, 2, 1], [1, 0, 2], weights=[5.0, 6.0, 7.0], n_vertices=3)
    there = graph.to("cuda")
    assert there.csr_weights.get().tolist() == graph.csr_weights.tolist()


def test_merging_on_the_gpu():
    import cupy

    ends = cupy.asarray([0, 1, 1, 2]), cupy.asarray([1, 0, 1, 2])
    graph = ew.Graph.from_edges(*ends, weights=[1, 5, 3, 4], n_vertices=3, repeated="max", self_loops="drop")
    assert graph.device == "cuda:0"
    assert (graph.sources.get().tolist(), graph.targets.get().tolist()) == ([0], [1])
    assert graph.weights.get().tolist() == [5]


def test_ids_on_the_gpu():
    import cupy

    graph = ew.Graph.from_edges(cupy.asarray([10, 70]), cupy.asarray([70, -3]))
    result = ew.connected_components(graph)
    assert result.to_frame().to_pydict() == {"id": [-3, 10, 70], "component": [0, 0, 0]}


def test_missing_gpu_and_full_gpu_are_named():
    import cupy

    with pytest.raises(DeviceError, match="'cuda:57' is not there"):
        ZOO_GRAPH.to("cuda:57")
    pool = cupy.get_default_memory_pool()
    pool.free_all_blocks()  # an array could be one of them
    limit = pool.get_limit()
    pool.set_limit(size=pool.total_bytes() + 2**20)
    try:
        with pytest.raises(OutOfMemoryError, match="bytes"):
            ew.Graph.from_edges(np.zeros(10**7, np.int64), np.zeros(10**7, np.int64), n_vertices=1).to("cuda")
    finally:
        pool.set_limit(size=limit)


ZOO_GRAPH = ew.Graph.from_edges([0], [1], n_vertices=2)


def test_thresholds():
    graph = ew.generate.with_weights(ew.generate.uniform(200_000, 700_000, seed=3), 1, 1000)
    thresholds = [1, 100, 400, 500, 600, 700, 800, 900, 950, 1000]
    here = ew.connected_components(graph, thresholds=thresholds)
    there = ew.connected_components(graph.to("cuda"), thresholds=thresholds)
    assert (there.on_host().labels == here.labels).all()
    assert there.counts.tolist() == here.counts.tolist() and there.largest.tolist() == here.largest.tolist()
    assert there.edge_counts.tolist() == here.edge_counts.tolist()
    assert there.to_frame("min").equals(here.to_frame("min"))
