"""All pairs: every method, type and engine gives the distances that the plainest loops give."""

import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import edgewise as ew
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.errors import GraphError, OptionError, OutOfMemoryError, VerificationError
from edgewise.paths.apsp import METHODS, all_pairs_shortest_paths
from edgewise.paths.csr import unreached
from tests.zoo import ZOO

pytestmark = [pytest.mark.interpreter, pytest.mark.simulator]
PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")
HERE = PLACE.partition(":")[0]
NAMES = ["auto", *(name for name, method in METHODS.items() if HERE in method.devices)]
#: Types of weights: two are compiled, beside the int32 of unit edges, and another one runs as Python.
TYPES = ["float32"] if INTERPRETED else ["int32", "float64"] if SIMULATED else ["int64", "float64"]
#: The simulator is slow, and a few shapes show what it can.
SHAPES = ["empty", "one vertex", "self-loops", "repeated edges", "cycle"] if SIMULATED else list(ZOO)


def oracle(vertices, sources, targets, weights, directed):
    """Floyd and Warshall's loops over float64, exact for small whole numbers."""
    matrix = np.full((vertices, vertices), np.inf)
    np.fill_diagonal(matrix, 0)
    weights = np.ones(len(sources)) if weights is None else weights
    for source, target, weight in zip(sources, targets, weights, strict=True):
        matrix[source, target] = min(matrix[source, target], weight)
        if not directed:
            matrix[target, source] = min(matrix[target, source], weight)
    for k in range(vertices):
        matrix = np.minimum(matrix, matrix[:, [k]] + matrix[[k], :])
    return matrix


def graph_of(shape, weights=None, directed=False):
    vertices, sources, targets = shape
    made = ew.Graph.from_edges(sources, targets, weights=weights, n_vertices=vertices, directed=directed)
    return made.to(PLACE)


def as_floats(result):
    distances = result.on_host().distances
    return np.where(distances == result.unreached, np.inf, distances.astype(float))


def weights_for(shape, dtype, least=0):
    return np.random.default_rng(len(shape[1])).integers(least, 9, len(shape[1])).astype(dtype)


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("shape", SHAPES)
def test_distances_of_unit_edges(shape, directed):
    expected = oracle(*ZOO[shape], None, directed)
    for name in NAMES:
        result = all_pairs_shortest_paths(graph_of(ZOO[shape], None, directed), method=name)
        assert result.distances.dtype == np.int32 and not result.weighted
        assert (as_floats(result) == expected).all(), name


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_distances_of_weights(shape, dtype):
    weights = weights_for(ZOO[shape], dtype)
    for directed in (False, True):
        expected = oracle(*ZOO[shape], weights, directed)
        for name in NAMES:
            if name != "multi-source":
                result = all_pairs_shortest_paths(graph_of(ZOO[shape], weights, directed), method=name)
                assert result.distances.dtype == dtype
                assert (as_floats(result) == expected).all(), name
        assert result.verify() is result  # the distances of all are the same


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ["auto", "johnson", "floyd-warshall", "floyd-warshall-simple"])
def test_negative_weights(name, dtype):
    rng = np.random.default_rng(4)
    n = 7 if SIMULATED else 30
    sources, targets = rng.integers(0, n, (2, 4 * n))
    height = rng.integers(0, 20, n)
    weights = (rng.integers(0, 9, 4 * n) + height[targets] - height[sources]).astype(dtype)
    assert (weights < 0).any()
    result = all_pairs_shortest_paths(graph_of((n, sources, targets), weights, True), method=name)
    assert (as_floats(result) == oracle(n, sources, targets, weights, True)).all()


@pytest.mark.parametrize("name", ["auto", "johnson", "floyd-warshall", "floyd-warshall-simple"])
def test_negative_cycles_are_named(name):
    graph = ew.Graph.from_edges(
        ["a", "b", "c", "d"], ["b", "c", "b", "a"], weights=[1, -3, 2, 4], directed=True
    ).to(PLACE)
    with pytest.raises(GraphError, match=r"the cycle ('b' -> 'c' -> 'b'|'c' -> 'b' -> 'c') weighs -1"):
        all_pairs_shortest_paths(graph, method=name)
    both_ways = graph_of((3, np.array([0, 1]), np.array([1, 2])), np.array([1, -1]))
    with pytest.raises(GraphError, match="weighs -2"):
        all_pairs_shortest_paths(both_ways, method=name)
    loop = graph_of((2, np.array([0]), np.array([0])), np.array([-1]), True)
    with pytest.raises(GraphError, match="the cycle 0 -> 0 weighs -1"):
        all_pairs_shortest_paths(loop, method=name)


def test_paths_and_hops_with_ids():
    graph = ew.Graph.from_edges(["a", "b", "c", "x"], ["b", "c", "d", "y"], weights=[0, 0, 2, 1]).to(PLACE)
    result = all_pairs_shortest_paths(graph)
    assert result.path("a", "d") == ["a", "b", "c", "d"]
    assert result.path("a", "a") == ["a"]
    assert result.path("a", "x") == []
    assert result.next_hop("a", "d") == "b" and result.next_hop("d", "a") == "c"
    assert result.next_hop("a", "a") is None and result.next_hop("a", "y") is None
    assert result.distance("d", "a") == 2 and result.distance("a", "y") == np.inf
    frame = result.to_frame().to_pylist()
    assert len(frame) == 20
    assert {"source": "x", "target": "y", "distance": 1} in frame


def test_some_sources():
    for shape in [ZOO["one edge"]] if SIMULATED else [ZOO["one edge"], ZOO["dense"]]:
        weights = weights_for(shape, np.int32)
        expected = oracle(*shape, weights, True)
        for name in NAMES:
            if name != "multi-source":
                graph = graph_of(shape, weights, True)
                result = all_pairs_shortest_paths(graph, sources=[1, 0], method=name)
                assert (as_floats(result) == expected[[1, 0]]).all()
                assert result.path(1, 1) == [1]
    with pytest.raises(GraphError, match="99"):
        all_pairs_shortest_paths(graph_of(shape), sources=[0, 99])
    if not SIMULATED:
        with pytest.raises(GraphError, match="2 is not among the sources"):
            result.path(2, 0)


def test_several_devices_give_what_one_gives(monkeypatch):
    from edgewise.paths.apsp import search

    monkeypatch.setattr(search, "BLOCK_ROWS", 4)
    shape = ZOO["cycle"]
    weights = weights_for(shape, np.int32)
    expected = oracle(*shape, weights, True)
    graph = graph_of(shape, weights, True)
    if HERE == "cpu":
        result = all_pairs_shortest_paths(graph, method="sssp", devices=["cpu:0", "cpu:1"])
        assert (as_floats(result) == expected).all()
        assert result.devices == ("cpu:0", "cpu:1")
        assert all_pairs_shortest_paths(graph).devices == ("cpu:0",)
        assert all_pairs_shortest_paths(graph, devices=["cpu:0", "cpu:1"]).method == "sssp"
        bare = graph_of(shape)
        assert all_pairs_shortest_paths(bare, devices=["cpu:0", "cpu:1"]).method == "multi-source"
        with pytest.raises(OptionError, match=r"full matrix on one device; .* or use method='sssp'"):
            all_pairs_shortest_paths(graph, method="floyd-warshall", devices=["cpu:0", "cpu:1"])
        return
    from edgewise.paths.apsp.floyd_warshall_gpu import SeveralGpus

    adjacency = all_pairs_shortest_paths(graph, method="sssp", devices="all")._adjacency
    sources, distances = np.array([3, 0, 8]), np.empty(3 * 9, np.int32)
    assert not SeveralGpus([adjacency, adjacency])(sources, distances)
    assert (distances.reshape(3, 9) == expected[sources]).all()


def test_large_distances_widen_the_type_or_are_refused():
    shape = (4, np.arange(3), np.arange(1, 4))
    steps = [(2**28 - 1, "int32"), (2**28, "int64"), (2**30, "int64"), (2**31 - 2, "int64")]
    for weight, dtype in steps[1::2] if SIMULATED else steps:
        weights = np.full(3, weight, np.int32)
        for name in NAMES:
            if name != "multi-source":
                result = all_pairs_shortest_paths(graph_of(shape, weights, True), method=name)
                assert result.distances.dtype == dtype, (weight, name)
                assert (as_floats(result) == oracle(*shape, weights, True)).all()
    with pytest.raises(GraphError, match="int32"):
        all_pairs_shortest_paths(graph_of(shape, weights, True), dtype="int32")
    huge = np.full(3, 2**61)
    for name in ("floyd-warshall", "sssp", "johnson"):
        with pytest.raises(GraphError, match="dtype='float64'"):
            all_pairs_shortest_paths(graph_of(shape, huge, True), method=name)
    result = all_pairs_shortest_paths(graph_of(shape, huge, True), dtype="float64")
    assert result.distance(0, 3) == 3 * 2.0**61
    if SIMULATED:
        return  # its threads take an overflow of floats for an error
    floats = graph_of(shape, np.full(3, 2e38, np.float32), True)
    for name in ("floyd-warshall", "sssp", "johnson"):
        result = all_pairs_shortest_paths(floats, method=name)
        assert result.distances.dtype == np.float64 and np.isfinite(result.distance(0, 3))


@pytest.mark.skipif(SIMULATED, reason="lanes of int16 are the CPU's")
def test_narrow_lanes_are_left_where_distances_grow():
    n = 300
    shape = (n, np.arange(n - 1), np.arange(1, n))
    weights = np.full(n - 1, 200, np.int32)
    result = all_pairs_shortest_paths(graph_of(shape, weights), method="sssp")
    assert (as_floats(result) == oracle(*shape, weights, False)).all()


def test_what_is_asked_for_must_make_sense():
    graph = graph_of((2, np.array([0]), np.array([1])), np.array([1]))
    with pytest.raises(OptionError, match=r"method='floyd' is unknown; did you mean floyd-warshall[?]"):
        all_pairs_shortest_paths(graph, method="floyd")
    with pytest.raises(TypeError, match="tile"):  # no method has options
        all_pairs_shortest_paths(graph, method="sssp", tile=3)
    with pytest.raises(OptionError, match="a Graph is needed, not list"):
        all_pairs_shortest_paths([(0, 1)])
    with pytest.raises(OptionError, match="dtype='int16' is unknown"):
        all_pairs_shortest_paths(graph, dtype="int16")
    with pytest.raises(OptionError, match=r"must end in \.npy or \.zarr"):
        all_pairs_shortest_paths(graph, output="distances.csv")
    with pytest.raises(OptionError, match=r"every edge as one|runs on"):
        all_pairs_shortest_paths(graph, method="multi-source")
    for table in ([[0, 1]], [(0,), (1,)], np.zeros((1, 2), int), {"id": [0]}):
        with pytest.raises(OptionError, match="sources is a table of ids; give one id, or a flat list"):
            all_pairs_shortest_paths(graph, sources=table)
    negative = graph_of((2, np.array([0]), np.array([1])), np.array([-1]), True)
    with pytest.raises(OptionError, match="weighs -1, and sssp needs weights of 0 or more"):
        all_pairs_shortest_paths(negative, method="sssp")
    with pytest.raises(OptionError, match="device= is for one device"):
        all_pairs_shortest_paths(graph, device="cpu", devices="cpu:0")
    with pytest.raises(GraphError, match="weights are numbers"):
        all_pairs_shortest_paths(graph_of((2, np.array([0]), np.array([1])), np.array([np.nan])))


def test_a_matrix_larger_than_memory_is_refused(monkeypatch):
    from edgewise.device import arrays

    monkeypatch.setattr(arrays, "free_memory", lambda device: 10)
    with pytest.raises(OutOfMemoryError, match=r"16 bytes needed, 10 free; .* output='distances.npy'"):
        all_pairs_shortest_paths(graph_of((2, np.array([0]), np.array([1]))))


def test_memory_is_that_of_all_that_is_held(monkeypatch, tmp_path):
    from edgewise.device import arrays

    graph = graph_of((2, np.array([0]), np.array([1])), np.array([1]))
    monkeypatch.setattr(arrays, "free_memory", lambda device: 1000)
    assert all_pairs_shortest_paths(graph).method == "sssp"  # 2 x 2 distances fit, a tile does not
    with pytest.raises(OutOfMemoryError, match=r"the matrix of floyd-warshall: .* use method='sssp'"):
        all_pairs_shortest_paths(graph, method="floyd-warshall")
    with pytest.raises(OutOfMemoryError, match=r"the matrix of floyd-warshall: .* use method='sssp'"):
        all_pairs_shortest_paths(graph, method="floyd-warshall", output=tmp_path / "d.npy")
    signed = graph_of((2, np.array([0]), np.array([1])), np.array([-1]), True)
    assert all_pairs_shortest_paths(signed).method == "johnson"
    monkeypatch.setattr(arrays, "free_memory", lambda device: 10)
    with pytest.raises(OutOfMemoryError, match=r"output='distances.npy' and method='sssp'"):
        all_pairs_shortest_paths(graph, method="floyd-warshall")
    with pytest.raises(OutOfMemoryError, match="a block of distances"):
        all_pairs_shortest_paths(graph, output=tmp_path / "d.npy")
    assert not list(tmp_path.iterdir())


def test_bytes_and_blocks_of_large_graphs(monkeypatch):
    from edgewise.device import arrays
    from edgewise.paths.apsp import search
    from edgewise.paths.apsp.search import memory_needed
    from edgewise.primitives.thread_pool import ThreadPool

    assert memory_needed(True, 128, 128, 4, ["cpu"], True) == {"cpu": 128 * 128 * 4}
    assert memory_needed(True, 129, 129, 4, ["cpu"], True) == {"cpu": (129 * 129 + 256 * 256) * 4}
    spread = memory_needed(True, 256, 256, 4, ["cuda:0", "cuda:1"])
    assert spread == {"cpu": 1 << 18, "cuda:0": 1 << 18, "cuda:1": 1 << 18}
    for width in (1, 10**5, 10**6, 10**7, 10**8):
        rows = search.rows_of_a_block(width, width, np.int32)
        assert rows == 1 or rows * width * 4 <= search.BLOCK_BYTES
    monkeypatch.setattr(arrays, "free_memory", lambda device: 1 << 30)
    assert ThreadPool(64, 1 << 30).n_workers == 1


def test_sources_may_repeat():
    n = 8 if SIMULATED else 32
    graph = graph_of((n, np.arange(n - 1), np.arange(1, n)), np.ones(n - 1, int))
    for name in NAMES:
        if name != "multi-source":
            sources = [*range(n)] * (2 if SIMULATED else 4)  # 4 * 32 * 32 are 64 * 64
            result = all_pairs_shortest_paths(graph, sources=sources, method=name).on_host()
            assert (result.distances == abs(np.subtract.outer(sources, range(n)))).all(), name


def test_types_as_numpy_names_them_and_weights_they_hold():
    for dtype in (np.float32, np.dtype("float32"), "float32"):
        for weight, fits in ((2**24, True), (2**24 + 1, False), (2**63 - 1, False), (2**62, True)):
            graph = graph_of((2, np.array([0]), np.array([1])), np.array([weight]))
            if fits:
                assert all_pairs_shortest_paths(graph, dtype=dtype).distance(0, 1) == weight
            else:
                with pytest.raises(OptionError, match="do not fit dtype='float32' exactly"):
                    all_pairs_shortest_paths(graph, dtype=dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_short_distances_are_checked_as_exactly_as_they_are(dtype):
    shape = 5, np.array([0, 2, 3]), np.array([1, 3, 4])
    result = all_pairs_shortest_paths(graph_of(shape, np.array([1e6, 1, 1], dtype))).verify().on_host()
    distances = result.distances.copy()
    distances[2, 3] = 1.01
    with pytest.raises(VerificationError, match="the distance from 2 to"):
        replace(result, distances=distances).verify()


def test_verifier_finds_what_is_wrong():
    shape = (4, np.array([0, 1]), np.array([1, 2]))
    weights = np.array([2, 3])
    for row, column, value in ((0, 2, 4), (0, 2, 6), (0, 0, 1), (0, 3, 7), (0, 1, None)):
        result = all_pairs_shortest_paths(graph_of(shape, weights)).on_host()
        assert result.graph.device == "cpu"
        distances = result.distances.copy()
        distances[row, column] = unreached(distances.dtype) if value is None else value
        with pytest.raises(VerificationError, match="the distance from 0 to"):
            replace(result, distances=distances).verify()
    result = all_pairs_shortest_paths(graph_of(shape, weights))
    assert result.verify(graph_of(shape, weights)) is result
    with pytest.raises(VerificationError, match="the distance from 0 to 1 is wrong"):
        result.verify(graph_of(shape, weights - 1))


@st.composite
def weighted_graphs(draw):
    vertices = draw(st.integers(1, 90))
    edges = draw(st.integers(0, 200))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sources, targets = rng.integers(0, vertices, (2, edges))
    dtype = draw(st.sampled_from(TYPES))
    weights = rng.integers(0, 50, edges).astype(dtype)
    if dtype.startswith("float"):
        weights = weights * rng.random(edges).astype(dtype)
    return (vertices, sources, targets), weights, draw(st.booleans())


@pytest.mark.skipif(SIMULATED or INTERPRETED, reason="the zoo is enough for slow engines")
@settings(max_examples=30)
@given(weighted_graphs())
def test_methods_agree_on_made_up_graphs(made):
    shape, weights, directed = made
    graph = graph_of(shape, weights, directed)
    expected = oracle(*shape, weights.astype(float), directed)
    close = 1e-12 if weights.dtype == np.float64 else 1e-5 if weights.dtype == np.float32 else 0
    for name in NAMES:
        if name != "multi-source":
            result = all_pairs_shortest_paths(graph, method=name).verify()
            np.testing.assert_allclose(as_floats(result), expected, rtol=close, err_msg=name)


@pytest.mark.skipif(SIMULATED or INTERPRETED, reason="several batches of lanes take a while")
@pytest.mark.parametrize("dtype", TYPES)
def test_rows_are_those_of_searches_from_one_source(dtype):
    from edgewise.paths.sssp import shortest_paths

    rng = np.random.default_rng(8)
    shape = 400, *rng.integers(0, 400, (2, 1200))
    weights = (rng.random(1200) * 1000).astype(dtype)
    graph = graph_of(shape, weights, True)
    matrix = all_pairs_shortest_paths(graph, method="sssp").on_host().distances
    graph = graph.to("cpu")
    for source in range(0, 400, 57):
        assert (shortest_paths(graph, source, method="dijkstra").distances == matrix[source]).all()
