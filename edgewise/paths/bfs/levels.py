"""The search by levels on the CPU's threads: one region for all levels, one barrier or two a level.

Every worker lists what it finds in a list of its own, and begins the next level with what it found itself,
whose rows and marks are in its cache; only what the shares differ by is taken from the others.  Two such
lists take turns and stay small, so they stay in the cache too.  All workers read the same counts behind a
barrier and come to the same decisions (see :mod:`~edgewise.paths.bfs.turns`):

* a frontier with few entries is followed by one worker alone, for as many levels as it stays small, while
  the others wait: thin graphs need no barriers,
* a larger one is shared, by equal counts; a large one by chunks from a counter, since rows are uneven,
* where it reaches a good part of the graph, workers draw what they reach and write the distances in memory
  order (see :mod:`~edgewise.paths.bfs.drawn`), or those not reached look for the frontier, if the rows that
  come in are there (see :mod:`~edgewise.paths.bfs.bottom_up`),
* lists have room for a part of the vertices only.  What does not fit has its distance all the same, and the
  next step takes all vertices at that distance.
"""

import numpy as np

from edgewise.device import barrier_wait, device, parallel_region
from edgewise.device.regions import workers
from edgewise.paths.bfs.bottom_up import BLOCK
from edgewise.paths.bfs.expand import BUFFER, MARGIN, NUMBERS, unsigned
from edgewise.paths.bfs.steps import FEW, go_alone, step_down, step_drawn, step_up_all, survey_all, write_all
from edgewise.paths.bfs.turns import (
    APART,
    COMMON,
    COUNTER,
    DOWN,
    DRAWN,
    FOUND,
    LEVEL,
    LOST,
    SECOND,
    UP,
    WAITING,
    WORK,
    choose,
    common,
    note,
    part_of,
    room_of,
    totals,
)
from edgewise.paths.result import unreached

#: Lists have room for this part of the vertices each, and for so many at least.
LISTED, LEAST = 16, 4096


@device
def begin(worker, offsets, marks, known, values, level, found, state):
    """Nothing is reached but what is known, of which those at ``level`` are the frontier."""
    seen, distances, none = marks
    first, end = part_of(worker.id, worker.count, len(distances))
    for vertex in range(unsigned(first), unsigned(end)):
        distances[vertex] = none
    first, end = part_of(worker.id, worker.count, len(seen))
    for byte in range(unsigned(first), unsigned(end)):
        seen[byte] = 0
    barrier_wait(worker)
    first, end = room_of(worker.id, worker.count, level, found)
    tail, lost, work = first, unsigned(0), unsigned(0)
    if worker.id == 0:
        for item in range(len(known)):
            vertex = known[item]
            distances[vertex] = values[item]
            seen[vertex >> 3] |= np.uint8(1 << (vertex & 7))
            if values[item] == level:
                if tail == end:
                    tail, lost = first, lost + tail - first
                found[tail] = vertex
                tail += unsigned(1)
                work += unsigned(offsets[vertex + 1]) - unsigned(offsets[vertex])
        state[common(0, worker.count) + LEVEL] = level
    note(state, 2, worker.id, worker.count, tail - first, work, lost)
    barrier_wait(worker)


@device
def step_wide(
    kind, ready, worker, state, turn, level, size, lost, rows, incoming, marks, bitmaps,
    waiting, counts, scratch, found, room,
):  # fmt: skip
    """A step by bitmaps: by drawing, or bottom-up; it leaves the bitmap of those that it reaches."""
    at, behind = common(turn, worker.count), common(turn + 1, worker.count)
    front, after, drawn = bitmaps
    distance, sheet = np.int32(level + 1), unsigned(worker.id * len(front))
    if kind == DRAWN:
        step_drawn(
            at + COUNTER,
            worker.count,
            state,
            turn,
            level,
            size,
            lost,
            rows,
            marks,
            scratch,
            found,
            drawn,
            sheet,
        )
        barrier_wait(worker)
        return write_all(
            at + SECOND, state, behind, worker.count, drawn, marks, distance, rows[0], front, waiting, counts,
            found, room,
        )  # fmt: skip
    if not ready:
        survey_all(at + SECOND, state, level, marks, front, waiting, counts)
        barrier_wait(worker)
    return step_up_all(
        at + COUNTER, state, behind, incoming, front, after, waiting, counts, marks, distance, rows[0],
        scratch, found, room,
    )  # fmt: skip


@device
def step_narrow(
    me, everyone, state, turn, level, cutoff, size, work, lost, rows, marks, scratch, found, room
):
    """A step by lists, or several by one worker; also says which level is reached."""
    if work > FEW or lost > 0:
        tail, gone, more = step_down(
            me, everyone, state, turn, level, size, work, lost, rows, marks, scratch, found, room
        )
        return tail, gone, more, level + 1
    if me > 0:
        return room[0], unsigned(0), unsigned(0), level + 1
    return go_alone(everyone, state, turn, level, cutoff, size, rows, marks, scratch, found)


@parallel_region
def search(
    worker, offsets, neighbours, into, out_of, distances, seen, front, after, drawn, waiting,
    counts, found, buffer, numbers, state, known, values, level, cutoff, none,
):  # fmt: skip
    """Run a whole search; see :func:`distances_by_levels`."""
    rows, incoming, marks = (offsets, neighbours), (into, out_of), (seen, distances, np.int32(none))
    scratch = (buffer, unsigned(worker.id * BUFFER), numbers, unsigned(worker.id * NUMBERS))
    begin(worker, offsets, marks, known, values, level, found, state)
    turn, left, outside, kind = 0, len(neighbours), len(distances), DOWN
    while True:
        at, behind = common(turn, worker.count), common(turn + 1, worker.count)
        level = state[at + LEVEL]
        size, work = totals(state, turn, worker.count, FOUND), totals(state, turn, worker.count, WORK)
        lost = totals(state, turn, worker.count, LOST)
        if size + lost == 0 or level >= cutoff:
            break
        outside -= size + lost
        ready = kind != DOWN
        waits = state[at + WAITING] if ready else outside
        kind = choose(ready, work, lost, left, waits, len(neighbours), len(distances), len(into) > 0)
        left -= work
        if worker.id == 0:
            later = common(turn + 2, worker.count)  # what lies behind others may add to already
            state[later + COUNTER] = state[later + SECOND] = state[later + WAITING] = 0
        reached, room = level + 1, room_of(worker.id, worker.count, level + 1, found)
        if kind == DOWN:
            tail, gone, more, reached = step_narrow(
                worker.id,
                worker.count,
                state,
                turn,
                level,
                cutoff,
                size,
                work,
                lost,
                rows,
                marks,
                scratch,
                found,
                room,
            )
            room = room_of(worker.id, worker.count, reached, found)
        else:
            bitmaps = (front, after, drawn)
            tail, gone, more = step_wide(
                kind, ready, worker, state, turn, level, size, lost, rows, incoming, marks,
                bitmaps, waiting, counts, scratch, found, room,
            )  # fmt: skip
            if kind == UP:
                front, after = after, front
        note(state, turn, worker.id, worker.count, tail - room[0], more, gone)
        if worker.id == 0:
            state[behind + LEVEL] = reached
        barrier_wait(worker)
        turn += 1


def distances_by_levels(rows, known, values, level, cutoff, incoming=None):
    """Distances from the sources that all ``known`` distances come from.

    Parameters
    ----------
    rows : edgewise.paths.csr.Adjacency
        On the host.
    known : (k,) index array
        All vertices up to ``level`` steps away; distinct.
    values : (k,) int32 array
        Their distances.
    level : int
        The largest of these.
    cutoff : int
        Vertices further away are not reached.
    incoming : edgewise.paths.csr.Adjacency, optional
        Given: steps may go bottom-up.

    Returns
    -------
    (n,) int32 array
    """
    n, everyone, dtype = rows.n_vertices, workers(), rows.neighbours.dtype
    words = (n + 63) // 64
    distances, seen = np.empty(n, np.int32), np.empty(8 * words, np.uint8)
    back = rows.offsets[:0], rows.neighbours[:0]
    if incoming is not None:
        back = incoming.offsets, incoming.neighbours
    room = max(n // LISTED, LEAST) + MARGIN
    search(
        rows.offsets, rows.neighbours, *back, distances, seen,
        np.empty(words, np.uint64), np.empty(words, np.uint64), np.zeros(everyone * words, np.uint64),
        np.empty(n, dtype), np.empty(-(-n // BLOCK), np.int64), np.empty(2 * everyone * room, dtype),
        np.empty(everyone * BUFFER, dtype), np.empty(everyone * NUMBERS, np.uint64),
        np.zeros(3 * (everyone * APART + COMMON), np.int64),
        known.astype(dtype, copy=False), values, int(level), int(cutoff), int(unreached(np.int32)),
    )  # fmt: skip
    return distances
