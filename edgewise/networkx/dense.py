"""Distances of all pairs by the algorithm of Floyd and Warshall."""

from itertools import chain

import networkx as nx
import numpy as np

import edgewise
from edgewise.device import compiled
from edgewise.errors import GraphError
from edgewise.networkx.registry import implements, without_callable
from edgewise.networkx.weighted import rows_by
from edgewise.paths.csr import unreached

no_callable = without_callable("weight")


@compiled
def floyd_warshall_in_order(n, distances, parents):
    """All distances and the vertex before each end, vertex by vertex as NetworkX takes them."""
    for middle in range(n):
        for source in range(n):
            first = distances[source * n + middle]
            if first == np.inf:
                continue
            for target in range(n):
                longer = first + distances[middle * n + target]
                if longer < distances[source * n + target]:
                    distances[source * n + target] = longer
                    parents[source * n + target] = parents[middle * n + target]


def _kind(G, weight):
    """The type of NetworkX's distances: int, or float if edges lack the weight; both are left to it."""
    if G.adjacency is None:
        return int if rows_by(G, weight).weights.dtype.kind == "i" else float
    edges = chain.from_iterable(map(dict.values, G.adjacency.values()))
    if G.is_multigraph():
        edges = chain.from_iterable(map(dict.values, edges))
    values = [data.get(weight, 1.0) for data in edges]
    kinds = set(map(type, values))
    if any(value != value for value in values):
        raise NotImplementedError("a weight is NaN")  # of parallel edges, too
    if len(kinds) > 1 or not kinds <= {int, float}:
        raise NotImplementedError("weights are not all integers, or all floats; missing ones are 1.0")
    return kinds.pop() if kinds else int


def _check_loops(G, weight):
    """Leave loops of the weight 0.0 to NetworkX, which takes it for the distance, where others have 0."""
    offsets, neighbours, weights = rows_by(G, weight)
    if weights.dtype.kind == "f" and not weights.all():
        sources = np.repeat(np.arange(G.n), np.diff(offsets))
        if (weights[sources == neighbours] == 0).any():
            raise NotImplementedError("a self-loop has the weight 0.0")


def _matrix(G, weight):
    """Distances of all pairs: (n, n) array with the largest value of its type, or infinity, for none."""
    weights = rows_by(G, weight).weights
    if weights.dtype.kind == "f" and not np.isfinite(weights).all():
        raise NotImplementedError("a weight is infinite")
    try:
        return edgewise.all_pairs_shortest_paths(G.weighted(weight), method="floyd-warshall").distances
    except GraphError as error:  # a negative cycle, which the versions of NetworkX treat differently
        raise NotImplementedError(str(error)) from None


def _as_lists(distances, kind):
    """Rows as lists of a type; infinity where no path leads, and the integer 0 from a node to itself."""
    rows, infinity, none = distances.tolist(), float("inf"), unreached(distances.dtype)
    rows = [[infinity if value == none else kind(value) for value in row] for row in rows]
    for at, row in enumerate(rows):
        row[at] = row[at] or 0
    return rows


NOTE = "floats may be rounded in another order; distances are in the order of the nodes"


@implements(why_not=no_callable, note=NOTE)
def floyd_warshall(G, weight="weight"):
    _check_loops(G, weight)
    rows = _as_lists(_matrix(G, weight), _kind(G, weight))
    return {node: dict(zip(G, row)) for node, row in zip(G, rows)}


def _no_list(get):
    is_list = isinstance(get("nodelist"), (list, tuple, type(None)))
    return no_callable(get) if is_list else "nodelist is no list"


@implements(why_not=_no_list, note="sums of floats may be rounded in another order")
def floyd_warshall_numpy(G, nodelist=None, weight="weight"):
    if nodelist is not None:
        nodelist = list(nodelist)
        if not (len(nodelist) == G.n == len(set(nodelist))):
            message = "nodelist must contain every node in G with no repeats."
            raise nx.NetworkXError(message + "If you wanted a subgraph of G use G.subgraph(nodelist)")
    found = _matrix(G, weight)
    distances = found.astype(np.float64)
    if found.dtype.kind == "i":
        distances[found == np.iinfo(found.dtype).max] = np.inf
    if nodelist is None:
        return distances
    chosen = [G.find(node) for node in nodelist]
    if None in chosen:
        raise NotImplementedError("nodelist has others than the nodes")
    return distances[np.ix_(chosen, chosen)]


@implements(why_not=no_callable, note="distances are in the order of the nodes")
def floyd_warshall_predecessor_and_distance(G, weight="weight"):
    _check_loops(G, weight)
    offsets, neighbours, weights = rows_by(G, weight)
    n, whole = G.n, weights.dtype.kind == "i"
    if len(weights) and (weights.min() < 0 or not np.isfinite(weights).all()):
        raise NotImplementedError("a weight is negative or infinite")
    if whole and len(weights) and int(weights.max()) * n > 2**53:
        raise NotImplementedError("a distance may pass 2**53")
    sources = np.repeat(np.arange(n), np.diff(offsets))
    distances, parents = np.full(n * n, np.inf), np.full(n * n, -1, np.int64)
    distances[:: n + 1] = 0
    pairs = sources * n + neighbours
    np.minimum.at(distances, pairs, weights)
    parents[pairs] = sources
    floyd_warshall_in_order(n, distances, parents)
    lengths = _as_lists(distances.reshape(n, n), _kind(G, weight))
    before = {}
    for source, row in zip(G, parents.reshape(n, n).tolist()):
        found = {target: G.name(parent) for target, parent in zip(G, row) if parent >= 0}
        if found:
            before[source] = found
    return before, {node: dict(zip(G, row)) for node, row in zip(G, lengths)}
