"""The jittery interpreter: device functions run as Python threads that may switch at every array access.

A seeded scheduler decides at each read and write which thread goes on, so that a race shows on some seed,
and shows again on the same seed.
"""

import random
import threading
from types import FunctionType

#: Accesses and looks at a barrier after which a run counts as stuck.
MAX_STEPS = 20_000
#: How likely a thread is to go on at a step, for one seed after another.
STAY = (0.0, 0.9, 0.0, 0.5, 0.0, 0.8)


class Stuck(Exception):
    """The threads do not come to an end: they wait at different barriers, or work for ever."""


class Scheduler:
    """Lets one of several threads go on at a time, and at every :meth:`step` may pick another.

    Every second seed picks anew at each step, which finds races between two neighbouring accesses.  With
    the others a thread goes on for a burst of steps, which finds races in which one does much while another
    waits.
    """

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.stay = STAY[seed % len(STAY)]
        self.turns, self.waiting, self.running = {}, [], None
        self.steps, self.errors = 0, []

    def step(self):
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise Stuck
        if self.stay and self.draw.random() < self.stay:
            return
        me = self.running
        self._pick()
        if self.running != me:
            self.turns[self.running].release()
            self.turns[me].acquire()

    def _pick(self):
        self.running = self.draw.choice(self.waiting)

    def run(self, *tasks):
        numbers = range(len(tasks))
        self.waiting, self.turns = list(numbers), {number: threading.Lock() for number in numbers}
        for turn in self.turns.values():
            turn.acquire()
        threads = [threading.Thread(target=self._work, args=(n, task)) for n, task in enumerate(tasks)]
        for thread in threads:
            thread.start()
        self._pick()
        self.turns[self.running].release()
        for thread in threads:
            thread.join()
        if self.errors:
            raise self.errors[0]

    def _work(self, me, task):
        self.turns[me].acquire()
        try:
            task()
        except BaseException as error:
            self.errors.append(error)
        self.waiting.remove(me)
        if self.waiting:
            self._pick()
            self.turns[self.running].release()


class Jittery:
    """An array whose every access may hand over to another thread."""

    def __init__(self, values, scheduler):
        self.values, self.scheduler = values, scheduler
        self.dtype = values.dtype

    def __getitem__(self, index):
        if isinstance(index, slice):
            return Jittery(self.values[index], self.scheduler)
        self.scheduler.step()
        return self.values[index]

    def __setitem__(self, index, value):
        self.scheduler.step()
        self.values[index] = value

    def __len__(self):
        return len(self.values)


def cas(array, index, expected, value):
    """The library's compare-and-swap, with the hand-over before it and none inside."""
    array.scheduler.step()
    held = array.values[index]
    if held == expected:
        array.values[index] = value
    return held


def fetch_add(array, index, value):
    """The library's operation, with a switch before it and none inside; so are the next ones."""
    return _updated(array, index, lambda held: held + array.dtype.type(value))


def fetch_min(array, index, value):
    return _updated(array, index, lambda held: min(held, array.dtype.type(value)))


def fetch_max(array, index, value):
    return _updated(array, index, lambda held: max(held, array.dtype.type(value)))


def fetch_or(array, index, value):
    return _updated(array, index, lambda held: held | array.dtype.type(value))


def _updated(array, index, change):
    values = array
    if isinstance(array, Jittery):
        array.scheduler.step()
        values = array.values
    held = values[index]
    values[index] = change(held)
    return held


def load(array, index):
    return array[index]


def store(array, index, value):
    array[index] = value


class Barrier:
    """State of :func:`barrier_wait`."""

    def __init__(self, scheduler):
        self.scheduler, self.arrived, self.turn = scheduler, 0, 0


def barrier_wait(worker):
    barrier, turn = worker.barrier, worker.barrier.turn
    barrier.arrived += 1
    if barrier.arrived == worker.count:
        barrier.arrived, barrier.turn = 0, turn + 1
    while barrier.turn == turn:
        barrier.scheduler.step()


ATOMICS = {f.__name__: f for f in (cas, fetch_add, fetch_min, fetch_max, fetch_or, load, store, barrier_wait)}


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


def jittery(function, **replaced):
    """A copy of a device function of the library, and of all that it calls, with atomics that may switch.

    A ``@by_class`` function may be copied, too: the class of its first argument selects as usual.

    Parameters
    ----------
    function : function
    **replaced
        Other values of names that it or its callees use, such as :func:`careless_min` for ``fetch_min``.
    """
    copies = {}

    def copied_for_class(function):
        def call(record, *arguments):
            return copied(function.dispatch(type(record)))(record, *arguments)

        return call

    def copied(function):
        if hasattr(function, "dispatch"):
            return copied_for_class(function)
        if function not in copies:
            names = dict(function.__globals__)
            copy = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
            copies[function] = copy
            for name in function.__code__.co_names:
                if name in replaced or name in ATOMICS:
                    names[name] = replaced.get(name, ATOMICS.get(name))
                elif _is_ours(names.get(name)):
                    names[name] = copied(names[name])
        return copies[function]

    return copied(function)


def _is_ours(value):
    return isinstance(value, FunctionType) and value.__module__.startswith("edgewise.")


def run_region(scheduler, n_workers, start):
    """Run ``start(number, barrier)`` in as many threads as there are workers; whether they came to an end."""
    barrier = Barrier(scheduler)
    try:
        scheduler.run(*(lambda number=number: start(number, barrier) for number in range(n_workers)))
    except Stuck:
        return False
    return True
