"""Copies of device functions, with the explorer's operations in place of the compilers'."""

import builtins
import sys
from types import CellType, CodeType, FunctionType, ModuleType

from edgewise.device import regions
from edgewise.device.explorer.operations import STEPS
from edgewise.device.explorer.scheduler import NoProgress

#: Packages whose functions are called as they are; a function of no module is said to be one of builtins.
FOREIGN = {"numpy", *sys.stdlib_module_names} - {"__main__", "builtins"}


class Barrier:
    """State of :func:`barrier_wait`."""

    def __init__(self, scheduler):
        self.scheduler, self.arrived = scheduler, []


def barrier_wait(worker):
    """The library's barrier: all workers but the last one to arrive wait."""
    barrier = worker.barrier
    scheduler = barrier.scheduler
    barrier.arrived.append(scheduler.running)
    if len(barrier.arrived) < worker.count:
        scheduler.wait("waits at a barrier", sys._getframe(1))
        return
    arrived, barrier.arrived = barrier.arrived, []
    if scheduler.memory is not None:
        scheduler.memory.barrier(arrived)
    for thread in arrived[:-1]:
        scheduler.release(thread)
    scheduler.step()


def preemptible(function, others=None, **replaced):
    """Copy a device function, and all that it calls, with atomic operations that are steps of the scheduler.

    A ``@by_class`` function may be copied, too: the class of its first argument selects as usual.

    Parameters
    ----------
    function : function
    others : dict, optional
        What to call in place of functions.
    **replaced
        Other values of names that it or its callees use.
    """
    copies = {**STEPS, regions.barrier_wait: barrier_wait, **(others or {})}
    uses: list = []

    def of_class(function):
        def call(record, *arguments):
            return of(function.dispatch(type(record)))(record, *arguments)

        return call

    def of(value):
        if isinstance(value, ModuleType) and not _is_foreign(value.__name__):
            return _Module(value, of)
        if not isinstance(value, FunctionType) or _is_foreign(value.__module__):
            return value
        if value not in copies:
            copies[value] = of_class(value) if hasattr(value, "dispatch") else plain(value)
        return copies[value]

    def plain(function):
        names = function.__globals__
        uses.extend((names, name, names[name]) for name in _names_in(function.__code__) if name in names)
        return rebound(function, named, copies)

    def named(name, value):
        return replaced[name] if name in replaced else of(value)

    copy = of(function)
    copy.uses = uses
    return copy


def is_current(copy):
    """Whether all names that a copy of :func:`preemptible` uses still have the values that they had."""
    return all(names.get(name) is value for names, name, value in copy.uses)


def rebound(function, named, copies):
    """A copy of a function with ``named(name, value)`` in place of every global name, kept in ``copies``."""
    code, names = function.__code__, dict(function.__globals__)
    cells = tuple(CellType() for _ in code.co_freevars)
    copies[function] = copy = FunctionType(code, names, function.__name__, function.__defaults__, cells)
    for name in _names_in(code):
        names[name] = named(name, names.get(name, getattr(builtins, name, None)))
    for name, cell, old in zip(code.co_freevars, cells, function.__closure__ or ()):
        cell.cell_contents = named(name, old.cell_contents)
    return copy


def _names_in(code):
    """Global names that a function uses, also in functions inside; among them names of attributes."""
    inner = (one for one in code.co_consts if isinstance(one, CodeType))
    return {*code.co_names}.union(*map(_names_in, inner))


class _Module:
    """A module whose functions are copies."""

    def __init__(self, module, of):
        self._module, self._of = module, of

    def __getattr__(self, name):
        return self._of(getattr(self._module, name))


def _is_foreign(module):
    return module is not None and module.partition(".")[0] in FOREIGN


def run_region(scheduler, n_workers, start):
    """Run ``start(number, barrier)`` in as many threads as there are workers; whether they came to an end."""
    barrier = Barrier(scheduler)
    try:
        scheduler.run(*(lambda number=number: start(number, barrier) for number in range(n_workers)))
    except NoProgress:
        return False
    return True
