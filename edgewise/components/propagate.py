"""Label propagation: every vertex takes the smallest label of its neighbours, until no label changes.

Baltzakis runs it on a GPU in three widths: a thread, a warp or a block of 128 threads reads the row of a
vertex; one body does all three here.  Labels that have been lowered are read in the same round, so that they
advance far along ascending ids.  There are about as many rounds as the longest of the shortest paths has
steps, which makes the method slow where union-find is not: it is kept for comparison.

The host reads whether labels have changed once in several rounds.  Each round has a flag that the round
before sets if it changed a label; a round whose flag is not set does nothing, so an unnecessary round costs
one launch.
"""

import numpy as np

from edgewise.components.trees import singletons
from edgewise.device import arrays, device, each_row, fetch_min, warp_min

#: Threads per block.
THREADS = 128
#: Blocks per multiprocessor, which the document has for blocks, and ``auto`` for warps as well.  Fewer rows
#: at a time take longer per round but need fewer rounds, since more of them read labels of the same round.
MAX_BLOCKS_PER_SM = 8
#: Rounds that are launched at once on a GPU, at first.
FIRST_BATCH = 4
#: The same after some rounds.
LAST_BATCH = 32


@device
def min_of_four(entry, lanes, last, labels, neighbours):
    """The smallest label of four entries of one lane, which are loaded concurrently to hide latency.

    Past the end of the row the last entry is read again.
    """
    one, two = neighbours[entry], neighbours[min(entry + lanes, last)]
    three, four = neighbours[min(entry + 2 * lanes, last)], neighbours[min(entry + 3 * lanes, last)]
    return min(min(labels[one], labels[two]), min(labels[three], labels[four]))


@device
def lower(item, lane, lanes, rows, labels, offsets, neighbours, flags):
    """Lower the label of a row, one of ``rows`` or of all if it is empty, to the smallest of its neighbours'.

    ``flags[0]`` says whether the round before changed a label; ``flags[1]`` is set if this one does.  The
    warps of a block need no barrier, since labels only decrease.  A label that is lowered concurrently may be
    read as it was before; the next round corrects that.
    """
    if flags[0] == 0:
        return
    row = rows[item] if len(rows) else item
    own, first, end = labels[row], offsets[row], offsets[row + 1]
    least = own
    if lanes == 1 or end - first <= lanes:
        for entry in range(first + lane, end, lanes):
            least = min(least, labels[neighbours[entry]])
    else:
        for entry in range(first + lane, end, 4 * lanes):
            least = min(least, min_of_four(entry, lanes, end - 1, labels, neighbours))
    least = warp_min(least, lanes, lane, own)
    if least < own:
        if lanes == 1:
            labels[row] = least  # race: who reads the label from before lowers its own one round later
        else:
            fetch_min(labels, row, least)
        if flags[1] == 0:  # concurrent writes to one address are slow
            flags[1] = 1  # race: all that write it write the same


@each_row.by(threads=THREADS)
def lower_at_once(item, lane, lanes, rows, labels, offsets, neighbours, flags):
    """Lower the label of a row; every row has a warp of its own, as in the document."""
    lower(item, lane, lanes, rows, labels, offsets, neighbours, flags)


@each_row.by(threads=THREADS, max_blocks_per_sm=MAX_BLOCKS_PER_SM)
def lower_in_turn(item, lane, lanes, rows, labels, offsets, neighbours, flags):
    """Lower the label of a row; so many blocks as can run at a time loop over the rows."""
    lower(item, lane, lanes, rows, labels, offsets, neighbours, flags)


def propagate(vertices, csr, rows="auto"):
    """Label propagation; ``rows`` is what reads a row on a GPU, where ``auto`` selects by its length."""
    return propagate_and_count(vertices, csr, rows)[0]


def propagate_and_count(vertices, csr, rows="auto"):
    """Labels as from :func:`propagate`, and the number of rounds including the last, without a change."""
    labels = singletons(vertices, csr.neighbours)
    bins = csr.by_length if rows == "auto" else [(rows, csr.neighbours[:0])]
    device = arrays.device_of(labels)
    loop = lower_at_once if rows == "warp" else lower_in_turn
    n_rounds, batch = 0, 1 if device == "cpu" else FIRST_BATCH
    while True:
        flags = arrays.zeros(batch + 1, np.int32, device)
        flags[:1] = 1
        for turn in range(batch):
            for width, chosen in bins:
                state = (chosen, labels, csr.offsets, csr.neighbours, flags[turn : turn + 2])
                loop(len(chosen) or vertices, *state, width=width)
        changed = arrays.move(flags, "cpu")[1:]
        if not changed.all():
            return labels, n_rounds + int(changed.argmin()) + 1
        n_rounds, batch = n_rounds + batch, batch if device == "cpu" else min(2 * batch, LAST_BATCH)
