"""The usual kernels of a GPU are compiled by other processes, each once; a command waits for one at most."""

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
USUAL = ahead.gpu_kernels("paths")
#: The quickest to compile.
QUICK = "edgewise.ingest.csr._find_row", ("uint64[]", "int64", "int64[]")
compiling = pytest.mark.skipif(INTERPRETED or SIMULATED, reason="it is the compiler that makes PTX")


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EDGEWISE_CACHE_DIR", str(tmp_path))
    cache.folder.cache_clear()
    yield cache.folder()
    cache.folder.cache_clear()


def kept(folder, ending):
    return sorted(path.name for path in folder.iterdir() if path.suffix == ending)


@pytest.mark.interpreter
@pytest.mark.parametrize("name, kinds", USUAL, ids=[name for name, _ in USUAL])
def test_the_list_names_kernels_and_their_types(name, kinds):
    assert ahead.kernel_named(name).name == name
    assert len(ahead.kinds_of(kinds)) == len(kinds)


def test_kernels_of_the_command_come_first():
    (own,) = (run["kernels"] for run in ahead.runs() if (run["device"], run["words"]) == ("cuda", ["paths"]))
    assert USUAL[: len(own)] == own == ahead.gpu_kernels("paths", others_first=True)[-len(own) :]
    assert sorted(USUAL) == sorted(ahead.gpu_kernels())


@compiling
@pytest.mark.ptx
def test_processes_share_the_work(empty_cache, tmp_path, monkeypatch):
    script = (
        "from edgewise.device import ahead; quick = ahead.gpu_kernels('generate')[:2];"
        f"ahead.gpu_kernels = lambda *_, **__: quick; ahead.compile_for_gpu({CAPABILITY}, 'generate', 1)"
    )
    words = [sys.executable, "-c", script]
    running = [subprocess.Popen(words) for _ in range(2)]
    with ended(*running):
        assert [one.wait(timeout=300) for one in running] == [0, 0]
    assert len(kept(empty_cache, ".ptx")) == 2
    assert not kept(empty_cache, ".lock") and not kept(empty_cache, ".draft")
    monkeypatch.setattr(launch, "_compile", None)  # nothing is compiled again
    for name, kinds in ahead.gpu_kernels("generate")[:2]:
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
        "import os; from edgewise.device import ahead; quick = ahead.gpu_kernels('generate')[:2];"
        "ahead.gpu_kernels = lambda command, others_first: quick[:: -1 if others_first else 1];"
        f"ahead.compile_for_gpu({CAPABILITY}, 'generate', 3); print(os.getpid(), flush=True)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert len(set(done.stdout.split())) == 3
    assert len(kept(empty_cache, ".ptx")) == 2


@pytest.mark.interpreter
@pytest.mark.parametrize("count, orders", [(1, [False]), (2, [False, False]), (3, [False, False, True])])
def test_the_last_third_begins_with_the_other_kernels(count, orders, monkeypatch):
    asked = []
    monkeypatch.setattr(launch, "prepare_compiler", lambda capability: None)
    monkeypatch.setattr(ahead, "gpu_kernels", lambda command, others_first: asked.append(others_first) or [])
    for number in range(count):
        answers = iter([1] * (number - 1) + [0]) if number else iter([1] * count)
        monkeypatch.setattr(os, "fork", answers.__next__, raising=False)
        ahead.compile_for_gpu(CAPABILITY, "paths", count)
    assert asked == orders


@pytest.mark.interpreter
def test_where_there_are_too_many_processes_one_does_all(monkeypatch):
    def refuse():
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", refuse, raising=False)
    with ahead._forked(3) as number:
        assert number == 0


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
    ahead._wait_for_usual(Running(10), name, kinds, answers.__next__)
    assert list(answers) == []
    running = Running(3)  # it ends without the kernel
    ahead._wait_for_usual(running, name, kinds, lambda: False)
    assert running.looks == -1
    ahead._wait_for_usual(None, name, ("int64",), None)  # not one of the usual kernels


@pytest.fixture
def started(empty_cache, monkeypatch):
    """What is started on a machine with a GPU and many cores."""
    began = []
    monkeypatch.setattr(ahead, "SIMULATED", False)
    monkeypatch.setattr(launch, "label_of", lambda capability: "sm90-1")
    monkeypatch.setattr(launch, "wait_for_others", None)
    monkeypatch.setattr(ahead, "usable_cores", lambda: 8)
    monkeypatch.setattr(os, "sched_getaffinity", None, raising=False)
    monkeypatch.setattr(ahead, "PUBLIC_ONLY", False)
    monkeypatch.setattr(subprocess, "Popen", lambda words, **_: began.append(words[-1]) or Running(1))
    return began


def test_a_command_on_a_gpu_starts_them_once(started):
    ahead.start_for_gpu(CAPABILITY, "info")
    assert not started  # it launches no kernels
    ahead.start_for_gpu(CAPABILITY, "paths")
    assert [one.rpartition("ahead.")[2] for one in started] == ["compile_for_gpu((9, 0), 'paths', 3)"]
    assert launch.wait_for_others is not None
    ahead.start_for_gpu(CAPABILITY, "paths")  # as another process would
    assert len(started) == 1


def test_it_can_be_switched_off(started, monkeypatch):
    monkeypatch.setenv("EDGEWISE_COMPILE_AHEAD", "0")
    ahead.start_for_gpu(CAPABILITY, "paths")
    assert not started


def test_nothing_is_started_without_the_compiler(started, monkeypatch):
    def missing(_):
        raise PackageNotFoundError

    monkeypatch.setattr(launch, "label_of", missing)
    ahead.start_for_gpu(CAPABILITY, "paths")
    assert not started


@pytest.mark.parametrize("cores, count", [(1, 0), (2, 0), (3, 0), (4, 1), (8, 3), (16, 6), (128, 6)])
def test_small_machines_compile_nothing_ahead(cores, count, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", None, raising=False)
    monkeypatch.setattr(ahead, "usable_cores", lambda: cores)
    assert ahead.processes("cuda") == count
