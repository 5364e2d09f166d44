"""The result of several thresholds: nested components, and one table of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.components.cluster_table import ClusterTable
from edgewise.components.naming import name_givers_of_levels
from edgewise.components.result import (
    ClusterResult,
    Components,
    Name,
    component_count,
    component_sizes,
)
from edgewise.components.threshold_limits import is_reached
from edgewise.device import arrays, each, fetch_add
from edgewise.errors import OptionError, argument
from edgewise.graph import Graph
from edgewise.index_type import as_labels
from edgewise.ingest.arrow import arrow_array
from edgewise.result import cached_array, counted

if TYPE_CHECKING:
    from edgewise.ingest.frames import Frame, Kind

#: Before the threshold in the names of columns.
CLUSTER = "cluster_"
#: Rows of a block, which has many columns.
BLOCK = 1 << 18


@each
def add_parts(vertex, parts, labels, sizes):
    """Add the size of a component to that of the one that it is a part of at the next threshold."""
    if parts[vertex] == vertex and labels[vertex] != vertex:
        fetch_add(sizes, labels[vertex], sizes[vertex])


@each
def place_size(component, roots, found, sizes):
    """Write the size of a component at its root."""
    sizes[roots[component]] = found[component]


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
    _labels: Any
    _weights: Any

    def _uses_weights(self):
        return True

    @property
    def labels(self) -> np.ndarray:
        """Smallest vertex number of each vertex's component, at each threshold.

        Returns
        -------
        (thresholds, n_vertices) int32 or int64 array
        """
        return as_labels(self._labels)

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
        labels = self._labels[self.thresholds.index(threshold)]
        own: Any = {"devices": self.devices, "threshold": threshold}
        return Components(self.graph, self.method, self.seconds, labels, **own)

    @cached_array
    def _counts_and_largest(self):
        n, device = self.graph.n_vertices, arrays.device_of(self._labels)
        with arrays.guard(device):
            roots, finest = component_sizes(self._labels[-1])
            sizes = arrays.zeros(n, self._labels.dtype, device)
            place_size(len(roots), roots, finest, sizes)
            found: list[tuple[int, int]] = []
            for level in range(len(self.thresholds) - 1, -1, -1):
                labels = self._labels[level]
                if level + 1 < len(self.thresholds):
                    add_parts(n, self._labels[level + 1], labels, sizes)
                found.insert(0, (component_count(labels), int(sizes.max()) if n else 0))
        return tuple(np.array(column, np.int64) for column in zip(*found))

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

        own = graph is self.graph or graph.weights is None
        sources, targets, weights = (
            arrays.move(one, "cpu")
            for one in (graph.sources, graph.targets, self._weights if own else graph.weights)
        )
        for threshold, labels in zip(self.thresholds, self._labels):
            kept = is_reached(threshold, weights)
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
        self.levels = result
        self.added = tuple(map(column_of, result.thresholds))
        self.block = BLOCK
        super().__init__(result.at(result.thresholds[0]), name or "first", min_size)

    @cached_property
    def givers(self):
        """For each threshold the vertex that names each vertex's cluster: (n,) arrays on the host."""
        labels = arrays.move(self.levels.labels, "cpu")
        least = name_givers_of_levels(labels, self.graph.ids, self.name)
        return labels if least is None else [of_level[roots] for of_level, roots in zip(least, labels)]

    def prepare(self):
        """Compute what is the same for all blocks, on the cores that the calling thread may use."""
        return self.givers, self.order, self.min_size > 1 and self.sizes

    def _clusters(self, part):
        ids = (lambda vertices: vertices) if self.name == "row" else self.graph.ids_of
        return {name: arrow_array(ids(givers[part])) for name, givers in zip(self.added, self.givers)}


def column_of(threshold) -> str:
    """Name of the column of a threshold.

    Examples
    --------
    >>> column_of(0.8), column_of(3.0), column_of(1e-05)
    ('cluster_0.8', 'cluster_3', 'cluster_1e-05')
    """
    return CLUSTER + str(threshold).removesuffix(".0")
