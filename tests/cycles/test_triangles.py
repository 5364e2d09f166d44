"""Triangles through every vertex and every entry, against products of the adjacency matrix."""

import os
from dataclasses import replace

import numpy as np
import pytest

import edgewise as ew
from edgewise import tuning
from edgewise.cycles.counting import by_number, triangles
from edgewise.cycles.counting.on_edges import edge_triangles
from edgewise.cycles.counting.ranking import ranked_of
from edgewise.cycles.counting.triangles import triangle_counts, whole
from edgewise.cycles.planning import heaviest_first
from edgewise.device import Worker, arrays
from edgewise.device.target import INTERPRETED, SIMULATED
from tests import jitter
from tests.zoo import ZOO

pytestmark = pytest.mark.interpreter
PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")
SHAPES = ["isolated", "repeated edges", "clique", "dense"] if SIMULATED else ZOO


def supports_of(vertices, sources, targets):
    """Triangles through each edge of the simple graph, as a matrix."""
    matrix = np.zeros((vertices, vertices), np.int64)
    matrix[sources, targets] = matrix[targets, sources] = 1
    np.fill_diagonal(matrix, 0)
    return matrix @ matrix * matrix


def on_host(array):
    return np.asarray(arrays.move(array, "cpu"))


@pytest.mark.simulator
@pytest.mark.parametrize("shape", SHAPES)
def test_triangles_are_those_of_the_matrix(shape):
    vertices, sources, targets = ZOO[shape]
    ranked = ranked_of(ew.Graph.from_edges(sources, targets, n_vertices=vertices).to(PLACE))
    supports = supports_of(vertices, sources, targets)
    counts, on_edges = on_host(triangle_counts(ranked)), on_host(edge_triangles(ranked))
    assert counts.dtype == np.int64
    assert on_edges.dtype == np.int32
    rank, offsets = on_host(ranked.rank), on_host(ranked.offsets)
    assert (counts[rank] == supports.sum(axis=1) // 2).all()
    vertex = np.argsort(rank)
    rows = vertex[np.repeat(np.arange(vertices), np.diff(offsets))]
    assert (on_edges == supports[rows, vertex[on_host(ranked.neighbours)]]).all()


@pytest.mark.parametrize("by_work", [True, False])
@pytest.mark.parametrize("shape", ["dense", "grid", "two cliques and a bridge", "one vertex"])
def test_tasks_in_any_order(shape, by_work):
    vertices, sources, targets = ZOO[shape]
    ranked = ranked_of(ew.Graph.from_edges(sources, targets, n_vertices=vertices))
    work = triangles.work(ranked, 3)
    order = heaviest_first(work) if by_work else np.arange(vertices)
    solver = triangles.start(ranked, order, 3)
    for first, end in ((0, len(order) // 3), (len(order) // 3, len(order))):
        solver.count(first, end)
    assert (solver.counts == triangle_counts(ranked)).all()


@pytest.mark.skipif(PLACE == "cpu", reason="only GPUs have several counts of a vertex")
@pytest.mark.simulator
@pytest.mark.parametrize("top", [1, 5, 10**6])
def test_several_counts_of_the_highest_vertices(top, monkeypatch):
    monkeypatch.setattr(triangles, "MANY_ENTRIES", 0)
    monkeypatch.setattr(triangles, "HUBS_PART", 10**6)
    monkeypatch.setattr(triangles, "TOP", top)
    vertices, sources, targets = ZOO["dense"]
    ranked = ranked_of(ew.Graph.from_edges(sources, targets, n_vertices=vertices).to(PLACE))
    expected = on_host(triangle_counts(ranked))
    order = arrays.move(np.arange(vertices), ranked.device)
    solver = triangles.start(ranked, order, 3)
    assert len(solver.copies) == min(top, vertices) * triangles.COPIES
    for first, end in ((0, vertices // 4), (vertices // 4, vertices)):
        solver.count(first, end)
    assert (on_host(solver.counts) == expected).all()
    assert not on_host(solver.copies).any()


def credited_by_three(seed, **replaced):
    """Counts of six vertices, of which three threads credit the two highest by copies."""
    scheduler = jitter.Scheduler(seed)
    credit = jitter.jittery(triangles.credit, COPIES=2, **replaced)
    add_copies = jitter.jittery(triangles.add_copies, COPIES=2)
    counts, copies = (jitter.Jittery(np.zeros(size, np.int64), scheduler) for size in (6, 4))

    def thread(number):
        for vertex in (5, 4, 5, 0, 3):
            credit(counts, copies, number, vertex, 1 + vertex)

    scheduler.run(*(lambda number=number: thread(number) for number in range(3)))
    for number in range(2):
        add_copies(Worker(number, 2, None), counts.values, copies.values)
    return counts.values.tolist(), copies.values.tolist()


def test_no_credit_is_lost():
    for seed in range(60):
        assert credited_by_three(seed) == ([3, 0, 0, 12, 15, 36], [0] * 4), f"seed {seed}"


def test_a_careless_credit_is_lost():
    found = [credited_by_three(seed, fetch_add=jitter.careless_add) for seed in range(60)]
    assert any(counts != [3, 0, 0, 12, 15, 36] for counts, _ in found)


@pytest.mark.parametrize("shape", ZOO)
def test_rows_are_counted_as_they_are(shape, monkeypatch):
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, cycles_hubs=10**6))
    check_by_number(shape)


@pytest.mark.skipif(not INTERPRETED, reason="constants are compiled")
@pytest.mark.parametrize("way", ["merged", "marked", "looked up", "in a full table"])
@pytest.mark.parametrize("window", [1, 3, 4096])
@pytest.mark.parametrize("shape", ZOO)
def test_rows_are_counted_in_every_way(shape, window, way, monkeypatch):
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, cycles_hubs=10**6))
    monkeypatch.setattr(by_number, "WINDOW", window)
    monkeypatch.setattr(by_number, "FAR", 1 if window == 3 else 8192)
    monkeypatch.setattr(by_number, "MAX_MERGED", 10**6 if way == "merged" else 1)
    monkeypatch.setattr(by_number, "NEAR", 1 << 15 if way == "marked" else 0)
    if way == "in a full table":
        monkeypatch.setattr(by_number, "SPACE", 1)
        monkeypatch.setattr(by_number, "home_of", lambda key, other_bits: np.uint64(int(key) & 1))
    check_by_number(shape)


def check_by_number(shape):
    vertices, sources, targets = ZOO[shape]
    for rows_first in (True, False):
        graph = ew.Graph.from_edges(sources, targets, n_vertices=vertices)
        if rows_first:
            graph.offsets  # noqa: B018
        for _ in range(2):
            check_whole(graph, shape)
        assert not graph.has_cached("ranked")


def check_whole(graph, shape):
    counts, *ignored = whole(graph, np.inf)()
    assert counts.dtype == np.int64
    assert (counts == supports_of(*ZOO[shape]).sum(axis=1) // 2).all()
    ranked = ranked_of(ew.Graph.from_edges(graph.sources, graph.targets, n_vertices=graph.n_vertices))
    assert ignored == [ranked.n_self_loops, ranked.n_duplicates]


@pytest.mark.parametrize("shape", ["dense", "repeated edges"])
def test_graphs_with_hubs_are_ranked(shape, monkeypatch):
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, cycles_hubs=0))
    vertices, sources, targets = ZOO[shape]
    for rows_first in (True, False):
        graph = ew.Graph.from_edges(sources, targets, n_vertices=vertices)
        if rows_first:
            graph.offsets  # noqa: B018
        for _ in range(2):
            check_whole(graph, shape)
        assert graph.has_cached("ranked") and graph.has_rows == rows_first


def test_rows_that_are_not_sorted():
    graph = ew.Graph.from_csr([0, 2, 4, 6], [2, 1, 2, 0, 1, 0])
    for _ in range(2):
        assert whole(graph, np.inf)().counts.tolist() == [1, 1, 1]


def test_work_for_long_is_for_tasks():
    low, middle = np.repeat(np.arange(40), 40), np.tile(np.arange(40, 80), 40)
    graph = ew.Graph.from_edges(np.r_[low, low + 80], np.r_[middle, middle], n_vertices=120)
    assert not whole(graph, np.inf)().counts.any()
    assert whole(graph, -1.0) is None
    assert graph.has_cached("ranked")


@pytest.mark.interpreted
def test_vertices_of_one_slot_are_all_found():
    """The slots after the last one are the first ones."""
    words, n_slots = np.zeros(32, np.int32), 32
    same = [vertex for vertex in range(5000) if vertex * 0x9E3779B1 >> 12 & 31 == 31]
    for vertex in same[:5]:
        triangles.enter(words, n_slots, np.int64(vertex))
    assert [int(triangles.slot_of(words, n_slots, np.int64(one))) for one in same[:5]] == [31, 0, 1, 2, 3]
    assert triangles.slot_of(words, n_slots, np.int64(same[5])) == -1
