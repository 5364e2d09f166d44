"""What a search from one source, or from the nearest of several, returns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.device import arrays
from edgewise.errors import OptionError, VerificationError
from edgewise.graph import Graph, check_same_graph

if TYPE_CHECKING:
    import pyarrow

    from edgewise.paths.rows import Rows


def unreached(dtype):
    """The distance where no path leads: the largest value of integers, infinity of floats."""
    dtype = np.dtype(dtype)
    return dtype.type(np.inf) if dtype.kind == "f" else np.iinfo(dtype).max


@dataclass(frozen=True, eq=False)
class Distances:
    """Distances from a source, or from the nearest of several.

    Attributes
    ----------
    graph : Graph
        The graph they belong to.
    method : str
        Name of the method that found them.
    seconds : float
        Time of the method alone.
    sources : (k,) int64 array
        Vertex numbers of the sources, ascending, on the host.
    weighted : bool
        Whether the edges' weights count; each edge counts one otherwise.
    cutoff : int, float or None
        Distance beyond which vertices count as not reached.
    partial : bool
        Whether the search ended with its targets: vertices further away than those count as not reached.
    """

    graph: Graph = field(repr=False)
    method: str
    seconds: float
    sources: np.ndarray
    weighted: bool
    _rows: Rows = field(repr=False)
    _dense: Any = field(repr=False, default=None)
    _found: Any = field(repr=False, default=None)
    cutoff: int | float | None = None
    partial: bool = False

    @cached_property
    def distances(self):
        """Distance of each vertex: (n_vertices,) array where the graph lies.

        int32 where edges count one, else in the type of the weights, or int64 where int32 is too narrow.  A
        vertex that no path reaches has the largest value of an integer type, or infinity.
        """
        if self._dense is not None:
            return self._dense
        vertices, values = self._found
        dense = arrays.full(self.graph.n_vertices, unreached(values.dtype), values.dtype, "cpu")
        dense[vertices] = values
        return dense

    @property
    def unreached(self):
        """The value in :attr:`distances` of a vertex that no path reaches."""
        return unreached((self._found[1] if self._dense is None else self._dense).dtype)

    @cached_property
    def _reached(self):
        """Vertices that were reached, ascending, and their distances, on the host."""
        if self._found is not None:
            order = np.argsort(self._found[0], kind="stable")
            return self._found[0][order].astype(np.int64), self._found[1][order]
        distances = arrays.move(self._dense, "cpu")
        vertices = np.flatnonzero(distances != self.unreached)
        return vertices, distances[vertices]

    @cached_property
    def reached(self) -> int:
        """Number of vertices that were reached, the sources among them."""
        if self._found is not None:
            return len(self._found[0])
        return int((self._dense != self.unreached).sum())

    @cached_property
    def eccentricity(self):
        """Largest distance of a vertex that was reached."""
        return self._reached[1].max(initial=0)[()]

    def sizes(self):
        """Vertices at each distance, from 0 on: (levels,) int64 array; for unit distances.

        Raises
        ------
        OptionError
            The distances count weights.
        """
        if self.weighted:
            raise OptionError("sizes() counts levels of a search without weights; use edgewise.bfs")
        return np.bincount(self._reached[1])

    @cached_property
    def parents(self):
        """Smallest vertex before each vertex on a shortest path: (n_vertices,) int64 array.

        Found when first asked for, in one pass over the edges that come in; -1 for the sources and for
        vertices that no path reaches.
        """
        from edgewise.paths.parents import parents_of
        from edgewise.paths.rows import incoming_of

        incoming = incoming_of(self.graph, self._rows)
        weights = self._rows.weights
        negative = bool(len(weights)) and bool(weights.min() < 0)
        return parents_of(incoming, self.distances, self.sources, negative)

    def distance_to(self, target: Any):
        """Distance of the vertex with the id ``target``."""
        return self._distance_of(self.graph.vertices_of([target])[0])

    def _distance_of(self, vertex):
        """Distance of a vertex number; without the dense array where few vertices were found."""
        if self._found is None:
            return self.distances[vertex][()]
        position = np.flatnonzero(self._found[0] == vertex)
        return self._found[1][position[0]] if len(position) else self.unreached

    def path_to(self, target: Any) -> list:
        """Ids of the vertices of a shortest path to ``target``, a source first; empty if none leads there.

        Parameters
        ----------
        target : int or str
            Id of a vertex.

        Raises
        ------
        GraphError
            There is no such vertex.
        """
        vertex = int(self.graph.vertices_of([target])[0])
        if self._distance_of(vertex) == self.unreached:
            return []
        parents, walked = self._parents_on_host, [vertex]
        while parents[walked[-1]] >= 0 and len(walked) <= self.graph.n_vertices:
            walked.append(int(parents[walked[-1]]))
        if walked[-1] not in self.sources:
            raise VerificationError(
                f"no path leads to vertex {vertex}; the graph has changed since the search"
            )
        ids = self.graph.ids_of(np.array(walked[::-1]))
        return ids.tolist() if isinstance(ids, np.ndarray) else ids.to_pylist()

    @cached_property
    def _parents_on_host(self):
        return arrays.move(self.parents, "cpu")

    def on_host(self) -> Distances:
        """Return the result with its distances, and its graph, on the host."""
        dense = None if self._dense is None else arrays.move(self._dense, "cpu")
        return replace(self, graph=self.graph.to("cpu"), _rows=self._rows.on_host(), _dense=dense)

    def to_frame(self) -> pyarrow.Table:
        """Return a table with one row for each vertex that was reached, in vertex order.

        Returns
        -------
        pyarrow.Table
            Columns ``id`` (as it came in) and ``distance``.
        """
        import pyarrow as pa

        vertices, values = self._reached
        return pa.table({"id": self.graph.ids_of(vertices), "distance": values})

    def write(self, path: str) -> None:
        """Write the table of :meth:`to_frame` to a Parquet, CSV or Arrow file, whole or not at all."""
        from edgewise.files import formats

        formats.write(self, path, None)

    def verify(self, graph: Graph | None = None) -> Distances:
        """Check the distances against the graph and return the result.

        Raises
        ------
        VerificationError
            A distance is wrong; the message names a vertex or an edge.
        """
        from edgewise.paths.check import verify

        graph = self.graph if graph is None else graph
        check_same_graph(graph, self.graph.n_vertices, "the result")
        verify(graph, self)
        return self
