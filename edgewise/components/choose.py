"""Which method ``auto`` takes: a rule read off measurements (``docs/components.md``).

Two facts decide: how many entries a vertex has, since a giant component in a dense graph makes it worth to
skip rows, and whether ids are local, since then plain hooks build the forest without atomics.  Rows that are
not there are never built for this: a pass over the edges is cheaper than sorting them.
"""

from edgewise.components.rows import is_local
from edgewise.device import threads

#: Entries a vertex from which reading only some rows beats reading every edge.
DENSE_ON_CPU, DENSE_ON_GPU = 5, 8


def choose(graph):
    """Name of the method for this graph in its place."""
    on_gpu = graph.place != "cpu"
    by_edges = "rem" if on_gpu or threads.count() > 1 else "rem-sequential"
    if not graph.has_rows or graph.directed or not graph.n_vertices:
        return by_edges
    entries = len(graph.neighbours) / graph.n_vertices
    if not on_gpu:
        return "rem-sample" if entries >= DENSE_ON_CPU or not graph.has_edges else by_edges
    if is_local(graph):
        return "hook-sample"
    return "afforest" if entries >= DENSE_ON_GPU else "first-neighbour"
