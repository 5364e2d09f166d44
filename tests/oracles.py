"""Naive oracles: a few lines of Python for each problem, which the results of all methods equal."""

import numpy as np


def components(vertices, sources, targets):
    """Label every vertex with the smallest vertex of its component, by depth-first search: a list."""
    neighbours: list[list[int]] = [[] for _ in range(vertices)]
    for source, target in zip(sources, targets, strict=True):
        neighbours[source].append(target)
        neighbours[target].append(source)
    labels: list[int | None] = [None] * vertices
    for start in range(vertices):
        stack = [start] if labels[start] is None else []
        while stack:
            vertex = stack.pop()
            if labels[vertex] is None:
                labels[vertex] = start
                stack.extend(neighbours[vertex])
    return labels


def strong_components(vertices, sources, targets):
    """Label every vertex with the smallest vertex that it reaches and that reaches it: a list."""
    following: list[set[int]] = [set() for _ in range(vertices)]
    for source, target in zip(sources, targets, strict=True):
        following[source].add(target)
    reached = [_reached(vertex, following) for vertex in range(vertices)]
    return [min(w for w in reached[v] if v in reached[w]) for v in range(vertices)]


def _reached(start, following):
    found, stack = {start}, [start]
    while stack:
        fresh = following[stack.pop()] - found
        found |= fresh
        stack.extend(fresh)
    return found


def core_numbers(vertices, sources, targets):
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


def count_by_hand(n, sources, targets, length):
    """Simple cycles of ``length`` edges through each of ``n`` vertices, found by walking them all: int64.

    From every vertex all paths over larger vertices are walked; a path of ``length`` vertices whose ends are
    neighbours is a cycle, met once in each direction at its smallest vertex.
    """
    neighbours: list[set[int]] = [set() for _ in range(n)]
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
