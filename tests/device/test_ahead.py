"""The usual kernels of a GPU are compiled by other processes, each once; a command waits for one at most."""

import json
import os
import subprocess
import sys
import threading
import time

import pytest

from edgewise import notices
from edgewise.device import ahead, arrays, cache, launch
from edgewise.device.target import INTERPRETED, SIMULATED

CAPABILITY = 9, 0
USUAL = ahead.usual_kernels("paths")
#: The quickest to compile.
QUICK = "edgewise.ingest.csr._find_row", ("uint64[]", "int64", "int64[]")
compiling = pytest.mark.skipif(INTERPRETED or SIMULATED, reason="it is the compiler that makes PTX")


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EDGEWISE_CACHE_DIR", str(tmp_path))
    cache.folder.cache_clear()
    ahead.start.cache_clear()
    yield cache.folder()
    cache.folder.cache_clear()
    ahead.start.cache_clear()


def kept(folder, ending):
    return sorted(path.name for path in folder.iterdir() if path.suffix == ending)


@pytest.mark.interpreter
@pytest.mark.parametrize("name, kinds", USUAL, ids=[name for name, _ in USUAL])
def test_the_list_names_kernels_and_their_types(name, kinds):
    assert ahead.kernel_named(name).name == name
    assert ahead.written_as(ahead.kinds_of(kinds)) == kinds


def test_kernels_of_the_command_come_first():
    by_command = json.loads(ahead.USUAL.read_text())
    assert USUAL[: len(by_command["paths"])] == by_command["paths"]
    assert len(USUAL) == sum(map(len, by_command.values())) == len(ahead.usual_kernels())


@compiling
@pytest.mark.ptx
def test_processes_share_the_work(empty_cache, tmp_path, monkeypatch):
    script = (
        "from edgewise.device import ahead; quick = ahead.usual_kernels('generate')[:2];"
        "ahead.usual_kernels = lambda command: quick; ahead.compile_usual()"
    )
    words = [sys.executable, "-c", script, *map(str, CAPABILITY), "generate"]
    running = [subprocess.Popen(words) for _ in range(2)]
    assert [one.wait() for one in running] == [0, 0]
    assert len(kept(empty_cache, ".ptx")) == 2
    assert not kept(empty_cache, ".lock") and not kept(empty_cache, ".draft")
    monkeypatch.setattr(launch, "_compile", None)  # nothing is compiled again
    for name, kinds in ahead.usual_kernels("generate")[:2]:
        assert launch.entry_name(ahead.kernel_named(name).ptx(ahead.kinds_of(kinds), CAPABILITY))


@compiling
def test_a_kernel_that_another_process_compiles_is_waited_for(empty_cache, monkeypatch):
    kernel, kinds = ahead.kernel_named(QUICK[0]), QUICK[1]
    monkeypatch.setattr(launch, "_compile", None)
    label, texts = kernel._label(kinds, CAPABILITY), []
    with cache.sole(label) as is_mine:
        assert is_mine
        kernel.compile_if_free(kinds, CAPABILITY, None)  # another one has it
        waiting = threading.Thread(target=lambda: texts.append(kernel.ptx(kinds, CAPABILITY)))
        waiting.start()
        time.sleep(0.1)
        assert waiting.is_alive()
        cache.keep_text(label, "compiled")
    waiting.join()
    assert texts == ["compiled"]


@compiling
def test_binaries_are_kept_beside_the_text(empty_cache, monkeypatch):
    kernel, kinds = ahead.kernel_named(QUICK[0]), QUICK[1]
    monkeypatch.setattr(launch, "_compile", lambda *_: "text")
    assert kernel.binary(kinds, CAPABILITY) is None
    kernel.compile_if_free(kinds, CAPABILITY, lambda text, _: text.encode() + b" as a binary")
    assert kernel.binary(kinds, CAPABILITY) == b"text as a binary"
    assert kernel.ptx(kinds, CAPABILITY) == "text"


def test_without_the_linker_there_is_no_binary(monkeypatch):
    monkeypatch.setitem(sys.modules, "cuda.bindings.nvjitlink", None)
    assert ahead.assembled("no text", CAPABILITY) is None


@pytest.fixture
def started(empty_cache, monkeypatch):
    """What is started on a machine with a GPU and many cores."""
    began = []
    monkeypatch.setattr(ahead, "SIMULATED", False)
    monkeypatch.setattr(arrays, "gpu_count", lambda: 1)
    monkeypatch.setattr(launch, "capability_of", lambda device: CAPABILITY)
    monkeypatch.setattr(launch, "label_of", lambda capability: "sm90-1")
    monkeypatch.setattr(ahead, "processes", lambda: 3)
    monkeypatch.setattr(ahead, "PUBLIC_ONLY", False)
    monkeypatch.setattr(subprocess, "Popen", lambda words, **_: began.append(words[-3:]))
    return began


def test_a_command_on_a_gpu_starts_them_once(started, monkeypatch):
    arrays.resolve("cuda")
    assert not started  # which is not for libraries
    monkeypatch.setattr(notices, "command", "info")
    arrays.resolve("cuda")
    assert not started  # it launches no kernels
    monkeypatch.setattr(notices, "command", "paths")
    arrays.resolve("cpu")
    assert not started
    arrays.resolve("cuda")
    assert started == [["9", "0", "paths"]] * 3
    ahead.start.cache_clear()  # as another process
    arrays.resolve("cuda")
    assert len(started) == 3


def test_it_can_be_switched_off(started, monkeypatch):
    monkeypatch.setattr(notices, "command", "paths")
    monkeypatch.setenv("EDGEWISE_COMPILE_AHEAD", "0")
    arrays.resolve("cuda")
    assert not started


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the number of cores is not known")
@pytest.mark.parametrize("cores, count", [(1, 0), (2, 0), (3, 0), (4, 1), (8, 3), (16, 6), (128, 6)])
def test_small_machines_compile_nothing_ahead(cores, count, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(cores))
    assert ahead.processes() == count
