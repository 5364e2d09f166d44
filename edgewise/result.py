"""What the algorithms return: records that know their graph's ids and can check themselves."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.graph import Graph, check_same_graph

if TYPE_CHECKING:
    import pyarrow

    from edgewise.workers import SplitGraph

#: Labels of so many vertices are shown as int32, which every table library knows.
MOST_INT32 = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Components:
    """Connected components of a graph.

    Attributes
    ----------
    graph : Graph
        The graph they belong to.
    method : str
        Name of the method that found them.
    seconds : float
        Time of the method alone, and of the merge if several devices took part.
    devices : tuple of str
        The devices that took part, if there were several.
    merge : str or None
        How what they found was put together.
    """

    graph: Graph | SplitGraph = field(repr=False)
    method: str
    seconds: float
    _labels: Any = field(repr=False)
    devices: tuple[str, ...] = ()
    merge: str | None = None

    @property
    def labels(self):
        """Smallest vertex number of each vertex's component: (n_vertices,) int32 or int64 array."""
        if self._labels.dtype == np.uint32 and len(self._labels) <= MOST_INT32:
            return self._labels.view(np.int32)
        return self._labels.astype(np.int64, copy=False)

    @cached_property
    def _census(self):
        from edgewise.components.component_sizes import census
        from edgewise.device import arrays

        with arrays.guard(arrays.device_of(self._labels)):
            return census(self.labels)

    @property
    def count(self) -> int:
        """Number of components."""
        return len(self._census[0])

    @property
    def roots(self):
        """Smallest vertex number of each component, ascending: (count,) array."""
        return self._census[0]

    def sizes(self):
        """Number of vertices of each component, in the order of :attr:`roots`: (count,) int64 array."""
        return self._census[1]

    @property
    def largest(self) -> int:
        """Size of the largest component; 0 for the empty graph."""
        return int(self.sizes().max()) if self.count else 0

    def on_host(self) -> Components:
        """Return the result with its labels, and its graph, on the host."""
        from edgewise.device import arrays

        return replace(self, graph=self.graph.to("cpu"), _labels=arrays.move(self._labels, "cpu"))

    def to_frame(self) -> pyarrow.Table:
        """Return a table with one row a vertex, in vertex order.

        Returns
        -------
        pyarrow.Table
            Columns ``id`` (as it came in) and ``component`` (smallest vertex number of the component: the row
            of its first member in this table).
        """
        import pyarrow as pa

        from edgewise.device import arrays

        labels = arrays.move(self.labels, "cpu")
        ids = self.graph.ids if self.graph.ids is not None else np.arange(len(labels), dtype=np.int64)
        return pa.table({"id": ids, "component": labels})

    def write(self, path: str) -> None:
        """Write the table of :meth:`to_frame` to a Parquet, CSV or Arrow file, whole or not at all."""
        from edgewise.files.clusters import write_clusters

        write_clusters(path, self)

    def verify(self, graph: Graph | SplitGraph | None = None) -> Components:
        """Check the labels against the graph and return the result.

        Raises
        ------
        VerificationError
            A label is wrong; the message names a vertex or an edge.
        """
        from edgewise.components.check import verify

        graph = self.graph if graph is None else graph
        check_same_graph(graph, len(self._labels), "the result")
        verify(graph, self._labels)
        return self

    def plot(self, path: str) -> None:
        """Draw the distribution of component sizes into a picture file (needs ``edgewise[plot]``)."""
        from edgewise import plots

        plots.sizes(self, path)
