"""Sums of distances on a GPU: the integers of the CPU, for one team, for teams, and with long rows."""

import numpy as np
import pytest

import edgewise as ew
from edgewise.paths.csr import adjacency_of
from edgewise.paths.measures import bit_parallel_gpu as page
from edgewise.paths.measures.bit_parallel import bit_parallel, on_cpu
from edgewise.paths.measures.numbering import numbered
from edgewise.paths.measures.sums import report_nothing

pytestmark = pytest.mark.gpu


def star(n):
    """A hub, a path from it, and loops."""
    return ew.Graph.from_edges(
        np.append(np.zeros(n, np.int64), [1, 2, 3]), np.append(np.arange(n), [2, 3, 3]), n_vertices=n + 2
    )


GRAPHS = {
    "rmat": lambda: ew.generate.rmat(12, edge_factor=16, simple=True),
    "sparse": lambda: ew.generate.uniform(3000, 5000),
    "streets": lambda: ew.generate.grid(50, dropped=0.2, shuffle=True),
    "star": lambda: star(6000),
    "directed": lambda: ew.generate.rmat(11, edge_factor=4, directed=True),
    "one-way streets": lambda: ew.Graph.from_edges(
        *(getattr(ew.generate.grid(40), ends) for ends in ("sources", "targets")), directed=True
    ),
    "path": lambda: ew.generate.grid(1, 3000),
    "few": lambda: ew.Graph.from_edges([0, 1], [1, 2], n_vertices=5),
}


@pytest.mark.parametrize("launched", [1, 32])
@pytest.mark.parametrize("name", GRAPHS)
def test_integers_are_those_of_the_cpu(name, launched, monkeypatch):
    monkeypatch.setattr(page, "LAUNCHED", launched)
    graph = GRAPHS[name]()
    rows, there = (numbered(adjacency_of(one)) for one in (graph, graph.to("cuda")))
    wanted = on_cpu(rows, report_nothing)
    assert there.order.tolist() == rows.order.tolist()
    for n_teams in (None, 1, 3, 400):
        found = page.solve(there, report_nothing, n_teams)
        for one, other in zip(found, wanted, strict=True):
            assert np.array_equal(one[: len(other)], other[: len(one)]), n_teams


@pytest.mark.parametrize("name", GRAPHS)
def test_measures_are_the_same_bits(name):
    graph = GRAPHS[name]()
    here, there = ew.distance_measures(graph), ew.distance_measures(graph.to("cuda"))
    assert there.method == "bit-parallel" and there.devices == ("cuda:0",)
    for column in ("eccentricities", "closeness", "harmonic", "hop_histogram"):
        assert getattr(here, column).tobytes() == getattr(there, column).tobytes(), column


def test_sources_that_are_chosen():
    graph, chosen = GRAPHS["rmat"](), np.array([4, 1000, 77])
    here, there = (bit_parallel(adjacency_of(one), chosen) for one in (graph, graph.to("cuda")))
    for one, other in zip(here, there, strict=True):
        assert np.array_equal(one, other)


def test_estimates_and_diameters():
    graph = ew.generate.grid(60)
    there = graph.to("cuda")
    assert ew.diameter(there) == ew.diameter(graph) == 118
    here, found = ew.estimate_closeness(graph, samples=700), ew.estimate_closeness(there, samples=700)
    assert here.closeness_estimates.tobytes() == found.closeness_estimates.tobytes()
