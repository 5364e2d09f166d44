"""Shares of the workers in a list of vertices, and reading ahead of what the next vertices of a share need.

Rows differ in length.  A thread of the CPU takes some items at a time, as they come; on a GPU a warp shares
the row of one item.  A long row, of a hub, would keep one thread or warp busy while all others wait at the
next barrier.  Such items are set aside, and *teams* of many workers share their rows afterwards.

Refinement looks at vertices here and there in a large graph.  A thread of the CPU would wait for the memory
at each of them: for the facts of a vertex, then for its row, then for what is known of its neighbours.  So
what later items of a list need is fetched while the earlier ones are looked at.
"""

from typing import NamedTuple

import numpy as np

from edgewise.device import device, fetch_add
from edgewise.device.prefetch import prefetch
from edgewise.device.target import inlined
from edgewise.device.warps import warp_size
from edgewise.partitions.rating import WORDS
from edgewise.partitions.ratings import IN_A_LINE

#: Items of a step for each worker of the CPU, at least.
WORKER_ITEMS = 512
#: Items with rows that a thread of the CPU takes at a time.
TAKEN = 32
#: Entries of a row from which on a team shares it.
LONG_ROW = 2048
#: Workers of a team on a GPU; on the CPU a team has all.
TEAM = 1024
#: Entries of a row whose neighbours are fetched ahead.
FETCHED = 32
#: How many items ahead the facts of a vertex are fetched.
VERTEX_AHEAD = 8
#: How many items ahead a row is fetched.
ROW_AHEAD = 4
#: How many items ahead that is fetched which a row leads to.
NEIGHBOURS_AHEAD = 2


class Team(NamedTuple):
    """Workers that share long rows: items ``first``, ``first + step`` ... are theirs.

    Worker ``lane`` of the ``lanes`` of the team calls this.
    """

    first: int
    step: int
    lane: int
    lanes: int


@device
def take(worker, lanes, count, last, counters, taken):
    """The next items of a list of ``count``: those from ``first`` to ``end - 1``; none if these are equal.

    ``last`` is where the worker's items before began, or -1.  On a GPU ``lanes`` threads share one item, and
    each has as many.  Threads of the CPU count the items that are ``taken``, since rows differ in length.
    """
    if warp_size() == 1:
        first, few = fetch_add(counters, taken, TAKEN), TAKEN
    elif last < 0:
        first, few = worker.id // lanes, 1
    else:
        first, few = last + worker.count // lanes, 1
    end = min(first + few, count)
    return min(first, end), end


@device
def is_long(vertex, level, worker):
    """Whether a team shares the row of a vertex."""
    return level.offsets[vertex + 1] - level.offsets[vertex] > LONG_ROW and worker.count > warp_size()


@device
def team_of(worker, count):
    """The team of a worker for a list of ``count`` items with long rows."""
    lanes = worker.count if warp_size() == 1 else min(TEAM, worker.count)
    teams, first = worker.count // lanes, worker.id // lanes
    return Team(first if first < teams else count, teams, worker.id % lanes, lanes)


@inlined
def _fetch_vertex(vertex, level, facts):
    """Start to read what is known of a vertex, and where its row is."""
    prefetch(facts, vertex * WORDS)
    if len(level.sizes):
        prefetch(level.sizes, vertex)
    prefetch(level.offsets, vertex)


@inlined
def _fetch_row(vertex, level, values, stride):
    """Start to read what a row leads to: ``stride`` values for each vertex."""
    first = level.offsets[vertex]
    for entry in range(first, min(first + FETCHED, level.offsets[vertex + 1])):
        prefetch(values, np.int64(level.neighbours[entry]) * stride)


@inlined
def fetch_later(listed, item, last, level, facts, values, stride):
    """Start to read what later items of a list need: the vertices, their rows, and what these lead to."""
    _fetch_vertex(np.int64(listed[min(item + VERTEX_AHEAD, last)]), level, facts)
    prefetch(level.neighbours, level.offsets[np.int64(listed[min(item + ROW_AHEAD, last)])])
    _fetch_row(np.int64(listed[min(item + NEIGHBOURS_AHEAD, last)]), level, values, stride)


@inlined
def fetch_totals(listed, item, last, level, facts, connections):
    """Start to read the totals of a later item of a list."""
    vertex, k = np.int64(listed[min(item + ROW_AHEAD, last)]), len(connections.ranks)
    _fetch_vertex(vertex, level, facts)
    for label in range(0, min(k, 4 * IN_A_LINE), IN_A_LINE):
        prefetch(connections.totals, vertex * k + label)
