"""The proof of strong components: an order of the condensation, and two searches inside the components.

The order is that of Kahn (1962): a component is next when no edge from a component before it is left.  A
search from the roots follows the edges inside components, and another one the same edges backwards.
"""

import numpy as np

from edgewise.certificates.record import Certificate, certify, claimed
from edgewise.device import arrays, compiled
from edgewise.device.threads import few_steps
from edgewise.index_type import index_type
from edgewise.ingest.csr import rows_from_edges
from edgewise.result import edge_arrays

#: Depth of a vertex that no search has found.
UNSEEN = -1
#: No vertex, at the end of a list.
END = -1


@compiled
def search_inside(rows, edges, labels, found, depths):
    """Search from the roots along the edges inside classes; return how many edges are kept, and the depth.

    ``found`` holds the queue, which begins with the roots, and the edges that are kept; ``depths`` are 0 at
    the roots and ``UNSEEN`` elsewhere.
    """
    offsets, neighbours = rows
    queue, tree = found
    head, tail, depth = 0, len(queue) - len(tree), 0
    n_roots = tail
    while head < tail:
        vertex = queue[head]
        depth = depths[vertex]
        head += 1
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            other = neighbours[entry]
            if depths[other] == UNSEEN and labels[other] == labels[vertex]:
                depths[other] = depth + 1
                tree[tail - n_roots] = edges[entry]
                queue[tail] = other
                tail += 1
    return tail - n_roots, depth


@compiled
def rank_classes(rows, labels, members, ranks, counts, stack):
    """Number the classes of equal labels so that no edge leads to a smaller number, as far as that goes.

    ``members`` is the first vertex of each label and the next vertex of each vertex's label; ``counts`` are 0
    for all labels; ``ranks`` stay as they are for classes in a cycle of classes, or behind one.
    """
    offsets, neighbours = rows
    heads, following = members
    for vertex in range(len(labels)):
        following[vertex] = heads[labels[vertex]]
        heads[labels[vertex]] = vertex
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            label = labels[neighbours[entry]]
            if label != labels[vertex]:
                counts[label] += 1
    size, rank = 0, 0
    for label in range(len(labels)):
        if heads[label] != END and counts[label] == 0:
            stack[size] = label
            size += 1
    while size > 0:
        size -= 1
        vertex = heads[stack[size]]
        while vertex != END:
            ranks[vertex] = rank
            for entry in range(offsets[vertex], offsets[vertex + 1]):
                label = labels[neighbours[entry]]
                if label != labels[vertex]:
                    counts[label] -= 1
                    if counts[label] == 0:
                        stack[size] = label
                        size += 1
            vertex = following[vertex]
        rank += 1


def prove(graph, labels, *, canonical: bool = True) -> Certificate:
    """Return the proof of the labels of strong components, which is none if they are wrong.

    Parameters
    ----------
    graph : Graph
        Directed.
    labels : (n_vertices,) integer array
        Numbers from 0 to ``n_vertices - 1``.
    canonical : bool
        Whether they are the smallest vertices of their components.
    """
    edges = edge_arrays(graph)
    n, m = edges.n_vertices, len(edges.sources)
    labels = claimed("labels", arrays.move(labels, "cpu"), n, n)
    roots = np.unique(labels, return_index=True)[1]
    proof: dict[str, np.ndarray] = {}
    with few_steps(8 * n + 6 * m):
        forward = rows_from_edges(n, edges.sources, edges.targets, False, True)
        backward = rows_from_edges(n, edges.targets, edges.sources, False, True)
        for way, rows in (("out", forward), ("in", backward)):
            proof |= _searched(way, rows, labels, roots, index_type(m))
        ranks = _ranks(forward[:2], labels)
    return certify("strong", edges, {"labels": labels}, proof | {"ranks": ranks}, canonical=canonical)


def _searched(way, rows, labels, roots, edge_type):
    """The tree and the depths of a search; vertices that it does not find are roots."""
    n = len(labels)
    queue, tree = np.empty(n, rows[1].dtype), np.empty(n - len(roots), edge_type)
    queue[: len(roots)] = roots
    depths = np.full(n, UNSEEN, np.int32 if n < 2**31 else np.int64)
    depths[roots] = 0
    n_kept, depth = search_inside(rows[:2], rows[2], labels, (queue, tree), depths)
    depths = np.maximum(depths, 0).astype(np.min_scalar_type(int(depth)))
    return {f"{way}_tree": tree[:n_kept], f"{way}_depths": depths}


def _ranks(rows, labels):
    """The rank of each vertex's class; 0 where there is none."""
    n = len(labels)
    ranks = np.zeros(n, labels.dtype)
    members = np.full(n, END, np.int64), np.empty(n, np.int64)
    rank_classes(rows, labels, members, ranks, np.zeros(n, np.int64), np.empty(n, np.int64))
    return ranks
