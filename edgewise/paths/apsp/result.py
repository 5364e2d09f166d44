"""What an all-pairs search returns; its paths and its check, both by tight edges.

An edge is *tight* if it ends a shortest path: ``distance[u] + weight == distance[v]``.  Walking back over
tight edges leads to the source.  Where weights are zero there may be cycles of tight edges, so a walk never
enters a vertex twice and turns back where it cannot continue.

Distances are right if no edge would shorten one (then none is too long) and if every vertex with a distance
is reached from the source over tight edges (then none is too short).  For floats, equal means equal within a
fraction of the distance itself, or of the largest of the rows where weights are negative, since sums of large
numbers may then be small.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.device import arrays, compiled, device, fetch_add
from edgewise.errors import GraphError, VerificationError
from edgewise.paths.apsp import output
from edgewise.paths.csr import adjacency_of, unreached
from edgewise.paths.sssp.weights import rows_in
from edgewise.primitives.thread_pool import ThreadPool
from edgewise.result import Result, counted

if TYPE_CHECKING:
    from typing import Self

    from edgewise.paths.csr import Adjacency


#: Relative error that rounding may leave, in units of the last place.
ROUNDINGS = 4096
#: Rows of distances that are checked at a time.
ROWS = 256


class Tolerance(NamedTuple):
    """How far a sum may be off: a number, and a fraction of its size; zeros for integers."""

    slack: Any
    share: Any


class Rows(NamedTuple):
    """Rows of distances to check.

    ``distances`` (k * n,) from ``sources`` (k,) int64 have the value ``none`` where no path leads.  ``wrong``
    (k,) int64 takes a vertex of each row with a wrong distance, or -1; ``next_row`` (1,) int64 is a counter.
    """

    sources: Any
    distances: Any
    none: Any
    wrong: Any
    next_row: Any


class RowSearch(NamedTuple):
    """The search of one worker: ``reached`` (n,) uint8, and its ``queue`` (n,) of int64."""

    reached: Any
    queue: Any


def tolerance_of(distances, none, weights):
    """The tolerance for sums of a type: :class:`Tolerance`."""
    kind = distances.dtype.type
    if distances.dtype.kind != "f":
        return Tolerance(kind(0), kind(0))
    share = kind(ROUNDINGS * np.finfo(distances.dtype).eps)
    if not len(weights) or weights.min() >= 0:
        return Tolerance(kind(0), share)
    return Tolerance(share * np.abs(distances[distances != none]).max(initial=0), share)


def shortest_path(incoming, distances, source, target, none):
    """Vertices of a shortest path by the (n,) distances from its source; empty if there is none."""
    if distances[target] == none:
        return []
    tolerance = tolerance_of(distances, none, incoming.weights)

    def predecessors(vertex):
        return iter(_tight(incoming, distances, vertex, none, tolerance))

    seen, path, stack = {target}, [target], [predecessors(target)]
    while path[-1] != source:
        other = next((u for u in stack[-1] if u not in seen), None)
        if other is None:  # a dead end of edges with weight zero
            path.pop()
            stack.pop()
            if not path:
                raise VerificationError("the distances do not fit the graph; has it changed since?")
            continue
        seen.add(other)
        path.append(other)
        stack.append(predecessors(other))
    return path[::-1]


def _tight(incoming, distances, vertex, none, tolerance):
    """Vertices with a tight edge to ``vertex``, the best fit first, then by number."""
    entries = slice(incoming.offsets[vertex], incoming.offsets[vertex + 1])
    others = incoming.neighbours[entries].astype(np.int64)
    weights = incoming.weights[entries] if len(incoming.weights) else np.ones(len(others), np.int64)
    reached = distances[others] != none
    others, weights = others[reached], weights[reached]
    wide = np.float64 if distances.dtype.kind == "f" else np.int64
    gaps = np.abs(distances[others].astype(wide) + weights - distances[vertex])
    order = np.lexsort((others, gaps))
    largest = tolerance.slack + tolerance.share * abs(wide(distances[vertex]))
    return others[order][gaps[order] <= largest].tolist()


@device
def check_row(row, csr, rows, tolerance, search):
    """A vertex whose distance from the source of the row is wrong, or -1."""
    distances, none, source, (reached, queue) = rows.distances, rows.none, rows.sources[row], search
    vertices = len(csr.offsets) - 1
    line = row * vertices
    for vertex in range(vertices):
        reached[vertex] = 0
    reached[source], queue[0] = 1, source
    head, tail = 0, 1
    if abs(distances[line + source]) > tolerance.slack:
        return np.int64(source)
    while head < tail:
        vertex = queue[head]
        head += 1
        for entry in range(csr.offsets[vertex], csr.offsets[vertex + 1]):
            other = np.int64(csr.neighbours[entry])
            weight = csr.weights[entry] if len(csr.weights) else distances.dtype.type(1)
            if distances[line + other] == none:
                return other
            gap = distances[line + vertex] + weight - distances[line + other]
            largest = tolerance.slack + tolerance.share * abs(distances[line + other])
            if gap < -largest:
                return other
            if reached[other] == 0 and gap <= largest:
                reached[other], queue[tail] = 1, other
                tail += 1
    for vertex in range(vertices):
        if reached[vertex] == 0 and distances[line + vertex] != none:
            return np.int64(vertex)
    return np.int64(-1)


@compiled
def check_rows(csr, rows, tolerance, search):
    """Check rows, taken from the counter, until none is left."""
    row = fetch_add(rows.next_row, 0, 1)
    while row < len(rows.sources):
        rows.wrong[row] = check_row(row, csr, rows, tolerance, search)
        row = fetch_add(rows.next_row, 0, 1)


def verify_rows(graph, csr, result):
    """Check the distances of a result against the rows of a graph, with weights of the type of the distances.

    Raises VerificationError; the message names a source and a vertex.
    """
    csr, n = csr.on_host(), graph.n_vertices
    for first in range(0, len(result.sources), ROWS):
        block = np.ascontiguousarray(arrays.move(result.distances[first : first + ROWS], "cpu"))
        sources, wrong = result.sources[first : first + ROWS], np.empty(len(block), np.int64)
        none, next_row = block.dtype.type(result.unreached), np.zeros(1, np.int64)
        rows = Rows(np.ascontiguousarray(sources), block.reshape(-1), none, wrong, next_row)
        pool = ThreadPool(len(block), 9 * n)
        searches = [RowSearch(np.empty(n, np.uint8), np.empty(n, np.int64)) for _ in range(pool.n_workers)]
        tolerance = tolerance_of(block, none, csr.weights)
        pool.starmap(check_rows, [(csr, rows, tolerance, search) for search in searches])
        if (wrong >= 0).any():
            row = int((wrong >= 0).argmax())
            one, other = graph.ids_of(np.array([sources[row], wrong[row]])).tolist()
            raise VerificationError(f"the distance from {one!r} to {other!r} is wrong")


class DistanceMatrix(Result):
    """Distances from ``sources`` (k,), in rows, to vertices, in columns, which a result derives from this."""

    _n_ids: ClassVar[int] = 2
    _nested: ClassVar[bool] = True

    sources: np.ndarray
    distances: np.ndarray

    def _targets_at(self, columns):
        """Vertex numbers of columns."""
        raise NotImplementedError

    def _rows_for(self, rows):
        """Sources whose distances make so many rows of the table; all of them if ``rows`` is None."""
        return None

    @property
    def unreached(self) -> int | float:
        """The value in :attr:`distances` where no path leads."""
        return unreached(self.distances.dtype)

    @property
    def reachable(self) -> np.ndarray:
        """Whether a path leads from each source to each target: a bool array as :attr:`distances`."""
        distances = self.distances[:]
        return arrays.namespace(distances).not_equal(distances, self.unreached)

    def _matrix(self):
        """The distances on the host; a Zarr array, which has no buffer, as it is."""
        return arrays.move(self.distances, "cpu") if hasattr(self.distances, "data") else self.distances

    def on_host(self) -> Self:
        """Return the result with its distances, and its graph, on the host."""
        if self.graph.device == "cpu":
            return self
        moved: dict[str, Any] = {"distances": self._matrix()}
        return replace(self, graph=self.graph.to("cpu"), **moved)

    def _arrow(self, rows=None):
        import pyarrow as pa

        from edgewise.ingest.arrow import arrow_array

        distances = arrays.move(self.distances[: self._rows_for(rows)], "cpu")
        row, column = (positions[:rows] for positions in np.nonzero(distances != self.unreached))
        ends = self.graph.ids_of(self.sources[row]), self.graph.ids_of(self._targets_at(column))
        names, columns = ("source", "target", "distance"), (*ends, distances[row, column])
        return pa.table(dict(zip(names, map(arrow_array, columns), strict=True)))

    def write(self, path: str | Path) -> None:
        """Write the distances to a file, whole or not at all.

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

    def _plot(self, path):
        from edgewise import plots

        distances = arrays.move(self.distances[:], "cpu")
        reached = distances[distances != self.unreached]
        title = f"{len(reached):,} of {distances.size:,} pairs of vertices joined by a path"
        plots.histogram(reached, path, plots.Labels(title, "distance", "pairs"))


@dataclass(frozen=True, eq=False, repr=False)
class AllPairs(DistanceMatrix):
    """Distances from every vertex, or from chosen ones, to every vertex.

    The table has one row for each pair that a path joins, source by source: ``source`` and ``target`` (ids as
    they came in) and ``distance``.

    Attributes
    ----------
    graph, method, seconds, devices
        As in :class:`~edgewise.result.Result`; the time includes writing if there is an output.
    sources : (k,) int64 array
        Vertex number of each row's source, on the host.
    weighted : bool
        Whether the weights of edges count; each edge counts one otherwise.
    distances : (k, n_vertices) array
        On the device of the graph, or that of a file, which is read when it is indexed.  int32 where edges
        count one, else in the type of the weights, or a wider one where that is too narrow.  Where no path
        leads: the largest value of an integer type, or infinity.
    """

    sources: np.ndarray
    weighted: bool
    _adjacency: Adjacency
    distances: np.ndarray

    @cached_property
    def _row_of(self):
        return {int(vertex): row for row, vertex in enumerate(self.sources)}

    def _distances_from(self, u):
        """Vertex number of ``u`` and the row of its distances, on the host."""
        vertex = int(self.graph.vertices_of([u])[0])
        if vertex not in self._row_of:
            raise GraphError(f"{u!r} is not among the sources; search from it as well")
        return vertex, arrays.move(self.distances[self._row_of[vertex]], "cpu")

    def distance(self, u: Any, v: Any) -> int | float:
        """Distance from ``u``, one of the sources, to ``v``, both ids; infinity where no path leads."""
        distance = self._distances_from(u)[1][int(self.graph.vertices_of([v])[0])][()]
        return math.inf if distance == self.unreached else distance

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
        path = shortest_path(self._incoming, distances, source, target, self.unreached)
        return self.graph.ids_of(np.array(path, np.int64)).tolist()

    def next_hop(self, u: Any, v: Any) -> Any:
        """Id of the vertex after ``u``, one of the sources, on a shortest path to ``v``, or ``None``."""
        path = self.path(u, v)
        return path[1] if len(path) > 1 else None

    @cached_property
    def _incoming(self):
        return self._adjacency.incoming.on_host()

    def on_host(self) -> Self:
        """Return the result with its distances, and its graph, on the host."""
        if self.graph.device == "cpu":
            return self
        return replace(super().on_host(), _adjacency=self._adjacency.on_host())

    def _targets_at(self, columns):
        return columns

    def _rows_for(self, rows):
        return rows  # each source reaches itself, so few rows have no more sources than rows

    def _answer(self):
        vertices = counted(self.graph.n_vertices, "vertex")
        return f"distances from {counted(len(self.sources), 'source')} to {vertices}"

    def _certificate(self):
        from edgewise.paths.route_certificate import prove_table

        return prove_table(self.graph, self.sources, None, self.distances[:], weighted=self.weighted)

    def _verify(self, graph):
        adjacency = self._adjacency
        if graph is not self.graph:
            weighted = self.weighted
            adjacency = rows_in(graph, self.distances.dtype.name) if weighted else adjacency_of(graph)
        verify_rows(graph, adjacency.outgoing, self)
