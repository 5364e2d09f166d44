"""Which workers read which rows of a list of vertices.

Rows differ in length.  A thread of the CPU takes some items at a time, as they come; on a GPU a warp shares
the row of one item.  A long row, of a hub, would keep one thread or warp busy while all others wait at the
next barrier.  Such items are set aside, and *teams* of many workers share their rows afterwards.
"""

from typing import NamedTuple

from edgewise.device import device, fetch_add
from edgewise.device.warps import warp_size

#: Items that a thread of the CPU takes at a time.
FEW = 32
#: Entries of a row from which on it is long, and workers of a team on a GPU; on the CPU a team has all.
LONG_ROW, TEAM = 2048, 1024


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
        first, few = fetch_add(counters, taken, FEW), FEW
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
