"""``edgewise forest``: a weighted graph in, edges out; mistakes in one line."""

import json

import pyarrow.parquet
import pytest

from edgewise.command import run

PAIRS = "left,right,score\nann,bob,0.9\nbob,carl,0.4\nann,carl,0.8\ncarl,dora,0.7\neve,finn,0.95\n"


@pytest.fixture
def pairs(tmp_path, monkeypatch):
    """A small file of scored pairs, in an otherwise empty working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.csv").write_text(PAIRS)
    return "pairs.csv"


def complaint(capsys, *arguments):
    assert run(["forest", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    return err


def test_shows_the_edges_and_a_closing_line(pairs, terminal):
    assert run(["forest", pairs, "--weight", "score", "--maximum"]) == 0
    out, err = terminal.readouterr()
    lines = out.splitlines()
    assert [line.split() for line in lines[:-1]] == [
        ["source", "target", "weight"],
        ["ann", "bob", "0.9"],
        ["ann", "carl", "0.8"],
        ["carl", "dora", "0.7"],
        ["eve", "finn", "0.95"],
    ]
    assert lines[-1].startswith(
        "6 vertices, 5 edges: 2 trees of the heaviest edges, 4 edges of weight 3.35, along 'score'; read "
    )
    assert err == ""


def test_writes_the_edges_and_a_picture(pairs, capsys, tmp_path):
    pytest.importorskip("matplotlib")
    how = ["--weight", "score", "--maximum", "-o", "forest.parquet", "--plot", "weights.svg", "--verify"]
    assert run(["forest", pairs, *how]) == 0
    table = pyarrow.parquet.read_table("forest.parquet")
    assert table.column("weight").to_pylist() == [0.9, 0.8, 0.7, 0.95]
    assert (tmp_path / "weights.svg").stat().st_size > 1000
    assert "verified" in capsys.readouterr().out


def test_facts(pairs, capsys):
    assert run(["forest", pairs, "--weight", "score", "--json", "--between", "bob", "carl", "--maximum"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["forest_edges"], facts["trees"], facts["maximum"]) == (4, 2, True)
    assert facts["path"] == {"source": ["bob", "ann"], "target": ["ann", "carl"], "weight": [0.9, 0.8]}
    assert run(["forest", pairs, "--weight", "score", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["weight"] == pytest.approx(2.85) and facts["maximum"] is False


def test_integers_between(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "roads.csv").write_text("a,b,km\n10,20,5\n20,30,2\n10,30,9\n")
    assert run(["forest", "roads.csv", "--between", "10", "30", "-q"]) == 0
    assert capsys.readouterr().out.split() == ["source,target,weight", "10,20,5", "20,30,2"]
    assert "integers" in complaint(capsys, "roads.csv", "--between", "ten", "30")
    assert "40" in complaint(capsys, "roads.csv", "--between", "10", "40")


def test_mistakes(pairs, tmp_path, capsys):
    assert "sounds like a score" in complaint(capsys, pairs)
    assert "different components" in complaint(capsys, pairs, "--maximum", "--between", "ann", "eve")
    (tmp_path / "plain.csv").write_text("a,b\n1,2\n")
    assert "no weights" in complaint(capsys, "plain.csv")
    assert "--undirected" in complaint(capsys, pairs, "--directed", "--weight", "score")
    (tmp_path / "nan.csv").write_text("a,b,km\nx,y,1.5\ny,z,nan\n")
    assert "NaN" in complaint(capsys, "nan.csv")


def test_several_devices_and_streams(pairs, capsys, tmp_path):
    how = ["--weight", "score", "--maximum", "-o"]
    for name, options in (
        ("one.csv", ["--device", "cpu"]),
        ("two.csv", ["--devices", "cpu:0,cpu:1"]),
        ("streamed.csv", ["--stream", "--device", "cpu", "--checkpoint", "so-far"]),
    ):
        assert run(["forest", pairs, *how, name, *options]) == 0
        assert (tmp_path / name).read_text() == (tmp_path / "one.csv").read_text()
        out = capsys.readouterr().out
        assert "2 trees of the heaviest edges, 4 edges of weight 3.35" in out
    assert "(kruskal, streamed from 1 file, " in out
    assert not (tmp_path / "so-far").exists()
    folder = tmp_path / "shards"
    folder.mkdir()
    (folder / "0.csv").write_text(PAIRS)
    (folder / "1.csv").write_text("left,right,score\ndora,eve,0.1\nbob,ann,2\n")
    assert run(["forest", "shards", "--stream", "--maximum", "--json", "--device", "cpu"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["forest_edges"], facts["files"], facts["edges"]) == (5, 2, 7)
    for wrong, words in (
        (["--checkpoint", "so-far"], "--checkpoint goes with --stream"),
        (["--stream", "--verify"], "--verify needs all pairs"),
        (["--stream", "--method", "kruskal"], "--method kruskal means nothing with --stream"),
        (["--stream", "--devices", "cpu:0,cpu:1"], "uses one device; use --device"),
        (["--stream", "--directed"], "--directed means nothing with --stream"),
        (["--stream", "--weight", "right"], "a column of ids"),
        (["--stream", "--weight", "gone"], "'gone' is not there"),
    ):
        assert words in complaint(capsys, pairs, *(["--maximum"] if "--weight" in wrong else how[:3]), *wrong)
