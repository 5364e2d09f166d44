"""Tables: the columns that are meant, and clusters written."""

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest

import edgewise as ew
from edgewise.command import run
from edgewise.errors import EdgewiseWarning, FileError, GraphError, OptionError

TABLE = pa.table({"left": ["a", "b", "d"], "right": ["b", "c", "e"], "score": [0.9, 0.2, 0.8]})


def stored(tmp_path, suffix, table=TABLE):
    path = tmp_path / f"pairs{suffix}"
    if suffix == ".parquet":
        pa.parquet.write_table(table, path)
    elif suffix == ".csv":
        pa.csv.write_csv(table, path)
    elif suffix == ".feather":
        pa.feather.write_feather(table, path)
    else:
        with pa.ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table)
    return path


SUFFIXES = [".parquet", ".csv", ".feather", ".stream"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_first_two_columns_and_a_third_of_numbers(tmp_path, suffix):
    graph = ew.read(stored(tmp_path, suffix))
    assert (graph.n_vertices, graph.n_edges, graph.directed) == (5, 3, False)
    assert graph.ids.to_pylist() == ["a", "b", "c", "d", "e"]
    assert graph.weights.tolist() == [0.9, 0.2, 0.8]
    assert ew.read(tmp_path / f"pairs{suffix}", weight=False, directed=True).directed


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_columns_by_name_and_condition(tmp_path, suffix):
    path = stored(tmp_path, suffix, TABLE.append_column("other", pa.array([1, 2, 3])))
    graph = ew.read(path, source="right", target="left", weight="other", where="score >= 0.5")
    assert graph.ids.to_pylist() == ["b", "a", "e", "d"]
    assert graph.weights.tolist() == [1, 3]
    with pytest.raises(FileError, match="no column 'what'; there are left, right, score, other"):
        ew.read(path, source="what", target="left")
    with pytest.raises(FileError, match="4 columns: left, right, score, other"):
        ew.read(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_missing_ids(tmp_path, suffix):
    table = pa.table({"left": ["a", None, "d"], "right": ["b", "c", "e"]})
    path = stored(tmp_path, suffix, table)
    with pytest.raises(FileError, match="null"):
        ew.read(path)
    assert ew.read(path, null="drop").n_edges == 2


def test_one_column(tmp_path):
    for suffix in SUFFIXES:
        with pytest.raises(FileError, match=r"one column|only one"):
            ew.read(stored(tmp_path, suffix, TABLE.select(["left"])))


def test_tables_of_edgewise_keep_isolated_vertices(tmp_path):
    graph = ew.Graph.from_edges(np.array([0, 3]), np.array([1, 3]), n_vertices=6, directed=True)
    for suffix in (".parquet", ".arrow"):
        ew.write(graph, tmp_path / f"a{suffix}")
        back = ew.read(tmp_path / f"a{suffix}")
        assert (back.n_vertices, back.n_edges, back.directed) == (6, 2, True)
        ew.write(ew.Graph.from_edges([], [], n_vertices=0), tmp_path / f"none{suffix}")
        assert ew.read(tmp_path / f"none{suffix}").n_vertices == 0


class Result:
    """Looks like a result."""

    def __init__(self, ids):
        self.ids = ids

    def to_frame(self):
        return pa.table({"id": self.ids, "component": np.zeros(len(self.ids), np.int32)})


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".csv", ".tsv", ".csv.gz"])
@pytest.mark.parametrize("ids", [["x", 'with "quote"', "a,b", "tab\there"], [5, 7], []])
def test_clusters(tmp_path, suffix, ids):
    path = tmp_path / f"clusters{suffix}"
    ew.write(Result(pa.array(ids, pa.int64() if not ids or ids[0] == 5 else pa.string())), path)
    if suffix == ".parquet":
        table = pa.parquet.read_table(path)
    elif suffix == ".arrow":
        table = pa.ipc.open_file(path).read_all()
    else:
        parsing = pa.csv.ParseOptions(delimiter="\t" if suffix == ".tsv" else ",")
        table = pa.csv.read_csv(path, parse_options=parsing)
    assert table.column_names == ["id", "component"]
    assert table.column("id").to_pylist() == ids


def test_any_table_is_written(tmp_path):
    import pandas

    ew.write(pandas.DataFrame({"id": ["a"], "component": [0]}), tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == "id,component\na,0\n"
    with pytest.raises(OptionError, match="needed"):
        ew.write([1, 2], tmp_path / "b.csv")
    with pytest.raises(OptionError, match="nothing to write"):
        ew.write(None, tmp_path / "b.csv")
    with pytest.raises(FileError, match="cannot hold"):
        ew.write(pa.table({"a": [[1, 2]]}), tmp_path / "b.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_ids_of_text_tables_as_names(tmp_path):
    (tmp_path / "a.csv").write_text('kind,"from, here",to,score\nx,007,7,2\ny,7,08,3\n')
    chosen = {"source": "from, here", "target": "to", "ids": "string"}
    graph = ew.read(tmp_path / "a.csv", **chosen)
    assert graph.ids.to_pylist() == ["007", "7", "08"]
    assert graph.weights is None
    assert ew.read(tmp_path / "a.csv", weight="score", **chosen).weights.tolist() == [2, 3]


def test_several_tables(tmp_path):
    folder = tmp_path / "pairs"
    folder.mkdir()
    pa.parquet.write_table(TABLE, folder / "part-0.parquet")
    pa.parquet.write_table(TABLE.slice(1), folder / "part-1.parquet")
    for path in (folder, f"{folder}/*.parquet", sorted(folder.iterdir())):
        graph = ew.read(path, directed=True)
        assert (graph.n_vertices, graph.n_edges, graph.directed) == (5, 5, True)
    with pytest.raises(OptionError, match="means nothing"):
        ew.read(folder, one_based=True)
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text("1 2\n")
    with pytest.raises(FileError, match="each must be a table"):
        ew.read(f"{tmp_path}/*.txt")
    with pytest.raises(FileError, match="no file of pairs"):
        ew.read(f"{tmp_path}/*.nothing")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_condition_that_keeps_no_row_warns_with_the_range(tmp_path, suffix):
    path = stored(tmp_path, suffix, TABLE.append_column("none", pa.nulls(3, pa.float64())))
    chosen = {"source": "left", "target": "right"}
    found = r"the condition 'score > 90' keeps none of 3 rows; 'score' runs from 0\.2 to 0\.9$"
    with pytest.warns(EdgewiseWarning, match=found):
        assert ew.read(path, where="score > 90", **chosen).n_edges == 0
    with pytest.warns(EdgewiseWarning, match=found):
        assert ew.stream_components(path, where="score > 90", **chosen).count == 0
    with pytest.warns(EdgewiseWarning, match=r"'left' runs from 'a' to 'd' and 'none' is null"):
        ew.read(path, where="left == 'x' or none > 1", **chosen)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ew.read(path, where="score > 0.8", **chosen).n_edges == 1
        assert ew.read(stored(tmp_path, suffix, TABLE.slice(3)), where="score > 9", **chosen).n_edges == 0


def test_the_command_warns_in_one_line(tmp_path, capsys):
    arguments = ["components", str(stored(tmp_path, ".csv")), "--where", "score > 90"]
    for more in [], ["--stream", "--source", "left", "--target", "right"]:
        assert run([*arguments, *more, "-q"]) == 0
        error = capsys.readouterr().err
        assert error.startswith(
            "edgewise: the condition 'score > 90' keeps none of 3 rows; 'score' runs from"
        )
        assert error.count("\n") == 1


SCORED = "left,right,{}\n1,2,0.9\n2,3,0.8\n"


@pytest.mark.parametrize("name", ["score", "match_probability", "Similarity"])
@pytest.mark.parametrize("rows", [SCORED, SCORED.replace("1,", "x,"), "jsonl"])
def test_a_similarity_is_no_distance_unless_it_is_named(tmp_path, name, rows, capsys):
    path = tmp_path / "pairs.csv"
    text = f'{{"left": 1, "right": 2, "{name}": 0.9}}\n' * 2 if rows == "jsonl" else rows.format(name)
    path.write_text(text)
    graph = ew.read(path)
    assert graph.assumed_weights == name
    assert graph.weights[0] == 0.9
    for search in ew.shortest_paths, ew.all_pairs_shortest_paths:
        arguments = (graph,) if search is ew.all_pairs_shortest_paths else (graph, graph.ids_of([1])[0])
        with pytest.raises(GraphError, match=f"the weights are the column '{name}', which sounds like"):
            search(*arguments)
    assert run(["paths", str(path), "--source", "2"]) == 2
    assert f"if it is a distance, use --weight {name}" in capsys.readouterr().err
    assert run(["paths", str(path), "--source", "2", "--weight", name]) == 0


def test_the_closing_line_names_what_was_taken_as_weights(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("from,to,km\n1,2,5\n")
    (tmp_path / "a.txt").write_text("1 2 5\n2 3 4\n")
    (tmp_path / "a.mtx").write_text("%%MatrixMarket matrix coordinate integer symmetric\n2 2 1\n2 1 5\n")
    found = {
        "a.csv": " along 'km'; ",
        "a.txt": " along the third column; ",
        "a.mtx": " along the values of the matrix; ",
    }
    for name, words in found.items():
        assert run(["paths", str(tmp_path / name), "--source", "2"]) == 0
        assert words in capsys.readouterr().err
        assert run(["convert", str(tmp_path / name), str(tmp_path / "b.txt")]) == 0
        assert words in capsys.readouterr().out
        assert run(["paths", str(tmp_path / name), "--source", "2", "--bfs"]) == 0
        assert "along" not in capsys.readouterr().err
    graph = ew.read(tmp_path / "a.csv", directed=True)
    assert graph.undirected().assumed_weights == graph.simplified().assumed_weights == "km"


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_several_directed_graphs_remain_directed(tmp_path, suffix):
    arrows = ew.Graph.from_edges(["a", "b"], ["b", "c"], directed=True)
    ew.write(arrows, tmp_path / f"1{suffix}")
    ew.write(arrows, tmp_path / f"2{suffix}")
    assert ew.read(tmp_path / f"1{suffix}", where="source == 'a'").directed
    for path in tmp_path, [tmp_path / f"1{suffix}", tmp_path / f"2{suffix}"]:
        graph = ew.read(path)
        assert (graph.n_edges, graph.directed) == (4, True)
        assert not ew.read(path, directed=False).directed
    assert not ew.read(tmp_path, source="target", target="source").directed
    (tmp_path / "0.csv").write_text("source,target\nc,d\n")
    with pytest.raises(
        FileError, match=r"1\.\w+: holds a directed graph, but .*0\.csv does not; say.*directed=True"
    ):
        ew.read(tmp_path)
    (tmp_path / "0.csv").unlink()
    ew.write(arrows.undirected(), tmp_path / f"3{suffix}")
    with pytest.raises(FileError, match=r"holds a directed graph, but .*3\.\w+ does not; say what they are"):
        ew.read(tmp_path)
    assert (ew.read(tmp_path, directed=True).n_edges, ew.read(tmp_path, directed=False).n_edges) == (6, 6)


@pytest.mark.interpreter
@pytest.mark.parametrize("kind", [pa.string_view(), pa.binary_view()])
def test_columns_of_views_are_written(tmp_path, kind):
    """Arrow takes no rows of them, so nobody asks whether their values repeat."""
    table = pa.table({"word": pa.array(["x", "y", None]).cast(kind), "number": [1, 2, 3]})
    try:
        pa.parquet.write_table(table, tmp_path / "by arrow.parquet")
    except pa.ArrowNotImplementedError:
        pytest.skip("this version of Arrow does not write them")
    ew.write(table, tmp_path / "views.parquet")
    found = pa.parquet.read_table(tmp_path / "views.parquet")
    assert [str(one) for one in found["word"].to_pylist()] == [str(one) for one in table["word"].to_pylist()]
