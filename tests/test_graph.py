"""Making graphs of arrays, rows, matrices and tables; their two forms; what is refused."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import edgewise as ew
from edgewise.device.target import SIMULATED
from edgewise.errors import GraphError, OptionError

PLACE = "cuda" if SIMULATED else "cpu"


def edges_of(graph):
    return sorted(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True))


class TestFromEdges:
    def test_strings_are_numbered_as_they_appear(self):
        graph = ew.Graph.from_edges(["b", "c"], ["a", "b"])
        assert graph.ids.to_pylist() == ["b", "a", "c"]
        assert edges_of(graph) == [(0, 1), (2, 0)]
        assert graph.ids_of(np.array([2, 0])).to_pylist() == ["c", "b"]

    def test_integers_are_numbered_ascending(self):
        graph = ew.Graph.from_edges([2**62, -5], [7, 7])
        assert graph.ids.tolist() == [-5, 7, 2**62]
        assert edges_of(graph) == [(0, 1), (2, 1)]

    def test_plain_integers_keep_no_map(self):
        graph = ew.Graph.from_edges([0, 1], [1, 2])
        assert graph.ids is None
        assert graph.ids_of(np.array([1])).tolist() == [1]

    def test_numbers_below_n_vertices(self):
        graph = ew.Graph.from_edges([0], [4], n_vertices=9)
        assert graph.n_vertices == 9
        assert graph.sources.dtype == np.uint32

    def test_dlpack(self):
        class Foreign:
            def __init__(self, values):
                self.values = np.asarray(values)

            def __dlpack__(self, **options):
                return self.values.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.values.__dlpack_device__()

        graph = ew.Graph.from_edges(Foreign([0, 1]), Foreign([1, 2]))
        assert edges_of(graph) == [(0, 1), (1, 2)]

    def test_empty(self):
        assert ew.Graph.from_edges([], []).n_vertices == 0
        assert ew.Graph.from_edges([], [], n_vertices=3).n_edges == 0

    @pytest.mark.parametrize(
        "sources, targets, options, complaint",
        [
            ([0], [1, 2], {}, "1 sources but 2 targets"),
            ([0], [5], {"n_vertices": 5}, r"targets\[0\] is 5; vertex numbers run from 0 to 4"),
            ([0, -1], [1, 1], {"n_vertices": 5}, r"sources\[1\] is -1"),
            (["a"], ["b"], {"n_vertices": 2}, "not integers, yet n_vertices"),
            ([0.5], [1.0], {}, "float64; ids are integers or strings"),
            ([[0]], [[1]], {}, "2 dimensions"),
            ([0], [1], {"n_vertices": -1}, "negative"),
            ([0], [1], {"weights": [1, 2]}, "weights have shape"),
            ([0], [1], {"weights": ["x"]}, "weights have type"),
            (["a"], [1], {}, "convert one"),
        ],
    )
    def test_refused(self, sources, targets, options, complaint):
        with pytest.raises(GraphError, match=complaint):
            ew.Graph.from_edges(sources, targets, **options)

    def test_lists_that_arrays_would_bend(self):
        with pytest.raises(GraphError, match="are mixed in sources"):
            ew.Graph.from_edges([1, "1"], ["x", "y"])
        with pytest.raises(GraphError, match="64 bits"):
            ew.Graph.from_edges([2**64, 1], [1, 2])
        assert ew.Graph.from_edges([2**63, 1], [1, 1]).ids.tolist() == [1, 2**63]

    def test_weights_of_frames(self):
        pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
        frame = pandas.DataFrame({"a": [0, 1], "b": [1, 2], "w": [0.5, 1.5]})
        assert ew.Graph.from_edges(frame.a, frame.b, weights=frame.w).weights.tolist() == [0.5, 1.5]
        with pytest.raises(GraphError, match="null"):
            ew.Graph.from_edges([0, 1], [1, 2], weights=pyarrow.array([1, None]))

    def test_unknown_options(self):
        with pytest.raises(OptionError, match=r"n_vertices=2\.5"):
            ew.Graph.from_edges([0], [1], n_vertices=2.5)
        with pytest.raises(OptionError, match="self_loops='no'"):
            ew.Graph.from_edges([0], [1], self_loops="no")
        with pytest.raises(OptionError, match="repeated='mean'"):
            ew.Graph.from_edges([0], [1], repeated="mean")


@pytest.mark.parametrize(
    "thing, complaint",
    [
        ("pairs.csv", r"not str; see edgewise\.read"),
        ([(1, 2)], r"not list; see Graph\.from_edges"),
        ({"a": [1], "b": [2]}, r"not dict; see Graph\.from_frame"),
        (np.zeros((2, 3)), r"not numpy\.ndarray; see Graph\.from_edges"),
        (scipy.sparse.eye_array(2), r"not scipy\.dia_array; see Graph\.from_scipy"),
        (3, r"not int; see Graph\.from_edges and Graph\.from_frame"),
    ],
    ids=lambda one: type(one).__name__,
)
def test_what_makes_a_graph_of_other_things(thing, complaint):
    for search in ew.connected_components, ew.distance_measures, ew.minimum_spanning_forest:
        with pytest.raises(OptionError, match=f"a Graph is needed, {complaint}"):
            search(thing)


def test_what_makes_a_graph_of_things_of_other_libraries():
    frame = pytest.importorskip("pandas").DataFrame({"a": [1], "b": [2]})
    with pytest.raises(OptionError, match=r"not pandas\.DataFrame; see Graph\.from_frame"):
        ew.bfs(frame, 1)
    with pytest.raises(OptionError, match=r"a DataFrame is no path; .*; Graph\.from_frame takes tables"):
        ew.read(frame)
    with pytest.raises(OptionError, match=r"not networkx\.Graph; see Graph\.from_networkx"):
        ew.bfs(pytest.importorskip("networkx").path_graph(2), 1)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("repeated", ["first", "sum", "min", "max"])
def test_merging(directed, repeated):
    ends = [2, 1, 1, 0, 2, 1], [1, 2, 2, 0, 1, 0]
    weights = [5, 3, 9, 1, 2, 4]
    graph = ew.Graph.from_edges(*ends, weights=weights, n_vertices=3, directed=directed, repeated=repeated)
    groups = {}
    for source, target, weight in zip(*ends, weights, strict=True):
        edge = (source, target) if directed else (min(source, target), max(source, target))
        groups.setdefault(edge, []).append(weight)
    pick = {"first": lambda w: w[0], "sum": sum, "min": min, "max": max}[repeated]
    assert edges_of(graph) == sorted(groups)
    assert graph.weights.tolist() == [pick(groups[edge]) for edge in sorted(groups)]


def test_simplified_keeps_the_vertices():
    graph = ew.Graph.from_edges(["a", "b", "b"], ["b", "a", "b"], weights=[5, 3, 1])
    simple = graph.simplified(repeated="sum")
    assert (edges_of(simple), simple.weights.tolist()) == ([(0, 1)], [8])
    assert simple.ids is graph.ids
    assert edges_of(graph.simplified(repeated="keep")) == [(0, 1), (1, 0)]
    with pytest.raises(OptionError, match="repeated='mean'"):
        graph.simplified(repeated="mean")


def test_dropping_self_loops_and_merging_without_weights():
    graph = ew.Graph.from_edges([0, 1, 1], [1, 0, 1], n_vertices=2, self_loops="drop", repeated="first")
    assert edges_of(graph) == [(0, 1)]


EDGES = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12), st.integers(-9, 9)), max_size=40)


@pytest.mark.interpreter
@given(EDGES, st.booleans())
def test_rows_and_edges_hold_the_same(edges, directed):
    sources, targets, weights = np.array(edges, np.int64).reshape(-1, 3).T
    graph = ew.Graph.from_edges(sources, targets, weights=weights, n_vertices=13, directed=directed)
    expected = list(zip(sources.tolist(), targets.tolist(), weights.tolist(), strict=True))
    if not directed:
        expected += [(v, u, w) for u, v, w in expected if u != v]
    owners = np.repeat(np.arange(13), graph.degrees())
    rows = list(zip(owners.tolist(), graph.neighbours.tolist(), graph.csr_weights.tolist(), strict=True))
    assert sorted(rows) == sorted(expected)
    assert [row[:2] for row in rows] == sorted(row[:2] for row in rows)
    back = ew.Graph.from_csr(graph.offsets, graph.neighbours, weights=graph.csr_weights, directed=directed)
    assert back.n_edges == graph.n_edges


@pytest.mark.simulator
def test_graphs_move_and_keep_their_rows():
    graph = ew.Graph.from_edges([3, 0, 0], [1, 2, 1], weights=[1.5, 2.5, 3.5], n_vertices=4)
    there = graph.to(PLACE)
    assert there.device == ("cuda:0" if SIMULATED else "cpu")
    assert there.to("cpu").csr_weights.tolist() == graph.csr_weights.tolist()
    assert np.asarray(there.neighbours).tolist() == graph.neighbours.tolist()
    assert "4 vertices" in repr(graph)


class TestFromCsr:
    def test_edges_once(self):
        graph = ew.Graph.from_csr([0, 2, 4, 5], [0, 1, 0, 2, 1])
        assert edges_of(graph) == [(0, 0), (0, 1), (1, 2)]
        assert graph.n_edges == 3

    @pytest.mark.parametrize(
        "offsets, neighbours, complaint",
        [
            ([0, 2, 1], [0, 1], "fall from 2 to 1 at row 1"),
            ([0, 1], [0, 0], "must run from 0 to 2"),
            ([1, 2], [0], "from 1"),
            ([0, 1], [4], r"neighbours\[0\] is 4"),
            ([0, 1, 1], [1], "vertex 0 lists 1, but not the other way round"),
            ([], [], "at least one entry"),
            ([0.0, 1.0], [0], "float64"),
            (["0", "1"], [0], "integer arrays"),
        ],
    )
    def test_refused(self, offsets, neighbours, complaint):
        with pytest.raises(GraphError, match=complaint):
            ew.Graph.from_csr(offsets, neighbours)

    def test_weights_of_both_directions_agree(self):
        with pytest.raises(GraphError, match="with the same weight"):
            ew.Graph.from_csr([0, 1, 2], [1, 0], weights=[5, 9])

    def test_strided_offsets(self):
        offsets = np.array([0, 9, 1, 9, 2])[::2]
        assert ew.connected_components(ew.Graph.from_csr(offsets, [1, 0])).count == 1


class TestFromScipy:
    def test_stored_zeros_are_edges(self):
        matrix = scipy.sparse.coo_array(([0, 0, 5, 5], ([0, 1, 1, 2], [1, 0, 2, 1])), shape=(4, 4))
        graph = ew.Graph.from_scipy(matrix)
        assert not graph.directed
        assert edges_of(graph) == [(0, 1), (1, 2)]
        assert graph.weights.tolist() == [0, 5]

    def test_unsymmetric_is_directed_unless_told(self):
        matrix = scipy.sparse.csr_array(np.array([[0, 1], [0, 0]]))
        assert ew.Graph.from_scipy(matrix).directed
        assert edges_of(ew.Graph.from_scipy(matrix, directed=False)) == [(0, 1)]

    @pytest.mark.parametrize(
        "matrix, complaint",
        [
            (scipy.sparse.csr_array((2, 3)), r"shape \(2, 3\)"),
            (scipy.sparse.csr_array(np.array([[1j]])), "complex"),
            (np.eye(2), r"SciPy sparse matrix is needed, not ndarray; use scipy\.sparse\.coo_array"),
        ],
    )
    def test_refused(self, matrix, complaint):
        with pytest.raises(GraphError, match=complaint):
            ew.Graph.from_scipy(matrix)


class TestFromFrame:
    TABLE = {"l": ["a", None, "b"], "r": ["b", "c", "c"], "score": [0.9, 0.5, 0.1]}

    def test_conditions_weights_and_nulls(self):
        graph = ew.Graph.from_frame(self.TABLE, "l", "r", weight="score", null="drop")
        assert (graph.n_vertices, graph.weights.tolist()) == (3, [0.9, 0.1])
        graph = ew.Graph.from_frame(self.TABLE, "l", "r", where="score >= 0.9")
        assert graph.ids.to_pylist() == ["a", "b"]

    def test_pandas_and_polars(self):
        for module in ("pandas", "polars"):
            frame = pytest.importorskip(module).DataFrame({"u": [1, 5], "v": [5, 9]})
            assert ew.Graph.from_frame(frame, "u", "v").ids.tolist() == [1, 5, 9]

    @pytest.mark.parametrize(
        "options, complaint",
        [
            ({"source": "l", "target": "x"}, "column 'x' is not there .columns: l, r, score"),
            ({"source": "l", "target": "r"}, "'l' is null in row 2"),
            ({"source": "l", "target": "score"}, "'score' holds double .float, DOUBLE.; ids are"),
        ],
    )
    def test_refused(self, options, complaint):
        with pytest.raises(GraphError, match=complaint):
            ew.Graph.from_frame(self.TABLE, **options)

    def test_what_is_no_table(self):
        with pytest.raises(GraphError, match="list is no table"):
            ew.Graph.from_frame([1, 2], "a", "b")


@pytest.mark.interpreter
def test_a_degree_has_a_direction():
    graph = ew.Graph.from_edges(["a", "b", "c"], ["b", "c", "b"], directed=True)
    assert [graph.degree("b", direction=direction) for direction in ("out", "in", "both")] == [1, 2, 3]


@pytest.mark.interpreter
def test_weights_of_vertices_stay_with_a_graph():
    rows = {"offsets": [0, 1, 2], "neighbours": [1, 0], "vertex_weights": [4, 5]}
    graph = ew.Graph.from_csr(**rows, directed=True)
    assert graph.with_weights([1, 2]).vertex_weights.tolist() == [4, 5]


@pytest.mark.interpreter
def test_ids_that_end_as_vertex_numbers_do_are_kept():
    graph = ew.Graph.from_edges([-5], [1])
    assert graph.ids.tolist() == [-5, 1]


@pytest.mark.interpreter
def test_an_unsigned_id_is_not_the_negative_one_of_the_same_bits():
    graph = ew.Graph.from_edges([-3, 7], [7, 20])
    assert graph.vertices_of(np.array([20, 7], np.uint64)).tolist() == [2, 1]
    for wanted in np.array([7, 2**64 - 3], np.uint64), [2**64 - 3]:
        with pytest.raises(GraphError, match=f"vertex {2**64 - 3} is not in the graph"):
            graph.vertices_of(wanted)
