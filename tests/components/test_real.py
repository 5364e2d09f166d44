"""Real graphs: the published counts, labels and reference outputs."""

import csv
import gzip
import json

import numpy as np
import pytest

import edgewise as ew
from edgewise.components import MERGES, METHODS
from edgewise.components.segments import components_by_segments
from edgewise.workers import device_team


def manifest(data):
    return json.loads((data / "MANIFEST.json").read_text())


def test_counts_of_the_manifest(data):
    for name, entry in manifest(data).items():
        counted = entry.get("stats", {}).get("wcc")
        if counted is None:
            continue
        options = {"format": entry["fmt"]} if entry["fmt"] == "vlg" else {}
        graph = ew.read(data / name / entry["file"], **options)
        assert graph.n_vertices == entry["stats"]["n"], name
        result = ew.connected_components(graph)
        assert result.count == counted, name
        assert result.largest == entry["stats"]["largest_wcc"], name


@pytest.mark.parametrize("name", METHODS)
def test_every_method_on_dblp(data, name):
    graph = _dblp(data)
    first = ew.connected_components(graph, method="rem-sequential").labels
    assert np.array_equal(ew.connected_components(graph, method=name).labels, first)


@pytest.mark.parametrize("workers", [1, 2, 3, 4])
def test_any_number_of_workers_on_dblp(data, workers):
    graph = _dblp(data)
    expected = ew.connected_components(graph, method="rem-sequential").labels
    team = [f"cpu:{number}" for number in range(workers)]
    for merge in MERGES:
        labels = ew.connected_components(graph, devices=team, merge=merge).labels
        assert np.array_equal(labels, expected), merge
    ends = graph.sources, graph.targets
    streamed, _ = components_by_segments(graph.n_vertices, *ends, device_team(team), segment_edges=100_000)
    assert np.array_equal(streamed, expected)


_kept = {}


def _dblp(data):
    if "dblp" not in _kept:
        _kept["dblp"] = ew.read(data / "com-DBLP" / "com-dblp.ungraph.txt.gz")
    return _kept["dblp"]


def test_published_labels_of_the_amazon_sample(data):
    folder = data / "com-amazon-sample75000"
    graph = ew.read(folder / "com-amazon.ungraph-75000.txt.gz")
    labels = ew.connected_components(graph).verify().labels
    with gzip.open(folder / "reference-conncomp.csv.gz", "rt") as lines:
        published = {int(vertex): int(label) for vertex, label in csv.reader(lines)}
    ours = zip(np.asarray(graph.ids).tolist(), graph.ids_of(labels).tolist(), strict=True)
    assert dict(ours) == published


@pytest.mark.parametrize("kind", ["directed", "undirected"])
@pytest.mark.parametrize("example", ["example", "test-wcc"])
def test_ldbc_reference_output(data, example, kind):
    folder = data / "ldbc-graphalytics-tests"
    graph = ew.read(folder / f"{example}-{kind}.e")
    labels = ew.connected_components(graph).labels
    ids = np.asarray(graph.ids_of(np.arange(graph.n_vertices)))
    reference = (folder / f"{example}-{kind}-WCC").read_text().split()
    published = dict(zip(map(int, reference[::2]), map(int, reference[1::2]), strict=True))
    ours = dict(zip(ids.tolist(), labels.tolist(), strict=True))
    assert same_classes(ours, published)


def same_classes(ours, published):
    """Whether two labellings of the same ids group them alike."""
    assert ours.keys() == published.keys()
    pairs = {(ours[vertex], published[vertex]) for vertex in ours}
    return len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
