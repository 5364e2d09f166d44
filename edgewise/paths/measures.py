"""Measures of a graph that need all its distances: eccentricities, closeness, averages.

Rows of distances are computed block by block, by any method of :mod:`edgewise.paths.apsp`, and not kept.
Those of sweeps over a hierarchy are reduced where they are (:mod:`edgewise.paths.hierarchy.reductions`).
Columns are added up in the order of the sources, so that sums of floats do not depend on blocks, threads and
devices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np

from edgewise.device import arrays, each
from edgewise.errors import GraphError, VerificationError, argument
from edgewise.front import reporter
from edgewise.graph import Graph
from edgewise.method import check_graph, check_method, on_device, worker_names
from edgewise.paths.apsp import METHODS
from edgewise.paths.apsp.search import BLOCK_BYTES, Search, TooLarge, rows_of_a_block
from edgewise.paths.csr import unreached
from edgewise.result import Result, counted
from edgewise.weights import WeightOptions, weighted_front

if TYPE_CHECKING:
    import pyarrow

#: Vertices whose measures are verified.
SAMPLE = 8


@each
def row_maximum(row, block, vertices, none, farthest):
    """Store the largest distance of a row, or ``none`` if a vertex is not reached."""
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
    """Add the distances of a block's sources to ``vertex`` to the sums of the blocks before."""
    count, distance, harmonic = reached[vertex], total[vertex], inverse[vertex]
    for row in range(rows):
        value = block[row * vertices + vertex]
        if value != none:
            count += 1
            distance += value
            if value != 0:
                harmonic += 1.0 / value
    reached[vertex], total[vertex], inverse[vertex] = count, distance, harmonic


@dataclass(frozen=True, eq=False, repr=False)
class DistanceMeasures(Result):
    """Measures of a graph that need all its distances.

    Attributes
    ----------
    graph, method, seconds, devices
        As in :class:`~edgewise.result.Result`; the method is that of the distances.
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

    weighted: bool
    eccentricities: np.ndarray
    closeness: np.ndarray
    harmonic: np.ndarray
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
    def center(self) -> np.ndarray | pyarrow.Array:
        """Ids of the vertices whose eccentricity is the radius; none where that is infinite."""
        return self._ids_at(self.radius)

    @property
    def periphery(self) -> np.ndarray | pyarrow.Array:
        """Ids of the vertices whose eccentricity is the diameter; none where that is infinite."""
        return self._ids_at(self.diameter)

    def _ids_at(self, value):
        return self.graph.ids_of(np.flatnonzero((self.eccentricities == value) & np.isfinite(value)))

    def _answer(self):
        vertices = counted(self.graph.n_vertices, "vertex")
        return f"diameter {self.diameter:g}, radius {self.radius:g} of {vertices}"

    def _columns(self):
        return {"eccentricity": self.eccentricities, "closeness": self.closeness, "harmonic": self.harmonic}

    def _verify(self, graph):
        """Compare the eccentricities and harmonic centralities of a sample with verified searches."""
        from edgewise.paths.bfs import bfs
        from edgewise.paths.sssp import shortest_paths

        graph, n = graph.to("cpu"), graph.n_vertices
        backward = graph
        if graph.directed:
            endpoints, options = (graph.targets, graph.sources), {"n_vertices": n, "directed": True}
            backward = Graph.from_edges(*endpoints, weights=graph.weights, **options)
        search = shortest_paths if self.weighted else bfs
        for vertex in np.unique(np.linspace(0, n - 1, min(n, SAMPLE), dtype=np.int64)):
            forth, back = (search(one, one.ids_of([vertex])[0]).verify() for one in (graph, backward))
            farthest = np.inf if forth.n_reached < n else forth.eccentricity
            distances = back.distances[(back.distances != back.unreached) & (back.distances != 0)]
            right = farthest, (1.0 / distances).sum()
            held = self.eccentricities[vertex], self.harmonic[vertex]
            if not np.allclose(held, right, rtol=1e-5):
                raise VerificationError(
                    f"vertex {vertex} has the eccentricity {held[0]} and the harmonic centrality {held[1]}, "
                    f"but searches from it and to it give {right[0]} and {right[1]}"
                )

    def _plot(self, path):
        from edgewise import plots

        title = f"diameter {self.diameter:g}, radius {self.radius:g}"
        finite = self.eccentricities[np.isfinite(self.eccentricities)]
        plots.histogram(finite, path, plots.Labels(title, "eccentricity", "vertices"))


@weighted_front
def distance_measures(
    graph: Graph,
    *,
    method: str = "auto",
    device: str | None = None,
    dtype: Literal["int32", "int64", "float32", "float64"] | None = None,
    wf_improved: bool = True,
    client: Any = None,
    **options: Unpack[WeightOptions],
) -> DistanceMeasures:
    """Find eccentricities, diameter, radius, center, periphery, closeness and the average distance.

    Definitions are NetworkX's, but the eccentricity of a vertex that does not reach all others is infinite,
    and then so are the diameter and the average distance, where NetworkX raises an error.

    Parameters
    ----------
    graph : Graph
        With or without weights; without them every edge counts one, and infinite weights are no edges.  In a
        directed graph eccentricities look along the edges, closeness and harmonic centrality at the paths
        that come in.
    method : str
        A name in ``edgewise.paths.apsp.METHODS``, or ``"auto"``: ``phast`` for a graph that is prepared for
        routes.
    device : str, optional
        ``"cpu"``, ``"gpu"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one); by default that of
        the graph.
    dtype : {'int32', 'int64', 'float32', 'float64'}, optional
        Type of the distances; by default that of the weights, or a wider one where a distance needs it.
    wf_improved : bool
        Scale closeness by the share of vertices from which a path comes (Wasserman and Faust).
    client : distributed.Client or concurrent.futures.Executor, optional
        Its workers share the searches, each with its own copy of the graph; the distances come back to the
        caller, who adds them up.

    Returns
    -------
    DistanceMeasures

    Raises
    ------
    GraphError
        Weights that are NaN or minus infinity, a negative cycle, distances too large for any type,
        eccentricities that are integers beyond 2**53 and would be rounded.
    OptionError
        An unknown method or option.
    DeviceError, OutOfMemoryError
        The device is not there, or too small.
    WorkerError
        The workers of ``client`` cannot take part, have another version of edgewise, or were lost.

    Examples
    --------
    >>> import edgewise as ew
    >>> from edgewise.paths.measures import distance_measures
    >>> measures = distance_measures(ew.Graph.from_edges(["a", "b", "c"], ["b", "c", "d"]))
    >>> measures.diameter, measures.radius, measures.center.tolist()
    (3.0, 2.0, ['b', 'c'])
    """
    check_graph(graph)
    check_method(method, METHODS, {})
    methods = METHODS
    if client is not None:
        from edgewise.paths.apsp.by_workers import WorkerRows, check_places, without_hierarchy

        check_places(device, None)
        methods, device = without_hierarchy(METHODS, method), "cpu"
    graph = on_device(graph, device)
    start, progress = perf_counter(), reporter() or (lambda done, blocks: None)
    whole = client is None and 8 * graph.n_vertices**2 <= BLOCK_BYTES  # a matrix as large as a block
    search = Search(methods, graph, method, dtype, all_sources=whole)
    found_in: Any = partial(_searched, search)
    names = worker_names(graph.device)
    if client is not None:
        workers = WorkerRows(search, client, "repeat the call")
        found_in, names = workers.blocks_in_order, workers.names
    with arrays.guard(graph.device), np.errstate(over="ignore"):
        while True:
            try:
                summed = _swept if search.name == "phast" else partial(_added_up, found_in)
                farthest, reached, total, inverse = summed(search, progress)
                break
            except TooLarge:
                search.widen()
    none, n = unreached(search.dtype), graph.n_vertices
    eccentricities = np.where(farthest == none, np.inf, farthest.astype(np.float64))
    closeness = _closeness(reached, total.astype(np.float64), n, wf_improved)
    average = float(total.sum(dtype=np.float64)) / (n * (n - 1)) if n > 1 else 0.0
    if not np.isfinite(eccentricities).all():
        average = np.inf
    run = graph, search.name, perf_counter() - start
    _check_exact(graph, farthest, eccentricities)
    measures = eccentricities, closeness, inverse
    return DistanceMeasures(*run, search.weighted, *measures, average, devices=names)


def _check_exact(graph, farthest, eccentricities):
    """Refuse eccentricities that are integers and no float64."""
    if farthest.dtype != np.int64:
        return
    with np.errstate(invalid="ignore"):
        rounded = np.isfinite(eccentricities) & (eccentricities.astype(np.int64) != farthest)
    if rounded.any():
        vertex = int(rounded.argmax())
        raise GraphError(
            f"the eccentricity of vertex {graph.ids_of([vertex])[0]} is {farthest[vertex]}, which a float64 "
            f"does not hold exactly; use {argument('dtype', 'float64')} for rounded distances"
        )


def _searched(search, blocks):
    """Yield the distances from the sources of each block, which those of the next one replace."""
    n = search.graph.n_vertices
    whole = arrays.empty(max(map(len, blocks), default=0) * n, search.dtype, search.graph.device)
    for sources in blocks:
        some = whole[: len(sources) * n]
        search.into(sources, some)
        yield some


def _swept(search, progress):
    """The same as :func:`_added_up` by a hierarchy, batch by batch."""
    from edgewise.paths.hierarchy.phast import sweeps_of
    from edgewise.paths.hierarchy.reductions import reduced

    sweeps = sweeps_of(search.adjacency, search.dtype)
    found = sweeps and reduced(sweeps, np.arange(search.graph.n_vertices), progress)
    if found is None:
        raise TooLarge
    return found


def _added_up(found_in, search, progress):
    """Row maxima, and for each column: sources with a path, sums of distances and of 1 / distances."""
    n, device, dtype = search.graph.n_vertices, search.graph.device, search.dtype
    rows = rows_of_a_block(n, n, dtype)
    farthest = arrays.empty(n, dtype, device)
    reached = arrays.zeros(n, np.int64, device)
    # n distances of 31 bits have a sum of less than 63; those of 63 bits may not, so their sum is rounded.
    total = arrays.zeros(n, np.int64 if dtype == np.int32 else np.float64, device)
    inverse = arrays.zeros(n, np.float64, device)
    none, vertices = dtype.type(unreached(dtype)), np.arange(n)
    blocks = [vertices[first : first + rows] for first in range(0, n, rows)]
    for number, some in enumerate(found_in(blocks)):
        height = len(blocks[number])
        row_maximum(height, some, n, none, farthest[number * rows :])
        add_column(n, some, height, n, none, reached, total, inverse)
        progress(number + 1, len(blocks))
    return (arrays.move(array, "cpu") for array in (farthest, reached, total, inverse))


def _closeness(reached, total, vertices, wf_improved):
    """Closeness: number of other vertices from which a path comes, divided by the sum of their distances."""
    counted = (total > 0) & (vertices > 1)
    closeness = np.divide(reached - 1.0, total, out=np.zeros(vertices), where=counted)
    return closeness * (reached - 1.0) / (vertices - 1) if wf_improved and vertices > 1 else closeness
