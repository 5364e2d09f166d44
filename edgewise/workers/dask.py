"""Tasks on the workers of a Dask cluster.

Dask is imported where a client is given, or where a cluster is asked for by :func:`connected`.  Its workers
have the version of edgewise that the caller has, or are refused by name: two versions may number ids, or lay
out the files that tasks exchange, in different ways.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from time import monotonic, sleep
from typing import Any

import edgewise
from edgewise.errors import OptionError, WorkerError, argument
from edgewise.workers.local_cluster import local_cluster, not_started
from edgewise.workers.machine import machine_memory

#: Seconds to wait for a scheduler, and for its first worker.
PATIENCE = 30
#: Seconds to wait for another worker when all are gone.
GONE = 120
#: Seconds between two looks at the futures.
PAUSE = 0.001
#: Seconds between two looks at the number of workers.
LOOK = 2
#: How often a value is handed out, if workers end while it is.
MOST_TRIES = 6
#: Resource of the workers that have a GPU: ``dask worker --resources GPU=1``.
GPU = "GPU"


class GoneError(Exception):
    """A scattered value was on no worker any more when a task needed it."""


class DaskExecutor:
    """A :class:`distributed.Client`, after a check of the versions of its workers."""

    def __init__(self, client: Any, device: str = "cpu"):
        from distributed import CancelledError, KilledWorker
        from distributed.comm import CommClosedError

        self.client = client
        self.lost: tuple[type[BaseException], ...] = (KilledWorker,)
        self.gone: tuple[type[BaseException], ...] = (GoneError,)
        self.cancelled = CancelledError
        #: By the key of a future: arguments that :meth:`scatter` returned, and what stood for them.
        self.scattered: dict[str, list[tuple[Scattered, Any]]] = {}
        self.closed: tuple[type[BaseException], ...] = (CancelledError, CommClosedError)
        if getattr(client, "asynchronous", False):
            raise OptionError(f"{argument('client')} is asynchronous; give one that waits for results")
        self._wait_for_workers()
        self._check_versions()
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        gpus = 0 if device == "cpu" else int(sum(worker["resources"].get(GPU, 0) for worker in workers))
        #: What a task takes of the resources of its worker.
        self.needs = {"resources": {GPU: 1}} if gpus else {}
        self.slots = max(1, gpus or sum(worker["nthreads"] for worker in workers))
        busiest = Counter[str]()
        for worker in workers:
            busiest[worker["host"]] += worker["nthreads"]
        self.sharing = max(busiest.values(), default=1)
        takers = [worker for worker in workers if not gpus or worker["resources"].get(GPU)]
        hosts = {worker["host"] for worker in takers}
        # the scheduler may give two tasks to one machine, unless each machine has only one worker
        self.machines = len(hosts) if len(hosts) in (1, len(takers)) else self.slots
        self.memory = min((worker["memory_limit"] or machine_memory() for worker in takers), default=0)

    def _wait_for_workers(self):
        try:
            self.client.wait_for_workers(1, timeout=PATIENCE)
        except (TimeoutError, OSError):
            problem = f"the scheduler {self._address()} has had no worker for {PATIENCE} seconds"
            raise WorkerError(f"{problem}; start one: dask worker {self._address()}") from None

    def _check_versions(self):
        found = self.client.get_versions(packages=["edgewise"])["workers"]
        for worker, versions in sorted(found.items()):
            check_version(worker, versions["packages"].get("edgewise"))

    def _address(self):
        return getattr(self.client.scheduler, "address", None) or "at this address"

    def submit(self, function: Callable, *arguments: Any) -> Any:
        given = [one.future() if isinstance(one, Scattered) else one for one in arguments]
        future = self.client.submit(function, *given, pure=False, **self.needs)
        if used := [(one, held) for one, held in zip(arguments, given) if isinstance(one, Scattered)]:
            self.scattered[future.key] = used
        return future

    def scatter(self, value: Any) -> Any:
        return Scattered(self, value)

    def gather(self, calls: Iterable[Any]) -> list:
        calls = list(calls)
        used = [pair for one in calls for pair in self.scattered.pop(one.key, ())]
        try:
            return self.client.gather(calls)
        except self.cancelled as error:
            for one, held in used:
                one.forget(held)
            if used and self.client.status == "running":
                raise GoneError("what was handed to the workers has gone with them") from error
            raise

    def as_completed(self, calls: Iterable[Any]) -> Any:
        from distributed import as_completed

        completed = as_completed(list(calls), raise_errors=False)
        return Watched(completed, self._count)

    def _count(self):
        """Number of workers; 0 if the scheduler does not answer."""
        try:
            return len(self.client.scheduler_info(n_workers=-1)["workers"])
        except OSError:
            return 0


class Scattered:
    """A value for all workers, which is handed out again when all that had it are gone.

    The scheduler cancels what stands for it then; but not if they die while it is handed out, so a call that
    finds it lost makes it forgotten.
    """

    def __init__(self, executor: DaskExecutor, value: Any):
        self.executor, self.value, self.held = executor, value, None

    def future(self) -> Any:
        """What stands for the value as an argument of a task."""
        client, tries = self.executor.client, 0
        while self.held is None or self.held.cancelled():
            client.wait_for_workers(1, timeout=GONE)
            try:
                # to one worker, from which others take it: a broadcast does not end if a worker dies
                (self.held,) = client.scatter([self.value], broadcast=False, hash=False)
            except Exception:  # the worker that was to have it may have died
                tries += 1
                if tries == MOST_TRIES or client.status != "running":
                    raise
                sleep(0.1 * 2**tries)
        return self.held

    def forget(self, held: Any) -> None:
        """Hand the value out again for the next task, if it is still ``held`` that stands for it."""
        if self.held is held:
            self.held = None


class Watched:
    """Iterator of futures of Dask as they end, which does not wait for ever for a cluster without workers.

    Parameters
    ----------
    completed : distributed.as_completed
    count : callable
        Returns the number of workers.
    """

    def __init__(self, completed: Any, count: Callable[[], int]):
        self.completed, self.count = completed, count
        self.add = completed.add

    def __iter__(self) -> Watched:
        return self

    def __next__(self) -> Any:
        looked = seen = monotonic()
        while not (self.completed.has_ready() or self.completed.is_empty()):
            sleep(PAUSE)
            if monotonic() - looked > LOOK:
                looked = monotonic()
                seen = looked if self.count() else seen
            if monotonic() - seen > GONE:
                problem = f"the cluster has had no worker for {GONE} seconds"
                raise WorkerError(f"{problem}; start workers and repeat the call")
        return next(self.completed)


def check_version(worker: str, version: str | None, own: str = edgewise.__version__) -> None:
    """Raise :class:`~edgewise.errors.WorkerError` unless a worker has the version ``own``."""
    if version is None:
        raise WorkerError(f"worker {worker} has no edgewise; install edgewise {own} on every worker")
    if version != own:
        problem = f"worker {worker} has edgewise {version}, and the caller {own}"
        raise WorkerError(f"{problem}; install one version on all of them")


def worker_name() -> str:
    """What messages call the worker that the calling task runs on: an address of Dask, or a process."""
    import sys

    if "distributed" in sys.modules:
        from distributed import get_worker

        try:
            return get_worker().address
        except ValueError:
            pass  # no worker of Dask, though Dask is here
    return f"process {os.getpid()}"


@contextmanager
def connected(scheduler: str) -> Iterator[Any]:
    """Context with a client of a scheduler: its address, or ``local:N``, which starts N workers here.

    Raises
    ------
    OptionError
        Dask is not installed, or ``local:`` is not followed by a number of workers.
    WorkerError
        There is no scheduler at the address.
    """
    kind, _, count = scheduler.partition(":")
    workers = int(count) if kind == "local" and count.isascii() and count.isdecimal() else 0
    if kind == "local" and not workers:
        given = argument("scheduler", scheduler)
        raise OptionError(f"{given} names no number of workers; use local:2, or an address")
    if find_spec("distributed") is None:
        problem = f"{argument('scheduler', scheduler)} needs Dask, which is not installed"
        raise OptionError(f"{problem}; pip install 'edgewise[dask]'")
    if workers:
        with local_cluster(workers) as address, _client_here(address) as client:
            yield client
        return
    from distributed import Client

    try:
        client = Client(scheduler, timeout=PATIENCE)
    except (OSError, ValueError, TimeoutError) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        problem = f"there is no Dask scheduler at {scheduler} ({reason})"
        raise WorkerError(f"{problem}; start one by 'dask scheduler', and name its address") from None
    with client:
        yield client


def _client_here(address):
    """A client of a scheduler on this machine."""
    from distributed import Client

    try:
        return Client(address, direct_to_workers=True)
    except (OSError, RuntimeError, TimeoutError) as error:
        raise not_started(error) from error
