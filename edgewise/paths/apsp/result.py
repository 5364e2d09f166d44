"""What an all-pairs search returns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.device import arrays
from edgewise.errors import GraphError
from edgewise.graph import Graph, check_same_graph
from edgewise.paths.result import unreached

if TYPE_CHECKING:
    import pyarrow

    from edgewise.paths.csr import Adjacency


@dataclass(frozen=True, eq=False)
class AllPairs:
    """Distances from every vertex, or from chosen ones, to every vertex.

    Attributes
    ----------
    graph : Graph
        The graph they belong to.
    method : str
        Name of the method that found them.
    seconds : float
        Time of the method alone, and of writing if there is an output.
    sources : (k,) int64 array
        Vertex number of each row's source, on the host.
    weighted : bool
        Whether the edges' weights count; each edge counts one otherwise.
    distances : (k, n_vertices) array
        Where the graph lies, or a file's that is read when looked at.  int32 where edges count one, else in
        the type of the weights, or a wider one where that is too narrow.  Where no path leads: the largest
        value of an integer type, or infinity.
    """

    graph: Graph = field(repr=False)
    method: str
    seconds: float
    sources: np.ndarray = field(repr=False)
    weighted: bool
    _rows: Adjacency = field(repr=False)
    distances: Any = field(repr=False)

    @property
    def unreached(self):
        """The value in :attr:`distances` where no path leads."""
        return unreached(self.distances.dtype)

    @cached_property
    def _line_of(self):
        return {int(vertex): line for line, vertex in enumerate(self.sources)}

    def _line(self, u):
        """Vertex number of ``u`` and the row of its distances, on the host."""
        vertex = int(self.graph.vertices_of([u])[0])
        if vertex not in self._line_of:
            raise GraphError(f"{u!r} is not among the sources; search from it, too")
        return vertex, arrays.move(self.distances[self._line_of[vertex]], "cpu")

    def distance(self, u: Any, v: Any):
        """Distance from ``u`` to ``v``, both ids; :attr:`unreached` where no path leads.

        Parameters
        ----------
        u, v : int or str
            Ids of vertices; ``u`` one of the sources.
        """
        return self._line(u)[1][int(self.graph.vertices_of([v])[0])][()]

    def path(self, u: Any, v: Any) -> list:
        """Ids of the vertices of a shortest path from ``u`` to ``v``, both included; empty if there is none.

        Nothing is stored for it: the path is walked backwards from ``v``, over edges that come in and end a
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
        from edgewise.paths.apsp.walk import walk_back

        source, line = self._line(u)
        walked = walk_back(self._incoming, line, source, int(self.graph.vertices_of([v])[0]), self.unreached)
        return self.graph.ids_of(np.array(walked, np.int64)).tolist()

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
        return self._rows.incoming.on_host()

    def on_host(self) -> AllPairs:
        """Return the result with its distances, and its graph, on the host."""
        if self.graph.device == "cpu":
            return self
        distances = self.distances
        if not isinstance(distances, np.ndarray) or type(distances) is arrays.Simulated:
            distances = arrays.move(distances, "cpu")  # else it is a file's
        return replace(self, graph=self.graph.to("cpu"), _rows=self._rows.on_host(), distances=distances)

    def to_frame(self) -> pyarrow.Table:
        """Return a table with one row for each pair that a path joins, source by source.

        Returns
        -------
        pyarrow.Table
            Columns ``source`` and ``target`` (ids as they came in) and ``distance``.
        """
        import pyarrow as pa

        distances = arrays.move(self.distances[:], "cpu")
        lines, targets = np.nonzero(distances != self.unreached)
        columns = self.graph.ids_of(self.sources[lines]), self.graph.ids_of(targets)
        names = {"source": columns[0], "target": columns[1], "distance": distances[lines, targets]}
        return pa.table(names)

    def verify(self, graph: Graph | None = None) -> AllPairs:
        """Check the distances against the graph and return the result.

        Raises
        ------
        VerificationError
            A distance is wrong; the message names a source and a vertex.
        """
        from edgewise.paths.apsp.walk import verify

        graph = self.graph if graph is None else graph
        check_same_graph(graph, self.graph.n_vertices, "the result")
        verify(self if graph is self.graph else replace(self, graph=graph, _rows=self._rows_like(graph)))
        return self

    def _rows_like(self, graph):
        from edgewise.paths.csr import adjacency_of
        from edgewise.paths.sssp.weights import rows_in

        return rows_in(graph, self.distances.dtype.name) if self.weighted else adjacency_of(graph)
