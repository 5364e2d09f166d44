"""From dependencies to scores, as NetworkX scales them, and how far samples may be off.

A score is an average over sources, of the share of all other vertices to which shortest paths lead over a
vertex.  From ``k`` of ``n`` sources without replacement, an average of numbers from 0 to 1 is off by more
than ``e`` with a probability of at most ``2 exp(-2 k e**2 / (1 - (k - 1) / n))``.  Where this is five percent
divided by ``n``, the bound holds for all vertices at once.

U. Brandes and C. Pich, "Centrality estimation in large networks" (International Journal of Bifurcation and
Chaos, 2007); R. J. Serfling, "Probability inequalities for the sum in sampling without replacement" (Annals
of Statistics, 1974).
"""

import math

import numpy as np

#: Probability that an error of a sample is larger than it is said to be.
DOUBT = 0.05


def scaled(sums, graph, sources, normalized, endpoints):
    """Scores of dependencies, (n,) or (edges,) float64, that are added up over sources, ``None`` for all.

    A source that is no end of its paths is not among its own sources, so its average is over one less.
    """
    n = graph.n_vertices
    others = n if endpoints else n - 1
    if others < 2:
        return sums

    def scale(k):  # in the order of NetworkX's operations, for the same last bits
        return 1 / (k * (others - 1)) if normalized else others / (k * (1 if graph.directed else 2))

    if sources is None:
        return sums * scale(others)
    k = len(sources)
    scores = sums * scale(k)
    if not endpoints:
        scores[sources] = sums[sources] * scale(k - 1) if k > 1 else np.nan
    return scores


def error_of(graph, sources, normalized, endpoints):
    """What no score is off by more than, with a probability of 95 %."""
    if sources is None:
        return 0.0
    n, others = graph.n_vertices, graph.n_vertices if endpoints else graph.n_vertices - 1
    k = len(sources) if endpoints else len(sources) - 1
    if k < 1:
        return math.inf
    error = min(1.0, math.sqrt((1 - (k - 1) / others) * math.log(2 * n / DOUBT) / (2 * k)))
    return error if normalized else error * others * (others - 1) / (1 if graph.directed else 2)
