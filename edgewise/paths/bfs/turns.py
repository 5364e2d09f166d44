"""What the workers of a search tell each other between two steps, and how the next step is chosen.

Each worker leaves its counts in words of its own; behind the barrier all add up all of them and come to the
same decisions.  Three sets of words take turns, so that one barrier a step is enough: while one is read and
the next is written, the third is cleared.
"""

import numpy as np

from edgewise.device import device
from edgewise.paths.bfs.expand import unsigned

#: Words between what different workers write, and words of a turn that all share: the level, two counters,
#: vertices that wait.
APART, COMMON = 16, 64
LEVEL, COUNTER, SECOND, WAITING = 0, 16, 32, 48
FOUND, WORK, LOST = 0, 1, 2
DOWN, DRAWN, UP = 0, 1, 2
#: What an entry costs that is reached, or drawn, or looked at by those not reached, and what a vertex costs
#: that is surveyed, or written after drawing: nanoseconds, about.
REACH, DRAW, LOOK, SURVEY, WRITE = 12, 4, 4, 1, 2


@device
def totals(state, turn, everyone, which):
    """Sum of what the workers noted at the end of the last turn."""
    total = np.int64(0)
    for worker in range(everyone):
        total += state[(turn % 3 * everyone + worker) * APART + which]
    return total


@device
def note(state, turn, me, everyone, found, work, lost):
    """Leave for the next turn what this worker has done."""
    at = ((turn + 1) % 3 * everyone + me) * APART
    state[at + FOUND], state[at + WORK], state[at + LOST] = np.int64(found), np.int64(work), np.int64(lost)


@device
def common(turn, everyone):
    """Where the words lie that all workers share in a turn."""
    return 3 * everyone * APART + turn % 3 * COMMON


@device
def part_of(me, everyone, count):
    """An even part of a range: where it begins and ends."""
    return count * me // everyone, count * (me + 1) // everyone


@device
def room_of(worker, everyone, level, found):
    """Where a worker's list of the vertices at ``level`` begins and ends."""
    size = unsigned(len(found) // (2 * everyone))
    first = (unsigned(level & 1) * unsigned(everyone) + unsigned(worker)) * size
    return first, first + size


@device
def choose(ready, work, lost, left, waiting, entries, n, both_ways):
    """The cheapest kind of step for a frontier whose rows have ``work`` of the ``left`` entries.

    Who is not reached looks at about ``left / work`` entries until one lies in the frontier, or at the whole
    row.  ``ready`` says that the frontier's bitmap is there.
    """
    cheapest, cost = DOWN, work * REACH
    if lost > 0:
        cost += n * SURVEY
    if work * DRAW + n * WRITE < cost:
        cheapest, cost = DRAWN, work * DRAW + n * WRITE
    looks = waiting * min(entries // n + 1, left // max(work, 1) + 1) * LOOK
    if not ready:
        looks += n * SURVEY
    return UP if both_ways and looks < cost else cheapest
