"""The result of several thresholds: nested components, and one table of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.components.cluster_table import ClusterTable, sizes_at_roots
from edgewise.components.naming import name_givers_of_levels
from edgewise.components.nested import (
    check_nested,
    counts_and_largest,
    labels_at,
    labels_of,
    write_level,
)
from edgewise.components.result import ClusterResult, Components, Name
from edgewise.components.threshold_limits import is_reached
from edgewise.device import arrays
from edgewise.device.threads import few_steps
from edgewise.errors import GraphError, OptionError, argument
from edgewise.graph import Graph
from edgewise.index_type import as_labels, index_type
from edgewise.ingest.arrow import arrow_array
from edgewise.result import cached_array, counted

if TYPE_CHECKING:
    from edgewise.ingest.frames import Frame, Kind

#: Before the threshold in the names of columns.
CLUSTER = "cluster_"
#: Rows of a block, which has many columns.
BLOCK = 1 << 18


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdComponents(ClusterResult):
    """Connected components of the edges of at least a weight, for several thresholds of the weight.

    Attributes
    ----------
    graph, method, seconds, devices
        As in :class:`~edgewise.result.Result`.
    thresholds : tuple of numbers
        Ascending.  The components at one are unions of those at the next.
    edge_counts : (thresholds,) int64 array
        Number of edges of at least each threshold, on the host.
    """

    thresholds: tuple[Any, ...]
    edge_counts: np.ndarray
    _nested_words: Any
    _weights: Any

    def _uses_weights(self):
        return True

    @cached_array
    def labels(self) -> np.ndarray:
        """Smallest vertex number of each vertex's component, at each threshold.

        Returns
        -------
        (thresholds, n_vertices) int32 or int64 array
        """
        n, count = self.graph.n_vertices, len(self.thresholds)
        device = arrays.device_of(self._nested_words)
        with arrays.guard(device):
            labels = arrays.empty(count * n, index_type(n), device).reshape(count, n)
            for level, of_level in enumerate(labels, 1):
                write_level(n, level, self._nested_words, of_level)
        return as_labels(labels)

    def at(self, threshold: float) -> Components:
        """Return the components at one of the thresholds.

        Parameters
        ----------
        threshold : number

        Raises
        ------
        OptionError
            It is none of the thresholds.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges(["a", "b"], ["b", "c"], weights=[0.9, 0.8])
        >>> ew.connected_components(graph, thresholds=[0.8, 0.9]).at(0.9).largest
        2
        """
        if threshold not in self.thresholds:
            listed = ", ".join(map(str, self.thresholds))
            raise OptionError(f"{argument('threshold', threshold)} is none of the thresholds {listed}")
        with arrays.guard(arrays.device_of(self._nested_words)):
            labels = labels_at(self._nested_words, self.thresholds.index(threshold) + 1)
        own: Any = {"devices": self.devices, "threshold": threshold}
        return Components(self.graph, self.method, self.seconds, labels, **own)

    @cached_array
    def _counts_and_largest(self):
        count = len(self.thresholds)
        with arrays.guard(arrays.device_of(self._nested_words)), few_steps(count * self.graph.n_vertices):
            return counts_and_largest(self._nested_words, count)

    @property
    def counts(self) -> np.ndarray:
        """Number of components at each threshold: (thresholds,) int64 array on the host."""
        return self._counts_and_largest[0]

    @property
    def largest(self) -> np.ndarray:
        """Size of the largest component at each threshold: (thresholds,) int64 array on the host."""
        return self._counts_and_largest[1]

    def summary(self) -> Frame:
        """Return a table with one row per threshold.

        Returns
        -------
        pyarrow.Table, pandas.DataFrame or polars.DataFrame
            Columns ``threshold``, ``edges`` (how many have at least this weight), ``components`` and
            ``largest`` (the number of vertices of the largest component).

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges(["a", "b", "a"], ["b", "c", "c"], weights=[0.9, 0.4, 0.8])
        >>> ew.connected_components(graph, thresholds=[0.5, 0.85]).summary().to_pylist()[1]
        {'threshold': 0.85, 'edges': 1, 'components': 2, 'largest': 2}
        """
        import pyarrow as pa

        columns = {"edges": self.edge_counts, "components": self.counts, "largest": self.largest}
        columns = {"threshold": np.array(self.thresholds), **columns}
        return self._framed(pa.table({name: arrow_array(one) for name, one in columns.items()}))

    def to_frame(self, name: Name | None = None, *, min_size: int = 1, kind: Kind | None = None) -> Frame:
        """Return a table with one row per vertex, and the name of its cluster at each threshold.

        Parameters
        ----------
        name : {'first', 'min', 'row'}, optional
            What a cluster is called, as for :meth:`Components.to_frame`; ``'first'`` by default.  A set of
            vertices that is a cluster at several thresholds has the same name at all of them.
        min_size : int
            Leave out the rows of clusters that have fewer members at the lowest threshold.
        kind : {'arrow', 'pandas', 'polars'}, optional
            Library of the table, as for :meth:`Components.to_frame`.

        Returns
        -------
        pyarrow.Table, pandas.DataFrame or polars.DataFrame
            The columns of the records, or ``id`` (in ascending order if the name is ``'min'``), then
            ``cluster_0.8`` and so on, one for each threshold.

        Raises
        ------
        OptionError
            The name or the kind is unknown, or the size is not a whole number from 1 on.
        GraphError
            The records have changed, or have a column of such a name.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges(["a", "b", "a"], ["b", "c", "c"], weights=[0.9, 0.4, 0.8])
        >>> ew.connected_components(graph, thresholds=[0.5, 0.85]).to_frame().to_pydict()
        {'id': ['a', 'b', 'c'], 'cluster_0.5': ['a', 'a', 'a'], 'cluster_0.85': ['a', 'a', 'c']}
        """
        return self._framed(self.table(name, min_size=min_size).to_frame(), kind)

    def table(self, name: Name | None = None, *, min_size: int = 1) -> ThresholdTable:
        """Return the table of :meth:`to_frame`, which can be written block by block.

        Parameters
        ----------
        name, min_size
            As for :meth:`to_frame`.
        """
        return ThresholdTable(self, name, min_size)

    def _answer(self):
        vertices = counted(self.graph.n_vertices, "vertex")
        if not len(self.thresholds):
            return f"no thresholds for {vertices}"
        first, last = (counted(int(number), "cluster") for number in self.counts[[0, -1]])
        others = f", {last} at {self.thresholds[-1]}" if len(self.thresholds) > 1 else ""
        return f"{first} of {vertices} at {self.thresholds[0]}{others}"

    def _verify(self, graph):
        from edgewise.components.certificate import verify

        check_nested(arrays.move(self._nested_words, "cpu"), len(self.thresholds))
        own = graph is self.graph or graph.weights is None
        weights = self._weights if own else graph.weights
        if weights is None:
            raise GraphError("the weights were not kept; verify with a graph that has them")
        sources, targets, weights = (
            arrays.move(one, "cpu") for one in (graph.sources, graph.targets, weights)
        )
        for threshold in self.thresholds:
            kept, labels = is_reached(threshold, weights), self.at(threshold)._labels
            verify(Graph(graph.n_vertices, edges=(sources[kept], targets[kept], None)), labels)

    def _plot(self, path):
        from edgewise import plots

        labels = plots.Labels(self._title(), "threshold", "clusters, and vertices of the largest")
        curves = {"clusters": self.counts, "vertices of the largest": self.largest}
        plots.curves(self.thresholds, curves, path, labels)

    def _title(self):
        return f"clusters of {self.graph.n_vertices:,} vertices at {len(self.thresholds)} thresholds"


class ThresholdTable(ClusterTable):
    """The table of ``result`` (:class:`ThresholdComponents`), with names by the rule ``name``."""

    def __init__(self, result, name=None, min_size=1):
        self.added = tuple(map(column_of, result.thresholds))
        self.block = BLOCK
        super().__init__(result, name or "first", min_size)

    @cached_property
    def labels(self):
        """The roots of the vertices at the lowest threshold, on the host."""
        return arrays.move(self._lowest.labels, "cpu")

    @cached_property
    def sizes(self):
        """Number of members of each component at the lowest threshold, at its root."""
        return sizes_at_roots(self._lowest)

    @cached_property
    def _lowest(self):
        return self.result.at(self.result.thresholds[0])

    @cached_property
    def ids(self):
        """The ids of all vertices, which a stream makes from marks."""
        return self.graph.ids

    @cached_property
    def nested(self):
        """The nested components on the host."""
        return arrays.move(self.result._nested_words, "cpu")

    @cached_property
    def givers(self):
        """For each threshold the vertex that names each vertex's cluster: (n,) arrays on the host."""
        labels = arrays.move(self.result.labels, "cpu")
        least = name_givers_of_levels(labels, self.graph.ids, self.name)
        return labels if least is None else [of_level[roots] for of_level, roots in zip(least, labels)]

    def prepare(self):
        """Compute what is the same for all blocks, on the cores that the calling thread may use."""
        made = self.givers if self.name == "min" else (self.nested, self.ids)
        return made, self.order, self.min_size > 1 and self.sizes

    def _clusters(self, part):
        return {name: arrow_array(column) for name, column in zip(self.added, self._names(part))}

    def _names(self, part):
        """The names of the clusters of some vertices, for each threshold."""
        if self.name == "min":
            return (self.graph.ids_of(givers[part]) for givers in self.givers)
        count, ids = len(self.added), self.ids
        vertices = np.arange(part.start, part.stop, dtype=index_type(len(self.nested)))
        of_integers = self.name == "first" and isinstance(ids, np.ndarray)
        with few_steps(count * len(vertices)):
            names = labels_of(self.nested, count, vertices, ids if of_integers else None)
        if of_integers:
            return names
        return as_labels(names) if self.name == "row" else map(self.graph.ids_of, names)


def column_of(threshold) -> str:
    """Name of the column of a threshold.

    Examples
    --------
    >>> column_of(0.8), column_of(3.0), column_of(1e-05)
    ('cluster_0.8', 'cluster_3', 'cluster_1e-05')
    """
    return CLUSTER + str(threshold).removesuffix(".0")
