"""Every query of prepared street networks, beside Dijkstra's algorithm."""

import json

import numpy as np
import pytest

import edgewise as ew
from tests.paths.hierarchies import dijkstra

STREETS = ("rome99", "minnesota", "uk", "tntp-anaheim", "tntp-chicago-sketch", "tntp-siouxfalls")
STREETS += ("tntp-sydney",)


def finite(distances):
    """Distances as floats, infinite where no path leads."""
    none = np.iinfo(distances.dtype).max if distances.dtype.kind == "i" else np.inf
    return np.where(distances == none, np.inf, distances.astype(np.float64))


@pytest.mark.parametrize("name", STREETS)
def test_queries_of_street_networks(data, name):
    entry = json.loads((data / "MANIFEST.json").read_text())[name]
    graph = ew.read(data / name / entry["file"])
    weights = graph.weights.tolist() if graph.is_weighted else [1] * graph.n_edges
    edges = list(zip(graph.sources.tolist(), graph.targets.tolist(), weights))
    draw, n = np.random.default_rng(4), graph.n_vertices
    sources, targets = (np.sort(draw.choice(n, 3, replace=False)) for _ in range(2))
    right = np.array([dijkstra(n, edges, int(one), graph.directed) for one in sources], dtype=float)
    right = np.where(np.isnan(right), np.inf, right)

    graph.prepare("routes")
    ids = [graph.ids_of(one) for one in (sources, targets)]
    table = ew.distance_table(graph, *ids).verify()
    assert table.method == "phast" and np.allclose(finite(table.distances), right[:, targets], rtol=1e-12)
    routes = ew.routes(graph, *ids).verify()
    assert np.allclose(finite(routes.distances), right[[0, 1, 2], targets], rtol=1e-12)
    every = ew.all_pairs_shortest_paths(graph, sources=ids[0])
    assert every.method == "phast" and np.allclose(finite(every.distances), right, rtol=1e-12)
    for source, row in zip(ids[0], right) if graph.is_weighted else ():
        assert np.allclose(finite(ew.shortest_paths(graph, source).distances), row, rtol=1e-12)
