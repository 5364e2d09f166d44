"""Real graphs: the weights of the manifest, SciPy and NetworkX."""

import json

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree

import edgewise as ew
from edgewise.forest import METHODS, minimum_spanning_forest


def test_weights_of_the_manifest(data):
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
