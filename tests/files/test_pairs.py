"""The streaming reader of pairs, and clusters written."""

import bz2
import gc
import gzip
import os
import threading
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest

import edgewise as ew
from edgewise.errors import FileError, GraphError, OptionError
from edgewise.files import pair_tables as page
from edgewise.files import typed_tables
from edgewise.files.read_ahead import read_ahead
from edgewise.ingest.pair_columns import PairColumns

TABLE = pa.table(
    {
        "left": ["a", "b", None, "d"],
        "right": ["b", "c", "x", "a"],
        "score": [0.9, 0.5, 0.8, 1.0],
        "kind": ["x", "y", "x", "x"],
    }
)
ENDS = {"source": "left", "target": "right"}


def read_pairs(path, **columns):
    return page.read_pairs(path, PairColumns(**columns))


def stored(folder, suffix, table=TABLE, name="pairs"):
    path = folder / f"{name}{suffix}"
    if suffix == ".parquet":
        pa.parquet.write_table(table, path, row_group_size=3)
    elif suffix in (".feather", ".lz4"):
        pa.feather.write_feather(table, path, compression="lz4" if suffix == ".lz4" else "uncompressed")
    elif suffix == ".arrows":
        with pa.ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=3)
    else:
        pa.csv.write_csv(table, path)
        if suffix == ".csv.gz":
            path.write_bytes(gzip.compress(path.read_bytes()))
        elif suffix == ".csv.bz2":
            path.write_bytes(bz2.compress(path.read_bytes()))
        elif suffix == ".csv.zst":
            path.write_bytes(pa.compress(path.read_bytes(), "zstd", asbytes=True))
    return path


def text(folder, content, name="pairs.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def edges(graph):
    """Edges by their ids, in order."""
    ids = np.arange(graph.n_vertices) if graph.ids is None else graph.ids
    ids = ids.tolist()
    return [(ids[source], ids[target]) for source, target in zip(graph.sources, graph.targets)]


SUFFIXES = [".parquet", ".feather", ".lz4", ".arrows", ".csv", ".csv.gz", ".csv.bz2", ".csv.zst"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_format_reads_alike(tmp_path, suffix):
    path = stored(tmp_path, suffix)
    graph = read_pairs(path, **ENDS, weight="score", null="drop")
    assert graph.ids.to_pylist() == ["a", "b", "c", "d"]
    assert edges(graph) == [("a", "b"), ("b", "c"), ("d", "a")]
    assert graph.weights.tolist() == [0.9, 0.5, 1.0]
    assert not graph.directed
    graph = read_pairs(path, **ENDS, where="score >= 0.6 and kind == 'x'", null="drop")
    assert edges(graph) == [("a", "b"), ("d", "a")]
    assert graph.ids.to_pylist() == ["a", "b", "d"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_null_is_named_by_its_row(tmp_path, suffix):
    path = stored(tmp_path, suffix)
    with pytest.raises(FileError, match=r"pairs.*: 'left' is null in row 3; use null='drop'"):
        read_pairs(path, **ENDS)
    with pytest.raises(FileError, match="'left' is null in row 3"):
        read_pairs(path, **ENDS, where="score > 0.5")
    assert len(edges(read_pairs(path, **ENDS, where="left is not None"))) == 3


def test_a_null_weight_is_an_error_or_dropped(tmp_path):
    table = pa.table({"left": [1, 2], "right": [2, 3], "score": [None, 2]})
    path = stored(tmp_path, ".parquet", table)
    with pytest.raises(FileError, match="'score' is null in row 1"):
        read_pairs(path, weight="score")
    graph = read_pairs(path, weight="score", null="drop")
    assert (edges(graph), graph.weights.tolist()) == ([(2, 3)], [2])


def test_rows_are_counted_over_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(typed_tables, "BATCH_ROWS", 5)
    names = [f"id {row}" for row in range(17)]
    table = pa.table({"left": [*names[:13], None, *names[14:]], "right": names})
    path = stored(tmp_path, ".parquet", table)
    with pytest.raises(FileError, match="null in row 14;"):
        read_pairs(path)
    graph = read_pairs(path, null="drop")
    assert edges(graph) == [(name, name) for name in names if name != "id 13"]


@pytest.mark.parametrize(
    ("table", "ends"),
    [
        ({"x": [1, 2], "y": [7, 7]}, ("x", "y")),
        ({"x": [1, 2], "y": [7, 7], "z": [1.5, 2]}, ("x", "y")),
        ({"n": [1.5, 2], "id_l": ["a", "b"], "z": [1, 2], "id_r": ["c", "a"]}, ("id_l", "id_r")),
    ],
)
def test_ends_by_default(tmp_path, table, ends):
    path = stored(tmp_path, ".parquet", pa.table(table))
    assert edges(read_pairs(path)) == list(zip(*(table[end] for end in ends)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "4 columns: left, right, score, kind; choose the columns of the ids with source= and target="),
        (
            {"source": "left", "target": "what"},
            r"column 'what' is not there \(columns: left, right, score, kind\)",
        ),
        ({**ENDS, "where": "what > 1"}, r"column 'what' is not there \(columns: left"),
        (
            {"source": "left", "target": "score"},
            "column 'score' holds double .float, DOUBLE.; ids are",
        ),
        ({**ENDS, "weight": "kind"}, "column 'kind' holds string; weights are integers"),
    ],
)
def test_columns_that_will_not_do(tmp_path, options, message):
    with pytest.raises(FileError, match=message):
        read_pairs(stored(tmp_path, ".parquet"), **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"source": "left"}, "belong together"),
        ({"source": "left", "target": "left"}, "both 'left'"),
        ({**ENDS, "null": "keep"}, "null='keep' is unknown"),
        ({**ENDS, "where": "left >"}, "where='left >'"),
        ({**ENDS, "where": "left > 1"}, "where='left > 1'"),
    ],
)
def test_options_that_mean_nothing(tmp_path, options, message):
    with pytest.raises(OptionError, match=message):
        read_pairs(stored(tmp_path, ".parquet"), **options)


def test_integers_beside_strings_are_refused(tmp_path):
    path = stored(tmp_path, ".parquet", pa.table({"left": [1, 2], "right": ["a", "b"]}))
    with pytest.raises(FileError, match="column 'left' holds int64, 'right' holds string; convert one"):
        read_pairs(path, **ENDS)


def test_one_column(tmp_path):
    path = stored(tmp_path, ".parquet", TABLE.select(["left"]))
    with pytest.raises(FileError, match=r"only one column \(left\)"):
        read_pairs(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_no_rows(tmp_path, suffix):
    graph = read_pairs(stored(tmp_path, suffix, TABLE.slice(0, 0)), **ENDS, weight="score")
    assert (graph.n_vertices, graph.n_edges, len(graph.weights)) == (0, 0, 0)
    assert ew.connected_components(graph).count == 0


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".lz4", ".arrows", ".csv.gz", ".csv.zst"])
@pytest.mark.parametrize("keep", [0, 5, 0.3, 0.8])
def test_files_cut_off(tmp_path, suffix, keep):
    table = pa.table({"left": [f"id {row * row}" for row in range(5000)], "right": ["x"] * 5000})
    path = stored(tmp_path, suffix, table)
    content = path.read_bytes()
    path.write_bytes(content[: keep if keep in (0, 5) else int(len(content) * keep)])
    with pytest.raises(FileError) as raised:
        read_pairs(path, **ENDS)
    assert "\n" not in str(raised.value)


def test_a_damaged_parquet_file(tmp_path):
    path = stored(tmp_path, ".parquet")
    content = path.read_bytes()
    path.write_bytes(content[:30] + bytes(200) + content[230:])
    with pytest.raises(FileError):
        read_pairs(path, **ENDS, null="drop")


def test_no_file_and_no_parts(tmp_path):
    with pytest.raises(FileError, match="no such file"):
        read_pairs(tmp_path / "nothing.parquet")
    with pytest.raises(FileError, match="no file of pairs"):
        read_pairs(tmp_path)
    with pytest.raises(FileError, match="no file of pairs"):
        read_pairs(f"{tmp_path}/*.parquet")


def test_parts_of_a_folder_a_pattern_and_a_list(tmp_path):
    (tmp_path / "kind=x").mkdir()
    stored(tmp_path, ".parquet", TABLE.slice(0, 2), "1")
    stored(tmp_path / "kind=x", ".parquet", TABLE.slice(3), "2")
    (tmp_path / "_SUCCESS").touch()
    stored(tmp_path, ".parquet", TABLE, "_hidden")
    expected = [("a", "b"), ("b", "c"), ("d", "a")]
    assert edges(read_pairs(tmp_path, **ENDS)) == expected
    assert edges(read_pairs(f"{tmp_path}/**/[12].parquet", **ENDS)) == expected
    parts = [tmp_path / "1.parquet", stored(tmp_path, ".csv", TABLE.slice(3))]
    assert edges(read_pairs(parts, **ENDS)) == expected
    parts.append(stored(tmp_path, ".parquet", pa.table({"left": [1], "right": [2]}), "3"))
    with pytest.raises(FileError, match=r"3\.parquet: column 'left' holds int64, but string in the file be"):
        read_pairs(parts, **ENDS)


def test_hidden_folders_and_folders_named_like_files(tmp_path):
    folder = tmp_path / "_data"  # a folder that is named may begin with any character
    for name in ("a.csv", ".ipynb_checkpoints/a-checkpoint.csv", "_temporary/0/part.csv", "x/_tmp/1.csv"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x,y\na,b\n")
    assert edges(ew.read(folder)) == [("a", "b")]
    (folder / "p.parquet").mkdir()
    stored(folder / "p.parquet", ".parquet", pa.table({"x": ["c"], "y": ["d"]}), "part-0")
    (folder / "p.parquet" / "_SUCCESS").touch()
    assert edges(ew.read(folder)) == [("a", "b"), ("c", "d")]
    assert ew.stream_components(folder).count == 2
    (folder / "gone.csv").symlink_to(folder / "nothing.csv")
    with pytest.raises(FileError, match=r"gone\.csv: no such file"):
        ew.read(folder)


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint32(), pa.int64(), pa.uint64()], ids=str)
def test_integers_with_nulls_and_gaps(tmp_path, kind):
    table = pa.table({"left": pa.array([100, None, 7], kind), "right": pa.array([7, 7, 9], kind)})
    graph = read_pairs(stored(tmp_path, ".parquet", table), null="drop")
    assert edges(graph) == [(100, 7), (7, 9)]
    assert graph.ids.tolist() == [7, 9, 100]


def test_integers_beyond_63_bits(tmp_path):
    big = pa.table({"left": pa.array([2**64 - 1], pa.uint64()), "right": pa.array([2**63], pa.uint64())})
    assert edges(read_pairs(stored(tmp_path, ".parquet", big))) == [(2**64 - 1, 2**63)]
    mixed = pa.table({"left": pa.array([-1]), "right": pa.array([2**63], pa.uint64())})
    with pytest.raises(FileError, match="no integer type holds both"):
        read_pairs(stored(tmp_path, ".parquet", mixed))


@pytest.mark.parametrize("kind", [pa.float32(), pa.int16(), pa.decimal128(5, 2)], ids=str)
def test_weights_of_every_type(tmp_path, kind):
    weights = pa.array([1, 2], pa.int8()).cast(kind)
    path = stored(tmp_path, ".parquet", pa.table({"l": ["a", "b"], "r": ["b", "c"], "w": weights}))
    assert read_pairs(path, weight="w").weights.tolist() == [1, 2]


def with_weights(*columns):
    ids = [pa.array(["a"] * len(one), pa.string()) for one in columns]
    return [pa.table({"l": left, "r": left, "w": one}) for left, one in zip(ids, columns)]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (pa.array([0.5], pa.float32()), pa.array([1e300]), [0.5, 1e300]),
        (pa.array([0.5], pa.float32()), pa.array([2**24 + 1]), [0.5, 2**24 + 1]),
        (pa.array([2**53, -(2**53)]), pa.array([1.5]), [2**53, -(2**53), 1.5]),
        (pa.array([1, 2]), pa.array([1.5], pa.float32()), [1, 2, 1.5]),
        (pa.array([1.5]), pa.array([2**53]), [1.5, 2**53]),
        (pa.array([1.5]), pa.array([0.1], pa.float32()), [1.5, float(np.float32(0.1))]),
        (pa.array([], pa.float32()), pa.array([2**60]), [2**60]),
        (pa.nulls(1), pa.array([2**60 + 1]), [2**60 + 1]),
        (pa.array(np.array([1.5], np.float16)), pa.array([2], pa.int8()), [1.5, 2]),
    ],
)
def test_weights_of_two_types_in_two_files(tmp_path, first, second, expected):
    tables = with_weights(first, second)
    paths = [stored(tmp_path, ".parquet", table, str(name)) for name, table in enumerate(tables)]
    assert read_pairs(paths, weight="w", null="drop").weights.tolist() == expected
    paths.reverse()
    assert sorted(read_pairs(paths, weight="w", null="drop").weights.tolist()) == sorted(expected)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (pa.array([1]), pa.array(["5"]), r"1\.parquet: column 'w' holds string; weights are integers"),
        (pa.array([2**53 + 1]), pa.array([1.5]), "column 'w' holds double, but int64 beyond 2.*convert one"),
        (pa.array([-(2**63)]), pa.array([1.5]), "column 'w' holds double, but int64 beyond 2.*convert one"),
        (pa.array([1.5]), pa.array([2**53 + 1]), "column 'w' holds int64, with a number that float64 cannot"),
        (pa.array([1]), pa.array([2**63], pa.uint64()), "column 'w' holds uint64, with a number that int"),
    ],
)
def test_weights_that_no_type_holds(tmp_path, first, second, message):
    tables = with_weights(first, second)
    paths = [stored(tmp_path, ".parquet", table, str(name)) for name, table in enumerate(tables)]
    with pytest.raises(FileError, match=message):
        read_pairs(paths, weight="w")


def test_weights_of_short_decimals_keep_their_digits():
    weights = pa.array([1234567], pa.int64()).cast(pa.decimal128(20, 1)).cast(pa.decimal32(9, 1))
    graph = ew.Graph.from_frame(with_weights(weights)[0], weight="w")
    assert graph.weights.tolist() == [1234567]


def test_weights_of_a_text_table_after_others(tmp_path):
    parquet = stored(tmp_path, ".parquet", with_weights(pa.array([0.5], pa.float32()))[0])
    paths = [parquet, text(tmp_path, "l,r,w\na,b,1e300\nb,c,0.123456789\n")]
    assert read_pairs(paths, weight="w").weights.tolist() == [0.5, 1e300, 0.123456789]
    parquet = stored(tmp_path, ".parquet", with_weights(pa.array([5], pa.int8()))[0])
    lines = text(tmp_path, '{"l": "a", "r": "b", "w": 300}\n', "pairs.jsonl")
    for paths in ([parquet, text(tmp_path, "l,r,w\na,b,300\n")], [parquet, lines]):
        assert read_pairs(paths, weight="w").weights.tolist() == [5, 300]
    paths = [parquet, text(tmp_path, "l,r,w\na,b,1.5\n")]
    assert read_pairs(paths, weight="w").weights.tolist() == [5, 1.5]


def test_dictionaries_in_the_file(tmp_path):
    coded = pa.table({name: TABLE[name].dictionary_encode() for name in ("left", "right", "kind")})
    for suffix in (".parquet", ".feather"):
        graph = read_pairs(stored(tmp_path, suffix, coded), **ENDS, null="drop", where="kind != 'y'")
        assert edges(graph) == [("a", "b"), ("d", "a")]


def test_nulls_inside_a_dictionary():
    values = pa.array(["a", None, ""]).cast(pa.string_view())
    for kind in pa.string(), pa.string_view():
        coded = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.uint32()), values.cast(kind))
        table = pa.table({"left": coded, "right": pa.array(["x", "y", "z"]).cast(kind)})
        with pytest.raises(GraphError, match="'left' is null in row 2"):
            ew.Graph.from_frame(table)
        assert edges(ew.Graph.from_frame(table, null="drop")) == [("a", "x"), ("", "z")]
        graph = ew.Graph.from_frame(table, where="left is not None and right != 'x'")
        assert edges(graph) == [("", "z")]
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array([7, None, 9]))
    table = pa.table({"left": coded, "right": coded})
    assert edges(ew.Graph.from_frame(table, null="drop")) == [(7, 7), (9, 9)]


def test_nulls_of_large_batches_are_counted_from_the_first_row(monkeypatch):
    monkeypatch.setattr("edgewise.ingest.pair_columns.PairBatches.batch_rows", 4)
    names = pa.array([f"id {row}" if row != 9 else None for row in range(20)]).cast(pa.string_view())
    table = pa.table({"left": names, "right": names})
    with pytest.raises(GraphError, match="'left' is null in row 10;"):
        ew.Graph.from_frame(table)
    assert ew.Graph.from_frame(table, null="drop").n_edges == 19


@pytest.mark.parametrize("kind", [pa.null(), pa.int64(), pa.string_view()], ids=str)
def test_a_table_of_no_type_without_rows(kind):
    graph = ew.Graph.from_frame(pa.table({"left": pa.nulls(0), "right": pa.array([], kind)}))
    assert (graph.n_vertices, graph.n_edges) == (0, 0)


def test_text_needs_no_commas(tmp_path):
    assert edges(read_pairs(text(tmp_path, "x;y\na;b,c\n"))) == [("a", "b,c")]
    assert edges(read_pairs(text(tmp_path, 'x\ty\n"a\tb"\tc\n'))) == [("a\tb", "c")]


def test_numbers_that_are_names(tmp_path):
    assert edges(read_pairs(text(tmp_path, "x,y\n1,2\n3,1\n"))) == [(1, 2), (3, 1)]
    assert edges(read_pairs(text(tmp_path, "x,y\n1,2\n007,7\n"))) == [("1", "2"), ("007", "7")]
    assert edges(read_pairs(text(tmp_path, "x,y\n1,2\n+1,a\n"))) == [("1", "2"), ("+1", "a")]


def test_types_that_change_far_into_the_file(tmp_path):
    path = text(tmp_path, "x,y,w\n" + "1,2,3\n" * 30_000 + "a,,1.5\nb,2,2.5\n")
    graph = read_pairs(path, source="x", target="y", weight="w", null="drop", where="w != 2")
    assert edges(graph)[-1] == ("b", "2")
    assert graph.weights[-1] == 2.5
    assert graph.n_edges == 30_001


def test_a_ragged_row_is_named_by_its_line(tmp_path):
    path = text(tmp_path, "x,y\n" + "1,2\n" * 30_000 + "3\n")
    with pytest.raises(FileError, match=r"pairs.csv:30002: 2 columns expected"):
        read_pairs(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x,y,w\na,b,c\n", "column 'w': 'c' is not a number"),
        (b"x,y\na,\xff\xfe\n", "not UTF-8"),
        ("\n\n", "row of names is missing"),
        ("", "is empty"),
    ],
)
def test_text_that_will_not_do(tmp_path, content, message):
    with pytest.raises(FileError, match=message):
        read_pairs(text(tmp_path, content), source="x", target="y", weight="w")


def test_progress_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(typed_tables, "BATCH_ROWS", 2)
    told = []
    page.read_pairs(
        stored(tmp_path, ".parquet"), PairColumns(**ENDS, null="drop"), lambda *rows: told.append(rows)
    )
    assert told[-1] == (4, 4)
    page.read_pairs(
        stored(tmp_path, ".csv"), PairColumns(**ENDS, null="drop"), lambda *rows: told.append(rows)
    )
    assert told[-1] == (4, None)


def test_working_ahead_stops_when_the_caller_does():
    made = []

    def items():
        for item in range(1000):
            made.append(item)
            yield item

    for item in read_ahead(items()):
        if item == 3:
            break
    assert len(made) < 10
    assert not any(thread.name == "edgewise-ahead" for thread in threading.enumerate())


def test_working_ahead_hands_errors_on():
    def items():
        yield 1
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        list(read_ahead(items()))
    assert list(read_ahead(iter([]))) == []


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
@pytest.mark.parametrize(
    ("reader", "suffix"),
    [*product([ew.read], SUFFIXES), *product([ew.stream_components], [".parquet", ".arrows", ".csv.zst"])],
)
def test_a_failure_that_is_kept_keeps_no_thread_and_no_file(
    tmp_path, monkeypatch, suffix, reader, few_objects
):
    monkeypatch.setattr(typed_tables, "BATCH_ROWS", 5)
    rows = 50 if suffix == ".parquet" else 100_000
    names = pa.array(["a", None, *map(str, range(rows))])
    path = stored(tmp_path, suffix, pa.table({"left": names, "right": names.fill_null("b")}))

    def held():
        gc.collect()  # what other tests have left
        return len(os.listdir("/proc/self/fd")), sorted(thread.name for thread in threading.enumerate())

    failures, counts = [], []
    for _ in range(3):  # the first may load libraries
        with pytest.raises(FileError, match="'left' is null in row 2") as raised:
            reader(path)
        failures.append(raised.value)
        counts.append(held())
    assert counts[1] == counts[2]
    assert not any(thread.name.startswith("edgewise") for thread in threading.enumerate())


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".arrow", ".tsv"])
def test_clusters_with_names(tmp_path, suffix):
    graph = ew.Graph.from_edges(["b", "d", "a"], ["a", "e", "c"])
    path = tmp_path / f"clusters{suffix}"
    ew.connected_components(graph).write(path, "first")
    if suffix == ".parquet":
        table = pa.parquet.read_table(path)
    elif suffix == ".arrow":
        table = pa.ipc.open_file(path).read_all()
    else:
        options = pa.csv.ParseOptions(delimiter="\t" if suffix == ".tsv" else ",")
        table = pa.csv.read_csv(path, parse_options=options)
    assert table.to_pydict() == {
        "id": ["b", "a", "d", "e", "c"],
        "cluster": ["b", "b", "d", "d", "b"],
        "size": [3, 3, 2, 2, 3],
    }
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
