"""The deterministic scheduler as race tests use it, and careless atomic operations that they must find."""

from contextlib import contextmanager

from edgewise.device import explorer
from edgewise.device.explorer import CPU, barrier_wait, cas, fetch_add, fetch_min, run_region
from edgewise.device.explorer import NoProgress as Stuck
from edgewise.device.explorer import Shared as Jittery
from edgewise.device.explorer import preemptible as jittery

__all__ = [
    "Jittery",
    "Scheduler",
    "Stuck",
    "barrier_wait",
    "cas",
    "fetch_add",
    "fetch_min",
    "jittery",
    "planted",
    "run_region",
]
#: Whether a test has planted a race, which then is no error: its result must be wrong.
_is_planted = False


@contextmanager
def planted():
    """Let races be no errors: a test has planted one that is not of the operations below."""
    global _is_planted
    _is_planted = True
    try:
        yield
    finally:
        _is_planted = False


class Scheduler(explorer.Scheduler):
    """A scheduler of threads that share the weak memory of a CPU; races are errors."""

    def __init__(self, seed=0, **options):
        super().__init__(seed, **{"memory": CPU, "races": not _is_planted, **options})


def _plant(array):
    """A careless operation is a race, so others in this run are no errors."""
    if isinstance(array, Jittery) and array.scheduler.memory is not None:
        array.scheduler.memory.races = None


def careless_add(array, index, value):
    """A planted race: another thread may add between the read and the write."""
    _plant(array)
    held = array[index]
    array[index] = held + array.dtype.type(value)
    return held


def careless_min(array, index, value):
    """A planted race: another thread may lower the value between the read and the write."""
    _plant(array)
    held = array[index]
    if value < held:
        array[index] = value
    return held


def careless_cas(array, index, expected, value):
    """A planted race: another thread may write between the comparison and the write."""
    _plant(array)
    held = array[index]
    if held == expected:
        array[index] = value
    return held
