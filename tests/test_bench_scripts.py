"""The benchmarks of surfaces, threads and first use: tiny runs, their bars, and their pictures."""

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from edgewise.device.target import INTERPRETED, SIMULATED

BENCH = Path(__file__).resolve().parent.parent / "bench"
#: Scripts of minutes, by which figures for a release are made.
release = pytest.mark.release
needs_speed = pytest.mark.skipif(INTERPRETED or SIMULATED, reason="a run of compiled calls")


@pytest.fixture
def bench(monkeypatch):
    """The folder of the scripts among those of modules."""
    pytest.importorskip("numpy")
    monkeypatch.syspath_prepend(str(BENCH))
    return BENCH


def run(script, folder, *options):
    """Output of a script whose result goes to a folder."""
    words = [sys.executable, str(BENCH / f"{script}.py"), *map(str, options)]
    path = os.pathsep.join([str(BENCH.parent), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    environment = {**os.environ, "OUT": str(folder), "EDGEWISE_STATE": "tests", "PYTHONPATH": path}
    for name in ("GAPBS", "WASP"):
        environment.pop(name, None)
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@release
@needs_speed
def test_surface_of_tiny_graphs(tmp_path, bench):
    options = ["--sizes", "6", "7", "--families", "grid", "paths", "--calls", "bfs", "components rows"]
    out = run("surface", tmp_path, *options, "--threads", "1", "--against", BENCH.parent)
    assert "8 of 8 graphs were measured" in out
    for which in ("median", "least"):
        assert f"bfs, 1 thread, fresh_ms, {which}: new / old: geometric mean" in out
    found = json.loads((tmp_path / "surface-cpu.json").read_text())
    assert len(found["rows"]) == 2 * 2 * 2 * 3  # families, sizes, orders; two sources of bfs
    row = found["rows"][0]
    assert {"family", "size", "order", "call", "source", "vertices", "entries", "ms", "old_ms"} <= set(row)
    import pictures

    pictures.surface(found, tmp_path / "surface.png")
    assert (tmp_path / "surface.png").stat().st_size > 1000


@needs_speed
def test_surface_ends_in_time(tmp_path, bench):
    out = run("surface", tmp_path, "--sizes", "6", "--threads", "1", "--limit", "0")
    assert "0 of 20 graphs were measured" in out


@needs_speed
def test_choices_for_tiny_graphs(tmp_path, bench):
    out = run("components", tmp_path, "choices", "--sizes", "6", "--names", "grid", "--threads", "1")
    assert "--- edges, 1 threads: 4 graphs" in out and "--- rows, 1 threads: 2 graphs" in out
    assert "auto / rem: geometric mean" in out and "rem-sequential: the best of" in out
    rows = json.loads((tmp_path / "choices-cpu.json").read_text())["rows"]
    assert {row["taken"] for row in rows} == {"rem-sequential"}
    assert out.endswith(run("components", tmp_path, "choices", "--show", tmp_path / "choices-cpu.json"))


@needs_speed
def test_scaling_of_tiny_graphs(tmp_path, bench):
    options = ["--sizes", "6", "--families", "grid", "--orders", "natural", "--calls", "bfs", "sssp"]
    options += ["--threads", "1", "--sources", "hub", "--name", "scaling-cpu"]
    assert "1 of 1 graphs were measured" in run("surface", tmp_path, *options)
    found = json.loads((tmp_path / "scaling-cpu.json").read_text())
    assert [(row["call"], row["threads"]) for row in found["rows"]] == [("bfs", 1), ("sssp", 1)]


@release
@needs_speed
def test_calls_on_a_busy_machine(tmp_path, bench):
    options = ["--named", "grid-6", "--calls", "bfs", "--busy", "1", "--together", "2", "--runs", "3"]
    run("busy", tmp_path, *options, "--settings", "alone", "busy", "together", "odd", "--folder", tmp_path)
    rows = json.loads((tmp_path / "busy-cpu.json").read_text())["rows"]
    assert [row["setting"] for row in rows] == ["alone", "busy", "together", "odd"]
    assert [row["ms"]["runs"] for row in rows] == [3, 3, 6, 3]
    assert rows[0]["ratio"] == 1 and all(row["ratio"] > 0 for row in rows)


@release
@needs_speed
def test_pairs_of_integers_beside_scipy(tmp_path, bench):
    pytest.importorskip("pandas")
    options = [
        "--scale",
        "6",
        "--shards",
        "2",
        "--folder",
        tmp_path,
        "--programs",
        "edgewise",
        "pandas + SciPy",
    ]
    out = run("billion", tmp_path, *options, "--programs", "edgewise", "pandas + SciPy")
    assert "edgewise:" in out and "times as fast as pandas + SciPy" in out
    rows = json.loads((tmp_path / "billion-cpu.json").read_text())["rows"]
    assert [row["right"] for row in rows] == [True, True]


def test_rounds_in_turn_compare_the_answers(bench):
    import harness

    ways = {"one": (lambda: [1, 2], list), "slow": (lambda: (1, 2), list), "gapbs": lambda: [0.5, 0.25]}
    times = harness.in_turn(ways, 2, runs=3, once=("slow",))
    assert {name: len(spent) for name, spent in times.items()} == {"one": 6, "slow": 1, "gapbs": 4}
    with pytest.raises(SystemExit, match="other finds another answer than one"):
        harness.in_turn({"one": ways["one"], "other": (lambda: [1, 3], list)}, 1)


def test_rows_of_a_part(tmp_path, bench, monkeypatch, capsys):
    """Rows are written one by one, and those of earlier runs are kept, or shown."""
    import harness

    def rows(given):
        given.facts["graphs"] = given.graphs
        yield from (
            {"graph": name, "ms": {"median": 2.0, "least": 1.0, "largest": 3.0}} for name in given.graphs
        )

    def run_part(*words):
        monkeypatch.setattr(sys, "argv", ["page.py", *words])
        summary = lambda rows: [f"{len(rows)} rows"]  # noqa: E731
        harness.main(
            "", harness.part("made-{place}", rows, key=("graph",), summary=summary, graphs=["a", "b"])
        )
        return capsys.readouterr().out

    monkeypatch.setenv("OUT", str(tmp_path))
    monkeypatch.setenv("EDGEWISE_STATE", "tests")
    assert "graph b  ms 2 (1 to 3)\n2 rows" in run_part()
    assert "3 rows" in run_part("c", "a", "--add")
    found = json.loads((tmp_path / "made-cpu.json").read_text())
    assert [row["graph"] for row in found["rows"]] == ["a", "b", "c"]
    assert (found["command"], found["graphs"]) == ("python bench/page.py c a --add", ["c", "a"])
    assert run_part("--show", str(tmp_path / "made-cpu.json")) == "3 rows\n"


def point(size, source="hub", ms=1.0, **times):
    """A row of a surface."""
    row = {"family": "grid", "order": "natural", "call": "bfs", "source": source, "size": size}
    columns = {"ms": ms, **times}
    return (
        row | {"entries": 2**size, "threads": 2} | {key: {"median": value} for key, value in columns.items()}
    )


def test_bars_of_the_surface(bench):
    import surface

    lines = "\n".join(surface.bars([point(16, gapbs_ms=2.0), point(17, ms=3.0, gapbs_ms=2.0)]))
    assert "bfs, 2 threads: ours / gapbs: geometric mean 0.87, 0.50 to 1.50 of 2, above 1.15: 1" in lines
    assert "1.50  grid 2^17 natural bfs hub" in lines
    assert "above 1.15: 0" in "\n".join(surface.bars([point(16, ms=0.03, gapbs_ms=0.02)]))  # 10 us
    rows = [point(16), point(17, ms=2.0), point(18, ms=5.6), point(18, "elsewhere", ms=2.5)]
    rises, sources = "\n".join(surface.bars_gpu(rows)).split("ratio of two sources")
    assert "1.40  grid 2^18" in rises and "above 1.3: 1" in rises
    assert "2.24  grid 2^18" in sources
    below = [point(16, ms=0.01), point(17, ms=0.14), point(17, "elsewhere", ms=0.02)]
    assert "above 2.0: 0" in "\n".join(surface.bars_gpu(below))  # all are below the floor of a call


def test_bars_of_the_threads(bench):
    import surface

    one, two = (
        point(20, ms=ms, gapbs_ms=gapbs, wasp_ms=gapbs) | {"threads": threads}
        for threads, ms, gapbs in ((1, 4.0, 8.0), (2, 5.0, 4.0))
    )
    lines = "\n".join(surface.bars([one, two]))
    assert "bfs, 1 thread: ours / gapbs: geometric mean 0.50" in lines
    assert "2 threads: ours / wasp: geometric mean 1.25, 1.25 to 1.25 of 1, above 1.15: 1" in lines
    assert "slower than on 1 threads: 1.25  grid 2^20 natural bfs hub on 2" in lines


@pytest.mark.parametrize("best", [2, 8, 32, 128, 1024])
def test_the_best_delta_is_found_from_the_middle(bench, best):
    import peer_programs

    assert peer_programs.best_delta(lambda delta: [abs(delta - best) + 1.0]) == best


@needs_speed
def test_first_use_and_the_second(tmp_path, bench):
    out = run("first_use", tmp_path, "--commands", "components csv")
    assert "second:" in out and ", 0 kernels in 0.0 s" in out.splitlines()[-1]
    (row,) = json.loads((tmp_path / "first-use-cpu.json").read_text())["rows"]
    assert row["second"]["kernels"] == []


@pytest.mark.skipif(SIMULATED, reason="the simulator needs a device of its own")
def test_transfers_and_their_picture(tmp_path, bench, monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")  # what is measured does not matter
    chosen = ["--only", "protocols", "--without", "cold", "warm"]
    out = run(
        "publications", tmp_path, "--presets", "manoochehri-2017", "--size", "tiny", "--runs", "1", *chosen
    )
    assert "sorted locks" in out
    import harness
    import pictures
    import tables

    monkeypatch.setattr(pictures, "PICTURES", tmp_path)
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    found = tables.protocols("manoochehri-2017", "two cores")
    assert "(pictures/chart-transactions-manoochehri-2017.svg)" in found and "| `wound-wait` | " in found
    assert (tmp_path / "chart-transactions-manoochehri-2017.svg").stat().st_size > 1000


@pytest.mark.skipif(SIMULATED, reason="the simulator needs a device of its own")
def test_refined_meshes(tmp_path, bench, monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")  # what is measured does not matter
    run("transactions", tmp_path, "refinement", "--points", "100", "--threads", "1", "2", "--runs", "1")
    rows = json.loads((tmp_path / "refinement-cpu.json").read_text())["rows"]
    ways = {(row["way"], row["threads"]) for row in rows}
    assert {("sequential", 1), ("wound-wait", 1), ("wound-wait", 2)} <= ways
    assert all(row.get("right", True) for row in rows)


def test_jobs_of_a_gpu_machine(tmp_path, bench, monkeypatch):
    """What succeeded does not run again, a failure does, and nothing begins that cannot end in time."""
    import gpu_machine
    import harness

    good = gpu_machine.Job("good", "-c print(1)", 0.5, 0)
    bad, slow = good._replace(name="bad", words="-c 1/0"), good._replace(name="slow", minutes=90)
    cores = sorted(os.sched_getaffinity(0))
    monkeypatch.setenv("EDGEWISE_STATE", "tests")
    first = gpu_machine.Run(tmp_path, 2)
    first.run([good, bad, slow], cores)
    assert {name: one["status"] for name, one in first.done.items()} == {"good": 0, "bad": 1}
    assert "ZeroDivisionError" in (tmp_path / "bad.log").read_text()
    again = gpu_machine.Run(tmp_path, 2)
    ran = []
    monkeypatch.setattr(again, "run_one", lambda job, cores: ran.append(job.name))
    again.run([good, bad], cores)
    assert ran == ["bad"]
    names = [job.name for job in gpu_machine.JOBS]
    assert len(names) == len(set(names))
    for job in gpu_machine.JOBS:
        script, *words = job.words.split()
        if script != "-m":
            page = import_module(Path(script).stem)
            monkeypatch.setattr(sys, "argv", [script, *words])
            harness.parsed("", getattr(page, "PARTS", None) or page.PART)
