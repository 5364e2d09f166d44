"""Roots of the components on a GPU, ascending, and how many vertices each has.

The roots are the vertices that are their own labels.  The vertices are cut into stretches; a first pass
counts the roots of each stretch, and a second one writes them from the offset of the stretch on, so that they
ascend without a sort.  The number of components needs the first pass only.

The sizes are counted at the roots.  Millions of additions to one counter would wait for each other, so the
members of the most frequent label of a sample are counted in a register, and of other labels that the lanes
of a warp have in common, one lane adds all.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.components.sampling import LABEL, VOTERS, vote
from edgewise.device import arrays, fetch_add, fetch_max, parallel_region
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


class Members(NamedTuple):
    """Roots, in the type of the labels, and int64 sizes of components: (components,) arrays."""

    roots: Any
    sizes: Any


@parallel_region.by(max_blocks_per_sm=BLOCKS)
def list_roots(worker, labels, sizes, starts, members, largest):
    """Write the roots of every stretch and the sizes of their components; find the largest."""
    lanes, n, most = warp_size(), len(labels), np.int64(0)
    lane = worker.id % lanes
    for stretch in range(worker.id // lanes, len(starts) - 1, worker.count // lanes):
        first, slot = stretch * STRETCH, starts[stretch]
        if starts[stretch + 1] > slot:
            for base in range(first, min(first + STRETCH, n), lanes):
                vertex = base + lane
                is_root = vertex < n and np.int64(labels[vertex]) == vertex
                marked = ballot(is_root)
                if is_root:
                    at = slot + popcount(marked & ((np.int64(1) << lane) - 1))
                    members.roots[at], members.sizes[at] = vertex, np.int64(sizes[vertex])
                    most = max(most, np.int64(sizes[vertex]))
                slot += popcount(marked)
    if most > largest[0]:
        fetch_max(largest, 0, most)


class ComponentSizes:
    """What is known of the components of ``labels`` on a GPU; each part is found when it is first read."""

    def __init__(self, labels):
        self.labels, self.device = labels, arrays.device_of(labels)

    @cached_property
    def starts(self):
        """Where the roots of each stretch begin: (stretches + 1,) int64; the last is the number of roots."""
        n_roots = arrays.empty(-(-len(self.labels) // STRETCH), np.int64, self.device)
        if len(self.labels):
            count_roots(self.labels, n_roots)
        return exclusive_scan(n_roots)

    @cached_property
    def count(self) -> int:
        """Number of components."""
        return int(self.starts[-1])

    @cached_property
    def members(self) -> Members:
        """Roots and sizes of all components."""
        return self._listed[0]

    @cached_property
    def largest(self) -> int:
        """Size of the largest component, 0 without vertices."""
        return int(self._listed[1][0])

    @cached_property
    def _listed(self):
        labels, device, n = self.labels, self.device, len(self.labels)
        winner, largest = arrays.zeros(1, np.int64, device), arrays.zeros(1, np.int64, device)
        sizes, starts = arrays.zeros(n, labels.dtype, device), self.starts
        if n:
            vote(VOTERS, labels, n, winner)
            count_members(labels, winner, sizes)
        members = Members(*(arrays.empty(self.count, kind, device) for kind in (labels.dtype, np.int64)))
        if n:
            list_roots(labels, sizes, starts, members, largest)
        return members, largest
