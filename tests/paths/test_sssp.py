"""Every method on every engine finds the oracle's distances, on every type of weights."""

import os
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path

import edgewise as ew
from edgewise import tuning
from edgewise.device import launch, loop, threads
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.errors import GraphError, OptionError
from edgewise.paths.csr import unreached
from edgewise.paths.result import SparseDistances
from edgewise.paths.sssp import METHODS, shortest_paths
from edgewise.paths.sssp.bellman_ford import NAMED_VERTICES
from edgewise.paths.sssp.weights import rows_in
from tests.paths.names import LARGE, method_named, takes
from tests.zoo import ZOO

csr = import_module("edgewise.paths.csr")
regions = import_module("edgewise.device.regions")
sssp = import_module("edgewise.paths.sssp")
local_search = import_module("edgewise.paths.local_search")
delta_stepping = import_module("edgewise.paths.sssp.delta_stepping")
bellman_ford = import_module("edgewise.paths.sssp.bellman_ford")
DEVICE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")
HERE = [name for name, method in METHODS.items() if DEVICE.partition(":")[0] in method.devices]
NAMES = ["auto", *([LARGE] if DEVICE == "cpu" else []), *HERE]
TYPES = ["int32", "int64", "float32", "float64"]
#: One type is enough where Python threads play the GPU's.
FEW_TYPES = ["int32"] if SIMULATED else TYPES
#: Written for GPUs, and long to compile: on the CPU with one type of weights.
FOR_GPUS = ("near-far",)
pytestmark = pytest.mark.interpreter
simulator = pytest.mark.simulator
#: Shapes that Python threads can play, and shapes with a vertex to start at.
QUICK_SHAPES = ("repeated edges", "two cliques", "grid")
SHAPES = QUICK_SHAPES if SIMULATED else [name for name in ZOO if name != "empty"]
only_on_host = pytest.mark.skipif(DEVICE != "cpu", reason="it is the CPU's")
jit_only = pytest.mark.skipif(INTERPRETED or SIMULATED, reason="nothing new, and slow")


def oracle(graph, sources, dtype):
    """Distances by the plainest search, in the arithmetic of their type."""
    dtype = np.dtype(dtype)
    distances = np.full(graph.n_vertices, unreached(dtype), dtype)
    distances[sources] = 0
    edges = list(zip(graph.sources.tolist(), graph.targets.tolist(), graph.weights.astype(dtype)))
    if not graph.directed:
        edges += [(v, u, w) for u, v, w in edges]
    lowered = True
    while lowered:
        lowered = False
        for u, v, w in edges:
            if distances[u] != unreached(dtype) and distances[u] + w < distances[v]:
                distances[v] = distances[u] + w
                lowered = True
    return distances


def weighted(shape, dtype, directed=False, seed=0, low=0, high=9):
    n, sources, targets = shape
    weights = np.random.default_rng(seed).integers(low, high + 1, len(sources)).astype(dtype)
    if weights.dtype.kind == "f":
        weights *= weights.dtype.type(0.1)
    return ew.Graph.from_edges(sources, targets, weights=weights, n_vertices=n, directed=directed)


def solve(graph, source, method="auto", **options):
    with method_named(method) as name:
        return shortest_paths(graph.to(DEVICE), source, method=name, **options).on_host().distances


def check(graph, sources, expected, methods=NAMES, **options):
    for name in methods:
        if name in FOR_GPUS and DEVICE == "cpu" and expected.dtype != np.int32:
            continue
        if not takes(METHODS, name, graph.directed, expected.dtype):
            continue
        distances = solve(graph, sources, method=name, **options)
        assert distances.dtype == expected.dtype, name
        assert distances.tolist() == expected.tolist(), name


@simulator
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", FEW_TYPES)
def test_distances_are_the_oracles(dtype, shape):
    for directed in (False, True):
        graph = weighted(ZOO[shape], dtype, directed)
        for source in {graph.n_vertices // 2} if SIMULATED else {0, graph.n_vertices // 2}:
            check(graph, source, oracle(graph, [source], dtype))


@pytest.mark.parametrize("name", NAMES)
def test_several_sources_and_the_nearest_counts(name):
    graph = weighted(ZOO["grid"], np.int32)
    for sources in ([0, 34], [3, 3, 17], range(35)):
        check(graph, sources, oracle(graph, list(sources), np.int32), [name])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", FEW_TYPES)
def test_beyond_the_cutoff_nothing_is_reached(dtype, name):
    graph = weighted(ZOO["grid"], dtype, seed=3)
    everything = oracle(graph, [5], dtype)
    for cutoff in (0, everything[20], everything.max() / 2, 10**30):
        limited = np.where(
            everything <= everything.dtype.type(min(cutoff, 10**9)), everything, unreached(dtype)
        )
        check(graph, 5, limited.astype(dtype), [name], cutoff=cutoff)


@pytest.mark.parametrize("name", NAMES)
def test_targets_end_the_search_the_same_everywhere(name):
    graph = weighted(ZOO["grid"], np.int32, seed=4)
    everything = oracle(graph, [0], np.int32)
    for targets in (7, [3, 9, 9], [0]):
        furthest = everything[targets].max()
        limited = np.where(everything <= furthest, everything, unreached(np.int32)).astype(np.int32)
        check(graph, 0, limited, [name], targets=targets)
    apart = weighted(ZOO["two cliques"], np.int32)
    check(apart, 0, oracle(apart, [0], np.int32), [name], targets=[1, 7])


@pytest.mark.parametrize("weights", ["int8", "int16", "uint8", "uint16", "uint32", "uint64", "float16"])
def test_narrow_and_unsigned_weights(weights):
    graph = weighted(ZOO["dense"], weights)
    check(graph, 1, oracle(graph, [1], "float32" if weights == "float16" else "int64"), NAMES[:3])


def test_the_type_of_distances_can_be_named():
    graph = weighted(ZOO["dense"], np.int32, high=200)
    for dtype in TYPES:
        check(graph, 1, oracle(graph, [1], dtype), NAMES[:3], dtype=dtype)
    halves = ew.Graph.from_edges([0], [1], weights=[0.5], n_vertices=2)
    with pytest.raises(OptionError, match=r"weights from 0.5 to 0.5 do not fit dtype='int32'"):
        solve(halves, 0, dtype="int32")
    large = ew.Graph.from_edges([0], [1], weights=[2**40], n_vertices=2)
    with pytest.raises(OptionError, match="do not fit dtype='int32'"):
        solve(large, 0, dtype=np.int32)
    with pytest.raises(OptionError, match="dtype='int8' is unknown; use one of int32, int64"):
        solve(halves, 0, dtype="int8")


@st.composite
def weighted_graphs(draw, low=0):
    n = draw(st.integers(1, 30))
    vertices = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(vertices, vertices, st.integers(low, 20)), max_size=80))
    dtype = draw(st.sampled_from(TYPES))
    columns = np.array(edges, np.int64).reshape(-1, 3)
    weights = columns[:, 2].astype(dtype) * (0.37 if dtype.startswith("f") else 1)
    return ew.Graph.from_edges(
        columns[:, 0],
        columns[:, 1],
        weights=weights.astype(dtype),
        n_vertices=n,
        directed=draw(st.booleans()),
    )


def scipys(graph, source, method):
    """SciPy's distances; it adds up repeated entries and forgets stored zeros, so both are seen to."""
    simple = graph.simplified(repeated="min")
    n = graph.n_vertices
    endpoints = (simple.sources.astype(np.int64), simple.targets.astype(np.int64))
    matrix = coo_array((simple.weights.astype(np.float64), endpoints), shape=(n, n)).tocsr()
    return shortest_path(matrix, method=method, directed=graph.directed, indices=source)


@jit_only
@given(weighted_graphs())
def test_made_up_graphs_against_scipy_and_networkx(graph):
    networkx = pytest.importorskip("networkx")
    made = (networkx.MultiDiGraph if graph.directed else networkx.MultiGraph)()
    made.add_nodes_from(range(graph.n_vertices))
    made.add_weighted_edges_from(zip(graph.sources.tolist(), graph.targets.tolist(), graph.weights.tolist()))
    theirs = networkx.single_source_dijkstra_path_length(made, 0)
    expected = oracle(graph, [0], graph.weights.dtype)
    check(graph, 0, expected)
    reached = expected != unreached(expected.dtype)
    assert set(np.flatnonzero(reached).tolist()) == set(theirs)
    assert np.allclose(expected[reached], [theirs[v] for v in np.flatnonzero(reached)], rtol=1e-6)
    scipy = scipys(graph, 0, "D")
    assert np.array_equal(np.isinf(scipy), ~reached)
    assert np.allclose(expected[reached], scipy[reached], rtol=1e-6)


@jit_only
@given(weighted_graphs(low=-4))
def test_negative_weights_against_networkx(graph):
    networkx = pytest.importorskip("networkx")
    made = (networkx.MultiDiGraph if graph.directed else networkx.MultiGraph)()
    made.add_nodes_from(range(graph.n_vertices))
    made.add_weighted_edges_from(zip(graph.sources.tolist(), graph.targets.tolist(), graph.weights.tolist()))
    try:
        theirs = networkx.single_source_bellman_ford_path_length(made.to_directed(), 0)
    except networkx.NetworkXUnbounded:
        with pytest.raises(GraphError, match="no shortest paths: the cycle"):
            solve(graph, 0)
        return
    distances = solve(graph, 0)
    reached = distances != unreached(distances.dtype)
    assert set(np.flatnonzero(reached).tolist()) == set(theirs)
    assert np.allclose(distances[reached], [theirs[v] for v in np.flatnonzero(reached)], rtol=1e-5, atol=1e-5)


@simulator
@pytest.mark.parametrize("dtype", FEW_TYPES)
def test_negative_weights_without_a_cycle(dtype):
    edges = [0, 0, 1, 2, 3, 4], [1, 2, 3, 1, 4, 5]
    weights = np.array([4, 5, -3, -2, 0, -1], dtype)
    graph = ew.Graph.from_edges(*edges, weights=weights, n_vertices=7, directed=True)
    none = unreached(dtype)
    assert solve(graph, 0).tolist() == [0, 3, 5, 0, 0, -1, none]
    assert solve(graph, 0, cutoff=np.inf).tolist() == [0, 3, 5, 0, 0, -1, none]
    shortest_paths(graph.to(DEVICE), 0).verify()
    for what, value in (("cutoff", 2), ("targets", [3])):
        with pytest.raises(OptionError, match=f"the edge from 1 to 3 weighs -3.*leave out {what}="):
            solve(graph, 0, **{what: value})
    for name in HERE:
        if METHODS[name].weights != "any":
            with pytest.raises(OptionError, match=f"the edge from 1 to 3 weighs -3.*, and {name} needs"):
                solve(graph, 0, method=name)


def cycle_after_a_path(length, members):
    """A path to a cycle of so many members, whose weights sum up to -1."""
    n = length + members
    sources, targets = np.arange(n), np.arange(1, n + 1)
    targets[-1] = length
    weights = np.ones(n, np.int64)
    weights[-1] = -members
    return ew.Graph.from_edges(sources, targets, weights=weights, n_vertices=n + 1, directed=True)


@pytest.mark.parametrize("length", [0, 3, 100])
@pytest.mark.parametrize("members", [1, 2, 5, 40])
def test_negative_cycles_are_named(length, members):
    graph = cycle_after_a_path(length, members)
    with pytest.raises(GraphError, match=r"the cycle .* weighs -1; leave out an edge") as raised:
        solve(graph, 0)
    named = {
        int(word)
        for word in str(raised.value).split("cycle ")[1].split(" weighs")[0].split()
        if word.isdigit()
    }
    assert named <= set(range(length, length + members))
    assert len(named) == min(members, NAMED_VERTICES) or members > NAMED_VERTICES
    assert solve(graph, length + members).tolist()[-1] == 0  # no cycle can be reached from there


def test_an_undirected_edge_below_zero_is_a_cycle():
    graph = ew.Graph.from_edges(["a", "b"], ["b", "c"], weights=[3, -2])
    with pytest.raises(GraphError, match=r"the cycle '[bc]' -> '[bc]' -> '[bc]' weighs -4"):
        solve(graph, "a")
    apart = ew.Graph.from_edges(["a", "c"], ["b", "d"], weights=[3, -2])
    assert solve(apart, "a").tolist() == [0, 3, unreached(np.int64), unreached(np.int64)]


def test_rounds_go_on_after_a_search_for_cycles(monkeypatch):
    monkeypatch.setattr(bellman_ford, "FIRST_ROUNDS", 1)
    tried = []

    def spent(*arguments):
        tried.append(arguments)

    monkeypatch.setattr(bellman_ford, "finish", spent)
    n, _, targets = ZOO["path"]
    graph = ew.Graph.from_edges(
        targets - 1, targets, weights=np.full(n - 1, -2, np.int32), n_vertices=n, directed=True
    )
    assert solve(graph, 0).tolist() == [-2 * v for v in range(n)]
    assert len(tried) > 2


@simulator
@pytest.mark.parametrize("name", NAMES)
def test_distances_that_pass_int32_come_in_int64(name):
    large = 2**30
    cycle = ew.Graph.from_edges([0, 1, 2], [1, 2, 0], weights=np.full(3, large, np.int32), n_vertices=5)
    assert solve(cycle, 0, method=name).dtype == np.int32  # going on would pass the end, but in vain
    path = ew.Graph.from_edges([0, 1, 2], [1, 2, 3], weights=np.full(3, large, np.int32), n_vertices=5)
    distances = solve(path, 0, method=name)
    assert distances.dtype == np.int64
    assert distances.tolist() == [0, large, 2 * large, 3 * large, unreached(np.int64)]
    assert solve(path, 0, method=name, cutoff=large).dtype == np.int32
    assert solve(path, 0, method=name, targets=1).dtype == np.int32
    assert solve(path, 0, method=name, targets=[1, 3]).tolist() == distances.tolist()
    with pytest.raises(GraphError, match="a distance passes the largest number of int32; use dtype='int64'"):
        solve(path, 0, method=name, dtype="int32")


@pytest.mark.parametrize("name", [name for name in NAMES if DEVICE != "cpu" or name not in FOR_GPUS])
def test_distances_that_no_type_holds(name):
    path = ew.Graph.from_edges([0, 1, 2], [1, 2, 3], weights=np.full(3, 2**62), n_vertices=4)
    with pytest.raises(GraphError, match="largest number of int64; use dtype='float64'"):
        solve(path, 0, method=name)
    if not takes(METHODS, name, directed=False, dtype="float32"):
        return
    floats = ew.Graph.from_edges([0, 1], [1, 2], weights=np.full(2, 3e38, np.float32), n_vertices=3)
    assert solve(floats, 0, method=name).dtype == np.float64
    doubles = ew.Graph.from_edges([0, 1], [1, 2], weights=np.full(2, 1e308), n_vertices=3)
    with pytest.raises(GraphError, match="largest number of float64; use smaller weights"):
        solve(doubles, 0, method=name)


@pytest.mark.parametrize("name", ["auto", "bellman-ford"])
def test_the_end_is_noticed_beside_negative_weights(name):
    def path(weights, dtype):
        """A path of three edges, and one of a negative weight out of reach."""
        endpoints = [0, 1, 2, 5], [1, 2, 3, 6]
        return ew.Graph.from_edges(*endpoints, weights=np.array(weights, dtype), directed=True)

    step = 2**30
    distances = solve(path([step, step, step, -1], np.int32), 0, method=name)
    assert (distances.dtype, distances[:4].tolist()) == (np.int64, [0, step, 2 * step, 3 * step])
    assert solve(path([step, -2, step, -1], np.int32), 0, method=name).dtype == np.int32
    distances = solve(path([3e38, 3e38, -3e38, -1], np.float32), 0, method=name)
    assert (distances.dtype, np.isfinite(distances[:4]).all()) == (np.float64, True)
    with pytest.raises(GraphError, match="largest number of int64; use dtype='float64'"):
        solve(path([2**62, 2**62, -(2**62), -1], np.int64), 0, method=name)
    with pytest.raises(GraphError, match="largest number of float64; use smaller weights"):
        solve(path([1e308, 1e308, -1e308, -1], np.float64), 0, method=name)


def test_floats_that_pass_the_end_downwards():
    endpoints = [0, 1], [1, 2]
    narrow = ew.Graph.from_edges(*endpoints, weights=np.full(2, -3e38, np.float32), directed=True)
    assert solve(narrow, 0).tolist() == [0, -np.float32(3e38), 2 * -float(np.float32(3e38))]
    wide = ew.Graph.from_edges(*endpoints, weights=np.full(2, -1e308), directed=True)
    with pytest.raises(GraphError, match="largest number of float64; use smaller weights"):
        solve(wide, 0)
    lowest = np.finfo(np.float64).min
    assert solve(ew.Graph.from_edges([0], [1], weights=[lowest], directed=True), 0).tolist() == [0, lowest]
    around = ew.Graph.from_edges([0, 1], [1, 0], weights=np.full(2, -1e308), directed=True)
    with pytest.raises(GraphError, match="largest number of float64"):
        solve(around, 0)


@pytest.mark.parametrize("dtype, large", [("float32", 1e10), ("float64", 1e20)])
def test_weights_that_a_sum_does_not_show(dtype, large):
    """Beyond the first edge all distances are the same, though every edge weighs something."""
    endpoints = [0, 3, 2, 3, 1, 2], [3, 2, 1, 3, 2, 3]
    weights = np.array([large, 1, 1, 1, 1, 1], dtype)
    graph = ew.Graph.from_edges(*endpoints, weights=weights, directed=True)
    check(graph, 0, oracle(graph, [0], dtype))
    result = shortest_paths(graph.to(DEVICE), 0).verify().on_host()
    assert result.distances.tolist() == [0, *[weights[0]] * 3]
    assert (result.parents.tolist(), result.path_to(1)) == ([-1, 2, 3, 0], [0, 3, 2, 1])


def test_distances_that_pass_the_end_downwards():
    path = ew.Graph.from_edges(
        [0, 1, 2], [1, 2, 3], weights=np.full(3, -(2**30), np.int32), n_vertices=4, directed=True
    )
    assert solve(path, 0).tolist() == [0, -(2**30), -(2**31), -3 * 2**30]


def test_bad_input_is_named():
    graph = weighted(ZOO["grid"], np.int32)
    with pytest.raises(GraphError, match=r"the graph has no weights; use edgewise\.bfs"):
        solve(ew.Graph.from_edges([0], [1], n_vertices=2), 0)
    for value in (np.nan, -np.inf):
        bad = ew.Graph.from_edges(["a", "b"], ["b", "c"], weights=[1.0, value])
        with pytest.raises(GraphError, match=f"the edge from 'b' to 'c' weighs {value}; weights are numbers"):
            solve(bad, "a")
    with pytest.raises(GraphError, match="vertex 35 is not in the graph"):
        solve(graph, 35)
    with pytest.raises(GraphError, match="vertex 77 is not in the graph"):
        solve(graph, 0, targets=[1, 77])
    for cutoff in (-1, float("nan"), "far", True, -np.inf):
        with pytest.raises(OptionError, match="must be a number, 0 or more"):
            solve(graph, 0, cutoff=cutoff)
    with pytest.raises(OptionError, match="source is empty; give the id of a vertex, or several"):
        solve(graph, [])
    with pytest.raises(OptionError, match="targets is empty; leave it out"):
        solve(graph, 0, targets=[])
    for table in ([[0, 1], [2, 3]], np.array([[0, 1]]), [np.array([0, 1])]):
        with pytest.raises(OptionError, match="source is a table of ids; give one id, or a flat list"):
            solve(graph, table)
        with pytest.raises(OptionError, match="targets is a table of ids"):
            solve(graph, 0, targets=table)
    with pytest.raises(OptionError, match="method='magic' is unknown; use one of auto, harish,"):
        solve(graph, 0, method="magic")
    with pytest.raises(OptionError, match="method harish has no option 'delta'"):
        solve(graph, 0, method="harish", delta=2)
    with pytest.raises(OptionError, match="a Graph is needed, not list"):
        shortest_paths([(0, 1)], 0)


@pytest.mark.parametrize("name", [name for name in HERE if "delta" in METHODS[name].options])
def test_delta_changes_nothing(name):
    for dtype in ("int32", "float64"):
        if dtype == "float64" and name in FOR_GPUS and DEVICE == "cpu" and not INTERPRETED:
            continue  # long to compile
        graph = weighted(ZOO["dense"], dtype, high=1000)
        expected = oracle(graph, [2], dtype)
        for delta in (1e-320, 0.01, 1, 3.5, 77, 10**6, 1e307, np.inf):
            assert solve(graph, 2, method=name, delta=delta).tolist() == expected.tolist(), delta
    for delta in (0, -1, float("nan"), "wide", True):
        with pytest.raises(OptionError, match="must be a number larger than 0"):
            solve(graph, 2, method=name, delta=delta)


@only_on_host
@pytest.mark.parametrize("dtype", TYPES)
def test_weights_much_longer_than_the_ring_of_bins(dtype):
    draw = np.random.default_rng(5)
    n, m = 60, 200
    weights = (2 ** draw.integers(0, 22, m)).astype(dtype)
    graph = ew.Graph.from_edges(draw.integers(0, n, m), draw.integers(0, n, m), weights=weights, n_vertices=n)
    expected = oracle(graph, [0], dtype)
    for delta in (1, 50, 1000):
        assert solve(graph, 0, method="delta-stepping", delta=delta).tolist() == expected.tolist()


def large(seed=1, n=3000, m=18000, high=50):
    draw = np.random.default_rng(seed)
    return weighted((n, draw.integers(0, n, m), draw.integers(0, n, m)), np.int32, seed=seed, high=high)


@jit_only
def test_more_chunks_are_made_where_they_are_too_few(monkeypatch):
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, paths_alone=0))
    searches, search = [], delta_stepping.search_bins.with_workers

    def few(vertices, n_workers):
        return 3

    def counted(*arguments):
        searches.append(arguments)
        search(*arguments)

    graph = large()
    expected = solve(graph, 0, method="dijkstra")
    monkeypatch.setattr(delta_stepping, "chunks_for", few)
    monkeypatch.setattr(delta_stepping.search_bins, "with_workers", counted)
    assert np.array_equal(solve(graph, 0, method="delta-stepping"), expected)
    assert len(searches) > 1


@jit_only
@pytest.mark.parametrize("delta", [3, 30, 300, 3000])
def test_rounds_of_many_bins(delta):
    graph = ew.generate.with_weights(ew.generate.grid(200, 200, dropped=0.25), 1, 255)
    expected = solve(graph, 20_100, method="dijkstra")
    for _ in range(4):
        assert np.array_equal(solve(graph, 20_100, method="delta-stepping", delta=delta), expected)


@jit_only
def test_larger_graphs_on_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, paths_alone=0))
    graph = large(high=300)
    expected = solve(graph, 0, method="dijkstra")
    many = threads.count()
    for count in range(1, many + 1):
        threads.use(count)
        try:
            check(graph, 0, expected, set(NAMES) - {"phast"})  # the hierarchy of this graph outgrows it
            for delta in (1, 1000):
                assert np.array_equal(solve(graph, 0, method="delta-stepping", delta=delta), expected)
        finally:
            threads.use(many)


@only_on_host
def test_small_searches_stay_small(monkeypatch):
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, paths_alone=0))
    graph = weighted(ZOO["two cliques and a bridge"], np.int32, low=1)
    result = shortest_paths(graph, 0)
    assert result.method == "near-far-sequential"
    assert isinstance(result._distances, SparseDistances)  # no array of all vertices was made
    assert result.n_reached == 10
    assert result.distances.tolist() == oracle(graph, [0], np.int32).tolist()


@only_on_host
def test_searches_that_do_not_end_soon_are_left_to_all_cores(monkeypatch):
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, paths_alone=0))
    path = np.arange(3999)
    graph = ew.Graph.from_edges(path, path + 1, weights=np.ones(3999, np.int32), n_vertices=4000)
    long = shortest_paths(graph, 0)
    assert long.method == "near-far-sequential"  # two wait at a time
    assert long.distances.tolist() == list(range(4000))
    assert shortest_paths(graph, 0, cutoff=30).method == "near-far-sequential"
    assert shortest_paths(graph, 1000, targets=[1100]).method == "near-far-sequential"
    hub = ew.Graph.from_edges(
        np.zeros(3999, np.int64), path + 1, weights=np.ones(3999, np.int32), n_vertices=4000
    )
    assert shortest_paths(hub, 5).method == "delta-stepping"
    assert shortest_paths(hub, 5, cutoff=0).method == "near-far-sequential"
    one, other = np.triu_indices(200, 1)  # few vertices, many edges
    clique = ew.Graph.from_edges(one, other, weights=np.ones(len(one), np.int32))
    assert shortest_paths(clique, 0).method == "delta-stepping"
    assert shortest_paths(clique, 0, targets=[7], cutoff=0).method == "near-far-sequential"


@only_on_host
def test_small_graphs_are_searched_by_one_core(monkeypatch):
    graph = large(n=2000, m=9000)
    n_items = graph.n_vertices + len(graph.neighbours)
    for few, method in ((n_items + 1, "near-far-sequential"), (n_items, "delta-stepping")):
        monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, paths_alone=few))
        for targets in (None, [700, 800]):
            result = shortest_paths(graph, [5, 9], targets=targets)
            assert result.method == method
            peer = shortest_paths(graph, [5, 9], targets=targets, method="dijkstra")
            assert np.array_equal(result.distances, peer.distances)


@only_on_host
@pytest.mark.parametrize("most", [0, 1 << 21])
def test_what_a_search_leaves_does_not_matter_to_the_next_one(monkeypatch, most):
    """Numbers of vertices are kept by the thread, or with a larger graph, and are not cleared."""
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, paths_alone=0))
    monkeypatch.setattr(local_search, "KEPT_NUMBERS", most)
    path = np.arange(300)
    for turn in range(3):
        weights = (path * 7 + turn) % 11
        graph = ew.Graph.from_edges(path, path + 1, weights=weights)
        for source in (turn, 150, 300 - turn):
            found = shortest_paths(graph, source)
            assert found.method == "near-far-sequential"
            assert np.array_equal(found.distances, solve(graph, source, method="dijkstra"))


@only_on_host
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_searches_that_are_given_up_begin_again(dtype, monkeypatch):
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, paths_alone=0))
    n = 1500 if INTERPRETED else 6000
    graph = large(n=n, m=10 * n // 3)
    graph = ew.Graph.from_edges(graph.sources, graph.targets, weights=graph.weights.astype(dtype))
    targets = [17, 2 * n // 3]
    for asked in ({}, {"cutoff": 30}, {"targets": targets}, {"targets": targets, "cutoff": 30}):
        result = shortest_paths(graph, [5, 9], **asked)
        expected = shortest_paths(graph, [5, 9], method="dijkstra", **asked)
        assert np.array_equal(result.distances, expected.distances), asked


@jit_only
@only_on_host
@pytest.mark.parametrize("delta", [None, 1, 100, 10_000])
def test_a_path_that_leads_to_a_wide_part(monkeypatch, delta):
    """The search along the path ends in the wide part, where vertices in no bin may be lowered again."""
    monkeypatch.setattr(delta_stepping, "width_for", lambda rows, n_workers: delta or 30)
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, paths_alone=0))
    draw = np.random.default_rng(3)
    n, path = 3000, np.arange(1000)
    ends = draw.integers(1000, n, (2, 5 * n))
    for turn in range(20):
        weights = draw.integers(0, 1000, len(path) + 5 * n).astype(np.int32)
        graph = ew.Graph.from_edges(np.append(path, ends[0]), np.append(path + 1, ends[1]), weights=weights)
        found = shortest_paths(graph, [turn, 2000 + turn])
        assert found.method == "delta-stepping"
        assert np.array_equal(found.distances, solve(graph, [turn, 2000 + turn], method="dijkstra"))


@only_on_host
def test_the_result_tells_paths_and_verifies():
    graph = ew.Graph.from_edges(["a", "a", "b", "x"], ["b", "c", "c", "y"], weights=[2, 9, 3, 1])
    result = shortest_paths(graph, "a").verify()
    assert result.path_to("c") == ["a", "b", "c"]
    assert result.path_to("y") == []
    assert result.distance_to("c") == 5
    assert result.eccentricity == 5


@jit_only
@pytest.mark.ptx
@pytest.mark.parametrize("dtype", ["float32"])
def test_kernels_compile_for_gpus(monkeypatch, dtype):
    launched = {}
    run_each, run_region = loop.each.__call__, regions.parallel_region.__call__

    def spy(self, count, *arguments):
        launched[self.cuda.name] = self.cuda, tuple(map(launch.kind_of, arguments))
        return run_each(self, count, *arguments)

    def spy_region(self, *arguments):
        launched[self.cuda.name] = self.cuda, ("int32[]", *map(launch.kind_of, arguments))
        return run_region(self, *arguments)

    monkeypatch.setattr(loop.each, "__call__", spy)
    monkeypatch.setattr(regions.parallel_region, "__call__", spy_region)
    graph = weighted(ZOO["dense"], dtype)
    for name, method in METHODS.items():
        if "cuda" in method.devices and name not in FOR_GPUS and takes(METHODS, name, False, dtype):
            shortest_paths(graph, 0, method=name)
    assert len(launched) >= 3
    for name, (kernel, kinds) in launched.items():
        assert ".entry" in kernel.ptx(kinds, (9, 0)), name


def test_thin_graphs_get_fewer_workers(monkeypatch):
    monkeypatch.setattr(csr, "workers", lambda: 32)
    expected = {(1000, 4): 16, (1000, 6): 32, (csr.VERTICES_PER_WORKER * 20, 2): 20, (2**23, 2): 32}
    for (n, degree), count in expected.items():
        rows = csr.CSR(np.empty(n + 1, np.int64), np.empty(n * degree, np.uint32), None)
        assert csr.workers_for(csr.Adjacency(rows)) == count


@jit_only
def test_searches_use_the_memory_of_the_last_one(monkeypatch):
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, paths_alone=0))
    graph = large()
    rows, expected = rows_in(graph), solve(graph, 0, method="dijkstra")
    for _ in range(2):
        assert np.array_equal(solve(graph, 0, method="delta-stepping"), expected)
    kept = rows.borrow("delta-stepping", threads.count())
    assert kept is not None
    rows.keep("delta-stepping", threads.count() + 1, *kept)  # of too many workers
    assert np.array_equal(solve(graph, 0, method="delta-stepping"), expected)
    assert rows.borrow("delta-stepping", threads.count()) is not None
    assert rows.borrow("delta-stepping", threads.count()) is None
