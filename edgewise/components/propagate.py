"""Label propagation: every vertex takes the least label among its neighbours, until nothing changes.

Baltzakis runs it on a GPU in three widths: a thread, a warp or a block of 128 threads reads the row of a
vertex, finds the least label in it and lowers the vertex's own.  One body does all three here.  A label that
has been lowered is read by whoever comes later in the round, so labels run far ahead along ascending ids.
The rounds end when one has changed nothing.

A label moves along edges only, so there are as many rounds as the longest of the shortest paths has steps,
less what running ahead saves.  That makes the method slow where union-find is not: it is here to be compared
with, and for graphs of small diameter.

The host learns of a change every few rounds.  Each round has a flag that says whether the round before it
changed anything; a round that finds its flag down does nothing, so rounds asked for in vain cost a launch.
"""

import numpy as np

from edgewise.components.trees import singletons
from edgewise.device import arrays, device, each_row, fetch_min, warp_min

#: Threads a block, and blocks a multiprocessor for teams of lanes, as in the document.  Fewer rows under way
#: take longer a round but make fewer rounds, since more of them see what the rows before them have found.
THREADS, MAX_BLOCKS_PER_SM = 128, 8
#: Rounds that are asked for at once on a GPU: at first, and at most.
FIRST, MOST = 4, 32
ROWS = ("auto", "thread", "warp", "block")


@device
def least_of_four(entry, lanes, last, labels, neighbours):
    """The least label of four entries of one lane, whose reads are all under way at the same time.

    A lane mostly waits for memory.  Past the end of the row the last entry is read again.
    """
    one, two = neighbours[entry], neighbours[min(entry + lanes, last)]
    three, four = neighbours[min(entry + 2 * lanes, last)], neighbours[min(entry + 3 * lanes, last)]
    return min(min(labels[one], labels[two]), min(labels[three], labels[four]))


@each_row.by(threads=THREADS, max_blocks_per_sm=MAX_BLOCKS_PER_SM)
def lower(item, lane, lanes, chosen, labels, offsets, neighbours, flags, turn):
    """Lower the label of a row to the least of its neighbours' labels.

    The lanes of a warp find their least together; the warps of a block need not know of each other, since
    labels only ever fall: each lowers the label as far as it can.  A label that was lowered elsewhere may be
    read as it was when the round began, which the next round makes up for.
    """
    if flags[turn] == 0:
        return
    row = chosen[item] if len(chosen) else item
    own, first, end = labels[row], offsets[row], offsets[row + 1]
    least = own
    if lanes == 1 or end - first <= lanes:
        for entry in range(first + lane, end, lanes):
            least = min(least, labels[neighbours[entry]])
    else:
        for entry in range(first + lane, end, 4 * lanes):
            least = min(least, least_of_four(entry, lanes, end - 1, labels, neighbours))
    least = warp_min(least, lanes, lane, own)
    if least < own:
        if lanes == 1:
            labels[row] = least
        else:
            fetch_min(labels, row, least)
        if flags[turn + 1] == 0:  # many writes to one place are slow
            flags[turn + 1] = 1


def propagate(vertices, symmetric, rows="auto"):
    """Label the components of symmetric rows.

    Parameters
    ----------
    vertices : int
    symmetric : edgewise.components.symmetric_csr.Rows
    rows : {'auto', 'thread', 'warp', 'block'}
        What reads a row on a GPU; ``auto`` goes by its length.  On the CPU it is a thread.

    Returns
    -------
    (vertices,) index array
        Smallest vertex of each vertex's component.
    """
    return propagated(vertices, symmetric, rows)[0]


def propagated(vertices, symmetric, rows="auto"):
    """Labels as :func:`propagate` gives them, and the number of rounds, the last of which changed nothing."""
    labels = singletons(vertices, symmetric.neighbours)
    bins = symmetric.by_length if rows == "auto" else [(rows, symmetric.neighbours[:0])]
    device = arrays.device_of(labels)
    done, batch = 0, 1 if device == "cpu" else FIRST
    while True:
        flags = arrays.zeros(batch + 1, np.int32, device)
        flags[:1] = 1
        for turn in range(batch):
            for width, chosen in bins:
                arguments = (chosen, labels, symmetric.offsets, symmetric.neighbours, flags, turn)
                lower(len(chosen) or vertices, *arguments, width=width)
        changed = arrays.move(flags, "cpu")[1:]
        if not changed.all():
            return labels, done + int(changed.argmin()) + 1
        done, batch = done + batch, batch if device == "cpu" else min(2 * batch, MOST)
