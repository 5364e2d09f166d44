"""Certificates of tables of distances and of routes."""

from dataclasses import replace

import numpy as np
import pytest

import edgewise as ew
from edgewise.certificates import Certificate, check, routes
from edgewise.device.target import INTERPRETED
from edgewise.errors import VerificationError
from edgewise.paths.route_certificate import prove_table
from edgewise.result import edge_arrays

pytestmark = pytest.mark.interpreter


def streets(dtype="int64", *, directed=False):
    """A grid of streets."""
    grid = ew.generate.grid(5, 6)
    weights = (np.random.default_rng(4).random(grid.n_edges) * 9 + 1).astype(dtype)
    return ew.Graph.from_edges(grid.sources, grid.targets, weights=weights, directed=directed)


@pytest.mark.parametrize(
    "dtype", ["int32", "int64", "float32", "float64"] if INTERPRETED else ["int64", "float64"]
)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("prepared", [False, True])
def test_results_prove_themselves(tmp_path, dtype, directed, prepared):
    graph = streets(dtype, directed=directed)
    graph = graph.prepare("routes") if prepared else graph
    some, others = [0, 7, 7, 29], [3, 0, 21, 29]
    results = (
        ew.all_pairs_shortest_paths(graph, sources=[0, 3, 9]),
        ew.distance_table(graph, some, [*others, 4]),
        ew.routes(graph, some, others),
    )
    for result in results:
        result.certificate().save(tmp_path / "routes.npz")
        check(edge_arrays(graph), Certificate.load(tmp_path / "routes.npz"))


def test_each_pair_has_a_path_as_long_as_its_distance():
    graph = streets()
    certificate = ew.routes(graph, [0, 1], [29, 1]).certificate()
    hops, stops = certificate.proof["hops"], certificate.proof["stops"]
    assert hops[1] == 0 and stops[0] == 0 and stops[hops[0]] == 29
    longer = certificate.answer | {"distances": certificate.answer["distances"] + np.array([1, 0])}
    with pytest.raises(VerificationError, match="the path of pair 0 is"):
        roots = {"roots": routes.roots_of(longer, 30, graph.n_edges)}
        check(edge_arrays(graph), replace(certificate, answer=longer, proof=certificate.proof | roots))
    stops = np.where(np.arange(len(stops)) == 1, 29, stops)
    with pytest.raises(VerificationError, match="the path of pair 0 has a step that is not edge"):
        check(edge_arrays(graph), replace(certificate, proof=certificate.proof | {"stops": stops}))
    for end in (0, hops[0], hops[0] + 1):
        stops = certificate.proof["stops"].copy()
        stops[end] = 7
        with pytest.raises(
            VerificationError, match=f"pair {int(end > hops[0])} has other ends than the pair"
        ):
            check(edge_arrays(graph), replace(certificate, proof=certificate.proof | {"stops": stops}))


def test_a_wrong_distance_of_a_table_is_named():
    graph = streets()
    table = ew.distance_table(graph, [0, 5], [9, 12])
    wrong = table.distances.copy()
    wrong[1, 0] += 1
    certificate = prove_table(graph, table.sources, table.targets, wrong, weighted=True)
    right = table.distances[1, 0]
    with pytest.raises(VerificationError, match=f"from 5 to 9 it is {right}, not {right + 1}"):
        check(edge_arrays(graph), certificate)


def test_an_answer_that_is_changed_later_draws_other_roots(monkeypatch):
    """A wrong row cannot be hidden among rows that are not looked at: it would draw other rows."""
    monkeypatch.setattr(routes, "TREES", 2)
    monkeypatch.setattr(routes, "WORK", 0)
    graph, refused = streets(), 0
    right = ew.all_pairs_shortest_paths(graph)
    certificate = right.certificate()
    assert len(certificate.proof["roots"]) == 2
    check(edge_arrays(graph), certificate)
    for row in range(30):
        wrong = right.distances.copy()
        wrong[row, 3] += 1
        flat = certificate.answer | {"distances": wrong.reshape(-1)}
        try:
            check(edge_arrays(graph), replace(certificate, answer=flat))
        except VerificationError:
            refused += 1
    assert refused >= 28  # of 435 pairs of rows, hardly any are drawn twice


def test_what_a_sample_misses_is_as_rare_as_is_said(monkeypatch):
    """Ten rows of thirty are wrong, and three are drawn: (1 - 1 / 3) ** 3 of the answers pass, or fewer."""
    monkeypatch.setattr(routes, "TREES", 3)
    monkeypatch.setattr(routes, "WORK", 0)
    graph, missed, runs = streets(), 0, 100
    right = ew.all_pairs_shortest_paths(graph)
    for seed in range(runs):
        draw, wrong = np.random.default_rng(seed), right.distances.copy()
        for row in draw.choice(30, 10, replace=False):
            wrong[row, draw.integers(0, 30)] += 1
        try:
            check(edge_arrays(graph), prove_table(graph, right.sources, None, wrong, weighted=True))
        except VerificationError as error:
            assert "it is" in str(error)
        else:
            missed += 1
    assert 0.1 < missed / runs < (2 / 3) ** 3 + 0.12


def test_floats_may_differ_by_rounding_alone():
    graph = streets("float64")
    table = ew.distance_table(graph, [0, 5], [9, 12])
    for factor, passes in ((1 + 1e-14, True), (1 + 1e-9, False)):
        certificate = prove_table(
            graph, table.sources, table.targets, table.distances * factor, weighted=True
        )
        if passes:
            check(edge_arrays(graph), certificate)
        else:
            with pytest.raises(VerificationError, match="it is"):
                check(edge_arrays(graph), certificate)
