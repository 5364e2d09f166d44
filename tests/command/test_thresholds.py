"""``edgewise components --thresholds`` and ``--max-size``, ``edgewise why``: tables, facts, mistakes."""

import json
from pathlib import Path

import pyarrow.parquet
import pytest

from edgewise.command import run


def complaint(capsys, *arguments):
    assert run(list(map(str, arguments))) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    return err


def test_table_and_summary_on_a_terminal(pairs, terminal):
    assert run(["components", "pairs.csv", "--thresholds", "0.4,0.95"]) == 0
    lines = terminal.readouterr().out.splitlines()
    assert lines[0].split() == ["id", "cluster_0.4", "cluster_0.95"]
    assert [line.split() for line in lines[-4:-1]] == [
        ["threshold", "edges", "components", "largest"],
        ["0.4", "5", "2", "5"],
        ["0.95", "3", "4", "2"],
    ]
    assert "2 to 4 components at 2 thresholds, the largest of 5 to 2, along 'score'; read" in lines[-1]


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl", "arrow", "tsv.gz"])
def test_every_format(pairs, capsys, suffix):
    assert run(["components", "pairs.csv", "--thresholds", "0.9", "-o", f"t.{suffix}", "--verify"]) == 0
    out = capsys.readouterr().out
    assert "3 components, the largest of 3" in out and "verified" in out
    if suffix == "parquet":
        table = pyarrow.parquet.read_table("t.parquet")
        assert table.column_names == ["id", "cluster_0.9"] and table.num_rows == 7


def test_records_and_conditions(pairs, tmp_path, capsys):
    (tmp_path / "people.csv").write_text("id,age\n" + "".join(f"{name},1\n" for name in IDS))
    how = ["--records", "people.csv", "--where", "score < 0.99", "--thresholds", "0.4,0.96"]
    assert run(["components", "pairs.csv", *how, "--name", "min", "--quiet", "--min-size", "2"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "id,age,cluster_0.4,cluster_0.96",
        *[f"{name},1,ann,{'ann' if name == 'anne' else name}" for name in IDS[:5]],
    ]


IDS = ["ann", "anne", "anna", "bob", "rob", "carl", "karl", "zoe"]


def test_facts_and_the_summary_beside_a_table_on_standard_output(pairs, capsys):
    assert run(["components", "pairs.csv", "--thresholds", "0.4,0.95", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["thresholds"][1] == {"threshold": 0.95, "edges": 3, "components": 4, "largest": 2}
    assert facts["method"] == "rem" and facts["max_size"] is None
    assert run(["components", "pairs.csv", "--thresholds", "0.95", "-o", "-"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("id,cluster_0.95\n") and "threshold  edges" in err


def test_files_of_graphs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.txt").write_text("1 2 5\n2 3 3\n4 5 1\n")
    (tmp_path / "graph.gr").write_text("p sp 3 4\na 1 2 5\na 2 1 5\na 2 3 3\na 3 2 3\n")
    for name, counts in (("rows.txt", [3, 4]), ("graph.gr", [1, 2])):
        assert run(["components", name, "--thresholds", "3,4", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)["thresholds"]
        assert [row["components"] for row in found] == counts


def test_clusters_of_bounded_size(pairs, capsys):
    how = ["--threshold", "0.4", "--name", "min", "-o", "parts.csv"]
    assert run(["components", "pairs.csv", "--max-size", "3", *how, "--verify"]) == 0
    assert "3 components, the largest of 3 (1 edge cut), along 'score'; read" in capsys.readouterr().out
    assert run(["components", "pairs.csv", "--max-size", "3", "--top", "1", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["max_size"], facts["cut"], facts["largest"]) == (3, 1, 3)
    how = ["--thresholds", "0.4,0.95", "--max-size", "2", "--json"]
    assert run(["components", "pairs.csv", *how]) == 0
    rows = json.loads(capsys.readouterr().out)["thresholds"]
    assert [(row["components"], row["largest"]) for row in rows] == [(4, 2), (4, 2)]


def test_bounded_size_on_several_devices(pairs, capsys):
    how = ["components", "pairs.csv", "--max-size", "3", "--name", "min"]
    assert run([*how, "-o", "one.csv"]) == 0
    assert run([*how, "--devices", "cpu:0,cpu:1", "--verify", "-o", "two.csv"]) == 0
    assert ", cpu:0, cpu:1)" in capsys.readouterr().out
    assert Path("one.csv").read_text() == Path("two.csv").read_text()


def test_mistakes(pairs, tmp_path, capsys):
    (tmp_path / "plain.csv").write_text("a,b\n1,2\n")
    (tmp_path / "nan.csv").write_text("a,b,score\nx,y,nan\ny,z,0.5\n")
    for options, problem in (
        (["--thresholds", "0.9,0.8"], "--thresholds must ascend, but 0.8 comes after 0.9"),
        (["--thresholds", "0.9,x"], "holds 'x', which is no number"),
        (["--thresholds", "0.9,"], "holds '', which is no number"),
        (["--thresholds", "nan"], "holds nan"),
        (["--thresholds", "inf"], "no number"),
        (["--thresholds", "0.9", "--threshold", "0.8"], "--threshold and --thresholds"),
        (["--thresholds", "0.9", "--weight", "score"], "name their column with --score"),
        (["--thresholds", "0.9", "--top", "3"], "--top is of one threshold"),
        (["--max-size", "3", "--stream"], "--max-size needs all pairs in memory"),
        (["--thresholds", "0.9", "--max-size", "3", "--stream"], "needs all pairs in memory"),
        (["--thresholds", "0.9", "--scheduler", "local:2"], "--thresholds needs all ids in one process"),
        (["--thresholds", "0.9", "--stream", "--checkpoint", "c"], "--thresholds are not saved"),
        (["--thresholds", "0.9", "--stream", "--verify"], "--verify needs all pairs in memory"),
        (
            ["--thresholds", "0.9", "--update", "old.csv"],
            "--thresholds needs all pairs, not those of an update",
        ),
        (["--thresholds", "0.9", "--method", "hook"], "--method hook"),
        (["--thresholds", "0.9", "--devices", "cpu:0,cpu:1"], "on one device"),
        (["--max-size", "3", "--method", "rem"], "--method rem is not for --max-size"),
        (
            ["--max-size", "3", "--devices", "cpu:0,cpu:1", "--merge", "ranges"],
            "--merge is not for --max-size, which cuts a spanning forest",
        ),
        (["--max-size", "0"], "max-size"),
    ):
        assert problem in complaint(capsys, "components", "pairs.csv", *options)
    assert "no column of scores" in complaint(capsys, "components", "plain.csv", "--thresholds", "0.9")
    assert "no column of scores" in complaint(capsys, "components", "plain.csv", "--max-size", "9")
    wrong = complaint(capsys, "components", "nan.csv", "--max-size", "9")
    assert "edge 0 between 'x' and 'y' weighs NaN" in wrong


def test_why(pairs, capsys):
    assert run(["why", "pairs.csv", "anna", "rob"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "source,target,weight",
        "anna,anne,0.91",
        "anne,ann,0.97",
        "ann,bob,0.4",
        "bob,rob,0.95",
    ]
    assert "anna and rob are together by 4 edges, the weakest between ann and bob; they part above 0.4" in err
    assert run(["why", "pairs.csv", "anna", "rob", "--score", "score", "--threshold", "0.3", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["threshold"] == 0.4 and len(facts["path"]) == 4
    assert "output" in facts and "plot" not in facts
    assert facts["weakest"] == {"source": "ann", "target": "bob", "weight": 0.4}


def test_why_of_distances_between_integers(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "roads.csv").write_text("a,b,km\n10,20,5\n20,30,2\n10,30,9\n")
    how = ["--weight", "km", "--minimum", "-o", "path.parquet"]
    assert run(["why", "roads.csv", "10", "30", *how]) == 0
    assert "they part below 5" in capsys.readouterr().out
    assert pyarrow.parquet.read_table("path.parquet")["weight"].to_pylist() == [5, 2]
    assert "its ids are integers" in complaint(capsys, "why", "roads.csv", "x", "10", "--weight", "km")
    assert "no column of scores" in complaint(capsys, "why", "roads.csv", "10", "20")


def test_mistakes_of_why(pairs, capsys):
    assert "no path joins 'ann' and 'carl'" in complaint(capsys, "why", "pairs.csv", "ann", "carl")
    assert "vertex 'zoe' is not in the graph" in complaint(capsys, "why", "pairs.csv", "ann", "zoe")
    assert "--undirected" in complaint(capsys, "why", "pairs.csv", "ann", "bob", "--directed")
