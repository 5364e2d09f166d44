"""``edgewise paths``: a graph in, distances out; mistakes in one line, and no block lost at Ctrl-C."""

import json
from pathlib import Path

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest

from edgewise.command import run
from edgewise.command.path_jobs import Method
from edgewise.device.target import SIMULATED
from edgewise.paths.apsp import output, search
from edgewise.paths.bfs import METHODS as OF_EDGES
from edgewise.paths.measures import METHODS as OF_MEASURES
from edgewise.paths.sssp import METHODS as OF_WEIGHTS

ROADS = "from,to,km\na,b,2\nb,c,3\na,c,9\nc,d,1\nx,y,4\n"
DISTANCES = [
    [0, 2, 5, 6],
    [2, 0, 3, 4],
    [5, 3, 0, 1],
    [6, 4, 1, 0],
]


@pytest.fixture
def roads(tmp_path, monkeypatch):
    """A small file of weighted edges, in an otherwise empty working folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "roads.csv"
    path.write_text(ROADS)
    return str(path)


def facts_of(capsys, *arguments):
    assert run(["paths", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_shows_the_head_of_the_table_and_a_closing_line(roads, terminal):
    assert run(["paths", roads, "--source", "a", "--parents"]) == 0
    out, err = terminal.readouterr()
    lines = [line.split() for line in out.splitlines()]
    assert lines[:5] == [
        ["id", "distance", "parent"],
        ["a", "0", "-"],
        ["b", "2", "a"],
        ["c", "5", "b"],
        ["d", "6", "c"],
    ]
    assert out.splitlines()[-1].startswith(
        "6 vertices, 5 edges: 4 vertices reached from a, the furthest at 6, along 'km'; read "
    )
    assert err == ""


def test_paths_to_targets(roads, capsys):
    assert run(["paths", roads, "--source", "a", "--to", "d", "--to", "x"]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == ["d: 6 by a -> b -> c -> d", "x: no path"]
    assert run(["paths", roads, "--source", "a", "--to", "d", "--bfs", "--quiet"]) == 0
    assert capsys.readouterr().out == "d: 2 by a -> c -> d\n"
    assert run(["paths", roads, "--source", "a", "--to", "d", "--cutoff", "4", "--quiet"]) == 0
    assert capsys.readouterr().out == "d: no path of at most 4\n"


def test_a_target_of_negative_weights(roads, capsys):
    Path(roads).write_text("from,to,km\na,b,5\nb,c,-3\na,c,4\n")
    assert run(["paths", roads, "--directed", "--source", "a", "--to", "c", "--quiet"]) == 0
    assert capsys.readouterr().out == "c: 2 by a -> b -> c\n"
    assert run(["paths", roads, "--directed", "--source", "a", "--cutoff", "3"]) == 2
    assert "'b' to 'c' weighs -3" in capsys.readouterr().err


def test_json(roads, capsys):
    facts = facts_of(
        capsys, roads, "--source", "a", "--source", "x", "--to", "y", "--verify", "--threads", "2"
    )
    assert (facts["vertices"], facts["edges"], facts["reached"], facts["furthest"]) == (6, 5, 4, 4)
    assert (facts["sources"], facts["weighted"], facts["verified"]) == (["a", "x"], True, True)
    assert facts["paths"] == [{"to": "y", "distance": 4, "path": ["x", "y"]}]
    assert list(facts["seconds"]) == ["read", "compute", "verify"]


@pytest.mark.parametrize("ending", ("parquet", "csv"))
def test_writes_the_table(roads, ending, capsys, tmp_path):
    goal = tmp_path / f"distances.{ending}"
    assert run(["paths", roads, "--source", "b", "-o", str(goal)]) == 0
    reader = pyarrow.parquet.read_table if ending == "parquet" else pyarrow.csv.read_csv
    assert reader(goal).to_pydict() == {"id": ["a", "b", "c", "d"], "distance": [2, 0, 3, 4]}
    assert f"-> {goal}" in capsys.readouterr().out


def test_every_method_can_be_asked_for():
    assert {method.value for method in Method.__origin__} == {"auto", *OF_EDGES, *OF_WEIGHTS, *OF_MEASURES}


@pytest.mark.parametrize(("method", "more", "furthest"), [("bellman-ford", [], 6), ("harish", ["--bfs"], 2)])
def test_a_method(roads, method, more, furthest, capsys):
    facts = facts_of(capsys, roads, "--source", "a", "--method", method, "--device", "cpu", *more)
    assert (facts["method"], facts["reached"], facts["furthest"]) == (method, 4, furthest)


def test_integer_ids_and_one_that_is_not_there(tmp_path, capsys):
    edges = tmp_path / "edges.txt"
    edges.write_text("17 3\n3 42\n")
    assert run(["paths", str(edges), "--source", "17", "--to", "42", "--bfs", "-q"]) == 0
    assert capsys.readouterr().out == "42: 2 by 17 -> 3 -> 42\n"
    assert run(["paths", str(edges), "--source", "18", "--bfs"]) == 2
    assert capsys.readouterr().err == "edgewise: vertex 18 is not in the graph\n"
    assert run(["paths", str(edges), "--source", "ann", "--bfs"]) == 2
    assert capsys.readouterr().err == "edgewise: vertex 'ann' is not in the graph: its ids are integers\n"


def test_all_pairs(roads, terminal):
    assert run(["paths", roads, "--all-pairs", "--source", "c"]) == 0
    lines = terminal.readouterr().out.splitlines()
    assert [line.split() for line in lines[:3]] == [
        ["source", "target", "distance"],
        ["c", "a", "5"],
        ["c", "b", "3"],
    ]
    assert lines[-1].startswith("6 vertices, 5 edges: 1 x 6 distances in int64, along 'km'; read ")
    facts = facts_of(terminal, roads, "--all-pairs", "-o", "d.npy", "--verify")
    assert (facts["shape"], facts["type"], facts["output"]) == ([6, 6], "int64", "d.npy")
    assert np.load("d.npy")[:4, :4].tolist() == DISTANCES
    assert facts_of(terminal, roads, "--all-pairs", "--bfs")["weighted"] is False


def test_measures(roads, terminal):
    assert run(["paths", roads, "--measures"]) == 0
    out = terminal.readouterr().out
    assert out.splitlines()[0].split() == ["id", "eccentricity", "closeness", "harmonic"]
    assert "diameter inf, radius inf, center none" in out
    with open(roads, "a") as file:
        file.write("d,x,1\n")
    facts = facts_of(terminal, roads, "--measures", "-o", "measures.parquet")
    assert (facts["diameter"], facts["radius"], facts["center"]) == (11, 6, ["c", "d"])
    assert len(pyarrow.parquet.read_table("measures.parquet")) == 6


@pytest.fixture
def chain(tmp_path, monkeypatch):
    """A file whose matrix has five blocks, in an otherwise empty working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(search, "BLOCK_ROWS", 8)
    path = tmp_path / "chain.txt"
    path.write_text("".join(f"{vertex} {vertex + 1}\n" for vertex in range(39)))
    return str(path)


def test_ctrl_c_keeps_finished_blocks_and_a_rerun_goes_on(chain, capsys, tmp_path, monkeypatch):
    put, written = output.RowFile.put, []

    def until_the_third(self, block, values):
        if block == 2 and not written.count(2):
            written.append(2)
            raise KeyboardInterrupt
        written.append(block)
        put(self, block, values)

    monkeypatch.setattr(output.RowFile, "put", until_the_third)
    command = ["paths", chain, "--all-pairs", "-o", "d.npy"]
    assert run(command) == 130
    out, err = capsys.readouterr()
    assert (out, err.splitlines()) == (
        "",
        [
            "edgewise: 2 of 5 blocks of d.npy are kept; repeat the command to continue",
            "edgewise: interrupted",
        ],
    )
    assert not (tmp_path / "d.npy").exists()
    assert run(command) == 0
    assert written == [0, 1, 2, 2, 3, 4]
    vertices = np.arange(40)
    assert (np.load("d.npy") == abs(vertices - vertices[:, None])).all()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["chain.txt", "d.npy"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "--all-pairs"),
        (["--source", "q"], "'q'"),
        (["--source", "a", "--to", "q"], "'q'"),
        (["--source", "a", "--weight", "miles"], "--source-column"),
        (["--source", "a", "--source-column", "from"], "--target-column"),
        (["--source", "a", "--method", "top-down"], "delta-stepping"),
        (["--source", "a", "--method", "guess"], "dijkstra"),
        (["--source", "a", "--bfs", "--method", "dijkstra"], "top-down"),
        (["--source", "a", "--bfs", "--dtype", "int64"], "int32"),
        (["--source", "a", "--dtype", "int8"], "--dtype"),
        (["--source", "a", "--cutoff", "-1"], "--cutoff"),
        (["--source", "a", "--cutoff", "nan"], "--cutoff"),
        (["--source", "a", "--cutoff", "nan", "--bfs"], "--cutoff"),
        (["--source", "a", "--devices", "cpu:0,cpu:1"], "--all-pairs"),
        (["--source", "a", "-o", "d.npy"], "d.npy"),
        (["--source", "a", "-o", "nowhere/d.csv"], "create it first"),
        (["--all-pairs", "-o", "d.csv"], ".zarr"),
        (["--all-pairs", "-o", "nowhere/d.npy"], "create it first"),
        (["--all-pairs", "--to", "b"], "--to"),
        (["--all-pairs", "--measures"], "two jobs"),
        (["--all-pairs", "--method", "dijkstra"], "floyd-warshall"),
        (["--all-pairs", "--device", "cpu", "--devices", "all"], "--devices"),
        (["--all-pairs", "--device", "cuda:57"], "cuda:57"),
        (["--measures", "--source", "a"], "--source"),
        (["--measures", "--cutoff", "3"], "--cutoff"),
    ],
)
def test_mistakes(roads, options, words, capsys, tmp_path):
    assert run(["paths", roads, *options]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert words in err
    assert [path.name for path in tmp_path.iterdir()] == ["roads.csv"]


def test_a_graph_without_weights_names_the_ways_out(tmp_path, capsys):
    edges = tmp_path / "edges.csv"
    edges.write_text("a,b\nx,y\ny,z\n")
    assert run(["paths", str(edges), "--source", "x"]) == 2
    err = capsys.readouterr().err
    assert err == (
        f"edgewise: {edges} has no weights; count edges with --bfs, or name their column with --weight\n"
    )


@pytest.mark.parametrize(
    ("weights", "words"), [("-5,-5", "the cycle"), ("nan,1", "nan"), ("-inf,1", "weights are numbers")]
)
def test_weights_that_cannot_be(weights, words, tmp_path, capsys):
    one, other = weights.split(",")
    edges = tmp_path / "edges.csv"
    edges.write_text(f"a,b,w\nx,y,{one}\ny,z,{other}\n")
    assert run(["paths", str(edges), "--source", "x", "--device", "cpu"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert words in err


@pytest.mark.simulator
@pytest.mark.skipif(not SIMULATED, reason="needs the simulator's engine")
def test_on_the_simulated_gpu(roads, capsys):
    facts = facts_of(capsys, roads, "--source", "a", "--device", "cuda", "--verify", "--method", "harish")
    assert (facts["device"], facts["reached"], facts["threads"]) == ("cuda:0", 4, None)


@pytest.mark.gpu
def test_on_the_gpu(roads, capsys):
    facts = facts_of(capsys, roads, "--source", "a", "--device", "cuda", "--verify")
    assert (facts["device"], facts["furthest"]) == ("cuda:0", 6)
