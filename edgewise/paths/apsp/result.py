"""What an all-pairs search returns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.device import arrays
from edgewise.errors import GraphError
from edgewise.paths.apsp import output, tight_edges
from edgewise.paths.csr import adjacency_of
from edgewise.paths.result import unreached
from edgewise.paths.sssp.weights import rows_in
from edgewise.result import Result

if TYPE_CHECKING:
    import pyarrow

    from edgewise.paths.csr import Adjacency


@dataclass(frozen=True, eq=False)
class AllPairs(Result):
    """Distances from every vertex, or from chosen ones, to every vertex.

    Attributes
    ----------
    graph : Graph
        The graph they belong to.
    method : str
        Name of the method that computed them.
    seconds : float
        Time of the method alone, and of writing if there is an output.
    devices : tuple of str
        The devices that took part.
    sources : (k,) int64 array
        Vertex number of each row's source, on the host.
    weighted : bool
        Whether the weights of edges count; each edge counts one otherwise.
    distances : (k, n_vertices) array
        On the device of the graph, or that of a file, which is read when it is indexed.  int32 where edges
        count one, else in the type of the weights, or a wider one where that is too narrow.  Where no path
        leads: the largest value of an integer type, or infinity.
    """

    sources: np.ndarray = field(repr=False)
    weighted: bool
    _adjacency: Adjacency = field(repr=False)
    distances: Any = field(repr=False)

    @property
    def unreached(self):
        """The value in :attr:`distances` where no path leads."""
        return unreached(self.distances.dtype)

    @cached_property
    def _row_of(self):
        return {int(vertex): row for row, vertex in enumerate(self.sources)}

    def _distances_from(self, u):
        """Vertex number of ``u`` and the row of its distances, on the host."""
        vertex = int(self.graph.vertices_of([u])[0])
        if vertex not in self._row_of:
            raise GraphError(f"{u!r} is not among the sources; search from it as well")
        return vertex, arrays.move(self.distances[self._row_of[vertex]], "cpu")

    def distance(self, u: Any, v: Any):
        """Distance from ``u`` to ``v``, both ids; :attr:`unreached` where no path leads.

        Parameters
        ----------
        u, v : int or str
            Ids of vertices; ``u`` one of the sources.
        """
        return self._distances_from(u)[1][int(self.graph.vertices_of([v])[0])][()]

    def path(self, u: Any, v: Any) -> list:
        """Ids of the vertices of a shortest path from ``u`` to ``v``, both included; empty if there is none.

        Nothing is stored for it: the path is walked backwards from ``v``, over incoming edges that end a
        shortest path.

        Parameters
        ----------
        u, v : int or str
            Ids of vertices; ``u`` one of the sources.

        Raises
        ------
        GraphError
            There is no such vertex, or ``u`` is no source.
        """
        source, distances = self._distances_from(u)
        target = int(self.graph.vertices_of([v])[0])
        path = tight_edges.shortest_path(self._incoming, distances, source, target, self.unreached)
        return self.graph.ids_of(np.array(path, np.int64)).tolist()

    def next_hop(self, u: Any, v: Any):
        """Id of the vertex after ``u`` on a shortest path to ``v``; ``None`` if there is none.

        Parameters
        ----------
        u, v : int or str
            Ids of vertices; ``u`` one of the sources.
        """
        path = self.path(u, v)
        return path[1] if len(path) > 1 else None

    @cached_property
    def _incoming(self):
        return self._adjacency.incoming.on_host()

    def on_host(self) -> AllPairs:
        """Return the result with its distances, and its graph, on the host."""
        if self.graph.device == "cpu":
            return self
        graph, adjacency = self.graph.to("cpu"), self._adjacency.on_host()
        return replace(self, graph=graph, _adjacency=adjacency, distances=self._matrix())

    def _matrix(self):
        """The distances on the host; a Zarr array, which has no buffer, as it is."""
        return arrays.move(self.distances, "cpu") if hasattr(self.distances, "data") else self.distances

    def to_frame(self) -> pyarrow.Table:
        """Return a table with one row for each pair that a path joins, source by source.

        Returns
        -------
        pyarrow.Table
            Columns ``source`` and ``target`` (ids as they came in) and ``distance``.
        """
        import pyarrow as pa

        distances = arrays.move(self.distances[:], "cpu")
        rows, targets = np.nonzero(distances != self.unreached)
        ends = self.graph.ids_of(self.sources[rows]), self.graph.ids_of(targets)
        return pa.table({"source": ends[0], "target": ends[1], "distance": distances[rows, targets]})

    def write(self, path: str | Path) -> None:
        """Write the distances to a file, whole or not at all.

        Parameters
        ----------
        path : path-like
            A NumPy file (``.npy``) or a Zarr array (``.zarr``) holds the matrix; a Parquet, CSV or Arrow file
            holds the table of :meth:`to_frame`.

        Raises
        ------
        FileError
            The suffix is unknown, or the file cannot be written.
        """
        if Path(path).suffix in output.FORMATS:
            output.write(path, self._matrix())
        else:
            super().write(path)

    def _verify(self, graph):
        adjacency = self._adjacency
        if graph is not self.graph:
            weighted = self.weighted
            adjacency = rows_in(graph, self.distances.dtype.name) if weighted else adjacency_of(graph)
        tight_edges.verify(graph, adjacency.outgoing, self)

    def _plot(self, path):
        from edgewise import plots

        distances = arrays.move(self.distances[:], "cpu")
        reached = distances[distances != self.unreached]
        title = f"{len(reached):,} of {distances.size:,} pairs of vertices joined by a path"
        plots.histogram(reached, path, plots.Labels(title, "distance", "pairs"))
