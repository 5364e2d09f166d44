"""Real graphs: checksums of the manifest, and the outputs that LDBC publishes."""

import json

import numpy as np
import pytest

import edgewise as ew
from edgewise.paths.sssp import METHODS, shortest_paths
from tests.paths.names import takes

#: Methods that look at every vertex in every round, or are written for GPUs, would take too long here.
QUICK = [name for name in METHODS if name not in ("harish", "near-far")]


def quick_for(graph):
    """Names of the methods that take the graph."""
    return [name for name in QUICK if takes(METHODS, name, graph.directed, graph.csr_weights.dtype)]


def test_checksums_of_the_manifest(data):
    seen = 0
    for name, entry in json.loads((data / "MANIFEST.json").read_text()).items():
        known = entry.get("stats", {})
        if "sssp_sum" not in known:
            continue
        graph = ew.read(data / name / entry["file"])
        source = graph.ids_of(np.array([known["sssp_src_index0"]]))
        for method in quick_for(graph):
            result = shortest_paths(graph, source, method=method)
            assert result.n_reached == known["sssp_reached"], (name, method)
            assert np.isclose(result.eccentricity, known["sssp_max"], rtol=1e-9), (name, method)
            reached = result.distances[result.distances != result.unreached]
            assert np.isclose(reached.sum(dtype=np.float64), known["sssp_sum"], rtol=1e-9), (name, method)
        seen += 1
    assert seen == 10


@pytest.mark.parametrize("kind", ["directed", "undirected"])
@pytest.mark.parametrize("example", ["example", "test-sssp"])
def test_ldbc_reference_output(data, example, kind):
    folder = data / "ldbc-graphalytics-tests"
    graph = ew.read(folder / f"{example}-{kind}.e")
    settings = (folder / f"{example}-{kind}.properties").read_text()
    source = next(int(line.split("=")[1]) for line in settings.splitlines() if "sssp.source-vertex" in line)
    words = (folder / f"{example}-{kind}-SSSP").read_text().split()
    published = dict(zip(map(int, words[::2]), map(float, words[1::2]), strict=True))
    ids = np.asarray(graph.ids_of(np.arange(graph.n_vertices))).tolist()
    for method in quick_for(graph):
        result = shortest_paths(graph, source, method=method)
        assert result.distances.dtype == np.float64
        ours = dict(zip(ids, result.distances.tolist(), strict=True))
        assert ours.keys() == published.keys()
        for vertex, distance in published.items():
            assert ours[vertex] == pytest.approx(distance, rel=1e-12), (vertex, method)
