"""Contraction hierarchies: what holds of each, the distances by them, and when ``auto`` takes them."""

import os
from importlib import import_module

import numpy as np
import pytest

import edgewise as ew
from edgewise.device import BlockWorker
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.errors import OptionError
from edgewise.paths.block_queues import WORDS
from edgewise.paths.csr import CSR, adjacency_of, unreached
from edgewise.paths.sssp.weights import rows_in
from tests import jitter
from tests.paths.oracle import oracle
from tests.zoo import ZOO

hierarchies = import_module("edgewise.paths.sssp.contraction_hierarchy")
PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")
NAME = "contraction-hierarchy"
SHAPES = ("grid",) if SIMULATED else [shape for shape in ZOO if ZOO[shape][0]]
#: Limits for which small graphs have many rounds, rows whose repeated entries are not found, and no room.
LIMITS = {
    "many rounds": {"CORE": 0},
    "no vertex is left": {"CORE": 0, "ELIMINATED_DEGREE": 30, "PART": 10**6},
    "few rounds": {"CORE": 0, "ROUNDS": 2},
    "low degrees": {"CORE": 0, "ELIMINATED_DEGREE": 2},
    "repeated entries": {"CORE": 0, "COMPARED_ENTRIES": 0},
    "little room": {"CORE": 0, "ROOM": 1},
    "little room in a round": {"CORE": 0, "ROUND_ROOM": 1},
}

#: Those that Python threads play.
IN_SIMULATOR = ("many rounds", "repeated entries", "little room in a round")


def graph_of(shape, dtype="int32", seed=0, least=0):
    n, sources, targets = shape
    weights = np.random.default_rng(seed).integers(least, 9, len(sources)).astype(dtype)
    return ew.Graph.from_edges(sources, targets, weights=weights, n_vertices=n)


def expected(graph, starts):
    weights = graph.weights.tolist()
    found = oracle(graph.n_vertices, graph.sources, graph.targets, starts, weights, directed=False)
    return [unreached(graph.weights.dtype) if distance is None else distance for distance in found]


def check_hierarchy(rows, hierarchy):
    """Ranks are a permutation, and rows lead to later rounds or stay in the core."""
    ranks, starts, n = hierarchy.ranks.tolist(), hierarchy.starts.tolist(), rows.n_vertices
    assert sorted(ranks) == list(range(n))
    assert starts == sorted(starts) and starts[0] == 0 and starts[-1] == n
    offsets, neighbours = hierarchy.rows.offsets, hierarchy.rows.neighbours.astype(np.int64)
    assert offsets[0] == 0 and offsets[-1] == len(neighbours) == len(hierarchy.rows.weights)
    owners = np.repeat(np.arange(n), np.diff(offsets))
    rounds = np.searchsorted(starts[:-1], np.arange(n), side="right")
    own, other = rounds[owners], rounds[neighbours]
    loops = neighbours == owners
    assert np.all((other > own) | loops | (own == len(starts) - 1))
    assert np.all(np.diff(offsets)[: starts[-2]] <= hierarchies.ELIMINATED_DEGREE)
    assert hierarchy.mean == pytest.approx(hierarchy.rows.weights.mean() if len(neighbours) else 0)


@pytest.mark.interpreter
@pytest.mark.parametrize("shape", [shape for shape in ZOO if ZOO[shape][0]])
def test_rows_lead_to_later_rounds(shape, monkeypatch):
    limits = LIMITS if INTERPRETED else {"those compiled": {}}
    for replaced in limits.values():
        with monkeypatch.context() as patch:
            for limit, value in replaced.items():
                patch.setattr(hierarchies, limit, value)
            rows = rows_in(graph_of(ZOO[shape]))
            check_hierarchy(rows, hierarchies.hierarchy_of(rows))


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("kind", LIMITS)
@pytest.mark.parametrize("shape", SHAPES)
def test_distances_for_all_limits(shape, kind, monkeypatch):
    if not (INTERPRETED or SIMULATED):
        pytest.skip("compiled kernels keep the limits they were compiled with")
    if SIMULATED and kind not in IN_SIMULATOR:
        pytest.skip("the interpreter has them all")
    for limit, value in LIMITS[kind].items():
        monkeypatch.setattr(hierarchies, limit, value)
    graph = graph_of(ZOO[shape])
    there = graph.to(PLACE)
    for starts in ([0], [graph.n_vertices - 1, 0])[SIMULATED:]:
        found = ew.shortest_paths(there, starts, method=NAME).on_host()
        assert found.distances.tolist() == expected(graph, starts)
        found = ew.bfs(there, starts, method=NAME).on_host()
        assert found.distances.tolist() == ew.bfs(graph, starts, method="top-down").distances.tolist()


def made(kind):
    """A graph of several thousand vertices, with weights."""
    graph = {
        "paths": lambda: ew.generate.paths(20_000, mean_length=500, seed=2),
        "grid": lambda: ew.generate.grid(90, dropped=0.25, seed=2),
        "skewed": lambda: ew.generate.rmat(10, edge_factor=4, seed=2),
        "star": lambda: ew.Graph.from_edges(np.full(9_999, 9_999), np.arange(9_999), n_vertices=10_000),
        "components": lambda: ew.generate.components(9_000, mean_size=3, seed=2),
        "cliques": lambda: ew.Graph.from_edges(*_cliques(50, 12)),
    }[kind]()
    return ew.generate.with_weights(graph, 0, 50, seed=3)


def _cliques(count, size):
    one, other = np.triu_indices(size, 1)
    first = size * np.arange(count)[:, None]
    return np.ravel(first + one), np.ravel(first + other)


KINDS = ("paths", "grid", "skewed", "star", "components", "cliques")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_larger_graphs(kind, dtype):
    graph = made(kind)
    for starts in (7, [3, 500, 77]):
        for cutoff in (None, 60):
            options = {"cutoff": cutoff, "dtype": dtype}
            found = ew.shortest_paths(graph, starts, method=NAME, **options)
            assert found.distances.dtype == dtype
            theirs = ew.shortest_paths(graph, starts, method="dijkstra", **options)
            assert np.array_equal(found.distances, theirs.distances), (starts, cutoff)
            found = ew.bfs(graph, starts, method=NAME, cutoff=cutoff)
            theirs = ew.bfs(graph, starts, method="top-down", cutoff=cutoff)
            assert np.array_equal(found.distances, theirs.distances), (starts, cutoff)
    found.verify()


@pytest.mark.gpu
@pytest.mark.parametrize("kind", KINDS)
def test_larger_graphs_on_a_gpu(kind):
    graph = made(kind)
    there = graph.to("cuda")
    for starts in (7, [3, 500, 77]):
        for search_of in (ew.shortest_paths, ew.bfs):
            expected = search_of(graph, starts).distances
            found = search_of(there, starts, method=NAME)
            assert np.array_equal(found.distances.get(), expected), (starts, search_of)
    check_hierarchy(rows_in(graph), on_host(hierarchies.prepared(rows_in(there)).hierarchy))


def on_host(hierarchy):
    ranks, rows, starts, mean = hierarchy
    return hierarchies.Hierarchy(ranks.get(), rows.on_host(), starts.get(), mean)


@pytest.mark.interpreter
def test_shortcuts_that_are_too_long_for_the_type():
    """Some distances need int64, and so do shortcuts on which no shortest path lies."""
    path = ew.Graph.from_edges(np.arange(5), np.arange(1, 6), weights=np.int32([2**30] * 5))
    found = ew.shortest_paths(path, 0, method=NAME)
    assert (found.distances.dtype, found.distances[-1]) == (np.int64, 5 * 2**30)
    heavy = np.int32([2**30, 2**30, 2**30, 1, 1])
    around = ew.Graph.from_edges([0, 1, 2, 0, 4], [1, 2, 3, 4, 3], weights=heavy)
    found = ew.shortest_paths(around, 0, method=NAME)
    assert found.distances.tolist() == [0, 2**30, 2**30 + 2, 2, 1]
    with pytest.raises(ew.errors.GraphError, match="a distance passes the largest number of int32"):
        ew.shortest_paths(path, 0, method=NAME, dtype="int32")


@pytest.mark.interpreter
def test_what_it_does_not_take():
    directed = ew.Graph.from_edges([0], [1], weights=[2], directed=True)
    for search_of in (ew.bfs, ew.shortest_paths):
        with pytest.raises(OptionError, match=f"method {NAME} is for undirected graphs; use another method"):
            search_of(directed, 0, method=NAME)
    floats = ew.Graph.from_edges([0, 1], [1, 2], weights=[2.0, 3.0])
    with pytest.raises(
        OptionError, match=r"needs weights that are whole numbers; use another .* dtype='int64'"
    ):
        ew.shortest_paths(floats, 0, method=NAME)
    assert ew.shortest_paths(floats, 0, method=NAME, dtype="int64").distances.tolist() == [0, 2, 5]
    negative = ew.Graph.from_edges([0], [1], weights=[-2])
    with pytest.raises(OptionError, match=f"weighs -2, and {NAME} needs weights of 0 or more"):
        ew.shortest_paths(negative, 0, method=NAME)


def test_too_large_a_graph_is_refused(monkeypatch):
    monkeypatch.setattr(hierarchies, "fits", lambda *sizes: False)
    with pytest.raises(OptionError, match=r"fewer than 2\*\*31 vertices and 2\*\*30 entries; use"):
        ew.bfs(ew.Graph.from_edges([0], [1]), 0, method=NAME)


def random_tree(n):
    above = (np.random.default_rng(1).random(n - 1) * np.arange(1, n)).astype(np.int64)
    return ew.Graph.from_edges(above, np.arange(1, n), n_vertices=n)


def ladder(n):
    """Two paths of ``n`` vertices, and rungs between them."""
    one, other = np.arange(n - 1), n + np.arange(n - 1)
    sources = np.concatenate([one, other, np.arange(n)])
    return ew.Graph.from_edges(sources, np.concatenate([one + 1, other + 1, n + np.arange(n)]))


#: Graphs, and whether a prepared one is searched by a hierarchy on a GPU, without and with weights.
PREPARED = {
    "paths": (lambda: ew.generate.paths(1 << 14), True, True),
    "one cycle": (lambda: ew.Graph.from_edges(np.arange(20_000), np.roll(np.arange(20_000), 1)), True, True),
    "ladder": (lambda: ladder(5_000), True, True),
    "grid": (lambda: ew.generate.grid(128, dropped=0.25), True, True),
    "tree": (lambda: random_tree(20_000), True, True),
    "whole grid": (lambda: ew.generate.grid(128), False, False),
    "random": (lambda: ew.generate.uniform(20_000, 60_000), False, False),
    "skewed": (lambda: ew.generate.rmat(14, edge_factor=8), False, False),
    "directed": (lambda: ew.generate.paths(1 << 10).reverse(), False, False),
}


@pytest.mark.parametrize("kind", PREPARED)
def test_hierarchies_are_kept_where_they_save_time(kind):
    make, *kept = PREPARED[kind]
    graph = make()
    weighted = ew.generate.with_weights(graph, 1, 9)
    if kind == "directed":
        ends = (graph.sources, graph.targets)
        graph, weighted = (
            ew.Graph.from_edges(*ends, weights=values, directed=True) for values in (None, weighted.weights)
        )
    for rows, is_kept in zip((adjacency_of(graph), rows_in(weighted)), kept, strict=True):
        hierarchies.prepare(rows)
        assert rows.prepared == (NAME if is_kept else None)
        assert (rows.hierarchy is not None) == is_kept  # one that is not used takes no memory


@pytest.mark.parametrize("weights", [[0.5, 2.0], [-1, 2]])
def test_weights_without_a_hierarchy(weights):
    rows = rows_in(ew.Graph.from_edges([0, 1], [1, 2], weights=weights))
    hierarchies.prepare(rows)
    assert rows.prepared is None


def test_roads_with_a_vertex_at_every_bend(data):
    graph = ew.read(data / "luxembourg_osm" / "luxembourg_osm.mtx.gz")
    rows = adjacency_of(graph)
    hierarchies.prepare(rows)
    assert rows.prepared == NAME
    assert rows.hierarchy.hierarchy.core_size < graph.n_vertices / 50


@pytest.mark.simulator
@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["ladder", "skewed"])
def test_auto_uses_what_was_prepared_on_a_gpu(kind):
    n = 100 if SIMULATED else 5_000
    make = {"ladder": lambda: ladder(n), "skewed": lambda: ew.generate.uniform(n, 3 * n, seed=1)}[kind]
    graph = ew.generate.with_weights(make(), 1, 9)
    there = graph.to("cuda")
    usual = {ew.bfs: "cooperative", ew.shortest_paths: "near-far"}
    for is_prepared in (False, True):
        for search_of, by_levels in usual.items():
            found = search_of(there, 1)
            assert found.method == (NAME if is_prepared and kind == "ladder" else by_levels)
            assert np.array_equal(found.on_host().distances, search_of(graph, 1).distances)
            assert search_of(there, 1, cutoff=5).method == by_levels
        assert there.prepare("searches") is there and there.prepared == ("searches",)


@pytest.mark.simulator
@pytest.mark.skipif(not SIMULATED, reason="hierarchies are prepared on GPUs")
def test_a_wider_type_is_searched_by_levels():
    """What was prepared is of the type of the weights; nothing is prepared by itself for a wider one."""
    path = ew.Graph.from_edges(np.arange(5), np.arange(1, 6), weights=np.int32([2**30] * 5)).to("cuda")
    found = ew.shortest_paths(path.prepare("searches"), 0)
    assert (found.method, found.on_host().distances[-1]) == ("near-far", 5 * 2**30)
    assert ew.shortest_paths(path, 0, cutoff=2**30).method == "near-far"
    assert ew.shortest_paths(path, 0, dtype="int64").method == "near-far"


@pytest.mark.interpreter
def test_shortcuts_beyond_the_type_are_no_paths():
    """Of two edges of 2**62 a shortcut would be of 2**63, beside an edge of 1."""
    path, tips = np.arange(60), np.arange(60, 119)
    sources, targets = (
        np.concatenate([path[:-1], tips, tips]),
        np.concatenate([path[1:], path[:-1], path[1:]]),
    )
    graph = ew.Graph.from_edges(sources, targets, weights=np.repeat([1, 2**62, 2**62], 59))
    found = ew.shortest_paths(graph, 0, method=NAME).distances
    assert found.tolist() == [*range(60), *(2**62 + np.arange(59)).tolist()]


WORKERS, SEEDS = 3, range(10)
RACED = graph_of(ZOO["grid"], least=1)


def contracted(seed, **replaced):
    """The hierarchy of a grid by three blocks of one thread under a schedule, or None if it does not end."""
    scheduler = jitter.Scheduler(seed)
    region = jitter.jittery(hierarchies.contract.body, **{"CORE": 4, "PART": 100, **replaced})
    rows, n, m = rows_in(RACED).outgoing, RACED.n_vertices, len(RACED.neighbours)

    def share(count, dtype):
        return jitter.Jittery(np.zeros(count, dtype), scheduler)

    remaining = hierarchies.Remaining(
        share(2 * n, np.uint32),
        share(n, np.uint8),
        share(n, np.int64),
        share(8 * m, np.uint32),
        share(8 * m, np.int32),
    )
    ranked = hierarchies.Ranked(
        share(n, np.uint32),
        share(n + 1, np.int64),
        share(4 * m, np.uint32),
        share(4 * m, np.int32),
        share(hierarchies.ROUNDS + 2, np.int64),
    )
    counts = share(hierarchies.COUNTERS, np.int64)
    shared = np.zeros((WORKERS, WORDS), np.int64)
    ended = jitter.run_region(
        scheduler,
        WORKERS,
        lambda number, barrier: region(
            BlockWorker(number, WORKERS, barrier, shared[number]),
            rows,
            remaining,
            ranked,
            counts,
            2**31 - 1,
            64,
        ),
    )
    if not ended:
        return None
    out, total, n_rounds, full = counts.values[list(hierarchies.ALL)].tolist()
    assert not full
    n_entries = out & hierarchies.LOWER
    columns = ranked.offsets.values, ranked.neighbours.values[:n_entries], ranked.weights.values[:n_entries]
    return hierarchies.Hierarchy(
        ranked.ranks.values, CSR(*columns), ranked.starts.values[: n_rounds + 2], total / n_entries
    )


def distances_of(hierarchy):
    """Distances from vertex 0 by the rows of a hierarchy in both directions."""
    ranks, (offsets, neighbours, weights), *_ = hierarchy
    owners = np.repeat(np.arange(len(ranks)), np.diff(offsets))
    found = oracle(len(ranks), owners, neighbours.astype(np.int64), [int(ranks[0])], weights.tolist())
    return [found[rank] for rank in ranks]


@pytest.mark.interpreter
@pytest.mark.interpreted
def test_a_hierarchy_is_right_under_every_schedule():
    rows, answer = rows_in(RACED), expected(RACED, [0])
    for seed in SEEDS:
        hierarchy = contracted(seed)
        check_hierarchy(rows, hierarchy)
        assert distances_of(hierarchy) == answer, f"seed {seed}"


def is_wrong(seed):
    try:
        hierarchy = contracted(seed, fetch_add=jitter.careless_add)
        return hierarchy is None or distances_of(hierarchy) != expected(RACED, [0])
    except (AssertionError, IndexError, ValueError, jitter.Stuck):
        return True


@pytest.mark.interpreter
@jitter.planted()
def test_a_planted_race_shows():
    assert any(is_wrong(seed) for seed in SEEDS)
