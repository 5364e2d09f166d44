"""Graphs made from other graphs: random weights for the edges, and several unconnected copies."""

import numpy as np

from edgewise.device import arrays, each
from edgewise.errors import OptionError
from edgewise.front import named
from edgewise.generators.limits import MAX_SEED, check_memory, check_whole
from edgewise.generators.random import WEIGHTS, below, words
from edgewise.graph import Graph
from edgewise.index_type import MAX_UINT32, index_type


@each
def _weigh(edge, seed, low, span, sources, targets, weights):
    """Draw by the endpoints, so that repeated edges and both directions of one have the same weight."""
    source, target = np.uint64(sources[edge]), np.uint64(targets[edge])
    w0, w1, _, _ = words(seed, min(source, target), max(source, target), WEIGHTS)
    weights[edge] = low + np.int64(below(w0, w1, span))


@named
def with_weights(graph: Graph, low: int, high: int, *, seed: int = 0) -> Graph:
    """Give every edge a random whole weight from ``low`` to ``high``.

    A weight depends on the seed and the two endpoints only: neither on the order of edges
    nor on their direction.

    Parameters
    ----------
    graph : Graph
        It is not changed.
    low : int
        Least weight.
    high : int
        Greatest weight.
    seed : int

    Returns
    -------
    Graph
        The same edges with int32 weights (int64 where needed), on the same device.

    Raises
    ------
    OptionError
        ``high`` below ``low``, a range beyond 2**32 values, or a graph beyond 2**32 vertices.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.generate.with_weights(ew.generate.grid(100), 1, 10)
    >>> int(graph.weights.min()), int(graph.weights.max())
    (1, 10)
    """
    seed = check_whole("seed", seed, most=MAX_SEED)
    low = check_whole("low", low, least=-(2**62), most=2**62)
    high = check_whole("high", high, least=low, most=low + 2**32 - 1)
    check_whole("graph.n_vertices", graph.n_vertices, most=MAX_UINT32)
    sources, targets, device = graph.sources, graph.targets, graph.device
    small = low >= -(2**31) and high < 2**31
    with arrays.on(device):
        check_memory(8 * len(sources), device)
        weights = arrays.empty(len(sources), np.int32 if small else np.int64, device)
        _weigh(len(sources), seed, low, high - low + 1, sources, targets, weights)
    return Graph(
        graph.n_vertices,
        edges=(sources, targets, weights),
        directed=graph.directed,
        ids=graph.ids,
        vertex_weights=graph.vertex_weights,
    )


@each
def _copy(edge, sources, targets, edges, vertices, new_sources, new_targets):
    copy, old = edge // edges, edge % edges
    new_sources[edge] = sources[old] + copy * vertices
    new_targets[edge] = targets[old] + copy * vertices


@named
def replicate(graph: Graph, copies: int) -> Graph:
    """Make several copies of a graph, with no edges between them (Hellås 2018, section 6.1).

    Parameters
    ----------
    graph : Graph
        It is not changed.
    copies : int
        Number of copies.

    Returns
    -------
    Graph
        On the device of ``graph``.  Copy ``k`` of vertex ``v`` is vertex ``k * graph.n_vertices + v``.
        Weights are copied; external ids are not, since they would no longer be unique.

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
    copies = check_whole("copies", copies)
    count = graph.n_vertices * copies
    if count >= 2**63:
        raise OptionError(f"copies={copies} of {graph.n_vertices:,} vertices are more than can be numbered")
    kind, device, edges = index_type(count), graph.device, graph.n_edges
    with arrays.on(device):
        check_memory(2 * copies * edges * kind().itemsize, device)
        sources, targets = (arrays.empty(copies * edges, kind, device) for _ in range(2))
        _copy(copies * edges, graph.sources, graph.targets, edges, graph.n_vertices, sources, targets)
        weights = graph.weights
        if weights is not None:
            weights = arrays.namespace(device).tile(weights, copies)
    return Graph.from_edges(sources, targets, weights=weights, n_vertices=count, directed=graph.directed)
