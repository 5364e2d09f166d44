"""Hang every edge, hook every edge, then Rem: for edge lists whose ids, or whose order, are local.

Every edge writes its smaller end over the parent of its larger one.  As in the first round of Groute's hooks
nothing is read first, so that a GPU thread has four edges in flight.  The last write wins, and each is an
edge between smaller and larger vertices, so that the compression that follows leaves trees of connected
vertices.  A round of plain hooks (:mod:`~edgewise.components.hook`) joins most of these: where neighbours
have close numbers they are nearly the components, and Rem's algorithm, which joins every edge whose ends
have different parents, finds few.
"""

from edgewise.components.rem import union
from edgewise.components.trees import compress, singletons
from edgewise.device import device, each


@device
def hang_below(one, other, parent):
    """Write the smaller of two roots over the parent of the larger."""
    if other < one:
        parent[one] = other
    elif one < other:
        parent[other] = one


@device
def ends_of(edge, parent, sources, targets):
    """Ends of an edge."""
    return sources[edge], targets[edge]


@device
def parents_of(edge, parent, sources, targets):
    """Parents of the ends of an edge."""
    return parent[sources[edge]], parent[targets[edge]]


@each.prefetch(ends_of)
def hang(edge, ends, parent, sources, targets):
    """Write the smaller end of an edge over the parent of the larger; all vertices were roots."""
    hang_below(ends[0], ends[1], parent)


@each.prefetch(parents_of)
def hook(edge, parents, parent, sources, targets):
    """Write the smaller parent over the larger; all trees were stars."""
    hang_below(parents[0], parents[1], parent)


@each.prefetch(parents_of)
def unite_unequal(edge, parents, parent, sources, targets):
    """Join the ends of an edge unless they have the same parent."""
    if parents[0] != parents[1]:
        union(parent, sources[edge], targets[edge])


def hang_rem(vertices, sources, targets):
    """Two rounds of plain writes, then Rem."""
    parent, edges = singletons(vertices, sources), len(sources)
    for join in hang, hook, unite_unequal:
        join(edges, parent, sources, targets)
        compress(vertices, parent)
    return parent
