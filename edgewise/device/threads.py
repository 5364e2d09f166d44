"""The number of CPU threads of a parallel loop."""

import os
import sys
from functools import cache
from pathlib import Path

from edgewise.device.interrupts import interrupts_kept
from edgewise.errors import OptionError, argument

#: Spins of a waiting thread before it sleeps, where threads share cores: some microseconds.
SPINS = "1000"


def count() -> int:
    """Number of threads that loops use: as many as there are cores, unless the user sets another number."""
    if "numba" not in sys.modules and not Path(".numba_config.yaml").exists():
        given = os.environ.get("NUMBA_NUM_THREADS", "")
        if given.isdecimal() or (not given and hasattr(os, "sched_getaffinity")):
            return int(given) if given else len(os.sched_getaffinity(0))
    return _counter()()


def share_cores() -> None:
    """Let threads of loops that wait for each other sleep soon, for a process with other threads at work.

    They would spin for milliseconds otherwise, on cores that the others need.  This has an effect before the
    first loop, with GNU OpenMP, and if the user has not set its variables.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", SPINS)


@cache
def _counter():
    with interrupts_kept():
        from numba import get_num_threads

    return get_num_threads


def use(number: int | None) -> None:
    """Set the number of threads of loops; ``None`` changes nothing.

    Raises
    ------
    OptionError
        No whole number, or more threads than Numba has: one per core, or ``NUMBA_NUM_THREADS``.
    """
    if number is None:
        return
    if not isinstance(number, int) or isinstance(number, bool):
        raise OptionError(f"{argument('threads', number)} must be a whole number, 1 or more")
    with interrupts_kept():
        import numba

    max_threads = numba.config.NUMBA_NUM_THREADS
    if not 1 <= number <= max_threads:
        raise OptionError(
            f"{number} threads are not available, 1 to {max_threads} are; set NUMBA_NUM_THREADS for more"
        )
    numba.set_num_threads(number)
