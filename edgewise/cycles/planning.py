"""The plan of a count: what its tasks cost, in which order they are done, and how large it can become.

**Cost.**  A method estimates the operations of every task, right to a factor of a few; a table of speeds
converts them to seconds.

**Size.**  A cycle of ``k`` edges through ``v`` is a closed walk from ``v`` that visits no vertex twice, once
in each direction.  Each of these bounds holds for any graph, therefore the least of them does:

* the first edge can be chosen in ``d`` ways, every further one in ``D - 1``, where ``D`` is the largest
  degree, and the last one must close: ``d (D - 1)^(k - 2) / 2``;
* the other vertices are a sequence of distinct ones: ``(n - 1)(n - 2) ... (n - k + 1) / 2``;
* they can be covered by edges that share no vertex, each taken in one of two directions, after the first one
  where ``k`` is even: ``(2m)^floor((k - 1) / 2) / 2``, times ``d`` where ``k`` is even;
* walks: a closed one is a walk of ``k - 1`` edges that ends next to ``v``, or one of ``k - 2`` edges whose
  end shares one of the ``d`` neighbours of ``v``: ``min((A^(k-1) 1)_v, d (A^(k-2) 1)_v) / 2``.

The first three cost nothing, and nearly always suffice.  Walks take a pass over the edges for each step.
Methods may add and subtract intermediate terms beyond 64 bits: int64 wraps modulo 2**64, and the final value
is right if it fits.  They halve twice the count at the end, therefore the limit is 2**62.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.cycles.counting.ranked import Ranked, Whole, by_vertex
from edgewise.cycles.counting.ranking import ranked_of
from edgewise.cycles.search.two_core import add_step, count_walks, peeled
from edgewise.device import arrays, each, threads
from edgewise.errors import GraphError, OptionError, argument
from edgewise.primitives import count
from edgewise.primitives.counting_sort import counting_order

#: Operations a second of one CPU thread; operations are what methods' estimates count, mostly reads that miss
#: the caches.
THREAD_SPEED = 6e7
#: Operations a second of a GPU.  An H200 does 5e9 wedges a second of com-DBLP by tables, and 1.7e9 of an
#: R-MAT graph of 2**20 vertices; 2e9 is nearer to what large graphs get.
GPU_SPEED = 2e9
#: Seconds of estimated work that are refused unless forced.
MAX_SECONDS = 24 * 3600.0
#: Names and seconds of the units in which an estimate is given.
UNITS = (("years", 365.25 * 86400), ("days", 86400), ("hours", 3600), ("minutes", 60), ("seconds", 1))
#: Work of a task at most, so that sums stay finite.
FINITE = 1e290
#: A count has fewer bits than this, so that twice of it is an int64.
COUNT_BITS = 62
#: Bits of a float64 below those that work is sorted by, which have 16 levels for each power of two.
LEVEL_SHIFT = 48
#: Level of work of 2**60 operations, the heaviest that is told apart.
HEAVIEST_LEVEL = (1023 + 60) << 4
#: Number of levels, from 2**60 operations down to 2**-4.
N_LEVELS = 1024
#: Factor that allows for the rounding errors of sums of positive floats, however long.
ROUNDING = 1 + 1e-6
#: Seconds, estimated, from which a count is long enough to be interrupted.
LONG = 1.0


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


def check_seconds(work: float, devices, method: str, length: int) -> None:
    """Refuse work of so many operations if it should take longer than :data:`MAX_SECONDS`."""
    seconds = seconds_of(work, devices)
    if not seconds <= MAX_SECONDS:  # also if it is not a number
        raise OptionError(
            f"counting cycles of length {length} by {method} on {', '.join(devices)} should take about "
            f"{in_words(seconds)}; use {argument('force', True)} to go on, shorter cycles, or an estimate "
            "(edgewise.estimate_cycles, --estimate)"
        )


def bound_of(ranked: Ranked, length: int) -> float:
    """Upper bound of the number of cycles through any vertex; infinite where it is too large for a float."""
    n, entries = ranked.n_vertices, len(ranked.neighbours)
    if n < length or entries < 2 * length:
        return 0.0
    largest = ranked.max_degree
    if largest is None:
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
    return bound if bound < 2.0**COUNT_BITS else min(bound, _bound_by_walks(ranked, length))


def _bound_by_walks(ranked, length):
    n, device, rows = ranked.n_vertices, ranked.device, ranked.csr
    xp = arrays.namespace(device)
    with arrays.guard(device), np.errstate(over="ignore"):
        remains = peeled(ranked)
        degree = count_walks(rows, 1, remains)
        shorter, longer = count_walks(rows, length - 2, remains), arrays.empty(n, np.float64, device)
        add_step(n, rows, remains, shorter, longer)
        reaching = xp.where(shorter > 0, degree * shorter, 0.0)
        return float(xp.minimum(longer, reaching).max()) / 2 * ROUNDING


def check_fits(ranked: Ranked, length: int) -> None:
    """Refuse a length unless a bound shows that counts, and twice of them, fit into 63 bits."""
    bound = bound_of(ranked, length)
    if bound >= 2.0**COUNT_BITS:
        bits = f"2**{math.log2(bound):.0f}" if bound < math.inf else "far more"
        raise GraphError(
            f"{length}-cycles through a vertex: there may be up to {bits}, which 64 bits do not hold; "
            "count shorter cycles, or use edgewise.estimate_cycles"
        )


def whole_by_rank(graph, length: int, most: float, make_solver) -> Callable[[], Whole] | None:
    """What counts at all ranks at once on a GPU, or ``None`` if there are more than the ``most`` operations.

    ``make_solver(ranked)`` makes a solver that is kept with the graph: ``total`` are its operations,
    ``copy(solver).begin()`` allocates scratch, and ``count_all()`` returns counts by rank.
    """
    ranked = ranked_of(graph)

    def start():
        check_fits(ranked, length)
        solver = make_solver(ranked)
        return solver if solver.total <= most else None

    kept = graph.cached(("solver", length), start)

    def count():
        solver = copy(kept)
        solver.begin()
        return Whole(by_vertex(solver.count_all(), ranked), ranked.n_self_loops, ranked.n_duplicates)

    return None if kept is None else count


class Tasks:
    """The tasks of a method, in the order in which they are dealt.

    ``order``, (tasks,) int64, are ranks, and ``work``, (n,) float64, is the work of each task by rank, both
    on the device of the ranked graph; ``total`` is the work of all tasks.
    """

    def __init__(self, order: Any, work: Any, total: float):
        self.order, self.work, self.total = order, work, total

    def __len__(self):
        return len(self.order) if self.total else 0

    @cached_property
    def loads(self):
        """Work of each task in their order: (tasks,) float64 array on the host."""
        return arrays.move(self.work[self.order], "cpu")


@each
def _level(task, bits, levels):
    """Key of the work of a task, given as the bits of a float64: smaller keys for more work."""
    level = HEAVIEST_LEVEL - (bits[task] >> LEVEL_SHIFT)
    levels[task] = min(max(level, 0), N_LEVELS - 1) if bits[task] > 0 else N_LEVELS


def heaviest_first(work) -> np.ndarray:
    """Tasks with any work, most first: (tasks,) int64 array on the device of ``work``.

    On the host, tasks whose work differs by a sixteenth at most may be in the order of their numbers.
    """
    device = arrays.device_of(work)
    if device == "cpu":
        levels = np.empty(len(work), np.int64)
        _level(len(work), work.view(np.int64), levels)
        return counting_order(levels, N_LEVELS + 1)[: np.count_nonzero(levels < N_LEVELS)]
    order = arrays.namespace(work).argsort(-work, kind="stable")[: count(work > 0)]
    return arrays.move(order.astype(np.int64), device)


def tasks_of(graph, name, method, length, by_work) -> Tasks:
    """The tasks of a method; those of the last count are cached with the graph.

    If ``by_work``, the heaviest come first, and those without work are left out; else all come in the order
    of the vertices.
    """
    key, last, ranked = (name, length, by_work), graph.cached("cycle-tasks", dict), ranked_of(graph)
    if key not in last:
        work = arrays.zeros(ranked.n_vertices, np.float64, ranked.device)
        if length <= ranked.n_vertices:
            work = method.work(ranked, length)
            work *= method.cost
            arrays.namespace(work).fmin(work, FINITE, out=work)
        order = heaviest_first(work) if by_work else ranked.rank.astype(np.int64)
        last.clear()
        last[key] = Tasks(order, work, float(work.sum()) if len(work) else 0.0)
    return last[key]
