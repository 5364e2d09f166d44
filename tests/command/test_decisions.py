"""``edgewise components --must --cannot`` and ``edgewise why`` under decisions: tables, facts, mistakes."""

import json
from pathlib import Path

import pytest

from edgewise.command import run
from tests.command.test_thresholds import IDS, complaint


@pytest.fixture
def decisions(pairs, tmp_path):
    (tmp_path / "apart.csv").write_text("left_id,right_id\nanna,rob\n")
    (tmp_path / "same.csv").write_text("left_id,right_id\nzoe,karl\n")


def test_the_weakest_pair_is_cut(decisions, capsys):
    how = ["components", "pairs.csv", "--threshold", "0.4", "--cannot", "apart.csv", "--name", "min"]
    assert run([*how, "-o", "t.csv", "--conflicts", "cut.csv", "--verify"]) == 0
    assert "(1 edge cut), along 'score'; read" in capsys.readouterr().out
    assert Path("cut.csv").read_text().splitlines() == [
        "source,target,weight,cannot_source,cannot_target",
        "ann,bob,0.4,anna,rob",
    ]
    rows = Path("t.csv").read_text().splitlines()
    assert rows[:4] == ["id,cluster,size", "ann,ann,3", "anna,ann,3", "anne,ann,3"]
    assert run([*how, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["cut"] == 1 and facts["conflicts"][0]["cannot_target"] == "rob"


def test_records_of_weak_pairs_can_be_named(decisions, tmp_path, capsys):
    (tmp_path / "people.csv").write_text("id\n" + "".join(f"{name}\n" for name in IDS))
    how = ["components", "pairs.csv", "--must", "same.csv", "--cannot", "apart.csv", "--threshold", "0.95"]
    assert run([*how, "--records", "people.csv", "--members", "zoe", "-q"]) == 0
    assert capsys.readouterr().out.split() == ["id", "carl", "karl", "zoe"]
    assert "a decision of --must: vertex 'zoe' is not in the graph" in complaint(capsys, *how)
    how = ["components", "pairs.csv", "--cannot", "apart.csv", "--threshold", "0.95", "--name", "min", "-q"]
    assert run([*how, "-o", "-"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 8


def test_thresholds_are_nested(decisions, capsys):
    how = ["--cannot", "apart.csv", "--max-size", "2", "--json"]
    assert run(["components", "pairs.csv", "--thresholds", "0.4,0.95", *how]) == 0
    rows = json.loads(capsys.readouterr().out)["thresholds"]
    assert [row["largest"] for row in rows] == [2, 2]


def test_why_two_are_apart(decisions, capsys):
    assert run(["why", "pairs.csv", "anna", "bob", "--cannot", "apart.csv"]) == 0
    err = capsys.readouterr().err
    assert "anna and bob are apart: on their path of 3 edges, ann and bob (0.4) was cut, since anna" in err
    assert run(["why", "pairs.csv", "anna", "bob", "--max-size", "3", "--threshold", "0.5", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["reason"] == "is below the threshold 0.5" and facts["weakest"]["weight"] == 0.4


def test_mistakes(decisions, capsys):
    for options, problem in (
        (["--cannot", "apart.csv", "--one-to-one", "all"], "--cannot and --one-to-one are two choices"),
        (["--must", "same.csv", "--stream"], "--must needs all pairs in memory"),
        (["--must", "same.csv", "--update", "old.csv"], "--must needs all pairs, not those of an update"),
        (["--cannot", "apart.csv", "--method", "rem"], "--method rem is not for --cannot"),
        (["--conflicts", "cut.csv"], "--conflicts are those of --cannot"),
        (["--cannot", "apart.csv", "--must", "apart.csv"], "'must' joins anna and rob but 'cannot' parts"),
        (["--cannot", "none.csv"], "none.csv"),
    ):
        assert problem in complaint(capsys, "components", "pairs.csv", *options)
