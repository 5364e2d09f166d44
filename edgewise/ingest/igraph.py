"""Graphs of python-igraph, by their methods; the package itself is not imported."""

import numpy as np

from edgewise.errors import GraphError, argument, one_of


def from_igraph(graph_class, graph, weight, ids):
    """Make a graph of an igraph graph: see :meth:`edgewise.Graph.from_igraph`."""
    for name in ("vcount", "get_edgelist", "is_directed", "vs", "es"):
        if not hasattr(graph, name):
            raise GraphError(f"an igraph.Graph is needed, not {type(graph).__name__}")
    ends = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2)
    if ids is None and "name" in graph.vs.attributes():
        ids = "name"
    made = graph_class.from_edges(
        ends[:, 0],
        ends[:, 1],
        weights=None if weight is None else _attribute(graph.es, "weight", weight),
        n_vertices=graph.vcount(),
        directed=graph.is_directed(),
    )
    if ids is not None:
        from edgewise.ingest.ids import ids_of_vertices

        made.ids = ids_of_vertices(_attribute(graph.vs, "ids", ids), made.n_vertices)
    made.weight_name = weight
    return made


def _attribute(items, option, name):
    """Values of an attribute of the vertices or edges."""
    if name not in items.attributes():
        known = items.attributes()
        remedy = one_of(name, known) if known else "the graph has no such attributes"
        raise GraphError(f"{argument(option, name)} is no attribute; {remedy}")
    return items[name]
