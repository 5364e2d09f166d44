"""Street networks and the order of their vertex numbers (Hellås 2018, 6.3.1).

The thesis asks why street networks, unlike other graphs, gain from one round of plain hooks.  To separate the
shape of a graph from the order of its vertex numbers, each graph is measured as it is and renumbered at
random.
"""

import math

import numpy as np

from edgewise.device import arrays, each
from edgewise.generators.grids import grid
from edgewise.generators.shuffle import order, shuffled
from edgewise.graph import Graph
from edgewise.primitives import exclusive_scan, histogram

#: Fraction of grid edges that are left out.
DROPPED = 0.25
#: Number of bends of a street between two crossings.
BENDS = 5


def street(n, *, seed=0, device="cpu"):
    """Make a street network of about ``n`` vertices: crossings on a grid, joined by ways.

    The vertices of a way have degree two and are numbered in a row after the crossing where it begins.  The
    mean degree is 2.1, as that of the OpenStreetMap graphs of the thesis.
    """
    side = math.isqrt(round(n / (1 + BENDS * 2 * (1 - DROPPED))))
    crossings = grid(side, dropped=DROPPED, seed=seed, device=device)
    begin, end = crossings.sources, crossings.targets
    xp = arrays.namespace(begin)
    ways = histogram(begin, crossings.n_vertices)
    crossing = exclusive_scan(1 + BENDS * ways)  # a crossing is followed by the bends of its ways
    rank = xp.arange(len(begin), dtype=np.int64) - exclusive_scan(ways)[begin]
    bends = (crossing[begin] + 1 + BENDS * rank)[:, None] + xp.arange(BENDS, dtype=np.int64)
    sources = xp.concatenate([crossing[begin][:, None], bends], axis=1).ravel()
    targets = xp.concatenate([bends, crossing[end][:, None]], axis=1).ravel()
    endpoints = (arrays.move(a.astype(np.uint32), arrays.device_of(begin)) for a in (sources, targets))
    return Graph.from_edges(*endpoints, n_vertices=int(crossing[-1]))


@each
def _renumber(edge, shuffle, sources, targets, new_sources, new_targets):
    new_sources[edge] = shuffled(sources[edge], shuffle)
    new_targets[edge] = shuffled(targets[edge], shuffle)


def relabelled(graph, seed=1):
    """The same graph with its vertices numbered at random and its edges in the same order."""
    count, edges = graph.n_vertices, len(graph.sources)
    new = [arrays.empty(edges, graph.sources.dtype, graph.device) for _ in range(2)]
    _renumber(edges, order(count, seed), graph.sources, graph.targets, *new)
    return Graph.from_edges(*new, n_vertices=count)


@each
def _mark_higher(edge, sources, targets, marked):
    one, other = sources[edge], targets[edge]
    if one != other:
        marked[max(one, other)] = 1


def without_lower_neighbour(graph):
    """Fraction of the vertices that have no neighbour with a smaller number."""
    marked = arrays.zeros(graph.n_vertices, np.int8, graph.device)
    _mark_higher(len(graph.sources), graph.sources, graph.targets, marked)
    return 1.0 - float(marked.sum(dtype=np.int64)) / max(graph.n_vertices, 1)
