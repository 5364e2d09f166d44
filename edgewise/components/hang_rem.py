"""Hang every edge, then Rem: for edge lists whose ids are local.

Every edge writes its smaller end over the parent of its larger one.  As in the first round of Groute's hooks
nothing is read first, so that a GPU thread has four edges in flight.  The last write wins, and each is an
edge between smaller and larger vertices, so that the compression that follows leaves trees of connected
vertices.  Where neighbours have close numbers these are nearly the components, and Rem's algorithm, which
joins every edge whose ends have different parents, finds few of them.
"""

from edgewise.components.rem import union
from edgewise.components.trees import compress, singletons
from edgewise.device import each


@each.prefetch(lambda edge, parent, sources, targets: (sources[edge], targets[edge]))
def hang(edge, ends, parent, sources, targets):
    """Write the smaller end of an edge over the parent of the larger; all vertices were roots."""
    one, other = ends
    if other < one:
        parent[one] = other
    elif one < other:
        parent[other] = one


@each.prefetch(lambda edge, parent, sources, targets: (parent[sources[edge]], parent[targets[edge]]))
def unite_unequal(edge, parents, parent, sources, targets):
    """Join the ends of an edge unless they have the same parent."""
    one, other = parents
    if one != other:
        union(parent, sources[edge], targets[edge])


def hang_rem(vertices, sources, targets):
    """One round of plain writes, then Rem."""
    parent = singletons(vertices, sources)
    hang(len(sources), parent, sources, targets)
    compress(vertices, parent)
    unite_unequal(len(sources), parent, sources, targets)
    compress(vertices, parent)
    return parent
