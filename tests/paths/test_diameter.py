"""Exact diameters from few searches, and estimates of closeness, against all distances."""

import os

import networkx as nx
import numpy as np
import pytest

import edgewise as ew
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.errors import GraphError, OptionError, VerificationError
from edgewise.paths.measures import diameter as page
from edgewise.paths.measures.diameter import diameter
from edgewise.paths.measures.estimate import drawn, estimate_closeness
from tests.zoo import ZOO

pytestmark = [pytest.mark.interpreter, pytest.mark.simulator]
PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")
SHAPES = ["empty", "one vertex", "path", "two cliques"] if SIMULATED else list(ZOO)


def graph_of(shape, **options):
    vertices, sources, targets = shape
    return ew.Graph.from_edges(sources, targets, n_vertices=vertices, **options).to(PLACE)


def random_shape(n, m, seed):
    draw = np.random.default_rng(seed)
    return n, draw.integers(0, n, m), draw.integers(0, n, m)


@pytest.mark.parametrize("searches", [0, 2, 64])
@pytest.mark.parametrize("shape", SHAPES)
def test_diameters_are_those_of_all_distances(shape, searches, monkeypatch):
    """With no single search, all vertices are searched from side by side."""
    monkeypatch.setattr(page, "SEARCHES", searches)
    monkeypatch.setattr(page, "TOGETHER", 7)
    graph = graph_of(ZOO[shape])
    assert diameter(graph) == ew.distance_measures(graph).diameter


@pytest.mark.parametrize("seed", range(3 if SIMULATED else 12))
def test_diameters_of_random_connected_graphs(seed):
    n = 20 if SIMULATED or INTERPRETED else 300
    vertices, sources, targets = random_shape(n, n + 7 * seed, seed)
    tree = np.random.default_rng(seed).integers(0, np.arange(1, n))
    shape = vertices, np.append(sources, np.arange(1, n)), np.append(targets, tree)
    theirs = nx.Graph(zip(shape[1].tolist(), shape[2].tolist(), strict=True))
    assert diameter(graph_of(shape)) == nx.diameter(theirs)


def test_a_cycle_is_searched_side_by_side():
    n = 40 if SIMULATED or INTERPRETED else 1500
    assert diameter(graph_of((n, np.arange(n), (np.arange(n) + 1) % n))) == n // 2


def test_ids_are_searched_from():
    assert diameter(ew.Graph.from_edges(["a", "b", "c"], ["b", "c", "d"]).to(PLACE)) == 3


def test_what_has_no_diameter_here():
    with pytest.raises(GraphError, match="the graph is directed; make it undirected"):
        diameter(graph_of(ZOO["path"], directed=True))
    weighted = ew.Graph.from_edges([0], [1], weights=[3])
    with pytest.raises(OptionError, match="diameter counts every edge as one"):
        diameter(weighted)
    assert diameter(weighted, weight=False) == 1
    with pytest.raises(OptionError, match="a Graph is needed"):
        diameter([])


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("shape", SHAPES)
def test_all_vertices_as_samples_are_exact(shape, directed):
    graph = graph_of(ZOO[shape], directed=directed)
    found, exact = estimate_closeness(graph, samples=1000), ew.distance_measures(graph)
    assert found.samples == graph.n_vertices
    assert np.allclose(found.closeness_estimates, exact.closeness, rtol=1e-14)
    assert np.allclose(found.harmonic_estimates, exact.harmonic, rtol=1e-14)
    assert found.eccentricities_of_samples.tolist() == exact.eccentricities.tolist()
    assert not found.errors.any()


def test_errors_hold_as_often_as_they_say():
    n, runs = (25, 4) if SIMULATED or INTERPRETED else (120, 60)
    graph = graph_of((n, np.arange(n), (np.arange(n) + 1) % n))
    exact, held = n * n // 4 / n if n % 2 == 0 else (n * n - 1) // 4 / n, 0
    for seed in range(runs):
        found = estimate_closeness(graph, samples=n // 3, seed=seed, confidence=0.9)
        off = np.abs(found.mean_distance_estimates - exact) / (n // 2)
        assert found.errors.tolist() == [found.errors[0]] * n
        held += bool((off <= found.errors).all())
    assert held >= 0.9 * runs


def test_vertices_that_no_sample_reaches():
    graph = graph_of((6, np.array([0, 1]), np.array([1, 2])))
    found = estimate_closeness(graph, samples=2, seed=1)
    reached = np.isin(np.arange(6), drawn(6, 2, 1)) | (
        np.isin(drawn(6, 2, 1), [0, 1, 2]).any() & (np.arange(6) < 3)
    )
    assert np.isfinite(found.errors).tolist() == reached.tolist()
    assert np.isnan(found.mean_distance_estimates).tolist() == (~reached).tolist()
    assert not found.closeness_estimates[~reached].any() and not found.harmonic_estimates[~reached].any()


def test_an_estimate_is_verified_and_a_table(tmp_path):
    pytest.importorskip("matplotlib")
    found = estimate_closeness(graph_of(ZOO["dense"]), samples=5, seed=3).verify()
    assert "closeness estimated from 5 vertices of 25" in str(found)
    assert found.to_frame().column_names[1] == "closeness_estimate"
    found.plot(tmp_path / "estimate.png")
    vars(found)["seed"] = 4
    with pytest.raises(VerificationError, match="those of the vertices that the seed draws"):
        found.verify()


def test_what_an_estimate_refuses():
    graph = graph_of(ZOO["path"])
    for options, message in (
        ({"samples": 0}, "samples=0 must be a whole number, 1 or more"),
        ({"seed": -1}, "seed=-1 must be"),
        ({"confidence": 1}, "confidence=1 must be a share"),
    ):
        with pytest.raises(OptionError, match=message):
            estimate_closeness(graph, **options)
    with pytest.raises(OptionError, match="estimate_closeness counts every edge as one"):
        estimate_closeness(ew.Graph.from_edges([0], [1], weights=[3]))
