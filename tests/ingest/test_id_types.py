"""Ids of every type: what comes in goes out in the same type, from every way in and on every way out."""

import datetime
import decimal
import uuid

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import edgewise as ew
from edgewise.command import run
from edgewise.errors import EdgewiseError, FileError, GraphError
from edgewise.ingest.id_types import describe, is_plain, joint_type, plain_ids, plain_type

UUIDS = [uuid.UUID(int=7 * number + 1) for number in range(5)]
DAYS = [datetime.date(2020, 1, number + 1) for number in range(5)]
TIMES = [datetime.datetime(2020, 1, number + 1, 12) for number in range(5)]
#: Five ids of each type of Python, in ascending order.
PYTHON = {
    "UUIDs": UUIDS,
    "decimals": [decimal.Decimal(3 * number) for number in range(5)],
    "dates": DAYS,
    "timestamps": TIMES,
    "timestamps with a zone": [time.replace(tzinfo=datetime.UTC) for time in TIMES],
    "times": [datetime.time(1, number) for number in range(5)],
    "durations": [datetime.timedelta(number, 5) for number in range(5)],
    "bytes": [b"a%d" % number for number in range(5)],
    "tuples": [("a", number - 2) for number in range(5)],
    "tuples of many": [("a\0b", one, day, b"\0", 2**60) for one, day in zip(UUIDS, DAYS, strict=True)],
    "tuples of tuples": [("a", ("b", number)) for number in range(5)],
    "tuples of one": [(word,) for word in ("", "\0", "\0\0", "a", "a\0")],
}
kinds = pytest.mark.parametrize("ids", PYTHON.values(), ids=PYTHON)


def of_objects(values):
    array = np.empty(len(values), object)
    array[:] = values
    return array


def pairs_of(ids):
    """Pairs among the first four ids, two by two, which give two clusters."""
    return [ids[0], ids[2], ids[1]], [ids[1], ids[3], ids[0]]


def from_edges(convert):
    return lambda ids: ew.Graph.from_edges(*map(convert, pairs_of(ids)))


def from_frame(convert):
    return lambda ids: ew.Graph.from_frame(dict(zip("ab", map(convert, pairs_of(ids)), strict=True)))


WAYS = {
    "list": from_edges(list),
    "tuple": from_edges(tuple),
    "objects": from_edges(of_objects),
    "series": from_edges(lambda ids: pd.Series(ids, dtype=object)),
    "pairs": lambda ids: ew.Graph.from_edges(list(zip(*pairs_of(ids), strict=True))),
    "dict of lists": from_frame(list),
    "dict of objects": from_frame(of_objects),
    "data frame": lambda ids: ew.Graph.from_frame(
        pd.DataFrame(dict(zip("ab", map(of_objects, pairs_of(ids)), strict=True)))
    ),
}


@kinds
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_objects_of_python(way, ids):
    graph = way(ids)
    assert list(graph) == graph.ids_of(range(4)).tolist() and sorted(graph) == ids[:4]
    assert ids[3] in graph and ids[4] not in graph and "zz" not in graph
    assert graph.degree(ids[0]) == 2
    result = ew.connected_components(graph)
    assert {frozenset(one) for one in result.sets()} == {frozenset(ids[:2]), frozenset(ids[2:4])}
    assert result.component_of(ids[3]) == ids[2] and result.members(ids[1]).tolist() == ids[:2]
    assert result.component_of([ids[3], ids[0]]).tolist() == [ids[2], ids[0]]
    assert result.to_dict() == {ids[0]: ids[0], ids[1]: ids[0], ids[2]: ids[2], ids[3]: ids[2]}
    named = result.to_frame("min", kind="arrow")
    assert named["id"].to_pylist() == ids[:4]
    assert named["cluster"].to_pylist() == [ids[0], ids[0], ids[2], ids[2]]
    assert result.to_frame(kind="pandas")["id"].tolist() == list(graph)
    with pytest.raises(GraphError, match="is not in the graph"):
        graph.vertices_of([ids[0], ids[4]])


@kinds
def test_all_ids_records_and_updates(ids):
    sources, targets = pairs_of(ids)
    given = ew.Graph.from_edges(sources, targets, ids=ids)
    assert list(given) == ids
    people = {"id": ids[::-1], "age": [1, 2, 3, 4, 5]}
    graph = ew.Graph.from_frame({"a": sources, "b": targets}, vertices=people)
    table = ew.connected_components(graph).to_frame()
    assert table["id"].to_pylist() == ids[::-1] and table["cluster"].to_pylist()[0] == ids[4]
    with pytest.raises(GraphError, match=r"the id .* is not in column 'id' of the records"):
        ew.Graph.from_frame({"a": sources, "b": targets}, vertices={"id": ids[:2]})
    with pytest.raises(GraphError, match=r"holds .* in rows 1 and 2; give every row an id of its own"):
        ew.Graph.from_frame({"a": sources, "b": targets}, vertices={"id": [*ids[:1], *ids]})
    monday = ew.connected_components(ew.Graph.from_edges(sources, targets)).to_frame("min")
    tuesday = ew.update_components(monday, {"left_id": [ids[4]], "right_id": [ids[3]]})
    assert tuesday.to_frame()["id"].to_pylist() == ids
    assert tuesday.changes()["before"].to_pylist() == [ids[2]]
    renamed = monday.set_column(1, "cluster", monday["id"].take(pa.array([1, 1, 3, 3])))
    with pytest.raises(GraphError, match=r"the cluster of row 1 of the records is .*, but by the rule"):
        ew.update_components(renamed, {"left_id": [ids[4]], "right_id": [ids[3]]})


@kinds
def test_batches(tmp_path, ids):
    stream = ew.ComponentsStream()
    stream.add(ids[:2], ids[1:3])
    stream.add([ids[3]], [ids[4]])
    if isinstance(ids[0], decimal.Decimal):  # whole numbers, which are vertex numbers
        assert stream.connected(ids[0], 6) and stream.n_vertices == 13
        return
    assert stream.connected(ids[0], ids[2]) and not stream.connected(ids[0], ids[3])
    assert stream.connected(ids[0], ids[1:4]).tolist() == [True, True, False]
    for other in ["é"], [7], [1.5], [UUIDS[0]], [DAYS[0]], [("x", "y", "z")]:
        if type(other[0]) is not type(ids[0]) or isinstance(other[0], tuple):
            with pytest.raises(GraphError):
                stream.add(other, other)
    stream.save(tmp_path / "stream.npz")
    again = ew.ComponentsStream.load(tmp_path / "stream.npz")
    again.add([ids[4]], [ids[0]])
    assert again.connected(ids[3], ids[2]) and list(again.result().graph) == ids
    assert again.result().graph.ids.type == stream.result().graph.ids.type
    forest = ew.ForestStream()
    forest.add(ids[:2], ids[1:3], weights=[1, 2])
    assert list(forest.result().graph) == ids[:3]


@kinds
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_binary_files_keep_the_type(tmp_path, ids, suffix, threads):
    graph = ew.Graph.from_edges(*pairs_of(ids))
    result, path = ew.connected_components(graph), tmp_path / f"graph.{suffix}"
    ew.write(graph, path)
    ew.write(result, tmp_path / f"clusters.{suffix}")
    kind = graph.ids.type
    for name in "id", "component":
        read = pyarrow.parquet.read_table if suffix == "parquet" else pyarrow.feather.read_table
        table = read(tmp_path / f"clusters.{suffix}")
        assert table[name].to_pylist() == result.to_frame()[name].to_pylist() and table["id"].type == kind
    for again in (
        ew.read(path),
        ew.read(path, source="source", target="target"),
        ew.stream_components(path).graph,
        ew.stream_components(path, client=threads).graph,
    ):
        assert list(again) == list(graph) and again.ids.type == kind
    for options in {}, {"client": threads}:
        stored = ew.stream_components(path, output=tmp_path / f"out{len(options)}", **options)
        assert stored.to_frame().equals(result.to_frame())


@kinds
@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl"])
def test_text_has_them_as_text(tmp_path, ids, suffix):
    graph = ew.Graph.from_edges(*pairs_of(ids))
    for name, thing in ("graph", graph), ("clusters", ew.connected_components(graph)):
        try:
            ew.write(thing, tmp_path / f"{name}.{suffix}")
        except FileError as error:
            assert "write .parquet" in str(error)
            return
    again = ew.read(tmp_path / f"graph.{suffix}")
    assert again.n_vertices == 4 and ew.connected_components(again).count == 2


def test_text_of_uuids_and_tuples(tmp_path):
    for ids, word in (UUIDS, str(UUIDS[0])), ([("a", 1), ("b", 2)], '"[""a"", 1]"'):
        ew.write(ew.Graph.from_edges(ids[:1], ids[1:2]), tmp_path / "graph.csv")
        assert (tmp_path / "graph.csv").read_text().split("\n")[1].startswith(word)
    ew.write(ew.Graph.from_edges(UUIDS[:1], UUIDS[1:2]), tmp_path / "graph.txt")
    assert str(UUIDS[1]) in (tmp_path / "graph.txt").read_text()
    with pytest.raises(FileError, match=r"and these are UUID; write .parquet or .arrow"):
        ew.write(ew.Graph.from_edges(UUIDS[:1], UUIDS[1:2]), tmp_path / "graph.npz")


@kinds
def test_the_command_takes_ids_as_text(tmp_path, ids, capsys):
    graph = ew.Graph.from_edges(*pairs_of(ids), weights=[0.5, 0.6, 0.7])
    ew.write(graph, tmp_path / "pairs.parquet")
    ew.write(ew.connected_components(graph), tmp_path / "clusters.jsonl")
    if (
        not isinstance(ids[0], datetime.timedelta | bytes)
        and "\0" not in repr(ids[0])
        and len(repr(ids)) < 200
    ):
        word = str(ids[0]) if not isinstance(ids[0], tuple) else repr(list(ids[0])).replace("'", '"')
        if "(" not in word:
            assert run(["components", str(tmp_path / "pairs.parquet"), "--members", word, "-q"]) == 0
            capsys.readouterr()
    assert run(["components", str(tmp_path / "pairs.parquet"), "--members", "what", "-q"]) == 2
    assert "vertex 'what' is not in the graph: its ids are" in capsys.readouterr().err or isinstance(
        ids[0], bytes
    )


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, 4, 9, 16], pa.int64()).cast(pa.decimal128(38, 0)),
        pa.array([1, 4, 9, 16], pa.int64()).cast(pa.decimal128(20, 0)).cast(pa.decimal128(5, 0)),
        pa.array([1, 4, 9, 16], pa.int64()).cast(pa.decimal256(60, 0)),
        pa.array(DAYS[:4], pa.date32()),
        pa.array(DAYS[:4], pa.date64()),
        pa.array(TIMES[:4], pa.timestamp("s")),
        pa.array(TIMES[:4], pa.timestamp("ns", "Europe/Berlin")),
        pa.array([1, 2, 3, 4], pa.time32("ms")),
        pa.array([1, 2, 3, 4], pa.duration("ns")),
        pa.array([b"aa", b"bb", b"cc", b"dd"], pa.binary(2)),
        pa.ExtensionArray.from_storage(pa.uuid(), pa.array([one.bytes for one in UUIDS[:4]], pa.binary(16))),
    ],
    ids=lambda column: str(column.type),
)
@pytest.mark.parametrize("coded", [False, True])
def test_columns_of_arrow(tmp_path, column, coded):
    given = column
    if coded:
        codes = pa.array([0, 1, 2, 3], pa.int8())
        given = pa.DictionaryArray.from_arrays(codes, column)
    table = pa.table({"a": given.take(pa.array([0, 2, 1])), "b": given.take(pa.array([1, 3, 0]))})
    chunked = pa.concat_tables([table.slice(0, 1), table.slice(1)])
    if coded and hasattr(column.type, "extension_name"):  # Arrow does not read its own files of these
        table = pa.table({name: column.take(table[name].combine_chunks().indices) for name in "ab"})
    ew.write(table, tmp_path / "a.arrow")
    graphs = [
        ew.Graph.from_frame(table),
        ew.Graph.from_frame(chunked),
        ew.Graph.from_edges(*table.columns),
        ew.Graph.from_edges(*(one.chunk(0) for one in table.columns)),
        ew.read(tmp_path / "a.arrow"),
        ew.stream_components(tmp_path / "a.arrow").graph,
    ]
    for graph in graphs:
        assert graph.ids.type == column.type and sorted(graph) == sorted(column.to_pylist())
    assert ew.connected_components(graphs[0]).count == 2
    assert (
        graphs[0].vertices_of(column.take(pa.array([3, 0]))).tolist()
        == graphs[0].vertices_of([column[3].as_py(), column[0].as_py()]).tolist()
    )


@pytest.mark.parametrize("kind", [pa.string_view(), pa.large_string(), pa.binary_view(), pa.large_binary()])
def test_views(tmp_path, kind):
    values = ["a" * 20, "b", "c", "d"]
    table = pa.table({"a": pa.array(values[:2] * 2).cast(kind), "b": pa.array(values[2:] * 2).cast(kind)})
    assert ew.connected_components(ew.Graph.from_frame(table)).count == 2
    assert ew.connected_components(ew.Graph.from_edges(table["a"], table["b"])).count == 2


def test_numpys_times():
    for dtype in "M8[D]", "M8[h]", "M8[s]", "M8[ns]", "M8[M]", "m8[s]", "m8[h]", ">M8[s]":
        column = np.array([1, 2, 3], dtype)
        graph = ew.Graph.from_edges(column[:2], column[1:])
        assert graph.n_vertices == 3 and graph.vertices_of(column).tolist() == [0, 1, 2]
        assert column[0] in graph and column[0] + 7 not in graph
        assert (np.asarray(graph.ids).astype(column.dtype) == column).all()
    with pytest.raises(GraphError, match=r"sources\[1\] is null"):
        ew.Graph.from_edges(np.array([1, "NaT"], "M8[D]"), np.array([1, 2], "M8[D]"))


@pytest.fixture
def pl():
    """The module of polars, if it is installed."""
    return pytest.importorskip("polars", reason="polars is not installed")


def test_integers_of_128_bits(pl):
    for name in "Int128", "UInt128":
        column = pl.Series([2**62, 5, 2**62], dtype=getattr(pl, name))
        frame = pl.DataFrame({"source": column, "target": column.reverse()})
        assert ew.Graph.from_frame(frame).ids.tolist() == [5, 2**62]
    large = pl.DataFrame(
        {"source": [2**70], "target": [1]}, schema=dict.fromkeys(("source", "target"), pl.Int128)
    )
    with pytest.raises(GraphError, match="column 'source' holds Int128 beyond 64 bits; cast it to strings"):
        ew.Graph.from_frame(large)


@pytest.mark.parametrize(
    "kind",
    [
        pa.null(),
        pa.float64(),
        pa.bool_(),
        pa.date32(),
        pa.decimal128(10, 2),
        pa.list_(pa.int8()),
        pa.struct([]),
    ],
    ids=str,
)
def test_tables_without_rows(kind):
    table = pa.table({"a": pa.array([], kind), "b": pa.array([], kind)})
    for graph in ew.Graph.from_frame(table), ew.Graph.from_edges(*table.columns):
        assert (graph.n_vertices, ew.connected_components(graph).count) == (0, 0)
    for empty in pd.DataFrame({"a": [], "b": []}), {"a": [], "b": []}:
        assert ew.Graph.from_frame(empty).n_vertices == 0
    assert ew.Graph.from_edges(np.array([], bool), np.array([], complex)).n_vertices == 0


def test_frames_of_polars_without_rows(pl):
    assert ew.Graph.from_frame(pl.DataFrame({"a": [], "b": []})).n_vertices == 0


REFUSED = {
    "floats": (
        pa.array([1.5, 2.0]),
        r"double \(float, DOUBLE\); ids are integers or strings, and a gap makes floats",
    ),
    "booleans": (pa.array([True, False]), r"bool \(bool, BOOLEAN\); ids are integers or strings \(or UUIDs"),
    "fractions": (
        pa.array([decimal.Decimal("1.5")] * 2),
        r"DECIMAL\(2, 1\); .* AS DECIMAL\(2, 0\)\)",
    ),
    "lists": (pa.array([[1], [2]]), r"list<.*> \(list, ARRAY\)"),
    "structs": (
        pa.array([{"a": 1}] * 2),
        r"struct<a: int64> \(dict, STRUCT\); .* give its fields as",
    ),
}


@pytest.mark.parametrize(("column", "message"), REFUSED.values(), ids=REFUSED)
def test_what_remains_refused_is_named_in_words(tmp_path, column, message):
    table = pa.table({"a": column, "b": column})
    pyarrow.parquet.write_table(table, tmp_path / "pairs.parquet")
    for read in (
        lambda: ew.Graph.from_frame(table),
        lambda: ew.Graph.from_edges(table["a"], table["b"]),
        lambda: ew.read(tmp_path / "pairs.parquet"),
        lambda: ew.stream_components(tmp_path / "pairs.parquet"),
        lambda: ew.Graph.from_frame({"a": [1], "b": [2]}, vertices={"id": column}),
    ):
        with pytest.raises(EdgewiseError, match=message):
            read()


@pytest.mark.parametrize(
    ("left", "right", "joint"),
    [
        (pa.int8(), pa.decimal128(9, 0), pa.int64()),
        (pa.decimal128(9, 0), pa.decimal128(20, 0), pa.decimal128(20, 0)),
        (pa.date32(), pa.date64(), pa.date64()),
        (pa.timestamp("s"), pa.timestamp("us"), pa.timestamp("us")),
        (pa.binary(2), pa.binary(3), pa.binary()),
        (pa.null(), pa.uuid(), pa.uuid()),
        (pa.time32("s"), pa.time64("us"), pa.time64("ns")),
        (pa.string(), pa.uuid(), None),
        (pa.date32(), pa.timestamp("s"), None),
        (pa.timestamp("s"), pa.timestamp("s", "UTC"), None),
        (pa.date32(), pa.int64(), None),
        (pa.binary(16), pa.uuid(), None),
    ],
)
def test_two_types(left, right, joint):
    assert plain_type(left) is not None
    for one, other in (left, right), (right, left):
        if joint is None:
            with pytest.raises(ValueError, match="and"):
                joint_type(one, other)
            table = pa.table({"a": pa.array([], one), "b": pa.array([], other)})
            with pytest.raises(GraphError, match="convert one to the other"):
                ew.Graph.from_frame(table)
        else:
            assert joint_type(one, other) == joint or is_plain(joint_type(one, other)) == is_plain(joint)


def test_of_two_types_in_one_table_and_in_two_files(tmp_path):
    whole = pa.array([1, 4], pa.int64())
    wide, narrow = whole.cast(pa.decimal128(38, 0)), whole.cast(pa.decimal128(20, 0))
    assert ew.Graph.from_edges(wide, [4, 9]).ids.tolist() == [1, 4, 9]
    assert ew.Graph.from_frame({"a": narrow, "b": wide}).ids.type == wide.type
    parts = []
    for number, column in enumerate((narrow, wide)):
        parts.append(tmp_path / f"{number}.parquet")
        ew.write(pa.table({"a": column, "b": column}), parts[-1])
    assert ew.read(parts).ids.type == wide.type
    days, times = pa.array(DAYS[:2]), pa.array(TIMES[:2])
    ew.write(pa.table({"a": days, "b": days}), parts[0])
    ew.write(pa.table({"a": times, "b": times}), parts[1])
    with pytest.raises(FileError, match=r"column 'a' holds timestamp.*, but DATE in the file before"):
        ew.read(parts)


def test_decimals_beyond_64_bits():
    table = pa.table(dict.fromkeys("ab", pa.array([decimal.Decimal(2**64), decimal.Decimal(1)])))
    with pytest.raises(GraphError, match=r"column 'a' has numbers beyond 64 bits .*; give them as strings"):
        ew.Graph.from_frame(table)
    for text in (
        str(2**64),
        "1.5",
        "nan",
        "1e400",
        "1e99999999",
        "1e-99999999",
    ):  # none becomes an int of Python
        column = [decimal.Decimal(text)]
        with pytest.raises(GraphError, match="as strings"):
            ew.Graph.from_edges(column, column)


def test_nulls_among_objects():
    for null in None, pd.NA, pd.NaT, float("nan"):
        for ids in PYTHON.values():
            with pytest.raises(GraphError, match=r"sources\[1\] is null; drop such edges first"):
                ew.Graph.from_edges([ids[0], null], ids[:2])
            frame = {"a": of_objects([ids[0], null, ids[2]]), "b": of_objects(ids[1:4])}
            if null is None:
                with pytest.raises(GraphError, match="'a' is null in row 2"):
                    ew.Graph.from_frame(frame)
                assert sorted(ew.Graph.from_frame(frame, null="drop")) == ids[:4:1][:2] + ids[2:4]


def test_weights_in_the_pairs_are_named():
    with pytest.raises(GraphError, match=r"edge 0 is \('a', 'b', 0.5\), not a pair of ids; give weights as"):
        ew.Graph.from_edges([("a", "b", 0.5)])


def test_nodes_of_networkx_that_are_tuples():
    nx = pytest.importorskip("networkx")
    graph = ew.Graph.from_networkx(nx.grid_2d_graph(3, 3))
    assert ew.bfs(graph, (0, 0)).distance_to((2, 2)) == 4
    assert ew.bfs(graph, [(0, 0), (2, 2)]).to_dict()[(1, 1)] == 2
    assert sorted(graph.to_networkx()) == sorted(nx.grid_2d_graph(3, 3))


def test_words():
    assert describe(pa.timestamp("us")) == "timestamp[us] (datetime, TIMESTAMP)"
    assert describe(ew.Graph.from_edges([("a", 1)], [("b", 2)]).ids.type) == "tuples (string, int64)"
    assert plain_ids(None) is None
