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

from edgewise.cycles.ranked import Ranked
from edgewise.device import arrays, streams, threads

#: Runs that a GPU is given ahead of the one it works on, so that it never waits for the host.
AHEAD = 1


def moved(ranked: Ranked, place: str) -> Ranked:
    """The ranked graph in another place; itself where it is there."""
    if place == ranked.place:
        return ranked
    there = (arrays.move(getattr(ranked, name), place) for name in ("offsets", "neighbours", "split", "rank"))
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


def count(job: Job, places):
    """Do all tasks on the devices in these places.

    Parameters
    ----------
    job : Job
    places : sequence of str

    Returns
    -------
    (n,) int64 array
        Counts by rank, in the first place.
    """
    if not job.tasks:
        return arrays.zeros(job.ranked.n_vertices, np.int64, places[0])
    crew = _Crew(job)
    arrays.synchronize(job.ranked.place)  # others will read what was made there, on streams of their own
    if len(places) == 1 and not job.long:
        return crew.work(0, places[0])
    found = crew.work_at_once(places)
    with arrays.guard(places[0]):
        total = found[0]
        for counts in found[1:]:
            total += arrays.move(counts, places[0])
        arrays.synchronize(places[0])
    return total


class _Crew:
    """The devices at work; an error in one, or Ctrl-C, stops the others after their runs under way."""

    def __init__(self, job):
        self.job, self.stopped, self.alone = job, False, Lock()

    def work_at_once(self, places):
        """Counts of every device, each asked by a thread of its own.

        Ctrl-C is obeyed at once: a compiled search from a single vertex may last, and ends on its own.
        """
        loops, pool = threads.count(), ThreadPoolExecutor(len(places))
        under_way = [pool.submit(self.work, *worker, loops) for worker in enumerate(places)]
        try:
            return [one.result() for one in under_way]
        except BaseException as error:
            self.stopped = True
            if not isinstance(error, KeyboardInterrupt):
                wait(under_way)
            raise
        finally:
            pool.shutdown(wait=False)

    def work(self, me, place, loops=None):
        """Do what is dealt to one device; its counts."""
        threads.use(loops)
        try:
            with arrays.guard(place):
                return self._counts(me, place)
        except BaseException:
            self.stopped = True
            raise

    def _counts(self, me, place):
        job = self.job
        solver = job.start(moved(job.ranked, place), arrays.move(job.order, place))
        road, waiting, since = streams.current(place), deque(), perf_counter()
        while not self.stopped and (run := job.dealer.take(me)) is not None:
            if not waiting:
                since = perf_counter()
            solver.count(*run)
            waiting.append((run, road.record()))
            if place == "cpu" or len(waiting) > AHEAD:
                since = self._settle(me, *waiting.popleft(), since)
        while waiting:
            since = self._settle(me, *waiting.popleft(), since)
        if me == 0 and not self.stopped:
            solver.settle()
        counts = solver.counts
        arrays.synchronize(place)
        return counts

    def _settle(self, me, run, event, since):
        """Wait for a run, tell of it, and return the time."""
        event.synchronize()
        now = perf_counter()
        if hasattr(self.job.dealer, "tell"):
            self.job.dealer.tell(me, run, now - since)
        with self.alone:
            self.job.told(run)
        return now
