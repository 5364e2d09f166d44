"""The largest component of a graph, as a graph."""

from __future__ import annotations

from typing import Any

from edgewise.components import connected_components
from edgewise.device import arrays
from edgewise.front import named
from edgewise.graph import Graph
from edgewise.ingest.subgraphs import induced
from edgewise.method import check_graph
from edgewise.strong import strongly_connected_components


@named
def largest_component(graph: Graph, *, strong: bool = False, device: str | None = None) -> Graph:
    """Return the subgraph of the largest component, the giant component of many real graphs.

    Parameters
    ----------
    graph : Graph
    strong : bool
        Take the largest strongly connected component of a directed graph.  Otherwise edges count in both
        directions.
    device : str, optional
        ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one); by default that of the
        graph.

    Returns
    -------
    Graph
        As from :meth:`Graph.subgraph`, with the ids and weights of the vertices and edges that it has.  Of
        several components of the same size it is the one with the smallest vertex; of a graph without
        vertices, the graph.

    Raises
    ------
    GraphError
        A strong component of an undirected graph is wanted.
    DeviceError, OutOfMemoryError
        The device is not there, or too small.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.Graph.from_edges(["a", "b", "d"], ["c", "e", "e"])
    >>> list(ew.largest_component(graph))
    ['b', 'e', 'd']
    """
    check_graph(graph)
    if not graph.n_vertices:
        return graph
    find: Any = strongly_connected_components if strong else connected_components
    result = find(graph, device=device)
    with arrays.guard(result.graph.device):
        root = result.roots[int(result.sizes().argmax())]
        return induced(result.graph, result.labels == root)
