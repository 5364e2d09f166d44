"""The method that ``auto`` selects: a rule read off measurements (``docs/components.md``).

In a dense graph with a giant component most rows need not be read.  Where ids are local, plain hooks build
the trees without atomics.  Very sparse rows are those of small components and paths.  Of edge list and rows,
those count that the graph was made of; nothing is derived for the choice, as sorting takes longer than a pass
over the edges.
"""

from edgewise.components.edge_lists import is_ordered
from edgewise.components.symmetric_csr import has_local_ids
from edgewise.device import threads

#: Entries per vertex from which reading some of the rows is faster than reading every edge.
DENSE_ON_CPU, DENSE_ON_GPU = 5, 5
#: Entries per vertex up to which rows of one or two entries are the rule, and edges per vertex and number of
#: edges from which a sample of an edge list pays on the CPU.
FEW_ENTRIES, DENSE_EDGES, MANY_EDGES = 2.5, 4, 1 << 20
#: Edges per vertex up to which two passes over the edges pay on a GPU, and the fewest for which they do.
SPARSE, MIN_EDGES = 10, 1 << 22
#: Edges per vertex from which on the first of these passes rather writes without reading.
MANY_EDGES = 4


def select_method(graph):
    """Name of the method for this graph on its device."""
    if "rows" not in graph.made_of or graph.directed or not graph.n_vertices:
        return _select_for_edges(graph)
    entries = len(graph.neighbours) / graph.n_vertices
    if graph.device == "cpu":
        if entries <= FEW_ENTRIES and "edges" not in graph.made_of:
            return "ecl-pairs"
        dense = entries >= DENSE_ON_CPU or "edges" not in graph.made_of
        return "rem-sample" if dense else _select_for_edges(graph)
    if has_local_ids(graph):
        return "hook-sample"
    return "afforest" if entries >= DENSE_ON_GPU else "ecl-cc"


def _is_dense_list(graph):
    return "edges" in graph.made_of and graph.n_edges >= max(MANY_EDGES, DENSE_EDGES * graph.n_vertices)


def _select_for_edges(graph):
    """Name of the method that reads the edge list."""
    if graph.device == "cpu":
        if _is_dense_list(graph) and not is_ordered(graph.sources, graph.targets):
            return "rem-edge-sample"
        return "rem" if threads.count() > 1 else "rem-sequential"
    if "edges" not in graph.made_of or not MIN_EDGES <= graph.n_edges <= SPARSE * graph.n_vertices:
        return "rem"
    if not has_local_ids(graph):
        return "rem"
    return "hook-rem" if graph.n_edges < MANY_EDGES * graph.n_vertices else "hang-rem"
