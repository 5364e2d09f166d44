"""The proof of component labels: a spanning forest of the graph, and the depths of its vertices.

All threads go over the edges.  An edge whose ends have different roots hooks the larger root below the
smaller one, and is kept in the forest if its compare-and-swap succeeds.  Paths are halved as they are
climbed, but no vertex moves to another tree, as it does in Rem's algorithm, whose trees are joined by an edge
that another thread may have kept before.  A search on one core gives the vertices their depths.

The forest of a random graph of 10 million vertices is 1,500 edges deep.  A sample of all edges, one for every
16 vertices, makes it a graph in which no vertex is further than 77 edges from a root, so that a depth takes
one byte.
"""

from functools import partial

import numpy as np

from edgewise.certificates import check
from edgewise.certificates.record import Certificate, certify, claimed
from edgewise.components.trees import compress, singletons
from edgewise.device import arrays, cas, compiled, device, each
from edgewise.device.threads import few_steps
from edgewise.index_type import index_type
from edgewise.ingest.csr import rows_from_edges
from edgewise.result import edge_arrays

#: How many vertices there are for each edge that is kept as a shortcut.
VERTICES_PER_SHORTCUT = 16
#: The depth of a vertex that the search has not found yet.
UNSEEN = -1


@device
def find(parent, vertex):
    """The root above ``vertex``, whose path is halved; any earlier grandparent is still an ancestor."""
    above = parent[vertex]
    grandparent = parent[above]
    while above != grandparent:
        # race: whichever grandparent a thread stores or reads last, it is above the vertex
        parent[vertex] = grandparent
        vertex = grandparent
        above = parent[vertex]
        grandparent = parent[above]
    return above


@device
def hook(parent, one, other):
    """Join the trees of two vertices; whether they were two."""
    one, other = find(parent, one), find(parent, other)
    while one != other:
        low, high = min(one, other), max(one, other)
        if cas(parent, high, high, low) == high:
            return True
        one, other = find(parent, low), find(parent, high)
    return False


@partial(each, ascending=True)
def keep_edge(edge, parent, sources, targets, is_kept):
    """Keep an edge if it joins two trees."""
    is_kept[edge] = hook(parent, sources[edge], targets[edge])


@compiled
def fill_depths(offsets, neighbours, queue, n_roots, depths):
    """Number of edges from the roots, which begin the queue; return the largest.

    ``depths`` are 0 at the roots and ``UNSEEN`` elsewhere.
    """
    head, tail, depth = 0, n_roots, 0
    while head < tail:
        vertex = queue[head]
        depth = depths[vertex]
        head += 1
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            other = neighbours[entry]
            if depths[other] == UNSEEN:
                depths[other] = depth + 1
                queue[tail] = other
                tail += 1
    return depth


def depths_of(n_vertices, sources, targets, roots, both):
    """Numbers of edges from some roots, 0 where none lead; ``both`` tells whether edges lead both ways."""
    offsets, neighbours, _ = rows_from_edges(n_vertices, sources, targets, both)
    queue = np.empty(n_vertices, neighbours.dtype)
    queue[: len(roots)] = roots
    depths = np.full(n_vertices, UNSEEN, np.int32 if n_vertices < 2**31 else np.int64)
    depths[roots] = 0
    largest = fill_depths(offsets, neighbours, queue, len(roots), depths)
    return np.maximum(depths, 0).astype(np.min_scalar_type(int(largest)))


def forest_of(n_vertices, sources, targets):
    """Positions of the edges of a spanning forest and of shortcuts; the smallest vertices of its trees."""
    parent = singletons(n_vertices, sources)
    is_kept = np.zeros(len(sources), np.bool_)
    keep_edge(len(sources), parent, sources, targets, is_kept)
    compress(n_vertices, parent)
    is_kept[:: max(VERTICES_PER_SHORTCUT * len(sources) // max(n_vertices, 1), 1)] = True
    return np.flatnonzero(is_kept), np.flatnonzero(parent == np.arange(n_vertices, dtype=parent.dtype))


def prove(graph, labels, *, canonical: bool = True) -> Certificate:
    """Return the proof of component labels, which is none if they are wrong.

    Parameters
    ----------
    graph : Graph
    labels : (n_vertices,) integer array
        Numbers from 0 to ``n_vertices - 1``.
    canonical : bool
        Whether they are the smallest vertices of their components.
    """
    edges = edge_arrays(graph)
    n = edges.n_vertices
    labels = claimed("labels", arrays.move(labels, "cpu"), n, n)
    with few_steps(4 * n + 2 * len(edges.sources)):
        tree, roots = forest_of(n, edges.sources, edges.targets)
        ends = edges.sources[tree], edges.targets[tree]
        depths = depths_of(n, *ends, roots, True)
    tree = tree.astype(index_type(len(edges.sources)))
    ones, others = (depths[vertices] for vertices in ends)
    proof = {"depths": depths, "down_tree": tree[ones < others], "up_tree": tree[ones > others]}
    return certify("components", edges, {"labels": labels}, proof, canonical=canonical)


def verify(graph, labels):
    """Raise :class:`~edgewise.errors.VerificationError` unless labels are the components of ``graph``."""
    host = graph.to("cpu")
    check(edge_arrays(host), prove(host, labels))
