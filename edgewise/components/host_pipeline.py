"""Edges of the host joined to parents on a GPU: copying and joining overlap, segment by segment.

On a GPU a segment is copied on a stream of its own while the kernel joins the one before.  Copies run beside
kernels, at the full rate of the link, from page-locked memory only.  A segment in other memory (pages of a
file, an ordinary array) is first copied into a page-locked buffer by several threads, which also narrow it.
On the CPU a segment is a slice and nothing is copied.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import cycle
from os import cpu_count

import numpy as np

from edgewise.components.rem import union
from edgewise.device import arrays, each, streams

#: Edges of a segment, and buffers on the device: one is copied, one is joined, one is between the two.
SEGMENT_EDGES, BUFFERS = 1 << 23, 3
#: Threads that fill page-locked buffers, and the values that one of them copies at a time.
MAX_STAGING_THREADS, STAGING_BLOCK = 16, 1 << 20


@each
def unite_numbers(edge, parent, sources, targets):
    """Join the endpoints of one edge, given as integers of any type."""
    number = parent.dtype.type
    union(parent, number(sources[edge]), number(targets[edge]))


class SegmentBuffer:
    """Room for one segment on the GPU and, where needed, in page-locked host memory."""

    def __init__(self, device, edges, kind):
        self.device, self.staging = device, None
        self.columns = tuple(arrays.empty(edges, kind, device) for _ in range(2))
        self.joined = streams.Event()

    def stage(self, columns, pool):
        """The columns in page-locked memory, copied there by the threads of ``pool``."""
        if self.staging is None:
            like = self.columns[0]
            self.staging = tuple(streams.pinned(len(like), like.dtype, self.device) for _ in range(2))
        staged = tuple(room[: len(column)] for room, column in zip(self.staging, columns))
        jobs = [
            pool.submit(
                np.copyto,
                room[start : start + STAGING_BLOCK],
                column[start : start + STAGING_BLOCK],
                "unsafe",
            )
            for room, column in zip(staged, columns)
            for start in range(0, len(column), STAGING_BLOCK)
        ]
        for job in jobs:
            job.result()
        return staged


class HostPipeline:
    """Joins edges of the host to parents that may be on a GPU.

    Parameters
    ----------
    parent : (n,) index array
        Its device does the work.
    segment_edges : int
        Maximum number of edges in one buffer.

    Notes
    -----
    Edges are joined in a separate stream, after all work that the device was given before :meth:`join` and
    before all that it is given later.  Parents may be read, and their memory reused, without the host
    waiting.
    """

    def __init__(self, parent, segment_edges=SEGMENT_EDGES):
        self.parent, self.segment_edges = parent, segment_edges
        self.device = arrays.device_of(parent)
        self.kind, self.capacity, self.buffers, self.pool = None, 0, None, None
        self.copy_stream, self.join_stream = streams.Stream(self.device), streams.Stream(self.device)

    def __del__(self):
        with suppress(Exception):  # page-locked buffers may be reused only when no copy reads them
            self.settle()

    def settle(self):
        """Wait until all edges given so far are joined."""
        self.join_stream.synchronize()

    def join(self, sources, targets):
        """Join edges whose endpoints are known to be vertices.

        Parameters
        ----------
        sources, targets : (m,) integer arrays on the host
            They may be overwritten on return; page-locked ones after :meth:`settle`.
        """
        self.join_stream.wait(streams.current(self.device).record())
        for start in range(0, len(sources), self.segment_edges):
            segment = slice(start, start + self.segment_edges)
            self._join_segment(sources[segment], targets[segment])
        streams.current(self.device).wait(self.join_stream.record())

    def _join_segment(self, *columns):
        count = len(columns[0])
        columns = tuple(_as_parents(column, self.parent.dtype) for column in columns)
        if self.device == "cpu":
            unite_numbers(count, self.parent, *columns)
            return
        ready = columns[0].dtype == columns[1].dtype and all(map(streams.is_pinned, columns))
        buffer = self._next_buffer(columns[0].dtype if ready else self.parent.dtype, count)
        buffer.joined.synchronize()
        if not ready:
            self.pool = self.pool or ThreadPoolExecutor(min(MAX_STAGING_THREADS, cpu_count() or 1))
            columns = buffer.stage(columns, self.pool)
        copies = tuple(room[:count] for room in buffer.columns)
        for copy, column in zip(copies, columns):
            streams.copy(copy, column, self.copy_stream)
        self.join_stream.wait(self.copy_stream.record())
        with self.join_stream:
            unite_numbers(count, self.parent, *copies)
        buffer.joined = self.join_stream.record()

    def _next_buffer(self, kind, count):
        """The next buffer in turn; new ones where the type or a larger segment requires it."""
        if kind != self.kind or count > self.capacity:
            self.settle()
            self.buffers = None
            self.kind, self.capacity = kind, min(1 << (count - 1).bit_length(), self.segment_edges)
            buffers = [SegmentBuffer(self.device, self.capacity, kind) for _ in range(BUFFERS)]
            arrays.synchronize(self.device)  # the memory may have been in use in another stream
            self.buffers = cycle(buffers)
        return next(self.buffers)


def _as_parents(column, kind):
    """The column as an array of the parents' type if the two differ in sign only."""
    column = np.asarray(column)
    return column.view(kind) if column.itemsize == kind.itemsize else column
