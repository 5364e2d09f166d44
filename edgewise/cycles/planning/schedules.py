"""How tasks are dealt to devices.

======================  ====================================================================================
schedule                each device gets
======================  ====================================================================================
``auto``                pieces by estimated work, heavy tasks first, each half of the device's share of what
                        is left, by measured speed; the CPU takes light ones, if it takes part at all
``static``              one equal run of vertices, in the order of their numbers
``static-weighted:10``  the same, but that a GPU gets 10 times as many as a thread of the CPU
``queue:64``            64 vertices a thread of the CPU, 8 times 64 a GPU, again and again
======================  ====================================================================================

The last three are those of the CS406 project, numbers included.  What they get wrong is told in
``docs/cycles.md``: the order of the vertices, in which heavy ones come anywhere, also last, and pieces so
small that a GPU idles between them.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from edgewise.cycles.planning import cost_model
from edgewise.device import threads
from edgewise.errors import OptionError
from edgewise.workers.queue import LoadQueue, WorkQueue

#: Seconds a claim of ``auto`` should take at least: long enough to hide the launch of a kernel.
LEAST = 0.002
#: Chunks of the document's queue that a GPU takes at once.
CHUNKS_OF_GPU = 8
#: Seconds between two signs of progress of a single device, and of each of several; pieces of all at most.
PIECE, PIECE_OF_MANY, MOST_PIECES = 0.25, 1.0, 100_000
#: Share of all speed from which the CPU joins GPUs, and seconds of work for which it is worth starting.
LEAST_SHARE, LEAST_SECONDS = 0.1, 0.05


class Plan(NamedTuple):
    """What a schedule is told.

    Attributes
    ----------
    tasks : int
    loads : callable
        ``loads()`` is the estimated work of each task, in their order: (tasks,) float64 array on the host.
    seconds : float
        Estimated, for all devices together.
    devices : tuple of str
        Place of each device.
    number : float
        What stands behind the colon of the schedule's name.
    """

    tasks: int
    loads: Callable
    seconds: float
    devices: tuple[str, ...]
    number: float


class Runs:
    """Runs that were dealt before the start: each device works off its own."""

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
    """Pieces of decreasing load; a single device gets as few as let progress be seen."""
    if len(plan.devices) > 1:
        kinds = {"cpu" if position == "cpu" else "gpu" for position in plan.devices}
        behind = [i for i, position in enumerate(plan.devices) if position == "cpu"] if len(kinds) > 1 else []
        speeds, most = map(cost_model.speed_of, plan.devices), max(PIECE_OF_MANY, plan.seconds / MOST_PIECES)
        return LoadQueue(plan.loads(), speeds, min_seconds=LEAST, max_seconds=most, from_light_end=behind)
    return Runs([_cut(plan, 0, plan.tasks, plan.seconds, PIECE)])


def evenly(plan: Plan):
    """Equal runs of tasks."""
    return _shared(plan, [1.0] * len(plan.devices))


def weighted(plan: Plan):
    """Runs of tasks in proportion to a guess: so many for a GPU against one for a thread of the CPU."""
    return _shared(plan, [threads.count() if device == "cpu" else plan.number for device in plan.devices])


def in_chunks(plan: Plan):
    """Chunks of a fixed number of tasks."""
    times = [threads.count() if device == "cpu" else CHUNKS_OF_GPU for device in plan.devices]
    return Chunks(plan.tasks, int(plan.number), times)


def _shared(plan, weights):
    marks = (plan.tasks * np.cumsum([0.0, *weights]) / sum(weights)).astype(np.int64)
    piece = PIECE if len(weights) == 1 else PIECE_OF_MANY
    return Runs([_cut(plan, *share, plan.seconds, piece) for share in pairwise(marks.tolist())])


def _cut(plan, start, stop, seconds, piece):
    """Runs of tasks of about the same load, so many that each of ``seconds`` in all is worth a ``piece``."""
    pieces = int(min(max(seconds / piece, 1), MOST_PIECES))
    marks = []
    if pieces > 1 and stop > start:
        ends = np.cumsum(plan.loads()[start:stop])
        marks = (start + np.searchsorted(ends, ends[-1:] * np.arange(1, pieces) / pieces)).tolist()
    return [(first, end) for first, end in pairwise([start, *marks, stop]) if end > first]


class Schedule(NamedTuple):
    """One way to deal.

    Attributes
    ----------
    deal : callable
        ``deal(plan)`` returns what the devices take their runs from, by ``take(worker)``.
    summary : str
    by_work : bool
        Whether tasks come in the order of their work, the heaviest first; else in that of the vertices.
    number : float or None
        What may stand behind a colon, if not given; ``None`` if nothing may.
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


def parse(words: str) -> tuple[str, float]:
    """Name of a schedule and its number, from such as ``"queue:64"``.

    Raises
    ------
    OptionError
    """
    name, colon, number = words.partition(":") if isinstance(words, str) else ("", "", "")
    if name not in SCHEDULES:
        raise OptionError(f"schedule {words!r} is unknown; use one of {', '.join(SCHEDULES)}")
    usual = SCHEDULES[name].number
    if not colon:
        return name, usual or 0
    if usual is None:
        raise OptionError(f"schedule {name} takes no number; leave out :{number}")
    if not (number.isascii() and number.isdecimal() and 0 < int(number) < 2**31):
        raise OptionError(f"schedule {words!r} needs a whole number larger than 0, such as {name}:{usual}")
    return name, int(number)


def joining(devices, seconds: float):
    """Numbers of the devices that take part under ``auto``: the CPU beside GPUs only where that pays.

    A CPU of few threads adds nothing to a GPU, and takes from it the thread that launches; nor does it pay
    where all is done in less time than threads take to start.
    """
    gpus = [i for i, position in enumerate(devices) if position != "cpu"]
    if not gpus or len(gpus) == len(devices):
        return list(range(len(devices)))
    share = cost_model.speed_of("cpu") / sum(cost_model.speed_of(position) for position in devices)
    return list(range(len(devices))) if share >= LEAST_SHARE and seconds >= LEAST_SECONDS else gpus
