"""``edgewise components --stream``: many files in, the same table out, in little memory."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import edgewise as ew
from edgewise import tuning
from edgewise.command import run
from edgewise.streams import file_stream as streams
from tests.processes import ended


@pytest.fixture
def shards(tmp_path, monkeypatch):
    """Three shards of 900 pairs in all, in an otherwise empty working folder."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(3)
    for number in range(3):
        table = {name: draw.integers(0, 2000, 300) for name in ("source", "target")}
        parquet.write_table(pa.table(table), tmp_path / f"{number}.parquet", row_group_size=100)
    return tmp_path


@pytest.fixture
def ctrl_c():
    """Ctrl-C raises KeyboardInterrupt here.

    A script's ``&`` and ``nohup`` start their processes, so these tests too, with SIGINT ignored, and Python
    leaves that as it is.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


FILES = ["0.parquet", "1.parquet", "2.parquet"]


def problem(capsys):
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    return err


def test_the_table_is_the_same(shards, capsys):
    assert run(["components", *FILES, "-o", "read.parquet"]) == 0
    assert run(["components", "--stream", *FILES, "-o", "streamed.parquet"]) == 0
    assert (shards / "read.parquet").read_bytes() == (shards / "streamed.parquet").read_bytes()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].partition(";")[0] == lines[1].partition(";")[0]
    assert "streamed " in lines[1]
    assert "(rem, streamed from 3 files, " in lines[1]


def test_large_parquet_files_are_streamed(shards, capsys, monkeypatch):
    found = []
    for size in (1 << 25, 1):
        monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, command_streamed=size))
        words = ["components", *FILES, "--json", "--device", "cpu", "--to", "parquet"]
        assert run([*words, "-o", f"{size}-clusters"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert [list(facts["seconds"]) for facts in found] == [["read", "compute", "write"], ["stream", "write"]]
    assert Path(f"{1 << 25}-clusters").read_bytes() == Path("1-clusters").read_bytes()
    assert run(["components", *FILES, "--json", "--memory", "64GB", "--device", "cpu"]) == 0
    assert json.loads(capsys.readouterr().out)["way"] == "streamed"
    for options in (["--verify"], ["--method", "afforest"], ["--review", "3"]):
        assert run(["components", *FILES, "--json", "--device", "cpu", *options]) == 0
        assert "stream" not in json.loads(capsys.readouterr().out)["seconds"]


def test_the_plan_is_a_stream_where_one_is_asked_for(shards, capsys):
    plan = ["plan", "components", *FILES, "--json", "--device", "cpu"]
    for options, way in (([], "in memory"), (["--stream"], "streamed")):
        assert run([*plan, *options]) == 0
        assert json.loads(capsys.readouterr().out)["chosen"] == way
    for options in (["--checkpoint", "so-far"], ["--method", "afforest"]):
        assert run([*plan, "--stream", *options]) == 2
        assert "no way to the result is known that takes all of these options" in capsys.readouterr().err


@pytest.mark.parametrize("inputs", (["?.parquet"], ["."], ["0.parquet", "[12].parquet"]))
def test_patterns_and_folders(shards, inputs, capsys):
    assert run(["components", "--stream", *inputs, "--json", "--device", "cpu", "--threads", "2"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["files"], facts["edges"], facts["resumed"]) == (3, 900, 0)
    assert (facts["device"], facts["devices"], facts["threads"]) == ("cpu", None, 2)
    assert list(facts["seconds"]) == ["stream"]


def test_several_devices(shards, terminal):
    several = ["--devices", "cpu:0,cpu:1", "--merge", "pairwise-rem", "--json"]
    found = []
    for stream in ([], ["--stream"]):
        assert run(["components", *stream, *FILES, *several]) == 0
        found.append(json.loads(terminal.readouterr().out))
    for facts in found:
        assert (facts["device"], facts["devices"]) == (None, ["cpu:0", "cpu:1"])
        assert facts["merge"] == "pairwise-rem"
    assert found[0]["components"] == found[1]["components"]
    assert run(["components", "--stream", *FILES, *several[:2]]) == 0
    assert "cpu:0, cpu:1 merged by" in terminal.readouterr().out


def test_shows_the_head_of_the_table(shards, terminal):
    assert run(["components", "--stream", *FILES, "--vertices", "2000", "--plot", "sizes.png"]) == 0
    lines = terminal.readouterr().out.splitlines()
    assert lines[0].split() == ["id", "component"]
    assert "more rows" in lines[-2]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--checkpoint", "so-far"], "--checkpoint goes with --stream"),
        (["--vertices", "7"], "--vertices goes with --stream"),
        (["--merge", "peer"], "--merge is for several devices"),
        (["--device", "cpu", "--devices", "cpu:0"], "give one of the two"),
        (["--devices", "cpu:0,abacus"], "abacus"),
        (["--devices", "cpu:0,cpu:0"], "given twice"),
        (["--stream", "--verify"], "--verify needs all pairs"),
        (["--stream", "--method", "afforest"], "--method afforest needs all pairs"),
        (["--stream", "--weight", "w"], "--weight means nothing with --stream"),
        (["--stream", "--one-based"], "--one-based means nothing"),
        (
            ["--stream", "--merge", "ranges", "--devices", "cpu:0,cpu:1"],
            "--merge ranges is not for streams",
        ),
        (["--stream", "--vertices", "100"], "correct --vertices or leave it out"),
        (["--stream", "--vertices", "-1"], "--vertices"),
        (["--stream", "--where", "score >"], "score"),
        (["--stream", "gone.parquet"], "gone.parquet: no such file"),
        (["--stream", "-o", "clusters.xyz"], "clusters.xyz"),
        (["--stream", "-o", "1.parquet"], "1.parquet: is the input itself"),
    ],
)
def test_mistakes(shards, options, words, capsys):
    before = sorted(shards.iterdir())
    assert run(["components", *FILES, *options]) == 2
    assert words in problem(capsys)
    assert sorted(shards.iterdir()) == before


def test_goes_on_after_a_checkpoint(shards, ctrl_c, capsys, monkeypatch):
    again = ["components", "--stream", *FILES, "--checkpoint", "so-far", "-o", "clusters.parquet"]
    take, seen = streams.StreamedPairs.take, []

    def press_in_the_middle(pairs, chosen):
        take(pairs, chosen)
        seen.append(chosen)
        if len(seen) == 4:
            signal.raise_signal(signal.SIGINT)
            pairs.stream.stopping = True

    monkeypatch.setattr(streams.StreamedPairs, "take", press_in_the_middle)
    assert run(again) == 130
    assert capsys.readouterr().err.splitlines() == [
        "edgewise: 400 rows are in so-far; repeat the command to continue",
        "edgewise: interrupted",
    ]
    assert sorted(path.name for path in shards.iterdir()) == [*FILES, "so-far"]
    monkeypatch.undo()
    monkeypatch.chdir(shards)
    assert run([*again, "--where", "source >= 0"]) == 2
    assert "so-far: belongs to another run: where was None" in problem(capsys)
    assert run(again) == 0
    assert "resumed after 400 rows" in capsys.readouterr().out
    assert sorted(path.name for path in shards.iterdir()) == [*FILES, "clusters.parquet"]
    assert run(["components", *FILES, "-o", "read.parquet"]) == 0
    assert (shards / "read.parquet").read_bytes() == (shards / "clusters.parquet").read_bytes()


def wait_until_open(process, folder, seconds=60):
    """Wait until a process has a file of a folder open."""
    end = time.monotonic() + seconds
    while not any(folder == Path(one.path).parent for one in psutil.Process(process.pid).open_files()):
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_in_a_process(tmp_path):
    """Status 130, nothing half-written, and the checkpoint of what was read."""
    draw = np.random.default_rng(1)
    table = pa.table({name: draw.integers(0, 1 << 25, 3_000_000) for name in ("source", "target")})
    shards = tmp_path / "shards"
    shards.mkdir()
    parquet.write_table(table, shards / "00.parquet", row_group_size=100_000)
    for number in range(1, 40):  # so that it does not end before it is interrupted
        os.link(shards / "00.parquet", shards / f"{number:02}.parquet")
    command = [sys.executable, "-m", "edgewise", "components", "--stream", "shards", "-o", "clusters.parquet"]
    process = subprocess.Popen(
        [*command, "--checkpoint", "so-far", "--device", "cpu"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with ended(process):
        wait_until_open(process, shards)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    left = sorted(path.name for path in tmp_path.iterdir())
    assert process.returncode == 130
    assert err.endswith("edgewise: interrupted\n")
    assert set(left) <= {"shards", "so-far"}
    assert ("so-far" in left) == ("rows are in so-far" in err)


@pytest.mark.parametrize(
    "words, complaint",
    [
        (
            ["fold", "-o", "fold/1.parquet"],
            "fold/1.parquet: would be one of the inputs (fold); choose another folder",
        ),
        (["fold", "-o", "fold/new.parquet"], "fold/new.parquet: would be one of the inputs (fold)"),
        (
            ["fold/*.parquet", "-o", "fold/0.parquet"],
            "fold/0.parquet: would be one of the inputs (fold/*.parquet)",
        ),
        (["fold/0.parquet", "-o", "fold/0.parquet"], "is the input itself"),
        (
            ["fold", "--checkpoint", "out.parquet", "-o", "out.parquet"],
            "out.parquet is given for two outputs",
        ),
        (["fold", "--checkpoint", "a.png", "--plot", "./a.png"], "a.png is given for two outputs"),
        (["fold/0.parquet", "--checkpoint", "fold/0.parquet"], "is the input itself"),
    ],
)
def test_no_input_and_no_output_is_written_over(words, complaint, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fold").mkdir()
    for number in (0, 1):
        ew.write(ew.Graph.from_edges([number], [2]), f"fold/{number}.parquet")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    assert run(["components", "--stream", *words]) == 2
    assert complaint in capsys.readouterr().err
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before
