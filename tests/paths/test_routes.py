"""Routes: distances and paths of pairs, with a hierarchy and without, are those of Dijkstra's algorithm."""

import random
from itertools import pairwise

import numpy as np
import pytest

import edgewise as ew
from edgewise.device import threads
from edgewise.errors import FileError, GraphError, OptionError, VerificationError
from edgewise.paths.hierarchy import kept, queries
from tests.paths.hierarchies import dijkstra

#: Files of street networks, which Dijkstra's algorithm of SciPy searches too.
STREETS = {
    "luxembourg_osm": "luxembourg_osm.mtx.gz",
    "minnesota": "minnesota.smat.gz",
    "rome99": "rome99.gr.gz",
    "tntp-anaheim": "Anaheim_net.tntp.gz",
    "tntp-austin": "Austin_net.tntp.gz",
    "tntp-chicago-sketch": "ChicagoSketch_net.tntp.gz",
    "tntp-siouxfalls": "SiouxFalls_net.tntp.gz",
}
#: Graphs that are drawn for one test.
BATCH = 50


def drawn(seed):
    """A small random graph with self-loops, repeated edges, zero weights and ties: its edges, and itself."""
    draw = random.Random(seed)
    n, largest, directed = draw.randrange(1, 30), draw.choice((1, 2, 5, 1000)), draw.random() < 0.5
    dtype = draw.choice((np.int32, np.int64, np.float32, np.float64))
    edges = [
        (draw.randrange(n), draw.randrange(n), draw.randrange(largest))
        for _ in range(draw.randrange(int(2.5 * n)))
    ]
    columns = zip(*edges, strict=True) if edges else ([], [], [])
    sources, targets, weights = (np.array(column, np.int64) for column in columns)
    options = {"weights": weights.astype(dtype), "n_vertices": n, "directed": directed}
    return edges, ew.Graph.from_edges(sources, targets, **options)


def length_of(path, edges, directed):
    """Length of a path along the given edges."""
    least = {}
    for source, target, weight in edges:
        for ends in [(source, target)] if directed else [(source, target), (target, source)]:
            least[ends] = min(weight, least.get(ends, weight))
    return sum(least[ends] for ends in pairwise(path))


def check(edges, graph, directed):
    n = graph.n_vertices
    sources, targets = np.divmod(np.arange(n * n), n)
    found = ew.routes(graph, sources, targets)
    expected = [distance for source in range(n) for distance in dijkstra(n, edges, source, directed)]
    held = [None if distance == found.unreached else distance for distance in found.distances.tolist()]
    assert held == expected
    for pair in range(0, n * n, 7):
        path = found.path(pair)
        if expected[pair] is None:
            assert path == []
        else:
            assert (path[0], path[-1]) == (sources[pair], targets[pair])
            assert length_of(path, edges, directed) == expected[pair]
    return found


@pytest.mark.parametrize("batch", range(8))
def test_random_graphs(batch):
    for seed in range(BATCH * batch, BATCH * (batch + 1)):
        edges, graph = drawn(seed)
        found = check(edges, graph.prepare("routes"), graph.directed)
        assert found.method == "contraction-hierarchy"
        assert found.distances.dtype == graph.weights.dtype


@pytest.mark.interpreter
@pytest.mark.parametrize("seed", range(12))
def test_random_graphs_in_the_interpreter_and_without_a_hierarchy(seed):
    edges, graph = drawn(seed)
    without = check(edges, graph, graph.directed)
    assert without.method == "by sources"
    found = check(edges, graph.prepare("routes"), graph.directed)
    assert np.array_equal(found.distances, without.distances)
    assert found.distances.dtype == without.distances.dtype
    units = [(source, target, 1) for source, target, _ in edges]
    check(units, graph.without_weights(), graph.directed)
    check(units, graph.without_weights().prepare("routes"), graph.directed)


@pytest.mark.parametrize("name", STREETS)
def test_street_networks(name, data):
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra as dijkstra_of_scipy

    graph = ew.read(data / name / STREETS[name])
    graph = graph if graph.is_weighted else graph.with_weights(np.ones(graph.n_edges, np.int32))
    graph = graph.with_weights(graph.weights) if graph.ids is None else without_ids(graph)
    least = graph.simplified(repeated="min")
    n, draw = graph.n_vertices, np.random.default_rng(1)
    sources, targets = draw.integers(0, n, 40).repeat(25), draw.integers(0, n, 1000)
    shape = (n, n)
    rows = csr_array((least.csr_weights + 1e-30, least.neighbours, least.offsets), shape=shape)
    distinct, positions = np.unique(sources, return_inverse=True)
    expected = dijkstra_of_scipy(rows, indices=distinct)[positions, targets]
    found = ew.routes(graph.prepare("routes"), sources, targets)
    held = np.where(found.reachable, found.distances, np.inf)
    assert np.allclose(held, expected, rtol=1e-5 if graph.weights.dtype == np.float32 else 1e-12)
    found = ew.routes(graph, sources[::90], targets[::90])
    assert found.verify() is found


def without_ids(graph):
    """The same graph, whose vertices have no ids."""
    options = {"weights": graph.weights, "n_vertices": graph.n_vertices, "directed": graph.directed}
    return ew.Graph.from_edges(graph.sources, graph.targets, **options)


def grid(side, seed=1):
    return ew.generate.with_weights(ew.generate.grid(side, dropped=0.2, seed=seed), 0, 9, seed=2)


@pytest.mark.parametrize("n_threads", [1, 2, 7])
def test_answers_do_not_depend_on_threads(n_threads):
    if n_threads > threads.greatest():
        pytest.skip(f"{n_threads} threads are not there")
    graph = grid(50).prepare("routes")
    draw = np.random.default_rng(1)
    sources, targets = draw.integers(0, graph.n_vertices, (2, 500))
    usual = ew.routes(graph, sources, targets)
    found = ew.routes(graph, sources, targets, threads=n_threads)
    assert np.array_equal(found.distances, usual.distances)
    assert [found.path(pair) for pair in range(20)] == [usual.path(pair) for pair in range(20)]


@pytest.mark.parametrize("slots", [16, 64])
def test_searches_that_need_more_slots_are_repeated(slots, monkeypatch):
    monkeypatch.setattr(queries, "SLOTS", slots)
    monkeypatch.setattr(queries, "GROWTH", 2)
    graph = grid(30).prepare("routes")
    sources, targets = np.random.default_rng(1).integers(0, graph.n_vertices, (2, 100))
    found = ew.routes(graph, sources, targets)
    assert found.verify() is found


@pytest.mark.interpreter
def test_ids_tables_and_one_end_for_all():
    graph = ew.Graph.from_edges(["a", "b", "d"], ["b", "c", "e"], weights=[2, 3, 4])
    for found in (
        ew.routes(graph, "a", ["c", "d", "a"]),
        ew.routes(graph.prepare("routes"), "a", ["c", "d", "a"]),
    ):
        assert found.to_dict() == {("a", "c"): 5, ("a", "d"): None, ("a", "a"): 0}
        assert [found.path(pair) for pair in range(3)] == [["a", "b", "c"], [], ["a"]]
        assert found.to_frame().column_names == ["source", "target", "distance"]
        assert str(found).startswith("2 of 3 pairs joined by a path, along the weights; ")
        with pytest.raises(OptionError, match=r"^pair=3 is not one of 3 pairs$"):
            found.path(3)
        with pytest.raises(OptionError, match=r"^column='id' is unknown"):
            found.to_dict("id")
    assert ew.routes(graph, ["a", "e"], "b").distances.tolist() == [2, 2**63 - 1]


@pytest.mark.interpreter
def test_bad_input():
    graph = ew.Graph.from_edges([0, 1], [1, 2], weights=[2, 3])
    with pytest.raises(OptionError, match=r"^2 sources and 3 targets are no pairs; give as many of both, or"):
        ew.routes(graph, [0, 1], [0, 1, 2])
    with pytest.raises(OptionError, match=r"^sources is empty; give the id of a vertex, or several$"):
        ew.routes(graph, [], [0])
    with pytest.raises(GraphError, match="vertex 7 is not in the graph"):
        ew.routes(graph, 0, 7)
    with pytest.raises(OptionError, match=r"^targets is a table of ids"):
        ew.routes(graph, 0, np.zeros((2, 2), int))
    negative = graph.with_weights([2, -3])
    with pytest.raises(GraphError, match=r"^the edge from 1 to 2 weighs -3, and routes need weights of 0 or"):
        ew.routes(negative, 0, 2)


@pytest.mark.interpreter
def test_distances_beyond_a_type():
    ends = np.arange(4), np.arange(1, 5)
    path = ew.Graph.from_edges(*ends, weights=np.full(4, 2**29, np.int32)).prepare("routes")
    found = ew.routes(path, [0, 0], [4, 2])
    assert (found.distances.dtype, found.distances.tolist()) == (np.int64, [2**31, 2**30])
    assert ew.routes(path, 0, 2).distances.dtype == np.int32
    path = ew.Graph.from_edges(*ends, weights=np.full(4, 2**61)).prepare("routes")
    assert ew.routes(path, 0, 3).distances.tolist() == [3 * 2**61]
    with pytest.raises(GraphError, match=r"^a distance passes the largest number of int64; use smaller weig"):
        ew.routes(path, 0, 4)
    path = ew.Graph.from_edges(*ends, weights=np.full(4, 1.2e38, np.float32)).prepare("routes")
    assert ew.routes(path, 0, 4).distances.dtype == np.float64


@pytest.mark.interpreter
def test_sums_of_floats_are_those_along_the_path():
    weights = np.random.default_rng(3).random(300).astype(np.float32)
    path = ew.Graph.from_edges(np.arange(300), np.arange(1, 301), weights=weights)
    found = ew.routes(path.prepare("routes"), 0, [300])
    total = np.float32(0)
    for weight in weights:
        total += weight
    assert found.distances.tolist() == [total] == [ew.shortest_paths(path, 0).distances[300]]


@pytest.mark.interpreter
def test_verification_finds_wrong_distances():
    graph = ew.Graph.from_edges([0, 1, 3], [1, 2, 4], weights=[2, 3, 1]).prepare("routes")
    found = ew.routes(graph, [0, 0], [2, 3])
    for pair, wrong, problem in ((0, 4, "is 5, not 4"), (1, 4, "no path leads from vertex 0 to 3, and its")):
        distances = found.distances.copy()
        distances[pair] = wrong
        with pytest.raises(VerificationError, match=problem):
            type(found)(graph, "", 0.0, found.sources, found.targets, distances, True).verify()


@pytest.fixture
def saved(tmp_path):
    graph = grid(12)
    path = tmp_path / "grid.routes"
    graph.prepare("routes").save_prepared(path)
    return graph, path


@pytest.mark.interpreter
@pytest.mark.parametrize("directed", [False, True])
def test_a_prepared_graph_is_saved_and_loaded(tmp_path, directed):
    graph = grid(12)
    options = {"weights": graph.weights, "n_vertices": graph.n_vertices, "directed": directed}
    graph = ew.Graph.from_edges(graph.sources, graph.targets, **options)
    again = graph.with_weights(graph.weights)
    graph.prepare("routes").save_prepared(tmp_path / "routes")
    assert again.load_prepared(tmp_path / "routes") is again
    assert again.prepared == ("routes",)
    one, other = kept(graph), kept(again)
    assert (other.outgoing is other.incoming) == (not directed)
    for mine, theirs in zip(flat(one), flat(other), strict=True):
        assert mine.dtype == theirs.dtype and np.array_equal(mine, theirs)
    assert [path.name for path in tmp_path.iterdir()] == ["routes"]


def flat(record):
    return [array for part in record for array in (flat(part) if isinstance(part, tuple) else [part])]


@pytest.mark.interpreter
def test_a_file_of_another_graph_or_version_is_refused(saved, tmp_path):
    graph, path = saved
    for other in (graph.with_weights(graph.weights + 1), graph.without_weights(), grid(12, seed=4)):
        with pytest.raises(FileError, match=r"grid.routes: was saved for another graph or other weights"):
            other.load_prepared(path)
        assert kept(other) is None
    arrays = dict(np.load(path))
    np.savez(tmp_path / "newer.npz", **{**arrays, "edgewise_routes": np.int64(99)})
    with pytest.raises(FileError, match=r"newer.npz: was written by another version of edgewise"):
        graph.load_prepared(tmp_path / "newer.npz")
    with pytest.raises(FileError, match=r"missing: no such file; check the path$"):
        graph.load_prepared(tmp_path / "missing")
    with pytest.raises(GraphError, match=r"^the graph is not prepared for routes; call prepare"):
        grid(12).save_prepared(path)


@pytest.mark.interpreter
def test_damaged_files_are_refused(saved, tmp_path):
    graph, path = saved
    content, draw = path.read_bytes(), random.Random(1)
    for turn in range(60):
        damaged = bytearray(content)
        if turn % 2:
            del damaged[draw.randrange(len(content)) :]
        else:
            damaged[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        (tmp_path / "damaged").write_bytes(damaged)
        fresh = graph.with_weights(graph.weights)
        try:
            fresh.load_prepared(tmp_path / "damaged")
        except FileError as error:
            assert "\n" not in str(error) and kept(fresh) is None
        else:  # a bit that counts for nothing, as of a date
            assert all(map(np.array_equal, flat(kept(fresh)), flat(kept(graph))))


def equal(array):
    """Two neighbouring values that differ are the same."""
    at = int(np.flatnonzero(array[1:] != array[:-1])[0])
    return np.where(np.arange(len(array)) == at, array[at + 1], array)


#: Changes of arrays, after which they are in no order or of another type, but lead nowhere outside.
CHANGES = (
    *(("ranks", equal), ("ranks", lambda ranks: ranks.astype(np.float64))),
    *(("levels", equal), ("levels", lambda levels: levels + 1)),
    ("out_offsets", lambda offsets: offsets + (np.arange(len(offsets)) == 0)),
    ("out_offsets", lambda offsets: offsets.astype(np.int32)),
    *(("out_neighbours", equal), ("out_neighbours", lambda neighbours: neighbours * 0)),
    ("out_middles", lambda middles: middles.astype(np.float64)),
)


@pytest.mark.interpreter
def test_files_of_no_order_are_refused(saved, tmp_path):
    graph, path = saved
    arrays = dict(np.load(path))
    for name, changed in CHANGES:
        np.savez(tmp_path / "changed.npz", **{**arrays, name: changed(arrays[name])})
        with pytest.raises(FileError, match=r"holds no sound hierarchy|is damaged"):
            graph.with_weights(graph.weights).load_prepared(tmp_path / "changed.npz")


@pytest.mark.interpreter
@pytest.mark.parametrize(
    "name", ["ranks", "levels", "out_offsets", "out_neighbours", "out_middles", "out_weights"]
)
def test_files_that_lead_out_of_the_arrays_are_refused(name, saved, tmp_path):
    graph, path = saved
    arrays = dict(np.load(path))
    for place in (0, len(arrays[name]) // 2, len(arrays[name]) - 1):
        changed = arrays[name].copy()
        changed[place] = -1 if name in ("levels", "out_offsets", "out_weights") else 2**31
        np.savez(tmp_path / "changed.npz", **{**arrays, name: changed})
        with pytest.raises(FileError, match=r"holds no sound hierarchy|is damaged"):
            graph.with_weights(graph.weights).load_prepared(tmp_path / "changed.npz")
    np.savez(tmp_path / "changed.npz", **{**arrays, name: arrays[name][:-1]})
    with pytest.raises(FileError, match=r"holds no sound hierarchy|is damaged"):
        graph.with_weights(graph.weights).load_prepared(tmp_path / "changed.npz")
