"""Spanning forests of least or largest weight, proved by the tree in which their edges merge vertices.

The answer is ``edges``, positions of edges.  The proof is ``parents``, the vertex that each vertex was hooked
below when two trees were merged, itself for a root; and ``links``, the position of the edge that merged them.
Trees are merged by their sizes, so no path in the merge tree has more than ``log2(n_vertices)`` links.

Edges come in order: by weight, the smallest first unless the fact ``maximum`` is true, then by position.
Where the fact ``by_position`` is false, edges of the forest come before others of their weight.

*Theorem.*  Let a *climb* before an edge go from a vertex up the links whose edges come before that edge.  Let

1. the links of the vertices that are not their own parents be the edges of the forest, each once, and every
   link come before the next one above it;
2. the climbs from the ends of an edge of the forest end at the vertex whose link it is, and at its parent;
3. the climbs from the ends of every other edge end at one vertex.

Then the edges are the one spanning forest that is first in that order.  By 1, links have no cycles.  Suppose
that two vertices have one end of their climbs before an edge if and only if earlier edges of the forest
connect them.  This is true of the first edge.  By 2, an edge of the forest joins two such sets, those of a
vertex and its parent; so the edges have no cycle, and since it is the link of that vertex, the two sets have
one end of their climbs before the next edge.  By 3, the ends of every other edge are connected by edges of
the forest that come before it, so the forest spans the graph, and exchanging an edge makes it worse (the
cycle property).
"""

import numpy as np

from edgewise.certificates.record import CHUNK, Certificate, GraphArrays, at, expect, first, refuse


def check(graph: GraphArrays, certificate: Certificate) -> None:
    """Raise :class:`~edgewise.errors.VerificationError` unless the edges are the forest."""
    n, m = graph.n_vertices, len(graph.sources)
    weights = graph.weights
    expect(weights is not None, "the graph has no weights, by which forests are compared")
    expect(not len(weights) or not np.isnan(weights).any(), "a weight is not a number")
    edges = certificate.numbers("answer", "edges", None, below=m)
    parents = certificate.numbers("proof", "parents", n, below=n)
    links = certificate.numbers("proof", "links", n, below=m, least=-1)
    is_last_first = bool(certificate.facts.get("maximum"))
    child_of = check_links(edges, parents, links, m)
    positions = np.arange(m)
    if not certificate.facts.get("by_position"):
        positions = np.where(child_of >= 0, positions, m)
    tree = Merges(parents, links, weights, is_last_first)
    tree.check_order()
    for begin in range(0, m, CHUNK):
        part = slice(begin, begin + CHUNK)
        key = weights[part], positions[part]
        ones, others = tree.ascend(graph.sources[part], *key), tree.ascend(graph.targets[part], *key)
        check_ends(begin, (ones, others), child_of[part], tree)


def check_links(edges, parents, links, m):
    """The first half of condition 1; return the vertex whose link each edge is, -1 if there is none."""
    children = np.flatnonzero(parents != np.arange(len(parents)))
    vertex = first(links[children] < 0)
    if vertex is not None:
        refuse(f"vertex {children[vertex]} has a parent in the merge tree, but no link")
    child_of = np.full(m, -1, np.int64)
    child_of[links[children]] = children
    is_edge = np.zeros(m, bool)
    is_edge[edges] = True
    edge = first(is_edge != (child_of >= 0))
    if edge is not None:
        problem = "of the forest closes a cycle, or is no link of the merge tree"
        refuse(f"edge {edge} " + (problem if is_edge[edge] else "is not in the forest"))
    expect(
        len(edges) == len(children) == is_edge.sum(), "an edge is twice in the forest, or in the merge tree"
    )
    return child_of


class Merges:
    """The merge tree, with the weight of each link; the links of roots come after all edges."""

    def __init__(self, parents, links, weights, is_last_first):
        is_root = parents == np.arange(len(parents))
        self.parents = parents.astype(np.int64)
        self.after_all = len(weights) + 1
        self.links = np.where(is_root, self.after_all, links).astype(np.int64)
        last = (weights.min() if is_last_first else weights.max()) if len(weights) else 0
        self.weights = np.full(len(parents), last, weights.dtype)
        self.weights[~is_root] = weights[links[~is_root]]
        self.is_last_first = is_last_first

    def come_before(self, vertices, weights, positions):
        """Whether the links of vertices come before edges of these weights and positions."""
        own = at(self.weights, vertices)
        is_less = own > weights if self.is_last_first else own < weights
        return is_less | ((own == weights) & (at(self.links, vertices) < positions))

    def check_order(self):
        """The second half of condition 1."""
        vertices, above = np.arange(len(self.parents)), self.parents
        is_after = ~self.come_before(vertices, self.weights[above], self.links[above])
        vertex = first(is_after & (above != vertices))
        expect(vertex is None, f"the link of vertex {vertex} does not come before that of its parent")

    def ascend(self, vertices, weights, positions):
        """The ends of the climbs from vertices before edges of these weights and positions."""
        ends = vertices.astype(np.int64)
        climbing = np.arange(len(ends))
        for _ in range(len(self.parents).bit_length() + 1):
            goes_on = self.come_before(ends[climbing], weights[climbing], positions[climbing])
            climbing = climbing[goes_on]
            if not len(climbing):
                return ends
            ends[climbing] = at(self.parents, ends[climbing])
        refuse(f"the merge tree is deeper than trees of {len(self.parents)} vertices merged by size")

    def joining(self, one, other):
        """The link by which two vertices are joined at last; -1 if none does."""
        link = -1
        while one != other:
            if self.come_before(np.array([other]), self.weights[one], self.links[one])[0]:
                one, other = other, one
            if self.links[one] == self.after_all:
                return -1
            link, one = self.links[one], self.parents[one]
        return link


def check_ends(begin, ends, child_of, tree):
    """Conditions 2 and 3, for edges from ``begin`` on."""
    ones, others = ends
    is_kept = child_of >= 0
    above = np.where(is_kept, tree.parents[child_of], ones)
    below = np.where(is_kept, child_of, ones)
    are_ends = ((ones == above) & (others == below)) | ((ones == below) & (others == above))
    wrong = first(~are_ends)
    if wrong is None:
        return
    edge, later = begin + wrong, tree.joining(ones[wrong], others[wrong])
    if is_kept[wrong]:
        refuse(f"edge {edge} of the forest closes a cycle, or merges other trees than its link says")
    expect(later >= 0, f"edge {edge} joins two trees of the forest")
    refuse(f"edge {edge} should be in the forest instead of edge {later}")
