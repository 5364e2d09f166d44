"""The measures of a graph: their columns, their table, and how a sample of them is verified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from edgewise.errors import VerificationError
from edgewise.graph import Graph
from edgewise.result import Result, counted

if TYPE_CHECKING:
    import pyarrow

#: Vertices whose measures are verified.
SAMPLE = 8


@dataclass(frozen=True, eq=False, repr=False)
class DistanceMeasures(Result):
    """Measures of a graph that need all its distances.

    Attributes
    ----------
    graph, method, seconds, devices
        As in :class:`~edgewise.result.Result`; the method is that of the distances.
    weighted : bool
        Whether the edges' weights count; each edge counts one otherwise.
    eccentricities : (n_vertices,) float64 array
        Largest distance from each vertex; infinite where it does not reach all others.
    closeness : (n_vertices,) float64 array
        Closeness centrality by the distances *to* each vertex.
    harmonic : (n_vertices,) float64 array
        Sum of 1 / distance over the distances *to* each vertex that are not zero.
    average_distance : float
        Over all ordered pairs of two vertices; infinite where a pair has no path.
    hop_histogram : (largest finite distance + 1,) int64 array or None
        Number of ordered pairs by their distance, from 0 on: ``hop_histogram[0]`` is the number of vertices,
        each of which is a pair with itself.  Pairs without a path are left out.  ``None`` with weights.
    """

    weighted: bool
    eccentricities: np.ndarray
    closeness: np.ndarray
    harmonic: np.ndarray
    average_distance: float
    hop_histogram: np.ndarray | None = None

    @property
    def diameter(self) -> float:
        """Largest eccentricity; 0 for the empty graph."""
        return float(self.eccentricities.max(initial=0)) if len(self.eccentricities) else 0.0

    @property
    def radius(self) -> float:
        """Smallest eccentricity; 0 for the empty graph."""
        return float(self.eccentricities.min()) if len(self.eccentricities) else 0.0

    @property
    def center(self) -> np.ndarray | pyarrow.Array:
        """Ids of the vertices whose eccentricity is the radius; none where that is infinite."""
        return self._ids_at(self.radius)

    @property
    def periphery(self) -> np.ndarray | pyarrow.Array:
        """Ids of the vertices whose eccentricity is the diameter; none where that is infinite."""
        return self._ids_at(self.diameter)

    def _ids_at(self, value):
        return self.graph.ids_of(np.flatnonzero((self.eccentricities == value) & np.isfinite(value)))

    def _answer(self):
        vertices = counted(self.graph.n_vertices, "vertex")
        return f"diameter {self.diameter:g}, radius {self.radius:g} of {vertices}"

    def _columns(self):
        return {"eccentricity": self.eccentricities, "closeness": self.closeness, "harmonic": self.harmonic}

    def _verify(self, graph):
        """Compare the eccentricities and harmonic centralities of a sample with verified searches."""
        from edgewise.paths.bfs import bfs
        from edgewise.paths.sssp import shortest_paths

        graph, n = graph.to("cpu"), graph.n_vertices
        backward = graph
        if graph.directed:
            endpoints, options = (graph.targets, graph.sources), {"n_vertices": n, "directed": True}
            backward = Graph.from_edges(*endpoints, weights=graph.weights, **options)
        search = shortest_paths if self.weighted else bfs
        for vertex in np.unique(np.linspace(0, n - 1, min(n, SAMPLE), dtype=np.int64)):
            forth, back = (search(one, one.ids_of([vertex])[0]).verify() for one in (graph, backward))
            farthest = np.inf if forth.n_reached < n else forth.eccentricity
            distances = back.distances[(back.distances != back.unreached) & (back.distances != 0)]
            right = farthest, (1.0 / distances).sum()
            held = self.eccentricities[vertex], self.harmonic[vertex]
            if not np.allclose(held, right, rtol=1e-5):
                raise VerificationError(
                    f"vertex {vertex} has the eccentricity {held[0]} and the harmonic centrality {held[1]}, "
                    f"but searches from it and to it give {right[0]} and {right[1]}"
                )

    def _plot(self, path):
        from edgewise import plots

        title = f"diameter {self.diameter:g}, radius {self.radius:g}"
        finite = self.eccentricities[np.isfinite(self.eccentricities)]
        plots.histogram(finite, path, plots.Labels(title, "eccentricity", "vertices"))
