"""Several workers, and segments, find the forest that one device finds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import edgewise as ew
from edgewise.device import arrays, launch
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.errors import GraphError, OptionError, OutOfMemoryError
from edgewise.forest import (
    METHODS,
    choose,
    minimum_spanning_forest,
    reduction,
    several,
    shared_filter,
)
from edgewise.workers import WorkQueue
from tests.forest.test_forest import DEVICE, TYPES, as_rows, oracle, weighted
from tests.workers.test_workers import TEAMS
from tests.zoo import ZOO

pytestmark = [pytest.mark.interpreter, pytest.mark.simulator]
SHAPES = ("isolated", "repeated edges", "two cliques") if SIMULATED else tuple(ZOO)


def same(found, graph, maximum=False):
    edges, labels = oracle(graph, maximum)
    found = found.on_host()
    assert found.edges.tolist() == edges
    assert found.labels.tolist() == labels
    assert found.weights.tolist() == graph.weights[edges].tolist()


@pytest.mark.parametrize("team", TEAMS[1:], ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_teams(team, shape):
    for dtype in ("int32",) if SIMULATED else ("int32", "float64") if INTERPRETED else TYPES:
        graph, maximum = weighted(ZOO[shape], dtype), dtype.startswith("f")
        found = minimum_spanning_forest(graph, maximum=maximum, devices=team)
        same(found, graph, maximum)
        assert len(found.devices) > 1 or team == "all"
        found.verify()


@pytest.mark.parametrize("dtype", ["int64"] if SIMULATED else TYPES)
def test_heavy_edges_are_filtered_by_all(dtype, monkeypatch):
    monkeypatch.setattr(shared_filter, "SAMPLE", 32)
    monkeypatch.setattr(shared_filter, "BLOCK_EDGES", 100)
    draw, completed, seen = np.random.default_rng(5), several.completed, []
    monkeypatch.setattr(
        several, "completed", lambda *given: (seen.append(len(given[3][0])), completed(*given))[1]
    )
    n, m = (8, 60) if SIMULATED else (40, 800)
    ends = draw.integers(0, n, (2, m))
    for maximum, kinds in ((True, 300), (False, 4)):
        weights = (draw.integers(-kinds, kinds, m) * (2**40 if dtype == "int64" else 1)).astype(dtype)
        graph = ew.Graph.from_edges(*ends, weights=weights, n_vertices=n)
        for team in TEAMS[1:2] if SIMULATED else TEAMS[1:]:
            same(minimum_spanning_forest(graph, maximum=maximum, devices=team), graph, maximum)
    # two halves, joined by edges that are all heavy
    ends = draw.integers(0, n // 2, (2, m)) + (np.arange(m) % 2) * (n // 2)
    ends, weights = np.concatenate([ends, [[0, 1], [n - 1, n - 2]]], axis=1), np.append(weights, [10**3] * 2)
    graph = ew.Graph.from_edges(*ends, weights=weights.astype(dtype), n_vertices=n)
    same(minimum_spanning_forest(graph, devices=TEAMS[1]), graph)
    assert seen


@pytest.mark.skipif(SIMULATED, reason="the methods are tested alone")
@pytest.mark.parametrize("method", METHODS)
def test_rows_and_methods(method):
    rows = as_rows(weighted(ZOO["dense"]))
    found = minimum_spanning_forest(rows, method=method, devices="cpu:0,cpu:1")
    same(found, ew.Graph(rows.n_vertices, edges=(rows.sources, rows.targets, rows.weights)))
    assert (found.method, found.devices) == (method, ("cpu:0", "cpu:1"))


def in_segments(graph, maximum, size, capacity, first=0):
    """The forest by segments of ``size`` edges, ``capacity`` of which are collected."""
    goal = reduction.Goal(graph.n_vertices, maximum, METHODS[choose(DEVICE)].run)
    queue = WorkQueue(graph.n_edges - first, size)
    columns = graph.sources, graph.targets, graph.weights
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(several, "capacity_for", lambda *_: capacity)
        return several.forest_by_segments(goal, columns, first, queue, arrays.resolve(DEVICE))


@pytest.mark.parametrize("shape", SHAPES)
def test_segments(shape):
    for dtype, size, capacity in (("int32", 7, 10), ("float64", 3, 3), ("int64", 50, 100)):
        for maximum in (False, True):
            graph = weighted(ZOO[shape], dtype)
            found = in_segments(graph, maximum, size, capacity)
            forest, labels = found.forest, found.labels
            edges, expected = oracle(graph, maximum)
            assert forest.positions.tolist() == edges
            assert forest.sources.tolist() == graph.sources[edges].tolist()
            assert forest.weights.tolist() == graph.weights[edges].tolist()
            assert labels.tolist() == expected
        if SIMULATED:
            break


@pytest.mark.skipif(SIMULATED, reason="nothing new")
@given(st.data())
def test_any_graph(data):
    n = data.draw(st.integers(1, 9))
    m = data.draw(st.integers(0, 40))
    ends = st.lists(st.integers(0, n - 1), min_size=m, max_size=m)
    weights = np.array(data.draw(st.lists(st.integers(-3, 3), min_size=m, max_size=m)), "int32")
    graph = ew.Graph.from_edges(data.draw(ends), data.draw(ends), weights=weights, n_vertices=n)
    maximum, sizes = data.draw(st.booleans()), st.integers(1, 12)
    edges, labels = oracle(graph, maximum)
    found = in_segments(graph, maximum, data.draw(sizes), data.draw(sizes))
    assert found.forest.positions.tolist() == edges and found.labels.tolist() == labels
    team = [f"cpu:{number}" for number in range(data.draw(st.integers(2, 4)))]
    same(minimum_spanning_forest(graph, maximum=maximum, devices=team), graph, maximum)


def test_most_edges_are_filtered():
    """Where the first edges are most of the graph's forest, few of the others are collected."""
    draw = np.random.default_rng(3)
    n, m = (10, 200) if INTERPRETED else (50, 5_000)
    ends = draw.integers(0, n, (2, m)).astype(np.uint32)
    goal = reduction.Goal(n, False, METHODS[choose(DEVICE)].run)
    where = arrays.resolve(DEVICE)
    weights = draw.integers(0, 1000, m).astype(np.int32)
    columns = [arrays.move(column, where) for column in (*ends, weights)]
    reducer = reduction.Reducer(goal, where, m // 2)
    half = m // 2
    reducer.add(*(column[:half] for column in columns), 2**33)
    reducer.reduce()
    reducer.add(*(column[half:] for column in columns), 2**33 + half)
    assert reducer.n_collected < 6 * n
    reducer.finish()
    graph = ew.Graph.from_edges(*ends, weights=weights, n_vertices=n)
    assert (arrays.move(reducer.forest.positions, "cpu") - 2**33).tolist() == oracle(graph)[0]


def test_what_is_sifted():
    """The edges that are left are those that are marked, with their weights and positions."""
    draw, n, m = np.random.default_rng(5), 40, 400
    goal = reduction.Goal(n, True, METHODS["kruskal"].run)
    for kind in ("int32", "float64"):
        ends, weights = draw.integers(0, n, (2, m)), draw.integers(-9, 9, m).astype(kind)
        sources, targets = ends.astype(np.uint32)
        chosen, _ = reduction.solve(goal, sources, targets, weights)
        forest = reduction.Edges(sources[chosen], targets[chosen], weights[chosen], chosen)
        order, loops = reduction.keys_only(weights, True), np.zeros(n, np.uint8)
        for known in (reduction.filter_of([], sources[:0], 0), reduction.new_filter(goal, forest)):
            marks = np.zeros(m, np.bool_)
            reduction.mark_wanted(m, sources, targets, order, known, marks)
            kept = reduction.Edges(
                *(np.zeros(m, column.dtype) for column in (sources, targets, weights, ends))
            )
            bits = kept._replace(weights=reduction.bits_of(kept.weights))
            count = reduction.filter_edges(tuple(ends), order, known, loops, n, bits)
            positions = np.flatnonzero(marks)
            assert kept.taken(slice(count)).positions.tolist() == positions.tolist()
            for column, found in zip((sources, targets, weights), kept):
                assert found[:count].tolist() == column[positions].tolist()
            assert set(np.flatnonzero(loops)) == set(sources[sources == targets].tolist())
        assert 0 < count < m
        ends[1, 7] = n
        assert reduction.filter_edges(tuple(ends), order, known, loops, n, bits) == -1


def test_edges_too_many_for_the_device(monkeypatch):
    graph = weighted(ZOO["grid"])

    def too_large(*_):
        raise OutOfMemoryError("cuda:0 has too little memory: 9 bytes needed, 8 free")

    monkeypatch.setattr(several, "_forest_as_a_whole", too_large)
    monkeypatch.setattr(several, "SEGMENT_EDGES", 16)
    found = minimum_spanning_forest(graph, devices=TEAMS[-1])
    same(found, graph)
    assert "segments" in found.method
    monkeypatch.setattr(arrays, "free_memory", lambda device: 5000)
    with pytest.raises(OutOfMemoryError, match=r"[\d,]+ bytes needed, 5,000 free"):
        minimum_spanning_forest(graph, devices=TEAMS[-1])


def test_an_error_of_one_worker_ends_all(monkeypatch):
    def fail(*_):
        raise MemoryError("no more")

    monkeypatch.setattr(several, "_forest_of_share", fail)
    with pytest.raises(MemoryError, match="no more"):
        minimum_spanning_forest(weighted(ZOO["grid"]), devices=TEAMS[-1])


def test_what_has_no_forest():
    graph = ew.Graph.from_edges(["a", "b"], ["b", "c"], weights=[1.0, float("nan")])
    with pytest.raises(GraphError, match="edge 1 between 'b' and 'c' weighs NaN"):
        minimum_spanning_forest(graph, devices=TEAMS[-1])
    with pytest.raises(OptionError, match="for one device and devices= for several"):
        minimum_spanning_forest(weighted(ZOO["path"]), device="cpu", devices=TEAMS[-1])


@pytest.mark.ptx
def test_kernels_compile():
    if SIMULATED or INTERPRETED:
        pytest.skip("needs the compiler")
    vertices, marks = np.zeros(2, np.uint32), np.zeros(2, np.bool_)
    for kind in ("int32", "float64"):
        order = reduction.keys_only(np.zeros(2, kind), True)
        edges = vertices, vertices, order
        for loop, arguments in (
            (reduction.mark_wanted, (*edges, reduction.filter_of([1, 2], vertices, 2), marks)),
            (reduction.unite_up_to, (vertices, *edges, 5)),
            (shared_filter.mark_light, (*edges, 5, marks)),
            (
                shared_filter.mark_between,
                (*edges, 5, shared_filter.Trees(vertices, marks.view(np.uint8)), marks),
            ),
        ):
            assert ".entry" in loop.cuda.ptx(tuple(map(launch.kind_of, arguments)), (9, 0))
