"""Streamed files give the table that reading them gives; interrupted runs go on; faults are named."""

import os
import threading
from dataclasses import replace
from time import sleep

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import edgewise as ew
from edgewise import tuning
from edgewise.device.target import SIMULATED
from edgewise.errors import EdgewiseError, FileError, GraphError, OptionError
from edgewise.files import row_groups as files
from edgewise.files import typed_tables
from edgewise.ingest.arrow import Coded, ColumnNumbers
from edgewise.streams import file_stream as streams
from edgewise.streams import ids
from edgewise.streams.checkpoint import load_state, save_state
from edgewise.streams.file_stream import FileStream
from edgewise.streams.union import Union, UnionReducer
from edgewise.workers import device_team
from tests.compared import assert_equal
from tests.ownership import give_away

TEAMS = ["cuda:0"] if SIMULATED else ["cpu:0", "cpu:0,cpu:1"]
COLUMNS = {"source": None, "target": None, "where": None, "null": "error"}


def stored(folder, *tables, ending="parquet", group=16):
    """A new folder with one file a table."""
    folder.mkdir()
    for number, table in enumerate(tables):
        path = folder / f"{number}.{ending}"
        if ending == "parquet":
            parquet.write_table(pa.table(table), path, row_group_size=group)
        else:
            ew.write(pa.table(table), path)
    return folder


def drawn(low, high, kind=np.int64, rows=60, shards=3):
    draw = np.random.default_rng(rows + high % 97)
    return [
        {
            "source": draw.integers(low, high, rows).astype(kind),
            "target": draw.integers(low, high, rows).astype(kind),
        }
        for _ in range(shards)
    ]


def names(tables):
    return [{name: [f"v{value}" for value in column] for name, column in table.items()} for table in tables]


def same(folder, devices="cpu:0", **options):
    """Hold the streamed result against the one of reading; return it."""
    there = {name: value for name, value in options.items() if name in ("source", "target", "where", "null")}
    expected = ew.connected_components(ew.read(folder, **there))
    found = ew.stream_components(folder, devices=devices, **options)
    assert_equal(found, expected)
    return found


KINDS = {
    "dense": drawn(0, 40),
    "sparse": drawn(0, 4000),
    "int32": drawn(0, 400, np.int32),
    "uint32": drawn(0, 400, np.uint32),
    "uint64": drawn(0, 400, np.uint64),
    "negative": drawn(-300, 300),
    "huge": drawn(0, 2**62),
    "beyond int64": [
        {"source": np.array([2**64 - 2, 3], np.uint64), "target": np.array([3, 2**63], np.uint64)}
    ],
    "uint64 beside int64": [{"source": np.array([2**64 - 2, 3], np.uint64), "target": [3, 2**62]}],
    "largest int64 beside uint64": [{"source": np.array([2**63 - 1, 3], np.uint64), "target": [3, 5]}],
    "largest int64": [{"source": [2**63 - 1, 5, 2**63 - 1], "target": [-1, 2**63 - 1, 2**63 - 1]}],
    "largest uint64": [
        {"source": np.array([2**64 - 1, 9], np.uint64), "target": np.array([3, 2**64 - 1], np.uint64)}
    ],
    "self-loops": [{"source": [7, 9], "target": [7, 12]}, {"source": [3], "target": [3]}],
    "strings": names(drawn(0, 300)),
    "empty shard": [*drawn(0, 40), {name: np.empty(0, np.int64) for name in ("source", "target")}],
    "dictionary": [
        {name: pa.array(column).dictionary_encode() for name, column in table.items()}
        for table in names(drawn(0, 50))
    ],
}


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("low, high", ((0, 30), (-9, 9), (0, 2**62)))
def test_few_rows_on_every_engine(low, high, tmp_path):
    for devices in TEAMS:
        same(stored(tmp_path / devices, *drawn(low, high, rows=8, shards=2), group=5), devices)


@pytest.mark.parametrize("devices", TEAMS)
@pytest.mark.parametrize("kind", KINDS)
def test_table_is_the_one_of_reading(kind, devices, tmp_path):
    folder = stored(tmp_path / "shards", *KINDS[kind])
    found = same(folder, devices)
    found.write(tmp_path / "streamed.parquet")
    ew.connected_components(ew.read(folder)).write(tmp_path / "read.parquet")
    assert (tmp_path / "streamed.parquet").read_bytes() == (tmp_path / "read.parquet").read_bytes()


def coded(folder, monkeypatch):
    """A new folder of files whose row groups have codes in both columns of ids, in one, or in none."""
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, ingest_strings=0))
    folder.mkdir()
    for number, columns in enumerate((True, ["source"], ["target"], False)):
        table = pa.table(names(drawn(0, 50, rows=60 + number, shards=1))[0])
        table = table.append_column("kind", pa.array(["a", None, "b"] * 21).slice(0, len(table)))
        parquet.write_table(table, folder / f"{number}.parquet", use_dictionary=columns, row_group_size=16)
    return folder


@pytest.mark.interpreter
@pytest.mark.parametrize("options", ({}, {"where": "kind = 'a' and source <> 'v7'"}), ids=("all", "some"))
def test_ids_that_are_stored_by_codes(options, tmp_path, monkeypatch):
    numbered, add = set(), ColumnNumbers._add

    def watched(numbers, columns, found):
        numbered.add(tuple(isinstance(column, Coded) for column in columns))
        add(numbers, columns, found)

    monkeypatch.setattr(ColumnNumbers, "_add", watched)
    folder = coded(tmp_path / "shards", monkeypatch)
    found = same(folder, **options)
    assert numbered == {(True, True), (False, False)}
    (tmp_path / "plain").mkdir()
    for path in sorted(folder.iterdir()):
        parquet.write_table(parquet.read_table(path), tmp_path / "plain" / path.name, use_dictionary=False)
    numbered.clear()
    plain = ew.stream_components(tmp_path / "plain", **options)
    assert numbered == {(False, False)}
    assert_equal(found, plain)
    assert list(found.graph.ids) == list(plain.graph.ids)


@pytest.mark.parametrize("read", (ew.read, ew.stream_components))
def test_codes_beyond_the_dictionary(read, tmp_path, monkeypatch):
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, ingest_strings=0))
    path = tmp_path / "pairs.parquet"
    codes = [0, 1, 2, 0, 1, 2, 0, 1]
    table = pa.table({"source": ["abc"[code] for code in codes], "target": ["d"] * 8})
    parquet.write_table(table, path, compression="none", write_page_checksum=False)
    packed = sum(code << 2 * place for place, code in enumerate(codes)).to_bytes(2, "little")
    content = path.read_bytes()
    assert content.count(packed) == 1
    path.write_bytes(content.replace(packed, bytes([packed[0] | 3, packed[1]])))
    with pytest.raises(EdgewiseError, match=r"pairs.parquet: .*is damaged .*out of bounds"):
        read(path)


@pytest.mark.parametrize("kind", (np.int8, np.int16, np.int32))
def test_negative_ids_of_short_types(kind, tmp_path):
    for ending in "arrow", "parquet":
        path = tmp_path / f"a.{ending}"
        columns = np.array([1, 2, -100], kind), np.array([2, -3, 5], kind)
        ew.write(pa.table(dict(zip(("source", "target"), columns))), path)
        same(path)
        with pytest.raises(FileError, match=r"id -100 in row 3 is no vertex number"):
            ew.stream_components(path, n_vertices=2**20)


@pytest.mark.parametrize("ending", ("csv", "arrow", "tsv"))
@pytest.mark.parametrize("kind", ("sparse", "strings", "negative", "self-loops"))
def test_other_tables(kind, ending, tmp_path):
    same(stored(tmp_path / "shards", *KINDS[kind], ending=ending))


def test_text_that_turns_sparse_on_the_way(tmp_path):
    tables = [*KINDS["dense"], {"source": [5, 2**50], "target": [2**50, -4]}, *KINDS["sparse"]]
    same(stored(tmp_path / "shards", *tables, ending="csv"))


def test_numbers_that_turn_into_names(tmp_path):
    tables = [*KINDS["dense"], {"source": ["5", "x"], "target": ["x", "y"]}]
    same(stored(tmp_path / "shards", *tables, ending="csv"))


@pytest.mark.parametrize("kind", ("dense", "sparse", "huge", "self-loops"))
def test_footers_that_state_too_little(kind, tmp_path, monkeypatch):
    folder = stored(tmp_path / "shards", *KINDS[kind])
    monkeypatch.setattr(files.PairFiles, "survey", lambda *_: (180, 0, 10))
    same(folder)


def test_nothing_is_joined_beside_trees_that_grow(tmp_path, monkeypatch):
    work, beside, working, seen = UnionReducer._work, UnionReducer.join_beside, [], []

    def slow_work(reducer, *batch):
        working.append(True)
        sleep(0.02)
        work(reducer, *batch)
        working.pop()

    def watched(reducer, *given):
        seen.append(bool(working))
        return beside(reducer, *given)

    folder = stored(tmp_path / "shards", *KINDS["dense"])
    monkeypatch.setattr(files.PairFiles, "survey", lambda *_: (180, 0, 10))  # there are larger ids
    monkeypatch.setattr(UnionReducer, "_work", slow_work)
    monkeypatch.setattr(UnionReducer, "join_beside", watched)
    same(folder, "cpu:0,cpu:1")
    assert seen and not any(seen)


def test_self_loops_of_a_resumed_stream(tmp_path, monkeypatch):
    tables = [{"source": np.arange(20) + 20 * number} for number in range(4)]
    tables = [{**table, "target": table["source"]} for table in tables]
    folder, saved = stored(tmp_path / "shards", *tables, group=10), tmp_path / "saved.npz"
    monkeypatch.setattr(files.PairFiles, "survey", lambda *_: (80, 0, 10))
    stream = FileStream(folder, COLUMNS, Union(), team=device_team("cpu:0"), checkpoint=saved)
    take = streams.StreamedPairs.take

    def stop_after_half(pairs, chosen):
        take(pairs, chosen)
        stream.stopping = pairs.rows >= 40

    with monkeypatch.context() as patch:
        patch.setattr(streams.StreamedPairs, "take", stop_after_half)
        stream.run()
    assert saved.exists()
    assert ew.stream_components(folder, checkpoint=saved).count == 80


def test_a_checkpoint_waits_for_the_threads_that_join(tmp_path):
    stream = FileStream(
        stored(tmp_path / "shards", *KINDS["dense"]), COLUMNS, Union(), team=device_team("cpu:0")
    )
    pairs, order = streams.StreamedPairs(stream.shards.first_schema(), stream), []

    def save():
        with pairs.alone():
            order.append("saved")

    saving = threading.Thread(target=save)
    with pairs.joining:
        saving.start()
        saving.join(0.05)
        order.append("joined")
    saving.join()
    assert order == ["joined", "saved"]


def test_conditions_nulls_and_columns(tmp_path):
    table = {
        "a": [1, 5, None, 7, 9, 1],
        "score": [0.5, 0.9, 0.9, None, 0.95, 0.99],
        "b": [2, 6, 7, 8, 9, 8],
    }
    folder = stored(tmp_path / "shards", table, table, group=4)
    options = {"source": "a", "target": "b", "where": "score >= 0.9"}
    same(folder, **options, null="drop")
    with pytest.raises(FileError, match=r"0\.parquet: 'a' is null in row 3;"):
        ew.stream_components(folder, **options)


def test_a_row_without_a_weight_counts_as_weights_are_not_read(tmp_path):
    table = {"source": [1, 3], "target": [2, 4], "weight": [0.5, None]}
    folder = stored(tmp_path / "shards", table)
    assert ew.read(folder, null="drop").n_edges == 1
    assert ew.read(folder, null="drop", weight=False).n_edges == 2
    assert ew.stream_components(folder, null="drop").to_frame()["id"].to_pylist() == [1, 2, 3, 4]


def test_signed_and_unsigned_ids(tmp_path):
    """Where both readers accept a mixture they agree; ids that no type holds are refused by both."""
    signed = {"source": np.array([1, 2]), "target": np.array([2, 3])}
    negative = {"source": np.array([-1, 2]), "target": np.array([2, 3])}
    unsigned = {name: np.array([2**63, 3], np.uint64) for name in ("source", "target")}
    small = {name: np.array([7, 3], np.uint64) for name in ("source", "target")}
    for number, tables in enumerate(
        ([signed, small], [small, signed], [unsigned, signed], [negative, small])
    ):
        same(stored(tmp_path / str(number), *tables))
    folder = stored(tmp_path / "large", signed, unsigned)
    assert ew.stream_components(folder).to_frame()["id"].to_pylist() == [1, 2, 3, 2**63]
    with pytest.raises(FileError, match=r"1\.parquet: id 9223372036854775808 does not fit into int64"):
        ew.read(folder)
    for number, tables in enumerate(([negative, unsigned], [unsigned, negative])):
        folder = stored(tmp_path / f"wrong{number}", *tables)
        for reader in ew.read, ew.stream_components:
            with pytest.raises(FileError, match=r"does not fit into u?int64"):
                reader(folder)


def test_a_graph_that_edgewise_wrote_keeps_isolated_vertices(tmp_path):
    (tmp_path / "graphs").mkdir()
    path = tmp_path / "graphs" / "graph.parquet"
    ew.write(ew.Graph.from_edges([1, 3], [2, 3], n_vertices=7), path)
    for one in (path, [path], path.parent, str(path.parent / "*.parquet")):
        assert same(one).graph.n_vertices == 7


def test_row_groups_of_several_batches(monkeypatch, tmp_path):
    monkeypatch.setattr(typed_tables, "BATCH_ROWS", 3)
    monkeypatch.setattr(typed_tables, "TOGETHER", 1)
    same(stored(tmp_path / "shards", *KINDS["sparse"]))
    same(stored(tmp_path / "names", *KINDS["strings"]))


@given(st.data())
@settings(max_examples=20)
def test_any_shards(tmp_path_factory, data):
    ids = data.draw(st.sampled_from([st.integers(0, 40), st.integers(-5, 2**40), st.integers(0, 300)]))
    tables = [
        {"source": [u for u, _ in pairs], "target": [v for _, v in pairs]}
        for pairs in data.draw(st.lists(st.lists(st.tuples(ids, ids), min_size=1), min_size=1, max_size=4))
    ]
    same(stored(tmp_path_factory.mktemp("any") / "shards", *tables, group=data.draw(st.integers(1, 9))))


class Interrupted(KeyboardInterrupt):
    pass


def interrupted_after(rows):
    """A progress that presses Ctrl-C once so many rows are through."""

    def progress(done, total):
        if done >= rows:
            raise Interrupted

    return progress


@pytest.mark.parametrize("ending", ("parquet", "csv", "arrow"))
@pytest.mark.parametrize("kind", ("dense", "sparse", "strings", "huge", "self-loops"))
def test_an_interrupted_run_goes_on(kind, ending, tmp_path, monkeypatch):
    folder, checkpoint = stored(tmp_path / "shards", *KINDS[kind], ending=ending), tmp_path / "so-far"
    seen, take = [], streams.StreamedPairs.take

    def stop_in_the_middle(pairs, chosen):
        take(pairs, chosen)
        seen.append(chosen)
        if len(seen) == 2:
            pairs.stream.stopping = True

    monkeypatch.setattr(streams.StreamedPairs, "take", stop_in_the_middle)
    first = FileStream(folder, COLUMNS, Union(), team=device_team(TEAMS[0]), checkpoint=checkpoint)
    first.run()
    assert first.saved == sum(chosen.rows for chosen in seen)
    assert checkpoint.exists()
    monkeypatch.undo()
    found = same(folder, TEAMS[-1], checkpoint=checkpoint)
    assert found.graph.resumed == first.saved
    assert not checkpoint.exists()


def test_ctrl_c_writes_a_checkpoint(tmp_path, monkeypatch):
    folder, checkpoint = stored(tmp_path / "shards", *KINDS["sparse"]), tmp_path / "so-far"
    monkeypatch.setattr(streams, "POLL_SECONDS", 1e-4)
    with pytest.raises(Interrupted):
        ew.stream_components(folder, checkpoint=checkpoint, progress=interrupted_after(0))
    assert checkpoint.exists()
    assert same(folder, checkpoint=checkpoint).graph.resumed > 0
    with pytest.raises(Interrupted):
        ew.stream_components(folder, progress=interrupted_after(0))


def test_checkpoints_every_so_often(tmp_path, monkeypatch):
    folder, kept = stored(tmp_path / "shards", *KINDS["strings"]), []
    save = streams.Checkpoint.save
    monkeypatch.setattr(
        streams.Checkpoint, "save", lambda *given: (save(*given), kept.append(given[1]["rows"]))
    )
    ew.stream_components(folder, checkpoint=tmp_path / "so-far", every=0.0)
    assert kept == sorted(kept)
    assert len(set(kept)) > 5
    assert sorted(path.name for path in tmp_path.iterdir()) == ["shards"]


def not_forgotten(folder, checkpoint, **options):
    job = FileStream(
        folder, {**COLUMNS, **options}, Union(), team=device_team("cpu:0"), checkpoint=checkpoint
    )
    job.run()


def test_checkpoint_of_another_run(tmp_path):
    folder, checkpoint = stored(tmp_path / "shards", *KINDS["sparse"]), tmp_path / "so-far"
    not_forgotten(folder, checkpoint)
    for options, words in (
        ({"where": "source > 3"}, "where was None and is 'source > 3' now"),
        ({"null": "drop"}, "null was 'error' and is 'drop' now"),
        ({"n_vertices": 5000}, "n_vertices was None and is 5000 now"),
        ({"source": "target", "target": "source"}, r"columns was \['source', 'target'\]"),
    ):
        with pytest.raises(FileError, match=f"so-far: belongs to another run: {words}"):
            ew.stream_components(folder, checkpoint=checkpoint, **options)
    os.utime(folder / "1.parquet", (1, 1))
    with pytest.raises(FileError, match=r"1\.parquet has changed since; remove it"):
        ew.stream_components(folder, checkpoint=checkpoint)
    (folder / "1.parquet").unlink()
    with pytest.raises(FileError, match=r"1\.parquet was replaced by .*2\.parquet"):
        ew.stream_components(folder, checkpoint=checkpoint)
    with pytest.raises(FileError, match=r": 1 file fewer; remove it"):
        ew.stream_components([folder / "0.parquet"], checkpoint=checkpoint_of_two(folder, tmp_path))
    checkpoint.write_bytes(checkpoint.read_bytes()[:100])
    with pytest.raises(FileError, match="so-far: is no checkpoint, or a damaged one; remove it"):
        ew.stream_components(folder, checkpoint=checkpoint)


def checkpoint_of_two(folder, tmp_path):
    not_forgotten([folder / "0.parquet", folder / "2.parquet"], tmp_path / "two")
    return tmp_path / "two"


@pytest.mark.parametrize("missing", ("labels", "marks", "position", "ids", "inputs"))
def test_checkpoint_with_something_missing(missing, tmp_path):
    folder, checkpoint = stored(tmp_path / "shards", *KINDS["dense"]), tmp_path / "so-far"
    not_forgotten(folder, checkpoint)

    def leave_out(facts, arrays):
        facts.pop(missing, None)
        arrays.pop(missing, None)

    change(checkpoint, leave_out)
    with pytest.raises(FileError, match="so-far: is no checkpoint, or a damaged one; remove it"):
        ew.stream_components(folder, checkpoint=checkpoint)


def change(checkpoint, damage):
    """Let ``damage`` change the facts and the arrays of a checkpoint, of which the checksum then is right."""
    facts, arrays = load_state(checkpoint, "damaged")
    damage(facts, arrays)
    save_state(checkpoint, facts, arrays)


DAMAGES = {
    "a label out of range": ("dense", lambda facts, arrays: arrays["labels"].put(3, 2**32 - 1)),
    "labels in a circle": ("dense", lambda facts, arrays: arrays["labels"].put([3, 4], [4, 3])),
    "labels of labels": ("dense", lambda facts, arrays: arrays["labels"].put([0, 3, 4], [0, 0, 3])),
    "labels of floats": ("dense", lambda facts, arrays: arrays.update(labels=arrays["labels"] / 1)),
    "a label of sparse ids": ("negative", lambda facts, arrays: arrays["labels"].put(3, 2**32 - 1)),
    "more labels than ids": ("negative", lambda facts, arrays: arrays.update(ids=arrays["ids"][1:])),
    "falling offsets": ("strings", lambda facts, arrays: arrays["offsets"].put(1, 2**31 - 1)),
    "one string twice": ("strings", lambda facts, arrays: arrays["arena"].fill(65)),
    "no text": ("strings", lambda facts, arrays: arrays["arena"].put(0, 0xFF)),
    "a negative position": ("dense", lambda facts, arrays: facts.update(position=[-1, 0])),
    "a position beyond the files": ("dense", lambda facts, arrays: facts.update(position=[9, 0])),
}


@pytest.mark.interpreter
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_checkpoints(damage, tmp_path):
    kind, function = DAMAGES[damage]
    folder, checkpoint = stored(tmp_path / "shards", *KINDS[kind]), tmp_path / "so-far"
    not_forgotten(folder, checkpoint)
    change(checkpoint, function)
    with pytest.raises(FileError, match="so-far: is no checkpoint, or a damaged one; remove it"):
        ew.stream_components(folder, checkpoint=checkpoint)


@pytest.mark.interpreter
def test_a_checkpoint_that_is_not_what_was_written(tmp_path):
    """Other labels that could be right, with a right checksum in the archive, are refused."""
    folder, checkpoint = stored(tmp_path / "shards", *KINDS["dense"]), tmp_path / "so-far"
    not_forgotten(folder, checkpoint)
    with np.load(checkpoint) as file:
        arrays = {name: file[name] for name in file.files}
    arrays["labels"] = np.arange(len(arrays["labels"]), dtype=arrays["labels"].dtype)
    with open(checkpoint, "wb") as file:
        np.savez(file, **arrays)
    with pytest.raises(FileError, match="so-far: is no checkpoint, or a damaged one; remove it"):
        ew.stream_components(folder, checkpoint=checkpoint)


@pytest.mark.interpreter
def test_the_checkpoint_of_another_user(tmp_path, monkeypatch):
    folder, checkpoint = stored(tmp_path / "shards", *KINDS["dense"]), tmp_path / "so-far"
    not_forgotten(folder, checkpoint)
    before = checkpoint.read_bytes()
    give_away(checkpoint, monkeypatch)
    with pytest.raises(FileError, match=r"so-far: belongs to another user \(.*\); copy it if it is right"):
        ew.stream_components(folder, checkpoint=checkpoint)
    assert checkpoint.read_bytes() == before


@pytest.mark.interpreter
@pytest.mark.parametrize("error", (KeyboardInterrupt, SystemError))
def test_an_interrupt_is_no_damage(error, tmp_path, monkeypatch):
    """What a library makes of an interrupt while a checkpoint is read is not reported as damage."""
    folder, checkpoint = stored(tmp_path / "shards", *KINDS["dense"]), tmp_path / "so-far"
    not_forgotten(folder, checkpoint)
    before = checkpoint.read_bytes()

    def interrupted(*_, **__):
        raise error

    for place in (np, "load"), (FileStream, "_resume"), (np, "savez"):
        with monkeypatch.context() as patch:
            patch.setattr(*place, interrupted)
            with pytest.raises(error):
                ew.stream_components(folder, checkpoint=checkpoint, every=0.0)
        assert checkpoint.read_bytes() == before
        assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    assert same(folder, checkpoint=checkpoint).graph.resumed > 0


@pytest.mark.parametrize("ending", ("csv", "tsv", "parquet", "arrow"))
@pytest.mark.parametrize("client", (False, True))
def test_tables_without_rows(ending, client, tmp_path, threads):
    """With a checkpoint, as a forest, by tasks and with little memory there is nothing, and nothing fails."""
    path, options = tmp_path / f"empty.{ending}", {"client": threads} if client else {}
    kinds = [("source", pa.int64()), ("target", pa.int64()), ("weight", pa.float64())]
    ew.write(pa.schema(kinds).empty_table(), path)
    for checkpoint in (None, tmp_path / "so-far"):
        assert len(ew.stream_components(path, checkpoint=checkpoint, **options).labels) == 0
        forest = ew.stream_forest(path, checkpoint=checkpoint, **options)
        assert len(forest.edges) == 0 and forest.to_frame().num_rows == 0
    assert ew.stream_components(path, output=tmp_path / "clusters", **options).count == 0
    if ending in ("parquet", "arrow"):
        small = {"memory": "1 GB", "output": tmp_path / "again"}
        assert ew.stream_components(path, **small, **options).count == 0


def test_faults_name_file_and_column(tmp_path):
    folder = stored(tmp_path / "shards", *KINDS["sparse"])
    (folder / "1.parquet").rename(tmp_path / "kept")
    parquet.write_table(pa.table({"source": ["a"], "target": ["b"]}), folder / "1.parquet")
    with pytest.raises(
        FileError, match=r"1\.parquet: column 'source' holds string, but int64 in the file before"
    ):
        ew.stream_components(folder)
    parquet.write_table(pa.table({"source": [1], "goal": [2]}), folder / "1.parquet")
    with pytest.raises(
        FileError, match=r"1\.parquet: column 'target' is not there \(columns: source, goal\)"
    ):
        ew.stream_components(folder)
    (folder / "1.parquet").write_bytes((tmp_path / "kept").read_bytes()[:-20])
    with pytest.raises(FileError, match=r"1\.parquet"):
        ew.stream_components(folder)
    with pytest.raises(FileError, match=r"9\.parquet: no such file"):
        ew.stream_components([folder / "0.parquet", folder / "9.parquet"])


@pytest.mark.parametrize(
    ("first", "other", "words"),
    [
        (
            "0.arrow",
            ("1.arrow", {"source": ["a"], "target": ["b"]}),
            r"1\.arrow: column 'source' holds string",
        ),
        ("0.csv", ("1.csv", {"source": [1], "goal": [2]}), r"1\.csv: column 'target' is not there"),
        ("0.parquet", ("1.csv", {"source": ["a"], "target": ["b"]}), r"1\.csv: column 'source' holds"),
    ],
)
def test_faults_name_every_kind_of_file(first, other, words, tmp_path):
    ew.write(pa.table({"source": [1, 2], "target": [2, 3]}), tmp_path / first)
    ew.write(pa.table(other[1]), tmp_path / other[0])
    with pytest.raises(FileError, match=words):
        ew.stream_components([tmp_path / first, tmp_path / other[0]])


def test_faults_name_the_first_file(tmp_path):
    for name, column in (("fractions", [0.5, 1]), ("truths", [True, False])):
        folder = stored(tmp_path / name, {"source": column, "target": [2, 3]})
        with pytest.raises(FileError, match=r"0\.parquet: column 'source' holds (double|bool)"):
            ew.stream_components(folder)
    folder = stored(tmp_path / "shards", *KINDS["dense"])
    for options in ({"where": "nope > 1"}, {"source": "nope", "target": "target"}):
        with pytest.raises(FileError, match=r"0\.parquet: column 'nope' is not there"):
            ew.stream_components(folder, **options)


def test_an_error_of_progress_stops_the_stream(tmp_path, monkeypatch):
    folder, seen = stored(tmp_path / "shards", *KINDS["sparse"]), []
    told, take = threading.Event(), streams.StreamedPairs.take

    def slowly(pairs, chosen):
        seen.append(chosen)
        told.wait(10)
        take(pairs, chosen)

    def progress(done, total):
        threading.Timer(0.05, told.set).start()
        raise LookupError("no bar")

    monkeypatch.setattr(streams.StreamedPairs, "take", slowly)
    monkeypatch.setattr(streams, "POLL_SECONDS", 1e-3)
    with pytest.raises(LookupError, match="no bar"):
        ew.stream_components(folder, progress=progress)
    assert len(seen) == 1


def test_what_was_found_before_a_bad_shard_is_put_aside(tmp_path, monkeypatch):
    folder = stored(tmp_path / "shards", *KINDS["sparse"], ending="csv")
    checkpoint, kept = tmp_path / "so-far", tmp_path / "kept"
    take = streams.StreamedPairs.take

    def vanish(pairs, chosen):
        take(pairs, chosen)
        if not kept.exists():
            (folder / "2.csv").rename(kept)

    monkeypatch.setattr(streams.StreamedPairs, "take", vanish)
    with pytest.raises(FileError, match=r"2\.csv: no such file"):
        ew.stream_components(folder, devices="cpu:0", checkpoint=checkpoint)
    monkeypatch.undo()
    kept.rename(folder / "2.csv")
    assert same(folder, checkpoint=checkpoint).graph.resumed > 0


def test_a_shard_that_vanishes(tmp_path, monkeypatch):
    folder = stored(tmp_path / "shards", *KINDS["sparse"], ending="csv")
    take = streams.StreamedPairs.take
    monkeypatch.setattr(
        streams.StreamedPairs,
        "take",
        lambda *given: (take(*given), (folder / "2.csv").unlink(missing_ok=True)),
    )
    monkeypatch.setattr(files.PairFiles, "survey", lambda *_: (None, None, None))
    job = FileStream(folder, COLUMNS, Union(), team=device_team("cpu:0"))
    (folder / "2.csv").unlink()
    with pytest.raises(FileError, match=r"2\.csv: no such file"):
        job.run()


def test_ids_beyond(tmp_path):
    folder = stored(tmp_path / "shards", *KINDS["dense"], {"source": [1, 2, 99, 3], "target": [3, 3, 98, 4]})
    same(folder, n_vertices=100)
    with pytest.raises(
        FileError, match=r"3\.parquet: id 99 in row 3 is no vertex number, as these run from 0 to 98"
    ):
        ew.stream_components(folder, n_vertices=99)
    with pytest.raises(FileError, match=r"3\.parquet: id 99 in row 3"):
        ew.stream_components(folder, n_vertices=50, where="source != 2")
    both = {"source": np.array([2**63], np.uint64), "target": [-1]}
    with pytest.raises(FileError, match=r"0\.parquet: id 9223372036854775808 does not fit into int64"):
        ew.stream_components(stored(tmp_path / "both", both))


def test_bad_options(tmp_path):
    folder = stored(tmp_path / "shards", *names(KINDS["dense"]))
    for options, words in (
        ({"n_vertices": 5}, "n_vertices= is for integer ids"),
        ({"n_vertices": -5}, "whole number"),
        ({"n_vertices": True}, "whole number"),
        ({"every": "x"}, "every='x' must be a number of seconds"),
        ({"null": "keep"}, "null="),
        ({"device": "auto", "devices": "cpu:0"}, "device= is for one"),
        ({"weight": "x"}, "has no option 'weight'"),
        ({"merge": "pairwise-rem"}, "merge='pairwise-rem' is for several devices"),
        ({"merge": "ranges", "devices": "cpu:0,cpu:1"}, "use one of auto, pairwise-rem"),
    ):
        with pytest.raises(OptionError, match=words):
            ew.stream_components(folder, **options)
    for wrong in (None, [None], 5):
        with pytest.raises(OptionError, match=r"path=\w+ is no path"):
            ew.stream_components(wrong)
    (tmp_path / "list.txt").write_text("1 2\n3 4\n")
    with pytest.raises(FileError, match="only tables can be streamed"):
        ew.stream_components(tmp_path / "list.txt")
    (tmp_path / "list.csv").write_text("1,2\n3,4\n")
    with pytest.raises(FileError, match="only tables can be streamed"):
        ew.stream_components(tmp_path / "list.csv")
    with pytest.raises(GraphError, match="were not kept"):
        ew.stream_components(folder).verify()


def test_memory_is_bound_by_the_vertices(tmp_path):
    import tracemalloc

    vertices, rows = 1 << 21, 1 << 18
    draw = np.random.default_rng(1)
    folder = stored(
        tmp_path / "shards",
        *({name: draw.integers(0, vertices, rows) for name in ("source", "target")} for _ in range(8)),
        group=1 << 16,
    )
    ew.stream_components(folder)
    tracemalloc.start()
    try:
        result = ew.stream_components(folder)
        result.write(tmp_path / "clusters.parquet")
        assert result.count
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    blocks = 3 * 8 * ids.BLOCK * 8  # what is looked at a block at a time
    assert peak < 16 * vertices + blocks
