"""Distance tables: every method against Dijkstra's search, prepared and not; results, files, errors."""

import numpy as np
import pytest

import edgewise as ew
from edgewise.device import arrays
from edgewise.device.target import SIMULATED
from edgewise.errors import FileError, GraphError, OptionError, OutOfMemoryError, VerificationError
from edgewise.paths.apsp import METHODS
from edgewise.paths.csr import unreached
from edgewise.paths.hierarchy import kept
from tests.how_tos import DATA
from tests.paths.hierarchies import dijkstra

STREETS = ("minnesota", "rome99", "tntp-anaheim", "uk")


def random_graph(seed, dtype="int32", n=60, directed=None):
    """A graph with ties, zero weights and repeated edges, mostly in parts; and its edges."""
    rng = np.random.default_rng(seed)
    directed = bool(seed % 2) if directed is None else directed
    ends, weights = rng.integers(0, n, (2, 2 * n)), rng.integers(0, 9, 2 * n).astype(dtype)
    graph = ew.Graph.from_edges(*ends, weights=weights, n_vertices=n, directed=directed)
    return graph, list(zip(*ends.tolist(), weights.tolist(), strict=True)), rng


def right(graph, edges, sources, targets, dtype):
    none = unreached(dtype)
    found = [dijkstra(graph.n_vertices, edges, source, graph.directed) for source in sources]
    rows = [[none if row[target] is None else row[target] for target in targets] for row in found]
    return np.array(rows, dtype).reshape(len(sources), len(targets))


@pytest.mark.parametrize("method", [*(name for name in METHODS if name != "multi-source"), "prepared"])
@pytest.mark.parametrize("seed", range(4))
def test_every_method_finds_the_distances(method, seed):
    dtype = ("int32", "int64", "float32", "float64")[seed]
    graph, edges, rng = random_graph(seed, dtype)
    if method == "prepared":
        graph.prepare("routes")
    sources, targets = rng.integers(0, 60, 9), rng.integers(0, 60, 7)
    table = ew.distance_table(graph, sources, targets, method="auto" if method == "prepared" else method)
    assert table.method == ("phast" if method == "prepared" else method)
    assert table.distances.dtype == dtype and table.sources.tolist() == sources.tolist()
    assert np.array_equal(table.distances, right(graph, edges, sources, targets, dtype))
    assert table.verify() is table


@pytest.mark.parametrize("prepared", [False, True])
def test_without_weights_every_edge_counts_one(prepared):
    graph, edges, _ = random_graph(2)
    graph = graph.without_weights()
    if prepared:
        graph.prepare("routes")
    table = ew.distance_table(graph, [3, 4], [5, 6, 3])
    expected = right(graph, [(one, other, 1) for one, other, _ in edges], [3, 4], [5, 6, 3], "int32")
    assert np.array_equal(table.distances, expected) and table.distances.dtype == np.int32
    assert table.method == ("phast" if prepared else "multi-source") and not table.verify().weighted


@pytest.mark.parametrize("prepared", [False, True])
def test_sets_that_are_empty_repeated_or_the_same(prepared):
    graph, edges, _ = random_graph(4)
    if prepared:
        graph.prepare("routes")
    for sources, targets in ([], [1, 2]), ([1, 2], []), ([], []), ([7, 7, 3], [3, 3, 7]):
        table = ew.distance_table(graph, sources, targets)
        assert np.array_equal(table.distances, right(graph, edges, sources, targets, "int32"))
        table.verify()
    square = ew.distance_table(graph, [5, 9, 5])
    assert square.targets.tolist() == [5, 9, 5] and square.distances[0, 2] == 0
    empty = ew.Graph.from_edges([], [], n_vertices=0)
    assert ew.distance_table(empty.prepare("routes") if prepared else empty, []).distances.shape == (0, 0)


def test_ids_and_frames():
    names = ["a", "b", "c", "d"]
    graph = ew.Graph.from_edges(names[:3], names[1:], weights=[1, 2, 4], directed=True)
    table = ew.distance_table(graph.prepare("routes"), ["c", "a"], ["d", "b"])
    assert table.to_frame().to_pydict() == {
        "source": ["c", "a", "a"],
        "target": ["d", "d", "b"],
        "distance": [4, 7, 1],
    }
    wide = table.to_frame(kind="pandas", wide=True)
    assert wide.columns.tolist() == ["source", "d", "b"] and wide["b"].isna().tolist() == [True, False]
    assert table.to_dict() == {"c": {"d": 4}, "a": {"d": 7, "b": 1}}
    assert table.distance("a", "d") == 7 and table.distance("c", "b") == np.inf
    assert table.reachable.tolist() == [[True, False], [True, True]]
    assert table.on_host() is table and "2 sources to 2 targets" in repr(table)
    with pytest.raises(GraphError, match="'d' is not among the sources"):
        table.distance("d", "d")
    with pytest.raises(OptionError, match="two columns would have one name"):
        ew.distance_table(graph, ["a"], ["b", "b"]).to_frame(wide=True)


def test_files(tmp_path):
    graph, _, _ = random_graph(6)
    graph.prepare("routes")
    table = ew.distance_table(graph, range(30), range(20, 50))
    table.write(tmp_path / "matrix.npy")
    assert np.array_equal(np.load(tmp_path / "matrix.npy"), table.distances)
    table.write(tmp_path / "long.parquet")
    import pyarrow.parquet as parquet

    assert parquet.read_table(tmp_path / "long.parquet").equals(table.to_frame())
    for one in graph, random_graph(6)[0]:
        there = ew.distance_table(one, range(30), range(20, 50), output=tmp_path / "out.npy")
        assert np.array_equal(there.distances, table.distances)
        assert there.distance(3, 21) == table.distance(3, 21)
        there.verify()
    with pytest.raises(OptionError, match=r"must end in \.npy or \.zarr"):
        ew.distance_table(graph, [1], output=tmp_path / "out.txt")
    with pytest.raises(FileError):
        ew.distance_table(graph, [1], output=tmp_path / "nowhere" / "out.npy")


def test_an_output_of_several_blocks_continues(tmp_path, monkeypatch):
    graph, edges, _ = random_graph(6)
    graph.prepare("routes")
    monkeypatch.setattr("edgewise.paths.apsp.driver.BLOCK_BYTES", 64)
    sources, calls = np.arange(60).repeat(4), []

    def stop(done, blocks):
        calls.append((done, blocks))
        if done == 2:
            raise KeyboardInterrupt

    path = tmp_path / "out.npy"
    with pytest.raises(KeyboardInterrupt):
        ew.distance_table(graph, sources, [1, 5], output=path, progress=stop)
    with pytest.raises(FileError, match="belongs to another run: targets"):
        ew.distance_table(graph, sources, [5, 1], output=path)
    table = ew.distance_table(graph, sources, [1, 5], output=path)
    assert calls[-1][1] == 4
    assert np.array_equal(table.distances, right(graph, edges, sources.tolist(), [1, 5], "int32"))


@pytest.mark.parametrize("prepared", [False, True])
def test_distances_that_need_a_wider_type(prepared):
    graph = ew.Graph.from_edges([0, 1, 2], [1, 2, 3], weights=np.full(3, 2**30, np.int32))
    if prepared:
        graph.prepare("routes")
    table = ew.distance_table(graph, [0], [3, 1])
    assert table.distances.tolist() == [[3 * 2**30, 2**30]] and table.distances.dtype == np.int64
    with pytest.raises(GraphError, match="largest number of int32"):
        ew.distance_table(graph, [0], [3, 1], dtype="int32")
    assert ew.distance_table(graph, [0], [3], dtype="float64").distances.tolist() == [[3.0 * 2**30]]


def test_errors(monkeypatch):
    graph, _, _ = random_graph(8)
    graph.prepare("routes")
    with pytest.raises(GraphError, match="99"):
        ew.distance_table(graph, [1, 99], [2])
    with pytest.raises(GraphError, match="99"):
        ew.distance_table(graph, [1], [99])
    with pytest.raises(OptionError, match="targets is a table"):
        ew.distance_table(graph, [1], [[1, 2]])
    with pytest.raises(OptionError, match="sources is a table"):
        ew.distance_table(graph, [[1, 2]])
    with pytest.raises(OptionError, match="'fast' is unknown"):
        ew.distance_table(graph, [1], method="fast")
    negative = ew.Graph.from_edges([0, 1], [1, 2], weights=[3, -1], directed=True)
    assert ew.distance_table(negative, [0], [2]).verify().distances.tolist() == [[2]]
    with pytest.raises(OptionError, match="phast needs weights of 0 or more"):
        ew.distance_table(negative, [0], method="phast")
    monkeypatch.setattr(arrays, "free_memory", lambda device: 100)
    for one in graph, random_graph(8)[0]:
        with pytest.raises(OutOfMemoryError, match="100 free; write them to a file with output"):
            ew.distance_table(one, range(60))


def test_verify_finds_wrong_distances():
    graph, _, _ = random_graph(10)
    table = ew.distance_table(graph.prepare("routes"), [1, 2], [3, 4])
    object.__setattr__(table, "distances", table.distances + np.array([[0, 0], [0, 1]], np.int32))
    with pytest.raises(VerificationError, match="from 2 to 4"):
        table.verify()


@pytest.mark.parametrize("seed", range(3))
def test_fronts_take_sweeps_of_prepared_graphs(seed):
    graph, _, _ = random_graph(seed, ("int32", "int64", "float64")[seed])
    plain = random_graph(seed, ("int32", "int64", "float64")[seed])[0]
    graph.prepare("routes")
    every = ew.all_pairs_shortest_paths(graph)
    assert every.method == "phast"
    assert np.array_equal(every.distances, ew.all_pairs_shortest_paths(plain, method="sssp").distances)
    every.verify()
    one, several = ew.shortest_paths(graph, 3), ew.shortest_paths(graph, [3, 9])
    assert one.method == several.method == ("phast" if seed < 2 else "near-far-sequential")
    for found, sources in (one, [3]), (several, [3, 9]):
        other = ew.shortest_paths(plain, sources)
        assert np.array_equal(found.verify().distances, other.distances)
        assert np.array_equal(found.parents, other.parents)
    assert ew.shortest_paths(graph, 3, cutoff=5).method == "near-far-sequential"
    if seed < 2:
        near = ew.shortest_paths(graph, 3, cutoff=5, method="phast").verify().distances
        assert np.array_equal(near, ew.shortest_paths(plain, 3, cutoff=5).distances)
    measures, others = ew.distance_measures(graph), ew.distance_measures(plain, method="sssp")
    assert measures.method == "phast"
    for name in "eccentricities", "closeness", "harmonic":
        assert np.allclose(getattr(measures, name), getattr(others, name), rtol=1e-12)
    measures.verify()
    assert ew.all_pairs_shortest_paths(graph, weight=False).method == "multi-source"


@pytest.mark.skipif(not DATA.exists(), reason="no real graphs")
@pytest.mark.parametrize("name", STREETS)
def test_real_streets(name):
    graph = ew.read(next(file for file in sorted((DATA / name).iterdir()) if file.name != "SOURCE"))
    rng = np.random.default_rng(len(name))
    if not graph.is_weighted:
        graph = graph.with_weights(rng.integers(1, 1000, graph.n_edges))
    sources, targets = graph.ids_of(rng.integers(0, graph.n_vertices, 40)), None
    slow = ew.distance_table(graph, sources, targets, method="sssp")
    fast = ew.distance_table(graph.prepare("routes"), sources, targets)
    assert kept(graph) is not None and fast.method == "phast"
    assert np.allclose(fast.distances, slow.distances, rtol=1e-12)
    fast.verify()


@pytest.mark.simulator
@pytest.mark.parametrize("seed", range(2))
def test_tables_in_the_simulator(seed):
    if not SIMULATED:
        pytest.skip("for the simulator")
    graph, edges, _ = random_graph(seed, n=7)
    there = graph.to("cuda").prepare("routes")
    assert kept(there) is not None
    table = ew.distance_table(there, [1, 2], [3, 4])
    assert table.method == "phast" and table.graph.device == "cuda:0"
    assert np.array_equal(arrays.move(table.distances, "cpu"), right(graph, edges, [1, 2], [3, 4], "int32"))
    found = ew.shortest_paths(there, 3)
    assert found.method == "phast"
    everything = right(graph, edges, [3], range(7), "int32")
    assert np.array_equal(arrays.move(found.distances, "cpu"), everything[0])


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(4))
def test_tables_on_a_gpu(seed):
    dtype = ("int32", "int64", "float32", "float64")[seed]
    graph, edges, rng = random_graph(seed, dtype, n=500)
    graph = graph.to("cuda").prepare("routes")
    sources, targets = rng.integers(0, 500, 150), rng.integers(0, 500, 70)
    table = ew.distance_table(graph, sources, targets)
    assert table.method == "phast" and arrays.device_of(table.distances) == "cuda:0"
    assert np.array_equal(arrays.move(table.distances, "cpu"), right(graph, edges, sources, targets, dtype))
    table.verify()
    host = random_graph(seed, dtype, n=500)[0]
    every = ew.all_pairs_shortest_paths(graph)
    assert every.method == "phast"
    assert np.array_equal(
        every.on_host().distances, ew.all_pairs_shortest_paths(host, method="sssp").distances
    )
    if seed < 2:
        found = ew.shortest_paths(graph, 3)
        assert found.method == "phast"
        assert np.array_equal(found.on_host().distances, ew.shortest_paths(host, 3).distances)
    measures, others = ew.distance_measures(graph), ew.distance_measures(host, method="sssp")
    for name in "eccentricities", "closeness", "harmonic":
        assert np.allclose(getattr(measures, name), getattr(others, name), rtol=1e-5)
