"""How large counts can become: shown before they are counted, so that none passes 63 bits unseen.

A cycle of ``k`` edges through ``v`` is a closed walk from ``v`` that visits no vertex twice, once in each
direction.  Each of these holds for any graph, so the least of them does:

* the first edge can be chosen in ``d`` ways, every further one in ``D - 1``, where ``D`` is the largest
  degree, and the last one must close: ``d (D - 1)^(k - 2) / 2``;
* the other vertices are a sequence of distinct ones: ``(n - 1)(n - 2) ... (n - k + 1) / 2``;
* they can be covered by edges that share no vertex, each taken in one of two directions, after the first one
  where ``k`` is even: ``(2m)^floor((k - 1) / 2) / 2``, times ``d`` where ``k`` is even;
* walks: a closed one is a walk of ``k - 1`` edges whose end happens to be next to ``v``, or one of ``k - 2``
  whose end happens to share one of the ``d`` neighbours of ``v``:
  ``min((A^(k-1) 1)_v, d (A^(k-2) 1)_v) / 2``.  Walks are counted in what is left once vertices with fewer
  than two neighbours are gone, some rounds long: they are on no cycle.

The first three cost nothing, and nearly always suffice.  Walks take a pass over the edges for each step.
Sums are of floats, all positive, so they are wrong by a tiny factor at most, for which there is room.

Methods may add and subtract terms that pass 64 bits on the way: int64 wraps modulo 2**64, and comes out right
if the result fits.  They halve twice the count at the end, hence the limit of 2**62 for either convention.
"""

from __future__ import annotations

import math

import numpy as np

from edgewise.cycles.counting.ranked import Ranked
from edgewise.device import arrays, each
from edgewise.errors import GraphError

#: What a count must stay below: twice of it is an int64.
MOST = 2.0**62
#: Rounding errors of sums of positive floats, however long.
ROOM = 1 + 1e-6
#: Rounds in which vertices with fewer than two neighbours go.
PEELS = 4


@each
def step(vertex, offsets, neighbours, stays, shorter, longer):
    """Count the walks from a vertex by those of its neighbours, which are a step shorter."""
    total = 0.0
    if stays[vertex] != 0:
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            total += shorter[np.int64(neighbours[entry])]
    longer[vertex] = total


@each
def peel(vertex, offsets, neighbours, before, after):
    """Keep a vertex that has two neighbours which were kept before."""
    found = 0
    if before[vertex] != 0:
        entry, end = offsets[vertex], offsets[vertex + 1]
        while entry < end and found < 2:
            if before[np.int64(neighbours[entry])] != 0:
                found += 1
            entry += 1
    after[vertex] = np.uint8(found == 2)


def walks(ranked: Ranked, steps: int, stays=None):
    """Number of walks of ``steps`` edges from every vertex.

    Parameters
    ----------
    ranked : Ranked
    steps : int
    stays : (n,) uint8 array, optional
        Zero for vertices that no walk may visit.

    Returns
    -------
    (n,) float64 array
        In the place of ``ranked``; infinite where it is too large for the type.
    """
    n, device = ranked.n_vertices, ranked.device
    if stays is None:
        stays = arrays.full(n, 1, np.uint8, device)
    found, other = stays.astype(np.float64), arrays.empty(n, np.float64, device)
    for _ in range(steps):
        step(n, ranked.offsets, ranked.neighbours, stays, found, other)
        found, other = other, found
    return found


def in_reach_of_cycles(ranked: Ranked, rounds: int = PEELS):
    """Which vertices are left when those with fewer than two neighbours are gone, some rounds long.

    Parameters
    ----------
    ranked : Ranked
    rounds : int
        At most; fewer if one of them finds nothing more.

    Returns
    -------
    (n,) uint8 array
        In the place of ``ranked``; zero only for vertices that are on no cycle.
    """
    n, device = ranked.n_vertices, ranked.device
    stays, other = arrays.full(n, 1, np.uint8, device), arrays.empty(n, np.uint8, device)
    left = n
    for _ in range(rounds):
        peel(n, ranked.offsets, ranked.neighbours, stays, other)
        stays, other = other, stays
        before, left = left, int(stays.sum(dtype=np.int64))
        if left == before:
            break
    return stays


def bound_of(ranked: Ranked, length: int) -> float:
    """Return an upper bound of the number of cycles of ``length`` edges through any vertex.

    Parameters
    ----------
    ranked : Ranked
    length : int
        3 or more.

    Returns
    -------
    float
        Infinite where it is too large for the type.
    """
    n, entries = ranked.n_vertices, len(ranked.neighbours)
    if n < length or entries < 2 * length:
        return 0.0
    largest = int(ranked.offsets[n] - ranked.offsets[n - 1])
    edges_apart = (length - 1) // 2 * math.log2(entries) + (math.log2(largest) if length % 2 == 0 else 0)
    if largest < 2:
        return 0.0
    logarithms = (
        math.log2(largest) + (length - 2) * math.log2(largest - 1),
        sum(math.log2(n - other) for other in range(1, length)),
        edges_apart,
    )
    least = min(logarithms) - 1
    bound = 2.0**least * ROOM if least < 1000 else math.inf
    return bound if bound < MOST else min(bound, _by_walks(ranked, length))


def _by_walks(ranked, length):
    xp, n, device = arrays.namespace(ranked.device), ranked.n_vertices, ranked.device
    rows = ranked.offsets, ranked.neighbours
    with arrays.guard(device), np.errstate(over="ignore"):
        stays = in_reach_of_cycles(ranked)
        degree = walks(ranked, 1, stays)
        shorter = walks(ranked, length - 2, stays)
        longer = arrays.empty(n, np.float64, device)
        step(n, *rows, stays, shorter, longer)
        reaching = xp.where(shorter > 0, degree * shorter, 0.0)
        return float(xp.minimum(longer, reaching).max()) / 2 * ROOM


def check_fits(ranked: Ranked, length: int, convention: str = "cycles") -> None:
    """Raise :class:`~edgewise.errors.GraphError` if a count might pass 63 bits.

    Parameters
    ----------
    ranked : Ranked
    length : int
        3 or more.
    convention : {'cycles', 'closed-walks'}
        The limit is the same: twice the count fits, too.

    Raises
    ------
    GraphError
        Nothing shows that the counts fit.
    """
    bound = bound_of(ranked, length)
    if bound >= MOST:
        what = f"{length}-cycles through a vertex" + (", twice each" if convention == "closed-walks" else "")
        bits = f"2**{math.log2(bound):.0f}" if bound < math.inf else "far more"
        raise GraphError(
            f"{what}: there may be up to {bits}, which 64 bits do not hold; "
            "count shorter cycles, or use edgewise.estimate_cycles"
        )
