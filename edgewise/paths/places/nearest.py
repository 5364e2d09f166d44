"""The nearest of a set of places to every vertex, or the nearest k (:mod:`edgewise.paths.places.labels`)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, Unpack

import numpy as np

from edgewise.graph import Graph
from edgewise.method import check_graph, check_whole, worker_names
from edgewise.paths.csr import unreached
from edgewise.paths.method import check_cutoff
from edgewise.paths.places.checks import (
    Direction,
    check_direction,
    check_weighted,
    coordinates_of,
    places_in,
)
from edgewise.paths.places.label_check import verify_labels
from edgewise.paths.places.labels import find_nearest
from edgewise.result import Result, check_column, counted
from edgewise.weights import WeightOptions, weighted_front

__all__ = ["Nearest", "nearest"]


@dataclass(frozen=True, eq=False, repr=False)
class Nearest(Result):
    """The nearest places of vertices.

    All arrays are on the host.  The table has one row for each vertex and place, the nearest first: ``id``
    and ``place`` (ids as they came in), ``rank`` from 1 on, and ``distance``.

    Attributes
    ----------
    graph, method, seconds, devices
        As in :class:`~edgewise.result.Result`.
    of : (m,) int64 array
        Vertex number of each row: all vertices, or those that were asked for, in their order.
    places : (p,) int64 array
        Vertex numbers of the places, distinct and ascending.
    cutoff : number or None
        Distance beyond which places count as not reached.
    weighted : bool
        Whether the weights of edges count; each edge counts one otherwise.
    direction : {'to', 'from'}
        Whether paths lead to the places or from them.
    nearest : (m, k) int array, with as many columns as there are places if those are fewer
        Vertex numbers of the nearest places, in the order of distances, then of numbers; -1 where there is no
        further place within reach.
    distances : (m, k) array, as above
        In the type of the weights, or a wider one; int32 where edges count one.  Where there is no place: the
        largest value of an integer type, or infinity.
    """

    of: np.ndarray
    places: np.ndarray
    cutoff: float | None
    weighted: bool
    direction: Direction
    nearest: np.ndarray
    distances: np.ndarray

    @property
    def k(self) -> int:
        """Number of places of a vertex at most."""
        return self.nearest.shape[1]

    @property
    def unreached(self) -> int | float:
        """The value in :attr:`distances` where there is no place."""
        return unreached(self.distances.dtype)

    def to_dict(self, column: str | None = None) -> dict[Any, dict]:
        """Return the distances by vertex, and then by place, the nearest first.

        Parameters
        ----------
        column : {'distance'}, optional

        Raises
        ------
        OptionError
            There is no such column.

        Examples
        --------
        >>> import edgewise as ew
        >>> path = ew.Graph.from_edges(["a", "b", "c"], ["b", "c", "d"])
        >>> ew.nearest(path, ["a", "d"], k=2).to_dict()["b"]
        {'a': 1, 'd': 2}
        """
        check_column(column, ["distance"])
        table = self._arrow()
        ids = self.graph.ids_of(self.of)
        found: dict[Any, dict] = {one: {} for one in (ids.tolist() if hasattr(ids, "tolist") else ids)}
        for row in zip(*(table[name].to_pylist() for name in ("id", "place", "distance"))):
            found[row[0]][row[1]] = row[2]
        return found

    def plot(self, path: str | Path, coordinates: Any = None) -> None:
        """Draw the distribution of the distances to the nearest place, or a map (needs matplotlib).

        Parameters
        ----------
        path : path-like
            Its suffix says the kind of picture: ``.png``, ``.svg``, ``.pdf``.
        coordinates : (n_vertices, 2) array-like, optional
            Where the vertices are.  Those with the same nearest place have the same colour.
        """
        from edgewise import plots

        title = self._answer()
        if coordinates is None:
            first = self.distances[:, 0]
            labels = plots.Labels(title, "distance of the nearest place", "vertices")
            plots.histogram(first[first != self.unreached], path, labels)
            return
        points, edges = coordinates_of(self.graph, coordinates)
        classes = np.full(self.graph.n_vertices, -1)
        classes[self.of] = np.searchsorted(self.places, self.nearest[:, 0])
        classes[self.of[self.nearest[:, 0] < 0]] = -1
        edges = edges[(classes[edges] >= 0).all(axis=1)]
        plots.coloured_points(points, edges, classes, path, title)

    def _answer(self):
        found = int((self.nearest[:, 0] >= 0).sum())
        wanted = f"the nearest of {counted(len(self.places), 'place')}"
        if self.k > 1:
            wanted = f"the nearest {self.k} of {counted(len(self.places), 'place')}"
        return f"{wanted} for {found:,} of {counted(len(self.of), 'vertex')}"

    def _arrow(self, rows=None):
        import pyarrow as pa

        from edgewise.ingest.arrow import arrow_array

        row, rank = (positions[:rows] for positions in np.nonzero(self.nearest >= 0))
        ids, places = self.of[row], self.nearest[row, rank].astype(np.int64)
        columns = self.graph.ids_of(ids), rank + 1, self.graph.ids_of(places), self.distances[row, rank]
        return pa.table(dict(zip(("id", "rank", "place", "distance"), map(arrow_array, columns))))

    def _verify(self, graph):
        graph, k, n = graph.to("cpu"), self.k, graph.n_vertices
        check_weighted(graph, self.weighted)
        places, distances = self.nearest, self.distances
        if len(self.of) != n or (self.of != np.arange(n)).any():  # what is not there is found again
            again = nearest(
                graph, self.graph.ids_of(self.places), k, cutoff=self.cutoff, direction=self.direction
            )
            places, distances = again.nearest.copy(), again.distances.astype(self.distances.dtype)
            places[self.of], distances[self.of] = self.nearest, self.distances
        cutoff = np.inf if self.cutoff is None else self.cutoff
        verify_labels(graph, (self.places, places, distances), cutoff, self.direction)


@weighted_front
def nearest(
    graph: Graph,
    places: Any,
    k: int = 1,
    *,
    of: Any = None,
    cutoff: float | None = None,
    direction: Literal["to", "from"] = "to",
    **options: Unpack[WeightOptions],
) -> Nearest:
    """Find the nearest of a set of places to every vertex, or the nearest k, such as the next pharmacy.

    One search from all places finds the answers of all vertices.  It runs on one core of the CPU; a graph of
    a GPU is copied.

    Parameters
    ----------
    graph : Graph
        With or without weights; without them every edge counts one, and infinite weights are no edges.  No
        weight may be negative.
    places : id or (p,) array-like of ids
        What is looked for.  A place is its own nearest one.
    k : int
        How many places are wanted for each vertex.
    of : id or (m,) array-like of ids, optional
        The vertices that are asked about; all by default.
    cutoff : number, optional
        Largest distance that counts.  Infinity means no cutoff.
    direction : {'to', 'from'}
        Along the edges of a directed graph: the way from a vertex to the place, or from the place to it.

    Returns
    -------
    Nearest
        Of places at the same distance the smaller vertex number is first.

    Raises
    ------
    GraphError
        An unknown place or vertex, a weight that is negative, NaN or minus infinity, or a distance beyond the
        largest number of its type.
    OptionError
        No place, a ``k`` that is no whole number of 1 or more, a cutoff that is negative or no number, an
        unknown direction.
    OutOfMemoryError
        The answers do not fit the memory.

    Examples
    --------
    >>> import edgewise as ew
    >>> streets = ew.Graph.from_edges(["a", "b", "c"], ["b", "c", "d"], weights=[2, 2, 3])
    >>> found = ew.nearest(streets, ["a", "d"])
    >>> found.to_frame()["place"].to_pylist(), found.distances[:, 0].tolist()
    (['a', 'a', 'd', 'd'], [0, 2, 3, 0])
    """
    check_graph(graph)
    check_direction(direction)
    check_whole("k", k, 1)
    cutoff = check_cutoff(cutoff, whole=False)
    sources = np.unique(places_in(graph, places, "places"))
    n = graph.n_vertices
    wanted = np.arange(n) if of is None else places_in(graph, of, "of")
    graph = graph.to("cpu")
    start, found = perf_counter(), min(int(k), len(sources))
    method, labels = find_nearest(graph, sources, found, np.inf if cutoff is None else cutoff, direction)
    at = slice(None) if of is None else wanted
    numbers = labels.places.reshape(n, found)[at].astype(np.int32 if n < 2**31 else np.int64)
    numbers[numbers == n] = -1
    distances = np.ascontiguousarray(labels.distances.reshape(n, found)[at])
    seconds = perf_counter() - start
    return Nearest(
        graph,
        method,
        seconds,
        wanted,
        sources,
        cutoff,
        graph.is_weighted,
        direction,
        numbers,
        distances,
        devices=worker_names("cpu"),
    )
