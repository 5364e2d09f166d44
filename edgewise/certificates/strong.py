"""Strong components, proved by an order of the components and by two forests inside them.

The answer is ``labels``, a number from 0 to ``n_vertices - 1`` for each vertex.  The proof is ``ranks``, the
place of each vertex's component in a topological order of the condensation; ``out_tree`` and ``in_tree``,
the positions of the edges of two forests; and ``out_depths`` and ``in_depths``, integers for each vertex that
grow along the edges of the one forest, and against those of the other.

*Theorem.*  Let

1. vertices have one rank if and only if they have one label;
2. no edge lead from a rank to a smaller one;
3. the ends of every edge in ``out_tree`` and ``in_tree`` have one label;
4. the *roots*, which are the vertices that are not the target of an edge in ``out_tree`` whose source is of a
   smaller out-depth, be those that are not the source of one in ``in_tree`` whose target is of a smaller
   in-depth;
5. no two roots have one label.

Then the classes of equal labels are the strong components.  By 2, all vertices of a cycle have one rank, and
by 1 one label, so no strong component is in two classes.  By 3 and 5, every vertex of a class is reached
inside the class from its one root, and by 4 it reaches that root, so a class is strongly connected.

Where the fact ``canonical`` is true, each label is also the smallest vertex of its class: it is the root, and
no vertex of the class is smaller.
"""

import numpy as np

from edgewise.certificates.components import check_roots, roots_of
from edgewise.certificates.record import Certificate, GraphArrays, at, expect, first, first_in_chunks, refuse


def check(graph: GraphArrays, certificate: Certificate) -> None:
    """Raise :class:`~edgewise.errors.VerificationError` unless the labels are the strong components."""
    n, m = graph.n_vertices, len(graph.sources)
    expect(graph.directed, "strong components are of directed graphs, and this one is undirected")
    labels = certificate.numbers("answer", "labels", n, below=n)
    ranks = certificate.numbers("proof", "ranks", n, below=n)
    ways = ("out", graph.sources, graph.targets), ("in", graph.targets, graph.sources)
    roots = []
    for way, parents, children in ways:
        depths = certificate.array("proof", f"{way}_depths", n, "iu")
        tree = certificate.numbers("proof", f"{way}_tree", None, below=m)
        check_labels(way, tree, (parents, children), labels)
        roots.append(roots_of([(tree, parents, children)], depths))
    check_same(roots, labels)
    check_roots(labels, roots[0], bool(certificate.facts.get("canonical")))
    check_ranks(labels, ranks, roots[0])
    check_edges(graph, ranks)


def check_same(roots, labels):
    """Condition 4."""
    for way, own, others in (("out", *roots), ("in", *roots[::-1])):
        more = np.setdiff1d(own, others, assume_unique=True)
        if len(more):
            problem = f"no path to vertex {more[0]}" if way == "out" else f"no path from vertex {more[0]}"
            refuse(f"the {way}-tree has {problem} inside its label {labels[more[0]]}")


def check_labels(way, tree, ends, labels):
    """Condition 3."""

    def leads_out(some):
        ones, others = (at(labels, at(vertices, tree[some])) for vertices in ends)
        return ones != others

    item = first_in_chunks(leads_out, len(tree))
    if item is not None:
        refuse(f"edge {tree[item]} of the {way}-tree joins vertices of different labels")


def check_ranks(labels, ranks, roots):
    """Condition 1: the vertices of a label have the rank of its root, and no two roots have one."""
    counts = np.bincount(ranks[roots], minlength=len(ranks))
    rank = first(counts > 1)
    if rank is not None:
        refuse(f"{counts[rank]} components have the rank {rank}")
    of_label = np.zeros_like(ranks)
    of_label[labels[roots]] = ranks[roots]
    vertex = first_in_chunks(lambda some: ranks[some] != at(of_label, labels[some]), len(ranks))
    if vertex is not None:
        refuse(f"vertex {vertex} has another rank than the root of its component")


def check_edges(graph, ranks):
    """Condition 2."""
    sources, targets = graph.sources, graph.targets
    edge = first_in_chunks(lambda some: at(ranks, sources[some]) > at(ranks, targets[some]), len(sources))
    if edge is not None:
        ends = f"from vertex {sources[edge]} to vertex {targets[edge]}"
        refuse(f"edge {edge} leads back in the order of the components, {ends}")
