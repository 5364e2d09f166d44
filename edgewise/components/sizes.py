"""Roots of the components on a GPU, ascending, and how many vertices each has.

The roots are the vertices that are their own labels.  The vertices are cut into stretches; a first pass
counts the roots of each stretch, and a second one writes them from the offset of the stretch on, so that they
ascend without a sort.  The number of components needs the first pass only.

The sizes are counted at the roots.  Millions of additions to one counter would wait for each other, so the
members of the most frequent label of a sample are counted in a register, and of other labels that the lanes
of a warp have in common, one lane adds all.
"""

import numpy as np

from edgewise.components.sampling import LABEL, VOTERS, vote
from edgewise.device import arrays, fetch_add, parallel_region
from edgewise.device.warps import ballot, inclusive_scan, match, popcount, warp_size
from edgewise.primitives import exclusive_scan

#: Vertices of a stretch, which a warp reads.
STRETCH = 1024
#: Blocks of a multiprocessor.
BLOCKS = 8


@parallel_region.by(max_blocks_per_sm=BLOCKS)
def count_roots(worker, labels, n_roots):
    """Count the roots of every stretch."""
    lanes = warp_size()
    lane = worker.id % lanes
    for stretch in range(worker.id // lanes, len(n_roots), worker.count // lanes):
        first, own = stretch * STRETCH, np.int64(0)
        for vertex in range(first + lane, min(first + STRETCH, len(labels)), lanes):
            own += np.int64(np.int64(labels[vertex]) == vertex)
        own = inclusive_scan(own, lane)
        if lane == lanes - 1:
            n_roots[stretch] = own


@parallel_region.by(max_blocks_per_sm=BLOCKS)
def count_members(worker, labels, winner, sizes):
    """Add the members of every component to its size, which is zero, at its root."""
    lanes, n, giant = warp_size(), len(labels), winner[0] & LABEL
    lane, of_giant = worker.id % lanes, np.int64(0)
    for base in range(worker.id - lane, n, worker.count):
        label = np.int64(-1)
        if base + lane < n:
            label = np.int64(labels[base + lane])
        n_in_giant = popcount(ballot(label == giant))
        of_giant += n_in_giant
        if n_in_giant < lanes:
            same = match(label)
            if label >= 0 and label != giant and same & ((np.int64(1) << lane) - 1) == 0:
                fetch_add(sizes, label, popcount(same))
    if lane == 0 and of_giant > 0:
        fetch_add(sizes, giant, of_giant)


@parallel_region.by(max_blocks_per_sm=BLOCKS)
def list_roots(worker, labels, sizes, starts, roots, members):
    """Write the roots of every stretch, and the sizes of their components."""
    lanes, n = warp_size(), len(labels)
    lane = worker.id % lanes
    for stretch in range(worker.id // lanes, len(starts) - 1, worker.count // lanes):
        first, slot = stretch * STRETCH, starts[stretch]
        for base in range(first, min(first + STRETCH, n), lanes):
            vertex = base + lane
            is_root = vertex < n and np.int64(labels[vertex]) == vertex
            marked = ballot(is_root)
            if is_root:
                at = slot + popcount(marked & ((np.int64(1) << lane) - 1))
                roots[at] = vertex
                members[at] = np.int64(sizes[vertex])
            slot += popcount(marked)


def root_starts(labels):
    """Where the roots of each stretch begin among all: (stretches + 1,) int64; the last is their number."""
    n_roots = arrays.empty(-(-len(labels) // STRETCH), np.int64, arrays.device_of(labels))
    if len(labels):
        count_roots(labels, n_roots)
    return exclusive_scan(n_roots)


def list_components(labels, starts, count):
    """Roots, in the type of ``labels``, and int64 sizes of ``count`` components, by :func:`root_starts`."""
    device = arrays.device_of(labels)
    roots, members = (arrays.empty(count, kind, device) for kind in (labels.dtype, np.int64))
    if count:
        winner, sizes = arrays.zeros(1, np.int64, device), arrays.zeros(len(labels), labels.dtype, device)
        vote(VOTERS, labels, len(labels), winner)
        count_members(labels, winner, sizes)
        list_roots(labels, sizes, starts, roots, members)
    return roots, members
