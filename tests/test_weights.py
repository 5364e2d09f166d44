"""What the weights of a graph are, wherever it comes from, and which of them a public function uses."""

import inspect

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse

import edgewise as ew
from edgewise.command import run
from edgewise.device.target import SIMULATED
from edgewise.errors import GraphError

PLACE = "cuda" if SIMULATED else "cpu"
#: The path 1 - 2 - 3, whose edges weigh 5 and 7: as a table, as a matrix, and as text in several formats.
PAIRS = {"a": [1, 2], "b": [2, 3], "km": [5, 7]}
NAMES = {"a": ["x", "y"], "b": ["y", "z"], "km": [5, 7]}
MANY = {**PAIRS, "u": PAIRS["a"], "v": PAIRS["b"], "far": [1.5, 2.5]}
MATRIX = scipy.sparse.coo_array(([5, 5, 7, 7], ([0, 1, 1, 2], [1, 0, 2, 1])))
TEXTS = {
    "pairs.csv": ("a,b,km\n1,2,5\n2,3,7\n", "'km'"),
    "names.csv": ("a,b,km\nx,y,5\ny,z,7\n", "'km'"),
    "bare.csv": ("1,2,5\n2,3,7\n", "the third column"),
    "pairs.tsv": ("a\tb\tkm\nx\ty\t5\ny\tz\t7\n", "'km'"),
    "list.txt": ("1 2 5\n2 3 7\n", "the third column"),
    "names.ncol": ("x y 5\ny z 7\n", "the third column"),
    "pairs.jsonl": ('{"a": 1, "b": 2, "km": 5}\n{"a": 2, "b": 3, "km": 7}\n', "'km'"),
    "matrix.mtx": (
        "%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 5\n3 2 7\n",
        "the values of the matrix",
    ),
    "roads.gr": ("p sp 3 4\na 1 2 5\na 2 1 5\na 2 3 7\na 3 2 7\n", "the weights"),
    "metis.graph": ("3 2 001\n2 5\n1 5 3 7\n2 7\n", "the weights"),
    "graph.gml": (
        "graph [ node [ id 1 ] node [ id 2 ] node [ id 3 ] edge [ source 1 target 2 value 5 ] "
        "edge [ source 2 target 3 value 7 ] ]\n",
        "'value'",
    ),
}


def pattern(kind):
    return scipy.sparse.coo_array((np.ones(4, kind), MATRIX.coords))


#: Graphs of data in memory, and the words for their weights, if they have any.
MADE = {
    "dict": (lambda: ew.Graph.from_frame(PAIRS), "'km'"),
    "pandas": (lambda: ew.Graph.from_frame(pd.DataFrame(NAMES)), "'km'"),
    "Arrow": (lambda: ew.Graph.from_frame(pa.table(NAMES)), "'km'"),
    "named column": (lambda: ew.Graph.from_frame(MANY, "u", "v", weight="km"), "'km'"),
    "two columns": (lambda: ew.Graph.from_frame(MANY, "a", "b"), None),
    "no column": (lambda: ew.Graph.from_frame(PAIRS, weight=False), None),
    "matrix": (lambda: ew.Graph.from_scipy(MATRIX), "the values of the matrix"),
    "rows": (lambda: ew.Graph.from_scipy(MATRIX.tocsr()), "the values of the matrix"),
    "meant matrix": (lambda: ew.Graph.from_scipy(MATRIX, weight=True), "the weights"),
    "pattern": (lambda: ew.Graph.from_scipy(pattern(bool)), None),
    "edges": (lambda: ew.Graph.from_edges([1, 2], [2, 3], weights=[5, 7]), "the weights"),
    "bare edges": (lambda: ew.Graph.from_edges([1, 2], [2, 3]), None),
    "CSR": (lambda: ew.Graph.from_csr([0, 1, 3, 4], [1, 0, 2, 1], weights=[5, 5, 7, 7]), "the weights"),
}


def check(graph, words):
    """The graph, and a result, say what the weights are; the result without them does not."""
    graph = graph if graph.directed is False else graph.undirected().simplified()
    shown = f", weights along {words}".removesuffix(" along the weights") if words else ""
    assert (", weights" in repr(graph)) == graph.is_weighted == bool(words)
    assert f"2 edges{shown}, held" in repr(graph)
    whole = ew.distance_measures(graph)
    assert whole.diameter == (12 if words else 2)
    assert str(whole).startswith(f"diameter {whole.diameter:g}, radius {whole.radius:g} of 3 vertices")
    assert f"3 vertices, along {words}; " in str(whole) if words else "along" not in str(whole)
    plain = ew.distance_measures(graph, weight=False)
    assert (plain.diameter, "along" in str(plain)) == (2, False)
    assert plain.verify() is plain and whole.verify() is whole


@pytest.mark.parametrize("name", MADE)
def test_of_data_in_memory(name):
    make, words = MADE[name]
    check(make(), words)


@pytest.mark.parametrize("name", TEXTS)
def test_of_files(name, tmp_path, capsys):
    text, words = TEXTS[name]
    path = tmp_path / name
    path.write_text(text)
    check(ew.read(path), words)
    check(ew.read(path, weight=False), None)
    for arguments in ["--measures"], ["--all-pairs"]:
        assert run(["paths", str(path), *arguments]) == 0
        assert f", along {words}; read" in capsys.readouterr().err
    assert run(["paths", str(path), "--measures", "--bfs"]) == 0
    assert "along" not in capsys.readouterr().err
    assert run(["convert", str(path), str(tmp_path / "copy.txt")]) == 0
    assert f"edges along {words}; read" in capsys.readouterr().out


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".csv", ".npz"])
def test_of_what_was_written(suffix, tmp_path):
    graph = ew.Graph.from_edges(["x", "y"], ["y", "z"], weights=[5, 7])
    ew.write(graph, path := tmp_path / f"graph{suffix}")
    check(ew.read(path), "the weights" if suffix == ".npz" else "'weight'")


@pytest.mark.parametrize("text", [TEXTS["pairs.csv"][0], TEXTS["names.csv"][0]])
def test_closing_lines_name_the_weights_that_were_chosen(text, tmp_path, capsys):
    path = tmp_path / "roads.csv"
    path.write_text(text)
    graph = ew.read(path, weight="km")
    assert (graph.weight_name, graph.assumed_weights) == ("km", None)
    for command in (
        ["forest"],
        ["forest", "--stream"],
        ["paths", "--measures"],
        ["components", "--thresholds", "6"],
    ):
        thresholds = ["--score", "km"] if command[0] == "components" else ["--weight", "km"]
        assert run([command[0], str(path), *command[1:], *thresholds]) == 0
        assert ", along 'km'; " in capsys.readouterr().err, command
    assert run(["partition", str(path), "2", "--weight", "km"]) == 0
    assert ", along 'km'; " in capsys.readouterr().out
    assert run(["forest", str(path), "--json"]) == 0
    assert '"weights": "km"' in capsys.readouterr().out
    assert run(["components", str(path), "--json"]) == 0
    assert '"weights": null' in capsys.readouterr().out


def fronts():
    """Public functions that take weights: how each is called for a graph, and what it answers."""
    return {
        "distance_measures": lambda graph, **how: ew.distance_measures(graph, **how).diameter,
        "all_pairs_shortest_paths": lambda graph, **how: ew.all_pairs_shortest_paths(
            graph, **how
        ).distances.max(),
        "distance_table": lambda graph, **how: ew.distance_table(graph, list(graph), **how).distances.max(),
        "shortest_paths": lambda graph, **how: (
            ew.shortest_paths(graph, next(iter(graph)), **how).eccentricity
        ),
        "minimum_spanning_forest": lambda graph, **how: ew.minimum_spanning_forest(graph, **how).weight,
        "partition": lambda graph, **how: ew.partition(graph, 3, **how).edge_cut,
        "evaluate_partition": lambda graph, **how: ew.evaluate_partition(graph, [0, 1, 2], **how).edge_cut,
    }


@pytest.mark.parametrize("name", fronts())
def test_weight_has_one_meaning(name):
    call = fronts()[name]
    needs_weights = name in ("shortest_paths", "minimum_spanning_forest")
    for graph in ew.Graph.from_frame(NAMES), MADE["CSR"][0]():
        assert call(graph) == call(graph, weight=None) == call(graph, weight=True) == 12
        assert call(graph, weight=[1, 2]) == call(graph, weight=np.array([2, 1])) == 3
        if needs_weights:
            with pytest.raises(GraphError, match="the graph has no weights"):
                call(graph, weight=False)
        else:
            assert call(graph, weight=False) == 2
    assert call(ew.Graph.from_frame(NAMES), weight="km") == 12
    parameter = inspect.signature(getattr(ew, name)).parameters["weight"]
    assert (parameter.kind, parameter.default) == (parameter.KEYWORD_ONLY, None)
    assert getattr(ew, name).__doc__.count("\nweight : ") + (name == "evaluate_partition") == 1


@pytest.mark.interpreter
@pytest.mark.parametrize("name", fronts())
def test_weights_that_are_not_there(name):
    call, named = fronts()[name], ew.Graph.from_frame(NAMES)
    for graph, weight, complaint in [
        (named, "far", "weight='far', but the graph has weights along 'km'; leave it out, or choose 'far'"),
        (MADE["edges"][0](), "km", "weight='km', but the graph has weights without a name; leave it out"),
        (MADE["bare edges"][0](), "km", "weight='km', but the graph has no weights; choose them where it is"),
        (MADE["bare edges"][0](), True, "weight=True, but the graph has no weights"),
        (named, [1, 2, 3], r"weights have shape \(3,\); \(2,\) is needed, one for each edge"),
        (named, ["a", "b"], "weights"),
    ]:
        with pytest.raises(GraphError, match=complaint):
            call(graph, weight=weight)


def test_thresholds_take_the_same():
    graph = ew.Graph.from_frame(NAMES)
    for weight, count in (None, 2), ("km", 2), (True, 2), ([6, 6], 1), (np.array([1, 2]), 3):
        assert ew.connected_components(graph, thresholds=[6], weight=weight).counts.tolist() == [count]
    for weight in False, "far":
        with pytest.raises(GraphError, match=r"no weights|along 'km'"):
            ew.connected_components(graph, thresholds=[6], weight=weight)


def test_scores_that_are_meant():
    scored = ew.Graph.from_frame({"a": [1, 2], "b": [2, 3], "score": [5, 7]})
    with pytest.raises(GraphError, match="like a similarity; if it is a distance, use weight='score'"):
        ew.distance_measures(scored)
    with pytest.raises(GraphError, match="use maximum=True, or weight='score' if more is farther"):
        ew.minimum_spanning_forest(scored)
    assert ew.distance_measures(scored, weight="score").diameter == 12
    assert ew.minimum_spanning_forest(scored, weight=True).weight == 12
    assert scored.assumed_weights == "score"


@pytest.mark.interpreter
def test_what_is_derived_is_kept():
    graph = ew.Graph.from_frame(NAMES)
    found = [ew.distance_measures(graph, weight=weight).graph for weight in (False, False, "km", True)]
    assert found[0] is found[1] and found[2] is found[3] and found[2] is not graph
    assert ew.distance_measures(graph).graph is graph
    bare = graph.without_weights()
    assert ew.distance_measures(bare, weight=False).graph is bare


@pytest.mark.simulator
@pytest.mark.interpreter
def test_other_weights():
    graph = ew.Graph.from_frame(NAMES, directed=True).to(PLACE)
    other = graph.with_weights([1.5, 2.5], name="miles")
    assert (other.weight_name, other.assumed_weights, other.device) == ("miles", None, graph.device)
    assert other.weights.tolist() == [1.5, 2.5] and other.csr_weights.tolist() == [1.5, 2.5]
    assert other.sources is graph.sources and other.ids is graph.ids and other.directed
    assert graph.weights.tolist() == [5, 7] and graph.weight_name == "km"
    rows = MADE["CSR"][0]().with_weights([4, 3])
    assert rows.csr_weights.tolist() == [4, 4, 3, 3] and rows.weight_name is None


def test_no_weights_on_the_command_line(tmp_path, capsys):
    path = tmp_path / "pairs.csv"
    path.write_text("a,b,score\nx,y,0.5\ny,z,0.7\n")
    assert run(["partition", str(path), "3"]) == 2
    assert "use --scale 1000 to multiply and round them, or --no-weight" in capsys.readouterr().err
    assert run(["partition", str(path), "3", "--no-weight"]) == 0
    assert "3 parts, cut 2, imbalance 0.00 %; read" in capsys.readouterr().out
    assert run(["paths", str(path), "--measures", "--no-weight"]) == 0
    assert "diameter 2, " in capsys.readouterr().err
    assert run(["paths", str(path), "--measures", "--no-weight", "--weight", "score"]) == 2
    assert "--weight and --no-weight contradict each other" in capsys.readouterr().err
    for stream in [], ["--stream"]:
        assert run(["forest", str(path), "--no-weight", *stream]) == 2
        assert "weights" in capsys.readouterr().err
