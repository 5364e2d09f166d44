"""``generate``, ``convert``, ``info`` and ``warmup``."""

import json
import os
from dataclasses import replace
from importlib import import_module
from inspect import signature

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import edgewise as ew
from edgewise import tuning, warm
from edgewise.command import run
from edgewise.device import ahead, numba_internals
from edgewise.paths.apsp import METHODS as APSP
from edgewise.paths.bfs import METHODS as BFS
from edgewise.paths.sssp import METHODS as SSSP
from edgewise.warm import TAKEN
from tests.kernels import needed


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


def test_a_graph_is_not_written_over_its_file(tmp_path, capsys):
    edges = tmp_path / "edges.csv"
    edges.write_text("a,b\nb,c\n")
    assert run(["convert", str(edges), str(edges)]) == 2
    assert "input" in capsys.readouterr().err and edges.read_text() == "a,b\nb,c\n"


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
    assert facts["memory_bytes"] > 2**20 and facts["cores"] >= 1
    assert isinstance(facts["gpus"], list) and bool(facts["gpus"]) == (facts["gpu_reason"] is None)
    names = [line.split()[0] for line in text.splitlines()]
    plain = [name for name in facts if "_" not in name and name not in ("gpus", "kernels", "limits")]
    limits = [one["name"] for one in facts["limits"]]
    assert names == [*plain, "memory", "memory", "gpus", "kernels", "package", "limits", *limits]
    assert "None" not in text and "[" not in text


@pytest.mark.simulator
def test_info_in_the_simulator(capsys, monkeypatch):
    from edgewise.device import arrays

    monkeypatch.setattr(arrays, "SIMULATED", True)
    assert run(["info"]) == 0
    assert "cuda:0 simulated GPU, " in capsys.readouterr().out


def test_info_about_several_gpus(capsys, monkeypatch):
    from edgewise.command import info

    gpus = [{"index": number, "name": "NVIDIA H100", "memory_bytes": 80 * 2**30} for number in range(3)]
    near = [[0, 1], [1, 0], [1, 2], [2, 1]]
    facts = info.machine() | {"gpus": gpus, "gpu_reason": None, "peer_access": near}
    monkeypatch.setattr(info, "machine", lambda: facts)
    assert run(["info"]) == 0
    text = capsys.readouterr().out
    assert "  cuda:0 NVIDIA H100, 80 GiB; cuda:1 NVIDIA H100, 80 GiB; cuda:2" in text
    assert "; no access: cuda:0 of cuda:2, cuda:2 of cuda:0\n" in text
    facts["peer_access"] = [*near, [0, 2], [2, 0]]
    assert run(["info"]) == 0
    assert "; all read each other's memory\n" in capsys.readouterr().out


def test_info_about_a_file(pairs, capsys):
    columns = ["--source", "left_id", "--target", "right_id"]
    assert run(["info", str(pairs), *columns, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["vertices"], facts["edges"], facts["directed"]) == (7, 5, False)
    assert (facts["self_loops"], facts["isolated_vertices"], facts["largest_degree"]) == (0, 0, 2)
    assert (facts["ids"], facts["weights"]) == ("string", None)
    assert run(["info", str(pairs), *columns]) == 0
    lines = [line.split("  ", 1) for line in capsys.readouterr().out.splitlines()]
    words = {name: value.strip() for name, value in lines}
    assert len(words) == len(facts)
    assert (words["weights"], words["self-loops"], words["mean degree"]) == ("none", "0", "1.429")


@pytest.mark.interpreter
def test_info_counts_no_sink_of_a_directed_graph_as_isolated(tmp_path, capsys):
    path = tmp_path / "links.npz"
    ew.write(ew.Graph.from_edges([0, 0], [1, 2], n_vertices=4, directed=True), path)
    assert run(["info", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["isolated_vertices"] == 1


@pytest.fixture
def few_scattered(monkeypatch):
    """The list with scattered ids, the path and the graphs of usual sizes, which take minutes, are small."""
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, components_cached=1 << 10, paths_alone=1 << 6))
    for name, small in (("SCALE", 4), ("ROWS", 8), ("MANY", 4), ("LARGE", 4), ("SIDE", 8), ("BROAD", 8)):
        monkeypatch.setattr(warm, name, small)


@pytest.mark.interpreter
@pytest.mark.parametrize("words", [[], ["--paths", "--cores"]])
def test_warmup_shares_the_kernels_of_its_options(words, monkeypatch):
    found = []
    options = {f"--{one.name}" for one in signature(ew.warmup).parameters.values() if one.default is False}
    import_module("edgewise.command.warmup")  # which reads the options of the function
    monkeypatch.setattr(ahead, "share", lambda numbers, needed: found.append((numbers, needed)))
    monkeypatch.setattr(ew, "warmup", lambda **options: None)
    assert run(["warmup", "--device", "cpu", "--quiet", *words]) == 0
    ((numbers, needed),) = found
    assert {ahead.runs()[number]["words"][1] for number in numbers} == ({*words} or options)
    texts = [*map(json.dumps, needed)]
    assert len({*texts}) == len(texts) > 10


@pytest.mark.interpreter
@pytest.mark.usefixtures("few_scattered")
@pytest.mark.skipif("NUMBA_DISABLE_JIT" not in os.environ, reason="compiles for minutes")
def test_warmup_of_searches(capsys):
    for where, names in TAKEN.items():
        for name in names:
            assert any(where in table[name].devices for table in (BFS, SSSP, APSP) if name in table)
    assert run(["warmup", "--paths", "--device", "cpu", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["device"] == "cpu"


@pytest.mark.interpreter
@pytest.mark.usefixtures("few_scattered")
@pytest.mark.skipif("NUMBA_DISABLE_JIT" not in os.environ, reason="compiles for minutes")
def test_warmup_of_cycles(capsys):
    assert run(["warmup", "--cycles", "--device", "cpu", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["device"] == "cpu"


@pytest.mark.interpreter
@pytest.mark.usefixtures("few_scattered")
@pytest.mark.skipif("NUMBA_DISABLE_JIT" not in os.environ, reason="compiles for a minute")
def test_warmup_of_forests(capsys):
    assert run(["warmup", "--forests", "--device", "cpu", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["device"] == "cpu"


@pytest.mark.interpreter
@pytest.mark.usefixtures("few_scattered")
@pytest.mark.skipif("NUMBA_DISABLE_JIT" not in os.environ, reason="compiles for a minute")
def test_warmup_of_partitions(capsys, monkeypatch):
    called, partitions = [], import_module("edgewise.partitions")
    own = partitions.partition
    monkeypatch.setattr(
        partitions, "partition", lambda graph, k, **how: called.append(how) or own(graph, k, **how)
    )
    assert run(["warmup", "--partitions", "--device", "cpu", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["device"] == "cpu" and len(called) == 9


@pytest.mark.interpreter
@pytest.mark.usefixtures("few_scattered")
@pytest.mark.skipif("NUMBA_DISABLE_JIT" not in os.environ, reason="compiles for a minute")
def test_warmup_of_cores(capsys, monkeypatch):
    called, own = [], ew.core_numbers
    monkeypatch.setattr(
        "edgewise.cores.core_numbers", lambda *of, **how: called.append(how) or own(*of, **how)
    )
    for words, count in (["--components"], 0), (["--cores"], 1):
        assert run(["warmup", *words, "--device", "cpu", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["device"] == "cpu" and bool(called) == bool(count)


@pytest.mark.release
@pytest.mark.skipif(not numba_internals.HAS_CACHE, reason="private names of Numba say what is needed")
def test_warmup_leaves_nothing_to_compile(tmp_path):
    """What commands need afterwards is among what ``warmup`` compiles, or loads where it is there."""
    command = "from edgewise.command import run; run(sys.argv[1:])"
    there, out = needed(command, "warmup", "--components", "--device", "cpu", "--json", cwd=tmp_path)
    assert json.loads(out)["device"] == "cpu"
    (tmp_path / "pairs.csv").write_text("a,b\nx,y\ny,z\n")
    (tmp_path / "people.csv").write_text("id,n\nz,1\nx,2\ny,3\n")

    def components_by(file, *words):
        given = "components", file, *words, "-o", "table.parquet", "--device", "cpu", "--json"
        kernels, out = needed(command, *given, cwd=tmp_path)
        assert kernels <= there
        return json.loads(out)["components"], kernels

    for words in ([], ["--name", "min"], ["--records", "people.csv", "--name", "min"]):
        assert components_by("pairs.csv", *words)[0] == 1
    ids = np.random.default_rng(1).integers(0, 2**40, (2, 2**18))  # no parents of neighbours are close
    names = np.char.add("x", ids.astype(str))
    for number, column in enumerate((ids, names)):
        file = tmp_path / f"{number}.parquet"
        pa.parquet.write_table(pa.table({"a": column[0], "b": column[1]}), file)
        components, kernels = components_by(file)
        assert components == 2**18 and kernels
