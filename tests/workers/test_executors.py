"""Executors: the same four methods over threads and Dask; workers that cannot take part are named."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest

import edgewise as ew
from edgewise.errors import OptionError, WorkerError
from edgewise.workers import dask as dask_page
from edgewise.workers import local_cluster
from edgewise.workers.dask import DaskExecutor, check_version, connected
from edgewise.workers.executors import PoolExecutor, executor_of

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(params=["threads", "dask"])
def executor(request):
    if request.param == "dask":
        yield executor_of(request.getfixturevalue("dask"))
        return
    with ThreadPoolExecutor(2) as pool:
        yield executor_of(pool)


def divide(numbers, divisor):
    return sum(numbers) // divisor


def test_four_methods(executor):
    assert executor.slots == 2 and executor.sharing == 2 and executor.machines == 1
    assert executor.memory > 1 << 28
    numbers = executor.scatter(list(range(10)))
    calls = [executor.submit(divide, numbers, divisor) for divisor in (1, 5)]
    assert executor.gather(calls) == [45, 9]
    failing = executor.submit(divide, numbers, 0)
    with pytest.raises(ZeroDivisionError):
        executor.gather([failing])
    completed = executor.as_completed([failing])
    more = executor.submit(divide, numbers, 9)
    completed.add(more)
    assert {next(completed), next(completed)} == {failing, more}
    with pytest.raises(StopIteration):
        next(completed)


def test_what_is_no_client():
    with pytest.raises(
        OptionError, match=r"client= is a str; give a dask.distributed.Client or a concurrent"
    ):
        executor_of("tcp://10.0.0.1:8786")

    class Other:
        """An adapter for another engine."""

        submit = scatter = gather = as_completed = None

    other = Other()
    assert executor_of(other) is other
    with ThreadPoolExecutor(1) as pool:
        assert isinstance(executor_of(pool), PoolExecutor)


def test_workers_of_another_version_are_named(dask, monkeypatch):
    own = ew.__version__
    with pytest.raises(
        WorkerError, match=r"worker tcp://a:1 has edgewise 0.0.1, and the caller 9.9; install"
    ):
        check_version("tcp://a:1", "0.0.1", "9.9")
    for version, words in (("0.0.1", f"has edgewise 0.0.1, and the caller {own}"), (None, "has no edgewise")):
        workers = {"tcp://a:1": {"packages": {"edgewise": version}}}
        monkeypatch.setattr(dask, "get_versions", lambda workers=workers, **_: {"workers": workers})
        with pytest.raises(WorkerError, match=f"worker tcp://a:1 {words}"):
            executor_of(dask)


def test_schedulers_that_are_not_there(monkeypatch):
    with pytest.raises(OptionError, match=r"scheduler='local:many' names no number of workers; use local:2"):
        connected("local:many").__enter__()
    pytest.importorskip("distributed", reason="Dask is not installed (edgewise[dask])")
    monkeypatch.setattr(f"{connected.__module__}.PATIENCE", 0.2)
    with pytest.raises(WorkerError, match=r"there is no Dask scheduler at tcp://127.0.0.1:1 "):
        connected("tcp://127.0.0.1:1").__enter__()


def test_a_cluster_without_workers(monkeypatch):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed (edgewise[dask])")
    monkeypatch.setattr(f"{connected.__module__}.PATIENCE", 0.2)
    options = {"processes": False, "n_workers": 0, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster) as client,
        pytest.raises(WorkerError, match=r"has had no worker for 0.2 seconds; start one: dask worker"),
    ):
        executor_of(client)


def test_a_cluster_that_has_lost_its_workers(monkeypatch):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed (edgewise[dask])")
    monkeypatch.setattr(f"{connected.__module__}.GONE", 0.3)
    monkeypatch.setattr(f"{connected.__module__}.LOOK", 0.05)
    how = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**how) as cluster, distributed.Client(cluster) as client:
        executor = DaskExecutor(client)
        completed = executor.as_completed([executor.submit(int, "3")])
        assert [future.result() for future in completed] == [3]
        cluster.scale(0)
        while client.scheduler_info(n_workers=-1)["workers"]:
            time.sleep(0.01)
        completed.add(executor.submit(int, "4"))
        with pytest.raises(WorkerError, match=r"has had no worker for 0\.3 seconds; start workers"):
            next(completed)


def test_without_dask(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(
        OptionError, match=r"needs Dask, which is not installed; pip install 'edgewise\[dask\]'"
    ):
        connected("local:2").__enter__()


def test_a_value_lost_while_it_was_handed_out_is_handed_out_again(dask):
    """The scheduler cancels nothing then, and knows no value of that name."""
    from distributed import Future

    executor = executor_of(dask)
    value = executor.scatter(41)
    value.held = Future("nowhere", dask)
    with pytest.raises(executor.gone):
        executor.gather([executor.submit(abs, value)])
    assert executor.gather([executor.submit(abs, value)]) == [41]


def test_a_value_is_handed_out_again_if_a_worker_ends_meanwhile(dask, monkeypatch):
    """The scheduler looks for a worker then that it does not have any more."""
    executor, scatter, failures = executor_of(dask), dask.scatter, [KeyError("tcp://127.0.0.1:3")] * 2

    def failing(*given, **how):
        if failures:
            raise failures.pop()
        return scatter(*given, **how)

    monkeypatch.setattr(dask, "scatter", failing)
    assert executor.gather([executor.submit(abs, executor.scatter(-41))]) == [41]
    failures += [KeyError("tcp://127.0.0.1:3")] * 9
    monkeypatch.setattr(f"{connected.__module__}.sleep", lambda seconds: None)
    with pytest.raises(KeyError):
        executor.submit(abs, executor.scatter(-41))
    assert len(failures) == 3  # of nine, since it is tried six times


def test_machines_of_a_cluster(dask, monkeypatch):
    """A machine is only known to have one task at a time where it has one worker."""
    whole = dask.scheduler_info(n_workers=-1)
    one = next(iter(whole["workers"].values()))

    def machines(*hosts, gpu_on=(), device="cpu"):
        workers = {
            str(number): one
            | {"host": host, "memory_limit": 100 - number, "resources": {"GPU": number in gpu_on}}
            for number, host in enumerate(hosts)
        }
        monkeypatch.setattr(dask, "scheduler_info", lambda **_: whole | {"workers": workers})
        executor = DaskExecutor(dask, device)
        assert executor.sharing == max(map(hosts.count, hosts))
        return executor.machines, executor.memory

    assert machines("a", "a", "a") == (1, 98)
    assert machines("a", "b", "c") == (3, 98)
    assert machines("a", "b", "b") == (3, 98)
    assert machines("a", "b", "b", gpu_on=(0, 1), device="cuda") == (2, 99)
    assert machines("a", "b", "b", gpu_on=(1,), device="cuda") == (1, 99)


FAILING = """
import distributed

def fail(*_, **__):
    raise RuntimeError("Nanny failed to start.\\nand more")

distributed.LocalCluster = fail
"""


@pytest.mark.parametrize(
    "before, reason",
    ((FAILING, r"Nanny failed to start\."), ("raise SystemExit\n", "their scheduler has ended")),
)
def test_workers_that_do_not_start(before, reason, monkeypatch):
    pytest.importorskip("distributed", reason="Dask is not installed (edgewise[dask])")
    monkeypatch.setattr(local_cluster, "START", before + local_cluster.START)
    words = rf"the workers of Dask on this machine did not start \({reason}\); repeat"
    with pytest.raises(WorkerError, match=words):
        connected("local:2").__enter__()


def test_a_scheduler_that_ends_while_it_starts(monkeypatch):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed (edgewise[dask])")

    def fail(*_, **__):
        raise OSError("Timed out")

    monkeypatch.setattr(dask_page, "local_cluster", lambda _: nullcontext("tcp://127.0.0.1:1"))
    monkeypatch.setattr(distributed, "Client", fail)
    with pytest.raises(WorkerError, match=r"did not start \(Timed out\); repeat"):
        connected("local:2").__enter__()


def processes_of(client):
    """Numbers and sessions of the processes of a cluster: its workers, and their scheduler."""
    workers = client.run(lambda: (os.getpid(), os.getsid(0))).values()
    return [*workers, client.run_on_scheduler(lambda: (os.getpid(), os.getsid(0)))]


def wait_for_end(number):
    """Wait until a process has ended, though nobody may ask for its status."""
    psutil = pytest.importorskip("psutil")
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(number)
        while process.status() != psutil.STATUS_ZOMBIE:
            time.sleep(0.01)


@pytest.mark.skipif(not hasattr(os, "getsid"), reason="there are no sessions")
def test_workers_that_are_started_end_with_the_context():
    """They are out of reach of the terminal."""
    pytest.importorskip("distributed", reason="Dask is not installed (edgewise[dask])")
    with connected("local:2") as client:
        numbers, sessions = zip(*processes_of(client))
        assert len(set(numbers)) == 3
        assert set(sessions) == {numbers[-1]} != {os.getsid(0)}
    for number in numbers:
        wait_for_end(number)


KILLED = """
import os, signal
from edgewise.workers.dask import connected
from tests.workers.test_executors import processes_of
with connected("local:1") as client:
    print(*(number for number, _ in processes_of(client)), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not hasattr(os, "getsid"), reason="there are no sessions")
def test_workers_that_are_started_end_with_a_process_that_is_killed(tmp_path):
    pytest.importorskip("distributed", reason="Dask is not installed (edgewise[dask])")
    here = os.environ | {"TMPDIR": str(tmp_path)}  # where a process that is killed leaves its files
    done = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, text=True, env=here, cwd=ROOT)
    assert (done.returncode, done.stderr) == (-signal.SIGKILL, "")
    for number in map(int, done.stdout.split()):
        wait_for_end(number)
