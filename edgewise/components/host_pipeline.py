"""How edges of the host get to parents on a GPU: copied and joined at the same time, segment by segment.

On a GPU a segment is copied on a stream of its own while the kernel works on the one before.  Copies run
beside kernels, at the full rate of the link, only from page-locked memory; a segment that lies elsewhere
(pages of a file, an ordinary array) is first brought into a page-locked buffer by several threads, and
narrowed on the way.  On the CPU a segment is a slice and nothing is copied.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import cycle
from os import cpu_count

import numpy as np

from edgewise.components.rem import union
from edgewise.device import arrays, each, streams

#: Edges of a segment, and segments under way at once: one copied, one joined, one between the two.
SEGMENT_EDGES, SLOTS = 1 << 23, 3
#: Threads that fill page-locked buffers, and the items worth a thread.
MOST_STAGING, STAGED = 16, 1 << 20


@each
def unite_numbers(edge, parent, sources, targets):
    """Join the ends of one edge, given as integers of any type."""
    number = parent.dtype.type
    union(parent, number(sources[edge]), number(targets[edge]))


class Slot:
    """Room for one segment on its way to the GPU."""

    def __init__(self, device, edges, kind):
        self.device, self.host = device, None
        self.there = tuple(arrays.empty(edges, kind, device) for _ in range(2))
        self.joined = streams.Event()

    def staged(self, columns, staging):
        """The columns in page-locked memory, filled by the threads of ``staging``."""
        if self.host is None:
            shape = self.there[0]
            self.host = tuple(streams.pinned(len(shape), shape.dtype, self.device) for _ in range(2))
        targets = tuple(room[: len(column)] for room, column in zip(self.host, columns))
        jobs = [
            staging.submit(np.copyto, room[start : start + STAGED], column[start : start + STAGED], "unsafe")
            for room, column in zip(targets, columns)
            for start in range(0, len(column), STAGED)
        ]
        for job in jobs:
            job.result()
        return targets


class Feeder:
    """Joins edges of the host to parents that may lie on a GPU.

    Parameters
    ----------
    parent : (n,) index array
        Its place is where the work is done.
    segment_edges : int
        Edges under way in one buffer, at most.

    Notes
    -----
    Edges are joined in a stream of its own, after all that the place has been given before :meth:`feed` and
    before what it is given later: parents may be read, and their memory used again, without the host waiting.
    """

    def __init__(self, parent, segment_edges=SEGMENT_EDGES):
        self.parent, self.segment_edges = parent, segment_edges
        self.device = arrays.device_of(parent)
        self.kind, self.room, self.slots, self.staging = None, 0, None, None
        self.copying, self.joining = streams.Stream(self.device), streams.Stream(self.device)

    def __del__(self):
        with suppress(Exception):  # page-locked buffers may be handed on only when nothing reads them
            self.settle()

    def settle(self):
        """Wait until all edges given so far are joined."""
        self.joining.synchronize()

    def feed(self, sources, targets):
        """Join edges whose ends are known to be vertices.

        Parameters
        ----------
        sources, targets : (m,) integer arrays on the host
            They may be overwritten when this returns; page-locked ones after :meth:`settle`.
        """
        self.joining.wait(streams.current(self.device).record())
        for start in range(0, len(sources), self.segment_edges):
            part = slice(start, start + self.segment_edges)
            self._feed_one(sources[part], targets[part])
        streams.current(self.device).wait(self.joining.record())

    def _feed_one(self, *columns):
        count = len(columns[0])
        columns = tuple(_as_parents(column, self.parent.dtype) for column in columns)
        if self.device == "cpu":
            unite_numbers(count, self.parent, *columns)
            return
        ready = columns[0].dtype == columns[1].dtype and all(map(streams.is_pinned, columns))
        slot = self._slot(columns[0].dtype if ready else self.parent.dtype, count)
        slot.joined.synchronize()
        if not ready:
            self.staging = self.staging or ThreadPoolExecutor(min(MOST_STAGING, cpu_count() or 1))
            columns = slot.staged(columns, self.staging)
        there = tuple(room[:count] for room in slot.there)
        for room, column in zip(there, columns):
            streams.copy(room, column, self.copying)
        self.joining.wait(self.copying.record())
        with self.joining:
            unite_numbers(count, self.parent, *there)
        slot.joined = self.joining.record()

    def _slot(self, kind, count):
        """The slot whose turn it is; new ones when other types or more edges come than before."""
        if kind != self.kind or count > self.room:
            self.settle()
            self.slots = None
            self.kind, self.room = kind, min(1 << (count - 1).bit_length(), self.segment_edges)
            slots = [Slot(self.device, self.room, kind) for _ in range(SLOTS)]
            arrays.synchronize(self.device)  # the memory may have served something of another stream
            self.slots = cycle(slots)
        return next(self.slots)


def _as_parents(column, kind):
    """The column as an array of the parents' type if only the sign tells them apart."""
    column = np.asarray(column)
    return column.view(kind) if column.itemsize == kind.itemsize else column
