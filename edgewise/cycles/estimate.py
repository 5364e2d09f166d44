"""An estimate of how many cycles of a length a graph has, with a confidence interval, by sampling paths.

A cycle of ``k`` edges is a path of ``k - 2`` edges whose ends share a neighbour that is not on it, in ``2 k``
ways.  So walks of ``k - 2`` edges are drawn, and the common neighbours of their ends counted where the walk
is a path (wedge and path sampling: Seshadhri, Pinar & Kolda 2013; Jha, Seshadhri & Pinar 2015).  Ends of
degrees ``d`` and ``e`` share at most ``sqrt(d e)`` neighbours, and a walk is drawn with a chance in
proportion to that: each draw then tells a share between 0 and 1, so that a few rich walks cannot spoil the
average.  It is an estimate without bias, times the sum of all ``sqrt(d e)`` over ``2 k``.

A walk is drawn from its middle outwards to both sides.  With ``r_0(v) = sqrt(d(v))``, and ``r_j(v)`` the sum
of ``r_(j-1)`` over the neighbours of ``v``, the middle is ``v`` with a chance in proportion to
``r_a(v) r_b(v)``, and the next vertex with ``j`` steps to go is ``u`` in proportion to ``r_(j-1)(u)``: a
binary search among sums along the row.  Vertices with fewer than two neighbours are peeled off before, some
rounds long: they are on no cycle.

Where the shorter of the last two rows is long, only some of it is looked at, evenly spread from a random
start.  All chance comes from one generator on the host, so that every engine and device gives the same.

The interval is that of the mean of many draws, corrected for their skewness (Hall 1992).  Where few draws
tell nearly all it comes from the binomial distribution instead, which has the widest spread between 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from edgewise.cycles import bounds
from edgewise.cycles.ranked import Ranked, ranked_of
from edgewise.device import arrays, device, each
from edgewise.errors import GraphError, OptionError
from edgewise.graph import Graph

#: Walks that are drawn at a time.
BATCH = 1 << 18
#: Entries of a row that are looked at, at most.
LOOKS = 64
#: Draws that count below which their mean is not trusted to be normal.
FEW = 30
#: Spread of draws, beside their mean, that is due to rounding.
EVEN = 1e-9


@each
def add_along(vertex, offsets, neighbours, ways, first, sums):
    """Running sums of a row's ``ways`` to go on; those of a level begin at ``first``."""
    total = 0.0
    for entry in range(offsets[vertex], offsets[vertex + 1]):
        total += ways[np.int64(neighbours[entry])]
        sums[first + entry] = total


@device
def choose(row, chance, offsets, neighbours, first, sums):
    """A neighbour, each as likely as it has ways to go on."""
    low, high = offsets[row], offsets[row + 1] - 1
    goal = chance * sums[first + high]
    while low < high:
        middle = (low + high) // 2
        if sums[first + middle] > goal:
            high = middle
        else:
            low = middle + 1
    return np.int64(neighbours[low])


@device
def first_from(vertex, low, high, neighbours):
    """Where among ascending entries the first one is that is not below ``vertex``."""
    while low < high:
        middle = (low + high) // 2
        if np.int64(neighbours[middle]) < vertex:
            low = middle + 1
        else:
            high = middle
    return low


@device
def is_visited(vertex, draw, draws, steps, path):
    """Whether ``vertex`` is one of the first ``steps`` of a walk."""
    step = 0
    while step < steps and path[step * draws + draw] != vertex:
        step += 1
    return step < steps


@device
def closing(draw, draws, edges, chance, offsets, neighbours, path):
    """Number of ways to close a path by one more vertex, or an estimate of it without bias."""
    short, long = path[draw], path[edges * draws + draw]
    if offsets[short + 1] - offsets[short] > offsets[long + 1] - offsets[long]:
        short, long = long, short
    entries, end, found = offsets[short + 1] - offsets[short], offsets[long + 1], 0
    looks = min(entries, LOOKS)
    for look in range(looks):
        entry = offsets[short] + (look if looks == entries else np.int64((look + chance) * entries / looks))
        vertex = np.int64(neighbours[min(entry, offsets[short + 1] - 1)])
        at = first_from(vertex, offsets[long], end, neighbours)
        if at < end and np.int64(neighbours[at]) == vertex:
            found += 0 if is_visited(vertex, draw, draws, edges + 1, path) else 1
    return found * entries / looks


@each
def draw_walk(draw, draws, edges, entries, middles, chances, offsets, neighbours, roots, sums, path, found):
    """Draw a walk from its middle; find how many vertices close it, as a share of how many there may be."""
    middle, simple = edges // 2, True
    path[middle * draws + draw] = middles[draw]
    for step in range(middle, 0, -1):
        row, chance = path[step * draws + draw], chances[step * draws + draw]
        path[(step - 1) * draws + draw] = choose(row, chance, offsets, neighbours, (step - 1) * entries, sums)
    for step in range(middle, edges):
        row, chance = path[step * draws + draw], chances[(step + 1) * draws + draw]
        first = (edges - step - 1) * entries
        path[(step + 1) * draws + draw] = choose(row, chance, offsets, neighbours, first, sums)
    for step in range(1, edges + 1):
        simple = simple and not is_visited(path[step * draws + draw], draw, draws, step, path)
    ways = closing(draw, draws, edges, chances[draw], offsets, neighbours, path) if simple else 0.0
    found[draw] = ways / (roots[path[draw]] * roots[path[edges * draws + draw]])


@dataclass(frozen=True, eq=False)
class CycleEstimate:
    """An estimate of the number of cycles of one length in a graph.

    Attributes
    ----------
    graph : Graph
    length : int
        Vertices, and edges, of a cycle.
    total : float
        The estimate.
    low, high : float
        Where the number lies in a share ``confidence`` of all such estimates, about.
    confidence : float
    samples : int
        Walks that were drawn.
    hits : int
        Walks among them that could be closed.
    seed : int
    seconds : float
    """

    graph: Graph = field(repr=False)
    length: int
    total: float
    low: float
    high: float
    confidence: float
    samples: int
    hits: int
    seed: int
    seconds: float


def estimate_cycles(
    graph: Graph,
    length: int,
    *,
    samples: int = 200_000,
    confidence: float = 0.95,
    seed: int = 0,
    undirected: bool = False,
    device: str | None = None,
) -> CycleEstimate:
    """Estimate how many simple cycles of one length a graph has, by sampling.

    Parameters
    ----------
    graph : Graph
        An undirected one; weights do not matter, self-loops and repeated edges are ignored.
    length : int
        Vertices of a cycle, 3 or more.
    samples : int
        Walks to draw; four times as many halve the interval.
    confidence : float
        Share of such intervals that should hold the number, between 0 and 1.
    seed : int
        The same seed gives the same estimate.
    undirected : bool
        Take the edges of a directed graph in both directions.
    device : str, optional
        ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one); by default where the
        graph lies.

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
    >>> found = ew.estimate_cycles(graph, 3)
    >>> round(found.total), found.low < 2 < found.high
    (2, True)
    """
    length, samples, seed = _checked(graph, length, samples, confidence, seed, undirected)
    graph = graph if device is None else graph.to(device)
    start = perf_counter()
    with arrays.guard(graph.place):
        times, found = _draw_all(ranked_of(graph), length, samples, seed)
    total = times * float(found.mean())
    low, high = _interval(found, confidence)
    hits = int(np.count_nonzero(found))
    facts = length, total, min(times * low, total), max(times * high, total), confidence
    return CycleEstimate(graph, *facts, samples, hits, seed, perf_counter() - start)


def _checked(graph, length, samples, confidence, seed, undirected):
    if not isinstance(graph, Graph):
        raise OptionError(
            f"a Graph is needed, not {type(graph).__name__}; see Graph.from_edges and from_frame"
        )
    if graph.directed and not undirected:
        raise GraphError(
            "the graph is directed, and cycles are counted in undirected graphs; use undirected=True to take "
            "its edges in both directions"
        )
    wanted = (("length", length, 3), ("samples", samples, 1), ("seed", seed, 0))
    for name, value, least in wanted:
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
            raise OptionError(f"{name}={value!r} must be a whole number, {least} or more")
    if not isinstance(confidence, (float, np.floating)) or not 0 < confidence < 1:
        raise OptionError(f"confidence={confidence!r} must be a share between 0 and 1, such as 0.95")
    return int(length), int(samples), int(seed)


def _draw_all(ranked: Ranked, length, samples, seed):
    """What draws are to be multiplied with, and these: (samples,) float64 array on the host."""
    n, entries, place, edges = ranked.n_vertices, len(ranked.neighbours), ranked.place, length - 2
    middle, stays, rows = edges // 2, bounds.in_reach_of_cycles(ranked), (ranked.offsets, ranked.neighbours)
    roots = arrays.namespace(place).sqrt(bounds.walks(ranked, 1, stays))
    with np.errstate(over="ignore", invalid="ignore"):
        ways = [roots]
        for _ in range(edges - middle):
            ways.append(arrays.empty(n, np.float64, place))
            bounds.step(n, *rows, stays, *ways[-2:])
        through = np.cumsum(arrays.move(ways[middle], "cpu") * arrays.move(ways[edges - middle], "cpu"))
    if n == 0 or through[-1] == 0:
        return 0.0, np.zeros(samples)
    if not np.isfinite(through[-1]):
        raise GraphError(f"there are too many walks of {edges} edges to draw from; use a smaller length")
    sums = arrays.empty((edges - middle) * entries, np.float64, place)
    for level in range(edges - middle):
        add_along(n, *rows, ways[level], level * entries, sums)
    dice, found = np.random.default_rng(seed), np.empty(samples)
    for first in range(0, samples, BATCH):
        draws = min(BATCH, samples - first)
        middles = np.searchsorted(through, dice.random(draws) * through[-1], side="right")
        chances = dice.random((edges + 1) * draws)
        given = (arrays.move(array, place) for array in (middles.astype(np.int64), chances))
        path, shares = (arrays.empty(size, kind, place) for size, kind in _sizes(edges, draws))
        draw_walk(draws, draws, edges, entries, *given, *rows, roots, sums, path, shares)
        found[first : first + draws] = arrays.move(shares, "cpu")
    return float(through[-1]) / (2 * length), found


def _sizes(edges, draws):
    return ((edges + 1) * draws, np.int64), (draws, np.float64)


def _interval(found, confidence):
    """Where the mean of all draws lies that there could be, each between 0 and 1."""
    from scipy.special import betaincinv, ndtri

    n, total, tail = len(found), float(found.sum()), (1 - confidence) / 2
    mean, spread = total / n, float(found.std())
    if total**2 < FEW * float((found**2).sum()) or spread <= EVEN * mean:  # Clopper, Pearson
        low = betaincinv(total, n - total + 1, tail) if total else 0.0
        return float(low), float(betaincinv(total + 1, n - total, 1 - tail)) if total < n else 1.0
    skew = float(np.mean(((found - mean) / spread) ** 3))
    ends = []
    for normal in (ndtri(1 - tail), ndtri(tail)):
        value = normal / np.sqrt(n)
        if abs(skew) > 1e-9:
            value = 3 / skew * (np.cbrt(1 + skew * (value - skew / (6 * n))) - 1)
        ends.append(float(mean - spread * value))
    return max(ends[0], 0.0), ends[1]
