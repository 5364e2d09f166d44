"""Clusters under decisions: what `split` makes of pairs that must, and that cannot, be together."""

from dataclasses import replace

import numpy as np
import pytest

import edgewise as ew
from edgewise.device.target import INTERPRETED
from edgewise.errors import GraphError, OptionError, VerificationError
from tests.forest.test_constraints import model, pairs_of

interpreter = pytest.mark.interpreter


def in_order(graph, maximum, threshold):
    """All pairs that count, the strongest first."""
    weights = graph.weights.tolist()
    ends = list(zip(graph.sources.tolist(), graph.targets.tolist()))
    counts = [
        edge
        for edge in range(len(ends))
        if threshold is None or (weights[edge] >= threshold if maximum else weights[edge] <= threshold)
    ]
    counts.sort(key=lambda edge: (-weights[edge] if maximum else weights[edge], edge))
    return [ends[edge] for edge in counts]


def cut_by_size(n, joining, max_size):
    """Labels by the edges that join, in order, each of which counts if it makes a small enough cluster."""
    whole, parts = [{vertex} for vertex in range(n)], [{vertex} for vertex in range(n)]
    for a, b in joining:
        joined = whole[a] | whole[b]
        for vertex in joined:
            whole[vertex] = joined
        if len(joined) <= max_size:
            part = parts[a] | parts[b]
            for vertex in part:
                parts[vertex] = part
    return [min(part) for part in parts]


@interpreter
@pytest.mark.parametrize("seed", range(45 if INTERPRETED else 120))
def test_as_the_greedy_rule_over_all_pairs(seed):
    random = np.random.default_rng(seed)
    n, maximum = int(random.integers(2, 30)), bool(seed % 2)
    ends = pairs_of(random, n, int(random.integers(1, 70))) or [(0, 1)]
    weights = random.integers(0, 8, len(ends)).astype([np.int64, np.float64, np.float32][seed % 3])
    graph = ew.Graph.from_edges(*zip(*ends), weights=weights, n_vertices=n)
    must, cannot = pairs_of(random, n, int(random.integers(0, 3))), pairs_of(random, n, seed % 15)
    threshold = [None, 3][seed % 5 == 0]
    forest = ew.minimum_spanning_forest(graph, maximum=maximum)
    pairs = in_order(graph, maximum, threshold)
    labels, kept, _, must_kept, must_refused = model(n, pairs, must, cannot)
    if max(must_refused, default=-1) >= 0:
        with pytest.raises(GraphError, match="withdraw one of the decisions"):
            forest.split(must=must, cannot=cannot, threshold=threshold)
        return
    found = forest.split(must=must, cannot=cannot, threshold=threshold).verify()
    assert found.labels.tolist() == labels
    assert found.kept.n_edges == n - found.count
    assert found.n_cut == found.cut().num_rows == found.conflicts().num_rows
    joining = [pair for pair, joins in zip(must, must_kept) if joins]
    joining += [pair for pair, joins in zip(pairs, kept) if joins]
    for max_size in (3, 5):
        try:
            bounded = forest.split(must=must, cannot=cannot, threshold=threshold, max_size=max_size).verify()
        except OptionError as error:
            assert "must" in str(error)
            continue
        assert bounded.labels.tolist() == cut_by_size(n, joining, max_size)
    for one, other in pairs_of(random, n, 6):
        explained(found, forest, one, other)


def explained(found, forest, one, other):
    try:
        why = found.explain(one, other)
    except GraphError:
        assert found.labels[one] != found.labels[other]
        return
    assert (why.reason is None) == (found.labels[one] == found.labels[other])
    if why.reason is None:
        assert "are together by" in str(why)
        return
    ends = [found.labels[why.weakest[side]] for side in ("source", "target")]
    assert ends[0] != ends[1]
    assert "cannot be together" in why.reason or "the threshold" in why.reason


def scored():
    ends = ["a", "b", "c", "b", "x"], ["b", "c", "d", "d", "y"]
    return ew.Graph.from_edges(*ends, weights=[0.9, 0.6, 0.8, 0.5, 0.7])


def forest_of():
    return ew.minimum_spanning_forest(scored(), maximum=True)


@interpreter
def test_the_weakest_pair_is_cut_and_explained():
    found = forest_of().split(cannot=[("a", "d")], must=[("d", "x")]).verify()
    assert found.sets() == [{"a", "b"}, {"c", "d", "x", "y"}]
    conflict = {"source": "b", "target": "c", "weight": 0.6, "cannot_source": "a", "cannot_target": "d"}
    assert found.conflicts().to_pylist() == [conflict]
    assert found.cut().to_pylist() == [{"source": "b", "target": "c", "weight": 0.6}]
    assert found.kept.weights.tolist() == [0.9, 0.8, 0.7, np.inf]
    why = found.explain("b", "y")
    assert why.weakest["weight"] == 0.6 and why.path["target"].to_pylist() == ["c", "d", "x", "y"]
    assert str(why).endswith("b and c (0.6) was cut, since a and d cannot be together")
    assert (
        str(found.explain("c", "x"))
        == "c and x are together by 2 edges, the weakest between c and d; they part above 0.8"
    )
    small = forest_of().split(max_size=2, threshold=0.65)
    assert str(small.explain("a", "d")).endswith("b and c (0.6) is below the threshold 0.65")
    assert str(forest_of().split(max_size=2).explain("a", "d")).endswith(
        "since a cluster has at most 2 vertices"
    )


@interpreter
def test_a_record_that_is_parted_from_all_others_does_not_part_these():
    hub = ew.Graph.from_edges(list("hhhab"), list("abcbc"), weights=[0.9, 0.8, 0.7, 0.6, 0.5])
    forest = ew.minimum_spanning_forest(hub, maximum=True)
    found = forest.split(cannot=[("h", "a"), ("h", "b"), ("h", "c")]).verify()
    assert found.sets() == [{"h"}, {"a", "b", "c"}]
    assert found.n_cut == 3 and found.kept.weights.tolist() == [0.6, 0.5]
    bounded = forest.split(cannot=[("h", "a"), ("h", "b"), ("h", "c")], max_size=2).verify()
    assert bounded.sets() == [{"h"}, {"a", "b"}, {"c"}] and bounded.n_cut == 4


@interpreter
def test_forms_of_decisions(tmp_path):
    import pyarrow as pa

    (tmp_path / "apart.csv").write_text("left_id,right_id\na,d\n")
    table = {"left_id": ["a"], "right_id": ["d"]}
    forms = [tmp_path / "apart.csv", str(tmp_path / "apart.csv"), table, pa.table(table), [("a", "d")]]
    forms += [np.array([["a", "d"]]), ew.Graph.from_edges(["a"], ["d"])]
    for cannot in forms:
        assert forest_of().split(cannot=cannot).count == 3
    assert forest_of().split(cannot=[], must=None).n_cut == 0
    numbers = ew.Graph.from_edges(["1", "2"], ["2", "3"], weights=[2, 1])
    (tmp_path / "numbers.csv").write_text("left_id,right_id\n1,3\n")
    forest = ew.minimum_spanning_forest(numbers, maximum=True)
    assert forest.split(cannot=tmp_path / "numbers.csv").sets() == [{"1", "2"}, {"3"}]


@interpreter
def test_mistakes():
    forest = forest_of()
    for given, message in (
        ({"must": [("a", "d")], "cannot": [("d", "a")]}, "'must' joins a and d but 'cannot' parts d and a"),
        ({"must": [("a", "x"), ("x", "d")], "cannot": [("d", "a")]}, "joins x and d, with what else must"),
        ({"cannot": [("a", "a")]}, "parts a from itself"),
        (
            {"cannot": [("a", "nobody")]},
            "a decision of cannot=: vertex 'nobody' is not in the graph; withdraw",
        ),
        ({"must": ["ab"]}, "holds 'ab', which is no pair of ids"),
        ({"must": [("a", "b", "c")]}, "which is no pair of ids"),
    ):
        with pytest.raises(GraphError, match=message):
            forest.split(**given)
    with pytest.raises(OptionError, match=r"must= joins 3 records, more than max_size=2"):
        forest.split(must=[("a", "x"), ("x", "d")], max_size=2)
    with pytest.raises(OptionError, match="whole number"):
        forest.split()


@interpreter
def test_verifier_of_decisions():
    found = forest_of().split(cannot=[("a", "d")], must=[("d", "x")])
    links = found._links
    together = np.zeros(6, np.uint32)
    every = links._replace(states=np.ones(len(links.states), np.int64))
    with pytest.raises(VerificationError, match="is with one that it cannot be with"):
        replace(found, _links=every, _labels=together).verify()
    fewer = links._replace(states=np.where(links.positions >= 2**62, -1, links.states))
    with pytest.raises(VerificationError, match="apart from one that it must be with"):
        replace(found, _links=fewer, _labels=np.array([0, 0, 2, 2, 4, 4], np.uint32)).verify()
    states = np.where(links.weights == np.float64(0.8), -1, links.states)
    labels = [0, 0, 2, 3, 3, 3]
    with pytest.raises(VerificationError, match="refused by a decision about other clusters"):
        replace(found, _links=links._replace(states=states), _labels=np.array(labels, np.uint32)).verify()
