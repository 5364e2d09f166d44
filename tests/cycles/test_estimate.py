"""Estimates: right on average, and inside their intervals as often as they say."""

import os

import numpy as np
import pytest

import edgewise as ew
from edgewise.cycles import estimate
from edgewise.cycles.check import count_by_hand
from edgewise.cycles.estimate import estimate_cycles
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.errors import GraphError, OptionError
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


def test_rows_that_are_looked_at_in_part_leave_no_bias():
    n = 2000  # hubs 0 and 1, joined, and 300 common leaves among others
    leaves = np.arange(2, n)
    sources = np.concatenate([np.zeros(n - 2, np.int64), np.ones(300, np.int64), [0]])
    graph = ew.Graph.from_edges(sources, np.concatenate([leaves, leaves[:300], [1]]), n_vertices=n)
    assert estimate.LOOKS < 300
    found = [estimate_cycles(graph, 3, samples=1_000, seed=seed) for seed in range(100)]
    totals = np.array([one.total for one in found])
    assert abs(totals.mean() - 300) <= 4 * totals.std() / 10
    assert np.mean([one.low <= 300 <= one.high for one in found]) > 0.88


def test_few_hits_make_wide_intervals():
    ring = np.arange(1000)
    graph = ew.Graph.from_edges(np.append(ring, 0), np.append((ring + 1) % 1000, 2), n_vertices=1000)
    assert ew.cycle_counts(graph, 3).total == 1
    for seed in range(20):
        found = estimate_cycles(graph, 3, samples=100, seed=seed)
        assert found.hits < estimate.FEW
        assert found.low <= 1 <= found.high
        assert found.high > 5
    assert estimate._interval(np.zeros(10), 0.95) == (0, pytest.approx(1 - 0.025**0.1))
    assert estimate._interval(np.ones(10), 0.95) == (pytest.approx(0.025**0.1), 1)


@pytest.mark.interpreter
@pytest.mark.simulator
def test_the_same_seed_gives_the_same_on_every_engine():
    graph = graph_of("two cliques and a bridge")
    found = estimate_cycles(graph, 5, samples=200, seed=7)
    assert (found.samples, found.seed, found.length, found.confidence) == (200, 7, 5, 0.95)
    assert found.hits == 56
    assert found.total == pytest.approx(21.590098104652842, rel=1e-12)
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
    assert estimate_cycles(directed, 3, undirected=True, samples=10).total == 1
    with pytest.raises(GraphError, match="too many walks of 1998 edges"):
        estimate_cycles(graph_of("clique").to("cpu"), 2000)


def test_a_sample_of_dblp(data):
    graph = ew.read(data / "com-DBLP" / "com-dblp.ungraph.txt.gz")
    for length, answer in ((3, 2_224_385), (5, 3_449_276_253), (6, 281_926_360_540)):
        found = estimate_cycles(graph, length, samples=30_000, confidence=0.999)
        assert found.low <= answer <= found.high
        assert found.high - found.low < 0.1 * answer
