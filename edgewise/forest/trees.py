"""Trees of the forest while it grows: parents that are smaller than their children, and the edge above each.

A vertex that stops being a root is hooked below a smaller root once, and for ever.  So the edge that hooked
it is kept at the vertex itself, and no list of edges needs a counter.
"""

from edgewise.device import cas, device, each, store

#: Of a vertex that no edge has hooked.
NO_EDGE = -1


@device
def find(parent, vertex):
    """The root above ``vertex``, which is stored as its parent if it was more than two steps away."""
    above = parent[vertex]
    grandparent = parent[above]
    if above == grandparent:
        return above
    while above != grandparent:
        above = grandparent
        grandparent = parent[above]
    parent[vertex] = above
    return above


@device
def hook(parent, hooked_by, one, other, edge):
    """Join the trees of ``one`` and ``other``, which differ, by an edge, also beside other workers."""
    one, other = find(parent, one), find(parent, other)
    while one != other:
        if one > other:
            one, other = other, one
        held = cas(parent, other, other, one)
        if held == other:
            store(hooked_by, other, edge)
            return
        one, other = find(parent, one), find(parent, held)


@device
def halve(parent, vertex):
    """The root above ``vertex``, whose path is halved; for one worker only."""
    above = parent[vertex]
    while above != vertex:
        grandparent = parent[above]
        parent[vertex] = grandparent
        vertex, above = grandparent, parent[grandparent]
    return vertex


@each
def make_roots(vertex, parent, hooked_by):
    """Make every vertex a tree of its own."""
    parent[vertex] = vertex
    hooked_by[vertex] = NO_EDGE
