"""The usual kernels of a GPU are compiled by other processes, each once; a command waits for one at most."""

import json
import os
import subprocess
import sys
import threading
import time
from importlib.metadata import PackageNotFoundError

import pytest

from edgewise.device import ahead, cache, launch
from edgewise.device.target import INTERPRETED, SIMULATED
from tests.processes import ended

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
        "ahead.usual_kernels = lambda command, others_first: quick; ahead.compile_usual()"
    )
    words = [sys.executable, "-c", script, *map(str, CAPABILITY), "generate"]
    running = [subprocess.Popen(words) for _ in range(2)]
    with ended(*running):
        assert [one.wait(timeout=300) for one in running] == [0, 0]
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


@compiling
@pytest.mark.ptx
def test_one_process_prepares_and_forks_the_others(empty_cache):
    script = (
        "import os; from edgewise.device import ahead; ahead.processes = lambda: 3;"
        "quick = ahead.usual_kernels('generate')[:2];"
        "ahead.usual_kernels = lambda command, others_first: quick[:: -1 if others_first else 1];"
        "ahead.compile_usual(); print(os.getpid())"
    )
    words = [sys.executable, "-c", script, *map(str, CAPABILITY), "generate"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert len(set(done.stdout.split())) == 3
    assert len(kept(empty_cache, ".ptx")) == 2


@pytest.mark.parametrize("count, others_first", [(1, []), (2, [False]), (3, [False, True])])
def test_the_last_third_begins_with_the_other_kernels(count, others_first, monkeypatch):
    monkeypatch.setattr(os, "fork", lambda: 1, raising=False)
    assert not ahead._fork(count)
    for number in range(1, count):
        answers = iter([1] * (number - 1) + [0])
        monkeypatch.setattr(os, "fork", answers.__next__, raising=False)
        assert ahead._fork(count) is others_first[number - 1]


def test_without_fork_one_process_does_all(monkeypatch):
    monkeypatch.delattr(os, "fork", raising=False)
    assert not ahead._fork(3)


class Running:
    """A process that ends after so many looks at it."""

    def __init__(self, looks):
        self.looks = looks

    def poll(self):
        self.looks -= 1
        return None if self.looks >= 0 else 0


def test_a_command_waits_while_the_processes_prepare():
    name, kinds = QUICK
    answers = iter([False, False, True])
    ahead._wait(Running(10), name, kinds, answers.__next__)
    assert list(answers) == []
    running = Running(3)  # it ends without the kernel
    ahead._wait(running, name, kinds, lambda: False)
    assert running.looks == -1
    ahead._wait(None, name, ("int64",), None)  # not one of the usual kernels


@pytest.fixture
def started(empty_cache, monkeypatch):
    """What is started on a machine with a GPU and many cores."""
    began = []
    monkeypatch.setattr(ahead, "SIMULATED", False)
    monkeypatch.setattr(launch, "label_of", lambda capability: "sm90-1")
    monkeypatch.setattr(launch, "wait_for_others", None)
    monkeypatch.setattr(ahead, "processes", lambda: 3)
    monkeypatch.setattr(ahead, "PUBLIC_ONLY", False)
    monkeypatch.setattr(subprocess, "Popen", lambda words, **_: began.append(words[-3:]) or Running(1))
    return began


def test_a_command_on_a_gpu_starts_them_once(started):
    ahead.start(CAPABILITY, "info")
    assert not started  # it launches no kernels
    ahead.start(CAPABILITY, "paths")
    assert started == [["9", "0", "paths"]]
    assert launch.wait_for_others is not None
    ahead.start.cache_clear()  # as another process
    ahead.start(CAPABILITY, "paths")
    assert len(started) == 1


def test_it_can_be_switched_off(started, monkeypatch):
    monkeypatch.setenv("EDGEWISE_COMPILE_AHEAD", "0")
    ahead.start(CAPABILITY, "paths")
    assert not started


def test_nothing_is_started_without_the_compiler(started, monkeypatch):
    def missing(_):
        raise PackageNotFoundError

    monkeypatch.setattr(launch, "label_of", missing)
    ahead.start(CAPABILITY, "paths")
    assert not started


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the number of cores is not known")
@pytest.mark.parametrize("cores, count", [(1, 0), (2, 0), (3, 0), (4, 1), (8, 3), (16, 6), (128, 6)])
def test_small_machines_compile_nothing_ahead(cores, count, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(cores))
    assert ahead.processes() == count
