"""First smaller neighbour, then every edge once: the scheme of ECL-CC (Jaiganesh & Burtscher, HPDC 2018).

Every vertex starts below a smaller neighbour, with one plain write and no conflict.  Then every edge is
read once, from its larger endpoint, and its endpoints are joined: here by Rem's algorithm, which was faster
than path halving and hooking on every graph measured.  Where rows are ascending, the first neighbour is the
smallest; in other orders fewer vertices are hooked at the start.
"""

import numpy as np

from edgewise.components.rem import union
from edgewise.components.symmetric_csr import BLOCKS, list_row, new_list
from edgewise.components.trees import compress, new_parents, singletons
from edgewise.device import arrays, device, each, each_row


@device
def see_first(vertex, parent, offsets, neighbours, entries):
    """Degree and first neighbour of a vertex; the neighbour is arbitrary if the degree is 0."""
    first, end = offsets[vertex], offsets[vertex + 1]
    return end - first, neighbours[min(first, entries - 1)]


@each.prefetch(see_first)
def hang_below_first(vertex, seen, parent, offsets, neighbours, entries):
    """Start ``vertex`` below its first neighbour if that is smaller, else as a root."""
    degree, first = seen
    parent[vertex] = first if degree > 0 and first < vertex else vertex


@each
def join_smaller(vertex, parent, offsets, neighbours, max_row, listed, count):
    """Join ``vertex`` with its smaller neighbours except the first, or list it if its row is too long."""
    first, end = offsets[vertex], offsets[vertex + 1]
    if end - first > max_row:
        list_row(vertex, listed, count, 0)
        return
    for entry in range(first + 1, end):
        other = neighbours[entry]
        if other < vertex:
            union(parent, vertex, other)


@each_row
def join_listed_smaller(block, lane, lanes, listed, count, parent, offsets, neighbours):
    """Join the vertices of long rows with their smaller neighbours, a row shared by the lanes of a block."""
    for item in range(block, count[0], BLOCKS):
        vertex = listed[item]
        for entry in range(offsets[vertex] + lane, offsets[vertex + 1], lanes):
            other = neighbours[entry]
            if other < vertex:
                union(parent, vertex, other)


def ecl_cc(vertices, csr):
    """Each vertex below its first smaller neighbour, then every edge once."""
    offsets, neighbours, max_row = csr
    if not len(neighbours):
        return singletons(vertices, neighbours)
    parent = new_parents(vertices, neighbours)
    hang_below_first(vertices, parent, offsets, neighbours, len(neighbours))
    listed, blocks = new_list(csr)
    count = (arrays.zeros if blocks else arrays.empty)(1, np.int32, arrays.device_of(parent))
    join_smaller(vertices, parent, offsets, neighbours, max_row, listed, count)
    join_listed_smaller(blocks, listed, count, parent, offsets, neighbours, width="block")
    compress(vertices, parent)
    return parent
