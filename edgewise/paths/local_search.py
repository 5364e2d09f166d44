"""Local search: where few vertices are within reach, the cost does not depend on the size of the graph.

Distances of all vertices cost a millisecond to set up in a graph of millions.  So a search begins on one core
with a sparse set of what it meets: 19 of two million vertices take a microsecond.

The vertices whose distances were lowered wait in a queue, and their edges are relaxed in turn (Moore 1959).
Where every edge counts one, this is a breadth-first search.  With weights, and without any order, some
vertices wait more than once, but every step is the same few instructions, whose branches the processor
predicts.  Where many vertices wait, there is work for all cores, and the search is given up.

Without weights a search that is given up hands over the levels that it has completed.  With weights order
matters, and what it has found is dropped.  So it goes on for a small part of the entries only, unless few
vertices wait, as on a long path; it has taken two per cent of the time of the next search at most.

Moore, "The shortest path through a maze" (1959); Briggs and Torczon, "An efficient representation for sparse
sets" (1993).
"""

from threading import local
from typing import Any, NamedTuple

import numpy as np

from edgewise import tuning
from edgewise.device import compiled, device
from edgewise.device.wrapping import wrapping_add
from edgewise.paths.csr import CSR, unreached
from edgewise.paths.result import SparseDistances

#: Vertices of the sparse set.
SET_SIZE = 1 << 15
#: Vertices of the queue (a power of two), and entries that are read where many vertices wait.
QUEUE_SIZE = 1 << 13
#: Entries that are read where few vertices wait.
ENTRIES = 4 * SET_SIZE
#: Numbers of vertices that a thread keeps; those of a larger graph are kept with it.
KEPT_NUMBERS = 1 << 21
#: Targets that are looked for one by one.
TARGETS = 16
#: Targets of a search without any.
NO_TARGETS = np.empty(0, np.int64)
#: Numbers of vertices that a thread keeps before its first search.
NO_NUMBERS = np.empty(0, np.uint32)
ONE = np.uint64(1)

_thread = local()


class Found(NamedTuple):
    """What a search has met: a sparse set of vertices, and their distances.

    ``numbers`` (n,) uint32 are the places of vertices in ``vertices`` (SET_SIZE,) uint64.  They are not
    initialised: a vertex has been met if it is in its place.  ``tentative`` (SET_SIZE,) has the distances.
    """

    numbers: Any
    vertices: Any
    tentative: Any


class Limits(NamedTuple):
    """How far a search goes: the largest distance, and that of vertices that are not reached.

    It goes on while at most ``few`` vertices wait, and otherwise until it has read ``enough`` entries, or the
    rows that wait have more if they are as long as this one and as the mean of those read.
    """

    cutoff: Any
    none: Any
    few: int
    enough: int


@device
def number_of(vertex, count, none, found):
    """Return the number of a vertex, and how many have been met; ``none`` is the distance of a new one."""
    number = np.uint64(found.numbers[vertex])
    if number < count and found.vertices[number] == vertex:
        return number, count
    found.numbers[vertex], found.vertices[count], found.tentative[count] = count, vertex, none
    return count, count + ONE


@device
def furthest_of(targets, count, none, found):
    """The largest distance of the targets; ``none`` if one has not been met."""
    furthest = found.tentative[0]
    for target in targets:
        number = np.uint64(found.numbers[target])
        if number >= count or found.vertices[number] != np.uint64(target):
            return none
        furthest = max(furthest, found.tentative[number])
    return furthest


@device
def relax_in_turn(rows, sources, targets, limits, queue, found):
    """Relax the edges of the vertices that were lowered, in turn.

    Returns how many vertices were met, and the number of the one at which the search was given up, or again
    how many.
    """
    cutoff, none, few, enough = limits
    tentative, vertices, last = found.tentative, found.vertices, np.int64(len(queue) - 1)
    count, head, tail, n_entries = np.uint64(0), np.int64(0), np.int64(0), np.int64(0)
    step = 0 if len(rows.weights) else 1
    for source in sources:
        number, count = number_of(np.uint64(source), count, none, found)
        tentative[number], queue[tail] = 0, number
        tail += 1
    while head < tail:
        here = queue[np.uint64(head & last)]
        vertex, distance, waiting = vertices[here], tentative[here], tail - head
        head += 1
        if distance + step > cutoff:  # or all targets are nearer
            continue
        first, end = np.uint64(rows.offsets[vertex]), np.uint64(rows.offsets[vertex + ONE])
        degree = np.int64(end - first)
        n_entries += degree
        ahead = min(degree * head, n_entries) * waiting  # in the rows that wait, times those that were read
        if (n_entries > enough or ahead > enough * head) and (waiting > few or n_entries > ENTRIES):
            return np.int64(count), np.int64(here)
        if np.int64(count) + degree > SET_SIZE or waiting + degree > last:
            return np.int64(count), np.int64(here)
        for entry in range(first, end):
            weight = rows.weights[entry] if len(rows.weights) else tentative.dtype.type(1)
            longer = wrapping_add(distance, weight)
            if longer < distance or longer == none:
                return np.int64(count), np.int64(here)
            if longer <= cutoff:
                other = np.uint64(rows.neighbours[entry])
                number, count = number_of(other, count, none, found)
                if longer < tentative[number]:
                    tentative[number], queue[np.uint64(tail & last)] = longer, number
                    tail += 1
                    for target in targets:
                        if np.uint64(target) == other:
                            cutoff = min(cutoff, furthest_of(targets, count, none, found))
    return np.int64(count), np.int64(count)


@compiled
def search(offsets, neighbours, weights, ends, limits, memory):
    """Search in plain tuples, since a call with records costs as much as twenty vertices.

    ``ends`` are sources and targets; ``memory`` is numbers, vertices, distances and the queue.
    """
    (sources, targets), (numbers, vertices, distances, queue), (cutoff, none, few, enough) = (
        ends,
        memory,
        limits,
    )
    rows, limit = CSR(offsets, neighbours, weights), Limits(cutoff, none, few, enough)
    return relax_in_turn(rows, sources, targets, limit, queue, Found(numbers, vertices, distances))


def search_nearby(rows, sources, cutoff, targets=None):
    """Search on the host as far as the sparse set holds; weights are not negative, or there are none.

    Returns the vertices that were met, with their distances, which are final up to the furthest target, and
    ``None``.  A search that was given up returns the distance up to which it had come.  Without weights the
    vertices are in the order of their distances, and all up to that one.
    """
    dtype, targets = rows.weights.dtype, NO_TARGETS if targets is None else targets
    if len(sources) >= QUEUE_SIZE:
        return SparseDistances(sources, np.zeros(len(sources), dtype)), 0
    few, enough = 0, QUEUE_SIZE
    if len(rows.weights):
        few = tuning.CPU.paths_narrow
        enough = min(len(rows.weights) // tuning.CPU.paths_nearby, QUEUE_SIZE)
    vertices, distances, queue = _memory(dtype)
    numbers = _numbers(rows)
    ends = sources, targets if len(targets) <= TARGETS else NO_TARGETS
    limits = cutoff, dtype.type(unreached(dtype)), few, enough
    count, given_up = search(*rows.outgoing, ends, limits, (numbers, vertices, distances, queue))
    if rows.n_vertices > KEPT_NUMBERS:
        rows.keep("numbers", 1, (numbers,), most=numbers.nbytes)
    level = None
    if given_up < count:
        level = distances[given_up].item()
        count = int(np.searchsorted(distances[:count], level, side="right"))
    return SparseDistances(vertices[:count].astype(np.int64), distances[:count].copy()), level


def _numbers(rows):
    """Numbers of vertices, whose contents do not matter; kept by the thread, or with a large graph."""
    n = rows.n_vertices
    if n > KEPT_NUMBERS:
        ((numbers,),) = rows.borrow("numbers", 1) or ((np.empty(n, np.uint32),),)
        return numbers
    numbers = _thread.__dict__.get("numbers", NO_NUMBERS)
    if len(numbers) < n:
        _thread.numbers = numbers = np.empty(n, np.uint32)
    return numbers


def _memory(dtype):
    """Vertices, distances and the queue of a search, kept for each thread and type."""
    kept = _thread.__dict__.setdefault("memory", {})
    if dtype not in kept:
        kinds = (np.uint64, SET_SIZE), (dtype, SET_SIZE), (np.uint64, QUEUE_SIZE)
        kept[dtype] = tuple(np.empty(size, kind) for kind, size in kinds)
    return kept[dtype]
