"""Counts that threads share, under a jittery interpreter: no credit is lost, and a planted race is caught."""

import numpy as np
import pytest

import edgewise as ew
from edgewise.cycles.counting import by_number
from edgewise.cycles.counting.ranked import CSR
from edgewise.cycles.counting.ranking import ranked_of
from edgewise.cycles.search import dfs
from edgewise.device.regions import Worker
from tests import jitter

pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]
SEEDS = range(30)
#: Two cliques that share an edge, in stretches of two vertices, which the threads credit at the same time.
EDGES = [(u, v) for clique in (range(5), range(3, 8)) for u in clique for v in clique if u < v]
COUNTS = [6, 6, 6, 12, 12, 6, 6, 6]


def counts_on(seed, **replaced):
    """Counts by three threads of which each keeps the credits of two vertices apart."""
    graph = ew.Graph.from_edges(*np.unique(EDGES, axis=0).T, n_vertices=8)
    scheduler = jitter.Scheduler(seed)
    next_stretch, counts = (jitter.Jittery(one, scheduler) for one in (np.zeros(1, np.int64), np.full(8, 99)))
    kinds = (by_number.SLOTS, np.uint64), (8, np.int64), (by_number.NEAR, np.uint32)
    kinds += (2, np.int64), (2, np.int64)
    scratch = by_number.Scratch(*(np.zeros(3 * size, kind) for size, kind in kinds))
    csr = CSR(graph.offsets, graph.neighbours)
    region = jitter.jittery(by_number.count_rows.body, WINDOW=2, **replaced)

    def start(number, barrier):
        plan = by_number.Plan(2, True, True)
        region(Worker(number, 3, barrier), plan, next_stretch, csr, scratch, counts, np.zeros(1, np.int64))

    assert jitter.run_region(scheduler, 3, start)
    return counts.values.tolist()


def test_no_credit_is_lost():
    for seed in SEEDS:
        assert counts_on(seed) == COUNTS, f"seed {seed}"


def test_a_careless_addition_is_found():
    assert any(counts_on(seed, fetch_add=jitter.careless_add) != COUNTS for seed in SEEDS)


def found_on(seed, length=4, **replaced):
    """Cycles of four in the same graph, whose wedges three threads take two at a time."""
    graph = ew.Graph.from_edges(*np.unique(EDGES, axis=0).T, n_vertices=8)
    scheduler, ranked = jitter.Scheduler(seed), ranked_of(graph)
    solver = dfs.Searches(ranked, np.arange(8), length)
    taken, closed = (jitter.Jittery(np.zeros(count, np.int64), scheduler) for count in (1, 8))
    tasks, own = dfs.Tasks(solver.order, 0, 8, taken, 2), length - 2
    path, entries = (np.zeros(3 * own, np.int64) for _ in range(2))
    stacks = dfs.Stacks(path, entries, own, 1, np.zeros(0, np.uint8), 8)
    search = jitter.jittery(dfs.search.body, **replaced)

    def start(worker, barrier):
        search(worker, length, tasks, solver.numbers, ranked.csr, stacks, closed)

    assert jitter.run_region(scheduler, 3, start)
    return (closed.values[ranked.rank] // 2).tolist()


def test_wedges_of_a_vertex_by_several_threads():
    expected = ew.cycle_counts(ew.Graph.from_edges(*np.unique(EDGES, axis=0).T, n_vertices=8), 4).counts
    for seed in SEEDS:
        assert found_on(seed) == expected.tolist(), f"seed {seed}"
    assert any(found_on(seed, fetch_add=jitter.careless_add) != expected.tolist() for seed in SEEDS)
