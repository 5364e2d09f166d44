"""Uniform random graphs: every edge joins two vertices drawn independently (Erdos and Renyi, G(n, m))."""

import numpy as np

from edgewise.device import arrays, each
from edgewise.errors import OptionError
from edgewise.generators.limits import family, room, vertices, whole
from edgewise.generators.random import EDGES, below, words
from edgewise.graph import Graph


@each
def _draw(edge, seed, count, sources, targets):
    at = np.uint64(edge)  # cannot be negative: the CPU compiler vectorises
    w0, w1, w2, w3 = words(seed, at, 0, EDGES)
    sources[at] = below(w0, w1, count)
    targets[at] = below(w2, w3, count)


@family
def uniform(
    n: int, m: int, *, simple: bool = False, directed: bool = False, seed: int = 0, device: str = "cpu"
) -> Graph:
    """Make a graph of ``m`` uniformly random edges.

    Parameters
    ----------
    n : int
        Vertices.
    m : int
        Random pairs.
    simple : bool
        Drop self-loops and merge repeated edges; a little fewer than ``m`` are left.
    directed : bool
    seed : int
    device : str

    Returns
    -------
    Graph

    Raises
    ------
    OptionError
        A negative number, or edges without vertices.

    Examples
    --------
    >>> import edgewise as ew
    >>> ew.generate.uniform(1000, 5000, seed=7).n_edges
    5000
    """
    n, m = vertices("n", n), whole("m", m)
    if m and not n:
        raise OptionError(f"m={m} edges need vertices; give n=1 or more")
    sources, targets = pairs_of(n, m, seed, device)
    return finished(sources, targets, n, simple, directed)


def pairs_of(n, m, seed, device):
    """``m`` random pairs of vertices below ``n``."""
    room(8 * m, device)
    sources, targets = arrays.empty(m, np.uint32, device), arrays.empty(m, np.uint32, device)
    _draw(m, seed, n, sources, targets)
    return sources, targets


def finished(sources, targets, n, simple, directed=False):
    """The graph of these edges, all of them or the distinct ones without self-loops."""
    loops, repeated = ("drop", "first") if simple else ("keep", "keep")
    return Graph.from_edges(
        sources, targets, n_vertices=n, directed=directed, self_loops=loops, repeated=repeated
    )
