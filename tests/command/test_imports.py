"""Commands do not import what they do not need."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from edgewise.device.target import INTERPRETED, SIMULATED

CODE = "import sys; from edgewise.command import run; run(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
#: What takes a tenth of a second or more to import, or nearly so.
HEAVY = {"cupy", "llvmlite", "meshio", "numba", "pandas", "pyarrow.compute", "pydantic", "rich", "scipy"}
#: What takes a twentieth of a tiny command, and is for large files only.
FOR_LARGE = {"edgewise.streams.ways", "psutil"}
HEAVY |= FOR_LARGE
#: Pages that kernels for a GPU are launched from.
PAGES = "components", "cycles", "generators", "paths.apsp", "paths.bfs", "paths.measures", "paths.sssp"
COMPILER = {"numba", "llvmlite", "scipy"}
COMMANDS = {
    "components pairs.csv -o c.csv": {*COMPILER, *FOR_LARGE, "pydantic"},
    "components names.csv --source from --target to -o c.csv": {*COMPILER, "pyarrow.compute", "pydantic"},
    "components names.csv --source from --target to --score km --threshold 1.5 -o c.csv": {*COMPILER},
    "components names.csv --source from --target to --where from<>'a' -o c.csv": {*COMPILER},
    "paths pairs.csv --bfs --source 1 -o d.csv": {*COMPILER, "pydantic"},
    "paths pairs.csv --bfs --source 1 --parents -o d.csv": {"pydantic"},
    "cycles pairs.csv --length 3 -o c.csv": {"pydantic"},
    "forest names.csv -o f.csv": {*COMPILER, "pydantic"},
    "forest roads.csv -o f.csv": {*COMPILER, *FOR_LARGE, "pyarrow.compute", "pydantic"},
    "strong pairs.csv -o s.csv": {*COMPILER, "pyarrow.compute", "pydantic"},
    "partition pairs.csv 1 -o p.csv": {"meshio", "pydantic"},
    "convert pairs.csv pairs.parquet": {"pydantic"},
}


def imported_by(words, folder):
    """Heavy modules that a command imports, whose input is a file of three pairs."""
    (folder / "pairs.csv").write_text("a,b\n1,2\n2,3\n3,1\n")
    (folder / "roads.csv").write_text("from,to,km\n1,2,5\n2,3,4\n3,1,3\n")
    (folder / "names.csv").write_text("from,to,km\na,b,1\nb,c,2\nc,a,4\n")
    done = subprocess.run(
        [sys.executable, "-c", CODE, *words.split()],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    *messages, modules = done.stderr.splitlines()
    assert not any("edgewise:" in line and "compiling" not in line for line in messages), messages
    return HEAVY & set(modules.split())


@pytest.mark.skipif(INTERPRETED or SIMULATED, reason="the other engines import Numba")
@pytest.mark.parametrize("words", COMMANDS)
def test_commands_import_little(words, tmp_path):
    """PyArrow imports pandas for some calls, and typer pydantic for most values, unless that is avoided."""
    assert not imported_by(words, tmp_path) & (COMMANDS[words] | {"cupy", "pandas", "rich"})


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted by Linux")
def test_numpy_starts_no_threads(monkeypatch):
    """Threads for products of matrices take as much processor time as the rest of a small command."""
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    script = """import os, edgewise.command, edgewise.__main__
def count(arguments): import numpy; print(len(os.listdir("/proc/self/task")))
edgewise.command.main = count; edgewise.__main__.main()"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"


def test_kernels_are_defined_without_a_compiler():
    """So a command whose kernels were compiled for a GPU before starts without Numba."""
    script = f"import sys, {', '.join(f'edgewise.{page}' for page in PAGES)}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not HEAVY & set(done.stdout.split())


@pytest.mark.skipif(INTERPRETED or SIMULATED, reason="the other engines import Numba")
@pytest.mark.parametrize("name", ("rows.npz", "matrix.npz", "matrix.mtx", "rows.graph"))
def test_small_rows_that_are_not_sorted_compile_nothing(name, tmp_path):
    rows = {"offsets": np.array([0, 2, 3, 4]), "neighbours": np.array([2, 1, 0, 0], np.uint32)}
    np.savez(tmp_path / "rows.npz", edgewise=np.int64(1), shape=np.array([3, 0]), **rows)
    matrix = scipy.sparse.csr_array((np.ones(4), rows["neighbours"], rows["offsets"]), (3, 3))
    scipy.sparse.save_npz(tmp_path / "matrix.npz", matrix)
    scipy.io.mmwrite(tmp_path / "matrix.mtx", matrix.tocoo())
    (tmp_path / "rows.graph").write_text("3 2\n3 2\n1\n1\n")
    assert not imported_by(f"convert {name} out.el", tmp_path) & {"numba", "llvmlite", "pandas"}
