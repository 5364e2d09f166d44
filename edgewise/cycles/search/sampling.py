"""Random walks of which as many as possible can be closed to a cycle, and by how many vertices.

A cycle of ``k`` edges is a path of ``k - 2`` edges whose ends share a neighbour that is not on it, in ``2 k``
ways.  So walks of ``k - 2`` edges are drawn, and the common neighbours of their ends counted where the walk
is a path (wedge and path sampling: Seshadhri, Pinar & Kolda 2013; Jha, Seshadhri & Pinar 2015).  Ends of
degrees ``d`` and ``e`` share at most ``sqrt((d - 1) (e - 1))`` neighbours off the path, since each has one on
it, and a walk is drawn with a probability in proportion to that: each draw then yields a share between 0 and
1, so that a few walks with many closings cannot spoil the average.  The average, times the sum of all such
roots over ``2 k``, is an estimate without bias.

A walk is drawn from its middle outwards to both sides.  With ``r_0(v) = sqrt(d(v) - 1)``, and ``r_j(v)`` the
sum of ``r_(j-1)`` over the neighbours of ``v``, the middle is ``v`` with a probability in proportion to
``r_a(v) r_b(v)``, and the next vertex with ``j`` steps to go is ``u`` in proportion to ``r_(j-1)(u)``: a
binary search among sums along the row.  All of this, degrees too, is about the 2-core.  All random numbers
come from one generator on the host, so that every engine and device gives the same.

The interval is the empirical Bernstein bound (Maurer & Pontil 2009, Theorem 4) of both sides, which holds for
any draws between 0 and 1, also where most cycles are in a few places that no draw met.  With ``n`` draws of
variance ``s^2`` and ``L = ln(3 / (1 - confidence))`` (the error of each side, and that of the variance) it
reaches ``s sqrt(2 L / n) + 7 L / (3 (n - 1))`` from the mean.  Intervals that assume a normal or a binomial
distribution are narrower, and wrong for such graphs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from edgewise.cycles.counting.ranked import Ranked, first_from
from edgewise.cycles.search.dfs import is_on_path
from edgewise.cycles.search.two_core import Rows, add_step, two_core
from edgewise.device import arrays, device, each
from edgewise.errors import GraphError

#: Walks that are drawn at a time.
BATCH = 1 << 16
#: Share of a number that may be lost to rounding.
ROUNDING = 1e-9


class WalkTable(NamedTuple):
    """What walks are drawn from: ``rows`` of the 2-core; ``edges`` of a walk.

    ``roots``, (n,) float64, are those of the degrees less one.  ``sums``, (levels * entries,) float64, are
    running sums along each row of the weights ``r_j`` of its neighbours, for ``j`` steps to go after them:
    those of ``j`` are at ``sums[j * entries:]``.
    """

    edges: int
    rows: Rows
    roots: Any
    sums: Any


class Draws(NamedTuple):
    """A batch of ``count`` walks, vertex ``i`` of walk ``w`` at ``path[i * count + w]``, int64.

    ``middles``, (count,) int64, are the vertices in their middle; ``chances``, (edges * count,) float64,
    random numbers between 0 and 1, one per edge and walk.
    """

    count: int  # type: ignore[assignment]
    middles: Any
    chances: Any
    path: Any


@each
def sum_along(vertex, rows, weights, first, sums):
    """Running sums of the ``weights`` of a row's neighbours; those of this level begin at ``first``."""
    total = 0.0
    for entry in range(rows.offsets[vertex], rows.offsets[vertex + 1]):
        total += weights[np.int64(rows.neighbours[entry])]
        sums[first + entry] = total


@device
def choose(vertex, chance, rows, first, sums):
    """Choose a neighbour with a probability in proportion to its weight."""
    low, high = rows.offsets[vertex], rows.offsets[vertex + 1] - 1
    goal = chance * sums[first + high]
    while low < high:
        middle = (low + high) // 2
        if sums[first + middle] > goal:
            high = middle
        else:
            low = middle + 1
    return np.int64(rows.neighbours[low])


@device
def count_closing(walk, edges, rows, draws):
    """Count the ways to close a path by one more vertex."""
    offsets, neighbours, path = rows.offsets, rows.neighbours, draws.path
    short, long = path[walk], path[edges * draws.count + walk]
    if offsets[short + 1] - offsets[short] > offsets[long + 1] - offsets[long]:
        short, long = long, short
    at, end, count = offsets[long], offsets[long + 1], 0
    for entry in range(offsets[short], offsets[short + 1]):
        vertex = np.int64(neighbours[entry])
        ahead = 1  # doubled until the vertex is passed: rows of similar length are merged
        while at + ahead < end and np.int64(neighbours[at + ahead]) < vertex:
            ahead *= 2
        at = first_from(vertex, at + ahead // 2, min(at + ahead, end), neighbours)
        if at < end and np.int64(neighbours[at]) == vertex:
            count += 0 if is_on_path(vertex, path, walk, draws.count, edges + 1) else 1
    return count


@each
def draw_walk(walk, table, draws, shares):
    """Draw a walk from its middle; find the share of its possible closings that there are."""
    edges, rows, sums, path, stride = table.edges, table.rows, table.sums, draws.path, draws.count
    middle, entries, simple = edges // 2, len(rows.neighbours), True
    path[middle * stride + walk] = draws.middles[walk]
    for step in range(middle, 0, -1):
        vertex, chance = path[step * stride + walk], draws.chances[(step - 1) * stride + walk]
        path[(step - 1) * stride + walk] = choose(vertex, chance, rows, (step - 1) * entries, sums)
    for step in range(middle, edges):
        vertex, chance = path[step * stride + walk], draws.chances[step * stride + walk]
        path[(step + 1) * stride + walk] = choose(vertex, chance, rows, (edges - step - 1) * entries, sums)
    for step in range(1, edges + 1):
        simple = simple and not is_on_path(path[step * stride + walk], path, walk, stride, step)
    closing = count_closing(walk, edges, rows, draws) if simple else 0
    shares[walk] = closing / (table.roots[path[walk]] * table.roots[path[edges * stride + walk]])


def sample(ranked: Ranked, length: int, samples: int, seed: int):
    """Draw walks to estimate the cycles of ``length`` edges; GraphError if there are too many for a float.

    Returns the (samples,) float64 shares on the host, and the number of cycles that a mean of 1 stands for.
    """
    device, edges, rows = ranked.device, length - 2, two_core(ranked)
    n = len(rows.offsets) - 1
    if length > n:
        return np.zeros(samples), 0.0
    table, through = _table(rows, edges, device)
    random, shares = np.random.default_rng(seed), np.empty(samples)
    for first in range(0, samples, BATCH):
        count = min(BATCH, samples - first)
        middles = np.searchsorted(through, random.random(count) * through[-1], side="right")
        middles = np.minimum(middles, n - 1).astype(np.int64)  # the product may be rounded up to the sum
        chances = arrays.move(random.random(edges * count), device)
        path = arrays.empty((edges + 1) * count, np.int64, device)
        draws = Draws(count, arrays.move(middles, device), chances, path)
        found = arrays.empty(count, np.float64, device)
        draw_walk(count, table, draws, found)
        shares[first : first + count] = arrays.move(found, "cpu")
    return np.minimum(shares, 1.0), float(through[-1]) / (2 * length)


def _table(rows, edges, device):
    """The table of walks, and running sums over the vertices of their weights as a middle, on the host."""
    n, entries, levels = len(rows.offsets) - 1, len(rows.neighbours), edges - edges // 2
    everywhere = arrays.full(n, 1, np.uint8, device)
    weights = [arrays.namespace(device).sqrt((rows.offsets[1:] - rows.offsets[:-1] - 1).astype(np.float64))]
    with np.errstate(over="ignore", invalid="ignore"):
        while len(weights) <= levels and np.isfinite(float(weights[-1].max())):
            weights.append(arrays.empty(n, np.float64, device))
            add_step(n, rows, everywhere, *weights[-2:])
        if len(weights) > levels:
            through = np.cumsum(arrays.move(weights[edges // 2], "cpu") * arrays.move(weights[levels], "cpu"))
            if np.isfinite(through[-1]):
                sums = arrays.empty(levels * entries, np.float64, device)
                for level in range(levels):
                    sum_along(n, rows, weights[level], level * entries, sums)
                return WalkTable(edges, rows, weights[0], sums), through
    raise GraphError(f"there are too many walks of {edges} edges to draw from; use a smaller length")


class Estimate(NamedTuple):
    """The estimated number of cycles, its interval, and how many draws were not 0."""

    total: float
    low: float
    high: float
    hits: int


def estimate_from(shares, scale: float, confidence: float) -> Estimate:
    """Estimate a number of cycles from the draws of :func:`sample`."""
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
