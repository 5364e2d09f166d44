"""Strong components, proved by an order of the components and by two forests inside them.

The answer is ``labels``, a number from 0 to ``n_vertices - 1`` for each vertex.  The proof is ``ranks``, the
place of each vertex's component in a topological order of the condensation; ``out_tree`` and ``in_tree``, the
positions of the edges of two forests; and ``out_depths`` and ``in_depths``, the numbers of edges of these
forests from a root to each vertex, and from each vertex to a root.

*Theorem.*  Let

1. vertices have one rank if and only if they have one label;
2. no edge lead from a rank to a smaller one;
3. every edge in ``out_tree`` lead from an out-depth to the next larger one inside a label, and every vertex
   of an out-depth larger than 0 be the target of such an edge;
4. the same hold of the in-depths for the edges the other way;
5. the vertices of out-depth 0, which are the roots, be those of in-depth 0, and no two have one label.

Then the classes of equal labels are the strong components.  By 2, all vertices of a cycle have one rank, and
by 1 one label, so no strong component is in two classes.  By 3 and 5, every vertex of a class is reached
inside the class from its one root, and by 4 and 5 it reaches that root, so a class is strongly connected.

Where the fact ``canonical`` is true, each label is also the smallest vertex of its class: it is the root, and
no vertex of the class is smaller.
"""

import numpy as np

from edgewise.certificates.components import check_roots
from edgewise.certificates.record import CHUNK, Certificate, GraphArrays, at, expect, first, refuse


def check(graph: GraphArrays, certificate: Certificate) -> None:
    """Raise :class:`~edgewise.errors.VerificationError` unless the labels are the strong components."""
    n, m = graph.n_vertices, len(graph.sources)
    expect(graph.directed, "strong components are of directed graphs, and this one is undirected")
    labels = certificate.numbers("answer", "labels", n, below=n)
    ranks = certificate.numbers("proof", "ranks", n, below=n)
    ways = ("out", graph.sources, graph.targets), ("in", graph.targets, graph.sources)
    roots = []
    for way, parents, children in ways:
        depths = certificate.numbers("proof", f"{way}_depths", n, below=n)
        tree = certificate.numbers("proof", f"{way}_tree", None, below=m)
        check_tree((way, tree, depths), parents, children, labels)
        roots.append(np.flatnonzero(depths == 0))
    expect(np.array_equal(roots[0], roots[1]), "the two forests have other roots")
    check_roots(labels, roots[0], bool(certificate.facts.get("canonical")))
    check_ranks(labels, ranks, roots[0])
    check_edges(graph, ranks)


def check_tree(forest, parents, children, labels):
    """Conditions 3 and 4."""
    way, tree, depths = forest
    is_joined = depths == 0
    for begin in range(0, len(tree), CHUNK):
        edges = tree[begin : begin + CHUNK]
        above, below = at(parents, edges), at(children, edges)
        upper, lower = at(depths, above), at(depths, below)
        wrong = first((upper >= lower) | (lower - upper != 1) | (at(labels, above) != at(labels, below)))
        if wrong is not None:
            refuse(f"edge {edges[wrong]} of the {way}-tree leads to no next depth of its label")
        is_joined[below] = True
    vertex = first(~is_joined)
    if vertex is not None:
        refuse(f"no edge of the {way}-tree joins vertex {vertex} to the depth {int(depths[vertex]) - 1}")


def check_ranks(labels, ranks, roots):
    """Condition 1: the vertices of a label have the rank of its root, and no two roots have one."""
    counts = np.bincount(ranks[roots], minlength=len(ranks))
    rank = first(counts > 1)
    if rank is not None:
        refuse(f"{counts[rank]} components have the rank {rank}")
    of_label = np.zeros_like(ranks)
    of_label[labels[roots]] = ranks[roots]
    vertex = first(ranks != at(of_label, labels))
    if vertex is not None:
        refuse(f"vertex {vertex} has another rank than the root of its component")


def check_edges(graph, ranks):
    """Condition 2."""
    for begin in range(0, len(graph.sources), CHUNK):
        sources, targets = graph.sources[begin : begin + CHUNK], graph.targets[begin : begin + CHUNK]
        wrong = first(at(ranks, sources) > at(ranks, targets))
        if wrong is not None:
            ends = f"from vertex {sources[wrong]} to vertex {targets[wrong]}"
            refuse(f"edge {begin + wrong} leads back in the order of the components, {ends}")
