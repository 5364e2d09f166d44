"""Clustering: how often neighbours are neighbours of each other, or share another neighbour.

Definitions are NetworkX's, on the graph without self-loops and repeated edges.  With ``d`` neighbours and
``t`` triangles a vertex has the coefficient ``2 t / (d (d - 1))``; transitivity is the same quotient of sums
over all vertices.  The square clustering of a vertex (Lind, González & Herrmann 2005) counts the 4-cycles
through it beside those that its neighbours' other edges could make:
``c4 / ((d - 1) * sum of neighbours' degrees - d (d - 1) - 2 t - c4)``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.cycles import cycle_counts
from edgewise.cycles.counting.ranked import ranked_of
from edgewise.cycles.counting.triangles import edge_triangles
from edgewise.cycles.result import exact_sum
from edgewise.device import arrays, each
from edgewise.graph import Graph

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow


@each
def look_up_degree(vertex, offsets, rank, degrees):
    """Number of neighbours of a vertex, which stand in the row of its rank."""
    row = np.int64(rank[vertex])
    degrees[vertex] = offsets[row + 1] - offsets[row]


@each
def divide(vertex, degrees, triangles, coefficients):
    """Share of pairs of neighbours that are neighbours."""
    degree = degrees[vertex]
    coefficients[vertex] = 0.0 if degree < 2 else 2 * triangles[vertex] / (degree * (degree - 1))


@each
def divide_squares(vertex, offsets, neighbours, rank, triangles, squares, coefficients):
    """Share of the 4-cycles that neighbours' edges could make."""
    row, reached = np.int64(rank[vertex]), np.int64(0)
    degree, found = offsets[row + 1] - offsets[row], squares[vertex]
    for entry in range(offsets[row], offsets[row + 1]):
        other = np.int64(neighbours[entry])
        reached += offsets[other + 1] - offsets[other]
    possible = (degree - 1) * (reached - degree) - 2 * triangles[vertex] - found
    coefficients[vertex] = found / possible if possible > 0 else 0.0


@dataclass(frozen=True, eq=False)
class Clustering:
    """Triangles and clustering coefficients of a graph's vertices.

    Attributes
    ----------
    graph : Graph
        The graph they belong to.
    seconds : float
        Time of counting triangles, from the graph to the coefficients.
    triangles : (n_vertices,) int64 array
        Triangles through each vertex, in vertex order, where the graph lies.
    coefficients : (n_vertices,) float64 array
        Clustering coefficient of each vertex: 0 where it has less than two neighbours.
    loops, repeats : int
        Edges that were ignored: self-loops, and those whose ends an earlier edge joins.
    """

    graph: Graph = field(repr=False)
    seconds: float
    triangles: Any = field(repr=False)
    coefficients: Any = field(repr=False)
    loops: int = 0
    repeats: int = 0

    @cached_property
    def degrees(self):
        """Neighbours of each vertex, each counted once, itself not: (n_vertices,) int64 array."""
        with arrays.guard(arrays.device_of(self.triangles)):
            return _degrees(ranked_of(self.graph))

    @cached_property
    def transitivity(self) -> float:
        """Share of paths of two edges whose ends are neighbours; 0 where there are no triangles."""
        with arrays.guard(arrays.device_of(self.triangles)):
            closed, degrees = 2 * exact_sum(self.triangles), self.degrees
            return closed / exact_sum(degrees * (degrees - 1)) if closed else 0.0

    @cached_property
    def average(self) -> float:
        """Mean coefficient of all vertices; 0 for the empty graph."""
        coefficients = arrays.move(self.coefficients, "cpu")
        return float(coefficients.mean()) if len(coefficients) else 0.0

    @cached_property
    def squares(self):
        """Square clustering coefficient of each vertex, counted when first asked for: (n_vertices,) float64.

        Raises
        ------
        GraphError
            A vertex may be on too many 4-cycles.
        """
        graph = self.graph
        counts = cycle_counts(graph, 4, undirected=True).counts
        with arrays.guard(graph.device):
            ranked = ranked_of(graph)
            found = arrays.empty(graph.n_vertices, np.float64, graph.device)
            rows = ranked.offsets, ranked.neighbours, ranked.rank
            divide_squares(graph.n_vertices, *rows, self.triangles, counts, found)
        return found

    def edge_triangles(self) -> pyarrow.Table:
        """Return a table with one row an edge, without self-loops and repeated edges.

        Returns
        -------
        pyarrow.Table
            Columns ``source`` and ``target`` (ids as they came in), and ``triangles`` (int32) through the
            edge.  The source comes before the target in the order of the vertices, and edges in the order of
            both.
        """
        import pyarrow as pa

        from edgewise.files.clusters import arrow_array

        with arrays.guard(self.graph.device):
            ranked = ranked_of(self.graph)
            found = arrays.move(edge_triangles(ranked), "cpu")
        vertex = np.empty(ranked.n_vertices, np.int64)
        vertex[arrays.move(ranked.rank, "cpu")] = np.arange(ranked.n_vertices)
        lengths = np.diff(arrays.move(ranked.offsets, "cpu"))
        one, other = np.repeat(vertex, lengths), vertex[arrays.move(ranked.neighbours, "cpu")]
        once = np.flatnonzero(one < other)
        once = once[np.lexsort((other[once], one[once]))]
        ids = {
            name: arrow_array(self.graph.ids_of(ends[once]))
            for name, ends in {"source": one, "target": other}.items()
        }
        return pa.table({**ids, "triangles": arrow_array(found[once])})

    def on_host(self) -> Clustering:
        """Return the result with its arrays, and its graph, on the host."""
        moved = {name: arrays.move(getattr(self, name), "cpu") for name in ("triangles", "coefficients")}
        return replace(self, graph=self.graph.to("cpu"), **moved)

    def to_frame(self) -> pyarrow.Table:
        """Return a table with one row a vertex, in vertex order.

        Returns
        -------
        pyarrow.Table
            Columns ``id`` (as it came in), ``triangles`` and ``coefficient``.
        """
        import pyarrow as pa

        from edgewise.files.clusters import arrow_array

        host = self.on_host()
        ids = self.graph.ids if self.graph.ids is not None else np.arange(len(host.triangles), dtype=np.int64)
        columns = {"id": ids, "triangles": host.triangles, "coefficient": host.coefficients}
        return pa.table({name: arrow_array(column) for name, column in columns.items()})

    def write(self, path: str | Path) -> None:
        """Write the table of :meth:`to_frame` to a Parquet, CSV or Arrow file, whole or not at all."""
        from edgewise.files import write

        write(self, path)


def clustering(graph: Graph, *, undirected: bool = False, device: str | None = None) -> Clustering:
    """Find the triangles through every vertex, and what share of its neighbours are neighbours.

    Parameters
    ----------
    graph : Graph
        An undirected one; weights do not matter, self-loops and repeated edges are ignored.
    undirected : bool
        Take the edges of a directed graph in both directions.
    device : str, optional
        ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one); by default where the
        graph lies.

    Returns
    -------
    Clustering
        Its ``coefficients`` are an (n_vertices,) float64 array; square clustering, and triangles through
        every edge, are found when they are asked for.

    Raises
    ------
    GraphError
        The graph is directed.
    OptionError
        No graph at all.
    DeviceError, OutOfMemoryError
        The device is not there, or too small.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.Graph.from_edges(["a", "b", "c", "d"], ["b", "c", "a", "a"])
    >>> found = ew.clustering(graph)
    >>> found.triangles.tolist(), found.coefficients.round(3).tolist()
    ([1, 1, 1, 0], [0.333, 1.0, 1.0, 0.0])
    >>> round(found.transitivity, 3)
    0.6
    """
    start = perf_counter()
    found = cycle_counts(graph, 3, undirected=undirected, device=device)
    graph, where = found.graph, found.graph.device
    with arrays.guard(where):
        degrees = _degrees(ranked_of(graph))
        coefficients = arrays.empty(graph.n_vertices, np.float64, where)
        divide(graph.n_vertices, degrees, found.counts, coefficients)
        arrays.synchronize(where)
    return Clustering(graph, perf_counter() - start, found.counts, coefficients, found.loops, found.repeats)


def _degrees(ranked):
    degrees = arrays.empty(ranked.n_vertices, np.int64, ranked.device)
    look_up_degree(ranked.n_vertices, ranked.offsets, ranked.rank, degrees)
    return degrees
