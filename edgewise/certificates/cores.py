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

Edges are written as pairs of places, and are sorted by them, so that repeated ones come one behind the other.
"""

import numpy as np

from edgewise.certificates.record import Certificate, GraphArrays, at, expect, first, in_chunks, refuse


def check(graph: GraphArrays, certificate: Certificate) -> None:
    """Raise :class:`~edgewise.errors.VerificationError` unless they are the core numbers."""
    n = graph.n_vertices
    expect(not graph.directed, "core numbers are of undirected graphs, and this one is directed")
    expect(n <= 2**32, "core numbers of more than 2**32 vertices have no certificate")
    cores = certificate.numbers("answer", "cores", n, below=n)
    places = certificate.numbers("proof", "places", n, below=n)
    ordered = cores_in_order(cores, places)
    later, level = (counts[places] for counts in count_neighbours(graph, ordered, places))
    vertex = first(later > cores)
    if vertex is not None:
        found = f"core number {cores[vertex]} has {later[vertex]} neighbours later in the order"
        refuse(f"vertex {vertex} of {found}, so it is in a larger core")
    vertex = first(later + level < cores)
    if vertex is not None:
        found = f"core number {cores[vertex]}, but {later[vertex] + level[vertex]} neighbours in that core"
        refuse(f"vertex {vertex} has {found}")


def cores_in_order(cores, places):
    """The core numbers by place; condition 1, and that the places are those of an order."""
    ordered = np.full(len(cores), -1, np.int64)
    ordered[places] = cores
    place = first(ordered < 0)
    if place is not None:
        refuse(f"no vertex has the place {place} in the order")
    place = first(ordered[1:] < ordered[:-1])
    if place is not None:
        refuse(f"core numbers fall after place {place} of the order")
    return ordered


def count_neighbours(graph, ordered, places):
    """For each place the number of later neighbours, and of earlier ones of the same core number."""
    half = np.uint64(32)

    def pairs_in(some):
        ones, others = at(places, graph.sources[some]), at(places, graph.targets[some])
        before, after = np.minimum(ones, others), np.maximum(ones, others)
        return (before.astype(np.uint64) << half | after.astype(np.uint64))[ones != others]

    pairs = np.concatenate([*in_chunks(pairs_in, len(graph.sources)), np.empty(0, np.uint64)])
    pairs.sort()

    def ends_in(some):
        own = pairs[some]
        own = own[np.append(some.start == 0 or own[0] != pairs[some.start - 1], own[1:] != own[:-1])]
        before, after = (own >> half).astype(np.intp), own.astype(np.uint32).astype(np.intp)
        return before, after[at(ordered, before) == at(ordered, after)]

    found = in_chunks(ends_in, len(pairs)) or [(np.empty(0, np.intp),) * 2]
    return (np.bincount(np.concatenate(ends), minlength=len(places)) for ends in zip(*found, strict=True))
