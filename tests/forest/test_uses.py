"""What people do with forests: bounded clusters, explanations, hierarchies and pictures of them."""

import numpy as np
import pytest

import edgewise as ew
from edgewise.errors import GraphError, OptionError, OutOfMemoryError, VerificationError
from edgewise.forest.split import KEPT, TOO_LARGE
from tests.zoo import ZOO

interpreter = pytest.mark.interpreter


def weighted(shape, seed=0):
    n, sources, targets = shape
    weights = np.random.default_rng(seed).integers(0, 6, len(sources))
    return ew.Graph.from_edges(sources, targets, weights=weights, n_vertices=n)


def scored():
    ends = ["ann", "bob", "ann", "carl", "x"], ["bob", "carl", "carl", "dora", "y"]
    return ew.Graph.from_edges(*ends, weights=[0.9, 0.4, 0.8, 0.7, 1.0])


def split_by_hand(forest, max_size):
    """Labels of the parts: the weakest edge of a part that is too large is cut, again and again."""
    edges = [(int(forest.sources[at]), int(forest.targets[at])) for at in forest.ranked]
    n = forest.graph.n_vertices

    def parts():
        label = list(range(n))

        def root(vertex):
            while label[vertex] != vertex:
                vertex = label[vertex]
            return vertex

        for one, other in edges:
            one, other = sorted((root(one), root(other)))
            label[other] = one
        return [root(vertex) for vertex in range(n)]

    while True:
        labels = parts()
        sizes = np.bincount(labels, minlength=n)
        too_large = [at for at, (one, _) in enumerate(edges) if sizes[labels[one]] > max_size]
        if not too_large:
            return labels
        del edges[too_large[-1]]


@interpreter
@pytest.mark.parametrize("shape", ["grid", "two cliques", "dense", "one vertex", "empty"])
@pytest.mark.parametrize("maximum", [False, True])
def test_split_cuts_the_weakest_edge_until_none_is_too_large(shape, maximum):
    forest = ew.minimum_spanning_forest(weighted(ZOO[shape]), maximum=maximum)
    for max_size in (1, 2, 3, 5, 1000):
        found = forest.split(max_size=max_size).verify()
        assert found.labels.tolist() == split_by_hand(forest, max_size)
        assert found.largest <= max_size
        assert found.n_cut == found.count - forest.count == found.cut().num_rows


@interpreter
def test_split_below_a_threshold():
    forest = ew.minimum_spanning_forest(scored(), maximum=True)
    found = forest.split(max_size=2, threshold=0.75)
    assert found.to_frame("min")["cluster"].to_pylist() == ["ann", "ann", "carl", "dora", "x", "x"]
    assert found.cut().to_pylist() == [{"source": "ann", "target": "carl", "weight": 0.8}]
    assert found.kept.n_edges == 2 and found.kept.ids is forest.graph.ids
    for wrong in (0, -1, 2.5, None, True):
        with pytest.raises(OptionError, match="must be a whole number"):
            forest.split(max_size=wrong)
    with pytest.raises(OptionError, match="must be a number"):
        forest.split(max_size=2, threshold="0.9")


def test_verifier_of_split_clusters():
    from dataclasses import replace

    graph = ew.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], weights=[1, 2, 3, 4], n_vertices=5)
    found = ew.minimum_spanning_forest(graph).split(max_size=2)
    links = found._links
    assert found.cut().num_rows == found.n_cut == 3
    for kept, labels, message in (
        ([0, 1], [0, 0, 0, 3, 4], "has 3 vertices"),
        ([], [0, 1, 2, 3, 4], "edge of 0 and 1 was cut, but joins two clusters"),
        ([0, 3], [0, 0, 2, 3, 3], "cut at a stronger edge"),
        ([0], [0, 0, 0, 3, 4], "have the label 0, but are in two trees"),
    ):
        states = np.where(np.isin(np.arange(4), kept), KEPT, TOO_LARGE)
        labels = np.array(labels, np.uint32)
        wrong = replace(found, _links=links._replace(states=states), _labels=labels)
        with pytest.raises(VerificationError, match=message):
            wrong.verify()


@interpreter
def test_first_edges():
    forest = ew.minimum_spanning_forest(weighted(ZOO["grid"]))
    for count in range(forest.n_edges + 1):
        assert forest.first(count).count == forest.graph.n_vertices - count
    with pytest.raises(OptionError, match="from 0 to"):
        forest.first(forest.n_edges + 1)


@interpreter
def test_explanation():
    forest = ew.minimum_spanning_forest(scored(), maximum=True)
    why = forest.explain("bob", "dora")
    assert why.path.equals(forest.path("bob", "dora"))
    assert why.weakest == {"source": "carl", "target": "dora", "weight": 0.7} and why.threshold == 0.7
    assert str(why).endswith("together by 3 edges, the weakest between carl and dora; they part above 0.7")
    same = forest.explain("bob", "bob")
    assert same.threshold is None and same.path.num_rows == 0 and "one vertex" in str(same)
    with pytest.raises(GraphError, match="'nobody' is not in the graph"):
        forest.explain("bob", "nobody")
    with pytest.raises(GraphError, match="no path joins 'bob' and 'x'"):
        forest.explain("bob", "x")


@interpreter
def test_two_part_at_the_weakest_edge():
    graph = weighted(ZOO["dense"])
    for maximum in (False, True):
        forest = ew.minimum_spanning_forest(graph, maximum=maximum)
        for one, other in ((0, 3), (2, 9), (5, 1)):
            last = forest.explain(one, other).threshold
            apart = forest.components(last + 1 if maximum else last - 1).labels
            together = forest.components(last).labels
            assert together[one] == together[other] and apart[one] != apart[other]


def test_of_equal_weights_the_last_edge_is_the_weakest():
    graph = ew.Graph.from_edges([0, 1, 2], [1, 2, 3], weights=[5, 5, 7], n_vertices=4)
    for maximum in (False, True):
        forest = ew.minimum_spanning_forest(graph, maximum=maximum)
        weakest = forest.explain(0, 3).weakest
        assert (weakest["source"], weakest["target"]) == ((1, 2) if maximum else (2, 3))
        cut = forest.split(max_size=3).cut().to_pydict()
        assert (cut["source"], cut["target"]) == (([1], [2]) if maximum else ([2], [3]))


def test_single_linkage_needs_a_forest_of_distances():
    with pytest.raises(OptionError, match="a spanning forest is needed, not Graph"):
        ew.single_linkage(scored())
    with pytest.raises(GraphError, match="the graph is empty"):
        ew.single_linkage(ew.minimum_spanning_forest(weighted(ZOO["empty"])))


def test_dendrograms(tmp_path):
    pytest.importorskip("matplotlib")
    large = ew.generate.with_weights(ew.generate.grid(20, dropped=0.4), 1, 9)
    for number, (graph, maximum) in enumerate([(scored(), True), (large, False)]):
        path = tmp_path / f"{number}.svg"
        ew.minimum_spanning_forest(graph, maximum=maximum).plot_dendrogram(path)
        assert path.stat().st_size > 1000
    with pytest.raises(GraphError, match="joins two vertices or more"):
        ew.minimum_spanning_forest(weighted(ZOO["one vertex"])).plot_dendrogram(path)


@pytest.mark.parametrize("weights", ["int32", "float64"])
@pytest.mark.parametrize("method", ["kruskal", "boruvka"])
def test_memory_is_estimated(method, weights, monkeypatch):
    import tracemalloc

    graph = ew.generate.with_weights(ew.generate.uniform(20_000, 200_000, seed=1), 1, 2**30)
    edges = graph.sources, graph.targets, graph.weights.astype(weights)
    graph = ew.Graph(graph.n_vertices, edges=edges)
    ew.minimum_spanning_forest(graph, method=method)
    tracemalloc.start()
    ew.minimum_spanning_forest(graph, method=method)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    estimated = graph.estimate("forest", method=method).bytes
    assert 0.6 * taken < estimated < 1.7 * taken
    with pytest.raises(
        OutOfMemoryError, match=r"forest\(\) of 20,000 vertices needs .* in all, and memory= is"
    ):
        ew.minimum_spanning_forest(graph, method=method, memory=1000)


@pytest.mark.gpu
def test_on_a_gpu():
    graph = ew.generate.with_weights(ew.generate.uniform(20_000, 60_000, seed=3), 1, 100)
    here, there = (ew.minimum_spanning_forest(one, maximum=True) for one in (graph, graph.to("cuda")))
    for max_size in (1, 10, 1000):
        one, other = (forest.split(max_size=max_size, threshold=20) for forest in (here, there))
        assert (one.labels == other.on_host().labels).all() and one.cut().equals(other.cut())
        other.verify()
    assert here.explain(0, 1) == there.explain(0, 1)
    assert (ew.single_linkage(ew.minimum_spanning_forest(graph.to("cuda"))) >= 0).all()
    assert (here.first(1000).labels == there.first(1000).on_host().labels).all()
