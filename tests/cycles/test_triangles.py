"""Triangles through every vertex and every entry, against products of the adjacency matrix."""

import os

import numpy as np
import pytest

import edgewise as ew
from edgewise.cycles import triangles
from edgewise.cycles.method import heaviest_first
from edgewise.cycles.ranked import ranked_of
from edgewise.cycles.triangles import count_rows, edge_triangles, triangle_counts
from edgewise.device import arrays
from edgewise.device.target import SIMULATED
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
    counts, found = on_host(triangle_counts(ranked)), on_host(edge_triangles(ranked))
    assert counts.dtype == np.int64
    assert found.dtype == np.int32
    rank, offsets = on_host(ranked.rank), on_host(ranked.offsets)
    assert (counts[rank] == supports.sum(axis=1) // 2).all()
    vertex = np.argsort(rank)
    rows = vertex[np.repeat(np.arange(vertices), np.diff(offsets))]
    assert (found == supports[rows, vertex[on_host(ranked.neighbours)]]).all()


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
    solver.settle()
    assert (solver.counts == triangle_counts(ranked)).all()


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("shape", ZOO)
def test_rows_are_counted_as_they_are(shape, apart, monkeypatch):
    monkeypatch.setattr(triangles, "FAR", -1 if apart else len(ZOO[shape]))
    monkeypatch.setattr(triangles, "STEPS", 10**6)
    vertices, sources, targets = ZOO[shape]
    graph = ew.Graph.from_edges(sources, targets, n_vertices=vertices)
    graph.offsets  # noqa: B018
    counts, loops, repeats = count_rows(graph)
    assert (counts == supports_of(*ZOO[shape]).sum(axis=1) // 2).all()
    ranked = ranked_of(graph)
    assert (loops, repeats) == (ranked.loops, ranked.repeats)


def test_rows_are_ranked_where_that_is_better():
    vertices, sources, targets = ZOO["dense"]
    graph = ew.Graph.from_edges(sources, targets, n_vertices=vertices)
    assert count_rows(graph)[0] is None  # no rows yet
    graph.offsets  # noqa: B018
    assert count_rows(graph)[0] is not None
    ranked_of(graph)
    assert count_rows(graph)[0] is None
    falling = ew.Graph.from_csr([0, 2, 4, 6], [2, 1, 2, 0, 1, 0])
    assert count_rows(falling)[0] is None
    directed = ew.Graph.from_csr([0, 1, 2], [1, 0], directed=True)
    assert count_rows(directed)[0] is None


def test_hubs_are_ranked():
    low, middle = np.repeat(np.arange(40), 40), np.tile(np.arange(40, 80), 40)
    graph = ew.Graph.from_edges(np.r_[low, low + 80], np.r_[middle, middle], n_vertices=120)
    graph.offsets  # noqa: B018
    assert count_rows(graph)[0] is None
