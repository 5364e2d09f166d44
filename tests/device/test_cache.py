"""Kernels on disk depend on settings, survive concurrent processes, and need no writable folder.

What is damaged, or what another user can have written, is not used.
"""

import functools
import os
import pickle
import random
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from numba import njit
from numba.core import config

from edgewise.device import cache, numba_internals
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.errors import EdgewiseWarning
from tests.ownership import give_away
from tests.processes import ended

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
stats = [one.cpu.dispatcher.stats for one in (make_singletons, unite_edge)]
hits, misses = (sum(sum(counts.values()) for counts in both) for both in zip(*(one[1:] for one in stats)))
print(len(list(cache.root().rglob("*.nbc"))), hits, misses, *results)
assert numba.config.CACHE_DIR.endswith("users"), numba.config.CACHE_DIR
"""

compiling = pytest.mark.skipif(INTERPRETED or SIMULATED, reason="it is the compiler that keeps kernels")
users = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="this system does not know users")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder of kernels, of a process that has said nothing yet."""
    monkeypatch.setenv("EDGEWISE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_unwarned", list(cache._unwarned) or ["refused"])
    cache.folder.cache_clear()
    yield cache.folder()
    cache.folder.cache_clear()


@pytest.mark.interpreter
def test_a_changed_bit_makes_a_file_count_as_missing(folder):
    content = random.Random(1).randbytes(300)
    cache.keep_bytes("edgewise.some", content)
    path = folder / "edgewise.some"
    whole = path.read_bytes()
    assert cache.load_bytes("edgewise.some") == content
    for bit in range(8 * len(whole)):
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        assert cache.load_bytes("edgewise.some") is None
    for length in (0, 1, cache.CHECKSUM_BYTES, len(whole) - 1):
        path.write_bytes(whole[:length])
        assert cache.load_bytes("edgewise.some") is None
    cache.keep_bytes("edgewise.some", b"")
    assert cache.load_bytes("edgewise.some") == b""


@pytest.mark.interpreter
def test_a_file_under_another_name_counts_as_missing(folder):
    cache.keep_text("edgewise.some", "text")
    (folder / "edgewise.some").rename(folder / "edgewise.other")
    assert cache.load_text("edgewise.other") is None


@users
@pytest.mark.interpreter
@pytest.mark.parametrize("umask", [0, 0o002, 0o022, 0o077])
def test_others_cannot_write_what_is_kept(umask, folder):
    before = os.umask(umask)
    try:
        shutil.rmtree(cache.root())
        cache.folder.cache_clear()
        cache.keep_text("edgewise.some", "text")
        with cache.sole("edgewise.other"):
            found = [path.stat().st_mode for path in (*folder.iterdir(), folder, *folder.parents[:2])]
    finally:
        os.umask(before)
    assert len(found) == 5
    assert all(mode & 0o022 == 0 for mode in found)
    assert cache.load_text("edgewise.some") == "text"


@users
@pytest.mark.interpreter
@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize("how", ["owner", "mode"])
def test_a_folder_that_others_can_write_is_not_used(level, how, folder, monkeypatch):
    cache.keep_text("edgewise.some", "text")
    shared = [folder, *folder.parents][level]
    if how == "owner":
        give_away(shared, monkeypatch)
    else:
        shared.chmod(0o777)
    cache.folder.cache_clear()
    with pytest.warns(EdgewiseWarning, match=r"(belongs to|by) other|another user.*set EDGEWISE_CACHE_DIR"):
        assert cache.folder() is None
    cache.keep_text("edgewise.other", "text")
    assert cache.load_text("edgewise.some") is None and not cache.begin("some")
    assert [path.name for path in folder.iterdir()] == ["edgewise.some"]
    cache.folder.cache_clear()
    assert cache.folder() is None  # without a second line


@users
@pytest.mark.interpreter
def test_files_of_another_user_are_not_read(folder, monkeypatch):
    for name in ("some", "other"):
        cache.keep_text(f"edgewise.{name}", "text")
    for name in ("some", "other"):
        give_away(folder / f"edgewise.{name}", monkeypatch)
    with pytest.warns(EdgewiseWarning, match="belongs to another user") as said:
        assert cache.load_text("edgewise.some") is cache.load_text("edgewise.other") is None
    assert len(said) == 1
    monkeypatch.undo()


@pytest.fixture
def of_numba(folder, monkeypatch):
    """A folder with files that Numba has written by itself, which are listed."""
    monkeypatch.setattr(cache, "atexit", SimpleNamespace(register=lambda *_: None))
    monkeypatch.setattr(cache, "_locks", {})
    (folder / "page").mkdir()
    for name in ("page/index.nbi", "page/kernel.nbc", "page/other.nbc"):
        (folder / name).write_bytes(pickle.dumps(name))
    cache._list_files(folder)
    yield folder
    for lock in filter(None, cache._locks.values()):
        os.close(lock)


@users
@pytest.mark.interpreter
def test_files_of_numba_are_used_only_as_they_were_left(of_numba):
    page, lists = of_numba / "page", of_numba / cache.SUMS
    (page / "other.nbc").write_bytes(pickle.dumps("changed"))
    (page / "new.nbi").write_bytes(pickle.dumps("not listed"))
    assert cache._owns(of_numba) and cache._owns(of_numba)
    assert sorted(path.name for path in page.iterdir()) == ["index.nbi", "kernel.nbc"]
    assert cache._lock_of(of_numba) is None  # as for another process
    os.close(cache._locks.pop(of_numba))
    lists.write_bytes(lists.read_bytes().replace(b"index", b"other"))
    assert cache._owns(of_numba) and list(page.iterdir()) == []


@users
@pytest.mark.interpreter
@pytest.mark.parametrize("name", ["page", "page/kernel.nbc"])
def test_files_of_numba_and_of_another_user_are_not_used(name, of_numba, monkeypatch):
    give_away(of_numba / name, monkeypatch)
    with pytest.warns(EdgewiseWarning, match="belongs to another user"):
        assert not cache._owns(of_numba)
    assert len(list((of_numba / "page").iterdir())) == 3


@compiling
@pytest.mark.parametrize("is_own", [True, False])
def test_numba_keeps_kernels_in_a_folder_of_this_process_only(is_own, of_numba, monkeypatch):
    kept = []
    monkeypatch.setattr(numba_internals, "keep_compiled", lambda *_: False)
    monkeypatch.setattr(numba_internals, "keep_by_numba", lambda *given: kept.append(given[1:]))
    monkeypatch.setattr(cache, "_owns", lambda path: is_own)
    cache.keep(njit(lambda: 1), "edgewise.some")
    assert kept == [("edgewise.some", of_numba)] * is_own


@compiling
@pytest.mark.parametrize("setting, value", [("BOUNDSCHECK", 1), ("OPT", 1), ("DEBUGINFO_DEFAULT", 1)])
def test_settings_of_the_compiler_have_kernels_of_their_own(monkeypatch, setting, value):
    before = list(cache._files_of("kernel", "(int64,)"))
    monkeypatch.setattr(config, setting, value)
    assert not set(before) & set(cache._files_of("kernel", "(int64,)"))
    monkeypatch.undo()
    assert list(cache._files_of("kernel", "(int64,)")) == before


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
    with ended(running):
        out, error = running.communicate(timeout=300)
    assert running.returncode == 0, error
    return [int(word) for word in out.split()]


def compiled_at_once(folder, **settings):
    """``folder``, with the kernels that two processes have compiled at the same time."""
    for one in [process(folder, **settings) for _ in range(2)]:
        assert numbers(one)[3:] == [4999, 4999, 0]
    return folder


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A folder with kernels."""
    return compiled_at_once(tmp_path_factory.mktemp("kernels") / "full")


@pytest.fixture(scope="module")
def filled_by_numba(tmp_path_factory):
    """A folder with kernels that Numba's own cache has written."""
    return compiled_at_once(tmp_path_factory.mktemp("kernels") / "public", EDGEWISE_PUBLIC_ONLY="1")


@compiling
@pytest.mark.parametrize(
    ("kept", "public_only"),
    [("filled", "0"), pytest.param("filled_by_numba", "1", marks=pytest.mark.release)],
)
def test_processes_that_compile_at_once(tmp_path, kept, public_only, request):
    full, folder = request.getfixturevalue(kept), tmp_path / "ours"
    assert not list(full.rglob("*.draft"))
    assert not (full.parent / "users").exists()  # the folder of the user's own functions is left alone
    shutil.copytree(full, folder)
    settings = {"EDGEWISE_PUBLIC_ONLY": public_only, "EDGEWISE_QUIET": "1"}
    files, hits, misses, *results = numbers(process(folder, **settings))
    assert (files, hits, misses, results) == (3, 3, 0, [4999, 4999, 0])


@compiling
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


@compiling
def test_a_folder_that_cannot_be_made_is_no_fault(tmp_path):
    (tmp_path / "file").write_text("in the way")
    files, hits, _, *results = numbers(process(tmp_path / "file"))
    assert (files, hits, results) == (0, 0, [4999, 4999, 0])


@compiling
@pytest.mark.skipif(not numba_internals.HAS_CACHE, reason="Numba's own cache writes the files")
def test_damaged_files_are_compiled_again(tmp_path, filled):
    folder = tmp_path / "damaged"
    shutil.copytree(filled, folder)
    for path, damage in zip(folder.rglob("*.nbc"), (b"", b"no kernel", b""), strict=True):
        path.write_bytes(damage)
    assert numbers(process(folder))[1:] == [0, 3, 4999, 4999, 0]
    assert numbers(process(folder))[1:] == [3, 0, 4999, 4999, 0]


@compiling
@pytest.mark.release  # a test above has the check
def test_damaged_files_of_numba_itself_are_compiled_again(tmp_path, filled_by_numba):
    settings, folder = {"EDGEWISE_PUBLIC_ONLY": "1", "EDGEWISE_QUIET": "1"}, tmp_path / "public"
    shutil.copytree(filled_by_numba, folder)
    assert numbers(process(folder, **settings))[1:3] == [3, 0]
    paths = sorted(folder.rglob("*.nb[ci]"))
    for path in paths[::2]:
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    assert numbers(process(folder, **settings))[2:] == [3, 4999, 4999, 0]
    assert numbers(process(folder, **settings))[1:] == [3, 0, 4999, 4999, 0]


class Planted:
    """Makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@compiling
@users
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root makes files of others")
@pytest.mark.parametrize(
    ("level", "public_only"),  # a test above has all levels
    [("file", "0"), *(pytest.param(level, "1", marks=pytest.mark.release) for level in ("file", "root"))],
)
def test_planted_files_of_another_user_are_not_read(level, public_only, tmp_path, request):
    ran, folder = tmp_path / "ran", tmp_path / "shared"
    settings = {"EDGEWISE_PUBLIC_ONLY": public_only}
    shutil.copytree(request.getfixturevalue("filled_by_numba" if public_only == "1" else "filled"), folder)
    content = pickle.dumps(Planted(ran))
    for path in [*folder.rglob("*.nbi"), *folder.rglob("*.nbc")]:
        name = os.fspath(path.relative_to(next((folder / "kernels").iterdir())))
        path.write_bytes((b"" if public_only == "1" else cache._checksum(name, content)) + content)
        os.chown(path, 12345, 12345)
    if level != "file":
        for path in [folder] if level == "root" else (folder / "kernels").iterdir():
            os.chown(path, 12345, 12345)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with ended(process(folder, **settings, PYTHONWARNINGS="always")) as running:
        out, error = running.communicate(timeout=300)
    assert running.returncode == 0 and out.split()[3:] == ["4999", "4999", "0"]
    assert error.count("belongs to another user (number 12345)") == 1
    assert not ran.exists()
    if level != "file":
        assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@compiling
def test_threads_that_need_kernels_at_the_same_time_read_the_sources_once(folder, monkeypatch):
    def read_slowly():
        begun.append(1)
        time.sleep(0.05)
        return "state"

    def keep(number):
        barrier.wait()
        cache.keep(njit(lambda: number), f"edgewise.one_of_some_{number}")

    begun, barrier = [], threading.Barrier(6)
    cache.folder.cache_clear()
    monkeypatch.setattr(cache, "digest", functools.cache(read_slowly))
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(keep, range(6)))
    assert len(begun) == 1
