"""What ``auto`` takes: facts of a graph, and the outcome, which is always a method of the table."""

import os
from dataclasses import replace

import numpy as np
import pytest

import edgewise as ew
from edgewise import tuning
from edgewise.device.target import SIMULATED
from edgewise.paths import apsp, bfs, sssp
from edgewise.paths.apsp.search import choose

PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")
ON_CPU, ON_GPU = PLACE == "cpu", PLACE.startswith("cuda")
TABLES = {ew.bfs: bfs.METHODS, ew.shortest_paths: sssp.METHODS}
#: Vertices and edges of the graphs: a small one is below the limit, a larger one above.
SIZES = {"small": 400, "larger": 1500}


def graph_of(size, *kinds):
    """A random graph, or paths, with weights of a kind."""
    n = SIZES[size]
    if "paths" in kinds:
        ends = np.delete(np.arange(n - 1), slice(99, n, 100))
        ends = ends, ends + 1
    else:
        ends = np.random.default_rng(1).integers(0, n, (2, 8 * n))
    values = np.arange(len(ends[0])) % 9 + (-1 if "negative" in kinds else 1)
    graph = ew.Graph.from_edges(*ends, weights=values, n_vertices=n, directed="directed" in kinds)
    return graph.prepare("searches") if "prepared" in kinds else graph


CASES = [
    (ew.bfs, "small", (), "top-down-sequential"),
    (ew.bfs, "small", ("directed",), "top-down-sequential"),
    (ew.bfs, "larger", ("paths",), "top-down-sequential"),
    (ew.bfs, "larger", (), "direction-optimising"),
    (ew.bfs, "larger", ("directed",), "top-down"),
    (ew.bfs, "larger", ("directed", "prepared"), "direction-optimising"),
    (ew.shortest_paths, "small", (), "near-far-sequential"),
    (ew.shortest_paths, "small", ("directed", "paths", "negative"), "bellman-ford"),
    (ew.shortest_paths, "larger", ("directed", "paths", "negative"), "bellman-ford"),
    (ew.shortest_paths, "larger", ("paths",), "near-far-sequential"),
    (ew.shortest_paths, "larger", (), "delta-stepping"),
    (ew.shortest_paths, "larger", ("directed",), "delta-stepping"),
    (ew.shortest_paths, "larger", ("prepared",), "delta-stepping"),
]


@pytest.mark.skipif(not ON_CPU, reason="other outcomes")
@pytest.mark.parametrize(
    "search, size, kinds, outcome", CASES, ids=lambda one: getattr(one, "__name__", str(one))
)
def test_on_cpu_cores(search, size, kinds, outcome, monkeypatch):
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, paths_alone=10_000))
    assert outcome in TABLES[search]
    assert search(graph_of(size, *kinds), 3).method == outcome


@pytest.mark.interpreter
@pytest.mark.skipif(not ON_CPU, reason="other outcomes")
def test_a_cutoff_or_targets_end_a_search_soon(monkeypatch):
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, paths_alone=10_000))
    graph = graph_of("larger")
    near = ew.bfs(graph, 3, cutoff=1)
    assert near.method == "top-down-sequential"
    target = int(np.flatnonzero(near.distances == 1)[0])
    assert ew.bfs(graph, 3, targets=target).method == "top-down-sequential"
    assert ew.shortest_paths(graph, 3, cutoff=0).method == "near-far-sequential"


@pytest.mark.simulator
@pytest.mark.gpu
@pytest.mark.skipif(not ON_GPU and not SIMULATED, reason="other outcomes")
def test_on_a_gpu():
    path = np.arange(100)
    graph = ew.Graph.from_edges(path, path + 1, weights=path % 9 + 1).to("cuda")
    below = ew.Graph.from_edges([0, 1], [1, 2], weights=[-1, 2], directed=True).to("cuda")
    for search, outcome in ((ew.bfs, "cooperative"), (ew.shortest_paths, "near-far")):
        assert search(graph, 0).method == outcome in TABLES[search]
    assert ew.shortest_paths(below, 0).method == "bellman-ford"
    graph.prepare("searches")
    for search, table in TABLES.items():
        assert search(graph, 0).method == "contraction-hierarchy" in table


#: Vertices, entries, device, whether there are weights, and one is negative, and all rows are wanted.
ALL_PAIRS = [
    ((100_000, 600_000, "cpu", True, False, True), "sssp"),
    ((100_000, 600_000, "cpu", False, False, True), "multi-source"),
    ((100_000, 600_000, "cuda:0", False, False, True), "sssp"),
    ((100_000, 600_000, "cpu", True, True, True), "johnson"),
    ((4000, 4_000_000, "cpu", True, False, True), "floyd-warshall"),
    ((4000, 4_000_000, "cuda:0", False, False, True), "floyd-warshall"),
    ((4000, 4_000_000, "cpu", True, False, False), "sssp"),
    ((128, 10, "cpu", True, True, True), "floyd-warshall"),
]


@pytest.mark.interpreter
@pytest.mark.parametrize("facts, outcome", ALL_PAIRS)
def test_of_all_pairs(facts, outcome):
    assert choose(*facts) == outcome in apsp.METHODS
