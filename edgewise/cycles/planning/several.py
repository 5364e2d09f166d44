"""Tasks on one device or several: one host thread a device, a sum at the end.

Tasks share nothing but the graph, so every device has all of it, counts what it is dealt into an array of
its own, and in the end the arrays are added up where the first device is.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Lock
from time import perf_counter
from typing import NamedTuple

import numpy as np

from edgewise.cycles.counting.ranked import Ranked
from edgewise.device import arrays, streams, threads

#: Runs that a GPU is given ahead of the one it works on, so that it never waits for the host.
AHEAD = 1


def moved(ranked: Ranked, device: str) -> Ranked:
    """The ranked graph in another place; itself where it is there."""
    if device == ranked.device:
        return ranked
    there = (
        arrays.move(getattr(ranked, name), device) for name in ("offsets", "neighbours", "split", "rank")
    )
    return Ranked(*there, ranked.loops, ranked.repeats)


class Job(NamedTuple):
    """What all devices work on.

    Attributes
    ----------
    start : callable
        ``start(ranked, order)`` makes a solver there.
    ranked : Ranked
    tasks : int
        None where no vertex can be on a cycle; then nothing is started.
    order : (tasks,) int64 array
        Ranks, beside ``ranked``.
    dealer : object
        Its ``take(worker)`` gives a run of tasks or ``None``; it may want to be told how long a run took.
    told : callable
        ``told(run)`` hears of every run that is done.
    long : bool
        Whether it lasts; then the caller's thread waits, so that it can be interrupted at any time.
    """

    start: object
    ranked: Ranked
    tasks: int
    order: object
    dealer: object
    told: object
    long: bool = False


def count(job: Job, devices):
    """Do all tasks on the devices in these devices.

    Parameters
    ----------
    job : Job
    devices : sequence of str

    Returns
    -------
    (n,) int64 array
        Counts by rank, in the first place.
    """
    if not job.tasks:
        return arrays.zeros(job.ranked.n_vertices, np.int64, devices[0])
    crew = _Crew(job)
    arrays.synchronize(job.ranked.device)  # others will read what was made there, on streams of their own
    if len(devices) == 1 and not job.long:
        return crew.work(0, devices[0])
    found = crew.work_at_once(devices)
    with arrays.guard(devices[0]):
        total = found[0]
        for counts in found[1:]:
            total += arrays.move(counts, devices[0])
        arrays.synchronize(devices[0])
    return total


class _Crew:
    """The devices at work; an error in one, or Ctrl-C, stops the others after their runs under way."""

    def __init__(self, job):
        self.job, self.stopped, self.alone = job, False, Lock()

    def work_at_once(self, devices):
        """Counts of every device, each asked by a thread of its own.

        Ctrl-C is obeyed at once: a compiled search from a single vertex may last, and ends on its own.
        """
        loops, pool = threads.count(), ThreadPoolExecutor(len(devices))
        under_way = [pool.submit(self.work, *worker, loops) for worker in enumerate(devices)]
        try:
            return [one.result() for one in under_way]
        except BaseException as error:
            self.stopped = True
            if not isinstance(error, KeyboardInterrupt):
                wait(under_way)
            raise
        finally:
            pool.shutdown(wait=False)

    def work(self, me, device, loops=None):
        """Do what is dealt to one device; its counts."""
        threads.use(loops)
        try:
            with arrays.guard(device):
                return self._counts(me, device)
        except BaseException:
            self.stopped = True
            raise

    def _counts(self, me, device):
        job = self.job
        solver = job.start(moved(job.ranked, device), arrays.move(job.order, device))
        road, waiting, since = streams.current(device), deque(), perf_counter()
        while not self.stopped and (run := job.dealer.take(me)) is not None:
            if not waiting:
                since = perf_counter()
            solver.count(*run)
            waiting.append((run, road.record()))
            if device == "cpu" or len(waiting) > AHEAD:
                since = self._settle(me, *waiting.popleft(), since)
        while waiting:
            since = self._settle(me, *waiting.popleft(), since)
        if me == 0 and not self.stopped:
            solver.settle()
        counts = solver.counts
        arrays.synchronize(device)
        return counts

    def _settle(self, me, run, event, since):
        """Wait for a run, tell of it, and return the time."""
        event.synchronize()
        now = perf_counter()
        if hasattr(self.job.dealer, "report"):
            self.job.dealer.report(me, run, now - since)
        with self.alone:
            self.job.told(run)
        return now
