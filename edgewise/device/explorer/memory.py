"""Memory as threads see it: arrays whose accesses are steps, and weak memory.

Under the models :data:`CPU` and :data:`GPU` a store may stay with its thread, which sees it, while others see
the old value; stores to different elements become visible in any order.  A read may return one of the last
values that others have replaced since, unless something orders the new value before it: it *happens before*.
Each element has one order of values, which no thread sees backwards.

===================  ==========================================  =========================================
operation            on the CPU (LLVM's orderings)               on a GPU
===================  ==========================================  =========================================
``load``             acquires                                    relaxed: may be out of date
``store``            releases; may be delayed itself             relaxed: may be delayed
others, such as cas  acquire, release, and see all values        relaxed, but see the last value
``fence``            acquires and releases                       as well, and sees what all have published
barriers             order all before them with all after them   those of a block, of a warp, of the grid
===================  ==========================================  =========================================

An exchange of the lanes of a warp (shuffle, ballot, scan) orders no memory; a barrier of the warp does.  A
plain store of a word is a relaxed one, as processors have it: who loads its value, and has a fence after
that, sees all that came before the writer's last fence.

Kang, Hur, Lahav, Vafeiadis and Dreyer, "A promising semantics for relaxed-memory concurrency" (POPL 2017),
for values by positions in the order of an element.
"""

import random
import sys
from typing import Any, NamedTuple

import numpy as np

from edgewise.device.explorer.races import Races
from edgewise.device.explorer.reports import Fault, OutOfRange, here, shown

#: Models of memory.
CPU, GPU = "cpu", "gpu"
#: How likely a weak memory is to delay a store, to publish a delayed one at an access, and to return a value
#: out of date, for one seed after another.
DELAYS, PUBLISHES, STALE = (0.5, 1.0, 0.2), (0.2, 0.0, 0.5), (0.25, 0.0, 0.5)
#: Replaced values of an element that reads may return.
OLDER = 4
#: How often others may go on before they see the last stores of a thread that has ended.
LAST_STEPS = 8
#: Bits of an address below those of its word of eight bytes.
WORD = 3


class Shared:
    """An array that threads share: every access is a step of the scheduler.

    A part of it (a slice) or a view of another type shares its elements.  ``stored`` is an array of the same
    shape that tells which elements have a value, if not all have one from the beginning.
    """

    __slots__ = ("address", "dtype", "is_plain", "scheduler", "stored", "stride", "values")

    def __init__(self, values, scheduler, stored=None):
        self.values, self.scheduler, self.stored = values, scheduler, stored
        self.is_plain = scheduler.memory is None and stored is None
        self.dtype = values.dtype
        self.address, self.stride = 0, values.strides[0]
        if scheduler.memory is not None:
            self.address = values.__array_interface__["data"][0]

    def __getitem__(self, index):
        if type(index) is slice:
            stored = None if self.stored is None else self.stored[index]
            return Shared(self.values[index], self.scheduler, stored)
        scheduler = self.scheduler
        scheduler.left -= 1  # a step, without a call
        if scheduler.left < 0:
            scheduler.decide()
        if self.is_plain and type(index) is not tuple and index >= 0:
            try:
                return self.values[index]
            except IndexError:
                self.check(index)
        self.check(index)
        if self.stored is not None:
            self.check_stored(index)
        if scheduler.memory is None or scheduler.running is None:
            return self.values[index]
        return scheduler.memory.read(self, index)

    def __setitem__(self, index, value):
        scheduler = self.scheduler
        scheduler.left -= 1
        if scheduler.left < 0:
            scheduler.decide()
        self.check(index)
        if self.stored is not None:
            self.stored[index] = 1
        if scheduler.memory is None or scheduler.running is None:
            self.values[index] = value
        else:
            scheduler.memory.write(self, index, value)

    def __len__(self):
        return len(self.values)

    @property
    def size(self):
        """Number of elements."""
        return self.values.size

    @property
    def shape(self):
        """Extent of each dimension."""
        return self.values.shape

    def view(self, dtype):
        """The same memory as elements of another type."""
        values = self.values.view(dtype)
        stored = None if self.stored is None else self.stored.view(_flags(values.dtype))
        return Shared(values, self.scheduler, stored)

    def check(self, index):
        """Refuse an index out of range, also a negative one, which the compilers count from the end."""
        if type(index) is tuple:
            is_inside = all(0 <= one < count for one, count in zip(index, self.values.shape, strict=True))
        else:
            is_inside = 0 <= index < self.values.shape[0]
        if not is_inside:
            extent = " x ".join(map(str, self.values.shape))
            raise OutOfRange(f"{_caller()}: index {_plain(index)} of an array of {extent} {self.dtype}")

    def check_stored(self, index):
        """Refuse to read an element that nothing has been stored in."""
        if not self.stored[index]:
            raise Fault(f"{_caller()}: nothing has been stored at index {_plain(index)} of shared memory")

    def key(self, index):
        """The address of an element, by which views of one array share it."""
        if type(index) is tuple:
            index = sum(int(one) * step for one, step in zip(index, self.values.strides))
            return self.address + index
        return self.address + int(index) * self.stride


def without_values(shape, dtype, scheduler):
    """An array whose elements have no values before something is stored there."""
    values = np.zeros(shape, dtype)
    return Shared(values, scheduler, np.zeros(shape, _flags(values.dtype)))


def _flags(dtype):
    """The type of an array of flags whose views have the shapes of those of values."""
    return np.dtype(f"u{dtype.itemsize}")


def _plain(index):
    return tuple(map(int, index)) if type(index) is tuple else int(index)


def _caller():
    """The line that has called the explorer."""
    frame: Any = sys._getframe(1)
    while frame.f_globals.get("__name__", "").startswith(__package__):
        frame = frame.f_back
    return shown(here(frame))


class View:
    """What a thread knows.

    ``delayed`` has stores that nobody else sees yet, ``seen`` the position of the newest value that it has
    seen of an element, ``clock`` what happens before, ``acquired`` what does so after its next fence, and
    ``released`` what did so before its last one.  It has seen all that was published before ``floor``.
    """

    __slots__ = ("acquired", "clock", "delayed", "floor", "released", "seen")

    def __init__(self, clock):
        self.delayed, self.seen, self.clock, self.floor = {}, {}, clock, 0
        self.acquired, self.released = {}, {}


class Delayed(NamedTuple):
    """A store that only its thread sees."""

    array: Any
    index: Any
    value: Any
    writer: int
    time: int
    released: dict


class Replaced(NamedTuple):
    """A value that a store has replaced: by whom, at which time of his, and the how manieth of all stores."""

    value: Any
    released: dict
    writer: int
    time: int
    number: int


class Cell:
    """An element: its order of values."""

    __slots__ = ("older", "position", "released")

    def __init__(self):
        self.released, self.older, self.position = {}, [], 0


class Memory:
    """The memory of a run; see the essay above."""

    def __init__(self, seed, model, races):
        self.draw, self.model = random.Random(seed ^ 0x5EED), model
        self.races = Races() if races else None
        self.delays, self.publishes, self.stale = (
            (one[seed % len(one)] if model else 0.0) for one in (DELAYS, PUBLISHES, STALE)
        )
        self.cells, self.widths, self.begun = {}, {}, {}
        self.n_stores = 0
        self.scheduler: Any = None

    def begin(self, scheduler, thread):
        """A thread that sees all that has been done by threads of a run before."""
        self.scheduler = scheduler
        thread.view = View({**self.begun, thread.number: 1})

    def read(self, array, index):
        """A plain read by the running thread."""
        thread, key = self.scheduler.running, array.key(index)
        if self.races is not None:
            self.races.read(thread, array, key, sys._getframe(2))
        return self._value(array, index, key, thread.view)[0] if self.model else array.values[index]

    def write(self, array, index, value):
        """A plain store by the running thread."""
        if self.races is not None and self._is_new(array, index, value):
            self.races.write(self.scheduler.running, array, array.key(index), sys._getframe(2))
        if self.model:
            self._store(array, index, value, self.scheduler.running.view.released)
        else:
            array.values[index] = value

    def load(self, array, index, frame):
        """An atomic read."""
        view, key = self.scheduler.running.view, array.key(index)
        value, released = self._value(array, index, key, view)
        _join(view.clock if self.model == CPU else view.acquired, released)
        if self.races is not None:
            self.races.read(self.scheduler.running, array, key, frame)
        return value

    def store(self, array, index, value, frame):
        """An atomic store."""
        view, key = self.scheduler.running.view, array.key(index)
        if self.races is not None:
            self.races.read(self.scheduler.running, array, key, frame)
        if self.model == CPU:
            self.publish(self.scheduler.running)
        self._store(array, index, value, view.clock if self.model == CPU else view.released)
        if self.model == CPU:
            self._tick(view)

    def update(self, array, index, change, frame):
        """An atomic operation that reads and writes the last value; return what it was."""
        thread, key = self.scheduler.running, array.key(index)
        view = thread.view
        if self.model == CPU:
            self.publish(thread)
            view.floor = self.n_stores
        elif key in view.delayed:
            self._publish_one(view, key)
        cell = self._cell(key)
        held = array.values[index]
        changed = change(held)
        _join(view.clock if self.model == CPU else view.acquired, cell.released)
        if self.races is not None:
            self.races.read(thread, array, key, frame)
        view.seen[key] = cell.position
        if changed is not None:
            released = {**cell.released}
            _join(released, view.clock if self.model == CPU else view.released)
            self._put(key, array, index, changed, thread.number, view.clock[thread.number], released)
            if self.model == CPU:
                self._tick(view)
        return held

    def fence(self):
        """A fence of the running thread."""
        thread = self.scheduler.running
        self.publish(thread)
        view = thread.view
        _join(view.clock, view.acquired)
        view.released = dict(view.clock)
        self._tick(view)
        if self.model != CPU:
            view.floor = self.n_stores

    def barrier(self, threads):
        """All of these threads have arrived: each sees what the others did before."""
        joined: dict = {}
        for thread in threads:
            self.publish(thread)
            _join(joined, thread.view.clock)
        for thread in threads:
            thread.view.clock = dict(joined)
            thread.view.clock[thread.number] += 1

    def publish(self, thread):
        """Let all others see the stores of a thread."""
        view = thread.view
        for key in list(view.delayed):
            self._publish_one(view, key)

    def end(self, thread):
        """A thread ends; others may go on for a while before they see its last stores."""
        for _ in range(LAST_STEPS if thread.view.delayed else 0):
            self.scheduler.yield_()
            if thread.view.delayed:
                self._publish_some(thread.view)
        self.publish(thread)

    def finish(self, threads):
        """A run ends: what comes later sees all of it; raise an error for undocumented races."""
        for thread in threads:
            _join(self.begun, thread.view.clock)
        if self.races is not None:
            self.races.report()

    def _is_new(self, array, index, value):
        """Whether an element has another value than this, and no thread is about to store it there."""
        key, delayed = array.key(index), self.scheduler.running.view.delayed
        if array.values[index] == value and key not in delayed:
            return False
        if not self.model:
            return True
        others = (thread.view.delayed.get(key) for thread in self.scheduler.threads)
        return all(one is None or one.value != value for one in others)

    def _cell(self, key):
        return self.cells.get(key) or self.cells.setdefault(key, Cell())

    def _tick(self, view):
        view.clock[self.scheduler.running.number] += 1

    def _value(self, array, index, key, view):
        """A value that the running thread may read, and what its store released."""
        if view.delayed:
            self._publish_some(view)
            if key in view.delayed:
                return array.dtype.type(view.delayed[key].value), {}
            self._publish_others_of_word(view, key, array)
        cell = self.cells.get(key)
        if cell is None:
            return array.values[index], {}
        position, value, released = cell.position, array.values[index], cell.released
        if cell.older and self.draw.random() < self.stale:
            steps, oldest = self.draw.randint(1, OLDER), view.seen.get(key, 0)
            for one in reversed(cell.older):
                is_known = view.clock.get(one.writer, 0) >= one.time or one.number <= view.floor
                if steps == 0 or position <= oldest or is_known:
                    break
                position, value, released, steps = position - 1, one.value, one.released, steps - 1
        view.seen[key] = position
        return value, released

    def _store(self, array, index, value, released):
        """Store a value, now or later."""
        thread, key = self.scheduler.running, array.key(index)
        view = thread.view
        time, width = view.clock[thread.number], array.dtype.itemsize
        if view.delayed:
            self._publish_some(view)
        if self.widths.setdefault(key >> WORD, width) != width:  # views of several types
            self.widths[key >> WORD] = 0
            self._publish_others_of_word(view, key, array)
            view.delayed.pop(key, None)
            self._put(key, array, index, value, thread.number, time, released)
        elif key in view.delayed or self.draw.random() < self.delays:
            view.delayed[key] = Delayed(array, index, value, thread.number, time, dict(released))
        else:
            self._put(key, array, index, value, thread.number, time, dict(released))

    def _put(self, key, array, index, value, writer, time, released):
        """Give an element its next value."""
        cell = self._cell(key)
        if self.model:
            self.n_stores += 1
            if self.widths.get(key >> WORD) == 0:
                cell.older.clear()
            else:
                cell.older.append(Replaced(array.values[index], cell.released, writer, time, self.n_stores))
                if len(cell.older) > OLDER:
                    del cell.older[0]
        cell.released = released
        cell.position += 1
        array.values[index] = value
        self.scheduler.threads[writer].view.seen[key] = cell.position

    def _publish_some(self, view):
        if self.draw.random() < self.publishes:
            self._publish_one(view, self.draw.choice(list(view.delayed)))

    def _publish_one(self, view, key):
        self._put(key, *view.delayed.pop(key))

    def _publish_others_of_word(self, view, key, array):
        """A thread sees its own stores by a view of another type, too."""
        if self.widths.get(key >> WORD, array.dtype.itemsize) != array.dtype.itemsize:
            for other in [one for one in view.delayed if one >> WORD == key >> WORD]:
                self._publish_one(view, other)


def _join(clock, other):
    for number, time in other.items():
        if clock.get(number, 0) < time:
            clock[number] = time
