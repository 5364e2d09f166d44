"""Rem's algorithm: one pass over the edges, splicing as it goes (Hellås 2018, Algorithms 1 and 2).

The sequential form is due to Rem (Dijkstra 1976; Patwary, Blair & Manne 2010), the form with compare-and-swap
to Hellås, "Computing Connected Components on Multiple GPUs".  Both endpoints move towards the roots
together: the parent of the endpoint with the larger parent is replaced by the other's, and the walk continues
from the replaced parent.  A tree's root is its smallest vertex, so the smaller parent wins here (Algorithm 1
of the thesis links to the larger).  A successful swap leaves exactly one pair to join, which the thread
continues with, so no edge is lost.

This holds only while every thread splices, so compression is a separate pass at the end.
"""

from functools import partial

import numpy as np

from edgewise import tuning
from edgewise.components.edge_order import is_in_sequence, neighbours_are_close
from edgewise.components.trees import compress, singletons
from edgewise.device import arrays, cas, compiled, device, each
from edgewise.device.prefetch import prefetch

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
    """Join the endpoints of one edge: on a GPU, and of a sparse list with close ids on the CPU."""
    union(parent, sources[edge], targets[edge])


@device
def union_or_shorten(parent, one, other):
    """Put the two vertices in one tree; if only their parents differ, put them below their grandparent.

    Plain stores are safe here, because a vertex that is no root never becomes one again, and an earlier
    grandparent is still an ancestor.
    """
    above_one, above_other = parent[one], parent[other]
    if above_one != above_other:
        top_one, top_other = parent[above_one], parent[above_other]
        if top_one != top_other:
            union(parent, one, other)
        else:
            if top_one != above_one:
                parent[one] = top_one  # race: see above
            if top_other != above_other:
                parent[other] = top_other  # race: see above


@device
def fetch_later(edge, parent, sources, targets):
    """Start to read the parents of the endpoints of a later edge."""
    soon = min(edge + AHEAD, len(sources) - 1)
    prefetch(parent, sources[soon])
    prefetch(parent, targets[soon])


@partial(each, ascending=True)
def unite_scattered(edge, parent, sources, targets):
    """Join the endpoints of one edge on the CPU, where ids are scattered."""
    fetch_later(edge, parent, sources, targets)
    union(parent, sources[edge], targets[edge])


@partial(each, ascending=True)
def unite_dense(edge, parent, sources, targets):
    """Join one edge of a dense list on the CPU: two reads often spare an atomic operation; ids are close."""
    union_or_shorten(parent, sources[edge], targets[edge])


@partial(each, ascending=True)
def unite_dense_scattered(edge, parent, sources, targets):
    """Join one edge of a dense list on the CPU, where ids are scattered."""
    fetch_later(edge, parent, sources, targets)
    union_or_shorten(parent, sources[edge], targets[edge])


def rem(vertices, sources, targets):
    """Rem's algorithm: join every edge once, then compress."""
    parent = singletons(vertices, sources)
    unite_all(parent, sources, targets)
    compress(vertices, parent)
    return parent


def unite_all(parent, sources, targets):
    """Join the endpoints of all edges by the loop for their device, their number and their ids."""
    vertices, edges = len(parent), len(sources)
    if arrays.device_of(sources) != "cpu":
        unite_edge(edges, parent, sources, targets)
        return
    limits = tuning.CPU
    scattered = vertices >= limits.components_cached and not neighbours_are_close(vertices, sources, targets)
    if edges > limits.components_sparse * vertices:
        unite = unite_dense_scattered if scattered else unite_dense
    else:
        unite = unite_scattered if scattered else unite_edge
    unite(edges, parent, sources, targets)


@device
def splice(parent, one, other):
    """Put the two vertices in one tree; not safe beside other threads."""
    above_one, above_other = parent[one], parent[other]
    while above_one != above_other:
        if above_one > above_other:
            one, other = other, one
            above_one, above_other = above_other, above_one
        parent[other] = above_one  # race: in a sample only, whose lost links :mod:`sampling` restores
        if other == above_other:
            return
        other = above_other
        above_other = parent[other]


@device
def shorten_and_splice(parent, one, other):
    """Splice two vertices by their grandparents, which most edges of a dense list in random order share."""
    above_one, above_other = parent[one], parent[other]
    if above_one != above_other:
        above_one, above_other = parent[above_one], parent[above_other]
        low, high = min(above_one, above_other), max(above_one, above_other)
        parent[one] = low  # race: in a sample only, as in :func:`splice`
        parent[other] = low  # race: as above
        splice(parent, low, high)


@device
def make_roots(parent):
    """Make every vertex a tree of its own."""
    for vertex in range(np.uint64(len(parent))):
        parent[vertex] = vertex


@device
def point_at_roots(parent):
    """Point every vertex at its root: the parents of smaller vertices are roots already."""
    for vertex in range(np.uint64(len(parent))):
        parent[vertex] = parent[parent[vertex]]


@compiled
def label_all(parent, sources, targets):
    """Join the endpoints of all edges, one after the other, then point every vertex at its root."""
    make_roots(parent)
    for edge in range(np.uint64(len(sources))):
        splice(parent, sources[edge], targets[edge])
    point_at_roots(parent)


@compiled
def label_dense(parent, sources, targets):
    """Label a dense list, edge after edge, by way of the grandparents."""
    make_roots(parent)
    for edge in range(np.uint64(len(sources))):
        shorten_and_splice(parent, sources[edge], targets[edge])
    point_at_roots(parent)


@compiled
def label_rows(parent, offsets, neighbours):
    """Label rows: every vertex joins its smaller neighbours."""
    for vertex in range(np.uint64(len(parent))):
        itself = parent.dtype.type(vertex)
        parent[vertex] = itself
        for entry in range(np.uint64(offsets[vertex]), np.uint64(offsets[vertex + 1])):
            if neighbours[entry] < itself:
                splice(parent, itself, neighbours[entry])
    point_at_roots(parent)


def _pays_to_shorten(vertices, sources, targets):
    """Whether one core should join the edges of a list by way of the grandparents."""
    limits = tuning.CPU
    if len(sources) <= limits.components_sparse * vertices:
        return False
    return vertices < limits.components_cached or not is_in_sequence(vertices, sources, targets)


def rem_sequential(vertices, *form):
    """Rem's algorithm on one core, over ``sources, targets`` or a ``csr``; those of a GPU are copied."""
    of_rows = len(form) == 1
    one, other = form[0][:2] if of_rows else form
    device = arrays.device_of(other)
    one, other = arrays.move(one, "cpu"), arrays.move(other, "cpu")
    parent = arrays.empty(vertices, other.dtype, "cpu")
    label = label_rows if of_rows else label_dense if _pays_to_shorten(vertices, one, other) else label_all
    label.with_steps(vertices + len(other), parent, one, other)
    return arrays.move(parent, device)
