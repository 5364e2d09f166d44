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


class WalkTable(NamedTuple):
    """What walks are drawn from.

    Attributes
    ----------
    edges : int
        Edges of a walk.
    rows : Rows
        The 2-core.
    roots : (n,) float64 array
        Root of the degree less one of each vertex.
    sums : (levels * entries,) float64 array
        Running sums along each row of the weights ``r_j`` of its neighbours, for ``j`` steps to go after
        them: those of ``j`` are at ``sums[j * entries:]``.
    """

    edges: int
    rows: Rows
    roots: Any
    sums: Any


class Draws(NamedTuple):
    """A batch of walks.

    Attributes
    ----------
    count : int
    middles : (count,) int64 array
        Vertices in the middle of the walks.
    chances : (edges * count,) float64 array
        Random numbers between 0 and 1, one per edge and walk.
    path : ((edges + 1) * count,) int64 array
        The walks: vertex ``i`` of walk ``w`` is at ``i * count + w``.
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
    """Draw walks; return their shares and the number of cycles that a mean share of 1 would stand for.

    Parameters
    ----------
    ranked : Ranked
    length : int
        Edges of a cycle, two more than those of a walk.
    samples, seed : int

    Returns
    -------
    shares : (samples,) float64 array
        On the host, between 0 and 1.
    scale : float

    Raises
    ------
    GraphError
        There are too many walks for a float.
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
