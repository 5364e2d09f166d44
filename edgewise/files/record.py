"""What the pages hand to the front: edges or rows as the file holds them, ready to become a graph."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from edgewise.graph import Graph
from edgewise.index_type import index_type


@dataclass
class Edges:
    """An edge list.

    Attributes
    ----------
    sources, targets : (m,) integer or Arrow string arrays
        External ids; vertex numbers where ``n_vertices`` is given.
    weights : (m,) array or None
    n_vertices : int or None
    directed : bool
        What the file says; the caller may overrule it.
    ids : (n_vertices,) array or None
        External ids of the vertex numbers.
    """

    sources: Any
    targets: Any
    weights: Any = None
    n_vertices: int | None = None
    directed: bool = False
    ids: Any = None

    def graph(self, directed: bool | None = None) -> Graph:
        """Make the graph; ``directed`` overrules the file."""
        directed = self.directed if directed is None else directed
        graph = Graph.from_edges(
            self.sources,
            self.targets,
            weights=writable(self.weights),
            n_vertices=self.n_vertices,
            directed=directed,
        )
        return with_ids(graph, self.ids)


@dataclass
class Rows:
    """Compressed sparse rows; of an undirected graph symmetric, with every self-loop once."""

    offsets: np.ndarray
    neighbours: np.ndarray
    weights: np.ndarray | None = None
    directed: bool = False
    ids: Any = None
    vertex_weights: np.ndarray | None = None

    def graph(self, directed: bool | None = None) -> Graph:
        """Make the graph; ``directed`` overrules the file."""
        count = len(self.offsets) - 1
        neighbours = self.neighbours.astype(index_type(count), copy=False)
        rows = tuple(writable(array) for array in (self.offsets, neighbours, self.weights))
        graph = Graph(
            count,
            rows=rows,
            directed=self.directed or bool(directed),
            vertex_weights=writable(self.vertex_weights),
        )
        if self.directed and directed is False:
            graph = Graph(
                count,
                edges=(graph.sources, graph.targets, graph.weights),
                vertex_weights=graph.vertex_weights,
            )
        return with_ids(graph, self.ids)


def writable(array):
    """The array in one piece and writable, as kernels are compiled for; copied if it is not."""
    if array is None:
        return None
    array = np.ascontiguousarray(array)
    return array if array.flags.writeable else array.copy()


def with_ids(graph: Graph, ids) -> Graph:
    """Give the graph external ids, unless they are the vertex numbers themselves."""
    if ids is not None and not (isinstance(ids, np.ndarray) and _is_range(ids)):
        graph.ids = ids
    return graph


def _is_range(ids):
    return bool((ids == np.arange(len(ids), dtype=ids.dtype)).all())


def numbered_from_one(count: int) -> np.ndarray:
    """External ids ``1 .. count``: what files that number from one call their vertices."""
    return np.arange(1, count + 1, dtype=np.int64)


def settings(graph: Graph) -> dict:
    """What an edge list alone does not say, to be kept beside it."""
    return {"vertices": graph.n_vertices, "directed": int(graph.directed), "numbered": int(graph.ids is None)}
