"""Closeness estimated from the distances of some vertices, with a bound of its error.

The mean distance to a vertex is estimated by the mean of its distances from ``k`` vertices, drawn without
repetition.  Distances are between 0 and the longest one, ``D``.  By Hoeffding's inequality, which holds for
draws without repetition too, the estimate is off by more than ``error * D`` with a probability below
``2 exp(-2 k error**2)``, and so for any of the ``n`` vertices with one below ``n`` times that.  Of the
vertices that are drawn, those that reach a vertex are drawn evenly from all that reach it; where not all do,
their number takes the place of ``k``.

Eppstein and Wang, "Fast approximation of centrality" (Journal of Graph Algorithms and Applications 8, 2004);
Hoeffding, "Probability inequalities for sums of bounded random variables" (JASA 58, 1963).
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Unpack

import numpy as np

from edgewise.device import arrays
from edgewise.errors import OptionError, VerificationError, argument
from edgewise.front import reporter
from edgewise.graph import Graph
from edgewise.method import check_graph, check_whole, on_device, worker_names
from edgewise.paths.csr import adjacency_of
from edgewise.paths.measures.bit_parallel import bit_parallel
from edgewise.paths.measures.sums import DISTANCE, REACHED
from edgewise.paths.method import check_hops
from edgewise.result import Result, counted
from edgewise.weights import WeightOptions, weighted_front

#: Differences that rounding may make.
ROUNDED = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class ClosenessEstimate(Result):
    """Estimates of closeness and harmonic centrality; see :func:`estimate_closeness`.

    Attributes
    ----------
    graph, method, seconds, devices
        As in :class:`~edgewise.result.Result`.
    samples : int
        Vertices that were searched from.
    confidence : float
    seed : int
    mean_distance_estimates : (n_vertices,) float64 array
        Of the distances to each vertex from all vertices that reach it, itself among them; NaN where none of
        the samples does.
    closeness_estimates : (n_vertices,) float64 array
        Closeness by these means and by the share of the samples that reach the vertex, scaled as by Wasserman
        and Faust; 0 where none does.
    harmonic_estimates : (n_vertices,) float64 array
        Sum of 1 / distance over the samples, times vertices over samples.
    errors : (n_vertices,) float64 array
        With a probability of ``confidence``, no mean distance is further from its estimate than its error
        times the longest finite distance to that vertex.  Zeros if all vertices are samples; infinite where
        none reaches the vertex.
    eccentricities_of_samples : (samples,) float64 array
        Exact, in the order of the samples' vertex numbers; infinite where a sample does not reach all.  The
        diameter is at least the largest of them, the radius at most the smallest.
    """

    samples: int
    confidence: float
    seed: int
    mean_distance_estimates: np.ndarray
    closeness_estimates: np.ndarray
    harmonic_estimates: np.ndarray
    errors: np.ndarray
    eccentricities_of_samples: np.ndarray

    def _answer(self):
        worst = self.errors.max(initial=0.0)
        of = f"{counted(self.samples, 'vertex')} of {self.graph.n_vertices:,}"
        bound = f"mean distances within {worst:.3g} of the diameter with a confidence of {self.confidence:g}"
        return f"closeness estimated from {of}; {bound}"

    def _columns(self):
        return {
            "closeness_estimate": self.closeness_estimates,
            "harmonic_estimate": self.harmonic_estimates,
            "mean_distance_estimate": self.mean_distance_estimates,
            "error": self.errors,
        }

    def _verify(self, graph):
        """Draw the same vertices, and add up searches from each of them."""
        from edgewise.paths.bfs import bfs

        graph, n = graph.to("cpu"), graph.n_vertices
        total, reached = np.zeros(n), np.zeros(n)
        for vertex in drawn(n, self.samples, self.seed):
            found = bfs(graph, graph.ids_of([vertex])[0]).verify()
            reached += found.reachable
            total += np.where(found.reachable, found.distances, 0)
        with np.errstate(invalid="ignore"):
            right = total / reached
        if not np.allclose(right, self.mean_distance_estimates, rtol=ROUNDED, equal_nan=True):
            raise VerificationError("the estimates are not those of the vertices that the seed draws")

    def _plot(self, path):
        from edgewise import plots

        title = f"closeness, estimated from {counted(self.samples, 'vertex')}"
        plots.histogram(self.closeness_estimates, path, plots.Labels(title, "closeness", "vertices"))


@weighted_front
def estimate_closeness(
    graph: Graph,
    *,
    samples: int = 1024,
    confidence: float = 0.95,
    seed: int = 0,
    device: str | None = None,
    **options: Unpack[WeightOptions],
) -> ClosenessEstimate:
    """Estimate closeness and harmonic centrality from searches from some vertices, drawn at random.

    Exact values of all vertices are those of :func:`distance_measures`.

    Parameters
    ----------
    graph : Graph
        Every edge counts one.  In a directed graph the paths that come in count.
    samples : int
        Vertices to search from, all if there are no more; four times as many halve the error.  512 take as
        long as one.
    confidence : float
        Probability with which the errors hold for all vertices together, between 0 and 1.
    seed : int
        The same seed draws the same vertices.
    device : str, optional
        ``"cpu"``, ``"gpu"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one); by default that of
        the graph.

    Returns
    -------
    ClosenessEstimate

    Raises
    ------
    OptionError
        The graph has weights (``weight=False`` ignores them), no samples, a confidence that is no share, a
        seed that is no whole number.
    DeviceError, OutOfMemoryError
        The device is not there, or too small.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.generate.grid(60, 60)
    >>> estimate = ew.estimate_closeness(graph, samples=900)
    >>> exact = ew.distance_measures(graph)
    >>> bool(abs(estimate.closeness_estimates / exact.closeness - 1).max() < 0.1)
    True
    >>> round(float(estimate.errors.max()), 3)
    0.081
    """
    check_graph(graph)
    check_hops(graph, "estimate_closeness")
    check_whole("samples", samples, 1)
    check_whole("seed", seed, 0)
    if not isinstance(confidence, (float, np.floating)) or not 0 < confidence < 1:
        problem = "must be a share between 0 and 1, such as 0.95"
        raise OptionError(f"{argument('confidence', confidence)} {problem}")
    graph = on_device(graph, device)
    start, n = perf_counter(), graph.n_vertices
    sources = drawn(n, int(samples), int(seed))
    with arrays.guard(graph.device):
        found = bit_parallel(adjacency_of(graph), sources, reporter())
    farthest = found.farthest[sources].astype(np.float64)
    columns = *_estimates(found, n, len(sources), float(confidence)), np.where(farthest < 0, np.inf, farthest)
    facts = len(sources), float(confidence), int(seed)
    seconds, names = perf_counter() - start, worker_names(graph.device)
    return ClosenessEstimate(graph, "sampling", seconds, *facts, *columns, devices=names)


def drawn(n_vertices, samples, seed):
    """The vertices that a seed draws, ascending: (k,) int64."""
    some = np.random.default_rng(seed).choice(n_vertices, min(samples, n_vertices), replace=False)
    return np.sort(some).astype(np.int64)


def _estimates(found, n, samples, confidence):
    """Mean distances, closeness, harmonic centralities, and the errors of the first."""
    reached, total = (found.of_vertices[:, part].astype(np.float64) for part in (REACHED, DISTANCE))
    with np.errstate(invalid="ignore", divide="ignore"):
        means = total / reached
        reach = n * reached / max(samples, 1)  # vertices that reach it, about
        closeness = np.where(total > 0, (reach - 1) / (reach * means) * (reach - 1) / max(n - 1, 1), 0.0)
        errors = np.sqrt(np.log(2 * n / (1 - confidence)) / (2 * reached)) if samples < n else np.zeros(n)
    return means, np.maximum(closeness, 0.0), found.harmonic * (n / max(samples, 1)), errors
