"""The plan of a count: what its tasks cost, how large it can become, and how devices share the tasks.

**Cost.**  A method estimates the operations of every task, right to a factor of a few; a table of speeds
converts them to seconds.

**Size.**  A cycle of ``k`` edges through ``v`` is a closed walk from ``v`` that visits no vertex twice, once
in each direction.  Each of these bounds holds for any graph, therefore the least of them does:

* the first edge can be chosen in ``d`` ways, every further one in ``D - 1``, where ``D`` is the largest
  degree, and the last one must close: ``d (D - 1)^(k - 2) / 2``;
* the other vertices are a sequence of distinct ones: ``(n - 1)(n - 2) ... (n - k + 1) / 2``;
* they can be covered by edges that share no vertex, each taken in one of two directions, after the first one
  where ``k`` is even: ``(2m)^floor((k - 1) / 2) / 2``, times ``d`` where ``k`` is even;
* walks: a closed one is a walk of ``k - 1`` edges that ends next to ``v``, or one of ``k - 2`` edges whose
  end shares one of the ``d`` neighbours of ``v``: ``min((A^(k-1) 1)_v, d (A^(k-2) 1)_v) / 2``.

The first three cost nothing, and nearly always suffice.  Walks take a pass over the edges for each step.
Methods may add and subtract intermediate terms beyond 64 bits: int64 wraps modulo 2**64, and the final value
is right if it fits.  They halve twice the count at the end, therefore the limit is 2**62.

**Devices.**  Every device has the whole graph, and counts its tasks into an array of its own; in the end the
arrays are added on the first device.  A schedule deals the tasks:

======================  ====================================================================================
schedule                each device gets
======================  ====================================================================================
``auto``                pieces by estimated work, heavy tasks first, each half of the device's share of what
                        remains, by measured speed; the CPU takes light ones, if it takes part at all
``static``              one equal run of vertices, in the order of their numbers
``static-weighted:10``  the same, except that a GPU gets 10 times as many as a thread of the CPU
``queue:64``            64 vertices per thread of the CPU, 8 times 64 per GPU, repeatedly
======================  ====================================================================================

The last three are those of the CS406 project, numbers included; ``bench/notes/cycles.md`` tells their
weaknesses.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import pairwise
from threading import Lock
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.cycles.counting.ranked import Ranked
from edgewise.cycles.counting.ranking import ranked_of
from edgewise.cycles.search.two_core import add_step, count_walks, peeled
from edgewise.device import arrays, each, streams, threads
from edgewise.errors import GraphError, OptionError, argument, one_of
from edgewise.method import kind_of
from edgewise.primitives import count
from edgewise.primitives.counting_sort import counting_order
from edgewise.workers.queue import LoadQueue, WorkQueue

#: Operations a second of one CPU thread, and of a GPU: what methods' estimates count, mostly reads that miss
#: the caches.  An H200 does 5e9 wedges a second of com-DBLP by tables, and 1.7e9 of an R-MAT graph of 2**20
#: vertices; 2e9 is nearer to what large graphs get.
THREAD_SPEED, GPU_SPEED = 6e7, 2e9
#: Seconds of estimated work that are refused unless forced.
MAX_SECONDS = 24 * 3600.0
#: Names and seconds of the units in which an estimate is given.
UNITS = (("years", 365.25 * 86400), ("days", 86400), ("hours", 3600), ("minutes", 60), ("seconds", 1))
#: Upper limit of the work of a task, so that sums stay finite.
MAX_WORK = 1e290
#: Upper limit of a count: twice of it is an int64.
MAX_COUNT = 2.0**62
#: Work is sorted by the upper bits of a float64, which have 16 levels for each power of two, from 2**60 down
#: to 2**-4.
LEVEL_SHIFT, HEAVIEST_LEVEL, N_LEVELS = 48, (1023 + 60) << 4, 1024
#: Factor that allows for the rounding errors of sums of positive floats, however long.
ROUNDING = 1 + 1e-6
#: Seconds a run of ``auto`` should take at least: long enough to hide the launch of a kernel.
LEAST_RUN = 0.002
#: Chunks of the schedule ``queue`` that a GPU takes at once.
CHUNKS_OF_GPU = 8
#: Seconds between two reports of progress of a single device, and of each of several; runs in all at most.
RUN_OF_ONE, RUN_OF_SEVERAL, MAX_RUNS = 0.25, 1.0, 100_000
#: Runs that are queued on a GPU beside the one in progress, so that it never waits for the host.
PREFETCH = 1
#: Share of all speed from which the CPU joins GPUs, and seconds of work for which it is worth starting.
LEAST_SHARE, LEAST_SECONDS = 0.1, 0.05
#: Seconds, estimated, from which a count is long enough to be interrupted.
LONG = 1.0


def choose(methods, length: int, devices) -> str:
    """Name of the first method of a table that counts cycles of this length on all of the devices.

    Up to five edges, counting at the highest vertex is faster than closed walks on nearly every graph that
    was measured, and far faster where there are hubs.
    """
    kinds = {kind_of(device) for device in devices}
    for name, method in methods.items():
        if method.can(length) and kinds <= set(method.devices):
            return name
    raise OptionError(
        f"no method counts cycles of length {length} on {' and '.join(sorted(kinds))}; "
        f"use {argument('device', 'cpu')}"
    )


def speed_of(device: str) -> float:
    """Operations a second that ``device`` is assumed to do."""
    return THREAD_SPEED * threads.count() if device == "cpu" else GPU_SPEED


def seconds_of(work: float, devices) -> float:
    """Seconds that so many operations should take on these devices together."""
    return work / sum(map(speed_of, devices))


def in_words(seconds: float) -> str:
    """``"3 days"``: the time in the largest unit of which there are two or more."""
    name, unit = next((u for u in UNITS if seconds >= 2 * u[1]), UNITS[-1])
    count = seconds / unit
    return f"{count:,.0f} {name}" if count < 1e6 else "millions of years"


def check_seconds(work: float, devices, method: str, length: int) -> None:
    """Refuse work of so many operations if it should take longer than :data:`MAX_SECONDS`."""
    seconds = seconds_of(work, devices)
    if not seconds <= MAX_SECONDS:  # also if it is not a number
        raise OptionError(
            f"counting cycles of length {length} by {method} on {', '.join(devices)} should take about "
            f"{in_words(seconds)}; use {argument('force', True)} to go on, shorter cycles, or an estimate "
            "(edgewise.estimate_cycles, --estimate)"
        )


def joining(devices, seconds: float) -> list[int]:
    """Numbers of the devices that take part under ``auto``: the CPU beside GPUs only where that pays.

    Few CPU threads add nothing to a GPU, and short work ends before they have started.
    """
    gpus = [number for number, device in enumerate(devices) if device != "cpu"]
    if gpus and len(gpus) < len(devices):
        share = speed_of("cpu") / sum(map(speed_of, devices))
        if share < LEAST_SHARE or seconds < LEAST_SECONDS:
            return gpus
    return list(range(len(devices)))


def bound_of(ranked: Ranked, length: int) -> float:
    """Upper bound of the number of cycles through any vertex; infinite where it is too large for a float."""
    n, entries = ranked.n_vertices, len(ranked.neighbours)
    if n < length or entries < 2 * length:
        return 0.0
    largest = ranked.max_degree
    if largest is None:
        largest = int(ranked.offsets[n] - ranked.offsets[n - 1])
    if largest < 2:
        return 0.0
    logarithms = (
        math.log2(largest) + (length - 2) * math.log2(largest - 1),
        sum(math.log2(n - other) for other in range(1, length)),
        (length - 1) // 2 * math.log2(entries) + (math.log2(largest) if length % 2 == 0 else 0),
    )
    least = min(logarithms) - 1
    bound = 2.0**least * ROUNDING if least < 1000 else math.inf
    return bound if bound < MAX_COUNT else min(bound, _bound_by_walks(ranked, length))


def _bound_by_walks(ranked, length):
    n, device, rows = ranked.n_vertices, ranked.device, ranked.csr
    xp = arrays.namespace(device)
    with arrays.guard(device), np.errstate(over="ignore"):
        remains = peeled(ranked)
        degree = count_walks(rows, 1, remains)
        shorter, longer = count_walks(rows, length - 2, remains), arrays.empty(n, np.float64, device)
        add_step(n, rows, remains, shorter, longer)
        reaching = xp.where(shorter > 0, degree * shorter, 0.0)
        return float(xp.minimum(longer, reaching).max()) / 2 * ROUNDING


def check_fits(ranked: Ranked, length: int) -> None:
    """Refuse a length unless a bound shows that counts, and twice of them, fit into 63 bits."""
    bound = bound_of(ranked, length)
    if bound >= MAX_COUNT:
        bits = f"2**{math.log2(bound):.0f}" if bound < math.inf else "far more"
        raise GraphError(
            f"{length}-cycles through a vertex: there may be up to {bits}, which 64 bits do not hold; "
            "count shorter cycles, or use edgewise.estimate_cycles"
        )


class Tasks:
    """The tasks of a method, in the order in which they are dealt.

    ``order``, (tasks,) int64, are ranks, and ``work``, (n,) float64, is the work of each task by rank, both
    on the device of the ranked graph; ``total`` is the work of all tasks.
    """

    def __init__(self, order: Any, work: Any, total: float):
        self.order, self.work, self.total = order, work, total

    def __len__(self):
        return len(self.order) if self.total else 0

    @cached_property
    def loads(self):
        """Work of each task in their order: (tasks,) float64 array on the host."""
        return arrays.move(self.work[self.order], "cpu")


@each
def _level(task, bits, levels):
    """Key of the work of a task, given as the bits of a float64: smaller keys for more work."""
    level = HEAVIEST_LEVEL - (bits[task] >> LEVEL_SHIFT)
    levels[task] = min(max(level, 0), N_LEVELS - 1) if bits[task] > 0 else N_LEVELS


def heaviest_first(work) -> np.ndarray:
    """Tasks with any work, most first: (tasks,) int64 array on the device of ``work``.

    On the host, tasks whose work differs by a sixteenth at most may be in the order of their numbers.
    """
    device = arrays.device_of(work)
    if device == "cpu":
        levels = np.empty(len(work), np.int64)
        _level(len(work), work.view(np.int64), levels)
        return counting_order(levels, N_LEVELS + 1)[: np.count_nonzero(levels < N_LEVELS)]
    order = arrays.namespace(work).argsort(-work, kind="stable")[: count(work > 0)]
    return arrays.move(order.astype(np.int64), device)


def tasks_of(graph, name, method, length, by_work) -> Tasks:
    """The tasks of a method; those of the last count are cached with the graph.

    If ``by_work``, the heaviest come first, and those without work are left out; else all come in the order
    of the vertices.
    """
    key, last, ranked = (name, length, by_work), graph.cached("cycle-tasks", dict), ranked_of(graph)
    if key not in last:
        work = arrays.zeros(ranked.n_vertices, np.float64, ranked.device)
        if length <= ranked.n_vertices:
            work = method.work(ranked, length)
            work *= method.cost
            arrays.namespace(work).fmin(work, MAX_WORK, out=work)
        order = heaviest_first(work) if by_work else ranked.rank.astype(np.int64)
        last.clear()
        last[key] = Tasks(order, work, float(work.sum()) if len(work) else 0.0)
    return last[key]


class Plan(NamedTuple):
    """What a schedule reads: the tasks, estimated seconds of all devices together, and its own number."""

    tasks: Tasks
    seconds: float
    devices: tuple[str, ...]
    number: float


class Runs:
    """Runs that were dealt before the start, to each device its own."""

    def __init__(self, runs):
        self.runs = [iter(own) for own in runs]

    def take(self, worker):
        """The worker's next run, or ``None``."""
        return next(self.runs[worker], None)


class Chunks:
    """One queue for all, in chunks of so many tasks for each device."""

    def __init__(self, tasks, chunk, times):
        self.queue, self.times = WorkQueue(tasks, chunk), times

    def take(self, worker):
        """The worker's next run, or ``None``."""
        return self.queue.take(self.times[worker])


def by_load(plan: Plan):
    """Runs of decreasing load; a single device gets as few as make progress visible."""
    if len(plan.devices) == 1:
        return Runs([_divided(plan, 0, len(plan.tasks), RUN_OF_ONE)])
    on_cpu = [number for number, device in enumerate(plan.devices) if device == "cpu"]
    return LoadQueue(
        plan.tasks.loads,
        map(speed_of, plan.devices),
        min_seconds=LEAST_RUN,
        max_seconds=max(RUN_OF_SEVERAL, plan.seconds / MAX_RUNS),
        from_light_end=on_cpu if len(on_cpu) < len(plan.devices) else [],
    )


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
    return Chunks(len(plan.tasks), int(plan.number), times)


def _in_proportion(plan, weights):
    marks = (len(plan.tasks) * np.cumsum([0.0, *weights]) / sum(weights)).astype(np.int64)
    seconds = RUN_OF_ONE if len(weights) == 1 else RUN_OF_SEVERAL
    return Runs([_divided(plan, *part, seconds) for part in pairwise(marks.tolist())])


def _divided(plan, start, stop, seconds):
    """Runs of tasks of about the same load; with all of the plan's seconds, a run would take ``seconds``."""
    count, marks = int(min(max(plan.seconds / seconds, 1), MAX_RUNS)), []
    if count > 1 and stop > start:
        prefix = np.cumsum(plan.tasks.loads[start:stop])
        marks = (start + np.searchsorted(prefix, prefix[-1:] * np.arange(1, count) / count)).tolist()
    return [(first, end) for first, end in pairwise([start, *marks, stop]) if end > first]


class Schedule(NamedTuple):
    """One way to deal tasks, by work or in the order of the vertices.

    ``deal(plan)`` returns what the devices take their runs from, by ``take(worker)``.  ``number`` is the
    default of what follows a colon in the name; ``None`` if nothing may.
    """

    deal: Callable
    summary: str
    by_work: bool = False
    number: float | None = None


SCHEDULES = {
    "auto": Schedule(by_load, "pieces of decreasing work, heavy vertices first", True),
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

    ``start(ranked, order)`` returns a solver on their device.  ``dealer.take(worker)`` returns a run of
    tasks or ``None``; ``dealer.report(worker, run, seconds)``, if it has that, is called after each run, as
    is ``progress(work that is done, all work)``.  ``seconds`` are estimated, for all devices together.
    """

    start: Callable[[Ranked, Any], Any]
    ranked: Ranked
    tasks: Tasks
    dealer: Any
    seconds: float = 0.0
    progress: Callable[[float, float], Any] | None = None


def count_tasks(job: Job, devices):
    """Do all tasks on the devices; return counts by rank, (n,) int64, on the first device."""
    if not len(job.tasks):
        return arrays.zeros(job.ranked.n_vertices, np.int64, devices[0])
    arrays.synchronize(job.ranked.device)  # other devices read these arrays on streams of their own
    if len(devices) == 1 and job.seconds <= LONG:
        return _Count(job, 0).on_device(0, devices[0])
    parts = _Count(job, PREFETCH).in_threads(devices)
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
        if hasattr(job.dealer, "report"):
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
