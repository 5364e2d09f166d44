"""Breadth-first search of real graphs: the published sums and the publishers' reference outputs."""

import json

import numpy as np
import pytest

import edgewise as ew
from edgewise.paths.bfs import METHODS, bfs
from tests.paths.names import takes

NAMES = ["auto", *(name for name, method in METHODS.items() if "cpu" in method.devices and name != "harish")]


def names_for(graph):
    """Names of the methods that take the graph."""
    return [name for name in NAMES if takes(METHODS, name, graph.directed)]


def both_ways(graph):
    """The graph with its edges going both ways."""
    if not graph.directed:
        return graph
    made = ew.Graph.from_edges(graph.sources, graph.targets, n_vertices=graph.n_vertices)
    made.ids = graph.ids
    return made


def test_sums_of_the_manifest(data):
    checked = 0
    for name, entry in json.loads((data / "MANIFEST.json").read_text()).items():
        stats = entry.get("stats", {})
        if "bfs_sum" not in stats:
            continue
        options = {"format": entry["fmt"]} if entry["fmt"] == "vlg" else {}
        graph = both_ways(ew.read(data / name / entry["file"], **options))
        source = stats["bfs_src_fileid"]
        if source is None or graph.ids is None:
            source = graph.ids_of(np.array([stats["bfs_src_index0"]]))[0]
        for method in NAMES:
            result = bfs(graph, source, method=method)
            found = result.distances[result.distances != result.unreached]
            facts = (result.n_reached, result.eccentricity, int(found.sum(dtype=np.int64)))
            assert facts == tuple(stats[f"bfs_{fact}"] for fact in ("reached", "ecc", "sum")), (name, method)
        checked += 1
    assert checked > 40


@pytest.mark.parametrize("kind", ["directed", "undirected"])
@pytest.mark.parametrize("example", ["example", "test-bfs"])
def test_ldbc_reference_output(data, example, kind):
    folder = data / "ldbc-graphalytics-tests"
    graph = ew.read(folder / f"{example}-{kind}.e")
    facts = (folder / f"{example}-{kind}.properties").read_text().splitlines()
    source = next(int(line.split("=")[1]) for line in facts if ".bfs.source-vertex" in line)
    reference = (folder / f"{example}-{kind}-BFS").read_text().split()
    published = dict(zip(map(int, reference[::2]), map(int, reference[1::2]), strict=True))
    ids = np.asarray(graph.ids_of(np.arange(graph.n_vertices))).tolist()
    for method in ("harish", *names_for(graph)):
        result = bfs(graph, source, method=method).verify()
        distances = np.where(
            result.distances == result.unreached, 2**63 - 1, result.distances.astype(np.int64)
        )
        assert dict(zip(ids, distances.tolist(), strict=True)) == published, method


@pytest.mark.parametrize("name", ["com-DBLP/com-dblp.ungraph.txt.gz", "wiki-Vote/wiki-Vote.txt.gz"])
def test_distances_and_parents_of_real_graphs_verify(data, name):
    graph = ew.read(data / name)
    first = graph.ids_of(np.array([0]))[0]
    results = [bfs(graph, first, method=method) for method in ("harish", *names_for(graph))]
    for result in results:
        assert np.array_equal(result.distances, results[0].distances), result.method
    result = results[-1].verify()
    parents, distances = result.parents, result.distances
    children = np.flatnonzero(parents >= 0)
    assert len(children) == result.n_reached - 1
    assert (distances[parents[children]] + 1 == distances[children]).all()
