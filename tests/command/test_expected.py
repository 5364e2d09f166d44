"""What is known of a graph file before it is read, and that subcommands are refused then."""

import gzip
import json
import lzma
import sys
from contextlib import nullcontext

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import edgewise as ew
from edgewise import memory
from edgewise.command import PLANNED, expected, run
from edgewise.errors import EdgewiseWarning, OutOfMemoryError
from edgewise.streams import ways

pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]
VERTICES, EDGES = 400, 3000
#: Endings of files whose header says how large the graph is, and of those where that is estimated.
EXACT = ("npz", "mtx", "graph", "gr", "wsg")
ESTIMATED = ("txt", "csv", "txt.gz", "csv.xz", "csv.zst")
OPTIONS = {
    "components": [],
    "strong": ["--directed"],
    "cores": [],
    "paths": ["--source", "1"],
    "cycles": ["--length", "3"],
    "forest": [],
    "partition": ["4"],
}


@pytest.fixture(scope="module")
def graph():
    """Edges with weights, each once."""
    draw = np.random.default_rng(1)
    ends, weights = draw.integers(0, VERTICES, (2, EDGES)), draw.integers(1, 100, EDGES)
    whole = ew.Graph.from_edges(*ends, n_vertices=VERTICES, weights=weights)
    return whole.simplified(self_loops="drop", repeated="first")


@pytest.fixture(scope="module")
def files(graph, tmp_path_factory):
    """The graph in all formats, by ending."""
    folder = tmp_path_factory.mktemp("graphs")
    found = {end: str(folder / f"graph.{end}") for end in (*EXACT, "txt", "csv", "csv.zst")}
    for file in found.values():
        ew.write(graph, file)
    for end, pack in (("txt.gz", gzip.compress), ("csv.xz", lzma.compress)):
        found[end] = str(folder / f"graph.{end}")
        (folder / f"graph.{end}").write_bytes(pack((folder / f"graph.{end[:3]}").read_bytes()))
    found["rows"], found["scipy"] = str(folder / "rows.npz"), str(folder / "scipy.npz")
    rows = graph.offsets, graph.neighbours, graph.csr_weights
    ew.write(ew.Graph(VERTICES, rows=rows), found["rows"])
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.csr_array((rows[2], rows[1].astype(np.int32), rows[0]), (VERTICES, VERTICES))
    sparse.save_npz(found["scipy"], matrix)
    return found


@pytest.mark.parametrize("end", [*EXACT, "rows", "scipy"])
def test_headers_say_how_large_the_graph_is(graph, files, end):
    known = expected.expected([files[end]], {}, undirected=True)
    assert known.exact and known.graph.n_vertices == VERTICES and known.edges == graph.n_edges
    assert known.graph.is_weighted and known.reading > 8 * graph.n_edges
    need = expected.need_of(known, ("cores", {}))
    assert need.method == "peel" and need.bytes >= need.call > 0


@pytest.mark.parametrize("with_tables", [False, True])
@pytest.mark.parametrize("is_large", [False, True])
def test_what_the_program_needs_depends_on_what_it_loads(with_tables, is_large, graph, monkeypatch):
    monkeypatch.setattr(ways, "FEW", 1 if is_large else 10**9)
    need = expected.need_of(expected.Expected(graph, graph.n_edges, 1000, True, with_tables), None)
    program = ways.BASE + with_tables * ways.OF_TABLES if is_large else ways.WITHOUT_KERNELS
    arrays = graph.sources.nbytes + graph.targets.nbytes + graph.weights.nbytes
    assert need == (program + 1000, program + arrays, None)


@pytest.mark.parametrize("end", ESTIMATED)
def test_the_first_rows_of_texts_are_a_sample(graph, files, end):
    known = expected.expected([files[end]], {}, undirected=True)
    assert not known.exact and 0.8 < known.edges / graph.n_edges < 1.25
    assert 0.8 < known.graph.n_vertices / VERTICES < 1.25


@pytest.mark.parametrize("name", sorted(PLANNED))
def test_every_subcommand_is_planned_and_refused_before_it_reads(name, graph, files, capsys, monkeypatch):
    monkeypatch.setattr(ew, "read", lambda *_, **__: pytest.fail("the file is read"))
    words = [name, files["mtx"], *OPTIONS[name]]
    assert run(["plan", *words, "--memory", "1 TB"]) == 0
    lines = dict(line.split(None, 1) for line in capsys.readouterr().out.splitlines())
    assert lines["vertices"] == f"{VERTICES}" and lines["edges"] == f"{graph.n_edges:,}"
    assert lines["so"] == "the job fits"
    assert run(["plan", *words, "--memory", "1 MB", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert not facts["fits"] and facts["vertices"] == VERTICES and facts["method"]
    assert run([*words, "--memory", "1 MB", "--device", "cpu"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"edgewise: the job on {VERTICES} vertices and {graph.n_edges:,} edges needs 1")
    assert "--memory is 1 MB; give " in error


def test_what_is_only_known_after_reading(tmp_path, capsys):
    file = tmp_path / "a.gml"
    file.write_text("graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]")
    assert run(["plan", "cores", str(file)]) == 2
    assert "a.gml: does not say how large the graph is before it is read" in capsys.readouterr().err
    assert run(["cores", str(file), "--memory", "1 MB", "--device", "cpu"]) == 2
    assert "core_numbers() of 2 vertices needs" in capsys.readouterr().err


def test_commands_without_the_option_have_the_limit_of_the_machine(files, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(memory, "container_limits", lambda: [(1000, 1000)])
    monkeypatch.setattr(memory, "held", lambda: 0)
    for words in (["info"], ["convert"]):
        more = [str(tmp_path / "out.npz")] if words == ["convert"] else []
        assert run([*words, files["mtx"], *more]) == 2
        assert (
            "and the limit of the container is 1 KB, of which 1 KB are taken; use" in capsys.readouterr().err
        )
    assert not list(tmp_path.iterdir())


def test_an_estimate_that_fails_stops_no_call_but_is_seen(monkeypatch):
    import edgewise.cores

    def fail(graph, **_):
        raise TypeError("planted")

    graph = ew.generate.grid(5, 5)
    monkeypatch.setattr(edgewise.cores, "needs", fail)
    with pytest.warns(EdgewiseWarning, match=r"core_numbers\(\) needs in memory could not be .*planted"):
        assert ew.core_numbers(graph, memory="1 TB").largest == 2
    with pytest.raises(OutOfMemoryError):
        ew.bfs(graph, 0, memory=1)


@pytest.fixture(scope="module")
def grid():
    return ew.generate.grid(300, 150)


@pytest.mark.parametrize("end", ["txt", "csv", "strings.csv", "parquet", "strings.parquet"])
def test_files_in_the_order_of_ids_are_sampled_at_several_places(end, grid, tmp_path, monkeypatch):
    monkeypatch.setattr(ways, "SAMPLE", 1 << 12)
    graph, file = grid, str(tmp_path / f"grid.{end}")
    ends = [one.tolist() for one in (graph.sources, graph.targets)]
    if end == "txt":
        ew.write(graph, file)
    else:
        ends = [[f"r{vertex}" for vertex in one] for one in ends] if "strings" in end else ends
        table = pa.table(dict(zip(("left", "right"), ends)))
        parquet.write_table(table, file, row_group_size=1 << 13) if "parq" in end else ew.write(table, file)
    known = expected.expected([file], {}, undirected=True)
    assert not known.graph.is_weighted
    assert 0.93 < known.edges / graph.n_edges < 1.07
    assert 0.85 < known.graph.n_vertices / graph.n_vertices < 1.5  # places have few rows of a small file


def test_jobs_are_refused_with_a_margin(files, monkeypatch):
    need = expected.need_of(expected.expected([files["csv"]], {}, undirected=True), ("bfs", {"source": 0}))
    monkeypatch.setattr(memory, "held", lambda: 0)
    for part, fits in ((1.01, False), (ways.MARGIN + 0.01, True)):
        most = memory.MemoryLimit(int(part * need.bytes), 0, memory.GIVEN)
        monkeypatch.setattr(memory, "limit", lambda most=most: most)
        with memory.limited("1 TB"), nullcontext() if fits else pytest.raises(OutOfMemoryError):
            expected.check([files["csv"]], {}, ("bfs", {"source": 0}), undirected=True)


def test_rows_of_tables_are_counted_by_their_bytes(tmp_path):
    from edgewise.command.expected import pairs_in

    table = pa.table({"left": np.arange(5000), "right": np.arange(5000) + 10**6, "note": ["x" * 50] * 5000})
    for end in ("csv", "csv.gz"):
        ew.write(table, tmp_path / f"wide.{end}")
        known = pairs_in([str(tmp_path / f"wide.{end}")], {"source": "left", "target": "right"}, None)
        assert 0.9 < known.rows / 5000 < 1.1
        assert 0.9 < known.text_bytes / (tmp_path / "wide.csv").stat().st_size < 1.1


@pytest.mark.parametrize("end", ["npz", "wsg", "gr"])
def test_damaged_headers_are_told_by_reading(files, tmp_path, end, capsys):
    with open(files[end], "rb") as file:
        content = file.read()
    file = tmp_path / f"damaged.{end}"
    file.write_bytes(content[: len(content) // 2] if end == "npz" else content[:3] + b"9" * 30 + content[30:])
    assert run(["cores", str(file), "--memory", "1 TB", "--device", "cpu"]) == 2
    error = capsys.readouterr().err
    assert f"damaged.{end}" in error and error.count("\n") == 1


def test_a_compiler_that_finds_no_room_is_no_damaged_file(files, capsys, monkeypatch):
    def fail(*_):
        raise OSError("Could not find/load shared object file 'libllvmlite.so'")

    monkeypatch.setitem(expected.HEADERS, "mtx", fail)
    assert run(["cores", files["mtx"], "--memory", "1 TB", "--device", "cpu"]) == 2
    error = capsys.readouterr().err
    assert "the program needs more addresses than the limit of ulimit -v leaves; raise it by 300 MB" in error


def test_an_estimate_of_a_file_that_fails_stops_no_job_but_is_seen(files, capsys, monkeypatch):
    def fail(*_):
        raise KeyError("planted")

    monkeypatch.setitem(expected.HEADERS, "mtx", fail)
    assert run(["cores", files["mtx"], "--memory", "1 TB", "--device", "cpu", "-q"]) == 0
    assert (
        "in memory could not be estimated (KeyError('planted')); please report it" in capsys.readouterr().err
    )


@pytest.mark.parametrize("end", [*EXACT, "rows", "scipy", *ESTIMATED])
def test_of_damaged_files_nothing_is_known(end, files, tmp_path, recwarn):
    draw, file = np.random.default_rng(2), files[end]
    with open(file, "rb") as stream:
        content = stream.read()
    damaged = tmp_path / f"damaged{file[file.index('.', file.rindex('/')) :]}"
    for _ in range(10):
        changed = bytearray(content)
        place = draw.integers(0, min(len(changed), draw.choice([20, 200, 1 << 20])))
        if draw.random() < 0.5:
            changed[place : place + 1] = draw.choice([b"9" * 25, b"\n", b"-1 ", b"\xff"])
        else:
            del changed[place:]
        damaged.write_bytes(changed)
        known = expected.expected([str(damaged)], {}, undirected=True)
        assert known is None or known.edges >= 0
    assert not recwarn.list


def test_edge_lists_without_rows_or_columns_say_nothing(tmp_path):
    file = tmp_path / "graph.txt"
    for text, reading in (("# none\n", {}), ("1 2\n3 4\n", {"source": 5, "target": 6})):
        file.write_text(text)
        assert expected.expected([str(file)], reading, undirected=True) is None


def test_rows_that_do_not_fit_those_before_are_counted_too(tmp_path, capsys):
    file = tmp_path / "pairs.csv"
    rows = [*("," for _ in range(10_000)), "1,2", "3,1"]
    file.write_text("\n".join(["left,right", *rows, ""]))
    words = [str(file), "--null", "drop", "--device", "cpu", "-q"]
    assert run(["components", *words]) == 0
    table = capsys.readouterr().out
    assert run(["components", *words, "--memory", "1 TB"]) == 0
    assert capsys.readouterr().out == table


@pytest.mark.parametrize("words", [["cores"], ["components"], ["info"], ["plan", "cores"]])
def test_a_limit_of_addresses_below_the_libraries_ends_before_they_are_used(
    words, files, capsys, monkeypatch
):
    most = 60_000_000 + memory.ADDRESSES
    monkeypatch.setattr(memory, "held", lambda: 60_000_000)  # those of a process that has just begun
    monkeypatch.setattr(memory, "address_limit", lambda: most)
    for name in ("expected", "pairs_in"):
        monkeypatch.setattr(expected, name, lambda *_, **__: pytest.fail("the file is looked at"))
    monkeypatch.delitem(sys.modules, "llvmlite", raising=False)
    assert run([*words, files["csv"]]) == 2
    error = capsys.readouterr().err
    assert error.startswith("edgewise: the program needs ") and "limit of ulimit -v is" in error
