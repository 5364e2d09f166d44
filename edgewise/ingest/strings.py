"""Numbering strings batch by batch; :mod:`edgewise.ingest.slots` says how."""

import numpy as np

from edgewise.errors import GraphError
from edgewise.ingest.growing import Growing
from edgewise.ingest.slots import EMPTY, ENTRY, FAR, GROUP, NEW, enter_again, look_up, settle
from edgewise.timer import timer

#: Share of the slots in use before the table doubles, and the share never exceeded within a batch.
FULL, BRIM = 0.75, 0.9
LEAST_SLOTS, MOST_FIRST_SLOTS = 1 << 12, 1 << 20
#: Distinct strings at most, so that the number of a slot takes 32 bits.
MOST_STRINGS = 3 << 30


class StringNumbers:
    """The strings met so far, each with its number.

    Parameters
    ----------
    expected : int
        How many strings will be added, as far as is known.

    Attributes
    ----------
    count : int
        Number of distinct strings.
    """

    def __init__(self, expected=0):
        self.count, self.expected = 0, expected
        slots = LEAST_SLOTS
        while slots < min(expected, MOST_FIRST_SLOTS):
            slots *= 2
        self.slots = np.full(slots, EMPTY)
        self.arena, self.offsets = Growing(np.uint8), Growing(np.int32)
        self.offsets.room(1)[0] = 0
        self._take_notes(0)

    def add(self, starts, text, pairs=True):
        """Number the strings of a batch.

        Parameters
        ----------
        starts : (strings + 1,) int32 or int64 array
            Where in ``text`` each string begins, and where the last one ends.
        text : (bytes,) uint8 array
        pairs : bool
            The first half are the sources of pairs, the other half their targets.

        Returns
        -------
        (strings,) uint32 array
            In the order of positions: of pairs, the source and then the target of each row.

        Raises
        ------
        GraphError
            There are too many distinct strings.
        """
        count = len(starts) - 1
        self._make_room(count)
        batch = count // 2 if pairs else count, int(pairs), starts, text, np.uint64(self.count), self.slots
        with timer("look up"):
            known = self.offsets.array, self.arena.array, self.found
            look_up(-(-count // GROUP), *batch, *known, self.news)
        with timer("settle"):
            positions = np.flatnonzero(self.news[:count])
            self._lengthen(self.news[positions])
            known = self.offsets.array, self.arena.array, self.found
            settle(len(positions), positions, *batch, *known)
        with timer("resolve"):
            return self._numbers(count)

    def _make_room(self, count):
        """Make the table and the notes large enough for a batch of new strings only."""
        if self.count + count > MOST_STRINGS:
            raise GraphError(f"more than {MOST_STRINGS - count:,} distinct strings; give integer ids")
        while self.count > FULL * len(self.slots) or self.count + count > BRIM * len(self.slots):
            with timer("grow"):
                old_slots, self.slots = self.slots, np.full(2 * len(self.slots), EMPTY)
                enter_again(len(old_slots), old_slots, self.slots)
        if count > len(self.news):
            self._take_notes(count)

    def _take_notes(self, count):
        self.found, self.news = np.empty(count, np.uint64), np.empty(count, np.uint32)

    def _numbers(self, count):
        """Numbers of the batch, now that the slots of new strings have theirs."""
        found = self.found[:count]
        numbers = found.astype(np.uint32)
        new = np.flatnonzero(found >= NEW)
        numbers[new] = self.slots[found[new] & ENTRY]  # the tag is cut off
        return numbers

    def _lengthen(self, news):
        """Make room in the arena for the new strings and say where each of them ends."""
        ends = np.cumsum(news, dtype=np.int64)
        if self.count == 0 and len(ends):
            self.offsets.reserve(self.expected + 1)
            self.arena.reserve(int(ends[-1]) // len(ends) * self.expected)
        ends += self.arena.used - np.arange(1, len(news) + 1)
        if len(ends) and ends[-1] > np.iinfo(self.offsets.array.dtype).max:
            self.offsets.widen(np.int64)
        self.offsets.room(len(ends))[:] = ends
        self.arena.room(int(ends[-1]) - self.arena.used if len(ends) else 0, int(FAR) + 1)
        self.count += len(ends)

    def ids(self, kind):
        """Return the strings in the order of their numbers, as an Arrow array of ``kind``; the last call."""
        import pyarrow as pa

        self.slots = self.found = self.news = None
        wide = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}
        kind = kind if self.offsets.array.dtype == np.int32 else wide[kind]
        buffers = [None, pa.py_buffer(self.offsets.taken()), pa.py_buffer(self.arena.taken())]
        return pa.Array.from_buffers(kind, self.count, buffers)
