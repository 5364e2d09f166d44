"""Eccentricities, closeness and averages against NetworkX."""

import os
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import edgewise as ew
from edgewise.device.target import SIMULATED
from edgewise.errors import GraphError, OptionError, VerificationError
from edgewise.paths.apsp import search
from edgewise.paths.measures import distance_measures
from tests.zoo import ZOO

pytestmark = [pytest.mark.interpreter, pytest.mark.simulator]
PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")
SHAPES = ["empty", "one vertex", "repeated edges"] if SIMULATED else list(ZOO)


def both(shape, weights, directed):
    """The graph, and NetworkX's with the lightest of repeated edges."""
    vertices, sources, targets = shape
    theirs = (nx.DiGraph if directed else nx.Graph)()
    theirs.add_nodes_from(range(vertices))
    for source, target, weight in zip(sources, targets, weights, strict=True):
        if not theirs.has_edge(source, target) or theirs[source][target]["weight"] > weight:
            theirs.add_edge(source, target, weight=int(weight))
    ours = ew.Graph.from_edges(sources, targets, weights=weights, n_vertices=vertices, directed=directed)
    return ours.to(PLACE), theirs


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("shape", SHAPES)
def test_measures_are_those_of_networkx(shape, directed, monkeypatch):
    monkeypatch.setattr(search, "BLOCK_ROWS", 8)
    vertices, sources, _ = ZOO[shape]
    weights = np.random.default_rng(1).integers(0, 5, len(sources))
    ours, theirs = both(ZOO[shape], weights, directed)
    found = distance_measures(ours)
    for improved in (True, False):
        measured = distance_measures(ours, wf_improved=improved).closeness
        wanted = nx.closeness_centrality(theirs, distance="weight", wf_improved=improved)
        assert np.allclose(measured, [wanted[v] for v in range(vertices)], rtol=1e-14)
    wanted = nx.harmonic_centrality(theirs, distance="weight")
    assert np.allclose(found.harmonic, [wanted[v] for v in range(vertices)], rtol=1e-14)
    connected = vertices > 0 and (nx.is_strongly_connected if directed else nx.is_connected)(theirs)
    if connected:
        wanted = nx.eccentricity(theirs, weight="weight")
        assert found.eccentricities.tolist() == [wanted[v] for v in range(vertices)]
        assert found.diameter == nx.diameter(theirs, weight="weight")
        assert found.radius == nx.radius(theirs, weight="weight")
        assert found.center.tolist() == sorted(nx.center(theirs, weight="weight"))
        assert found.periphery.tolist() == sorted(nx.periphery(theirs, weight="weight"))
        wanted = nx.average_shortest_path_length(theirs, weight="weight")
        assert found.average_distance == pytest.approx(wanted, rel=1e-14)
    elif vertices:
        assert found.diameter == np.inf and found.average_distance == np.inf
        assert len(found.periphery) == 0


def test_empty_graph_has_no_distances():
    found = distance_measures(ew.Graph.from_edges([], [], n_vertices=0).to(PLACE))
    assert (found.diameter, found.radius, found.average_distance) == (0, 0, 0)
    assert found.center.tolist() == []


def test_unit_edges_and_a_table():
    found = distance_measures(ew.Graph.from_edges(["a", "b"], ["b", "c"]).to(PLACE))
    assert not found.weighted
    assert found.to_frame().to_pylist()[1] == {
        "id": "b",
        "eccentricity": 1.0,
        "closeness": 1.0,
        "harmonic": 2.0,
    }
    assert found.center.tolist() == ["b"] and found.periphery.tolist() == ["a", "c"]


def test_measures_verify_and_are_a_file_and_a_picture(tmp_path):
    pytest.importorskip("matplotlib")
    vertices, sources, targets = ZOO["repeated edges"]
    for directed in (False, True):
        weights = np.arange(len(sources)) % 3 + 1
        graph = ew.Graph.from_edges(sources, targets, weights=weights, n_vertices=vertices, directed=directed)
        found = distance_measures(graph.to(PLACE)).verify()
        found.write(tmp_path / "measures.csv")
        assert (tmp_path / "measures.csv").read_text().startswith("id,eccentricity,closeness,harmonic")
        found.plot(tmp_path / "measures.png")
        for name in ("eccentricities", "harmonic"):
            wrong = replace(found, **{name: np.full(vertices, 77.0)})
            with pytest.raises(VerificationError, match="searches from it and to it give"):
                wrong.verify()


def test_a_vertex_that_reaches_all_is_the_center():
    found = distance_measures(ew.Graph.from_edges([0, 0], [1, 2], n_vertices=3, directed=True).to(PLACE))
    assert found.eccentricities.tolist() == [1, np.inf, np.inf]
    assert (found.radius, found.center.tolist(), found.diameter) == (1, [0], np.inf)


def test_what_is_refused():
    graph = ew.Graph.from_edges([0, 1], [1, 0], weights=[1, -2], n_vertices=2, directed=True).to(PLACE)
    with pytest.raises(GraphError, match="weighs -1"):
        distance_measures(graph)
    with pytest.raises(OptionError, match="method='x' is unknown"):
        distance_measures(graph, method="x")
    with pytest.raises(OptionError, match="a Graph is needed"):
        distance_measures([])


@pytest.mark.parametrize("weight", [2**53 + 1, 2**60 + 1])
def test_an_eccentricity_that_would_be_rounded_is_refused(weight):
    graph = ew.Graph.from_edges(["a", "b"], ["b", "c"], weights=[1, weight - 1]).to(PLACE)
    with pytest.raises(GraphError, match=f"vertex a is {weight}, which .* dtype='float64'"):
        distance_measures(graph)
    assert distance_measures(graph, dtype="float64").diameter == float(weight)
    exact = ew.Graph.from_edges([0, 1], [1, 2], weights=[2**53, 2**53]).to(PLACE)
    assert distance_measures(exact).eccentricities.tolist() == [2**54, 2**53, 2**54]
    apart = ew.Graph.from_edges([0], [1], weights=[2**60], n_vertices=3).to(PLACE)
    assert distance_measures(apart).eccentricities.tolist() == [np.inf] * 3
