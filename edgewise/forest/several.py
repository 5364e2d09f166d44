"""Forests on several devices: each has a share of the edges, consecutive ones.

Of a dense graph, the first device finds the forest of the light edges, and all filter the others
(:mod:`~edgewise.forest.shared_filter`).  Of another graph, every device finds the forest of its share.  The
forests meet in a binary tree of rounds, in each of which half of the workers send theirs to the other half,
where the two are reduced to one (:mod:`~edgewise.forest.reduction`).

A worker that has too little memory for its share reads it in segments: they are sent to the device one by
one, filtered there, and collected by a :class:`~edgewise.forest.reduction.Reducer`.  So a device holds a few
buffers, the edges that it has collected, and the forest so far, whatever the number of edges.  One device
takes the same way with all edges, where they are too many for its memory.

On a GPU the next segments are copied on a stream of their own while one is filtered, and as many as there are
buffers while edges are reduced.  Copies run beside kernels, at the full rate of the link, from page-locked
memory only; a segment in other memory is first copied into a page-locked buffer by all threads.  Edges
that are on the device already are read where they are.
"""

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import pairwise
from typing import Any, NamedTuple

from edgewise.components.segments import SegmentBuffer
from edgewise.device import arrays, streams, threads
from edgewise.errors import OutOfMemoryError
from edgewise.forest.reduction import (
    USABLE,
    Edges,
    Reducer,
    capacity_for,
    concatenated,
    solve,
    whole_bytes_needed,
)
from edgewise.forest.shared_filter import (
    Part,
    completed,
    edges_between,
    forest_of_light,
    gathered,
    light_edges,
    light_key,
)
from edgewise.workers import WorkQueue
from edgewise.workers.topology import all_access, rounds

#: Edges of a segment.
SEGMENT_EDGES = 1 << 23
#: Buffers of segments on a GPU.
BUFFERS = 6


class Share(NamedTuple):
    """A worker, and the positions of its edges: ``first`` to ``last - 1``, handed out by a ``queue``."""

    worker: Any
    first: int
    last: int
    queue: Any


class Found(NamedTuple):
    """The :class:`~edgewise.forest.reduction.Edges` of a forest, and labels.

    Attributes
    ----------
    forest : Edges
    labels : (n,) index array
        The smallest vertex of each vertex's tree.
    n_segments : int
        The segments in which the edges were read; 0 if they were read as a whole.
    """

    forest: Any
    labels: Any
    n_segments: int


def forest_by_shares(goal_of, columns, team):
    """Positions of the forest's edges, ascending, labels, and the number of segments that were read (or 0).

    ``goal_of(device)`` is the :class:`~edgewise.forest.reduction.Goal` there; ``columns`` are sources,
    targets and weights, on any device, and nothing is still being computed there.  The arrays are on the
    first device of the team.
    """
    n_edges = len(columns[0])
    all_access(team)  # so that copies between GPUs go over their link
    bounds = [n_edges * number // len(team) for number in range(len(team) + 1)]
    counts = [last - first for first, last in pairwise(bounds)]
    queues = [WorkQueue(count, SEGMENT_EDGES) for count in counts]
    shares = [Share(*one) for one in zip(team, bounds, bounds[1:], queues)]
    with ThreadPoolExecutor(len(team)) as pool:
        try:
            with arrays.guard(arrays.device_of(columns[2])):
                key = light_key(goal_of(team[0].device), columns[2]) if len(team) > 1 else None
            if key is not None:
                with suppress(OutOfMemoryError):
                    return *_by_filter(pool, goal_of, columns, (shares, key)), 0
            return _by_forests(pool, goal_of, columns, shares)
        except BaseException:
            for queue in queues:  # stops the workers
                queue.close()
            raise


def _on_workers(pool, function, devices, *arguments):
    """Call ``function(*arguments)`` for each worker at the same time, in a thread on its device."""
    n_threads = threads.count()

    def call(where, *given):
        threads.use(n_threads)
        with arrays.guard(where):
            return function(*given)

    return list(pool.map(call, devices, *arguments))


def _by_filter(pool, goal_of, columns, divided):
    """The forest of a dense graph: positions and labels."""
    shares, key = divided
    devices, home = [share.worker.device for share in shares], arrays.device_of(columns[0])
    goal = goal_of(devices[0])
    maximum = goal.maximum

    def light(share):
        part = _part(columns, share)
        return part, None if home != "cpu" else light_edges(part, maximum, key)

    def between(part, labels):
        labels = streams.copy_to(labels, arrays.device_of(part.sources))
        return edges_between(part, maximum, key, labels)

    parts, edges = zip(*_on_workers(pool, light, devices, shares))
    if home != "cpu":  # while parts are being copied to other GPUs
        with arrays.guard(home):
            edges = (light_edges(Part._make([*columns, 0]), maximum, key),)
    with arrays.guard(devices[0]):
        positions, labels = forest_of_light(goal, gathered(edges, devices[0]))
        del edges
        arrays.synchronize(devices[0])
    edges = _on_workers(pool, between, devices, parts, [labels] * len(parts))
    with arrays.guard(devices[0]):
        return completed(goal, positions, labels, gathered(edges, devices[0]))


def _by_forests(pool, goal_of, columns, shares):
    """The forest of another graph: positions, labels, and the number of segments."""
    devices = [share.worker.device for share in shares]
    goals = [goal_of(where) for where in devices]
    found = _on_workers(pool, _forest_of_share, devices, goals, [columns] * len(shares), shares)
    for pairs in rounds(devices):
        ones, others = zip(*pairs)
        given = ([taken[number] for number in ones] for taken in (devices, goals, found))
        merged = _on_workers(pool, _merged, *given, [found[number] for number in others])
        for number, result in zip(ones, merged):
            found[number] = result
    return found[0].forest.positions, found[0].labels, found[0].n_segments


def _part(columns, share):
    """The edges of a share, on the device of its worker; copies from GPUs are not waited for."""
    where, part = share.worker.device, slice(share.first, share.last)
    views, stream = [column[part] for column in columns], streams.Stream(where)
    home, locked = arrays.device_of(*views), where != "cpu" and all(map(streams.is_pinned, views))
    if home == where or ("cpu" in (where, home) and not locked):
        return Part._make([*(arrays.contiguous(arrays.move(view, where)) for view in views), share.first])
    copies = [arrays.empty(len(view), view.dtype, where) for view in views]
    stream.wait(streams.current(where).record())  # the memory may be in use
    for copy, view in zip(copies, views):
        streams.copy(copy, view, stream)
    streams.wait_stream(where, stream)
    return Part._make([*copies, share.first])


def _forest_of_share(goal, columns, share):
    """The forest of a share of the edges: as a whole, or in segments if memory is scarce."""
    with suppress(OutOfMemoryError):
        return _forest_as_a_whole(goal, columns, share)
    found = forest_by_segments(goal, columns, share.first, share.queue, share.worker.device)
    return Found(found.forest, found.labels, -(-share.queue.total // share.queue.chunk))


def _forest_as_a_whole(goal, columns, share):
    where, count = share.worker.device, share.last - share.first
    copied = where != arrays.device_of(columns[0])
    needed = whole_bytes_needed(goal.n_vertices, columns[2], count, copied)
    if where != "cpu" and needed > USABLE * arrays.free_memory(where):
        raise arrays.out_of_memory(needed, where)
    with arrays.guard(where):
        part = _part(columns, share)
        chosen, labels = solve(goal, *part[:3])
        forest = Edges._make([*(column[chosen] for column in part[:3]), chosen + share.first])
        arrays.synchronize(where)
        return Found(forest, labels, 0)


def _merged(goal, one, other):
    """The forest of the edges of two forests, on the device of the first."""
    where = arrays.device_of(one.labels)
    edges = concatenated([one.forest, other.forest.moved(where)], one.forest.sources.dtype)
    counts = [len(found.forest.positions) for found in (one, other)]
    if all(counts) and int(one.forest.positions[-1]) > int(other.forest.positions[0]):
        edges = edges.taken(arrays.namespace(where).argsort(edges.positions))
    chosen, labels = solve(goal, *edges[:3])
    arrays.synchronize(where)
    return Found(edges.taken(chosen), labels, one.n_segments + other.n_segments)


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
    while True:
        while free and (run := queue.take()) is not None:
            part, buffer = slice(first + run[0], first + run[1]), free.popleft()
            segment = _copy([column[part] for column in columns], buffer, stream)
            copied.append((part.start, segment, buffer, stream.record()))
        if not copied:
            break
        start, segment, buffer, ready = copied.popleft()
        streams.current(where).wait(ready)
        yield start, segment
        buffer.joined = streams.current(where).record()
        free.append(buffer)
    stream.synchronize()


def _copy(columns, buffer, stream):
    """Start to copy columns of the host into a buffer, when its last segment is no longer needed."""
    if all(map(streams.is_pinned, columns)):
        stream.wait(buffer.joined)
    else:
        buffer.joined.synchronize()
        columns = buffer.stage(columns)
    copies = [room[: len(column)] for room, column in zip(buffer.columns, columns)]
    for copy, column in zip(copies, columns):
        streams.copy(copy, column, stream)
    return copies
