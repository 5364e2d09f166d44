"""How a search goes on: what it knows of its state and of the best one, and when it ends.

Many iterations follow each other without a look from the host, so the first worker of a region decides what
comes next, by the same function as the host after an iteration for the balance.
"""

from typing import Any, NamedTuple

from edgewise.device import device

#: The state: total of the vertices to their own parts, largest weight of a part above its limit, moves of the
#: last iteration, vertices in the border, active vertices, and number of free iterations plus 1.
OWN_TOTAL, EXCESS, MOVES, N_BORDER, N_ACTIVE, TURN = range(6)
#: The best state: its cut and its excess, and whether there is one besides the first.
BEST_CUT, BEST_EXCESS, IS_FOUND = 6, 7, 8
#: The search: iterations without a better state; free iterations in a row with a part that is too heavy; and
#: 1 if nothing moves any more.
FRUITLESS, UNBALANCED, IS_DONE = 9, 10, 11
#: The region: whether another free iteration follows; how many there were, and the place after the moves of
#: the last one; both for the best state as well.
GOES_ON, STEPS, END, BEST_STEPS, BEST_END = 12, 13, 14, 15, 16
#: Number of words.
WORDS_OF_PROGRESS = 17


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
        Free iterations in a row without a look from the host.
    """

    total: Any
    patience: int
    tolerance: int
    streak: int
    slack: int
    share: int
    items: int
    most: int


@device
def may_move_freely(progress, rule):
    """Whether the next iteration moves vertices without regard to the balance."""
    if progress[EXCESS] <= 0:
        return True
    return 0 < progress[UNBALANCED] < rule.streak and progress[EXCESS] <= rule.slack


@device
def begin_free(progress):
    """Count a free iteration before it begins."""
    progress[FRUITLESS] += 1
    progress[UNBALANCED] += 1
    progress[TURN] += 1


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
