"""Rem's algorithm: one pass over the edges, splicing as it goes (Hellås 2018, Algorithms 1 and 2).

The sequential form is due to Rem (Dijkstra 1976; Patwary, Blair & Manne 2010), the form with compare-and-swap
to Hellås, "Connected Components on Multiple GPUs".  Both endpoints move towards the roots together: the
parent of the endpoint with the larger parent is replaced by the other's, and the walk continues from the
replaced parent.  A tree's root is its smallest vertex, so the smaller parent wins here (Algorithm 1 of the
thesis links to the larger).  A successful swap leaves exactly one pair to join, which the thread continues
with, so no edge is lost.

This holds only while every thread splices, so compression is a separate pass at the end.

The thesis also measures compression between the segments in which edges reach a GPU, which does not pay
(section 6.3.2), and rounds of Hook-non-atomic first, which help on street networks and on no other graphs
(section 6.3.1).  The cause is the order of the ids: where neighbours have close numbers, plain writes and one
compression build nearly the whole forest; the same networks with random ids become slower.  The graph must be
sparse as well, since hooks read every edge; hooking a sample of them leaves Rem as much to do as before.
"""

from functools import partial

import numpy as np

from edgewise.components.hook import hook_non_atomic
from edgewise.components.trees import compress, new_parents, singletons
from edgewise.device import arrays, cas, compiled, device, each
from edgewise.device.prefetch import prefetch

#: Vertices whose parents no longer fit into the second cache of a core, and edges or rows that are looked at
#: to judge whether neighbours are close: within this share of the vertices.
MANY, PROBES, CLOSE = 1 << 18, 256, 1 / 64
#: How many edges ahead the parents of the endpoints are fetched on the CPU.
AHEAD = 16


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


@partial(each, ascending=True)
def unite_edge(edge, parent, sources, targets):
    """Join the endpoints of one edge."""
    union(parent, sources[edge], targets[edge])


@partial(each, ascending=True)
def unite_scattered(edge, parent, sources, targets):
    """The same on the CPU where ids are scattered: the parents of a later edge are fetched."""
    soon = min(edge + AHEAD, len(sources) - 1)
    prefetch(parent, sources[soon])
    prefetch(parent, targets[soon])
    union(parent, sources[edge], targets[edge])


def rem(vertices, sources, targets, iterations=0, segments=1, compress_between=0):
    """Rem's algorithm on edges in several ``segments``, with or without compressing between them.

    Every segment starts with ``iterations`` rounds of Hook-non-atomic and Compress.
    """
    parent = singletons(vertices, sources)
    edges, segments = len(sources), max(segments, 1)
    for segment in range(segments):
        part = slice(segment * edges // segments, (segment + 1) * edges // segments)
        if segment and (compress_between or iterations):  # plain hooks are correct on stars only
            compress(vertices, parent)
        endpoints = sources[part], targets[part]
        for _ in range(iterations):
            hook_non_atomic(len(endpoints[0]), parent, *endpoints)
            compress(vertices, parent)
        unite = unite_scattered if _ids_are_scattered(vertices, *endpoints) else unite_edge
        unite(len(endpoints[0]), parent, *endpoints)
    compress(vertices, parent)
    return parent


def are_far_apart(vertices, ones, others):
    """Whether most of some pairs of vertices have numbers that are not close."""
    distance = abs(ones.astype(np.int64) - others.astype(np.int64))
    return 2 * np.count_nonzero(distance > vertices * CLOSE) > len(ones)


def _ids_are_scattered(vertices, sources, targets):
    """Whether the endpoints of edges are far apart, by a few edges."""
    if vertices < MANY or not len(sources) or arrays.device_of(sources) != "cpu":
        return False
    probes = np.arange(PROBES, dtype=np.int64) * len(sources) // PROBES
    return are_far_apart(vertices, sources[probes], targets[probes])


def hook_rem(vertices, sources, targets):
    """One round of plain hooks, then Rem: for sparse edge lists whose ids are local."""
    return rem(vertices, sources, targets, iterations=1)


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


@compiled
def label_all(parent, sources, targets):
    """Join the endpoints of all edges, one after the other, then point every vertex at its root."""
    for vertex in range(np.uint64(len(parent))):
        parent[vertex] = vertex
    for edge in range(np.uint64(len(sources))):
        splice(parent, sources[edge], targets[edge])
    for vertex in range(np.uint64(len(parent))):  # the parents of smaller vertices are roots already
        parent[vertex] = parent[parent[vertex]]


def rem_sequential(vertices, sources, targets):
    """Rem's algorithm on one core, often the fastest there; edges and labels of a GPU are copied."""
    device = arrays.device_of(sources)
    sources, targets = arrays.move(sources, "cpu"), arrays.move(targets, "cpu")
    parent = new_parents(vertices, sources)
    label_all.with_steps(vertices + len(sources), parent, sources, targets)
    return arrays.move(parent, device)
