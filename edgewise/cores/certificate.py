"""The proof of core numbers: an order in which vertices are removed, each with few neighbours left.

Vertices of the smallest core number come first.  One of them is removed when it has no more neighbours left
than its number; if the numbers are right, there is always one.
"""

import numpy as np

from edgewise.certificates.record import Certificate, certify, claimed
from edgewise.cores.simple_rows import simple_rows
from edgewise.device import arrays, compiled
from edgewise.device.threads import few_steps
from edgewise.errors import VerificationError
from edgewise.index_type import index_type
from edgewise.result import edge_arrays


@compiled
def count_neighbours(offsets, neighbours, cores, counts):
    """Count the neighbours of each vertex whose core numbers are at least its own."""
    for vertex in range(len(cores)):
        count = 0
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            if cores[neighbours[entry]] >= cores[vertex]:
                count += 1
        counts[vertex] = count


@compiled
def remove_in_order(rows, cores, counts, order, places, stack):
    """Fill the places of the vertices that are removed; return how many they are.

    ``counts`` are the neighbours whose core numbers are at least a vertex's own, ``order`` the vertices by
    core number, and ``places`` the number of vertices for those that are not removed; ``stack`` is scratch.
    """
    offsets, neighbours = rows
    place, n = 0, len(order)
    for item in range(n):
        stack[0], size = order[item], 1
        while size > 0:
            size -= 1
            vertex = stack[size]
            if places[vertex] != n or counts[vertex] > cores[vertex]:
                continue
            places[vertex] = place
            place += 1
            for entry in range(offsets[vertex], offsets[vertex + 1]):
                other = neighbours[entry]
                if places[other] == n and cores[other] == cores[vertex]:
                    counts[other] -= 1
                    if counts[other] == cores[other]:
                        stack[size] = other
                        size += 1
    return place


def counts_of(rows, cores):
    """The number of neighbours of each vertex whose core numbers are at least its own."""
    counts = np.empty(len(cores), np.int64)
    count_neighbours(*rows, cores, counts)
    return counts


def places_of(rows, cores, counts):
    """The places in the order of removal; the number of vertices for those that are not removed."""
    n = len(cores)
    places, order = np.full(n, n, np.int64), np.argsort(cores, kind="stable")
    remove_in_order(rows, cores, counts, order, places, np.empty(n + 1, np.int64))
    return places


def prove(graph, cores) -> Certificate:
    """Return the proof of core numbers, which is none if they are wrong.

    Parameters
    ----------
    graph : Graph
        Undirected.
    cores : (n_vertices,) integer array
    """
    edges = edge_arrays(graph)
    n = edges.n_vertices
    cores = claimed("cores", arrays.move(cores, "cpu"), n, n)
    with few_steps(4 * n + 8 * len(edges.sources)):
        rows = simple_rows(graph.to("cpu"))
        places = places_of(rows, cores, counts_of(rows, cores))
    left = places == n
    places[left] = np.arange(n - np.count_nonzero(left), n)
    places = places.astype(index_type(n))
    return certify("cores", edges, {"cores": cores}, {"places": places})


def verify(graph, cores):
    """Raise :class:`~edgewise.errors.VerificationError` unless ``cores`` are the core numbers of ``graph``.

    The conditions are those of the certificate.  They are not checked by :mod:`edgewise.certificates.cores`,
    which sorts all edges to see which of them are repeated.
    """
    cores = arrays.move(cores, "cpu")
    rows = simple_rows(graph.to("cpu"))
    counts = counts_of(rows, cores)
    wrong = (counts < cores) | (cores < 0)
    if wrong.any():
        vertex = wrong.argmax()
        claimed_number = f"vertex {vertex} has core number {cores[vertex]}"
        raise VerificationError(f"{claimed_number}, but {counts[vertex]} neighbours in that core")
    left = places_of(rows, cores, counts) == len(cores)
    if left.any():
        vertex = left.argmax()
        raise VerificationError(f"vertex {vertex} is in a larger core than {cores[vertex]}")
