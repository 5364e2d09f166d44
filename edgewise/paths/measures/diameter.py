"""The exact diameter of an undirected graph, from few searches.

A search from a vertex of eccentricity ``e`` bounds the eccentricity of every vertex at distance ``d`` from
it: it is between ``max(d, e - d)`` and ``e + d``.  Searches begin in turn at a vertex whose lower bound is
least and at one whose upper bound is greatest, of those that are not decided.  The diameter is found once no
upper bound is above the greatest lower bound, on most graphs after a few dozen searches.  On others, such as
cycles and tori, nearly all vertices have the same eccentricity: what is not decided after :data:`SEARCHES`
searches is searched from 512 vertices at a time (:mod:`~edgewise.paths.measures.bit_parallel`).

Takes and Kosters, "Determining the diameter of small world networks" (CIKM 2011) and "Computing the
eccentricity distribution of large graphs" (Algorithms 6, 2013).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

import numpy as np

from edgewise.device import arrays
from edgewise.errors import GraphError
from edgewise.graph import Graph
from edgewise.method import check_graph, on_device
from edgewise.paths.bfs import bfs
from edgewise.paths.csr import adjacency_of
from edgewise.paths.method import check_hops
from edgewise.weights import WeightOptions, weighted_front

#: Single searches after which the vertices that are not decided are searched from side by side.
SEARCHES = 64
#: Sources of the parts of these; after each part the bounds may have decided.
TOGETHER = 1 << 14
#: A bound above all eccentricities.
FAR = 2**31 - 1


class Bounds:
    """Lower and upper bounds of the eccentricities of a connected undirected graph.

    ``levels_from(vertex)`` returns the distances (n,) int32 from a vertex.
    """

    def __init__(self, degrees, levels_from: Callable[[int], np.ndarray]):
        self.degrees, self.levels_from = degrees, levels_from
        self.lower = np.zeros(len(degrees), np.int32)
        self.upper = np.full(len(degrees), FAR, np.int32)

    def measure(self, vertex: int) -> None:
        """Search from a vertex."""
        levels = self.levels_from(vertex)
        largest = levels.max()
        np.maximum(self.lower, np.maximum(levels, largest - levels), out=self.lower)
        np.minimum(self.upper, levels + largest, out=self.upper)
        self.lower[vertex] = self.upper[vertex] = largest

    def tighten(self, undecided: Callable, most: int) -> bool:
        """Search until ``undecided(lower, upper)`` marks no vertex; return whether ``most`` searches do."""
        wants_low = True
        for _ in range(most):
            open_ = np.flatnonzero((self.lower < self.upper) & undecided(self.lower, self.upper))
            if not len(open_):
                return True
            bound = self.lower[open_] if wants_low else -self.upper[open_]
            best = open_[bound == bound.min()]
            self.measure(int(best[self.degrees[best].argmax()]))
            wants_low = not wants_low
        return False


def may_be_diameter(lower, upper):
    """Whether a vertex may have a greater eccentricity than is known of any."""
    return upper > lower.max()


@weighted_front
def diameter(graph: Graph, *, device: str | None = None, **options: Unpack[WeightOptions]) -> float:
    """Find the largest distance between two vertices of an undirected graph, exactly.

    It takes a few dozen searches on most graphs, where :func:`distance_measures` searches from all vertices.

    Parameters
    ----------
    graph : Graph
        An undirected one, whose edges count one each.
    device : str, optional
        ``"cpu"``, ``"gpu"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one); by default that of
        the graph.

    Returns
    -------
    float
        Infinite where a pair of vertices has no path; 0 for the empty graph.

    Raises
    ------
    GraphError
        The graph is directed.
    OptionError
        The graph has weights; ``weight=False`` ignores them.
    DeviceError, OutOfMemoryError
        The device is not there, or too small.

    Examples
    --------
    >>> import edgewise as ew
    >>> ew.diameter(ew.generate.grid(30, 40))
    68.0
    """
    check_graph(graph)
    check_hops(graph, "diameter")
    if graph.directed:
        raise GraphError(
            "the graph is directed; make it undirected with Graph.undirected(), or use distance_measures"
        )
    graph = on_device(graph, device)
    if graph.n_vertices < 2:
        return 0.0
    with arrays.guard(graph.device):
        return _diameter_of(graph)


def _diameter_of(graph):
    """The diameter of an undirected graph of two vertices or more."""
    ids = graph.ids_of(np.arange(graph.n_vertices)) if graph.ids is not None else None

    def levels_from(vertex):
        found = bfs(graph, vertex if ids is None else ids[vertex])
        return np.asarray(arrays.move(found.distances, "cpu"))

    rows: Any = adjacency_of(graph)
    bounds = Bounds(np.diff(arrays.move(rows.offsets, "cpu")), levels_from)
    first = int(bounds.degrees.argmax())
    if levels_from(first).max() > graph.n_vertices:
        return np.inf
    if not bounds.tighten(may_be_diameter, SEARCHES):
        _search_together(rows, bounds)
    return float(bounds.lower.max())


def _search_together(rows, bounds):
    """Search from the vertices that are not decided, those with the greatest upper bounds first."""
    from edgewise.paths.measures.bit_parallel import bit_parallel

    open_ = np.flatnonzero((bounds.lower < bounds.upper) & may_be_diameter(bounds.lower, bounds.upper))
    open_ = open_[np.argsort(-bounds.upper[open_], kind="stable")]
    for first in range(0, len(open_), TOGETHER):
        some = open_[first : first + TOGETHER]
        some = some[may_be_diameter(bounds.lower, bounds.upper)[some]]
        bounds.lower[some] = bounds.upper[some] = bit_parallel(rows, some).farthest[some]
