"""A command's later kernels are compiled by other processes, each once; these end with the command."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from edgewise import notices, unfinished
from edgewise.device import ahead, cache, threads
from edgewise.device.numba_internals import HAS_CACHE
from edgewise.device.target import INTERPRETED, SIMULATED
from tests.processes import ended

RUNS = ahead.runs()
ON_CPU = [number for number, run in enumerate(RUNS) if run["device"] == "cpu"]
PARTITION = next(number for number in ON_CPU if RUNS[number]["words"] == ["partition"])
KERNELS = {kernel[0]: kernel[1] for number in ON_CPU for kernel in RUNS[number]["kernels"]}
compiling = pytest.mark.skipif(
    INTERPRETED or SIMULATED or not HAS_CACHE, reason="it is the compiler that keeps kernels"
)


def kernel_of(number, position=0):
    """Name and signature of a kernel of a run, the first one by default."""
    name, kinds = RUNS[number]["kernels"][position]
    return name, repr(ahead.types_of(kinds))


#: Ends as a command does whose helpers compile; prints their numbers first.
COMMAND = """
import sys, time
from edgewise import unfinished
from edgewise.command import keyboard
from edgewise.device import ahead
keyboard.watch()
ahead.processes = lambda device: 2
own = ahead._calling
ahead._calling = lambda call: own(f"time.sleep(0); forked = ahead._forked(2); number = forked.__enter__(); "
    "ahead.unfinished.end_with_caller(); "
    "ahead.os.write(1, str(ahead.os.getpid()).encode() + bytes([10])); ahead.time.sleep(60)")
run = next(run for run in ahead.runs() if run["words"] == ["partition"] and run["device"] == "cpu")
name, kinds = run["kernels"][0]
ahead.start_on_cpu(["partition"], name, repr(ahead.types_of(kinds)))
(leader,) = unfinished._leaders
print(*[leader.stdout.readline().decode().strip() for _ in range(2)], flush=True)
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
    assert ahead.function_named(name).name == name
    assert len(ahead.types_of(KERNELS[name])) == len(KERNELS[name])


@pytest.mark.interpreter
def test_a_run_is_found_by_its_words_and_its_first_kernel(monkeypatch):
    found = []
    monkeypatch.setattr(ahead, "share", lambda numbers, needed: found.append((*numbers, needed)))
    for number in ON_CPU:
        assert ahead.start_on_cpu(["a.csv", *RUNS[number]["words"]], *kernel_of(number))
        taken, needed = found.pop()
        assert taken <= number  # that of the same kernels after others
        assert needed == RUNS[taken]["kernels"][-len(needed) :]
    name, signature = kernel_of(PARTITION)
    for words, *kernel in (["convert"], name, signature), (["partition"], name, "(int64,)"):
        assert not ahead.start_on_cpu(words, *kernel) and not found


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
    monkeypatch.setattr(os, "sched_getaffinity", None, raising=False)
    monkeypatch.setattr(ahead, "usable_cores", lambda: 4)
    monkeypatch.setattr(threads, "count", lambda: 4)
    return began


@pytest.mark.interpreter
def test_a_command_starts_them_where_much_is_left_to_do(started, monkeypatch):
    kernels = RUNS[PARTITION]["kernels"]
    ahead.start_on_cpu(["partition", "--quiet"], *kernel_of(PARTITION, -1))
    assert not started and cache.wait_for_other is None
    assert cache.progress() == " (0 of about 1 kernels)"
    monkeypatch.setattr(cache, "names_of_kernels", lambda: [name for name, _ in kernels[2:]])
    ahead.start_on_cpu(["partition", "--quiet"], *kernel_of(PARTITION))
    assert not started  # nearly all are there, for other types
    monkeypatch.setattr(cache, "names_of_kernels", lambda: [name for name, _ in kernels[7:]])
    ahead.start_on_cpu(["partition", "--quiet"], *kernel_of(PARTITION))
    assert not started  # as for a search, of whose seven kernels one takes most of the time
    monkeypatch.setattr(cache, "names_of_kernels", list)
    ahead.start_on_cpu(["partition", "--quiet"], *kernel_of(PARTITION))
    assert [one.rpartition("ahead.")[2] for one in started] == [f"compile_on_cpu([{PARTITION}], 1)"]
    cache.wait_for_other("some")  # they have ended
    assert cache.wait_for_other is None


@pytest.mark.interpreter
def test_it_is_asked_until_a_kernel_is_in_the_list(started, folder, monkeypatch):
    """As for a partition of a text file, whose first kernels are those that read it."""
    asked = []

    def ask(*kernel):
        asked.append(kernel)
        return ahead.start_on_cpu(["partition"], *kernel)

    monkeypatch.setattr(cache, "names_of_kernels", list)
    monkeypatch.setattr(notices, "first_kernel", ask)
    monkeypatch.setattr(notices, "listener", lambda name: None)
    kernels = ("edgewise.files.text_ids.some", "(int64,)"), kernel_of(PARTITION), kernel_of(PARTITION, 1)
    for kernel in kernels:
        assert cache._kept_kernel(*kernel) is None
        cache._read_kernel(*kernel)
    cache.unlock_kernels()
    assert asked == [*kernels[:2]]
    assert len(started) == 1


@pytest.mark.interpreter
def test_it_can_be_switched_off(started, monkeypatch):
    monkeypatch.setenv("EDGEWISE_COMPILE_AHEAD", "0")
    ahead.start_on_cpu(["partition"], *kernel_of(PARTITION))
    assert not started
    assert cache.progress is not None


@pytest.mark.interpreter
def test_nothing_is_started_where_nothing_is_kept(started, monkeypatch):
    monkeypatch.setattr(cache, "keeps_of_all_processes", lambda: False)
    ahead.start_on_cpu(["partition"], *kernel_of(PARTITION))
    assert not started and cache.progress is None
    monkeypatch.setattr(cache, "keeps_of_all_processes", lambda: True)
    monkeypatch.setattr(cache, "shipped_folder", lambda: Path())
    ahead.start_on_cpu(["partition"], *kernel_of(PARTITION))
    assert not started and cache.progress is None


@pytest.mark.interpreter
@pytest.mark.parametrize("cores, count, number", [(1, 8, 0), (2, 8, 1), (2, 1, 0), (4, 8, 3), (64, 64, 6)])
def test_a_process_for_each_further_core(cores, count, number, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", None, raising=False)
    monkeypatch.setattr(ahead, "usable_cores", lambda: cores)
    monkeypatch.setattr(threads, "count", lambda: count)
    assert ahead.processes("cpu") == number
    monkeypatch.delattr(os, "sched_getaffinity")
    assert ahead.processes("cpu") == 0


@pytest.mark.interpreter
def test_the_count_of_kernels_is_shown(folder, monkeypatch):
    said = []
    monkeypatch.setattr(notices, "listener", said.append)
    monkeypatch.setattr(cache, "progress", lambda: ahead._progress(4, 0, time.monotonic() - 6))
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
    has_ended = SimpleNamespace(poll=lambda: 0)
    monkeypatch.setattr(cache, "wait_for_other", lambda name: ahead._wait(has_ended, name))
    kernel = "edgewise.page.some", "(int64,)"
    with cache.sole(next(cache._files_of(*kernel))):
        assert cache._read_kernel(*kernel) is None


@compiling
def test_what_a_process_compiles_is_what_the_command_loads(tmp_path):
    """A process compiles the last kernels of a run; then a command compiles only what precedes them."""
    script = (
        "import os; from edgewise import unfinished; unfinished.end_with_caller = lambda: None;"
        "own = os.getpid();"
        "from edgewise.device import ahead; runs = [run for run in ahead.runs() if run['device'] == 'cpu'];"
        "kernels = next(run['kernels'][-2:] for run in runs if run['words'] == ['components']);"
        "ahead.runs = lambda: [{'kernels': kernels}];"
        "ahead.compile_on_cpu([0], 2); print(*[name for name, _ in kernels] if os.getpid() == own else '')"
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
