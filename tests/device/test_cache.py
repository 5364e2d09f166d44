"""Kernels on disk depend on settings, survive concurrent processes, and need no writable folder."""

import os
import shutil
import subprocess
import sys

import pytest
from numba.core import config

from edgewise.device import cache, numba_internals
from edgewise.device.target import INTERPRETED, SIMULATED

#: Runs some kernels, and prints how many files of kernels there are, hits, misses, and a result.
USE = """
import numba, numpy as np
from edgewise.device import cache, each
from edgewise.components.rem import unite_edge
from edgewise.components.trees import make_singletons

results = []
for kind in (np.uint32, np.int64):
    parent = np.empty(5000, kind)
    make_singletons(5000, parent)
    results.append(int(parent.max()))
unite_edge(4999, parent, np.arange(4999), np.arange(1, 5000))
results.append(int(parent.max()))
functions = make_singletons.cpu.function, unite_edge.cpu.function
stats = [getattr(function, "dispatcher", function).stats for function in functions]
hits, misses = (sum(sum(counts.values()) for counts in both) for both in zip(*(one[1:] for one in stats)))
print(len(list(cache.root().rglob("*.nbc"))), hits, misses, *results)
assert numba.config.CACHE_DIR.endswith("users"), numba.config.CACHE_DIR
"""

pytestmark = pytest.mark.skipif(INTERPRETED or SIMULATED, reason="it is the compiler that keeps kernels")


@pytest.mark.parametrize("setting, value", [("BOUNDSCHECK", 1), ("OPT", 1), ("DEBUGINFO_DEFAULT", 1)])
def test_settings_of_the_compiler_have_kernels_of_their_own(monkeypatch, setting, value):
    before = cache._file_of("kernel", "(int64,)")
    monkeypatch.setattr(config, setting, value)
    assert cache._file_of("kernel", "(int64,)") != before
    monkeypatch.undo()
    assert cache._file_of("kernel", "(int64,)") == before


def process(folder, **settings):
    users = str(folder.parent / "users")
    settings |= {"EDGEWISE_CACHE_DIR": str(folder), "NUMBA_CACHE_DIR": users, "NUMBA_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-c", USE],
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def numbers(running):
    out, error = running.communicate(timeout=300)
    assert running.returncode == 0, error
    return [int(word) for word in out.split()]


@pytest.mark.parametrize("public_only", ["0", "1"])
def test_processes_that_compile_at_once(tmp_path, public_only):
    settings, folder = {"EDGEWISE_PUBLIC_ONLY": public_only, "EDGEWISE_QUIET": "1"}, tmp_path / "ours"
    for one in [process(folder, **settings) for _ in range(2)]:
        assert numbers(one)[3:] == [4999, 4999, 0]
    files, hits, misses, *results = numbers(process(folder, **settings))
    assert (files, hits, misses, results) == (3, 3, 0, [4999, 4999, 0])
    assert not list(folder.rglob("*.draft"))
    assert not (tmp_path / "users").exists()  # the folder of the user's own functions is left alone


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A folder with the kernels of one process."""
    folder = tmp_path_factory.mktemp("kernels") / "full"
    assert numbers(process(folder))[1:3] == [0, 3]
    return folder


@pytest.mark.skipif(not numba_internals.HAS_CACHE, reason="Numba's own cache writes the files")
def test_a_read_only_folder_serves_what_it_has(tmp_path, filled):
    shutil.copytree(filled, tmp_path / "full")
    (folder,) = (tmp_path / "full" / "kernels").iterdir()
    shown = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    for path in [*tmp_path.rglob("*"), tmp_path]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        assert numbers(process(tmp_path / "full"))[1:3] == [3, 0]
        assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == shown
        if os.geteuid() != 0:  # nobody forbids root to write
            assert numbers(process(tmp_path / "new"))[1:] == [0, 0, 4999, 4999, 0]
    finally:
        for path in [tmp_path, *tmp_path.rglob("*")]:
            path.chmod(0o755)


def test_a_folder_that_cannot_be_made_is_no_fault(tmp_path):
    (tmp_path / "file").write_text("in the way")
    files, hits, _, *results = numbers(process(tmp_path / "file"))
    assert (files, hits, results) == (0, 0, [4999, 4999, 0])


@pytest.mark.skipif(not numba_internals.HAS_CACHE, reason="Numba's own cache writes the files")
def test_damaged_files_are_compiled_again(tmp_path, filled):
    folder = tmp_path / "damaged"
    shutil.copytree(filled, folder)
    for path, damage in zip(folder.rglob("*.nbc"), (b"", b"no kernel", b""), strict=True):
        path.write_bytes(damage)
    assert numbers(process(folder))[1:] == [0, 3, 4999, 4999, 0]
    assert numbers(process(folder))[1:] == [3, 0, 4999, 4999, 0]
