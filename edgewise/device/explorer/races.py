"""Races: two accesses of one element, by two threads, that nothing orders.

One of them is a plain store, and no chain of barriers, or of atomic operations with the fences that they
need, leads from one to the other.  A plain read beside an atomic operation is no race here: it returns one of
the values of the element, which algorithms such as union-find allow for.  A store of the value that is there
already is none either.  The order is that of vector clocks, of which an access keeps one number: the time of
its thread.

Flanagan and Freund, "FastTrack: efficient and precise dynamic race detection" (PLDI 2009).
"""

from edgewise.device.explorer.reports import Fault, is_documented, line_at, shown


class Races:
    """The accesses of each element that later ones may race with, and the races that have been found.

    An access is a tuple: number of the thread, its time, code, and instruction.  ``stores`` has the last
    plain store to an element, ``others`` the reads and the atomic operations since, one of each thread.
    """

    def __init__(self):
        self.stores, self.others, self.found = {}, {}, {}

    def read(self, thread, array, key, frame):
        """A plain read, or an atomic operation."""
        number, clock = thread.number, thread.view.clock
        if key in self.stores:
            store = self.stores[key]
            if store[0] != number and clock.get(store[0], 0) < store[1]:
                self._found(store, (number, clock[number], frame.f_code, frame.f_lasti), array)
        others = self.others.get(key)
        if others is None:
            self.others[key] = {number: (number, clock[number], frame.f_code, frame.f_lasti)}
        elif number not in others or others[number][1] != clock[number]:
            others[number] = number, clock[number], frame.f_code, frame.f_lasti

    def write(self, thread, array, key, frame):
        """A plain store of another value than the one that is there."""
        number, clock = thread.number, thread.view.clock
        this = number, clock[number], frame.f_code, frame.f_lasti
        before, others = self.stores.get(key), self.others.pop(key, {})
        for one in others.values() if before is None else (before, *others.values()):
            if one[0] != number and clock.get(one[0], 0) < one[1]:
                self._found(one, this, array)
        self.stores[key] = this

    def report(self):
        """Raise an error for the races that no comment documents."""
        new = dict.fromkeys(text for text, documented in self.found.values() if not documented)
        if new:
            more = f"; and {len(new) - 1} more" if len(new) > 1 else ""
            raise Fault(next(iter(new)) + more)

    def _found(self, first, second, array):
        if (first[2:], second[2:]) not in self.found:
            one, other = line_at(*first[2:]), line_at(*second[2:])
            text = f"race: {shown(one)} and {shown(other)} on an array of {len(array)} {array.dtype}"
            self.found[first[2:], second[2:]] = text, is_documented(*one) or is_documented(*other)
