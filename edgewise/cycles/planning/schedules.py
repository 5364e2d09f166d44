"""The tasks of a count, and how they are dealt to devices.

======================  ====================================================================================
schedule                each device gets
======================  ====================================================================================
``auto``                pieces by estimated work, heavy tasks first, each half of the device's share of what
                        remains, by measured speed; the CPU takes light ones, if it takes part at all
``static``              one equal run of vertices, in the order of their numbers
``static-weighted:10``  the same, except that a GPU gets 10 times as many as a thread of the CPU
``queue:64``            64 vertices per thread of the CPU, 8 times 64 per GPU, repeatedly
======================  ====================================================================================

The last three are those of the CS406 project, numbers included.  ``docs/cycles.md`` tells their weaknesses:
in the order of the vertices a heavy one can come last, and pieces are so small that a GPU idles between them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from edgewise.cycles.method import MAX_WORK, heaviest_first
from edgewise.cycles.planning import cost_model
from edgewise.device import arrays, threads
from edgewise.errors import OptionError
from edgewise.workers.queue import LoadQueue, WorkQueue

#: Seconds a run of ``auto`` should take at least: long enough to hide the launch of a kernel.
LEAST_RUN = 0.002
#: Chunks of the schedule ``queue`` that a GPU takes at once.
CHUNKS_OF_GPU = 8
#: Seconds between two reports of progress of a single device, and of each of several; runs in all at most.
RUN_OF_ONE, RUN_OF_SEVERAL, MAX_RUNS = 0.25, 1.0, 100_000


class Tasks:
    """The tasks of a method, in the order in which they are dealt.

    Parameters
    ----------
    order : (tasks,) int64 array
        Ranks, on the device of the ranked graph.
    work : (n,) float64 array
        Work of each task, by rank, on the same device.
    total : float
        Work of all tasks.
    """

    def __init__(self, order: Any, work: Any, total: float):
        self.order, self.work, self.total = order, work, total

    def __len__(self):
        return len(self.order) if self.total else 0

    @cached_property
    def loads(self):
        """Work of each task in their order: (tasks,) float64 array on the host."""
        return arrays.move(self.work[self.order], "cpu")


def tasks_of(graph, ranked, name, method, length, by_work) -> Tasks:
    """The tasks of a method; those of the last count are kept with the graph.

    If ``by_work``, the heaviest come first, and those without work are left out; else all come in the order
    of the vertices.
    """
    key, last = (name, length, by_work), graph.cached("cycle-tasks", dict)
    if key not in last:
        work = arrays.zeros(ranked.n_vertices, np.float64, ranked.device)
        if length <= ranked.n_vertices:
            work = arrays.namespace(work).fmin(method.work(ranked, length) * method.cost, MAX_WORK)
        order = heaviest_first(work) if by_work else ranked.rank.astype(np.int64)
        last.clear()
        last[key] = Tasks(order, work, float(work.sum()) if len(work) else 0.0)
    return last[key]


class Plan(NamedTuple):
    """What a schedule reads.

    Attributes
    ----------
    tasks : Tasks
    seconds : float
        Estimated, for all devices together.
    devices : tuple of str
    number : float
        What follows the colon in the schedule's name.
    """

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
        map(cost_model.speed_of, plan.devices),
        min_seconds=LEAST_RUN,
        max_seconds=max(RUN_OF_SEVERAL, plan.seconds / MAX_RUNS),
        from_light_end=on_cpu if len(on_cpu) < len(plan.devices) else [],
    )


def evenly(plan: Plan):
    """Equal runs of tasks."""
    return _in_proportion(plan, [1.0] * len(plan.devices))


def weighted(plan: Plan):
    """Runs of tasks in proportion to a guess: ``number`` for a GPU, one for a thread of the CPU."""
    weights = [threads.count() if device == "cpu" else plan.number for device in plan.devices]
    return _in_proportion(plan, weights)


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
    count = int(min(max(plan.seconds / seconds, 1), MAX_RUNS))
    marks = []
    if count > 1 and stop > start:
        prefix = np.cumsum(plan.tasks.loads[start:stop])
        marks = (start + np.searchsorted(prefix, prefix[-1:] * np.arange(1, count) / count)).tolist()
    return [(first, end) for first, end in pairwise([start, *marks, stop]) if end > first]


class Schedule(NamedTuple):
    """One way to deal tasks.

    Attributes
    ----------
    deal : callable
        ``deal(plan)`` returns what the devices take their runs from, by ``take(worker)``.
    summary : str
    by_work : bool
        Whether the heaviest tasks come first; else they come in the order of the vertices.
    number : float or None
        What follows a colon in the name, by default; ``None`` if nothing may.
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
    """Name of a schedule and its number, from such as ``"queue:64"``.

    Raises
    ------
    OptionError
    """
    name, colon, number = text.partition(":") if isinstance(text, str) else ("", "", "")
    if name not in SCHEDULES:
        raise OptionError(f"schedule {text!r} is unknown; use one of {', '.join(SCHEDULES)}")
    default = SCHEDULES[name].number
    if not colon:
        return name, default or 0
    if default is None:
        raise OptionError(f"schedule {name} takes no number; leave out :{number}")
    if not (number.isascii() and number.isdecimal() and 0 < int(number) < 2**31):
        raise OptionError(f"schedule {text!r} needs a whole number larger than 0, such as {name}:{default}")
    return name, int(number)
