"""What the footers of Parquet files state is read with care, and held against the rows."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import edgewise as ew
from edgewise.errors import EdgewiseError, FileError
from edgewise.files.parquet_footer import (
    JoinedFooter,
    _has_codes,
    column_sizes,
    integer_range,
    string_chunks,
    unsigned_at,
)
from tests.conftest import ROOT

pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]

BOTH = {"source": True, "target": True}


def stored(path, columns, **options):
    pa.parquet.write_table(pa.table(columns), path, **options)
    return path


@pytest.mark.parametrize("name", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize("version", ["1.0", "2.6"])
def test_ranges_of_every_integer_type(tmp_path, name, version):
    limits = np.iinfo(name)
    columns = {"source": np.array([5, limits.max, 7], name), "more": ["x", "y", "z"], "target": [1, 2, 3]}
    path = stored(tmp_path / "pairs.parquet", columns, version=version, row_group_size=2)
    assert integer_range(path, {"source": limits.min < 0, "target": True}) == (1, limits.max)
    columns["source"][0] = limits.min
    path = stored(path, columns, version=version)
    assert integer_range(path, {"source": limits.min < 0}) == (limits.min, limits.max)


def test_what_is_not_stated(tmp_path):
    path = stored(tmp_path / "pairs.parquet", {"source": [1, 2], "target": [3, 4]}, write_statistics=False)
    assert integer_range(path, BOTH) is None
    path = stored(path, {"source": [1, 2], "target": pa.array([None, None], pa.int64())})
    assert integer_range(path, BOTH) is None
    path = stored(path, {"source": [1, 2], "target": [{"source": 9}, {"source": 9}]})
    assert integer_range(path, BOTH) is None
    path = stored(path, {"source": pa.array([], pa.int64()), "target": pa.array([], pa.int64())})
    assert integer_range(path, BOTH) == ()
    path.write_bytes(b"PAR1" + bytes(4) + b"PAR1")
    assert integer_range(path, BOTH) is None


def test_damage_in_the_footer(tmp_path):
    """Every byte of the footer changed: the pairs are those of the table, or the file is refused."""
    path = stored(tmp_path / "pairs.parquet", {"source": [1, 2, 5], "target": [2, 3, 6]}, store_schema=False)
    content = path.read_bytes()
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    outcomes = []
    for place in range(start, len(content) - 8):
        damaged = bytearray(content)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        try:
            outcomes.append(ew.stream_components(path).labels.tolist())
        except EdgewiseError as error:
            assert "\n" not in str(error)
    assert len(outcomes) > 50
    assert all(outcome == [0, 0, 0, 3, 3] for outcome in outcomes)


@pytest.mark.parametrize("read", [ew.read, ew.stream_components])
def test_rows_that_the_footer_promises(tmp_path, read):
    path = stored(
        tmp_path / "pairs.parquet", {"source": np.arange(100), "target": np.arange(100)}, row_group_size=50
    )
    content = path.read_bytes()
    for old, new in (
        (b"\x16\xc8\x01", b"\x16\xc6\x01"),
        (b"\x16\x64", b"\x16\x63"),
        (b"\x16\x64", b"\x16\x62"),
    ):
        assert old in content
        path.write_bytes(content.replace(old, new))
        with pytest.raises(FileError, match=r"pairs.parquet: "):
            read(path)


READ_ALL = """
import sys, edgewise as ew
path, content = sys.argv[1], open(sys.argv[1], "rb").read()
start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
for place in range(start, len(content)):
    for bit in (1, 2, 128):
        damaged = bytearray(content)
        damaged[place] ^= bit
        with open(path, "wb") as file:
            file.write(damaged)
        try:
            graph = ew.read(path)
        except ew.errors.EdgewiseError as error:
            assert "\\n" not in str(error), error
"""


def test_damage_in_the_footer_never_ends_the_process(tmp_path):
    """Arrow ends the process where it is asked for the description of a damaged column."""
    path = stored(tmp_path / "pairs.parquet", {"source": ["a"], "target": ["b"]})
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", READ_ALL, str(path)], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr


def test_sizes_of_columns(tmp_path):
    columns = {"id": ["x" * 50] * 100, "list": [[1, 2, 3]] * 100, "n": np.arange(100)}
    path = stored(tmp_path / "a.parquet", columns, use_dictionary=False, row_group_size=40)
    sizes, rows = column_sizes(path)
    described = pa.parquet.ParquetFile(path).metadata.row_group(0)
    for name, column in zip(columns, map(described.column, range(3))):
        assert sizes[name] == column.total_uncompressed_size
    assert (list(sizes), rows) == (list(columns), 40)
    empty = stored(path, {"n": pa.array([], pa.int64())})
    assert column_sizes(empty) == ({}, 0)
    path.write_bytes(b"PAR1" + bytes(4) + b"PAR1")
    assert column_sizes(path) == ({}, 0)


def names_of_codes(path):
    return [{name for name, one in chunks.items() if one.by_codes} for chunks in string_chunks(path)]


@pytest.mark.parametrize("version", ["1.0", "2.6"])
@pytest.mark.parametrize("page_version", ["1.0", "2.0"])
def test_columns_whose_values_are_all_codes(version, page_version, tmp_path):
    columns = {"few": ["a", "b"] * 3000, "mostly": ["a"] * 3000 + [f"{n:09}" for n in range(3000)]}
    columns |= {"plain": columns["few"], "list": [["a"]] * 6000}
    path = stored(
        tmp_path / "a.parquet",
        columns,
        version=version,
        data_page_version=page_version,
        row_group_size=3000,
        use_dictionary=["few", "mostly", "list.list.element"],
        dictionary_pagesize_limit=1 << 12,
        data_page_size=1 << 12,
        write_batch_size=64,
    )
    assert names_of_codes(path) == [{"few", "mostly"}, {"few"}]
    path.write_bytes(path.read_bytes()[:-9] + b"\xff" + path.read_bytes()[-8:])
    assert names_of_codes(path) in ([{"few", "mostly"}, {"few"}], [{"few", "mostly"}], [])
    path.write_bytes(b"PAR1" + bytes(4) + b"PAR1")
    assert names_of_codes(path) == []


@pytest.mark.parametrize("compression", ["snappy", "zstd", "none"])
def test_where_chunks_of_strings_are(compression, tmp_path):
    columns = {"id": ["a", "b", "c"] * 9, "n": np.arange(27), "list": [["a"]] * 27, "raw": [b"x"] * 27}
    path = stored(tmp_path / "a.parquet", columns, compression=compression, row_group_size=10)
    metadata = pa.parquet.read_metadata(path)
    for group, chunks in enumerate(string_chunks(path)):
        assert list(chunks) == ["id", "raw"]
        for name, described in chunks.items():
            column = metadata.row_group(group).column([*columns].index(name))
            assert described.begin == column.dictionary_page_offset
            assert described.packed == column.total_compressed_size
            assert described.size == column.total_uncompressed_size
            assert described.is_snappy == (compression == "snappy")


def test_chunks_whose_pages_are_not_described():
    encodings = 2
    assert _has_codes({encodings: [8, 3]}) and _has_codes({encodings: [2, 3, 4]})
    for others in ([0, 8, 3], [3], [], [8, 6]):
        assert not _has_codes({encodings: others})


def test_a_number_without_end():
    with pytest.raises(ValueError):
        unsigned_at(b"\xff" * (1 << 20), 0)
    assert unsigned_at(b"\xff" * 9 + b"\x01", 0) == ((1 << 64) - 1, 10)


def test_numbers_of_several_bytes():
    for number, written in (127, [127]), (128, [128, 1]), (300, [172, 2]), (2**21, [128, 128, 128, 1]):
        assert unsigned_at(bytes([*written, 5]), 0) == (number, len(written))


def number(step, value, kind=6):
    """A small number of a structure, so many fields behind the one before, as Thrift writes it."""
    return bytes([step << 4 | kind, 2 * value])


def row_group(distance, ordinal):
    """A row group of one chunk, with everything that is a place in the file moved by a distance."""
    of_pages = [number(step, place + distance) for step, place in ((9, 20), (1, 21), (1, 22), (3, 23))]
    index = number(1, 11 + distance) + number(1, 9) + number(1, 12 + distance) + number(1, 9)
    chunk = number(2, 10 + distance) + bytes([0x1C]) + b"".join(of_pages) + b"\0" + index + b"\0"
    sizes = number(1, 9) + number(1, 9)
    return (
        b"\x19\x1c" + chunk + sizes + number(2, 13 + distance) + number(1, 9) + number(1, ordinal, 4) + b"\0"
    )


def footer(rows, *groups):
    """A footer with row groups."""
    return number(3, rows) + bytes([0x19, len(groups) << 4 | 0x0C]) + b"".join(groups) + b"\0"


def test_every_place_of_a_row_group_moves():
    """Writers before Arrow 16 also state where a chunk begins outside of its metadata."""
    joined = JoinedFooter(footer(0))
    for distance in (0, 7, 20):
        joined.add(footer(5, row_group(0, 0)), distance)
    assert joined.content() == footer(15, row_group(0, 0), row_group(7, 1), row_group(20, 2))
