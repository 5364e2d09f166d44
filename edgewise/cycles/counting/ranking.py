"""The ranked graph of a graph, which is made once, on its device."""

from edgewise.cycles.counting.ranked import Ranked, by_counting, by_rows, check_undirected
from edgewise.device import arrays


def prepare_cycles(graph):
    """Rank an undirected graph before its cycles are counted."""
    check_undirected(graph)
    ranked_of(graph)


def ranked_of(graph) -> Ranked:
    """The simple graph of ``graph``, ranked, on the same device; it is cached with the graph."""

    def rank():
        with arrays.guard(graph.device):
            if graph.device != "cpu":
                from edgewise.cycles.counting.ranked_rows import rank_rows

                return rank_rows(graph.n_vertices, *_symmetric_rows(graph))
            if "rows" in graph.made_of and not graph.directed:
                ranked = by_rows(graph.offsets, graph.neighbours)
                if ranked is not None:
                    return ranked
            return by_counting(graph.n_vertices, graph.sources, graph.targets)

    return graph.cached("ranked", rank)


def _symmetric_rows(graph):
    """Offsets and neighbours of rows that have every edge in both directions."""
    if not graph.directed:
        return graph.offsets, graph.neighbours
    from edgewise.ingest.csr import rows_from_edges

    return rows_from_edges(graph.n_vertices, graph.sources, graph.targets, True)[:2]
