"""The result of connected components.

A component's vertices are counted at its root.  For many vertices on the host a single core counts, into
numbers no wider than labels: most labels are the same, and several cores would contend for one counter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.device import arrays, each
from edgewise.primitives import histogram
from edgewise.result import Result

if TYPE_CHECKING:
    from pathlib import Path

#: Largest number of vertices whose labels are returned as int32, which every table library supports.
MAX_INT32_VERTICES = 2**31 - 1
#: Vertices from which memory matters more than the time to compile a loop, and the sizes searched at a time.
MANY, BLOCK = 1 << 22, 1 << 20


@dataclass(frozen=True, eq=False)
class Components(Result):
    """Connected components of a graph.

    Attributes
    ----------
    graph, method, seconds, devices
        As in :class:`~edgewise.result.Result`; ``seconds`` include the merge if several devices took part.
    merge : str or None
        How the labels of several devices were merged; ``None`` for one device.
    """

    _labels: Any = field(repr=False)
    merge: str | None = None

    @property
    def labels(self):
        """Smallest vertex number of each vertex's component: (n_vertices,) int32 or int64 array."""
        if self._labels.dtype == np.uint32 and len(self._labels) <= MAX_INT32_VERTICES:
            return self._labels.view(np.int32)
        return self._labels.astype(np.int64, copy=False)

    @cached_property
    def _roots_and_sizes(self):
        with arrays.guard(arrays.device_of(self._labels)):
            return component_sizes(self.labels)

    @property
    def count(self) -> int:
        """Number of components."""
        return len(self._roots_and_sizes[0])

    @property
    def roots(self):
        """Smallest vertex number of each component, ascending: (count,) array."""
        return self._roots_and_sizes[0]

    def sizes(self):
        """Number of vertices of each component, in the order of :attr:`roots`: (count,) int64 array."""
        return self._roots_and_sizes[1]

    @property
    def largest(self) -> int:
        """Size of the largest component; 0 for the empty graph."""
        return int(self.sizes().max()) if self.count else 0

    def write(self, path: str | Path) -> None:
        """Write the table of :meth:`to_frame` to a Parquet, CSV or Arrow file, whole or not at all."""
        from edgewise.files.tables import write_clusters

        write_clusters(path, self)

    def _columns(self):
        return {"component": self.labels}

    def _verify(self, graph):
        from edgewise.components.verification import verify

        verify(graph, self._labels)

    def _plot(self, path):
        from edgewise import plots

        labels = plots.Labels(self._title(), "vertices of a component", "components")
        plots.spans(self.on_host().sizes(), path, labels)

    def _title(self):
        if self.count == 0:
            return "no components: the graph is empty"
        noun = "component" if self.count == 1 else "components"
        share = f"{self.largest / self.graph.n_vertices:.1%} of the vertices"
        return f"{self.count:,} {noun}, the largest of {self.largest:,} ({share})"


@each
def count_all(_, vertices, labels, sizes):
    """Count the members of every component at its root."""
    for vertex in range(vertices):
        sizes[labels[vertex]] += 1


def component_sizes(labels):
    """Roots of the components, ascending, and the int64 number of vertices of each."""
    if len(labels) >= MANY and arrays.device_of(labels) == "cpu":
        return component_sizes_on_host(labels)
    xp = arrays.namespace(labels)
    roots = xp.flatnonzero(labels == xp.arange(len(labels), dtype=labels.dtype))
    sizes = histogram(labels, len(labels))[roots]
    return roots.astype(labels.dtype), sizes.astype(np.int64, copy=False)


def component_sizes_on_host(labels):
    """The same with 4 bytes per vertex and without a copy of the labels in a wider type."""
    sizes = np.zeros(len(labels), labels.dtype)
    count_all(1, len(labels), labels, sizes)
    starts = range(0, max(len(labels), 1), BLOCK)
    parts = (np.flatnonzero(sizes[start : start + BLOCK]) + start for start in starts)
    roots = np.concatenate([part.astype(labels.dtype) for part in parts])
    return roots, sizes[roots].astype(np.int64, copy=False)
