"""Rem's algorithm with compare-and-swap: one pass over the edges, splicing as it goes.

Hellås (2018), "Connected Components on Multiple GPUs", Algorithm 2; the sequential form is due to Rem
(Dijkstra 1976; Patwary, Blair & Manne 2010).  Both ends climb together: the end with the larger parent has
that parent replaced by the other's, and goes on from the parent it had.  A swap that replaces a parent leaves
exactly one pair to be joined, which the thread keeps, so no edge is ever lost.

This holds only while every thread splices: compressing at the same time would break it.  Hence a separate
pass of compression at the end.
"""

from edgewise.components.trees import compress, singletons
from edgewise.device import cas, device, each


@device
def union(parent, one, other):
    """Put the two vertices in one tree."""
    above_one, above_other = parent[one], parent[other]
    while above_one != above_other:
        if above_one > above_other:
            one, other = other, one
            above_one, above_other = above_other, above_one
        held = cas(parent, other, above_other, above_one)
        if held == above_other:
            other = above_other
            above_other = parent[other]
        else:
            above_other = held


@each
def unite_edge(edge, parent, sources, targets):
    """Join the ends of one edge."""
    union(parent, sources[edge], targets[edge])


def rem(vertices, sources, targets):
    """Label the components of an edge list.

    Parameters
    ----------
    vertices : int
    sources, targets : (m,) index arrays in one place

    Returns
    -------
    (vertices,) index array
        Smallest vertex of each vertex's component.
    """
    parent = singletons(vertices, sources)
    unite_edge(len(sources), parent, sources, targets)
    compress(vertices, parent)
    return parent
