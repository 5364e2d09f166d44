"""Text tables without rows: alone, and among others, whose types and columns they leave alone."""

import numpy as np
import pytest

import edgewise as ew
from edgewise.files.formats import FORMATS

pytestmark = pytest.mark.interpreter
NAMES = {"source": "from", "target": "to"}
ORDERS = (["none", "some"], ["some", "none"], ["none", "none", "some", "none"])


@pytest.fixture
def tables(tmp_path):
    """Paths of a table without rows, and of one with two, by name."""
    texts = {"none": "from,to,km\n", "some": "from,to,km\n3,1,5\n1,2,4\n", "words": "from,to,km\na,b,5\n"}
    for name, text in texts.items():
        (tmp_path / f"{name}.csv").write_text(text)
    return lambda names: [tmp_path / f"{name}.csv" for name in names]


@pytest.mark.parametrize("names", ORDERS)
def test_ids_stay_integers_and_weights_stay_there(tables, names):
    graph = ew.read(tables(names))
    assert graph.ids.tolist() == [1, 2, 3]
    assert graph.weights.tolist() == [5, 4] and graph.weights.dtype == np.int64
    assert ew.read(tables(["none", "words"])).ids.to_pylist() == ["a", "b"]


@pytest.mark.parametrize("names", ORDERS)
def test_streams_take_them(tables, names):
    found = ew.stream_components(tables(names), n_vertices=5, **NAMES)
    assert found.labels.tolist() == [0, 0, 0] and found.graph.ids.tolist() == [1, 2, 3]
    assert ew.stream_forest(tables(names), n_vertices=5, weight="km", **NAMES).weight == 9


def test_streams_of_nothing_else(tables):
    assert len(ew.stream_components(tables(["none", "none"]), n_vertices=2, **NAMES).labels) == 0
    assert ew.stream_forest(tables(["none"]), n_vertices=2, weight="km", **NAMES).weight == 0


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a"])
def test_tables_of_comments_alone(tmp_path, name):
    (tmp_path / name).write_text("# nothing\n# yet\n")
    assert ew.read(tmp_path / name).n_vertices == 0


@pytest.mark.parametrize("form", ["csv", "tsv"])
@pytest.mark.parametrize("weights", [None, np.array([], np.int64)])
def test_a_graph_without_edges_has_none_when_read_by_format(tmp_path, form, weights):
    graph = ew.Graph.from_edges(np.array([], np.int64), np.array([], np.int64), weights=weights, n_vertices=2)
    ew.write(graph, tmp_path / "graph", format=form)
    assert ew.read(tmp_path / "graph", format=form).n_edges == 0


@pytest.mark.parametrize("form", [name for name, one in FORMATS.items() if one.writer])
def test_a_file_without_a_suffix_keeps_the_weights(tmp_path, form):
    graph = ew.Graph.from_edges([0, 1], [1, 2], weights=[3, 4], n_vertices=3)
    ew.write(graph, tmp_path / "graph", format=form)
    assert sorted(ew.read(tmp_path / "graph", format=form).weights.tolist()) == [3, 4]
