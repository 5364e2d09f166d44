"""Roots of the components on CPU cores, ascending, and how many vertices each has.

Every core counts the members of components in blocks of the vertices.  Most labels are those of the giant
component: a core counts them, and other labels that follow each other, in a register, so that cores seldom
contend for a counter.  A second pass writes the roots of each block, those vertices that are their own
labels, from where the roots of the blocks before end.
"""

from functools import partial

import numpy as np

from edgewise.components.sampling import LABEL, VOTERS, vote
from edgewise.device import each, fetch_add
from edgewise.device.prefetch import prefetch
from edgewise.primitives import exclusive_scan

#: Vertices of a block.
BLOCK = 1 << 13
#: How many vertices ahead the counter of a label is fetched.
AHEAD = 16


@partial(each, least_chunk=1)
def count_members(block, labels, winner, sizes, n_roots):
    """Add the members of every component in a block to its size, and count the roots of the block.

    Only the size of the giant component includes its root.
    """
    giant = winner[0] & LABEL
    of_giant, roots, held, label = 0, 0, 0, np.int64(giant)
    for vertex in range(block * BLOCK, min((block + 1) * BLOCK, len(labels))):
        prefetch(sizes, labels[min(vertex + AHEAD, len(labels) - 1)])
        found = np.int64(labels[vertex])
        roots += np.int64(found == vertex)
        of_giant += np.int64(found == giant)
        if found != giant and found != vertex:
            if found != label:
                if held:
                    fetch_add(sizes, label, held)
                label, held = found, 0
            held += 1
    if held:
        fetch_add(sizes, label, held)
    if of_giant:
        fetch_add(sizes, giant, of_giant)
    n_roots[block] = roots


@partial(each, least_chunk=1)
def list_roots(block, labels, winner, sizes, starts, roots, members):
    """Write the roots of a block, and the sizes of their components."""
    slot, giant = starts[block], winner[0] & LABEL
    if slot < starts[block + 1]:
        for vertex in range(block * BLOCK, min((block + 1) * BLOCK, len(labels))):
            if np.int64(labels[vertex]) == vertex:
                roots[slot], members[slot] = vertex, sizes[vertex] + np.int64(vertex != giant)
                slot += 1


def sizes_on_cores(labels):
    """Roots of the components, in the type of ``labels``, and the int64 number of vertices of each."""
    blocks = -(-len(labels) // BLOCK)
    sizes, winner = np.zeros(len(labels), labels.dtype), np.zeros(1, np.int64)
    n_roots = np.empty(blocks, np.int64)
    if blocks:
        vote(VOTERS, labels, len(labels), winner)
        count_members(blocks, labels, winner, sizes, n_roots)
    starts = exclusive_scan(n_roots)
    roots, members = np.empty(starts[-1], labels.dtype), np.empty(starts[-1], np.int64)
    list_roots(blocks, labels, winner, sizes, starts, roots, members)
    return roots, members
