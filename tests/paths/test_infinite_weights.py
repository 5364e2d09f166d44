"""No path leads over an edge of infinite weight, whatever searches; what is not reached is infinitely far."""

import math
import os

import numpy as np
import pytest

import edgewise as ew
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.errors import GraphError
from edgewise.paths import apsp, sssp
from tests.zoo import ZOO

pytestmark = [pytest.mark.interpreter, pytest.mark.simulator]
PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")
SHAPES = ["repeated edges", "self-loops", "grid", "sparse"]
#: The simulator takes seconds for each.
CASES = (
    [("repeated edges", "float32", False), ("cycle", "float64", True)]
    if SIMULATED
    else [
        (shape, dtype, directed)
        for shape in (SHAPES[::2] if INTERPRETED else SHAPES)
        for dtype in (("float32",) if INTERPRETED else ("float64",))
        for directed in (False, True)
    ]
)


def methods_of(front):
    here = PLACE.partition(":")[0]
    return ["auto", *(name for name, method in front.METHODS.items() if here in method.devices)]


def closed(shape, dtype, directed, negative=False):
    """The graph with infinite weights, and the graph without these edges."""
    n, sources, targets = ZOO[shape]
    draw = np.random.default_rng(3)
    weights = draw.integers(1, 9, len(sources)).astype(dtype)
    if negative:
        height = draw.integers(0, 9, n)
        weights += (height[targets] - height[sources]).astype(dtype)
    is_closed = draw.random(len(sources)) < 0.3
    held = np.where(is_closed, np.inf, weights).astype(dtype)
    with_closed = ew.Graph.from_edges(sources, targets, weights=held, n_vertices=n, directed=directed)
    kept = sources[~is_closed], targets[~is_closed]
    without = ew.Graph.from_edges(*kept, weights=weights[~is_closed], n_vertices=n, directed=directed)
    return with_closed.to(PLACE), without.to(PLACE)


@pytest.mark.parametrize(("shape", "dtype", "directed"), CASES)
def test_searches_from_a_source(shape, dtype, directed):
    graph, without = closed(shape, dtype, directed)
    for name in methods_of(sssp):
        method = sssp.METHODS.get(name)
        if method and ((directed and not method.directed) or not method.takes_weights(dtype)):
            continue
        found, wanted = (ew.shortest_paths(one, 1, method=name) for one in (graph, without))
        assert found.verify().on_host().distances.tolist() == wanted.on_host().distances.tolist(), name
        assert found.on_host().parents.tolist() == wanted.on_host().parents.tolist(), name
        whole = ew.shortest_paths(graph, 1, dtype="int64", method=name).verify()
        assert whole.distances.dtype == np.int64 and whole.n_reached == wanted.n_reached


@pytest.mark.parametrize(("shape", "dtype", "directed"), CASES)
def test_all_pairs_and_measures(shape, dtype, directed):
    graph, without = closed(shape, dtype, directed)
    for name in methods_of(apsp):
        if name == "multi-source":
            continue
        found, wanted = (ew.all_pairs_shortest_paths(one, method=name) for one in (graph, without))
        assert (found.verify().on_host().distances == wanted.on_host().distances).all(), name
    found, wanted = (ew.distance_measures(one).verify() for one in (graph, without))
    assert found.eccentricities.tolist() == wanted.eccentricities.tolist()
    assert found.closeness.tolist() == wanted.closeness.tolist()


def test_negative_weights_beside_infinite_ones():
    graph, without = closed("cycle" if SIMULATED else "sparse", "float64", True, negative=True)
    for name in ("auto", "bellman-ford"):
        found, wanted = (ew.shortest_paths(one, 2, method=name) for one in (graph, without))
        assert found.verify().on_host().distances.tolist() == wanted.on_host().distances.tolist()
    for name in ("auto", "johnson", "floyd-warshall"):
        found, wanted = (ew.all_pairs_shortest_paths(one, method=name) for one in (graph, without))
        assert (found.verify().on_host().distances == wanted.on_host().distances).all(), name


def test_bfs_and_weights_that_mean_nothing():
    edges = {"weights": [math.inf, 1.0], "n_vertices": 3}
    graph = ew.Graph.from_edges([0, 1], [1, 2], **edges).to(PLACE)
    assert ew.bfs(graph, 0).on_host().distances.tolist() == [0, 1, 2] and ew.has_path(graph, 0, 2)
    for value in (math.nan, -math.inf):
        bad = ew.Graph.from_edges(["a", "b"], ["b", "c"], weights=[math.inf, value]).to(PLACE)
        calls = (ew.shortest_paths, "a"), (ew.all_pairs_shortest_paths,), (ew.distance_measures,)
        for call, *source in calls:
            with pytest.raises(GraphError, match=rf"from 'b' to 'c' weighs {value}; weights are numbers"):
                call(bad, *source)


@pytest.mark.parametrize("weights", [None, *(np.dtype(name) for name in sssp.weights.TYPES)], ids=str)
def test_what_is_not_reached_is_infinitely_far(weights):
    values = None if weights is None else np.array([3, 4], weights)
    graph = ew.Graph.from_edges(["a", "b"], ["b", "c"], ids=["a", "b", "c", "x"], weights=values)
    graph = graph.to(PLACE)
    found = ew.bfs(graph, "a") if weights is None else ew.shortest_paths(graph, "a")
    assert found.distance_to("x") == math.inf and isinstance(found.distance_to("x"), float)
    assert found.distance_to("c") == (2 if weights is None else 7)
    assert found.on_host().reachable.tolist() == [True, True, True, False]
    assert found.on_host().distances[3] == found.unreached
    pairs = ew.all_pairs_shortest_paths(graph)
    assert pairs.distance("x", "a") == math.inf and pairs.distance("c", "c") == 0
    reachable = pairs.on_host().reachable
    assert reachable.dtype == bool and reachable.sum() == 10 and reachable[3].tolist() == [False] * 3 + [True]
