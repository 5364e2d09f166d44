"""Kernels compiled ahead of their first use: what lists hold, and that a second process compiles nothing.

``python tests/command/test_ahead.py [cpu] [cuda]`` runs every job of ``edgewise/kernels.txt`` with an empty
cache and writes the lists of these devices anew; without their names those of the CPU, and those of a GPU
where there is one.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from edgewise import ahead
from edgewise.device import claims, listed
from edgewise.device.numba_internals import HAS_CACHE, PUBLIC_ONLY
from edgewise.device.target import INTERPRETED, SIMULATED

compiled = pytest.mark.skipif(INTERPRETED or SIMULATED or not HAS_CACHE, reason="nothing is kept")

#: Command lines of each job, on files that :func:`make_files` makes.
JOBS = {
    "components": [
        ["components", "pairs.csv"],
        ["components", "names.csv"],
        ["components", "names.parquet", "-o", "found.parquet"],
        ["components", "names.parquet", "-o", "found.csv"],
    ],
    "paths --bfs": [["paths", "pairs.csv", "--bfs", "--source", "1"]],
    "paths": [["paths", "weighted.csv", "--source", "1"]],
    "paths --all-pairs": [["paths", "weighted.csv", "--all-pairs"]],
    "cycles --length=3": [["cycles", "pairs.csv", "--length", "3"]],
    "cycles --length=4": [["cycles", "pairs.csv", "--length", "4"]],
    "cycles --length=5": [["cycles", "pairs.csv", "--length", "5"]],
    "generate": [["generate", "rmat", "8", "-o", "made.npz"], ["generate", "pairs", "999", "-o", "made.csv"]],
}
#: Runs a command line, and writes a line for every kernel that is compiled, or loaded.
RECORD = """
import json, sys
from pathlib import Path
from edgewise.command import run
from edgewise.device import launch, listed, numba_internals

lines, save, ptx = [], numba_internals.KernelCache.save_overload, launch.Kernel.ptx


def record(target, name, kinds):
    try:
        lines.append(listed.line_of(target, name, kinds))
    except ValueError as error:
        print(name, error, file=sys.stderr)


def save_overload(self, signature, result):
    record("cpu", self.write.args[0], getattr(signature, "args", signature))
    save(self, signature, result)


def ptx_of(self, kinds, capability):
    record("cuda", self.name, kinds)
    return ptx(self, kinds, capability)


numba_internals.KernelCache.save_overload, launch.Kernel.ptx = save_overload, ptx_of
status = run(json.loads(sys.argv[1]))
Path(sys.argv[2]).write_text("\\n".join(lines))
sys.exit(status)
"""


def make_files(folder):
    """Small files that the commands read."""
    rng, folder = np.random.default_rng(1), Path(folder)
    pairs = rng.integers(0, 60_000, (100_000, 2)).tolist()
    names = "left_id,right_id,score\n" + "".join(f"name{u},name{v},0.9\n" for u, v in pairs)
    (folder / "names.csv").write_text(names)
    numbers = [(u % 500, v % 500) for u, v in pairs[:1000]]
    (folder / "pairs.csv").write_text("source,target\n" + "".join(f"{u},{v}\n" for u, v in numbers))
    weighted = "".join(f"{u},{v},{u % 9 + 1}\n" for u, v in numbers)
    (folder / "weighted.csv").write_text("source,target,weight\n" + weighted)
    import pyarrow.csv
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.csv.read_csv(folder / "names.csv"), folder / "names.parquet")


def recorded(job, device, files):
    """The lines of a job on a device: what a process compiles last comes first."""
    found: dict[str, None] = {}
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        shutil.copytree(files, folder, dirs_exist_ok=True)
        for command in JOBS[job]:
            words = [*command, "--device", device, "--quiet"]
            report = folder / "lines.txt"
            done = subprocess.run(
                [sys.executable, "-c", RECORD, json.dumps(words), str(report)],
                cwd=folder,
                env={**os.environ, "EDGEWISE_CACHE_DIR": cache, "EDGEWISE_QUIET": "1"},
                stdout=subprocess.DEVNULL,
            )
            assert done.returncode == 0, words
            found |= dict.fromkeys(filter(None, reversed(report.read_text().splitlines())))
    return list(found)


def write_list(devices):
    """Record all jobs on some devices; the lists of others are kept as they are."""
    sections: dict[str, list[str]] = {}
    for line in ahead.LIST.read_text().splitlines() if ahead.LIST.exists() else ():
        if line.startswith("["):
            title = line
        elif line:
            sections.setdefault(title, []).append(line)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(max(1, ahead._cores() // 3)) as pool:
        make_files(folder)
        pairs = [(job, device) for device in devices for job in JOBS]
        for (job, device), lines in zip(pairs, pool.map(lambda pair: recorded(*pair, folder), pairs)):
            sections[f"[{job} on {device}]"] = lines
            print(job, device, len(lines), flush=True)
            text = "\n\n".join("\n".join([title, *lines]) for title, lines in sections.items() if lines)
            ahead.LIST.write_text(text + "\n")


@pytest.mark.parametrize(
    ("arguments", "job"),
    [
        (["components", "pairs.csv", "-o", "found.csv"], "components"),
        (["paths", "roads.csv", "--source", "1"], "paths"),
        (["paths", "roads.csv", "--bfs", "--source=1"], "paths --bfs"),
        (["cycles", "pairs.csv", "--length=4"], "cycles --length=4"),
        (["cycles", "--length", "5", "pairs.csv"], "cycles --length=5"),
        (["warmup", "--paths"], "warmup --paths"),
        (["info"], ""),
        ([], ""),
    ],
)
def test_job_of_a_command_line(arguments, job):
    assert ahead.job_of(arguments) == job


def test_every_job_has_a_list():
    for job in JOBS:
        assert ahead.job_of(JOBS[job][0]) == job
        assert ahead.lines_of(job, "cpu"), job
    assert not ahead.lines_of("components", "tpu")
    few, more = (set(ahead.lines_of(job, "cpu")) for job in ("warmup", "warmup --paths"))
    assert few == set(ahead.lines_of("components", "cpu"))
    assert more == few.union(*(ahead.lines_of(job, "cpu") for job in JOBS if job.startswith("paths")))


@compiled
def test_lines_name_types_as_the_compilers_do():
    from numba import types

    lines = [line for line in ahead.LIST.read_text().splitlines() if line and not line.startswith("[")]
    for line in lines:
        target, name, text = line.split(" ", 2)
        kinds = listed._parsed(text)
        assert listed.line_of(target, name, kinds) == line
        if target == listed.CPU:
            assert listed.line_of(target, name, tuple(map(listed._numba_type, kinds))) == line
    kinds = (types.int64[::1], types.boolean, types.UniTuple(types.float64, 2))
    assert listed.line_of("cpu", "edgewise.x", kinds) == "cpu edgewise.x int64[], bool, (float64, float64)"
    with pytest.raises(ValueError, match="no text"):
        listed.line_of("cpu", "edgewise.x", (types.unicode_type,))


@compiled
@pytest.mark.skipif(PUBLIC_ONLY, reason="Numba keeps the files")
def test_a_second_process_compiles_nothing(tmp_path):
    """Whoever compiles, a worker or the command: what a command needs is there for the next one."""
    make_files(tmp_path)
    settings = {"EDGEWISE_CACHE_DIR": str(tmp_path / "cache"), "EDGEWISE_QUIET": "0"}
    said = []
    for turn in range(2):
        command = [sys.executable, "-m", "edgewise", "components", "names.csv", "-o", f"{turn}.csv"]
        done = subprocess.run(
            command, cwd=tmp_path, env={**os.environ, **settings}, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        said.append(re.findall("compiling", done.stderr))
    assert said == [["compiling"], []]
    assert (tmp_path / "0.csv").read_bytes() == (tmp_path / "1.csv").read_bytes()


@compiled
@pytest.mark.skipif(PUBLIC_ONLY or not hasattr(os, "fork"), reason="nothing is compiled ahead")
def test_workers_compile_what_a_command_needs(tmp_path):
    make_files(tmp_path)
    settings = {**os.environ, "EDGEWISE_CACHE_DIR": str(tmp_path / "cache"), "EDGEWISE_QUIET": "0"}
    words = [sys.executable, "-c", ahead.HELPER, str(ahead.PACKAGE.parent), "cycles --length=3", "cpu"]
    with subprocess.Popen(words, cwd=tmp_path, env=settings, stdin=subprocess.PIPE) as helper:
        assert helper.wait(200) == 0
    assert not list(tmp_path.rglob(f"*{claims.SUFFIX}"))
    command = [sys.executable, "-m", "edgewise", "cycles", "pairs.csv", "--length", "3", "--device", "cpu"]
    done = subprocess.run(command, cwd=tmp_path, env=settings, capture_output=True, text=True)
    assert (done.returncode, "compiling" in done.stderr) == (0, False), done.stderr


@compiled
def test_workers_end_with_the_command(tmp_path):
    settings = {**os.environ, "EDGEWISE_CACHE_DIR": str(tmp_path)}
    words = [sys.executable, "-c", ahead.HELPER, str(ahead.PACKAGE.parent), "components", "cpu"]
    assert subprocess.run(words, env=settings, stdin=subprocess.DEVNULL, timeout=100).returncode == 0
    assert not list(tmp_path.rglob("*.nbc"))


def test_what_is_not_a_list_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(ahead, "LIST", tmp_path / "kernels.txt")
    assert ahead.lines_of("components", "cpu") == []
    (tmp_path / "kernels.txt").write_text(
        "[components on cpu]\ncpu edgewise.gone.kernel int64\n\n[b on cpu]\nx\n"
    )
    (line,) = ahead.lines_of("components", "cpu")
    for wrong in (line, "cpu edgewise.components.trees.compress (int64", "nothing"):
        with pytest.raises((KeyError, ValueError, TypeError)):
            listed.compile_line(wrong)


def test_a_claim_is_of_one_process(tmp_path):
    file = tmp_path / "kernel"
    script = (
        "import sys, pathlib; from edgewise.device import claims\n"
        "print(claims.take(pathlib.Path(sys.argv[1]), wait=False))"
    )

    def other():
        words = [sys.executable, "-c", script, str(file)]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()

    assert claims.take(file)
    assert claims.take(file)  # again, by the same process
    assert other() == "False"
    claims.release(file)
    assert other() == "True"  # and it ends without a release
    assert claims.take(file, wait=False)
    claims.release(file)
    assert not list(tmp_path.iterdir())


if __name__ == "__main__":
    write_list(sys.argv[1:] or ["cpu", *(["cuda"] if ahead._capability() else [])])
