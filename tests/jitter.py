"""The deterministic scheduler as race tests use it, and careless atomic operations that they must find."""

from edgewise.device.explorer import NoProgress as Stuck
from edgewise.device.explorer import Scheduler, barrier_wait, cas, fetch_add, fetch_min, run_region
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
    "run_region",
]


def careless_add(array, index, value):
    """A planted race: another thread may add between the read and the write."""
    held = array[index]
    array[index] = held + array.dtype.type(value)
    return held


def careless_min(array, index, value):
    """A planted race: another thread may lower the value between the read and the write."""
    held = array[index]
    if value < held:
        array[index] = value
    return held


def careless_cas(array, index, expected, value):
    """A planted race: another thread may write between the comparison and the write."""
    held = array[index]
    if held == expected:
        array[index] = value
    return held
