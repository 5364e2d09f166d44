"""A contraction hierarchy by the definition: slow, for small graphs, beside which all others are checked."""

import heapq

import numpy as np

from edgewise.paths.csr import CSR
from edgewise.paths.hierarchy import Hierarchy, Upward


def contracted(n, edges, order=None, directed=False, dtype=np.int64, index_type=np.uint32):
    """The hierarchy of ``edges``, triples (source, target, weight), contracted in a given order.

    No shortcut is left out but those that are longer than a path that is known, so it may have many.
    """
    order = list(range(n)) if order is None else [int(vertex) for vertex in order]
    out, into = [{} for _ in range(n)], [{} for _ in range(n)]

    def join(source, target, weight, middle):
        if source != target and (target not in out[source] or weight < out[source][target][0]):
            out[source][target] = into[target][source] = weight, middle

    for source, target, weight in edges:
        join(source, target, weight, None)
        if not directed:
            join(target, source, weight, None)
    place = {vertex: position for position, vertex in enumerate(order)}
    level = [0] * n
    for vertex in order:
        later = [set(row) for row in (into[vertex], out[vertex])]
        later = [{other for other in row if place[other] > place[vertex]} for row in later]
        for other in later[0] | later[1]:
            level[other] = max(level[other], level[vertex] + 1)
        for source in later[0]:
            for target in later[1]:
                join(source, target, into[vertex][source][0] + out[vertex][target][0], vertex)
    vertices = np.array(sorted(range(n), key=lambda vertex: (level[vertex], place[vertex])), dtype=index_type)
    ranks = np.empty(n, index_type)
    ranks[vertices] = np.arange(n)
    n_levels = max(level, default=-1) + 1
    levels = np.searchsorted(np.array(level)[vertices], np.arange(n_levels + 1)).astype(np.int64)
    outgoing = _upward(out, ranks, vertices, dtype, index_type)
    incoming = _upward(into, ranks, vertices, dtype, index_type) if directed else outgoing
    return Hierarchy(ranks, vertices, outgoing, incoming, levels)


def _upward(rows, ranks, vertices, dtype, index_type):
    """The entries of ``rows`` to higher ranks."""
    none = np.iinfo(index_type).max
    offsets, neighbours, weights, middles = [0], [], [], []
    for rank, vertex in enumerate(vertices):
        higher = sorted(
            (int(ranks[other]), held) for other, held in rows[vertex].items() if ranks[other] > rank
        )
        for other, (weight, middle) in higher:
            neighbours.append(other)
            weights.append(weight)
            middles.append(none if middle is None else ranks[middle])
        offsets.append(len(neighbours))
    csr = CSR(np.array(offsets, np.int64), np.array(neighbours, index_type), np.array(weights, dtype))
    return Upward(csr, np.array(middles, index_type))


def dijkstra(n, edges, source, directed=False):
    """Distances from one vertex: a list with None where no path leads."""
    rows = [[] for _ in range(n)]
    for start, end, weight in edges:
        rows[start].append((end, weight))
        if not directed:
            rows[end].append((start, weight))
    found, waiting = {}, [(0, source)]
    while waiting:
        distance, vertex = heapq.heappop(waiting)
        if vertex not in found:
            found[vertex] = distance
            for other, weight in rows[vertex]:
                heapq.heappush(waiting, (distance + weight, other))
    return [found.get(vertex) for vertex in range(n)]
