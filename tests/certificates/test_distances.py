"""Certificates of distances: what is accepted, what is refused and why, and corruptions."""

from dataclasses import replace

import numpy as np
import pytest

import edgewise as ew
from edgewise.certificates import Certificate, check
from edgewise.errors import VerificationError
from edgewise.paths.certificate import prove
from edgewise.result import edge_arrays
from tests.zoo import ZOO

pytestmark = pytest.mark.interpreter


def roads(**options):
    """Two ways from 0 to 3, and a vertex that is not reached."""
    weights = options.pop("weights", [1, 1, 1, 5])
    return ew.Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 3], weights=weights, n_vertices=5, **options)


def proved(graph, distances, sources=(0,), **options):
    options = {"weighted": True} | options
    return prove(graph, np.asarray(distances), np.array(sources), **options)


@pytest.mark.parametrize("name", [name for name, (n, *_) in ZOO.items() if n])
@pytest.mark.parametrize("directed", [False, True])
def test_results_prove_themselves(name, directed):
    n, sources, targets = ZOO[name]
    graph = ew.Graph.from_edges(sources, targets, n_vertices=n, directed=directed)
    check(edge_arrays(graph), ew.bfs(graph, 0).certificate())
    for dtype in ("int32", "int64", "float32", "float64"):
        weights = (
            np.arange(len(sources)) % 4 / 10 if dtype[0] == "f" else np.arange(len(sources)) % 4
        ).astype(dtype)
        weighted = graph.with_weights(weights)
        for options in ({}, {"cutoff": 2}, {"targets": [n - 1]}, {"cutoff": 0.1, "targets": [n // 2]}):
            result = ew.shortest_paths(weighted, list({0, n // 2}), **options)
            check(edge_arrays(weighted), result.certificate())


def test_the_file_of_a_certificate_is_checked_alone(tmp_path):
    graph = roads()
    ew.shortest_paths(graph, 0, cutoff=2.5).certificate().save(tmp_path / "distances.npz")
    certificate = Certificate.load(tmp_path / "distances.npz")
    assert certificate.facts["cutoff"] == 2.5 and certificate.answer["distances"].tolist()[:3] == [0, 1, 2]
    check(edge_arrays(graph), certificate)


def test_infinite_weights_are_no_edges():
    graph = roads(weights=[1.0, 1.0, 1.0, np.inf])
    check(edge_arrays(graph), ew.shortest_paths(graph, 0).certificate())
    with pytest.raises(VerificationError, match=r"no path has the distance 2\.0 of vertex 3"):
        check(edge_arrays(graph), proved(graph, [0.0, 1, 2, 2, np.inf]))


def test_negative_weights_and_cycles_of_weight_zero():
    """Tight edges along a cycle of weight 0 support each other, which the places do not let pass."""
    graph = ew.Graph.from_edges([0, 1, 2, 3], [1, 2, 1, 1], weights=[4, -2, 2, 0], directed=True)
    result = ew.shortest_paths(graph, 0)
    certificate = result.certificate()
    check(edge_arrays(graph), certificate)
    alone = certificate.answer | {"distances": np.array([0, 3, 1, 2**63 - 1])}
    proof = {"edges": np.array([-1, 2, 1, -1]), "places": certificate.proof["places"]}
    with pytest.raises(VerificationError, match="ends no path with the distance of vertex"):
        check(edge_arrays(graph), replace(certificate, answer=alone, proof=proof))


def test_several_sources_with_negative_weights_start_at_no_more_than_0():
    graph = ew.Graph.from_edges([0, 1], [1, 2], weights=[-3, 1], directed=True)
    certificate = proved(graph, [0, -3, -2], sources=(0, 1))
    check(edge_arrays(graph), certificate)
    with pytest.raises(VerificationError, match="cutoff where a weight is negative"):
        check(edge_arrays(graph), replace(certificate, facts=certificate.facts | {"cutoff": 5}))


def test_no_distance_belongs_to_a_negative_cycle():
    graph = ew.Graph.from_edges([0, 1, 2], [1, 2, 1], weights=[1, -2, 1], directed=True)
    for distances in ([0, 1, -1], [0, 0, -1], [0, -5, -7]):
        with pytest.raises(VerificationError):
            check(edge_arrays(graph), proved(graph, distances))


def test_sums_that_pass_the_end_of_their_type_are_no_distances():
    largest = 2**31 - 1
    weights = np.array([largest - 1, 2], np.int32)
    graph = ew.Graph.from_edges([0, 1], [1, 2], weights=weights, directed=True)
    wrapped = np.array([0, largest - 1, -largest - 1 + 1], np.int32)
    with pytest.raises(VerificationError):
        check(edge_arrays(graph), proved(graph, wrapped))
    cut_short = np.array([0, largest - 1, largest], np.int32)  # the last as if it were not reached
    with pytest.raises(VerificationError, match="offers the distance"):
        check(edge_arrays(graph), proved(graph, cut_short))


@pytest.mark.parametrize(
    ("distances", "message"),
    [
        ([0, 1, 2, 5, 2**62], "no path has the distance"),
        ([0, 1, 2, 5, 2**63 - 1], "the edge from vertex 2 to 3 offers the distance 3, but the vertex has 5"),
        ([0, 1, 2, 2, 2**63 - 1], "no path has the distance 2 of vertex 3: no tight edge leads to it"),
        ([0, 1, 2, 2**63 - 1, 2**63 - 1], "offers the distance 3, but the vertex has none"),
        ([1, 2, 3, 4, 2**63 - 1], "the source 0 has the distance 1, not 0"),
        ([0, 1, 2, -(2**63), 2**63 - 1], "the distance of vertex 3 is -9223372036854775808"),
    ],
)
def test_a_wrong_distance_is_named(distances, message):
    graph = roads()
    with pytest.raises(VerificationError, match=message):
        check(edge_arrays(graph), proved(graph, distances))


def test_rounded_sums_are_those_of_the_type():
    """0.1 + 0.2 is 0.30000000000000004 in float64; a unit in the last place is a wrong distance."""
    graph = ew.Graph.from_edges([0, 1], [1, 2], weights=[0.1, 0.2])
    check(edge_arrays(graph), proved(graph, [0, 0.1, 0.1 + 0.2]))
    with pytest.raises(VerificationError, match="vertex 2"):
        check(edge_arrays(graph), proved(graph, [0, 0.1, 0.3]))


def test_weights_that_the_type_of_the_distances_does_not_hold_are_refused():
    graph = roads(weights=[1, 1.5, 1, 5])
    with pytest.raises(VerificationError, match=r"the weight 1.5 is no number of the type int64"):
        proved(graph, [0, 1, 2, 3, 2**63 - 1])


def test_distances_of_scipy_get_a_proof():
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import dijkstra

    draw = np.random.default_rng(3)
    sources, targets = draw.integers(0, 60, (2, 200))
    keep = np.unique(sources * 60 + targets)  # SciPy adds repeated edges up
    sources, targets, weights = keep // 60, keep % 60, draw.random(len(keep))
    graph = ew.Graph.from_edges(sources, targets, weights=weights, n_vertices=60, directed=True)
    distances = dijkstra(coo_array((weights, (sources, targets)), shape=(60, 60)).tocsr(), indices=7)
    check(edge_arrays(graph), proved(graph, distances, sources=(7,)))
    distances[distances.argmin() - 1] *= 1 + 1e-9
    with pytest.raises(VerificationError):
        check(edge_arrays(graph), proved(graph, distances, sources=(7,)))
