"""Graphs with a few hubs: one vertex in a thousand has degree 1000, the others few neighbours.

The test graphs of Harish and Narayanan (HiPC 2007): mean degree 6, 0.1 % of the vertices with high degrees.
They are what makes one thread for each vertex slow.
"""

import numpy as np

from edgewise.device import arrays, each
from edgewise.errors import OptionError
from edgewise.generators.limits import family, fraction, room, vertices, whole
from edgewise.generators.random import EDGES, below, words
from edgewise.generators.shuffle import order, shuffled
from edgewise.generators.uniform import finished
from edgewise.graph import Graph


@each
def _draw(edge, seed, count, hub_edges, hub_degree, bits, key, sources, targets):
    """The first ``hub_edges`` edges go from hubs, the others from anywhere; all go to anywhere."""
    w0, w1, w2, w3 = words(seed, edge, 0, EDGES)
    if edge < hub_edges:
        sources[edge] = shuffled(edge // hub_degree, count, bits, key)
    else:
        sources[edge] = below(w0, w1, count)
    targets[edge] = below(w2, w3, count)


@family
def scale_free(
    n: int,
    *,
    mean_degree: float = 6.0,
    hubs: float = 0.001,
    hub_degree: int = 1000,
    simple: bool = False,
    directed: bool = False,
    seed: int = 0,
    device: str = "cpu",
) -> Graph:
    """Make a graph in which a few hubs, at random devices, hold a large share of the edges.

    Parameters
    ----------
    n : int
        Vertices.
    mean_degree : float
        Mean degree over all vertices, hubs included.
    hubs : float
        Share of the vertices that are hubs.
    hub_degree : int
        Edges from each hub; a hub gets a few more as a neighbour of others.
    simple : bool
        Drop self-loops and merge repeated edges.
    directed : bool
        Edges go from hubs.
    seed : int
    device : str

    Returns
    -------
    Graph

    Raises
    ------
    OptionError
        A number out of range, or a mean degree too low for the hubs.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.generate.scale_free(10_000)
    >>> graph.n_edges, bool(graph.degrees().max() > 1000)
    (30000, True)
    """
    n, hub_degree = vertices("n", n), whole("hub_degree", hub_degree, least=1, most=2**32)
    m = round(fraction("mean_degree", mean_degree, most=2.0**32) * n / 2)
    hub_edges = round(fraction("hubs", hubs) * n) * hub_degree
    if hub_edges > m:
        raise OptionError(
            f"mean_degree={mean_degree:g} is too low: the hubs alone bring {hub_edges:,} edges of {m:,}; "
            "raise it, or give smaller hubs or hub_degree"
        )
    room(8 * m, device)
    sources, targets = (arrays.empty(m, np.uint32, device) for _ in range(2))
    _draw(m, seed, n, hub_edges, hub_degree, *order(n, seed), sources, targets)
    return finished(sources, targets, n, simple, directed)
