"""Verification of betweenness by the distances of verified searches.

The distances from a source come from :func:`edgewise.bfs` or :func:`edgewise.shortest_paths`.  Sorted by
them, the vertices are taken one after the other: each adds up the counts of those before it over the edges
that come in, and on the way back gives them their shares.  The methods look at the edges that leave.
"""

from typing import Any

import numpy as np

from edgewise.device import compiled
from edgewise.errors import VerificationError
from edgewise.graph import Graph
from edgewise.paths.betweenness.scaling import scaled
from edgewise.paths.bfs import bfs
from edgewise.paths.sssp import shortest_paths

#: Relative differences that are taken for rounding.
TOLERANCE = 1e-8


@compiled
def add_shares(incoming, order, distances, counts, shares, scores):
    """Add the dependencies of the first vertex of an order to the scores; ``counts`` are zeros at first."""
    offsets, neighbours, weights = incoming
    counts[order[0]] = 1.0
    for vertex in order[1:]:
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            before = np.int64(neighbours[entry])
            if distances[before] + weights[entry] == distances[vertex]:
                counts[vertex] += counts[before]
    for vertex in order:
        shares[vertex] = 0.0
    for position in range(len(order) - 1, 0, -1):
        vertex = order[position]
        scores[vertex] += shares[vertex]
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            before = np.int64(neighbours[entry])
            if distances[before] + weights[entry] == distances[vertex]:
                shares[before] += counts[before] / counts[vertex] * (1.0 + shares[vertex])


def verify(graph, result):
    """Raise :class:`~edgewise.errors.VerificationError` unless ``result`` has the scores of ``graph``."""
    host, n = graph.to("cpu"), graph.n_vertices
    edges = host if result.weighted else host.without_weights()
    edges = edges.simplified(repeated="min")
    incoming = edges.reverse()
    weights = incoming.csr_weights if result.weighted else np.ones(len(incoming.neighbours), np.int64)
    weights = weights.astype(np.int64 if weights.dtype.kind == "i" else np.float64, copy=False)
    dtype: Any = weights.dtype.name
    searched = Graph(n, rows=(edges.offsets, edges.neighbours, edges.csr_weights), directed=host.directed)
    scores, sources = np.zeros(n), np.arange(n) if result.sources is None else result.sources
    for source in sources:
        found = shortest_paths(searched, source, dtype=dtype) if result.weighted else bfs(searched, source)
        reached = np.flatnonzero(found.distances != found.unreached)
        distances = found.distances.astype(weights.dtype)
        order = reached[np.argsort(distances[reached], kind="stable")]
        rows = incoming.offsets, incoming.neighbours, weights
        add_shares(rows, order, distances, np.zeros(n), np.zeros(n), scores)
        if result.endpoints:
            scores[order[1:]] += 1
            scores[source] += len(order) - 1
    wanted = scaled(scores, host, result.sources, result.normalized, result.endpoints)
    wrong = np.flatnonzero(~np.isclose(result.scores, wanted, rtol=TOLERANCE, atol=1e-12, equal_nan=True))
    if len(wrong):
        vertex = wrong[0]
        raise VerificationError(
            f"vertex {vertex} has the betweenness {result.scores[vertex]}, but searches from "
            f"{len(sources):,} sources give {wanted[vertex]}"
        )
