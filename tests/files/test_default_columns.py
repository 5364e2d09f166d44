"""Which columns hold the ids and the scores by default: the same ones in files, frames and streams."""

import json

import pyarrow as pa
import pytest

import edgewise as ew
from edgewise.command import run
from edgewise.errors import EdgewiseWarning, FileError, GraphError, OptionError
from edgewise.ingest.default_columns import KNOWN_PAIRS, default_columns
from edgewise.ingest.scores import Kept

SUFFIXES = (".parquet", ".arrow", ".csv", ".tsv", ".jsonl")


def stored(folder, suffix, table):
    path = folder / f"pairs{suffix}"
    if suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    else:
        ew.write(table, path)
    return path


def pairs(graph):
    return sorted(zip(*(graph.ids_of(ends).tolist() for ends in (graph.sources, graph.targets)), strict=True))


def ways(folder, columns, **options):
    """The graph of a table in a file of each kind and as a frame, all with the same pairs and facts."""
    table = pa.table(columns)
    paths = [stored(folder, suffix, table) for suffix in SUFFIXES]
    graphs = [ew.Graph.from_frame(table, **options), ew.Graph.from_frame(columns, **options)]
    graphs += [ew.read(path, **options) for path in paths]
    first = graphs[0]
    for graph in graphs:
        assert pairs(graph) == pairs(first)
        assert graph.assumed_columns == first.assumed_columns
        assert graph.assumed_weights == first.assumed_weights
        assert (graph.weights is None) == (first.weights is None)
    for path in paths:
        streamed = ew.stream_components(path, **options)
        assert streamed.to_frame() == ew.connected_components(ew.read(path, **options)).to_frame()
        assert streamed.graph.assumed_columns == first.assumed_columns
    return first


IDS = {"one": ["a", "b"], "other": ["b", "c"]}
MORE = {"x": [1, 2], "city_l": ["p", "q"], "city_r": ["q", "p"], "match_key": [0, 1]}


@pytest.mark.parametrize("names", [("unique_id_l", "unique_id_r"), ("Source", "Target"), ("#id 1", "id.2")])
def test_usual_names_are_found_among_any_columns(tmp_path, names):
    graph = ways(tmp_path, MORE | dict(zip(reversed(names), reversed(IDS.values()), strict=True)))
    assert pairs(graph) == [("a", "b"), ("b", "c")]
    assert (graph.assumed_columns, graph.assumed_weights) == (names, None)
    assert graph.simplified().assumed_columns == graph.undirected().assumed_columns == names


def test_of_three_columns_the_first_two_and_the_weight(tmp_path):
    graph = ways(tmp_path, IDS | {"much": [0.5, 2.0]})
    assert pairs(graph) == [("a", "b"), ("b", "c")]
    assert (graph.weights.tolist(), graph.assumed_weights) == ([0.5, 2.0], "much")
    assert graph.assumed_columns is None
    assert ways(tmp_path, IDS | {"word": ["x", "y"]}).weights is None
    frame = pa.table(IDS | {"much": [0.5, 2.0]})
    assert ew.Graph.from_frame(frame, weight=False).weights is None


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (IDS | MORE, "6 columns: one, other, x, city_l, .*; choose the columns of the ids with source= and"),
        (
            {"source": ["crm"], "target": ["erp"], "id_l": [1], "id_r": [2]},
            "the ids may be in 'source' and 'target' or 'id_l' and 'id_r'; choose the columns of the ids",
        ),
        (
            {"Source": [1], "source": [2], "target": [3]},
            "the ids may be in 'Source' and 'target' or 'source' and",
        ),
        ({"one": ["a"]}, r"only one column \(one\)"),
    ],
)
def test_columns_that_are_not_clear_are_refused_everywhere(tmp_path, columns, message, capsys):
    with pytest.raises(GraphError, match=message):
        ew.Graph.from_frame(columns)
    for suffix in SUFFIXES:
        path = stored(tmp_path, suffix, pa.table(columns))
        for read in ew.read, ew.stream_components:
            with pytest.raises(FileError, match=rf"{suffix}: {message}"):
                read(path)
    assert run(["components", str(path), "--stream"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_no_name_is_in_two_known_pairs_alike():
    assert len(set(KNOWN_PAIRS)) == len(KNOWN_PAIRS)
    for left, right in KNOWN_PAIRS:
        assert default_columns([right, "p", left, "q"], None)[:2] == (left, right)


def test_the_command_says_which_columns_were_taken(tmp_path, capsys):
    path = stored(tmp_path, ".csv", pa.table(MORE | {"id_l": [1, 2], "id_r": [2, 3]}))
    for arguments in (["components"], ["components", "--stream"]):
        assert run([*arguments, str(path)]) == 0
        assert "; ids: id_l and id_r, " in capsys.readouterr().err
        assert run([*arguments, str(path), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["columns"] == ["id_l", "id_r"]
        assert run([*arguments, str(path), "--source", "id_l", "--target", "id_r"]) == 0
        assert "ids:" not in capsys.readouterr().err
    assert run(["convert", str(path), str(tmp_path / "a.npz")]) == 0
    assert "; ids: id_l and id_r, read" in capsys.readouterr().out


#: Predictions of Splink's job ``link_only``: record 1 of one dataset is not record 1 of the other.
LINKED = {
    "match_weight": [6.7, 6.7, -2.0],
    "match_probability": [0.99, 0.99, 0.2],
    "source_dataset_l": ["crm", "crm", "crm"],
    "source_dataset_r": ["erp", "erp", "erp"],
    "unique_id_l": [1, 2, 4],
    "unique_id_r": [2, 1, 3],
    "name_l": ["ann", "bob", "dan"],
    "name_r": ["ann", "bob", "dan"],
    "gamma_name": [1, 1, 0],
    "match_key": ["0", "0", "0"],
}
JOINED = ("source_dataset_l-__-unique_id_l", "source_dataset_r-__-unique_id_r")


def test_linked_datasets_of_splink_are_part_of_the_ids(tmp_path):
    graph = ways(tmp_path, LINKED, threshold=0.95)
    assert pairs(graph) == [("crm-__-1", "erp-__-2"), ("crm-__-2", "erp-__-1")]
    assert graph.assumed_columns == JOINED
    assert ew.connected_components(graph).count == 2
    given = dict(zip(("source", "target"), JOINED, strict=True))
    assert pairs(ways(tmp_path, LINKED, **given, where="name_l != 'bob'")) == [
        ("crm-__-1", "erp-__-2"),
        ("crm-__-4", "erp-__-3"),
    ]
    deduplicated = {name: column for name, column in LINKED.items() if "dataset" not in name}
    assert pairs(ways(tmp_path, deduplicated)) == [(1, 2), (2, 1), (4, 3)]


def test_ids_of_several_datasets_without_them_are_taken_with_a_warning(tmp_path):
    columns = {"source": "unique_id_l", "target": "unique_id_r"}
    path = stored(tmp_path, ".parquet", pa.table(LINKED))
    for read in (
        lambda: ew.read(path, **columns),
        lambda: ew.Graph.from_frame(LINKED, **columns),
        lambda: ew.stream_components(path, **columns).graph,
    ):
        with pytest.warns(
            EdgewiseWarning, match="'unique_id_l' and 'unique_id_r' without 'source_dataset_l'"
        ):
            assert read().ids.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("kind", [pa.string_view(), pa.dictionary(pa.int8(), pa.string()), pa.large_binary()])
def test_joined_ids_of_any_type(tmp_path, kind):
    table = pa.table(LINKED).set_column(2, "source_dataset_l", pa.array(["crm", None, "a,b"]).cast(kind))
    with pytest.raises(GraphError, match=r"'source_dataset_l-__-unique_id_l' is null in row 2"):
        ew.Graph.from_frame(table)
    graph = ew.Graph.from_frame(table, null="drop")
    assert pairs(graph) == [("a,b-__-4", "erp-__-3"), ("crm-__-1", "erp-__-2")]
    if pa.types.is_dictionary(kind):
        parts = [stored(tmp_path, suffix, table) for suffix in (".parquet", ".csv")]
        assert pairs(ew.read(parts, null="drop")) == sorted(2 * pairs(graph))


def test_what_cannot_be_joined(tmp_path):
    table = pa.table(LINKED).set_column(4, "unique_id_l", pa.array([1.5, 2, 3]))
    message = "column 'unique_id_l' holds double .float, DOUBLE.; ids are integers or strings"
    with pytest.raises(GraphError, match=message):
        ew.Graph.from_frame(table)
    path = stored(tmp_path, ".parquet", table)
    for read in ew.read, ew.stream_components:
        with pytest.raises(FileError, match=f"pairs.parquet: {message}"):
            read(path)
    with pytest.raises(GraphError, match=r"'source_dataset_l' cannot be part of an id .*; write it as UTF-8"):
        ew.Graph.from_frame(table.set_column(2, "source_dataset_l", [[b"\xff"] * 3]))
    with pytest.raises(FileError, match="no column 'what-__-unique_id_l'"):
        ew.read(path, source="what-__-unique_id_l", target="unique_id_r")


SCORED = {"a": ["p", "q", "r"], "b": ["q", "r", "s"], "score": [0.5, 0.95, float("nan")]}


def test_a_threshold_is_a_condition(tmp_path):
    for options in {"threshold": 0.95}, {"threshold": 0.9, "where": "a == 'p' or b != 'q'"}:
        assert pairs(ways(tmp_path, SCORED, **options)) == [("q", "r")]
    assert pairs(ways(tmp_path, SCORED, threshold=0, where="b == 'q'")) == [("p", "q")]
    assert ew.Graph.from_frame(SCORED, threshold=-1e-7).n_edges == 2


@pytest.mark.parametrize("name", ["`", "a`b``", "the score", "a-1", "Größe", "score"])
def test_scores_of_any_name(tmp_path, name):
    columns = {"id_l": [1, 2, 3], "id_r": [2, 3, 4], "score": [9, 9, 9], name: [0.1, 0.9, 0.9]}
    assert pairs(ways(tmp_path, columns, threshold=0.5, score=name, where="id_l < 3")) == [(2, 3)]


@pytest.mark.parametrize(
    ("names", "column"),
    [
        (["match_weight", "match_probability", "score"], "match_probability"),
        (["x", "Score"], "Score"),
        (["similarity", "kind"], "similarity"),
        (["match_weight"], "match_weight"),
        (["kind"], r"no column of scores \(columns: kind\); choose the column with score="),
        (["score", "weight"], r"the scores may be in 'score' or 'weight' \(columns: score, weight\)"),
    ],
)
def test_the_column_of_scores_by_default(names, column):
    if " " in column:
        with pytest.raises(GraphError, match=column):
            Kept(threshold=0.5).condition(names)
    else:
        assert Kept(threshold=0.5).condition(names) == f"`{column}` >= 0.5"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": "high"}, "threshold='high' is no number"),
        ({"threshold": float("nan")}, "threshold=nan is no number"),
        ({"threshold": True}, "threshold=True is no number"),
        ({"score": "score"}, "score= names the column of a threshold; add threshold="),
        ({"threshold": 1, "score": 1.5}, "score=1.5 is no column"),
        ({"threshold": 1, "score": "what"}, "no column 'what'; there are a, b, score: choose the column of"),
        ({"threshold": 1, "where": "a == 'p') or (b == 'q'"}, "where="),
        ({"threshold": 1, "where": 5}, "where=5 is no condition"),
    ],
)
def test_thresholds_that_will_not_do(tmp_path, options, message):
    path = stored(tmp_path, ".csv", pa.table(SCORED))
    for read in ew.read, ew.stream_components, lambda _, **given: ew.Graph.from_frame(SCORED, **given):
        with pytest.raises((OptionError, FileError, GraphError), match=message):
            read(path, **options)


def test_unknown_options_of_a_frame_are_refused():
    with pytest.raises(OptionError, match=r"from_frame\(\) has no option 'treshold'; did you mean threshold"):
        ew.Graph.from_frame(SCORED, treshold=0.5)
    with pytest.raises(OptionError, match="source= and target= belong together; give both or neither"):
        ew.Graph.from_frame(SCORED, "a")


def test_thresholds_are_for_tables(tmp_path, capsys):
    (tmp_path / "a.txt").write_text("1 2 0.5\n2 3 0.9\n")
    (tmp_path / "a.mtx").write_text("%%MatrixMarket matrix coordinate integer symmetric\n2 2 1\n2 1 5\n")
    ew.write(ew.Graph.from_edges([1], [2]), tmp_path / "a.npz")
    for name in "a.txt", "a.mtx", "a.npz":
        assert run(["components", str(tmp_path / name), "--threshold", "0.5"]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    with pytest.raises(OptionError, match=r"threshold= means nothing for \.npz; it is for tables"):
        ew.read(tmp_path / "a.npz", threshold=0.5)


def test_threshold_on_the_command_line(tmp_path, capsys):
    path, output = stored(tmp_path, ".parquet", pa.table(LINKED)), tmp_path / "clusters.csv"
    for stream in [], ["--stream"]:
        arguments = [str(path), *stream, "--threshold", "0.95", "--score", "match_probability"]
        assert run(["components", *arguments, "-o", str(output)]) == 0
        ids = output.read_text().split()[1:]
        assert ids == ["crm-__-1,0", "erp-__-2,0", "crm-__-2,2", "erp-__-1,2"]
    assert run(["components", str(path), "--score", "match_probability"]) == 2
    assert "--score names the column of a threshold; add --threshold, or" in capsys.readouterr().err


@pytest.mark.parametrize("options", [{}, {"score": "match_probability"}, {"threshold": 0.5}])
def test_weights_may_be_the_scores(tmp_path, options):
    frame = {"l": ["a", "b"], "r": ["b", "c"], "x": [1, 2], "match_probability": [0.9, 0.7], "y": [0, 0]}
    how = {"source": "l", "target": "r", "weight": True, **options}
    table = pa.table(frame)
    graphs = [ew.Graph.from_frame(table, **how)]
    for suffix in ("parquet", "csv", "jsonl"):
        ew.write(table, tmp_path / f"pairs.{suffix}")
        graphs.append(ew.read(tmp_path / f"pairs.{suffix}", **how))
    for graph in graphs:
        assert graph.weights.tolist() == [0.9, 0.7] and graph.assumed_weights is None


def test_formats_without_scores_have_weights(tmp_path):
    graph = ew.Graph.from_edges([0, 1], [1, 2], weights=[3, 4], n_vertices=3)
    for suffix in ("mtx", "wel", "npz", "gr"):
        ew.write(graph, tmp_path / f"graph.{suffix}")
        assert sorted(ew.read(tmp_path / f"graph.{suffix}", weight=True).weights.tolist()) == [3, 4]
    (tmp_path / "rows.txt").write_text("a b 0.5\nb c 0.25\n")
    assert ew.read(tmp_path / "rows.txt", weight=True).weights.tolist() == [0.5, 0.25]
    (tmp_path / "plain.csv").write_text("a,b\nx,y\n")
    with pytest.raises(FileError, match="no column of scores"):
        ew.read(tmp_path / "plain.csv", weight=True)


def test_columns_without_names(tmp_path):
    (tmp_path / "a.csv").write_text(",,r,score\nx,y,z,0.5\ny,z,a,0.7\n")
    assert ew.read(tmp_path / "a.csv").n_vertices == 4
