"""Methods under a jittery interpreter: no value is lost, and every schedule gives the same labels."""

from importlib import import_module

import numpy as np
import pytest

from edgewise.device import Worker
from edgewise.paths.csr import CSR
from tests import jitter
from tests.oracles import strong_components as oracle

both_ways = import_module("edgewise.strong.forward_backward")
page = import_module("edgewise.strong.signatures")
pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]
WORKERS, N, SEEDS, MANY_SEEDS = 3, 9, range(12), range(40)
rng = np.random.default_rng(4)
SOURCES, TARGETS = rng.integers(0, N, (2, 14)).astype(np.uint32)
EXPECTED = oracle(N, SOURCES.tolist(), TARGETS.tolist())
#: Three streets with returns, and a way round them on which there is none.
STREETS = np.array([[0, 1, 1, 2, 6, 7, 4, 5, 2, 7, 6], [1, 0, 2, 1, 7, 6, 5, 4, 6, 4, 3]], np.uint32)


def new_state(scheduler, n=N, rows=None):
    def jittery(values):
        return jitter.Jittery(values, scheduler)

    least, parent = (jittery(np.arange(n, dtype=np.uint32).repeat(times)) for times in (2, 1))
    counters = jittery(np.zeros(page.RETURNING.end, np.int64))
    unknown = np.full(n, 2**32 - 1, np.uint32)
    rows = rows or page.Rows(np.empty(0, np.int64), unknown[:0])
    return page.Signatures(least, unknown, parent, rows, counters, 2**32 - 1)


def labels_by(seed, edges, rows=None, **replaced):
    scheduler = jitter.Scheduler(seed)
    region = jitter.jittery(page.run.body, **replaced)
    state = new_state(scheduler, rows=rows)
    kept, spare = (page.Edges(*np.zeros((2, len(edges[0])), np.uint32)) for _ in range(2))
    ended = jitter.run_region(
        scheduler,
        WORKERS,
        lambda number, barrier: region(
            Worker(number, WORKERS, barrier), page.Edges(*edges), kept, spare, state
        ),
    )
    return state.labels.tolist() if ended else None


def test_labels_are_right_under_every_schedule():
    assert len(set(EXPECTED)) < N
    for seed in SEEDS:
        assert labels_by(seed, (SOURCES, TARGETS)) == EXPECTED, f"seed {seed}"


def test_labels_are_right_when_cycles_are_contracted():
    expected = oracle(N, *STREETS.tolist())
    assert [expected.count(label) for label in (0, 4, 6)] == [3, 2, 2]
    for seed in MANY_SEEDS:
        assert labels_by(seed, STREETS, SOON=0) == expected, f"seed {seed}"


def in_rows(sources, targets):
    """Edges in the order of their rows, and the rows."""
    order = np.lexsort((targets, sources))
    edges = np.array([sources, targets], np.uint32)[:, order]
    return edges, page.Rows(np.searchsorted(edges[0], np.arange(N + 1)), edges[1])


def test_labels_are_right_when_returns_are_contracted():
    edges, rows = in_rows(*STREETS)
    for seed in MANY_SEEDS:
        assert labels_by(seed, edges, rows) == oracle(N, *STREETS.tolist()), f"seed {seed}"


def test_edges_that_all_have_a_return_need_no_sweep():
    ends = np.array([[8, 7, 6, 5, 3, 1], [7, 6, 5, 4, 4, 2]])
    edges, rows = in_rows(*np.concatenate([ends, ends[::-1]], axis=1))
    expected = [0, 1, 1, 3, 3, 3, 3, 3, 3]
    for seed in MANY_SEEDS:
        assert labels_by(seed, edges, rows, spread=None) == expected, f"seed {seed}"


def test_joins_of_returns_at_the_same_time_are_not_lost():
    """Two edges join the tree of vertex 2 to those of 0 and 1; one is left if a join is lost."""
    ends = np.array([[0, 1, 1, 1, 1, 2, 2, 3, 4], [3, 4, 4, 4, 4, 5, 6, 5, 6]])
    edges, rows = in_rows(*np.concatenate([ends, ends[::-1]], axis=1))

    def leaves_nothing(seed, **replaced):
        left = []
        region = jitter.jittery(page.contract_returns, **replaced)
        scheduler = jitter.Scheduler(seed)
        state, kept = new_state(scheduler, rows=rows), page.Edges(*np.zeros((2, 2 * N), np.uint32))
        jitter.run_region(
            scheduler,
            WORKERS,
            lambda number, barrier: left.append(
                region(Worker(number, WORKERS, barrier), page.Edges(*edges), kept, state).left
            ),
        )
        return left == [0] * WORKERS

    assert all(leaves_nothing(seed) for seed in MANY_SEEDS)
    assert not all(leaves_nothing(seed, cas=jitter.careless_cas) for seed in range(120))


def test_joins_at_the_same_time_are_not_lost():
    def joined(seed, **replaced):
        """Whether a star becomes one tree, whose edges and returns all workers share."""
        scheduler = jitter.Scheduler(seed)
        join = jitter.jittery(page.join_returning, **replaced)
        leaves, hub = np.arange(1, N, dtype=np.uint32), np.full(N - 1, N - 1, np.uint32)
        state, edges = new_state(scheduler), page.Edges(hub, leaves)
        state.least.values[2 : 2 * N : 2] = N - 1
        workers = [Worker(number, WORKERS, None) for number in range(WORKERS)]
        scheduler.run(*(lambda worker=worker: join(worker, edges, N - 1, state) for worker in workers))
        trees = state.parent.values
        return len({root_of(trees, vertex) for vertex in range(1, N)}) == 1

    assert all(joined(seed) for seed in MANY_SEEDS)
    assert not all(joined(seed, cas=jitter.careless_cas) for seed in MANY_SEEDS)


def root_of(trees, vertex):
    return vertex if trees[vertex] == vertex else root_of(trees, trees[vertex])


def least_arrives(seed, **replaced):
    """Whether one sweep passes the least of many sources, which all workers have some of, to one target."""
    scheduler = jitter.Scheduler(seed)
    sweep = jitter.jittery(page.sweep, **replaced)
    sources = np.array([7, 5, 3, 8, 6, 0, 4, 2, 1], np.uint32)
    state, edges = new_state(scheduler, 10), page.Edges(sources, np.full(9, 9, np.uint32))
    workers = [Worker(number, WORKERS, None) for number in range(WORKERS)]
    scheduler.run(*(lambda worker=worker: sweep(worker, edges, 9, state.least) for worker in workers))
    return state.least.values[18] == 0


def test_no_value_is_lost_in_a_sweep():
    assert all(least_arrives(seed) for seed in MANY_SEEDS)
    assert not all(least_arrives(seed, fetch_min=jitter.careless_min) for seed in range(120))


def listed_once(seed, **replaced):
    """Whether each vertex that several workers push at the same time is listed once."""
    scheduler = jitter.Scheduler(seed)
    push = jitter.jittery(both_ways.push, **replaced)
    rows = CSR(np.arange(0, 10, 3), np.array([3, 4, 5] * 3, np.uint32), np.empty(0, np.int32))
    marks = jitter.Jittery(np.array([1, 1, 1, 0, 0, 0], np.uint8), scheduler)
    counters = jitter.Jittery(np.zeros(both_ways.WORDS, np.int64), scheduler)
    listed, own = np.zeros(20, np.uint32), np.zeros((WORKERS, both_ways.OWN), np.uint32)
    listed[:3] = range(3)
    reached = np.zeros((WORKERS, 1), np.uint64)
    state = both_ways.State(marks, listed, listed, own, reached, counters)
    offsets = np.append(rows.offsets, [9, 9, 9])
    way = both_ways.Way(CSR(offsets, rows.neighbours, rows.weights), CSR([], [], []), 0, 1)
    extent = both_ways.Extent(0, 3, 9, 3, 0)
    marked = []

    def work(number):
        marked.append(push(Worker(number, WORKERS, None), way, state, extent, 0))

    scheduler.run(*(lambda n=n: work(n) for n in range(WORKERS)))
    return sum(marked) == 3 and marks.values.tolist() == [1] * 6


def all_pushed(seed, pivots=(0, 2), **replaced):
    """Whether all ends of marked rows are marked, but for the rows of vertices that are listed."""
    scheduler = jitter.Scheduler(seed)
    push = jitter.jittery(both_ways.push_all, GRAIN=2, TIMES=1, **replaced)
    ends = np.array([[0, 0, 0, 1, 2, 3, 3, 4, 5, 6], [4, 5, 8, 3, 6, 7, 5, 1, 2, 0]])
    edges, (offsets, neighbours) = in_rows(*ends)
    rows = CSR(np.append(offsets, len(neighbours)), neighbours, np.empty(0, np.int32))
    marks = jitter.Jittery(np.isin(np.arange(N), pivots).astype(np.uint8), scheduler)
    counters = jitter.Jittery(np.zeros(both_ways.WORDS, np.int64), scheduler)
    listed, own = np.array([*pivots] + [0] * N, np.uint32), np.zeros((WORKERS, 2), np.uint32)
    reached = np.zeros((WORKERS, 1), np.uint64)
    state = both_ways.State(marks, listed, listed, own, reached, counters)
    way, n_pivots = both_ways.Way(rows, CSR([], [], []), 0, 1), len(pivots)
    extent, marked = both_ways.Extent(0, n_pivots, 9, N - n_pivots, 0), []

    def work(number, barrier):
        marked.append(push(Worker(number, WORKERS, barrier), way, state, extent, 0))

    assert jitter.run_region(scheduler, WORKERS, work)
    found, later = marks.values, listed[n_pivots:][: counters.values[both_ways.AT.listed]]
    is_pushed = (found[edges[0]] == 1) & ~np.isin(edges[0], later)
    is_right = set(found.tolist()) <= {0, 1} and len(np.unique(later)) == len(later)
    return is_right and sum(marked) == found.sum() - n_pivots and found[edges[1]][is_pushed].all()


@pytest.mark.parametrize("pivots", [(0,), (0, 2)])
def test_no_row_is_lost_when_all_are_pushed(pivots):
    assert all(all_pushed(seed, pivots) for seed in MANY_SEEDS)
    assert not all(all_pushed(seed, pivots, leave_rows=lambda *of: None) for seed in MANY_SEEDS)


def test_what_only_other_workers_have_reached_is_not_lost():
    none = {"reached_by_any": lambda word, state: np.uint64(0)}
    assert not all(all_pushed(seed, **none) for seed in MANY_SEEDS)


def test_a_vertex_is_listed_once():
    assert all(listed_once(seed) for seed in MANY_SEEDS)
    assert not all(listed_once(seed, push_from=careless_push()) for seed in MANY_SEEDS)


def careless_push():
    return jitter.jittery(both_ways.push_from, cas=jitter.careless_cas)
