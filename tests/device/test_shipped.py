"""Kernels of the package are used where sources, versions and processor fit, unless they are damaged."""

import os
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest
from llvmlite import binding

from edgewise.device import ahead, cache, launch, shipped
from edgewise.device.target import INTERPRETED, SIMULATED
from tests.device.test_cache import USE

AS_PACKAGE = "from edgewise.device import shipped; shipped.FOLDER = package\n"
compiling = pytest.mark.skipif(INTERPRETED or SIMULATED, reason="it is the compiler that keeps kernels")
triple = binding.get_process_triple()
architecture = shipped.LEVELS.get(triple.partition("-")[0], {})


@pytest.mark.interpreter
def test_levels_of_a_processor():
    everything = dict.fromkeys(shipped.LEVELS["x86_64"]["x86-64-v3"].split(), True)
    assert shipped.levels("x86_64-unknown-linux-gnu", everything) == ["x86-64-v3", "x86-64"]
    for name in everything:
        assert shipped.levels("x86_64-unknown-linux-gnu", everything | {name: False}) == ["x86-64"]
        others = {other: True for other in everything if other != name}
        assert shipped.levels("x86_64-unknown-linux-gnu", others) == ["x86-64"]
    assert shipped.levels("aarch64-unknown-linux-gnu", {}) == ["generic"]
    assert shipped.levels("riscv64-unknown-linux-gnu", everything) == []


@compiling
def test_features_have_the_names_of_the_compiler():
    known = binding.get_host_cpu_features()
    assert all(name in known for needs in architecture.values() for name in needs.split())


@pytest.mark.interpreter
@pytest.mark.parametrize("mode, is_safe", [(0o644, True), (0o755, True), (0o646, False), (0o666, False)])
def test_who_can_write_a_file(tmp_path, mode, is_safe):
    file = tmp_path / "kernel"
    file.write_bytes(b"")
    file.chmod(mode)
    with open(file) as entry:
        source = os.stat(shipped.__file__)
        wider = source.st_mode & 0o022
        assert shipped.is_as_safe_as_sources(entry.fileno(), file) == is_safe or wider


def used(own, package, **settings):
    """Files, hits and misses of a process with a folder of its own, and one as that of the package."""
    script = f"from pathlib import Path; package = Path({str(package)!r})\n{AS_PACKAGE}{USE}"
    settings = {"EDGEWISE_CACHE_DIR": str(own), "EDGEWISE_QUIET": "0", "NUMBA_NUM_THREADS": "1"} | settings
    settings |= {"NUMBA_CACHE_DIR": str(own.parent / "users")}
    done = subprocess.run(
        [sys.executable, "-c", script], env=os.environ | settings, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    files, hits, misses, *results = map(int, done.stdout.split())
    assert results == [4999, 4999, 0]
    return (files, hits, misses), done.stderr


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """Folder of kernels for the level that every processor of this architecture has."""
    if not architecture:
        pytest.skip("nothing is compiled ahead for this architecture")
    made, nothing = tmp_path_factory.mktemp("made"), tmp_path_factory.mktemp("nothing")
    target = {"NUMBA_CPU_NAME": [*architecture][-1], "NUMBA_CPU_FEATURES": ""}
    assert used(made, nothing, **target)[0] == (3, 0, 3)
    return made / "kernels"


@compiling
def test_nothing_is_compiled_and_nothing_kept(package, tmp_path):
    assert used(tmp_path / "own", package) == ((0, 3, 0), "")


@compiling
def test_a_folder_that_is_not_writable_is_not_needed(package, tmp_path):
    (tmp_path / "file").write_text("")
    assert used(tmp_path / "file" / "own", package) == ((0, 3, 0), "")


@compiling
def test_damaged_and_open_files_are_compiled_again(package, tmp_path):
    shutil.copytree(package, tmp_path / "copy")
    damaged, open_to_others, cut = (tmp_path / "copy").rglob("*.nbc")
    damaged.write_bytes(damaged.read_bytes() + b" ")
    open_to_others.chmod(0o666)
    cut.write_bytes(cut.read_bytes()[:-1])
    found, notice = used(tmp_path / "own", tmp_path / "copy")
    assert found == (3, 0, 3)
    assert notice.count("\n") == 1 and "compiling" in notice


@compiling
def test_other_settings_and_other_sources_are_compiled(package, tmp_path):
    assert used(tmp_path / "checked", package, NUMBA_BOUNDSCHECK="1")[0] == (3, 0, 3)
    (digest,) = (one.name for one in package.iterdir())
    shutil.copytree(package / digest, tmp_path / "other" / "0123456789abcdef0123")
    assert used(tmp_path / "changed", tmp_path / "other")[0] == (3, 0, 3)


@compiling
def test_newer_gpus_run_the_kernels_of_older_ones(tmp_path, monkeypatch):
    kernel, kinds = ahead.kernel_named("edgewise.components.trees.compress"), ("uint32[]",)
    monkeypatch.setenv("EDGEWISE_CACHE_DIR", str(tmp_path / "made"))
    for function in (cache.folder, cache.shipped_folder):
        function.cache_clear()
    cache.keep_text(kernel._label(kinds, (8, 0)), "of 8.0")
    monkeypatch.setattr(shipped, "FOLDER", cache.folder().parent)
    monkeypatch.setenv("EDGEWISE_CACHE_DIR", str(tmp_path / "own"))
    cache.folder.cache_clear()
    monkeypatch.setattr(launch, "_compile", None)  # nothing is compiled
    assert [kernel.ptx(kinds, one) for one in ((8, 0), (8, 6), (9, 0), (12, 0))] == ["of 8.0"] * 4
    assert cache.came_with_package(launch.label_of((8, 0)))
    assert not cache.came_with_package(launch.label_of((9, 0)))
    monkeypatch.setattr(ahead, "_calling", None)  # no process is started
    monkeypatch.setattr(ahead, "processes", lambda device: 2)
    ahead.start_for_gpu((9, 0), "paths")
    with pytest.raises(TypeError):
        kernel.ptx(kinds, (7, 5))
    for function in (cache.folder, cache.shipped_folder):
        function.cache_clear()


@pytest.mark.interpreter
@pytest.mark.parametrize(
    "driver, version",
    [
        (11080, "7.8"),
        (12040, "8.4"),
        (12050, "8.5"),
        (12060, "8.5"),
        (12070, "8.6"),
        (12090, "8.8"),
        (13000, "9.0"),
    ],
)
def test_text_of_a_newer_compiler_names_the_version_of_the_driver(monkeypatch, driver, version):
    runtime = SimpleNamespace(driverGetVersion=lambda: driver)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=SimpleNamespace(runtime=runtime)))
    assert launch._for_driver(".version 9.0\n.target sm_80\n") == f".version {version}\n.target sm_80\n"
    assert launch._for_driver(".version 7.0\n") == ".version 7.0\n"


@compiling
def test_older_text_of_the_user_is_not_taken(tmp_path, monkeypatch):
    kernel, kinds = ahead.kernel_named("edgewise.components.trees.compress"), ("uint32[]",)
    monkeypatch.setenv("EDGEWISE_CACHE_DIR", str(tmp_path))
    cache.folder.cache_clear()
    cache.keep_text(kernel._label(kinds, (8, 0)), "of 8.0")
    monkeypatch.setattr(launch, "_compile", lambda *given: "compiled")
    assert kernel.ptx(kinds, (9, 0)) == "compiled"
    cache.folder.cache_clear()
