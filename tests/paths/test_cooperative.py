"""The search of one launch: every kind of round, long rows in each, and races between its workers."""

from importlib import import_module
from itertools import cycle

import numpy as np
import pytest

import edgewise as ew
from edgewise import placement
from edgewise.device import BlockWorker, arrays
from edgewise.device.target import SIMULATED
from edgewise.paths.block_queues import WORDS
from edgewise.paths.csr import CSR
from tests import jitter
from tests.paths.oracle import oracle

driver = import_module("edgewise.paths.bfs.cooperative")
tiles = import_module("edgewise.paths.bfs.tiles")
NONE = driver.unreached(np.int32)
simulated = pytest.mark.skipif(not SIMULATED, reason="the search runs on GPUs")


def tree_behind_path(*branches, length):
    """A path, and at its end a tree: blocks go on by themselves there, and have no room for its leaves."""
    sources, targets = [np.arange(length)], [np.arange(1, length + 1)]
    last, n = np.array([length]), length + 1
    for count in branches:
        leaves = n + np.arange(len(last) * count)
        sources.append(np.repeat(last, count))
        targets.append(leaves)
        last, n = leaves, n + len(leaves)
    return n, np.concatenate(sources), np.concatenate(targets)


def two_hubs(leaves, length):
    """A path to a hub whose leaves lead to another hub, which has as many leaves of its own."""
    hub, first = length, length + 1 + np.arange(leaves)
    other, second = length + 1 + leaves, length + 2 + leaves + np.arange(leaves)
    path = np.arange(length)
    sources = np.concatenate([path, np.full(leaves, hub), first[:1], np.full(leaves, other)])
    return other + leaves + 1, sources, np.concatenate([path + 1, first, [other], second])


def rows_far_apart(apart):
    """Random edges between few vertices, between whose numbers are many vertices without rows."""
    ends = np.random.default_rng(5).integers(0, 12, (2, 90)) * apart
    return 12 * apart, *ends


#: Graphs, and sizes from which rounds are dense.
SHAPES = {
    "tree": (tree_behind_path(6, 6, 1, 2, length=6), (5, 20, 1000)),
    "hubs": (two_hubs(90, 0), (1, 30, 1000)),
    "hubs behind a path": (two_hubs(50, 6), (1, 10, 1000)),
    "rows far apart": (rows_far_apart(40), (1, 3)),
}
#: Limits with which small graphs have every kind of round: of local queues, pieces, rounds and rows.
SMALL = {
    "LOCAL": 16,
    "PIECE": 16,
    "TILE": 12,
    "WARP_ROW": 8,
    "LEVEL_ROUNDS": 3,
    "WINDOW": 6,
    "GROUP_ENTRIES": 4,
    "THREAD_ENTRIES": 4,
}


@pytest.fixture
def small(monkeypatch):
    """Small limits; the simulator runs the functions as they are."""
    for limit, value in SMALL.items():
        for page in (driver, tiles, import_module("edgewise.paths.block_queues")):
            monkeypatch.setattr(page, limit, value, raising=False)


def searched(graph, source, **options):
    return ew.bfs(graph.to("cuda"), source, method="cooperative", **options).on_host().distances


def searched_on_host(graph, source, monkeypatch, **options):
    """As :func:`searched`, with the rows on the host."""
    with monkeypatch.context() as patch:
        patch.setattr(placement, "place_rows", lambda *_: placement.Placement(True, 0))
        found = ew.bfs(graph, source, device="cuda", method="cooperative", **options)
    assert found.method == "cooperative, rows on the host"
    return arrays.move(found.distances, "cpu")


@simulated
@pytest.mark.simulator
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("directed, entries", [(False, 40), (False, 10**6), (True, 40)])
def test_rounds_that_overflow(directed, shape, entries, small, monkeypatch):
    monkeypatch.setattr(driver, "QUEUED_ENTRIES", entries)
    (n, sources, targets), sizes = SHAPES[shape]
    graph = ew.Graph.from_edges(sources, targets, n_vertices=n, directed=directed)
    hub = int(graph.degrees().argmax())
    for source, size in zip(cycle((0, hub)), sizes):
        expected = ew.bfs(graph, source, method="top-down").distances
        assert np.array_equal(searched(graph, source, dense_from=size), expected), (source, size)
        on_host = searched_on_host(graph, source, monkeypatch, dense_from=size)
        assert np.array_equal(on_host, expected), (source, size)


@pytest.mark.simulator
@pytest.mark.gpu
@pytest.mark.parametrize("first", range(0, 40, 9))
def test_dense_rounds_over_rows_on_the_host(first, monkeypatch):
    """Rows of several tiles, and neighbours that begin anywhere in a line of memory."""
    ends = np.random.default_rng(first).geometric(0.01, (2, 7000)) % 1500
    graph = ew.Graph.from_edges(*ends, n_vertices=1500, directed=True)
    neighbours = np.empty(len(graph.neighbours) + first, np.uint32)[first:]
    neighbours[:] = graph.neighbours
    graph = ew.Graph(1500, rows=(graph.offsets, neighbours, None), directed=True)
    expected = ew.bfs(graph, ends[0, 0], method="top-down").distances
    assert np.array_equal(searched_on_host(graph, ends[0, 0], monkeypatch, dense_from=1), expected)


@simulated
@pytest.mark.simulator
def test_a_cutoff_inside_a_window(small):
    (n, sources, targets), _ = SHAPES["hubs behind a path"]
    graph = ew.Graph.from_edges(sources, targets, n_vertices=n)
    for cutoff in range(4, 9):
        expected = ew.bfs(graph, 0, cutoff=cutoff, method="top-down").distances
        assert np.array_equal(searched(graph, 0, cutoff=cutoff), expected), cutoff


WORKERS, N, SEEDS = 3, 40, range(15)
rng = np.random.default_rng(3)
#: A path to a hub, and random edges between its leaves.
SOURCES = np.concatenate([np.arange(4), np.full(20, 4), rng.integers(5, N, 60)])
TARGETS = np.concatenate([np.arange(1, 5), np.arange(5, 25), rng.integers(5, N, 60)])
EXPECTED = [NONE if d is None else d for d in oracle(N, SOURCES, TARGETS, [0])]
#: Limits that make every round of one kind, and one after the other.
ROUNDS = {
    "sparse": (100, {}),
    "windows": (100, {"LEVEL_ROUNDS": 0, "WINDOW": 3}),
    "windows with too little room": (4, {"LEVEL_ROUNDS": 0, "WINDOW": 3}),
    "top-down": (1, {"upwards": lambda search, frontier, *unvisited: False}),
    "bottom-up": (1, {"upwards": lambda search, frontier, *unvisited: frontier > 0, "THREAD_ENTRIES": 1}),
    "in turn": (8, {"THREAD_ENTRIES": 2}),
    "top-down on the host": (1, {"upwards": lambda search, frontier, *unvisited: False, "TILE": 6}),
}


def tiled_by(size, rows):
    """Rows whose tiles have so many entries, one less in the first tile."""
    n_entries = len(rows.neighbours)
    firsts = np.clip(np.arange(-(-(n_entries + 1) // size) + 1) * size - 1, 0, n_entries - 1)
    return tiles.TiledRows(*rows[:2], np.searchsorted(rows.offsets, firsts, "right") - 1, 1)


def distances_by(kind, seed, **replaced):
    """Distances from vertex 0 by three blocks of one thread, pieces of two entries, and little room."""
    dense_from, limits = ROUNDS[kind]
    scheduler = jitter.Scheduler(seed)
    region = jitter.jittery(
        driver.run.body, **{"GROUP_ENTRIES": 4, "PIECE": 2, "WARP_ROW": 3, "LOCAL": 4, **limits}, **replaced
    )
    graph = ew.Graph.from_edges(SOURCES, TARGETS, n_vertices=N)
    rows = CSR(graph.offsets, graph.neighbours, np.empty(0, np.int32))
    distances = jitter.Jittery(np.zeros(N, np.int32), scheduler)
    queue = np.zeros(driver.QUEUES * 2 * (dense_from + len(graph.neighbours) // 2), np.uint32)
    counts = np.zeros(driver.SETS.end, np.int64)
    queue, counts = jitter.Jittery(queue, scheduler), jitter.Jittery(counts, scheduler)
    outgoing = tiled_by(limits["TILE"], rows) if "TILE" in limits else rows
    search = driver.Search(outgoing, rows, distances, queue, counts)
    limits = driver.Limits(0, np.empty(0, np.int64), 1, dense_from, dense_from, int(NONE) - 1, int(NONE))
    shared = np.zeros((WORKERS, WORDS), np.int64)
    ended = jitter.run_region(
        scheduler,
        WORKERS,
        lambda number, barrier: region(BlockWorker(number, WORKERS, barrier, shared[number]), search, limits),
    )
    return distances.values.tolist() if ended else None


@pytest.mark.interpreter
@pytest.mark.interpreted
@pytest.mark.parametrize("kind", ROUNDS)
def test_distances_are_right_under_every_schedule(kind):
    for seed in SEEDS:
        assert distances_by(kind, seed) == EXPECTED, f"seed {seed}"


@pytest.mark.interpreter
@pytest.mark.interpreted
def test_a_planted_race_is_caught():
    found = [distances_by("windows", seed, fetch_add=jitter.careless_add) for seed in range(60)]
    assert any(distances != EXPECTED for distances in found)
