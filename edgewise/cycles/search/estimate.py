"""An estimate of how many cycles of a length a graph has, with a confidence interval, by sampling paths.

A cycle of ``k`` edges is a path of ``k - 2`` edges whose ends share a neighbour that is not on it, in ``2 k``
ways.  So walks of ``k - 2`` edges are drawn, and the common neighbours of their ends counted where the walk
is a path (wedge and path sampling: Seshadhri, Pinar & Kolda 2013; Jha, Seshadhri & Pinar 2015).  Ends of
degrees ``d`` and ``e`` share at most ``sqrt((d - 1) (e - 1))`` neighbours off the path, since each has one on
it, and a walk is drawn with a chance in proportion to that: each draw then tells a share between 0 and 1, so
that a few rich walks cannot spoil the average.  It is an estimate without bias, times the sum of all such
roots over ``2 k``.

A walk is drawn from its middle outwards to both sides.  With ``r_0(v) = sqrt(d(v) - 1)``, and ``r_j(v)`` the
sum of ``r_(j-1)`` over the neighbours of ``v``, the middle is ``v`` with a chance in proportion to
``r_a(v) r_b(v)``, and the next vertex with ``j`` steps to go is ``u`` in proportion to ``r_(j-1)(u)``: a
binary search among sums along the row.  All of this, degrees too, is about the 2-core: vertices with fewer
than two neighbours are on no cycle, and are peeled off before until none is left.  All chance comes from one
generator on the host, so that every engine and device gives the same.

The interval is the empirical Bernstein bound (Maurer & Pontil 2009, Theorem 4) of both sides: it holds for
any draws between 0 and 1, also where cycles are many in a few devices that no draw happened to meet.  With
``n`` draws of variance ``s^2`` and ``L = ln(3 / (1 - confidence))`` (the error of each side, and that of the
variance) it reaches ``s sqrt(2 L / n) + 7 L / (3 (n - 1))`` from their mean.  Intervals that trust a normal
or a binomial distribution are narrower, and wrong for such graphs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from edgewise.cycles.counting.lookup import first_from, is_on_path
from edgewise.cycles.counting.ranked import Ranked, ranked_of
from edgewise.cycles.planning import bounds
from edgewise.device import arrays, compiled, device, each
from edgewise.errors import GraphError, OptionError
from edgewise.graph import Graph

#: Walks that are drawn at a time.
BATCH = 1 << 16
#: Share of a number that may be lost to rounding.
ROUNDING = 1e-9


@compiled
def peel(offsets, neighbours, degrees, waiting):
    """Take off vertices with fewer than two neighbours until none is left; find ``degrees`` within."""
    count = 0
    for vertex in range(len(degrees)):
        degrees[vertex] = offsets[vertex + 1] - offsets[vertex]
        if degrees[vertex] < 2:
            waiting[count] = vertex
            count += 1
    while count > 0:
        count -= 1
        vertex = waiting[count]
        degrees[vertex] = 0
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            other = np.int64(neighbours[entry])
            if degrees[other] == 2:  # those with fewer are waiting already
                waiting[count] = other
                count += 1
            if degrees[other] > 0:
                degrees[other] -= 1


@compiled
def fill(offsets, neighbours, degrees, numbers, into):
    """Copy the rows of vertices that are left, by their new numbers."""
    count = 0
    for vertex in range(len(degrees)):
        if degrees[vertex] > 0:
            for entry in range(offsets[vertex], offsets[vertex + 1]):
                other = np.int64(neighbours[entry])
                if degrees[other] > 0:
                    into[count] = numbers[other]
                    count += 1


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
def closing(draw, draws, edges, offsets, neighbours, path):
    """Number of ways to close a path by one more vertex."""
    short, long = path[draw], path[edges * draws + draw]
    if offsets[short + 1] - offsets[short] > offsets[long + 1] - offsets[long]:
        short, long = long, short
    at, end, found = offsets[long], offsets[long + 1], 0
    for entry in range(offsets[short], offsets[short + 1]):
        vertex = np.int64(neighbours[entry])
        ahead = 1  # doubled until the vertex is passed: rows of like length are merged
        while at + ahead < end and np.int64(neighbours[at + ahead]) < vertex:
            ahead *= 2
        at = first_from(vertex, at + ahead // 2, min(at + ahead, end), neighbours)
        if at < end and np.int64(neighbours[at]) == vertex:
            found += 0 if is_on_path(vertex, path, draw, draws, edges + 1) else 1
    return found


@each
def draw_walk(draw, draws, edges, entries, middles, chances, offsets, neighbours, roots, sums, path, found):
    """Draw a walk from its middle; find how many vertices close it, as a share of how many there may be."""
    middle, simple = edges // 2, True
    path[middle * draws + draw] = middles[draw]
    for step in range(middle, 0, -1):
        row, chance = path[step * draws + draw], chances[(step - 1) * draws + draw]
        path[(step - 1) * draws + draw] = choose(row, chance, offsets, neighbours, (step - 1) * entries, sums)
    for step in range(middle, edges):
        row, chance = path[step * draws + draw], chances[step * draws + draw]
        first = (edges - step - 1) * entries
        path[(step + 1) * draws + draw] = choose(row, chance, offsets, neighbours, first, sums)
    for step in range(1, edges + 1):
        simple = simple and not is_on_path(path[step * draws + draw], path, draw, draws, step)
    ways = closing(draw, draws, edges, offsets, neighbours, path) if simple else 0
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
        Between which the number lies in a share ``confidence`` of all such estimates, at least.
    confidence : float
    samples : int
        Walks that were drawn.
    hits : int
        Walks among them that could be closed; where they are few, ``total`` rests on little.
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
        Walks to draw; four times as many halve the interval, or better.
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
    with arrays.guard(graph.device):
        times, found = _draw_all(ranked_of(graph), length, samples, seed)
    total = times * float(found.mean())
    low, high = _interval(found, float(confidence))
    hits = int(np.count_nonzero(found))
    least = 1.0 if hits else 0.0  # what was seen is there
    low, high = min(max(times * low, least), total), max(times * high * (1 + ROUNDING), least, total)
    facts = length, total, low, high, float(confidence)
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


def _core(ranked: Ranked):
    """The 2-core: offsets and neighbours, where the graph lies."""
    offsets, neighbours = (arrays.move(array, "cpu") for array in (ranked.offsets, ranked.neighbours))
    degrees, waiting = (np.empty(ranked.n_vertices, np.int64) for _ in range(2))
    peel(offsets, neighbours, degrees, waiting)
    stays = degrees > 0
    if stays.all():
        return ranked.offsets, ranked.neighbours
    within = np.concatenate([[0], np.cumsum(degrees[stays])])
    rows = np.empty(within[-1], neighbours.dtype)
    fill(offsets, neighbours, degrees, np.cumsum(stays) - 1, rows)
    return arrays.move(within, ranked.device), arrays.move(rows, ranked.device)


def _draw_all(ranked: Ranked, length, samples, seed):
    """What draws are to be multiplied with, and these: (samples,) float64 array on the host."""
    device, edges, rows = ranked.device, length - 2, _core(ranked)
    n, entries, middle = len(rows[0]) - 1, len(rows[1]), edges // 2
    if length > n:
        return 0.0, np.zeros(samples)
    ways, through = _ways(n, rows, edges, device)
    sums = arrays.empty((edges - middle) * entries, np.float64, device)
    for level in range(edges - middle):
        add_along(n, *rows, ways[level], level * entries, sums)
    dice, found = np.random.default_rng(seed), np.empty(samples)
    for first in range(0, samples, BATCH):
        draws = min(BATCH, samples - first)
        middles = np.searchsorted(through, dice.random(draws) * through[-1], side="right")
        middles = np.minimum(middles, n - 1).astype(np.int64)  # a product may be rounded up to all
        given = (arrays.move(array, device) for array in (middles, dice.random(edges * draws)))
        path, shares = (arrays.empty(size, kind, device) for size, kind in _sizes(edges, draws))
        draw_walk(draws, draws, edges, entries, *given, *rows, ways[0], sums, path, shares)
        found[first : first + draws] = arrays.move(shares, "cpu")
    return float(through[-1]) / (2 * length), np.minimum(found, 1.0)


def _ways(n, rows, edges, device):
    """The ways to go on from each vertex, by steps to go, and running sums of those through it."""
    longer, everyone = edges - edges // 2, arrays.full(n, 1, np.uint8, device)
    ways = [arrays.namespace(device).sqrt((rows[0][1:] - rows[0][:-1] - 1).astype(np.float64))]
    with np.errstate(over="ignore", invalid="ignore"):
        while len(ways) <= longer and np.isfinite(float(ways[-1].max())):
            ways.append(arrays.empty(n, np.float64, device))
            bounds.step(n, *rows, everyone, *ways[-2:])
        if len(ways) > longer:
            through = np.cumsum(arrays.move(ways[edges // 2], "cpu") * arrays.move(ways[longer], "cpu"))
            if np.isfinite(through[-1]):
                return ways, through
    raise GraphError(f"there are too many walks of {edges} edges to draw from; use a smaller length")


def _sizes(edges, draws):
    return ((edges + 1) * draws, np.int64), (draws, np.float64)


def _interval(found, confidence):
    """Where the mean of all draws lies that there could be, each between 0 and 1."""
    n, mean = len(found), float(found.mean())
    if n == 1:
        return 0.0, 1.0
    chance = np.log(3 / (1 - confidence))
    reach = float(np.sqrt(2 * found.var(ddof=1) * chance / n) + 7 * chance / (3 * (n - 1)))
    return max(mean - reach, 0.0), min(mean + reach, 1.0)
