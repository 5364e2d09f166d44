"""Real graphs: the weights of the manifest, SciPy and NetworkX."""

import json

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree

import edgewise as ew
from edgewise.forest import METHODS, minimum_spanning_forest
from edgewise.streams import forest as streamed_page

#: Edges of graphs that are not streamed here.
MANY = 1_000_000


def streamed(graph):
    """The forest by batches, which are reduced several times."""
    stream = ew.ForestStream(graph.n_vertices)
    for first in range(0, graph.n_edges, 50_000):
        part = slice(first, first + 50_000)
        stream.add(graph.sources[part], graph.targets[part], weights=graph.weights[part])
    return stream.result()


def test_weights_of_the_manifest(data, monkeypatch):
    monkeypatch.setattr(streamed_page, "capacity_for", lambda *_: 100_000)
    seen = 0
    for name, entry in json.loads((data / "MANIFEST.json").read_text()).items():
        known = entry.get("stats", {})
        if "msf_weight" not in known:
            continue
        graph = ew.read(data / name / entry["file"]).undirected()
        for method in METHODS:
            forest = minimum_spanning_forest(graph, method=method).verify()
            assert forest.n_edges == known["msf_edges"], (name, method)
            assert forest.weight == pytest.approx(known["msf_weight"], rel=1e-9), (name, method)
        shared = minimum_spanning_forest(graph, devices="cpu:0,cpu:1")
        assert np.array_equal(shared.edges, forest.edges) and np.array_equal(shared.labels, forest.labels), (
            name
        )
        if graph.n_edges < MANY:
            assert np.array_equal(streamed(graph).edges, forest.edges), name
        seen += 1
    assert seen == 10


@pytest.mark.parametrize("name", ["road1500", "rmat20"])
def test_generated_graphs_against_scipy(name):
    family = {"road1500": ew.generate.grid(60, 50, seed=1), "rmat20": ew.generate.rmat(10, seed=1)}[name]
    graph = ew.Graph.from_edges(
        family.sources,
        family.targets,
        weights=np.random.default_rng(1).integers(1, 1000, family.n_edges),
        n_vertices=family.n_vertices,
    ).simplified(repeated="min")
    n, ends = graph.n_vertices, (graph.sources.astype(np.int64), graph.targets.astype(np.int64))
    expected = minimum_spanning_tree(coo_array((graph.weights, ends), shape=(n, n)).tocsr())
    for method in METHODS:
        assert minimum_spanning_forest(graph, method=method).weight == expected.sum()
