"""On a GPU: the scores of the CPU, by any number of teams, and the same again."""

from importlib import import_module

import numpy as np
import pytest

import edgewise as ew
from edgewise.device import arrays
from edgewise.errors import GraphError
from edgewise.paths.betweenness import METHODS, _simple_rows
from tests.paths.test_betweenness import diamonds

warps = import_module("edgewise.paths.betweenness.warps")
pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("name", ["rmat", "street", "hubs", "parts"])
def test_large_graphs_on_a_gpu(name, directed):
    graph = {
        "rmat": lambda: ew.generate.rmat(12, edge_factor=8, seed=3),
        "street": lambda: ew.generate.grid(60, dropped=0.2, seed=3),
        "hubs": lambda: ew.generate.scale_free(5_000, seed=3),
        "parts": lambda: ew.Graph.from_edges(np.arange(0, 4000, 4), np.arange(1, 4000, 4), n_vertices=4000),
    }[name]()
    if directed:
        graph = ew.Graph(graph.n_vertices, edges=(graph.sources, graph.targets, None), directed=True)
    there = graph.to("cuda")
    for options in ({}, {"samples": 100, "endpoints": True}, {"samples": 7}):
        wanted, found = ew.betweenness(graph, **options), ew.betweenness(there, **options)
        assert found.method == "warps" and found.devices == ("cuda:0",)
        assert np.allclose(found.scores, wanted.scores, rtol=1e-9, atol=1e-15)
        assert found.scores.tobytes() == ew.betweenness(there, **options).scores.tobytes()
    rows, sources, weights = _simple_rows(there), np.arange(40), np.arange(1.0, 1 + graph.n_vertices)
    wanted = METHODS["lanes"].run(_simple_rows(graph), sources, weights, True).scores
    for teams in (1, 2, 3, 700):
        found = warps.warps(rows, sources, weights, True, n_teams=teams, piece=16).scores
        assert np.allclose(arrays.move(found, "cpu"), wanted, rtol=1e-9)


def test_too_many_paths_on_a_gpu():
    with pytest.raises(GraphError, match="than a float64 can"):
        ew.betweenness(diamonds(1030).to("cuda"), samples=64)
    with_weights = ew.generate.grid(9).with_weights(np.ones(144, np.int64)).to("cuda")
    assert ew.betweenness(with_weights).devices == ("cpu:0",)
