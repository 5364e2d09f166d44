"""The contract with NetworkX: names and parameters, what can and should run, conversion, configuration."""

import inspect
import json
import logging
import math
import os
import subprocess
import sys
import tomllib
from collections import Counter
from fractions import Fraction
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
import scipy.sparse.csgraph

import edgewise as ew
from _edgewise_nx import PAGES, get_info
from edgewise.errors import GraphError
from edgewise.networkx import Graph, bellman_ford
from edgewise.networkx.interface import BackendInterface, function_named
from edgewise.networkx.registry import LESS, MANY_NODES
from edgewise.networkx.small import MAX_ENTRIES

ROOT = Path(__file__).resolve().parents[2]
EDGEWISE = {"backend": "edgewise"}
KNOWN = nx.utils.backends._registered_algorithms


@pytest.mark.parametrize("name", PAGES)
def test_parameters_are_networkx_s(name):
    if name not in KNOWN:
        pytest.skip(f"NetworkX {nx.__version__} has no {name}")
    theirs = inspect.signature(KNOWN[name].orig_func).parameters.values()
    ours = list(inspect.signature(function_named(name).run).parameters.values())
    assert [(p.name, p.kind, p.default) for p in ours[: len(theirs)]] == [
        (p.name, p.kind, p.default) for p in theirs
    ]
    assert all(p.kind is p.KEYWORD_ONLY for p in ours[len(theirs) :])


def test_entry_points_of_the_package():
    entries = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    for group, expected in (("networkx.backends", BackendInterface), ("networkx.backend_info", get_info)):
        assert EntryPoint("edgewise", entries[group]["edgewise"], group).load() is expected
    assert "/_edgewise_nx.py" in (ROOT / "pyproject.toml").read_text()


def run(script, **environment):
    command = [sys.executable, "-c", script]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def test_the_light_module_imports_nothing():
    script = "import sys; before = set(sys.modules); import _edgewise_nx; _edgewise_nx.get_info()"
    assert run(f"{script}; print(set(sys.modules) - before)").strip() == "{'_edgewise_nx'}"


def test_autoconfig_selects_the_backend():
    script = "import _edgewise_nx, os; _edgewise_nx.get_info(); print(os.environ.get('{}'))"
    names = "NETWORKX_BACKEND_PRIORITY_ALGOS", "NETWORKX_WARNINGS_TO_IGNORE"
    shown = [run(script.format(name), EDGEWISE_NX_AUTOCONFIG="1").strip() for name in names]
    assert shown == ["edgewise", "cache"]
    assert run(script.format(names[0]), EDGEWISE_NX_AUTOCONFIG="0").strip() == "None"


def weights(*values, directed=False):
    graph = (nx.DiGraph if directed else nx.Graph)()
    graph.add_edges_from((at, at + 1, {"weight": value}) for at, value in enumerate(values))
    return graph


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ((1, 2**70), "too large to be exact"),
        ((0.5, 2**60), "too large to be exact"),
        ((2**62, 2**62), "may pass"),
        (("1", "2"), "of type str"),
        ((Fraction(1, 3), 1), "of type Fraction"),
        ((1, None), "of type NoneType"),
        ((np.float32(1), 2), "of type float32"),
        ((math.nan, 1.0), "NaN"),
    ],
    ids=str,
)
def test_weights_that_are_left_to_networkx(values, reason, caplog):
    graph = weights(*values)
    caplog.set_level(logging.DEBUG, "networkx")
    with pytest.raises(NotImplementedError):
        nx.single_source_dijkstra_path_length(graph, 0, **EDGEWISE)
    assert any(reason in record.message for record in caplog.records)
    if values == (1, 2**70):
        with nx.config(backend_priority=["edgewise"]):
            assert nx.dijkstra_path_length(graph, 0, 2) == 1 + 2**70


def test_numbers_keep_their_types():
    lengths = nx.single_source_dijkstra_path_length(weights(2, 3), 0, **EDGEWISE)
    assert lengths == {0: 0, 1: 2, 2: 5} and {*map(type, lengths.values())} == {int}
    lengths = nx.single_source_dijkstra_path_length(weights(2.5, 3.0), 0, **EDGEWISE)
    assert repr(lengths) == "{0: 0, 1: 2.5, 2: 5.5}"
    assert nx.dijkstra_path_length(weights(np.int64(2), True), 0, 2, **EDGEWISE) == 3
    assert nx.dijkstra_path_length(weights(math.inf, 1.0), 0, 2, **EDGEWISE) == math.inf


def test_reasons_are_words():
    graph = nx.path_graph(3)
    can_run, should_run = BackendInterface.can_run, BackendInterface.should_run
    assert can_run("dijkstra_path", (graph, 0, 2), {"weight": len}) == "weight is a callable"
    assert can_run("dijkstra_path", (graph, 0, 2, len), {}) == "weight is a callable"
    assert can_run("clustering", (graph,), {"weight": "weight"}) == "weights count"
    assert can_run("clustering", (nx.DiGraph(),), {}) == "the graph is directed"
    assert can_run("bfs_edges", (graph, 0), {"sort_neighbors": sorted}) == "sort_neighbors is a function"
    assert can_run("kruskal_mst_edges", (graph, True), {"partition": "part"}) == "there is a partition"
    assert can_run("connected_components", (graph,), {}) is True
    assert "fewer than" in should_run("connected_components", (graph,), {})
    graph, large = nx.empty_graph(1000), nx.empty_graph(MANY_NODES)
    assert should_run("diameter", (graph,), {}) is True
    assert should_run("connected_components", (graph,), {}) == "the graph has fewer than 5000 nodes"
    assert should_run("connected_components", (large,), {}) is True
    assert should_run("single_source_shortest_path", (large, 0), {}) is True
    assert should_run("shortest_path", (large, 0), {}) is True
    early = [
        ("number_of_isolates", ()),
        ("has_path", (0, 1)),
        ("is_strongly_connected", ()),
        ("bidirectional_dijkstra", (0, 1)),
        ("shortest_path", (0, 1)),
        ("single_source_shortest_path", (0, 2)),
        ("bfs_tree", (0, False, 2)),
        ("closeness_centrality", (0,)),
    ]
    reason = "to convert the graph takes longer than the call"
    for name, arguments in early:
        assert should_run(name, (large, *arguments), {}) == reason, name
    for one in (graph, large):
        nx.number_of_isolates(one, **EDGEWISE)
    assert should_run("connected_components", (graph,), {}) is True
    assert all(should_run(name, (large, *arguments), {}) is True for name, arguments in early)


def test_calls_that_conversion_makes_slower_should_not_run():
    """As measured on graphs of a million edges; iterators over all nodes were not read to their ends."""
    rows = json.loads((ROOT / "bench" / "results" / "networkx-backend.json").read_text())["rows"]
    slower = [
        row["call"]
        for row in rows
        if not row["call"].startswith("all_pairs")
        and None not in (row["networkx"]["cached"], row["edgewise"].get("first"))
        and row["edgewise"]["first"] > row["networkx"]["cached"]
    ]
    assert slower and [name for name in slower if function_named(name).cost != LESS] == []


def test_classes_with_their_own_neighbors_stay_with_networkx():
    class Complement(nx.Graph):
        def neighbors(self, node):
            return iter(set(self) - set(self.adj[node]) - {node})

    graph = Complement(nx.path_graph(4))
    assert (
        BackendInterface.can_run("core_number", (graph,), {})
        == "the class of the graph has its own neighbors"
    )
    assert BackendInterface.can_run("core_number", (type("Plain", (nx.Graph,), {})(),), {}) is True
    assert BackendInterface.can_run("core_number", (nx.subgraph_view(graph),), {}) is not True
    with nx.config(backend_priority=["edgewise"]):
        assert nx.bfs_tree(graph, 0, backend="networkx").number_of_edges() == 3
        assert nx.core_number(graph) == nx.core_number(graph, backend="networkx")


def test_small_graphs_stay_with_networkx(caplog):
    caplog.set_level(logging.DEBUG, "networkx")
    with nx.config(backend_priority=["edgewise"]):
        assert nx.is_connected(nx.path_graph(5))
    assert any("fewer than" in record.message for record in caplog.records)


def test_negative_weights_and_cycles():
    graph = weights(1, -2, 1, directed=True)
    assert nx.single_source_bellman_ford_path_length(graph, 0, **EDGEWISE) == {0: 0, 1: 1, 2: -1, 3: 0}
    assert not nx.negative_edge_cycle(graph, **EDGEWISE)
    assert nx.negative_edge_cycle(graph.to_undirected(), **EDGEWISE)
    with pytest.raises(ValueError, match="Contradictory paths found"):
        nx.single_source_dijkstra_path_length(nx.Graph(weights(3, -2)), 0, **EDGEWISE)
    graph.add_edge(2, 0, weight=-3)
    cycle = nx.find_negative_cycle(graph, 0, **EDGEWISE)
    assert cycle[0] == cycle[-1] and sorted(cycle[1:]) == [0, 1, 2]
    for name in ("johnson", "negative_edge_cycle"):
        call = getattr(nx, name)
        if name == "johnson":
            with pytest.raises(nx.NetworkXUnbounded):
                call(graph, **EDGEWISE)
        else:
            assert call(graph, **EDGEWISE)
    with pytest.raises(NotImplementedError):  # the versions of NetworkX differ
        nx.floyd_warshall(graph, **EDGEWISE)
    loop = weights(1, directed=True)
    loop.add_edge(1, 1, weight=-1)
    with pytest.raises(nx.NetworkXUnbounded):
        nx.bellman_ford_predecessor_and_distance(loop, 0, **EDGEWISE)


def test_a_path_by_predecessors_leaves_cycles_of_length_zero():
    """Before 3 is 1, before 1 is 2, and before 2 are 3, 1 and 0: only 0 is not on the path yet."""
    tails = np.array([1, 2, 3, 1, 0])
    relaxed = SimpleNamespace(
        first=np.array([-1, 1, 2, 0]), tails=tails, following=np.array([-1, -1, 3, 4, -1])
    )
    assert bellman_ford.predecessors(relaxed, 2) == [3, 1, 0]
    assert bellman_ford.path_to(relaxed, 0, 3) == [0, 2, 1, 3]


def test_a_part_of_a_graph_without_weights():
    ends = [0, 1, 2, 2], [1, 2, 0, 3]
    plain = nx.k_core(Graph(ew.Graph.from_edges(*ends)))
    assert sorted(plain.edges(data=True)) == [(0, 1, {}), (0, 2, {}), (1, 2, {})]
    weighted = nx.k_core(Graph(ew.Graph.from_edges(*ends, weights=[5, 6, 7, 8])))
    assert sorted(weighted.edges(data="weight")) == [(0, 1, 5), (0, 2, 7), (1, 2, 6)]


def test_parallel_edges():
    graph = nx.MultiGraph([(0, 1, {"weight": 5}), (0, 1, {"weight": 2}), (1, 2, {"weight": 4}), (2, 2)])
    assert nx.dijkstra_path_length(graph, 0, 2, **EDGEWISE) == 6
    assert list(nx.minimum_spanning_edges(graph, data=False, **EDGEWISE)) == [(0, 1, 1), (1, 2, 0)]
    assert list(nx.maximum_spanning_edges(graph, keys=False, **EDGEWISE)) == [
        (0, 1, {"weight": 5}),
        (1, 2, {"weight": 4}),
    ]
    tree = nx.minimum_spanning_tree(graph, **EDGEWISE)
    assert nx.utils.graphs_equal(tree, nx.minimum_spanning_tree(graph))
    assert nx.triangles(graph, **EDGEWISE) == {0: 0, 1: 0, 2: 0}
    for call in (nx.clustering, nx.transitivity):
        with pytest.raises(nx.NetworkXNotImplemented):
            call(graph, **EDGEWISE)
    with pytest.raises(nx.NetworkXNotImplemented):
        list(nx.minimum_spanning_edges(graph, algorithm="boruvka", **EDGEWISE))


def test_not_a_number_in_spanning_edges():
    graph = weights(1.0, math.nan, 2.0)
    edges = nx.minimum_spanning_edges(graph, **EDGEWISE)
    with pytest.raises(ValueError, match=r"NaN found as an edge weight. Edge .*1, 2"):
        next(edges)
    found = nx.minimum_spanning_edges(graph, ignore_nan=True, data=False, **EDGEWISE)
    assert list(found) == [(0, 1), (2, 3)]


def test_ties_are_broken_by_the_order_of_edges():
    graph = nx.Graph()
    graph.add_edges_from([(2, 1), (0, 2), (1, 0)], weight=1)
    for algorithm in ("kruskal", "prim", "boruvka"):
        found = nx.minimum_spanning_edges(graph, algorithm, data=False, **EDGEWISE)
        assert list(found) == [(2, 1), (2, 0)]


def test_a_graph_without_conversion():
    graph = ew.Graph.from_edges(["a", "b", "d", "a"], ["b", "c", "e", "c"], weights=[2, 3, 1, 9])
    wrapped = Graph(graph)
    pairs = ew.Graph.from_edges(
        [0, 0, 1, 2, 1, 3], [1, 2, 3, 3, 0, 1]
    )  # a square, two of whose edges are twice
    assert nx.number_connected_components(wrapped) == 2
    assert nx.node_connected_component(wrapped, "d") == {"d", "e"}
    assert nx.single_source_dijkstra_path(wrapped, "a") == {"a": ["a"], "b": ["a", "b"], "c": list("abc")}
    assert nx.shortest_path_length(wrapped, "a", "c") == 1
    assert nx.dijkstra_path_length(wrapped, "a", "c", weight="score") == 1
    assert list(nx.minimum_spanning_edges(wrapped)) == [
        ("d", "e", {"weight": 1}),
        ("a", "b", {"weight": 2}),
        ("b", "c", {"weight": 3}),
    ]
    assert nx.triangles(wrapped) == {"a": 1, "b": 1, "c": 1, "d": 0, "e": 0}
    assert nx.minimum_spanning_tree(wrapped).number_of_edges() == 3
    assert list(nx.all_shortest_paths(Graph(pairs), 0, 3)) == [[0, 1, 3], [0, 2, 3]]
    assert set(nx.k_corona(Graph(pairs), 2)) == set(range(4))
    path = ew.Graph.from_edges([0, 0, 1, 2], [1, 1, 2, 3])  # its first edge is twice
    assert set(nx.k_corona(Graph(path), 1, core_number=dict.fromkeys(range(4), 1))) == {0, 3}
    with nx.config(fallback_to_nx=True):  # what this backend lacks runs on a graph of NetworkX
        assert nx.pagerank(wrapped).keys() == set("abcde")
    directed = Graph(ew.Graph.from_edges([0, 1, 1], [1, 2, 2], n_vertices=4, directed=True))
    assert nx.ancestors(directed, 2) == {0, 1} and 3 in directed and 4 not in directed
    assert list(nx.weakly_connected_components(directed)) == [{0, 1, 2}, {3}]


@pytest.mark.parametrize("make", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_conversion_there_and_back(make):
    graph = make([(0, 1, {"weight": 2}), ("b", 0), (1, 1, {"colour": "red"})], name="one")
    graph.add_node("alone", size=3)
    back = BackendInterface.convert_to_nx(BackendInterface.convert_from_nx(graph))
    assert type(back) is make and nx.utils.graphs_equal(back, graph)
    assert BackendInterface.convert_to_nx(7) == 7


def test_paths_are_found_again_with_the_same_memory():
    graph = Graph(ew.Graph.from_edges([0, 1, 2, 4], [1, 2, 3, 5]))
    for _ in range(2):
        assert nx.bidirectional_shortest_path(graph, 0, 3) == [0, 1, 2, 3]
        assert nx.bidirectional_shortest_path(graph, 3, 1) == [3, 2, 1]
        assert not nx.has_path(graph, 0, 5) and nx.has_path(graph, 5, 4) and nx.has_path(graph, 5, 5)


def test_weights_of_a_view_whose_edges_have_one_direction():
    graph = nx.cycle_graph(5)
    nx.set_edge_attributes(graph, {edge: sum(edge) for edge in graph.edges}, "weight")
    for filter_edge in (lambda u, v: u <= v, lambda u, v: u >= v, lambda u, v: True):
        view = nx.subgraph_view(graph, filter_edge=filter_edge)
        found, expected = (
            dict(nx.all_pairs_dijkstra_path_length(view, backend=one)) for one in ("edgewise", "networkx")
        )
        assert found == expected


def test_neighbours_that_are_equal_to_nodes_but_of_another_type():
    graph = nx.path_graph(3)
    graph.add_edge(2, 0.0)
    graph.add_edge(True, 2.0)
    assert nx.shortest_path(graph, 0, 2, **EDGEWISE) == [0, 2]
    assert nx.triangles(graph, **EDGEWISE) == {0: 1, 1: 1, 2: 1}


def test_views_are_converted():
    graph = nx.path_graph(5)
    assert nx.number_connected_components(graph.subgraph([0, 1, 3, 4]), **EDGEWISE) == 2
    turned = nx.path_graph(4, create_using=nx.DiGraph).reverse(copy=False)
    assert nx.descendants(turned, 3, **EDGEWISE) == {0, 1, 2}


def test_large_graphs_agree_with_small_ones():
    """The front's answers for more entries than a small graph has, and those of the loops for few."""
    graph = nx.gnm_random_graph(1500, MAX_ENTRIES // 2 + 500, seed=3)
    graph.add_edge(7, 7)
    for edge in graph.edges:
        graph.edges[edge]["weight"] = (edge[0] * 7919 + edge[1] * 104729) % 50
    calls = [nx.triangles, nx.clustering, nx.connected_components, nx.minimum_spanning_edges]
    simple = nx.Graph(graph)
    simple.remove_edge(7, 7)
    assert nx.core_number(simple, **EDGEWISE) == nx.core_number(simple, backend="networkx")
    for call in calls:
        found, expected = call(graph, **EDGEWISE), call(graph, backend="networkx")
        if hasattr(found, "__next__"):
            found, expected = list(found), list(expected)
        assert found == expected, call.__name__
    part = graph.subgraph(max(nx.connected_components(graph), key=len))
    hops = scipy.sparse.csgraph.shortest_path(nx.to_scipy_sparse_array(part, weight=None), unweighted=True)
    eccentricities = dict(zip(part, hops.max(axis=1).astype(int).tolist()))  # NetworkX takes ten seconds
    for call in (nx.diameter, nx.radius, nx.center, nx.periphery):
        assert call(part, **EDGEWISE) == call(part, e=eccentricities, backend="networkx")


def test_tables_and_matrices():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"source": ["a", "b", "a"], "target": ["b", "a", "c"], "cost": [3, 4, 5]})
    for kind in (None, nx.DiGraph):
        made = nx.from_pandas_edgelist(frame, edge_attr="cost", create_using=kind, **EDGEWISE)
        expected = nx.from_pandas_edgelist(frame, edge_attr="cost", create_using=kind)
        assert isinstance(made, Graph)
        assert nx.utils.graphs_equal(BackendInterface.convert_to_nx(made), expected)
    with pytest.raises(NotImplementedError):
        nx.from_pandas_edgelist(frame, edge_attr=True, **EDGEWISE)
    matrix = scipy.sparse.coo_array(([1, 2, 2], ([0, 0, 1], [0, 1, 0])), shape=(3, 3)).tocsr()
    for kind in (None, nx.DiGraph):
        made = nx.from_scipy_sparse_array(matrix, create_using=kind, **EDGEWISE)
        expected = nx.from_scipy_sparse_array(matrix, create_using=kind)
        assert nx.utils.graphs_equal(BackendInterface.convert_to_nx(made), expected)


def test_from_networkx_and_back():
    graph = nx.MultiDiGraph([("b", "a", {"cost": 2}), ("a", "c", {"cost": 1.5}), ("a", "c", {"cost": 4})])
    made = ew.Graph.from_networkx(graph, weight="cost")
    assert made.directed and made.ids.to_pylist() == ["b", "a", "c"]
    assert made.weights.tolist() == [2, 1.5, 4]
    assert nx.utils.graphs_equal(made.to_networkx(weight="cost", multigraph=True), graph)
    assert ew.Graph.from_networkx(graph).weights is None
    tuples = nx.grid_2d_graph(2, 2)
    assert set(ew.Graph.from_networkx(tuples).to_networkx().nodes) == set(tuples.nodes)
    with pytest.raises(GraphError, match="tuples that are ids have one length"):
        ew.Graph.from_networkx(nx.Graph([((0, 1), (0, 1, 2))]))
    with pytest.raises(GraphError, match="4 of 4 edges lack weight='cost'"):
        ew.Graph.from_networkx(nx.cycle_graph(4), weight="cost")
    with pytest.raises(GraphError, match="a NetworkX graph is needed, not list"):
        ew.Graph.from_networkx([(0, 1)])
    numbers = ew.Graph.from_networkx(nx.Graph([(5, 2**40)]))
    assert Counter(numbers.ids.tolist()) == {5: 1, 2**40: 1}
    assert list(numbers.to_networkx().edges) == [(5, 2**40)]
