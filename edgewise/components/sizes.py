"""Roots of the components, ascending, and how many vertices each has.

The roots are the vertices that are their own labels.  The vertices are cut into stretches; a first pass
counts the roots of each stretch, and a second one writes them from the offset of the stretch on, so that they
ascend without a sort.  The number of components needs only a pass that counts them.

The first pass also counts the sizes, at the roots.  Millions of additions to one counter would wait for each
other, so the members of the most frequent label of a sample are counted in a register.  Of other labels that
the lanes of a warp have in common one lane counts all, and it adds when the label changes.  Roots do not
count themselves, except that of the most frequent label: then components of one vertex need no addition.

A stretch is read by a warp of a GPU or by a core.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.device import arrays, each_row, fetch_add, fetch_max
from edgewise.device.prefetch import prefetch
from edgewise.device.warps import ballot, inclusive_scan, match, popcount
from edgewise.primitives import exclusive_scan
from edgewise.primitives.vote import LABEL, VOTERS, vote

#: Vertices of a stretch for a warp.
STRETCH = 1 << 10
#: Vertices of a stretch for a core, which should not wait for others at a cache line.
STRETCH_OF_CORE = 1 << 13
#: Blocks of a multiprocessor.
BLOCKS = 8
#: How many vertices ahead a core fetches the counter of a label.
AHEAD = 16

_each_stretch = each_row.by(max_blocks_per_sm=BLOCKS, least_chunk=1)


class Counted(NamedTuple):
    """Labels, the vote for the most frequent one, and (n,) ``sizes`` at the roots, as they were counted."""

    labels: Any
    winner: Any
    sizes: Any


class Members(NamedTuple):
    """Roots, in the type of the labels, and int64 sizes of components: (components,) arrays."""

    roots: Any
    sizes: Any


@_each_stretch
def count_roots(stretch, lane, lanes, length, labels, n_roots):
    """Count the roots of a stretch."""
    first, own = stretch * length, np.int64(0)
    for vertex in range(first + lane, min(first + length, len(labels)), lanes):
        own += np.int64(np.int64(labels[vertex]) == vertex)
    own = inclusive_scan(own, lane)
    if lane == lanes - 1:
        n_roots[stretch] = own


@_each_stretch
def count_members(stretch, lane, lanes, length, counted, n_roots):
    """Add the members of every component in a stretch to its size, which was zero; count the roots."""
    labels, winner, sizes = counted
    n, first, giant = len(labels), stretch * length, winner[0] & LABEL
    own, of_giant, held, label = np.int64(0), np.int64(0), np.int64(0), np.int64(-1)
    for base in range(first, min(first + length, n), lanes):
        vertex, found = base + lane, np.int64(-1)
        prefetch(sizes, labels[min(vertex + AHEAD, n - 1)])
        if vertex < n:
            found = np.int64(labels[vertex])
        own += np.int64(found == vertex)
        n_in_giant = popcount(ballot(found == giant))
        of_giant += n_in_giant
        if n_in_giant < lanes:
            other = np.int64(-1) if found in (giant, vertex) else found
            same = match(other)
            if other >= 0 and same & ((np.int64(1) << lane) - 1) == 0:
                if other != label:
                    if held > 0:
                        fetch_add(sizes, label, held)
                    label, held = other, np.int64(0)
                held += popcount(same)
    if held > 0:
        fetch_add(sizes, label, held)
    if lane == 0 and of_giant > 0:
        fetch_add(sizes, giant, of_giant)
    own = inclusive_scan(own, lane)
    if lane == lanes - 1:
        n_roots[stretch] = own


@_each_stretch
def list_roots(stretch, lane, lanes, length, counted, starts, members, largest):
    """Write the roots of a stretch and the sizes of their components; find the largest."""
    labels, winner, sizes = counted
    n, first, giant = len(labels), stretch * length, winner[0] & LABEL
    slot, most = starts[stretch], np.int64(0)
    if slot == starts[stretch + 1]:
        return
    for base in range(first, min(first + length, n), lanes):
        vertex = base + lane
        is_root = vertex < n and np.int64(labels[vertex]) == vertex
        marked = ballot(is_root)
        if is_root:
            at = slot + popcount(marked & ((np.int64(1) << lane) - 1))
            size = np.int64(sizes[vertex]) + np.int64(vertex != giant)
            members.roots[at], members.sizes[at] = vertex, size
            most = max(most, size)
        slot += popcount(marked)
    if most > largest[0]:
        fetch_max(largest, 0, most)


class ComponentSizes:
    """What is known of the components of ``labels``; each part is found when it is first read."""

    def __init__(self, labels):
        self.labels, self.device = labels, arrays.device_of(labels)
        self.length = STRETCH_OF_CORE if self.device == "cpu" else STRETCH
        self.stretches = -(-len(labels) // self.length)

    @cached_property
    def count(self) -> int:
        """Number of components."""
        if "_listed" in vars(self):
            return len(self.members.roots)
        n_roots = arrays.empty(self.stretches, np.int64, self.device)
        count_roots(self.stretches, self.length, self.labels, n_roots, width="warp")
        return int(arrays.move(n_roots, "cpu").sum())

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
        counted = Counted(labels, winner, arrays.zeros(n, labels.dtype, device))
        n_roots = arrays.empty(self.stretches, np.int64, device)
        vote(VOTERS if n else 0, labels, n, winner)
        count_members(self.stretches, self.length, counted, n_roots, width="warp")
        starts = exclusive_scan(n_roots)
        count = int(starts[-1])
        members = Members(*(arrays.empty(count, kind, device) for kind in (labels.dtype, np.int64)))
        list_roots(self.stretches, self.length, counted, starts, members, largest, width="warp")
        return members, largest
