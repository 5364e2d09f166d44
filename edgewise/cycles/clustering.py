"""Clustering coefficients: how many neighbours are neighbours of each other, or share another neighbour.

Definitions are NetworkX's, on the graph without self-loops and repeated edges.  With ``d`` neighbours and
``t`` triangles a vertex has the coefficient ``2 t / (d (d - 1))``; transitivity is the same quotient of sums
over all vertices.  The square clustering of a vertex (Lind, González & Herrmann 2005) counts the 4-cycles
through it beside those that its neighbours' other edges could make:
``c4 / ((d - 1) * sum of neighbours' degrees - d (d - 1) - 2 t - c4)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.cycles import cycle_counts
from edgewise.cycles.counting.on_edges import edge_triangles
from edgewise.cycles.counting.ranking import ranked_of
from edgewise.cycles.result import Cycles, exact_sum
from edgewise.device import arrays, each
from edgewise.errors import VerificationError
from edgewise.front import CallOptions, front
from edgewise.graph import Graph
from edgewise.result import Result, cached_array, counted

if TYPE_CHECKING:
    from pathlib import Path

    from edgewise.ingest.frames import Frame


@each
def divide(vertex, offsets, rank, triangles, coefficients):
    """Share of pairs of neighbours that are neighbours."""
    row = np.int64(rank[vertex])
    degree = offsets[row + 1] - offsets[row]
    coefficients[vertex] = 0.0 if degree < 2 else 2 * triangles[vertex] / (degree * (degree - 1))


@each
def divide_squares(vertex, offsets, neighbours, rank, triangles, squares, coefficients):
    """Share of the 4-cycles that the edges of the neighbours could form."""
    row, around = np.int64(rank[vertex]), np.int64(0)
    degree, count = offsets[row + 1] - offsets[row], squares[vertex]
    for entry in range(offsets[row], offsets[row + 1]):
        other = np.int64(neighbours[entry])
        around += offsets[other + 1] - offsets[other]
    possible = (degree - 1) * (around - degree) - 2 * triangles[vertex] - count
    coefficients[vertex] = count / possible if possible > 0 else 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Clustering(Result):
    """Triangles and clustering coefficients of a graph's vertices.

    Attributes
    ----------
    graph, method, seconds, devices
        As in :class:`~edgewise.result.Result`; the method is that of counting triangles, and ``seconds`` are
        those from the graph to the coefficients.
    triangles : (n_vertices,) int64 array
        Triangles through each vertex, in vertex order, on the device of the graph.
    coefficients : (n_vertices,) float64 array
        Clustering coefficient of each vertex: 0 where it has less than two neighbours.
    n_self_loops, n_duplicates : int
        Edges that were ignored: self-loops, and those whose endpoints an earlier edge joins.
    """

    _main: ClassVar[str | None] = "coefficient"

    triangles: np.ndarray
    coefficients: np.ndarray
    n_self_loops: int = 0
    n_duplicates: int = 0

    def degrees(self) -> np.ndarray:
        """Neighbours of each vertex, each counted once, itself not: (n_vertices,) int64 array."""
        with arrays.guard(self.graph.device):
            ranked = ranked_of(self.graph)
            return (ranked.offsets[1:] - ranked.offsets[:-1])[ranked.rank]

    @cached_property
    def transitivity(self) -> float:
        """Share of paths of two edges whose ends are neighbours; 0 where there are no triangles."""
        with arrays.guard(self.graph.device):
            closed, degrees = 2 * exact_sum(self.triangles), self.degrees()
            return closed / exact_sum(degrees * (degrees - 1)) if closed else 0.0

    @cached_property
    def average(self) -> float:
        """Mean coefficient of all vertices; 0 for the empty graph."""
        coefficients = arrays.move(self.coefficients, "cpu")
        return float(coefficients.mean()) if len(coefficients) else 0.0

    @cached_array
    def squares(self) -> np.ndarray:
        """Square clustering coefficient of each vertex, counted on first use: (n_vertices,) float64 array.

        Raises
        ------
        GraphError
            A vertex may be on too many 4-cycles.
        """
        graph = self.graph
        counts = cycle_counts(graph, 4).counts
        with arrays.guard(graph.device):
            ranked = ranked_of(graph)
            coefficients = arrays.empty(graph.n_vertices, np.float64, graph.device)
            rows = ranked.offsets, ranked.neighbours, ranked.rank
            divide_squares(graph.n_vertices, *rows, self.triangles, counts, coefficients)
        return coefficients

    def edge_triangles(self) -> Frame:
        """Return a table with one row per edge, without self-loops and repeated edges.

        Returns
        -------
        pyarrow.Table, pandas.DataFrame or polars.DataFrame
            Columns ``source`` and ``target`` (ids as they came in), and ``triangles`` (int32) through the
            edge.  The source comes before the target in the order of the vertices, and edges in the order of
            both.
        """
        import pyarrow as pa

        from edgewise.ingest.arrow import arrow_array

        with arrays.guard(self.graph.device):
            ranked = ranked_of(self.graph)
            triangles = arrays.move(edge_triangles(ranked), "cpu")
        vertex = np.empty(ranked.n_vertices, np.int64)
        vertex[arrays.move(ranked.rank, "cpu")] = np.arange(ranked.n_vertices)
        lengths = np.diff(arrays.move(ranked.offsets, "cpu"))
        one, other = np.repeat(vertex, lengths), vertex[arrays.move(ranked.neighbours, "cpu")]
        once = np.flatnonzero(one < other)
        once = once[np.lexsort((other[once], one[once]))]
        ids = {
            name: arrow_array(self.graph.ids_of(endpoints[once]))
            for name, endpoints in {"source": one, "target": other}.items()
        }
        return self._framed(pa.table({**ids, "triangles": arrow_array(triangles[once])}))

    def _answer(self):
        average = f"average clustering {self.average:.3g}, transitivity {self.transitivity:.3g}"
        return f"{average} of {counted(self.graph.n_vertices, 'vertex')}"

    def _columns(self) -> dict[str, Any]:
        return {"triangles": self.triangles, "coefficient": self.coefficients}

    def _verify(self, graph: Any) -> None:
        Cycles(self.graph, self.method, self.seconds, 3, self.triangles).verify(graph)
        degrees = arrays.move(self.degrees(), "cpu")
        pairs = np.maximum(degrees * (degrees - 1), 1)
        expected = np.where(degrees < 2, 0.0, 2 * arrays.move(self.triangles, "cpu") / pairs)
        wrong = np.flatnonzero(arrays.move(self.coefficients, "cpu") != expected)
        if len(wrong):
            raise VerificationError(f"the coefficient of vertex {wrong[0]} does not belong to its triangles")

    def _plot(self, path: str | Path) -> None:
        from edgewise import plots

        title = f"average clustering {self.average:.3g}, transitivity {self.transitivity:.3g}"
        labels = plots.Labels(title, "clustering coefficient", "vertices")
        plots.histogram(arrays.move(self.coefficients, "cpu"), path, labels)


@front
def clustering(
    graph: Graph,
    *,
    device: str | None = None,
    devices: str | Sequence[str] | None = None,
    **options: Unpack[CallOptions],
) -> Clustering:
    """Find the triangles through every vertex, and what share of its neighbours are neighbours.

    Parameters
    ----------
    graph : Graph
        An undirected one; weights do not matter, self-loops and repeated edges are ignored.
        :meth:`Graph.undirected` takes the edges of a directed one in both directions.
    device, devices
        As for :func:`edgewise.cycle_counts`.

    Returns
    -------
    Clustering
        Its ``coefficients`` are an (n_vertices,) float64 array; square clustering, and triangles through
        every edge, are counted on first use.

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
    >>> result = ew.clustering(graph)
    >>> result.triangles.tolist(), result.coefficients.round(3).tolist()
    ([1, 1, 1, 0], [0.333, 1.0, 1.0, 0.0])
    >>> round(result.transitivity, 3)
    0.6
    """
    start = perf_counter()
    counted = cycle_counts(graph, 3, device=device, devices=devices)
    graph, where = counted.graph, counted.graph.device
    with arrays.guard(where):
        coefficients = arrays.empty(graph.n_vertices, np.float64, where)
        ranked = ranked_of(graph)
        divide(graph.n_vertices, ranked.offsets, ranked.rank, counted.counts, coefficients)
        arrays.synchronize(where)
    seconds = perf_counter() - start
    numbers = counted.counts, coefficients, counted.n_self_loops, counted.n_duplicates
    return Clustering(graph, counted.method, seconds, *numbers, devices=counted.devices)
