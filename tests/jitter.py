"""The jittery interpreter: device functions run as Python threads that change devices at every array access.

A seeded scheduler decides at each read and write which thread goes on, so that a race shows on some seed,
and shows again on the same seed.
"""

import random
import threading


class Scheduler:
    """Lets one of several threads go on at a time, and picks another at every :meth:`step`."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.turn = threading.Condition()
        self.waiting, self.running = {}, None

    def step(self):
        me = threading.get_ident()
        with self.turn:
            self._pick()
            self.turn.wait_for(lambda: self.running == me)

    def _pick(self):
        self.running = self.draw.choice(sorted(self.waiting, key=self.waiting.get))
        self.turn.notify_all()

    def run(self, *tasks):
        ready = threading.Barrier(len(tasks) + 1)
        threads = [threading.Thread(target=self._work, args=(n, task, ready)) for n, task in enumerate(tasks)]
        for thread in threads:
            thread.start()
        ready.wait()
        with self.turn:
            self._pick()
        for thread in threads:
            thread.join()

    def _work(self, number, task, ready):
        me = threading.get_ident()
        with self.turn:
            self.waiting[me] = number
        ready.wait()
        with self.turn:
            self.turn.wait_for(lambda: self.running == me)
        task()
        with self.turn:
            del self.waiting[me]
            if self.waiting:
                self._pick()


class Jittery:
    """An array whose every access may hand over to another thread."""

    def __init__(self, values, scheduler):
        self.values, self.scheduler = values, scheduler
        self.dtype = values.dtype

    def __getitem__(self, index):
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
