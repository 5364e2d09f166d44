"""Memory as threads see it: arrays whose accesses are steps, weak memory, and races.

*Weak memory.*  Under the models :data:`CPU` and :data:`GPU` a plain store may stay with its thread, which sees
it, while others see the old value; stores to different elements become visible in any order.  A plain read
may return what the thread has read from this element before, as from a register or a cache that is not kept
up to date.  A fence or a barrier publishes the thread's stores and makes it forget what it has read.  An
atomic operation does so too on the CPU, where it acquires and releases, but not on a GPU.  Each element has
one order of values, which no thread sees backwards: a thread never reads what is older than its own store.

*Races.*  Two accesses of one element race if they are of two threads, one is a plain store, and no chain of
barriers, or of atomic operations with the fences that they need, orders them.  A plain read beside an atomic
operation is no race here: it returns one of the values of the element, which algorithms such as union-find
allow for.  A store of the value that is there already is none either.  The order is that of vector clocks.

Flanagan and Freund, "FastTrack: efficient and precise dynamic race detection" (PLDI 2009).
"""

import random
import sys

from edgewise.device.explorer.reports import Fault, OutOfRange, here, is_documented, shown

#: Models of memory.
CPU, GPU = "cpu", "gpu"
#: How likely a weak memory is to delay a store, to publish a delayed one at an access, and to return a value
#: out of date, for one seed after another.
DELAYS, PUBLISHES, STALE = (0.5, 1.0, 0.2), (0.2, 0.0, 0.5), (0.25, 0.0, 0.5)

#: How often others may go on before they see the last stores of a thread that has ended.
LAST_STEPS = 8


class Shared:
    """An array that threads share: every access is a step of the scheduler.

    A part of it (a slice) or a view of another type shares its elements.
    """

    __slots__ = ("address", "dtype", "scheduler", "values")

    def __init__(self, values, scheduler):
        self.values, self.scheduler = values, scheduler
        self.dtype = values.dtype
        self.address = values.__array_interface__["data"][0] if scheduler.memory is not None else 0

    def __getitem__(self, index):
        if isinstance(index, slice):
            return Shared(self.values[index], self.scheduler)
        scheduler = self.scheduler
        scheduler.step()
        self.check(index)
        if scheduler.memory is None or scheduler.running is None:
            return self.values[index]
        return scheduler.memory.read(self, index)

    def __setitem__(self, index, value):
        scheduler = self.scheduler
        scheduler.step()
        self.check(index)
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
        return Shared(self.values.view(dtype), self.scheduler)

    def check(self, index):
        """Refuse an index out of range, also a negative one, which the compilers count from the end."""
        if type(index) is not tuple and not 0 <= index < len(self.values):
            where = shown(here(sys._getframe(2)))
            raise OutOfRange(f"{where}: index {index} of an array of {len(self.values)} {self.dtype}")

    def key(self, index):
        """The address of an element, by which views of one array share it."""
        if type(index) is tuple:
            index = sum(int(one) * step for one, step in zip(index, self.values.strides))
            return self.address + index
        return self.address + int(index) * self.values.itemsize


class View:
    """What a thread knows: stores that nobody else sees yet, values it has read, and its vector clock."""

    __slots__ = ("acquired", "clock", "delayed", "released", "seen")

    def __init__(self, clock):
        self.delayed, self.seen, self.clock = {}, {}, clock
        self.acquired, self.released = {}, {}


class Cell:
    """The last store to an element and the reads since: by whom, when, where."""

    __slots__ = ("atomic", "reads", "released", "time", "where", "writer")

    def __init__(self):
        self.writer, self.time, self.where, self.atomic = None, 0, None, False
        self.reads, self.released = {}, {}


class Memory:
    """The memory of a run; see the essay above."""

    def __init__(self, seed, model, races):
        self.draw, self.model, self.races = random.Random(seed ^ 0x5EED), model, races
        self.delays, self.publishes, self.stale = (
            (one[seed % len(one)] if model else 0.0) for one in (DELAYS, PUBLISHES, STALE)
        )
        self.cells, self.found = {}, {}
        self.scheduler = None

    def begin(self, scheduler, thread):
        """A thread that sees all that its maker has done."""
        self.scheduler = scheduler
        thread.view = View({thread.number: 1})

    def read(self, array, index):
        """A plain read by the running thread."""
        view, key = self.scheduler.running.view, array.key(index)
        if self.races:
            self._note_read(array, key, sys._getframe(2))
        if not self.model:
            return array.values[index]
        self._publish_some(view)
        if key in view.delayed:
            return array.values.dtype.type(view.delayed[key][2])
        if key in view.seen and self.draw.random() < self.stale:
            return view.seen[key]
        view.seen[key] = held = array.values[index]
        return held

    def write(self, array, index, value):
        """A plain store by the running thread."""
        view, key = self.scheduler.running.view, array.key(index)
        if self.races:
            self._note_write(array, index, key, value, sys._getframe(2))
        if not self.model:
            array.values[index] = value
            return
        self._publish_some(view)
        view.seen.pop(key, None)
        if key in view.delayed or self.draw.random() < self.delays:
            view.delayed[key] = array.values, index, value
        else:
            array.values[index] = value

    def before_atomic(self, array, index):
        """An atomic operation begins: it acts on the memory itself."""
        view, key = self.scheduler.running.view, array.key(index)
        if self.model == CPU:
            self.publish(self.scheduler.running)
        elif key in view.delayed:
            values, where, value = view.delayed.pop(key)
            values[where] = value
        view.seen.pop(key, None)

    def after_atomic(self, array, index, has_written):
        """An atomic operation ends; it may have read only."""
        if not self.races:
            return
        view, key = self.scheduler.running.view, array.key(index)
        cell = self.cells.get(key) or self.cells.setdefault(key, Cell())
        frame = sys._getframe(2)
        if not cell.atomic:
            self._check_order(cell, view, frame, array)
        _join(view.acquired if self.model != CPU else view.clock, cell.released)
        if has_written:
            me = self.scheduler.running.number
            cell.writer, cell.time, cell.where, cell.atomic = me, view.clock[me], here(frame), True
            cell.reads.clear()
            if self.model == CPU:
                _join(cell.released, view.clock)
                view.clock[me] += 1
            else:
                _join(cell.released, view.released)

    def fence(self):
        """A fence of the running thread."""
        thread = self.scheduler.running
        self.publish(thread)
        view = thread.view
        _join(view.clock, view.acquired)
        view.released = dict(view.clock)
        view.clock[thread.number] += 1

    def barrier(self, threads):
        """All of these threads have arrived: each sees what the others did before."""
        joined = {}
        for thread in threads:
            self.publish(thread)
            _join(joined, thread.view.clock)
        for thread in threads:
            thread.view.clock = dict(joined)
            thread.view.clock[thread.number] += 1

    def publish(self, thread):
        """Let all others see the stores of a thread, which forgets what it has read."""
        view = thread.view
        for values, index, value in view.delayed.values():
            values[index] = value
        view.delayed.clear()
        view.seen.clear()

    def end(self, thread):
        """A thread ends; others may go on for a while before they see its last stores."""
        for _ in range(LAST_STEPS if thread.view.delayed else 0):
            self.scheduler.yield_()
            self._publish_some(thread.view)
        self.publish(thread)

    def raise_races(self):
        """Raise an error for the races that no comment documents."""
        if new := [text for text, documented in self.found.values() if not documented]:
            more = f"; and {len(new) - 1} more" if len(new) > 1 else ""
            raise Fault(new[0] + more)

    def _publish_some(self, view):
        if view.delayed and self.draw.random() < self.publishes:
            key = self.draw.choice(list(view.delayed))
            values, index, value = view.delayed.pop(key)
            values[index] = value

    def _note_read(self, array, key, frame):
        cell = self.cells.get(key) or self.cells.setdefault(key, Cell())
        thread = self.scheduler.running
        if not cell.atomic:
            self._check_order(cell, thread.view, frame, array)
        cell.reads[thread.number] = thread.view.clock[thread.number], here(frame)

    def _note_write(self, array, index, key, value, frame):
        thread = self.scheduler.running
        if array.values[index] == value and key not in thread.view.delayed:
            return
        cell = self.cells.get(key) or self.cells.setdefault(key, Cell())
        self._check_order(cell, thread.view, frame, array)
        for reader, (time, where) in cell.reads.items():
            if reader != thread.number and thread.view.clock.get(reader, 0) < time:
                self._found(where, here(frame), array)
        me = thread.number
        cell.writer, cell.time, cell.where, cell.atomic = me, thread.view.clock[me], here(frame), False
        cell.reads.clear()

    def _check_order(self, cell, view, frame, array):
        writer = cell.writer
        if writer not in (None, self.scheduler.running.number) and view.clock.get(writer, 0) < cell.time:
            self._found(cell.where, here(frame), array)

    def _found(self, first, second, array):
        if (first, second) not in self.found:
            text = f"race: {shown(first)} and {shown(second)} on an array of {len(array)} {array.dtype}"
            self.found[first, second] = text, is_documented(*first) or is_documented(*second)


def _join(clock, other):
    for number, time in other.items():
        if clock.get(number, 0) < time:
            clock[number] = time
