"""How long a count will take, how large it can become, and which method does it: known before it starts.

A method estimates the operations of every task; a table of speeds converts them to seconds.  The estimate is
right to a factor of a few, which is enough to distinguish seconds from days, and to divide long work.

A cycle of ``k`` edges through ``v`` is a closed walk from ``v`` that visits no vertex twice, once in each
direction.  Each of these bounds holds for any graph, therefore the least of them does:

* the first edge can be chosen in ``d`` ways, every further one in ``D - 1``, where ``D`` is the largest
  degree, and the last one must close: ``d (D - 1)^(k - 2) / 2``;
* the other vertices are a sequence of distinct ones: ``(n - 1)(n - 2) ... (n - k + 1) / 2``;
* they can be covered by edges that share no vertex, each taken in one of two directions, after the first one
  where ``k`` is even: ``(2m)^floor((k - 1) / 2) / 2``, times ``d`` where ``k`` is even;
* walks: a closed one is a walk of ``k - 1`` edges that ends next to ``v``, or one of ``k - 2`` edges whose
  end shares one of the ``d`` neighbours of ``v``: ``min((A^(k-1) 1)_v, d (A^(k-2) 1)_v) / 2``.  Walks are
  counted after some rounds of peeling off vertices with fewer than two neighbours, which are on no cycle.

The first three cost nothing, and nearly always suffice.  Walks take a pass over the edges for each step.
Sums are of positive floats, so that they are wrong by a tiny factor at most, which is allowed for.

Methods may add and subtract intermediate terms beyond 64 bits: int64 wraps modulo 2**64, and the final value
is right if it fits.  They halve twice the count at the end, therefore the limit is 2**62, whether or not both
directions count.
"""

from __future__ import annotations

import math

import numpy as np

from edgewise.cycles.counting.ranked import Ranked
from edgewise.cycles.search.two_core import Rows, add_step, count_walks, peeled
from edgewise.device import arrays, threads
from edgewise.errors import GraphError, OptionError, argument
from edgewise.method import kind_of

#: Operations a second of one CPU thread, and of a GPU: what methods' estimates count, mostly reads that miss
#: the caches.  An H200 does 5e9 wedges a second of com-DBLP by tables, and 1.7e9 of an R-MAT graph of 2**20
#: vertices; 2e9 is nearer to what large graphs get.
THREAD_SPEED, GPU_SPEED = 6e7, 2e9
#: Seconds of estimated work that are refused unless forced.
MAX_SECONDS = 24 * 3600.0
#: Names and seconds of the units in which an estimate is given.
UNITS = (("years", 365.25 * 86400), ("days", 86400), ("hours", 3600), ("minutes", 60), ("seconds", 1))
#: Upper limit of a count: twice of it is an int64.
MAX_COUNT = 2.0**62
#: Factor that allows for the rounding errors of sums of positive floats, however long.
ROUNDING = 1 + 1e-6


def choose(methods, length: int, devices) -> str:
    """Name of the first method of a table that counts cycles of this length on all of the devices.

    Cycles of up to five edges are counted at their highest vertex, which is faster than closed walks on
    nearly every graph that was measured, and far faster where there are hubs.  Longer ones than six are
    enumerated.
    """
    kinds = {kind_of(device) for device in devices}
    for name, method in methods.items():
        if method.can(length) and kinds <= set(method.devices):
            return name
    raise OptionError(
        f"no method counts cycles of length {length} on {' and '.join(sorted(kinds))}; "
        f"use {argument('device', 'cpu')}"
    )


def speed_of(device: str) -> float:
    """Operations a second that ``device`` is assumed to do."""
    return THREAD_SPEED * threads.count() if device == "cpu" else GPU_SPEED


def seconds_of(work: float, devices) -> float:
    """Seconds that so many operations should take on these devices together."""
    return work / sum(map(speed_of, devices))


def in_words(seconds: float) -> str:
    """``"3 days"``: the time in the largest unit of which there are two or more."""
    name, unit = next((u for u in UNITS if seconds >= 2 * u[1]), UNITS[-1])
    count = seconds / unit
    return f"{count:,.0f} {name}" if count < 1e6 else "millions of years"


def check_seconds(work: float, devices, method: str, length: int):
    """Refuse work that would take days.

    Parameters
    ----------
    work : float
        Operations, estimated.
    devices : sequence of str
    method : str
    length : int

    Raises
    ------
    OptionError
        It should take longer than :data:`MAX_SECONDS`.
    """
    seconds = seconds_of(work, devices)
    if not seconds <= MAX_SECONDS:  # also if it is not a number
        raise OptionError(
            f"counting cycles of length {length} by {method} on {', '.join(devices)} should take about "
            f"{in_words(seconds)}; use {argument('force', True)} to go on, shorter cycles, or an estimate "
            "(edgewise.estimate_cycles, --estimate)"
        )


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
    if largest < 2:
        return 0.0
    logarithms = (
        math.log2(largest) + (length - 2) * math.log2(largest - 1),
        sum(math.log2(n - other) for other in range(1, length)),
        (length - 1) // 2 * math.log2(entries) + (math.log2(largest) if length % 2 == 0 else 0),
    )
    least = min(logarithms) - 1
    bound = 2.0**least * ROUNDING if least < 1000 else math.inf
    return bound if bound < MAX_COUNT else min(bound, _bound_by_walks(ranked, length))


def _bound_by_walks(ranked, length):
    n, device, rows = ranked.n_vertices, ranked.device, Rows(ranked.offsets, ranked.neighbours)
    xp = arrays.namespace(device)
    with arrays.guard(device), np.errstate(over="ignore"):
        remains = peeled(ranked)
        degree = count_walks(rows, 1, remains)
        shorter, longer = count_walks(rows, length - 2, remains), arrays.empty(n, np.float64, device)
        add_step(n, rows, remains, shorter, longer)
        reaching = xp.where(shorter > 0, degree * shorter, 0.0)
        return float(xp.minimum(longer, reaching).max()) / 2 * ROUNDING


def check_fits(ranked: Ranked, length: int) -> None:
    """Raise :class:`~edgewise.errors.GraphError` if a count, or twice of it, might pass 63 bits.

    Parameters
    ----------
    ranked : Ranked
    length : int
        3 or more.

    Raises
    ------
    GraphError
        No bound shows that the counts fit.
    """
    bound = bound_of(ranked, length)
    if bound >= MAX_COUNT:
        bits = f"2**{math.log2(bound):.0f}" if bound < math.inf else "far more"
        raise GraphError(
            f"{length}-cycles through a vertex: there may be up to {bits}, which 64 bits do not hold; "
            "count shorter cycles, or use edgewise.estimate_cycles"
        )
