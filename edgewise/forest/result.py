"""The result of a spanning forest: its edges, their weights, its trees, and what thresholds make of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from edgewise import tuning
from edgewise.cached_property import cached_property
from edgewise.components import Components, connected_components
from edgewise.components.threshold_limits import is_reached
from edgewise.device import arrays
from edgewise.errors import GraphError, OptionError, argument
from edgewise.forest.order import order_of, words_of
from edgewise.forest.positions import positions_of, rows_of
from edgewise.forest.trees import kept_entries
from edgewise.index_type import as_labels
from edgewise.method import Option, is_number, worker_names
from edgewise.primitives import count, take
from edgewise.result import Result, cached_array, counted

if TYPE_CHECKING:
    from pathlib import Path

    from edgewise.forest.explanation import Explanation
    from edgewise.forest.split import SplitComponents
    from edgewise.ingest.frames import Frame
    from edgewise.transactions.statistics import Rounds


@dataclass(frozen=True, eq=False, repr=False)
class SpanningForest(Result):
    """A spanning forest of a graph.

    The table has one row per edge of the forest, in the order of the graph's edge list: ``source`` and
    ``target`` (ids as they came in) and ``weight``.

    Attributes
    ----------
    graph, method, seconds, devices
        As in :class:`~edgewise.result.Result`.
    maximum : bool
        Whether it is the forest of largest weight.
    transactions : Rounds or None
        Commits, aborts and abort rate of the method that uses transactions.
    """

    _n_ids: ClassVar[int] = 2

    _hooked_by: Any
    _labels: Any
    maximum: bool = False
    _of_rows: bool = False
    transactions: Rounds | None = field(default=None, kw_only=True)

    def _uses_weights(self):
        return True

    @cached_array
    def _entries(self):
        """Positions of the edges in the arrays that the method has read, ascending."""
        with arrays.guard(arrays.device_of(self._hooked_by)):
            n_entries = len(self.graph.neighbours) if self._of_rows else self.graph.n_edges
            return kept_entries(self._hooked_by, n_entries)

    @cached_array
    def edges(self) -> np.ndarray:
        """Positions of the edges in the edge list of the graph, ascending: (n_edges,) int64 array."""
        if not self._of_rows:
            return self._entries
        with arrays.guard(self.graph.device):
            return positions_of(self._entries, self.sources, self.graph)

    @cached_array
    def sources(self) -> np.ndarray:
        """First end of each edge: (n_edges,) vertex numbers."""
        if not self._of_rows:
            return take(self.graph.sources, self._entries)
        with arrays.guard(self.graph.device):
            return rows_of(self._entries, self.graph)

    @cached_array
    def targets(self) -> np.ndarray:
        """Second end of each edge: (n_edges,) vertex numbers."""
        return take(self.graph.neighbours if self._of_rows else self.graph.targets, self._entries)

    @cached_array
    def weights(self) -> np.ndarray:
        """Weight of each edge: (n_edges,) array."""
        return take(self.graph.csr_weights if self._of_rows else self.graph.weights, self._entries)

    @cached_property
    def weight(self) -> int | float:
        """Sum of the weights: an exact integer, or a float that is added up in the order of the edges."""
        weights = arrays.on_host_if_small(self.weights)
        if weights.dtype != np.int64:
            weights = arrays.move(weights, "cpu")
        if weights.dtype.kind == "f":
            return float(weights.sum(dtype=np.float64))
        with arrays.guard(arrays.device_of(weights)):
            if len(weights) and max(-int(weights.min()), int(weights.max())) * len(weights) < 2**63:
                return int(weights.sum(dtype=np.int64))
        wide = arrays.move(weights, "cpu").astype(np.int64, copy=False)
        return (int((wide >> 32).sum()) << 32) + int((wide & 0xFFFFFFFF).sum(dtype=np.uint64))

    @property
    def n_edges(self) -> int:
        """Number of edges: that of the vertices less that of the trees."""
        return len(self._entries)

    @property
    def count(self) -> int:
        """Number of trees, which is that of the connected components."""
        return self.graph.n_vertices - self.n_edges

    @property
    def labels(self) -> np.ndarray:
        """Smallest vertex number of each vertex's tree: (n_vertices,) int32 or int64 array."""
        return as_labels(self._labels)

    def _arrow(self, rows=None):
        import pyarrow as pa

        from edgewise.ingest.arrow import arrow_array

        ends = {"source": self.sources[:rows], "target": self.targets[:rows]}
        columns = {name: arrow_array(self.graph.ids_of(vertices)) for name, vertices in ends.items()}
        return pa.table({**columns, "weight": arrow_array(arrays.move(self.weights[:rows], "cpu"))})

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
        device, n = self.graph.device, self.graph.n_vertices
        with arrays.guard(device):
            counts = self._counts(threshold)
            if device == "cpu" and n + self.n_edges < tuning.CPU.components_alone:
                return self._components(counts, threshold)
            from edgewise.components.nested import labels_at
            from edgewise.components.thresholds import nested_components

            arrays.synchronize(device)
            start = perf_counter()
            nested = nested_components(n, self.sources, self.targets, counts.view(np.uint8))
            labels = labels_at(nested, 1)
            arrays.synchronize(device)
        return Components(
            self.graph,
            "rem",
            perf_counter() - start,
            labels,
            devices=worker_names(device),
            threshold=threshold,
            maximum=self.maximum,
        )

    def first(self, count: int) -> Components:
        """Return the connected components by the first edges of the forest, in their order.

        Parameters
        ----------
        count : int
            Number of edges: the lightest ones, in a forest of largest weight the heaviest ones.  Each joins
            two components, so there are ``n_vertices - count`` components.

        Raises
        ------
        OptionError
            The count is not a whole number from 0 to :attr:`n_edges`.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges(["a", "b", "a"], ["b", "c", "c"], weights=[3, 5, 4])
        >>> ew.minimum_spanning_forest(graph).first(1).labels.tolist()
        [0, 0, 2]
        """
        if not is_number(count, whole=True) or not 0 <= count <= self.n_edges:
            raise OptionError(f"{argument('count', count)} must be a whole number from 0 to {self.n_edges:,}")
        return self._components(self.ranked[:count])

    def _components(self, chosen, threshold=None):
        """The components by some edges of the forest, chosen by their positions or by booleans."""
        from edgewise.forest.split import part_of

        found = connected_components(part_of(self, chosen))
        own = {"devices": found.devices, "threshold": threshold, "maximum": self.maximum}
        return Components(self.graph, found.method, found.seconds, found._labels, **own)

    def path(self, source: Any, target: Any) -> Frame:
        """Return the path between two ids in the forest, whose worst edge is the best of all paths.

        In a forest of largest weight, no path of the graph has a larger least weight; in one of least weight,
        no path has a smaller largest weight.

        Parameters
        ----------
        source, target : id
            As in the input; vertex numbers if the graph has no ids.

        Returns
        -------
        pyarrow.Table, pandas.DataFrame or polars.DataFrame
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
        return self._framed(self.explain(source, target).path)

    def explain(self, source: Any, target: Any) -> Explanation:
        """Return why two ids are in one cluster: the path of :meth:`path`, and its weakest edge.

        Of the edges of equal weight, the one that comes last in the order of the edges is the weakest.

        Parameters
        ----------
        source, target : id
            As in the input; vertex numbers if the graph has no ids.

        Returns
        -------
        Explanation
            Its ``threshold`` is the last one at which :meth:`components` has both in one component.

        Raises
        ------
        GraphError
            An id is not in the graph, or no path joins the two.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges(["a", "b", "a"], ["b", "c", "c"], weights=[0.9, 0.4, 0.8])
        >>> why = ew.minimum_spanning_forest(graph, maximum=True).explain("b", "c")
        >>> why.weakest, why.threshold
        ({'source': 'a', 'target': 'c', 'weight': 0.8}, 0.8)
        >>> print(why)
        b and c are together by 2 edges, the weakest between a and c; they part above 0.8
        """
        from edgewise.forest.explanation import explained

        return explained(self.tree, source, target)[0]

    def split(
        self,
        *,
        max_size: int | None = None,
        must: Any = None,
        cannot: Any = None,
        threshold: float | None = None,
    ) -> SplitComponents:
        """Return the components, of bounded size and as decisions about pairs want them.

        Parameters
        ----------
        max_size : int, optional
            Largest number of vertices of a component.  A larger one loses its weakest edge in the forest, and
            so do its parts, until none is too large.  Of edges of equal weight, the one that comes last in
            the edge list of the graph is the weakest.
        must, cannot : pairs of ids, table or path, optional
            Pairs that must be in one component, and pairs that cannot be: a list such as ``[("a", "b")]``, a
            table or a file with two columns of ids, or a graph whose edges they are.  Pairs that must be
            together are joined first, and then the edges join components in their order, the strongest first,
            each unless it would bring two together that cannot be.
        threshold : number, optional
            Only edges up to it count, as in :meth:`components`.

        Returns
        -------
        SplitComponents
            With everything that :class:`Components` has, and :meth:`~SplitComponents.cut`,
            :meth:`~SplitComponents.conflicts` and :meth:`~SplitComponents.explain`.

        Raises
        ------
        OptionError
            The size is not a whole number from 1 on, or the threshold is not a number; decisions join more
            vertices than the size allows.
        GraphError
            Decisions contradict each other, or name an id that is not in the graph.

        Notes
        -----
        Where decisions cut a tree twice, edges of the graph outside of the forest may hold its parts
        together; a streamed forest has no others than its own.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges(["a", "b", "c"], ["b", "c", "d"], weights=[0.9, 0.6, 0.8])
        >>> forest = ew.minimum_spanning_forest(graph, maximum=True)
        >>> forest.split(max_size=3).to_frame("min").to_pydict()["cluster"]
        ['a', 'a', 'c', 'c']
        >>> forest.split(cannot=[("a", "d")], must=[("b", "c")]).to_frame("min").to_pydict()["cluster"]
        ['a', 'a', 'a', 'd']
        """
        from edgewise.forest.decisions import decisions_of
        from edgewise.forest.split import split

        if max_size is not None or (must is None and cannot is None):
            Option().check("max_size", max_size)
            max_size = int(max_size)  # type: ignore[arg-type]
        decisions = decisions_of(self.graph, must, cannot)
        return split(self, max_size, decisions, self._reached(threshold), threshold)

    def _reached(self, threshold):
        """How many edges, in their order, count at a threshold."""
        if threshold is None:
            return self.n_edges
        with arrays.guard(self.graph.device):
            return count(self._counts(threshold))

    def _counts(self, threshold):
        """Whether each edge counts at a threshold."""
        check_threshold(threshold)
        return is_reached(threshold, self.weights, at_most=not self.maximum)

    def single_linkage(self) -> np.ndarray:
        """Return the hierarchy of single-linkage clustering; see :func:`edgewise.single_linkage`."""
        from edgewise.forest.linkage import hierarchy_of

        return hierarchy_of(self)

    @cached_array
    def ranked(self) -> np.ndarray:
        """Positions among :attr:`edges`, the lightest edge first: (n_edges,) int64 array on the host.

        With ``maximum=True`` the heaviest comes first.
        """
        order = order_of(np.ascontiguousarray(arrays.move(self.weights, "cpu")), self.maximum)
        return np.argsort(words_of(order), kind="stable")

    @cached_property
    def tree(self):
        """The edges on the host, by the rows of their ends."""
        from edgewise.forest.explanation import tree_of

        host = self.on_host()
        return tree_of(self.graph, host.sources, host.targets, host.weights, self.maximum)

    def _verify(self, graph):
        from edgewise.forest.certificate import verify

        verify(graph, self)

    def _certificate(self):
        from edgewise.forest.certificate import prove

        return prove(self.graph, self.edges, maximum=self.maximum)

    def _plot(self, path):
        from edgewise import plots

        labels = plots.Labels(self._title(), "weight of an edge", "edges of the forest")
        plots.histogram(arrays.move(self.weights, "cpu"), path, labels)

    def plot_dendrogram(self, path: str | Path) -> None:
        """Draw the hierarchy of single linkage into a picture file (needs matplotlib).

        Of more than 60 vertices, the last 60 clusters are shown with their sizes.  Trees are not joined.  In
        a forest of largest weight, the weights fall upwards.

        Parameters
        ----------
        path : path-like
            Its suffix says the kind of picture: ``.png``, ``.svg``, ``.pdf``.

        Raises
        ------
        GraphError
            The graph has fewer than two vertices, or an edge of infinite weight.
        """
        from edgewise import plots
        from edgewise.forest.linkage import linkage

        n, top = self.graph.n_vertices, 0.0
        if n < 2:
            raise GraphError("a dendrogram joins two vertices or more; give a larger graph")
        rows = linkage(self.on_host())
        heights = rows[: self.n_edges, 2]
        if not np.isfinite(heights).all():
            raise GraphError("a dendrogram has finite heights; leave edges of infinite weight out")
        if self.maximum and self.n_edges:
            top = float(heights[0])
            rows[: self.n_edges, 2] = top - heights
        names = (
            [str(one) for one in self.graph.ids_of(np.arange(n)).tolist()] if n <= plots.MAX_LEAVES else []
        )
        across = "vertices" if names else "clusters, with their sizes, or vertices"
        plots.dendrogram(rows, names, path, plots.Labels(self._title(), across, "weight"), top)

    def _answer(self):
        return self._title()

    def _title(self):
        kind = "heaviest" if self.maximum else "lightest"
        weight = f"{self.weight:,}" if isinstance(self.weight, int) else f"{self.weight:,.6g}"
        edges = counted(self.n_edges, "edge")
        return f"{kind} spanning forest: {edges} of weight {weight}, {counted(self.count, 'tree')}"


def check_threshold(threshold):
    """Raise :class:`~edgewise.errors.OptionError` unless it is a number that weights can be compared with."""
    is_number = isinstance(threshold, (int, float, np.integer, np.floating)) and threshold == threshold
    if not is_number or isinstance(threshold, bool):
        raise OptionError(f"{argument('threshold', threshold)} must be a number")
