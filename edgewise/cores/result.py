"""The result of core numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgewise.device import arrays
from edgewise.errors import OptionError, argument
from edgewise.graph import Graph
from edgewise.ingest.subgraphs import induced
from edgewise.method import is_number
from edgewise.primitives import histogram
from edgewise.result import Result, counted


@dataclass(frozen=True, eq=False, repr=False)
class CoreNumbers(Result):
    """Core numbers of the vertices of a graph.

    Attributes
    ----------
    graph, method, seconds, devices
        As in :class:`~edgewise.result.Result`.
    cores : (n_vertices,) int32 array
        Core number of each vertex; int64 beyond 2**31 - 1 vertices.
    """

    cores: np.ndarray

    @property
    def largest(self) -> int:
        """Largest core number, the degeneracy of the graph; 0 for the empty graph."""
        return int(arrays.on_host_if_small(self.cores).max()) if len(self.cores) else 0

    def sizes(self) -> np.ndarray:
        """Number of vertices of each core number from 0 to the largest: int64 array on the host."""
        with arrays.guard(self.graph.device):
            return arrays.move(histogram(self.cores, self.largest + 1), "cpu")

    def subgraph(self, k: int) -> Graph:
        """Return the ``k``-core: the vertices whose core numbers are at least ``k``, and their edges.

        Parameters
        ----------
        k : int
            From 0, which is the whole graph.

        Raises
        ------
        OptionError
            ``k`` is not a whole number, or negative.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
        >>> ew.core_numbers(graph).subgraph(2)
        <Graph: undirected, 3 vertices, 3 edges, held as edges on cpu>
        """
        if not is_number(k, True) or k < 0:
            raise OptionError(f"{argument('k', k)} must be a whole number from 0 on")
        return induced(self.graph, self.cores >= k)

    def _answer(self):
        return f"core numbers up to {self.largest:,} of {counted(self.graph.n_vertices, 'vertex')}"

    def _columns(self):
        return {"core": self.cores}

    def _verify(self, graph):
        from edgewise.cores.certificate import verify

        verify(graph, self.cores)

    def _certificate(self):
        from edgewise.cores.certificate import prove

        return prove(self.graph, self.cores)

    def _plot(self, path):
        from edgewise import plots

        title = f"core numbers up to {self.largest:,}"
        plots.histogram(self.on_host().cores, path, plots.Labels(title, "core number", "vertices"))
