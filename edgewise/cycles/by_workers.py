"""Cycles counted by the workers of an executor: the ranked graph is sent to each once, and runs of tasks.

Runs have about the same estimated work, heavy tasks first, and workers take the next one when they have done
one, as devices do (:mod:`~edgewise.cycles.planning`).  A run that is lost with its worker is counted again.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from edgewise.cycles.counting.ranked import Ranked
from edgewise.cycles.planning import Job, moved
from edgewise.device import arrays
from edgewise.errors import OptionError, argument
from edgewise.workers.calls import Call, CallRun
from edgewise.workers.executors import Executor, Shared

#: Runs of tasks for each slot of the workers.
RUNS_PER_SLOT = 8


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
