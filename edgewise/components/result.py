"""The result of connected components."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.result import Result

if TYPE_CHECKING:
    from pathlib import Path

#: Largest number of vertices whose labels are returned as int32, which every table library supports.
MAX_INT32_VERTICES = 2**31 - 1


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
        from edgewise.components.component_sizes import component_sizes
        from edgewise.device import arrays

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
        from edgewise.files.clusters import write_clusters

        write_clusters(path, self)

    def _columns(self):
        return {"component": self.labels}

    def _verify(self, graph):
        from edgewise.components.verification import verify

        verify(graph, self._labels)

    def _plot(self, path):
        from edgewise import plots

        plots.sizes(self, path)
