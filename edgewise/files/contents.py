"""What the readers of formats return: edges or rows as the file holds them, ready to become a graph.

The vertices that a file promises are compared with the free memory before anything of their number is
allocated, since a few digits of a header can promise more than any machine holds.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from edgewise.errors import GraphError, argument, warn
from edgewise.files.streams import check_memory
from edgewise.graph import Graph
from edgewise.index_type import index_type
from edgewise.ingest.edges import endpoints_among
from edgewise.ingest.representation import take_origin
from edgewise.ingest.symmetry import first_unmatched_entry, is_symmetric

#: Bytes for each vertex that are needed at least: its id, and the label, count or distance found for it.
BYTES_PER_VERTEX = 16

MARK = b"edgewise"


@dataclass
class Edges:
    """An edge list: columns of external ids, or of vertex numbers where ``n_vertices`` is given.

    ``ids`` are the external ids of the vertex numbers.  The caller may override ``directed``, which is by the
    file, and ``is_stated`` where the file itself says so.  ``weight_name`` is the column of the weights, and
    ``is_assumed`` tells whether the caller did not choose it; ``id_columns`` are names of columns that the
    caller did not choose.
    """

    sources: Any
    targets: Any
    weights: Any = None
    n_vertices: int | None = None
    directed: bool = False
    ids: Any = None
    weight_name: str | None = None
    is_assumed: bool = True
    id_columns: tuple[str, ...] | None = None
    is_stated: bool = False

    def graph(self, directed: bool | None = None, records: Any = None) -> Graph:
        """Make the graph; ``directed`` overrides the file, and ``records`` have the ids of the vertices."""
        if self.ids is None:  # otherwise they are in memory already
            check_room(self.n_vertices or 0)
        arcs = self.directed if directed is None else directed
        if self.is_stated and arcs and not self.directed:
            problem = "the file says that its edges have no direction"
            warn(f"{problem}; each is taken from its first end to the second")
        if records is not None:
            if self.n_vertices is not None:
                raise GraphError(f"{argument('vertices')} needs pairs of ids, and these are vertex numbers")
            ends = writable(self.sources), writable(self.targets)
            (sources, targets), count, ids = endpoints_among(records.known_ids(), *ends)
            edges = sources, targets, writable(self.weights)
            graph = Graph(count, edges=edges, directed=arcs, ids=ids)
            graph.records = records
            return self._named(graph)
        graph = Graph.from_edges(
            self.sources,
            self.targets,
            weights=writable(self.weights),
            n_vertices=self.n_vertices,
            directed=arcs,
        )
        return with_ids(self._named(graph), self.ids)

    def _named(self, graph):
        """The graph, once it knows the names of the columns."""
        graph.weight_name, graph.assumed_columns = self.weight_name, self.id_columns
        graph.assumed_weights = self.weight_name if self.is_assumed else None
        return graph


@dataclass
class Rows:
    """Compressed sparse rows; of an undirected graph symmetric, with every self-loop once."""

    offsets: np.ndarray
    neighbours: np.ndarray
    weights: np.ndarray | None = None
    directed: bool = False
    ids: Any = None
    vertex_weights: np.ndarray | None = None

    def unmatched(self) -> tuple[int, int] | None:
        """The first row and neighbour of an entry without its reverse; ``None`` if the rows are symmetric."""
        kind = index_type(len(self.offsets) - 1)
        return first_unmatched_entry(self.offsets, self.neighbours.astype(kind, copy=False), self.weights)

    def graph(self, directed: bool | None = None) -> Graph:
        """Make the graph; ``directed`` overrides the file."""
        count = len(self.offsets) - 1
        neighbours: np.ndarray = self.neighbours.astype(index_type(count), copy=False)
        rows = tuple(writable(array) for array in (self.offsets, neighbours, self.weights))
        vertex_weights = writable(self.vertex_weights)
        arcs = self.directed or bool(directed)
        graph = Graph(count, rows=rows, directed=arcs, vertex_weights=vertex_weights)
        if self.directed and directed is False:
            edges = graph.sources, graph.targets, graph.weights
            graph = Graph(count, edges=edges, vertex_weights=vertex_weights)
        return with_ids(graph, self.ids)


def matrix_edges(entries, vertices, ids=None, directed=None) -> Edges:
    """Entries (sources, targets, weights) of a square matrix, or arcs, as edges.

    If every entry is there in both directions with the same weight, and the caller does not require
    ``directed``, the graph is undirected and has each edge once.
    """
    if directed or not is_symmetric(*entries):
        sources, targets, weights = entries
        return Edges(sources, targets, weights, vertices, True, ids)
    lower = entries[0] >= entries[1]
    sources, targets, weights = (None if column is None else column[lower] for column in entries)
    return Edges(sources, targets, weights, vertices, False, ids)


def counted_from_one(entries, vertices, directed: bool = False) -> Edges:
    """Edges whose endpoints are vertex numbers from 1 on, which are the external ids."""
    sources, targets, weights = entries
    ids = numbered_from_one(vertices)
    return Edges(from_one(sources), from_one(targets), weights, vertices, directed, ids)


def from_one(numbers):
    """Vertex numbers, of those that count from one."""
    return numbers - numbers.dtype.type(1)


def check_room(vertices: int) -> None:
    """Raise unless there is memory for the vertices that a file promises."""
    check_memory(vertices * BYTES_PER_VERTEX, f"{vertices:,} vertices need")


def check_count(source, promised: int, count: int, line: int) -> None:
    """Raise unless the file holds as many edges as its header, at ``line``, promises."""
    if promised != count:
        problem = f"{promised} edges promised, but {count} found; the file is cut off or the header is wrong"
        raise source.error(problem, line)


def writable(array):
    """The array in one piece and writable, as kernels are compiled for; copied if it is not."""
    if array is None:
        return None
    array = np.ascontiguousarray(array)
    return array if array.flags.writeable else array.copy()


def with_ids(graph: Graph, ids) -> Graph:
    """Give the graph external ids, unless they are the vertex numbers themselves."""
    numbers = isinstance(ids, np.ndarray) and not ids[:1].any()
    if ids is not None and not (numbers and bool((ids == np.arange(len(ids), dtype=ids.dtype)).all())):
        graph.ids = ids
    return graph


def numbered_from_one(count: int) -> np.ndarray:
    """External ids ``1 .. count``: the vertices of files that number them from one."""
    check_room(count)
    return np.arange(1, count + 1, dtype=np.int64)


def redirected(graph, directed):
    """The graph, directed or not as given."""
    if directed is None or directed == graph.directed:
        return graph
    edges = graph.sources, graph.targets, graph.weights
    facts = {"ids": graph.ids, "vertex_weights": graph.vertex_weights}
    other = type(graph)(graph.n_vertices, edges=edges, directed=directed, **facts)
    take_origin(other, graph)
    return other
