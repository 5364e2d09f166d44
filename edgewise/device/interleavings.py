"""Interleavings: device functions run by Python threads that a deterministic scheduler switches.

    scheduler = Scheduler(seed)
    counter = Shared(np.zeros(1, np.int64), scheduler)
    add = preemptible(function)
    scheduler.run(lambda: add(counter), lambda: add(counter))

One thread runs at a time.  Before every access of a :class:`Shared` array the scheduler may *preempt* it,
that is, let another one go on.  The seed determines all of its decisions, so a race that shows with some seed
shows with that seed again.  Nothing is compiled: :func:`preemptible` copies the plain Python functions that
device functions are, with atomic operations that are one step each.

All threads see all writes at once and in their order (*sequential consistency*).  What the weaker memory
of a processor or GPU allows, such as a missing :func:`~edgewise.device.atomics.fence`, does not show here.

Burckhardt, Kothari, Musuvathi and Nagarakatte, "A randomized scheduler with probabilistic guarantees of
finding bugs" (ASPLOS 2010): few preemptions at random places find most races.
"""

import builtins
import os
import random
import sys
import threading
from contextlib import contextmanager
from types import CellType, CodeType, FunctionType, ModuleType

from edgewise.device import atomics, regions, spin

#: Steps after which threads are said to make no progress.
MAX_STEPS = 20_000
#: How likely a thread is to go on at a step, for one seed after another.
STAY = (0.0, 0.9, 0.0, 0.5, 0.0, 0.8)
#: Packages whose functions are called as they are; a function of no module is said to be one of builtins.
FOREIGN = {"numpy", *sys.stdlib_module_names} - {"__main__", "builtins"}


#: The scheduler of this thread.
_own = threading.local()


@contextmanager
def _on_one_core():
    """Keep the threads that are started here on one core: threads that take turns are faster so."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {sorted(cores)[os.getpid() % len(cores)]})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


class NoProgress(Exception):
    """The threads do not come to an end: they wait for each other, or work for ever."""


class Scheduler:
    """Lets one of several threads go on at a time, and may preempt it at every :meth:`step`.

    Every second seed picks anew at each step, which finds races between two neighbouring accesses.  With
    the others a thread goes on for a burst of steps, which finds races in which one does much while another
    waits.

    Parameters
    ----------
    seed : int
    max_steps : int
        Steps after which :class:`NoProgress` is raised.
    """

    def __init__(self, seed, max_steps=MAX_STEPS):
        self.max_steps, self.draw = max_steps, random.Random(seed)
        self.stay = STAY[seed % len(STAY)]
        self.turns, self.waiting, self.running = {}, [], None
        self.steps, self.errors = 0, []

    def step(self):
        """Let another thread go on, or not."""
        if self.running is None:  # called by no thread of a run
            return
        self.steps += 1
        if self.steps > self.max_steps:
            raise NoProgress(f"the threads have not ended after {self.max_steps:,} steps")
        if self.stay and self.draw.random() < self.stay:
            return
        self._switch(self.waiting)

    def yield_(self):
        """Let one of the other threads go on, where this one waits for them."""
        others = [one for one in self.waiting if one != self.running]
        if others:
            self._switch(others)

    def _switch(self, among):
        me = self.running
        self.running = self.draw.choice(among)
        if self.running != me:
            self.turns[self.running].release()
            self.turns[me].acquire()

    def _begin(self):
        self.running = self.draw.choice(self.waiting)
        self.turns[self.running].release()

    def run(self, *tasks):
        """Call every task in a thread of its own; raise the first error of one once all have ended."""
        numbers = range(len(tasks))
        self.waiting, self.turns = list(numbers), {number: threading.Lock() for number in numbers}
        for turn in self.turns.values():
            turn.acquire()
        threads = [threading.Thread(target=self._work, args=(n, task)) for n, task in enumerate(tasks)]
        with _on_one_core():
            for thread in threads:
                thread.start()
        self._begin()
        for thread in threads:
            thread.join()
        if self.errors:
            raise self.errors[0]

    def _work(self, me, task):
        self.turns[me].acquire()
        _own.scheduler = self
        try:
            task()
        except BaseException as error:
            self.errors.append(error)
        self.waiting.remove(me)
        if self.waiting:
            self._begin()
        else:
            self.running = None


def relax(*waits):
    """A thread that waits lets others go on, where a scheduler runs it."""
    if hasattr(_own, "scheduler"):
        _own.scheduler.yield_()


class Shared:
    """An array that threads share: every access is a step of the scheduler."""

    def __init__(self, values, scheduler):
        self.values, self.scheduler = values, scheduler
        self.dtype = values.dtype

    def __getitem__(self, index):
        if isinstance(index, slice):
            return Shared(self.values[index], self.scheduler)
        self.scheduler.step()
        return self.values[index]

    def __setitem__(self, index, value):
        self.scheduler.step()
        self.values[index] = value

    def __len__(self):
        return len(self.values)


def _entered(array):
    """The values of an array for an atomic operation, which is one step if the array is shared."""
    if isinstance(array, Shared):
        array.scheduler.step()
        return array.values
    return array


def cas(array, index, expected, value):
    """The library's operation as one step."""
    values = _entered(array)
    held = values[index]
    if held == expected:
        values[index] = value
    return held


def fetch_add(array, index, value):
    """The library's operation as one step."""
    return _updated(array, index, lambda held: held + array.dtype.type(value))


def fetch_min(array, index, value):
    """The library's operation as one step."""
    return _updated(array, index, lambda held: min(held, array.dtype.type(value)))


def fetch_max(array, index, value):
    """The library's operation as one step."""
    return _updated(array, index, lambda held: max(held, array.dtype.type(value)))


def fetch_or(array, index, value):
    """The library's operation as one step."""
    return _updated(array, index, lambda held: held | array.dtype.type(value))


def _updated(array, index, change):
    values = _entered(array)
    held = values[index]
    values[index] = change(held)
    return held


class Barrier:
    """State of :func:`barrier_wait`."""

    def __init__(self, scheduler):
        self.scheduler, self.arrived, self.turn = scheduler, 0, 0


def barrier_wait(worker):
    """The library's barrier, at which a thread takes steps until all have arrived."""
    barrier, turn = worker.barrier, worker.barrier.turn
    barrier.arrived += 1
    if barrier.arrived == worker.count:
        barrier.arrived, barrier.turn = 0, turn + 1
    while barrier.turn == turn:
        barrier.scheduler.step()


#: What takes the place of operations of the library.
STEPS = {spin.relax: relax, spin.back_off: relax} | {
    getattr(page, one.__name__): one
    for page, ones in (
        (atomics, (cas, fetch_add, fetch_min, fetch_max, fetch_or)),
        (regions, (barrier_wait,)),
    )
    for one in ones
}


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
    copies = {**STEPS, **(others or {})}

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
            copies[value] = of_class(value) if hasattr(value, "dispatch") else rebound(value, named, copies)
        return copies[value]

    def named(name, value):
        return replaced[name] if name in replaced else of(value)

    return of(function)


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
