"""The rows of a graph without its self-loops and repeated edges, which core numbers do not count."""

import numpy as np

from edgewise.cores.peel import Rows
from edgewise.device import arrays, each, store


@each
def check_row(vertex, offsets, neighbours, flag):
    """Set the flag if a row does not ascend strictly, or has the vertex itself."""
    last = np.int64(-1)
    for entry in range(offsets[vertex], offsets[vertex + 1]):
        other = np.int64(neighbours[entry])
        if other <= last or other == vertex:
            store(flag, 0, 1)
        last = other


def bytes_to_simplify(size) -> int:
    """Bytes at the peak of :func:`simple_rows` for a graph that is not simple, and of its other rows.

    Keys of 8 bytes are made of an edge list, sorted and divided, and the result has rows again.
    """
    edges = 2 * size.width * size.edges
    return max(4 * edges + 2 * size.edges, edges + 8 * size.vertices + 3 * size.width * size.entries)


def simple_rows(graph) -> Rows:
    """Rows of an undirected graph, those that it has if they are simple; cached with the graph."""

    def make():
        flag = arrays.zeros(1, np.int32, graph.device)
        check_row(graph.n_vertices, graph.offsets, graph.neighbours, flag)
        simple = graph.simplified() if int(flag[0]) else graph
        return Rows(simple.offsets, simple.neighbours)

    return graph.cached("simple rows", make)
