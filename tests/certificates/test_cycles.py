"""Certificates of counts of cycles: conditions, counting again, and how likely a wrong count passes."""

from dataclasses import replace

import numpy as np
import pytest

import edgewise as ew
from edgewise.certificates import check, cycles
from edgewise.cycles.certificate import prove
from edgewise.errors import VerificationError
from edgewise.result import edge_arrays
from tests.oracles import count_by_hand
from tests.zoo import ZOO

pytestmark = pytest.mark.interpreter


@pytest.mark.parametrize("name", ZOO)
@pytest.mark.parametrize("length", [3, 4, 5])
def test_all_vertices_of_small_graphs_are_counted_again(name, length):
    n, sources, targets = ZOO[name]
    graph = ew.Graph.from_edges(sources, targets, n_vertices=n)
    counts = count_by_hand(n, sources.tolist(), targets.tolist(), length)
    for twice in (False, True):
        certificate = prove(graph, counts * (1 + twice), length, count_directions=twice)
        assert cycles.recounted(edge_arrays(graph), certificate) == n


def test_results_prove_themselves():
    graph = ew.generate.grid(4, 5)
    for length in (3, 4, 6, 8):
        check(edge_arrays(graph), ew.cycle_counts(graph, length, count_directions=length == 4).certificate())


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([1, 1, 1, 1], "add up to 4, which is no multiple of 3"),
        ([1, 1, 1, 3], "vertex 3 is on fewer than 3 cycles, by its neighbours"),
        ([2, 2, 2, 0], "vertex 0 is on 1 triangles, not on 2"),
        ([0, 0, 0, 0], "vertex 0 is on 1 triangles, not on 0"),
    ],
)
def test_a_wrong_count_is_named(counts, message):
    graph = ew.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    with pytest.raises(VerificationError, match=message):
        check(edge_arrays(graph), prove(graph, counts, 3))


def test_trees_that_hang_on_a_graph_have_no_cycles():
    n = 60
    graph = ew.Graph.from_edges([0, 1, 2, *range(2, n - 1)], [1, 2, 0, *range(3, n)])
    counts = np.zeros(n, np.int64)
    counts[n - 5 : n - 2] = 1
    with pytest.raises(VerificationError, match=f"vertex {n - 5} is on fewer than 1 cycles"):
        check(edge_arrays(graph), prove(graph, counts, 3))


def test_directed_graphs_odd_counts_and_long_cycles_are_refused():
    graph = ew.Graph.from_edges([0, 1, 2], [1, 2, 0])
    certificate = prove(graph, [1, 1, 1], 3, count_directions=True)
    with pytest.raises(VerificationError, match="a count is odd"):
        check(edge_arrays(graph), certificate)
    with pytest.raises(VerificationError, match="no cycle has 1000000000 of 3 vertices"):
        check(edge_arrays(graph), prove(graph, [1, 1, 1], 10**9))
    with pytest.raises(VerificationError, match="give an undirected one"):
        check(edge_arrays(graph)._replace(directed=True), prove(graph, [1, 1, 1], 3))


def wheel_of_squares(count):
    """Squares that have no vertex in common, one behind the other."""
    first = 4 * np.arange(count)
    sources = np.concatenate([first, first + 1, first + 2, first + 3])
    return ew.Graph.from_edges(sources, np.concatenate([first + 1, first + 2, first + 3, first]))


def test_what_a_sample_misses_is_as_rare_as_is_said(monkeypatch):
    """Counts that are wrong at a tenth of the vertices, and satisfy all conditions, pass a sample of ten."""
    monkeypatch.setattr(cycles, "BATCH", 1)
    monkeypatch.setattr(cycles, "LEAST", 1)
    graph = wheel_of_squares(40)
    edges, missed, runs = edge_arrays(graph), 0, 200
    monkeypatch.setattr(cycles, "WORK", 10 * 28)  # a walk around a square writes 4 + 6 + 8 + ... vertices
    for seed in range(runs):
        counts = np.ones(160, np.int64)
        start = 4 * np.random.default_rng(seed).choice(40, 4, replace=False)
        counts[(start[:, None] + np.arange(4)).ravel()] = 0
        certificate = prove(graph, counts, 4)
        try:
            sampled = cycles.recounted(edges, certificate)
        except VerificationError as error:
            assert "is on 1 cycles, not on 0" in str(error)
            continue
        missed += 1
        assert 5 <= sampled <= 40
        assert cycles.recounted(edges, prove(graph, np.ones(160, np.int64), 4)) == sampled
    share = missed / runs
    assert 0 < share < 1.5 * 0.9**sampled + 0.05


def test_a_vertex_whose_walks_are_too_long_is_passed_over(monkeypatch):
    monkeypatch.setattr(cycles, "SEARCH", 100)
    graph = ew.Graph.from_edges(*np.triu_indices(9, 1))
    counts = count_by_hand(9, graph.sources.tolist(), graph.targets.tolist(), 4)
    assert cycles.recounted(edge_arrays(graph), prove(graph, counts, 4)) == 0


def test_a_long_ring_is_checked_in_bounded_work(monkeypatch):
    monkeypatch.setattr(cycles, "WORK", 2**20)
    n = 5000
    graph = ew.Graph.from_edges(np.arange(n), (np.arange(n) + 1) % n)
    certificate = prove(graph, np.ones(n, np.int64), n)
    assert cycles.recounted(edge_arrays(graph), certificate) < n
    with pytest.raises(VerificationError, match="no multiple"):
        check(edge_arrays(graph), replace(certificate, answer={"counts": np.eye(1, n, dtype=np.int64)[0]}))
