"""Strings that are numbered on disk: the table of one process, byte for byte, within small limits."""

import datetime
import errno
import io
import os
import uuid
from concurrent.futures import ThreadPoolExecutor
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import edgewise as ew
from edgewise.command import run
from edgewise.errors import EdgewiseError, EdgewiseWarning, FileError, OptionError, WorkerError
from edgewise.ingest.string_words import strings_of
from edgewise.streams import contraction, partitioned_strings, ways
from edgewise.streams.tasks import TaskFolder
from tests.compared import assert_equal


@pytest.fixture(autouse=True)
def any_limit(monkeypatch):
    """Limits below what Python takes, so that few rows have many ranges."""
    monkeypatch.setattr(ways, "check_on_disk", lambda *known: None)


def named(draw, rows, distinct):
    """Pairs of strings of very different lengths, one of which is a hub."""
    names = ["", "é", "a", *(f"{'x' * (number % 50)}né{number}" for number in range(distinct))]
    ends = draw.integers(0, len(names), (2, rows))
    ends[0, ::5] = 7
    return [pa.array([names[number] for number in column]) for column in ends]


def stored(folder, columns, shards=3, ending="parquet", **more):
    """A new folder with pairs in shards, and further columns."""
    folder.mkdir()
    table = pa.table({"left": columns[0], "right": columns[1], **more})
    size = -(-table.num_rows // shards)
    for number in range(shards):
        ew.write(table.slice(number * size, size), folder / f"{number}.{ending}")
    return folder


def assert_same(shards, output, memory, tasks=None, **options):
    """Hold a run within a limit against one that has all in memory; return its result."""
    expected = ew.stream_components(shards, **options)
    found = ew.stream_components(shards, output=output, memory=memory, **(tasks or {}), **options)
    assert_equal(found, expected)
    return found


@pytest.mark.parametrize("ending", ("parquet", "csv", "arrow"))
def test_the_table_of_one_process(ending, threads, tmp_path):
    columns = named(np.random.default_rng(1), 2500, 1500)
    if ending == "csv":  # where an empty field is no id
        columns = [pa.array([name or "none" for name in column.to_pylist()]) for column in columns]
    shards = stored(tmp_path / "shards", columns, ending=ending)
    assert_same(shards, tmp_path / "out", 40_000, {"client": threads})
    if ending == "parquet":
        assert_same(shards, tmp_path / "middle", "300 kB", {"client": threads})
        assert_same(shards, tmp_path / "whole", "1 GB", {"client": threads})
        assert len(os.listdir(tmp_path / "out")) > len(os.listdir(tmp_path / "whole")) == 2
        assert_same(shards, tmp_path / "alone", "20 kB")


IDS = st.one_of(st.text(max_size=4), st.text("ab", min_size=15, max_size=18))


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(IDS, IDS), min_size=1, max_size=60), st.integers(1000, 40_000))
def test_any_strings(pairs, memory):
    with TemporaryDirectory() as folder:
        columns = [pa.array(column) for column in zip(*pairs)]
        ew.write(pa.table(columns, ["source", "target"]), f"{folder}/pairs.parquet")
        assert_same(f"{folder}/pairs.parquet", f"{folder}/out", memory)


def test_types_of_ids(tmp_path):
    """Bytes, dictionaries, long offsets, views and UUIDs come out as in memory; dates are refused."""
    names = named(np.random.default_rng(2), 300, 100)
    codes = np.random.default_rng(3).integers(0, 80, (2, 300))
    dates = [
        pa.array([datetime.date(2020, 1, 1) + datetime.timedelta(int(day)) for day in one]) for one in codes
    ]
    keys = [pa.array([uuid.UUID(int=int(key)).bytes for key in one], pa.binary(16)) for one in codes]
    cases = {
        "bytes": [column.cast(pa.binary()) for column in names],
        "mixed": [names[0], names[1].cast(pa.large_string())],
        "bytes and text": [names[0], names[1].cast(pa.binary())],
        "dictionaries": [names[0].dictionary_encode(), names[1]],
        "views": [column.cast(pa.string_view()) for column in names],
        "fixed": keys,
        "UUIDs": [pa.ExtensionArray.from_storage(pa.uuid(), column) for column in keys],
    }
    for number, (name, columns) in enumerate(cases.items()):
        shards = stored(tmp_path / name, columns, ending="arrow")
        assert_same(shards, tmp_path / f"out{number}", 20_000)
    shards = stored(tmp_path / "dates", dates, ending="arrow")  # which are numbers inside
    with pytest.raises(OptionError, match=r"strings, or numbers from 0 on, .*, and the ids are DATE"):
        ew.stream_components(shards, output=tmp_path / "out", memory=20_000)


def test_conditions_nulls_and_no_rows(tmp_path):
    draw = np.random.default_rng(4)
    columns = [column.to_pylist() for column in named(draw, 600, 200)]
    columns[0][3] = columns[1][401] = None
    shards = stored(tmp_path / "shards", columns, score=draw.random(600))
    assert_same(shards, tmp_path / "out", 20_000, where="score >= 0.4", null="drop")
    with pytest.raises((FileError, WorkerError), match=r"'left' is null in row 4"):
        ew.stream_components(shards, output=tmp_path / "wrong", memory=20_000)
    with pytest.warns(EdgewiseWarning, match="keeps none of 600 rows"):
        found = ew.stream_components(
            shards, output=tmp_path / "none", memory=20_000, null="drop", where="score > 2"
        )
    assert (found.count, found.largest, found.to_frame().num_rows) == (0, 0, 0)
    assert found.to_frame().schema.field("id").type == pa.string()


def test_files_that_are_read_a_few_bytes_at_a_time(tmp_path):
    """As the system does where more than 2 GiB are asked for, and some file systems always."""

    class Slow(io.FileIO):
        def readinto(self, buffer):
            return super().readinto(memoryview(buffer)[:3])

    path, found = tmp_path / "numbers", np.empty(5, np.uint32)
    np.arange(9, dtype=np.uint32).tofile(path)
    with Slow(path) as file:
        partitioned_strings._read_slices([file, file], np.array([4, 24]), np.array([2, 3]), found)
        assert found.tolist() == [1, 2, 6, 7, 8]
        with pytest.raises(FileError, match="is shorter than it was written"):
            partitioned_strings._read_slices([file], np.array([20]), np.array([5]), found)


def test_wide_numbers(tmp_path, monkeypatch):
    """Positions and numbers of eight bytes, as from 2**31 rows on."""
    for page in (contraction, partitioned_strings):
        monkeypatch.setattr(page, "index_type", lambda _: np.int64)
    shards = stored(tmp_path / "shards", named(np.random.default_rng(5), 700, 300))
    found = ew.stream_components(shards, output=tmp_path / "out", memory=20_000)
    assert found.to_frame().to_pydict() == ew.stream_components(shards).to_frame().to_pydict()


def test_many_blocks(tmp_path, monkeypatch):
    """Batches, blocks of strings and blocks of the table that are smaller than the files."""
    for name, size in (("BATCH_ROWS", 64), ("BLOCK", 50), ("BLOCK_BYTES", 900), ("TABLE_ROWS", 32)):
        monkeypatch.setattr(partitioned_strings, name, size)
    monkeypatch.setattr(contraction, "TABLE_ROWS", 32)
    monkeypatch.setattr(partitioned_strings.DividedPairs, "batch_rows", 64)
    shards = stored(tmp_path / "shards", named(np.random.default_rng(6), 900, 400))
    assert_same(shards, tmp_path / "out", 20_000)
    assert_same(shards, tmp_path / "one", "1 GB")


def test_sources_that_repeat(tmp_path, monkeypatch):
    """A source that is equal to that of the row before is not written, which no table shows."""
    columns = [strings_of(pa.array(list(column))) for column in ("aabba", "xaabb")]
    assert partitioned_strings.divided(columns, 3).positions.tolist().count(2) == 0
    assert sorted(partitioned_strings.divided(columns, 3).positions.tolist()) == [0, 1, 3, 4, 5, 7, 8, 9]
    monkeypatch.setattr(partitioned_strings.DividedPairs, "batch_rows", 64)
    names = named(np.random.default_rng(12), 900, 300)
    names[0] = pa.array(sorted(names[0].to_pylist()))
    shards = stored(tmp_path / "shards", names)
    assert_same(shards, tmp_path / "out", 20_000)
    assert_same(shards, tmp_path / "one", "1 GB")
    equal = [pa.array(["é"] * 90), names[1].slice(0, 90)]
    assert_same(stored(tmp_path / "equal", equal), tmp_path / "of one", 20_000)


def test_strings_are_removed_as_they_are_numbered(tmp_path, monkeypatch):
    """A task that numbers strings finds its own, those of later ones, and at most those of the one before."""
    shards = stored(tmp_path / "shards", named(np.random.default_rng(14), 900, 400))
    first, there = partitioned_strings.first_positions, []

    def first_positions(folder, name, **given):
        files = [int(one.stem.rpartition("-")[2]) for one in folder.path.glob("*.strings")]
        there.append((given["file"], min(files), max(files)))
        return first(folder, name, **given)

    monkeypatch.setattr(partitioned_strings, "first_positions", first_positions)
    assert_same(shards, tmp_path / "out", 20_000)
    assert len(there) == partitioned_strings.TABLE_TASKS
    assert all(file - 1 <= least <= file and most == len(there) - 1 for file, least, most in there)


@pytest.mark.parametrize("distinct", (10_000, 10**9), ids=("few", "all"))
def test_the_disk_holds_what_is_estimated(distinct, tmp_path, monkeypatch):
    ends = np.random.default_rng(15).integers(0, distinct, (2, 20_000))
    names = [pa.array([f"{number:017}" for number in column.tolist()]) for column in ends]
    shards = stored(tmp_path / "shards", names, shards=1)
    discard, held = TaskFolder.discard, [0]

    def discards(self, files):
        held.append(sum(one.stat().st_size for one in self.path.iterdir()))
        discard(self, files)

    monkeypatch.setattr(TaskFolder, "discard", discards)
    assert_same(shards, tmp_path / "out", "1 MB", {"checkpoint": tmp_path / "state"})
    reading = {"source": "left", "target": "right", "where": None, "null": "error"}
    estimate = ways.ways_of(ways.pairs_of(shards, reading))[-1].disk_bytes
    assert 0.85 * estimate < max(held) < 1.05 * estimate


def test_a_folder_of_another_layout_is_refused(tmp_path, monkeypatch):
    shards = stored(tmp_path / "shards", named(np.random.default_rng(13), 300, 100))
    options = {"memory": 20_000, "checkpoint": tmp_path / "state", "output": tmp_path / "out"}
    with monkeypatch.context() as before:
        before.setattr(contraction, "LAYOUT", 1)
        before.setattr(partitioned_strings, "positions_marked", None)
        with pytest.raises((WorkerError, TypeError)):
            ew.stream_components(shards, **options)
    with pytest.raises(FileError, match="belongs to another run: layout of files was 1 and is 4 now"):
        ew.stream_components(shards, **options)


@pytest.mark.parametrize("memory, least", ((20_000, 9), (8_000, 16)), ids=("one range", "several"))
def test_a_run_that_stops_continues(memory, least, tmp_path, monkeypatch):
    shards = stored(tmp_path / "shards", named(np.random.default_rng(7), 900, 400))
    keep, done, room = TaskFolder.keep, [], [0]

    def keeps(self, name, facts):
        if len(done) >= room[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), name)
        keep(self, name, facts)
        done.append(name)

    monkeypatch.setattr(TaskFolder, "keep", keeps)
    options = {"checkpoint": tmp_path / "state"}
    for room[0] in range(1, least, 3):
        with pytest.raises((WorkerError, OSError, FileError), match=r"(?i)space|full"):
            ew.stream_components(shards, output=tmp_path / "out", memory=memory, **options)
        assert not (tmp_path / "out").exists()
    room[0] = 1000
    with ThreadPoolExecutor(2) as pool:
        assert_same(shards, tmp_path / "out", memory, options | {"client": pool})
    assert len(done) == len(set(done)) > least  # nothing was done twice
    assert sorted(os.listdir(tmp_path)) == ["out", "shards"]


def test_a_damaged_file_is_refused(tmp_path, monkeypatch):
    shards, state = stored(tmp_path / "shards", named(np.random.default_rng(8), 900, 400)), tmp_path / "state"
    marked = partitioned_strings.positions_marked
    options = {"memory": 20_000, "checkpoint": state, "output": tmp_path / "out"}

    def fails(*_, **__):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(partitioned_strings, "positions_marked", fails)
    with pytest.raises((WorkerError, OSError)):
        ew.stream_components(shards, **options)
    file = next(one for one in sorted(state.glob("*.text")) if one.stat().st_size)
    content = bytearray(file.read_bytes())
    content[0] ^= 1
    file.write_bytes(content)
    monkeypatch.setattr(partitioned_strings, "positions_marked", marked)
    with pytest.raises(FileError, match="is not what was written, according to its checksum"):
        ew.stream_components(shards, **options)


def test_a_full_disk(tmp_path):
    """The error is about the file that is written, not about the shard that is read meanwhile."""
    resource = pytest.importorskip("resource")
    shards, limit = (
        stored(tmp_path / "shards", named(np.random.default_rng(11), 900, 400)),
        resource.RLIMIT_FSIZE,
    )
    assert_same(shards, tmp_path / "warm", 20_000)
    before = resource.getrlimit(limit)
    resource.setrlimit(limit, (3000, before[1]))
    try:
        with pytest.raises(
            FileError, match=r"\.(strings|positions): the file grew larger than the system allows"
        ):
            ew.stream_components(shards, output=tmp_path / "out", memory=20_000)
    finally:
        resource.setrlimit(limit, before)
    assert sorted(os.listdir(tmp_path)) == ["shards", "warm"]


def test_too_little_memory(tmp_path):
    shards = stored(tmp_path / "shards", named(np.random.default_rng(9), 900, 400))
    with pytest.raises(OptionError, match=r"memory=100 is too little for the strings of 900 rows; "):
        ew.stream_components(shards, output=tmp_path / "out", memory=100)
    assert sorted(os.listdir(tmp_path)) == ["shards"]
    assert_same(shards, tmp_path / "out", 2000)


def test_a_table_that_grows_too_large_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(partitioned_strings, "LEAST_TABLE", 0)
    monkeypatch.setattr(contraction, "EXPANSION", 0)
    long = [pa.array([f"{number}{'x' * 9000}" for number in range(first, first + 90)]) for first in (0, 45)]
    shards = stored(tmp_path / "shards", long)
    with pytest.raises(EdgewiseError, match="is too little for these strings"):
        ew.stream_components(shards, output=tmp_path / "out", memory=20_000)


def test_text_that_is_not_utf8(tmp_path):
    buffers = [None, pa.py_buffer(np.array([0, 1, 2], np.int32)), pa.py_buffer(b"a\xff")]
    wrong = pa.Array.from_buffers(pa.string(), 2, buffers)
    parquet.write_table(pa.table({"left": wrong, "right": wrong}), tmp_path / "wrong.parquet")
    with pytest.raises(EdgewiseError, match="is not UTF-8 text"):
        ew.stream_components(tmp_path / "wrong.parquet", output=tmp_path / "out", memory=20_000)


def test_partitions_are_of_about_the_same_size():
    columns = [
        strings_of(pa.array([f"r{number:016x}" for number in range(side, 20_000, 2)])) for side in (0, 1)
    ]
    counts = np.diff(partitioned_strings.divided(columns, 10).starts)
    assert counts.sum() == 20_000
    assert counts.min() > 1800 < 2200 > counts.max()


def test_the_command(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(ways, "ways_of", lambda *known: [ways.Way(ways.ON_DISK, 1, 1)])
    shards = stored(tmp_path / "shards", named(np.random.default_rng(10), 300, 100))
    assert run(["components", str(shards), "--memory", "20kB", "-o", f"{tmp_path}/out/"]) == 0
    assert "contraction, streamed from 3 files" in capsys.readouterr().out
    assert run(["components", str(shards), "--memory", "100", "-o", f"{tmp_path}/new/"]) == 2
    assert "--memory 100 is too little for the strings of 300 rows; give at least" in capsys.readouterr().err
