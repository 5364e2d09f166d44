"""Graphs that answer: parts, reverses, degrees, ids, other libraries, and what the weights are."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import edgewise as ew
from edgewise.device.target import SIMULATED
from edgewise.errors import GraphError, OptionError

PLACE = "cuda" if SIMULATED else "cpu"


def edges_of(graph):
    """Edges by ids, with weights."""
    graph = graph.to("cpu")
    ids = list(graph)
    ends = ((ids[u], ids[v]) for u, v in zip(graph.sources.tolist(), graph.targets.tolist()))
    ends = (pair if graph.directed else tuple(sorted(pair)) for pair in ends)
    weights = [None] * graph.n_edges if graph.weights is None else graph.weights.tolist()
    return sorted(zip(ends, weights), key=repr)


class Tensor:
    """Another library's array."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


class TestEdgesInOneArgument:
    @pytest.mark.interpreter
    @pytest.mark.parametrize(
        "edges",
        [
            np.array([[0, 1, 3], [1, 2, 4]]),
            np.array([[0, 1], [1, 2], [3, 4]]),
            [[0, 1, 3], [1, 2, 4]],
            [[0, 1], [1, 2], [3, 4]],
            [(0, 1), (1, 2), (3, 4)],
            Tensor([[0, 1, 3], [1, 2, 4]]),
            Tensor([[0, 1], [1, 2], [3, 4]]),
        ],
        ids=["rows", "columns", "lists of rows", "lists of columns", "pairs", "edge_index", "tensor"],
    )
    def test_shapes(self, edges):
        graph = ew.Graph.from_edges(edges, n_vertices=5, weights=[1, 2, 3])
        assert edges_of(graph) == [((0, 1), 1), ((1, 2), 2), ((3, 4), 3)]

    def test_rows_are_not_copied(self):
        edges = np.array([[0, 1, 3], [1, 2, 4]], np.uint32)
        graph = ew.Graph.from_edges(edges, n_vertices=5)
        assert np.shares_memory(graph.sources, edges) and np.shares_memory(graph.targets, edges)

    def test_pairs_of_strings_and_one_or_no_pair(self):
        graph = ew.Graph.from_edges([("b", "a"), ("a", "c")])
        assert list(graph) == ["b", "a", "c"]
        assert list(ew.Graph.from_edges([("b", "a"), ("a", "c")], ids=["a", "b", "c", "d"])) == list("abcd")
        assert ew.Graph.from_edges([("x", "y")]).n_edges == 1
        assert ew.Graph.from_edges([[7, 9]]).ids.tolist() == [7, 9]
        assert len(ew.Graph.from_edges([])) == 0
        assert ew.Graph.from_edges(np.empty((2, 0), np.int64), n_vertices=3).n_edges == 0

    @pytest.mark.parametrize(
        "edges, complaint",
        [
            (
                np.array([[0, 1], [1, 2]]),
                r"shape \(2, 2\) are two columns or two rows; give the two as sources",
            ),
            ([[0, 1], [1, 2]], r"shape \(2, 2\)"),
            (np.zeros((3, 3), int), r"shape \(3, 3\); two columns \(m, 2\) or two rows \(2, m\)"),
            ([0, 1, 2], r"shape \(3,\)"),
            ([("a", "b"), ("a", "b", 0.5)], r"edge 1 is \('a', 'b', 0.5\), not a pair of ids; give weights"),
            ([("a", 1), (2, "b")], "are mixed in sources"),
        ],
    )
    def test_refused(self, edges, complaint):
        with pytest.raises(GraphError, match=complaint):
            ew.Graph.from_edges(edges)


class TestMatrices:
    @pytest.mark.interpreter
    def test_values_are_never_taken_silently(self):
        matrix = scipy.sparse.coo_array(([5.0, 5.0], ([0, 1], [1, 0])), shape=(3, 3))
        graph = ew.Graph.from_scipy(matrix)
        assert graph.assumed_weights == "the values of the matrix"
        assert "1 edge, weights along the values of the matrix," in repr(graph)
        assert ew.Graph.from_scipy(matrix, weight=True).assumed_weights is None
        assert ew.Graph.from_scipy(matrix, weight=True).weights.tolist() == [5.0]
        assert not ew.Graph.from_scipy(matrix, weight=False).is_weighted

    @pytest.mark.interpreter
    def test_a_pattern_has_no_weights(self):
        matrix = scipy.sparse.csr_array(np.array([[0, 1], [1, 0]], bool))
        graph = ew.Graph.from_scipy(matrix)
        assert not graph.is_weighted and graph.assumed_weights is None
        assert ew.Graph.from_scipy(matrix, weight=True).weights.tolist() == [1]

    @pytest.mark.interpreter
    def test_an_unweighted_diameter_of_a_weighted_matrix(self):
        nx = pytest.importorskip("networkx")
        club = nx.karate_club_graph()
        matrix = nx.to_scipy_sparse_array(club)
        graph = ew.Graph.from_scipy(matrix, weight=False)
        assert ew.distance_measures(graph).diameter == nx.diameter(club) == 5

    @pytest.mark.interpreter
    @pytest.mark.parametrize("directed", [False, True])
    @pytest.mark.parametrize("weights", [None, [2, 3, 4]])
    def test_to_scipy_and_back(self, directed, weights):
        graph = ew.Graph.from_edges([0, 1, 2], [1, 2, 2], weights=weights, n_vertices=4, directed=directed)
        matrix = graph.to_scipy()
        assert (matrix.format, matrix.indices.dtype, matrix.shape) == ("csr", np.int32, (4, 4))
        if not directed:
            assert (matrix != matrix.T).nnz == 0
        again = ew.Graph.from_scipy(matrix, directed=directed, weight=weights is not None)
        assert edges_of(again) == edges_of(graph)

    def test_a_matrix_of_cupy(self):
        matrix = scipy.sparse.coo_matrix(([7, 7, 8], ([0, 1, 2], [1, 0, 2])), shape=(3, 3))
        foreign = type("coo_matrix", (), {"__module__": "cupyx.scipy.sparse._coo"})()
        for name in ("row", "col", "data", "shape", "dtype"):
            setattr(foreign, name, getattr(matrix, name))
        foreign.tocoo = lambda: foreign
        graph = ew.Graph.from_scipy(foreign)
        assert edges_of(graph) == [((0, 1), 7), ((2, 2), 8)]
        foreign.shape = (3, 4)
        with pytest.raises(GraphError, match="an adjacency matrix is square"):
            ew.Graph.from_scipy(foreign)


class FakeSequence(dict):
    def attributes(self):
        return list(self)


class FakeIgraph:
    """The methods of ``igraph.Graph`` that are needed."""

    def __init__(self, n, edges, directed=False, vs=(), es=()):
        self.n, self.edges, self.directed = n, edges, directed
        self.vs, self.es = FakeSequence(vs), FakeSequence(es)

    def vcount(self):
        return self.n

    def get_edgelist(self):
        return self.edges

    def is_directed(self):
        return self.directed


class TestIgraph:
    def test_by_its_methods(self):
        plain = FakeIgraph(4, [(0, 1), (1, 2)], directed=True)
        graph = ew.Graph.from_igraph(plain)
        assert (len(graph), graph.directed, graph.ids, graph.is_weighted) == (4, True, None, False)
        assert len(ew.Graph.from_igraph(FakeIgraph(2, []))) == 2
        attributes = {"vs": {"name": ["a", "b", "c"], "code": [7, 8, 9]}, "es": {"km": [1.5, 2.5]}}
        named = FakeIgraph(3, [(0, 1), (1, 2)], **attributes)
        assert edges_of(ew.Graph.from_igraph(named)) == [(("a", "b"), None), (("b", "c"), None)]
        graph = ew.Graph.from_igraph(named, weight="km", ids="code")
        assert edges_of(graph) == [((7, 8), 1.5), ((8, 9), 2.5)]
        assert "weights along 'km'" in repr(graph)
        with pytest.raises(GraphError, match="weight='miles' is no attribute; use one of km"):
            ew.Graph.from_igraph(named, weight="miles")
        with pytest.raises(GraphError, match="weight='km' is no attribute; the graph has no such"):
            ew.Graph.from_igraph(plain, weight="km")
        with pytest.raises(GraphError, match=r"an igraph\.Graph is needed, not dict"):
            ew.Graph.from_igraph({})

    def test_the_real_one(self):
        igraph = pytest.importorskip("igraph")
        club = igraph.Graph.Famous("Zachary")
        graph = ew.Graph.from_igraph(club)
        assert (len(graph), graph.n_edges) == (34, 78)
        assert ew.core_numbers(graph).cores.tolist() == club.coreness()


class TestParts:
    @pytest.mark.interpreter
    @pytest.mark.simulator
    @pytest.mark.parametrize("directed", [False, True])
    @pytest.mark.parametrize("form", ["edges", "rows"])
    def test_subgraph(self, form, directed):
        ends = [0, 1, 2, 3, 3, 4], [1, 2, 0, 0, 3, 1]
        graph = ew.Graph.from_edges(*ends, weights=[1, 2, 3, 4, 5, 6], n_vertices=5, directed=directed)
        if form == "rows":
            rows = graph.offsets, graph.neighbours
            graph = ew.Graph.from_csr(*rows, weights=graph.csr_weights, directed=directed)
        part = graph.to(PLACE).subgraph([3, 0, 1, 0])
        assert part.made_of == (form,) and part.device == graph.to(PLACE).device
        pairs = [((0, 1), 1), ((3, 0) if directed else (0, 3), 4), ((3, 3), 5)]
        assert edges_of(part) == sorted(pairs, key=repr)
        assert list(part.to("cpu")) == [0, 1, 3]
        assert graph.subgraph([0, 1]).ids is None  # they are the new numbers
        assert len(graph.subgraph([])) == 0 and graph.subgraph(4).n_edges == 0

    @given(
        st.integers(1, 12).flatmap(
            lambda n: st.tuples(
                st.just(n),
                st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=30),
                st.sets(st.integers(0, n - 1)),
                st.booleans(),
            )
        )
    )
    def test_subgraphs_of_made_up_graphs(self, made):
        n, pairs, kept, directed = made
        sources, targets = np.array(pairs, np.int64).reshape(-1, 2).T
        graph = ew.Graph.from_edges(sources, targets, n_vertices=n, directed=directed)
        rows = ew.Graph.from_csr(graph.offsets, graph.neighbours, directed=directed)
        inside = [pair for pair in pairs if set(pair) <= kept]
        inside = inside if directed else [tuple(sorted(pair)) for pair in inside]
        for whole in (graph, rows):
            part = whole.subgraph(sorted(kept))
            assert [pair for pair, _ in edges_of(part)] == sorted(inside, key=lambda pair: repr((pair, None)))
            assert len(part) == len(kept)

    def test_ids_vertex_weights_and_names_of_weights(self):
        graph = ew.Graph.from_frame({"a": ["x", "y"], "b": ["y", "z"], "km": [1.5, 2.5]})
        graph.vertex_weights = np.array([4, 5, 6])
        part = graph.subgraph(["z", "y"])
        assert (part.ids.to_pylist(), part.vertex_weights.tolist()) == (["y", "z"], [5, 6])
        assert part.assumed_weights == "km" and "weights along 'km'" in repr(part)
        with pytest.raises(GraphError, match="vertex 'q' is not in the graph"):
            graph.subgraph(["x", "q"])

    @pytest.mark.parametrize("directed", [False, True])
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("ids", ["strings", "integers", "none"])
    @pytest.mark.parametrize("form", ["edges", "rows", "both"])
    def test_what_every_graph_keeps(self, form, ids, weighted, directed):
        kinds = {"strings": pa.array(["d", "c", "b", "a"]), "integers": np.array([9, 7, 5, 3])}
        ids = kinds.get(ids)
        edges = np.array([0, 1, 1]), np.array([1, 2, 0]), np.array([5, 7, 8]) if weighted else None
        graph = ew.Graph(4, edges=edges, directed=directed, ids=ids, vertex_weights=np.arange(4))
        if form != "edges":
            facts = {"directed": directed, "ids": graph.ids, "vertex_weights": graph.vertex_weights}
            rows = graph.offsets, graph.neighbours, graph.csr_weights
            graph = ew.Graph(4, rows=rows, edges=edges if form == "both" else None, **facts)
        graph.weight_name, graph.frame_kind = "km" if weighted else None, "pandas"
        names = [0, 1, 2, 3] if ids is None else ids.tolist()
        pairs = edges_of(graph)
        swapped = sorted(((pair[::-1], weight) for pair, weight in pairs), key=repr) if directed else pairs
        bare = sorted(((pair, None) for pair, _ in pairs), key=repr)
        several = graph.split(["cpu:0", "cpu:1"], by="range")
        for made, wanted in [
            (graph.subgraph(names), pairs),
            (graph.reverse(), swapped),
            (graph.reverse().reverse(), pairs),
            (graph.without_weights(), bare),
            (graph.simplified(repeated="keep"), pairs),
            (several.to("cpu"), bare),
        ]:
            assert edges_of(made) == wanted
            assert list(made) == names and len(made) == 4 and names[2] in made and "none" not in made
            assert made.directed == directed and made.frame_kind == "pandas"
            assert made is graph or made.is_weighted == (wanted is not bare and weighted)
            assert not made.is_weighted or made.weight_name == "km"
            assert made.vertex_weights is None or made.vertex_weights.tolist() == [0, 1, 2, 3]
        assert several.n_edges == 3 and graph.undirected().weight_name == graph.weight_name
        matrix = graph.to_scipy()
        back = ew.Graph.from_scipy(matrix, directed=directed, weight=weighted)
        back.ids = ids
        assert edges_of(back) == pairs
        assert matrix.nnz == (3 if directed else 6) and matrix.shape == (4, 4)

    def test_records_of_a_part(self, tmp_path):
        people = {"id": ["d", "c", "b", "a"], "age": [1, 2, 3, 4]}
        pairs = {"left": ["a", "b"], "right": ["b", "c"], "km": [1.5, 2.5]}
        pa.csv.write_csv(pa.table(people), tmp_path / "people.csv")
        pa.csv.write_csv(pa.table(pairs), tmp_path / "pairs.csv")
        read = ew.read(tmp_path / "pairs.csv", vertices=tmp_path / "people.csv")
        for graph in ew.Graph.from_frame(pd.DataFrame(pairs), vertices=people), read:
            part = graph.subgraph(["a", "c", "d"]).subgraph(["c", "a"])
            found = pa.table(ew.connected_components(part)).to_pydict()
            ages = [2, 4] if graph is not read else ["2", "4"]
            assert found == {"id": ["c", "a"], "age": ages, "cluster": ["c", "a"], "size": [1, 1]}
            assert part.records.known_ids().finish is not None and part.frame_kind == graph.frame_kind
            largest = ew.connected_components(ew.largest_component(graph))
            assert pa.table(largest)["age"].to_pylist() == (["2", "3", "4"] if graph is read else [2, 3, 4])
        (tmp_path / "people.csv").write_text("id,age\nd,1\nc,2\nb,3\na,4\ne,5\n")
        with pytest.raises(GraphError, match=r"people\.csv has changed since its ids were read"):
            pa.table(ew.connected_components(read.subgraph(["a"])))

    @pytest.mark.interpreter
    def test_reverse(self):
        graph = ew.Graph.from_edges(["a", "a"], ["b", "c"], weights=[1, 2], directed=True)
        assert edges_of(graph.reverse()) == [(("b", "a"), 1), (("c", "a"), 2)]
        assert graph.undirected().reverse().directed is False
        assert graph.reverse().offsets.tolist() == [0, 0, 1, 2]

    @pytest.mark.interpreter
    def test_without_weights(self):
        graph = ew.Graph.from_frame({"a": [0, 1], "b": [1, 2], "km": [1.5, 2.5]}).prepare("components")
        bare = graph.without_weights()
        assert bare.weights is None and bare.csr_weights is None and not bare.is_weighted
        assert bare.made_of == graph.made_of and bare.assumed_weights is None
        assert bare.sources is graph.sources and graph.is_weighted
        assert bare.without_weights() is bare


class TestAnswers:
    @pytest.mark.interpreter
    def test_length_membership_and_iteration(self):
        graph = ew.Graph.from_edges(["b"], ["a"], ids=["a", "b", "c"])
        assert (len(graph), list(graph)) == (3, ["a", "b", "c"])
        assert "c" in graph and "d" not in graph and 1 not in graph and None not in graph
        numbers = ew.Graph.from_edges([0, 1], [1, 2])
        assert list(numbers) == [0, 1, 2] and 2 in numbers and 3 not in numbers and "a" not in numbers
        assert 2**70 not in numbers and ["a"] not in numbers
        sparse = ew.Graph.from_edges([2**40], [7])
        assert list(sparse) == [7, 2**40] and all(type(id) is int for id in sparse)
        assert ew.Graph.from_edges([], [])  # a graph is true

    @pytest.mark.interpreter
    @pytest.mark.simulator
    def test_degrees(self):
        graph = ew.Graph.from_edges([0, 0, 2], [1, 2, 2], n_vertices=3, directed=True).to(PLACE)
        by_direction = {way: graph.degrees(direction=way).tolist() for way in ("out", "in", "both")}
        assert by_direction == {"out": [2, 0, 1], "in": [0, 1, 2], "both": [2, 1, 3]}
        undirected = graph.undirected()
        for way in by_direction:
            assert undirected.degrees(direction=way).tolist() == [2, 1, 2]
        assert graph.degree(2, direction="in") == 2 and type(graph.degree(0)) is int
        with pytest.raises(OptionError, match="direction='up' is unknown; use one of out, in, both"):
            graph.degrees(direction="up")
        with pytest.raises(GraphError, match="vertex 3 is not in the graph"):
            graph.degree(3)

    @pytest.mark.interpreter
    def test_representation(self):
        graph = ew.Graph.from_edges([0, 1], [1, 2], n_vertices=1000)
        assert repr(graph) == "<Graph: undirected, 1,000 vertices, 2 edges, held as edges on cpu>"
        graph = ew.Graph.from_csr([0, 1], [0], weights=[1.5], directed=True)
        assert repr(graph) == "<Graph: directed, 1 vertex, 1 edge, weights, held as rows on cpu>"
        named = ew.Graph.from_frame({"a": [0], "b": [1], "c": [2.0]}, weight="c")
        assert "weights along 'c'" in repr(named) and named.assumed_weights is None

    @pytest.mark.interpreter
    def test_prepared_graphs_say_so_and_answer_the_same(self):
        ends = [0, 1, 2, 0], [1, 2, 0, 3]
        plain, graph = (ew.Graph.from_edges(*ends, weights=[3, 1, 1, 5]) for _ in range(2))
        assert graph.prepare("cycles", "components").prepare("searches", "cycles") is graph
        assert graph.prepared == ("cycles", "components", "searches")
        assert graph.made_of == ("edges", "rows") and plain.made_of == ("edges",)
        assert repr(graph).endswith("rows on cpu, prepared for cycles and components and searches>")
        assert graph.without_weights().prepared == ()
        for answer in (
            lambda graph: ew.bfs(graph, 0).distances,
            lambda graph: ew.shortest_paths(graph, 0).distances,
            lambda graph: ew.connected_components(graph).labels,
            lambda graph: ew.cycle_counts(graph, 3).counts,
        ):
            assert answer(graph).tolist() == answer(plain).tolist()

    @pytest.mark.interpreter
    def test_what_cannot_be_prepared(self):
        graph = ew.Graph.from_edges([0], [1], directed=True)
        with pytest.raises(OptionError, match="prepare needs a purpose; use one of components, cycles"):
            graph.prepare()
        with pytest.raises(OptionError, match="purpose='search' is unknown; did you mean searches"):
            graph.prepare("components", "search")
        with pytest.raises(GraphError, match="the graph is directed, and cycles are counted in undirected"):
            graph.prepare("cycles")
        assert graph.prepared == ()

    @pytest.mark.interpreter
    def test_has_path(self):
        graph = ew.Graph.from_edges(["a", "b", "d"], ["b", "c", "e"], directed=True)
        found = {(s, t) for s in graph for t in graph if ew.has_path(graph, s, t)}
        assert found == {(v, v) for v in graph} | {("a", "b"), ("b", "c"), ("a", "c"), ("d", "e")}
        assert ew.has_path(graph.undirected(), "c", "a")
        with pytest.raises(GraphError, match="vertex 'f' is not in the graph"):
            ew.has_path(graph, "a", "f")
        with pytest.raises(OptionError, match="target has 2 ids; has_path is about one"):
            ew.has_path(graph, "a", ["b", "c"])

    def test_has_path_beyond_a_small_search(self):
        n = 20_000
        ends = np.append(np.arange(n - 1), np.arange(n, 2 * n - 1))
        for directed in (False, True):
            graph = ew.Graph.from_edges(ends, ends + 1, n_vertices=2 * n, directed=directed)
            assert ew.has_path(graph, 0, n - 1)
            assert ew.has_path(graph, n - 1, 0) is not directed
            assert not ew.has_path(graph, 5, n + 5)
