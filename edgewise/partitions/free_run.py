"""Free iterations one after the other, in one parallel region.

An iteration takes some microseconds where few vertices are active, and a call and a look at its result take
longer.  So the first worker notes the result itself, by the rule of :mod:`~edgewise.partitions.progress`, and
all go on with the next iteration.  The moves of all iterations are listed one after the other.
"""

from edgewise.device import barrier_wait, device, load, parallel_region
from edgewise.partitions import progress as at
from edgewise.partitions.iteration import (
    AMPLE,
    COUNTERS,
    EXCESS,
    GROWN,
    JOINED,
    MOVED,
    WANTED,
    Turn,
    run_iteration,
    with_lists_exchanged,
)
from edgewise.partitions.progress import begin_free, compare, may_move_freely

#: Free iterations without a look from the host.
MOST_STEPS = 256


@device
def _conclude(ends, counters, progress, rule, room):
    """Note the result of a free iteration, clear the counters, and decide whether another one follows."""
    progress[at.MOVES] = counters[MOVED]
    progress[at.OWN_TOTAL] += counters[GROWN]
    progress[at.EXCESS] = counters[EXCESS] - AMPLE
    progress[at.N_BORDER] += counters[JOINED]
    progress[at.N_ACTIVE] = counters[WANTED]
    progress[at.END] += counters[MOVED]
    ends[progress[at.STEPS]] = progress[at.END]
    progress[at.STEPS] += 1
    for one in range(COUNTERS):
        counters[one] = 0
    compare(progress, rule)
    goes_on = progress[at.FRUITLESS] < rule.patience and progress[at.IS_DONE] == 0
    goes_on = goes_on and may_move_freely(progress, rule) and progress[at.STEPS] < rule.most
    goes_on = goes_on and progress[at.END] + progress[at.N_ACTIVE] <= room
    progress[at.GOES_ON] = goes_on
    if goes_on:
        begin_free(progress)


@parallel_region
def run_freely(worker, level, state, memory, control, rule):
    """Run free iterations until the search ends, or the balance, or the room for moves, needs the host.

    ``control`` are the progress and the places after the moves of each iteration.
    """
    facts, search, connections, tables = memory
    progress, ends = control
    goes_on = True
    while goes_on:
        turn = Turn(
            1,
            load(progress, at.TURN),
            rule.share,
            load(progress, at.N_BORDER),
            load(progress, at.N_ACTIVE),
            rule.items,
            load(progress, at.END),
        )
        run_iteration(worker, level, state, (facts, search, connections, tables), turn)
        barrier_wait(worker)
        if worker.id == 0:
            _conclude(ends, search.counters, progress, rule, len(search.moves))
        barrier_wait(worker)
        goes_on = load(progress, at.GOES_ON) != 0
        search = with_lists_exchanged(search)
