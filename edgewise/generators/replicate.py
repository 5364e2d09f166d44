"""Several unconnected copies of a graph: the expanded graphs of Hellås (2018, section 6.1)."""

from edgewise.device import arrays, each
from edgewise.errors import OptionError
from edgewise.generators.limits import room, whole
from edgewise.graph import Graph
from edgewise.index_type import index_type


@each
def _copy(edge, sources, targets, edges, vertices, new_sources, new_targets):
    copy, old = edge // edges, edge % edges
    new_sources[edge] = sources[old] + copy * vertices
    new_targets[edge] = targets[old] + copy * vertices


def replicate(graph: Graph, copies: int) -> Graph:
    """Make ``copies`` copies of a graph with no edges between them.

    Parameters
    ----------
    graph : Graph
    copies : int

    Returns
    -------
    Graph
        In the place of ``graph``.  Copy ``k`` of vertex ``v`` is vertex ``k * graph.n_vertices + v``; weights
        are copied, external ids are not, since they would no longer be unique.

    Raises
    ------
    OptionError
        A negative number, or copies beyond 2**63 vertices.

    Examples
    --------
    >>> import edgewise as ew
    >>> ew.generate.replicate(ew.generate.grid(10), 3).n_vertices
    300
    """
    copies = whole("copies", copies)
    count = graph.n_vertices * copies
    if count >= 2**63:
        raise OptionError(f"copies={copies} of {graph.n_vertices:,} vertices are more than can be numbered")
    kind, device, edges = index_type(count), graph.device, graph.n_edges
    with arrays.on(device):
        room(2 * copies * edges * kind().itemsize, device)
        sources, targets = (arrays.empty(copies * edges, kind, device) for _ in range(2))
        _copy(copies * edges, graph.sources, graph.targets, edges, graph.n_vertices, sources, targets)
        weights = graph.weights
        if weights is not None:
            weights = arrays.namespace(device).tile(weights, copies)
    return Graph.from_edges(sources, targets, weights=weights, n_vertices=count, directed=graph.directed)
