"""Iterations of refinement one after the other, in one parallel region.

An iteration takes some microseconds where few vertices are active, and a call and a look at its result take
longer.  So the first worker notes the result itself, by the rule of :mod:`~edgewise.partitions.progress`, and
all go on with the next iteration, a free one or a weak one for the balance.  The moves of all iterations are
listed one after the other.
"""

from edgewise.device import barrier_wait, device, load, parallel_region
from edgewise.partitions import progress as at
from edgewise.partitions.balance import move_out
from edgewise.partitions.eviction import STEPS, Ranking
from edgewise.partitions.iteration import run_iteration
from edgewise.partitions.progress import begin, compare, take_back
from edgewise.partitions.search import (
    AMPLE,
    COUNTERS,
    EXCESS,
    GROWN,
    JOINED,
    MOVED,
    OPEN,
    WANTED,
    Turn,
    with_lists_exchanged,
)
from edgewise.primitives.mixing import mix

#: What the numbers of iterations are added to, as a step of a seeded call.
FIRST_STEP = 100


@device
def _conclude(has_moved, ends, counters, progress, rule, room):
    """Note the result of an iteration, clear the counters, and begin another one if it may."""
    if has_moved:
        is_free = progress[at.IS_FREE]
        progress[at.MOVES] = counters[MOVED]
        progress[at.OWN_TOTAL] += counters[GROWN]
        progress[at.EXCESS] = counters[EXCESS] - AMPLE
        progress[at.N_BORDER] += counters[JOINED]
        progress[at.N_ACTIVE] = counters[WANTED] + (0 if is_free else progress[at.N_ACTIVE])
        progress[at.END] += counters[MOVED]
        ends[progress[at.STEPS]] = progress[at.END]
        progress[at.STEPS] += 1
        progress[at.FREE_STEPS] += is_free
        progress[at.ITERATION] += 1
        progress[at.LOOKS_AT_ALL] = 0
        compare(progress, rule)
        progress[at.GOES_ON] = begin(progress, rule, room)
    else:
        take_back(progress, counters[OPEN] > 0)
        progress[at.GOES_ON] = 0
    for one in range(COUNTERS):
        counters[one] = 0


@parallel_region
def run_iterations(worker, level, state, memory, space, control, rule, ranking):
    """Run iterations until the search ends, or has to be looked at by the host.

    The first one has begun.  ``memory`` are the facts, those among parts with room only, the search, the
    connections and the tables; ``control`` the progress and the places after the moves of each iteration.
    """
    facts, aside, search, connections, tables = memory
    progress, ends = control
    goes_on = True
    while goes_on:
        is_free, has_moved = load(progress, at.IS_FREE), True
        border = load(progress, at.N_BORDER)
        turn = Turn(
            is_free,
            load(progress, at.TURN),
            rule.share,
            border,
            load(progress, at.N_ACTIVE),
            rule.items,
            load(progress, at.END),
        )
        if is_free == 0:
            looks_at_all = load(progress, at.LOOKS_AT_ALL)
            how = Ranking(
                0,
                -1 if looks_at_all else border,
                STEPS if looks_at_all else rule.least,
                rule.items,
                ranking.vertex_bits,
                ranking.digit_bits,
                mix(rule.salt, FIRST_STEP + load(progress, at.ITERATION)),
            )
            now = facts, aside, search, connections, tables
            has_moved = move_out(worker, level, state, now, space, how, turn)
        if has_moved:
            run_iteration(worker, level, state, (facts, search, connections, tables), turn)
        barrier_wait(worker)
        if worker.id == 0:
            _conclude(has_moved, ends, search.counters, progress, rule, len(search.moves))
        barrier_wait(worker)
        goes_on = load(progress, at.GOES_ON) != 0
        if is_free:
            search = with_lists_exchanged(search)
