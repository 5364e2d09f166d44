"""Tasks on one device or several: one host thread per device, and a sum at the end.

Tasks share nothing but the graph, so that every device has all of it, counts its tasks into an array of its
own, and in the end the arrays are added on the first device.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Lock
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from edgewise.cycles.counting.ranked import Ranked
from edgewise.cycles.method import Solver
from edgewise.cycles.planning import cost_model
from edgewise.cycles.planning.schedules import Tasks
from edgewise.device import arrays, streams, threads

#: Runs that are queued on a GPU beside the one in progress, so that it never waits for the host.
PREFETCH = 1
#: Share of all speed from which the CPU joins GPUs, and seconds of work for which it is worth starting.
LEAST_SHARE, LEAST_SECONDS = 0.1, 0.05
#: Seconds, estimated, from which a count is long enough to be interrupted.
LONG = 1.0


class Job(NamedTuple):
    """What all devices work on.

    Attributes
    ----------
    start : callable
        ``start(ranked, order)`` returns a solver on their device.
    ranked : Ranked
    tasks : Tasks
    dealer : object
        ``take(worker)`` returns a run of tasks or ``None``; ``report(worker, run, seconds)``, if it has that,
        is called after each run.
    seconds : float
        Estimated, for all devices together.
    progress : callable, optional
        Called with the estimated work that is done, and all of it, after each run.
    """

    start: Callable[[Ranked, Any], Solver]
    ranked: Ranked
    tasks: Tasks
    dealer: Any
    seconds: float = 0.0
    progress: Callable[[float, float], Any] | None = None


def joining(devices, seconds: float):
    """Numbers of the devices that take part under ``auto``: the CPU beside GPUs only where that pays.

    A CPU of few threads adds nothing to a GPU, and takes from it the thread that launches; nor does it pay
    where all is done in less time than threads take to start.
    """
    gpus = [number for number, device in enumerate(devices) if device != "cpu"]
    if not gpus or len(gpus) == len(devices):
        return list(range(len(devices)))
    share = cost_model.speed_of("cpu") / sum(map(cost_model.speed_of, devices))
    return list(range(len(devices))) if share >= LEAST_SHARE and seconds >= LEAST_SECONDS else gpus


def count_tasks(job: Job, devices):
    """Do all tasks on the devices.

    Parameters
    ----------
    job : Job
    devices : sequence of str

    Returns
    -------
    (n,) int64 array
        Counts by rank, on the first device.
    """
    if not len(job.tasks):
        return arrays.zeros(job.ranked.n_vertices, np.int64, devices[0])
    count = _Count(job)
    arrays.synchronize(job.ranked.device)  # other devices read these arrays on streams of their own
    if len(devices) == 1 and job.seconds <= LONG:
        return count.on_device(0, devices[0])
    parts = count.in_threads(devices)
    with arrays.guard(devices[0]):
        total = parts[0]
        for part in parts[1:]:
            total += arrays.move(part, devices[0])
        arrays.synchronize(devices[0])
    return total


class _Count:
    """A count in progress; an error on a device, or Ctrl-C, stops the others after their current runs."""

    def __init__(self, job):
        self.job, self.stopped, self.done, self.lock = job, False, 0.0, Lock()

    def in_threads(self, devices):
        """Counts of every device, each driven by a thread of its own.

        Ctrl-C takes effect at once: a compiled search from a single vertex may be long, and ends on its own.
        """
        loop_threads, pool = threads.count(), ThreadPoolExecutor(len(devices))
        futures = [pool.submit(self.on_device, *worker, loop_threads) for worker in enumerate(devices)]
        try:
            return [future.result() for future in futures]
        except BaseException as error:
            self.stopped = True
            if not isinstance(error, KeyboardInterrupt):
                wait(futures)
            raise
        finally:
            pool.shutdown(wait=False)

    def on_device(self, worker, device, loop_threads=None):
        """Do the runs that are dealt to one device; return its counts."""
        if loop_threads is not None:
            threads.use(loop_threads)
        try:
            with arrays.guard(device):
                return self._counts(worker, device)
        except BaseException:
            self.stopped = True
            raise

    def _counts(self, worker, device):
        job = self.job
        solver = job.start(_moved(job.ranked, device), arrays.move(job.tasks.order, device))
        stream, queued, since = streams.current(device), deque(), perf_counter()
        while not self.stopped and (run := job.dealer.take(worker)) is not None:
            if not queued:
                since = perf_counter()
            solver.count(*run)
            queued.append((run, stream.record()))
            if device == "cpu" or len(queued) > PREFETCH:
                since = self._finish(worker, *queued.popleft(), since)
        while queued:
            since = self._finish(worker, *queued.popleft(), since)
        counts = solver.counts
        arrays.synchronize(device)
        return counts

    def _finish(self, worker, run, event, since):
        """Wait for a run, report it, and return the time."""
        event.synchronize()
        now, job = perf_counter(), self.job
        if hasattr(job.dealer, "report"):
            job.dealer.report(worker, run, now - since)
        if job.progress is not None:
            with self.lock:
                self.done += float(job.tasks.loads[slice(*run)].sum())
                job.progress(self.done, job.tasks.total)
        return now


def _moved(ranked: Ranked, device: str) -> Ranked:
    """The ranked graph on another device; itself where it is there."""
    if device == ranked.device:
        return ranked
    return Ranked._make(arrays.move(one, device) if hasattr(one, "dtype") else one for one in ranked)
