"""The scheduler: threads of which one runs at a time, and which switch at steps.

A thread is a greenlet, a call with a stack of its own: a switch takes a fraction of a microsecond, where one
of the system's threads takes ten.
"""

import threading
from functools import partial
from typing import Any

from edgewise.device.explorer.memory import Memory
from edgewise.device.explorer.orders import order_of
from edgewise.device.explorer.reports import Fault, NoProgress, line_of
from edgewise.errors import DeviceError

__all__ = ["Fault", "NoProgress", "Scheduler", "Thread", "current"]

#: Steps after which threads are said to make no progress.
MAX_STEPS = 20_000
#: The scheduler that runs in this thread of the system.
_own = threading.local()


def current():
    """The scheduler that runs the caller, if any."""
    return getattr(_own, "scheduler", None)


class Thread:
    """A thread of a scheduler.

    Attributes
    ----------
    number : int
    fiber : greenlet
    waits : tuple or None
        For what it waits, and the frame of the line, while it cannot go on.
    loaded : tuple
        The array, index and value of its last load.
    view : View
        What it has seen and written of the memory (:mod:`edgewise.device.explorer.memory`).
    place
        What it is in a grid (:mod:`edgewise.device.explorer.gpu`).
    """

    __slots__ = ("fiber", "loaded", "number", "place", "view", "waits")

    def __init__(self, number, fiber, place=None):
        self.number, self.fiber, self.place = number, fiber, place
        self.waits = self.view = None
        self.loaded = None, None, None

    def __str__(self):
        return f"thread {self.number}" if self.place is None else str(self.place)


class Scheduler:
    """Lets one of several threads go on at a time, and may preempt it at every :meth:`step`.

    Parameters
    ----------
    seed : int
        What determines the order, and the decisions of a weak memory.
    max_steps : int
        Steps after which :class:`NoProgress` is raised.
    order : optional
        Which thread goes on (:mod:`edgewise.device.explorer.orders`); by default that of the seed.
    memory : optional
        ``CPU`` or ``GPU``: the model of memory; by default it is sequentially consistent.
    races : bool
        Whether an undocumented race is an error.
    """

    def __init__(self, seed=0, max_steps=MAX_STEPS, *, order=None, memory=None, races=False):
        self.max_steps, self.steps, self.burst, self.left = max_steps, 0, 0, 0
        self.order = order_of(seed) if order is None else order
        self.memory = Memory(seed, memory, races) if memory or races else None
        self.threads: list = []
        self.ready: list = []
        self.running: Any = None
        self.home = None

    def step(self):
        """Let another thread go on, or not; most steps only count that there is one less ``left``."""
        self.left -= 1
        if self.left < 0:
            self.decide()

    def decide(self):
        """Let another thread go on, or not, for as many steps as the order says."""
        running = self.running
        if running is None:  # called by no thread of a run
            return
        self.steps += 1 + self.burst
        if self.steps > self.max_steps:
            raise NoProgress(f"the threads have not ended after {self.max_steps:,} steps")
        chosen = self.order.next(running, self.ready)
        self.burst = self.left = self.order.burst()
        if chosen is not running:
            self._switch(chosen)

    def yield_(self):
        """Let one of the other threads go on, where this one waits for them."""
        running = self.running
        others = [one for one in self.ready if one is not running]
        if not others:
            return
        if hasattr(self.order, "lower"):
            self.order.lower(running)
        self._switch(self.order.pick(others))

    def wait(self, what, frame=None):
        """Let others go on until one of them releases this thread (:meth:`release`)."""
        running = self.running
        running.waits = what, frame
        self.ready.remove(running)
        if not self.ready:
            raise NoProgress(self._what_all_wait_for())
        self._switch(self.order.pick(self.ready))

    def release(self, thread):
        """Let a thread that waits go on again."""
        thread.waits = None
        self.ready.append(thread)

    def _switch(self, thread):
        self.running = thread
        thread.fiber.switch()

    def run(self, *tasks):
        """Call every task in a thread of its own; raise the first error of one, which ends the others."""
        self.start([(task, None) for task in tasks])
        self.finish()

    def start(self, tasks):
        """Add a thread for each pair of a task and a place."""
        library = _greenlet()
        if self.running is None:
            self.home = library.getcurrent()
        for task, place in tasks:
            thread = Thread(len(self.threads), None, place)
            thread.fiber = library.greenlet(partial(self._work, thread, task), self.home)
            self.threads.append(thread)
            self.ready.append(thread)
            if self.memory is not None:
                self.memory.begin(self, thread)

    def finish(self):
        """Run all threads until they have ended."""
        before, _own.scheduler = current(), self
        try:
            while self.ready:
                self._switch(self.order.pick(self.ready))  # comes back when a thread has ended or failed
            if any(thread.waits for thread in self.threads):
                raise NoProgress(self._what_all_wait_for())
        finally:
            self.running, _own.scheduler = None, before
            for thread in self.threads:
                if thread.fiber:
                    thread.fiber.throw()
            self.ready = []
        if self.memory is not None:
            self.memory.finish(self.threads)

    def _work(self, thread, task):
        task()
        if self.memory is not None:
            self.memory.end(thread)
        self.ready.remove(thread)
        if thread.place is not None:
            thread.place.end(self)

    def _what_all_wait_for(self):
        waiting = [thread for thread in self.threads if thread.waits]
        shown = "; ".join(f"{one} {one.waits[0]}{line_of(one.waits[1])}" for one in waiting[:3])
        return f"all threads wait: {shown}" + (f" and {len(waiting) - 3} more" if len(waiting) > 3 else "")


def _greenlet():
    try:
        import greenlet
    except ImportError:
        raise DeviceError("interleavings need greenlet; pip install 'edgewise[explorer]'") from None
    return greenlet
