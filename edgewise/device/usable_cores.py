"""The cores that this process may use, and how many threads its loops have by default.

The first of these that is there decides:

1. ``NUMBA_NUM_THREADS``;
2. ``OMP_NUM_THREADS``, as for other programs with threads, up to the number of cores; pools of processes,
   such as joblib's, set it in their workers so that these share the machine;
3. the cores that the system lets this process use (its affinity), but no more than the processor time that
   its container may have.  That is the quota of the process's control groups and of all groups above, by
   version 1 or 2 of the interface, rounded down: a thread more would stop all threads for a part of the time.

``threads=`` of a call, and ``--threads`` of the command line, take precedence over all of them.
"""

import os
import sys
from functools import cache as memoize
from pathlib import Path
from typing import NamedTuple

from edgewise import control_groups
from edgewise.control_groups import text
from edgewise.printable import printable


class DefaultThreads(NamedTuple):
    """A number of threads, and in words what has decided it."""

    number: int
    reason: str


@memoize
def default_threads() -> DefaultThreads:
    """Threads of loops for which no number is given."""
    cores, limit = affinity(), container_limit()
    for name, most in ("NUMBA_NUM_THREADS", sys.maxsize), ("OMP_NUM_THREADS", cores):
        first = os.environ.get(name, "").partition(",")[0].strip()  # OpenMP has a number for each level
        if first.isdecimal() and int(first) > 0:
            return DefaultThreads(min(int(first), most), f"{name} is {printable(first)}")
    if limit is not None and limit < cores:
        return DefaultThreads(max(1, int(limit)), f"the limit of the container is {limit:.3g}")
    return DefaultThreads(cores, "one for each core that the process may use")


def usable_cores() -> int:
    """Cores that this process may use, whatever number of threads is set."""
    limit = container_limit()
    return affinity() if limit is None else max(1, min(affinity(), int(limit)))


def affinity() -> int:
    """Cores on which the system runs this process."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def container_limit(root: str | Path = "") -> float | None:
    """Cores whose time the control groups of this process may use; ``None`` if there is no limit."""
    return min(control_groups.limits("cpu", (_limit_1, _limit_2), root), default=None)


def _limit_2(folder):
    """The limit of a group by version 2: ``cpu.max`` has the quota, or ``max``, and the period."""
    return _ratio(*(text(f"{folder}/cpu.max").split() or ["max"])[:2])


def _limit_1(folder):
    """The limit of a group by version 1, where a quota of -1 is none."""
    return _ratio(text(f"{folder}/cpu.cfs_quota_us"), text(f"{folder}/cpu.cfs_period_us"))


def _ratio(quota, period="100000"):
    try:
        ratio = int(quota) / int(period)
    except (ValueError, ZeroDivisionError):  # "max", or no such file
        return None
    return ratio if ratio > 0 else None
