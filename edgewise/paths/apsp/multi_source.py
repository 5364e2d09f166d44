"""Breadth-first search from 64 sources at once, a bit each.

Where edges count one, a vertex needs to know of each source only whether it has been there.  Bit ``s`` of
``seen[v]`` says that ``s`` has reached ``v``, and of ``visit[v]`` that it did so in the last level.  One
operation then carries all 64 searches over an edge: ``visit[u] & ~seen[v]`` is what ``v`` learns from ``u``.
A sweep over the graph so serves 64 sources, and all pairs take n / 64 sweeps.  See Then et al., "The more the
merrier: efficient multi-source graph traversal" (VLDB 2014), here with queues of the vertices that have
something to pass on.

The level goes into ``distances[v, s]`` for every new bit, and the lanes are turned into rows at the end.
Sources of a sweep come from one ball (see :mod:`edgewise.paths.apsp.batches`): what they pass on, they then
pass on together.
"""

import numpy as np

from edgewise.device import compiled, device, fetch_add
from edgewise.paths.apsp import team
from edgewise.paths.apsp.batches import rank_by_balls, turn
from edgewise.paths.result import unreached
from edgewise.primitives.bits import lowest_bit

#: Bits of a word.
SOURCES = 64


@device
def pass_on(offsets, neighbours, queue, low, filled, high, seen, visit, heard, at):
    """Let the neighbours of the queue's vertices hear of new sources; return where the next queue ends."""
    last = high
    for position in range(low, low + filled):
        vertex = np.int64(queue[position])
        news = visit[at + vertex]
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            other = at + np.int64(neighbours[entry])
            learned = news & ~seen[other]
            if learned != 0:
                if heard[other] == 0:
                    queue[last] = neighbours[entry]
                    last += 1
                heard[other] |= learned
    return last


@device
def note(queue, begin, end, level, seen, visit, heard, at, distances, held):
    """Write down the level for every source that a vertex has heard of."""
    for position in range(begin, end):
        vertex = np.int64(queue[position])
        news = heard[at + vertex]
        heard[at + vertex] = 0
        visit[at + vertex] = news
        seen[at + vertex] |= news
        while news != 0:
            distances[held + vertex * SOURCES + lowest_bit(news)] = level
            news &= news - np.uint64(1)


@device
def search_at_once(
    offsets, neighbours, count, sources, first, queue, seen, visit, heard, at, distances, held
):
    """Search from some sources.  The queue has room for two levels, which change devices."""
    vertices, filled, level = len(offsets) - 1, np.int64(0), 0
    low, high = 2 * at, 2 * at + vertices
    for lane in range(count):
        vertex = sources[first + lane]
        if heard[at + vertex] == 0:
            queue[low + filled] = vertex
            filled += 1
        heard[at + vertex] |= np.uint64(1) << np.uint64(lane)
    while filled > 0:
        note(queue, low, low + filled, level, seen, visit, heard, at, distances, held)
        last = pass_on(offsets, neighbours, queue, low, filled, high, seen, visit, heard, at)
        low, high, filled, level = high, low, last - high, level + 1


@compiled
def search(
    me,
    counter,
    offsets,
    neighbours,
    sources,
    lines,
    into,
    queue,
    seen,
    visit,
    heard,
    distances,
    ceiling,
    none,
):
    """One worker takes 64 sources after the other until there are none."""
    vertices = len(offsets) - 1
    at, held = me * vertices, me * vertices * SOURCES
    first = fetch_add(counter, 0, SOURCES)
    while first < len(sources):
        count = min(SOURCES, len(sources) - first)
        for vertex in range(vertices):
            seen[at + vertex] = 0
        for position in range(held, held + vertices * SOURCES):
            distances[position] = ceiling
        search_at_once(
            offsets, neighbours, count, sources, first, queue, seen, visit, heard, at, distances, held
        )
        turn(vertices, SOURCES, count, held, distances, ceiling, none, first, lines, into, ceiling)
        first = fetch_add(counter, 0, SOURCES)


def multi_source(rows):
    """Make ready to search from many sources.

    Parameters
    ----------
    rows : edgewise.paths.csr.Adjacency
        On the CPU; every edge counts as one.

    Returns
    -------
    solve : function
        ``solve(sources, into)`` writes the distances from each of the (k,) ``sources`` to the flat (k n,)
        array ``into``, source after source, and returns ``False``: no distance is too large.
    """
    n, ranks = rows.n_vertices, {}

    def solve(sources, into):
        lines = np.arange(len(sources))
        if len(sources) > SOURCES:
            if not ranks:
                ranks["balls"] = rank_by_balls(rows, SOURCES)
            lines = np.argsort(ranks["balls"][sources], kind="stable")
        workers = team.size_for(-(-len(sources) // SOURCES), n * SOURCES * 5)
        words = (np.zeros(workers * n, np.uint64) for _ in range(3))
        team.run(
            search,
            workers,
            rows.offsets,
            rows.neighbours,
            np.ascontiguousarray(sources[lines]),
            lines,
            into,
            np.empty(2 * workers * n, rows.neighbours.dtype),
            *words,
            np.empty(workers * n * SOURCES, np.int32),
            np.int32(np.iinfo(np.int32).max),
            into.dtype.type(unreached(into.dtype)),
        )
        return False

    return solve
