"""What :func:`edgewise.betweenness` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from edgewise.result import Result, counted

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True, eq=False, repr=False)
class Betweenness(Result):
    """How many shortest paths lead over each vertex.

    Attributes
    ----------
    graph, method, seconds, devices
        As in :class:`~edgewise.result.Result`.
    scores : (n_vertices,) float64 array
        Betweenness of each vertex, on the host.
    edge_scores : (n_edges,) float64 array or None
        That of each edge, in the order of :attr:`Graph.sources`, if it was wanted.
    weighted : bool
        Whether paths are shortest by the edges' weights; each edge counts one otherwise.
    normalized, endpoints : bool
        As in the call.
    sources : (k,) int64 array or None
        The vertices that paths were followed from, if these are a sample.
    error : float
        With a probability of 95 %, no score of a vertex differs from the exact one by more than this; 0 if
        all vertices are sources.
    """

    scores: np.ndarray
    edge_scores: np.ndarray | None
    weighted: bool
    normalized: bool
    endpoints: bool
    sources: np.ndarray | None
    error: float

    @property
    def most_central(self) -> np.ndarray | pyarrow.Array:
        """Ids of the vertices from the largest score to the smallest; of equal scores in vertex order."""
        return self.graph.ids_of(np.argsort(-self.scores, kind="stable"))

    def _answer(self):
        n = self.graph.n_vertices
        if not n:
            return "betweenness of 0 vertices"
        best = int(self.scores.argmax())
        sample = "" if self.sources is None else f" from {counted(len(self.sources), 'source')}"
        largest = f"the largest is {self.scores[best]:.6g}, of {self.graph.ids_of(np.array([best]))[0]}"
        return f"betweenness of {counted(n, 'vertex')}{sample}, {largest}"

    def _columns(self):
        return {"betweenness": self.scores}

    def _verify(self, graph):
        from edgewise.paths.betweenness.verification import verify

        verify(graph, self)

    def _plot(self, path):
        from edgewise import plots

        labels = plots.Labels("betweenness", "score", "vertices")
        plots.histogram(self.scores, path, labels)
