"""The partitioner with transactions: each phase against a slow one, moves under a jittery interpreter."""

import warnings

import numpy as np
import pytest

import edgewise as ew
from edgewise.device import arrays
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.errors import OptionError
from edgewise.partitions import PRESETS, gain_ranges, partition
from edgewise.partitions.gain_ranges import refine_by_ranges
from edgewise.partitions.levels import Level, moved, with_rows
from edgewise.partitions.presets import Settings
from edgewise.partitions.rating import FACT, WORDS
from edgewise.partitions.refine import Refinement
from edgewise.partitions.refine.state import AT
from edgewise.partitions.transactional import Counts, Transactions, match
from tests import jitter
from tests.zoo import ZOO

DEVICE = "cuda:0" if SIMULATED else "cpu"
pytestmark = [pytest.mark.interpreter]
simulator = pytest.mark.simulator
PRESET = "manoochehri-2017"


@pytest.fixture
def small_levels(monkeypatch):
    """Settings with which graphs of few vertices have several levels."""
    small = {"coarsest": 12, "coarsest_for_each": 3, "smallest": 10, "tries": 2, "patience": 3}
    monkeypatch.setitem(PRESETS, PRESET, PRESETS[PRESET]._replace(**small))


def level_of(graph, sizes=None):
    offsets, neighbours, weights = graph.offsets, graph.neighbours, graph.csr_weights
    weights = np.empty(0, np.int32) if weights is None else weights.astype(np.int32)
    sizes = np.ones(len(offsets) - 1, np.int64) if sizes is None else sizes
    return Level(offsets, neighbours, weights, sizes, np.empty(0, neighbours.dtype))


def hubs(scale):
    graph = ew.generate.rmat(scale, edge_factor=3, seed=1).simplified()
    graph = ew.generate.with_weights(graph, 1, 5, seed=1)
    return level_of(graph, np.arange(graph.n_vertices) % 3 + 1)


def edges(level):
    rows = np.repeat(np.arange(len(level.sizes)), np.diff(level.offsets)).tolist()
    weights = level.weights.tolist() or [1] * len(rows)
    return dict(zip(zip(rows, level.neighbours.tolist()), weights))


@simulator
def test_pairs():
    level = hubs(4)
    there, done = with_rows(moved(level, DEVICE)), []
    mates = match(there, 4, Settings(), done)
    pairs = arrays.move(mates, "cpu").tolist()
    assert all(pairs[pairs[vertex]] == vertex for vertex in range(16))
    joined = [(one, other) for one, other in enumerate(pairs) if one < other]
    assert joined
    assert all(pair in edges(level) and level.sizes[list(pair)].sum() <= 4 for pair in joined)
    assert sum(one.commits for one in done) >= len(joined)


def test_heavy_edges_are_matched():
    """Every other edge of a cycle of four is heavy."""
    level = level_of(ew.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], weights=[1, 9, 1, 9]))
    assert match(level, 2, Settings(), []).tolist() == [3, 2, 1, 0]
    assert match(level, 1, Settings(), []).tolist() == [0, 1, 2, 3]


def cut_of(level, part):
    return sum(weight for (one, other), weight in edges(level).items() if part[one] != part[other]) // 2


@simulator
@pytest.mark.parametrize("slack", [0, 3, 100])
def test_moves_keep_the_balance(slack):
    """The cut falls to what is said, and the weights of the parts are those of their vertices."""
    level, k = hubs(4 if SIMULATED else 6), 3
    n = len(level.sizes)
    part = (np.arange(n) % k).astype(np.uint32)
    limits = np.bincount(part, level.sizes).astype(np.int64) + slack
    there, done = with_rows(moved(level, DEVICE)), []
    before = cut_of(level, part)
    own = (arrays.move(one, DEVICE) for one in (part, limits))
    found, cut, excess = refine_by_ranges(there, *own, Settings(), before, done)
    found = arrays.move(found, "cpu")
    loads = np.bincount(found, level.sizes, k)
    assert cut == cut_of(level, found) <= before
    assert (loads <= limits).all() and excess == (loads - limits).max()
    assert slack == 0 or cut < before
    assert all(moved <= statistics.commits for statistics, _, moved in done)


def test_no_part_becomes_empty():
    level = level_of(ew.Graph.from_edges([0, 0, 0], [1, 2, 3]))
    part = np.array([1, 0, 0, 0], np.uint32)
    found, cut, _ = refine_by_ranges(level, part, np.array([4, 4]), Settings(), 3, [])
    assert set(found.tolist()) == {0, 1} and cut <= 2


@pytest.mark.parametrize("shape", ZOO)
def test_zoo(shape, small_levels):
    n, sources, targets = ZOO[shape]
    graph = ew.Graph.from_edges(sources, targets, n_vertices=n)
    for k in sorted({1, 2, n - 1, n, *(() if INTERPRETED else (3, 7, 8, 64))} - {-1, 0}):
        with warnings.catch_warnings():
            warnings.simplefilter("error" if k <= n else "ignore")
            found = partition(graph, k, preset=PRESET)
        found.verify()
        limit = (103 * -(-n // k)) // 100
        assert found.weights.max() <= limit and (k > n or found.weights.min() > 0)


def test_statistics(small_levels):
    found = partition(ew.generate.grid(12, 12), 4, preset=PRESET)
    assert (found.method, found.preset) == ("transactional", PRESET)
    work = found.transactions
    assert work.levels[0].vertices == 144 and len(work.levels) >= 3
    assert work.matching.commits > 72 and 0 <= work.matching.abort_rate < 1
    assert work.weights.commits <= work.moves.commits
    assert found.report()["move_abort_rate"] == work.moves.abort_rate
    assert partition(ew.generate.grid(3, 3), 2).transactions is None


def test_a_partition_is_improved():
    graph = ew.generate.grid(10, 10)
    start = np.random.default_rng(1).permutation(np.arange(100) % 4)
    found = partition(graph, 4, initial=start, method="transactional", imbalance=0.2)
    assert found.edge_cut < ew.evaluate_partition(graph, start).edge_cut
    assert [one.rounds for one in found.transactions.levels] == [0]


def test_the_preset_has_its_method():
    with pytest.raises(OptionError, match="has the method transactional; leave out method='jet'"):
        partition(ew.generate.grid(3, 3), 2, preset=PRESET, method="jet")


def changed_by_threads(seed, **atomics):
    """Weights of two parts after three threads have moved weight between them; how often it worked."""
    scheduler = jitter.Scheduler(seed)
    loads = jitter.Jittery(np.array([30, 0]), scheduler)
    change = jitter.jittery(gain_ranges.change, **atomics)
    worked = []

    def thread():
        for _ in range(4):
            if change(loads, 1, 5, 0, 25) >= 0:
                worked.append(change(loads, 0, -5, 1, 10**9) >= 0)

    scheduler.run(thread, thread, thread)
    return loads.values.tolist(), sum(worked)


@pytest.mark.skipif(SIMULATED, reason="the interpreter finds races")
def test_no_weight_is_lost():
    assert all(changed_by_threads(seed) == ([5, 25], 5) for seed in range(60))
    assert any(changed_by_threads(seed, cas=jitter.careless_cas) != ([5, 25], 5) for seed in range(60))


@pytest.mark.skipif(INTERPRETED, reason="the workers of the interpreter take turns")
def test_neighbours_do_not_move_together():
    """After one iteration with the whole range, the gains of what has moved add up to the fall of the cut."""
    level, k = hubs(9), 4
    part = (np.arange(512) * 7 % k).astype(np.uint32)
    for seed in range(5):
        job = gain_ranges.Refinement(level, part.copy(), np.full(k, 10**6), Settings(seed=seed))
        words = job.memory.facts.reshape(-1, WORDS)
        gains = words[:, FACT.link] - words[:, FACT.own]
        before = job.progress[AT.own_total]
        count = gain_ranges.Stages(job, []).move_range(1)
        has_moved = np.flatnonzero(job.memory.search.part != part)
        assert 0 < count == len(has_moved)
        assert (job.progress[AT.own_total] - before) // 2 == gains[has_moved].sum()
        marks = np.isin(np.repeat(np.arange(512), np.diff(level.offsets)), has_moved)
        assert not (marks & np.isin(level.neighbours, has_moved)).any()


def test_ratings_have_a_table_if_many_edges_are_between_parts(monkeypatch):
    level, jobs = level_of(ew.Graph.from_edges(*np.triu_indices(20, 1))), []

    def begun(*arguments):
        jobs.append(Refinement(*arguments))
        return jobs[0]

    monkeypatch.setattr(gain_ranges, "Refinement", begun)
    refine_by_ranges(level, np.arange(20, dtype=np.uint32) % 2, np.full(2, 12), Settings(), 100, [])
    assert len(jobs[0].memory.connections.totals) == 2 * 20


def test_a_report_sums_the_seconds_of_both_kinds():
    found = Transactions(Counts(3, 1, 0.5), Counts(6, 2, 0.25), Counts(0, 0, 9.0), ()).report()
    assert found["seconds_in_transactions"] == 0.75
    assert (found["matching_abort_rate"], found["move_abort_rate"], found["weight_abort_rate"]) == (
        0.25,
        0.25,
        0,
    )
