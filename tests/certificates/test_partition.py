"""Certificates of partitions: totals that are counted again."""

from dataclasses import replace

import numpy as np
import pytest

import edgewise as ew
from edgewise.certificates import check
from edgewise.errors import VerificationError
from edgewise.partitions.certificate import prove
from edgewise.result import edge_arrays

pytestmark = pytest.mark.interpreter


@pytest.mark.parametrize("weights", [None, "int64", "float32", "float64"])
@pytest.mark.parametrize("sizes", [None, "own", "given"])
def test_results_prove_themselves(weights, sizes):
    draw = np.random.default_rng(5)
    ends, own = draw.integers(0, 40, (2, 120)), draw.integers(1, 4, 40)
    weights = None if weights is None else (draw.random(120) * 9 + 1).astype(weights)
    graph = ew.Graph.from_edges(*ends, weights=weights, n_vertices=40)
    if sizes == "own":
        graph.vertex_weights = own
    scale = 1000 if weights is not None and weights.dtype.kind == "f" else None
    given = own if sizes == "given" else None
    result = ew.partition(graph, 3, vertex_weights=given, scale=scale)
    certificate = result.certificate()
    check(edge_arrays(graph), certificate)
    assert certificate.facts["balanced"] is result.is_balanced


def test_parts_of_any_program_get_totals():
    graph = ew.generate.grid(4, 4)
    certificate = prove(graph, np.arange(16) % 2)
    assert certificate.facts["edge_cut"] == 12
    check(edge_arrays(graph), certificate)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"edge_cut": 11}, "the edges between parts weigh 12, not 11"),
        ({"edge_cut": 10**400}, "the edges between parts weigh 12, not 1000"),
        ({"edge_cut": None}, "the edges between parts weigh 12, not None"),
        ({"communication_volume": 15}, "the communication volume is 16, not 15"),
        ({"imbalance": 0.1}, "the imbalance is 0.0, not 0.1"),
        ({"balanced": True}, "answer 'limits' of the certificate is missing"),
    ],
)
def test_a_wrong_total_is_named(changed, message):
    graph = ew.generate.grid(4, 4)
    certificate = prove(graph, np.arange(16) % 2)
    with pytest.raises(VerificationError, match=message):
        check(edge_arrays(graph), replace(certificate, facts=certificate.facts | changed))


def test_parts_and_weights_that_are_wrong_are_named():
    graph = ew.generate.grid(4, 4)
    certificate = prove(graph, np.arange(16) % 2)
    with pytest.raises(VerificationError, match="part 0 weighs 8, not 7"):
        weights = np.array([7, 9])
        check(edge_arrays(graph), replace(certificate, answer=certificate.answer | {"weights": weights}))
    with pytest.raises(VerificationError, match=r"'parts' .*2 at 5"):
        parts = np.where(np.arange(16) == 5, 2, np.arange(16) % 2)
        check(edge_arrays(graph), replace(certificate, answer=certificate.answer | {"parts": parts}))


def test_a_certificate_brings_no_other_weights_of_vertices_than_the_graph_has():
    graph = ew.generate.grid(2, 2)
    certificate = prove(graph, [0, 0, 1, 1], vertex_weights=[1, 1, 2, 0])
    check(edge_arrays(graph), certificate)
    graph.vertex_weights = np.array([1, 1, 1, 1])
    with pytest.raises(VerificationError, match="for other weights of vertices"):
        check(edge_arrays(graph), certificate)


def test_large_weights_are_added_up_exactly():
    graph = ew.Graph.from_edges([0, 0, 0], [1, 1, 1], weights=[2**62, 2**62, 2**62 + 1])
    certificate = prove(graph, [0, 0])
    facts = certificate.facts | {"edge_cut": 3 * 2**62 + 1, "imbalance": 0.0, "communication_volume": 2}
    apart = certificate.answer | {"parts": np.array([0, 1]), "weights": np.array([1, 1])}
    check(edge_arrays(graph), replace(certificate, answer=apart, facts=facts))
    with pytest.raises(VerificationError, match="weigh 13835058055282163713"):
        check(edge_arrays(graph), replace(certificate, answer=apart, facts=facts | {"edge_cut": 3 * 2**62}))
