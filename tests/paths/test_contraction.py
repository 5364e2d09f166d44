"""Contraction hierarchies: their distances are those of Dijkstra's algorithm."""

import random

import numpy as np
import pytest

import edgewise as ew
from edgewise.device import Worker, threads
from edgewise.device.target import INTERPRETED
from edgewise.errors import GraphError
from edgewise.paths.hierarchy import contraction, kept
from edgewise.paths.hierarchy.witnesses import Limits, new_memory, table_of
from edgewise.paths.sssp.weights import rows_in
from tests import jitter
from tests.paths.hierarchies import contracted, dijkstra


def ascended(upward, rank):
    """Distances of the ranks that are reached from one of them, by ascending."""
    found = {rank: 0}
    for lower in range(rank, upward.rows.n_vertices):
        if lower in found:
            for entry in range(upward.rows.offsets[lower], upward.rows.offsets[lower + 1]):
                higher, weight = int(upward.rows.neighbours[entry]), int(upward.rows.weights[entry])
                found[higher] = min(found.get(higher, found[lower] + weight), found[lower] + weight)
    return found


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_paths_ascend_and_descend(seed, directed):
    draw = random.Random(seed)
    n = draw.randrange(1, 12)
    edges = [(draw.randrange(n), draw.randrange(n), draw.randrange(6)) for _ in range(draw.randrange(3 * n))]
    order = draw.sample(range(n), n)
    hierarchy = contracted(n, edges, order, directed)
    for source in range(n):
        forth = ascended(hierarchy.outgoing, int(hierarchy.ranks[source]))
        for target, right in enumerate(dijkstra(n, edges, source, directed)):
            back = ascended(hierarchy.incoming, int(hierarchy.ranks[target]))
            least = min((forth[rank] + back[rank] for rank in forth.keys() & back.keys()), default=None)
            assert least == right


def test_no_two_vertices_of_a_level_are_adjacent():
    hierarchy = contracted(5, [(0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 4, 1)])
    rows, level = (
        hierarchy.outgoing.rows,
        np.repeat(np.arange(len(hierarchy.levels) - 1), np.diff(hierarchy.levels)),
    )
    for rank in range(5):
        assert all(level[rows.neighbours[rows.offsets[rank] : rows.offsets[rank + 1]]] > level[rank])


def drawn(seed, largest=6, directed=None, dtype=np.int32):
    """A small random graph with self-loops, repeated edges and ties, as edges and as a graph."""
    draw = random.Random(seed)
    n = draw.randrange(1, 40)
    directed = draw.random() < 0.5 if directed is None else directed
    ends = [(draw.randrange(n), draw.randrange(n)) for _ in range(draw.randrange(3 * n))]
    edges = [(source, target, draw.randrange(largest)) for source, target in ends]
    columns = zip(*edges, strict=True) if edges else ([], [], [])
    sources, targets, weights = (np.array(column, np.int64) for column in columns)
    options = {"weights": weights.astype(dtype), "n_vertices": n, "directed": directed}
    return edges, ew.Graph.from_edges(sources, targets, **options)


def check(hierarchy, n, edges, directed, unit=False):
    """Ranks ascend by level, rows by rank; the least way up and down between any two vertices is shortest."""
    ranks, vertices, outgoing, incoming, levels = hierarchy
    assert np.array_equal(vertices[ranks], np.arange(n))
    assert (levels[0], levels[-1]) == (0, n) and np.all(np.diff(levels) > 0)
    assert (incoming is outgoing) == (not directed)
    level = np.repeat(np.arange(len(levels) - 1), np.diff(levels))
    for upward in (outgoing, incoming):
        (offsets, neighbours, weights), middles = upward
        assert len(neighbours) == len(weights) == len(middles) == offsets[-1]
        for rank in range(n):
            row = neighbours[offsets[rank] : offsets[rank + 1]].astype(np.int64)
            assert np.all(np.diff(row) > 0) and np.all(level[row] > level[rank])
            middle = middles[offsets[rank] : offsets[rank + 1]]
            assert np.all((middle < rank) | (middle == np.iinfo(middle.dtype).max))
    edges = [(source, target, 1) for source, target, *_ in edges] if unit else edges
    for source in range(n):
        forth = ascended(outgoing, int(ranks[source]))
        for target, right in enumerate(dijkstra(n, edges, source, directed)):
            back = ascended(incoming, int(ranks[target]))
            least = min((forth[rank] + back[rank] for rank in forth.keys() & back.keys()), default=None)
            assert least == right, (source, target)


@pytest.mark.interpreter
@pytest.mark.parametrize("seed", range(60))
def test_a_hierarchy_of_a_random_graph(seed):
    edges, graph = drawn(seed, largest=(1, 2, 6, 1000)[seed % 4])
    check(kept(graph.prepare("routes")), graph.n_vertices, edges, graph.directed)


@pytest.mark.interpreter
@pytest.mark.parametrize("seed", range(8))
def test_without_weights_every_edge_counts_one(seed):
    edges, graph = drawn(seed)
    graph = graph.without_weights()
    made = kept(graph.prepare("routes"))
    assert made.outgoing.rows.weights.dtype == np.int32
    check(made, graph.n_vertices, edges, graph.directed, unit=True)


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_a_hierarchy_does_not_depend_on_threads(n_threads):
    if n_threads > threads.greatest():
        pytest.skip(f"{n_threads} threads are not there")
    graph = ew.generate.with_weights(ew.generate.grid(60, 60, dropped=0.2, seed=1), 1, 9, seed=2)
    usual = kept(graph.prepare("routes"))
    again = graph.with_weights(graph.weights)
    with threads.limited(n_threads):
        again = kept(again.prepare("routes"))
    for one, other in zip(usual.outgoing.rows, again.outgoing.rows, strict=True):
        assert np.array_equal(one, other)
    for one, other in zip((usual.ranks, usual.outgoing.middles), (again.ranks, again.outgoing.middles)):
        assert np.array_equal(one, other)


@pytest.mark.interpreter
def test_kept_only_when_it_is_prepared():
    graph = ew.Graph.from_edges([0, 1], [1, 2], weights=[2, 3])
    assert kept(graph) is None
    assert graph.prepare("routes").prepared == ("routes",)
    made = kept(graph)
    assert kept(graph.prepare("routes")) is made


@pytest.mark.interpreter
def test_lengths_beyond_a_type_are_widened_or_refused():
    ends = np.arange(4), np.arange(1, 5)
    path = ew.Graph.from_edges(*ends, weights=np.full(4, 2**30, np.int32))
    assert kept(path.prepare("routes")).outgoing.rows.weights.dtype == np.int64
    path = ew.Graph.from_edges(*ends, weights=np.full(4, 2**62))
    with pytest.raises(GraphError, match=r"^a path passes the largest number of int64; use smaller weights$"):
        path.prepare("routes")
    path = ew.Graph.from_edges(*ends, weights=np.full(4, 3e38, np.float32))
    assert kept(path.prepare("routes")).outgoing.rows.weights.dtype == np.float64


@pytest.mark.interpreter
def test_no_path_leads_over_infinite_weights():
    graph = ew.Graph.from_edges([0, 1, 0], [1, 2, 2], weights=[np.inf, 1.0, 3.0])
    made = kept(graph.prepare("routes"))
    assert sorted(made.outgoing.rows.weights.tolist()) == [1.0, 3.0]


@pytest.mark.interpreter
def test_negative_weights_are_refused():
    graph = ew.Graph.from_edges(["a", "b"], ["b", "c"], weights=[2, -3])
    with pytest.raises(GraphError, match=r"^the edge from 'b' to 'c' weighs -3, and routes need weights"):
        graph.prepare("routes")
    assert graph.prepared == ()


@pytest.mark.interpreter
@pytest.mark.parametrize(("limit", "value"), [("ROOM", 0.5), ("PAIRS", 1), ("MOST_NEIGHBOURS", 1)])
def test_a_hierarchy_that_outgrows_its_graph_is_refused(limit, value, monkeypatch):
    if limit == "MOST_NEIGHBOURS" and not INTERPRETED:
        pytest.skip("compiled kernels keep the limits they were compiled with")
    monkeypatch.setattr(contraction, limit, value)
    graph = ew.generate.grid(12, 12)
    with pytest.raises(GraphError, match=r"^the shortcuts of this graph outgrow it, .* calls work without"):
        graph.prepare("routes")
    assert kept(graph) is None


def test_a_random_graph_is_refused_when_half_of_it_is_contracted(monkeypatch):
    draw = np.random.default_rng(1)
    graph = ew.Graph.from_edges(*draw.integers(0, 300, (2, 900)), n_vertices=300)
    assert kept(ew.Graph(300, edges=graph._edges).prepare("routes")) is not None  # too small to matter
    left = []
    monkeypatch.setattr(contraction, "FEW_PAIRS", 0)
    monkeypatch.setattr(contraction, "EARLY_PAIRS", 100)
    outgrows = contraction._outgrows
    monkeypatch.setattr(contraction, "_outgrows", lambda *of: left.append(len(of[0])) or outgrows(*of))
    with pytest.raises(GraphError, match=r"^the shortcuts of this graph outgrow it"):
        graph.prepare("routes")
    assert 75 < left[-1] < 150


def test_a_graph_of_many_neighbours_is_refused_by_the_pairs_that_it_takes(monkeypatch):
    draw, left = np.random.default_rng(1), []
    graph = ew.Graph.from_edges(*draw.integers(0, 600, (2, 12_000)), n_vertices=600)
    outgrows = contraction._outgrows
    monkeypatch.setattr(contraction, "FEW_PAIRS", 0)
    monkeypatch.setattr(contraction, "_outgrows", lambda *of: left.append(len(of[0])) or outgrows(*of))
    with pytest.raises(GraphError, match=r"^the shortcuts of this graph outgrow it"):
        graph.prepare("routes")
    assert left[-1] > 400


@pytest.mark.parametrize("shape", ["grid", "mesh", "hexagons"])
def test_flat_graphs_do_not_outgrow_themselves(shape, monkeypatch):
    monkeypatch.setattr(contraction, "FEW_PAIRS", 0)
    graph = ew.generate.mesh2d(14, 14) if shape == "mesh" else ew.generate.grid(14, 14)
    if shape == "hexagons":  # every second edge between rows, as in a wall of bricks
        kept_edges = (graph.targets - graph.sources == 1) | ((graph.sources // 14 + graph.sources) % 2 == 0)
        graph = ew.Graph.from_edges(graph.sources[kept_edges], graph.targets[kept_edges], n_vertices=196)
    weights = np.random.default_rng(1).integers(100, 1000, graph.n_edges)
    assert kept(graph.with_weights(weights).prepare("routes")) is not None


@pytest.mark.parametrize("kind", ["star", "wheel", "path", "isolated"])
def test_many_neighbours_take_no_time(kind):
    n = 5000
    rim = np.arange(1, n)
    ends = {
        "star": (np.zeros(n - 1, int), rim),
        "wheel": (np.r_[np.zeros(n - 1, int), rim[:-1]], np.r_[rim, rim[1:]]),
        "path": (np.arange(n - 1), rim),
        "isolated": ([0], [1]),
    }[kind]
    graph = ew.Graph.from_edges(*ends, n_vertices=n).prepare("routes")
    found = ew.routes(graph, [0, 7, 7], [9, n - 1, 7])
    assert found.verify() is found


WORKERS = 3


def searched(seed, **replaced):
    """States and keys of the vertices after the first round of searches, by workers under a schedule."""
    scheduler = jitter.Scheduler(seed)

    def share(record):
        return type(record)(*(jitter.Jittery(array, scheduler) for array in record))

    graph = ew.generate.with_weights(ew.generate.grid(5, seed=1), 1, 4, seed=2)
    rows = rows_in(graph)
    none = np.int64(2**63 - 1)
    (vertices, entries), _ = contraction._begin(rows, none, np.uint32(2**32 - 1))
    counts = np.zeros(contraction.COUNTERS, np.int64)
    turn = contraction._chosen(np.arange(graph.n_vertices, dtype=np.uint32), (vertices, entries), counts)
    memory = tuple(map(share, new_memory(WORKERS, np.dtype(np.int64))))
    region = jitter.jittery(contraction.search.body, **replaced)
    there = share(vertices)
    given = (there, share(entries)), memory, Limits(none, 50, 1), share(turn)
    ended = jitter.run_region(
        scheduler, WORKERS, lambda number, barrier: region(Worker(number, WORKERS, barrier), *given)
    )
    assert ended
    return there.states.values.tolist(), there.keys.values.tolist()


@pytest.mark.interpreter
def test_searches_find_the_same_under_every_schedule():
    usual = searched(0)
    assert contraction.CONTRACTED in usual[0]
    for seed in range(1, 8):
        assert searched(seed) == usual


def is_wrong(seed):
    try:
        return searched(seed, table_of=lambda tables, number: table_of(tables, 0)) != searched(0)
    except (AssertionError, IndexError, jitter.Stuck):
        return True


@pytest.mark.interpreter
@jitter.planted()
def test_a_table_that_workers_share_shows():
    assert any(is_wrong(seed) for seed in range(8))
