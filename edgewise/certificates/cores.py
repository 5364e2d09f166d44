"""Core numbers, proved by an order in which the vertices can be removed.

The answer is ``cores``, the core number of each vertex.  The proof is ``places``, the place of each vertex in
an order of all vertices.  Neighbours are counted once, however many edges lead to them, and a vertex is no
neighbour of its own.

*Theorem.*  Let

1. core numbers not decrease along the order;
2. every vertex have at most as many neighbours later in the order as its number;
3. every vertex have at least as many neighbours of its own number or larger ones as its number.

Then they are the core numbers.  By 3, every vertex of a number from ``k`` on has ``k`` neighbours among such
vertices, so all of them are in the ``k``-core, and no number is too large.  The first vertex of the
``k``-core in the order has ``k`` neighbours in it, all of them later, so by 2 its number is at least ``k``,
and by 1 those of all vertices of the core are.  Hence no number is too small.

By 1, the neighbours of 3 are the later ones, and the earlier ones of the same number.
"""

import numpy as np

from edgewise.certificates.record import CHUNK, Certificate, GraphArrays, at, expect, first, refuse


def check(graph: GraphArrays, certificate: Certificate) -> None:
    """Raise :class:`~edgewise.errors.VerificationError` unless they are the core numbers."""
    n = graph.n_vertices
    expect(not graph.directed, "core numbers are of undirected graphs, and this one is directed")
    expect(n <= 2**32, "core numbers of more than 2**32 vertices have no certificate")
    cores = certificate.numbers("answer", "cores", n, below=n)
    places = certificate.numbers("proof", "places", n, below=n)
    check_order(cores, places)
    later, level = count_neighbours(graph, cores, places)
    vertex = first(later > cores)
    if vertex is not None:
        found = f"core number {cores[vertex]} has {later[vertex]} neighbours later in the order"
        refuse(f"vertex {vertex} of {found}, so it is in a larger core")
    vertex = first(later + level < cores)
    if vertex is not None:
        found = f"core number {cores[vertex]}, but {later[vertex] + level[vertex]} neighbours in that core"
        refuse(f"vertex {vertex} has {found}")


def check_order(cores, places):
    """Condition 1, and that the places are those of an order."""
    ordered = np.full(len(cores), -1, np.int64)
    ordered[places] = cores
    place = first(ordered < 0)
    if place is not None:
        refuse(f"no vertex has the place {place} in the order")
    place = first(ordered[1:] < ordered[:-1])
    if place is not None:
        refuse(f"core numbers fall after place {place} of the order")


def count_neighbours(graph, cores, places):
    """For each vertex the number of later neighbours, and of earlier ones of the same core number."""
    later, level = np.zeros((2, graph.n_vertices), np.int64)
    pairs = different_pairs(graph)
    size = max(CHUNK, graph.n_vertices)
    for begin in range(0, len(pairs), size):
        ones, others = (
            pairs[begin : begin + size] >> np.uint64(32),
            pairs[begin : begin + size] & np.uint64(2**32 - 1),
        )
        ones, others = ones.astype(np.int64), others.astype(np.int64)
        is_first = at(places, ones) < at(places, others)
        before, after = np.where(is_first, ones, others), np.where(is_first, others, ones)
        later += np.bincount(before, minlength=len(later))
        level += np.bincount(after[at(cores, before) == at(cores, after)], minlength=len(level))
    return later, level


def different_pairs(graph):
    """The pairs of neighbours, each once: the smaller vertex in the upper half of a number."""
    pairs = np.minimum(graph.sources, graph.targets).astype(np.uint64) << np.uint64(32)
    pairs |= np.maximum(graph.sources, graph.targets).astype(np.uint64)
    pairs = pairs[graph.sources != graph.targets]
    pairs.sort()
    return pairs[np.append(True, pairs[1:] != pairs[:-1])[: len(pairs)]]
