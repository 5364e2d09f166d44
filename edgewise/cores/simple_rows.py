"""The rows of a graph without its self-loops and repeated edges, which core numbers do not count."""

from edgewise.cores.peel import Rows
from edgewise.device.threads import few_steps
from edgewise.ingest.csr import reversed_rows
from edgewise.ingest.row_buckets import bytes_of_rows, bytes_to_reverse_rows
from edgewise.primitives.rows import flags_of, simplified


def bytes_of_rows_and(more: int, size, repeats: bool, descends: bool) -> int:
    """Bytes at the peak of :func:`simple_rows` for rows with such flags, or of simple rows and ``more``."""
    rows = bytes_of_rows(size._replace(weight=0)) if repeats else 0
    ascending, making = (rows, bytes_to_reverse_rows(size)) if descends else (0, 0)
    return max(making, ascending + rows + 8 * size.vertices * repeats, rows + more)


def flags_of_rows(graph) -> tuple[bool, bool]:
    """Whether a row is not ascending and simple, and whether one descends; cached with the graph."""

    def make():
        with few_steps(graph.n_vertices + len(graph.neighbours)):
            repeats, descends = flags_of(graph.offsets, graph.neighbours)
        return bool(repeats), bool(descends)

    return graph.cached("flags of rows", make)


def simple_rows(graph) -> Rows:
    """Rows of an undirected graph, those that it has if they are simple; cached with the graph."""

    def make():
        rows = graph.offsets, graph.neighbours
        repeats, descends = flags_of_rows(graph)
        if descends:
            rows = reversed_rows(*rows)[:2]
        return Rows(*(simplified(*rows) if repeats else rows))

    return graph.cached("simple rows", make)
