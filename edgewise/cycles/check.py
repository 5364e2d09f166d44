"""A naive oracle and a verifier for counts of cycles."""

from __future__ import annotations

import numpy as np


def count_by_hand(n, sources, targets, length):
    """Count the simple cycles of ``length`` edges through every vertex, by walking them all.

    From every vertex all paths over larger vertices are walked; a path of ``length`` vertices whose ends are
    neighbours is a cycle, met once in each direction at its smallest vertex.

    Parameters
    ----------
    n : int
        Number of vertices.
    sources, targets : sequences of int
        Self-loops and repeated edges are no part of a simple cycle.
    length : int
        3 or more.

    Returns
    -------
    (n,) int64 array
    """
    neighbours = [set() for _ in range(n)]
    for source, target in zip(sources, targets, strict=True):
        if source != target:
            neighbours[source].add(int(target))
            neighbours[target].add(int(source))
    twice = [0] * n

    def walk(path):
        if len(path) == length:
            if path[0] in neighbours[path[-1]]:
                for vertex in path:
                    twice[vertex] += 1
            return
        for vertex in neighbours[path[-1]]:
            if vertex > path[0] and vertex not in path:
                walk([*path, vertex])

    for vertex in range(n):
        walk([vertex])
    return np.array(twice, np.int64) // 2
