"""Every function returns what NetworkX returns, in its order, or raises what it raises."""

import math
import random
from collections.abc import Iterator

import networkx as nx
import pytest

from edgewise.device.target import INTERPRETED

pytestmark = pytest.mark.interpreter
KINDS = {
    "numbers": lambda n: list(range(n)),
    "strings": lambda n: [f"n{i}" for i in range(n)],
    "mixed": lambda n: [(i,) if i % 2 else float(i) for i in range(n)],
}
if INTERPRETED:  # which takes longer, and the names of nodes make no difference to the loops
    KINDS = {"mixed": KINDS["mixed"]}
SIZES = {"empty": (0, 0), "one": (1, 0), "loop": (2, 3), "sparse": (20, 15), "dense": (24, 70)}
MISSING = "no such node"
CENTRALITIES = ("closeness_centrality", "harmonic_centrality")
EDGEWISE, NETWORKX = {"backend": "edgewise"}, {"backend": "networkx"}


def graph_of(kind, size, directed):
    """A graph with self-loops, whose weights are often equal, and lengths that are floats."""
    (n, m), draw = SIZES[size], random.Random(5)
    graph, nodes = (nx.DiGraph if directed else nx.Graph)(), KINDS[kind](n)
    draw.shuffle(nodes) if kind == "mixed" else None
    graph.add_nodes_from(nodes)
    for _ in range(m):
        ends = draw.choice(nodes), draw.choice(nodes)
        graph.add_edge(*ends, weight=draw.choice([1, 2, 3, 5]), length=draw.random())
    return graph


def shown(result):
    """A result as text: iterators as lists, sets in order, graphs as their nodes and edges."""
    if isinstance(result, Iterator):
        return str([shown(item) if isinstance(item, set) else item for item in result])
    if isinstance(result, set):
        return str(sorted(map(repr, result)))
    if isinstance(result, nx.Graph):
        return repr((list(result.nodes(data=True)), sorted(map(repr, result.edges(data=True)))))
    return repr(result)


def outcome(name, graph, backend, arguments, options):
    try:
        found = getattr(nx, name)(graph, *arguments, backend=backend, **options)
        if name in CENTRALITIES and isinstance(found, dict):
            return str({node: f"{value:.12g}" for node, value in found.items()})  # sums in another order
        return shown(found)
    except (nx.NetworkXException, KeyError, ValueError, ZeroDivisionError) as error:
        return f"{type(error).__name__}: {error}"


def check(graph, calls):
    different = []
    for name, *arguments in calls:
        options = arguments.pop() if arguments and isinstance(arguments[-1], dict) else {}
        try:
            found = outcome(name, graph, "edgewise", arguments, options)
        except NotImplementedError:
            assert len(graph) == 0 or name in DECLINES, name
            continue
        expected = outcome(name, graph, "networkx", arguments, options)
        if found != expected:
            different.append((name, arguments, options, expected[:200], found[:200]))
    assert different == []


#: Functions that leave some graphs with weights that are all right to NetworkX: none.
DECLINES: tuple[str, ...] = ()


def searches(first, last):
    one = (
        "single_source_shortest_path_length single_source_shortest_path single_target_shortest_path "
        "single_target_shortest_path_length predecessor bfs_edges bfs_predecessors bfs_successors bfs_layers "
        "descendants ancestors bfs_tree generic_bfs_edges single_source_dijkstra single_source_dijkstra_path "
        "single_source_dijkstra_path_length dijkstra_predecessor_and_distance single_source_bellman_ford "
        "single_source_bellman_ford_path single_source_bellman_ford_path_length "
        "bellman_ford_predecessor_and_distance find_negative_cycle"
    )
    two = (
        "bidirectional_shortest_path has_path shortest_path shortest_path_length dijkstra_path "
        "dijkstra_path_length bidirectional_dijkstra bellman_ford_path bellman_ford_path_length"
    )
    yield from ((name, node) for name in one.split() for node in (first, MISSING))
    for name in two.split():
        yield from (
            (name, *ends) for ends in ((first, last), (first, MISSING), (MISSING, last), (first, first))
        )
    for cutoff in (0, 1, 1.5, 2, -1):
        yield "single_source_shortest_path_length", first, cutoff
        yield "single_source_shortest_path", first, cutoff
        yield "predecessor", first, None, cutoff
        yield "single_source_dijkstra", first, None, cutoff
        yield "dijkstra_predecessor_and_distance", first, cutoff, "length"
        yield "bfs_edges", first, {"depth_limit": cutoff, "reverse": True}
    yield "predecessor", first, last
    yield "predecessor", first, last, None, True
    yield "predecessor", first, None, None, True
    yield "single_source_dijkstra", first, last
    yield "descendants_at_distance", first, 2
    for weight in ("length", "weight", "no such attribute"):
        yield "shortest_path", {"source": first, "weight": weight}
        yield "shortest_path", {"target": first, "weight": weight}
        yield "shortest_path", {"target": first, "weight": weight, "method": "bellman-ford"}
        yield "shortest_path_length", {"target": first, "weight": weight}
        yield "shortest_path_length", {"target": first, "weight": weight, "method": "bellman-ford"}
        yield "shortest_path", first, last, weight
        for method in ("dijkstra", "bellman-ford", "no such method"):
            options = {"weight": weight, "method": method}
            yield from (("all_shortest_paths", *ends, options) for ends in ((first, last), (MISSING, first)))
    yield from (("all_shortest_paths", *ends) for ends in ((first, last), (first, first), (first, MISSING)))
    yield "shortest_path", {"target": first}
    yield "shortest_path_length", {"target": first}
    yield "shortest_path", first, last, {"method": "no such method"}


def of_all_nodes():
    names = (
        "isolates number_of_isolates all_pairs_shortest_path all_pairs_shortest_path_length shortest_path "
        "shortest_path_length johnson negative_edge_cycle all_pairs_dijkstra all_pairs_dijkstra_path "
        "all_pairs_dijkstra_path_length all_pairs_bellman_ford_path all_pairs_bellman_ford_path_length "
        "eccentricity diameter radius center periphery average_shortest_path_length"
    )
    yield from ((name,) for name in names.split())
    for name in ("diameter", "radius", "center", "periphery"):
        yield name, {"usebounds": True}
        yield name, {"weight": "weight"}
        yield name, {"weight": "length"}
    for weight in (None, "weight", "length", "no such attribute"):
        yield "closeness_centrality", {"distance": weight}
        yield "closeness_centrality", {"distance": weight, "wf_improved": False}
        yield "harmonic_centrality", {"distance": weight}


def of_some_nodes(nodes):
    for name in ("multi_source_dijkstra", "multi_source_dijkstra_path", "multi_source_dijkstra_path_length"):
        yield from ((name, some) for some in (nodes[:3], [], set(nodes[3:5]), [MISSING]))
    yield "bfs_layers", nodes[:3]
    yield "eccentricity", nodes[:3]
    for weight in (None, "weight", "length"):
        yield from (("closeness_centrality", node, weight) for node in (*nodes[:2], MISSING))
        yield from (("harmonic_centrality", some, weight) for some in (nodes[:3], nodes[:15], [MISSING], []))
        yield "harmonic_centrality", nodes[:5], weight, nodes[3:9]
        yield "harmonic_centrality", nodes[:9], weight, nodes[3:5]
        yield "harmonic_centrality", None, weight, nodes[:2]


def of_undirected_graphs(nodes):
    names = (
        "connected_components number_connected_components is_connected triangles clustering transitivity "
        "average_clustering minimum_spanning_edges maximum_spanning_edges minimum_spanning_tree"
    )
    yield from ((name,) for name in names.split())
    yield from (("node_connected_component", node) for node in (*nodes[:2], MISSING))
    for name in ("triangles", "clustering"):
        yield from ((name, some) for some in (nodes[:3], *nodes[:1], [MISSING]))
    yield "generalized_degree", nodes[:2]
    yield "maximum_spanning_edges", {"weight": "length", "data": False}
    yield "average_clustering", {"count_zeros": False}
    yield "minimum_spanning_edges", {"algorithm": "no such algorithm"}
    yield from (("core_number",), ("k_core", 9), ("k_shell", 9))


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_results_and_errors_are_networkx_s(kind, size, directed):
    graph = graph_of(kind, size, directed)
    nodes = list(graph)
    calls = [*of_all_nodes(), *of_some_nodes(nodes)]
    if nodes:
        calls += searches(nodes[0], nodes[-1])
    if not directed:
        calls += of_undirected_graphs(nodes)
    else:
        kinds = "weakly", "strongly"
        names = "{}_connected_components", "number_{}_connected_components", "is_{}_connected"
        calls += [(name.format(kind),) for kind in kinds for name in names]
    check(graph, calls)


def test_centers_and_peripheries_of_small_graphs():
    """Bounds decide some vertices before a search from them."""
    for seed in range(120):
        n = 5 + seed % 12
        graph = nx.gnm_random_graph(n, n + seed % 7, seed=seed)
        if nx.is_connected(graph):
            check(graph, [("diameter",), ("radius",), ("center",), ("periphery",)])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_matrices_are_networkx_s(size, directed):
    graph = graph_of(next(reversed(KINDS)), size, directed)
    for weight in ("weight", "length", "no such attribute"):
        found = nx.floyd_warshall(graph, weight, backend="edgewise")
        expected = nx.floyd_warshall(graph, weight, backend="networkx")
        assert list(found) == list(expected)
        assert all(found[node] == pytest.approx(dict(expected[node])) for node in graph)
        before, lengths = nx.floyd_warshall_predecessor_and_distance(graph, weight, backend="edgewise")
        expected = nx.floyd_warshall_predecessor_and_distance(graph, weight, backend="networkx")
        assert (before, lengths) == expected
        if len(graph):
            matrix = nx.floyd_warshall_numpy(graph, list(graph)[::-1], weight, backend="edgewise")
            expected = nx.floyd_warshall_numpy(graph, list(graph)[::-1], weight, backend="networkx")
            assert matrix == pytest.approx(expected)


@pytest.mark.parametrize("size", ["loop", "sparse", "dense"])
@pytest.mark.parametrize("kind", KINDS)
def test_counts_that_networkx_returns_in_other_types(size, kind):
    """Zeros may be integers there, and the entries of counters come in another order."""
    graph = graph_of(kind, size, directed=False)
    for name in ("square_clustering", "generalized_degree"):
        found, expected = (getattr(nx, name)(graph, backend=one) for one in ("edgewise", "networkx"))
        assert found == expected and list(found) == list(expected)
    trees = nx.maximum_spanning_tree(graph, "length", backend="edgewise")
    assert nx.utils.graphs_equal(trees, nx.maximum_spanning_tree(graph, "length", backend="networkx"))


def no_zeros(graph):
    """The graph with weights larger than zero, as betweenness needs them."""
    for _, _, data in graph.edges(data=True):
        data["length"] = data["length"] or 0.5
    return graph


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_betweenness_is_networkx_s(kind, size, directed):
    graph = no_zeros(graph_of(kind, size, directed))
    n = len(graph)
    for name in ("betweenness_centrality", "edge_betweenness_centrality"):
        for k in {None, min(n, 1), n // 2 or None, n}:
            for weight in (None, "weight", "length", "no such attribute"):
                options = {"k": k, "weight": weight, "normalized": weight != "weight", "seed": n}
                if name == "betweenness_centrality":
                    options["endpoints"] = weight is None
                found, expected = (getattr(nx, name)(graph, **options, **one) for one in (EDGEWISE, NETWORKX))
                assert list(found) == list(expected) and found == pytest.approx(expected, nan_ok=True)
        for bad in (n + 1, -1):
            calls = (outcome(name, graph, one, (), {"k": bad}) for one in ("edgewise", "networkx"))
            assert len(set(calls)) == 1


@pytest.mark.parametrize("make", [nx.Graph, nx.DiGraph])
def test_centralities_of_graphs_that_are_not_small(make, monkeypatch):
    """All sources at a time; the nodes are in the order in which NetworkX adds up."""
    monkeypatch.setattr("edgewise.networkx.small.MAX_ENTRIES", 0)
    draw = random.Random(2)
    for n, m in ((1, 0), (30, 40), (30, 90), (30, 200)):  # the last one is strongly connected
        graph = make()
        graph.add_nodes_from(range(n))
        for _ in range(m):
            graph.add_edge(draw.randrange(n), draw.randrange(n), weight=draw.randint(0, 5), length=0.5)
        assert m < 200 or not graph.is_directed() or nx.is_strongly_connected(graph)
        calls = [(name, {"distance": one}) for name in CENTRALITIES for one in (None, "weight", "length")]
        check(graph, [*calls, ("closeness_centrality", {"wf_improved": False})])


@pytest.mark.parametrize("make", [nx.MultiGraph, nx.MultiDiGraph])
def test_betweenness_of_multigraphs(make):
    draw = random.Random(3)
    graph = make([(draw.randrange(9), draw.randrange(9), {"weight": draw.randint(1, 3)}) for _ in range(30)])
    for weight in (None, "weight"):
        found, expected = (
            nx.betweenness_centrality(graph, weight=weight, **one) for one in (EDGEWISE, NETWORKX)
        )
        assert found == pytest.approx(expected)
    with pytest.raises(NotImplementedError):
        nx.edge_betweenness_centrality(graph, **EDGEWISE)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_condensations_are_networkx_s(kind, size):
    graph = graph_of(kind, size, directed=True)
    found, expected = (nx.condensation(graph, backend=one) for one in ("edgewise", "networkx"))
    assert nx.utils.graphs_equal(found, expected) and list(found) == list(expected)
    assert found.graph["mapping"] == expected.graph["mapping"]
    assert sorted(found.edges) == sorted(expected.edges)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_subgraphs_by_core_numbers_are_networkx_s(kind, size, directed):
    graph = graph_of(kind, size, directed)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    nx.set_node_attributes(graph, dict.fromkeys(list(graph)[:5], 7), "size")
    graph.graph["name"] = "a graph"
    given = {node: at % 3 for at, node in enumerate(graph)}
    assert directed or list(nx.core_number(graph, **EDGEWISE).items()) == list(nx.core_number(graph).items())
    for name in ("k_core", "k_shell", "k_crust", "k_corona"):
        for options in ({"k": 1}, {"k": 1, "core_number": given}, {"k": 9}, {"core_number": given}, {}):
            if (directed and "core_number" not in options) or (name == "k_corona" and "k" not in options):
                continue
            if not len(graph) and "k" not in options:
                with pytest.raises(ValueError, match="empty"):
                    getattr(nx, name)(graph, **options, **EDGEWISE)
                continue
            found, expected = (getattr(nx, name)(graph, **options, **one) for one in (EDGEWISE, NETWORKX))
            assert nx.utils.graphs_equal(found, expected), (name, options)


def odd_graph(*weights, kind=nx.DiGraph):
    graph = kind()
    graph.add_edges_from((f"n{at}", f"n{at + 1}", {"weight": one}) for at, one in enumerate(weights))
    return graph


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("single_source_bellman_ford_path_length", ("n0",)),
        ("single_source_bellman_ford", ("n0",)),
        ("bellman_ford_predecessor_and_distance", ("n0",)),
        ("all_pairs_bellman_ford_path_length", ()),
        ("all_pairs_bellman_ford_path", ()),
        ("bellman_ford_path", ("n0", "n3")),
        ("single_source_dijkstra", ("n0",)),
    ],
)
@pytest.mark.parametrize("weights", [(1.0, math.inf, 2.0), (math.inf, 2.0, 1.0)], ids=str)
def test_infinite_weights(weights, name, arguments):
    graph = odd_graph(*weights)
    assert outcome(name, graph, "edgewise", arguments, {}) == outcome(name, graph, "networkx", arguments, {})


@pytest.mark.parametrize("name", ["k_core", "k_shell", "k_crust", "k_corona"])
def test_subgraphs_by_core_numbers_have_networkx_s_order(name):
    for seed in range(8):
        graph = nx.relabel_nodes(nx.gnp_random_graph(30, 0.15, seed), lambda node: (f"n{node}", node))
        found, expected = (getattr(nx, name)(graph, 2, **one) for one in (EDGEWISE, NETWORKX))
        assert list(found) == list(expected) and list(found.edges) == list(expected.edges)
        assert found.adj == expected.adj and list(map(list, found.adj.values())) == list(
            map(list, expected.adj.values())
        )


#: A shorter path to n3 is found late, and the sum to n4 is the same along both.
ROUNDED = odd_graph(0.1, 0.1, 0.1, 1e300)
ROUNDED.add_edge("n0", "n3", weight=0.5)


@pytest.mark.parametrize(
    ("name", "graph", "options"),
    [
        ("single_source_dijkstra_path_length", odd_graph(1, 0.5), {"source": "n0"}),
        ("dijkstra_path", odd_graph(1, 2), {"source": [], "target": "n0"}),
        ("johnson", odd_graph(1.0, math.inf), {}),
        ("bellman_ford_path", odd_graph(1.0, -math.inf), {"source": "n0", "target": "n1"}),
        ("negative_edge_cycle", nx.freeze(odd_graph(1, 2)), {}),
        ("has_path", odd_graph(1, 2), {"source": None, "target": "n0"}),
        ("k_core", odd_graph(1, 2, 1, kind=nx.Graph).subgraph(["n0", "n1"]), {}),
        ("k_corona", odd_graph(1, kind=nx.Graph), {"k": None}),
        ("minimum_spanning_tree", odd_graph(1.0, math.nan, kind=nx.Graph), {"algorithm": "boruvka"}),
        ("floyd_warshall", odd_graph(True, 2), {}),
        ("floyd_warshall", nx.Graph([(0, 0, {"weight": 0.0}), (0, 1, {"weight": 1.5})]), {}),
        ("floyd_warshall_predecessor_and_distance", nx.DiGraph([(0, 0, {"weight": 0.0})]), {}),
        ("radius", odd_graph(1, kind=nx.Graph), {"usebounds": True, "weight": "weight"}),
        ("multi_source_dijkstra_path", odd_graph(1), {"sources": "n0"}),
        ("triangles", odd_graph(1, kind=nx.Graph), {"nodes": [{}]}),
        ("radius", odd_graph(2**53 + 1, kind=nx.Graph), {"weight": "weight"}),
        ("multi_source_dijkstra", odd_graph(1, -1), {"sources": ["n0", "n2"]}),
        ("all_shortest_paths", odd_graph(0, 1), {"source": "n0", "target": "n2", "weight": "weight"}),
        ("floyd_warshall_numpy", odd_graph(1), {"nodelist": ["n0", "n7"]}),
        ("eccentricity", odd_graph(-1.5), {"v": "n0", "weight": "weight"}),
        ("eccentricity", odd_graph(2**53 + 1, kind=nx.Graph), {"weight": "weight"}),
        ("average_shortest_path_length", odd_graph(2**53 + 1, kind=nx.Graph), {"weight": "weight"}),
        ("bellman_ford_predecessor_and_distance", ROUNDED, {"source": "n0"}),
        ("betweenness_centrality", odd_graph(1, 0), {"weight": "weight"}),
        ("betweenness_centrality", odd_graph(1, -1), {"weight": "weight"}),
        ("betweenness_centrality", odd_graph(1.0, math.inf), {"weight": "weight"}),
        ("betweenness_centrality", odd_graph(1e20, 1.0), {"weight": "weight"}),
        ("betweenness_centrality", odd_graph(1), {"weight": lambda u, v, data: 1}),
        ("closeness_centrality", odd_graph(1), {"u": []}),
        ("closeness_centrality", odd_graph(1), {"distance": lambda u, v, data: 1}),
        ("harmonic_centrality", odd_graph(1), {"distance": lambda u, v, data: 1}),
    ],
)
def test_calls_that_are_left_to_networkx(name, graph, options):
    with pytest.raises(NotImplementedError):
        getattr(nx, name)(graph, **options, **EDGEWISE)


def test_the_rows_of_a_table_name_the_nodes_in_their_order():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"source": [7, 3, 9], "target": [5, 7, 3], "w": [1, 2, 3]})
    found = nx.from_pandas_edgelist(table, edge_attr="w", **EDGEWISE).to_networkx()
    assert shown(found) == shown(nx.from_pandas_edgelist(table, edge_attr="w", **NETWORKX))


def test_the_edge_that_is_named_has_its_nodes_as_they_were_given():
    graph = nx.Graph([(2, 0, {"weight": math.nan}), (True, 3)])
    graph.add_edge(False, 2.0)
    calls = (outcome("minimum_spanning_tree", graph, name, (), {}) for name in ("edgewise", "networkx"))
    assert len(set(calls)) == 1
    parallel = nx.MultiGraph([("a", "b", {"weight": 2.0}), ("a", "b", {"weight": math.nan})])
    with pytest.raises(NotImplementedError):
        nx.floyd_warshall_predecessor_and_distance(parallel, **EDGEWISE)


def test_the_distance_of_the_source_is_an_integer_on_a_cycle_of_length_0():
    graph = odd_graph(1.5, -0.5)
    graph.add_edge("n2", "n0", weight=-1.0)
    name = "single_source_bellman_ford_path_length"
    calls = (outcome(name, graph, backend, ("n0",), {}) for backend in ("edgewise", "networkx"))
    assert list(calls) == ["{'n0': 0, 'n1': 1.5, 'n2': 1.0}"] * 2


def test_centers_along_negative_weights_are_left_to_networkx():
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([("a", "b", -0.5), ("b", "c", 2.0), ("c", "a", 4.0)])
    for name in ("center", "periphery", "diameter", "radius"):
        with pytest.raises(NotImplementedError):
            getattr(nx, name)(graph, weight="weight", **EDGEWISE)


def test_integers_up_to_2_to_the_53_are_exact():
    for weights in ((2**52, 2**52), (2**53, 2**53 - 2), (2**60,)):
        graph = odd_graph(*weights, kind=nx.Graph)
        calls = [(name, {"weight": "weight"}) for name in ("eccentricity", "center", "diameter", "radius")]
        check(graph, calls)
