"""Parent trees: what all union-find methods here share.

``parent[v] <= v`` holds before, during and after everything below, so trees have no cycles, a root is the
smallest vertex of its tree, and fully compressed trees are the labels.  Parents are read and shortened with
plain loads and stores (any earlier parent is still an ancestor); only joining two trees takes an atomic.
"""

from edgewise.device import arrays, cas, device, each


@each
def make_singletons(vertex, parent):
    """Make every vertex a tree of its own."""
    parent[vertex] = vertex


@device
def find(parent, vertex):
    """Root of ``vertex``, halving the path on the way (Jaiganesh & Burtscher 2018, "Jump4")."""
    here = parent[vertex]
    if here == vertex:
        return here
    before = vertex
    above = parent[here]
    while above < here:
        parent[before] = above
        before, here = here, above
        above = parent[here]
    return here


@device
def join_roots(parent, one, other):
    """Hook the larger of two roots under the smaller, going on from what a failed exchange returns."""
    while one != other:
        if one < other:
            one, other = other, one
        held = cas(parent, one, one, other)
        if held == one:
            return
        one = held


@each
def compress(vertex, parent):
    """Point ``vertex`` at its root: full compression (Hellås 2018, Algorithm 6)."""
    root = parent[vertex]
    above = parent[root]
    if above != root:
        while above != root:
            root, above = above, parent[above]
        parent[vertex] = root


def singletons(vertices, like):
    """Parent array of ``vertices`` roots, of the type and in the place of ``like``."""
    parent = arrays.empty(vertices, like.dtype, arrays.place_of(like))
    make_singletons(vertices, parent)
    return parent
