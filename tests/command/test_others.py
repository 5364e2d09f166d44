"""``generate``, ``convert``, ``info`` and ``warmup``."""

import json
import os
import subprocess
import sys

import pyarrow.parquet
import pytest

import edgewise as ew
from edgewise.command import run
from edgewise.paths.apsp import METHODS as APSP
from edgewise.paths.bfs import METHODS as BFS
from edgewise.paths.sssp import METHODS as SSSP
from edgewise.warm import TAKEN


def test_generate_writes_the_graph_that_python_makes(tmp_path, capsys):
    output = tmp_path / "grid.gr"
    assert run(["generate", "grid", "6", "--columns", "7", "-o", str(output), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    graph = ew.generate.grid(6, 7)
    assert (facts["vertices"], facts["edges"]) == (graph.n_vertices, graph.n_edges) == (42, 71)
    assert ew.read(output).n_edges == 71


def test_generate_with_weights(tmp_path, capsys):
    output = tmp_path / "roads.mtx"
    assert run(["generate", "grid", "6", "--weights", "2:9", "--seed", "4", "-o", str(output), "-q"]) == 0
    graph = ew.read(output)
    expected = ew.generate.with_weights(ew.generate.grid(6, seed=4), 2, 9, seed=4)
    assert sorted(graph.weights.tolist()) == sorted(expected.weights.tolist())
    assert run(["generate", "grid", "6", "--weights", "2-9", "-o", str(output)]) == 2
    assert "--weights '2-9' is not LOW:HIGH" in capsys.readouterr().err


def test_generate_pairs(tmp_path, capsys):
    output = tmp_path / "pairs.parquet"
    assert run(["generate", "pairs", "500", "--seed", "3", "-o", str(output)]) == 0
    assert pyarrow.parquet.read_table(output).equals(ew.generate.pairs(500, seed=3))
    assert capsys.readouterr().out.startswith("500 rows; made ")


def test_generate_from_a_graph(tmp_path, capsys):
    one, three = tmp_path / "one.npz", tmp_path / "three.npz"
    assert run(["generate", "grid", "5", "-o", str(one), "-q"]) == 0
    assert run(["generate", "replicate", str(one), "3", "-o", str(three), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["vertices"] == 75


@pytest.mark.parametrize(
    "family", [name for name in ew.generate.__all__ if callable(getattr(ew.generate, name))]
)
def test_every_family_has_help(family, capsys):
    assert run(["generate", family.replace("_", "-"), "--help"]) == 0
    out = capsys.readouterr().out
    assert "--output" in out
    assert "`" not in out


def test_generate_refuses_what_python_refuses(tmp_path, capsys):
    assert run(["generate", "rmat", "99", "-o", str(tmp_path / "x.npz")]) == 2
    assert capsys.readouterr().err.startswith("edgewise: scale=99 is out of range")
    assert list(tmp_path.iterdir()) == []


def test_convert(tmp_path, capsys):
    edges, metis = tmp_path / "edges.txt", tmp_path / "graph.graph"
    edges.write_text("0 1\n1 2\n3 4\n")
    assert run(["convert", str(edges), str(metis)]) == 0
    assert capsys.readouterr().out.startswith("5 vertices, 3 edges; read ")
    assert ew.read(metis).n_edges == 3


def test_switches_that_are_off(tmp_path, capsys):
    edges = tmp_path / "edges.txt"
    edges.write_text("0 1\n1 2\n3 4\n")
    assert run(["convert", str(edges), "--directed", str(tmp_path / "graph.graph")]) == 2
    assert capsys.readouterr().err.endswith("read the graph with --undirected\n")


def test_info_about_the_machine(capsys):
    assert run(["info"]) == 0
    text = capsys.readouterr().out
    assert run(["info", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["edgewise"] == ew.__version__
    assert facts["gpus"]
    assert [line.split()[0] for line in text.splitlines()] == list(facts)


def test_info_about_a_file(pairs, capsys):
    assert run(["info", str(pairs), "--source", "left_id", "--target", "right_id", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["vertices"], facts["edges"], facts["directed"]) == (7, 5, False)
    assert (facts["self-loops"], facts["isolated vertices"], facts["largest degree"]) == (0, 0, 2)


@pytest.mark.interpreter
@pytest.mark.skipif("NUMBA_DISABLE_JIT" not in os.environ, reason="compiles for minutes")
def test_warmup_of_searches(capsys):
    for where, names in TAKEN.items():
        for name in names:
            assert any(where in table[name].devices for table in (BFS, SSSP, APSP) if name in table)
    assert run(["warmup", "--paths", "--device", "cpu", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["device"] == "cpu"


@pytest.mark.interpreter
@pytest.mark.skipif("NUMBA_DISABLE_JIT" not in os.environ, reason="compiles for minutes")
def test_warmup_of_cycles(capsys):
    assert run(["warmup", "--cycles", "--device", "cpu", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["device"] == "cpu"


def test_warmup_leaves_nothing_to_compile(tmp_path):
    """A process after ``warmup`` gives no notice of compiling."""
    fresh = os.environ | {"EDGEWISE_CACHE_DIR": str(tmp_path / "kernels"), "EDGEWISE_QUIET": "0"}
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("a,b\nx,y\ny,z\n")

    def edgewise(*arguments):
        command = [sys.executable, "-m", "edgewise", *arguments, "--device", "cpu", "--json"]
        done = subprocess.run(command, env=fresh, capture_output=True, text=True, check=True)
        return json.loads(done.stdout), done.stderr

    facts, notice = edgewise("warmup")
    assert facts["device"] == "cpu"
    assert "compiling" in notice
    facts, notice = edgewise("components", str(pairs))
    assert facts["components"] == 1
    assert notice == ""
