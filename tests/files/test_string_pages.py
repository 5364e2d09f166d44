"""Columns of strings are decoded as Arrow decodes them, or not at all; damage leads nowhere else."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import edgewise as ew
from edgewise import tuning
from edgewise.files import string_pages, typed_tables
from edgewise.files.parquet_footer import string_chunks
from edgewise.files.snappy import BEYOND, decompress
from edgewise.files.streams import Source
from edgewise.files.string_pages import Decoding, decode_pages, string_column

pytestmark = pytest.mark.interpreter

CHOSEN = np.random.default_rng(1)


def decoded(path, name="id", is_optional=True, kind=None):
    """A column by the loops; ``None`` if a row group is left to Arrow."""
    metadata = pa.parquet.read_metadata(path)
    rows = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    with open(path, "rb", buffering=0) as file:
        parts = [
            string_column(file, chunks[name], count, is_optional, kind or pa.string())
            for chunks, count in zip(string_chunks(path), rows, strict=True)
        ]
    for part in parts:
        if part is None:
            return None
        part.validate(full=True)
    return pa.chunked_array(parts, kind or pa.string())


def check(path, ids, **options):
    """Store ids and decode them."""
    table = pa.table({"id": ids})
    pa.parquet.write_table(table, path, compression="snappy", **options)
    found = decoded(path, kind=table.schema.field("id").type)
    assert found is not None
    assert found.combine_chunks().equals(table.column("id").combine_chunks())


def random_ids(count, lengths):
    """Ids of some lengths, with parts in common."""
    parts = ["", "a", "id-", "0123456789abcdef", "éß", "x" * 70, "ab" * 9]
    return [
        "".join(CHOSEN.choice(parts, 3)) + CHOSEN.bytes(int(length)).hex()
        for length in CHOSEN.integers(0, lengths, count)
    ]


@pytest.mark.parametrize("lengths", [1, 9, 90])
@pytest.mark.parametrize("dictionary", [False, True])
def test_as_arrow_decodes_them(lengths, dictionary, tmp_path):
    options = {
        "use_dictionary": dictionary,
        "row_group_size": 150,
        "data_page_size": 512,
        "write_batch_size": 7,
    }
    check(tmp_path / "a.parquet", random_ids(150, lengths), **options)
    check(tmp_path / "a.parquet", [one.encode() for one in random_ids(80, lengths)], **options)
    options |= {"dictionary_pagesize_limit": 600}  # codes first, and then strings
    check(tmp_path / "a.parquet", random_ids(150, lengths), **options)
    check(tmp_path / "a.parquet", random_ids(20, lengths) * 6, **options)


@pytest.mark.parametrize("ids", [[""], ["", "", ""], ["a"] * 200, ["a", "b"] * 100, ["ab" * 5000] * 9, ["é"]])
def test_few_and_equal_ids(ids, tmp_path):
    check(tmp_path / "a.parquet", ids)
    check(tmp_path / "a.parquet", ids, use_dictionary=False)


def test_of_columns_without_nulls_by_their_type(tmp_path):
    schema = pa.schema([pa.field("id", pa.string(), nullable=False)])
    ids = random_ids(300, 20)
    pa.parquet.write_table(pa.table({"id": ids}, schema), tmp_path / "a.parquet", data_page_size=512)
    assert decoded(tmp_path / "a.parquet", is_optional=False).to_pylist() == ids


@pytest.mark.parametrize("options", [{"data_page_version": "2.0"}, {"column_encoding": "DELTA_BYTE_ARRAY"}])
def test_other_pages_are_left_to_arrow(options, tmp_path):
    ids = random_ids(100, 20)
    pa.parquet.write_table(pa.table({"id": ids}), tmp_path / "a.parquet", use_dictionary=False, **options)
    assert decoded(tmp_path / "a.parquet") is None


def test_nulls_are_left_to_arrow(tmp_path):
    for place in 0, 7, 99:
        ids = random_ids(100, 20)
        ids[place] = None
        pa.parquet.write_table(pa.table({"id": ids}), tmp_path / "a.parquet")
        assert decoded(tmp_path / "a.parquet") is None


def test_pages_that_do_not_fit_are_left_to_arrow(monkeypatch, tmp_path):
    ids = random_ids(300, 20)
    pa.parquet.write_table(pa.table({"id": ids}), tmp_path / "a.parquet")
    assert decoded(tmp_path / "a.parquet").to_pylist() == ids
    monkeypatch.setattr(string_pages, "MOST_BYTES", 0)
    monkeypatch.setattr(string_pages, "PAGE_BYTES", 0)  # no room for text, so that it must grow
    assert decoded(tmp_path / "a.parquet") in (None, pa.chunked_array([ids]))


@pytest.mark.parametrize("ending", [0, 1, 40])
def test_room_for_text_grows_and_pages_come_in_parts(ending, monkeypatch, tmp_path):
    monkeypatch.setattr(string_pages, "READ_BYTES", 50 + ending)
    ids = [f"{'x' * 500}{number % 3}" for number in range(150)]
    check(tmp_path / "a.parquet", ids, data_page_size=600, write_batch_size=50)
    check(tmp_path / "a.parquet", random_ids(100, 30), data_page_size=600, write_batch_size=5)


def blocks():
    """Blocks of Snappy, and what they hold."""
    codec = pa.Codec("snappy")
    for size in 0, 1, 15, 60, 61, 300, 70_000:
        for values in 2, 256:
            data = CHOSEN.integers(0, values, size).astype(np.uint8).tobytes()
            yield codec.compress(data, asbytes=True), data
    data = "".join(random_ids(80, 20)).encode()
    yield codec.compress(data, asbytes=True), data
    far = bytes([9, 3 << 2]) + b"abcd" + bytes([4 << 2 | 3, 4, 0, 0, 0])  # a copy by four bytes
    yield far, b"abcdabcda"
    yield bytes([3, 61 << 2, 2, 0]) + b"abc", b"abc"  # a literal whose length has two bytes


def in_room(block, size):
    """An array with a block behind room for what it holds, both followed by zeros, and where it is."""
    at = size + BEYOND
    room = np.zeros(at + len(block) + BEYOND, np.uint8)
    room[at : at + len(block)] = np.frombuffer(block, np.uint8)
    return room, np.uint64(at), np.uint64(at + len(block))


def test_blocks_of_snappy():
    for block, data in blocks():
        if len(data) > 1000:
            continue
        room, at, end = in_room(block, len(data))
        assert decompress(room, at, end, np.uint64(0), np.uint64(len(data)))
        assert room[: len(data)].tobytes() == data


def test_damaged_blocks_of_snappy():
    """Arrays of NumPy refuse places that are out of range; what is taken is what Arrow takes."""
    for block, data in blocks():
        if not 15 <= len(data) < 400:
            continue
        for place in CHOSEN.integers(2, len(block), 40):  # the size is before
            damaged = bytearray(block)
            damaged[place] ^= 1 << int(CHOSEN.integers(8))
            room, at, end = in_room(bytes(damaged[: int(CHOSEN.integers(1, len(block) + 1))]), len(data))
            taken = decompress(room, at, end, np.uint64(0), np.uint64(len(data)))
            try:
                content = room[at:end].tobytes()
                expected = pa.Codec("snappy").decompress(content, len(data), asbytes=True)
            except (OSError, ValueError):
                expected = None
            assert taken == (expected is not None)
            assert not taken or room[: len(data)].tobytes() == expected


def test_damaged_pages(monkeypatch, tmp_path):
    """Every run ends with a column of so many strings or is left to Arrow; nothing is read out of range."""
    monkeypatch.setattr(string_pages, "decode_pages", decode_pages.body)
    path = tmp_path / "a.parquet"
    ids = [f"r{number:03}" for number in range(40)]
    how = {"data_page_size": 100, "write_batch_size": 9, "dictionary_pagesize_limit": 80}
    for dictionary in True, False:
        pa.parquet.write_table(pa.table({"id": ids}), path, use_dictionary=dictionary, **how)
        content = path.read_bytes()
        chunk = next(string_chunks(path))["id"]
        for place in CHOSEN.integers(chunk.begin, chunk.begin + chunk.packed, 150):
            damaged = bytearray(content)
            damaged[place] = CHOSEN.integers(256)
            path.write_bytes(damaged)
            with open(path, "rb", buffering=0) as file:
                found = string_column(file, chunk, len(ids), True, pa.binary())
            if found is not None:
                assert len(found) == len(ids)
                found.validate(full=True)


def test_codes_that_are_no_strings():
    """A page whose codes are not in the dictionary, or that has none."""
    state = np.zeros(string_pages.STACK + string_pages.DEPTH, np.int64)
    room = np.zeros(200, np.uint8)
    starts, text, places = np.zeros(9, np.int32), np.zeros(100, np.uint8), np.zeros(4, np.int32)
    room[100:103] = 2, 8 << 1, 3  # eight times the code 3
    for n_codes, right in (0, False), (3, False), (4, True):
        state[string_pages.CODED], state[string_pages.ROWS] = n_codes, 0
        places[:] = 4
        decoding = Decoding(room, places, starts, text, state)
        at, end, count = (np.uint64(number) for number in (100, 103, 8))
        assert string_pages.take_codes(decoding, at, end, count) == right


def test_runs_of_a_code_have_whole_bytes():
    """The value of a run takes whole bytes, all bits of which are the code."""
    state = np.zeros(string_pages.STACK + string_pages.DEPTH, np.int64)
    room = np.zeros(200, np.uint8)
    room[100:103] = 1, 2 << 1, 2  # twice the code 2, although codes have one bit
    starts, text, places = np.zeros(9, np.int32), np.zeros(100, np.uint8), np.full(4, 4, np.int32)
    at, end, count = (np.uint64(number) for number in (100, 103, 2))
    for n_codes, right in (2, False), (3, True):
        state[string_pages.CODED], state[string_pages.ROWS] = n_codes, 0
        decoding = Decoding(room, places, starts, text, state)
        assert string_pages.take_codes(decoding, at, end, count) == right


def test_runs_do_not_lead_back():
    """Bytes of packed codes whose number overflows are no distance."""
    state = np.zeros(string_pages.STACK + string_pages.DEPTH, np.int64)
    state[string_pages.CODED] = 1
    room = np.zeros(200, np.uint8)
    groups = ((1 << 64) - 1) // 5  # five times this leads one byte back
    number = groups << 1 | 1
    head = [number >> 7 * part & 127 | 128 * (part < 9) for part in range(10)]
    room[100:111] = 5, *head
    starts, text, places = np.zeros(99, np.int32), np.zeros(100, np.uint8), np.full(4, 4, np.int32)
    decoding = Decoding(room, places, starts, text, state)
    at, end, count = (np.uint64(number) for number in (100, 150, 40))
    assert not string_pages.take_codes(decoding, at, end, count)


def described(**changed):
    """The header of a page of values as bytes: fields of the compact protocol, some of them changed."""
    facts = {"type": 0, "size": 50, "packed": 40, "count": 9, "encoding": 0, "levels": 3, "between": b""}
    facts |= changed
    first, last = ("type", "size", "packed"), ("count", "encoding", "levels")
    fields = [b"".join(bytes([0x15, 2 * facts[name] % 256]) for name in names) for names in (first, last)]
    return fields[0] + b"\x2c" + fields[1] + facts["between"] + bytes(2)


def header_read(header, rows=100, is_optional=True):
    """Whether the header of a page is read to its end, and says what can be decoded."""
    room = np.zeros(len(header) + BEYOND, np.uint8)
    room[: len(header)] = np.frombuffer(header, np.uint8)
    state = np.zeros(string_pages.STACK + string_pages.DEPTH, np.int64)
    end = string_pages.read_header(room, np.uint64(0), np.uint64(len(header)), state)
    return end == len(header) and bool(string_pages.is_known(state, rows, is_optional))


def test_headers_of_pages():
    assert header_read(described())
    assert header_read(described(between=b"\x18\x01a"))  # bytes, which are skipped
    for name in "size", "packed", "count":
        negative = bytearray(described())
        negative[{"size": 3, "packed": 5, "count": 8}[name]] |= 1
        assert not header_read(bytes(negative))
    assert not header_read(described(between=b"\x10"))  # a field without a type
    assert not header_read(described(levels=4))  # levels in the older encoding, which has no length
    assert header_read(described(levels=4), is_optional=False)


def test_bytes_behind_the_strings_of_a_page(tmp_path):
    """They show that something is not as it seems, such as levels taken for a string."""
    ids = random_ids(30, 20)
    pa.parquet.write_table(pa.table({"id": ids}), tmp_path / "a.parquet", use_dictionary=False)
    assert decoded(tmp_path / "a.parquet").to_pylist() == ids
    assert decoded(tmp_path / "a.parquet", is_optional=False) is None


def test_bytes_that_are_missing_or_left_behind_codes_and_levels():
    state = np.zeros(string_pages.STACK + string_pages.DEPTH, np.int64)
    room = np.zeros(200, np.uint8)
    room[100:104] = 1, 1 << 1 | 1, 0, 0  # eight codes of one bit
    room[120:126] = 2, 0, 0, 0, 1 << 1 | 1, 255  # eight levels
    starts, text, places = np.zeros(99, np.int32), np.zeros(100, np.uint8), np.full(4, 4, np.int32)
    decoding = Decoding(room, places, starts, text, state)
    at, count, levels = (np.uint64(number) for number in (100, 8, 120))
    for end, right in (102, False), (103, True), (104, False):
        state[string_pages.CODED], state[string_pages.ROWS] = 1, 0
        assert string_pages.take_codes(decoding, at, np.uint64(end), count) == right
    for length, right in (1, False), (2, True), (3, False):
        room[120] = length
        assert (string_pages.skip_levels(room, levels, np.uint64(150), count) > 0) == right


@pytest.mark.parametrize("turned", [False, True])
def test_a_name_with_a_dot_is_not_that_of_a_nested_column(turned, monkeypatch, tmp_path):
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, ingest_strings=0))
    ids = random_ids(40, 20)
    inner = pa.field("b", pa.string(), nullable=False)
    nested = pa.StructArray.from_arrays([pa.array(ids)], fields=[inner])
    fields = [("a.b", ids, True), ("a", nested, False), ("target", ids[::-1], True)]
    fields = fields[::-1] if turned else fields
    kinds = {"a.b": pa.string(), "a": nested.type, "target": pa.string()}
    schema = pa.schema([pa.field(name, kinds[name], nullable=null) for name, _, null in fields])
    table = pa.table([pa.array(values, kinds[name]) for name, values, _ in fields], schema)
    pa.parquet.write_table(table, tmp_path / "a.parquet", use_dictionary=False)
    graph = ew.read(tmp_path / "a.parquet", source="a.b", target="target")
    assert graph.ids_of(graph.sources).to_pylist() == ids
    assert graph.ids_of(graph.targets).to_pylist() == ids[::-1]


@pytest.mark.parametrize("begin", [1 << 20, (1 << 63) - 1, 1 << 64])
def test_chunks_beyond_the_end_of_the_file_are_left_to_arrow(begin, tmp_path):
    path = tmp_path / "a.parquet"
    pa.parquet.write_table(pa.table({"id": ["a", "b"]}), path)
    chunk = next(string_chunks(path))["id"]._replace(begin=begin)
    with open(path, "rb", buffering=0) as file:
        assert string_column(file, chunk, 2, True, pa.string()) is None


def test_tables_of_strings_beside_other_columns(monkeypatch, tmp_path):
    """Pairs with scores, of which some chunks are left to Arrow, also after rows that are skipped."""
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, ingest_strings=0))
    monkeypatch.setattr(typed_tables, "BATCH_ROWS", 64)
    ids = random_ids(400, 20)
    table = pa.table({"source": ids, "score": np.arange(400.0), "target": ids[::-1]})
    path, count = tmp_path / "a.parquet", 0
    called = string_pages.string_column

    def counting(*arguments):
        nonlocal count
        found = called(*arguments)
        count += found is not None
        return found

    monkeypatch.setattr(string_pages, "string_column", counting)
    how = {"use_dictionary": False, "compression": {"source": "snappy", "target": "zstd"}}
    pa.parquet.write_table(table, path, row_group_size=120, **how)
    opened = typed_tables.ParquetTable(Source(path))
    opened.settle(["source", "target"])
    for skip in 0, 10, 180:
        columns = ["score", "target", "source"]
        pieces = [list(read()) for *_, read in opened.pieces(columns, skip)]
        found = pa.Table.from_batches([batch for some in pieces for batch in some])
        assert found.equals(table.select(columns).slice(skip))
    assert count == 4 + 4 + 3
    graph = ew.read(path, weight="score")
    assert graph.ids_of(graph.sources).to_pylist() == ids
