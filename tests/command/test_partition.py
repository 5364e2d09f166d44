"""``edgewise partition`` and ``partition-eval``: a graph in, parts and a report out; mistakes in one line."""

import json

import numpy as np
import pytest

import edgewise as ew
from edgewise.command import run


@pytest.fixture
def mesh(tmp_path, monkeypatch):
    """A small mesh in METIS' format, in an otherwise empty working folder."""
    monkeypatch.chdir(tmp_path)
    ew.write(ew.generate.grid(8, 8), "mesh.graph")
    return "mesh.graph"


def complaint(capsys, *arguments):
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    return err


def test_writes_parts_and_a_report(mesh, capsys):
    assert run(["partition", mesh, "4", "--seed", "1", "-o", "mesh.graph.part.4", "--verify"]) == 0
    out = capsys.readouterr().out.splitlines()
    parts = np.loadtxt("mesh.graph.part.4", int)
    assert np.bincount(parts).tolist() == [16] * 4
    cut = ew.evaluate_partition(ew.read(mesh), parts).edge_cut
    assert out[0].split() == ["edge", "cut", str(cut)]
    assert out[-1].startswith(f"64 vertices, 112 edges: 4 parts, cut {cut}, imbalance 0.00 %; read ")
    assert run(["partition-eval", mesh, "mesh.graph.part.4"]) == 0
    again = capsys.readouterr().out.splitlines()
    assert again[:-1] == out[:-1]


def test_json(mesh, capsys):
    assert run(["partition", mesh, "2", "--report", "json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["vertices"], facts["parts"], facts["empty_parts"]) == (64, 2, 0)
    assert run(["partition", mesh, "2", "-q", "-o", "parts.csv"]) == 0
    np.savetxt("again.part", ew.partition(ew.read(mesh), 2).parts, "%d")
    assert run(["partition-eval", mesh, "again.part", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["edge_cut"] == facts["edge_cut"]


@pytest.mark.interpreter
def test_contiguous_parts(tmp_path, capsys):
    graph = ew.Graph.from_edges([0, 2, 4], [1, 3, 5])
    ew.write(graph, tmp_path / "pairs.graph")
    command = ["partition", str(tmp_path / "pairs.graph"), "2", "--imbalance", "0.5"]
    assert run([*command, "--report", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["contiguous_parts"] < 2
    assert "its parts cannot all be contiguous" in complaint(capsys, *command, "--contiguous")
    ew.write(ew.generate.grid(1, 9), tmp_path / "path.graph")
    assert run(["partition", str(tmp_path / "path.graph"), "3", "--contiguous", "--report", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["contiguous_parts"] == 3


def test_files_of_numbers(mesh, capsys):
    np.savetxt("shares", [3, 1])
    np.savetxt("start", np.arange(64) % 2, "%d")
    how = ["--target-weights", "shares", "--initial", "start", "--tries", "2", "--json"]
    assert run(["partition", mesh, "2", *how]) == 0
    assert json.loads(capsys.readouterr().out)["min_part_weight"] <= 17


@pytest.mark.interpreter
def test_a_table_of_parts_is_read_again(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ring.csv").write_text("source,target\na,b\nb,c\nc,d\nd,a\n")
    for table in ("parts.parquet", "parts.csv"):
        assert run(["partition", "ring.csv", "2", "-o", table]) == 0
        measured = capsys.readouterr().out.splitlines()[:-1]
        assert run(["partition-eval", "ring.csv", table]) == 0
        assert capsys.readouterr().out.splitlines()[:-1] == measured
        assert run(["partition", "ring.csv", "2", "--initial", table, "-q"]) == 0
        capsys.readouterr()
    (tmp_path / "some.csv").write_text("id,part\nb,1\na,0\nc,0\n")
    assert "some.csv: has no part of 0 or more for vertex 'd'" in complaint(
        capsys, "partition-eval", "ring.csv", "some.csv"
    )
    (tmp_path / "other.csv").write_text("id,cluster\na,0\n")
    assert "has no column 'part'" in complaint(capsys, "partition-eval", "ring.csv", "other.csv")
    (tmp_path / "plain.csv").write_text("0\n0\n1\n1\n")
    assert run(["partition-eval", "ring.csv", "plain.csv"]) == 0


def test_picture(mesh, tmp_path):
    pytest.importorskip("matplotlib")
    graph = ew.read(mesh)
    ew.partition(graph, 4).plot(tmp_path / "parts.png", np.argwhere(np.ones((8, 8))))
    assert run(["partition", mesh, "4", "-q", "--plot", "weights.svg"]) == 0
    assert all((tmp_path / name).stat().st_size > 1000 for name in ("parts.png", "weights.svg"))


def test_mistakes_in_one_line(mesh, capsys, tmp_path):
    for words, problem in (
        (["partition", mesh, "0"], "greater than or equal to 1"),
        (["partition", mesh, "2", "--preset", "stron"], "did you mean strong"),
        (["partition", mesh, "2", "--imbalance", "-1"], "--imbalance -1.0 must be a number of 0 or more"),
        (["partition", mesh, "2", "-o", "nowhere/mesh.part"], "does not exist"),
        (["partition", mesh, "2", "--initial", "absent"], "absent: cannot be read"),
        (["partition", mesh, "2", "--initial", mesh], "is not a whole number"),
        (["partition-eval", mesh, "short"], "short: has 2 numbers, one a line; 64 are needed"),
    ):
        (tmp_path / "short").write_text("0\n1\n")
        assert problem in complaint(capsys, *words)
    (tmp_path / "one-way.graph").write_text("3 2\n2\n\n2\n")
    assert "one-way.graph" in complaint(capsys, "partition", "one-way.graph", "2")
