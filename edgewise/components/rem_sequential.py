"""Rem's algorithm on one core: Hellås (2018), Algorithm 1.

The reference for the parallel methods, and often the fastest on one core: one pass over the edges, no
atomics.  A tree's root is its smallest vertex, so the smaller parent wins here (Algorithm 1 of the thesis
links to the larger).
"""

from edgewise.components.trees import compress, singletons
from edgewise.device import arrays, device, each


@device
def splice(parent, one, other):
    """Put the two vertices in one tree; not safe beside other threads."""
    above_one, above_other = parent[one], parent[other]
    while above_one != above_other:
        if above_one > above_other:
            one, other = other, one
            above_one, above_other = above_other, above_one
        parent[other] = above_one
        if other == above_other:
            return
        other = above_other
        above_other = parent[other]


@each
def unite_all(_, edges, parent, sources, targets):
    """Join the endpoints of all edges, one after the other."""
    for edge in range(edges):
        splice(parent, sources[edge], targets[edge])


def rem_sequential(vertices, sources, targets):
    """Label the components of an edge list on one core; edges and labels of a GPU are copied."""
    device = arrays.device_of(sources)
    sources, targets = arrays.move(sources, "cpu"), arrays.move(targets, "cpu")
    parent = singletons(vertices, sources)
    unite_all(1, len(sources), parent, sources, targets)
    compress(vertices, parent)
    return arrays.move(parent, device)
