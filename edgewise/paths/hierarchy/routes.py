"""Routes: shortest paths between many pairs of vertices.

Along the hierarchy of a graph that has been prepared for routes, each pair takes microseconds
(:mod:`~edgewise.paths.hierarchy.queries`).  Without one, the pairs are searched by their sources: all targets
of a source in one search from it, which ends with the furthest of them.  Nothing is prepared unless the user
asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any, ClassVar, Unpack

import numpy as np

from edgewise.device import arrays
from edgewise.errors import GraphError, OptionError, argument
from edgewise.front import reporter
from edgewise.graph import Graph
from edgewise.method import check_graph, is_number, worker_names
from edgewise.paths.bfs import bfs
from edgewise.paths.csr import unreached
from edgewise.paths.hierarchy import kept
from edgewise.paths.hierarchy.contraction import rows_for_routes
from edgewise.paths.hierarchy.queries import distances_of, path_between
from edgewise.paths.method import flat
from edgewise.paths.sssp import shortest_paths
from edgewise.paths.sssp.weights import WIDER
from edgewise.result import Result, counted
from edgewise.weights import WeightOptions, weighted_front

#: Name of the method along a hierarchy, and of the one without.
METHOD, WITHOUT = "contraction-hierarchy", "by sources"


@weighted_front
def routes(graph: Graph, sources: Any, targets: Any, **options: Unpack[WeightOptions]) -> Routes:
    """Find the lengths of shortest paths between pairs of vertices, and the paths.

    A graph that is searched often is prepared first, by ``graph.prepare("routes")``.  The lengths are the
    same without, but take a search of the graph for each source.

    Parameters
    ----------
    graph : Graph
        Paths lead along its weights, or its edges if it has none.  Weights are 0 or more, and no path leads
        over an edge of infinite weight.  Edges of a directed graph are followed from source to target.
    sources, targets : id or (k,) array-like of ids
        The ends of each path: ids of the graph; vertex numbers where it has no ids.  One id on one side is
        paired with all on the other.

    Returns
    -------
    Routes
        Integer lengths are exact.  A length of floats is the sum along a path, from its source on, which is
        longer than the shortest sum by rounding at most.

    Raises
    ------
    GraphError
        An unknown vertex, a negative weight, or a length beyond the largest number of its type.
    OptionError
        Not as many sources as targets, none, or a table of them.
    OutOfMemoryError
        There is too little memory.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.Graph.from_edges(["a", "a", "b"], ["b", "c", "c"], weights=[2, 9, 3])
    >>> found = ew.routes(graph.prepare("routes"), ["a", "c"], ["c", "b"])
    >>> found.distances.tolist(), found.path(0)
    ([5, 3], ['a', 'b', 'c'])
    """
    check_graph(graph)
    sources, targets = _pairs(graph, sources, targets)
    rows_for_routes(graph)
    start = perf_counter()
    hierarchy = kept(graph)
    distances = (
        _without(graph, sources, targets) if hierarchy is None else _along(hierarchy, graph, sources, targets)
    )
    seconds = perf_counter() - start
    method, device = (WITHOUT, graph.device) if hierarchy is None else (METHOD, "cpu")
    found = sources, targets, distances, graph.is_weighted
    return Routes(graph, method, seconds, *found, devices=worker_names(device))


def _pairs(graph, sources, targets):
    """Vertex numbers of the ends, as many on each side."""
    ends = [
        graph.vertices_of(flat(ids, name, graph))
        for name, ids in (("sources", sources), ("targets", targets))
    ]
    counts = [len(vertices) for vertices in ends]
    if not all(counts):
        empty = "targets" if counts[0] else "sources"
        raise OptionError(f"{empty} is empty; give the id of a vertex, or several")
    if 1 not in counts and counts[0] != counts[1]:
        problem = f"{counts[0]} sources and {counts[1]} targets are no pairs"
        raise OptionError(f"{problem}; give as many of both, or one")
    return tuple(np.ascontiguousarray(vertices) for vertices in np.broadcast_arrays(*ends))


def _along(hierarchy, graph, sources, targets):
    """Distances along a hierarchy, in the type of the weights or the next wider one."""
    dtype = np.dtype(np.int32) if not graph.is_weighted else np.dtype(graph.csr_weights.dtype)
    while (found := distances_of(hierarchy, sources, targets, dtype)) is None:
        if dtype.name not in WIDER:
            raise GraphError(f"a distance passes the largest number of {dtype}; use smaller weights")
        dtype = np.dtype(WIDER[dtype.name])
    return found


def _without(graph, sources, targets):
    """Distances by a search from each source."""
    distinct, groups = np.unique(sources, return_inverse=True)
    pairs_of = np.split(np.argsort(groups, kind="stable"), np.cumsum(np.bincount(groups))[:-1])
    report, found = reporter(), []
    for number, (source, pairs) in enumerate(zip(distinct, pairs_of, strict=True)):
        distances = _search_from(graph, source, targets[pairs]).distances
        with arrays.guard(graph.device):
            found.append(arrays.move(distances[arrays.move(targets[pairs], graph.device)], "cpu"))
        if report is not None:
            report(number + 1, len(distinct))
    dtype = max((part.dtype for part in found), key=lambda one: one.itemsize)
    distances = np.empty(len(sources), dtype)
    for pairs, part in zip(pairs_of, found, strict=True):
        distances[pairs] = np.where(part == unreached(part.dtype), unreached(dtype), part)
    return distances


def _search_from(graph, source, targets=None):
    """Distances from a vertex to some vertices, or to all."""
    search = shortest_paths if graph.is_weighted else bfs
    targets = None if targets is None else graph.ids_of(targets)
    return search(graph, graph.ids_of(np.array([source])), targets=targets)


@dataclass(frozen=True, eq=False, repr=False)
class Routes(Result):
    """Lengths of shortest paths between pairs of vertices.

    The table has one row for each pair: ``source`` and ``target`` (ids as they came in), and ``distance``,
    which is null where no path leads.

    Attributes
    ----------
    graph, method, seconds, devices
        As in :class:`~edgewise.result.Result`; the method is ``"contraction-hierarchy"`` if the graph was
        prepared for routes, else ``"by sources"``.
    sources, targets : (k,) int64 array
        Vertex numbers of the ends of each pair.
    distances : (k,) array
        Length of a shortest path of each pair, on the host: int32 where edges count one, else in the type of
        the weights, or the next wider one where a length does not fit it.  Where no path leads it is the
        largest value of an integer type, or infinity: see :attr:`reachable`.
    weighted : bool
        Whether the edges' weights count; each edge counts one otherwise.
    """

    _n_ids: ClassVar[int] = 2

    sources: np.ndarray
    targets: np.ndarray
    distances: np.ndarray
    weighted: bool

    @property
    def unreached(self) -> int | float:
        """The value in :attr:`distances` of a pair that no path joins."""
        return unreached(self.distances.dtype)

    @property
    def reachable(self) -> np.ndarray:
        """Whether a path joins each pair: (k,) bool array."""
        return self.distances != self.unreached

    def path(self, pair: int) -> list:
        """Ids along a shortest path of a pair, both ends included.

        Parameters
        ----------
        pair : int
            Position of the pair, from 0 on.

        Returns
        -------
        list
            Empty where no path leads.  Of several shortest paths it is always the same one.

        Raises
        ------
        OptionError
            There is no such pair.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> ew.routes(graph, [0, 3], [2, 3]).path(0)
        [0, 1, 2]
        """
        if not is_number(pair, True) or not -len(self.sources) <= pair < len(self.sources):
            raise OptionError(f"{argument('pair', pair)} is not one of {counted(len(self.sources), 'pair')}")
        ids = self.graph.ids_of(self.vertices_of_path(pair))
        return ids.tolist() if isinstance(ids, np.ndarray) else ids.to_pylist()

    def vertices_of_path(self, pair: int) -> np.ndarray:
        """Vertex numbers along a shortest path of a pair, whose ids are those of :meth:`path`."""
        source, target = self.sources[pair], self.targets[pair]
        if not self.reachable[pair]:
            return self.sources[:0]
        if (hierarchy := kept(self.graph)) is not None:
            return path_between(hierarchy, source, target)
        found = _search_from(self.graph, source, np.array([target]))
        return self.graph.vertices_of(found.path_to(self.graph.ids_of(np.array([target])).tolist()[0]))

    def _answer(self):
        joined = int(np.count_nonzero(self.reachable))
        return f"{joined:,} of {counted(len(self.sources), 'pair')} joined by a path"

    def _arrow(self, rows=None):
        import pyarrow as pa

        from edgewise.ingest.arrow import arrow_array

        ends = (arrow_array(self.graph.ids_of(vertices[:rows])) for vertices in (self.sources, self.targets))
        distances = pa.array(self.distances[:rows], mask=~self.reachable[:rows])
        return pa.table(dict(zip(("source", "target", "distance"), (*ends, distances), strict=True)))

    def _certificate(self):
        from edgewise.paths.route_certificate import prove_pairs

        return prove_pairs(self.graph, self.sources, self.targets, self.distances, weighted=self.weighted)

    def _verify(self, graph):
        from edgewise.paths.hierarchy.verification import verify

        verify(graph, self)

    def _plot(self, path):
        from edgewise import plots

        labels = plots.Labels(self._answer(), "distance", "pairs")
        plots.histogram(self.distances[self.reachable], path, labels)
