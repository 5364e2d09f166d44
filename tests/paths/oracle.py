"""A naive oracle for distances, with weights or without."""

from typing import Any


def oracle(vertices, sources, targets, starts, weights=None, directed=False):
    """List the distances from the nearest of ``starts``: edges are relaxed until nothing changes.

    An entry is ``None`` where no path leads, and the list itself if a negative cycle is within reach.  Each
    edge counts one without ``weights``; sums are computed in their type (Bellman, Ford).
    """
    weights = [1] * len(sources) if weights is None else list(weights)
    edges = list(zip(sources, targets, weights, strict=True))
    if not directed:
        edges += [(target, source, weight) for source, target, weight in edges]
    distances: list[Any] = [None] * vertices
    for start in starts:
        distances[start] = weights[0] * 0 if weights else 0
    for _ in range(vertices + 1):
        before = list(distances)
        for source, target, weight in edges:
            if distances[source] is not None:
                longer = distances[source] + weight
                if distances[target] is None or longer < distances[target]:
                    distances[target] = longer
        if distances == before:
            return distances
    return None
