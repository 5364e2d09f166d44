"""Random weights for the edges of any graph."""

import numpy as np

from edgewise.device import arrays, each
from edgewise.generators.limits import MOST_SEED, room, whole
from edgewise.generators.random import WEIGHTS, below, words
from edgewise.graph import Graph
from edgewise.index_type import MAX_UINT32


@each
def _weigh(edge, seed, low, span, sources, targets, weights):
    """Draw by the ends, so that repeated edges and both directions of one weigh the same."""
    source, target = np.uint64(sources[edge]), np.uint64(targets[edge])
    w0, w1, _, _ = words(seed, min(source, target), max(source, target), WEIGHTS)
    weights[edge] = low + np.int64(below(w0, w1, span))


def with_weights(graph: Graph, low: int, high: int, *, seed: int = 0) -> Graph:
    """Give every edge a random whole weight from ``low`` to ``high``.

    Parameters
    ----------
    graph : Graph
        Stays as it is.
    low, high : int
        Least and greatest weight.
    seed : int

    Returns
    -------
    Graph
        The same edges with int32 weights (int64 where needed), in the same place.  A weight depends on the
        seed and the two ends only: not on the order of edges, nor on their direction.

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
    seed = whole("seed", seed, most=MOST_SEED)
    low = whole("low", low, least=-(2**62), most=2**62)
    high = whole("high", high, least=low, most=low + 2**32 - 1)
    whole("graph.n_vertices", graph.n_vertices, most=MAX_UINT32)
    sources, targets, device = graph.sources, graph.targets, graph.device
    small = low >= -(2**31) and high < 2**31
    with arrays.on(device):
        room(8 * len(sources), device)
        weights = arrays.empty(len(sources), np.int32 if small else np.int64, device)
        _weigh(len(sources), seed, low, high - low + 1, sources, targets, weights)
    return Graph(
        graph.n_vertices,
        edges=(sources, targets, weights),
        directed=graph.directed,
        ids=graph.ids,
        vertex_weights=graph.vertex_weights,
    )
