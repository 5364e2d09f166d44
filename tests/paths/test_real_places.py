"""Isochrones and the nearest places on real street networks, beside a naive search from each place."""

import json

import numpy as np
import pytest

import edgewise as ew
from tests.paths.hierarchies import dijkstra

STREETS = ("rome99", "minnesota", "tntp-anaheim", "tntp-austin", "tntp-chicago-sketch", "tntp-philadelphia")


@pytest.mark.parametrize("name", STREETS)
def test_streets(data, name):
    entry = json.loads((data / "MANIFEST.json").read_text())[name]
    graph = ew.read(data / name / entry["file"])
    weights = graph.weights.tolist() if graph.is_weighted else [1] * graph.n_edges
    edges = list(zip(graph.sources.tolist(), graph.targets.tolist(), weights))
    backwards = [(end, start, weight) for start, end, weight in edges]
    n, places = graph.n_vertices, sorted(np.random.default_rng(1).choice(graph.n_vertices, 4, False).tolist())
    ids = graph.ids_of(np.array(places))
    rows = [dijkstra(n, backwards, place, graph.directed) for place in places]

    near = ew.nearest(graph, ids, 3).verify()
    held = list(zip(near.distances.tolist(), near.nearest.tolist()))
    for vertex in range(n):
        labels = sorted((row[vertex], place) for row, place in zip(rows, places) if row[vertex] is not None)[
            :3
        ]
        labels += [(near.unreached, -1)] * (3 - len(labels))
        assert list(zip(*held[vertex])) == labels

    for way, of_way in (("to", backwards), ("from", edges)):
        rows = [dijkstra(n, of_way, place, graph.directed) for place in places]
        cutoff = float(np.quantile([d for d in rows[0] if d is not None], 0.3))
        found = ew.isochrones(graph, ids, [cutoff / 2, cutoff], direction=way).verify()
        for number, row in enumerate(rows):
            entries = slice(*found.offsets[number : number + 2])
            inside = {v: d for v, d in enumerate(row) if d is not None and d <= cutoff}
            assert dict(zip(found.vertices[entries].tolist(), found.distances[entries].tolist())) == inside
            assert found.counts[number, 0] == sum(d <= cutoff / 2 for d in inside.values())
