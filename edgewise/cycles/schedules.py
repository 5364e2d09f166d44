"""How the devices of a process, or the workers of an executor, share the tasks of a count.

Every device has the whole graph, and counts its tasks into an array of its own; in the end the arrays are
added on the first device.  A schedule deals the tasks:

======================  ====================================================================================
schedule                each device gets
======================  ====================================================================================
``auto``                pieces by estimated work, heavy tasks first, each half of the device's share of what
                        remains, by measured speed; the CPU takes light ones, if it takes part at all
``static``              one equal run of vertices, in the order of their numbers
``static-weighted:10``  the same, except that a GPU gets 10 times as many as a thread of the CPU
``queue:64``            64 vertices per thread of the CPU, 8 times 64 per GPU, repeatedly
======================  ====================================================================================

The last three are baselines: those of the CS406 project, numbers included.  ``bench/notes/cycles.md`` tells
their weaknesses.

A device takes one run of tasks after the other from the dealer of its schedule, and a thread of its own
drives it.  To the workers of an executor the ranked graph is sent once.  Their runs have about the same
estimated work, heavy tasks first, and a run that is lost with its worker is counted again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from edgewise.cycles.counting.ranked import Ranked
from edgewise.cycles.planning import LONG, Tasks, speed_of
from edgewise.device import arrays, streams, threads
from edgewise.errors import OptionError, argument, one_of
from edgewise.workers.calls import Call, CallRun
from edgewise.workers.executors import Executor, Shared
from edgewise.workers.queue import LoadQueue, WorkQueue

#: Seconds a run of ``auto`` should take at least: long enough to hide the launch of a kernel.
RUN_SECONDS = 0.002
#: Seconds between two reports of progress of a single device.
RUN_OF_ONE = 0.25
#: Seconds between two reports of progress of each of several devices.
RUN_OF_SEVERAL = 1.0
#: Runs in all, at most.
RUNS = 100_000
#: Chunks of the schedule ``queue`` that a GPU takes at once.
CHUNKS_OF_GPU = 8
#: Runs that are queued on a GPU beside the one in progress, so that it never waits for the host.
QUEUED = 1
#: Runs of tasks for each slot of the workers.
RUNS_PER_SLOT = 8


class Plan(NamedTuple):
    """What a schedule reads: the tasks, estimated seconds of all devices together, and its own number."""

    tasks: Tasks
    seconds: float
    devices: tuple[str, ...]
    number: float


class Dealer(NamedTuple):
    """What the devices take their runs from: ``take(worker)`` returns a run of tasks, or ``None``.

    ``report(worker, run, seconds)`` is called after each run.
    """

    take: Callable[[int], tuple[int, int] | None]
    report: Callable[[int, tuple[int, int], float], object] = lambda worker, run, seconds: None


def _dealt(runs):
    """The dealer of runs that were dealt before the start, to each device its own."""
    runs = [iter(own) for own in runs]
    return Dealer(lambda worker: next(runs[worker], None))


def by_load(plan: Plan):
    """Runs of decreasing load; a single device gets as few as make progress visible."""
    if len(plan.devices) == 1:
        return _dealt([_divided(plan, 0, len(plan.tasks), RUN_OF_ONE)])
    on_cpu = [number for number, device in enumerate(plan.devices) if device == "cpu"]
    queue = LoadQueue(
        plan.tasks.loads,
        map(speed_of, plan.devices),
        min_seconds=RUN_SECONDS,
        max_seconds=max(RUN_OF_SEVERAL, plan.seconds / RUNS),
        from_light_end=on_cpu if len(on_cpu) < len(plan.devices) else [],
    )
    return Dealer(queue.take, queue.report)


def evenly(plan: Plan):
    """Equal runs of tasks."""
    return _in_proportion(plan, [1.0] * len(plan.devices))


def weighted(plan: Plan):
    """Runs of tasks in proportion to a guess: ``number`` for a GPU, one for a thread of the CPU."""
    return _in_proportion(
        plan, [threads.count() if device == "cpu" else plan.number for device in plan.devices]
    )


def in_chunks(plan: Plan):
    """Chunks of a fixed number of tasks."""
    times = [threads.count() if device == "cpu" else CHUNKS_OF_GPU for device in plan.devices]
    queue = WorkQueue(len(plan.tasks), int(plan.number))
    return Dealer(lambda worker: queue.take(times[worker]))


def _in_proportion(plan, weights):
    marks = (len(plan.tasks) * np.cumsum([0.0, *weights]) / sum(weights)).astype(np.int64)
    seconds = RUN_OF_ONE if len(weights) == 1 else RUN_OF_SEVERAL
    return _dealt([_divided(plan, *part, seconds) for part in pairwise(marks.tolist())])


def _divided(plan, start, stop, seconds):
    """Runs of tasks of about the same load; with all of the plan's seconds, a run would take ``seconds``."""
    count, marks = int(min(max(plan.seconds / seconds, 1), RUNS)), []
    if count > 1 and stop > start:
        prefix = np.cumsum(plan.tasks.loads[start:stop])
        marks = (start + np.searchsorted(prefix, prefix[-1:] * np.arange(1, count) / count)).tolist()
    return [(first, end) for first, end in pairwise([start, *marks, stop]) if end > first]


class Schedule(NamedTuple):
    """One way to deal tasks, by work or in the order of the vertices.

    ``deal(plan)`` returns a :class:`Dealer`.  ``number`` is the default of what follows a colon in the name;
    ``None`` if nothing may.  ``baseline`` as of a :class:`~edgewise.method.Method`.
    """

    deal: Callable
    summary: str
    by_work: bool = False
    number: float | None = None
    baseline: bool = True


SCHEDULES = {
    "auto": Schedule(by_load, "pieces of decreasing work, heavy vertices first", True, baseline=False),
    "static": Schedule(evenly, "equal runs of vertices"),
    "static-weighted": Schedule(weighted, "equal runs, N times as long for a GPU as for a thread", number=10),
    "queue": Schedule(in_chunks, "chunks of N vertices a thread, of 8 N a GPU", number=64),
}


def parse(text: str) -> tuple[str, float]:
    """Name of a schedule and its number, from such as ``"queue:64"``."""
    name, colon, number = text.partition(":") if isinstance(text, str) else ("", "", "")
    if name not in SCHEDULES:
        raise OptionError(f"{argument('schedule', text)} is unknown; {one_of(name, SCHEDULES)}")
    default = SCHEDULES[name].number
    if not colon:
        return name, default or 0
    if default is None:
        raise OptionError(f"schedule {name} takes no number; leave out :{number}")
    if not (number.isascii() and number.isdecimal() and 0 < int(number) < 2**31):
        raise OptionError(f"schedule {text!r} needs a whole number larger than 0, such as {name}:{default}")
    return name, int(number)


class Job(NamedTuple):
    """What all devices work on.

    ``start(ranked, order)`` returns a solver on their device.  ``progress(work that is done, all work)`` is
    called after each run.  ``seconds`` are estimated, for all devices together.
    """

    start: Callable[[Ranked, Any], Any]
    ranked: Ranked
    tasks: Tasks
    dealer: Dealer
    seconds: float = 0.0
    progress: Callable[[float, float], Any] | None = None


def count_tasks(job: Job, devices):
    """Do all tasks on the devices; return counts by rank, (n,) int64, on the first device."""
    if not len(job.tasks):
        return arrays.zeros(job.ranked.n_vertices, np.int64, devices[0])
    arrays.synchronize(job.ranked.device)  # other devices read these arrays on streams of their own
    if len(devices) == 1 and job.seconds <= LONG:
        return _Count(job, 0).on_device(0, devices[0])
    parts = _Count(job, QUEUED).in_threads(devices)
    with arrays.guard(devices[0]):
        total = parts[0]
        for part in parts[1:]:
            total += arrays.move(part, devices[0])
        arrays.synchronize(devices[0])
    return total


class _Count:
    """A count in progress; an error on a device, or Ctrl-C, stops the others after their current runs."""

    def __init__(self, job, n_queued):
        self.job, self.n_queued, self.stopped, self.done, self.lock = job, n_queued, False, 0.0, Lock()

    def in_threads(self, devices):
        """Counts of every device, each driven by a thread of its own, so that Ctrl-C takes effect at once."""
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
        job, n_queued = self.job, 0 if device == "cpu" else self.n_queued
        solver = job.start(moved(job.ranked, device), arrays.move(job.tasks.order, device))
        stream, since = streams.current(device) if n_queued else None, perf_counter()
        queued: deque = deque()
        while not self.stopped and (run := job.dealer.take(worker)) is not None:
            if not queued:
                since = perf_counter()
            solver.count(*run)
            queued.append((run, stream.record() if stream else None))
            if len(queued) > n_queued:
                since = self._finish(worker, device, since, *queued.popleft())
        while queued:
            since = self._finish(worker, device, since, *queued.popleft())
        counts = solver.counts
        arrays.synchronize(device)
        return counts

    def _finish(self, worker, device, since, run, event):
        """Wait for a run (for all of the device without an event), report it, and return the time."""
        event.synchronize() if event else arrays.synchronize(device)
        now, job = perf_counter(), self.job
        job.dealer.report(worker, run, now - since)
        if job.progress is not None:
            with self.lock:
                self.done += float(job.tasks.loads[slice(*run)].sum())
                job.progress(self.done, job.tasks.total)
        return now


def moved(ranked, device):
    """The ranked graph on a device; itself if it is there."""
    if device == ranked.device:
        return ranked
    return Ranked(*(arrays.move(array, device) for array in ranked[:4]), *ranked[4:6])


@dataclass
class SharedCount(Shared):
    """What all workers need: a solver's ``start(ranked, order)``, its arguments, and its device."""

    start: Callable[[Ranked, Any], Any]
    ranked: Ranked
    order: Any
    device: str


def counts_of_run(shared: SharedCount, first: int, end: int) -> np.ndarray:
    """Count what the tasks ``order[first:end]`` have: (n,) int64 by rank, on the host."""
    device = arrays.resolve(shared.device)
    with arrays.guard(device):
        solver = shared.start(moved(shared.ranked, device), arrays.move(shared.order, device))
        solver.count(first, end)
        counts = solver.counts
        arrays.synchronize(device)
        return arrays.move(counts, "cpu")


def device_of_workers(device: str | None, devices: Any, schedule: str) -> str:
    """The device that each worker of a client uses; refuses what means nothing for them."""
    given = {"devices": devices is not None, "schedule": schedule != "auto"}
    for name in (name for name, is_given in given.items() if is_given):
        raise OptionError(f"{argument(name)} is for one process; leave it out with {argument('client')}")
    if device == "auto":
        problem = f"{argument('device', device)} may be another one on each worker"
        raise OptionError(f"{problem}; with {argument('client')} name 'cpu' or 'cuda'")
    return {None: "cpu", "gpu": "cuda"}.get(device, device)  # type: ignore[return-value]


def count_by_workers(job: Job, executor: Executor, device: str) -> np.ndarray:
    """Do all tasks of a job, without its dealer, by the workers; return counts by rank, (n,) int64."""
    total, tasks = np.zeros(job.ranked.n_vertices, np.int64), job.tasks
    if not len(tasks):
        return total
    done, prefix = 0.0, np.cumsum(tasks.loads)
    count = min(RUNS_PER_SLOT * executor.slots, len(tasks))
    marks = np.searchsorted(prefix, prefix[-1] * np.arange(1, count) / count)
    runs = [run for run in pairwise([0, *marks.tolist(), len(tasks)]) if run[0] < run[1]]
    shared = executor.scatter(SharedCount(job.start, job.ranked, tasks.order, device))
    calls = [Call(run, counts_of_run, (shared, *run), f"the tasks from {run[0]} on") for run in runs]
    with closing(CallRun(executor, "repeat the call").results(calls)) as results:
        for call, counts in results:
            total += counts
            if job.progress is not None:
                done += float(tasks.loads[slice(*call.name)].sum())
                job.progress(done, tasks.total)
    return total
