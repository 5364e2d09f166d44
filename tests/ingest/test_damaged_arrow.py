"""Arrow tables with offsets, views or codes that lead out of their memory: refused on every way in."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest

import edgewise as ew
from edgewise.errors import FileError, GraphError

pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]

TEXTS = ["one", "three", "five and more than twelve bytes", "seven", "nine", "one"]
ENDS = list(np.cumsum([0, *map(len, TEXTS)]))
CODES = [4, 3, 2, 1, 0, 4]
MARK = {b"edgewise": json.dumps({"vertices": 5, "directed": 0, "numbered": 0}).encode()}


def view(offset):
    """The view of the third text, in the buffer from ``offset`` on."""
    return np.array([len(TEXTS[2]), *np.frombuffer(TEXTS[2][:4].encode(), np.int32), 0, offset], np.int32)


def changed(numbers, place, value):
    numbers = np.array(numbers)
    numbers[place] = value
    return numbers


#: A column, the numbers in its memory that are changed, and what to.
DAMAGE = {
    "offset beyond": (pa.array(TEXTS), np.array(ENDS, np.int32), changed(ENDS, 2, 1 << 30)),
    "last offset beyond": (pa.array(TEXTS), np.array(ENDS, np.int32), changed(ENDS, -1, 1 << 30)),
    "falling offset": (pa.array(TEXTS), np.array(ENDS, np.int32), changed(ENDS, 3, 1)),
    "negative offset": (pa.array(TEXTS), np.array(ENDS, np.int32), changed(ENDS, 0, -(1 << 30))),
    "bytes": (
        pa.array([text.encode() for text in TEXTS]),
        np.array(ENDS, np.int32),
        changed(ENDS, 2, 1 << 30),
    ),
    "long offset": (pa.array(TEXTS, pa.large_string()), np.array(ENDS, np.int64), changed(ENDS, 2, 1 << 50)),
    "view": (pa.array(TEXTS, pa.string_view()), view(0), view(1 << 30)),
    "code": (
        pa.DictionaryArray.from_arrays(pa.array(CODES, pa.int32()), TEXTS[:5]),
        np.array(CODES, np.int32),
        changed(CODES, 2, 1 << 30),
    ),
    "negative code": (
        pa.DictionaryArray.from_arrays(pa.array(CODES, pa.int64()), TEXTS[:5]),
        np.array(CODES, np.int64),
        changed(CODES, 2, -(1 << 40)),
    ),
    "code of an integer": (
        pa.DictionaryArray.from_arrays(pa.array(CODES, pa.int32()), pa.array([9, 8, 7, 6, 5])),
        np.array(CODES, np.int32),
        changed(CODES, 2, 1 << 30),
    ),
    "offset in a dictionary": (
        pa.DictionaryArray.from_arrays(pa.array(CODES, pa.int8()), TEXTS[:5]),
        np.array(ENDS[:6], np.int32),
        changed(ENDS[:6], 2, 1 << 30),
    ),
}


def stored(column, file=True, metadata=None):
    table = pa.table({"source": column, "target": column}).replace_schema_metadata(metadata)
    sink = pa.BufferOutputStream()
    with (pa.ipc.new_file if file else pa.ipc.new_stream)(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def write_arrow(table, path):
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)


def damaged(case, **how):
    column, old, new = DAMAGE[case]
    content = stored(column, **how)
    assert old.tobytes() in content
    return content.replace(old.tobytes(), new.astype(old.dtype).tobytes())


def components(graph):
    return ew.connected_components(graph)


FILES = {
    "file": lambda path: ew.read(path, source="source", target="target"),
    "streamed file": lambda path: ew.stream_components(path, source="source", target="target"),
}
TABLES = {
    "table": lambda table: ew.Graph.from_frame(table),
    "batches": lambda table: ew.Graph.from_frame(table.to_reader()),
    "batch": lambda table: ew.Graph.from_frame(table.to_batches()[0]),
    "columns": lambda table: ew.Graph.from_edges(table["source"], table["target"]),
    "arrays": lambda table: ew.Graph.from_edges(table["source"].chunk(0), table["target"].chunk(0)),
}
cases = pytest.mark.parametrize("case", DAMAGE)


@cases
@pytest.mark.parametrize("file", [True, False], ids=["file", "stream"])
@pytest.mark.parametrize("read", FILES.values(), ids=FILES)
def test_files(tmp_path, case, file, read):
    path = tmp_path / "pairs.arrow"
    path.write_bytes(stored(DAMAGE[case][0], file))
    read(path)
    path.write_bytes(damaged(case, file=file))
    with pytest.raises(FileError, match=r"pairs.arrow: .*damaged.*write") as caught:
        read(path)
    assert "\n" not in str(caught.value)


@cases
@pytest.mark.parametrize("read", [ew.read, ew.stream_components])
def test_files_with_the_mark_of_edgewise(tmp_path, case, read):
    path = tmp_path / "pairs.arrow"
    path.write_bytes(damaged(case, metadata=MARK))
    with pytest.raises(FileError, match=r"pairs.arrow: .*damaged.*write"):
        read(path)


@cases
@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_tables_in_memory(case, make):
    make(pa.ipc.open_file(stored(DAMAGE[case][0])).read_all())
    with pytest.raises(GraphError, match="damaged"):
        make(pa.ipc.open_file(damaged(case)).read_all())


def test_columns_of_a_condition(tmp_path):
    views = pa.ListViewArray.from_arrays(
        pa.array([3, 1, 2], pa.int32()), pa.array([1, 1, 1], pa.int32()), TEXTS
    )
    for column, old, new in (
        (pa.array(TEXTS[:3]), np.array(ENDS[:4], np.int32), changed(ENDS[:4], 2, 1 << 30)),
        (views, np.array([3, 1, 2], np.int32), np.array([3, 1 << 30, 2])),
    ):
        table = pa.table({"a": ["x", "y", "z"], "b": ["y", "z", "u"], "kind": column})
        path = tmp_path / "pairs.arrow"
        write_arrow(table, path)
        path.write_bytes(path.read_bytes().replace(old.tobytes(), new.astype(np.int32).tobytes()))
        for read in (ew.read, ew.stream_components):
            with pytest.raises(FileError, match=r"column 'kind'|column 2"):
                read(path, source="a", target="b", where="kind is not None")


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_strings_that_are_no_utf8(tmp_path, kind):
    wrong = pa.array([b"a", b"caf\xe9"]).cast(pa.large_binary())
    wrong = (
        wrong.view(pa.large_string()) if kind != pa.string_view() else wrong.cast(pa.binary_view()).view(kind)
    )
    table = pa.table({"source": wrong, "target": pa.array(["b", "c"])})
    with pytest.raises(GraphError, match=r"the id b'caf\\xe9' is not UTF-8"):
        ew.Graph.from_frame(table)
    for name, write in (("pairs.parquet", pa.parquet.write_table), ("pairs.arrow", write_arrow)):
        write(table, tmp_path / name)
        for read in (ew.read, ew.stream_components):
            with pytest.raises(FileError, match=rf"{name}: the id b'caf\\xe9' is not UTF-8"):
                read(tmp_path / name)
    proper = table.set_column(0, "source", pa.array([b"a", b"caf\xe9"]))
    assert ew.Graph.from_frame(proper).ids.to_pylist() == [b"a", b"b", b"caf\xe9", b"c"]


def test_a_dictionary_is_checked_once(monkeypatch):
    checks = []
    validate = ew.ingest.arrow._check
    monkeypatch.setattr(ew.ingest.arrow, "_check", lambda *given: checks.append(given[1]) or validate(*given))
    column = pa.array(TEXTS).dictionary_encode()
    table = pa.table({"a": pa.chunked_array([column[:2], column[2:]]), "b": pa.array(TEXTS)})
    list(ew.ingest.arrow.checked(table.to_batches()))
    assert sum("'a' of record batch 1" in name for name in checks) == len(checks) // 2 - 4


@pytest.mark.parametrize("suffix", [".arrow", ".parquet"])
@pytest.mark.parametrize(
    ("columns", "facts"),
    [
        ({"source": [0, 1]}, {}),
        ({"source": [0, 1], "target": [1, 2]}, {"vertices": -1, "numbered": 1}),
        ({"source": [0, 1], "target": [1, 7]}, {"vertices": 3, "numbered": 1}),
        ({"source": [0, 1], "target": [1, -2]}, {"vertices": 3, "numbered": 1}),
        ({"source": [0, None], "target": [1, 2]}, {"vertices": 3, "numbered": 1}),
        ({"source": ["a", "b"], "target": ["b", "c"]}, {"vertices": 3, "numbered": 1}),
        ({"source": [0.5, 1], "target": [1.0, 2]}, {"vertices": 3, "numbered": 1}),
        ({"source": [0, 1], "target": [1, 2], "weight": ["x", "y"]}, {"vertices": 3, "numbered": 1}),
        ({"source": [0, 1], "target": [1, 2], "weight": [None, 2]}, {}),
        ({"source": [0, 1], "target": [1, 2], "weight": [1, 2], "more": [1, 2]}, {}),
    ],
    ids=str,
)
def test_the_mark_of_edgewise_on_another_table(tmp_path, columns, facts, suffix):
    facts = {"vertices": 3, "directed": 0, "numbered": 0} | facts
    table = pa.table(columns).replace_schema_metadata({b"edgewise": json.dumps(facts).encode()})
    path = tmp_path / f"pairs{suffix}"
    (write_arrow if suffix == ".arrow" else pa.parquet.write_table)(table, path)
    with pytest.raises(FileError, match=f"pairs{suffix}: ") as caught:
        ew.read(path)
    assert "\n" not in str(caught.value)


def test_names_of_columns_that_are_no_utf8():
    content = stored(pa.array(TEXTS)).replace(b"source", b"sour\xe9e")
    with pytest.raises(GraphError, match="the name of a column is not UTF-8"):
        ew.Graph.from_frame(pa.ipc.open_file(content).read_all())


def test_readers_that_fail():
    content = stored(pa.array(TEXTS), file=False)
    with pytest.raises(GraphError, match="the table cannot be read as Arrow"):
        ew.Graph.from_frame(pa.ipc.open_stream(content[:-60]))


@pytest.mark.parametrize("read", FILES.values(), ids=FILES)
@pytest.mark.parametrize(
    ("column", "width"),
    [(pa.array([1, 2, 3], pa.int32()), 32), (pa.array([b"a--", b"b--", b"c--"], pa.binary(3)), 3)],
    ids=["integers", "bytes"],
)
def test_widths_of_types(tmp_path, read, column, width):
    content = stored(column, file=False)
    places = [at for at in range(0, len(content), 4) if content[at : at + 4] == width.to_bytes(4, "little")]
    refused = 0
    for place in places:
        for wrong in (-1, 0, 5, 31, 1 << 30):
            path = tmp_path / "pairs.arrow"
            path.write_bytes(
                content[:place] + wrong.to_bytes(4, "little", signed=True) + content[place + 4 :]
            )
            try:
                read(path)
            except FileError as error:
                assert "\n" not in str(error)
                refused += 1
    assert refused >= 5
