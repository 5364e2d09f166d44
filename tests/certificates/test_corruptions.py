"""Seeded corruptions are refused, or what is left is right; hostile proofs are refused in one line."""

from dataclasses import replace

import numpy as np
import pytest

import edgewise as ew
from edgewise.certificates import check, record
from edgewise.certificates.record import GraphArrays, certify
from edgewise.components.certificate import prove as prove_components
from edgewise.cores.certificate import prove as prove_cores
from edgewise.errors import VerificationError
from edgewise.forest.certificate import prove as prove_forest
from edgewise.result import edge_arrays
from edgewise.strong.certificate import prove as prove_strong
from tests.campaigns import corrupted_results
from tests.zoo import ZOO

pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]


@pytest.mark.parametrize("problem", corrupted_results.CASES)
def test_corruptions_are_refused_or_right(problem):
    outcomes = corrupted_results.run(problem, 300, seed=7)
    assert set(outcomes) == {"caught", "right"} and outcomes["caught"] > 150 and outcomes["right"] > 10


@pytest.mark.parametrize("problem", ["components", "strong", "cores", "distances"])
def test_chunks_say_the_same(problem, monkeypatch):
    whole = corrupted_results.run(problem, 100, seed=8)
    monkeypatch.setattr(record, "CHUNK", 8)
    monkeypatch.setattr(record, "CORES", 3)
    assert corrupted_results.run(problem, 100, seed=8) == whole


def test_the_first_chunk_that_fails_is_named(monkeypatch):
    monkeypatch.setattr(record, "CHUNK", 8)
    labels = np.zeros(100, int)
    labels[60:] = 60
    graph = ew.Graph.from_edges(np.arange(99), np.arange(1, 100))
    assert "edge 59 joins" in said(graph, prove_components(graph, labels))
    assert record.in_chunks(lambda some: (some.start, some.stop), 20) == [(0, 8), (8, 16), (16, 20)]
    assert record.first_in_chunks(lambda some: np.arange(some.start, some.stop) > 16, 20) == 17
    assert record.first_in_chunks(lambda some: np.arange(some.start, some.stop) > 30, 20) is None


@pytest.mark.parametrize("name", ZOO)
def test_results_prove_themselves(name):
    n, sources, targets = ZOO[name]
    weights = (sources * 7 + targets * 3) % 5
    graph = ew.Graph.from_edges(sources, targets, weights=weights, n_vertices=n)
    directed = ew.Graph.from_edges(sources, targets, n_vertices=n, directed=True)
    check(edge_arrays(graph), ew.connected_components(graph).certificate())
    check(edge_arrays(graph), ew.core_numbers(graph).certificate())
    for maximum in (False, True):
        check(edge_arrays(graph), ew.minimum_spanning_forest(graph, maximum=maximum).certificate())
    check(edge_arrays(directed), ew.strongly_connected_components(directed).certificate())


GRAPH = ew.Graph.from_edges([0, 1, 3, 4, 2], [1, 2, 4, 3, 0], weights=[1.0, 2.0, 3.0, 4.0, 5.0], n_vertices=5)
DIRECTED = ew.Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 0, 4, 3], directed=True)


def said(graph, certificate):
    with pytest.raises(VerificationError) as caught:
        check(edge_arrays(graph), certificate)
    return str(caught.value)


@pytest.mark.parametrize(
    ("labels", "complaint"),
    [
        ([0, 0, 2, 3, 3], "edge 1 joins vertices 1 and 2 of different labels"),
        ([0, 0, 0, 0, 0], "vertices 0 and 3 have the label 0, but are in two trees"),
        ([1, 1, 1, 3, 3], "the label of vertex 0 is larger than the vertex"),
    ],
)
def test_wrong_components_are_named(labels, complaint):
    assert said(GRAPH, prove_components(GRAPH, np.array(labels))) == complaint


def test_a_vertex_to_which_nothing_leads_from_a_smaller_depth_is_a_root():
    certificate = ew.connected_components(GRAPH).certificate()
    proof = certificate.proof
    level = proof | {"depths": np.zeros(5, np.int8)}
    none = proof | {"down_tree": proof["down_tree"][:0], "up_tree": proof["up_tree"][:0]}
    deeper = proof | {"depths": np.array([7, -1, 8, 0, 127], np.int8)}  # of any integers; 1 is a second root
    for wrong, pair in ((level, "0 and 1"), (none, "0 and 1"), (deeper, "0 and 1")):
        complaint = f"vertices {pair} have the label 0, but are in two trees"
        assert said(GRAPH, replace(certificate, proof=wrong)) == complaint


def test_edges_that_lead_to_the_same_vertex_may_be_listed():
    graph = ew.Graph.from_edges([0, 0, 1, 0], [1, 2, 2, 1])
    certificate = ew.connected_components(graph).certificate()
    proof = {"depths": np.array([-1, 0, 1]), "down_tree": np.arange(4), "up_tree": np.empty(0, int)}
    check(edge_arrays(graph), replace(certificate, proof=proof))


def test_shortcuts_keep_depths_small():
    n = 10_000
    ends = np.random.default_rng(1).integers(0, n, (2, 2 * n))
    graph = ew.Graph.from_edges(*ends, n_vertices=n)
    certificate = ew.connected_components(graph).certificate()
    assert certificate.proof["depths"].max() < 70
    check(edge_arrays(graph), certificate)


def test_other_names_of_components_are_right():
    check(edge_arrays(GRAPH), prove_components(GRAPH, np.array([4, 4, 4, 0, 0]), canonical=False))


def test_wrong_strong_components_are_named():
    apart = prove_strong(DIRECTED, np.array([0, 1, 0, 3, 4]))
    assert said(DIRECTED, apart) == "the out-tree has no path to vertex 2 inside its label 0"
    joined = prove_strong(DIRECTED, np.array([0, 0, 0, 0, 4]))
    assert said(DIRECTED, joined) == "the in-tree has no path from vertex 3 inside its label 0"
    assert "undirected" in said(GRAPH, replace(joined, facts=joined.facts))


def test_wrong_core_numbers_are_named():
    assert "it is in a larger core" in said(GRAPH, prove_cores(GRAPH, np.array([1, 1, 1, 1, 1])))
    assert "vertex 3 has core number 2, but 1 neighbours in that core" in said(
        GRAPH, prove_cores(GRAPH, np.array([2, 2, 2, 2, 2]))
    )


@pytest.mark.parametrize(
    ("edges", "complaint"),
    [
        ([0, 4, 2], "edge 1 should be in the forest instead of edge 4"),
        ([0, 2], "edge 1 joins two trees of the forest"),
        ([0, 1, 2, 4], "edge 4 of the forest closes a cycle"),
        ([0, 1, 3], "edge 2 should be in the forest instead of edge 3"),
    ],
)
def test_wrong_forests_are_named(edges, complaint):
    assert said(GRAPH, prove_forest(GRAPH, np.array(edges))).startswith(complaint)


def test_ties_may_be_broken_in_any_way_if_that_is_said():
    graph = ew.Graph.from_edges([0, 1, 2], [1, 2, 0], weights=[1, 1, 1])
    check(edge_arrays(graph), prove_forest(graph, np.array([1, 2]), by_position=False))
    assert "edge 0" in said(graph, prove_forest(graph, np.array([1, 2])))


def test_a_deep_merge_tree_is_refused():
    n = 200
    ends = np.arange(n - 1)
    sources, targets = np.append(ends, 0), np.append(ends + 1, n - 1)
    graph = GraphArrays(n, sources, targets, np.arange(n), False)
    proof = {"parents": np.append(ends + 1, n - 1), "links": np.append(ends, -1)}
    certificate = certify("forest", graph, {"edges": ends}, proof, maximum=False, by_position=True)
    with pytest.raises(VerificationError, match="deeper than trees of 200 vertices"):
        check(graph, certificate)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"problem": "colouring"}, "the unknown problem 'colouring'"),
        ({"facts": {"n_vertices": 5, "n_edges": 4}}, "a graph with 4 edges, and this one has 5"),
        ({"facts": {"n_vertices": True}}, "a graph with True vertices"),
        ({"proof": {}}, "proof 'depths' of the certificate is missing"),
        ({"answer": {"labels": np.zeros(4, np.int32)}}, "has the length 4, and must have 5"),
        ({"answer": {"labels": np.zeros(5)}}, "has the dtype float64"),
        ({"answer": {"labels": np.zeros((5, 1), int)}}, "has 2 dimensions"),
        ({"answer": {"labels": np.array([0, 0, 0, 9, 9])}}, "has 9 at 3, which must be from 0 to 4"),
    ],
)
def test_other_forms_are_refused(change, complaint):
    assert complaint in said(GRAPH, replace(ew.connected_components(GRAPH).certificate(), **change))


def test_a_graph_out_of_range_is_refused():
    certificate = ew.connected_components(GRAPH).certificate()
    graph = edge_arrays(GRAPH)
    with pytest.raises(VerificationError, match="to vertices that it does not have"):
        check(graph._replace(targets=graph.targets.astype(np.int64) - 2), certificate)
