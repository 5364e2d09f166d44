"""Arguments of the readers and the writer that are of another type than they must be."""

import re

import numpy as np
import pandas as pd
import pytest

import edgewise as ew
from edgewise.command import run
from edgewise.errors import EdgewiseError, EdgewiseWarning, FileError, OptionError

pytestmark = pytest.mark.interpreter


@pytest.mark.parametrize("path", [None, 3, [None], ["a.csv", [3]], {"a.csv"}, pd.DataFrame({"a": range(99)})])
@pytest.mark.parametrize("reader", [ew.read, ew.stream_components])
def test_what_is_no_path(reader, path):
    with pytest.raises(OptionError, match="is no path; give a file, folder or pattern, or a list of them"):
        reader(path)


@pytest.mark.parametrize("path", [None, 3, ["a.txt"]])
def test_where_nothing_can_be_written(path):
    with pytest.raises(OptionError, match=r"path= is a \w+, no path; give the name of a file"):
        ew.write(ew.Graph.from_edges([1], [2]), path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": 3}, "format=3 is unknown; use one of"),
        ({"format": ["csv"]}, "is unknown; use one of"),
        ({"format": "parket"}, "format='parket' is unknown; did you mean parquet? The choices are arrow"),
        ({"null": "dorp"}, "null='dorp' is unknown; did you mean drop?"),
        ({"nul": "drop"}, "read() has no option 'nul'; did you mean null? It has path, source"),
        ({"repeated": "frist"}, "repeated='frist' is unknown; did you mean first?"),
        ({"source": 1.5, "target": 2}, "source=1.5 is no column; give a name or a position"),
        ({"source": 0, "target": True}, "target=True is no column"),
        ({"weight": 2.0}, "weight=2.0 is no column"),
        ({"header": "no"}, "header='no' must be True or False"),
        ({"header": 0}, "header=0 must be True or False"),
        ({"directed": "no"}, "directed='no' must be True or False"),
        ({"one_based": 1}, "one_based=1 must be True or False"),
        ({"where": 3}, "where=3 is no condition; write it as a string"),
    ],
)
def test_options_of_other_types(tmp_path, options, message):
    for name, content in ("a.txt", "1 2 3\n4 5 6\n"), ("a.csv", "a,b,c\n1,2,3\n"):
        (tmp_path / name).write_text(content)
        with pytest.raises(OptionError, match=re.escape(message)):
            ew.read(tmp_path / name, **options)


def test_columns_by_numbers_of_numpy(tmp_path):
    (tmp_path / "a.txt").write_text("9 1 2 3\n9 4 5 6\n")
    numbers = np.arange(4)
    graph = ew.read(
        tmp_path / "a.txt", source=numbers[1], target=numbers[2], weight=numbers[3], header=np.False_
    )
    assert (graph.ids.tolist(), graph.weights.tolist()) == ([1, 2, 4, 5], [3, 6])


@pytest.mark.parametrize(
    "suffix", ["parquet", "arrow", "csv", "jsonl", "npz", "el", "mtx", "gr", "graph", "wsg"]
)
@pytest.mark.parametrize("ids", [[1, 2, 3], ["a", "b", "c"]])
def test_weights_are_left_out_or_named(tmp_path, suffix, ids):
    """Of what edgewise wrote, too; a name or position means something, or is an error."""
    path = tmp_path / f"edges.{suffix}"
    ew.write(ew.Graph.from_edges(ids[:2], ids[1:], weights=[4, 5]), path)
    assert not ew.read(path, weight=False).is_weighted
    assert ew.read(path).is_weighted
    for wrong in "gone", 0, 9:
        with pytest.raises(EdgewiseError, match="weight"):
            ew.read(path, weight=wrong)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.gml", "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 weight 3 ] ]"),
        (
            "a.tntp",
            "<NUMBER OF NODES> 2\n<NUMBER OF LINKS> 1\n<END OF METADATA>\n~\ta\tb\tlength;\n1\t2\t3;\n",
        ),
        ("a.ncol", "a b 3\n"),
    ],
)
def test_names_of_weights_that_are_not_there(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    assert ew.read(path).weights.tolist() == [3] and not ew.read(path, weight=False).is_weighted
    for wrong in "gone", 0, 9:
        with pytest.raises(EdgewiseError, match=r"weight|no column"):
            ew.read(path, weight=wrong)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.gml", "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]"),
        (
            "a.graphml",
            '<graphml><graph edgedefault="undirected"><edge source="a" target="b"/></graph></graphml>',
        ),
        ("a.col", "p edge 2 1\ne 1 2\n"),
        ("a.jlg", "2,1,u,LightGraphs\n1,2\n"),
        ("a.e", "1 2\n"),
    ],
)
def test_a_file_that_calls_its_edges_undirected(tmp_path, name, text, capsys):
    path = tmp_path / name
    path.write_text(text)
    (tmp_path / "a.v").write_text("1\n2\n")
    (tmp_path / "a.properties").write_text("graph.a.directed = false\n")
    assert not ew.read(path).directed
    with pytest.warns(
        EdgewiseWarning, match="the file says that its edges have no direction; each is taken from"
    ):
        assert ew.read(path, directed=True).n_edges == 1
    assert run(["strong", str(path)]) == 0
    assert "the file says that its edges have no direction" in capsys.readouterr().err


def test_text_is_no_weight_in_json_lines(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"source": 1, "target": 2, "km": "0.5"}\n')
    for read in ew.read, ew.stream_forest:
        with pytest.raises(FileError, match="column 'km' holds string; weights are integers or floats"):
            read(path, weight="km")
