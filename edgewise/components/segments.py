"""Components of edges on the host, which are sent to the parents segment by segment.

A union-find method reads an edge once, so a device holds the parents and a few buffers, whatever the number
of edges.  This is the pending-segment scheme of Groute (Ben-Nun et al. 2017), which Hellås (2018) adopted,
with Rem's union as the kernel; ConnectIt (Dhulipala, Hong & Shun 2020) calls it batches.  Another function
can join the edges, such as Hook, with which Groute began (``join=``).

On a GPU a segment is copied on a stream of its own while the kernel joins the one before.  Copies run beside
kernels, at the full rate of the link, from page-locked memory only.  A segment in other memory is first
copied into a page-locked buffer by all threads, which also narrow it.  On the CPU nothing is copied.

The workers of a team take segments from one queue; their labels are merged at the end.  Nothing is compressed
between segments: splicing keeps paths short, and a pass over the parents costs as much as a segment.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import cycle
from typing import Any

import numpy as np

from edgewise.components.merge import merge_labels
from edgewise.components.rem import fetch_later, union
from edgewise.components.trees import compress, make_singletons
from edgewise.device import arrays, each, streams, threads
from edgewise.index_type import index_type
from edgewise.workers import WorkQueue

#: Edges of a segment.
SEGMENT_EDGES = 1 << 23
#: Buffers on the device: one is copied, one is joined, one is between the two.
BUFFERS = 3
#: Edges of the smallest segment that is tried where memory is scarce.
MIN_SEGMENT_EDGES = 1 << 16
#: Share of the free memory of a device that may be taken.
USABLE = 0.95


@partial(each, ascending=True)
def unite_numbers(edge, parent, sources, targets):
    """Join the endpoints of one edge, given as integers of any type."""
    fetch_later(edge, parent, sources, targets)
    number = parent.dtype.type
    union(parent, number(sources[edge]), number(targets[edge]))


@each
def convert(item, target, source):
    """Copy a number to an array of the same type or another one."""
    target[item] = source[item]


class SegmentBuffer:
    """Room for one segment on the GPU and, where needed, in page-locked host memory.

    ``kinds`` are the types of its columns.
    """

    def __init__(self, device, edges, kinds):
        self.device, self.staging = device, None
        self.columns = tuple(arrays.empty(edges, kind, device) for kind in kinds)
        self.joined = streams.Event()

    def staged(self, count):
        """Columns of so many edges in page-locked memory, to be written."""
        if self.staging is None:
            self.staging = tuple(streams.pinned(len(one), one.dtype, self.device) for one in self.columns)
        return tuple(room[:count] for room in self.staging)

    def stage(self, columns):
        """The columns in page-locked memory, copied there by all threads."""
        staged = self.staged(len(columns[0]))
        for room, column in zip(staged, columns):
            convert(len(room), room, np.ascontiguousarray(column))
        return staged


def join_by_rem(parent, sources, targets):
    """Join a segment of edges by Rem's algorithm."""
    unite_numbers(len(sources), parent, sources, targets)


class HostPipeline:
    """Joins edges of the host to parents that may be on a GPU, in segments of at most ``segment_edges``.

    ``join(parent, sources, targets)`` joins the edges of a segment, and ``buffers`` are on the way at once.

    Edges are joined in a separate stream, after all work that the device was given before :meth:`join` and
    before all that it is given later.  Parents may be read, and their memory reused, without the host
    waiting.
    """

    def __init__(self, parent, segment_edges=SEGMENT_EDGES, join=join_by_rem, buffers=BUFFERS):
        self.parent, self.segment_edges, self.unite = parent, segment_edges, join
        self.device = arrays.device_of(parent)
        self.kind, self.capacity, self.n_buffers = None, 0, buffers
        self.buffers: Any = None
        self.copy_stream, self.join_stream = streams.Stream(self.device), streams.Stream(self.device)

    def __del__(self):
        with suppress(Exception):  # page-locked buffers may be reused only when no copy reads them
            self.settle()

    def settle(self):
        """Wait until all edges given so far are joined."""
        self.join_stream.synchronize()

    def join(self, sources, targets):
        """Join edges on the host, whose endpoints are known to be vertices.

        The arrays may be overwritten on return, page-locked ones after :meth:`settle`.
        """
        self.join_stream.wait(streams.current(self.device).record())
        columns = [_as_parents(column, self.parent.dtype) for column in (sources, targets)]
        ready, size = self._copies(columns), self.segment_edges
        for start in range(0, len(sources), size):
            self._join_segment([column[start : start + size] for column in columns], ready)
        streams.current(self.device).wait(self.join_stream.record())

    def join_written(self, count, write):
        """Join so many edges, one segment, that ``write(sources, targets)`` writes to page-locked arrays.

        The device has made the parents before the call, and other pipelines may have the same.  Returns what
        ``write`` returns; if that is false, nothing is joined.
        """
        if count > self.segment_edges:
            raise ValueError(f"{count} edges are more than a segment of {self.segment_edges}")
        buffer = self._next_buffer(self.parent.dtype, count)
        buffer.joined.synchronize()
        staged = buffer.staged(count)
        written = write(*staged)
        if written:
            self._send(buffer, staged)
        return written

    def _copies(self, columns):
        """Whether a device copies arrays as they are, or reads them."""
        same = columns[0].dtype == columns[1].dtype
        return self.device == "cpu" or (same and all(map(streams.is_pinned, columns)))

    def _join_segment(self, columns, ready):
        """Join a segment; ``ready`` is what :meth:`_copies` says."""
        if self.device == "cpu":
            self.unite(self.parent, *columns)
            return
        buffer = self._next_buffer(columns[0].dtype if ready else self.parent.dtype, len(columns[0]))
        buffer.joined.synchronize()
        self._send(buffer, columns if ready else buffer.stage(columns))

    def _send(self, buffer, columns):
        """Copy page-locked columns to a buffer, and join their edges."""
        copies = tuple(room[: len(columns[0])] for room in buffer.columns)
        for copy, column in zip(copies, columns):
            streams.copy(copy, column, self.copy_stream)
        self.join_stream.wait(self.copy_stream.record())
        with self.join_stream:
            self.unite(self.parent, *copies)
        buffer.joined = self.join_stream.record()

    def _next_buffer(self, kind, count):
        """The next buffer in turn; new ones where the type or a larger segment requires it."""
        if kind != self.kind or count > self.capacity:
            self.settle()
            self.buffers = None
            self.kind, self.capacity = kind, min(1 << (count - 1).bit_length(), self.segment_edges)
            buffers = [SegmentBuffer(self.device, self.capacity, (kind, kind)) for _ in range(self.n_buffers)]
            arrays.synchronize(self.device)  # the memory may have been in use in another stream
            self.buffers = cycle(buffers)
        return next(self.buffers)


def _as_parents(column, kind):
    """The column as an array of the parents' type if the two differ in sign only."""
    column = np.asarray(column)
    return column.view(kind) if column.itemsize == kind.itemsize else column


def components_by_segments(
    n_vertices, sources, targets, team, segment_edges=SEGMENT_EDGES, merge="auto", join=join_by_rem
):
    """Labels of edges on the host, on the device of the team's first worker, and the number of segments.

    ``join`` joins the edges of a segment; see :class:`HostPipeline`.  Endpoints are known to be below
    ``n_vertices``; a ``numpy.memmap`` is accepted, and arrays made by
    :func:`edgewise.device.streams.pinned` are copied directly.
    """
    queue = WorkQueue(len(sources), segment_edges)
    columns, n_threads = (np.asarray(sources), np.asarray(targets)), threads.count()

    def work(worker):
        threads.use(n_threads)
        with arrays.guard(worker.device):
            try:
                return _label_segments(worker.device, n_vertices, columns, queue, join)
            except BaseException:
                queue.close()  # stops the other workers
                raise

    with ThreadPoolExecutor(len(team)) as pool:
        try:
            labels = list(pool.map(work, team))
        except BaseException:
            queue.close()
            raise
    return merge_labels(team, labels, merge), -(-len(sources) // segment_edges)


def _label_segments(device, n_vertices, columns, queue, join):
    """Labels by the segments that one worker takes from the queue."""
    parent = arrays.empty(n_vertices, index_type(n_vertices), device)
    make_singletons(n_vertices, parent)
    pipeline = HostPipeline(parent, queue.chunk, join)
    for start, stop in queue:
        pipeline.join(*(column[start:stop] for column in columns))
    pipeline.settle()
    compress(n_vertices, parent)
    arrays.synchronize(device)
    return parent


def bytes_needed(n_vertices, segment_edges=SEGMENT_EDGES):
    """Bytes that a worker needs on its device."""
    return (n_vertices + 2 * BUFFERS * segment_edges) * np.dtype(index_type(n_vertices)).itemsize


def segment_for(n_vertices, team):
    """Edges of the largest segment with which parents and buffers fit on every device; 0 if none does."""
    edges = SEGMENT_EDGES
    while edges >= MIN_SEGMENT_EDGES:
        needed = bytes_needed(n_vertices, edges)
        if all(needed <= USABLE * arrays.free_memory(device) for device in team.devices):
            return edges
        edges //= 2
    return 0


def solve_by_segments(graph, team, merge="auto"):
    """:func:`components_by_segments` for a graph whose edges do not fit on the devices.

    Edges on another device are copied to the host.  OutOfMemoryError, with the bytes needed, if not even the
    parents and small buffers fit.
    """
    edges = segment_for(graph.n_vertices, team)
    if not edges:
        device = min(team.devices, key=arrays.free_memory)
        raise arrays.out_of_memory(bytes_needed(graph.n_vertices, MIN_SEGMENT_EDGES), device)
    sources, targets = (arrays.move(column, "cpu") for column in (graph.sources, graph.targets))
    return components_by_segments(graph.n_vertices, sources, targets, team, edges, merge)
