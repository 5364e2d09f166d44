"""The method that ``auto`` selects: a rule read off measurements (``docs/components.md``).

In a dense graph with a giant component most rows need not be read.  Where ids are local, plain hooks build
the trees without atomics.  Very sparse rows are those of small components and paths.  Of edge list and rows,
those count that the graph was made of; nothing is derived for the choice, as sorting takes longer than a pass
over the edges.
"""

from edgewise import tuning
from edgewise.components.edge_order import MANY, is_ordered, neighbours_are_close, order_of
from edgewise.components.rem_ranges import lie_in_ranges
from edgewise.components.skew import is_skewed
from edgewise.components.symmetric_csr import has_local_ids
from edgewise.device import arrays, threads

#: Entries per vertex from which reading some of the rows is faster than reading every edge.
DENSE_ON_CPU, DENSE_ON_GPU = 5, 5
#: Entries per vertex up to which rows of one or two entries are the rule, and edges per vertex up to which
#: ranges of the vertices of an edge list pay on the CPU, and from which on a sample of the edges does.
FEW_ENTRIES, DENSE_EDGES = 2.5, 4
#: Threads that are no faster than one where all parents are in the second cache of a core, and vertices and
#: edges from which on they are if ids are local.
FEW_THREADS, LITTLE_FOR_FEW = 2, 150_000
#: Least and largest number of edges per vertex for which plain writes before Rem pay on a GPU.
EDGES_TO_HANG = 1, 16
#: Edges per vertex and vertices from which on a sample of an unordered edge list pays on a GPU; the same for
#: local ids.
EDGES_TO_FILTER, VERTICES_TO_FILTER = 8, 1 << 21
LOCAL_EDGES_TO_FILTER, LOCAL_VERTICES_TO_FILTER = 3, 1 << 20
#: Edges per vertex and edges from which on it pays to spread from a hub of a skewed edge list on a GPU.
EDGES_TO_SPREAD, MIN_EDGES_TO_SPREAD = 4, 1 << 23


def select_method(graph):
    """Name of the method for this graph on its device."""
    if "rows" not in graph.made_of or graph.directed or not graph.n_vertices:
        return _select_for_edges(graph)
    entries = len(graph.neighbours) / graph.n_vertices
    if graph.device == "cpu":
        if graph.n_vertices + len(graph.neighbours) < tuning.CPU.components_alone:
            return "rem-rows"
        if entries <= FEW_ENTRIES and "edges" not in graph.made_of:
            return "ecl-pairs"
        dense = entries >= DENSE_ON_CPU or "edges" not in graph.made_of
        return "rem-sample" if dense else _select_for_edges(graph)
    if has_local_ids(graph):
        return "hook-sample"
    return "afforest" if entries >= DENSE_ON_GPU else "ecl-cc"


def _select_on_cores(graph):
    """Name of the method that reads the edge list on the CPU's threads."""
    n, ends, n_threads = graph.n_vertices, (graph.sources, graph.targets), threads.count()
    size, dense = n + graph.n_edges, graph.n_edges >= DENSE_EDGES * n
    if n_threads == 1 or size < tuning.CPU.components_alone:
        return "rem-sequential"
    if n_threads <= FEW_THREADS and n < MANY:
        if size < LITTLE_FOR_FEW or not neighbours_are_close(n, *ends):
            return "rem-sequential"
    elif dense and "edges" in graph.made_of and not is_ordered(*ends):
        return "rem-edge-sample"
    return "rem-ranges" if not dense and lie_in_ranges(n, *ends) else "rem"


def _select_for_edges(graph):
    """Name of the method that reads the edge list."""
    if graph.device == "cpu":
        return _select_on_cores(graph)
    if "edges" not in graph.made_of or graph.n_edges < tuning.GPU.components_judged:
        return "rem"
    return graph.cached("method_for_edges", lambda: select_for_many_edges(graph))


def select_for_many_edges(graph):
    """Name of the method for many edges on a GPU, whose order and ids are judged."""
    n, m = graph.n_vertices, graph.n_edges
    with arrays.on(graph.device):
        order, local = order_of(n, graph.sources, graph.targets), has_local_ids(graph)
        if local and order.in_sequence and EDGES_TO_HANG[0] * n <= m <= EDGES_TO_HANG[1] * n:
            return "hang-rem"
        if m >= max(EDGES_TO_SPREAD * n, MIN_EDGES_TO_SPREAD) and is_skewed(graph):
            return "edge-reach"
        if local:
            dense = m >= LOCAL_EDGES_TO_FILTER * n and n >= LOCAL_VERTICES_TO_FILTER
        else:
            dense = m >= EDGES_TO_FILTER * n and n >= VERTICES_TO_FILTER
        return "edge-filter" if dense and not (order.ordered or order.in_sequence) else "rem"
