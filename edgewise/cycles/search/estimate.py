"""Estimates of the number of cycles of one length in a graph, by sampling.

Walks are drawn at random, of which as many as possible can be closed to a cycle, by a number of vertices.
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

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from edgewise.cycles.counting.ranked import CSR, Ranked, check_undirected, first_from
from edgewise.cycles.counting.ranking import ranked_of
from edgewise.cycles.search.dfs import is_on_path
from edgewise.cycles.search.two_core import add_step, two_core
from edgewise.device import arrays, device, each
from edgewise.errors import GraphError, OptionError, VerificationError, argument
from edgewise.front import CallOptions, front
from edgewise.graph import Graph
from edgewise.method import is_number, on_device
from edgewise.result import Result, check_column
from edgewise.workers import device_team

if TYPE_CHECKING:
    from pathlib import Path

    from edgewise.ingest.frames import Frame, Kind

#: Walks that are drawn at a time.
BATCH = 1 << 16
#: Share of a number that may be lost to rounding.
ROUNDING = 1e-9
#: Relative difference of two estimates from the same draws, summed in another order.
SUMMED = 1e-6


class WalkTable(NamedTuple):
    """What walks are drawn from: ``rows`` of the 2-core; ``edges`` of a walk.

    ``roots``, (n,) float64, are those of the degrees less one.  ``sums``, (levels * entries,) float64, are
    running sums along each row of the weights ``r_j`` of its neighbours, for ``j`` steps to go after them:
    those of ``j`` are at ``sums[j * entries:]``.
    """

    edges: int
    rows: CSR
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


@dataclass(frozen=True, eq=False, repr=False)
class CycleEstimate(Result):
    """An estimate of the number of cycles of one length in a graph.

    Attributes
    ----------
    graph, method, seconds, devices
        As in :class:`~edgewise.result.Result`.
    length : int
        Vertices, and edges, of a cycle.
    total : float
        The estimate.
    low, high : float
        Interval that contains the number in a share ``confidence`` of all such estimates, at least.
    confidence : float
    samples : int
        Walks that were drawn.
    hits : int
        Walks among them that could be closed; where they are few, ``total`` is unreliable.
    seed : int
    """

    length: int
    total: float
    low: float
    high: float
    confidence: float
    samples: int
    hits: int
    seed: int

    def to_frame(self, *, kind: Kind | None = None) -> Frame:
        """Return a table of one row.

        Parameters
        ----------
        kind : {'arrow', 'pandas', 'polars'}, optional
            Library of the table, as for :meth:`edgewise.result.Result.to_frame`.

        Returns
        -------
        pyarrow.Table, pandas.DataFrame or polars.DataFrame
            Columns ``length``, ``total``, ``low``, ``high``, ``confidence``, ``samples``, ``hits``, ``seed``.
        """
        return super().to_frame(kind=kind)

    def to_dict(self, column: str | None = None) -> dict[str, Any]:
        """Return the numbers of the estimate by name: :attr:`facts`, or one of them."""
        check_column(column, list(self.facts))
        return self.facts if column is None else {column: self.facts[column]}

    def _answer(self):
        bounds = f"{self.low:,.0f} to {self.high:,.0f} with a confidence of {self.confidence:g}"
        return f"about {self.total:,.0f} cycles of length {self.length} ({bounds})"

    def _arrow(self, rows=None):
        import pyarrow as pa

        return pa.table({name: [value] for name, value in self.facts.items()})

    @property
    def facts(self) -> dict[str, Any]:
        """The numbers of the estimate by name."""
        names = ("length", "total", "low", "high", "confidence", "samples", "hits", "seed")
        return {name: getattr(self, name) for name in names}

    def _verify(self, graph: Any) -> None:
        """Draw the same walks again."""
        with arrays.guard(graph.device):
            shares, scale = sample(ranked_of(graph), self.length, self.samples, self.seed)
        for name, value in estimate_from(shares, scale, self.confidence)._asdict().items():
            if not np.isclose(getattr(self, name), value, rtol=SUMMED):
                raise VerificationError(f"{name} is {getattr(self, name)}, but {value} by the same draws")

    def _plot(self, path: str | Path) -> None:
        raise OptionError("an estimate is a number for the whole graph; there is no distribution to draw")


@front
def estimate_cycles(
    graph: Graph,
    length: int,
    *,
    samples: int = 200_000,
    confidence: float = 0.95,
    seed: int = 0,
    device: str | None = None,
    **options: Unpack[CallOptions],
) -> CycleEstimate:
    """Estimate how many simple cycles of one length a graph has, by sampling.

    Parameters
    ----------
    graph : Graph
        An undirected one; weights do not matter, self-loops and repeated edges are ignored.
    length : int
        Vertices of a cycle, 3 or more.
    samples : int
        Walks to draw; four times as many halve the interval, or better.
    confidence : float
        Share of such intervals that should hold the number, between 0 and 1.
    seed : int
        The same seed gives the same estimate.
    device : str, optional
        ``"cpu"``, ``"gpu"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one); by default the device of
        the graph.  The graph is copied there for this call.

    Returns
    -------
    CycleEstimate

    Raises
    ------
    GraphError
        The graph is directed, or has too many walks of this length for a float.
    OptionError
        A length below 3, no samples, a confidence that is no share, a seed that is no whole number.
    DeviceError, OutOfMemoryError
        The device is not there, or too small.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 0, 2], n_vertices=4)
    >>> estimate = ew.estimate_cycles(graph, 3)
    >>> round(estimate.total), estimate.low < 2 < estimate.high
    (2, True)
    """
    check_undirected(graph)
    for name, value, least in (("length", length, 3), ("samples", samples, 1), ("seed", seed, 0)):
        if not is_number(value, whole=True) or value < least:
            raise OptionError(f"{argument(name, value)} must be a whole number, {least} or more")
    if not isinstance(confidence, (float, np.floating)) or not 0 < confidence < 1:
        raise OptionError(
            f"{argument('confidence', confidence)} must be a share between 0 and 1, such as 0.95"
        )
    graph = on_device(graph, device)
    start = perf_counter()
    with arrays.guard(graph.device):
        shares, scale = sample(ranked_of(graph), int(length), int(samples), int(seed))
    found = estimate_from(shares, scale, float(confidence))
    seconds, devices = perf_counter() - start, device_team(graph.device).names
    facts = {"confidence": float(confidence), "samples": int(samples), "seed": int(seed), **found._asdict()}
    return CycleEstimate(graph, "sampling", seconds, int(length), devices=devices, **facts)
