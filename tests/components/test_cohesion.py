"""How well clusters hold together, and which pair to look at first."""

import numpy as np
import pytest

import edgewise as ew
from edgewise.errors import GraphError, OptionError
from tests.forest.test_constraints import pairs_of
from tests.zoo import ZOO

pytestmark = pytest.mark.interpreter


def parts_of(n, pairs):
    """The component of each vertex, as a set."""
    parts = [{vertex} for vertex in range(n)]
    for a, b in pairs:
        if parts[a] is not parts[b]:
            joined = parts[a] | parts[b]
            for vertex in joined:
                parts[vertex] = joined
    return parts


def model(n, weighted, maximum):
    """Rows of both tables by leaving out each pair, and each weight; ``weighted`` are weights by pairs."""
    parts, bridges, clusters = parts_of(n, weighted), [], {}
    for pair in weighted:
        rest = parts_of(n, [other for other in weighted if other != pair])
        if rest[pair[0]] is not rest[pair[1]]:
            bridges.append((pair, weighted[pair], len(rest[pair[0]]) * len(rest[pair[1]])))
    for part in {id(part): part for part in parts if len(part) > 1}.values():
        inside = {pair: weight for pair, weight in weighted.items() if pair[0] in part}
        holding = [
            least
            for least in set(inside.values())
            if part in parts_of(n, [p for p, w in inside.items() if (w >= least if maximum else w <= least)])
        ]
        own = [parted for pair, _, parted in bridges if pair in inside]
        weakest = max(holding) if maximum else min(holding)
        clusters[min(part)] = (len(part), len(inside), weakest, len(own), max(own, default=0))
    return clusters, bridges


@pytest.mark.parametrize("seed", range(60))
def test_as_leaving_out_each_pair(seed):
    random, maximum = np.random.default_rng(seed), bool(seed % 2)
    n = int(random.integers(2, 20))
    ends = pairs_of(random, n, int(random.integers(1, 30))) or [(0, 1)]
    weights = random.integers(0, 6, len(ends)).astype([np.int64, np.float64][seed % 3 == 0])
    threshold = 2 if seed % 4 == 0 else None
    graph = ew.Graph.from_edges(*zip(*[*ends, (0, 0)]), weights=[*weights, weights[0]], n_vertices=n)
    weighted = {}
    for pair, weight in zip(map(tuple, map(sorted, ends)), weights.tolist()):
        if threshold is None or (weight >= threshold if maximum else weight <= threshold):
            weighted[pair] = (max if maximum else min)(weight, weighted.get(pair, weight))
    clusters, bridges = model(n, weighted, maximum)
    forest = ew.minimum_spanning_forest(graph, maximum=maximum)
    for found in (
        forest.split(max_size=n, threshold=threshold),
        forest.components(threshold or (0 if maximum else 9)),
    ):
        rows = found.cohesion(name="row").to_pylist()
        columns = "size", "pairs", "weakest", "bridges", "parted"
        assert {row["cluster"]: tuple(row[name] for name in columns) for row in rows} == clusters
        assert all(row["density"] == row["pairs"] / (row["size"] * (row["size"] - 1) / 2) for row in rows)
        assert [row["parted"] for row in rows] == sorted((row["parted"] for row in rows), reverse=True)
        listed = found.review().to_pylist()
        assert sorted(
            ((row["source"], row["target"]), row["weight"], row["parted"]) for row in listed
        ) == sorted(bridges)
        keys = [(-row["parted"], row["weight"] if maximum else -row["weight"]) for row in listed]
        assert keys == sorted(keys)
        assert found.review(2).to_pylist() == listed[:2] and found.cohesion(1, "row").to_pylist() == rows[:1]


@pytest.mark.parametrize("shape", ["grid", "two cliques", "dense", "one vertex", "empty"])
def test_shapes_without_weights(shape):
    n, sources, targets = ZOO[shape]
    found = ew.connected_components(ew.Graph.from_edges(sources, targets, n_vertices=n))
    table = found.cohesion(min_size=1)
    assert "weakest" not in table.column_names and table.num_rows == found.count
    assert found.review().num_rows == sum(table["bridges"].to_pylist())


def test_a_long_path():
    n = 5000
    found = ew.connected_components(ew.Graph.from_edges(np.arange(n - 1), np.arange(1, n), n_vertices=n))
    (row,) = found.cohesion().to_pylist()
    assert (row["bridges"], row["parted"]) == (n - 1, n * n // 4)
    assert found.review(1).to_pylist()[0]["source"] == n // 2 - 1


def test_pairs_that_were_decided_are_not_reviewed():
    graph = ew.Graph.from_edges(["a", "b", "x"], ["b", "c", "y"], weights=[3, 2, 1])
    for maximum in (True, False):
        forest = ew.minimum_spanning_forest(graph, maximum=maximum)
        found = forest.split(must=[("c", "x")])
        assert found.cohesion().to_pylist()[0]["bridges"] == 4
        rows = found.review().to_pylist()
        ends = ["b", "x", "a"] if maximum else ["b", "a", "x"]
        assert [(row["source"], row["parted"]) for row in rows] == list(zip(ends, [6, 4, 4]))
        assert ("c", "x") not in [(row["source"], row["target"]) for row in rows] and len(rows) == 3


def test_other_results_and_mistakes():
    links = ew.best_links(
        ew.Graph.from_edges(["a", "a"], ["x", "y"], weights=[0.9, 0.8]), datasets=["l", "r", "r"]
    )
    assert links.review().to_pylist()[0]["weight"] == 0.9
    levels = ew.connected_components(
        ew.Graph.from_edges([0, 1], [1, 2], weights=[0.9, 0.5]), thresholds=[0.4, 0.8]
    )
    assert levels.at(0.8).review()["parted"].to_pylist() == [1]
    with pytest.raises(OptionError, match="count"):
        links.review(-1)
    with pytest.raises(OptionError, match="min_size"):
        links.cohesion(min_size=0)
    graph = ew.Graph.from_edges([0], [1], weights=[np.nan])
    with pytest.raises(GraphError, match="weighs NaN"):
        ew.connected_components(graph).review()
