"""Parallel peeling: remove the vertices of least degree, level by level, in one region.

At level ``k`` every vertex with at most ``k`` neighbours left is removed, which may leave others with as few;
the level at which a vertex goes is its core number (Matula & Beck 1983).  Removing a vertex lowers the
degrees of its neighbours by atomic additions, but never below the level: an addition that finds a degree
lowered to the level already is taken back (Kabir & Madduri 2017, PKC).  So exactly one worker sees a degree
arrive at the level, and queues the vertex; at the end the degrees are the core numbers.

*One queue for all levels.*  Every vertex is queued once, and the queue is the order of removal.  What has
been queued in one turn is removed in the next, with one barrier between.  A worker that finds little in the
queue goes on alone, turn after turn, while the others wait: chains of trees need thousands of turns.

*Windows of levels.*  To search all vertices for the next level would take as long as the largest core number
is large.  One search lists those of a window of levels instead (after the buckets of Julienne; Dhulipala,
Blelloch & Shun 2017), and a vertex whose degree falls into the window later is appended to the list.  A
window is a quarter as wide as its first level is large, so that there are few of them, and all searches of
lists together take less time than reading the rows.

Counters are in three sets, which turns use alternately (:mod:`edgewise.primitives.rounds`).
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, barrier_wait, device, fetch_add, fetch_min, load, parallel_region
from edgewise.device.regions import workers
from edgewise.device.shares import own_share
from edgewise.device.warps import block_size, warp_aggregated_add, warp_size
from edgewise.primitives.rounds import Rounds, clear_set, places, set_after, set_of, words

#: Vertices that a CPU worker queues or lists at a time, after one word for their number.
BUFFER = 128
#: Vertices in the queue up to which one CPU worker goes on alone.
FEW = 48
#: CPU workers that are no faster than one, which needs no atomic operations.
FEW_WORKERS = 2
#: A window has this part of its first level.
PART = 4
#: Largest number of vertices whose core numbers are int32.
MAX_INT32 = 2**31 - 1
#: A level beyond all.
NONE = np.int64(2**62)


class Counters(NamedTuple):
    """Counters of a turn."""

    queued: int  # vertices queued in it
    listed: int  # vertices listed in it
    least: int  # least degree above the level
    removed: int  # up to which place the queue has been removed


#: Places of the counters in a set, and the sets.
AT = places(Counters)
SETS = Rounds(0, words(Counters))


class Rows(NamedTuple):
    """Rows of a graph without self-loops and repeated edges.

    ``offsets`` (n + 1,) int64, ``neighbours`` (entries,) index array, each edge in two rows.
    """

    offsets: Any
    neighbours: Any


class Peeling(NamedTuple):
    """State of a peeling, which all workers share."""

    rows: Rows
    degrees: Any  # (n,) int32 or int64 array: neighbours left, in the end the core numbers
    queue: Any  # (n,) index array: vertices in the order of their removal
    listed: Any  # (n,) index array: vertices of a window, one window after the other
    counters: Any  # (SETS.end,) int64 array


class Turn(NamedTuple):
    """What all workers know of a turn."""

    counters: int  # place of its set of counters
    queued: int  # vertices queued before it
    listed: int  # vertices listed before it
    level: int
    end: int  # the window's levels are below this


@device
def add_to(worker, peeling, turn, which, vertex):
    """Queue or list a vertex: a CPU worker collects some first."""
    if block_size() == 1:
        size = worker.shared[0]
        if size == BUFFER:
            flush(worker, peeling, turn, which)
            size = 0
        worker.shared[1 + size] = vertex
        worker.shared[0] = size + 1
    else:
        place = warp_aggregated_add(peeling.counters, turn.counters + which)
        write(peeling, turn, which, place, vertex)


@device
def write(peeling, turn, which, place, vertex):
    """Write a vertex to a place among those that this turn queues or lists."""
    if which == AT.queued:
        peeling.queue[turn.queued + place] = vertex
    else:
        peeling.listed[turn.listed + place] = vertex


@device
def flush(worker, peeling, turn, which):
    """Write what a CPU worker has collected."""
    if block_size() == 1:
        size = worker.shared[0]
        if size > 0:
            place = fetch_add(peeling.counters, turn.counters + which, size)
            for item in range(size):
                write(peeling, turn, which, place + item, worker.shared[1 + item])
        worker.shared[0] = 0


@device
def search_vertices(worker, peeling, turn):
    """List the vertices of a window; if it is a single level, queue them."""
    degrees = peeling.degrees
    which = AT.queued if turn.end == turn.level + 1 else AT.listed
    first, end, step = own_share(worker, 0, len(degrees))
    for vertex in range(first, end, step):
        if turn.level <= degrees[vertex] < turn.end:
            add_to(worker, peeling, turn, which, vertex)
    flush(worker, peeling, turn, which)


@device
def search_list(worker, peeling, turn, listed):
    """Queue the vertices at the level that are listed from ``listed`` on; note the least degree above it."""
    least = np.int64(turn.end)
    first, end, step = own_share(worker, listed, turn.listed)
    for item in range(first, end, step):
        vertex = peeling.listed[item]
        degree = np.int64(peeling.degrees[vertex])
        if degree == turn.level:
            add_to(worker, peeling, turn, AT.queued, vertex)
        elif degree > turn.level:
            least = min(least, degree)
    flush(worker, peeling, turn, AT.queued)
    fetch_min(peeling.counters, turn.counters + AT.least, least)


@device
def remove(worker, peeling, turn, vertex):
    """Lower the degrees of the neighbours of a vertex, and queue or list those that this concerns."""
    lanes, degrees, offsets = warp_size(), peeling.degrees, peeling.rows.offsets
    for entry in range(offsets[vertex] + worker.id % lanes, offsets[vertex + 1], lanes):
        other = np.int64(peeling.rows.neighbours[entry])
        if load(degrees, other) > turn.level:
            held = fetch_add(degrees, other, -1)
            if held <= turn.level:
                fetch_add(degrees, other, 1)
            elif held == turn.level + 1:
                add_to(worker, peeling, turn, AT.queued, other)
            elif held == turn.end:
                place = warp_aggregated_add(peeling.counters, turn.counters + AT.listed)
                peeling.listed[turn.listed + place] = other


@device
def remove_alone(worker, peeling, turn, head):
    """Remove what is queued from ``head`` on and what that adds to the queue, while it is little.

    Other workers wait, so degrees are lowered without atomic operations.
    """
    degrees, offsets = peeling.degrees, peeling.rows.offsets
    tail, end = turn.queued, turn.listed
    while head < tail and (tail - head <= FEW or worker.count == 1):
        vertex = np.int64(peeling.queue[head])
        head += 1
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            other = np.int64(peeling.rows.neighbours[entry])
            held = np.int64(degrees[other])
            if held > turn.level:
                degrees[other] = held - 1
                if held == turn.level + 1:
                    peeling.queue[tail] = other
                    tail += 1
                elif held == turn.end:
                    peeling.listed[end] = other
                    end += 1
    peeling.counters[turn.counters + AT.queued] = tail - turn.queued
    peeling.counters[turn.counters + AT.listed] = end - turn.listed
    return head


@device
def remove_queued(worker, peeling, turn, first):
    """Remove the vertices in the queue from ``first`` on; the counter ``removed`` is how far this went."""
    if block_size() == 1 and (turn.queued - first <= FEW or worker.count == 1):
        if worker.id == 0:
            head = remove_alone(worker, peeling, turn, first)
            peeling.counters[turn.counters + AT.removed] = head
        return
    if worker.id == 0:
        peeling.counters[turn.counters + AT.removed] = turn.queued
    lanes = warp_size()
    for item in range(first + worker.id // lanes, turn.queued, worker.count // lanes):
        remove(worker, peeling, turn, np.int64(peeling.queue[item]))
    flush(worker, peeling, turn, AT.queued)


@device
def clear(counters, place):
    """Clear a set of counters."""
    clear_set(SETS, counters, place)
    counters[place + AT.least] = NONE


@device
def after(worker, peeling, turn):
    """Wait for the end of a turn, and return the next one in the same level."""
    barrier_wait(worker)
    queued = turn.queued + load(peeling.counters, turn.counters + AT.queued)
    listed = turn.listed + load(peeling.counters, turn.counters + AT.listed)
    counters = set_after(SETS, turn.counters)
    if worker.id == 0:
        clear(peeling.counters, set_after(SETS, counters))
    return Turn(counters, queued, listed, turn.level, turn.end)


@device
def peel_level(worker, peeling, turn, first):
    """Remove what is queued from ``first`` on, and what has as few neighbours then; return the next turn."""
    while first < turn.queued:
        remove_queued(worker, peeling, turn, first)
        removed = turn.counters + AT.removed
        turn = after(worker, peeling, turn)
        first = load(peeling.counters, removed)
    return turn


@device
def peel_listed(worker, peeling, turn, listed):
    """Peel the next level of a window whose vertices are listed from ``listed`` on; return the next turn."""
    first, least = turn.queued, turn.counters + AT.least
    search_list(worker, peeling, turn, listed)
    turn = after(worker, peeling, turn)
    level = load(peeling.counters, least)
    if first < turn.queued:
        turn = peel_level(worker, peeling, turn, first)
        level = np.int64(turn.level + 1)
    return Turn(turn.counters, turn.queued, turn.listed, level, turn.end)


@parallel_region.by(shared_words=1 + BUFFER)
def run(worker, peeling):
    """Peel the whole graph; all workers take the same turns."""
    first, end, step = own_share(worker, 0, len(peeling.degrees))
    for vertex in range(first, end, step):
        peeling.degrees[vertex] = peeling.rows.offsets[vertex + 1] - peeling.rows.offsets[vertex]
    if worker.id == 0:
        for number in range(3):
            clear(peeling.counters, set_of(SETS, number))
    if block_size() == 1:
        worker.shared[0] = 0
    barrier_wait(worker)
    turn = Turn(SETS.first, 0, 0, 0, 1)
    while turn.queued < len(peeling.degrees):
        queued, listed = turn.queued, turn.listed
        search_vertices(worker, peeling, turn)
        turn = after(worker, peeling, turn)
        turn = peel_level(worker, peeling, turn, queued)  # nothing is queued if there is a list
        while turn.queued - queued < turn.listed - listed:
            turn = peel_listed(worker, peeling, turn, listed)
        width = max(1, turn.end // PART)
        turn = Turn(turn.counters, turn.queued, turn.listed, turn.end, turn.end + width)


def new_peeling(rows):
    """The state of a peeling, which the region fills."""
    device, n = arrays.device_of(rows.offsets), len(rows.offsets) - 1
    degrees = arrays.empty(n, np.int32 if n <= MAX_INT32 else np.int64, device)
    queue, listed = (arrays.empty(n, rows.neighbours.dtype, device) for _ in range(2))
    return Peeling(rows, degrees, queue, listed, arrays.empty(SETS.end, np.int64, device))


def peel(rows):
    """Core number of each vertex: (n,) int32 array, or int64 beyond 2**31 - 1 vertices."""
    peeling, n_workers = new_peeling(rows), workers()
    run.with_workers(1 if n_workers <= FEW_WORKERS else n_workers, peeling)
    return peeling.degrees
