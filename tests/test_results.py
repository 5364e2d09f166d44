"""What all results have in common: their answer, their tables in any library, their dicts."""

import pickle
import sys
from importlib.util import find_spec
from time import perf_counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import edgewise as ew
from edgewise.device import arrays
from edgewise.errors import GraphError, OptionError
from edgewise.result import SHOWN_ROWS, Result, html_of
from tests.problems import PROBLEMS

PAIRS = {"left": ["a", "b", "d", "<i>", "a"], "right": ["b", "c", "e", "<i>", "c"], "km": [2, 3, 1, 4, 9]}


def graph_of(frame=PAIRS):
    return ew.Graph.from_frame(frame, "left", "right", weight="km")


#: Public functions that need more than an undirected graph, or have several results here.
WITH_ARGUMENTS = {
    "all_pairs_shortest_paths",
    "bfs",
    "connected_components",
    "cycle_counts",
    "distance_measures",
    "minimum_spanning_forest",
    "partition",
    "shortest_paths",
    "strongly_connected_components",
}


def calls(graph):
    """One result of every kind, by name."""
    clusters = {"id": ["a", "b"], "cluster": ["a", "a"]}
    forest = ew.minimum_spanning_forest(graph)
    directed = ew.Graph.from_edges([0, 1, 1], [1, 0, 2], n_vertices=3, directed=True)
    return {
        "components": ew.connected_components(graph),
        "thresholds": ew.connected_components(graph, thresholds=[2, 4]),
        "updated": ew.update_components(clusters, {"left_id": ["b"], "right_id": ["c"]}),
        "split": forest.split(max_size=2),
        "forest": forest,
        "bfs": ew.bfs(graph, "a"),
        "all pairs": ew.all_pairs_shortest_paths(graph),
        "table": ew.distance_table(graph, ["a", "d"], ["b", "c", "e"]),
        "measures": ew.distance_measures(graph),
        "isochrones": ew.isochrones(graph, ["b", "a"], [2, 5]),
        "nearest": ew.nearest(graph, ["a", "c"], 2),
        "closeness": ew.estimate_closeness(graph, weight=False),
        "cycles": ew.cycle_counts(graph, 3),
        "estimate": ew.estimate_cycles(graph, 3, samples=50),
        "clustering": ew.clustering(graph),
        "best links": ew.best_links(graph, datasets=[0, 1, 0, 1, 0, 1]),
        "partition": ew.partition(graph, 2),
        "strong": ew.strongly_connected_components(directed),
        **{name: getattr(ew, name)(graph) for name in PROBLEMS.keys() - WITH_ARGUMENTS},
    }


@pytest.fixture(scope="module")
def found():
    return calls(graph_of())


ANSWERS = {
    "components": "3 clusters of 6 vertices, largest 3; rem",
    "thresholds": "4 clusters of 6 vertices at 2, 5 clusters at 4, along 'km'; rem",
    "updated": "1 cluster of 3 vertices, largest 3; rem",
    "split": "4 clusters of 6 vertices, largest 2, along 'km'; rem",
    "forest": "lightest spanning forest: 3 edges of weight 6, 3 trees, along 'km'; kruskal",
    "bfs": "3 of 6 vertices reached from 1 source, the farthest at 1; top-down-sequential",
    "all pairs": "distances from 6 sources to 6 vertices, along 'km'; ",
    "table": "distances from 2 sources to 3 targets, along 'km'; ",
    "measures": "diameter inf, radius inf of 6 vertices, along 'km'; ",
    "isochrones": "3 of 6 vertices at most 5 from 2 sources, along 'km'; bounded-search",
    "nearest": "the nearest 2 of 2 places for 3 of 6 vertices, along 'km'; nearest-labels",
    "closeness": "closeness estimated from 6 vertices of 6; mean distances within 0 of the diameter ",
    "cycles": "1 cycle of length 3, at most 1 through a vertex; ",
    "estimate": "about ",
    "clustering": "average clustering 0.5, transitivity 1 of 6 vertices; ",
    "partition": "2 parts, cut ",
    "strong": "2 clusters of 3 vertices, largest 2; tarjan",
    "core_numbers": "core numbers up to 2 of 6 vertices; peel",
}


def test_every_result_answers(found):
    for name, result in found.items():
        said = str(result)
        assert said.startswith(ANSWERS.get(name, "")), (name, said)
        assert said.endswith("s") and "\n" not in said
        assert repr(result) == f"<{type(result).__name__}: {said}>"
    kinds, waiting = set(), [Result]
    while waiting:
        kinds |= (others := set(waiting.pop().__subclasses__()) - kinds)
        waiting += others
    assert {type(result) for result in found.values()} <= kinds
    assert [kind for kind in kinds if kind.__repr__ is not Result.__repr__] == []
    assert [kind for kind in kinds if kind._answer is Result._answer and "_verify" in vars(kind)] == []


@pytest.mark.interpreter
def test_the_time_is_a_part_of_that_of_the_call():
    start = perf_counter()
    results = calls(graph_of())
    longest = perf_counter() - start
    assert [name for name, result in results.items() if not 0 <= result.seconds <= longest] == []


#: What is said of a graph without vertices.
ANSWERS_OF_NONE = {
    "all_pairs_shortest_paths": "distances from 0 sources to 0 vertices; ",
    "betweenness": "betweenness of 0 vertices; ",
    "clustering": "average clustering 0, transitivity 0 of 0 vertices; ",
    "connected_components": "0 clusters of 0 vertices, largest 0; ",
    "core_numbers": "core numbers up to 0 of 0 vertices; ",
    "cycle_counts": "0 cycles of length 3, at most 0 through a vertex; ",
    "distance_measures": "diameter 0, radius 0 of 0 vertices; ",
    "estimate_closeness": "closeness estimated from 0 vertices of 0; ",
    "estimate_cycles": "about 0 cycles of length 3 (0 to 0 with ",
}


@pytest.mark.interpreter
@pytest.mark.parametrize("name", ANSWERS_OF_NONE)
def test_answers_of_a_graph_without_vertices(name):
    empty = ew.Graph.from_edges([], [], n_vertices=0)
    result = getattr(ew, name)(empty, *([3] if "cycles" in name or name == "cycle_counts" else []))
    assert str(result).startswith(ANSWERS_OF_NONE[name])
    assert pa.table(result).num_rows == (name == "estimate_cycles")


def test_answers_of_small_graphs():
    empty, one = (ew.Graph.from_edges([], [], n_vertices=n) for n in (0, 1))
    assert str(ew.connected_components(empty)).startswith("0 clusters of 0 vertices, largest 0; ")
    assert str(ew.bfs(one, 0)).startswith("1 of 1 vertex reached from 1 source, the farthest at 0; ")
    assert "<tbody></tbody>" in ew.connected_components(empty)._repr_html_()
    several = ew.connected_components(one, devices="cpu:0,cpu:1")
    assert str(several).endswith(" on cpu:0, cpu:1")


def test_a_notebook_shows_the_first_rows(found):
    for name, result in found.items():
        shown = result._repr_html_()
        assert ANSWERS.get(name, "") in shown.replace("&#x27;", "'")
        assert shown.count("<tr>") == 1 + min(SHOWN_ROWS + 1, pa.table(result).num_rows)
        assert "<i>" not in shown
    assert "<td>&lt;i&gt;</td>" in found["components"]._repr_html_()
    long = pa.table({"name": ["x" * 100] * 9, "share": [1 / 3] * 9, "none": pa.nulls(9)})
    assert html_of(long).count(f"<td>{'x' * 60}…</td><td>0.333333</td><td></td>") == 8
    assert html_of(long).endswith("<tr><td>…</td><td>…</td><td>…</td></tr></tbody></table>")


def test_records_that_are_gone_leave_the_answer(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("id,age\na,1\nb,2\nc,3\nd,4\ne,5\nf,6\n")
    (tmp_path / "pairs.csv").write_text("left,right\na,b\n")
    graph = ew.read(tmp_path / "pairs.csv", vertices=path)
    result = ew.connected_components(graph)
    assert "<th>age</th>" in result._repr_html_()
    path.unlink()
    assert result._repr_html_().startswith("<p><b>Components</b>: 5 clusters of 6 vertices")


def test_tables_are_of_the_library_that_came_in(found):
    made, types = {"arrow": pa.table, "pandas": pd.DataFrame}, {"arrow": pa.Table, "pandas": pd.DataFrame}
    if find_spec("polars"):
        import polars

        made["polars"] = types["polars"] = polars.DataFrame
    for kind, make in made.items():
        graph = graph_of(make(PAIRS))
        result = ew.connected_components(graph)
        tables = [result.to_frame(), result.to_frame("min", min_size=2), result.top(2), result.size_counts()]
        forest = ew.minimum_spanning_forest(graph.undirected())
        tables += [forest.to_frame(), forest.path("a", "c"), ew.bfs(graph, "a").to_frame()]
        assert {type(table) for table in tables} == {types[kind]}
        assert type(result.to_frame(kind="arrow")) is pa.Table
        assert pa.table(tables[0]).column_names == ["id", "component"]
        assert ew.connected_components(graph.split("cpu:0,cpu:1")).to_frame().__class__ is types[kind]
    for other, kind in types.items():
        assert all(type(result.to_frame(kind=other)) is kind for result in found.values())
    assert type(found["components"].to_frame()) is pa.Table
    frame = pd.DataFrame({"id": ["a", "b"], "cluster": ["a", "a"]})
    updated = ew.update_components(frame, {"left_id": ["b"], "right_id": ["c"]})
    assert updated.to_frame()["cluster"].tolist() == ["a"] * 3
    assert updated.changes()["change"].tolist() == ["grown"]
    frame = pd.DataFrame({"id": ["b", "a"], "cluster": ["a", "a"]})
    updated = ew.update_components(frame, {"left_id": ["b"], "right_id": ["c"]})
    assert updated.component_of("c") == updated.to_dict()["b"] == updated.top(1)["cluster"][0] == "a"


def test_a_library_that_is_not_there(found, monkeypatch):
    with pytest.raises(OptionError, match="kind='panda' is unknown; did you mean pandas"):
        found["components"].to_frame(kind="panda")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(OptionError, match="kind='polars' needs polars, which is not installed; install it"):
        found["bfs"].to_frame(kind="polars")


def test_any_library_takes_a_result(found, tmp_path):
    for name, result in found.items():
        table = pa.table(result)
        assert table.equals(result.to_frame(kind="arrow")), name
        result.write(tmp_path / f"{name}.csv")
    graph = graph_of(pd.DataFrame(PAIRS))
    ew.write(ew.bfs(graph, "a"), tmp_path / "pandas.csv")
    assert (tmp_path / "pandas.csv").read_text() == (tmp_path / "bfs.csv").read_text()


def test_dicts(found):
    assert found["components"].to_dict() == {"a": "a", "b": "a", "c": "a", "d": "d", "e": "d", "<i>": "<i>"}
    assert found["components"].to_dict("size") == {"a": 3, "b": 3, "c": 3, "d": 2, "e": 2, "<i>": 1}
    assert (
        found["components"].to_dict("component")["e"] == 3
        or found["components"].to_dict("component")["e"] > 0
    )
    assert found["thresholds"].to_dict("cluster_4")["b"] == "b"
    assert found["bfs"].to_dict() == {"a": 0, "b": 1, "c": 1}
    assert found["forest"].to_dict() == {("a", "b"): 2, ("b", "c"): 3, ("d", "e"): 1}
    assert found["all pairs"].to_dict()["a"] == {"a": 0, "b": 2, "c": 5}
    assert found["isochrones"].to_dict()["b"] == {"a": 2, "b": 0, "c": 3}
    assert found["nearest"].to_dict()["b"] == {"a": 2, "c": 3}
    assert found["cycles"].to_dict()["a"] == 1
    assert found["clustering"].to_dict()["a"] == 1.0
    assert found["clustering"].to_dict("triangles")["a"] == 1
    assert found["measures"].to_dict()["a"] == float("inf")
    assert found["estimate"].to_dict("samples") == {"samples": 50}
    assert set(found["partition"].to_dict().values()) == {0, 1}
    for result in found.values():
        with pytest.raises(OptionError, match="column='clutser' is unknown; "):
            result.to_dict("clutser")


def test_clusters_as_sets_and_by_id(found):
    result = found["components"]
    assert result.sets() == [{"a", "b", "c"}, {"d", "e"}, {"<i>"}]
    assert result.sets(min_size=2) == [{"a", "b", "c"}, {"d", "e"}]
    assert result.component_of("c") == "a"
    assert result.component_of(["e", "<i>", "b"]).to_pylist() == ["d", "<i>", "a"]
    assert result.component_of(pa.array(["e"]), "row").tolist() == [3]
    with pytest.raises(OptionError, match="min_size=0"):
        result.sets(min_size=0)
    with pytest.raises(GraphError, match="nobody"):
        result.component_of("nobody")
    with pytest.raises(OptionError, match="name='last' is unknown"):
        result.component_of("a", "last")


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_numbers_are_their_own_ids(device):
    if device == "gpu" and not arrays.gpu_count():
        pytest.skip("needs a GPU")
    graph = ew.Graph.from_edges([4, 1, 0], [3, 2, 0], n_vertices=6)
    result = ew.connected_components(graph, device=device)
    assert result.sets(min_size=2) == [{1, 2}, {3, 4}]
    assert result.component_of(4) == 3
    assert result.component_of([2, 5]).tolist() == [1, 5]
    assert result.to_dict() == {0: 0, 1: 1, 2: 1, 3: 3, 4: 3, 5: 5}
    assert str(result).startswith("4 clusters of 6 vertices, largest 2; ")
    assert "<td>5</td>" in result._repr_html_()


#: Attributes with which a result hands out an array.
HANDED_OUT = (
    *("labels", "roots", "counts", "edge_counts", "distances", "parents", "sources", "targets", "weights"),
    *("eccentricities", "closeness", "triangles", "squares", "edges", "ranked", "parts", "order", "cores"),
)


@pytest.mark.interpreter
def test_arrays_are_read_only():
    graph = graph_of()
    results = [*calls(graph).values(), ew.core_numbers(graph)]
    seen = set()
    for result in results:
        for name in HANDED_OUT:
            array = getattr(result, name, None)
            if isinstance(array, np.ndarray) and len(array):
                seen.add(name)
                with pytest.raises(ValueError, match="read-only"):
                    array[:1] = 0
        result.verify()
    assert seen == set(HANDED_OUT)


@pytest.mark.interpreter
def test_arrays_of_a_pickled_result_are_read_only():
    result = pickle.loads(pickle.dumps(ew.core_numbers(ew.Graph.from_edges([0, 1], [1, 2]))))
    with pytest.raises(ValueError, match="read-only"):
        result.cores[0] = 5


@pytest.mark.interpreter
def test_arrays_of_the_input_stay_writable():
    sources, targets = np.array([0, 1, 2]), np.array([1, 2, 3])
    ew.bfs(ew.Graph.from_edges(sources, targets), sources[:1])
    assert sources.flags.writeable and targets.flags.writeable
