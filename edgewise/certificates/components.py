"""Connected components, proved by a forest.

The answer is ``labels``, a number from 0 to ``n_vertices - 1`` for each vertex.  The proof is ``depths``, an
integer for each vertex that grows along the edges of a forest, and the positions of these edges:
``down_tree`` those whose target is the deeper end, ``up_tree`` those whose source is.  There may be more
than one such edge for a vertex.

*Theorem.*  Let a *root* be a vertex that is not the target of an edge in ``down_tree``, or the source of one
in ``up_tree``, whose other end is of a smaller depth.  Let

1. the ends of every edge have one label;
2. no two roots have one label.

Then the classes of equal labels are the components.  By 1, no path leaves a class.  From every vertex a path
leads to smaller and smaller depths, and so to a root, which is in the same class by 1.  By 2 the paths of a
class all end at one root, so the class is connected.

Where the fact ``canonical`` is true, each label is also the smallest vertex of its class.  It is no smaller
vertex, because it is the root, which is in the class, and no vertex of the class is smaller than its label.
"""

import numpy as np

from edgewise.certificates.record import (
    Certificate,
    GraphArrays,
    at,
    first,
    first_in_chunks,
    in_chunks,
    refuse,
)


def check(graph: GraphArrays, certificate: Certificate) -> None:
    """Raise :class:`~edgewise.errors.VerificationError` unless the labels are the components."""
    n, m = graph.n_vertices, len(graph.sources)
    labels = certificate.numbers("answer", "labels", n, below=n)
    depths = certificate.array("proof", "depths", n, "iu")
    down, up = (certificate.numbers("proof", f"{way}_tree", None, below=m) for way in ("down", "up"))
    check_edges(graph, labels)
    ways = (down, graph.sources, graph.targets), (up, graph.targets, graph.sources)
    check_roots(labels, roots_of(ways, depths), bool(certificate.facts.get("canonical")))


def check_edges(graph, labels):
    """Condition 1.

    Most edges of most graphs are inside one class, which a bit for each vertex tells: these bits stay in the
    cache where the labels do not.  Labels are compared for the other edges.
    """
    inside = largest_class(labels)

    def check_chunk(some):
        sources, targets = graph.sources[some], graph.targets[some]
        edges = np.arange(len(sources)) if inside is None else outside(inside, sources, targets)
        sources, targets = sources[edges], targets[edges]
        wrong = first(at(labels, sources) != at(labels, targets))
        if wrong is not None:
            vertices = f"vertices {sources[wrong]} and {targets[wrong]}"
            refuse(f"edge {some.start + edges[wrong]} joins {vertices} of different labels")

    in_chunks(check_chunk, len(graph.sources))


def largest_class(labels):
    """A bit for each vertex, whether it is in the class of the most labels in a sample, if that is half."""
    found, counts = np.unique(labels[:: len(labels) // 4096 + 1], return_counts=True)
    if not len(found) or 2 * counts.max() < counts.sum():
        return None
    largest = found[counts.argmax()]
    bits = in_chunks(lambda some: np.packbits(labels[some] == largest, bitorder="little"), len(labels))
    return np.concatenate(bits)


def outside(bits, sources, targets):
    """The edges that are not between two vertices whose bits are set."""
    ones, others = (
        at(bits, np.right_shift(ends, 3, dtype=np.intp)) >> (ends.astype(np.uint8) & 7)
        for ends in (sources, targets)
    )
    return np.flatnonzero((ones & others & 1) == 0)


def roots_of(ways, depths):
    """The vertices to which no edge of a forest leads from a smaller depth.

    ``ways`` has positions of edges, with all ends that edges lead from, and all that they lead to.
    """
    above = np.full(len(depths), np.iinfo(depths.dtype).max, depths.dtype)

    def note_depths(some):
        for tree, parents, children in ways:
            edges = tree[some].astype(np.intp)
            # whichever thread notes an edge to a vertex last, the edge is one of the forest
            above[at(children, edges).astype(np.intp)] = at(depths, at(parents, edges))

    in_chunks(note_depths, max(len(tree) for tree, *_ in ways))
    roots = in_chunks(lambda some: some.start + np.flatnonzero(above[some] >= depths[some]), len(depths))
    return np.concatenate([*roots, np.empty(0, np.intp)])


def check_roots(labels, roots, canonical):
    """Condition 2, and the names of canonical labels."""
    has_root = np.zeros(len(labels), bool)
    has_root[labels[roots]] = True
    if np.count_nonzero(has_root) < len(roots):
        order = np.argsort(labels[roots], kind="stable")
        repeated = int((np.diff(labels[roots[order]]) == 0).argmax())
        one, other = roots[order[repeated : repeated + 2]]
        refuse(f"vertices {one} and {other} have the label {labels[one]}, but are in two trees")
    if canonical:
        kind = np.int32 if len(labels) < 2**31 else np.int64

        def is_larger(some):
            return labels[some] > np.arange(some.start, some.stop, dtype=kind)

        vertex = first_in_chunks(is_larger, len(labels))
        if vertex is not None:
            refuse(f"the label of vertex {vertex} is larger than the vertex")
        item = first(labels[roots] != roots)
        if item is not None:
            refuse(f"the label of the root {roots[item]} is another vertex, {labels[roots[item]]}")
