"""Verification of routes: by searches that know nothing of hierarchies, and by the edges of the paths."""

from itertools import pairwise
from typing import Any

import numpy as np

from edgewise.errors import VerificationError
from edgewise.paths.apsp.result import ROUNDINGS
from edgewise.paths.bfs import bfs
from edgewise.paths.sssp import shortest_paths


def verify(graph, result) -> None:
    """Raise :class:`~edgewise.errors.VerificationError` unless the routes ``result`` are right for a graph.

    The distances from each source are searched along the rows of the graph, and checked by its edges.  Those
    of the pairs are the same, up to rounding, and each path is of edges, with this length.
    """
    host = graph.to("cpu")
    search = shortest_paths if result.weighted else bfs
    rounding = np.finfo(result.distances.dtype).eps if result.distances.dtype.kind == "f" else 0
    for source in np.unique(result.sources):
        found = search(host, host.ids_of(np.array([source]))).verify()
        for pair in np.flatnonzero(result.sources == source):
            target = result.targets[pair]
            _check_pair(host, result, pair, found.distances[target], found.unreached, ROUNDINGS * rounding)


def _check_pair(graph, result, pair, distance, unreached, share):
    """Check one pair, whose distance is known, up to a share of it."""
    source, target = result.sources[pair], result.targets[pair]
    ends = f"from vertex {source} to {target}"
    if result.reachable[pair] != (distance != unreached):
        leads = "a path leads" if distance != unreached else "no path leads"
        raise VerificationError(f"{leads} {ends}, and its distance is {result.distances[pair]}")
    if not result.reachable[pair]:
        return
    expected, held = distance.item(), result.distances[pair].item()
    if abs(held - expected) > share * expected:
        raise VerificationError(f"the distance {ends} is {expected}, not {held}")
    length = length_of(graph, result.vertices_of_path(pair), source, target)
    if length is None or abs(length - expected) > share * expected:
        raise VerificationError(f"the path {ends} has the length {length}, not {expected}")


def length_of(graph, path, source, target) -> Any:
    """Sum of the least weights of the edges between the vertices of a path; None if it is not one."""
    offsets, neighbours, weights = graph.offsets, graph.neighbours, graph.csr_weights
    if len(path) == 0 or path[0] != source or path[-1] != target:
        return None
    total = 0
    for vertex, after in pairwise(path):
        row = slice(offsets[vertex], offsets[vertex + 1])
        there = neighbours[row] == after
        if not there.any():
            return None
        total += 1 if weights is None else weights[row][there].min().item()
    return total
