"""Which method ``auto`` takes: a rule read off measurements (``docs/components.md``).

Two facts decide: how many entries a vertex has, since a giant component in a dense graph makes it worth to
skip rows, and whether ids are local, since then plain hooks build the forest without atomics.  Rows that
are not there are never built for this: a pass over the edges is cheaper than sorting them.  Small edge
lists are not worth a look.
"""

from edgewise.components.symmetric_csr import is_local
from edgewise.device import threads

#: Entries a vertex from which reading only some rows beats reading every edge.
DENSE_ON_CPU, DENSE_ON_GPU = 5, 8
#: Edges a vertex up to which two looks at each pay on a GPU, and edges from which a look at the ids does.
SPARSE, MANY = 10, 1 << 22


def choose(graph):
    """Name of the method for this graph in its place."""
    if not graph.has_rows or graph.directed or not graph.n_vertices:
        return _by_edges(graph)
    entries = len(graph.neighbours) / graph.n_vertices
    if graph.device == "cpu":
        return "rem-sample" if entries >= DENSE_ON_CPU or not graph.has_edges else _by_edges(graph)
    if is_local(graph):
        return "hook-sample"
    return "afforest" if entries >= DENSE_ON_GPU else "first-neighbour"


def _by_edges(graph):
    """Name of the method for an edge list."""
    if graph.device == "cpu":
        return "rem" if threads.count() > 1 else "rem-sequential"
    if not graph.has_edges or graph.n_edges < MANY or graph.n_edges > SPARSE * graph.n_vertices:
        return "rem"
    return "hook-rem" if is_local(graph) else "rem"
