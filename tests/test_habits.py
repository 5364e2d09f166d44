"""What Python users expect of names: suggestions, tab completion, pictures in notebooks."""

import inspect
import pickle
from copy import copy
from typing import Any, assert_type

import numpy as np
import pytest

import edgewise as ew
from edgewise.errors import EdgewiseError, OptionError, warn

pytestmark = [pytest.mark.interpreter]

FUNCTIONS = {name: getattr(ew, name) for name in ew.__all__ if inspect.isfunction(getattr(ew, name))}
FUNCTIONS |= {f"generate.{name}": getattr(ew.generate, name) for name in ew.generate.__all__}
FUNCTIONS |= {
    f"Graph.{name}": getattr(ew.Graph, name)
    for name in ("from_edges", "from_csr", "from_scipy", "from_igraph", "from_frame", "from_networkx")
}
FUNCTIONS = {name: one for name, one in FUNCTIONS.items() if callable(one)}
del FUNCTIONS["generate.named"]  # takes the options of any family


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_argument_that_is_misspelt_is_suggested(name):
    function = FUNCTIONS[name]
    parameters = inspect.signature(function).parameters.values()
    graph = ew.Graph.from_edges([0, 1], [1, 2])
    given = [
        graph if one.name == "graph" else 2
        for one in parameters
        if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD
    ]
    named = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]
    named = [right for right in named if len(right) > 2]
    for right in named or [[one.name for one in parameters if one.kind is not one.VAR_KEYWORD][-1]]:
        wrong = f"{right[:-1]}x" if len(right) < 5 else right[:-2] + right[-1]
        with pytest.raises(OptionError, match=rf"(has no option '|^){wrong}.*; did you mean \w+\?"):
            function(*given, **{wrong: None})


def test_options_of_methods_and_readers_are_suggested(tmp_path):
    graph = ew.Graph.from_edges([0, 1], [1, 2])
    components: Any = ew.connected_components  # type checkers know that the calls are wrong
    bfs: Any = ew.bfs
    partition: Any = ew.partition
    read: Any = ew.read
    made: Any = ew.Graph
    cases = [
        (lambda: components(graph, threshold=0.9), "did you mean thresholds?"),
        (lambda: components(graph, treshold=0.9), "did you mean thresholds?"),
        (lambda: components(graph, iteration=3), "did you mean iterations?"),
        (lambda: components(graph, rounds=3), "auto has no option 'rounds'; name method='"),
        (lambda: read("a.csv", treshold=0.9), "did you mean threshold?"),
        (lambda: read("a.csv", sources="a"), "did you mean source?"),
        (lambda: made.from_frame({}, directd=True), "did you mean directed?"),
        (lambda: made.from_edges([0], [1], self_loop="drop"), "did you mean self_loops?"),
        (lambda: partition(graph, 2, imbalanc=1), "did you mean imbalance?"),
        (lambda: partition(graph, 2, vertex_weight=1), "did you mean vertex_weights?"),
        (lambda: bfs(graph, 0, cut_off=1), "did you mean cutoff?"),
    ]
    for call, words in cases:
        with pytest.raises(OptionError) as caught:
            call()
        assert words in str(caught.value)


def test_an_unknown_argument_is_a_type_error_too():
    components: Any = ew.connected_components
    with pytest.raises(TypeError) as caught:
        components(None, nothing=1)
    assert isinstance(caught.value, EdgewiseError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_public_names_complete():
    assert dir(ew) == ew.__all__
    ew.connected_components(ew.Graph.from_edges([0], [1]))
    assert dir(ew) == ew.__all__
    with pytest.raises(AttributeError, match="no attribute 'conected_components'; did you mean connected_c"):
        ew.conected_components  # noqa: B018
    names = set(dir(ew.Graph.from_edges([0], [1])))
    assert not {"has_cached", "cached", "assumed_columns"} & names
    assert {"ids", "n_edges", "sources", "from_edges", "subgraph", "to"} <= names


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("add_edge", "Graph.from_edges"),
        ("add_nodes_from", "Graph.from_edges"),
        ("remove_node", "Graph.from_edges"),
        ("nodes", "list(graph)"),
        ("edges", "graph.sources"),
        ("neighbors", "bfs(graph, id, cutoff=1)"),
        ("vertices", "graph.id_column()"),
        ("number_of_edges", "graph.n_edges"),
        ("to_igraph", "numpy.stack([graph.sources, graph.targets], 1)"),
        ("n_vertex", "did you mean n_vertices?"),
        ("weigths", "did you mean weights?"),
    ],
)
def test_names_of_other_libraries_say_what_to_use(name, words):
    graph = ew.Graph.from_edges([0], [1])
    with pytest.raises(AttributeError) as caught:
        getattr(graph, name)
    assert str(caught.value).startswith(f"'Graph' object has no attribute {name!r}") and words in str(
        caught.value
    )


def test_graphs_are_copied_and_kept():
    graph = ew.Graph.from_edges(["a"], ["b"])
    for other in (copy(graph), pickle.loads(pickle.dumps(graph))):
        assert list(other) == ["a", "b"]
    assert not hasattr(graph, "__array__") and not hasattr(graph, "_nothing")


def test_ids_are_of_one_kind():
    for ids in (["a", "b", "c"], [10, 20, 2**40], [0, 1, 2]):
        graph = ew.Graph.from_edges(ids[:2], ids[1:], n_vertices=3 if ids == [0, 1, 2] else None)
        assert graph.id_column().to_pylist() == list(graph) == ids
        assert graph.ids is None or graph.ids.tolist() == ids
    part = ew.connected_components(ew.Graph.from_edges(["a"], ["b"]))
    assert part.graph.id_column().to_pylist() == ["a", "b"]


def test_a_graph_in_a_notebook():
    frame = {"source": ["<a>", "b"], "target": ["b", "c"], "km": [1.5, 2.0]}
    page = ew.Graph.from_frame(frame, "source", "target", weight="km")._repr_html_()
    assert "<th>km</th>" in page and "&lt;a&gt;" in page and "3 vertices, 2 edges" in page
    many = ew.Graph.from_edges(np.arange(100), np.arange(100) + 1)._repr_html_()
    assert many.count("<tr>") == 10 and "…" in many
    rows = ew.Graph.from_csr([0, 1, 2], [1, 0])
    assert rows._repr_html_().count("<tr>") == 0
    assert ew.Graph.from_edges([], [])._repr_html_().count("<tr>") == 1


def test_a_warning_is_one_line_at_the_caller():
    with pytest.warns(ew.errors.EdgewiseWarning, match=r"^a\\x1b\[0m$") as seen:
        warn("a\x1b[0m")
    assert seen[0].filename == __file__


def test_components_are_a_sequence_of_clusters():
    graph = ew.Graph.from_edges(["b", "a", "d"], ["c", "e", "d"])
    result = ew.connected_components(graph)
    assert len(result) == result.count == 3
    assert [ids.tolist() for ids in result] == [["b", "c"], ["a", "e"], ["d"]]
    assert result[-1].tolist() == ["d"] and result[np.int64(0)].tolist() == ["b", "c"]
    assert "a" in result and "z" not in result and result
    wrong: Any
    for wrong, error in ((3, IndexError), (-4, IndexError), ("a", TypeError), (True, TypeError)):
        with pytest.raises(error):
            result[wrong]
    empty = ew.connected_components(ew.Graph.from_edges([], []))
    assert len(empty) == 0 and empty and list(empty) == []
    strong = ew.strongly_connected_components(ew.Graph.from_edges([0, 1, 1], [1, 0, 2], directed=True))
    assert sorted(map(len, strong)) == [1, 2]


def test_components_are_tables_to_other_libraries():
    result = ew.connected_components(ew.Graph.from_edges(["a"], ["b"]))
    pa = pytest.importorskip("pyarrow")
    assert pa.table(result).column_names == ["id", "component"]
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError):  # and no table of members
        pd.DataFrame(result)
    pl = pytest.importorskip("polars")
    assert pl.DataFrame(result).columns == ["id", "component"]


def test_type_checkers_know_the_arrays_of_results() -> None:
    graph = ew.Graph.from_edges([0, 1, 0], [1, 2, 2], weights=[1, 2, 3])
    distances, forest = ew.bfs(graph, 0), ew.minimum_spanning_forest(graph)
    assert_type(distances.distances, np.ndarray)
    assert_type(distances.parents, np.ndarray)
    assert_type(forest.edges, np.ndarray)
    assert_type(forest.weights, np.ndarray)
    assert_type(ew.connected_components(graph).labels, np.ndarray)
    assert_type(ew.core_numbers(graph).cores, np.ndarray)
    assert_type(ew.partition(graph, 2).parts, np.ndarray)
    assert_type(ew.cycle_counts(graph, 3).counts, np.ndarray)


def test_a_stream_is_shown():
    stream = ew.ComponentsStream(4)
    stream.add([0, 1], [1, 2])
    assert repr(stream) == "<ComponentsStream: 4 vertices, 2 edges so far>"
