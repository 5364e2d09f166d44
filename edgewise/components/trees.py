"""Parent trees: what all union-find methods here share.

``parent[v] <= v`` holds before, during and after everything below, so trees have no cycles, a root is the
smallest vertex of its tree, and fully compressed trees are the labels.  Parents are read and shortened with
plain loads and stores (any earlier parent is still an ancestor); only joining two trees takes an atomic.
"""

from edgewise.device import arrays, device, each


@each.prefetch(lambda vertex, parent: vertex)
def make_singletons(vertex, itself, parent):
    """Make every vertex a tree of its own."""
    parent[vertex] = itself


@device
def put_below_root(vertex, above, grandparent, parent):
    """Point a vertex, whose parent and grandparent are known, at its root; return that (Hellås 2018, Alg. 6).

    Every step is stored: on a GPU the vertices of a long path move up together and double their steps.
    """
    while above != grandparent:
        parent[vertex] = grandparent  # race: an earlier parent, which others may read, is an ancestor, too
        above = grandparent
        grandparent = parent[above]
    return above


@each.prefetch(lambda vertex, parent: (parent[vertex], parent[parent[vertex]]), ascending=True)
def compress(vertex, seen, parent):
    """Point ``vertex`` at its root."""
    put_below_root(vertex, seen[0], seen[1], parent)


def new_parents(vertices, like):
    """Parent array for ``vertices``, not filled, of the type and on the device of ``like``."""
    return arrays.empty(vertices, like.dtype, arrays.device_of(like))


def singletons(vertices, like):
    """Parent array of ``vertices`` roots, of the type and on the device of ``like``."""
    parent = new_parents(vertices, like)
    make_singletons(vertices, parent)
    return parent
