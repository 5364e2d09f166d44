"""The proof of strong components: an order of the condensation, and two searches inside the components.

The order is that of Kahn (1962): a component is next when no edge from a component before it is left.  A
search from the roots follows the edges inside components, and another one the same edges backwards.
"""

import numpy as np

from edgewise.certificates import check
from edgewise.certificates.record import Certificate, certify, claimed
from edgewise.components.certificate import depths_of
from edgewise.device import arrays, compiled
from edgewise.device.threads import few_steps
from edgewise.index_type import index_type
from edgewise.ingest.csr import rows_from_edges
from edgewise.result import edge_arrays

#: No vertex, at the end of a list.
END = -1
#: The rank of a class in a cycle of classes.
UNRANKED = -1


@compiled
def rank_classes(rows, labels, members, ranks, counts, stack):
    """Number the classes of equal labels so that no edge leads to a smaller number, as far as that goes.

    The rows have the edges between classes.  ``members`` is the first vertex of each label and the next
    vertex of each vertex's label; ``counts`` are 0 for all labels; ``ranks`` stay as they are for classes in
    a cycle of classes, or behind one.
    """
    offsets, neighbours = rows
    heads, following = members
    for vertex in range(len(labels)):
        following[vertex] = heads[labels[vertex]]
        heads[labels[vertex]] = vertex
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            counts[labels[neighbours[entry]]] += 1
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
    ends = edges.sources, edges.targets
    is_inside = labels[ends[0]] == labels[ends[1]]
    inside = np.flatnonzero(is_inside)
    proof: dict[str, np.ndarray] = {}
    with few_steps(8 * n + 6 * m):
        for way, (parents, children) in (("out", ends), ("in", ends[::-1])):
            depths, found = _searched(roots, inside, parents[inside], children[inside], n)
            proof |= {f"{way}_tree": found.astype(index_type(m)), f"{way}_depths": depths}
        proof["ranks"] = _ranks(n, ends[0][~is_inside], ends[1][~is_inside], labels)
    return certify("strong", edges, {"labels": labels}, proof, canonical=canonical)


def _searched(roots, edges, parents, children, n):
    """Depths of a search along edges, and one of the edges to each vertex that is found."""
    depths = depths_of(n, parents, children, roots, False)
    is_next = depths[parents] < depths[children]
    found = np.full(n, -1)
    found[children[is_next]] = edges[is_next]
    return depths, np.sort(found[found >= 0])


def _ranks(n, sources, targets, labels):
    """The rank of each vertex's class, by the edges between classes; any higher one in a cycle of them."""
    rows = rows_from_edges(n, sources, targets, False)[:2]
    ranks = np.full(n, UNRANKED, labels.dtype)
    members = np.full(n, END, np.int64), np.empty(n, np.int64)
    rank_classes(rows, labels, members, ranks, np.zeros(n, np.int64), np.empty(n, np.int64))
    left = np.flatnonzero(ranks == UNRANKED)
    ranks[left] = ranks.max(initial=UNRANKED) + 1 + np.unique(labels[left], return_inverse=True)[1]
    return ranks


def verify(graph, labels):
    """Raise :class:`~edgewise.errors.VerificationError` unless labels are the strong ones of ``graph``."""
    host = graph.to("cpu")
    check(edge_arrays(host), prove(host, labels))
