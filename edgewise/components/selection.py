"""The method that ``auto`` takes, by three facts of a graph: its form, its size, and the order of its list.

*Form.*  Rows are read if there are any, because most of them need not be.  *Size*: the number of vertices,
and that of the edges, or of the entries where rows are read.  *Order*: what a few hundred edges show.  It is
asked only where that takes little of the call, and where the answer gains more: for lists of many edges on a
GPU, and on the CPU for those of many vertices and many edges for each.

The limits are lines of :mod:`edgewise.tuning`, and ``docs/components.md`` has the choices in a table.
"""

from functools import partial
from typing import NamedTuple

from edgewise import tuning
from edgewise.components.edge_order import is_in_sequence, order_of
from edgewise.device import arrays, threads


class Facts(NamedTuple):
    """What the choice depends on beside the order of a list.

    Attributes
    ----------
    of_rows : bool
        Whether rows are read.
    vertices, edges : int
        Their numbers; for rows, that of the entries.
    """

    of_rows: bool
    vertices: int
    edges: int


def reads_rows(graph):
    """Whether the graph was made of rows that are symmetric."""
    return "rows" in graph.made_of and not graph.directed


def select_method(graph):
    """Name of the method for this graph on its device."""
    of_rows = reads_rows(graph)
    edges = len(graph.neighbours) if of_rows else graph.n_edges
    facts = Facts(of_rows, graph.n_vertices, edges)
    if graph.device == "cpu":
        n_threads = 1 if of_rows else threads.count()  # on which rows do not depend
        return choose_on_cores(facts, n_threads, partial(_judge, is_in_sequence, graph))
    if of_rows or edges < tuning.GPU.components_judged:
        return choose_on_gpu(facts, None)
    return graph.cached("method_for_edges", lambda: choose_on_gpu(facts, partial(_judge, order_of, graph)))


def _judge(judge, graph):
    with arrays.on(graph.device):
        return judge(graph.n_vertices, graph.sources, graph.targets)


def choose_on_cores(facts, n_threads, in_sequence):
    """Name of the method on CPU cores; ``in_sequence()`` judges the list."""
    limits, (of_rows, vertices, edges) = tuning.CPU, facts
    if vertices + edges < limits.components_alone:
        return "rem-sequential"
    if of_rows:
        return "rem-sample"
    if n_threads == 1 or (n_threads == 2 and vertices < limits.components_many):
        return "rem-sequential"
    if vertices < limits.components_many:
        return "rem"
    if edges < limits.components_sparse * vertices:
        return "rem-ranges"
    dense = edges >= limits.components_dense * vertices
    return "rem-edge-sample" if dense and not in_sequence() else "rem"


def choose_on_gpu(facts, order):
    """Name of the method on a GPU; ``order()`` judges the list."""
    limits, (of_rows, vertices, edges) = tuning.GPU, facts
    if of_rows:
        return "afforest"
    if edges < limits.components_judged:
        return "rem"
    in_sequence, close, skewed = order()
    if in_sequence and close:
        return "hang-rem"
    if edges < limits.components_dense * vertices:
        return "rem"
    return "edge-reach" if skewed else "rem" if in_sequence else "edge-filter"
