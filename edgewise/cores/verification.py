"""A naive oracle and a verifier for core numbers."""

import numpy as np

from edgewise.cores.simple_rows import simple_rows
from edgewise.device import arrays, compiled
from edgewise.errors import VerificationError


def oracle(vertices, sources, targets):
    """Core number of every vertex, by removing vertices with fewer than ``k`` neighbours again and again."""
    pairs = {(u, v) for u, v in zip(sources, targets, strict=True) if u != v}
    neighbours: dict[int, set[int]] = {v: set() for v in range(vertices)}
    for u, v in pairs:
        neighbours[u].add(v)
        neighbours[v].add(u)
    cores, left, k = [0] * vertices, set(range(vertices)), 0
    while left:
        k += 1
        while few := {v for v in left if len(neighbours[v] & left) < k}:
            for vertex in few:
                cores[vertex] = k - 1
            left -= few
    return cores


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
def remove_by_claims(rows, cores, counts, order, gone, stack):
    """Remove vertices of each core number with no more neighbours left than that, while there are any.

    ``counts`` are as from :func:`count_neighbours`, ``order`` the vertices by core number, and ``gone`` marks
    those removed; ``stack`` is scratch for one vertex more.
    """
    offsets, neighbours = rows
    for item in range(len(order)):
        stack[0], size = order[item], 1
        while size > 0:
            size -= 1
            vertex = stack[size]
            if gone[vertex] != 0 or counts[vertex] > cores[vertex]:
                continue
            gone[vertex] = 1
            for entry in range(offsets[vertex], offsets[vertex + 1]):
                other = neighbours[entry]
                if gone[other] == 0 and cores[other] == cores[vertex]:
                    counts[other] -= 1
                    if counts[other] == cores[other]:
                        stack[size] = other
                        size += 1


def verify(graph, cores):
    """Raise :class:`~edgewise.errors.VerificationError` unless ``cores`` are the core numbers of ``graph``.

    A vertex with at least as many neighbours of its core number or more as that number says is in that core.
    If all vertices of a number can be removed one after the other, each with no more neighbours left than
    that, none of them is in a larger core.
    """
    cores = arrays.move(cores, "cpu").astype(np.int64)
    rows = simple_rows(graph.to("cpu"))
    counts, gone = np.empty(len(cores), np.int64), np.zeros(len(cores), np.uint8)
    count_neighbours(*rows, cores, counts)
    wrong = (counts < cores) | (cores < 0)
    if wrong.any():
        vertex = wrong.argmax()
        claimed = f"vertex {vertex} has core number {cores[vertex]}"
        raise VerificationError(f"{claimed}, but {counts[vertex]} neighbours in that core")
    order, stack = np.argsort(cores, kind="stable"), np.empty(len(cores) + 1, np.int64)
    remove_by_claims(rows, cores, counts, order, gone, stack)
    if not gone.all():
        vertex = gone.argmin()
        raise VerificationError(f"vertex {vertex} is in a larger core than {cores[vertex]}")
