"""Measures of partitions against plain Python, pymetis' arguments, and real graphs."""

import numpy as np
import pytest

import edgewise as ew
from edgewise.device.target import INTERPRETED
from edgewise.errors import GraphError, ImbalanceWarning, OptionError
from edgewise.partitions import partition
from edgewise.partitions.compatible import partition_networkx
from tests.zoo import ZOO

pytestmark = [pytest.mark.interpreter]


@pytest.mark.parametrize("shape", ZOO)
def test_measures(shape):
    n, sources, targets = ZOO[shape]
    graph = ew.Graph.from_edges(sources, targets, n_vertices=n)
    parts = np.random.default_rng(4).integers(0, 3, n)
    measures = ew.evaluate_partition(graph, parts, k=4)
    pairs = [(u, v) for u, v in zip(graph.sources.tolist(), graph.targets.tolist()) if parts[u] != parts[v]]
    foreign = {v: {parts[w] for pair in pairs for w in pair if v in pair} - {parts[v]} for v in range(n)}
    inside = [(u, v) for u, v in zip(graph.sources, graph.targets) if parts[u] == parts[v]]
    joined = ew.Graph.from_edges(*np.array(inside, int).reshape(-1, 2).T, n_vertices=n)
    labels = ew.connected_components(joined).labels
    assert measures.edge_cut == len(pairs)
    assert measures.communication_volume == sum(map(len, foreign.values()))
    assert measures.boundary == sum(map(bool, foreign.values()))
    assert measures.weights.tolist() == np.bincount(parts, minlength=4).tolist()
    for one in range(4):
        beside = {parts[w] for pair in pairs for w in pair if one in parts[list(pair)]} - {one}
        assert measures.adjacent[one] == len(beside)
        assert measures.cuts[one] == sum(one in parts[list(pair)] for pair in pairs)
        assert measures.components[one] == len(set(labels[parts == one].tolist()))
    assert measures.empty_parts == (measures.weights == 0).sum()
    assert measures.report()["parts"] == 4


def test_an_even_share_is_rounded_up():
    measures = ew.evaluate_partition(ew.generate.grid(1, 5), [0, 0, 0, 1, 1])
    assert measures.imbalance == 0 and measures.balance == pytest.approx(6 / 5)


def test_bad_partitions():
    graph = ew.generate.grid(2, 2)
    for parts, message in (
        ([0, 1, 0], "3 vertices, the graph 4"),
        ([0, 1, 0, -1], "parts\\[3\\] is -1"),
        ([[0, 1], [0, 1]], "shape \\(2, 2\\)"),
        ([0.0] * 4, "float64"),
    ):
        with pytest.raises(GraphError, match=message):
            ew.evaluate_partition(graph, parts)
    with pytest.raises(OptionError, match="k=0 must be a whole number"):
        ew.evaluate_partition(graph, [0] * 4, k=0)
    with pytest.raises(GraphError, match="vertex weights have type float64"):
        ew.evaluate_partition(graph, [0] * 4, vertex_weights=[0.5] * 4)


class LikeNetworkX:
    """A graph with what the front reads of NetworkX, which need not be installed."""

    def __init__(self, nodes, edges, directed=False):
        self._nodes, self._edges, self._directed = nodes, edges, directed

    def is_directed(self):
        return self._directed

    @property
    def nodes(self):
        class View(dict):
            def __call__(self, data, default):
                return [(node, facts.get(data, default)) for node, facts in self.items()]

        return View(self._nodes)

    @property
    def edges(self):
        def view(data=None, default=None):
            return [edge[:2] if data is None else (*edge[:2], edge[2].get(data, default)) for edge in edges]

        edges = self._edges
        return view


class Options:
    seed, contig = 5, 1


def test_arguments_of_nxmetis():
    nodes = {name: {} for name in "abcdef"}
    pairs = ("ab", "bc", "ca", "cd", "de", "ef", "fd")
    graph = LikeNetworkX(nodes, [(*pair, {}) for pair in pairs])
    halves = {frozenset("abc"), frozenset("def")}
    for how in (
        {},
        {"options": Options()},
        {"options": {"ufactor": 300, "ncuts": 2}},
        {"node_weight": None, "edge_weight": None},
        {"ubvec": [1.2]},
    ):
        cut, parts = partition_networkx(graph, 2, **how)
        assert cut == 1 and set(map(frozenset, parts)) == halves
    nodes["a"]["weight"], heavy = 3, LikeNetworkX(nodes, [(*pair, {"weight": 4}) for pair in pairs])
    cut, parts = partition_networkx(heavy, 2, tpwgts=[0.5, 0.5], recursive=True, node_size="size")
    assert cut == 8 and sorted(map(len, parts)) == [2, 4]
    with pytest.warns(ImbalanceWarning, match="2 parts of 0 vertices"):
        assert partition_networkx(LikeNetworkX({}, []), 2, preset="fast") == (0, [[], []])


def test_mistakes_in_arguments_of_nxmetis():
    nodes = {0: {"weight": 1.5}, 1: {}}
    for graph, how, problem in (
        ([[1], [0]], {}, "a NetworkX graph is needed, not list"),
        (LikeNetworkX(nodes, [], directed=True), {}, "use its to_undirected"),
        (LikeNetworkX(nodes, [(0, 1, {})]), {}, "the weight of a node is 1.5; use integers"),
        (LikeNetworkX(nodes, [(0, 1, {"weight": "x"})]), {"node_weight": None}, "of an edge is 'x'"),
        (LikeNetworkX(nodes, []), {"ubvec": 0.5}, "ubvec=0.5 must be one number of 1 or more"),
        (LikeNetworkX(nodes, []), {"weight": "w"}, "no option 'weight'; did you mean node_weight"),
        (LikeNetworkX(nodes, []), {"recursive": "no"}, "recursive='no' must be True or False"),
        (LikeNetworkX(nodes, []), {"options": {"minconn": 1}}, "the option minconn=1 of METIS is refused"),
        (LikeNetworkX(nodes, []), {"ubvec": 1.2, "options": {"ufactor": 30}}, "ufactor=30 differ; give one"),
        (LikeNetworkX(nodes, []), {"node_size": "weight"}, "node_size='weight' counts for the communication"),
    ):
        with pytest.raises((GraphError, OptionError), match=problem):
            partition_networkx(graph, 2, **how)


def test_a_real_networkx_graph():
    networkx = pytest.importorskip("networkx")
    cut, parts = partition_networkx(networkx.grid_2d_graph(4, 8), 2)
    assert cut == 4 and sorted(map(len, parts)) == [16, 16]


#: Cuts of METIS 5.1.0 (pymetis 2025.2.2, k-way, ufactor 30, least of seeds 1 to 3) into 2 and 8 parts.
METIS = {"3elt": (90, 351), "4elt": (145, 645), "fe_4elt2": (130, 644)}


@pytest.mark.skipif(INTERPRETED, reason="takes minutes in the interpreter")
def test_cuts_of_real_meshes(data):
    """Within 5 % of METIS in the geometric mean, also for a single seed."""
    ratios = []
    for name, cuts in METIS.items():
        graph = ew.read(data / name / f"{name}.graph.gz")
        for k, cut in zip((2, 8), cuts):
            found = partition(graph, k, seed=1)
            assert found.is_balanced
            ratios.append(found.edge_cut / cut)
    assert np.exp(np.mean(np.log(ratios))) < 1.05, ratios
