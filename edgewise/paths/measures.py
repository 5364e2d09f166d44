"""What all distances together say of a graph: eccentricities, closeness, averages; the matrix is not kept.

Rows of distances are found block by block, by any method of :mod:`edgewise.paths.apsp`.  A row tells how far
its source sees, a column how near a vertex is to all others.  Columns are added up source after source, so
that sums of floats come out the same whatever the blocks, threads and devices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.device import arrays, each
from edgewise.graph import Graph
from edgewise.paths.apsp import METHODS
from edgewise.paths.apsp.search import Search, TooLarge, rows_of_a_block
from edgewise.paths.choices import check_asked
from edgewise.paths.distances import unreached

if TYPE_CHECKING:
    import pyarrow

#: Vertices up to which a method may keep the whole matrix.
MOST_WHOLE = 4096


@each
def look_along(row, block, vertices, none, farthest):
    """The largest distance of a row, or ``none`` if a vertex was not reached."""
    largest = block[row * vertices]
    for vertex in range(vertices):
        value = block[row * vertices + vertex]
        if value == none or largest == none:
            largest = none
        else:
            largest = max(largest, value)
    farthest[row] = largest


@each
def add_column(vertex, block, rows, vertices, none, reached, total, inverse):
    """Add a block's distances to ``vertex`` to what was found before, source after source."""
    count, distance, harmonic = reached[vertex], total[vertex], inverse[vertex]
    for row in range(rows):
        value = block[row * vertices + vertex]
        if value != none:
            count += 1
            distance += value
            if value != 0:
                harmonic += 1.0 / value
    reached[vertex], total[vertex], inverse[vertex] = count, distance, harmonic


@dataclass(frozen=True, eq=False)
class DistanceMeasures:
    """Measures of a graph that all its distances give.

    Attributes
    ----------
    graph : Graph
    method : str
        Name of the method that found the distances.
    seconds : float
    weighted : bool
        Whether the edges' weights count; each edge counts one otherwise.
    eccentricities : (n_vertices,) float64 array
        Largest distance from each vertex; infinite where it does not reach all others.
    closeness : (n_vertices,) float64 array
        Closeness centrality by the distances *to* each vertex.
    harmonic : (n_vertices,) float64 array
        Sum of 1 / distance over the distances *to* each vertex that are not zero.
    average_distance : float
        Over all ordered pairs of two vertices; infinite where a pair has no path.
    """

    graph: Graph = field(repr=False)
    method: str
    seconds: float
    weighted: bool
    eccentricities: np.ndarray = field(repr=False)
    closeness: np.ndarray = field(repr=False)
    harmonic: np.ndarray = field(repr=False)
    average_distance: float

    @property
    def diameter(self) -> float:
        """Largest eccentricity; 0 for the empty graph."""
        return float(self.eccentricities.max(initial=0)) if len(self.eccentricities) else 0.0

    @property
    def radius(self) -> float:
        """Smallest eccentricity; 0 for the empty graph."""
        return float(self.eccentricities.min()) if len(self.eccentricities) else 0.0

    @property
    def center(self) -> Any:
        """Ids of the vertices whose eccentricity is the radius; none where that is infinite."""
        return self._ids_at(self.radius)

    @property
    def periphery(self) -> Any:
        """Ids of the vertices whose eccentricity is the diameter; none where that is infinite."""
        return self._ids_at(self.diameter)

    def _ids_at(self, value):
        return self.graph.ids_of(np.flatnonzero((self.eccentricities == value) & np.isfinite(value)))

    def to_frame(self) -> pyarrow.Table:
        """Return a table with one row a vertex, in vertex order.

        Returns
        -------
        pyarrow.Table
            Columns ``id`` (as it came in), ``eccentricity``, ``closeness`` and ``harmonic``.
        """
        import pyarrow as pa

        ids = self.graph.ids_of(np.arange(self.graph.n_vertices))
        columns = {
            "eccentricity": self.eccentricities,
            "closeness": self.closeness,
            "harmonic": self.harmonic,
        }
        return pa.table({"id": ids, **columns})


def distance_measures(
    graph: Graph,
    *,
    method: str = "auto",
    device: str | None = None,
    dtype: str | None = None,
    wf_improved: bool = True,
    progress: Callable[[int, int], Any] | None = None,
) -> DistanceMeasures:
    """Find eccentricities, diameter, radius, center, periphery, closeness and the average distance.

    Definitions are NetworkX's.  Where a vertex does not reach all others, NetworkX refuses to give an
    eccentricity; here it is infinite, as is then the diameter, and the average distance.

    Parameters
    ----------
    graph : Graph
        With or without weights; without them every edge counts one.  In a directed graph eccentricities look
        along the edges, closeness and harmonic centrality at the paths that come in.
    method : str
        A name in ``edgewise.paths.apsp.METHODS``, or ``"auto"``.
    device : str, optional
        ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one); by default where the
        graph lies.
    dtype : {'int32', 'int64', 'float32', 'float64'}, optional
        Type of the distances; by default that of the weights, or a wider one where a distance needs it.
    wf_improved : bool
        Scale closeness by the share of vertices from which a path comes (Wasserman and Faust).
    progress : callable, optional
        Called with the number of blocks of sources that are done and that there are.

    Returns
    -------
    DistanceMeasures

    Raises
    ------
    GraphError
        Weights that are not finite, a negative cycle, distances too large for any type.
    OptionError
        An unknown method or option.
    DeviceError, OutOfMemoryError
        The device is not there, or too small.

    Examples
    --------
    >>> import edgewise as ew
    >>> from edgewise.paths.measures import distance_measures
    >>> found = distance_measures(ew.Graph.from_edges(["a", "b", "c"], ["b", "c", "d"]))
    >>> found.diameter, found.radius, found.center.tolist()
    (3.0, 2.0, ['b', 'c'])
    """
    check_asked(graph, method, METHODS)
    graph = graph if device is None else graph.to(device)
    start = perf_counter()
    search = Search(METHODS, graph, method, dtype, all_sources=graph.n_vertices <= MOST_WHOLE)
    with arrays.guard(graph.device), np.errstate(over="ignore"):
        while True:
            try:
                farthest, reached, total, inverse = _added_up(search, progress or (lambda done, blocks: None))
                break
            except TooLarge:
                search.widen()
    none, n = unreached(search.dtype), graph.n_vertices
    eccentricities = np.where(farthest == none, np.inf, farthest.astype(np.float64))
    closeness = _closeness(reached, total.astype(np.float64), n, wf_improved)
    average = float(total.sum(dtype=np.float64)) / (n * (n - 1)) if n > 1 else 0.0
    if not np.isfinite(eccentricities).all():
        average = np.inf
    seconds = perf_counter() - start
    return DistanceMeasures(
        graph, search.name, seconds, search.weighted, eccentricities, closeness, inverse, average
    )


def _added_up(search, progress):
    """Row maxima, and for every column the sources with a path, their distances and 1 / distances."""
    n, device, dtype = search.graph.n_vertices, search.graph.device, search.dtype
    rows = rows_of_a_block(n, n, dtype)
    block = arrays.empty(min(rows, n) * n, dtype, device)
    farthest = arrays.empty(n, dtype, device)
    reached = arrays.zeros(n, np.int64, device)
    # n distances of 31 bits have a sum of less than 63; those of 63 bits may not, so their sum is rounded.
    total = arrays.zeros(n, np.int64 if dtype == np.int32 else np.float64, device)
    inverse = arrays.zeros(n, np.float64, device)
    none, blocks = dtype.type(unreached(dtype)), -(-n // rows)
    for number in range(blocks):
        sources = np.arange(number * rows, min((number + 1) * rows, n))
        some = block[: len(sources) * n]
        search.into(sources, some)
        look_along(len(sources), some, n, none, farthest[number * rows :])
        add_column(n, some, len(sources), n, none, reached, total, inverse)
        progress(number + 1, blocks)
    return (arrays.move(array, "cpu") for array in (farthest, reached, total, inverse))


def _closeness(reached, total, vertices, wf_improved):
    """Vertices from which a path comes, less the own, for each unit of distance."""
    counted = (total > 0) & (vertices > 1)
    closeness = np.divide(reached - 1.0, total, out=np.zeros(vertices), where=counted)
    return closeness * (reached - 1.0) / (vertices - 1) if wf_improved and vertices > 1 else closeness
