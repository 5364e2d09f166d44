"""The direction of a step: the cheapest of three ways for a frontier, by a model of their costs.

Beamer, Asanovic & Patterson (2012) switch by two ratios, alpha and beta; here the costs of all ways are
estimated from the same counts and compared.
"""

from typing import NamedTuple

from edgewise.device import device

#: Ways to take a step: push, push by bitmaps, pull.
PUSH, BITMAP_PUSH, PULL = 0, 1, 2
#: Costs in nanoseconds, about: of an entry that is pushed, pushed to a bitmap, or tested by an unvisited
#: vertex, and of a vertex that is surveyed, or written from bitmaps.
PUSH_COST, BIT_COST, TEST_COST, SURVEY_COST, WRITE_COST = 12, 4, 4, 1, 2


class Frontier(NamedTuple):
    """What all workers know of the frontier.

    Attributes
    ----------
    turn : int
        Number of the step.
    level : int
        Distance of its vertices.
    size : int
        Vertices in the workers' queues; a vertex that two workers reached counts twice.
    lost : int
        Vertices that queues had no room for.
    entries : int
        Entries in the rows of all its vertices.
    """

    turn: int
    level: int
    size: int
    lost: int
    entries: int


@device
def cheapest(frontier, surveyed, n_unvisited, entries_left, search):
    """Return the cheapest way to take a step.

    An unvisited vertex tests about ``entries_left / frontier.entries`` entries until one is in the frontier,
    or its whole row.  ``surveyed`` says that the frontier's bitmap and the lists of unvisited vertices exist.
    """
    n, n_entries = len(search.visited.distances), len(search.rows.neighbours)
    way, cost = PUSH, frontier.entries * PUSH_COST
    if frontier.lost > 0:
        cost += n * SURVEY_COST
    by_bitmaps = frontier.entries * BIT_COST + n * WRITE_COST
    if by_bitmaps < cost:
        way, cost = BITMAP_PUSH, by_bitmaps
    tests = min(n_entries // n + 1, entries_left // max(frontier.entries, 1) + 1)
    by_pulling = n_unvisited * tests * TEST_COST
    if not surveyed:
        by_pulling += n * SURVEY_COST
    return PULL if len(search.incoming.offsets) > 0 and by_pulling < cost else way
