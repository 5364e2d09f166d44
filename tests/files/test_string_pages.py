"""Strings that are decoded from pages by loops: those that Arrow decodes, or none."""

import random
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import edgewise as ew
from edgewise import tuning
from edgewise.errors import FileError
from edgewise.files import pair_tables, string_pages, typed_tables
from edgewise.files.parquet_footer import chunks_of
from edgewise.files.string_pages import Unlike, column_of, is_expected

pytestmark = pytest.mark.interpreter

ROWS, GROUP = 260, 90
LETTERS = ["a", "ß", "z", "\0", "語", " "]


def strings(kind, rows=ROWS):
    """Strings of some kind, repeated ones among them."""
    draw = random.Random(5)
    if kind == "equal lengths":
        return [f"R{draw.randrange(10**15):016x}" for _ in range(rows)]
    if kind == "empty":
        return [""] * rows
    if kind == "long":
        return ["x" * draw.choice((0, 1, 31, 32, 33, 300)) for _ in range(rows)]
    return ["".join(draw.choices(LETTERS, k=draw.randrange(40))) for _ in range(rows)]


def stored(path, values, kind=None, nullable=True, **options):
    field = pa.field("id", kind or pa.string(), nullable)
    made = pa.table([pa.array(values, field.type)], pa.schema([field]))
    options = {"row_group_size": GROUP, "data_page_size": 500, "write_batch_size": 16} | options
    parquet.write_table(made, path, **options)
    return path


def decoded(path, group):
    """The strings of a row group; raises Unlike if they are not stored as expected."""
    file = parquet.ParquetFile(path)
    chunk, field = [*chunks_of(path)][group]["id"], file.schema_arrow.field("id")
    if not is_expected(chunk, field):
        raise Unlike
    with open(path, "rb", buffering=0) as content:
        return column_of(content, chunk, field, file.metadata.row_group(group).num_rows)


def by_arrow(path, group):
    return parquet.ParquetFile(path).read_row_group(group)["id"].combine_chunks()


@pytest.mark.parametrize("kind", ["equal lengths", "any", "empty", "long"])
@pytest.mark.parametrize("codes", ["none", "all", "some", "most"])
@pytest.mark.parametrize("compression", ["snappy", "none"])
@pytest.mark.parametrize("nullable", [True, False])
def test_the_strings_are_those_of_arrow(kind, codes, compression, nullable, tmp_path):
    values = strings(kind)
    if codes in ("all", "most"):
        values = (values[:10] * ROWS)[: ROWS - 40] + values[:40]
    limit = {"all": 1 << 20, "none": 1 << 20, "some": 200, "most": 200}[codes]
    how = {"use_dictionary": codes != "none", "dictionary_pagesize_limit": limit, "compression": compression}
    path = stored(tmp_path / "a.parquet", values, nullable=nullable, **how)
    for group in range(3):
        found = decoded(path, group)
        found.validate(full=True)
        assert found.equals(by_arrow(path, group))


def test_bytes_and_one_page(tmp_path):
    path = stored(tmp_path / "a.parquet", [b"\xff", b"", b"abc"] * 200, pa.binary(), data_page_size=1 << 20)
    assert decoded(path, 0).equals(by_arrow(path, 0)) and decoded(path, 0).type == pa.binary()


@pytest.mark.parametrize("options", [
    {"compression": "zstd"},
    {"data_page_version": "2.0"},
    {"column_encoding": {"id": "DELTA_LENGTH_BYTE_ARRAY"}, "use_dictionary": False},
    {"kind": pa.large_string()},
    {"values": [None, *strings("any")[1:]]},
    {"values": strings("any")[:40] + [None] * 40},
])  # fmt: skip
def test_everything_else_is_left_to_arrow(options, tmp_path):
    options = dict(options)
    path = stored(tmp_path / "a.parquet", options.pop("values", strings("any")), **options)
    with pytest.raises(Unlike):
        decoded(path, 0)


@pytest.mark.parametrize("use_dictionary", [True, False])
@pytest.mark.parametrize("compression", ["snappy", "none"])
def test_damaged_pages_are_never_read_in_another_way(use_dictionary, compression, tmp_path):
    path = tmp_path / "a.parquet"
    stored(path, strings("any", 30) * 4, use_dictionary=use_dictionary, compression=compression)
    content, draw = path.read_bytes(), random.Random(7)
    pages, outcomes = len(content) - 8 - int.from_bytes(content[-8:-4], "little"), set()
    for _ in range(150):
        damaged = bytearray(content)
        for _ in range(draw.choice((1, 1, 3))):
            at = 4 + draw.randrange(40) if draw.random() < 0.5 else draw.randrange(4, pages)
            damaged[at] = draw.choice((0, 1, 127, 128, 255, damaged[at] ^ 1 << draw.randrange(8)))
        path.write_bytes(damaged)
        try:
            found = decoded(path, 0)
        except Unlike:
            outcomes.add("unlike")
            continue
        found.view(pa.binary()).validate(full=True)
        outcomes.add("read")
        try:
            expected = by_arrow(path, 0)
        except (OSError, pa.ArrowException):
            continue
        assert found.view(pa.binary()).equals(expected.view(pa.binary()))
    assert outcomes == {"read", "unlike"}


def test_a_page_that_is_shorter_than_its_description(tmp_path):
    path = stored(tmp_path / "a.parquet", ["a" * 90] * 8, use_dictionary=False, data_page_size=1 << 20)
    content = path.read_bytes()
    told = 8 * 94 + 6  # strings with lengths, and levels
    number = bytes([told * 2 & 127 | 128, told * 2 >> 7])
    assert content.count(number) >= 1
    path.write_bytes(content.replace(number, bytes([told * 2 + 2 & 127 | 128, told * 2 + 2 >> 7]), 1))
    with pytest.raises(Unlike):
        decoded(path, 0)


def test_memory_is_taken_again_when_nothing_refers_to_it(tmp_path):
    path = stored(tmp_path / "a.parquet", strings("equal lengths"))
    kept = [decoded(path, group) for group in (0, 1, 2, 0)]
    for group, column in zip((0, 1, 2, 0), kept):
        assert column.equals(by_arrow(path, group))
    last, places = kept[1].slice(3), {one.buffers()[1].address for one in kept}
    expected = last.to_pylist()
    del kept, column
    for group in (0, 2):
        found = decoded(path, group)
        assert found.buffers()[1].address in places - {last.buffers()[1].address}
        assert last.to_pylist() == expected


@pytest.fixture
def several(monkeypatch):
    """Threads that read row groups of strings, as if these were many."""
    monkeypatch.setattr(pair_tables.threads, "count", lambda: 2)
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, ingest_strings=0))


@pytest.fixture
def calls(monkeypatch):
    """What was decoded by the loops."""
    found, decode = [], string_pages.column_of

    def noted(file, chunk, field, rows):
        column = decode(file, chunk, field, rows)
        found.append(field.name)
        return column

    monkeypatch.setattr(string_pages, "column_of", noted)
    return found


def pairs_of(folder, left, **options):
    made = {"l": pa.array(left), "r": pa.array(strings("any")), "score": np.linspace(0, 1, ROWS)}
    options = {"row_group_size": GROUP, "use_dictionary": False} | options
    parquet.write_table(pa.table(made), folder / "pairs.parquet", **options)
    return folder / "pairs.parquet"


@pytest.mark.parametrize("read", [
    partial(ew.read, weight=False),
    partial(ew.read, weight="score"),
    partial(ew.read, weight=False, where="score >= 0.3"),
])  # fmt: skip
def test_graphs_are_those_of_arrow(read, tmp_path, several, calls, monkeypatch):
    path = pairs_of(tmp_path, strings("equal lengths"))
    found = read(path)
    assert sorted(calls) == ["l"] * 3 + ["r"] * 3
    monkeypatch.setattr(string_pages, "is_expected", lambda *_: False)
    expected = read(path)
    assert len(calls) == 6
    assert found.ids.equals(expected.ids)
    for name in "sources", "targets", "weights":
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_streams_are_those_of_arrow(tmp_path, several, calls, monkeypatch):
    path = pairs_of(tmp_path, strings("equal lengths"))
    found = ew.stream_components(path).to_frame()
    assert len(calls) == 6
    monkeypatch.setattr(string_pages, "is_expected", lambda *_: False)
    assert found.equals(ew.stream_components(path).to_frame())


def test_codes_and_row_groups_of_several_batches_are_left_to_arrow(tmp_path, several, calls, monkeypatch):
    path = pairs_of(tmp_path, ["a", "b"] * (ROWS // 2), use_dictionary=["l"])
    expected = ew.stream_components(path).to_frame()
    assert calls == []
    path = pairs_of(tmp_path, ["a", "b"] * (ROWS // 2))
    monkeypatch.setattr(typed_tables, "BATCH_ROWS", 64)
    monkeypatch.setattr(typed_tables, "TOGETHER", 1)
    assert ew.stream_components(path).to_frame().equals(expected) and calls == []


def test_nulls_and_damage_are_reported_as_of_arrow(tmp_path, several, calls):
    left = strings("equal lengths")
    left[150] = None
    with pytest.raises(FileError, match="'l' is null in row 151"):
        ew.read(pairs_of(tmp_path, left), weight=False)
    assert set(calls) == {"l", "r"}
    path = pairs_of(tmp_path, strings("equal lengths"))
    place = parquet.ParquetFile(path).metadata.row_group(1).column(0).data_page_offset
    content = bytearray(path.read_bytes())
    content[place : place + 100] = bytes(100)
    path.write_bytes(content)
    with pytest.raises(FileError, match=r"pairs\.parquet"):
        ew.stream_components(path)


def test_a_footer_that_describes_nothing_known():
    field, meta = pa.field("id", pa.string()), {1: 6, 2: [0, 3], 4: 1}
    assert is_expected({3: meta}, field)
    assert not is_expected({3: meta, 1: b"other.parquet"}, field)
    assert not is_expected({3: meta}, pa.field("id", pa.large_string()))
    for field_number in meta:
        for value in ([{}], 17, None):
            assert not is_expected({3: meta | {field_number: value}}, field)
        assert not is_expected({3: {key: meta[key] for key in meta if key != field_number}}, field)
    assert not is_expected({}, field)
