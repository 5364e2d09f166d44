"""Strong components of small graphs are the oracle's, and of larger ones SciPy's, by every method."""

import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import edgewise as ew
from edgewise.command import run
from edgewise.device import threads
from edgewise.device.target import SIMULATED
from edgewise.errors import GraphError, OptionError, VerificationError
from edgewise.paths.csr import adjacency_of
from edgewise.strong import METHODS
from edgewise.strong import forward_backward as pages
from edgewise.strong.forward_backward import forward_backward, new_state
from edgewise.strong.returns import return_often
from edgewise.strong.tarjan import components_in_order
from tests.oracles import strong_components as oracle
from tests.zoo import ZOO

PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")
NAMES = ["auto", *(name for name, method in METHODS.items() if PLACE.partition(":")[0] in method.devices)]


def _with_returns(shape, seed):
    """A shape of the zoo whose edges lead in random directions, some of them in both."""
    vertices, sources, targets = ZOO[shape]
    draw = np.random.default_rng(seed)
    ends = np.concatenate([np.stack([sources, targets]), np.stack([targets, sources])], axis=1)
    return vertices, *ends[:, draw.random(ends.shape[1]) < 0.6]


GRAPHS = {**ZOO, **{f"{shape}, both ways": _with_returns(shape, 5) for shape in ZOO}}
SHAPES = ["empty", "isolated", "cycle", "sparse", "grid, both ways"] if SIMULATED else list(GRAPHS)


def directed(vertices, sources, targets):
    return ew.Graph.from_edges(sources, targets, n_vertices=vertices, directed=True)


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", NAMES)
def test_labels_are_the_oracles(name, shape):
    vertices, sources, targets = GRAPHS[shape]
    graph = directed(vertices, sources, targets).to(PLACE)
    result = ew.strongly_connected_components(graph, method=name).on_host()
    assert result.labels.dtype == np.int32
    assert result.labels.tolist() == oracle(vertices, sources.tolist(), targets.tolist())
    assert result.count == len(set(result.labels.tolist()))
    result.verify()


def scipy_labels(graph):
    from scipy.sparse.csgraph import connected_components

    matrix = graph.to_scipy()
    matrix.sum_duplicates()
    count, found = connected_components(matrix, connection="strong")
    least = np.full(count, len(found))
    np.minimum.at(least, found, np.arange(len(found)))
    return least[found]


def _cycles(n, length):
    """Cycles of a length, each with an edge to the next."""
    vertex = np.arange(n - n % length)
    following = np.where(vertex % length == length - 1, vertex - length + 1, vertex + 1)
    return n, np.append(vertex, vertex[:-length:length]), np.append(following, vertex[length::length])


def _streets(width):
    """A grid whose streets lead one way or both ways at random, with numbers at random."""
    draw = np.random.default_rng(6)
    junctions = draw.permutation(width * width).reshape(width, width)
    ends = [np.stack([junctions[:, :-1].ravel(), junctions[:, 1:].ravel()])]
    ends = np.concatenate([*ends, np.stack([junctions[:-1].ravel(), junctions[1:].ravel()])], axis=1)
    both = np.concatenate([ends, ends[::-1]], axis=1)
    return width * width, *both[:, draw.random(both.shape[1]) < 0.7]


#: With one large component and many small ones, with none, and with long paths.
LARGER = {
    "streets": _streets(120),
    "sparse": (20_000, *np.random.default_rng(1).integers(0, 20_000, (2, 26_000))),
    "dense": (2_000, *np.random.default_rng(2).integers(0, 2_000, (2, 20_000))),
    "cycles": _cycles(9_000, 30),
    "one cycle": _cycles(5_000, 5_000),
    "path": (9_000, np.arange(8_999), np.arange(1, 9_000)),
    "path, backwards": (9_000, np.arange(1, 9_000), np.arange(8_999)),
}


@pytest.mark.parametrize("shape", LARGER)
def test_larger_graphs_as_scipy_labels_them(shape):
    graph = directed(*LARGER[shape]).to(PLACE)
    answer = scipy_labels(graph)
    for name in NAMES:
        result = ew.strongly_connected_components(graph, method=name).on_host()
        assert np.array_equal(result.labels, answer), name
    result.verify()


@pytest.mark.skipif(PLACE != "cpu", reason="a method of the CPU")
def test_a_thousand_random_graphs_as_scipy_labels_them():
    draw = np.random.default_rng(11)
    for case in range(1000):
        n = int(draw.integers(1, 60))
        graph = directed(n, *_partly_back(draw, *draw.integers(0, n, (2, int(draw.integers(0, 4 * n))))))
        if case % 2:
            adjacency_of(graph).build_incoming()
        with threads.limited(1 + case % threads.greatest()):
            labels = forward_backward(n, adjacency_of(graph))
        answer = scipy_labels(graph)
        assert np.array_equal(labels, answer), case
        labels = ew.strongly_connected_components(graph, method="signatures").labels
        assert np.array_equal(labels, answer), case


def _partly_back(draw, sources, targets):
    """The ends of edges, and of the returns of some, all or none of them."""
    back = draw.random(len(sources)) < draw.choice([0, 0.3, 0.7, 1])
    return np.append(sources, targets[back]), np.append(targets, sources[back])


def _mesh(width):
    """A grid whose streets lead both ways, with numbers in its order."""
    junctions = np.arange(width * width).reshape(width, width)
    ends = [np.stack([junctions[:, :-1].ravel(), junctions[:, 1:].ravel()])]
    ends = np.concatenate([*ends, np.stack([junctions[:-1].ravel(), junctions[1:].ravel()])], axis=1)
    return width * width, *np.concatenate([ends, ends[::-1]], axis=1)


@pytest.mark.parametrize("kept", [1, 0.9, 0.7])
@pytest.mark.parametrize("ascending", [True, False])
def test_graphs_of_rows_whose_edges_return(kept, ascending):
    n, sources, targets = _mesh(100)
    stays = np.random.default_rng(8).random(len(sources)) < kept
    graph = directed(n, sources[stays], targets[stays])
    offsets, neighbours = graph.offsets, graph.neighbours
    if not ascending:
        row = np.repeat(np.arange(n), np.diff(offsets))
        neighbours = neighbours[np.lexsort((-neighbours.astype(int), row))]
    graph = ew.Graph(n, rows=(offsets, neighbours, None), directed=True).to(PLACE)
    answer = scipy_labels(graph.to("cpu"))
    for name in NAMES:
        labels = ew.strongly_connected_components(graph, method=name).on_host().labels
        assert np.array_equal(labels, answer), name


@pytest.mark.skipif(PLACE != "cpu", reason="a method of the CPU")
def test_a_graph_whose_edges_return_needs_no_incoming_rows():
    for shape, is_built in ((_mesh(60), False), (_streets(120), True)):
        adjacency = adjacency_of(directed(*shape))
        assert return_often(adjacency.outgoing)
        forward_backward(shape[0], adjacency)
        assert adjacency.has_incoming == is_built
    assert not return_often(adjacency_of(directed(*LARGER["path"])).outgoing)
    assert not return_often(adjacency_of(directed(3, [], [])).outgoing)


LEAVES = np.arange(1, 20_000)
#: Graphs whose searches have many rounds, and that take every way through them.
WIDE = {
    "uniform": (60_000, *np.random.default_rng(3).integers(0, 60_000, (2, 400_000))),
    "pairs": (40_000, np.arange(40_000), np.arange(40_000) ^ 1),
    "cycle": _cycles(50_000, 50_000),
    "star": (
        20_000,
        np.append(np.zeros(19_999, int), np.arange(1, 20_000)),
        [*range(1, 20_000), *[0] * 19_999],
    ),
}


@pytest.mark.skipif(PLACE != "cpu", reason="a method of the CPU")
@pytest.mark.parametrize("shape", WIDE)
@pytest.mark.parametrize("is_prepared", [False, True])
def test_wide_graphs_forwards_and_backwards(shape, is_prepared):
    graph = directed(*WIDE[shape])
    graph = graph.prepare("searches") if is_prepared else graph
    labels = ew.strongly_connected_components(graph, method="forward-backward").labels
    assert np.array_equal(labels, scipy_labels(graph))


@pytest.mark.skipif(PLACE != "cpu", reason="a method of the CPU")
@pytest.mark.parametrize("is_first", [False, True])
def test_vertices_without_edges_out_are_not_listed_for_pushing(is_first, monkeypatch):
    """Each vertex is listed once at most, so a list has room for all."""
    n, leaves, states = 20_000, 18_000, []
    inside = np.arange(leaves, n) if is_first else np.arange(n - leaves)
    sources = np.repeat(inside, 40)
    targets = np.random.default_rng(5).integers(0, n, len(sources))
    sources = np.concatenate([sources, np.full(n, inside[0]), inside])
    targets = np.concatenate([targets, np.arange(n), np.full(len(inside), inside[0])])
    graph = directed(n, sources, targets)

    def longer(*given):
        state = new_state(*given)
        states.append(state._replace(listed=np.full(50 * n, n, state.listed.dtype)))
        return states[-1]

    monkeypatch.setattr(pages, "new_state", longer)
    labels = ew.strongly_connected_components(graph, method="forward-backward").labels
    assert np.array_equal(labels, scipy_labels(graph))
    assert states and all((one.listed[n:] == n).all() for one in states)


@given(
    st.integers(1, 25).flatmap(
        lambda n: st.tuples(
            st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=60)
        )
    )
)
def test_methods_agree_on_made_up_graphs(made):
    vertices, pairs = made
    sources, targets = np.array(pairs, np.int64).reshape(-1, 2).T
    answer = oracle(vertices, sources.tolist(), targets.tolist())
    for name in NAMES:
        result = ew.strongly_connected_components(directed(vertices, sources, targets), method=name)
        assert result.verify().labels.tolist() == answer


@pytest.mark.interpreter
@pytest.mark.parametrize("name", NAMES)
def test_arrays_that_cannot_be_written(name):
    ends = [np.array(column, np.uint32) for column in ([0, 1, 2], [1, 0, 1])]
    for column in ends:
        column.flags.writeable = False
    result = ew.strongly_connected_components(directed(3, *ends), method=name)
    assert result.labels.tolist() == [0, 0, 2]


@pytest.mark.interpreter
def test_contraction_may_leave_no_edge(monkeypatch):
    monkeypatch.setattr("edgewise.strong.signatures.SOON", 1)
    path = np.random.default_rng(3).permutation(40)
    ends = np.concatenate([path[:-1], path[1:]]), np.concatenate([path[1:], path[:-1]])
    result = ew.strongly_connected_components(directed(40, *ends), method="signatures")
    assert not result.labels.any()


@pytest.mark.interpreter
def test_components_are_finished_against_the_edges():
    rng = np.random.default_rng(7)
    sources, targets = rng.integers(0, 300, (2, 500))
    graph = ew.Graph(300, edges=(sources.astype(np.uint32), targets.astype(np.uint32), None), directed=True)
    labels, firsts = components_in_order(300, graph.offsets, graph.neighbours)
    assert sorted(firsts.tolist()) == np.unique(labels).tolist()
    ranks = np.empty(300, np.int64)
    ranks[firsts] = np.arange(len(firsts))
    assert (ranks[labels[sources]] >= ranks[labels[targets]]).all()


def test_tables_sizes_and_members():
    graph = ew.Graph.from_edges(["a", "b", "c"], ["b", "a", "a"], directed=True)
    result = ew.strongly_connected_components(graph)
    assert (result.count, result.largest, result.sizes().tolist()) == (2, 2, [2, 1])
    assert result.members("b").to_pylist() == ["a", "b"]
    assert result.to_frame().to_pydict() == {"id": ["a", "b", "c"], "component": [0, 0, 2]}


@pytest.mark.interpreter
def test_reviews_of_pairs_without_a_direction_are_refused():
    graph = ew.Graph.from_edges([0, 1, 1], [1, 0, 2], directed=True)
    for call in (found := ew.strongly_connected_components(graph)).cohesion, found.review:
        with pytest.raises(GraphError, match=r"ask connected_components\(graph.undirected\(\)\) for them"):
            call()
    assert ew.connected_components(graph.undirected()).cohesion()["pairs"].to_pylist() == [2]


@pytest.mark.interpreter
def test_wrong_results_are_found():
    graph = directed(4, [0, 1, 1, 2], [1, 0, 2, 3])
    result = ew.strongly_connected_components(graph)
    for labels, complaint in (
        ([0, 0, 1, 3], "the label of the root 2 is another vertex, 1"),
        ([0, 1, 3, 3], "the in-tree has no path from vertex 3 inside its label 3"),
        ([0, 0, 0, 3], "the in-tree has no path from vertex 2 inside its label 0"),
        ([0, 0, 2, 0], "vertices 0 and 3 have the label 0, but are in two trees"),
        ([0, 1, 2, 3], "edge 1 leads back in the order of the components, from vertex 1 to vertex 0"),
    ):
        with pytest.raises(VerificationError, match=complaint):
            replace(result, _labels=np.array(labels, result._labels.dtype)).verify()


@pytest.mark.interpreter
def test_what_has_no_strong_components_is_refused():
    graph = ew.Graph.from_edges([0], [1])
    with pytest.raises(GraphError, match=r"the graph is undirected; connected_components\(\) finds"):
        ew.strongly_connected_components(graph)
    with pytest.raises(GraphError, match="undirected"):
        ew.largest_component(graph, strong=True)
    with pytest.raises(OptionError, match="a Graph is needed"):
        ew.strongly_connected_components(None)
    with pytest.raises(OptionError, match="use one of auto, tarjan, forward-backward, signatures"):
        ew.strongly_connected_components(directed(2, [0], [1]), method="kosaraju")


@pytest.mark.interpreter
@pytest.mark.simulator
def test_the_largest_component():
    ends = [0, 1, 2, 3, 5, 6], [1, 0, 1, 4, 6, 7]
    graph = ew.Graph.from_edges(*ends, weights=[1, 2, 3, 4, 5, 6], directed=True).to(PLACE)
    largest = ew.largest_component(graph)
    assert largest.device == graph.device
    assert (list(largest), largest.to("cpu").weights.tolist()) == ([0, 1, 2], [1, 2, 3])
    strong = ew.largest_component(graph, strong=True).to("cpu")
    assert (list(strong), strong.weights.tolist()) == ([0, 1], [1, 2])
    empty = ew.Graph.from_edges([], [])
    assert ew.largest_component(empty) is empty


def test_the_command(tmp_path, capsys):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("l,r\na,b\nb,a\nb,c\n")
    out = tmp_path / "strong.csv"
    assert run(["strong", str(pairs), "--verify", "-o", str(out)]) == 0
    assert out.read_text().split() == ["id,component", "a,0", "b,0", "c,2"]
    assert "3 vertices, 3 edges: 2 strong components, largest 2" in capsys.readouterr().out
    assert run(["strong", str(pairs), "--json"]) == 0
    assert '"components": 2, "largest": 2' in capsys.readouterr().out
    assert run(["strong", str(pairs), "--undirected"]) == 2
    assert "pairs.csv have no direction; use edgewise components" in capsys.readouterr().err


@pytest.mark.skipif(PLACE != "cpu", reason="the choice on the CPU")
@pytest.mark.parametrize(
    ("number", "size", "name"), [(7, 1 << 13, "tarjan"), (8, 1 << 13, "forward-backward"), (8, 9, "tarjan")]
)
def test_auto_takes_all_cores_if_there_are_many(number, size, name, monkeypatch):
    monkeypatch.setattr("edgewise.strong.workers", lambda: number)
    graph = ew.generate.uniform(size, 9 * size, directed=True)
    result = ew.strongly_connected_components(graph)
    assert result.method == name
    assert np.array_equal(result.labels, ew.strongly_connected_components(graph, method="signatures").labels)
