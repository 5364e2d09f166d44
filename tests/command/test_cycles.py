"""``edgewise cycles``: a graph in, counts out; mistakes in one line."""

import json
import re
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet
import pytest

from edgewise.command import run
from edgewise.command.cycles import Method
from edgewise.cycles import METHODS, planning

FRIENDS = "ann,bob\nbob,cid\ncid,ann\ncid,dan\ndan,ann\nbob,bob\nbob,ann\neve,ann\n"


@pytest.fixture
def friends(tmp_path, monkeypatch):
    """A small file of pairs, in an otherwise empty working folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "friends.csv"
    path.write_text("left,right\n" + FRIENDS)
    return str(path)


def facts_of(capsys, *arguments):
    assert run(["cycles", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def complaint(capsys, *arguments):
    assert run(["cycles", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    return err


def test_shows_the_head_of_the_table_and_a_closing_line(friends, terminal):
    assert run(["cycles", friends, "--length", "3"]) == 0
    out, err = terminal.readouterr()
    lines = [line.split() for line in out.splitlines()]
    assert lines[:-1] == [
        ["id", "cycles"],
        ["ann", "2"],
        ["bob", "1"],
        ["cid", "2"],
        ["dan", "1"],
        ["eve", "0"],
    ]
    assert out.splitlines()[-1].startswith(
        "5 vertices, 8 edges: 2 cycles of length 3, at most 2 through a vertex "
        "(1 self-loop and 1 repeated edge ignored); read "
    )
    assert err == ""


@pytest.mark.parametrize("ending", ("parquet", "csv"))
def test_writes_the_table_and_a_picture(friends, ending, capsys, tmp_path):
    goal = tmp_path / f"counts.{ending}"
    assert run(["cycles", friends, "-k", "4", "-o", str(goal), "--plot", "counts.svg"]) == 0
    reader = pyarrow.parquet.read_table if ending == "parquet" else pyarrow.csv.read_csv
    ids = ["ann", "bob", "cid", "dan", "eve"]
    assert reader(goal).to_pydict() == {"id": ids, "cycles": [1, 1, 1, 1, 0]}
    assert f"-> {goal}" in capsys.readouterr().out
    assert Path("counts.svg").stat().st_size > 1000


def test_json(friends, capsys):
    facts = facts_of(capsys, friends, "-k", "3", "--count-directions", "--threads", "1", "--verify")
    assert (facts["vertices"], facts["length"], facts["total"], facts["max_count"]) == (5, 3, 4, 4)
    assert (facts["n_self_loops"], facts["n_duplicates"], facts["count_directions"]) == (1, 1, True)
    assert (facts["devices"], facts["threads"], facts["verified"]) == (["cpu:0"], 1, True)
    assert list(facts["seconds"]) == ["read", "compute", "verify"]


def test_every_method_can_be_asked_for():
    assert {method.value for method in Method.__origin__} == {"auto", *METHODS}


def test_methods_devices_and_schedules(friends, terminal):
    asked = ("-k", "3", "--method", "dfs", "--devices", "cpu:0,cpu:1", "--schedule", "queue:1")
    facts = facts_of(terminal, friends, *asked)
    assert (facts["method"], facts["schedule"], facts["total"]) == ("dfs", "queue:1", 2)
    assert facts["devices"] == ["cpu:0", "cpu:1"]
    assert run(["cycles", friends, *asked]) == 0
    assert "(dfs, cpu:0, cpu:1, schedule queue:1)" in terminal.readouterr().out


def test_quiet_and_profile(friends, capsys):
    assert run(["cycles", friends, "-k", "4", "-q", "-o", "counts.csv", "--profile"]) == 0
    out, err = capsys.readouterr()
    scopes = [line.split()[0] for line in err.splitlines()]
    assert out == "" and {"rank", "plan", "count", "write"} <= set(scopes)


def test_directed_graphs_are_refused_or_taken_as_undirected(friends, capsys):
    words = complaint(capsys, friends, "-k", "3", "--directed")
    assert words.startswith(f"edgewise: {friends} is directed") and "--undirected" in words
    assert facts_of(capsys, friends, "-k", "3", "--undirected")["total"] == 2


def test_weights_do_not_matter(tmp_path, capsys):
    edges = tmp_path / "edges.csv"
    edges.write_text("source,target,weight\n0,1,-2.5\n1,2,0\n2,0,7\n")
    assert facts_of(capsys, str(edges), "-k", "3")["total"] == 1


@pytest.mark.parametrize(
    "text", ["3,3,u,x\n1,2\n2,3\n1,3\n", "t 3 3\nv 0 9 2\nv 1 9 2\nv 2 9 2\ne 0 1\ne 1 2\ne 0 2\n"]
)
def test_formats_without_weights(text, tmp_path, capsys):
    path = tmp_path / "a"
    path.write_text(text)
    assert facts_of(capsys, str(path), "-k", "3")["total"] == 1


def test_days_of_work(friends, capsys, monkeypatch):
    monkeypatch.setattr(planning, "MAX_SECONDS", 0.0)
    words = complaint(capsys, friends, "-k", "4", "--method", "dfs")
    assert "by dfs on cpu should take about 0 seconds" in words and "--yes" in words and "--estimate" in words
    assert facts_of(capsys, friends, "-k", "4", "--method", "dfs", "--yes")["total"] == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "cycles of which length? give --length"),
        (("-k", "2"), "--length 2 must be a whole number, 3 or more"),
        (("-k", "3", "--schedule", "magic"), "--schedule magic is unknown; use one of auto, static"),
        (("-k", "3", "--method", "magic"), "Invalid value for '--method'"),
        (("-k", "3", "--device", "cpu", "--devices", "cpu:0"), "give one of the two"),
        (("-k", "3", "-o", "counts.gr"), "the suffix is of no format to write"),
        (("-k", "3", "--plot", "counts.txt"), "pictures are not written as 'txt'"),
        (("-k", "3", "--samples", "7"), "--samples is for --estimate"),
        (("-k", "3", "--seed", "7"), "--seed is for --estimate"),
        (("-k", "3", "--confidence", "0.95"), "--confidence is for --estimate"),  # its default
        (("-k", "3", "--estimate", "--confidence", "95"), "--confidence 95.0 must be a share"),
        (("-k", "3", "--estimate", "--schedule", "static"), "--schedule has no meaning with --estimate"),
        (("--clustering", "--yes"), "--yes has no meaning with --clustering"),
        (("-k", "3", "--estimate", "--clustering"), "are two jobs"),
        (("-k", "3", "--estimate", "--verify"), "--verify has no meaning with --estimate"),
        (("-k", "4", "--clustering"), "--clustering counts triangles; leave out --length"),
        (("--clustering", "--count-directions"), "--count-directions has no meaning with --clustering"),
    ],
)
def test_options_that_do_not_go_together(options, words, friends, capsys):
    assert words in complaint(capsys, friends, *options)
    assert [path.name for path in Path().iterdir()] == ["friends.csv"]


def test_clustering(friends, terminal, tmp_path):
    assert run(["cycles", friends, "--clustering"]) == 0
    out = terminal.readouterr().out
    assert out.splitlines()[1].split() == ["ann", "2", "0.3333333333333333"]
    assert "average clustering 0.6, transitivity 0.5455; read" in out
    facts = facts_of(terminal, friends, "--clustering", "-o", "clustering.csv")
    assert (facts["average"], facts["transitivity"]) == (pytest.approx(0.6), pytest.approx(6 / 11))
    assert pyarrow.csv.read_csv("clustering.csv")["triangles"].to_pylist() == [2, 1, 2, 1, 0]


def test_estimates(friends, capsys):
    facts = facts_of(capsys, friends, "-k", "3", "--estimate", "--samples", "5000")
    assert facts["low"] <= 2 <= facts["high"] and facts["samples"] == 5000
    assert run(["cycles", friends, "-k", "3", "--estimate"]) == 0
    assert "5 vertices, 8 edges: about 2 cycles of length 3, " in capsys.readouterr().out
    assert run(["cycles", friends, "-k", "3", "--estimate", "-q"]) == 0
    total, low, high = map(float, capsys.readouterr().out.split())
    assert total == pytest.approx(2, abs=0.2) and low <= 2 <= high
    chosen = ("--seed", "3", "--confidence", "0.9", "--samples", "50")
    facts = facts_of(capsys, friends, "-k", "3", "--estimate", *chosen)
    assert (facts["seed"], facts["confidence"], facts["samples"]) == (3, 0.9, 50)
    facts = facts_of(capsys, friends, "-k", "2000", "--estimate")
    assert (facts["total"], facts["low"], facts["high"]) == (0, 0, 0)


def test_large_estimates_are_short_and_finite(tmp_path, capsys):
    path = tmp_path / "clique.csv"
    path.write_text("a,b\n" + "".join(f"{i},{j}\n" for i in range(60) for j in range(i)))
    asked = (str(path), "-k", "15", "--estimate", "--samples", "2000")
    assert run(["cycles", *asked]) == 0
    words = capsys.readouterr().out
    assert re.search(
        r"about [\d.]+e\d+ cycles of length 15, [\d.]+(e\d+)? to [\d.]+e\d+ with 95% conf", words
    )
    facts = facts_of(capsys, *asked)
    assert 0 <= facts["low"] <= facts["total"] <= facts["high"] < float("inf")


def test_methods_are_checked_before_the_file_is_read(capsys):
    words = complaint(capsys, "nofile", "-k", "5", "--method", "triangles")
    assert "method triangles does not count cycles of length 5; use auto or pentagons" in words


def test_help_is_silent_about_weights(capsys):
    assert run(["cycles", "--help"]) == 0
    out = capsys.readouterr().out
    assert "--weight" not in out and "--target" in out
