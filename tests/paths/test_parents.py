"""Parents as a GPU finds them, by stretches of the entries: rows in any order, all weights, races."""

import numpy as np
import pytest

import edgewise as ew
from edgewise.device import BlockWorker, arrays, launch
from edgewise.paths import parents
from edgewise.paths.csr import CSR, unreached
from tests import jitter, warps
from tests.conftest import engine

PLACE = "cuda:0" if engine() == "simulator" else "cpu"
N = 60
SEEDS = range(40)


def random_rows(seed, kind=None):
    """Rows with repeated entries, self-loops, a hub and vertices without entries, in no order."""
    draw = np.random.default_rng(seed)
    lengths = draw.integers(0, 6, N)
    lengths[draw.integers(N)] = 50
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    neighbours = draw.integers(0, N, offsets[-1]).astype(np.uint32)
    weights = np.empty(0, np.int32) if kind is None else draw.integers(0, 4, offsets[-1]).astype(kind)
    return CSR(offsets, neighbours, weights)


def distances_of(rows, source=0):
    """Distances along the rows, taken as edges that come in, by relaxing all until nothing changes."""
    kind = rows.weights.dtype
    none = unreached(kind)
    distances = np.full(N, none, kind)
    distances[source] = 0
    changed = True
    while changed:
        changed = False
        for vertex in range(N):
            for entry in range(rows.offsets[vertex], rows.offsets[vertex + 1]):
                other = rows.neighbours[entry]
                weight = rows.weights[entry] if len(rows.weights) else 1
                if distances[other] != none and distances[other] + weight < distances[vertex]:
                    distances[vertex], changed = distances[other] + weight, True
    return distances, none


def expected(rows, distances, none):
    """The smallest parents that are nearer to the source, one entry after the other."""
    least = [-1] * N
    for vertex in range(N):
        for entry in range(rows.offsets[vertex], rows.offsets[vertex + 1]):
            other = int(rows.neighbours[entry])
            weight = rows.weights[entry] if len(rows.weights) else 1
            if distances[vertex] == none or not distances[other] < distances[vertex]:
                continue
            if distances[other] + weight == distances[vertex] and (
                least[vertex] < 0 or other < least[vertex]
            ):
                least[vertex] = other
    return least


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("kind", [None, np.int32, np.int64, np.float64])
@pytest.mark.parametrize("seed", range(6))
def test_the_smallest_nearer_parent_is_found(monkeypatch, kind, seed):
    if engine() != "jit":  # compiled kernels are kept, with their constants
        monkeypatch.setattr(parents, "STRETCH", 7)
        monkeypatch.setattr(parents, "WARP_ROW", 4)
    rows = random_rows(seed, kind)
    distances, none = distances_of(rows)
    found = arrays.full(N, -1, np.int64, PLACE)
    there = CSR(*(arrays.move(one, PLACE) for one in rows))
    parents.find_nearer_parents(there, arrays.move(distances, PLACE), none, found.view(np.uint64))
    assert found.tolist() == expected(rows, distances, none)


@pytest.mark.interpreter
@pytest.mark.parametrize("seed", range(6))
def test_rows_of_the_host_may_be_in_any_order(seed):
    rows = random_rows(seed, np.int32)
    distances, none = distances_of(rows)
    levels, changed = np.empty(N, np.int32), np.zeros(1, np.int32)
    tree = parents.Tree(distances, none, np.empty(N, np.int64), levels, changed)
    parents._nearer_parent(N, rows, tree, np.array([0]))
    assert tree.parents.tolist() == expected(rows, distances, none)


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("kind", [None, np.int32, np.float64])
def test_a_gpu_finds_the_parents_of_the_host(kind):
    draw = np.random.default_rng(3)
    for weights in (None,) if kind is None else (draw.integers(0, 3, 300), draw.integers(1, 3, 300)):
        weights = None if kind is None else weights.astype(kind)
        graph = ew.Graph.from_edges(*draw.integers(0, 80, (2, 300)), n_vertices=90, weights=weights)
        search = ew.bfs if kind is None else ew.shortest_paths
        on_host, there = search(graph, [3, 7]).parents, search(graph.to(PLACE), [3, 7]).parents
        assert there.dtype == np.int64 and there.tolist() == on_host.tolist()


def parents_by_threads(seed, **replaced):
    """Parents found by three workers whose stretches share rows."""
    scheduler, workers = jitter.Scheduler(seed), 3
    rows = random_rows(5)
    distances, none = distances_of(rows)
    found = jitter.Jittery(np.full(N, 2**64 - 1, np.uint64), scheduler)
    region = jitter.jittery(parents.find_nearer_parents.body, STRETCH=6, WARP_ROW=4, **replaced)

    def start(number, barrier):
        worker = BlockWorker(number, workers, barrier, np.zeros(1, np.int64))
        region(worker, rows, distances, none, found)

    assert jitter.run_region(scheduler, workers, start)
    return found.values.view(np.int64).tolist() == expected(rows, distances, none)


@pytest.mark.interpreter
def test_rows_that_workers_share():
    assert all(parents_by_threads(seed) for seed in SEEDS)
    assert not all(parents_by_threads(seed, fetch_min=jitter.careless_min) for seed in SEEDS)


@pytest.mark.interpreter
@pytest.mark.parametrize("kind", [None, np.int32, np.float64])
@pytest.mark.parametrize("seed", range(4))
def test_lanes_of_a_warp_share_rows(kind, seed):
    rows = random_rows(seed, kind)
    distances, none = distances_of(rows)
    found = np.full(N, 2**64 - 1, np.uint64)
    limits = {"STRETCH": 29, "WARP_ROW": 4}
    warps.run(parents.find_nearer_parents, rows, distances, none, found, **limits)
    assert found.view(np.int64).tolist() == expected(rows, distances, none)


@pytest.mark.ptx
def test_compiles_for_gpus():
    rows = CSR, ("int64[]", "uint32[]", "float64[]")
    kinds = "int32[]", rows, "float64[]", "float64", "uint64[]"
    text = parents.find_nearer_parents.cuda.ptx(kinds, (9, 0))
    assert launch.entry_name(text)
    assert "ld.local" not in text
