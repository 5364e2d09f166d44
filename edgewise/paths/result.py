"""What a search from one source, or from the nearest of several, returns."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.device import arrays
from edgewise.errors import OptionError, VerificationError
from edgewise.paths.csr import unreached
from edgewise.primitives import count, filled
from edgewise.result import Result, cached_array, counted

if TYPE_CHECKING:
    from typing import Self

    from edgewise.paths.csr import Adjacency


class SparseDistances(NamedTuple):
    """``values`` (k,), the distances of all the distinct ``vertices`` (k,) within reach; both on the host."""

    vertices: np.ndarray
    values: np.ndarray


def up_to(targets, distances):
    """Distances without those beyond the furthest of the targets, and whether all of these are reached."""
    if isinstance(distances, SparseDistances):
        vertices, values = distances
        of_targets = values[np.isin(vertices, targets)]
        if len(of_targets) < len(targets):
            return distances, False
        near = values <= of_targets.max()
        return SparseDistances(vertices[near], values[near]), True
    none = unreached(distances.dtype)
    furthest = distances[arrays.move(targets, arrays.device_of(distances))].max().item()
    if furthest == none:
        return distances, False
    distances[distances > furthest] = none
    return distances, True


@dataclass(frozen=True, eq=False, repr=False)
class Distances(Result):
    """Distances from a source, or from the nearest of several.

    The table has one row for each vertex that is reached, in vertex order: ``id`` and ``distance``.

    Attributes
    ----------
    graph, method, seconds, devices
        As in :class:`~edgewise.result.Result`.
    sources : (k,) int64 array
        Vertex numbers of the sources, ascending, on the host.
    weighted : bool
        Whether the edges' weights count; each edge counts one otherwise.
    cutoff : int, float or None
        Distance beyond which vertices count as not reached.
    partial : bool
        Whether the search ended with its targets: vertices further away than those count as not reached.
    """

    sources: np.ndarray
    weighted: bool
    _adjacency: Adjacency
    _distances: Any  # (n_vertices,) array, or SparseDistances
    cutoff: int | float | None = None
    partial: bool = False

    @property
    def _sparse(self):
        """The distances of a local search; ``None`` where there is an array of all distances."""
        return self._distances if isinstance(self._distances, SparseDistances) else None

    @cached_array
    def distances(self) -> np.ndarray:
        """Distance of each vertex: (n_vertices,) array on the device of the graph.

        int32 where edges count one, else in the type of the weights, or int64 where int32 is too narrow.  A
        vertex that no path reaches has the largest value of an integer type, or infinity: see
        :attr:`reachable`.
        """
        if self._sparse is None:
            return self._distances
        vertices, values = self._sparse
        dense = filled(self.graph.n_vertices, unreached(values.dtype), values.dtype)
        dense[vertices] = values
        return dense

    @property
    def unreached(self) -> int | float:
        """The value in :attr:`distances` of a vertex that no path reaches."""
        return unreached((self._distances if self._sparse is None else self._sparse.values).dtype)

    @cached_property
    def _reached(self):
        """The vertices that are reached, ascending, and their distances, on the host."""
        if self._sparse is not None:
            vertices, values = self._sparse
            order = np.argsort(vertices, kind="stable")
            return vertices[order].astype(np.int64), values[order]
        distances = arrays.move(self._distances, "cpu")
        vertices = np.flatnonzero(distances != self.unreached)
        return vertices, distances[vertices]

    @cached_property
    def n_reached(self) -> int:
        """Number of vertices that are reached, the sources among them."""
        if self._sparse is not None:
            return len(self._sparse.vertices)
        distances = arrays.on_host_if_small(self._distances)
        # CuPy imports SciPy to compare an array with a number by an operator
        return count(arrays.namespace(distances).not_equal(distances, self.unreached))

    @cached_property
    def eccentricity(self) -> int | float:
        """Largest distance of a vertex that is reached."""
        return self._reached[1].max(initial=0)[()]

    def sizes(self) -> np.ndarray:
        """Number of vertices at each distance, from 0 on: (levels,) int64 array; for unit distances.

        Raises
        ------
        OptionError
            The distances count weights.
        """
        if self.weighted:
            raise OptionError("sizes() counts levels of a search without weights; use edgewise.bfs")
        return np.bincount(self._reached[1])

    @cached_array
    def parents(self) -> np.ndarray:
        """Smallest vertex before each vertex on a shortest path: (n_vertices,) int64 array.

        Computed when first read, in one pass over the edges that come in; -1 for the sources and for vertices
        that no path reaches.
        """
        from edgewise.paths.parents import parents_of

        least = self._adjacency.spread.least
        return parents_of(self._adjacency.incoming, self.distances, self.sources, least)

    @property
    def reachable(self) -> np.ndarray:
        """Whether each vertex is reached: (n_vertices,) bool array on the device of the graph."""
        return arrays.namespace(self.distances).not_equal(self.distances, self.unreached)

    def distance_to(self, target: Any) -> int | float:
        """Distance from the nearest source to ``target``, an id; infinity where no path leads."""
        distance = self._distance_of(self.graph.vertices_of([target])[0])
        return math.inf if distance == self.unreached else distance

    def _distance_of(self, vertex):
        """Distance of a vertex number, without an array of all distances after a local search."""
        if self._sparse is None:
            return self.distances[vertex][()]
        position = np.flatnonzero(self._sparse.vertices == vertex)
        return self._sparse.values[position[0]] if len(position) else self.unreached

    def path_to(self, target: Any) -> list:
        """Ids along a shortest path from the nearest source to ``target``, both included.

        Parameters
        ----------
        target : int or str
            Id of a vertex.

        Returns
        -------
        list
            Empty where no path leads.

        Raises
        ------
        GraphError
            There is no such vertex.
        """
        vertex = int(self.graph.vertices_of([target])[0])
        if self._distance_of(vertex) == self.unreached:
            return []
        parents, path = self._parents_on_host, [vertex]
        while parents[path[-1]] >= 0 and len(path) <= self.graph.n_vertices:
            path.append(int(parents[path[-1]]))
        if path[-1] not in self.sources:
            raise VerificationError(
                f"no path leads to vertex {vertex}; the graph has changed since the search"
            )
        ids = self.graph.ids_of(np.array(path[::-1]))
        return ids.tolist() if isinstance(ids, np.ndarray) else ids.to_pylist()

    @cached_property
    def _parents_on_host(self):
        return arrays.move(self.parents, "cpu")

    def on_host(self) -> Self:
        """Return the result with its distances, and its graph, on the host."""
        return replace(super().on_host(), _adjacency=self._adjacency.on_host())

    def _answer(self):
        vertices, sources = counted(self.graph.n_vertices, "vertex"), counted(len(self.sources), "source")
        answer = f"{self.n_reached:,} of {vertices} reached from {sources}"
        farthest = f"{self.eccentricity:,.6g}" if self.weighted else f"{self.eccentricity:,}"
        return f"{answer}, the farthest at {farthest}" if self.n_reached else answer

    def _arrow(self, rows=None):
        import pyarrow as pa

        from edgewise.ingest.arrow import arrow_array

        vertices, values = (column[:rows] for column in self._reached)
        return pa.table({"id": arrow_array(self.graph.ids_of(vertices)), "distance": arrow_array(values)})

    def _certificate(self):
        from edgewise.paths.certificate import prove

        how: Any = {"weighted": self.weighted, "cutoff": self.cutoff, "partial": self.partial}
        return prove(self.graph, self.distances, self.sources, **how)

    def _verify(self, graph):
        from edgewise.paths.verification import verify

        verify(graph, self)

    def _plot(self, path):
        from edgewise import plots

        title = f"{self.n_reached:,} of {self.graph.n_vertices:,} vertices reached"
        labels = plots.Labels(title, "distance from the nearest source", "vertices")
        plots.histogram(self._reached[1], path, labels)
