"""Forests of edges that are not on the device, or for whose lists it has too little memory.

The edges are sent to the device segment by segment, filtered there, and collected by a
:class:`~edgewise.forest.reduction.Reducer`.  So a device holds a few buffers, the edges that it has
collected, and the forest so far, whatever the number of edges.

On a GPU the next segments are copied on a stream of their own while one is filtered, and as many as there are
buffers while edges are reduced.  Copies run beside kernels, at the full rate of the link, from page-locked
memory only; a segment in other memory is first copied into a page-locked buffer by several threads.  Edges
that are on the device already are read where they are.
"""

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count

from edgewise.components.segments import MAX_STAGING_THREADS, SegmentBuffer
from edgewise.device import arrays, streams
from edgewise.forest.reduction import Reducer, capacity_for

#: Edges of a segment, and buffers on a GPU.
SEGMENT_EDGES, BUFFERS = 1 << 23, 6


def forest_by_segments(goal, columns, first, queue, where):
    """The :class:`~edgewise.forest.reduction.Reducer` of the edges that a queue hands out, all reduced.

    ``columns`` are sources, targets and weights; the queue counts from position ``first``.
    """
    copied = where != "cpu" and arrays.device_of(columns[0]) == "cpu"
    buffered = BUFFERS * queue.chunk * sum(column.itemsize for column in columns) if copied else 0
    reducer = Reducer(goal, where, capacity_for(goal.n_vertices, columns[2], where, buffered))
    with arrays.guard(where):
        if not queue.total:
            sources, targets, weights = (arrays.move(column[:0], where) for column in columns)
            reducer.add(sources, targets, weights, first)
        segments = (_copies if copied else _views)(columns, first, queue, where)
        for start, (sources, targets, weights) in segments:
            reducer.add(sources, targets, weights, start)
        reducer.finish()
    return reducer


def _views(columns, first, queue, where):
    """Yield the position of the first edge of each segment, and the segment, copied only from another GPU."""
    for start, stop in queue:
        yield first + start, [arrays.move(column[first + start : first + stop], where) for column in columns]


def _copies(columns, first, queue, where):
    """Yield the same of segments of the host, copied to a GPU while others are in use."""
    stream = streams.Stream(where)
    free: deque[SegmentBuffer] = deque()
    copied: deque = deque()
    for _ in range(BUFFERS):
        free.append(SegmentBuffer(where, queue.chunk, [column.dtype for column in columns]))
    arrays.synchronize(where)  # the memory may have been in use in another stream
    with ThreadPoolExecutor(min(MAX_STAGING_THREADS, cpu_count() or 1)) as pool:
        while True:
            while free and (run := queue.take()) is not None:
                part, buffer = slice(first + run[0], first + run[1]), free.popleft()
                segment = _copy([column[part] for column in columns], buffer, pool, stream)
                copied.append((part.start, segment, buffer, stream.record()))
            if not copied:
                break
            start, segment, buffer, ready = copied.popleft()
            streams.current(where).wait(ready)
            yield start, segment
            buffer.joined = streams.current(where).record()
            free.append(buffer)
    stream.synchronize()


def _copy(columns, buffer, pool, stream):
    """Start to copy columns of the host into a buffer, when its last segment is no longer needed."""
    if all(map(streams.is_pinned, columns)):
        stream.wait(buffer.joined)
    else:
        buffer.joined.synchronize()
        columns = buffer.stage(columns, pool)
    copies = [room[: len(column)] for room, column in zip(buffer.columns, columns)]
    for copy, column in zip(copies, columns):
        streams.copy(copy, column, stream)
    return copies
