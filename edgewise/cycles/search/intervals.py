"""Confidence intervals of estimates whose draws are between 0 and 1.

The empirical Bernstein bound (Maurer & Pontil 2009, Theorem 4) of both sides holds for any such draws, also
where most cycles are in a few places that no draw met.  With ``n`` draws of variance ``s^2`` and
``L = ln(3 / (1 - confidence))`` (the error of each side, and that of the variance) the interval reaches
``s sqrt(2 L / n) + 7 L / (3 (n - 1))`` from the mean.  Intervals that assume a normal or a binomial
distribution are narrower, and wrong for such graphs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

#: Share of a number that may be lost to rounding.
ROUNDING = 1e-9


class Estimate(NamedTuple):
    """The estimated number of cycles, its interval, and how many draws were not 0."""

    total: float
    low: float
    high: float
    hits: int


def estimate_from(shares, scale: float, confidence: float) -> Estimate:
    """Estimate a number of cycles from the draws of :func:`~edgewise.cycles.search.sampling.sample`.

    Parameters
    ----------
    shares : (samples,) float64 array
    scale : float
        The number of cycles if all shares were 1.
    confidence : float
    """
    total, hits = scale * float(shares.mean()), int(np.count_nonzero(shares))
    low, high = interval(shares, confidence)
    least = 1.0 if hits else 0.0  # a cycle has been seen
    low, high = min(max(scale * low, least), total), max(scale * high * (1 + ROUNDING), least, total)
    return Estimate(total, low, high, hits)


def interval(shares, confidence: float) -> tuple[float, float]:
    """Interval that contains the expectation of draws between 0 and 1 with this confidence, at least."""
    n, mean = len(shares), float(shares.mean())
    if n == 1:
        return 0.0, 1.0
    chance = np.log(3 / (1 - confidence))
    reach = float(np.sqrt(2 * shares.var(ddof=1) * chance / n) + 7 * chance / (3 * (n - 1)))
    return max(mean - reach, 0.0), min(mean + reach, 1.0)
