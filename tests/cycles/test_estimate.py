"""Estimates: right on average, and inside their intervals as often as they say."""

import os

import numpy as np
import pytest

import edgewise as ew
from edgewise.cycles.search.estimate import estimate_cycles, interval
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.errors import GraphError, OptionError
from tests.oracles import count_by_hand
from tests.zoo import ZOO

PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")
SLOW = INTERPRETED or SIMULATED


def graph_of(shape):
    n, sources, targets = ZOO[shape]
    return ew.Graph.from_edges(sources, targets, n_vertices=n).to(PLACE)


def exact(shape, length):
    return int(count_by_hand(*ZOO[shape], length).sum()) // length


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize(
    "shape", ["empty", "isolated", "repeated edges", "grid", "two cliques", "star from its last"]
)
@pytest.mark.parametrize("length", [3, 4, 5, 6])
def test_the_number_is_in_the_interval(shape, length):
    found = estimate_cycles(graph_of(shape), length, samples=300 if SLOW else 20_000, confidence=0.999)
    assert found.low <= exact(shape, length) <= found.high
    assert found.low <= found.total <= found.high
    if shape in ("empty", "isolated", "star from its last"):
        assert (found.total, found.low, found.high, found.hits) == (0, 0, 0, 0)


@pytest.mark.parametrize("length", [3, 4, 5, 6, 7])
@pytest.mark.parametrize("shape", ["dense", "clique", "two cliques and a bridge"])
def test_intervals_hold_the_number_as_often_as_they_say(shape, length):
    graph, answer = graph_of(shape), exact(shape, length)
    found = [estimate_cycles(graph, length, samples=2_000, seed=seed, confidence=0.9) for seed in range(100)]
    assert 0.82 <= np.mean([one.low <= answer <= one.high for one in found]) <= 1
    totals = np.array([one.total for one in found])
    assert abs(totals.mean() - answer) <= 4 * totals.std() / np.sqrt(len(totals)) + 1e-9


def hubs_with_leaves():
    """Two hubs with three common neighbours, and 2,000 neighbours of one edge each: three squares."""
    leaves = np.arange(5, 4005)
    sources = np.concatenate([[0, 0, 0, 1, 1, 1], leaves % 2])
    return sources, np.concatenate([[2, 3, 4, 2, 3, 4], leaves])


def wheels_within():
    """Two hubs, joined, with 300 common neighbours, and 300 of each other in pairs: 900 triangles."""
    hub = np.repeat([0, 1], 600)
    rim = np.concatenate([np.arange(2, 602), np.arange(2, 302), np.arange(602, 902)])
    pairs = np.concatenate([np.arange(302, 602, 2), np.arange(602, 902, 2)])
    return np.concatenate([hub, pairs, [0]]), np.concatenate([rim, pairs + 1, [1]])


def sparse_with_a_clique():
    """2,000 vertices, 8,000 edges at random, and a clique of 20 among them."""
    dice = np.random.default_rng(5)
    first, second = np.triu_indices(20, 1)
    ends = dice.integers(2000, size=(2, 8000))
    return np.concatenate([ends[0], first]), np.concatenate([ends[1], second])


@pytest.mark.parametrize(
    ("edges", "length"), [(hubs_with_leaves, 4), (wheels_within, 3), (sparse_with_a_clique, 3)]
)
@pytest.mark.parametrize("samples", [20, 200, 400])
def test_intervals_hold_the_number_where_the_tail_is_long(edges, length, samples):
    graph = ew.Graph.from_edges(*edges()).to(PLACE)
    answer = ew.cycle_counts(graph, length).total
    found = [estimate_cycles(graph, length, samples=samples, seed=seed) for seed in range(60)]
    assert np.isfinite([(one.low, one.total, one.high) for one in found]).all()
    assert all(0 <= one.low <= one.total <= one.high for one in found)
    assert np.mean([one.low <= answer <= one.high for one in found]) > 0.9
    totals = np.array([one.total for one in found])
    assert abs(totals.mean() - answer) <= 5 * totals.std() / np.sqrt(len(totals)) + 1e-9


def test_trees_that_hang_on_cycles_do_not_matter():
    path = np.arange(2, 3002)
    hanging = np.concatenate([[0, 1, 2], path]), np.concatenate([[1, 2, 0], path + 1])
    found = estimate_cycles(ew.Graph.from_edges(*hanging).to(PLACE), 3, samples=50)
    assert found.total == pytest.approx(1) and found.hits == 50
    tree = ew.Graph.from_edges(path, path + 1).to(PLACE)
    assert estimate_cycles(tree, 3, samples=5).high == 0


def test_few_hits_make_wide_intervals():
    ring = np.arange(1000)
    graph = ew.Graph.from_edges(np.append(ring, 0), np.append((ring + 1) % 1000, 2), n_vertices=1000)
    assert ew.cycle_counts(graph, 3).total == 1
    for seed in range(20):
        found = estimate_cycles(graph, 3, samples=100, seed=seed)
        assert found.hits < 10
        assert found.low <= 1 <= found.high
        assert found.high > 5
    assert interval(np.ones(1), 0.95) == (0, 1)
    assert interval(np.zeros(101), 0.95) == (0, pytest.approx(7 * np.log(60) / 300))
    assert interval(np.ones(101), 0.95) == (pytest.approx(1 - 7 * np.log(60) / 300), 1)


@pytest.mark.interpreter
def test_no_cycle_is_longer_than_there_are_vertices():
    graph = graph_of("clique").to("cpu")
    for length in (graph.n_vertices + 1, 2000, 10**30):
        found = estimate_cycles(graph, length, samples=10)
        assert (found.total, found.low, found.high, found.hits) == (0, 0, 0, 0)


def test_too_many_walks_for_a_float_are_refused():
    large = ew.Graph.from_edges(*np.triu_indices(400, 1)).to(PLACE)
    with pytest.raises(GraphError, match="too many walks of 398 edges"):
        estimate_cycles(large, 400)
    found = estimate_cycles(large, 100, samples=5)
    assert 0 <= found.low <= found.total <= found.high < np.inf


@pytest.mark.interpreter
@pytest.mark.simulator
def test_the_same_seed_gives_the_same_on_every_engine():
    graph = graph_of("two cliques and a bridge")
    found = estimate_cycles(graph, 5, samples=200, seed=7)
    assert (found.samples, found.seed, found.length, found.confidence) == (200, 7, 5, 0.95)
    assert found.hits == 57
    assert found.total == pytest.approx(21.62208430032795, rel=1e-12)
    again = estimate_cycles(graph, 5, samples=200, seed=7)
    assert (again.total, again.low, again.high) == (found.total, found.low, found.high)
    assert estimate_cycles(graph, 5, samples=200, seed=8).total != found.total


@pytest.mark.interpreter
def test_what_cannot_be_estimated_is_refused():
    graph = graph_of("cycle").to("cpu")
    for wrong, message in (
        ({"length": 2}, "length=2 must be a whole number, 3 or more"),
        ({"length": 3.0}, "length=3.0 must be"),
        ({"samples": 0}, "samples=0 must be a whole number, 1 or more"),
        ({"seed": -1}, "seed=-1 must be a whole number, 0 or more"),
        ({"confidence": 1.0}, "confidence=1.0 must be a share"),
        ({"confidence": "high"}, "confidence='high' must be a share"),
    ):
        with pytest.raises(OptionError, match=message):
            estimate_cycles(graph, **{"length": 3, **wrong})
    with pytest.raises(OptionError, match="a Graph is needed, not dict"):
        estimate_cycles({}, 3)
    directed = ew.Graph.from_edges([0, 1, 2], [1, 2, 0], n_vertices=3, directed=True)
    with pytest.raises(GraphError, match="the graph is directed"):
        estimate_cycles(directed, 3)
    assert estimate_cycles(directed.undirected(), 3, samples=10).total == 1


def test_a_sample_of_dblp(data):
    graph = ew.read(data / "com-DBLP" / "com-dblp.ungraph.txt.gz")
    for length, answer in ((3, 2_224_385), (5, 3_449_276_253), (6, 281_926_360_540)):
        found = estimate_cycles(graph, length, samples=30_000, confidence=0.999)
        assert found.low <= answer <= found.high
        assert found.high - found.low < 0.1 * answer
