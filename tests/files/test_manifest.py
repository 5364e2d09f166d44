"""Every real graph is read without options, with the counts its publisher or two other programs found."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import edgewise as ew

FOLDER = Path(os.environ.get("EDGEWISE_TEST_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")
MANIFEST = json.loads((FOLDER / "MANIFEST.json").read_text()) if (FOLDER / "MANIFEST.json").is_file() else {}


def facts(graph):
    """Vertices, edges between different vertices counted once, and rows that are self-loops."""
    low = np.minimum(graph.sources, graph.targets).astype(np.int64)
    high = np.maximum(graph.sources, graph.targets).astype(np.int64)
    proper = low != high
    keys = low[proper] * graph.n_vertices + high[proper]
    return graph.n_vertices, len(np.unique(keys)), int((~proper).sum())


@pytest.mark.parametrize("name", MANIFEST or [None])
def test_counts_of_the_manifest(data, name):
    if name is None:
        pytest.skip("there is no MANIFEST.json")
    entry = MANIFEST[name]
    graph = ew.read(data / name / entry["file"])
    stats = entry["stats"]
    assert facts(graph) == (stats["n"], stats["simple_undirected_edges"], stats["loops"])
    assert graph.device == "cpu"
    if graph.ids is not None:
        assert len(graph.ids) == graph.n_vertices
    if stats.get("msf_edges"):
        assert graph.weights is not None


FORCED = {"el": "el", "el1": "el1", "csvn": "el", "csv": "csv", "gr": "gr"}


@pytest.mark.parametrize(
    "name", ["karate", "rome99", "ca-HepTh", "com-amazon-sample75000", "HPRD", "airports"]
)
def test_a_format_can_be_named(data, name):
    if name not in MANIFEST:
        pytest.skip("there is no MANIFEST.json")
    entry = MANIFEST[name]
    graph = ew.read(data / name / entry["file"], format=FORCED.get(entry["fmt"], entry["fmt"]))
    assert graph.n_vertices == entry["stats"]["n"]


def test_ids_come_back(data):
    graph = ew.read(data / "ca-CondMat" / "CA-CondMat.txt.gz")
    ends = graph.ids_of(graph.sources[:3]).tolist(), graph.ids_of(graph.targets[:3]).tolist()
    assert ends == ([81626, 81626, 81626], [11894, 16246, 16322])
    roads = ew.read(data / "rome99" / "rome99.gr.gz")
    assert roads.ids_of(roads.sources[:1]).tolist() == [2958]


GAP = ["4.el", "4.wel", "4.gr", "4.graph", "4w.graph", "4.mtx", "4w.mtx"]


@pytest.mark.parametrize("name", GAP)
def test_gap_graphs_are_one_graph(data, name):
    """The suite's own files say: 14 vertices, 53 arcs once loops and repeats are gone."""
    graph, first = (simple_arcs(data / "gapbs-tests" / "graphs" / name) for name in (name, "4.el"))
    assert (graph.n_vertices, graph.n_edges, graph.directed) == (14, 53, True)
    arcs = [set(zip(g.sources.tolist(), g.targets.tolist())) for g in (graph, first)]
    assert arcs[0] == arcs[1]


def simple_arcs(path):
    numbered = {"one_based": False} if path.suffix in (".el", ".wel") else {}
    return ew.read(path, directed=True, self_loops="drop", repeated="first", **numbered)


def test_ldbc_graphs_keep_vertices_without_edges(data):
    folder = data / "ldbc-graphalytics-tests"
    for vertices in sorted(folder.glob("*.v")):
        graph = ew.read(vertices.with_suffix(".e"))
        ids = sorted(int(line) for line in vertices.read_text().split())
        found = graph.ids.tolist() if graph.ids is not None else list(range(graph.n_vertices))
        assert found == ids
        assert graph.directed == ("undirected" not in vertices.name)
        assert graph.n_edges == len(vertices.with_suffix(".e").read_text().splitlines())
        assert ew.read(vertices).n_edges == graph.n_edges


def test_metis_with_two_vertex_weights(data):
    graph = ew.read(data / "metis-graphs" / "test.mgraph")
    assert (graph.n_vertices, graph.n_edges) == (766, 1314)
    assert graph.vertex_weights[:3].tolist() == [[1, 1], [2, 2], [4, 4]]


PAIRS = {
    "er-cora/cora_gt.csv.gz": ({}, 17184),
    "er-dblp-acm/DBLP-ACM_perfectMapping.csv.gz": ({}, 2224),
    "er-splink-fake1000/fake_1000_labels.csv.gz": ({"weight": "clerical_match_score"}, 3176),
    "er-string-ppi/string_interactions.tsv.gz": ({"weight": "combined_score"}, None),
}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_of_entity_resolution(data, name):
    options, rows = PAIRS[name]
    graph = ew.read(data / name, **options)
    assert rows is None or graph.n_edges == rows
    assert graph.n_vertices > 100
    assert ("weight" in options) == (graph.weights is not None)
