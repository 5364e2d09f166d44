"""The rows of a graph without its self-loops and repeated edges, which core numbers do not count."""

from edgewise.cores.peel import Rows
from edgewise.primitives.rows import are_simple


def bytes_to_simplify(size) -> int:
    """Bytes at the peak of :func:`simple_rows` for a graph that is not simple, and of its other rows.

    Keys of 8 bytes are made of an edge list, sorted and divided, and the result has rows again.
    """
    edges = 2 * size.width * size.edges
    return max(4 * edges + 2 * size.edges, edges + 8 * size.vertices + 3 * size.width * size.entries)


def simple_rows(graph) -> Rows:
    """Rows of an undirected graph, those that it has if they are simple; cached with the graph."""

    def make():
        simple = graph if are_simple(graph.offsets, graph.neighbours) else graph.simplified()
        return Rows(simple.offsets, simple.neighbours)

    return graph.cached("simple rows", make)
