"""Decisions on a forest: pairs that must be together, and pairs that cannot be."""

import numpy as np
import pytest

from edgewise.errors import GraphError
from edgewise.forest.constraints import Decisions, constrained, parted_twice

pytestmark = pytest.mark.interpreter


def model(n, edges, must, cannot):
    """The same by looking at all clusters again for each edge."""
    clusters = [{vertex} for vertex in range(n)]

    def cluster_of(vertex):
        return next(cluster for cluster in clusters if vertex in cluster)

    def parting(one, other):
        for number, (a, b) in enumerate(cannot):
            if (a in one and b in other) or (a in other and b in one):
                return number
        return -1

    kept, refused = [], []
    for a, b in [*must, *edges]:
        one, other = cluster_of(a), cluster_of(b)
        decision = -1 if one is other else parting(one, other)
        kept.append(one is not other and decision < 0)
        refused.append(decision)
        if kept[-1]:
            clusters.remove(other)
            one |= other
    labels = [min(cluster_of(vertex)) for vertex in range(n)]
    return labels, kept[len(must) :], refused[len(must) :], kept[: len(must)], refused[: len(must)]


def columns(pairs):
    pairs = np.array(pairs, np.uint32).reshape(-1, 2)
    return pairs[:, 0].copy(), pairs[:, 1].copy()


def pairs_of(random, n, count):
    pairs = random.integers(0, n, (count, 2))
    return [(a, b) for a, b in pairs.tolist() if a != b]


@pytest.mark.parametrize("seed", range(300))
def test_as_the_model(seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 25))
    edges = pairs_of(random, n, int(random.integers(0, 60)))
    must = pairs_of(random, n, int(random.integers(0, 4)))
    cannot = pairs_of(random, n, int(random.integers(0, 20)))
    labels, kept, refused, must_kept, must_refused = model(n, edges, must, cannot)
    decisions = Decisions(columns(must), columns(cannot))
    if max(must_refused, default=-1) >= 0:
        with pytest.raises(GraphError, match="'must' joins"):
            constrained(n, *columns(edges), decisions)
        return
    found = constrained(n, *columns(edges), decisions)
    assert found.labels.tolist() == labels
    assert found.kept.tolist() == kept
    assert found.refused_by.tolist() == refused
    assert found.must_kept.tolist() == must_kept


@pytest.mark.parametrize("seed", range(100))
def test_the_forest_is_all_that_counts_in_trees_parted_once(seed):
    random = np.random.default_rng(seed)
    n, edges = 40, pairs_of(random, 40, 45)
    cannot = Decisions(columns(pairs_of(random, 40, 1)), columns(pairs_of(random, 40, 2)))
    sources, targets = columns(edges)
    of_forest = constrained(n, sources, targets, Decisions(cannot.must, columns([]))).kept
    try:
        whole = constrained(n, sources, targets, cannot)
    except GraphError:
        return
    given = n, sources[of_forest], targets[of_forest], cannot
    reduced = constrained(*given)
    again = parted_twice(*given, reduced.refused_by)
    right = np.full(n, True) if again is None else ~again
    assert (whole.labels[right] == reduced.labels[right]).all()
    once = right[sources]
    assert not whole.kept[once & ~of_forest].any()
    for one, other in ((whole.kept, reduced.kept), (whole.refused_by, reduced.refused_by)):
        assert (one[once & of_forest] == other[right[given[1]]]).all()


def test_a_pair_outside_of_the_forest_joins_what_two_decisions_part():
    pairs, cannot = columns([(0, 1), (1, 2), (0, 2)]), columns([(0, 1), (1, 2)])
    decisions = Decisions(columns([]), cannot)
    forest = [column[:2] for column in pairs]
    found = constrained(3, *forest, decisions)
    assert found.labels.tolist() == [0, 1, 2]
    assert parted_twice(3, *forest, decisions, found.refused_by).tolist() == [True, True, True]
    assert constrained(3, *pairs, decisions).labels.tolist() == [0, 1, 0]


def test_the_weakest_edge_of_the_path_is_refused():
    edges = columns([(0, 1), (2, 3), (1, 2)])
    found = constrained(4, *edges, Decisions(columns([]), columns([(0, 3)])))
    assert found.kept.tolist() == [True, True, False]
    assert found.refused_by.tolist() == [-1, -1, 0]


def test_contradictions_are_named():
    chain = columns([(0, 1), (3, 2), (1, 2)])
    with pytest.raises(
        GraphError, match=r"'must' joins 1 and 2, with what else must be together, but 'cannot'"
    ):
        constrained(4, *columns([]), Decisions(chain, columns([(3, 0), (2, 1)])))
    with pytest.raises(GraphError, match="'must' joins 0 and 1 but 'cannot' parts 1 and 0"):
        constrained(2, *columns([]), Decisions(columns([(0, 1)]), columns([(1, 0)])))
    with pytest.raises(GraphError, match="'cannot' parts 1 from itself"):
        constrained(2, *columns([]), Decisions(columns([]), columns([(1, 1)])))


def test_names_of_vertices():
    names = ["ann", "bob"]
    both = columns([(0, 1)])
    with pytest.raises(GraphError, match="'must' joins ann and bob but 'cannot' parts ann and bob"):
        constrained(2, *columns([]), Decisions(both, both), name=names.__getitem__)


@pytest.mark.parametrize("n", [30_000])
def test_many_decisions_of_one_record(n):
    # a star, whose centre cannot be with every second leaf
    leaves = np.arange(1, n, dtype=np.uint32)
    centre = np.zeros(n - 1, np.uint32)
    apart = leaves[::2]
    found = constrained(n, centre, leaves, Decisions(columns([]), (centre[: len(apart)], apart)))
    assert found.kept.tolist() == [leaf % 2 == 0 for leaf in leaves.tolist()]
