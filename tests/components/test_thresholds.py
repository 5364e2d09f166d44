"""Components at several thresholds: those of a run of its own at each, on every engine, and nested."""

import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import edgewise as ew
from edgewise.components import thresholds as page
from edgewise.components.threshold_limits import is_reached
from edgewise.device.target import SIMULATED
from edgewise.errors import EdgewiseError, GraphError, OptionError, OutOfMemoryError, VerificationError
from tests.zoo import ZOO

DEVICE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")
interpreter, simulator = pytest.mark.interpreter, pytest.mark.simulator
SHAPES = ("repeated edges", "two cliques", "grid") if SIMULATED else tuple(ZOO)
TYPES = ["int32", "int64", "float32", "float64"]
PAIRS = {"l": ["ann", "bob", "ann", "carl", "eve"], "r": ["bob", "carl", "carl", "dora", "finn"]}
SCORES = [0.9, 0.4, 0.8, 0.7, 0.95]


def scored(shape, dtype="int32", seed=0):
    n, sources, targets = shape
    weights = np.random.default_rng(seed).integers(-3, 9, len(sources)).astype(dtype)
    if weights.dtype.kind == "f":
        weights *= weights.dtype.type(0.1)
    return ew.Graph.from_edges(sources, targets, weights=weights, n_vertices=n)


def alone(graph, threshold):
    """The components of a run of its own."""
    kept = is_reached(threshold, graph.weights)
    part = ew.Graph.from_edges(graph.sources[kept], graph.targets[kept], n_vertices=graph.n_vertices)
    return ew.connected_components(part, method="rem-sequential"), int(kept.sum())


def check(graph, thresholds):
    found = ew.connected_components(graph.to(DEVICE), thresholds=thresholds)
    assert found.labels.shape == (len(thresholds), graph.n_vertices)
    for position, threshold in enumerate(thresholds):
        own, n_edges = alone(graph, threshold)
        at = found.at(threshold).on_host()
        assert at.labels.tolist() == own.labels.tolist() == found.on_host().labels[position].tolist()
        assert at.labels.dtype == own.labels.dtype
        assert found.counts[position] == own.count and found.largest[position] == own.largest
        assert found.edge_counts[position] == n_edges
    found.verify()
    return found


@interpreter
@simulator
@pytest.mark.parametrize("shape", SHAPES)
def test_zoo(shape):
    check(scored(ZOO[shape]), [-1, 2, 3, 8])


@interpreter
@simulator
@pytest.mark.parametrize("dtype", TYPES)
def test_types(dtype):
    unit = 0.1 if dtype.startswith("f") else 1
    graph = scored(ZOO["dense"], dtype)
    check(graph, [round(one * unit, 2) for one in (-9, -0.5, 0, 1.5, 2, 7, 40)])
    check(graph, [float("-inf"), 2 * unit, float("inf")])


@given(st.data())
def test_any_graph(data):
    n, m = data.draw(st.integers(1, 9)), data.draw(st.integers(0, 20))
    ends = st.lists(st.integers(0, n - 1), min_size=m, max_size=m)
    weights = data.draw(st.lists(st.sampled_from([0.0, -0.0, 0.5, 1.0, -1.0, 2.0]), min_size=m, max_size=m))
    graph = ew.Graph.from_edges(data.draw(ends), data.draw(ends), weights=np.array(weights), n_vertices=n)
    numbers = st.sampled_from([-1.5, -1.0, 0.0, 0.25, 0.5, 1.0, 3.0])
    check(graph, sorted(data.draw(st.sets(numbers, min_size=1))))


@pytest.mark.parametrize("blocks", [1, 3])
def test_all_thresholds_that_there_can_be(monkeypatch, blocks):
    """Every level, those without an edge included, for edges in several blocks."""
    monkeypatch.setattr(page, "n_blocks_of", lambda count: blocks)
    draw, n, m = np.random.default_rng(3), 400, 900
    weights = draw.integers(-1, 300, m).astype(float)
    weights[::50] = np.inf
    graph = ew.Graph.from_edges(*draw.integers(0, n, (2, m)), weights=weights, n_vertices=n)
    check(graph, list(range(255)))
    check(graph, [7])


@pytest.mark.parametrize("threshold", [2**53 + 1, 2.0**53, 0.5, -0.5, 10**400, -(10**400), 2**63 - 1])
def test_large_integers_are_compared_exactly(threshold):
    weights = [2**53, 2**53 + 1, 2**53 + 2, 2**63 - 1, -(2**63), 0, 1]
    graph = ew.Graph.from_edges(range(7), range(1, 8), weights=np.array(weights), n_vertices=8)
    found = ew.connected_components(graph, thresholds=[threshold])
    assert found.edge_counts.tolist() == [sum(one >= threshold for one in weights)]
    assert found.counts.tolist() == [8 - found.edge_counts[0]]


def test_a_threshold_is_compared_in_the_type_of_the_weights():
    graph = ew.Graph.from_edges([0], [1], weights=np.array([0.9], np.float32), n_vertices=2)
    for threshold in (0.9, np.float64(0.9), np.float32(0.9)):
        assert ew.connected_components(graph, thresholds=[threshold]).counts.tolist() == [1]
        assert ew.minimum_spanning_forest(graph, maximum=True).components(threshold).count == 1
    assert ew.connected_components(graph, thresholds=[0.1, 1e300]).counts.tolist() == [1, 2]


def test_weights_may_be_given():
    graph = ew.Graph.from_edges(["a", "b"], ["b", "c"])
    assert ew.connected_components(graph, thresholds=[1, 2], weight=[1, 2]).counts.tolist() == [1, 2]
    rows = ew.Graph(3, rows=(graph.offsets, graph.neighbours, np.array([1.0, 1.0, 2.0, 2.0])))
    assert ew.connected_components(rows, thresholds=[1, 2]).verify().counts.tolist() == [1, 2]


def graph_of_pairs(**options):
    return ew.Graph.from_frame(PAIRS | {"score": SCORES}, weight="score", **options)


def test_table_is_named_alike_where_clusters_are_the_same():
    found = ew.connected_components(graph_of_pairs(), thresholds=[0.5, 0.75, 0.85])
    assert found.to_frame("min").to_pydict() == {
        "id": ["ann", "bob", "carl", "dora", "eve", "finn"],
        "cluster_0.5": ["ann"] * 4 + ["eve"] * 2,
        "cluster_0.75": ["ann"] * 3 + ["dora"] + ["eve"] * 2,
        "cluster_0.85": ["ann", "ann", "carl", "dora", "eve", "eve"],
    }
    assert found.to_frame("row", min_size=3)["cluster_0.75"].to_pylist() == [0, 0, 0, 3]
    assert found.to_dict()["dora"] == "ann" and found.to_dict("cluster_0.75")["dora"] == "dora"
    assert found.summary().to_pydict() == {
        "threshold": [0.5, 0.75, 0.85],
        "edges": [4, 3, 2],
        "components": [2, 3, 4],
        "largest": [4, 3, 2],
    }


@interpreter
@pytest.mark.parametrize("kind", [str, int])
def test_names_equal_those_of_single_runs(kind):
    draw = np.random.default_rng(5)
    ids = draw.permutation(60)
    ids = ids.tolist() if kind is int else [f"r{one:02}" for one in ids]
    ends = [[ids[one] for one in draw.integers(0, 60, 70)] for _ in range(2)]
    frame = {"l": ends[0], "r": ends[1], "score": draw.integers(0, 10, 70)}
    graph = ew.Graph.from_frame(frame, weight="score", vertices={"id": ids, "x": list(range(60))})
    found = ew.connected_components(graph, thresholds=[1, 4, 7])
    for name in ("min", "first", "row"):
        table = found.to_frame(name)
        assert table.column_names == ["id", "x", "cluster_1", "cluster_4", "cluster_7"]
        for threshold in found.thresholds:
            own = found.at(threshold).to_frame(name)
            assert table[f"cluster_{threshold}"].to_pylist() == own["cluster"].to_pylist()


def test_column_of_the_records_may_not_be_in_the_way():
    graph = graph_of_pairs(vertices={"id": sorted({*PAIRS["l"], *PAIRS["r"]}), "cluster_0.5": [0] * 6})
    with pytest.raises(GraphError, match=r"has a column 'cluster_0.5' already"):
        ew.connected_components(graph, thresholds=[0.5]).to_frame()


@interpreter
@pytest.mark.parametrize(
    ("thresholds", "problem"),
    [
        ([0.9, 0.8], "must ascend, but 0.8 comes after 0.9"),
        ([0.8, 0.8], "0.8 comes twice"),
        ([], "give at least one"),
        (0.9, "is a list of numbers"),
        ("0.9", "is a list of numbers"),
        ([0.5, float("nan")], "holds nan"),
        (["a"], "holds 'a'"),
        ([True], "holds True"),
        (range(256), "at most 255"),
    ],
)
def test_wrong_thresholds(thresholds, problem):
    with pytest.raises(OptionError, match=problem):
        ew.connected_components(scored(ZOO["path"]), thresholds=thresholds)


def test_what_does_not_go_together():
    graph = scored(ZOO["path"])
    for options, problem in (
        ({"method": "hook"}, "without thresholds"),
        ({"method": "hook-rem", "segments": 2}, "without thresholds"),
        ({"devices": ["cpu:0", "cpu:1"]}, "on one device"),
        ({"merge": "peer"}, "several devices"),
    ):
        with pytest.raises(OptionError, match=problem):
            ew.connected_components(graph, thresholds=[1], **options)
    with pytest.raises(OptionError, match="weight= is for thresholds="):
        ew.connected_components(graph, weight=[1])
    with pytest.raises(OptionError, match="split graph"):
        ew.connected_components(graph.split(["cpu:0", "cpu:1"]), thresholds=[1])
    with pytest.raises(OptionError, match=r"none of the thresholds 1, 2"):
        ew.connected_components(graph, thresholds=[1, 2]).at(3)
    with pytest.raises(GraphError, match="no weights"):
        ew.connected_components(ew.Graph.from_edges([0], [1], n_vertices=2), thresholds=[1])
    with pytest.raises(GraphError, match="edge 1 between 'b' and 'c' weighs NaN"):
        wrong = ew.Graph.from_edges(["a", "b"], ["b", "c"], weights=[1.0, float("nan")])
        ew.connected_components(wrong, thresholds=[1])
    with pytest.raises(EdgewiseError, match="weights"):
        ew.connected_components(graph, thresholds=[1], weight=[1])


def test_memory_is_estimated_before_it_is_taken(monkeypatch):
    monkeypatch.setattr(page.arrays, "free_memory", lambda device: 100)
    with pytest.raises(OutOfMemoryError, match=r"at several thresholds: .* 100 free; take a smaller graph"):
        ew.connected_components(scored(ZOO["path"]), thresholds=range(40))


def test_thresholds_are_refused_before_edges_are_derived(monkeypatch):
    edges = scored(ZOO["path"])
    graph = ew.Graph(edges.n_vertices, rows=(edges.offsets, edges.neighbours, edges.csr_weights))
    needed = graph.estimate("components", thresholds=[1, 2]).bytes
    own = 8 * graph.n_vertices + graph.n_edges
    monkeypatch.setattr(page.arrays, "free_memory", lambda device: (needed + own) // 2)
    graph = ew.Graph(edges.n_vertices, rows=(edges.offsets, edges.neighbours, edges.csr_weights))
    with pytest.raises(OutOfMemoryError, match=rf"several thresholds: {needed:,} bytes needed"):
        ew.connected_components(graph, thresholds=[1, 2])
    assert not graph.has_edges
    monkeypatch.setattr(page.arrays, "free_memory", lambda device: needed)
    assert ew.connected_components(graph, thresholds=[1, 2]).thresholds == (1, 2)


def with_word(found, vertex, level, root):
    """A result of the host in which one vertex joins another one."""
    nested = found.on_host()._nested_words.copy()
    nested[vertex] = (level << 56) + root
    return replace(found.on_host(), _nested_words=nested)


def test_verifier_finds_what_is_wrong():
    found = ew.connected_components(graph_of_pairs(), thresholds=[0.5, 0.85])
    with pytest.raises(VerificationError, match=r"but are in two trees|joins vertices"):
        with_word(found, 3, 2, 0).verify()


@pytest.mark.parametrize("vertex, level, root", [(0, 1, 0), (1, 1, 2), (1, 3, 0), (2, 1, 10**6), (3, 0, 2)])
def test_verifier_finds_ways_that_do_not_end(vertex, level, root):
    """Or that lead out of the graph, begin above the highest threshold, or are those of a root."""
    found = ew.connected_components(graph_of_pairs(), thresholds=[0.5, 0.85])
    with pytest.raises(VerificationError, match=f"vertex {vertex} joins vertex {root}, which is no root"):
        with_word(found, vertex, level, root).verify()


def test_verifier_finds_ways_that_have_a_step_too_many():
    """The labels are right, but tables, and sizes, take one step for each threshold."""
    graph = ew.Graph.from_edges([0, 1], [1, 2], weights=[0.5, 0.5])
    found = ew.connected_components(graph, thresholds=[0.5])
    wrong = with_word(found, 2, 1, 1)
    assert wrong.labels.tolist() == found.labels.tolist()
    with pytest.raises(VerificationError, match="vertex 2 joins vertex 1, which is no root"):
        wrong.verify()


def test_picture(tmp_path):
    pytest.importorskip("matplotlib")
    ew.connected_components(graph_of_pairs(), thresholds=[0.5, 0.85]).plot(tmp_path / "curves.svg")
    assert (tmp_path / "curves.svg").stat().st_size > 1000
