"""Connected components, proved by a spanning forest.

The answer is ``labels``, a number from 0 to ``n_vertices - 1`` for each vertex.  The proof is ``tree``, the
positions of the edges of a spanning forest, and ``depths``, the number of edges of the forest between each
vertex and the root of its tree.

*Theorem.*  Let

1. the ends of every edge have one label;
2. the ends of every edge in ``tree`` be of depths that differ by 1, and every vertex of a depth ``d > 0`` be
   the deeper end of such an edge;
3. no two vertices of depth 0, which are the roots, have one label.

Then the classes of equal labels are the components.  By 1, no path leaves a class.  By 2, from every
vertex a path leads to smaller and smaller depths, and so to a root, which is in the same class by 1.  By 3
the paths of a class all end at one root, so the class is connected.

Where the fact ``canonical`` is true, each label is also the smallest vertex of its class.  It is no smaller
vertex, because it is the root, which is in the class, and no vertex of the class is smaller than its label.
"""

import numpy as np

from edgewise.certificates.record import CHUNK, Certificate, GraphArrays, at, first, in_chunks, refuse


def check(graph: GraphArrays, certificate: Certificate) -> None:
    """Raise :class:`~edgewise.errors.VerificationError` unless the labels are the components."""
    n = graph.n_vertices
    labels = certificate.numbers("answer", "labels", n, below=n)
    depths = certificate.numbers("proof", "depths", n, below=n)
    tree = certificate.numbers("proof", "tree", None, below=len(graph.sources))
    check_edges(graph, labels)
    check_depths(graph, tree, depths)
    check_roots(labels, np.flatnonzero(depths == 0), bool(certificate.facts.get("canonical")))


def check_edges(graph, labels):
    """Condition 1.

    Most edges of most graphs are inside one class, which a bit for each vertex tells: these bits stay in the
    cache where the labels do not.  Labels are compared for the other edges.
    """
    inside = largest_class(labels)

    def check_chunk(begin):
        sources, targets = graph.sources[begin : begin + CHUNK], graph.targets[begin : begin + CHUNK]
        edges = np.arange(len(sources)) if inside is None else outside(inside, sources, targets)
        sources, targets = sources[edges], targets[edges]
        wrong = first(at(labels, sources) != at(labels, targets))
        if wrong is not None:
            ends = f"vertices {sources[wrong]} and {targets[wrong]}"
            refuse(f"edge {begin + edges[wrong]} joins {ends} of different labels")

    in_chunks(check_chunk, len(graph.sources))


def largest_class(labels):
    """A bit for each vertex, whether it is in the class of the most labels in a sample, if that is half."""
    found, counts = np.unique(labels[:: len(labels) // 4096 + 1], return_counts=True)
    if not len(found) or 2 * counts.max() < counts.sum():
        return None
    return np.packbits(labels == found[counts.argmax()], bitorder="little")


def outside(bits, sources, targets):
    """The edges that are not between two vertices whose bits are set."""
    ones, others = (at(bits, ends >> 3) >> (ends & 7).astype(np.uint8) for ends in (sources, targets))
    return np.flatnonzero((ones & others & 1) == 0)


def check_depths(graph, tree, depths):
    """Condition 2."""
    is_joined = depths == 0

    def check_chunk(begin):
        edges = tree[begin : begin + CHUNK]
        sources, targets = at(graph.sources, edges), at(graph.targets, edges)
        ones, others = at(depths, sources), at(depths, targets)
        wrong = first(np.maximum(ones, others) - np.minimum(ones, others) != 1)
        if wrong is not None:
            refuse(f"edge {edges[wrong]} of the tree joins the depths {ones[wrong]} and {others[wrong]}")
        is_joined[np.where(ones < others, targets, sources)] = True

    in_chunks(check_chunk, len(tree))
    vertex = first(~is_joined)
    if vertex is not None:
        refuse(f"no edge of the tree leads from vertex {vertex} to one of depth {int(depths[vertex]) - 1}")


def check_roots(labels, roots, canonical):
    """Each label has one root at most; the names of canonical labels."""
    has_root = np.zeros(len(labels), bool)
    has_root[labels[roots]] = True
    if np.count_nonzero(has_root) < len(roots):
        found, trees = np.unique(labels[roots], return_counts=True)
        refuse(f"the vertices of label {found[trees.argmax()]} are in {trees.max()} trees")
    if canonical:
        vertex = first(labels > np.arange(len(labels), dtype=np.int32 if len(labels) < 2**31 else np.int64))
        if vertex is not None:
            refuse(f"the label of vertex {vertex} is larger than the vertex")
        item = first(labels[roots] != roots)
        if item is not None:
            refuse(f"the label of the root {roots[item]} is another vertex, {labels[roots[item]]}")
