"""First smaller neighbour, then every edge once: the scheme of ECL-CC (Jaiganesh & Burtscher, HPDC 2018).

Every vertex starts below a smaller neighbour, with one plain write and no conflict.  Then every edge is
looked at once, from its larger end, and its ends are joined; here by Rem's algorithm, which beat path halving
and hooking on every graph measured.  Rows of ascending neighbours give the smallest neighbour at once; other
orders only hook less at the start.
"""

from edgewise.components.rem import union
from edgewise.components.trees import compress, new_parents, singletons
from edgewise.device import device, each, each_row


@device
def see_first(vertex, parent, offsets, neighbours, entries):
    """Degree and first neighbour of a vertex; any neighbour stands in for one that is not there."""
    first, end = offsets[vertex], offsets[vertex + 1]
    return end - first, neighbours[min(first, entries - 1)]


@each.prefetch(see_first)
def hang_below_first(vertex, seen, parent, offsets, neighbours, entries):
    """Start ``vertex`` below its first neighbour if that is smaller, else as a root."""
    degree, first = seen
    parent[vertex] = first if degree > 0 and first < vertex else vertex


@each
def join_smaller(vertex, parent, offsets, neighbours, longest):
    """Join ``vertex`` with its smaller neighbours but the first, unless its row is too long."""
    first, end = offsets[vertex], offsets[vertex + 1]
    if end - first <= longest:
        for entry in range(first + 1, end):
            other = neighbours[entry]
            if other < vertex:
                union(parent, vertex, other)


@each_row
def join_hub(hub, lane, lanes, hubs, parent, offsets, neighbours):
    """Join a vertex of long row with its smaller neighbours, shared by the lanes."""
    vertex = hubs[hub]
    for entry in range(offsets[vertex] + lane, offsets[vertex + 1], lanes):
        other = neighbours[entry]
        if other < vertex:
            union(parent, vertex, other)


def first_neighbour(vertices, rows):
    """Label the components of symmetric rows.

    Parameters
    ----------
    vertices : int
    rows : edgewise.components.symmetric_csr.Rows

    Returns
    -------
    (vertices,) index array
        Smallest vertex of each vertex's component.
    """
    offsets, neighbours, hubs, longest = rows
    if not len(neighbours):
        return singletons(vertices, neighbours)
    parent = new_parents(vertices, neighbours)
    hang_below_first(vertices, parent, offsets, neighbours, len(neighbours))
    join_smaller(vertices, parent, offsets, neighbours, longest)
    join_hub(len(hubs), hubs, parent, offsets, neighbours, width="block")
    compress(vertices, parent)
    return parent
