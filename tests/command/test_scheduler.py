"""Shards on the workers of a scheduler: the same tables, and messages for what cannot be."""

import json

import numpy as np
import pyarrow as pa
import pytest

import edgewise as ew
from edgewise.command import run


@pytest.fixture(scope="module")
def address():
    """Address of a scheduler with two threads of this process as its workers."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed (edgewise[dask])")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(processes=False, protocol="tcp", **options) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def shards(tmp_path):
    folder = tmp_path / "shards"
    folder.mkdir()
    draw = np.random.default_rng(8)
    for number in range(4):
        left, right = ([f"v{one}" for one in column] for column in draw.integers(0, 60, (2, 40)))
        scores = draw.integers(0, 9, 40)
        ew.write(pa.table({"left": left, "right": right, "score": scores}), folder / f"{number}.parquet")
    return folder


def test_components(address, shards, tmp_path, capsys):
    one, other, state = tmp_path / "one.parquet", tmp_path / "other.parquet", tmp_path / "state"
    assert run(["components", str(shards), "--stream", "--device", "cpu", "-o", str(one)]) == 0
    capsys.readouterr()
    words = ["components", str(shards), "--scheduler", address, "--device", "cpu", "--checkpoint", str(state)]
    assert run([*words, "-o", str(other)]) == 0
    assert " by 2 workers, " in capsys.readouterr().out
    assert one.read_bytes() == other.read_bytes()
    assert not state.exists()
    assert run([*words, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["workers"], facts["files"], facts["edges"]) == (2, 4, 160)
    assert state.exists()  # nothing was written, so nothing is removed


def test_forest(address, shards, tmp_path, capsys):
    one, other = tmp_path / "one.parquet", tmp_path / "other.parquet"
    words = ["forest", str(shards), "--weight", "score", "--maximum", "--device", "cpu"]
    assert run([*words, "--stream", "-o", str(one)]) == 0
    assert run([*words, "--scheduler", address, "-o", str(other)]) == 0
    assert one.read_bytes() == other.read_bytes()


@pytest.fixture
def edges(tmp_path):
    path = tmp_path / "edges.csv"
    ends = np.random.default_rng(1).integers(0, 90, (2, 400))
    ew.write(
        pa.table({"left": [f"v{one}" for one in ends[0]], "right": [f"v{one}" for one in ends[1]]}), path
    )
    return path


@pytest.mark.parametrize(
    "words, suffix",
    (
        (["paths", "--all-pairs"], ".npy"),
        (["paths", "--measures"], ".csv"),
        (["cycles", "--length", "4"], ".csv"),
    ),
)
def test_graphs(words, suffix, address, edges, tmp_path, capsys):
    page, *words = words
    one, other = tmp_path / f"one{suffix}", tmp_path / f"other{suffix}"
    assert run([page, str(edges), *words, "--device", "cpu", "-o", str(one)]) == 0
    assert "CPU)" in capsys.readouterr().out
    words = [page, str(edges), *words, "--scheduler", address]
    assert run([*words, "-o", str(other)]) == 0
    assert ", 2 workers) -> " in capsys.readouterr().out
    assert one.read_bytes() == other.read_bytes()
    assert run([*words, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["workers"], facts["devices"]) == (2, ["cpu:0", "cpu:1"])


@pytest.mark.parametrize(
    "words, message",
    (
        (["paths", "--source", "v1"], "--scheduler is for --all-pairs and --measures; leave it out"),
        (
            ["paths", "--all-pairs", "--devices", "cpu:0,cpu:1"],
            "--devices is for one process; with --scheduler",
        ),
        (["paths", "--all-pairs", "--method", "floyd-warshall"], "leave out --scheduler, or use --method"),
        (["cycles", "--clustering"], "--scheduler has no meaning with --clustering"),
        (
            ["cycles", "--length", "3", "--schedule", "static"],
            "--schedule is for one process; leave it out with",
        ),
    ),
)
def test_what_graphs_cannot_be_asked(words, message, address, edges, capsys):
    page, *words = words
    assert run([page, str(edges), *words, "--scheduler", address]) == 2
    out, err = capsys.readouterr()
    assert out == "" and message in err and err.count("\n") == 1


@pytest.mark.parametrize(
    "words, message",
    (
        (["--scheduler", "local:none"], "--scheduler local:none names no number of workers; use local:2"),
        (["--scheduler", "tcp://127.0.0.1:1", "--verify"], "--verify needs all pairs in memory"),
        (["--scheduler", "tcp://127.0.0.1:1", "--devices", "cpu:0,cpu:1"], "--devices is for one process"),
        (["--scheduler", "tcp://127.0.0.1:1", "--method", "hook"], "--method hook needs all pairs in memory"),
    ),
)
def test_what_cannot_be(words, message, shards, capsys):
    assert run(["components", str(shards), *words]) == 2
    out, err = capsys.readouterr()
    assert out == "" and message in err and err.count("\n") == 1
