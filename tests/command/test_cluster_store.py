"""``edgewise clusters``: a store by the command, as by Python."""

import json
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

import edgewise as ew
from edgewise.command import run
from edgewise.command.clusters import SUBCOMMANDS


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("pairs.csv").write_text("left_id,right_id,score\nann,anne,0.97\nanne,anna,0.91\nbob,rob,0.5\n")
    Path("reviewed.csv").write_text("left_id,right_id\nann,anna\n")
    Path("people.csv").write_text("id,age\neve,3\n")
    return tmp_path


def test_a_store_by_the_command(folder, capsys):
    assert run(["clusters", "open", "store", "--threshold", "0.9", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    settings = {"threshold": 0.9, "max_size": None, "one_to_one": None}
    assert facts == {"entry": 0, **settings, "records": 0, "pairs": 0, "clusters": 0}
    assert run(["clusters", "add", "store", "pairs.csv", "--cause", "first load"]) == 0
    assert capsys.readouterr().out.startswith("entry 1 of store: 3 born; opened")
    words = [
        "--cannot",
        "reviewed.csv",
        "--records",
        "people.csv",
        "--threshold",
        "0.4",
        "-o",
        "changes.parquet",
    ]
    assert run(["clusters", "apply", "store", *words, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["changes"] == {"born": 1, "grew": 1, "shrank": 1, "merged": 1, "split": 1}
    store = ew.ClusterStore.open("store")
    assert parquet.read_table("changes.parquet") == store.log().slice(3)
    assert run(["clusters", "at", "store", "-o", "now.parquet"]) == 0
    assert run(["clusters", "at", "store", "--entry", "1", "-o", "then.csv"]) == 0
    assert parquet.read_table("now.parquet") == store.to_frame()
    assert Path("then.csv").read_text() == "id,cluster\nann,0\nanne,0\nanna,0\nbob,1\nrob,2\n"
    assert run(["clusters", "log", "store", "--cluster", "1", "--to", "jsonl"]) == 0
    assert [json.loads(line)["change"] for line in capsys.readouterr().out.splitlines()] == [
        "born",
        "grew",
        "merged",
    ]
    assert run(["clusters", "remove", "store", "pairs.csv", "-q"]) == 0
    assert ew.ClusterStore.open("store").n_pairs == 0


def test_a_threshold_that_is_cleared(folder, capsys):
    ew.ClusterStore.create("store", threshold=0.9).apply(add="pairs.csv")
    assert run(["clusters", "apply", "store", "--no-threshold"]) == 0
    store = ew.ClusterStore.open("store")
    assert store.threshold is None and store.n_clusters == 2
    assert run(["clusters", "apply", "store", "--records", "people.csv", "-q"]) == 0
    assert ew.ClusterStore.open("store").threshold is None


def test_settings_and_judgements_by_the_command(folder, capsys):
    words = ["--max-size", "2", "--one-to-one", "a, b", "--threshold", "0.9"]
    for _ in range(2):
        assert run(["clusters", "open", "store", *words]) == 0
    Path("sided.csv").write_text("left_id,right_id,score\na-__-1,b-__-1,0.9\nc-__-1,b-__-1,0.95\n")
    assert run(["clusters", "add", "store", "sided.csv", "-q"]) == 0
    assert ew.ClusterStore.open("store").n_clusters == 2
    assert run(["clusters", "apply", "store", "--no-max-size", "--no-one-to-one", "-q"]) == 0
    store = ew.ClusterStore.open("store")
    assert store.max_size is store.one_to_one is None and store.n_clusters == 1
    assert store.log()["cause"][-1].as_py() == "no max_size, no one_to_one"
    capsys.readouterr()
    assert run(["clusters", "review", "store", "--top", "1", "--changed", "-o", "-"]) == 0
    name = store.to_frame()["cluster"][0].as_py()
    row = f"a-__-1,b-__-1,0.9,{name},3,2"
    assert capsys.readouterr().out == f"source,target,weight,cluster,size,parted\n{row}\n"
    assert run(["clusters", "cohesion", "store", "--cluster", str(name), "-o", "cohesion.parquet"]) == 0
    assert parquet.read_table("cohesion.parquet") == store.cohesion()
    assert run(["clusters", "at", "store", "--thresholds", "0.9,0.95", "-o", "at.parquet"]) == 0
    assert parquet.read_table("at.parquet") == store.at(thresholds=[0.9, 0.95])


@pytest.mark.parametrize(
    ("words", "problem"),
    (
        (["remove", "store", "reviewed.csv"], "the pair of 'ann' and 'anna' is not in the store"),
        (["apply", "store", "--delete", "people.csv"], "--delete names 'eve', which is no record"),
        (["apply", "store", "--add", "reviewed.csv"], "no column of scores"),
        (["open", "store", "--threshold", "0.8"], "the threshold of store is 0.9; change it with"),
        (["apply", "store", "--threshold", "0.8", "--no-threshold"], "contradict each other; give one"),
        (["log", "absent"], "absent: holds no store of clusters"),
        (["at", "store", "--entry", "7"], "--entry 7 is none; the entries are 0 to 1"),
        (["remov", "store"], "did you mean remove?"),
        (
            ["open", "store", "--max-size", "5"],
            "the max-size of store is None; change it with edgewise clusters",
        ),
        (["open", "store", "--one-to-one", "a, b"], "the one-to-one of store is None; change it"),
        (["apply", "store", "--max-size", "5", "--no-max-size"], "--max-size and --no-max-size contradict"),
        (
            ["apply", "store", "--one-to-one", "all"],
            "the id 'ann' names no dataset, which --one-to-one needs",
        ),
        (
            ["apply", "store", "--max-size", "1", "--must", "pairs.csv"],
            "--must joins 3 records, more than --max",
        ),
        (["at", "store", "--thresholds", "0.8"], "--thresholds holds 0.8, which is below the threshold"),
        (["at", "store", "--thresholds", "0.95", "--entry", "1"], "--thresholds is of the last entry"),
        (["review", "store", "--changed", "--cluster", "1"], "--cluster and --changed are two choices"),
    ),
)
def test_what_cannot_be_done(folder, capsys, words, problem):
    ew.ClusterStore.create("store", threshold=0.9).apply(add="pairs.csv")
    assert run(["clusters", *words]) == 2
    said = capsys.readouterr().err
    assert problem in said and said.count("\n") == 1
    assert ew.ClusterStore.open("store").entry == 1


def test_the_group_lists_its_subcommands(capsys):
    assert run(["clusters"]) == 0
    text = capsys.readouterr().out
    assert all(f"  {word} " in text for word in SUBCOMMANDS)


def test_the_log_is_not_written_over_what_is_asked(folder, capsys):
    ew.ClusterStore.create("store", threshold=0.9)
    before = Path("pairs.csv").read_bytes()
    assert run(["clusters", "apply", "store", "--add", "pairs.csv", "-o", "pairs.csv"]) == 2
    assert run(["clusters", "add", "store", "pairs.csv", "-o", "pairs.csv"]) == 2
    assert Path("pairs.csv").read_bytes() == before and ew.ClusterStore.open("store").entry == 0
