"""Real graphs: the published numbers of triangles, 4- and 5-cycles, and every method vertex by vertex."""

import json
from functools import cache

import numpy as np
import pytest

import edgewise as ew
from edgewise.cycles import METHODS

#: What MANIFEST.json calls the number of cycles of each length.
NAMES = {3: "triangles", 4: "c4", 5: "c5"}
DBLP = {3: 2_224_385, 4: 55_107_655, 5: 3_449_276_253}
#: Graphs with hubs, with cliques, with neither.
VARIED = ("as20000102", "ca-GrQc", "email-Eu-core", "power", "delaunay_n10", "celegans_metabolic")


@cache
def manifest(data):
    return json.loads((data / "MANIFEST.json").read_text())


def read(data, name):
    entry = manifest(data)[name]
    options = {"format": entry["fmt"]} if entry["fmt"] == "vlg" else {}
    return ew.read(data / name / entry["file"], **options)


def test_totals_of_the_manifest(data):
    wrong, seen = [], 0
    for name, entry in manifest(data).items():
        stats = entry.get("stats", {})
        graph = read(data, name).undirected() if "triangles" in stats else None
        for length, called in NAMES.items():
            if stats.get(called) is not None:
                found, seen = ew.cycle_counts(graph, length), seen + 1
                if found.total != stats[called]:
                    wrong.append((name, length, found.total, stats[called]))
    assert wrong == []
    assert seen > 170


@pytest.mark.parametrize("name", VARIED)
def test_every_method_at_every_vertex(data, name):
    graph = read(data, name).undirected()
    for length in (3, 4, 5, 6):
        first = None
        for method in (method for method in METHODS if METHODS[method].can(length)):
            if "cpu" not in METHODS[method].devices or (
                METHODS[method].enumerates and _is_long(name, method, length)
            ):
                continue
            found = ew.cycle_counts(graph, length, method=method)
            first = found.verify() if first is None else first
            assert np.array_equal(found.counts, first.counts), (length, method, first.method)


def _is_long(name, method, length):
    many = name in ("email-Eu-core", "celegans_metabolic", "as20000102", "ca-GrQc")
    return length > (3 if name in ("email-Eu-core", "as20000102") and method == "dfs" else 4 if many else 6)


def test_dblp(data):
    graph = ew.read(data / "com-DBLP" / "com-dblp.ungraph.txt.gz")
    for length, total in DBLP.items():
        found = ew.cycle_counts(graph, length)
        assert found.total == total
    ew.cycle_counts(graph, 3).verify()  # the others are verified on smaller graphs


def test_the_amazon_sample_of_cs406(data):
    graph = read(data, "com-amazon-sample75000")
    for length in (3, 4, 5):
        twice = ew.cycle_counts(graph, length, method="dfs", count_directions=True).verify()
        assert np.array_equal(twice.counts, 2 * ew.cycle_counts(graph, length).counts)
