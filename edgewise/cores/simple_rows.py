"""The rows of a graph without its self-loops and repeated edges, which core numbers do not count."""

from edgewise.cores.peel import Rows
from edgewise.primitives.rows import flags_of, simplified


def bytes_of_rows_and(more: int, size) -> int:
    """Bytes at the peak of :func:`simple_rows` for rows that descend, or of simple rows and ``more``.

    For rows that descend, keys of 8 bytes are made of an edge list, sorted and divided, and the result has
    rows again.
    """
    edges, rows = 2 * size.width * size.edges, 8 * size.vertices + size.width * size.entries
    return max(5 * edges + 2 * size.edges, edges + rows + 2 * size.width * size.entries, rows + more)


def simple_rows(graph) -> Rows:
    """Rows of an undirected graph, those that it has if they are simple; cached with the graph."""

    def make():
        rows = Rows(graph.offsets, graph.neighbours)
        repeats, descends = flags_of(*rows)
        if descends:
            simple = graph.simplified()
            return Rows(simple.offsets, simple.neighbours)
        return Rows(*simplified(*rows)) if repeats else rows

    return graph.cached("simple rows", make)
