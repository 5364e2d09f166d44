"""Squares and pentagons on CPU cores: the oracle's counts, whatever the order, the pieces and the threads."""

import numpy as np
import pytest

import edgewise as ew
from edgewise.cycles.counting import apex, pentagons, squares
from edgewise.cycles.counting.ranking import ranked_of
from edgewise.device import threads
from edgewise.primitives import thread_pool
from tests.oracles import count_by_hand
from tests.zoo import ZOO

PAGES = {4: squares, 5: pentagons}
LENGTHS = pytest.mark.parametrize("length", PAGES)


def graph_of(n, sources, targets):
    return ew.Graph.from_edges(sources, targets, n_vertices=n)


def counted(graph, length, order=None, pieces=1):
    """Counts by vertex, from tasks in an order that is dealt in pieces."""
    ranked, page = ranked_of(graph), PAGES[length]
    if order is None:
        order = np.argsort(-page.work(ranked, length), kind="stable")
    solver = page.start(ranked, order.astype(np.int64), length)
    for piece in range(pieces):
        solver.count(len(order) * piece // pieces, len(order) * (piece + 1) // pieces)
    counts = solver.counts.copy()
    assert np.array_equal(solver.counts, counts)
    return counts[ranked.rank]


def random_graph(seed, n=12, m=30):
    draw = np.random.default_rng(seed)
    return n, draw.integers(0, n, m), draw.integers(0, n, m)


@pytest.mark.interpreter
@pytest.mark.parametrize("shape", ZOO)
@LENGTHS
def test_zoo(length, shape):
    assert counted(graph_of(*ZOO[shape]), length).tolist() == count_by_hand(*ZOO[shape], length).tolist()


@pytest.mark.parametrize("seed", range(60))
@LENGTHS
def test_random_graphs(length, seed):
    edges = random_graph(seed, 6 + seed % 9, 8 + seed)
    assert counted(graph_of(*edges), length).tolist() == count_by_hand(*edges, length).tolist()


@pytest.mark.interpreter
@LENGTHS
def test_tasks_in_any_order_and_piece(length):
    edges = random_graph(0, 20, 70)
    expected = count_by_hand(*edges, length).tolist()
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(20)
        assert counted(graph_of(*edges), length, order, pieces=1 + 3 * seed).tolist() == expected


@LENGTHS
def test_closed_forms(length):
    n = 40
    clique = [u for u in range(n) for v in range(u)], [v for u in range(n) for v in range(u)]
    among = {4: 39 * 38 * 37 // 2, 5: 39 * 38 * 37 * 36 // 2}
    assert set(counted(graph_of(n, *clique), length).tolist()) == {among[length]}
    left, right = 7, 30
    between = (
        [u for u in range(left) for v in range(right)],
        [left + v for u in range(left) for v in range(right)],
    )
    counts = counted(graph_of(left + right, *between), length)
    pairs = {4: [6 * 30 * 29 // 2, 29 * 7 * 6 // 2], 5: [0, 0]}[length]
    assert counts.tolist() == [pairs[0]] * left + [pairs[1]] * right


@LENGTHS
def test_workers_share_and_numbers_widen(length, monkeypatch):
    graph = ew.generate.rmat(10, edge_factor=8, seed=5)
    expected = counted(graph, length)
    before = threads.count()
    try:
        threads.use(1)
        assert np.array_equal(counted(graph, length), expected)
    finally:
        threads.use(before)
    monkeypatch.setattr(pentagons, "NARROW", 300)  # then numbers are 32 bits wide
    monkeypatch.setattr(thread_pool, "CHUNK_TASKS", 2)
    assert np.array_equal(counted(graph, length), expected)


def test_bounds_of_wedges():
    ranked = ranked_of(ew.generate.rmat(10, edge_factor=8, seed=5))
    steps = apex.wedge_bounds(ranked)
    below = [
        sum(int((ranked.neighbours[ranked.offsets[a] : ranked.offsets[a + 1]] < v).sum()) for a in row)
        for v, row in enumerate(
            ranked.neighbours[ranked.offsets[v] : ranked.split[v]].astype(int)
            for v in range(len(ranked.split))
        )
    ]
    assert (steps >= below).all()
    for enough in (0, 1_000, 10**9):
        assert apex.max_wedge_bound(ranked, enough) >= steps.max()
    assert apex.max_wedge_bound(ranked, 0) == steps.max()


def test_published_totals(data):
    graph = ew.read(data / "com-DBLP" / "com-dblp.ungraph.txt.gz")
    for length, total in ((4, 55_107_655), (5, 3_449_276_253)):
        assert int(counted(graph, length).sum()) == length * total


def test_wedges_of_a_vertex_that_need_17_bits():
    """Two hubs with 65,536 common neighbours, and nothing else."""
    ends = np.repeat([0, 1], 2**16), np.tile(np.arange(2, 2**16 + 2), 2)
    graph = ew.Graph.from_edges(*ends, n_vertices=2**16 + 2)
    assert int(counted(graph, 4, np.arange(2**16 + 2)).sum()) == 4 * (2**16 * (2**16 - 1) // 2)
