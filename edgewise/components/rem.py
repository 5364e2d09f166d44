"""Rem's algorithm with compare-and-swap: one pass over the edges, splicing as it goes.

Hellås (2018), "Connected Components on Multiple GPUs", Algorithm 2; the sequential form is due to Rem
(Dijkstra 1976; Patwary, Blair & Manne 2010).  Both endpoints move towards the roots together: the parent of
the endpoint with the larger parent is replaced by the other's, and the walk continues from the replaced
parent.  A successful swap leaves exactly one pair to join, which the thread continues with, so no edge is
lost.

This holds only while every thread splices: compressing at the same time would break it.  Hence a separate
pass of compression at the end.

The thesis also measures rounds of Hook-non-atomic first, which help where ids are local (section 6.3.1), and
compression between the segments in which edges reach a GPU, which does not pay (section 6.3.2).
"""

from edgewise.components.hook import hook_non_atomic
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
    """Join the endpoints of one edge."""
    union(parent, sources[edge], targets[edge])


def rem(vertices, sources, targets, iterations=0, segments=1, compress_between=0):
    """Label the components of an edge list.

    Parameters
    ----------
    iterations : int
        Rounds of Hook-non-atomic and Compress before Rem.
    segments : int
        Parts in which the edges are joined, one after the other.
    compress_between : int
        Whether to compress after each segment.
    """
    parent = singletons(vertices, sources)
    edges, segments = len(sources), max(segments, 1)
    for segment in range(segments):
        part = slice(segment * edges // segments, (segment + 1) * edges // segments)
        if segment and (compress_between or iterations):  # plain hooks are correct on stars only
            compress(vertices, parent)
        join(vertices, parent, sources[part], targets[part], iterations)
    compress(vertices, parent)
    return parent


def join(vertices, parent, sources, targets, iterations=0):
    """Join the endpoints of all edges in ``parent``, which must be compressed if there are ``iterations``."""
    for _ in range(iterations):
        hook_non_atomic(len(sources), parent, sources, targets)
        compress(vertices, parent)
    unite_edge(len(sources), parent, sources, targets)
