"""Preparing a graph for many searches: what takes longer than one search, and saves time in each later one.

Of a directed graph these are the rows of the edges that come in, by which a breadth-first search pulls.  Of
an undirected graph on a GPU it is a contraction hierarchy, where vertices have few edges and the core of the
hierarchy is small.  Searches of other graphs need neither.
"""

from edgewise.device import arrays
from edgewise.paths.csr import adjacency_of
from edgewise.paths.sssp.hierarchy.search import prepare
from edgewise.paths.sssp.weights import rows_in


def prepare_searches(graph):
    """Prepare breadth-first searches and, if the graph has weights, searches along these."""
    with arrays.guard(graph.device):
        rows = adjacency_of(graph)
        if graph.directed:
            rows.build_incoming()
            rows.prepared = "direction-optimising" if graph.device == "cpu" else None
        for one in (rows, rows_in(graph)) if graph.is_weighted else (rows,):
            if graph.device != "cpu":
                prepare(one)
