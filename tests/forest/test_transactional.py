"""Forests by transactions: every protocol and form finds Kruskal's edges, with one lane and with several."""

import os

import numpy as np
import pytest

import edgewise as ew
from edgewise import transactions
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.errors import OptionError
from edgewise.forest import PROTOCOLS
from edgewise.forest.order import LARGEST
from edgewise.forest.transactional import IN_PLACE, Activity, Incidence, discover
from tests import warps
from tests.zoo import ZOO

pytestmark = pytest.mark.interpreter
simulator = pytest.mark.simulator
DEVICE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")
SHAPES = ("two cliques", "path, reversed ids") if SIMULATED else tuple(ZOO)
FORMS = [{"log": 1}, {"log": 4, "deactivate": True}, {"deactivate": True}]


def weighted(shape, seed=0):
    n, sources, targets = ZOO[shape]
    weights = np.random.default_rng(seed).integers(0, 9, len(sources))
    return ew.Graph.from_edges(sources, targets, weights=weights, n_vertices=n)


def found_by(graph, **options):
    return ew.minimum_spanning_forest(graph.to(DEVICE), method="transactional", **options).on_host()


@simulator
@pytest.mark.parametrize("options", FORMS, ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_forms_find_the_forest(shape, options):
    graph = weighted(shape)
    expected = ew.minimum_spanning_forest(graph, method="kruskal")
    found = found_by(graph, **options)
    assert np.array_equal(found.edges, expected.edges)
    assert np.array_equal(found.labels, expected.labels)


@pytest.mark.release
@pytest.mark.parametrize("protocol", PROTOCOLS if INTERPRETED else ["priority"])
def test_protocols_find_the_forest(protocol):
    graph = weighted("grid", 1)
    expected = ew.minimum_spanning_forest(graph, method="kruskal").edges
    for options in FORMS:
        if "log" in options or protocol not in IN_PLACE:
            found = found_by(graph, protocol=protocol, **options)
            assert np.array_equal(found.edges, expected), options
            assert {one.protocol for one in found.transactions.rounds} == {protocol}


def test_a_small_log_overflows_and_is_made_larger():
    n = 200
    graph = ew.Graph.from_edges(np.arange(n - 1), np.arange(1, n), weights=np.arange(n - 1)[::-1])
    one, four = (found_by(graph, log=log).transactions.rounds for log in (1, 4))
    assert sum(run.overflows for run in one) > sum(run.overflows for run in four)


def test_several_devices():
    graph = weighted("grid", 2)
    options = {"protocol": "priority", "log": 8, "deactivate": True, "devices": ["cpu:0", "cpu:1"]}
    found = ew.minimum_spanning_forest(graph, method="transactional", **options)
    assert np.array_equal(found.edges, ew.minimum_spanning_forest(graph).edges)


def test_options_are_checked():
    graph = weighted("grid")
    for options, message in (
        ({"protocol": "woundwait"}, "did you mean wound-wait"),
        ({"protocol": "invisible"}, "writes in place; give log= as well"),
        ({"deactivate": 3}, "use one of False, True"),
        ({"log": 0}, "must be a whole number"),
    ):
        with pytest.raises(OptionError, match=message):
            found_by(graph, **options)
    with pytest.raises(OptionError, match="kruskal has no option 'log'"):
        ew.minimum_spanning_forest(graph, method="kruskal", log=2)


def test_protocols_are_those_of_the_room():
    assert tuple(transactions.PROTOCOLS) == PROTOCOLS


@pytest.mark.parametrize("deactivate", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_lanes_of_a_warp_share_the_entries(seed, deactivate):
    """Rows of 0 to 11 entries, which begin and end anywhere in the pieces that a warp of 4 lanes reads."""
    draw = np.random.default_rng(seed)
    n = 21
    offsets = np.concatenate([[0], np.cumsum(draw.integers(0, 12, n))])
    neighbours, words = draw.integers(0, n, offsets[-1]), draw.permutation(offsets[-1])
    parent = draw.integers(0, 3, n)
    last_round = draw.integers(0, 2, n).astype(np.int32) if deactivate else np.empty(0, np.int32)
    is_active = last_round > 0 if deactivate else np.ones(n, bool)
    rows = np.repeat(np.arange(n), np.diff(offsets))
    leaves = (parent[rows] != parent[neighbours]) & is_active[rows]
    best, expected = np.full(n, LARGEST), np.full(n, LARGEST)
    np.minimum.at(expected, parent[rows[leaves]], words[leaves])
    incidence = Incidence(offsets, neighbours, words.copy())
    warps.run(discover, incidence, parent, best, Activity(last_round, 2))
    assert np.array_equal(best, expected)
    pruned = is_active[rows] & ~leaves
    assert np.array_equal(incidence.words, np.where(pruned, LARGEST, words))
    if deactivate:
        assert np.array_equal(last_round == 2, np.bincount(rows[leaves], minlength=n) > 0)
