"""Ids of several columns: given as such, refused where they may be meant, and never merged by their joint."""

import decimal
import json

import pyarrow as pa
import pytest

import edgewise as ew
from edgewise.command import run
from edgewise.errors import EdgewiseError, FileError, GraphError, OptionError
from edgewise.ingest.default_columns import default_columns, doubtful_twins

pytestmark = pytest.mark.interpreter

#: Records 1 and 2 of dataset a, and record 1 of dataset b: three records, with two different ids.
LINKED = {"ds_l": ["a", "a"], "id_l": [1, 2], "ds_r": ["b", "b"], "id_r": [1, 1], "score": [0.9, 0.9]}
IDS = ["a-__-1", "b-__-1", "a-__-2"]
GIVEN = {"source": ["ds_l", "id_l"], "target": ["ds_r", "id_r"]}
SUFFIXES = ("parquet", "arrow", "csv", "tsv", "jsonl")


def stored(folder, suffix, columns):
    path = folder / f"pairs.{suffix}"
    if suffix == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in pa.table(columns).to_pylist()))
    else:
        ew.write(pa.table(columns), path)
    return path


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_columns_that_may_be_part_of_the_ids_are_named(tmp_path, suffix, capsys):
    path = stored(tmp_path, suffix, LINKED)
    message = (
        "the columns 'ds_l' and 'ds_r' may be part of the ids; give source='ds_l,id_l' target='ds_r,id_r', "
        "or source='id_l' target='id_r' if"
    )
    for read in ew.read, ew.stream_components, ew.stream_forest:
        with pytest.raises(FileError, match=message):
            read(path)
    with pytest.raises(GraphError, match=message):
        ew.Graph.from_frame(pa.table(LINKED))
    for page in ["components"], ["components", "--stream"], ["forest"], ["info"], ["why", "1", "2"]:
        assert run([page[0], str(path), *page[1:]]) == 2
        shown = capsys.readouterr().err
        assert (
            shown.count("\n") == 1 and "give --source ds_l,id_l --target ds_r,id_r, or --source id_l" in shown
        )


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_several_columns_make_the_ids(tmp_path, suffix):
    path = stored(tmp_path, suffix, LINKED)
    ways = GIVEN, {"source": "ds_l,id_l", "target": "ds_r, id_r"}, {"source": [0, 1], "target": "2,3"}
    for columns in ways:
        for graph in ew.read(path, **columns), ew.stream_components(path, **columns).graph:
            assert graph.ids.tolist() == IDS
    assert ew.stream_forest(path, **GIVEN, weight="score").graph.ids.tolist() == IDS
    assert ew.read(path, source="id_l", target="id_r").ids.tolist() == [1, 2]


def of_polars(columns):
    return pytest.importorskip("polars", reason="polars is not installed").DataFrame(columns)


@pytest.mark.parametrize("make", [dict, pa.table, of_polars])
def test_several_columns_of_a_frame(make):
    graph = ew.Graph.from_frame(make(LINKED), **GIVEN, weight="score")
    assert graph.ids.tolist() == IDS and graph.weights.tolist() == [0.9, 0.9]
    assert ew.connected_components(graph).component_of("b-__-1") == "a-__-1"


def test_on_the_command_line(tmp_path, capsys):
    path, output = stored(tmp_path, "csv", LINKED), tmp_path / "clusters.csv"
    columns = ["--source", "ds_l,id_l", "--target", "ds_r,id_r"]
    for more in [], ["--stream"]:
        assert run(["components", str(path), *columns, *more, "-o", str(output), "-q"]) == 0
        assert output.read_text().split()[1:] == ["a-__-1,0", "b-__-1,0", "a-__-2,0"]
    assert run(["why", str(path), "a-__-1", "a-__-2", *columns, "-q"]) == 0
    assert "b-__-1,a-__-2,0.9" in capsys.readouterr().out
    assert run(["convert", str(path), str(tmp_path / "store"), *columns, "--shards", "2", "-q"]) == 0
    assert ew.read(tmp_path / "store").ids.tolist() == IDS
    output = tmp_path / "named.csv"
    assert run(["components", str(path), *columns, "--name", "min", "-o", str(output), "-q"]) == 0
    again = stored(tmp_path, "parquet", LINKED | {"id_l": [3, 2]})
    assert run(["components", str(again), *columns, "--update", str(output), "-o", str(output), "-q"]) == 0
    assert output.read_text().count("a-__-1,4") == 4


def test_shared_column_of_the_dataset():
    columns = {"dataset": ["a", "b"], "one": [1, 1], "other": [2, 3]}
    graph = ew.Graph.from_frame(columns, ["dataset", "one"], ["dataset", "other"])
    assert graph.ids.tolist() == ["a-__-1", "a-__-2", "b-__-1", "b-__-3"]


@pytest.mark.parametrize(
    ("names", "twins"),
    [
        ("org_left id_left org_right id_right", [("org_left", "org_right")]),
        ("left_org left_id right_org right_id", [("left_org", "right_org")]),
        ("l_ds l_id r_ds r_id", [("l_ds", "r_ds")]),
        ("ds1 id1 ds2 id2", [("ds1", "ds2")]),
        ("ds_1 id_1 ds_2 id_2", [("ds_1", "ds_2")]),
        ("ds_x id_l ds_y id_r", [("ds_x", "ds_y")]),
        ("bank_a id_a bank_b id_b", [("bank_a", "bank_b")]),
        ("sourceDs sourceId targetDs targetId", [("sourceDs", "targetDs")]),
        ("kind_l Id_L kind_r Id_R", [("kind_l", "kind_r")]),
        ("match_weight ds_l ds_r unique_id_l unique_id_r", [("ds_l", "ds_r")]),
        ("match_weight unique_id_l unique_id_r kind_l kind_r", []),
        ("id_l id_r first_name_l first_name_r dob_l dob_r", []),
        ("id_l id_r kind_l kind_r kind_score", []),
        ("id_l id_r source_name_l source_name_r", [("source_name_l", "source_name_r")]),
        ("source target from_date to_date", []),
        ("id1 id2 f1 f2 f3", []),
    ],
)
def test_which_twins_are_in_doubt(names, twins):
    names = names.split()
    ids = next(pair for pair in _pairs(names))
    assert doubtful_twins(names, ids) == twins
    if twins:
        with pytest.raises(GraphError, match="may be part of the ids"):
            default_columns(names, lambda position: False)
    else:
        assert default_columns(names, lambda position: False)[:2] == ids


def _pairs(names):
    from edgewise.ingest.default_columns import known_pairs

    return known_pairs(names)


@pytest.mark.parametrize(
    ("left", "right"),
    [(("a-__", "b"), ("a", "__-b")), (("a", "b-__-c"), ("a-__-b", "c")), (("-__-", ""), ("", "-__-"))],
)
def test_the_joint_in_a_value_merges_nothing(left, right):
    columns = dict(zip(("ds_l", "id_l", "ds_r", "id_r"), ([one] for one in (*left, *right)), strict=True))
    for kind in pa.string(), pa.dictionary(pa.int32(), pa.string()):
        table = pa.table({name: pa.array(column, kind) for name, column in columns.items()})
        with pytest.raises(GraphError, match="ids of several columns are joined by '-__-'; rename"):
            ew.Graph.from_frame(table, **GIVEN)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"source": ["ds_l", "id_l"], "target": "id_r"}, "source= and target= are 2 and 1 columns"),
        ({"source": ["ds_l", "what"], "target": ["ds_r", "id_r"]}, "no column 'what'; there are ds_l, id_l"),
        ({"source": "ds_l,what", "target": "ds_r,id_r"}, "column 'ds_l,what'"),
        ({"source": [], "target": []}, "names no column"),
        ({"source": ["ds_l", "id_l"], "target": ["ds_l", "id_l"]}, "are both 'ds_l-__-id_l'"),
        ({"source": ["ds_l", "score"], "target": ["ds_r", "score"]}, "column 'score' holds double"),
        ({"source": ["ds_l", "id_l"], "target": ["id_r", "ds_r"]}, "'ds_l' holds string, 'id_r' holds int64"),
    ],
)
def test_several_columns_that_will_not_do(tmp_path, given, message):
    table = pa.table(LINKED)
    path = stored(tmp_path, "parquet", LINKED)
    for read in lambda: ew.Graph.from_frame(table, **given), lambda: ew.read(path, **given):
        with pytest.raises(EdgewiseError, match=message):
            read()


@pytest.mark.parametrize(
    ("left", "right", "texts"),
    [
        (pa.timestamp("s"), pa.timestamp("ns"), [f"1970-01-01 00:00:0{at}" for at in range(3)]),
        (
            pa.timestamp("ms", "UTC"),
            pa.timestamp("us", "Europe/Berlin"),
            [f"1970-01-01 00:00:0{at}Z" for at in range(3)],
        ),
        (pa.time32("s"), pa.time64("us"), [f"00:00:0{at}" for at in range(3)]),
        (pa.duration("s"), pa.duration("ms"), [f"{at}000000000" if at else "0" for at in range(3)]),
        (pa.decimal128(5, -2), pa.int64(), ["0", "100", "200"]),
    ],
)
def test_equal_parts_of_two_types_have_one_text(left, right, texts):
    """Times of two units, and numbers with and without zeros at their end: a chain of three records."""

    def column(kind, numbers):
        if pa.types.is_decimal(kind):
            return pa.array([decimal.Decimal(100 * one) for one in numbers], kind)
        if pa.types.is_integer(kind):
            return pa.array([100 * one for one in numbers], kind)
        each = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
        width = pa.int32() if pa.types.is_time32(kind) else pa.int64()
        return pa.array([each * one for one in numbers], width).cast(kind)

    pairs = {"a": column(left, [0, 1]), "i": [7, 7], "b": column(right, [1, 2]), "j": [7, 7]}
    graph = ew.Graph.from_frame(pa.table(pairs), ["a", "i"], ["b", "j"])
    assert list(graph) == [f"{text}-__-7" for text in texts]


def test_fractions_of_seconds_in_parts_of_ids_are_kept():
    times = pa.array([0, 120_000_000, 10, 20_000_000_000], pa.int64()).cast(pa.timestamp("ns"))
    ids = list(ew.Graph.from_frame({"a": times, "i": [0] * 4, "b": times, "j": [1] * 4}, "a,i", "b,j"))
    kept = ["00", "00.12", "00.00000001", "20"]
    assert ids[::2] == [f"1970-01-01 00:00:{one}-__-0" for one in kept]


def test_rows_without_names_have_no_composite_ids(tmp_path):
    (tmp_path / "rows.txt").write_text("1 2 3 4\n5 6 7 8\n")
    (tmp_path / "rows.csv").write_text("1,2,3,4\n5,6,7,8\n")
    for name in "rows.txt", "rows.csv":
        with pytest.raises(OptionError, match="names only if there is a header; add a row with the names"):
            ew.read(tmp_path / name, source=[0, 1], target=[2, 3])
    with pytest.raises(FileError, match="ids of several columns are for tables; write a row with the names"):
        ew.read(tmp_path / "rows.txt", source=[0, 1], target=[2, 3], format="el")
