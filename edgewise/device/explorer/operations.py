"""Atomic operations, fences and waits as steps of the scheduler; see :mod:`edgewise.device.atomics`."""

import sys

from edgewise.device import atomics, spin
from edgewise.device.explorer.memory import Shared
from edgewise.device.explorer.scheduler import current


def cas(array, index, expected, value):
    """The library's operation as one step."""
    return _updated(array, index, lambda held: value if held == expected else None)


def fetch_add(array, index, value):
    """The library's operation as one step."""
    return _updated(array, index, lambda held: held + array.dtype.type(value))


def fetch_min(array, index, value):
    """The library's operation as one step."""
    return _updated(array, index, lambda held: value if value < held else None)


def fetch_max(array, index, value):
    """The library's operation as one step."""
    return _updated(array, index, lambda held: value if value > held else None)


def fetch_or(array, index, value):
    """The library's operation as one step."""
    return _updated(array, index, lambda held: held | array.dtype.type(value))


def load(array, index):
    """The library's operation as one step; a thread that reads the same again waits for others."""
    if type(array) is not Shared:
        return array[index]
    memory = _step(array, index, is_read=True)
    held = array.values[index] if memory is None else memory.load(array, index, sys._getframe(1))
    thread = array.scheduler.running
    if thread is not None:
        last, where, value = thread.loaded
        thread.loaded = array, index, held
        if last is array and where == index and value == held:
            array.scheduler.yield_()
    return held


def store(array, index, value):
    """The library's operation as one step."""
    memory = _step(array, index, is_read=False)
    if memory is None:
        _values(array)[index] = value
    else:
        memory.store(array, index, value, sys._getframe(1))


def _updated(array, index, change):
    """Replace an element by ``change(held)``, unless that is ``None``; return what it held."""
    memory = _step(array, index, is_read=True)
    if memory is not None:
        return memory.update(array, index, change, sys._getframe(2))
    values = _values(array)
    held = values[index]
    changed = change(held)
    if changed is not None:
        values[index] = changed
    return held


def _step(array, index, is_read):
    """Let others go on, and check an access; return the model of the memory, if there is one."""
    if type(array) is not Shared:
        return None
    scheduler = array.scheduler
    scheduler.left -= 1  # a step, without a call
    if scheduler.left < 0:
        scheduler.decide()
    array.check(index)
    if array.stored is not None:
        if is_read:
            array.check_stored(index)
        array.stored[index] = 1
    return None if scheduler.running is None else scheduler.memory


def _values(array):
    return array.values if type(array) is Shared else array


def fence():
    """The library's fence; a step, whether or not memory is weak, so that the order of a seed is the same."""
    scheduler = current()
    if scheduler is not None and scheduler.running is not None:
        scheduler.step()
        if scheduler.memory is not None:
            scheduler.memory.fence()


def relax(*waits):
    """A thread that waits lets others go on, where a scheduler runs it."""
    scheduler = current()
    if scheduler is not None and scheduler.running is not None:
        scheduler.yield_()


#: What takes the place of the library's operations.
STEPS = {spin.relax: relax, spin.back_off: relax} | {
    getattr(atomics, one.__name__): one
    for one in (cas, fetch_add, fetch_min, fetch_max, fetch_or, load, store, fence)
}
