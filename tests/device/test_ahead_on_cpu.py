"""A command's later kernels are compiled by other processes, each once; these end with the command."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from edgewise import notices, unfinished
from edgewise.device import ahead_on_cpu, cache, threads
from edgewise.device.ahead import kinds_of
from edgewise.device.launch import numba_type
from edgewise.device.numba_internals import HAS_CACHE
from edgewise.device.target import INTERPRETED, SIMULATED
from tests.processes import ended

RUNS = ahead_on_cpu.runs()
KERNELS = {kernel[0]: kernel[1] for run in RUNS for kernel in run["kernels"]}
#: The first kernel of each run.
FIRST = [(run["kernels"][0][0], repr(ahead_on_cpu.types_of(run["kernels"][0][1]))) for run in RUNS]
compiling = pytest.mark.skipif(
    INTERPRETED or SIMULATED or not HAS_CACHE, reason="it is the compiler that keeps kernels"
)
#: Ends as a command does whose helpers compile; prints their numbers first.
COMMAND = """
import sys, time
from edgewise import unfinished
from edgewise.command import keyboard
from edgewise.device import ahead_on_cpu
keyboard.watch()
ahead_on_cpu.processes = lambda: 2
ahead_on_cpu.START = "import sys; sys.path[:] = {path}; from edgewise import unfinished; "
ahead_on_cpu.START += "unfinished.end_with_caller(); import time; time.sleep(60 + {number})"
name, kinds = ahead_on_cpu.runs()[0]["kernels"][0]
ahead_on_cpu.start(["partition"], name, repr(ahead_on_cpu.types_of(kinds)))
print(*[one.pid for one in unfinished._leaders], flush=True)
time.sleep(float(sys.argv[1]))
keyboard.leave(0)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder of kernels, of a process that shares no work yet."""
    monkeypatch.setenv("EDGEWISE_CACHE_DIR", str(tmp_path))
    for name in "wait_for_other", "progress":
        monkeypatch.setattr(cache, name, None)
    cache.folder.cache_clear()
    yield cache.folder()
    cache.folder.cache_clear()


@pytest.mark.interpreter
@pytest.mark.parametrize("name", KERNELS)
def test_the_list_names_functions_and_their_types(name):
    assert ahead_on_cpu.function_named(name).name == name
    assert ahead_on_cpu.written_as(map(numba_type, kinds_of(KERNELS[name]))) == KERNELS[name]


@pytest.mark.interpreter
def test_a_run_is_found_by_its_words_and_its_first_kernel():
    for number, run in enumerate(RUNS):
        found, needed = ahead_on_cpu._run_of(["a.csv", *run["words"]], *FIRST[number])
        assert found <= number  # that of the same kernels after others
        assert needed == [kernel[0] for kernel in run["kernels"]]
    name, signature = FIRST[0]
    for words, *kernel in (["convert"], name, signature), (["partition"], name, "(int64,)"):
        assert ahead_on_cpu._run_of(words, *kernel) == (None, [])


@pytest.fixture
def started(folder, monkeypatch):
    """The words of the processes that are started on a machine with four cores."""
    began = []

    class Session:
        def __init__(self, words, quiet):
            began.append(words[-1])

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def poll(self):
            return 0

    monkeypatch.setattr(unfinished, "session", Session)
    monkeypatch.setattr(cache, "keeps_of_all_processes", lambda: True)
    monkeypatch.setattr(ahead_on_cpu, "processes", lambda: 3)
    return began


@pytest.mark.interpreter
def test_a_command_starts_them_where_much_is_left_to_do(started, monkeypatch):
    kernels = RUNS[0]["kernels"]
    last = kernels[-1][0], repr(ahead_on_cpu.types_of(kernels[-1][1]))
    ahead_on_cpu.start(["partition", "--quiet"], *last)
    assert not started and cache.wait_for_other is None
    assert cache.progress() == " (0 of about 1 kernels)"
    monkeypatch.setattr(cache, "names_of_kernels", lambda: [name for name, _ in kernels[2:]])
    ahead_on_cpu.start(["partition", "--quiet"], *FIRST[0])
    assert not started  # nearly all are there, for other types
    monkeypatch.setattr(cache, "names_of_kernels", list)
    ahead_on_cpu.start(["partition", "--quiet"], *FIRST[0])
    assert len(started) == 3 and all("compile_usual(0)" in words for words in started)
    cache.wait_for_other("some")  # they have ended
    assert cache.wait_for_other is None


@pytest.mark.interpreter
def test_it_is_asked_until_a_kernel_is_in_the_list(started, folder, monkeypatch):
    """As for a partition of a text file, whose first kernels are those that read it."""
    asked = []

    def ask(*kernel):
        asked.append(kernel)
        return ahead_on_cpu.start(["partition"], *kernel)

    monkeypatch.setattr(cache, "names_of_kernels", list)
    monkeypatch.setattr(notices, "first_kernel", ask)
    monkeypatch.setattr(notices, "listener", lambda name: None)
    kernels = ("edgewise.files.text_ids.some", "(int64,)"), FIRST[0], FIRST[1]
    for kernel in kernels:
        assert cache._kept_kernel(*kernel) is None
        cache._read_kernel(*kernel)
    cache.unlock_kernels()
    assert asked == [*kernels[:2]]
    assert len(started) == 3


@pytest.mark.interpreter
def test_it_can_be_switched_off(started, monkeypatch):
    monkeypatch.setenv("EDGEWISE_COMPILE_AHEAD", "0")
    ahead_on_cpu.start(["partition"], *FIRST[0])
    assert not started
    assert cache.progress is not None


@pytest.mark.interpreter
def test_nothing_is_started_where_nothing_is_kept(started, monkeypatch):
    monkeypatch.setattr(cache, "keeps_of_all_processes", lambda: False)
    ahead_on_cpu.start(["partition"], *FIRST[0])
    assert not started and cache.progress is None
    monkeypatch.setattr(cache, "keeps_of_all_processes", lambda: True)
    monkeypatch.setattr(cache, "shipped_folder", lambda: Path())
    ahead_on_cpu.start(["partition"], *FIRST[0])
    assert not started and cache.progress is None


@pytest.mark.interpreter
@pytest.mark.parametrize("cores, count, number", [(1, 8, 0), (2, 8, 1), (2, 1, 0), (4, 8, 3), (64, 64, 3)])
def test_a_process_for_each_further_core(cores, count, number, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", None, raising=False)
    monkeypatch.setattr(ahead_on_cpu, "usable_cores", lambda: cores)
    monkeypatch.setattr(threads, "count", lambda: count)
    assert ahead_on_cpu.processes() == number
    monkeypatch.delattr(os, "sched_getaffinity")
    assert ahead_on_cpu.processes() == 0


@pytest.mark.interpreter
def test_the_count_of_kernels_is_shown(folder, monkeypatch):
    said = []
    monkeypatch.setattr(notices, "listener", said.append)
    monkeypatch.setattr(cache, "progress", lambda: ahead_on_cpu._progress(4, 0, time.monotonic() - 6))
    cache.announce("edgewise.page.some")
    for number in range(3):
        (folder / f"{number}.nbc").touch()
    cache.announce("edgewise.page.other")
    cache.announce_end()
    (folder / "3.nbc").touch()
    cache.announce("edgewise.page.last")
    first, second = " (0 of about 4 kernels)", " (3 of about 4 kernels, 2 s left)"
    assert said == [f"some{first}", f"other{second}", "", "last"]


@compiling
def test_a_kernel_that_another_process_compiles_is_waited_for(folder, monkeypatch):
    kernel, found, waited = ("edgewise.page.some", "(int64,)"), [], threading.Event()
    file = next(cache._files_of(*kernel))
    monkeypatch.setattr(cache, "wait_for_other", lambda name: waited.set())
    monkeypatch.setattr(notices, "listener", lambda name: None)
    with cache.sole(file) as is_mine:
        assert is_mine
        waiting = threading.Thread(target=lambda: found.append(cache._read_kernel(*kernel)))
        waiting.start()
        assert waited.wait(timeout=60)
        cache._write(file, b"compiled")
    waiting.join()
    assert found == [b"compiled"]
    assert not cache._kernel_locks


@compiling
def test_a_kernel_whose_process_has_failed_is_compiled_here(folder, monkeypatch):
    kernel = "edgewise.page.some", "(int64,)"
    file = next(cache._files_of(*kernel))
    monkeypatch.setattr(notices, "listener", lambda name: None)
    monkeypatch.setattr(cache, "wait_for_other", lambda name: None)
    assert cache._read_kernel(*kernel) is None
    assert cache._read_kernel(*kernel) is None  # its compilation has failed in this process
    with cache.sole(file, wait=False) as is_mine:
        assert not is_mine
    cache._write_kernel(*kernel, b"compiled")
    with cache.sole(file, wait=False) as is_mine:
        assert is_mine
    assert cache._read_kernel(*kernel) == b"compiled"


@compiling
def test_nobody_is_waited_for_where_no_process_runs(folder, monkeypatch):
    monkeypatch.setattr(notices, "listener", lambda name: None)
    monkeypatch.setattr(cache, "wait_for_other", lambda name: ahead_on_cpu._wait([], name))
    kernel = "edgewise.page.some", "(int64,)"
    with cache.sole(next(cache._files_of(*kernel))):
        assert cache._read_kernel(*kernel) is None


@compiling
def test_what_a_process_compiles_is_what_the_command_loads(tmp_path):
    """A process compiles the last kernels of a run; then a command compiles only what precedes them."""
    script = (
        "import sys; from edgewise import unfinished; unfinished.end_with_caller = lambda: None;"
        "from edgewise.device import ahead_on_cpu; runs = ahead_on_cpu.runs();"
        "number = next(number for number, run in enumerate(runs) if run['words'] == ['components']);"
        "ahead_on_cpu.runs = lambda: {number: {'kernels': runs[number]['kernels'][-2:]}};"
        "ahead_on_cpu.compile_usual(number); print(*[name for name, _ in runs[number]['kernels'][-2:]])"
    )
    settings = os.environ | {"EDGEWISE_CACHE_DIR": str(tmp_path), "EDGEWISE_COMPILE_AHEAD": "0"}
    settings |= {"EDGEWISE_QUIET": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=settings, capture_output=True, text=True, check=True
    )
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")}
    assert sorted(name.rpartition("-")[0] for name in before) == sorted(done.stdout.split())
    assert not list(tmp_path.rglob("*.lock"))
    rows = "".join(f"{u},{7 * u % 200_000}\n" for u in range(300_000))
    (tmp_path / "pairs.csv").write_text("source,target\n" + rows)
    words = ["-m", "edgewise", "components", "pairs.csv", "--device", "cpu", "--quiet", "-o", "clusters.csv"]
    subprocess.run([sys.executable, *words], cwd=tmp_path, env=settings, check=True)
    after = {path.name: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")}
    names = [name.rpartition("-")[0] for name in after]
    assert before.items() <= after.items()
    assert len({*names}) == len(names) > len(before)


@compiling
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are seen in /proc")
@pytest.mark.parametrize("number", [None, "SIGINT", "SIGTERM", "SIGKILL"])
def test_no_process_is_left(number, tmp_path):
    settings = os.environ | {"EDGEWISE_CACHE_DIR": str(tmp_path)}
    words = [sys.executable, "-c", COMMAND, "0" if number is None else "60"]
    with ended(subprocess.Popen(words, env=settings, stdout=subprocess.PIPE, text=True)) as command:
        helpers = [int(word) for word in command.stdout.readline().split()]
        assert len(helpers) == 2
        if number is not None:
            time.sleep(0.5)  # they import the package
            command.send_signal(getattr(signal, number))
        command.wait(timeout=60)
        end = time.monotonic() + 30
        while any(map(_runs, helpers)) and time.monotonic() < end:
            time.sleep(0.01)
        assert not any(map(_runs, helpers))


def _runs(process):
    """Whether a process is there, and no zombie that nobody has waited for."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
