"""What lies within distances of places: for each source and cutoff the vertices that a path reaches.

On the CPU the sources are searched from at the same time, each by one core
(:mod:`edgewise.paths.places.bounded_search`).  On a GPU, and where a cutoff is so large that a distance might
pass the end of its type, they are searched from one after the other, as by
:func:`edgewise.shortest_paths` with a cutoff.  Where each vertex belongs to its nearest source alone, one
search from all of them finds the areas (:mod:`edgewise.paths.places.nearest`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Unpack

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.device import arrays
from edgewise.errors import GraphError, OptionError, argument
from edgewise.graph import Graph
from edgewise.method import check_graph, on_device, worker_names
from edgewise.paths.bfs import bfs
from edgewise.paths.places.area_check import verify_areas
from edgewise.paths.places.bounded_search import Areas, areas_within
from edgewise.paths.places.checks import (
    Direction,
    check_direction,
    check_weighted,
    coordinates_of,
    cutoffs_in,
    may_overflow,
    places_in,
    rows_between,
)
from edgewise.paths.places.label_check import verify_labels
from edgewise.paths.places.labels import find_nearest
from edgewise.paths.sssp import shortest_paths
from edgewise.paths.sssp.weights import limit_in
from edgewise.result import Result, cached_array, counted
from edgewise.weights import WeightOptions, weighted_front

if TYPE_CHECKING:
    import pyarrow

__all__ = ["Isochrones", "isochrones"]


@dataclass(frozen=True, eq=False, repr=False)
class Isochrones(Result):
    """The vertices within distances of sources.

    The table has one row for each vertex within the largest cutoff, source by source: ``source`` and
    ``vertex`` (ids as they came in), ``distance``, and ``cutoff``, the least one that is not exceeded.
    The set of the source in row ``i`` are the entries ``offsets[i]`` to ``offsets[i + 1] - 1``, in vertex
    order.  All arrays are on the host.

    Attributes
    ----------
    graph, method, seconds, devices
        As in :class:`~edgewise.result.Result`.
    sources : (k,) int64 array
        Vertex number of the source of each row, in the order in which they were given.
    cutoffs : (c,) array
        The distances, ascending.
    weighted : bool
        Whether the weights of edges count; each edge counts one otherwise.
    direction : {'from', 'to'}
        Whether paths lead from the sources or to them.
    nearest : bool
        Whether a vertex belongs to its nearest source alone.
    offsets : (k + 1,) int64 array
    vertices : (entries,) int array
        Vertex numbers.
    distances : (entries,) array
        In the type of the weights, or a wider one; int32 where edges count one.
    """

    _n_ids: ClassVar[int] = 2
    _nested: ClassVar[bool] = True

    sources: np.ndarray
    cutoffs: np.ndarray
    weighted: bool
    direction: Direction
    nearest: bool
    offsets: np.ndarray
    vertices: np.ndarray
    distances: np.ndarray

    @cached_property
    def _bands(self):
        """The position of the least cutoff of each entry."""
        limits = np.array([limit_in(one, self.distances.dtype) for one in self.cutoffs.tolist()])
        return np.searchsorted(limits, self.distances)

    @cached_property
    def _rows(self):
        """The row of each entry."""
        return np.repeat(np.arange(len(self.sources)), np.diff(self.offsets))

    @cached_array
    def counts(self) -> np.ndarray:
        """Number of vertices within each cutoff of each source, itself included: (k, c) int64 array."""
        return self._summed(None).astype(np.int64, copy=False)

    def totals(self, values: Any) -> np.ndarray:
        """Sums of values of the vertices within each cutoff of each source.

        Parameters
        ----------
        values : (n_vertices,) array-like
            A number for each vertex, such as that of the people who live there.

        Returns
        -------
        (k, c) float64 array

        Raises
        ------
        OptionError
            The values are not one number for each vertex.

        Examples
        --------
        >>> import edgewise as ew
        >>> path = ew.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> ew.isochrones(path, [0, 2], [1, 2]).totals([10, 20, 30, 40]).tolist()
        [[30.0, 60.0], [90.0, 100.0]]
        """
        values = np.asarray(values)
        if values.shape != (self.graph.n_vertices,) or values.dtype.kind not in "biuf":
            given, wanted = argument("values"), f"({self.graph.n_vertices},)"
            raise OptionError(
                f"{given} are {values.dtype} of shape {values.shape}; numbers {wanted} are needed"
            )
        return self._summed(values[self.vertices])

    def _summed(self, values):
        width = len(self.cutoffs)
        places = self._rows * width + self._bands
        summed = np.bincount(places, values, minlength=len(self.sources) * width)
        return summed.reshape(-1, width).cumsum(axis=1)

    def within(self, source: Any, cutoff: float | None = None) -> np.ndarray | pyarrow.Array:
        """Ids of the vertices within a distance of a source, in vertex order.

        Parameters
        ----------
        source : id
            One of the sources.
        cutoff : number, optional
            By default the largest of the cutoffs; not larger than that.

        Raises
        ------
        GraphError
            There is no such vertex, or it is no source.
        OptionError
            The cutoff is larger than the largest one.

        Examples
        --------
        >>> import edgewise as ew
        >>> path = ew.Graph.from_edges(["a", "b", "c"], ["b", "c", "d"])
        >>> areas = ew.isochrones(path, ["a", "c"], [1, 2])
        >>> areas.within("c", 1).tolist(), areas.within("a").tolist()
        (['b', 'c', 'd'], ['a', 'b', 'c'])
        """
        (vertex,) = self.graph.vertices_of([source])
        rows = np.flatnonzero(self.sources == vertex)
        if not len(rows):
            raise GraphError(f"{source!r} is not among the sources; search from it as well")
        most = self.cutoffs[-1]
        cutoff = most if cutoff is None else cutoff
        if not cutoff <= most:
            raise OptionError(f"{argument('cutoff', cutoff)} is beyond the largest one, {most}; search again")
        entries = slice(*self.offsets[rows[0] : rows[0] + 2])
        near = self.distances[entries] <= limit_in(cutoff, self.distances.dtype)
        return self.graph.ids_of(self.vertices[entries][near].astype(np.int64))

    def plot(self, path: str | Path, coordinates: Any = None) -> None:
        """Draw the distribution of the distances, or a map of the areas (needs matplotlib).

        Parameters
        ----------
        path : path-like
            Its suffix says the kind of picture: ``.png``, ``.svg``, ``.pdf``.
        coordinates : (n_vertices, 2) array-like, optional
            Where the vertices are.  Each edge has the colour of the least cutoff of any source that both of
            its ends are within.
        """
        from edgewise import plots

        title = self._answer()
        if coordinates is None:
            plots.histogram(self.distances, path, plots.Labels(title, "distance", "vertices"))
            return
        points, edges = coordinates_of(self.graph, coordinates)
        bands = np.full(self.graph.n_vertices, len(self.cutoffs))
        np.minimum.at(bands, self.vertices, self._bands)
        drawn = plots.Map(points, edges, points[self.sources])
        plots.bands(drawn, bands, [f"{one:g}" for one in self.cutoffs], path, title)

    def _answer(self):
        n, sources = self.graph.n_vertices, counted(len(self.sources), "source")
        inside = np.zeros(n, bool)
        inside[self.vertices] = True
        found = f"{np.count_nonzero(inside):,} of {counted(n, 'vertex')} at most {self.cutoffs[-1]:,.6g}"
        return f"{found} {self.direction} {'the nearest of ' * self.nearest}{sources}"

    def _arrow(self, rows=None):
        import pyarrow as pa

        from edgewise.ingest.arrow import arrow_array

        ends = self.sources[self._rows[:rows]], self.vertices[:rows].astype(np.int64)
        columns = *map(self.graph.ids_of, ends), self.distances[:rows], self.cutoffs[self._bands[:rows]]
        return pa.table(dict(zip(("source", "vertex", "distance", "cutoff"), map(arrow_array, columns))))

    def _verify(self, graph):
        graph, largest = graph.to("cpu"), self.cutoffs[-1].item()
        check_weighted(graph, self.weighted)
        if not self.nearest:
            areas = Areas(self.offsets, self.vertices, self.distances)
            verify_areas(graph, self.sources, areas, largest, self.direction)
            return
        owners, distances = np.full(graph.n_vertices, -1), np.zeros(graph.n_vertices, self.distances.dtype)
        owners[self.vertices] = self.sources[self._rows]
        distances[self.vertices] = self.distances
        found = np.unique(self.sources), owners[:, None], distances[:, None]
        verify_labels(graph, found, largest, self.direction)


class _Wanted(NamedTuple):
    """Vertex numbers of the sources, the cutoffs, the direction, and whether the nearest source counts."""

    sources: np.ndarray
    cutoffs: np.ndarray
    direction: Direction
    nearest: bool


@weighted_front
def isochrones(
    graph: Graph,
    sources: Any,
    cutoffs: float | Sequence[float],
    *,
    nearest: bool = False,
    direction: Literal["from", "to"] = "from",
    device: str | None = None,
    **options: Unpack[WeightOptions],
) -> Isochrones:
    """Find the vertices within distances of sources: isochrones, service areas, neighbourhoods.

    A search costs what it reaches, however large the graph is, and all cores search from sources of their
    own.

    Parameters
    ----------
    graph : Graph
        With or without weights; without them every edge counts one, and infinite weights are no edges.  No
        weight may be negative.
    sources : id or (k,) array-like of ids
        The rows of the result, in this order.
    cutoffs : number or (c,) array-like of numbers
        The largest distance of each set, in the unit of the weights; infinity means all that is reached.
    nearest : bool
        Whether a vertex belongs to its nearest source alone, to the smaller one of two that are equally near,
        so that no areas overlap.
    direction : {'from', 'to'}
        Along the edges of a directed graph: where one gets from a source, or from where one gets to it.
    device : str, optional
        ``"cpu"``, ``"gpu"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one); by default that of the
        graph.  A GPU searches from one source after the other, and with ``nearest`` the CPU searches.

    Returns
    -------
    Isochrones

    Raises
    ------
    GraphError
        An unknown source, a weight that is negative, NaN or minus infinity, or a distance beyond the largest
        number of its type.
    OptionError
        No source or no cutoff, a cutoff that is negative or no number, an unknown direction.
    DeviceError, OutOfMemoryError
        The device is not there, or too small.

    Examples
    --------
    >>> import edgewise as ew
    >>> streets = ew.Graph.from_edges(["a", "b", "c", "a"], ["b", "c", "d", "d"], weights=[2, 2, 3, 9])
    >>> areas = ew.isochrones(streets, ["a", "d"], [3, 5])
    >>> areas.counts.tolist()
    [[2, 3], [2, 3]]
    >>> areas.to_dict("cutoff")["a"]
    {'a': 3, 'b': 3, 'c': 5}
    """
    check_graph(graph)
    check_direction(direction)
    wanted = _Wanted(places_in(graph, sources, "sources"), cutoffs_in(cutoffs), direction, bool(nearest))
    graph = graph.to("cpu") if nearest else on_device(graph, device)
    largest = wanted.cutoffs[-1].item()
    arrays.synchronize(graph.device)
    start = perf_counter()
    if nearest:
        method, areas = _areas_of_nearest(graph, wanted, largest)
    else:
        rows = rows_between(graph, direction) if graph.device == "cpu" else None
        if rows is None or may_overflow(rows, largest):
            method, areas = _areas_by_searches(graph, wanted, largest)
        else:
            limit = limit_in(largest, rows.csr.weights.dtype)
            method, areas = "bounded-search", areas_within(rows.adjacency, rows.csr, wanted.sources, limit)
    seconds = perf_counter() - start
    vertices = areas.vertices.view(np.int32) if areas.vertices.dtype == np.uint32 else areas.vertices
    return Isochrones(
        graph,
        method,
        seconds,
        wanted.sources,
        wanted.cutoffs,
        graph.is_weighted,
        direction,
        wanted.nearest,
        areas.offsets,
        vertices,
        areas.distances,
        devices=worker_names(graph.device),
    )


def _areas_by_searches(graph, wanted, cutoff):
    """Name of the method, and the areas, by a search of the whole graph from each source."""
    search = shortest_paths if graph.is_weighted else bfs
    way = graph.reverse() if graph.directed and wanted.direction == "to" else graph
    most = cutoff if cutoff == np.inf or graph.is_weighted else int(min(cutoff, 2**31))
    found = []
    for vertex in wanted.sources:
        result = search(way, way.ids_of([vertex])[0], cutoff=most)
        found.append(result._reached)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(one) for one, _ in found])])
    vertices, distances = (np.concatenate(column) for column in zip(*found))
    return result.method, Areas(offsets, vertices, distances)


def _areas_of_nearest(graph, wanted, cutoff):
    """Name of the method, and the areas, by one search from all sources."""
    sources, n = wanted.sources, graph.n_vertices
    method, labels = find_nearest(graph, np.unique(sources), 1, cutoff, wanted.direction)
    vertices = np.flatnonzero(labels.places < n)
    rows = np.full(n, len(sources))
    np.minimum.at(rows, sources, np.arange(len(sources)))
    rows = rows[labels.places[vertices].astype(np.int64)]
    order = np.argsort(rows, kind="stable")
    offsets = np.searchsorted(rows[order], np.arange(len(sources) + 1))
    vertices = vertices[order]
    return method, Areas(offsets, vertices, labels.distances[vertices])
