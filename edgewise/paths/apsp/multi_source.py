"""Breadth-first search from 64 sources at once, one bit for each.

Bit ``s`` of ``seen[v]`` says that source ``s`` has reached ``v``, and bit ``s`` of ``visit[v]`` that it did
so in the last level: ``visit[u] & ~seen[v]`` are the sources that reach ``v`` from ``u``.  See Then et al.,
"The more the merrier: efficient multi-source graph traversal" (VLDB 2014), here with queues of the vertices
whose words have bits.  The sources of a batch come from one ball, as in
:mod:`edgewise.paths.apsp.vector_lanes`, so that their frontiers overlap.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import compiled, device, fetch_add
from edgewise.paths.apsp.vector_lanes import BallOrder, write_rows
from edgewise.primitives.bits import lowest_bit
from edgewise.primitives.thread_pool import ThreadPool

#: Bits of a word.
SOURCES = 64
#: Value of distances where no path leads.
NONE = np.iinfo(np.int32).max


class Frontiers(NamedTuple):
    """The state of one worker: 64 searches.

    ``queue`` (2 n,) has the current level in one half and the next one in the other.  ``seen``, ``visit`` and
    ``visit_next`` (n,) uint64 have a bit for each source: reached so far, in the current level, in the next
    one (zero between searches).  ``distances`` (64 n,) int32 has those of vertex ``v`` from ``64 * v`` on.
    """

    queue: Any
    seen: Any
    visit: Any
    visit_next: Any
    distances: Any


@device
def push(csr, state, begin, end, last):
    """Pass the sources of the queued vertices on to their neighbours; return the end of the next queue."""
    queue, seen, visit_next = state.queue, state.seen, state.visit_next
    for position in range(begin, end):
        vertex = np.int64(queue[position])
        sources = state.visit[vertex]
        for entry in range(csr.offsets[vertex], csr.offsets[vertex + 1]):
            other = np.int64(csr.neighbours[entry])
            new = sources & ~seen[other]
            if new != 0:
                if visit_next[other] == 0:
                    queue[last] = csr.neighbours[entry]
                    last += 1
                visit_next[other] |= new
    return last


@device
def record_level(state, begin, end, level):
    """Make the next level of the queued vertices the current one; write it for every new source."""
    for position in range(begin, end):
        vertex = np.int64(state.queue[position])
        new = state.visit_next[vertex]
        state.visit_next[vertex] = 0
        state.visit[vertex] = new
        state.seen[vertex] |= new
        while new != 0:
            state.distances[vertex * SOURCES + lowest_bit(new)] = level
            new &= new - np.uint64(1)


@device
def search_from(csr, state, sources, first, n_sources):
    """Search from ``n_sources`` sources, beginning with ``sources[first]``."""
    vertices, size, level = len(csr.offsets) - 1, np.int64(0), 0
    begin, other = 0, vertices
    for lane in range(n_sources):
        vertex = sources[first + lane]
        if state.visit_next[vertex] == 0:
            state.queue[begin + size] = vertex
            size += 1
        state.visit_next[vertex] |= np.uint64(1) << np.uint64(lane)
    while size > 0:
        record_level(state, begin, begin + size, level)
        last = push(csr, state, begin, begin + size, other)
        begin, other, size, level = other, begin, last - other, level + 1


@compiled
def search_batches(next_source, csr, batches, state):
    """Take 64 sources after the other from the counter until none is left."""
    first = fetch_add(next_source, 0, SOURCES)
    while first < len(batches.sources):
        n_sources = min(SOURCES, len(batches.sources) - first)
        for vertex in range(len(state.seen)):
            state.seen[vertex] = 0
        for position in range(len(state.distances)):
            state.distances[position] = NONE
        search_from(csr, state, batches.sources, first, n_sources)
        write_rows(batches, first, n_sources, state.distances, SOURCES, np.int32(NONE))
        first = fetch_add(next_source, 0, SOURCES)


def multi_source(adjacency):
    """Prepare the search from many sources, on the CPU; no distance is too large."""
    csr, n, order = adjacency.outgoing, adjacency.n_vertices, BallOrder(adjacency.outgoing)

    def new_state():
        queue, words = np.empty(2 * n, csr.neighbours.dtype), np.zeros((3, n), np.uint64)
        return Frontiers._make([queue, *words, np.empty(n * SOURCES, np.int32)])

    def solve(sources, result):
        batches = order.batches(sources, result, SOURCES)
        pool, next_source = ThreadPool(-(-len(sources) // SOURCES), n * SOURCES * 5), np.zeros(1, np.int64)
        pool.starmap(
            search_batches, [(next_source, csr, batches, new_state()) for _ in range(pool.n_workers)]
        )
        return False

    return solve
