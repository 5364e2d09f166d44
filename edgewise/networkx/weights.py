"""The weights of an undirected NetworkX graph, each read once: both entries of an edge share its dict.

To read an attribute from a million dicts that are scattered over memory takes longer than all else of a
conversion.  The weights of the entries that lead back are found in the arrays.
"""

from itertools import chain, compress
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import compiled
from edgewise.ingest.networkx_graphs import as_weights


class Earlier(NamedTuple):
    """For each vertex, those before it that lead to it.

    Attributes
    ----------
    vertices : (k,) int64 array
        All of these lists, one behind the other.
    places : (k,) int64 array
        Where the weight of each edge is.
    begins, ends : (n,) int64 array
        Where each list begins and ends; the ends are the beginnings at first.
    limits : (n,) int64 array
        Where each list ends if all its edges have entries at both ends.
    held : (n,) int64 array
        For one vertex at a time, where each vertex is in its list; -1 at first.
    """

    vertices: Any
    places: Any
    begins: Any
    ends: Any
    limits: Any
    held: Any


@compiled
def fill_both(rows, once, weights, earlier):
    """Write the weights of all entries; return whether every edge has an entry at both ends.

    ``once`` holds the weights of the entries that lead to their own vertex or to a later one, row by row.
    """
    offsets, neighbours = rows
    n, place = len(offsets) - 1, np.int64(0)
    for vertex in range(n):
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            other = np.int64(neighbours[entry])
            if other < vertex:
                continue
            weights[entry] = once[place]
            if other > vertex:
                at = earlier.ends[other]
                if at == earlier.limits[other]:
                    return False
                earlier.vertices[at], earlier.places[at], earlier.ends[other] = vertex, place, at + 1
            place += 1
    for vertex in range(n):
        begin, end = earlier.begins[vertex], earlier.ends[vertex]
        for at in range(begin, end):
            earlier.held[earlier.vertices[at]] = at
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            other = np.int64(neighbours[entry])
            if other < vertex:
                at = earlier.held[other]
                if at < begin or at >= end:
                    return False
                weights[entry] = once[earlier.places[at]]
    return True


def weights_read_once(G, name):
    """Weight of every entry of a graph without parallel edges: int64 or float64.

    Returns ``None`` where an edge is not in the rows of both its ends, as may be in a view of a graph.
    """
    n, neighbours, sources = G.n, G.outgoing()[1], G.rows()
    leads_back = neighbours < sources
    data = chain.from_iterable(map(dict.values, G.adjacency.values()))
    values = [one.get(name, 1) for one in compress(data, (~leads_back).tobytes())]
    once = as_weights(values, name, mixed=False)
    counts = np.bincount(sources[leads_back], minlength=n)
    limits = np.cumsum(counts)
    begins = limits - counts
    lists = np.empty((2, int(counts.sum())), np.int64)
    earlier = Earlier(lists[0], lists[1], begins, begins.copy(), limits, np.full(n, -1))
    weights = np.empty(len(neighbours), once.dtype)
    return weights if fill_both(G.outgoing(), once, weights, earlier) else None
