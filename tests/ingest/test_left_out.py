"""Pairs without a score that a threshold or condition leaves out are counted."""

import json
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import edgewise as ew
from edgewise.command import run
from edgewise.ingest import pair_columns

pytestmark = pytest.mark.interpreter
NAN = float("nan")
SCORES = [0.95, None, NAN, 0.1, 0.9, None]
TABLE = pa.table({"l": list("abcdea"), "r": list("bcdefd"), "score": SCORES, "kind": [1, 1, 2, 2, None, 3]})


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pa.parquet.write_table(TABLE, "n.parquet")
    pa.csv.write_csv(TABLE, "n.csv")
    pa.feather.write_feather(TABLE, "n.arrow")
    return ["n.parquet", "n.csv", "n.arrow"]


CONDITIONS = [
    ({"threshold": 0.9}, {"score": 3}),
    ({"where": "score >= 0.9"}, {"score": 3}),
    ({"where": "score IS NULL OR score >= 0.9"}, {"score": 1}),  # what is asked for is kept
    ({"where": "score >= 0.9 AND kind = 1"}, {"score": 3, "kind": 1}),
    ({"where": "l <> 'a'"}, {}),
    ({"where": "kind IS NULL OR kind > 0"}, {}),
    ({}, {}),
]


@pytest.mark.parametrize(("how", "expected"), CONDITIONS)
def test_every_table_counts_the_same(files, how, expected):
    how = {"source": "l", "target": "r", "weight": False} | how
    for file in files:
        assert ew.read(file, **how).left_out == expected, file
    del how["weight"]
    graph = ew.Graph.from_frame(TABLE, **how)
    assert graph.left_out == graph.undirected().left_out == graph.to("cpu").left_out == expected


def test_counts_of_batches_and_files_add_up(files, monkeypatch):
    monkeypatch.setattr(pair_columns.PairBatches, "batch_rows", 2)
    graph = ew.read(["n.parquet", "n.parquet"], source="l", target="r", weight=False, threshold=0.9)
    assert graph.left_out == {"score": 6}
    assert ew.Graph.from_frame(TABLE.to_pydict(), source="l", target="r", threshold=0.9).left_out == {
        "score": 3
    }


OPTIONS = [["--threshold", ".9"], ["--thresholds", ".9"], ["--where", "score >= .9"]]
OPTIONS += [[*OPTIONS[0], "--stream"], [*OPTIONS[2], "--stream"]]


@pytest.mark.parametrize("option", OPTIONS)
def test_closing_line_and_facts(files, capsys, option):
    for file in files:
        command = ["components", file, "--source", "l", "--target", "r", *option]
        assert run([*command, "-o", "-"]) == 0
        assert "3 pairs without 'score' left out, " in capsys.readouterr().err
        assert run([*command, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["left_out"] == {"score": 3}


def test_the_closing_line_is_as_it_was_where_none_is_left_out(files, capsys):
    assert (
        run(["components", "n.csv", "--source", "l", "--target", "r", "--where", "l <> 'a'", "-o", "-"]) == 0
    )
    assert "left out" not in capsys.readouterr().err


def test_convert_counts_them(files, capsys):
    how = ["--source", "l", "--target", "r", "--threshold", "0.9", "-o", "out.parquet"]
    assert run(["convert", "n.csv", *how[:-2], how[-1]]) == 0
    assert "3 pairs without 'score' left out, " in capsys.readouterr().out


def test_what_tasks_do_not_count_is_none(files):
    how = {"source": "l", "target": "r", "threshold": 0.9}
    assert ew.stream_components("n.csv", **how).graph.left_out == {"score": 3}
    with ThreadPoolExecutor(1) as client:
        assert ew.stream_components("n.csv", **how, client=client).graph.left_out is None
