"""How a search goes on: what it knows of its state and of the best one, and when it ends.

Many iterations follow each other without a look from the host, so the first worker of a region decides what
comes next, by the same function as the host after an iteration for the balance.
"""

from typing import Any, NamedTuple

from edgewise.device import device

#: The state: total of the vertices to their own parts, largest weight of a part above its limit, moves of the
#: last iteration, vertices in the border, active vertices, number of free iterations plus 1, and number of
#: all iterations plus 1.
OWN_TOTAL, EXCESS, MOVES, N_BORDER, N_ACTIVE, TURN, ITERATION = range(7)
#: The best state: its cut and its excess, and whether there is one besides the first.
BEST_CUT, BEST_EXCESS, IS_FOUND = 7, 8, 9
#: The search: iterations without a better state; free iterations in a row with a part that is too heavy;
#: iterations for the balance in a row; and 1 if nothing moves any more.
FRUITLESS, UNBALANCED, REPAIRS, IS_DONE = 10, 11, 12, 13
#: The next iteration: whether it is a free one; whether one for the balance looks at all vertices; whether it
#: has to be a strong one.
IS_FREE, LOOKS_AT_ALL, IS_STRONG = 14, 15, 16
#: The region: whether another iteration follows; how many there were, how many of them were free, and the
#: place after the moves of the last one; number and place for the best state as well.
GOES_ON, STEPS, FREE_STEPS, END, BEST_STEPS, BEST_END = 17, 18, 19, 20, 21, 22
#: Number of words.
WORDS_OF_PROGRESS = 23
#: Weak iterations for the balance in a row, after which they are strong.
MOST_WEAK = 2


class Rule(NamedTuple):
    """When a search ends, and when it moves freely.

    Attributes
    ----------
    total : int
        Twice the cut and the total to the own parts; it does not change.
    patience, tolerance, streak : int
        As in :class:`~edgewise.partitions.presets.Settings`.
    slack : int
        By how much a part may be too heavy in between.
    share : int
        Thousandths of a vertex's own edges by which the cut may grow for a candidate.
    items : int
        Items that a worker looks at before it claims places in a list.
    most : int
        Iterations in a row without a look from the host.
    least : int
        Least step of the cost of a vertex that is not beside another part; -1 if that is not known yet.
    most_border : int
        Vertices in the border from which on those are listed again that are still beside another part.
    salt : int
        Of the random numbers that iterations for the balance draw.
    """

    total: Any
    patience: int
    tolerance: int
    streak: int
    slack: int
    share: int
    items: int
    most: int
    least: int = -1
    most_border: int = 0
    salt: int = 0


@device
def may_move_freely(progress, rule):
    """Whether the next iteration moves vertices without regard to the balance."""
    if progress[EXCESS] <= 0:
        return True
    return 0 < progress[UNBALANCED] < rule.streak and progress[EXCESS] <= rule.slack


@device
def begin(progress, rule, room):
    """Begin the next iteration, unless the host has something to do first; return whether it has begun.

    ``room`` is the number of moves that can be listed.
    """
    if progress[FRUITLESS] >= rule.patience or progress[IS_DONE] != 0 or progress[STEPS] >= rule.most:
        return False
    is_free = may_move_freely(progress, rule)
    movable = progress[N_ACTIVE] if is_free else progress[N_BORDER]
    if progress[STEPS] > 0 and progress[END] + movable > room:
        return False
    if is_free:
        progress[UNBALANCED] += 1
        progress[TURN] += 1
        progress[REPAIRS] = 0
    else:
        if progress[REPAIRS] >= MOST_WEAK or progress[IS_STRONG] != 0:
            return False
        if rule.least < 0 or progress[N_BORDER] > rule.most_border:
            return False
        progress[UNBALANCED] = 0
        progress[REPAIRS] += 1
    progress[IS_FREE] = is_free
    progress[FRUITLESS] += 1
    return True


@device
def take_back(progress, has_room):
    """Take back that a weak iteration has begun, since it needs all vertices, or no part has room."""
    progress[FRUITLESS] -= 1
    progress[REPAIRS] -= 1
    progress[LOOKS_AT_ALL], progress[IS_STRONG] = has_room, not has_room


@device
def compare(progress, rule):
    """Compare the state after an iteration with the best one."""
    excess, best_excess = progress[EXCESS], progress[BEST_EXCESS]
    if progress[MOVES] > 0 and 0 < excess <= rule.slack and 0 < progress[UNBALANCED] < rule.streak:
        # it goes on without a repair: no state to keep, and no iteration without a better one
        progress[FRUITLESS] -= 1
        return
    if excess <= 0:
        progress[UNBALANCED] = 0
    cut, best_cut = (rule.total - progress[OWN_TOTAL]) // 2, progress[BEST_CUT]
    is_lighter = best_excess > 0 and excess < best_excess
    if is_lighter or (cut < best_cut and excess <= max(0, best_excess)):
        if is_lighter or cut * rule.tolerance < best_cut * (rule.tolerance - 1):
            progress[FRUITLESS] = 0
        progress[BEST_CUT], progress[BEST_EXCESS], progress[IS_FOUND] = cut, excess, 1
        progress[BEST_STEPS], progress[BEST_END] = progress[STEPS], progress[END]
    if progress[MOVES] == 0 and excess <= 0:
        progress[IS_DONE] = 1
