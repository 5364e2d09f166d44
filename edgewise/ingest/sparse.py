"""Numbering integers batch by batch, as they come.

The table of :mod:`edgewise.ingest.integers` with a number beside each slot.  Whoever enters an id takes the
next number for it, so numbers depend on the order of threads; they serve until the ids are put in order at
the end.

The largest id of the type is what an empty slot holds.  It is numbered beside the table: entering it does
nothing, looking it up ends at some empty slot, and its number is written over what was found there.
"""

import numpy as np

from edgewise.device import cas, each, fetch_add, load
from edgewise.index_type import index_type
from edgewise.ingest.growing import Growing
from edgewise.ingest.integers import EMPTY, FULL, LEAST_SLOTS, ONE, enter, home, look_up, rank

ZERO = np.uint64(0)


@each
def enter_numbered(item, values, flip, slots, ranks, counter, keys):
    """Enter an id into the table and, if it is new, give it the next number."""
    key = values[item] ^ flip
    slot = home(key, slots)
    held = load(slots, slot)
    while held != key:
        if held == EMPTY:
            held = cas(slots, slot, EMPTY, key)
            if held == EMPTY:
                number = fetch_add(counter, 0, 1)
                ranks[slot] = number
                keys[number] = key
                return
        else:
            slot = (slot + ONE) & np.uint64(len(slots) - 1)
            held = load(slots, slot)


class IntegerNumbers:
    """The integers met so far, each with its number.

    Parameters
    ----------
    dtype : type
        int64 or uint64.

    Attributes
    ----------
    count : int
        Number of distinct integers.
    """

    def __init__(self, dtype):
        self.dtype, self.count = np.dtype(dtype), 0
        self.flip = np.uint64(0 if self.dtype.kind == "u" else 1 << 63)
        self.keys, self.largest = Growing(np.uint64), None  # the number of the largest id of the type
        self._take_slots(LEAST_SLOTS)

    def _take_slots(self, slots):
        self.slots = np.full(slots, EMPTY)
        self.ranks = np.empty(slots, index_type(slots))

    def add(self, sources, targets):
        """Number a batch of pairs.

        Parameters
        ----------
        sources, targets : (m,) integer arrays, not beyond the type given

        Returns
        -------
        sources, targets : (m,) index arrays
        """
        ends = [np.ascontiguousarray(column, self.dtype).view(np.uint64) for column in (sources, targets)]
        empty = [column == EMPTY ^ self.flip for column in ends]
        self._make_room(2 * len(sources))
        self.keys.room(2 * len(sources))
        if self.largest is None and any(found.any() for found in empty):
            self.keys.array[self.count] = EMPTY
            self.largest, self.count = self.count, self.count + 1
        counter = np.full(1, self.count, np.int64)
        for column in ends:
            enter_numbered(len(column), column, self.flip, self.slots, self.ranks, counter, self.keys.array)
        self.count = self.keys.used = int(counter[0])
        numbers = [np.empty(len(column), self.ranks.dtype) for column in ends]
        look_up(len(sources), *ends, ZERO, self.flip, self.slots, self.ranks, *numbers)
        if self.largest is not None:
            for found, column in zip(empty, numbers):
                column[found] = self.largest
        return numbers

    def _make_room(self, count):
        """Make the table large enough for a batch of new ids only."""
        slots = len(self.slots)
        while self.count + count > FULL * slots:
            slots *= 2
        if slots > len(self.slots):
            self._take_slots(slots)
            keys = self.keys.taken()
            enter(len(keys), keys, ZERO, ZERO, self.slots)
            rank(len(keys), keys, self.slots, self.ranks)

    def ids(self):
        """Return the distinct ids in the order of their numbers."""
        return (self.keys.taken() ^ self.flip).view(self.dtype)
