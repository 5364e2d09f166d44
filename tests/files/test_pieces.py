"""Row groups that several threads read at the same time: the same rows, in order, and the same errors."""

import gc
import os
import threading
import time
from functools import partial
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import edgewise as ew
from edgewise.errors import FileError
from edgewise.files import pair_tables, typed_tables
from edgewise.files.read_ahead import AHEAD_IN_PIECE, read_in_parallel
from edgewise.files.streams import Source

pytestmark = pytest.mark.interpreter

ROWS, GROUP = 3000, 250


@pytest.fixture
def several(monkeypatch):
    """Eight threads that read, and small batches."""
    monkeypatch.setattr(pair_tables.threads, "count", lambda: 8)
    monkeypatch.setattr(typed_tables, "BATCH_ROWS", 64)
    monkeypatch.setattr(typed_tables, "TOGETHER", 1)


def table():
    rng = np.random.default_rng(5)
    ids = [f"R{number:03d}" for number in range(700)]
    ends = [pa.array(ids).take(pa.array(rng.integers(0, 700, ROWS))) for _ in range(2)]
    return pa.table({"l": ends[0], "r": ends[1], "score": rng.random(ROWS)})


def stored(folder, made, **options):
    parquet.write_table(made, folder / "pairs.parquet", row_group_size=GROUP, **options)
    return folder / "pairs.parquet"


def edges(graph):
    return graph.sources.tolist(), graph.targets.tolist(), graph.ids.to_pylist(), graph.weights


@pytest.mark.parametrize("where", [None, "score >= 0.9", "score > 2"])
@pytest.mark.filterwarnings("ignore:the condition")
def test_the_graph_is_that_of_one_thread(tmp_path, monkeypatch, where):
    path = stored(tmp_path, table())
    before = edges(ew.read(path, weight=False, where=where))
    monkeypatch.setattr(pair_tables.threads, "count", lambda: 8)
    monkeypatch.setattr(typed_tables, "BATCH_ROWS", 64)
    monkeypatch.setattr(typed_tables, "TOGETHER", 1)
    monkeypatch.setattr(pair_tables, "read_ahead", None)  # is not called
    assert edges(ew.read(path, weight=False, where=where)) == before


def test_joined_columns(tmp_path, several):
    made = table()
    made = made.append_column("source_dataset_l", pa.array(["a", "b"] * (ROWS // 2)))
    made = made.append_column("source_dataset_r", pa.array(["a", "b", "c"] * (ROWS // 3)))
    made = made.rename_columns(["unique_id_l", "unique_id_r", *made.column_names[2:]])
    graph = ew.read(stored(tmp_path, made), weight=False)
    assert graph.ids[0].as_py() == "a-__-" + made["unique_id_l"][0].as_py()
    assert graph.n_edges == ROWS


def test_a_null_is_named_by_its_row(tmp_path, several):
    left = table()["l"].to_pylist()
    left[1700] = left[2900] = None
    path = stored(tmp_path, table().set_column(0, "l", pa.array(left)))
    with pytest.raises(FileError, match="'l' is null in row 1,701"):
        ew.read(path)
    with pytest.raises(FileError, match="'l' is null in row 1,701"):
        ew.read(path, where="score >= 0 OR score < 0")
    assert ew.read(path, null="drop").n_edges == ROWS - 2


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_a_failure_that_is_kept_keeps_no_thread_and_no_file(tmp_path, several, few_objects):
    left = table()["l"].to_pylist()
    left[300] = None
    path = stored(tmp_path, table().set_column(0, "l", pa.array(left)))
    failures, counts = [], []
    for _ in range(3):  # the first may load libraries
        with pytest.raises(FileError, match="'l' is null in row 301") as raised:
            ew.read(path)
        failures.append(raised.value)
        gc.collect()  # what other tests have left
        counts.append(len(os.listdir("/proc/self/fd")))
    assert counts[1] == counts[2]
    assert not any(thread.name.startswith("edgewise") for thread in threading.enumerate())


def test_a_warning_tells_the_range_of_all_row_groups(tmp_path, several):
    path = stored(tmp_path, table())
    least, most = (function(table()["score"].to_pylist()) for function in (min, max))
    with pytest.warns(ew.errors.EdgewiseWarning, match=f"runs from {least} to {most}"):
        ew.read(path, where="score > 2")


def test_a_row_group_that_is_damaged(tmp_path, several):
    path = stored(tmp_path, table(), compression="zstd")
    place = parquet.ParquetFile(path).metadata.row_group(7).column(0).data_page_offset
    content = bytearray(path.read_bytes())
    content[place : place + 400] = bytes(400)
    path.write_bytes(content)
    with pytest.raises(FileError, match=r"pairs\.parquet"):
        ew.read(path)
    assert not any(thread.name.startswith("edgewise") for thread in threading.enumerate())


def test_row_groups_are_begun_as_the_memory_allows():
    begun = []

    def items(piece):
        begun.append(piece)
        yield piece

    pieces = [(3, partial(items, piece)) for piece in range(6)] + [(100, partial(items, 6))]
    found, told = read_in_parallel(pieces, 4, lambda: told.append(True), most_bytes=7), []
    first = next(found)
    time.sleep(0.05)
    assert begun == [0, 1]
    assert [first, *found] == begun == [*range(7)]
    assert len(told) == 1


def test_sizes_of_row_groups(tmp_path):
    path = stored(tmp_path, table())
    sizes = [size for _, size, _ in typed_tables.ParquetTable(Source(path)).pieces(["l", "r"])]
    assert len(sizes) == ROWS // GROUP
    assert all(2 * 4 * GROUP < size < 20 * GROUP for size in sizes)


@pytest.mark.parametrize("pieces", [0, 1, 5])
def test_something_is_done_meanwhile_once(pieces):
    told = []
    assert list(read_in_parallel([(0, tuple)] * pieces, 3, lambda: told.append(True))) == []
    assert len(told) == 1


def test_a_file_that_cannot_be_opened_is_an_error_in_its_place(tmp_path):
    path = stored(tmp_path, table())

    def files():
        yield path, typed_tables.ParquetTable(Source(path))
        raise FileError("other.parquet", "is damaged")

    pairs = SimpleNamespace(columns=["l", "r"], choose=lambda batch: [batch])
    *pieces, last = pair_tables._pieces_of_files(files(), pairs)
    assert sum(chosen.num_rows for _, piece in pieces for *_, chosen in piece() if chosen) == ROWS
    with pytest.raises(FileError, match="other"):
        last[1]()


def test_progress_of_several_files_ends_with_all(tmp_path, several):
    for number, count in enumerate((2, 1000, 0, 10)):
        ids = pa.array([f"{number}-{row}" for row in range(count)], pa.string())
        parquet.write_table(pa.table({"source": ids, "target": ids}), tmp_path / f"{number}.parquet")
    seen = []
    assert ew.read(tmp_path, progress=lambda *state: seen.append(state)).n_edges == 1012
    assert all(0 <= rows <= total for rows, total in seen) and seen[-1] == (1012, 1012)


def test_items_come_in_order_and_threads_wait_for_the_caller():
    made = []

    def items(piece):
        for item in range(20):
            made.append((piece, item))
            time.sleep(0.001 * (piece % 3 == 0))
            yield piece, item

    found = read_in_parallel([(0, partial(items, piece)) for piece in range(7)], 3)
    first = next(found)
    time.sleep(0.1)
    assert len(made) <= 4 * (AHEAD_IN_PIECE + 2)
    assert [first, *found] == [(piece, item) for piece in range(7) for item in range(20)]


def test_items_that_take_no_memory_do_not_wait():
    made, told = [], threading.Event()

    def items(piece):
        if piece == 0:
            told.wait(10)
        for item in range(20):
            made.append((piece, item))
            yield piece, item
        if piece == 4:
            told.set()

    found = read_in_parallel([(0, partial(items, piece)) for piece in range(7)], 2, ahead=0)
    assert list(found) == [(piece, item) for piece in range(7) for item in range(20)]
    assert made[:80] == [(piece, item) for piece in range(1, 5) for item in range(20)]


def test_threads_stop_when_the_caller_does():
    closed = []

    def items():
        try:
            while True:
                yield "item"
        finally:
            closed.append(True)

    found = read_in_parallel([(0, items)] * 5, 2)
    next(found)
    found.close()
    assert not any(thread.name.startswith("edgewise") for thread in threading.enumerate())
    assert 1 <= len(closed) <= 3


@pytest.mark.parametrize("immediately", [True, False])
def test_errors_are_raised_where_the_item_would_be(immediately):
    def items():
        yield 1
        raise ValueError("wrong")

    def fail():
        raise ValueError("wrong")

    pieces = [lambda: iter([0]), fail if immediately else items, lambda: iter([2])]
    found = read_in_parallel([(0, piece) for piece in pieces], 2)
    assert next(found) == 0
    with pytest.raises(ValueError, match="wrong"):
        list(found)
    assert list(read_in_parallel([], 2)) == []
