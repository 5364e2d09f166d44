"""Every method on every engine finds Kruskal's edges, for every type of weights."""

import os
import tracemalloc
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import edgewise as ew
from edgewise.device import arrays, launch, threads
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.errors import GraphError, OptionError, VerificationError
from edgewise.forest import METHODS, _entries, buckets, minimum_spanning_forest, renumbering
from edgewise.forest import filter as filter_step
from edgewise.forest.filter import are_ascending
from edgewise.forest.order import words_of
from edgewise.forest.trees import Trees
from tests.zoo import ZOO

boruvka, kruskal = (import_module(f"edgewise.forest.{name}") for name in ("boruvka", "kruskal"))

DEVICE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")
HERE = [name for name, method in METHODS.items() if DEVICE.partition(":")[0] in method.devices]
TYPES = ["int32", "int64", "float32", "float64"]
pytestmark = [pytest.mark.interpreter]
simulator = pytest.mark.simulator
SHAPES = ("repeated edges", "two cliques", "self-loops", "grid") if SIMULATED else tuple(ZOO)


@pytest.fixture(scope="module", autouse=True)
def few_edges_take_loops():
    """Few edges are not left to the interpreter, whether Numba is imported or not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kruskal, "FEW_STEPS", -1)
        yield


def oracle(graph, maximum=False):
    """Positions of Kruskal's edges, by plain Python."""
    label = list(range(graph.n_vertices))

    def root(vertex):
        while label[vertex] != vertex:
            vertex = label[vertex]
        return vertex

    weights = graph.weights.tolist()
    order = sorted(range(len(weights)), key=lambda edge: (-weights[edge] if maximum else weights[edge], edge))
    taken = []
    for edge in order:
        one, other = root(int(graph.sources[edge])), root(int(graph.targets[edge]))
        if one != other:
            label[max(one, other)] = min(one, other)
            taken.append(edge)
    return sorted(taken), [root(vertex) for vertex in range(graph.n_vertices)]


def weighted(shape, dtype="int32", seed=0, low=-4, high=4):
    n, sources, targets = shape
    weights = np.random.default_rng(seed).integers(low, high + 1, len(sources)).astype(dtype)
    if weights.dtype.kind == "f":
        weights *= weights.dtype.type(0.1)
    return ew.Graph.from_edges(sources, targets, weights=weights, n_vertices=n)


def as_rows(graph):
    """The same graph, made of rows only."""
    return ew.Graph(graph.n_vertices, rows=(graph.offsets, graph.neighbours, graph.csr_weights))


def check(graph, maximum=False):
    expected = {}
    for form in (graph, as_rows(graph)):
        edges, labels = oracle(form, maximum)
        for method in ("auto", *HERE):
            found = minimum_spanning_forest(form.to(DEVICE), maximum=maximum, method=method).on_host()
            assert found.edges.tolist() == edges, method
            assert found.labels.tolist() == labels, method
            assert found.weights.tolist() == form.weights[edges].tolist(), method
            assert found.sources.tolist() == form.sources[edges].tolist(), method
            assert found.targets.tolist() == form.targets[edges].tolist(), method
            assert found.count == len(set(labels)) and found.n_edges == len(edges)
            found.verify()
        expected[len(expected)] = sorted(form.weights[edges].tolist())
    assert expected[0] == expected[1]


@simulator
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("maximum", [False, True])
def test_zoo(shape, maximum):
    check(weighted(ZOO[shape]), maximum)


@pytest.mark.parametrize("shape", tuple(ZOO))
@pytest.mark.parametrize("maximum", [False, True])
@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_few_edges(shape, maximum, dtype, monkeypatch):
    """They are sorted at once where Numba is not imported yet."""
    graph = weighted(ZOO[shape], dtype)
    for form in (graph, as_rows(graph)):
        entries = _entries(form, maximum)
        by_loops = kruskal.kruskal(form.n_vertices, entries)
        with monkeypatch.context() as patch:
            patch.setattr(kruskal, "FEW_STEPS", 1 << 20)
            patch.setattr(kruskal, "cpu_compiler_is_loaded", lambda: False)
            by_interpreter = kruskal.kruskal(form.n_vertices, entries)
        assert [one.tolist() for one in by_interpreter] == [one.tolist() for one in by_loops]


@simulator
@pytest.mark.parametrize("dtype", ["int32", "float64"] if SIMULATED else TYPES)
def test_types(dtype):
    check(weighted(ZOO["dense"], dtype), maximum=False)
    check(weighted(ZOO["clique"], dtype, low=0, high=0), maximum=True)


@pytest.mark.skipif(SIMULATED, reason="one size is enough where threads play the GPU's")
@pytest.mark.parametrize("dtype", ["float64"] if INTERPRETED else ["int32", "float64"])
def test_filter_step(dtype, monkeypatch):
    """Most edges are heavy, and the sample is smaller than the graph."""
    monkeypatch.setattr(filter_step, "SAMPLE", 64)
    monkeypatch.setattr(filter_step, "CPU_TILE", 16)  # so a group has many tiles
    monkeypatch.setattr(filter_step, "CPU_GROUPS", 1)
    draw = np.random.default_rng(3)
    n, m = 40, 1500
    graph = ew.Graph.from_edges(
        draw.integers(0, n, m),
        draw.integers(0, n, m),
        weights=draw.integers(0, 300, m).astype(dtype),
        n_vertices=n,
    )
    check(graph)
    check(graph, maximum=True)


def forest_of_rows(graph, **ascending):
    """Edges and labels by Boruvka's algorithm from the rows of a graph."""
    rows = as_rows(graph).to(DEVICE)
    hooked_by, labels = METHODS["boruvka"].run(graph.n_vertices, _entries(rows, False)._replace(**ascending))
    hooked_by = arrays.move(hooked_by, "cpu")
    return sorted(hooked_by[hooked_by >= 0].tolist()), arrays.move(labels, "cpu").tolist()


@simulator
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("sample", [4, 2**60])
def test_ascending_rows(shape, sample, monkeypatch):
    """Rows that are ascending give the same answer, with a filter step and without."""
    monkeypatch.setattr(filter_step, "SAMPLE", sample)
    monkeypatch.setattr(boruvka, "STAGES", (0.3,))
    monkeypatch.setattr(boruvka, "DENSE", 10**9)
    graph = weighted(ZOO[shape])
    assert are_ascending(graph.offsets, graph.neighbours)
    assert forest_of_rows(graph, ascending=1) == forest_of_rows(graph, ascending=0)


@simulator
@pytest.mark.parametrize("shape", SHAPES)
def test_renumbered_trees(shape, monkeypatch):
    """Trees with numbers of their own after the first round give the same answer."""
    graph = weighted(ZOO[shape])
    expected = forest_of_rows(graph, ascending=0)
    monkeypatch.setattr(renumbering, "FROM", {"cpu": 0, "cuda": 0})
    check(graph, maximum=True)
    for ascending in (0, 1):
        assert forest_of_rows(graph, ascending=ascending) == expected


@pytest.mark.ptx
@pytest.mark.skipif(SIMULATED or INTERPRETED, reason="needs the compiler")
def test_kernels_of_renumbered_trees_use_no_local_memory():
    vertices, words, flags, marks = (np.zeros(8, one) for one in (np.uint32, np.int64, np.int32, np.bool_))
    trees = Trees(vertices, words, words, words[:0], vertices)
    lists = filter_step.Lists(vertices, vertices, words, words[:0], words, vertices, 1, 1)
    phase = filter_step.Phase(0, words, 0, words, np.zeros(0, np.uint8), flags)
    for loop, arguments in (
        (renumbering.mark_root, (vertices, marks)),
        (renumbering.number_root, (words, vertices)),
        (renumbering.spread_number, (vertices,)),
        (renumbering.root_of_number, (vertices, vertices)),
        (renumbering.return_to_root, (words, trees, trees)),
        (boruvka.grow_trees, (flags, trees, lists, phase, 1)),
    ):
        text = loop.cuda.ptx(tuple(map(launch.kind_of, arguments)), (9, 0))
        assert ".entry" in text and ".local" not in text, loop.name


def test_rows_in_any_order():
    graph = ew.Graph.from_csr([0, 2, 4, 6], [2, 1, 0, 2, 1, 0], weights=[2, 1, 1, 3, 3, 2])
    for form in (graph, graph.to(DEVICE)):
        assert not are_ascending(form.offsets, form.neighbours)
        assert minimum_spanning_forest(form).weight == 3
    check(graph)


@pytest.mark.skipif(SIMULATED, reason="the same on all devices")
@pytest.mark.parametrize("size", [8, 1 << 17])
def test_words_that_differ_in_lower_bits(size, monkeypatch):
    """Weights so close that the upper bits of a word do not order them, in one bucket or many."""
    monkeypatch.setattr(buckets, "BUCKET_EDGES", size)
    draw = np.random.default_rng(4)
    weights = np.where(draw.random(300) < 0.5, 1.0, 1e300) * (1 + draw.integers(0, 9, 300) * 2.0**-52)
    ends = draw.integers(0, 60, (2, 300))
    check(ew.Graph.from_edges(*ends, weights=weights, n_vertices=60))


@pytest.mark.skipif(SIMULATED, reason="the same on all devices")
@pytest.mark.parametrize("dtype", ["int32", "float64"])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_buckets_hold_every_edge_in_order(dtype, n_threads, monkeypatch):
    """Also words that are beyond those of the sample, which has a few of the middle ones, or none."""
    monkeypatch.setattr(buckets, "BUCKET_EDGES", 16)
    before = threads.count()
    if before < n_threads:
        pytest.skip("needs two threads")
    draw = np.random.default_rng(5)
    entries = _entries(weighted((50, *draw.integers(0, 50, (2, 400))), dtype, 1, -3000, 3000), False)
    lists = filter_step.new_lists(50, entries, words_only=True)
    lists.counts[0], exact = 400, words_of(entries.order)
    lists.words[:400] = exact
    if len(lists.entries):
        lists.entries[:400] = np.arange(400)
    expected = np.argsort(exact, kind="stable").tolist()
    try:
        threads.use(n_threads)
        for sample in (np.sort(exact), np.sort(exact)[100:300:20], exact[:0]):
            found = list(buckets.sorted_buckets(lists, sample, entries.order))
            assert np.concatenate(found).tolist() == expected
            assert (len(found) > 2) == (n_threads > 1 and len(sample) > 2)
    finally:
        threads.use(before)


@pytest.mark.skipif(SIMULATED, reason="nothing new")
@given(st.data())
def test_any_graph(data):
    n = data.draw(st.integers(1, 9))
    m = data.draw(st.integers(0, 20))
    ends = st.lists(st.integers(0, n - 1), min_size=m, max_size=m)
    dtype = data.draw(st.sampled_from(TYPES))
    numbers = st.integers(-3, 3)
    if dtype.startswith("f"):
        numbers = st.sampled_from([0.0, -0.0, 1.5, -1.5, float("inf"), float("-inf"), 1e-40, -1e-40])
    weights = np.array(data.draw(st.lists(numbers, min_size=m, max_size=m)), dtype)
    graph = ew.Graph.from_edges(data.draw(ends), data.draw(ends), weights=weights, n_vertices=n)
    edges, labels = oracle(graph, maximum := data.draw(st.booleans()))
    for method in HERE:
        found = minimum_spanning_forest(graph, maximum=maximum, method=method)
        assert found.edges.tolist() == edges and found.labels.tolist() == labels
        found.verify()


@pytest.mark.parametrize(
    "values",
    [
        [2**63 - 1, -(2**63), 0, 2**63 - 2],
        [2**63 - 1, 2**63 - 2, 2**63 - 3, 2**63 - 1],
        [-(2**63), 1 - 2**63, 2 - 2**63, -(2**63)],
        [-(2**31), 2**31, 0, 1],
        [5, 5 + 2**32 - 1, 6, 7],
    ],
)
@pytest.mark.parametrize("maximum", [False, True])
def test_extreme_integers(values, maximum):
    graph = ew.Graph.from_edges([0, 1, 2, 0], [1, 2, 0, 2], weights=np.array(values), n_vertices=3)
    check(graph, maximum)


def test_zeros_of_both_signs_are_equal():
    graph = ew.Graph.from_edges([0, 0, 1], [1, 1, 2], weights=[0.0, -0.0, 1.0], n_vertices=3)
    for maximum in (False, True):
        assert minimum_spanning_forest(graph, maximum=maximum).edges.tolist() == [0, 2]


def test_sum_is_exact():
    graph = ew.Graph.from_edges([0, 1], [1, 2], weights=[2**63 - 1, 2**63 - 1], n_vertices=3)
    assert minimum_spanning_forest(graph).weight == 2 * (2**63 - 1)
    graph = ew.Graph.from_edges([0, 1], [1, 2], weights=[-(2**63), -(2**63)], n_vertices=3)
    assert minimum_spanning_forest(graph).weight == -(2**64)


@pytest.mark.skipif(INTERPRETED, reason="takes long in the interpreter")
@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_sums_of_small_weights_copy_nothing(kind):
    """Neither do they take the steps of weights whose sum may need more than 64 bits."""
    weights = np.arange(-60_000, 100_000, dtype=kind)
    path = np.arange(len(weights) + 1, dtype=np.uint32)
    forest = minimum_spanning_forest(ew.Graph.from_edges(path[:-1], path[1:], weights=weights))
    assert len(forest.weights) == len(weights)
    tracemalloc.start()
    found = forest.weight
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == sum(range(-60_000, 100_000)) and taken < weights.nbytes / 2


def test_nan_is_refused():
    graph = ew.Graph.from_edges(["a", "b"], ["b", "c"], weights=[1.0, float("nan")])
    with pytest.raises(GraphError, match="edge 1 between 'b' and 'c' weighs NaN"):
        minimum_spanning_forest(graph)
    with pytest.raises(GraphError, match="the edge between 1 and 2 weighs NaN"):
        minimum_spanning_forest(as_rows(graph), method="boruvka")
    rows = as_rows(graph)
    rows.sources  # noqa: B018  the derived edge list has other positions
    with pytest.raises(GraphError, match="the edge between 1 and 2 weighs NaN"):
        minimum_spanning_forest(rows)


def test_what_has_no_forest():
    directed = ew.Graph.from_edges([0], [1], weights=[1], n_vertices=2, directed=True)
    with pytest.raises(GraphError, match="undirected"):
        minimum_spanning_forest(directed)
    with pytest.raises(GraphError, match="no weights"):
        minimum_spanning_forest(ew.Graph.from_edges([0], [1], n_vertices=2))
    with pytest.raises(OptionError, match="kruskal"):
        minimum_spanning_forest(weighted(ZOO["path"]), method="kruskl")


def test_components_of_thresholds():
    graph = weighted(ZOO["dense"], "float64")
    for maximum in (False, True):
        forest = minimum_spanning_forest(graph, maximum=maximum)
        for threshold in (-1, -0.25, 0, 0.1, 0.35, 1, float("inf"), float("-inf")):
            kept = graph.weights >= threshold if maximum else graph.weights <= threshold
            part = ew.Graph.from_edges(graph.sources[kept], graph.targets[kept], n_vertices=graph.n_vertices)
            expected = ew.connected_components(part).labels.tolist()
            assert forest.components(threshold).labels.tolist() == expected
    for wrong in (None, "0.9", float("nan"), True):
        with pytest.raises(OptionError, match="must be a number"):
            forest.components(wrong)


def test_single_linkage_equals_scipy():
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import pdist, squareform

    points = np.random.default_rng(2).random((30, 2))
    distances = pdist(points)
    n, square = len(points), squareform(distances)
    sources, targets = np.triu_indices(n, 1)
    forest = minimum_spanning_forest(
        ew.Graph.from_edges(sources, targets, weights=square[sources, targets], n_vertices=n)
    )
    ours, theirs = forest.single_linkage(), linkage(distances, "single")
    assert np.array_equal(ours[:, 2], theirs[:, 2])
    assert np.array_equal(ours[:, 3], theirs[:, 3])
    for height in np.quantile(distances, [0.01, 0.05, 0.2]):
        clusters, labels = fcluster(ours, height, "distance"), forest.components(height).labels
        assert len({*zip(clusters, labels)}) == len(set(labels)) == len(set(clusters))


def test_single_linkage_of_several_trees():
    graph = ew.Graph.from_edges([0, 3], [1, 4], weights=[2, 1], n_vertices=5)
    rows = minimum_spanning_forest(graph).single_linkage()
    assert rows[:, 2].tolist() == [1, 2, np.inf, np.inf]
    assert rows[-1, 3] == 5
    with pytest.raises(GraphError, match="nearest first"):
        minimum_spanning_forest(graph, maximum=True).single_linkage()


def test_path():
    graph = ew.Graph.from_edges(
        ["ann", "bob", "ann", "carl", "x"],
        ["bob", "carl", "carl", "dora", "y"],
        weights=[0.9, 0.4, 0.8, 0.7, 1.0],
    )
    forest = minimum_spanning_forest(graph, maximum=True)
    assert forest.path("bob", "dora").to_pydict() == {
        "source": ["bob", "ann", "carl"],
        "target": ["ann", "carl", "dora"],
        "weight": [0.9, 0.8, 0.7],
    }
    assert forest.path("bob", "bob").num_rows == 0
    with pytest.raises(GraphError, match="no path joins 'ann' and 'x'"):
        forest.path("ann", "x")
    with pytest.raises(GraphError):
        forest.path("ann", "nobody")


@pytest.mark.skipif(INTERPRETED or SIMULATED, reason="the verifier is the same everywhere")
def test_verifier_finds_what_is_wrong():
    from dataclasses import replace

    graph = ew.Graph.from_edges([0, 1, 0, 3], [1, 2, 2, 4], weights=[1, 3, 2, 5], n_vertices=5)
    forest = minimum_spanning_forest(graph)
    assert forest.edges.tolist() == [0, 2, 3]
    for edges, labels, message in (
        ([0, 1, 3], [0, 0, 0, 3, 3], "edge 2 should be in the forest instead of edge 1"),
        ([0, 1, 2, 3], [0, 0, 0, 3, 3], "cycle"),
        ([0, 2], [0, 0, 0, 3, 4], "edge 3 joins two trees"),
        ([0, 2, 3], [0, 0, 0, 3, 4], "different labels"),
        ([0, 2, 3], [0, 0, 0, 4, 4], "smallest"),
    ):
        hooked = np.full(5, -1)
        hooked[: len(edges)] = edges
        wrong = replace(forest, _hooked_by=hooked, _labels=np.array(labels, np.uint32))
        with pytest.raises(VerificationError, match=message):
            wrong.verify()


def test_of_equal_edges_the_first_is_in_the_forest():
    from dataclasses import replace

    forest = minimum_spanning_forest(ew.Graph.from_edges([0, 1, 0], [1, 0, 1], weights=[5, 5, 6]))
    assert forest.verify().edges.tolist() == [0]
    for edge in (1, 2):
        wrong = replace(forest, _hooked_by=np.array([-1, edge]))
        with pytest.raises(VerificationError, match=f"edge 0 should be in the forest instead of edge {edge}"):
            wrong.verify()
