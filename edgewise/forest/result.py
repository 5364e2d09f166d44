"""The result of a spanning forest: its edges, their weights, its trees, and what thresholds make of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.components import Components, connected_components
from edgewise.components.result import as_labels
from edgewise.device import arrays
from edgewise.errors import GraphError, OptionError, argument
from edgewise.forest.order import order_of, words_of
from edgewise.forest.trees import NO_EDGE
from edgewise.graph import Graph
from edgewise.ingest.edges import row_numbers
from edgewise.result import Result

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True, eq=False)
class SpanningForest(Result):
    """A spanning forest of a graph.

    Attributes
    ----------
    graph, method, seconds, devices
        As in :class:`~edgewise.result.Result`.
    maximum : bool
        Whether it is the forest of largest weight.
    """

    _hooked_by: Any = field(repr=False)
    _labels: Any = field(repr=False)
    maximum: bool = False
    _of_rows: bool = field(default=False, repr=False)

    @cached_property
    def _entries(self):
        """Positions of the edges in the arrays that the method has read, ascending."""
        with arrays.guard(arrays.device_of(self._hooked_by)):
            entries = self._hooked_by[self._hooked_by != NO_EDGE]
            entries.sort()
            return entries

    @cached_property
    def edges(self):
        """Positions of the edges in the edge list of the graph, ascending: (n_edges,) int64 array."""
        if not self._of_rows:
            return self._entries
        offsets, neighbours = self.graph.offsets, self.graph.neighbours
        with arrays.guard(self.graph.device):
            is_listed = row_numbers(offsets, neighbours.dtype) <= neighbours
            return arrays.namespace(neighbours).cumsum(is_listed)[self._entries] - 1

    @cached_property
    def sources(self):
        """First end of each edge: (n_edges,) vertex numbers."""
        if not self._of_rows:
            return self.graph.sources[self._entries]
        with arrays.guard(self.graph.device):
            xp, offsets = arrays.namespace(self._entries), self.graph.offsets
            rows = xp.searchsorted(offsets[1:], self._entries, side="right")
            return rows.astype(self.graph.neighbours.dtype)

    @cached_property
    def targets(self):
        """Second end of each edge: (n_edges,) vertex numbers."""
        return (self.graph.neighbours if self._of_rows else self.graph.targets)[self._entries]

    @cached_property
    def weights(self):
        """Weight of each edge: (n_edges,) array."""
        return (self.graph.csr_weights if self._of_rows else self.graph.weights)[self._entries]

    @cached_property
    def weight(self) -> int | float:
        """Sum of the weights: an exact integer, or a float that is added up in the order of the edges."""
        weights = arrays.move(self.weights, "cpu")
        if weights.dtype.kind == "f":
            return float(weights.sum(dtype=np.float64))
        weights = weights.astype(np.int64, copy=False)
        return (int((weights >> 32).sum()) << 32) + int((weights & 0xFFFFFFFF).sum())

    @property
    def n_edges(self) -> int:
        """Number of edges: that of the vertices less that of the trees."""
        return len(self._entries)

    @property
    def count(self) -> int:
        """Number of trees, which is that of the connected components."""
        return self.graph.n_vertices - self.n_edges

    @property
    def labels(self):
        """Smallest vertex number of each vertex's tree: (n_vertices,) int32 or int64 array."""
        return as_labels(self._labels)

    def to_frame(self) -> pyarrow.Table:
        """Return a table with one row per edge of the forest, in the order of the graph's edge list.

        Returns
        -------
        pyarrow.Table
            Columns ``source`` and ``target`` (the ids, as they came in) and ``weight``.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges(["a", "b", "a"], ["b", "c", "c"], weights=[3, 5, 4])
        >>> ew.minimum_spanning_forest(graph).to_frame().to_pydict()
        {'source': ['a', 'a'], 'target': ['b', 'c'], 'weight': [3, 4]}
        """
        import pyarrow as pa

        from edgewise.ingest.arrow import arrow_array

        ends = {"source": self.sources, "target": self.targets}
        columns = {name: arrow_array(self.graph.ids_of(vertices)) for name, vertices in ends.items()}
        return pa.table({**columns, "weight": arrow_array(arrays.move(self.weights, "cpu"))})

    def components(self, threshold: float) -> Components:
        """Return the connected components by the edges of the graph up to a threshold.

        Parameters
        ----------
        threshold : number
            Edges of at most this weight count, in a forest of largest weight those of at least this weight.

        Raises
        ------
        OptionError
            The threshold is not a number.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges(["a", "b", "a"], ["b", "c", "c"], weights=[0.9, 0.4, 0.8])
        >>> forest = ew.minimum_spanning_forest(graph, maximum=True)
        >>> [forest.components(least).count for least in (0.95, 0.85, 0.5)]
        [3, 2, 1]
        """
        check_threshold(threshold)
        with arrays.guard(self.graph.device):
            counts = self.weights >= threshold if self.maximum else self.weights <= threshold
            edges = self.sources[counts], self.targets[counts], None
        kept = Graph(self.graph.n_vertices, edges=edges)
        found = connected_components(kept)
        return Components(self.graph, found.method, found.seconds, found._labels, devices=found.devices)

    def path(self, source: Any, target: Any) -> pyarrow.Table:
        """Return the path between two ids in the forest, whose worst edge is the best of all paths.

        In a forest of largest weight, no path of the graph has a larger least weight; in one of least weight,
        no path has a smaller largest weight.

        Parameters
        ----------
        source, target : id
            As in the input; vertex numbers if the graph has no ids.

        Returns
        -------
        pyarrow.Table
            Columns ``source``, ``target`` and ``weight``: one row per edge, in the order of the path; no row
            if the two are equal.

        Raises
        ------
        GraphError
            An id is not in the graph, or no path joins the two.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges(["a", "b", "a"], ["b", "c", "c"], weights=[0.9, 0.4, 0.8])
        >>> ew.minimum_spanning_forest(graph, maximum=True).path("b", "c").to_pydict()
        {'source': ['b', 'a'], 'target': ['a', 'c'], 'weight': [0.9, 0.8]}
        """
        from edgewise.forest.linkage import edges_between

        one, other = self.graph.vertices_of([source, target]).tolist()
        host = self.on_host()
        if host.labels[one] != host.labels[other]:
            raise GraphError(f"no path joins {source!r} and {target!r}: they are in different components")
        return edges_between(host, one, other)

    def single_linkage(self):
        """Return the hierarchy of single-linkage clustering in the form of SciPy.

        Returns
        -------
        (n_vertices - 1, 4) float64 array
            As of :func:`scipy.cluster.hierarchy.linkage`: the two clusters that a row joins, the weight of
            the edge, and the number of vertices.  Vertices are clusters ``0`` to ``n_vertices - 1``, row
            ``i`` makes cluster ``n_vertices + i``.  Trees are joined by rows of infinite weight at the end.

        Raises
        ------
        GraphError
            The graph has no vertex, or the forest is one of largest weight, whose weights fall; take
            distances, such as one minus the score.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges([0, 1, 0], [1, 2, 2], weights=[3.0, 5.0, 4.0], n_vertices=3)
        >>> ew.minimum_spanning_forest(graph).single_linkage().tolist()
        [[0.0, 1.0, 3.0, 2.0], [2.0, 3.0, 4.0, 3.0]]
        """
        from edgewise.forest.linkage import linkage

        if self.maximum:
            raise GraphError(
                f"single linkage joins the nearest first; use distances and {argument('maximum', False)}"
            )
        if not self.graph.n_vertices:
            raise GraphError("there is nothing to link: the graph is empty")
        return linkage(self.on_host())

    @cached_property
    def ranked(self):
        """Positions among :attr:`edges`, the lightest edge first: (n_edges,) int64 array on the host.

        With ``maximum=True`` the heaviest comes first.
        """
        order = order_of(np.ascontiguousarray(arrays.move(self.weights, "cpu")), self.maximum)
        return np.argsort(words_of(order), kind="stable")

    def _verify(self, graph):
        from edgewise.forest.verification import verify

        verify(graph, self)

    def _plot(self, path):
        from edgewise import plots

        labels = plots.Labels(self._title(), "weight of an edge", "edges of the forest")
        plots.histogram(arrays.move(self.weights, "cpu"), path, labels)

    def _title(self):
        kind = "heaviest" if self.maximum else "lightest"
        return (
            f"{kind} spanning forest: {self.n_edges:,} edges of weight {self.weight:,}, {self.count:,} trees"
        )


def check_threshold(threshold):
    """Raise :class:`~edgewise.errors.OptionError` unless it is a number that weights can be compared with."""
    is_number = isinstance(threshold, (int, float, np.integer, np.floating)) and threshold == threshold
    if not is_number or isinstance(threshold, bool):
        raise OptionError(f"{argument('threshold', threshold)} must be a number")
